//! Every deviation against what Stable32 prints to five digits, and SP1065 to seven, for public data.
//!
//! The data belong to their authors and are no part of this repository: they are looked for in `shared/data` beside it, or
//! where `PPSRIG_SHARED_DATA` says. Run with `just conformance`, or `cargo test -p ppsrig --test conformance_stability --
//! --ignored`. Where they are absent each test counts as ignored and says `skipped`.
//!
//! Stable32 does not always print what SP1065 defines. What is different and why stands in [`EXPLAINED`], with the number
//! of rows each reason is good for; a row more or less fails the test.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use flate2::read::GzDecoder;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use ppsrig::analysis::stability::{Deviation, Estimate, Prepared, chi_squared, estimate, identify};
use ppsrig::series::{Phase, Series};

/// Five printed digits.
const VALUE_WITHIN: f64 = 5e-5;
/// Stable32 computes quantiles of more than 100 degrees of freedom by an approximation.
const INTERVAL_WITHIN: f64 = 1e-3;
/// What Stable32 prints as confidence factor.
const CONFIDENCE: f64 = 0.683;

/// The data sets, and how many of the deviations there are rows of.
const DATASETS: [(&str, usize); 4] = [("nbs14_10", 7), ("nbs14_1000", 7), ("phasedat", 13), ("gps", 7)];

/// Rows that print something else than SP1065 defines.
struct Explained {
    deviation: Deviation,
    /// End of the name of the file that they come from.
    source: &'static str,
    rows: usize,
    why: &'static str,
    /// What the variance is multiplied with there.
    factor: fn(&Row) -> f64,
}

const EXPLAINED: [Explained; 4] = [
    Explained {
        deviation: Deviation::Mtotdev,
        source: "/phase_dat_mtotdev.txt",
        rows: 158,
        why: "Stable32 1.53 divides the variance by SP1065's bias for the noise it identified; 1.60 does not",
        factor: modified_bias,
    },
    Explained {
        deviation: Deviation::Ttotdev,
        source: "/phase_dat_ttotdev_all.txt",
        rows: 158,
        why: "it is MTOTDEV times tau over the square root of three, with the same bias taken off",
        factor: modified_bias,
    },
    Explained {
        deviation: Deviation::Htotdev,
        source: "/phase_dat_htotdev_octave.txt",
        rows: 4,
        why: "Stable32 divides the variance by SP1065's bias for white frequency noise, but not at m = 1",
        factor: |row| if row.m == 1 { 1.0 } else { 1.0 / 0.995 },
    },
    Explained {
        deviation: Deviation::Theo1,
        source: "/phase_dat_theo1.txt",
        rows: 181,
        why: "with alpha set to 1 Stable32 multiplies the variance by one number at every m, where SP1065 has 0.55 to 0.24",
        factor: |_| 0.6028,
    },
];

/// 1 over what the modified total variance expects of the modified Allan variance.
fn modified_bias(row: &Row) -> f64 {
    match row.alpha {
        0 => 1.0 / 0.73,
        1 => 1.0 / 0.83,
        alpha => panic!("no row was expected with alpha {alpha}"),
    }
}

/// Rows whose interval has other degrees of freedom.
struct OtherInterval {
    dataset: &'static str,
    deviation: Deviation,
    rows: usize,
    why: &'static str,
    which: fn(&Row) -> bool,
}

const OTHER_INTERVALS: [OtherInterval; 4] = [
    OtherInterval {
        dataset: "gps",
        deviation: Deviation::Totdev,
        rows: 1,
        why: "flicker phase noise over 3.7 averaging times: Stable32 has 43.7 degrees of freedom, SP1065's table 5 has 41.6",
        which: |row| row.m == 65_536,
    },
    OtherInterval {
        dataset: "phasedat",
        deviation: Deviation::Mtotdev,
        rows: 8,
        why: "Stable32 has more degrees of freedom than SP1065's table 8, whose are nearer to the exact ones",
        which: |row| row.m >= 10,
    },
    OtherInterval {
        dataset: "phasedat",
        deviation: Deviation::Ttotdev,
        rows: 6,
        why: "those of MTOTDEV",
        which: |row| row.m >= 10,
    },
    OtherInterval {
        dataset: "phasedat",
        deviation: Deviation::Htotdev,
        rows: 2,
        why: "the value is that of OHDEV, and so is our interval",
        which: |row| row.m == 1,
    },
];

fn main() -> ExitCode {
    let collection = Arc::new(OnceLock::new());
    let mut trials = Vec::new();
    for (dataset, count) in DATASETS {
        for &deviation in &Deviation::ALL[..count] {
            let collection = Arc::clone(&collection);
            let test = move || run(&collection, |collection| collection.check(dataset, deviation));
            trials.push(Trial::ignorable_test(format!("{dataset}_{deviation}"), test));
        }
    }
    let shared = Arc::clone(&collection);
    trials.push(Trial::ignorable_test("every_row_is_tested", move || run(&shared, Collection::count)));
    trials.push(Trial::ignorable_test("noise_is_identified_as_stable32_does", move || {
        run(&collection, Collection::identify)
    }));
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(true)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn run(
    shared: &OnceLock<Collection>,
    test: impl Fn(&Collection) -> Result<(), Failed>,
) -> Result<Completion, Failed> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("PPSRIG_SHARED_DATA").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        return Ok(Completion::ignored_with("skipped: no ../shared/data"));
    }
    test(shared.get_or_init(|| Collection::read(&folder.join("stability"))))?;
    Ok(Completion::Completed)
}

/// A row of `expected.tsv`.
struct Row {
    dataset: String,
    deviation: Deviation,
    m: u64,
    /// To five digits.
    n: f64,
    alpha: i32,
    value: f64,
    interval: Option<(f64, f64)>,
    source: String,
}

impl Row {
    fn parse(line: &str) -> Self {
        let fields: Vec<_> = line.split('\t').collect();
        let [dataset, deviation, m, _, n, alpha, low, value, high, source] = fields[..] else {
            panic!("{line}: not ten fields")
        };
        // Stable32 prints 0 where it computed no interval.
        let bound = |field: &str| field.parse().ok().filter(|bound| *bound > 0.0);
        Self {
            dataset: dataset.to_owned(),
            deviation: deviation.parse().expect(deviation),
            m: m.parse().expect(m),
            n: n.parse().unwrap_or(f64::NAN),
            alpha: alpha.parse().unwrap_or_default(),
            value: value.parse().expect(value),
            interval: bound(low).zip(bound(high)),
            source: source.to_owned(),
        }
    }
}

struct Collection {
    rows: Vec<Row>,
    series: HashMap<&'static str, Series>,
}

impl Collection {
    fn read(folder: &Path) -> Self {
        let text = |name: &str| {
            let bytes = std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut text = String::new();
            match name.ends_with(".gz") {
                true => GzDecoder::new(&bytes[..]).read_to_string(&mut text),
                false => (&bytes[..]).read_to_string(&mut text),
            }
            .unwrap_or_else(|error| panic!("{name}: {error}"));
            text
        };
        let seconds = |name: &str| {
            let lines = text(name);
            let points = lines.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
            let points = points.map(|line| line.trim().parse().expect(line)).collect();
            Series { phase: Phase::Seconds(points), tau0_s: 1.0, missing: 0 }
        };
        let numbers = std::iter::successors(Some(1_234_567_890_u64), |n| Some(16_807 * n % 2_147_483_647));
        let large: Vec<_> = numbers.map(|n| n as f64 / 2_147_483_647.0).take(1000).collect();
        let small = [892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0];
        Self {
            rows: text("expected.tsv").lines().skip(1).map(Row::parse).collect(),
            series: HashMap::from([
                ("nbs14_10", Series::from_frequency(&small, 1.0)),
                ("nbs14_1000", Series::from_frequency(&large, 1.0)),
                ("phasedat", seconds("PHASE.DAT")),
                ("gps", seconds("gps_1pps_phase_data.txt.gz")),
            ]),
        }
    }

    fn of<'a>(&'a self, dataset: &'a str, deviation: Deviation) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.dataset == dataset && row.deviation == deviation)
    }

    /// All rows of one deviation of one data set.
    fn check(&self, dataset: &'static str, deviation: Deviation) -> Result<(), Failed> {
        let phase = Prepared::new(&self.series[dataset]).expect("usable");
        let mut known = HashMap::new();
        let mut tally = Tally::default();
        for row in self.of(dataset, deviation) {
            let ours = *known.entry(row.m).or_insert_with(|| estimate(deviation, &phase, row.m as usize));
            match ours {
                Some(ours) => tally.check(row, ours, phase.len() as u64),
                None => tally.wrong(f64::INFINITY, format!("m = {}: no estimate", row.m)),
            }
        }
        if known.is_empty() {
            tally.wrong(f64::INFINITY, "no rows".to_owned());
        }
        tally.finish(dataset, deviation)
    }

    /// That the trials leave no row out.
    fn count(&self) -> Result<(), Failed> {
        let of = |from: usize, to: usize| {
            let deviations = |(_, count): (&str, usize)| &Deviation::ALL[from.min(count)..to.min(count)];
            let rows =
                DATASETS.into_iter().flat_map(|one| deviations(one).iter().map(move |other| (one.0, *other)));
            rows.map(|(dataset, deviation)| self.of(dataset, deviation).count()).sum::<usize>()
        };
        let counts = (of(0, 9), of(9, 13), self.rows.len());
        if counts != (1343, 727, 2070) {
            return Err(format!("rows of the first nine, of the last four, of all: {counts:?}").into());
        }
        Ok(())
    }

    /// The power law that Stable32 identified, in all rows in which it was not set. Seven rows of 112 are different, all
    /// with few points: from 7 or 8 we say flicker phase noise, and Stable32 does for TOTDEV and says white frequency
    /// noise for the others; from 4 we say nothing.
    fn identify(&self) -> Result<(), Failed> {
        let phase = Prepared::new(&self.series["gps"]).expect("usable");
        let points = phase.len();
        let (mut wrong, mut seven) = (Vec::new(), 0);
        let mut known = HashMap::new();
        let rows: Vec<_> = self.rows.iter().filter(|row| row.dataset == "gps").collect();
        for row in &rows {
            let of_three = matches!(row.deviation, Deviation::Hdev | Deviation::Ohdev);
            let ours = known
                .entry((row.m, of_three))
                .or_insert_with(|| identify(&phase, row.m as usize, row.deviation));
            let few = points.div_ceil(row.m as usize);
            let different = *ours != Some(row.alpha);
            seven += usize::from(different && few <= 8);
            if different && few > 8 {
                wrong.push(format!("  {} at m = {}: {ours:?}, printed {}", row.deviation, row.m, row.alpha));
            }
        }
        println!("gps: {seven} of {} rows have another power law, all from 8 points or fewer", rows.len());
        if !wrong.is_empty() || seven != 7 {
            return Err(
                format!("{} of {} rows differ:\n{}", wrong.len(), rows.len(), wrong.join("\n")).into()
            );
        }
        Ok(())
    }
}

/// What the rows of a trial came to.
#[derive(Default)]
struct Tally {
    wrong: Vec<(f64, String)>,
    explained: [usize; EXPLAINED.len()],
    other_intervals: [usize; OTHER_INTERVALS.len()],
}

impl Tally {
    fn wrong(&mut self, off: f64, line: String) {
        self.wrong.push((off, line));
    }

    fn check(&mut self, row: &Row, ours: Estimate, points: u64) {
        let of_row = |one: &Explained| one.deviation == row.deviation && row.source.ends_with(one.source);
        let explained = EXPLAINED.iter().position(of_row);
        let factor = explained.map_or(1.0, |index| (EXPLAINED[index].factor)(row));
        if factor != 1.0 {
            self.explained[explained.expect("has a factor")] += 1;
        }
        let value = ours.value * factor.sqrt();
        let off = (value / row.value - 1.0).abs();
        if off > VALUE_WITHIN {
            self.wrong(off, format!("m = {}: {value:.6e}, printed {:e}", row.m, row.value));
        }
        let off = (ours.n as f64 / row.n - 1.0).abs();
        if off > VALUE_WITHIN {
            self.wrong(off, format!("m = {}: n = {}, printed {}", row.m, ours.n, row.n));
        }
        if let Some(printed) = row.interval {
            self.check_interval(row, printed, points);
        }
    }

    fn check_interval(&mut self, row: &Row, printed: (f64, f64), points: u64) {
        let ours = chi_squared(row.deviation, row.alpha, row.m, points, CONFIDENCE, row.value);
        let off = ours.map_or(f64::INFINITY, |ours| {
            (ours.0 / printed.0 - 1.0).abs().max((ours.1 / printed.1 - 1.0).abs())
        });
        if off <= INTERVAL_WITHIN {
            return;
        }
        let of_row = |one: &OtherInterval| {
            one.dataset == row.dataset && one.deviation == row.deviation && (one.which)(row)
        };
        match OTHER_INTERVALS.iter().position(of_row) {
            Some(index) => self.other_intervals[index] += 1,
            None => {
                let line = format!("m = {}, alpha = {}: {ours:?}, printed {printed:?}", row.m, row.alpha);
                self.wrong(off, line);
            }
        }
    }

    /// Prints what was explained; fails where something was not, or where an explanation has too many or too few rows.
    fn finish(mut self, dataset: &str, deviation: Deviation) -> Result<(), Failed> {
        let values = EXPLAINED.iter().zip(self.explained);
        let values = values.map(|(one, rows)| ("phasedat", one.deviation, one.rows, rows, "values", one.why));
        let intervals = OTHER_INTERVALS.iter().zip(self.other_intervals);
        let intervals =
            intervals.map(|(one, rows)| (one.dataset, one.deviation, one.rows, rows, "intervals", one.why));
        let table: Vec<_> =
            values.chain(intervals).filter(|row| (row.0, row.1) == (dataset, deviation)).collect();
        for (_, _, expected, rows, what, why) in table {
            println!("{dataset} {deviation}: {rows} {what}: {why}");
            if rows != expected {
                self.wrong(f64::INFINITY, format!("{expected} {what} were to be explained, {rows} are"));
            }
        }
        if self.wrong.is_empty() {
            return Ok(());
        }
        self.wrong.sort_by(|one, other| other.0.total_cmp(&one.0));
        let worst = self.wrong.iter().take(8).map(|(off, line)| format!("  off by {off:.1e}: {line}"));
        let worst: Vec<_> = worst.collect();
        Err(format!("{} rows differ; the worst:\n{}", self.wrong.len(), worst.join("\n")).into())
    }
}
