//! Reads a bundle back: run.toml, and raw/ as events. Whatever a killed run left behind is read as far as it goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::check::contradiction;
use super::{Instrument, names};
use crate::bench_file::{EdgeName, IntervalCounterDriver, ReferenceDriver, WeekRollover};
use crate::events::absence::absences_of;
use crate::events::{PortOwner, Recording, RigEvent, Stamped};
use crate::formats::calendar::{self, HostClock};
use crate::formats::interval_counter::IntervalCounterDecoder;
use crate::formats::link::LinkDecoder;
use crate::formats::raw_log::{self, Direction, RawLog, RawLogError, RawRecord};
use crate::formats::receiver::ReceiverDecoder;
use crate::names::Measurement;
use crate::plan::RunRecord;

/// Why a bundle cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// no folder
    #[error("{path} is no folder; give the bundle's folder, results/<time>-<bench>")]
    NotAFolder {
        /// What was given.
        path: PathBuf,
    },
    /// no raw folder
    #[error("{path} has no folder raw/, so it is no run bundle")]
    NoRaw {
        /// What was given.
        path: PathBuf,
    },
    /// a file
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// run.toml
    #[error("{path} is no run record of this version of ppsrig")]
    Record {
        /// The file.
        path: PathBuf,
        /// What TOML says, with the line.
        source: Box<toml::de::Error>,
    },
    /// another layout
    #[error(
        "{path} says bundle-version = {found}, this ppsrig reads version 1; use the ppsrig that recorded it"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that it states.
        found: u32,
    },
    /// run.toml contradicts itself
    #[error("{path}: {fault}")]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// What, with the key.
        fault: String,
    },
    /// a recording
    #[error("{path}: {fault}")]
    Raw {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: RawLogError,
    },
    /// a rig event
    #[error("{path} line {line}: no event of this version of ppsrig")]
    RigEvent {
        /// The file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// What JSON says.
        source: serde_json::Error,
    },
}

/// What a bundle holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// run.toml; none if it is not there.
    pub record: Option<RunRecord>,
    /// Everything that was recorded.
    pub recording: Recording,
}

/// Reads a bundle.
///
/// # Errors
/// [`ReadError`], naming file and line or key. A torn last line is none, and neither is a recording that is not there:
/// they make the bundle incomplete.
pub fn read(dir: &Path) -> Result<Contents, ReadError> {
    if !dir.is_dir() {
        return Err(ReadError::NotAFolder { path: dir.to_owned() });
    }
    let raw = dir.join(names::RAW);
    if !raw.is_dir() {
        return Err(ReadError::NoRaw { path: dir.to_owned() });
    }
    let record = read_record(&dir.join(names::RUN))?;
    let mut contents = Contents { record, ..Contents::default() };
    // What the rig did comes first: it says where in the others a port was away.
    let others = Instrument::ALL.into_iter().filter(|&instrument| instrument != Instrument::Rig);
    for instrument in [Instrument::Rig].into_iter().chain(others) {
        let path = raw.join(instrument.file_name());
        match fs::read(&path) {
            Ok(bytes) => contents.take(instrument, &path, &bytes)?,
            Err(source) if source.kind() == io::ErrorKind::NotFound && !contents.needs(instrument) => {}
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                contents.recording.incomplete.push(format!("raw/{} is not there", instrument.file_name()));
            }
            Err(source) => return Err(ReadError::File { path, source }),
        }
    }
    contents.examine_dates();
    Ok(contents)
}

fn read_record(path: &Path) -> Result<Option<RunRecord>, ReadError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ReadError::File { path: path.to_owned(), source }),
    };
    let record: RunRecord = toml::from_str(&text)
        .map_err(|source| ReadError::Record { path: path.to_owned(), source: Box::new(source) })?;
    if record.bundle_version != 1 {
        return Err(ReadError::Version { path: path.to_owned(), found: record.bundle_version });
    }
    match contradiction(&record) {
        Some(fault) => Err(ReadError::Contradiction { path: path.to_owned(), fault }),
        None => Ok(Some(record)),
    }
}

impl Contents {
    /// Whether a whole bundle has something of this instrument: only edges need more than the board, and not every bench
    /// has an interval counter.
    fn needs(&self, instrument: Instrument) -> bool {
        let edges = |record: &RunRecord| record.plan.measure.contains(&Measurement::Edge);
        let has_counter = |record: &RunRecord| {
            let counter = record.bench.interval_counter.as_ref();
            counter.is_some_and(|counter| !counter.is_reference(&record.bench.reference))
        };
        match instrument {
            Instrument::Link | Instrument::Rig => true,
            Instrument::IntervalCounter => {
                self.record.as_ref().is_some_and(|one| edges(one) && has_counter(one))
            }
            Instrument::Generator => {
                let told = |record: &RunRecord| edges(record) && record.bench.generator.driver.has_port();
                self.record.as_ref().is_none_or(told)
            }
            _ => self.record.as_ref().is_none_or(edges),
        }
    }

    fn take(&mut self, instrument: Instrument, path: &Path, bytes: &[u8]) -> Result<(), ReadError> {
        let log = raw_log::parse(bytes, instrument.name())
            .and_then(|log| log.all_directions(instrument.directions()))
            .map_err(|fault| ReadError::Raw { path: path.to_owned(), fault })?;
        if log.records.is_empty() && self.needs(instrument) {
            self.recording.incomplete.push(format!("raw/{} holds no record", instrument.file_name()));
        }
        if log.torn_tail_bytes > 0 {
            let name = instrument.file_name();
            self.recording
                .incomplete
                .push(format!("raw/{name} ends in {} bytes of a torn line", log.torn_tail_bytes));
        }
        match instrument {
            Instrument::Link => {
                self.recording.board = decode(&log.records, &mut LinkDecoder::new(), LinkDecoder::push);
            }
            Instrument::Rig => self.recording.rig = rig_events(&log, path)?,
            Instrument::Reference => {
                self.take_reference(&log);
                if self.reference_stamps_edges() {
                    self.take_interval_counter(&log);
                }
            }
            Instrument::IntervalCounter if self.reference_stamps_edges() => {}
            Instrument::IntervalCounter => self.take_interval_counter(&log),
            Instrument::Generator => {}
        }
        Ok(())
    }

    /// What was sent to it decides what an answer means, so both directions are read.
    fn take_interval_counter(&mut self, log: &RawLog) {
        let bench = self.record.as_ref().map(|record| &record.bench);
        let counter = bench.and_then(|bench| bench.interval_counter.as_ref());
        let falling = bench.is_some_and(|bench| bench.generator.edge == EdgeName::Falling);
        let (driver, channels) = counter
            .map_or((IntervalCounterDriver::Ticc, ['A', 'B']), |counter| (counter.driver, counter.channels));
        let owner =
            if self.reference_stamps_edges() { PortOwner::Reference } else { PortOwner::IntervalCounter };
        for (index, part) in self.parts(log, owner).into_iter().enumerate() {
            let mut decoder = IntervalCounterDecoder::new(driver, channels, falling);
            // The rest of a line would be a reading like any other, with digits missing.
            let mut in_line = index > 0 && driver != IntervalCounterDriver::TimTm2;
            for record in part {
                match record.direction {
                    Direction::Tx => decoder.sent(&record.payload),
                    Direction::Rx => {
                        let bytes = &record.payload[..];
                        let bytes = if in_line { behind_line(bytes, &mut in_line) } else { bytes };
                        self.recording.interval.extend(decoder.push(bytes, record.at));
                    }
                    Direction::Did => {}
                }
            }
        }
    }

    /// Whether the reference's recording holds the interval counter's readings too.
    fn reference_stamps_edges(&self) -> bool {
        let bench = self.record.as_ref().map(|record| &record.bench);
        bench.is_some_and(|bench| {
            bench.interval_counter.as_ref().is_some_and(|counter| counter.is_reference(&bench.reference))
        })
    }

    fn take_reference(&mut self, log: &RawLog) {
        let driver =
            self.record.as_ref().map_or(ReferenceDriver::Ubx, |record| record.bench.reference.driver);
        for part in self.parts(log, PortOwner::Reference) {
            let mut decoder = match driver {
                ReferenceDriver::Nmea => ReceiverDecoder::nmea(),
                ReferenceDriver::Ubx => ReceiverDecoder::ubx(),
                ReferenceDriver::Tsip => ReceiverDecoder::tsip(),
                ReferenceDriver::HpScpi => ReceiverDecoder::hp_scpi(),
                ReferenceDriver::Jackson => ReceiverDecoder::jackson(),
            };
            let events = &mut self.recording.reference;
            for record in part {
                match record.direction {
                    Direction::Rx => events.extend(decoder.push(&record.payload, record.at)),
                    Direction::Tx => decoder.sent(&record.payload),
                    Direction::Did => {}
                }
            }
            events.extend(decoder.finish());
        }
    }

    /// What the dates of the reference tell, once the host's clock is known.
    fn examine_dates(&mut self) {
        let host = self.recording.rig.iter().find_map(|event| match event.event {
            RigEvent::HostClock { unix_s } => Some(HostClock { at: event.at, unix_s }),
            _ => None,
        });
        let policy = self.record.as_ref().map(|record| record.bench.reference.week_rollover);
        let correct = policy == Some(WeekRollover::Correct);
        calendar::examine(&mut self.recording.reference, host, correct);
    }

    /// A recording in parts, between which the instrument's port was away: no message may be put together from what came
    /// before and what came after. (The link needs no such care: its frames are checked by 32 bits.)
    fn parts<'l>(&self, log: &'l RawLog, owner: PortOwner) -> Vec<&'l [RawRecord]> {
        let mut rest = log.records.as_slice();
        let mut parts = Vec::new();
        for absence in absences_of(&self.recording, owner) {
            let (part, behind) = rest.split_at(rest.partition_point(|record| record.at < absence.from));
            parts.push(part);
            rest = behind;
        }
        parts.push(rest);
        parts
    }
}

/// What stands behind the end of the line that the bytes begin in.
fn behind_line<'b>(bytes: &'b [u8], in_line: &mut bool) -> &'b [u8] {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    *in_line = end.is_none();
    end.map_or(&[], |end| &bytes[end + 1..])
}

/// Feeds what was received to a decoder, read by read.
fn decode<D, E>(
    records: &[RawRecord],
    decoder: &mut D,
    mut push: impl FnMut(&mut D, &[u8], crate::units::HostNanos) -> Vec<Stamped<E>>,
) -> Vec<Stamped<E>> {
    let received = records.iter().filter(|record| record.direction == Direction::Rx);
    received.flat_map(|record| push(decoder, &record.payload, record.at)).collect()
}

fn rig_events(log: &RawLog, path: &Path) -> Result<Vec<Stamped<RigEvent>>, ReadError> {
    let did = log.records.iter().enumerate().filter(|(_, record)| record.direction == Direction::Did);
    did.map(|(index, record)| {
        serde_json::from_slice(&record.payload)
            .map(|event| Stamped { at: record.at, event })
            .map_err(|source| ReadError::RigEvent { path: path.to_owned(), line: index + 2, source })
    })
    .collect()
}
