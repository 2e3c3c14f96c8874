//! Faults of the instruments, each on the virtual bench from end to end, and the ledger that follows from it on both sides.
//! `unplugged.rs` has the adapters that vanish, `interval_counters.rs` the counter that loses its 10 MHz.

mod common;

use common::{Place, bench_with, fixtures, refusal, text, virtual_bench};
use serde_json::Value;

const AT_2_HZ: [&str; 4] = ["--rate", "2", "--width-ms", "250"];
const AT_1_HZ: [&str; 4] = ["--rate", "1", "--width-ms", "250"];

/// A scenario of fixtures/scenarios.
fn scenario(name: &str) -> String {
    std::fs::read_to_string(fixtures().join("scenarios").join(name)).expect("it is there")
}

/// The virtual bench with a reference of this kind.
fn bench_of(reference: &str) -> String {
    bench_with(&[("driver = \"ubx\" ", &format!("driver = \"{reference}\" "))])
}

/// A run that was told what to do, and its bundle.
struct Run {
    place: Place,
    code: Option<i32>,
    stderr: String,
    output: std::process::Output,
}

impl Run {
    fn new(bench: &str, scenario: &str, edges: u32, train: [&str; 4]) -> Self {
        let place = Place::new();
        let (bench, scenario) = (place.file("bench.toml", bench), place.file("scenario.toml", scenario));
        let mut command = place.ppsrig(["run"]);
        command.arg(bench).args(["--edges", &edges.to_string(), "--seed", "7"]).args(train);
        let output = command.arg("--scenario").arg(scenario).output().expect("ppsrig starts");
        let (code, stderr) = (output.status.code(), text(&output.stderr));
        place.wait_until_nothing_runs();
        Self { place, code, stderr, output }
    }

    fn summary(&self) -> Value {
        let file = std::fs::read(self.place.bundle().join("summary.json"));
        serde_json::from_slice(&file.unwrap_or_else(|_| panic!("{}", self.stderr))).expect("it is JSON")
    }

    /// The classes of the edges, each side: exactly these.
    #[track_caller]
    fn has(&self, commanded: &[(&str, u64)], captured: &[(&str, u64)]) {
        let summary = self.summary();
        let ledger = &summary["ledger"];
        assert_eq!(ledger["balanced"], true, "{ledger}\n{}", self.stderr);
        for (side, expected) in [("commanded", commanded), ("captured", captured)] {
            assert_eq!(classes(&ledger[side]), sorted(expected), "{side}: {ledger}\n{}", self.stderr);
        }
    }

    /// The classes of the edges, which have to be the same on both sides.
    #[track_caller]
    fn same_on_both_sides(&self) -> Vec<(String, u64)> {
        let ledger = &self.summary()["ledger"];
        assert_eq!(ledger["balanced"], true, "{ledger}\n{}", self.stderr);
        let commanded = classes(&ledger["commanded"]);
        assert_eq!(commanded, classes(&ledger["captured"]), "{ledger}\n{}", self.stderr);
        commanded
    }

    /// Values of this column of edges.csv where the edges of the measurement have this class, in order.
    fn column(&self, column: &str, class: &str) -> Vec<String> {
        let mut table =
            csv::Reader::from_path(self.place.bundle().join("edges.csv")).expect("it was written");
        let header = table.headers().expect("it has some").clone();
        let at = |name: &str| header.iter().position(|one| one == name).expect("a known column");
        let rows = table.records().map(|row| row.expect("it is whole"));
        rows.filter(|row| &row[at("class")] == class).map(|row| row[at(column)].to_owned()).collect()
    }

    /// Whether a note of the reference has these words.
    #[track_caller]
    fn notes(&self, words: &str) {
        let notes = &self.summary()["reference_notes"];
        let found =
            notes.as_array().is_some_and(|all| all.iter().any(|note| note.to_string().contains(words)));
        assert!(found, "`{words}` is not in {notes}\n{}", self.stderr);
    }

    /// That it was refused once its preamble was judged, with this reason.
    #[track_caller]
    fn is_refused_after_its_preamble(&self, class: &str, reason: &str) {
        let stderr = refusal(&self.output);
        assert!(stderr.contains(reason), "{stderr}");
        let summary = self.summary();
        assert_eq!(summary["status"], "partial");
        for side in ["commanded", "captured"] {
            let ledger = &summary["preamble_ledger"][side];
            assert_eq!(classes(ledger), [(class.to_owned(), 4)], "{side}: {summary}\n{stderr}");
        }
        let log = std::fs::read(self.place.bundle().join("raw/rig.log")).expect("it was recorded");
        assert!(!text(&log).contains("\"window\":2,"), "no edge of the measurement was commanded");
    }
}

fn classes(side: &Value) -> Vec<(String, u64)> {
    let counts = side.as_object().expect("a count a class").iter();
    let counts = counts.filter_map(|(class, count)| Some((class.clone(), count.as_u64()?)));
    let names = [
        "paired",
        "missed",
        "lost",
        "spurious",
        "duplicate",
        "torn",
        "dropped",
        "ambiguous",
        "unlocked",
        "settling",
        "holdover",
        "disturbed",
    ];
    let mut found: Vec<_> = counts.filter(|(class, count)| *count > 0 && names.contains(&&**class)).collect();
    found.sort();
    found
}

fn sorted(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    let mut expected: Vec<_> = expected.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect();
    expected.sort();
    expected
}

fn paired(run: &Run, edges: u64) {
    run.has(&[("paired", edges)], &[("paired", edges)]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn sentences_300_ms_late_cost_nothing() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("ubx"), &scenario("reference-sentences-300-ms-late.toml"), 6, AT_2_HZ);
    paired(&run, 6);
}

#[test]
fn sentences_1050_ms_late_make_the_second_ambiguous() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("ubx"), &scenario("reference-sentences-1050-ms-late.toml"), 6, AT_2_HZ);
    // Beside TIM-TP it names another second, or comes too near to the next pulse to tell.
    run.is_refused_after_its_preamble("ambiguous", "RMC");
}

#[test]
fn sentences_that_wander_around_half_a_second_need_tim_tp_to_decide() {
    let _turn = virtual_bench();
    let wander = scenario("reference-sentences-wander.toml");
    paired(&Run::new(&bench_of("ubx"), &wander, 6, AT_2_HZ), 6);
}

#[test]
fn sentences_that_wander_around_half_a_second_are_ambiguous_alone() {
    let _turn = virtual_bench();
    let wander = scenario("reference-sentences-wander.toml");
    Run::new(&bench_of("nmea"), &wander, 6, AT_2_HZ)
        .is_refused_after_its_preamble("ambiguous", "half a second");
}

#[test]
fn both_edges_of_a_tenth_are_duplicates() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("ubx"), &scenario("both-edges-at-10-percent.toml"), 4, AT_1_HZ);
    run.has(&[("paired", 4)], &[("paired", 4), ("duplicate", 4)]);
}

#[test]
fn both_edges_at_half_duty_are_told_apart_by_the_preamble() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("ubx"), &scenario("both-edges-at-50-percent.toml"), 4, AT_1_HZ);
    run.has(&[("paired", 4)], &[("paired", 4), ("spurious", 4)]);
}

#[test]
fn a_leap_second_that_is_inserted_in_mid_run_is_a_second_like_any_other() {
    let _turn = virtual_bench();
    let leap = "[receiver]\nutc-at-start = \"2016-12-31T23:59:51Z\"\n";
    let run = Run::new(&bench_of("ubx"), leap, 10, AT_2_HZ);
    paired(&run, 10);
    run.notes("a leap second is inserted");
}

/// The one that takes its time: the preamble, which is over some six seconds after the bench came up, has to be over ten
/// seconds before the leap second, and the edges go on behind it.
#[test]
fn a_receiver_that_leaves_the_leap_second_out_is_not_believed_around_it() {
    let _turn = virtual_bench();
    let late = "[receiver]\nutc-at-start = \"2016-12-31T23:59:40Z\"\nleap-late-s = 2\n";
    let run = Run::new(&bench_of("ubx"), late, 36, AT_2_HZ);
    let counts = run.same_on_both_sides();
    let of = |class: &str| counts.iter().find(|(one, _)| one == class).map_or(0, |(_, count)| *count);
    assert!(of("unlocked") > 0, "{counts:?}\n{}", run.stderr);
    assert_eq!(of("paired") + of("unlocked") + of("settling"), 36, "{counts:?}");
    let reasons = run.column("reason", "unlocked");
    assert!(reasons.iter().any(|reason| reason.contains("leap second")), "{reasons:?}");
}

#[test]
fn a_utc_offset_that_is_corrected_by_two_seconds_takes_the_seconds_before_it_away() {
    let _turn = virtual_bench();
    let corrected = scenario("reference-utc-offset-corrected.toml").replace("at-s = 10", "at-s = 2");
    let run = Run::new(&bench_of("ubx"), &corrected, 12, AT_2_HZ);
    run.has(&[("ambiguous", 12)], &[("ambiguous", 12)]);
    run.notes("UTC offset was corrected");
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

#[test]
fn a_week_number_that_rolled_over_is_refused_by_name() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("ubx"), &scenario("reference-week-rollover.toml"), 6, AT_2_HZ);
    run.is_refused_after_its_preamble("ambiguous", "1024 weeks");
}

#[test]
fn a_week_number_that_rolled_over_is_corrected_where_the_bench_file_says_so() {
    let _turn = virtual_bench();
    let bench = bench_of("ubx").replace("settle-s = 3", "week-rollover = \"correct\"\nsettle-s = 3");
    let run = Run::new(&bench, &scenario("reference-week-rollover.toml"), 6, AT_2_HZ);
    paired(&run, 6);
    run.notes("1024 weeks");
}

#[test]
fn pulses_that_go_on_without_lock_are_unlocked_from_the_guard_on() {
    let _turn = virtual_bench();
    let unlocked = "[[fault]]\nkind = \"unlock\"\nburst = 2\nfrom-s = 3\nto-s = 4\n";
    let run = Run::new(&bench_of("ubx"), unlocked, 10, AT_2_HZ);
    // Lost at 3 s with a guard of 2 s before, there again at 4 s, and 3 s to settle.
    let expected = [("paired", 2), ("unlocked", 6), ("settling", 2)];
    run.has(&expected, &expected);
}

/// The quantisation error of the pulse that starts a burst stands beside each of its edges. Its message comes before the
/// generator is armed, so a scenario names it by the preamble's start: the edges begin four to nine pulses behind that.
fn has_no_quantisation_errors(run: &Run, edges: usize) {
    assert_eq!(run.column("qerr_ps", "paired"), vec![""; edges], "{}", run.stderr);
}

#[test]
fn a_missing_and_a_spurious_pulse_are_one_of_each_and_an_impossible_quantisation_error_is_dropped() {
    let _turn = virtual_bench();
    let faults = "[[fault]]\nkind = \"skip\"\nburst = 2\nedges = [1]\n\
                  [[fault]]\nkind = \"spurious\"\nburst = 2\nafter-edges = [3]\n\
                  [[fault]]\nkind = \"qerr\"\nburst = 1\npulses = [3, 4, 5, 6, 7, 8, 9]\nps = 250_000_000\n";
    let run = Run::new(&bench_of("ubx"), faults, 5, AT_1_HZ);
    run.has(&[("paired", 4), ("missed", 1)], &[("paired", 4), ("spurious", 1)]);
    has_no_quantisation_errors(&run, 4);
}

#[test]
fn a_missing_tim_tp_takes_its_quantisation_error_with_it_and_no_edge() {
    let _turn = virtual_bench();
    let missing = "[[fault]]\nkind = \"tim-tp-missing\"\nburst = 1\npulses = [3, 4, 5, 6, 7, 8, 9]\n";
    let run = Run::new(&bench_of("ubx"), missing, 4, AT_2_HZ);
    paired(&run, 4);
    has_no_quantisation_errors(&run, 4);
}

#[test]
fn a_trimble_that_says_its_pulse_is_37_us_off_is_refused_by_its_own_account() {
    let _turn = virtual_bench();
    let run = Run::new(&bench_of("tsip"), &scenario("reference-tsip-37-us-off.toml"), 6, AT_2_HZ);
    run.is_refused_after_its_preamble("unlocked", "37412");
}

#[test]
fn a_trimble_in_good_health_labels_every_edge() {
    let _turn = virtual_bench();
    paired(&Run::new(&bench_of("tsip"), &scenario("reference-tsip.toml"), 6, AT_2_HZ), 6);
}

#[test]
fn an_hp_gpsdo_that_is_asked_labels_every_edge_in_spite_of_its_status_screens() {
    let _turn = virtual_bench();
    paired(&Run::new(&bench_of("hp-scpi"), &scenario("reference-hp.toml"), 6, AT_2_HZ), 6);
}

#[test]
fn a_jackson_labs_gpsdo_that_loses_its_satellites_excludes_its_edges() {
    let _turn = virtual_bench();
    let holdover = scenario("reference-jackson.toml").replace("= 10", "= 3").replace("= 13", "= 4");
    let run = Run::new(&bench_of("jackson"), &holdover, 10, AT_2_HZ);
    let counts = run.same_on_both_sides();
    assert!(counts.iter().any(|(class, count)| class == "unlocked" && *count > 0), "{counts:?}");
    assert!(counts.iter().all(|(class, _)| class != "missed"), "{counts:?}");
}
