use std::path::Path;

use super::schema::{Place, parse};
use crate::bench_file::Problem;
use crate::names::{Clock, Measurement};
use crate::night::NightPlan;
use crate::night::plan::{Arm, Compare};

const SMALLEST: &str = "bench = \"b.toml\"\n[[measure]]\nmeasurement = \"path\"\n";

fn read(text: &str) -> Result<NightPlan, Vec<Problem>> {
    let place =
        Place { folder: Path::new("/lab"), name: "small", exists: &|_| true, check: &|_, _| Vec::new() };
    parse(text, &place)
}

fn problems(text: &str) -> Vec<String> {
    let list = read(text).expect_err("it is wrong");
    list.iter().map(|one| format!("{}: {}", one.line.map_or(0, |line| line), one.what)).collect()
}

fn with(lines: &str) -> String {
    format!("{SMALLEST}{lines}\n")
}

#[test]
fn the_smallest_plan_measures_the_bench_files_image_three_times() {
    let plan = read(SMALLEST).expect("it is a plan");
    assert_eq!((plan.name.as_str(), plan.bench.as_path()), ("small", Path::new("/lab/b.toml")));
    assert_eq!((plan.images.len(), plan.images[0].file.clone()), (1, None));
    let measure = &plan.measures[0];
    assert_eq!((measure.name.as_str(), measure.sessions, measure.most_sessions), ("path", 3, 3));
    assert!(measure.compare.is_empty() && measure.limits.is_empty() && measure.dither);
}

#[test]
fn every_key_is_read() {
    let text = r#"
name = "nightly"
bench = "../benches/b.toml"
seed = 7
time-budget-min = 60
alpha = 0.05
[images]
before = "old.elf"
after = "/abs/new.elf"
[require]
free-disk-mib = 100
load-below = 1.5
clock-synchronised = true
[health]
image = "golden.elf"
measurement = "path"
clock = "exact"
counter-hz = 1_000_000_000
limits = [{ metric = "instructions", variant = "inline", at-most = 13, at-least = 13 }]
[hooks]
before = { command = ["./hooks/prepare", "x"] }
power-cycle = { command = ["uhubctl", "-a", "cycle"], deadline-s = 30 }
after = { command = ["true"] }
[[measure]]
name = "edges"
measurement = "edge"
edges = 1000
rate = 0.5
mode = "alternate"
width-ms = 20
sessions = 4
most-sessions = 8
margin = 2.5
compare = [{ base = "before", new = "after" }, { base = "after:irq", new = "after:poll" }]
[[measure]]
measurement = "ctime"
clock-id = "monotonic"
cores = 4
operations = 1000
variants = ["coarse"]
baseline = "kept"
[[measure.limits]]
metric = "ordering_violations"
image = "after"
at-most = 0
"#;
    let plan = read(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert_eq!((plan.seed, plan.time_budget_s, plan.alpha), (Some(7), Some(3600), 0.05));
    assert_eq!(plan.images[0].name, "before", "in the order of the file");
    assert_eq!(plan.images[1].file.as_deref(), Some(Path::new("/abs/new.elf")));
    assert_eq!((plan.require.free_disk_mib, plan.require.clock_synchronised), (Some(100), true));
    let health = plan.health.as_ref().expect("it is there");
    assert_eq!(health.measure.clock, Clock::Exact);
    assert_eq!((health.measure.limits[0].at_most, health.measure.sessions), (Some(13.0), 1));
    let hook = plan.hooks.before.as_ref().expect("it is there");
    assert_eq!((hook.command[0].as_str(), hook.deadline_s), ("/lab/./hooks/prepare", 60));
    assert_eq!(plan.hooks.power_cycle.as_ref().expect("it is there").deadline_s, 30);
    let edges = &plan.measures[0];
    assert_eq!((edges.rate_millihertz, edges.sessions, edges.most_sessions), (500, 4, 8));
    let variant = |variant: &str| Arm::Variant { image: "after".into(), variant: variant.into() };
    assert_eq!(edges.compare[1], Compare { base: variant("irq"), new: variant("poll") });
    let ctime = &plan.measures[1];
    assert_eq!((ctime.measurement, ctime.compare.len()), (Measurement::Ctime, 2), "both with the baseline");
    assert_eq!(ctime.compare[0].base, Arm::Baseline("/lab/kept".into()));
    // What night.toml keeps is the same again.
    let kept = toml::to_string(&plan).expect("TOML holds it");
    assert_eq!(toml::from_str::<NightPlan>(&kept).expect("it was just written"), plan);
}

#[test]
fn without_a_word_about_it_every_other_image_is_compared_with_the_first() {
    let text = format!("{SMALLEST}[images]\nb = \"b\"\na = \"a\"\nc = \"c\"\n");
    let plan = read(&text).expect("it is a plan");
    let pair = |new: &str| Compare { base: Arm::Image("b".to_owned()), new: Arm::Image(new.to_owned()) };
    assert_eq!(plan.measures[0].compare, [pair("a"), pair("c")]);
}

#[test]
fn exact_counts_need_one_session() {
    let plan = read(&with("clock = \"exact\"")).expect("it is a plan");
    assert_eq!((plan.measures[0].sessions, plan.measures[0].most_sessions), (1, 1));
}

#[test]
fn each_mistake_is_told_with_its_line() {
    for (lines, told) in [
        ("colour = 1", "4: [[measure]] 1: unknown key `colour`"),
        ("iteratons = 100_000", "4: [[measure]] 1: unknown key `iteratons`; did you mean `iterations`?"),
        ("rate = 0.0001", "4: [[measure]] 1: `rate`: finer than a millihertz"),
        ("rate = \"ten\"", "4: [[measure]] 1: `rate`: must be a number, not a text"),
        ("sessions = 0", "4: [[measure]] 1: `sessions`: 0 is not between 1 and 1000"),
        (
            "sessions = 5\nmost-sessions = 4",
            "5: [[measure]] 1: `most-sessions`: 4 are fewer than `sessions`, 5",
        ),
        (
            "sessions = 2\nbaseline = \"x\"",
            "2: [[measure]] 1: 2 sessions: a comparison has no verdict before 3",
        ),
        ("clock = \"exact\"\nmargin = 1", "5: [[measure]] 1: `margin`: only mean latencies"),
        ("clock = \"slow\"", "4: [[measure]] 1: `clock`: unknown `slow`"),
        (
            "compare = [{ base = \"a\", new = \"image\" }]",
            "4: [[measure]] 1: `compare`: no image is called `a`",
        ),
        (
            "compare = [{ base = \"baseline\", new = \"image\" }]",
            "4: [[measure]] 1: `compare`: there is no `baseline`",
        ),
        ("compare = [{ base = \"image\", new = \"image\" }]", "`compare`: both sides are the same"),
        (
            "compare = [{ base = \"image:x\", new = \"image\" }]",
            "`compare`: `x` is not measured; there are indirect",
        ),
        ("compare = [{ base = \"image\" }]", "`compare`: `new` is missing; give a list of"),
        ("compare = [{ base = \"image\", with = \"image\" }]", "`compare`: unknown key `with`"),
        ("compare = \"image\"", "`compare`: give a list of"),
        ("baseline = \"x\"\ncompare = [{ base = \"image\", new = \"baseline\" }]", "make it the base"),
        ("limits = [{ metric = \"men\", at-most = 1 }]", "[[limits]] 1: `metric`: no figure is called `men`"),
        ("limits = [{ metric = \"mean\" }]", "neither `at-most` nor `at-least`"),
        ("limits = [{ metric = \"mean\", at-most = 1, at-least = 2 }]", "nothing can keep both"),
        (
            "limits = [{ metric = \"mean\", at-most = 1, variant = \"poll\" }]",
            "no `poll` here; there are indirect",
        ),
        ("limits = [{ metric = \"mean\", at-most = 1, image = \"x\" }]", "no `x` here; there are image"),
        ("limits = 3", "must be a list of tables, [[limits]]"),
        ("[[measure]]\nmeasurement = \"path\"", "4: a second [[measure]] is called `path`"),
        ("[images]\n\"a/b\" = \"x\"", "5: [images] `a/b`: a name has no `/`"),
        ("[images]\nbaseline = \"x\"", "5: [images] `baseline`: `baseline` means something else"),
        ("[images]\na = 3", "5: [images] `a`: must be a text in quotes, not a whole number"),
        ("[hooks]\nbefore = { command = [] }", "5: [before] `command`: must begin with a program"),
        ("[hooks]\nafter = { command = \"a b\" }", "`command`: must be a list of texts"),
        ("[hooks]\nafter = { command = [\"a\"], deadline-s = 0 }", "`deadline-s`: 0 is not between"),
        ("[require]\nload-below = 0", "`load-below`: 0 is not between"),
        ("[health]\nclock = \"exact\"", "4: [health] missing key `measurement`"),
        ("[health]\nmeasurement = \"path\"\nsessions = 3", "6: [health] unknown key `sessions`"),
    ] {
        let found = problems(&with(lines));
        assert!(found.iter().any(|problem| problem.contains(told)), "{lines}\n  {told}\n  {found:#?}");
        assert_eq!(found.len(), 1, "{lines}: one mistake, one problem: {found:#?}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let found = problems("bench = 3\nalpha = 1\n[[measure]]\nmeasurement = \"edges\"\n[[measure]]\n");
    let lines: Vec<_> = found.iter().map(|one| one.split(':').next().expect("a line").to_owned()).collect();
    assert_eq!(lines, ["1", "2", "4", "5"], "{found:#?}");
    assert!(problems("bench = \"b\"\n")[0].contains("no [[measure]]"));
    assert!(problems("bench = \"b\"\nmeasure = 3\n")[0].contains("must be a list of tables, [[measure]]"));
    assert!(problems("[[measure]]\nmeasurement = \"path\"\n")[0].contains("missing key `bench`"));
}

#[test]
fn what_the_bench_cannot_do_is_told_beside_the_plans_own_mistakes() {
    let check = |bench: &Path, measures: &[(usize, &crate::night::plan::Measure)]| {
        assert_eq!(bench, Path::new("/lab/b.toml"));
        let told = |(line, measure): &(usize, &crate::night::plan::Measure)| Problem {
            line: Some(*line),
            what: format!("not {}", measure.name),
        };
        measures.iter().map(told).collect::<Vec<_>>()
    };
    let place = Place { folder: Path::new("/lab"), name: "x", exists: &|_| false, check: &check };
    let text = with("[[measure]]\nmeasurement = \"ctime\"\nname = \"kept\"\nbaseline = \"gone\"");
    let found = parse(&text, &place).expect_err("it is wrong");
    let told: Vec<_> = found.iter().map(|one| (one.line, one.what.as_str())).collect();
    assert_eq!(told[0], (Some(2), "not path"));
    assert_eq!(told[1], (Some(4), "not kept"));
    assert!(told[2].1.contains("/lab/gone does not exist"), "{told:?}");
}

#[test]
fn a_plan_is_told_from_a_bench() {
    assert!(
        super::is_plan(SMALLEST)
            && super::is_plan("[[measure]]\n")
            && super::is_plan("bench = \"x\"\n[oops\n")
    );
    assert!(!super::is_plan(include_str!("../../../fixtures/benches/virtual.toml")));
}
