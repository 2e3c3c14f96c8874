//! The names that the command line, `run.toml` and the CSV files use for what the wire protocol numbers.

/// A table of names, and a module for `#[serde(with)]` that writes them.
macro_rules! names {
    ($module:ident, $type:ty, $table:ident, { $($variant:path => $name:literal),+ $(,)? }) => {
        #[doc = concat!("Every `", stringify!($type), "` with the name that the command line and the CSV files use.")]
        pub const $table: &[($type, &str)] = &[$(($variant, $name)),+];

        pub(crate) mod $module {
            use super::$table;
            use serde::{Deserialize, Deserializer, Serializer, de::Error};

            pub(crate) fn serialize<S: Serializer>(value: &$type, serializer: S) -> Result<S::Ok, S::Error> {
                let name = match value { $($variant => $name),+ };
                serializer.serialize_str(name)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let name = String::deserialize(deserializer)?;
                $table
                    .iter()
                    .find(|(_, known)| *known == name)
                    .map(|(value, _)| *value)
                    .ok_or_else(|| D::Error::custom(format!("unknown {} `{name}`", stringify!($type))))
            }
        }
    };
}

names!(mode_name, ppsrig_wire::EdgeMode, EDGE_MODES, {
    ppsrig_wire::EdgeMode::Irq => "irq",
    ppsrig_wire::EdgeMode::Poll => "poll",
    ppsrig_wire::EdgeMode::Alternate => "alternate",
});
names!(clock_name, ppsrig_wire::ClockId, CLOCK_IDS, {
    ppsrig_wire::ClockId::Realtime => "realtime",
    ppsrig_wire::ClockId::Monotonic => "monotonic",
    ppsrig_wire::ClockId::MonotonicRaw => "monotonic-raw",
    ppsrig_wire::ClockId::Boottime => "boottime",
});

/// The name of a clock.
#[must_use]
pub fn of_clock(clock: ppsrig_wire::ClockId) -> &'static str {
    CLOCK_IDS.iter().find(|(known, _)| *known == clock).map_or("", |(_, name)| name)
}

/// An enum whose variants have names of their own, in serde and everywhere else.
macro_rules! named {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident => $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            /// All of them, in their order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name on the command line, in `run.toml` and in the CSV files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                Self::ALL.iter().find(|one| one.name() == name).copied().ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|one| one.name()).collect();
                    format!("give one of {}", known.join(", "))
                })
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// What is measured.
    Measurement {
        /// Edges of the generator, captured by the board.
        Edge => "edge",
        /// The time from the caller's counter read to the one inside the snapshot function.
        Path => "path",
        /// The coarse clock under inode timestamps.
        Ctime => "ctime",
    }
}

named! {
    /// How time passes on the board.
    Clock {
        /// As the world's.
        Live => "live",
        /// An emulated board counts instructions: the same image gives the same figures on every machine.
        Exact => "exact",
    }
}

named! {
    /// A build of `ktime_get_snapshot_id()`.
    PathVariant {
        /// Calls the clocksource through its read pointer.
        Indirect => "indirect",
        /// Reads the arch counter in line, behind a patched or static branch.
        Inline => "inline",
        /// The same, and CLOCK_REALTIME comes first in the dispatch by clock id.
        InlineBiased => "inline-biased",
    }
}

named! {
    /// A build of the coarse clock under inode timestamps. The deliberately broken one of the tests is none of them:
    /// the rig cannot ask for it.
    CtimeVariant {
        /// No multigrain timestamps.
        Coarse => "coarse",
        /// The floor is compared outside the timekeeper.
        Multigrain => "multigrain",
        /// `ktime_get_coarse_real_ts64_with_floor()`.
        MultigrainFloor => "multigrain-floor",
    }
}

named! {
    /// What one measuring window of a `path` session measures.
    PathPart {
        /// Counter reads back to back, with nothing between them.
        Overhead => "overhead",
        /// The variant.
        Path => "path",
        /// The variant with a known delay put into it.
        Ladder => "ladder",
    }
}

named! {
    /// What an interval counter speaks.
    IntervalCounterDriver {
        /// TAPR TICC, in any of its modes that print readings.
        Ticc => "ticc",
        /// Keysight 53220A and 53230A, over SCPI.
        Keysight53230a => "keysight-53230a",
        /// HP 53131A and 53132A, whose serial port only talks.
        Hp53131a => "hp-53131a",
        /// Stanford Research SR620.
        Sr620 => "sr620",
        /// Pendulum CNT-90 and CNT-91.
        Cnt90 => "cnt-90",
        /// A u-blox receiver's time mark input, TIM-TM2.
        TimTm2 => "tim-tm2",
    }
}

named! {
    /// What fires the edges, and how it is spoken to.
    GeneratorDriver {
        /// The old name of `keysight-33500`.
        Scpi => "scpi",
        /// Keysight 33500 and 33600, over SCPI.
        Keysight33500 => "keysight-33500",
        /// Siglent SDG, and what else speaks its keys and values.
        SiglentSdg => "siglent-sdg",
        /// Rigol DG800, DG1000Z and DG2000, over SCPI.
        RigolDg => "rigol-dg",
        /// FeelTech FY6900: a pulse train that runs by itself.
        FeeltechFy6900 => "feeltech-fy6900",
        /// A line of a serial adapter that the host moves.
        SerialLine => "serial-line",
        /// The pulse of a GPSDO, one a second, which nobody commands.
        GpsdoPulse => "gpsdo-pulse",
    }
}

/// What decides when an edge comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeTiming {
    /// A train of counted edges starts on the reference's next pulse.
    OnPulse,
    /// One on each pulse of the reference, whoever listens.
    EachPulse,
    /// The source's own clock, which has nothing to do with the reference's pulse.
    FreeRunning,
    /// The host's clock and its serial adapter.
    HostTimed,
}

impl EdgeTiming {
    /// Whether an edge's GPS time follows from the second whose pulse it was aligned with.
    #[must_use]
    pub const fn on_gps_grid(self) -> bool {
        matches!(self, Self::OnPulse | Self::EachPulse)
    }

    /// Whether edges come whether or not anybody asked: how many were due is known from how long a window was open.
    #[must_use]
    pub const fn runs_by_itself(self) -> bool {
        matches!(self, Self::EachPulse | Self::FreeRunning)
    }

    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OnPulse => "starts on the reference's pulse",
            Self::EachPulse => "one edge on each pulse, not commanded",
            Self::FreeRunning => "free-running",
            Self::HostTimed => "host-timed",
        }
    }
}

impl GeneratorDriver {
    /// What decides when its edges come.
    #[must_use]
    pub const fn timing(self) -> EdgeTiming {
        match self {
            Self::Scpi | Self::Keysight33500 | Self::SiglentSdg | Self::RigolDg => EdgeTiming::OnPulse,
            Self::GpsdoPulse => EdgeTiming::EachPulse,
            Self::FeeltechFy6900 => EdgeTiming::FreeRunning,
            Self::SerialLine => EdgeTiming::HostTimed,
        }
    }

    /// Whether there is anything to be told, over a port.
    #[must_use]
    pub const fn has_port(self) -> bool {
        !matches!(self, Self::GpsdoPulse)
    }

    /// Whether its output levels are set.
    #[must_use]
    pub const fn has_levels(self) -> bool {
        !matches!(self, Self::GpsdoPulse | Self::SerialLine)
    }
}

named! {
    /// What a serial adapter makes an edge with.
    SerialSignal {
        /// Request to send.
        Rts => "rts",
        /// Data terminal ready.
        Dtr => "dtr",
        /// The data line, held at space.
        TxdBreak => "txd-break",
        /// The data line, by a byte of zeros: a start bit and eight bits at space.
        TxdByte => "txd-byte",
    }
}

named! {
    /// A logic level.
    Level {
        /// Low.
        Low => "low",
        /// High.
        High => "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_same_to_serde_and_to_the_command_line() {
        for variant in PathVariant::ALL {
            assert_eq!(serde_json::to_string(variant).unwrap(), format!("\"{variant}\""));
            assert_eq!(variant.name().parse(), Ok(*variant));
        }
        for variant in CtimeVariant::ALL {
            assert_eq!(serde_json::to_string(variant).unwrap(), format!("\"{variant}\""));
            assert_eq!(variant.name().parse(), Ok(*variant));
        }
        assert!("broken".parse::<CtimeVariant>().unwrap_err().contains("multigrain-floor"));
    }
}
