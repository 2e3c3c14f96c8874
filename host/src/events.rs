//! What happened on the bench, as decoded from the raw recordings: the input of all analysis.
//!
//! Every event carries the host time at which its last byte arrived, or at which the rig acted.

pub mod absence;

use ppsrig_wire::{ClockId, FromBoard};
use serde::{Deserialize, Serialize};

use crate::names::{CtimeVariant, PathPart, PathVariant};
use crate::units::{GpsSecond, HostNanos, Picos};

/// An event with its host arrival time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped<E> {
    /// When it arrived at the host.
    pub at: HostNanos,
    /// What it was.
    pub event: E,
}

/// What the link to the board delivered.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every event is a frame, and boxing each would only cost"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardEvent {
    /// A whole frame.
    Frame {
        /// The frame's sequence number; a step other than +1 (mod 65536) tells that frames are missing.
        sequence: u16,
        /// Its message.
        message: FromBoard,
    },
    /// Bytes between two zeros that gave no message: a record was torn. Also a whole frame of an unknown kind.
    Damaged {
        /// How many bytes.
        bytes: usize,
        /// Why they gave none.
        reason: &'static str,
    },
}

/// What the reference said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceEvent {
    /// A message that names a second.
    Time(TimeMessage),
    /// A message that ought to name a second and says that the receiver knows none, as before its first fix.
    Void {
        /// The kind of message.
        source: TimeSource,
    },
    /// Bytes or a sentence that were refused: bad checksum, missing checksum, impossible date, torn frame.
    Refused {
        /// Why, for the ledger and the report.
        reason: String,
    },
    /// What it says of its own state; names no second, so it counts for the one at which it arrives.
    State(StateMessage),
    /// What it says of UTC's leap seconds.
    Leap(LeapMessage),
    /// The seconds that it names are whole rollovers of the ten-bit week number away from the host's clock.
    WrongEpoch(WrongEpoch),
}

/// What a reference says of its own state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateMessage {
    /// Which message or answer says it.
    pub source: StateSource,
    /// What it comes to. [`Trust::NotStated`]: worth a note, no reason to refuse.
    pub trust: Trust,
    /// How far its pulse is off by its own account, in picoseconds, positive: late; or the bound that it states.
    pub offset_ps: Option<i64>,
    /// What it says, for the ledger; empty when all is well.
    pub words: String,
}

/// The message or answer in which a reference speaks of its own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateSource {
    /// NMEA GGA: the fix quality.
    NmeaGga,
    /// UBX NAV-TIMEUTC, NAV-TIMEGPS or NAV-PVT: the accuracy estimate.
    UbxTimeAccuracy,
    /// UBX NAV-TIMELS: where the leap seconds come from.
    UbxNavTimeLs,
    /// UBX NAV-SAT: satellites in use.
    UbxNavSat,
    /// UBX MON-HW or MON-RF: the antenna.
    UbxMon,
    /// TSIP 8F-AC: modes and alarms.
    TsipSupplemental,
    /// TSIPv1 A1-00: time flags.
    TsipTiming,
    /// HP time code T2: TFOM and FFOM.
    HpTimeCode,
    /// `HOLD:DUR?` of HP and Jackson Labs.
    ScpiHoldover,
    /// `TINT?` of HP and Jackson Labs: their pulse against the satellites'.
    ScpiInterval,
    /// Jackson Labs `SYNC:LOCK?`.
    JacksonLock,
    /// Jackson Labs health word.
    JacksonHealth,
    /// Jackson Labs trace line.
    JacksonTrace,
    /// Jackson Labs `$PJLTS`.
    JacksonPjlts,
}

impl StateSource {
    /// The name, as the instrument's documents have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NmeaGga => "GGA",
            Self::UbxTimeAccuracy => "the receiver's time accuracy",
            Self::UbxNavTimeLs => "NAV-TIMELS",
            Self::UbxNavSat => "NAV-SAT",
            Self::UbxMon => "MON",
            Self::TsipSupplemental => "8F-AC",
            Self::TsipTiming => "A1-00",
            Self::HpTimeCode => "T2",
            Self::ScpiHoldover => "HOLD:DUR?",
            Self::ScpiInterval => "TINT?",
            Self::JacksonLock => "SYNC:LOCK?",
            Self::JacksonHealth => "the health word",
            Self::JacksonTrace => "the trace line",
            Self::JacksonPjlts => "PJLTS",
        }
    }
}

/// What is said of UTC's leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeapMessage {
    /// Who says it: a message's name, or `table`.
    pub source: &'static str,
    /// GPST - UTC as it stands, in seconds, if it is stated.
    pub gps_minus_utc: Option<i16>,
    /// The announced change: 1 inserts a second, -1 takes one away, 0 is none; none if nothing is said of it.
    pub change: Option<i8>,
    /// The second at which the change takes effect, if it is stated: the inserted one, 23:59:60.
    pub at: Option<GpsSecond>,
}

/// A reference that is whole rollovers of the week number away from the host's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongEpoch {
    /// Which messages.
    pub source: TimeSource,
    /// In words: which date was named, which it likely is, and how many weeks lie between.
    pub words: String,
    /// The bench file asked for the likely date, and the time messages of this source have it.
    pub corrected: bool,
}

/// The scale on which a message counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeScale {
    /// GPS time, or a week number and time of week.
    Gps,
    /// UTC: rests on leap seconds that the receiver knows.
    #[default]
    Utc,
}

/// A message that names the second that begins at a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeMessage {
    /// The kind of message.
    pub source: TimeSource,
    /// The second that begins at the pulse which this message is about.
    pub second: GpsSecond,
    /// Whether the receiver vouches for it.
    pub trust: Trust,
    /// Quantisation error that the receiver states for that pulse (UBX TIM-TP), positive: the pulse came early.
    pub qerr_ps: Option<i32>,
    /// The scale on which the message counts; `second` is on the GPS scale whatever this is.
    pub scale: TimeScale,
}

/// The kind of a time message, and with it the pulse that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TimeSource {
    /// NMEA RMC: names the pulse before it; carries validity.
    NmeaRmc,
    /// NMEA ZDA: names the pulse before it; has no validity field at all.
    NmeaZda,
    /// UBX TIM-TP: names the next pulse.
    UbxTimTp,
    /// UBX NAV-TIMEUTC: names the pulse before it.
    UbxNavTimeUtc,
    /// UBX NAV-TIMEGPS: names the pulse before it.
    UbxNavTimeGps,
    /// UBX NAV-PVT: names the pulse before it.
    UbxNavPvt,
    /// TSIP 8F-AB: names the pulse that it follows by milliseconds; its validity comes with 8F-AC.
    TsipPrimary,
    /// TSIPv1 A1-00: names the pulse that it follows by milliseconds.
    TsipTiming,
    /// HP time code T2: names the next pulse, 980 to 20 ms before it.
    HpTimeCode,
}

impl TimeSource {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NmeaRmc,
        Self::NmeaZda,
        Self::UbxTimTp,
        Self::UbxNavTimeUtc,
        Self::UbxNavTimeGps,
        Self::UbxNavPvt,
        Self::TsipPrimary,
        Self::TsipTiming,
        Self::HpTimeCode,
    ];

    /// The message's name, as its standard has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NmeaRmc => "RMC",
            Self::NmeaZda => "ZDA",
            Self::UbxTimTp => "TIM-TP",
            Self::UbxNavTimeUtc => "NAV-TIMEUTC",
            Self::UbxNavTimeGps => "NAV-TIMEGPS",
            Self::UbxNavPvt => "NAV-PVT",
            Self::TsipPrimary => "8F-AB",
            Self::TsipTiming => "A1-00",
            Self::HpTimeCode => "T2",
        }
    }

    /// Where the message stands against the pulse that it names.
    #[must_use]
    pub const fn naming(self) -> Naming {
        match self {
            Self::UbxTimTp | Self::HpTimeCode => Naming::Announces,
            Self::TsipPrimary | Self::TsipTiming => Naming::Follows,
            Self::NmeaRmc | Self::NmeaZda | Self::UbxNavTimeUtc | Self::UbxNavTimeGps | Self::UbxNavPvt => {
                Naming::Confirms
            }
        }
    }

    /// Whether the message precedes the pulse that it names.
    #[must_use]
    pub const fn names_next_pulse(self) -> bool {
        matches!(self.naming(), Naming::Announces)
    }
}

/// Where a time message stands against the pulse that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Naming {
    /// Before it, by up to a second: an edge on the pulse comes after it.
    Announces,
    /// Behind it, by tens of milliseconds up to a second: an edge on the pulse comes before it.
    Confirms,
    /// Behind it, by 5 to 35 ms: it stands for the pulse itself.
    Follows,
}

/// Whether the receiver vouches for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Says that it is locked to the satellites.
    Locked,
    /// Says that its time is not valid.
    Unlocked,
    /// Says that it runs on its own oscillator, having been locked before.
    Holdover,
    /// The message has no validity field.
    NotStated,
}

/// What the interval counter said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntervalEvent {
    /// A timestamp on its own time scale, which begins anywhere.
    Stamp(IntervalStamp),
    /// Channel B minus channel A, from a counter that gives no timestamps.
    Interval(IntervalReading),
    /// The counter's own reference was lost: its time scale is broken from here on.
    ReferenceLost,
    /// Its time scale began anew: what came before and what comes after cannot be compared.
    Restarted,
    /// It counted edges on a channel that it did not report.
    Missed {
        /// Where.
        channel: IntervalChannel,
        /// How many, at least.
        edges: u32,
    },
    /// A line that is neither a reading nor a comment.
    Refused {
        /// Why.
        reason: String,
    },
}

/// One timestamp of the interval counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalStamp {
    /// Channel A (edge) or B (reference PPS or echo, as wired).
    pub channel: IntervalChannel,
    /// The time on the counter's own scale, exact.
    pub time: Picos,
    /// Half-width of the interval that is known to hold the true time, if the counter states one for each reading.
    pub half_width: Option<Picos>,
}

/// One interval of the interval counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalReading {
    /// Channel B minus channel A, exact.
    pub time: Picos,
    /// Half-width of the interval that is known to hold the true one, if the counter states one for each reading.
    pub half_width: Option<Picos>,
}

/// A channel of the interval counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntervalChannel {
    /// The edge.
    A,
    /// The reference PPS, or the board's echo.
    B,
}

/// Which burst of edges is meant: the labelling preamble, or the edges of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Burst {
    /// The 1 Hz preamble that labels the seconds and gives the first rate. It has a balanced ledger of its own.
    Preamble,
    /// The edges of the measurement.
    Edges,
}

/// An instrument that has a port of its own. Its name is that of its recording in raw/.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PortOwner {
    /// The link to the board.
    Link,
    /// The generator.
    Generator,
    /// The reference.
    Reference,
    /// The interval counter.
    IntervalCounter,
}

impl std::fmt::Display for PortOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Link => "link to the board",
            Self::Generator => "generator",
            Self::Reference => "reference",
            Self::IntervalCounter => "interval counter",
        })
    }
}

/// What the rig itself did. One JSON object a line in `raw/rig.log`, behind its host time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum RigEvent {
    /// A session began: the board is about to be loaded.
    SessionStarted {
        /// Counts from 1.
        session: u32,
        /// The session's seed.
        seed: u64,
    },
    /// One probe session: a child process that attached, did its work and ended.
    ProbeUsed {
        /// What for: `load`, `identify`...
        purpose: String,
        /// Host time at which it began; the line's own time is when it had ended.
        began: HostNanos,
        /// Probe operations in it.
        operations: u64,
    },
    /// A capture window was opened on the board, which acknowledged it.
    WindowOpened {
        /// The window's number.
        window: u32,
        /// The burst that is captured in it.
        burst: Burst,
        /// The session that it belongs to.
        session: u32,
    },
    /// The generator was armed, and acknowledged it: it starts on the reference's next pulse.
    /// From here on `cycles` edges are commanded.
    GeneratorArmed {
        /// The window that the edges belong to.
        window: u32,
        /// Edges commanded.
        cycles: u32,
        /// Nanoseconds from edge to edge.
        period_ns: u64,
        /// Nanoseconds for which the pin is at its active level.
        width_ns: u64,
        /// Host time just before the arming command was sent; the line's own time is when it was acknowledged.
        sent: HostNanos,
    },
    /// The host commanded edges of the burst one by one.
    EdgesCommanded {
        /// The window that the edges belong to.
        window: u32,
        /// The first of them.
        first: u32,
        /// Host time just before each was commanded.
        sent: Vec<HostNanos>,
    },
    /// The generator says that the burst is complete.
    GeneratorDone {
        /// The window that the edges belong to.
        window: u32,
    },
    /// The generator could not be used any more; the edges not yet fired are still commanded.
    GeneratorFailed {
        /// The window that the edges belong to.
        window: u32,
        /// What failed.
        reason: String,
    },
    /// The capture window was closed; the board's totals are in the link's recording.
    WindowClosed {
        /// The window's number.
        window: u32,
    },
    /// The board was told to measure one part of a `path` session: over the link it acknowledged that; in exact mode
    /// the command stands in its mailbox, in this order, and the board has not been released yet.
    PathStarted {
        /// The window's number, different for each window of a run, whatever is measured.
        window: u32,
        /// Counts the variant's sessions from 1: with two sessions, three variants come as 1 1 1 2 2 2.
        session: u32,
        /// The session's variant.
        variant: PathVariant,
        /// The clock that the snapshot function is asked for.
        #[serde(with = "crate::names::clock_name")]
        clock_id: ClockId,
        /// What of the session it is.
        what: PathPart,
        /// Known delay put into the measured path, in CPU cycles; 0 but for the ladder.
        added_delay: u32,
        /// Pairs of counter reads.
        iterations: u32,
        /// Equal parts that they are counted in.
        batches: u16,
        /// Whether a random delay comes before each pair.
        dither: bool,
        /// It is uniform over so many steps of one CPU cycle: a whole number of ticks.
        dither_steps: u32,
        /// The session's seed.
        seed: u64,
    },
    /// The board was told to run the inode timestamp workload, as above.
    CtimeStarted {
        /// The window's number.
        window: u32,
        /// Counts the variant's sessions from 1.
        session: u32,
        /// The session's variant.
        variant: CtimeVariant,
        /// Cores that run it.
        cores: u8,
        /// Operations of all cores together.
        operations: u64,
        /// The session's seed.
        seed: u64,
    },
    /// What the host's clock showed at this moment: tells a week number that rolled over.
    HostClock {
        /// Seconds since 1970-01-01T00:00:00 UTC.
        unix_s: i64,
    },
    /// A temperature of the bench's environment was read.
    Temperature {
        /// As the bench file names it.
        name: String,
        /// Thousandths of a degree Celsius.
        millicelsius: i32,
    },
    /// A temperature could not be read, for the first time in this run.
    TemperatureUnreadable {
        /// As the bench file names it.
        name: String,
        /// Why, with the file.
        reason: String,
    },
    /// An instrument's port vanished while it was in use: its adapter was unplugged, its server hung up. It is waited for.
    PortVanished {
        /// As the bench file names it.
        port: String,
        /// Whose port it is.
        instrument: PortOwner,
        /// What the system says.
        reason: String,
    },
    /// It is there again and open. What came in between is lost, and so may be the rest of what was on its way before.
    PortReturned {
        /// As the bench file names it.
        port: String,
        /// Whose port it is.
        instrument: PortOwner,
        /// Milliseconds for which it was away.
        after_ms: u64,
    },
    /// The run ended early.
    Stopped {
        /// Why: `interrupted`, or the error's text.
        reason: String,
    },
    /// The run's last event.
    Finished,
}

/// Everything that a run recorded, decoded, each list in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// What the rig did.
    pub rig: Vec<Stamped<RigEvent>>,
    /// What the board said.
    pub board: Vec<Stamped<BoardEvent>>,
    /// What the reference said.
    pub reference: Vec<Stamped<ReferenceEvent>>,
    /// What the interval counter said.
    pub interval: Vec<Stamped<IntervalEvent>>,
    /// What is missing of it, as sentences: whole recordings, recordings without a record, torn last lines.
    pub incomplete: Vec<String>,
}
