//! One line by the letter: what it says, or what is wrong with it and where.

use super::header::{Layout, Role};
use super::{Class, LineFault};
use crate::samples::SampleKey;

/// The longest name of a variant or clock.
pub(super) const MOST_NAME: usize = 64;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row<'a> {
    Pair { key: Key<'a>, pre: u64, snapshot: u64 },
    Counted { key: Key<'a>, batch: u16, ticks: u32, count: u64 },
}

/// Whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    session: u32,
    variant: &'a str,
    clock_id: &'a str,
}

impl Row<'_> {
    pub(super) fn key(&self) -> SampleKey {
        let (Self::Pair { key, .. } | Self::Counted { key, .. }) = self;
        SampleKey {
            session: key.session,
            variant: key.variant.replace("\"\"", "\""),
            clock_id: key.clock_id.replace("\"\"", "\""),
        }
    }
}

/// A fault whose line is not known yet.
#[derive(Debug)]
pub(super) struct Fault {
    column: usize,
    name: &'static str,
    class: Class,
    shown: String,
}

impl Fault {
    pub(super) fn at(self, line: u64) -> LineFault {
        let Self { column, name, class, shown } = self;
        LineFault { line, column, name, class, shown }
    }
}

/// The begin of what stands somewhere, for a message.
pub(super) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let mut shown = String::new();
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    if bytes.len() > MOST { shown + "..." } else { shown }
}

/// A line without the CR of its CR LF.
pub(super) fn cut_line_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What stands between quotes, or all of it.
pub(super) fn unquoted(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

struct Field<'a> {
    bytes: &'a [u8],
    /// From 1.
    column: usize,
    role: Role,
}

impl Field<'_> {
    fn fault(&self, class: Class) -> Fault {
        Fault { column: self.column, name: self.role.name(), class, shown: shown(self.bytes) }
    }

    fn number(&self, most: u64) -> Result<u64, Fault> {
        let digits = unquoted(self.bytes);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.fault(Class::NotANumber));
        }
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        value.filter(|value| *value <= most).ok_or_else(|| self.fault(Class::TooLarge))
    }
}

impl<'a> Field<'a> {
    fn text(&self) -> Result<&'a str, Fault> {
        let text = unquoted(self.bytes);
        let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= MOST_NAME);
        text.ok_or_else(|| self.fault(Class::Name))
    }
}

/// Reads one line without its LF.
pub(super) fn row<'a>(layout: &Layout, line: &'a [u8]) -> Result<Row<'a>, Fault> {
    let line = cut_line_end(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault { column: 1, name: "", class: Class::Blank, shown: String::new() });
    }
    let mut key = Key { session: 1, variant: "", clock_id: "" };
    let (mut pre, mut snapshot, mut batch, mut ticks, mut count) = (None, None, 0, 0, 0);
    let mut at = Some(0);
    for &role in &layout.roles {
        let Some(start) = at else {
            let (column, class) = (line.len() + 1, Class::Missing);
            return Err(Fault { column, name: role.name(), class, shown: String::new() });
        };
        let end = field_end(&line[start..]).map(|length| start + length);
        let bytes = &line[start..end.unwrap_or(line.len())];
        let field = Field { bytes, column: start + 1, role };
        let end = end.ok_or_else(|| field.fault(Class::Quote))?;
        match role {
            Role::Other => {}
            Role::Session => key.session = field.number(u32::MAX.into())? as u32,
            Role::Variant => key.variant = field.text()?,
            Role::ClockId => key.clock_id = field.text()?,
            Role::Pre => pre = Some(field.number(u64::MAX)?),
            Role::Snapshot => snapshot = Some(field.number(u64::MAX)?),
            Role::Batch => batch = field.number(u16::MAX.into())? as u16,
            Role::Ticks => ticks = field.number(u32::MAX.into())? as u32,
            // So many that no sum of them can overflow.
            Role::Count => count = field.number(1 << 40)?,
        }
        at = (end < line.len()).then_some(end + 1);
    }
    if let Some(start) = at {
        let (column, shown) = (start + 1, shown(&line[start..]));
        return Err(Fault { column, name: "", class: Class::Extra, shown });
    }
    Ok(match (pre, snapshot) {
        (Some(pre), Some(snapshot)) => Row::Pair { key, pre, snapshot },
        _ => Row::Counted { key, batch, ticks, count },
    })
}

/// Where the field at the front of `rest` ends: at a comma outside quotes, or at its end. None if its quotes do not
/// enclose it.
fn field_end(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'"') {
        let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
        return (!rest[..end].contains(&b'"')).then_some(end);
    }
    let mut at = 1;
    loop {
        let quote = at + memchr::memchr(b'"', rest.get(at..)?)?;
        match rest.get(quote + 1) {
            None => return Some(quote + 1),
            Some(b',') => return Some(quote + 1),
            Some(b'"') => at = quote + 2,
            Some(_) => return None,
        }
    }
}
