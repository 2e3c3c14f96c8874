use super::testing::{example, fixed, tail};
use super::*;
use crate::analysis::compare::Verdict;
use crate::names::Measurement;

fn file(name: &str, record: &NightRecord, night: &Night) -> String {
    let files = files(record, night);
    let mut bytes = Vec::new();
    files
        .iter()
        .find(|file| file.name == name)
        .expect("it is one of them")
        .write(&mut bytes)
        .expect("memory");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn a_tails_change_is_a_factor_in_every_file() {
    let (record, mut night) = example("path");
    night.measures[0].comparisons = vec![tail("new")];
    let of = |name| file(name, &record, &night);
    let told = "tail_share: worse, 0.900 to 1.800 per million, a factor of 2.000 (1.500 to 2.700), margin a factor of 1.250";
    assert!(of(outputs::JUNIT).contains(told), "{}", of(outputs::JUNIT));
    assert!(of(outputs::MARKDOWN).contains("| 0.900 | 1.800 | ×2.000 | ×1.500 to ×2.700 | ×1.250 |"));
    let summary = of(outputs::SUMMARY);
    assert!(
        summary.contains("change,change_unit,margin") && summary.contains(",0.900,2.000,factor,1.250,"),
        "{summary}"
    );
    let metrics = of(outputs::METRICS);
    for name in ["base_per_million", "change_ratio", "interval_low_ratio", "margin_ratio", "resolvable_ratio"]
    {
        assert!(metrics.contains(&format!("\nppsrig_comparison_{name}{{")), "{name}: {metrics}");
    }
    let sentence = crate::night::judge::sentence(&tail("new"));
    assert!(
        sentence.ends_with("per million, a factor of 2.000 (1.500 to 2.700), margin a factor of 1.250"),
        "{sentence}"
    );
}

#[test]
fn units_are_words_at_the_end_of_a_metrics_name() {
    let (record, mut night) = example("path");
    night.measures[0].comparisons = vec![tail("new")];
    night.measures[0].comparisons[0].unit = "%".to_owned();
    night.measures[0].steps[0].figures[0].metric = "share (%)".to_owned();
    let metrics = file(outputs::METRICS, &record, &night);
    assert!(metrics.contains("\nppsrig_comparison_base_percent{"), "{metrics}");
    let names = metrics.lines().filter_map(|line| line.split(['{', ' ']).next());
    assert_eq!(names.filter(|name| name.ends_with('_') || name.contains("__s")).count(), 0, "{metrics}");
}

#[test]
fn the_command_that_compares_again_picks_the_same_builds_at_the_same_level() {
    let (mut record, mut night) = example("path");
    let mut measure = crate::night::testing::measure(Measurement::Path);
    (measure.margin, measure.most_sessions) = (Some(0.5), 4);
    record.plan.measures = vec![measure];
    let one = &mut night.measures[0].comparisons[0];
    assert_eq!(one.verdict, Verdict::Worse);
    (one.base, one.new) = ("new:indirect".to_owned(), "new:inline".to_owned());
    one.change = Some(fixed(1.0));
    let junit = file(outputs::JUNIT, &record, &night);
    let command = "ppsrig compare runs/1-new:indirect runs/2-new:indirect runs/3-new:indirect runs/4-new:indirect --with \
        runs/1-new:inline runs/2-new:inline runs/3-new:inline runs/4-new:inline --alpha 0.005 --margin 0.5";
    assert!(junit.contains(command), "{junit}");
}

#[test]
fn a_sick_bench_is_brought_back_by_its_own_name() {
    let (record, mut night) = example("path");
    let health = night.health.as_mut().expect("it has one");
    (health.well, health.reasons) = (false, vec!["the port vanished".to_owned()]);
    night.reasons = vec!["the bench is sick: the port vanished".to_owned()];
    night.measures[0].ended = String::new();
    let page = file(outputs::MARKDOWN, &record, &night);
    assert!(
        page.contains("ppsrig check bench.toml \\-\\-back")
            || page.contains("ppsrig check bench.toml --back-online"),
        "{page}"
    );
    assert_eq!(page.matches("the port vanished").count(), 1, "{page}");
    assert!(file(outputs::JUNIT, &record, &night).contains("ppsrig check bench.toml --back-online"));
}

#[test]
fn each_file_is_listed_once() {
    let (record, night) = example("path");
    let mut names: Vec<_> = files(&record, &night).iter().map(|file| file.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
