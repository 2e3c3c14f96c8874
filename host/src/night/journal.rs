//! What a night writes down while it goes on. A resumed night appends to the same journal.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::NightPlan;
use crate::bench_file::BenchFile;

/// `night.toml`: written once, before anything is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NightRecord {
    /// Version of the night's layout: 1.
    pub night_version: u32,
    /// File name of the plan, without its folder.
    pub plan_file: String,
    /// SHA-256 of the plan file, lower-case hex.
    pub plan_sha256: String,
    /// Start, UTC, ISO 8601.
    pub started_utc: String,
    /// ppsrig's version.
    pub ppsrig_version: String,
    /// Commit of ppsrig's source, or `unknown`.
    pub ppsrig_commit: String,
    /// The night's seed.
    pub seed: u64,
    /// SHA-256 of each image by name, in the plan's order: a resumed night refuses others.
    pub images: Vec<ImageHash>,
    /// What was asked for.
    pub plan: NightPlan,
    /// The bench file, with every default filled in.
    pub bench: BenchFile,
}

/// An image's name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ImageHash {
    /// As the plan names it; `golden` is the health check's.
    pub name: String,
    /// Lower-case hex.
    pub sha256: String,
}

/// One run of a night: one image, one session of each variant of a measure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// The measure's name.
    pub measure: String,
    /// The image's name.
    pub image: String,
    /// Counts from 1.
    pub round: u32,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, round {}", self.measure, self.image, self.round)
    }
}

/// A journal that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    /// Its lines, in order.
    pub entries: Vec<Entry>,
    /// Bytes of its whole lines.
    pub whole_bytes: u64,
    /// Bytes behind them, of a line that was cut while it was written.
    pub torn_bytes: u64,
}

/// A line of a journal, not its last one, that is none.
#[derive(Debug, Error)]
#[error("line {line}: no entry of this version of ppsrig: {reason}")]
pub struct JournalError {
    /// Counts from 1.
    pub line: usize,
    /// What JSON says.
    pub reason: serde_json::Error,
}

/// Reads a journal. A line counts once its end is there: what stands behind the last one was cut while it was written, and
/// what it would have said was not done.
///
/// # Errors
/// A whole line that is no entry.
pub fn parse(bytes: &[u8]) -> Result<Journal, JournalError> {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate();
    let entries = lines.map(|(index, line)| {
        serde_json::from_slice(line).map_err(|reason| JournalError { line: index + 1, reason })
    });
    Ok(Journal {
        entries: entries.collect::<Result<_, _>>()?,
        whole_bytes: whole as u64,
        torn_bytes: (bytes.len() - whole) as u64,
    })
}

impl Journal {
    /// What was done of a step, last: its bundle, if it is whole.
    #[must_use]
    pub fn done(&self, wanted: &Step) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Done { step, bundle, .. } if step == wanted => Some(bundle.as_str()),
            _ => None,
        })
    }

    /// Whether a step failed for good.
    #[must_use]
    pub fn given_up(&self, wanted: &Step) -> bool {
        self.entries
            .iter()
            .any(|entry| matches!(entry, Entry::Failed { step, again: false, .. } if step == wanted))
    }

    /// Why a measure goes on no further, if it does not.
    #[must_use]
    pub fn ended(&self, wanted: &str) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Ended { measure, why } if measure == wanted => Some(why.as_str()),
            _ => None,
        })
    }

    /// Whether the night is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry, Entry::Finished { .. }))
    }
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Entry {
    /// The night began, or went on after it was cut.
    Began {
        /// UTC, ISO 8601.
        utc: String,
        /// Whether it went on.
        resumed: bool,
    },
    /// A hook was run.
    Hook {
        /// before, power-cycle, after
        name: String,
        /// Empty: it went well.
        problem: String,
    },
    /// The golden image was measured.
    Health {
        /// UTC, ISO 8601: its end.
        utc: String,
        /// The bundle, relative to the night's folder; empty where none was made.
        bundle: String,
        /// Why the bench is sick; empty: it is well.
        reasons: Vec<String>,
    },
    /// A step is done: its bundle is whole.
    Done {
        /// UTC, ISO 8601: its end.
        utc: String,
        /// Which.
        step: Step,
        /// The bundle, relative to the night's folder.
        bundle: String,
    },
    /// A step could not be done.
    Failed {
        /// UTC, ISO 8601.
        utc: String,
        /// Which.
        step: Step,
        /// The partial bundle, relative to the night's folder; empty where none was made.
        bundle: String,
        /// Why.
        reason: String,
        /// Whether it is tried once more.
        again: bool,
    },
    /// A measure goes on no further.
    Ended {
        /// Its name.
        measure: String,
        /// Why: `decided after 3 rounds`, `10 rounds are the most that the plan allows`...
        why: String,
    },
    /// The night is over.
    Finished {
        /// UTC, ISO 8601.
        utc: String,
        /// Why it ended before its plan was done; empty: it was done.
        why: String,
    },
}

impl Entry {
    /// Its line.
    #[must_use]
    pub fn line(&self) -> String {
        let json = serde_json::to_string(self).expect("texts and numbers are JSON");
        json + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(round: u32) -> Step {
        Step { measure: "path".to_owned(), image: "after".to_owned(), round }
    }

    fn done(round: u32) -> Entry {
        Entry::Done {
            utc: "2026-12-01T01:00:00Z".to_owned(),
            step: step(round),
            bundle: format!("runs/{round}"),
        }
    }

    fn text(entries: &[Entry]) -> String {
        entries.iter().map(Entry::line).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let entries = vec![
            Entry::Began { utc: String::new(), resumed: true },
            Entry::Hook { name: "before".to_owned(), problem: "a\nb\u{1}\"".to_owned() },
            Entry::Health {
                utc: String::new(),
                bundle: "health/1".to_owned(),
                reasons: vec!["x".to_owned()],
            },
            done(1),
            Entry::Failed {
                utc: String::new(),
                step: step(2),
                bundle: String::new(),
                reason: "no probe".to_owned(),
                again: true,
            },
            Entry::Ended { measure: "path".to_owned(), why: "decided".to_owned() },
            Entry::Finished { utc: String::new(), why: String::new() },
        ];
        let text = text(&entries);
        assert_eq!(text.lines().count(), entries.len(), "a line each, whatever a text holds");
        assert_eq!(parse(text.as_bytes()).expect("it was just written").entries, entries);
    }

    #[test]
    fn a_line_that_was_cut_anywhere_was_not_done() {
        let whole = text(&[done(1)]);
        let both = text(&[done(1), done(2)]);
        for cut in whole.len()..both.len() {
            let read = parse(&both.as_bytes()[..cut]).expect("the last line may be torn");
            assert_eq!((read.entries.len(), read.whole_bytes), (1, whole.len() as u64));
            assert_eq!(read.torn_bytes, (cut - whole.len()) as u64);
            assert_eq!((read.done(&step(1)), read.done(&step(2))), (Some("runs/1"), None));
        }
        let zeros = [whole.as_bytes(), &[0; 64]].concat();
        assert_eq!(parse(&zeros).expect("a power cut leaves zeros").torn_bytes, 64);
    }

    #[test]
    fn a_torn_line_elsewhere_is_an_error_that_names_it() {
        let torn = format!("{}{}", &text(&[done(1)])[..20], text(&[done(2), done(3)]));
        let error = parse(torn.as_bytes()).expect_err("it is torn");
        assert_eq!(error.line, 1);
        let torn = format!("{}{{\n{}", text(&[done(1)]), text(&[done(2)]));
        assert_eq!(parse(torn.as_bytes()).expect_err("it is torn").line, 2);
    }
}
