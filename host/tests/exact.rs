//! Exact mode on the virtual bench: an emulated core that counts instructions gives the same figures each time, and they
//! are those that a trace of it shows.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{Place, fixtures, image, image_with_one_more, text, virtual_bench};
use ppsrig::names::{PathVariant, of_clock};
use ppsrig::plan::CLOCK_IDS;
use ppsrig::rig::symbols::Symbols;
use ppsrig_wire::ClockId;

/// Enough where every pair is the same.
const FEW: [&str; 2] = ["--iterations", "100000"];
/// A tick an instruction.
const COUNTING: [&str; 2] = ["--counter-hz", "1000000000"];
/// One build where any will do: each takes a boot of the board.
const ONE: [&str; 2] = ["--variant", "inline-biased"];
/// The clocks that are also measured; all are traced.
const MEASURED: [ClockId; 2] = [ClockId::Realtime, ClockId::Monotonic];
/// `inline-biased` may take this many instructions, and this share of what `indirect` takes.
const MOST: u64 = 20;
const MOST_SHARE: f64 = 0.80;

/// Instructions between the two reads, by variant and clock.
type Counts = BTreeMap<(String, String), u64>;

fn ended_well(output: &Output) -> String {
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{}", text(&output.stderr));
    stdout
}

fn path_run(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.ppsrig(["run", "--measure", "path", "--clock", "exact"]);
    command.args(FEW).args(arguments);
    command
}

/// The bundle that a command names in its last line.
fn bundle(stdout: &str) -> &Path {
    Path::new(stdout.lines().last().expect("the bundle's path"))
}

fn summary(stdout: &str) -> Vec<u8> {
    std::fs::read(bundle(stdout).join("summary.csv")).expect("it was written")
}

/// Something that keeps a processor busy until it is dropped.
struct Busy(Child);

impl Busy {
    fn on(processor: &str) -> Self {
        let loops = ["-c", processor, "sh", "-c", "while :; do :; done"];
        Self(Command::new("taskset").args(loops).stdin(Stdio::null()).spawn().expect("util-linux is there"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The first processor that this process may run on.
fn processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let list =
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("Linux says it");
    list.trim().split([',', '-']).next().expect("there is one").to_owned()
}

#[test]
fn three_runs_of_one_image_give_the_same_figures_also_beside_a_busy_process() {
    let _turn = virtual_bench();
    let place = Place::new();
    // The slow counter: its phase at each read would give away any difference in time.
    let first = summary(&ended_well(&path_run(&place, &ONE).output().expect("ppsrig starts")));
    let second = summary(&ended_well(&path_run(&place, &ONE).output().expect("ppsrig starts")));
    assert!(first == second, "{}\n{}", text(&first), text(&second));
    let processor = processor();
    let _busy = Busy::on(&processor);
    let plain = path_run(&place, &ONE);
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &processor]).arg(plain.get_program()).args(plain.get_args()).stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    let third = summary(&ended_well(&pinned.output().expect("taskset starts")));
    assert!(first == third, "{}\n{}", text(&first), text(&third));
    place.wait_until_nothing_runs();
}

/// The rows of a summary with this metric.
fn rows(summary: &[u8], metric: &str) -> Vec<BTreeMap<String, String>> {
    let mut rows = csv::Reader::from_reader(summary);
    let rows = rows.deserialize::<BTreeMap<String, String>>().map(|row| row.expect("it is CSV"));
    rows.filter(|row| row["metric"] == metric).collect()
}

#[test]
fn with_dither_a_tick_of_eighty_nanoseconds_gives_the_mean_that_is_counted() {
    /// Student's t of 31 degrees of freedom: an interval of 99.9 % is so much wider than one of 95 %.
    const WIDER: f64 = 3.633 / 2.040;
    let _turn = virtual_bench();
    let place = Place::new();
    let output =
        place.ppsrig(["run", "--measure", "path", "--clock", "exact"]).output().expect("ppsrig starts");
    let stdout = ended_well(&output);
    let trace = std::fs::read_to_string(bundle(&stdout).join("trace.txt")).expect("it was written");
    let counts: BTreeMap<_, _> =
        counts_of(&trace).into_iter().map(|(variant, _, count, _)| (variant, count as f64)).collect();
    let means = rows(&summary(&stdout), "mean");
    assert_eq!((means.len(), counts.len()), (PathVariant::ALL.len(), PathVariant::ALL.len()));
    for row in means {
        let number =
            |column: &str| row[column].parse::<f64>().unwrap_or_else(|_| panic!("{column}: {row:?}"));
        let (mean, count) = (number("value"), counts[&row["variant"]]);
        assert!((mean - count).abs() <= 0.15, "{count} instructions, one a nanosecond: {row:?}");
        let half = WIDER * (number("ci95_high") - number("ci95_low")) / 2.0;
        assert!((mean - count).abs() <= half, "{count} is outside of {mean} +- {half}");
        assert_eq!(row["verdict"], "passed", "{row:?}");
    }
}

#[test]
fn without_dither_there_is_no_verdict() {
    let _turn = virtual_bench();
    let place = Place::new();
    let output = path_run(&place, &[ONE[0], ONE[1], "--dither", "off"]).output().expect("ppsrig starts");
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{stdout}\n{}", text(&output.stderr));
    let means = rows(&summary(&stdout), "mean");
    assert_eq!(means.len(), 1);
    assert_eq!(means[0]["verdict"], "invalid", "{means:?}");
}

/// What a run counts, and the trace that it keeps.
fn measured(place: &Place, clock_id: &str) -> (Counts, String) {
    let arguments = [COUNTING[0], COUNTING[1], "--clock-id", clock_id];
    let stdout = ended_well(&path_run(place, &arguments).output().expect("ppsrig starts"));
    let trace = std::fs::read_to_string(bundle(&stdout).join("trace.txt")).expect("it was written");
    let summary = summary(&stdout);
    let mut counts = Counts::new();
    for row in rows(&summary, "instructions") {
        let count = row["value"].parse().unwrap_or_else(|_| panic!("not a whole number: {row:?}"));
        counts.insert((row["variant"].clone(), row["clock_id"].clone()), count);
    }
    assert_eq!(counts.len(), PathVariant::ALL.len(), "{counts:?}");
    (counts, trace)
}

#[test]
fn a_regression_of_one_instruction_is_one_instruction_and_worse() {
    let _turn = virtual_bench();
    let place = Place::new();
    let runs = [image(), image_with_one_more()].map(|image| {
        let image = image.display().to_string();
        let arguments = [ONE[0], ONE[1], COUNTING[0], COUNTING[1], "--image", &image];
        ended_well(&path_run(&place, &arguments).output().expect("ppsrig starts"))
    });
    let [plain, slower] = runs.each_ref().map(|stdout| {
        let rows = rows(&summary(stdout), "instructions");
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0]["value"].parse::<u64>().expect("a whole number")
    });
    assert_eq!(slower, plain + 1);
    let compare = |base: &str, new: &str| {
        let mut command = place.ppsrig(["compare"]);
        command.arg(bundle(base)).arg("--with").arg(bundle(new));
        command.output().expect("ppsrig starts")
    };
    let worse = compare(&runs[0], &runs[1]);
    assert_eq!(worse.status.code(), Some(1), "{}", text(&worse.stdout));
    assert!(text(&worse.stdout).starts_with("verdict worse"), "{}", text(&worse.stdout));
    assert!(text(&compare(&runs[1], &runs[0]).stdout).starts_with("verdict better"));
}

/// The listing of each build for a clock.
fn traced(place: &Place, clock_id: &str) -> String {
    let output = place.ppsrig(["trace", "--clock-id", clock_id]).output().expect("ppsrig starts");
    let stdout = ended_well(&output);
    let kept = std::fs::read_to_string(bundle(&stdout).join("trace.txt")).expect("it was written");
    assert!(stdout.starts_with(&kept), "what is kept is what was printed");
    kept
}

/// The counts in a trace's headings, and how many numbered lines follow each.
fn counts_of(trace: &str) -> Vec<(String, String, u64, u64)> {
    let mut found: Vec<(String, String, u64, u64)> = Vec::new();
    for line in trace.lines() {
        if let Some((names, count)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(": "))
            && let Some((count, _)) = count.split_once(" instructions between")
        {
            let (variant, clock_id) = names.split_once(", ").expect("variant, clock");
            found.push((variant.into(), clock_id.into(), count.parse().expect("a number"), 0));
        } else if line.split_whitespace().next().is_some_and(|number| number.parse::<u64>().is_ok()) {
            found.last_mut().expect("a heading comes first").3 += 1;
        }
    }
    found
}

#[test]
fn the_instructions_between_the_reads_are_those_of_the_table_and_of_the_trace() {
    let _turn = virtual_bench();
    let place = Place::new();
    let (mut measured_counts, mut traces) = (Counts::new(), Vec::new());
    for clock in CLOCK_IDS.iter().map(|(clock, _)| clock) {
        let trace = if MEASURED.contains(clock) {
            let (counts, trace) = measured(&place, of_clock(*clock));
            measured_counts.extend(counts);
            trace
        } else {
            traced(&place, of_clock(*clock))
        };
        traces.push(trace);
    }
    let listing = traces.concat();
    let mut counts = Counts::new();
    for (variant, clock_id, count, lines) in traces.iter().flat_map(|trace| counts_of(trace)) {
        assert_eq!(count, lines, "{variant} {clock_id}: the heading and its listing\n{listing}");
        counts.insert((variant, clock_id), count);
    }
    assert_eq!(counts.len(), CLOCK_IDS.len() * PathVariant::ALL.len(), "{counts:?}");
    for (build, count) in measured_counts {
        assert_eq!(counts[&build], count, "{build:?}: the trace and the count\n{listing}");
    }
    check_order(&counts, &listing);
    check_table(&counts, &listing);
    check_diff(&place, &traces[0]);
}

fn check_order(counts: &Counts, listing: &str) {
    let [indirect, inline, biased] = PathVariant::ALL else { panic!("three builds") };
    let of = |variant: &PathVariant| counts[&(variant.name().to_owned(), "realtime".to_owned())];
    let (indirect, inline, biased) = (of(indirect), of(inline), of(biased));
    assert!(indirect > inline && inline > biased, "{indirect}, {inline}, {biased}\n{listing}");
    assert!(biased <= MOST, "{biased}\n{listing}");
    let share = biased as f64 / indirect as f64;
    assert!(share <= MOST_SHARE, "{biased} of {indirect} is {share:.2}\n{listing}");
}

/// Against the committed table, if it knows the compiler that made the image.
fn check_table(counts: &Counts, listing: &str) {
    let compiler = Symbols::read(&image()).expect("it is an image").compiler;
    let compiler = compiler.as_deref().unwrap_or("unknown");
    let version = compiler.split_whitespace().next().expect("split gives one");
    let file = fixtures().join("exact/instructions.toml");
    let table = std::fs::read_to_string(&file).expect("the source tree has it");
    let table: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>> =
        toml::from_str(&table).expect("compiler, variant, clock, count");
    let Some(expected) = table.get(version) else {
        let known: Vec<_> = table.keys().cloned().collect();
        println!(
            "rustc {compiler} is not in {}, which knows {}: only order and ratio were checked",
            file.display(),
            known.join(", ")
        );
        return;
    };
    for ((variant, clock_id), count) in counts {
        let expected = expected.get(variant).and_then(|clocks| clocks.get(clock_id));
        assert_eq!(expected, Some(count), "{variant} {clock_id}, rustc {version}\n{listing}");
    }
}

/// Two traces of the same do not differ; two builds do, in what one does and the other does not.
fn check_diff(place: &Place, trace: &str) {
    let heading = trace.lines().next().expect("a heading");
    let section = |variant: &str| {
        let start = trace.find(&format!("\n# {variant}, ")).expect("it was traced");
        let length = trace[start + 2..].find("\n# ").map_or(trace.len() - start, |end| end + 2);
        format!("{heading}\n{}", &trace[start..start + length])
    };
    let indirect = place.file("indirect.txt", section("indirect"));
    let biased = place.file("biased.txt", section("inline-biased"));
    let diff = |a: &Path, b: &Path| {
        let output = place.ppsrig(["trace", "--diff"]).args([a, b]).output().expect("ppsrig starts");
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(diff(&indirect, &indirect), (Some(0), "the same functions and instructions\n".to_owned()));
    let (code, shown) = diff(&indirect, &biased);
    assert_eq!(code, Some(1), "{shown}");
    // The call through the read pointer.
    assert!(shown.lines().any(|line| line.starts_with('-') && line.contains("  blr x")), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with('+')), "{shown}");
}
