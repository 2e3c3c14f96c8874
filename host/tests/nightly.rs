//! Whole nights on the virtual bench, in exact mode: what they come to, what becomes of a sick bench, and that a night which is
//! killed again and again comes to the same in the end.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use common::{PATIENCE, Place, fixtures, image, refusal, text, virtual_bench};
use serde_json::Value;

/// An image that takes one instruction more between the two reads.
fn one_more() -> PathBuf {
    let path = image().with_file_name("virt-one-more.elf");
    assert!(path.is_file(), "{} is missing: target/firmware/build.sh", path.display());
    path
}

/// What every measure here asks for.
const COUNTED: &str = "measurement = \"path\"\nclock = \"exact\"\ncounter-hz = 1_000_000_000\n\
                       iterations = 100_000\nvariants = [\"inline-biased\"]\n";

/// A plan on the virtual bench, with two images and these lines.
fn plan(place: &Place, lines: &str) -> PathBuf {
    let bench = fixtures().join("benches/virtual.toml");
    let (before, after) = (image(), one_more());
    let head = format!(
        "bench = \"{}\"\n{lines}\n[images]\nbefore = \"{}\"\nafter = \"{}\"\n",
        bench.display(),
        before.display(),
        after.display()
    );
    place.file("plan.toml", head)
}

fn nightly(place: &Place, plan: &Path, more: &[&str]) -> Output {
    let mut command = place.ppsrig([Path::new("nightly"), plan]);
    command.args(more).output().expect("ppsrig starts")
}

/// The night that a command names in its last line.
fn night(output: &Output) -> PathBuf {
    PathBuf::from(text(&output.stdout).lines().last().expect("the night's path"))
}

fn summary(night: &Path) -> Value {
    let bytes = std::fs::read(night.join("summary.json")).expect("it was written");
    serde_json::from_slice(&bytes).expect("it is JSON")
}

fn reasons(summary: &Value) -> String {
    summary["reasons"].to_string()
}

#[test]
fn a_night_finds_one_instruction_more_and_replays_to_the_same_bytes() {
    let _turn = virtual_bench();
    let place = Place::new();
    let told = place.path().join("hooks");
    let hook = |name: &str| {
        let script = format!("echo {name} $PPSRIG_HOOK $PPSRIG_IMAGE_NAME >> '{}'", told.display());
        format!("{name} = {{ command = [\"sh\", \"-c\", \"{script}\"], deadline-s = 20 }}\n")
    };
    let lines = format!(
        "time-budget-min = 30\n[require]\nfree-disk-mib = 1\n[hooks]\n{}{}{}[health]\n{COUNTED}\
         limits = [{{ metric = \"instructions\", at-least = 1, at-most = 20 }}]\n\
         [[measure]]\n{COUNTED}sessions = 1\nmost-sessions = 2\n",
        hook("before"),
        hook("power-cycle"),
        hook("after")
    );
    let output = nightly(&place, &plan(&place, &lines), &[]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{}\n{stderr}", text(&output.stdout));
    assert!(stderr.contains("one instruction, since counts are exact"), "{stderr}");
    assert!(stderr.contains("3 runs, about"), "{stderr}");
    let night = night(&output);
    let found = summary(&night);
    assert!(reasons(&found).contains("worse: after with before: inline-biased instructions"), "{found:#}");
    let comparison = &found["measures"][0]["comparisons"][0];
    assert_eq!((&comparison["change"], &comparison["verdict"]), (&1.into(), &"worse".into()));
    assert_eq!(found["emulated"], true);
    assert_eq!(found["measures"][0]["ended"], "decided after 1 round");
    let hooks = std::fs::read_to_string(&told).expect("hooks wrote it");
    let cycled = |image: &str| format!("power-cycle power-cycle {image}");
    let lines: Vec<_> = hooks.lines().map(|line| line.trim().to_owned()).collect();
    let expected = [
        "before before".to_owned(),
        cycled("golden"),
        cycled("before"),
        cycled("after"),
        "after after".to_owned(),
    ];
    assert_eq!(lines, expected);

    let again = place.path().join("again");
    let replay = place.ppsrig([Path::new("replay"), &night, Path::new("--out"), &again]).output();
    assert_eq!(replay.expect("ppsrig starts").status.code(), Some(1));
    for file in std::fs::read_dir(&again).expect("it was written") {
        let file = file.expect("it is readable");
        let (new, old) = (std::fs::read(file.path()), std::fs::read(night.join(file.file_name())));
        assert!(new.expect("it is a file") == old.expect("it is there too"), "{:?}", file.file_name());
    }
    let nothing = nightly(&place, &place.path().join("plan.toml"), &["--resume"]);
    assert!(refusal(&nothing).contains("was cut; without --resume"), "{}", text(&nothing.stderr));
    place.wait_until_nothing_runs();
}

#[test]
fn a_sick_bench_goes_offline_reports_no_regression_and_is_refused_until_a_person_brings_it_back() {
    let _turn = virtual_bench();
    let place = Place::new();
    let lines = format!(
        "[health]\n{COUNTED}limits = [{{ metric = \"instructions\", at-most = 1 }}]\n[[measure]]\n{COUNTED}"
    );
    let plan = plan(&place, &lines);
    let output = nightly(&place, &plan, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let found = summary(&night(&output));
    assert_eq!(found["outcome"], "not-done");
    assert!(reasons(&found).contains("the bench is sick: "), "{found:#}");
    assert!(!found.to_string().contains("worse"), "{found:#}");
    assert_eq!(found["measures"][0]["steps"], Value::Array(Vec::new()), "nothing more was measured");

    let output = nightly(&place, &plan, &["--resume", "--or-new"]);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("a new night begins, for no night of"), "{stderr}");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let refused = summary(&night(&output));
    let why = reasons(&refused);
    assert!(why.contains("offline") && why.contains("above the limit of 1"), "{why}");
    assert!(why.contains("--back-online"), "{why}");
    assert_eq!(refused["health"], Value::Null, "nothing was measured");
    place.wait_until_nothing_runs();
}

#[test]
fn what_keeps_a_night_from_beginning_is_reported_and_the_hook_after_runs_all_the_same() {
    let place = Place::new();
    let mark = place.path().join("after");
    let after = format!("after = {{ command = [\"touch\", \"{}\"] }}\n", mark.display());
    let measure = format!("[[measure]]\n{COUNTED}");
    let before = "before = { command = [\"sh\", \"-c\", \"echo waiting; sleep 1000\"], deadline-s = 1 }\n";
    for (lines, told) in [
        ("[require]\nload-below = 0.01\nfree-disk-mib = 1_000_000_000\n[hooks]\n", "MiB are free in"),
        (&format!("[hooks]\n{before}"), "was ended: it took more than its 1 s: waiting"),
        ("[hooks]\nbefore = { command = [\"no-such-program\"] }\n", "ended with exit status: 127"),
        ("[hooks]\npower-cycle = { command = [\"false\"] }\n", "failed 2 times"),
    ] {
        let output = nightly(&place, &plan(&place, &format!("{lines}{after}{measure}")), &[]);
        assert_eq!(output.status.code(), Some(2), "{lines}: {}", text(&output.stderr));
        let found = summary(&night(&output));
        let ended = found["measures"][0]["ended"].to_string();
        assert!(reasons(&found).contains(told) || ended.contains(told), "{lines}: {found:#}");
        std::fs::remove_file(&mark).unwrap_or_else(|_| panic!("{lines}: no hook after"));
    }
    place.wait_until_nothing_runs();
}

#[test]
fn a_step_that_fails_once_is_tried_once_more_and_that_is_told() {
    let _turn = virtual_bench();
    let place = Place::new();
    let mark = place.path().join("tried");
    let script = format!("test -e '{0}' || {{ touch '{0}'; echo no relay; exit 3; }}", mark.display());
    let lines = format!(
        "[hooks]\npower-cycle = {{ command = [\"sh\", \"-c\", \"{script}\"] }}\n[[measure]]\n{COUNTED}compare = []\n"
    );
    let output = nightly(&place, &plan(&place, &lines), &[]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("it is tried once more"), "{stderr}");
    let found = summary(&night(&output));
    let told = "path, before, round 1 was repeated: hook power-cycle: `sh";
    assert!(reasons(&found).contains(told) && reasons(&found).contains("no relay"), "{found:#}");
    assert_eq!(found["measures"][0]["ended"], "nothing to decide; sessions done: 1");
    place.wait_until_nothing_runs();
}

/// What has to be the same however often a night was cut: no times, and no names of bundles, which are times too.
fn comes_to(summary: &Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| !["utc", "bundle"].contains(&key.as_str()));
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => {
                list.retain(|one| one["outcome"] != "not-done");
                list.iter_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut parts = serde_json::json!({
        "outcome": summary["outcome"], "exit": summary["exit"], "images": summary["images"],
        "measures": summary["measures"],
    });
    strip(&mut parts);
    parts
}

/// SplitMix64, so that a failure can be repeated.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

const ROUNDS: u32 = 7;
const KILLS: u32 = 20;

#[test]
fn a_night_that_is_killed_at_twenty_random_moments_comes_to_the_same() {
    let _turn = virtual_bench();
    let lines = format!("[[measure]]\n{COUNTED}sessions = {ROUNDS}\n");
    let uncut = Place::new();
    let began = Instant::now();
    let output = nightly(&uncut, &plan(&uncut, &lines), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let step = began.elapsed().as_secs_f64() / f64::from(2 * ROUNDS);

    let place = Place::new();
    let plan = plan(&place, &lines);
    let seed = std::process::id().into();
    let mut state = seed;
    println!("seed {seed}, about {step:.2} s a run");
    let mut kills = 0;
    while kills < KILLS {
        let resume = is_begun(&place).then_some("--resume");
        // Not longer than two runs: most are cut, and few get done.
        let moment = Duration::from_secs_f64(random(&mut state) * 1.9 * step);
        let mut child = place
            .ppsrig([Path::new("nightly"), &plan])
            .args(resume)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ppsrig starts");
        std::thread::sleep(moment);
        let ended = child.try_wait().expect("it is a child").is_some();
        let _ended_already = child.kill();
        child.wait().expect("it ends");
        kills += u32::from(!ended);
        assert!(!ended || is_begun(&place), "it ended by itself before anything was begun");
        if ended {
            break;
        }
    }
    let last = nightly(&place, &plan, if is_begun(&place) { &["--resume"] } else { &[] });
    assert_eq!(last.status.code(), Some(1), "{}", text(&last.stderr));
    assert_eq!(kills, KILLS, "the night was over before");
    let (one, other) = (summary(&night(&output)), summary(&night(&last)));
    assert_eq!(comes_to(&one), comes_to(&other), "seed {seed}");
    let table = |night: PathBuf| std::fs::read_to_string(night.join("summary.csv")).expect("it was written");
    assert_eq!(table(night(&output)), table(night(&last)), "seed {seed}");
    let cut = other["measures"][0]["steps"].as_array().expect("a list").len() as u32 - 2 * ROUNDS;
    println!("{kills} kills, {cut} runs were cut and stay named");
    place.wait_until_nothing_runs();
}

/// Whether there is a night that can be resumed.
fn is_begun(place: &Place) -> bool {
    let nights = std::fs::read_dir(place.path().join("results")).into_iter().flatten().flatten();
    nights.into_iter().any(|night| night.path().join("night.toml").is_file())
}

#[test]
fn ctrl_c_leaves_a_night_that_goes_on_unless_its_plan_changed() {
    let _turn = virtual_bench();
    let place = Place::new();
    let mark = place.path().join("after");
    let hook = format!("[hooks]\nafter = {{ command = [\"touch\", \"{}\"] }}\n", mark.display());
    let lines = format!("{hook}[[measure]]\n{COUNTED}sessions = 3\n");
    let file = plan(&place, &lines);
    let child = place
        .ppsrig([Path::new("nightly"), &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("ppsrig starts");
    let began = Instant::now();
    let journal = || {
        let nights = std::fs::read_dir(place.path().join("results")).into_iter().flatten().flatten();
        let journals =
            nights.filter_map(|night| std::fs::read_to_string(night.path().join("journal.log")).ok());
        journals.collect::<String>()
    };
    while !journal().contains("\"done\"") {
        assert!(began.elapsed() < PATIENCE, "no run is done: {}", journal());
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("it is positive");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(reasons(&summary(&night(&output))).contains("--resume"), "{}", text(&output.stdout));
    assert!(mark.is_file(), "the hook `after` is run however a night ends");

    let changed = plan(&place, &lines.replace("sessions = 3", "sessions = 4"));
    let refused = refusal(&nightly(&place, &changed, &["--resume"]));
    assert!(refused.contains("others than when it began: the plan plan.toml"), "{refused}");
    let output = nightly(&place, &plan(&place, &lines), &["--resume"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let found = summary(&night(&output));
    assert_eq!(found["resumed"], 1);
    place.wait_until_nothing_runs();
}
