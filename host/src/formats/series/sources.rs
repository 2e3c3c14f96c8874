//! Which of several channels, clocks or peers of a file is read, and how many readings each has.

use super::error::SeriesError;
use super::row::Source;

/// Sources of a file that are told apart by name.
const MOST_SOURCES: usize = 64;

/// Which sources there are.
#[derive(Debug, Default)]
pub(super) struct Sources {
    wanted: Option<String>,
    pub(super) counted: Vec<(String, u64)>,
    /// Which of them is read.
    pub(super) read: Option<usize>,
    last: usize,
}

impl Sources {
    pub(super) fn new(wanted: Option<String>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Counts a reading, and says whether it is of the source that is read.
    pub(super) fn is_read(&mut self, source: Source<'_>) -> bool {
        let is = |name: &str| match name.as_bytes().strip_prefix(source.0) {
            Some([]) => source.1.is_empty(),
            Some([b'/', rest @ ..]) => !source.1.is_empty() && rest == source.1,
            _ => false,
        };
        let nameless = source.0.is_empty() && source.1.is_empty();
        let known = match self.counted.get(self.last) {
            Some((name, _)) if nameless && name.is_empty() || !nameless && is(name) => Some(self.last),
            _ => self.counted.iter().position(|(name, _)| is(name)),
        };
        let place = match known {
            Some(place) => place,
            None if self.counted.len() < MOST_SOURCES => {
                self.counted.push((name_of(source), 0));
                self.counted.len() - 1
            }
            None => return false,
        };
        self.counted[place].1 += 1;
        self.last = place;
        if self.read.is_none() && self.wanted.as_ref().is_none_or(|wanted| *wanted == self.counted[place].0) {
            self.read = Some(place);
        }
        self.read == Some(place)
    }

    /// Whether one is read, and it is clear which.
    pub(super) fn check(&self) -> Result<(), SeriesError> {
        let sources = self.counted.clone();
        match &self.wanted {
            Some(wanted) if self.read.is_none() && !sources.is_empty() => {
                Err(SeriesError::NoSuchSource { wanted: wanted.clone(), sources })
            }
            None if sources.len() > 1 => Err(SeriesError::Several { sources }),
            _ => Ok(()),
        }
    }
}

/// `A`, or `1/irq`.
fn name_of((one, two): Source<'_>) -> String {
    let text = |part| String::from_utf8_lossy(part);
    if two.is_empty() { text(one).into_owned() } else { format!("{}/{}", text(one), text(two)) }
}
