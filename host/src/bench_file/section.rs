//! Takes keys out of a TOML table one by one and collects every problem with its line, instead of stopping at the
//! first as serde does. What is left in the table in the end was unknown.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// A value with the line on which it stands.
#[derive(Clone, Debug)]
pub(crate) struct Found<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// The text of a bench file and what is wrong with it so far.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    text: &'t str,
    syntax: Vec<Problem>,
    missing: Vec<Problem>,
    wrong: Vec<Problem>,
}

impl<'t> Source<'t> {
    /// Parses the text; a line that is no TOML is a problem, and the table holds what the others say.
    pub(crate) fn new(text: &'t str) -> (Self, DeTable<'t>) {
        let mut source = Self { text, syntax: Vec::new(), missing: Vec::new(), wrong: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let line = error.span().map(|span| source.line(span.start));
            source.syntax.push(Problem { line, what: error.message().to_owned() });
        }
        (source, table.into_inner())
    }

    /// The line, counted from 1, of a byte offset.
    fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Something is wrong on a line.
    pub(crate) fn report(&mut self, line: usize, what: String) {
        self.wrong.push(Problem { line: Some(line), what });
    }

    /// Every problem in order of lines, those without a line last. A line that is no TOML hides keys from the reader:
    /// then what seems missing may not be, and what seems wrong with that line follows from it.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.syntax;
        let syntax_lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
        if problems.is_empty() {
            problems.extend(self.missing);
        }
        let wrong = self.wrong.into_iter();
        problems.extend(wrong.filter(|problem| !syntax_lines.contains(&problem.line)));
        problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        problems
    }
}

/// One table of the file, while its keys are taken out.
#[derive(Debug)]
pub(crate) struct Section<'s, 't> {
    source: &'s mut Source<'t>,
    /// `[board] `, in front of every message; empty for the file's root.
    label: String,
    table: DeTable<'t>,
    line: Option<usize>,
    known: Vec<&'static str>,
}

impl<'s, 't> Section<'s, 't> {
    pub(crate) fn root(source: &'s mut Source<'t>, table: DeTable<'t>) -> Self {
        Self { source, label: String::new(), table, line: None, known: Vec::new() }
    }

    /// A table inside this one, read by `read`; none if it is absent or no table.
    pub(crate) fn table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Section<'_, 't>) -> T,
    ) -> Option<T> {
        let (value, line) = self.take(key)?;
        let DeValue::Table(table) = value else {
            self.source.report(line, format!("`{key}` must be a table, [{key}]"));
            return None;
        };
        let label = format!("[{key}] ");
        let mut section = Section { source: self.source, label, table, line: Some(line), known: Vec::new() };
        let result = read(&mut section);
        section.report_unknown();
        Some(result)
    }

    /// As [`Self::table`], for one that must be there.
    pub(crate) fn required_table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Section<'_, 't>) -> T,
    ) -> Option<T> {
        if !self.table.contains_key(key) {
            self.known.push(key);
            self.source.missing.push(Problem { line: None, what: format!("missing table [{key}]") });
            return None;
        }
        self.table(key, read)
    }

    /// Every table of a list, `[[key]]`, read by `read` with the line on which it begins. Empty if there is none.
    pub(crate) fn tables<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&mut Section<'_, 't>, usize) -> T,
    ) -> Vec<T> {
        let Some((value, line)) = self.take(key) else { return Vec::new() };
        let DeValue::Array(list) = value else {
            self.source.report(line, format!("`{key}` must be a list of tables, [[{key}]]"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for (index, item) in list.into_iter().enumerate() {
            let line = self.source.line(item.span().start);
            let DeValue::Table(table) = item.into_inner() else {
                self.source.report(line, format!("`{key}` must be a list of tables, [[{key}]]"));
                continue;
            };
            let name = table.get("name").and_then(|name| name.get_ref().as_str().map(str::to_owned));
            let label = match name {
                Some(name) => format!("[[{key}]] `{name}`: "),
                None => format!("[[{key}]] {}: ", index + 1),
            };
            let source = &mut *self.source;
            let mut section = Section { source, label, table, line: Some(line), known: Vec::new() };
            found.push(read(&mut section, line));
            section.report_unknown();
        }
        found
    }

    /// Whether the key is there and was not taken yet.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Every key that is left, whatever it is called, with its value and line, in the order of the file.
    pub(crate) fn entries(&mut self) -> Vec<(String, DeValue<'t>, usize)> {
        let table = std::mem::take(&mut self.table);
        let mut found: Vec<_> = table
            .into_iter()
            .map(|(key, value)| {
                let at = Spanned::span(&key).start;
                (at, key.get_ref().to_string(), value.into_inner(), self.source.line(at))
            })
            .collect();
        found.sort_by_key(|(at, ..)| *at);
        found.into_iter().map(|(_, key, value, line)| (key, value, line)).collect()
    }

    /// The line on which it begins; the file's first for its root.
    pub(crate) fn line(&self) -> usize {
        self.line.unwrap_or(1)
    }

    /// A key that must be there. `what` says what it holds, for the message if it is not.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        what: &str,
        convert: impl FnOnce(&DeValue<'t>) -> Result<T, String>,
    ) -> Option<Found<T>> {
        if !self.table.contains_key(key) {
            self.known.push(key);
            let what = format!("{}missing key `{key}`: {what}", self.label);
            self.source.missing.push(Problem { line: self.line, what });
            return None;
        }
        self.optional(key, convert)
    }

    /// A key that may be there; none, too, if its value is wrong, which is then a problem.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        convert: impl FnOnce(&DeValue<'t>) -> Result<T, String>,
    ) -> Option<Found<T>> {
        let (value, line) = self.take(key)?;
        match convert(&value) {
            Ok(value) => Some(Found { value, line }),
            Err(what) => {
                self.source.report(line, format!("{}`{key}`: {what}", self.label));
                None
            }
        }
    }

    /// Every key of a table whose keys are names of the bench's own.
    pub(super) fn named<T>(
        &mut self,
        convert: impl Fn(&DeValue<'t>) -> Result<T, String>,
    ) -> BTreeMap<String, T> {
        let mut entries = BTreeMap::new();
        for (key, value) in std::mem::take(&mut self.table) {
            let (name, line) = (key.get_ref().to_string(), self.source.line(value.span().start));
            match convert(&value.into_inner()) {
                Ok(value) => drop(entries.insert(name, value)),
                Err(what) => self.source.report(line, format!("{}`{name}`: {what}", self.label)),
            }
        }
        entries
    }

    fn take(&mut self, key: &'static str) -> Option<(DeValue<'t>, usize)> {
        self.known.push(key);
        let value = self.table.remove(key)?;
        let line = self.source.line(value.span().start);
        Some((value.into_inner(), line))
    }

    /// Something that two keys together are wrong about.
    pub(crate) fn report(&mut self, line: usize, what: &str) {
        self.source.report(line, format!("{}{what}", self.label));
    }

    /// Everything that was not taken is unknown. To be called when all keys have been asked for.
    pub(crate) fn report_unknown(&mut self) {
        for (key, value) in std::mem::take(&mut self.table) {
            let line = self.source.line(Spanned::span(&key).start);
            let kind = if matches!(value.get_ref(), DeValue::Table(_)) { "table" } else { "key" };
            let suggestion = match nearest(key.get_ref(), self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known here: {}", self.known.join(", ")),
            };
            let what = format!("{}unknown {kind} `{}`; {suggestion}", self.label, key.get_ref());
            self.source.report(line, what);
        }
    }
}

/// The candidate that a misspelt word probably meant.
fn nearest(word: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let word = word.to_lowercase().replace('_', "-");
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A text.
pub(crate) fn text(value: &DeValue<'_>) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("must be a text in quotes, not {}", kind(value)))
}

/// `true` or `false`.
pub(crate) fn flag(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("must be true or false, not {}", kind(value)))
}

/// An integer within limits.
pub(crate) fn integer<T: TryFrom<i64>>(
    range: RangeInclusive<i64>,
) -> impl Fn(&DeValue<'_>) -> Result<T, String> {
    move |value| {
        let DeValue::Integer(integer) = value else {
            return Err(format!("must be a whole number, not {}", kind(value)));
        };
        let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number =
            number.filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("{integer} is not between {} and {}", range.start(), range.end()))
    }
}

/// A number, whole or not, within limits.
pub(crate) fn number(range: RangeInclusive<f64>) -> impl Fn(&DeValue<'_>) -> Result<f64, String> {
    move |value| {
        let text = number_text(value)?;
        let number = text.parse::<f64>().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("{text} is not between {} and {}", range.start(), range.end()))
    }
}

/// The digits of a number, whole or not, as they stand in the file but for underscores.
pub(crate) fn number_text(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::Integer(integer) if integer.radix() == 10 => Ok(integer.as_str().replace('_', "")),
        DeValue::Float(float) => Ok(float.as_str().replace('_', "")),
        _ => Err(format!("must be a number, not {}", kind(value))),
    }
}

/// One of a closed set of names.
pub(crate) fn name<'n, T: Copy>(
    names: &'n [(&'static str, T)],
) -> impl Fn(&DeValue<'_>) -> Result<T, String> + use<'n, T> {
    move |value| {
        let text = text(value)?;
        if let Some((_, meant)) = names.iter().find(|(name, _)| *name == text) {
            return Ok(*meant);
        }
        let all = names.iter().map(|(name, _)| *name);
        let list = all.clone().collect::<Vec<_>>().join(", ");
        Err(match nearest(&text, all) {
            Some(near) => format!("unknown `{text}`; did you mean `{near}`? known: {list}"),
            None => format!("unknown `{text}`; known: {list}"),
        })
    }
}

/// A list of texts.
pub(crate) fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("must be a list of texts, not {}", kind(value)))?;
    list.iter().map(|item| text(item.get_ref())).collect()
}

pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
