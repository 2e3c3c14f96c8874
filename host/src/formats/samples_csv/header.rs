//! The header: which column is what.

use super::line::{cut_line_end, shown, unquoted};

/// What a column is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Passed over.
    Other,
    Session,
    Variant,
    ClockId,
    Pre,
    Snapshot,
    Batch,
    Ticks,
    Count,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "session" => Self::Session,
            "variant" => Self::Variant,
            "clock_id" => Self::ClockId,
            "counter_pre" => Self::Pre,
            "counter_snapshot" | "counter_snap" => Self::Snapshot,
            "batch" => Self::Batch,
            "ticks" => Self::Ticks,
            "count" => Self::Count,
            _ => Self::Other,
        }
    }

    /// As the header of a bundle's file names it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Other => "another field",
            Self::Session => "session",
            Self::Variant => "variant",
            Self::ClockId => "clock_id",
            Self::Pre => "counter_pre",
            Self::Snapshot => "counter_snapshot",
            Self::Batch => "batch",
            Self::Ticks => "ticks",
            Self::Count => "count",
        }
    }

    const fn is_key(self) -> bool {
        matches!(self, Self::Session | Self::Variant | Self::ClockId)
    }
}

/// The columns of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) roles: Vec<Role>,
    /// Columns at the front that say whose the line is, if all that do so stand there.
    pub(super) leading: usize,
    /// Whether `fast` can read it.
    pub(super) fast: bool,
}

impl Layout {
    /// Reads the first line, without its LF.
    pub(super) fn of(line: &[u8]) -> Result<Self, String> {
        let line = cut_line_end(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
        let names = line.split(|&byte| byte == b',').map(|name| {
            let name = unquoted(name.trim_ascii());
            Role::of(std::str::from_utf8(name).unwrap_or_default())
        });
        let mut roles: Vec<Role> = names.collect();
        let has = |roles: &[Role], role| roles.contains(&role);
        let pairs = has(&roles, Role::Pre) && has(&roles, Role::Snapshot);
        let counts = [Role::Batch, Role::Ticks, Role::Count].into_iter().all(|role| has(&roles, role));
        if !pairs && !counts {
            return Err(not_ours(line));
        }
        let unused: &[Role] =
            if pairs { &[Role::Batch, Role::Ticks, Role::Count] } else { &[Role::Pre, Role::Snapshot] };
        roles.iter_mut().filter(|role| unused.contains(role)).for_each(|role| *role = Role::Other);
        let twice = |(index, role): (usize, &Role)| {
            (*role != Role::Other && roles[..index].contains(role)).then_some(role.name())
        };
        if let Some(name) = roles.iter().enumerate().find_map(twice) {
            return Err(format!("it names {name} twice"));
        }
        let leading = roles.iter().take_while(|role| role.is_key()).count();
        let in_front = roles.iter().filter(|role| role.is_key()).count() == leading;
        Ok(Self { fast: pairs && in_front, leading, roles })
    }

    /// The fields of a line that say whose it is, with their commas, unless they have quotes.
    pub(super) fn leading<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut ends = memchr::memchr_iter(b',', line);
        let end = self.leading.checked_sub(1).and_then(|last| ends.nth(last)).map_or(0, |comma| comma + 1);
        &line[..end]
    }
}

fn not_ours(line: &[u8]) -> String {
    let other = [(b';', "`;`"), (b'\t', "a tab")];
    let found = other.into_iter().find(|(byte, _)| !line.contains(&b',') && line.contains(byte));
    let separated =
        found.map_or_else(String::new, |(_, name)| format!(", and fields are separated by {name}, not `,`"));
    format!(
        "it names neither counter_pre and counter_snapshot nor batch, ticks and count{separated}; it begins `{}`",
        shown(line)
    )
}
