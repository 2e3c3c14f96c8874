//! Which reader takes the lines of which kind of file.

use super::columns::{self, Columns};
use super::edges::Edges;
use super::error::SeriesError;
use super::kind::Kind;
use super::ppstest::Ppstest;
use super::reader::ReadOptions;
use super::row::Line;
use super::trouble::Trouble;
use super::{chrony, ntp, ticc_log};

/// What reads lines of one kind.
#[derive(Debug)]
pub(super) enum Decoder {
    Columns(Columns),
    Ppstest(Ppstest),
    Edges(Edges),
    Ticc,
    Chrony,
    Ntp,
}

impl Decoder {
    /// The one for this kind, and what else of the file's beginning it went by.
    pub(super) fn new(kind: Kind, options: &ReadOptions, head: &[u8]) -> Result<(Self, String), SeriesError> {
        let decoder = match kind {
            Kind::Columns => {
                let (tags, why) = match options.tags {
                    Some(tags) => (tags, String::new()),
                    None => columns::tag_unit(head).ok_or(SeriesError::AmbiguousTags)?,
                };
                let more = if why.is_empty() { why } else { format!(", {why}") };
                return Ok((Self::Columns(Columns::new(tags)), more));
            }
            Kind::TiccTimestamp | Kind::TiccInterval | Kind::TiccPeriod => Self::Ticc,
            Kind::Ppstest => {
                let clear = options.source.as_ref().is_some_and(|wanted| wanted.ends_with("/clear"));
                Self::Ppstest(Ppstest::new(clear))
            }
            Kind::Refclocks | Kind::Statistics | Kind::Tracking => Self::Chrony,
            Kind::Peerstats | Kind::Loopstats => Self::Ntp,
            Kind::Edges => Self::Edges(Edges::default()),
        };
        Ok((decoder, String::new()))
    }

    pub(super) fn line<'a>(
        &mut self,
        line: &'a [u8],
        kind: Kind,
        frequency: bool,
    ) -> Result<Line<'a>, Trouble> {
        match self {
            Self::Columns(columns) => columns.line(line),
            Self::Ppstest(ppstest) => ppstest.line(line),
            Self::Edges(edges) => edges.line(line),
            Self::Ticc => ticc_log::line(line, kind),
            Self::Chrony => chrony::line(line, kind, frequency),
            Self::Ntp => ntp::line(line, kind, frequency),
        }
    }

    /// Whether each line stands for one point, and nothing else says when that was.
    pub(super) fn is_untagged(&self, kind: Kind) -> bool {
        match self {
            Self::Columns(columns) => columns.is_one(),
            Self::Ticc => kind != Kind::TiccTimestamp,
            _ => false,
        }
    }
}
