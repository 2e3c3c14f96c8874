//! `ppsrig stability`: how stable a clock is, from whatever recorded it.

mod input;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};

use super::say;
use crate::analysis::stability::{self, Deviation, Taus};
use crate::formats::series::{Kind, ReadOptions, TagUnit, parse_tau0};
use crate::report::stability as report;
use crate::units::Picos;

/// Says how stable a clock is: Allan family, MTIE and TIErms
///
/// Reads the phase (time error) or frequency of a clock from what recorded it, which the content tells: logs of a TAPR TICC,
/// the output of ppstest, chrony's refclocks.log, statistics.log and tracking.log, peerstats and loopstats of ntpd and NTPsec,
/// files of one column (values) or two (time tag, value) as allantools and Stable32 use them, and ppsrig's own edges.csv;
/// each also compressed by gzip. Prints each deviation with the number of terms it comes from, the power law of the noise
/// there, and the interval that holds the true value.
///
/// Whole picoseconds are computed exactly. With time tags, missing points are seen and terms that touch one are left out;
/// without them nobody can see a gap, and the output says so. A tag may lie a hundredth of tau0 and two of its last digits
/// off the grid; a quarter of tau0 where a daemon polls and where the tags themselves are the readings. Tags too coarse to
/// tell tau0 are refused until --tau0 says it; each then goes to the nearest point of the grid. A line that cannot be
/// read ends it with line and column.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  ppsrig stability phase.txt                    seconds, a point a second
  ppsrig stability phase.txt.gz --unit ns --tau0 0.1
  ppsrig stability y.dat --type frequency --dev oadev,mdev --taus decade
  ppsrig stability ticc.log --channel A         a TICC's channel A
  ppsrig stability /var/log/chrony/refclocks.log --channel PPS0
  ppsrig stability loopstats --lenient          a log that is being written
  ppsrig stability results/NAME/edges.csv --channel 1/irq
  ppstest /dev/pps0 | head -n 1000 | ppsrig stability - --json

Formats: columns, ticc-timestamp, ticc-interval, ticc-period, ppstest,
refclocks, statistics, tracking, peerstats, loopstats, edges.
Deviations: adev, oadev, mdev, tdev, hdev, ohdev, totdev, mtie, tierms;
with --dev all also mtotdev, ttotdev, htotdev and theo1.
Noise: alpha 2 white phase, 1 flicker phase, 0 white frequency,
-1 flicker frequency, -2 random walk of frequency.

Exit code: 0 done, 2 it could not be done.")]
pub struct Args {
    /// The file, plain or compressed by gzip; - for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// What is read of it: phase in seconds, or fractional frequency
    #[arg(long = "type", value_name = "TYPE", value_enum, default_value_t = Quantity::Phase)]
    quantity: Quantity,
    /// Distance of two points in seconds; without it the commonest distance of the time tags, or 1
    #[arg(long, value_name = "S", value_parser = parse_tau0, allow_negative_numbers = true)]
    tau0: Option<Picos>,
    /// Deviations, with commas between, or all; without it the first nine
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    dev: Vec<String>,
    /// Averaging times: 1, 2, 4, 8 ...; 1, 2, 4, 10, 20 ...; or each
    #[arg(long, value_name = "T", value_enum, default_value_t = Spacing::Octave)]
    taus: Spacing,
    /// What the file is, where its content does not tell
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Kind>, help_heading = "Reading")]
    format: Option<Kind>,
    /// Unit of the values in a file of columns
    #[arg(long, value_name = "UNIT", value_enum, default_value_t = Unit::S, help_heading = "Reading")]
    unit: Unit,
    /// What the time tags of a file of columns count, where their values do not tell
    #[arg(long, value_name = "UNIT", value_enum, help_heading = "Reading")]
    tags: Option<Tags>,
    /// Which channel, clock or peer of a file that has several
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    channel: Option<String>,
    /// Leaves out lines that cannot be read, and counts them
    #[arg(long, help_heading = "Reading")]
    lenient: bool,
    /// The power law of the noise, in place of identifying it: 2 to -2
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-2..=2))]
    alpha: Option<i32>,
    /// Probability that an interval holds the true value
    #[arg(long, value_name = "P", default_value_t = 0.683)]
    confidence: f64,
    /// Prints one JSON object in place of the table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Quantity {
    Phase,
    Frequency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Spacing {
    Octave,
    Decade,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    S,
    Ms,
    Us,
    Ns,
    Ps,
}

impl Unit {
    /// As it is written.
    const fn name(self) -> &'static str {
        match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
            Self::Ps => "ps",
        }
    }

    /// As a power of ten of seconds.
    const fn scale(self) -> i32 {
        match self {
            Self::S => 0,
            Self::Ms => -3,
            Self::Us => -6,
            Self::Ns => -9,
            Self::Ps => -12,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tags {
    Seconds,
    Days,
}

impl Args {
    fn reading(&self) -> anyhow::Result<ReadOptions> {
        let frequency = self.quantity == Quantity::Frequency;
        ensure!(
            !frequency || self.unit == Unit::S,
            "--unit {}: frequency is a fraction and has no unit; leave --unit out",
            self.unit.name()
        );
        Ok(ReadOptions {
            kind: self.format,
            frequency,
            scale: self.unit.scale(),
            tau0: self.tau0,
            source: self.channel.clone(),
            tags: self.tags.map(|tags| match tags {
                Tags::Seconds => TagUnit::Seconds,
                Tags::Days => TagUnit::Days,
            }),
            lenient: self.lenient,
            ..ReadOptions::default()
        })
    }

    fn asked(&self) -> anyhow::Result<stability::Options> {
        ensure!(
            self.confidence > 0.0 && self.confidence < 1.0,
            "--confidence {}: give a probability between 0 and 1",
            self.confidence
        );
        let taus = match self.taus {
            Spacing::Octave => Taus::Octave,
            Spacing::Decade => Taus::Decade,
            Spacing::All => Taus::All,
        };
        Ok(stability::Options {
            deviations: deviations(&self.dev)?,
            taus,
            alpha: self.alpha,
            confidence: self.confidence,
        })
    }
}

/// Those that were named, or the usual ones.
fn deviations(named: &[String]) -> anyhow::Result<Vec<Deviation>> {
    match named {
        [] => return Ok(Deviation::usual().to_vec()),
        [all] if all == "all" => return Ok(Deviation::ALL.to_vec()),
        _ => {}
    }
    let mut deviations = Vec::new();
    for name in named {
        let deviation = match name.parse::<Deviation>() {
            Ok(deviation) => deviation,
            Err(known) => bail!("--dev {name}: {known}, or all"),
        };
        ensure!(!deviations.contains(&deviation), "--dev: {name} is there twice");
        deviations.push(deviation);
    }
    Ok(deviations)
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, on which file and line, and what to try.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    say(&answer(args)?)?;
    Ok(ExitCode::SUCCESS)
}

/// What is printed.
fn answer(args: &Args) -> anyhow::Result<String> {
    let (reading, asked) = (args.reading()?, args.asked()?);
    let progress = input::Progress::new();
    let name = input::name_of(&args.file);
    let read = input::read(&args.file, &reading, &progress)?;
    progress.computing(read.series.phase.len());
    let found =
        stability::analyse(&read.series, &asked).with_context(|| format!("{name} gives no deviation"))?;
    progress.clear();
    let unit = (read.input.format == Kind::Columns.name() && !read.input.frequency)
        .then(|| (args.unit.name(), args.unit != Unit::S));
    let what =
        report::Asked { file: name, gzip: read.gzip, cut: read.cut, confidence: asked.confidence, unit };
    Ok(if args.json {
        report::json(&what, &read.input, &found)
    } else {
        report::table(&what, &read.input, &found)
    })
}
