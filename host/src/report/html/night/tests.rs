use super::*;
use crate::night::plan::Health;
use crate::report::html::testing::{HOSTILE, assert_inert};
use crate::report::night::testing::{comparison, example, fixed, step, tail};

#[test]
fn what_to_act_on_comes_first_with_its_figures_and_where_to_look() {
    let (record, night) = example("path");
    let page = super::night(&record, &night);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is there: {page}"));
    let verdict = place("Verdict: failed");
    let worse = place("mean of new inline is worse than of old by 2.300 ns; the margin is 1.000");
    let limit = place("p99 of path is 120 ns, 80 are allowed");
    assert!(verdict < worse && worse < limit && limit < place("Health of the bench"));
    assert!(
        page.contains("href=\"./runs/5-new/report.html\"")
            && page.contains("href=\"./health/golden/report.html\"")
    );
    assert!(page.contains("emulated") && page.contains("it was cut and went on once"));
    assert_eq!(page, super::night(&record, &night), "the same bytes again");
    if let Some(folder) = std::env::var_os("PPSRIG_KEEP_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join("night.html"), page).unwrap();
    }
}

#[test]
fn a_sick_bench_stands_before_what_it_measured() {
    let (record, mut night) = example("path");
    night.health.iter_mut().for_each(|health| {
        health.well = false;
        health.reasons = vec!["the golden image gives 60 ns".to_owned()];
    });
    let page = super::night(&record, &night);
    let first = page.split("<ol><li>").nth(1).unwrap();
    assert!(first.starts_with("The bench is sick: the golden image gives 60 ns."), "{first}");
}

#[test]
fn hostile_names_stay_text() {
    for hostile in HOSTILE {
        let (record, night) = example(hostile);
        assert_inert(&super::night(&record, &night), hostile);
    }
}

/// What stands between `What to act on` and the next heading.
fn act_of(page: &str) -> &str {
    page.split("What to act on</h2>").nth(1).unwrap().split("<h2>").next().unwrap()
}

/// A night that ended before anything was measured.
fn refused(why: &str) -> (NightRecord, Night) {
    let (mut record, mut night) = example("path");
    record.plan.health = Some(Health {
        image: None,
        measure: crate::night::testing::measure(crate::names::Measurement::Path),
    });
    (night.outcome, night.exit) = (Outcome::NotDone, 2);
    night.health = None;
    night.reasons = vec![why.to_owned()];
    for measure in &mut night.measures {
        measure.steps.clear();
        measure.comparisons.clear();
        measure.limits.clear();
    }
    (record, night)
}

#[test]
fn a_health_check_that_was_not_reached_is_told_from_none_in_the_plan() {
    let (mut record, night) = refused("the night was cut; `ppsrig nightly PLAN --resume` goes on with it");
    let page = super::night(&record, &night);
    assert!(page.contains("the night ended before the golden image was measured"), "{page}");
    assert!(!page.contains("the plan has no [health]"), "{page}");
    record.plan.health = None;
    assert!(super::night(&record, &night).contains("the plan has no [health]"));
}

#[test]
fn what_kept_a_night_from_being_done_is_to_be_acted_on() {
    let whys = [
        "the bench is offline since yesterday; once it is mended: ppsrig check b.toml --back-online",
        "the night was cut; `ppsrig nightly PLAN --resume` goes on with it",
        "5 MiB are free in /, the plan requires 10",
        "hook after: it ended with status 1",
    ];
    for why in whys {
        let (record, night) = refused(why);
        let page = super::night(&record, &night);
        assert!(act_of(&page).contains(&format!("<ol><li>{why}</li></ol>")), "{page}");
    }
    let (record, mut night) = example("path");
    (night.outcome, night.reasons) =
        (Outcome::NotDone, vec!["hook after: x".to_owned(), "path: worse: y".to_owned()]);
    let page = super::night(&record, &night);
    let act = act_of(&page);
    assert!(act.contains("<ol><li>hook after: x</li>") && !act.contains("path: worse: y"), "{act}");
}

#[test]
fn steps_that_went_well_the_second_time_are_nothing_to_act_on() {
    let (record, mut night) = example("path");
    let measure = &mut night.measures[0];
    measure.comparisons.clear();
    measure.limits.clear();
    measure.steps = vec![step("path", "new", 1, 0.0), step("path", "new", 1, 43.0)];
    let page = super::night(&record, &night);
    assert!(act_of(&page).contains("Nothing:"), "{page}");
    night.measures[0].steps.pop();
    night.measures[0].steps[0].bundle.clear();
    let page = super::night(&record, &night);
    let act = act_of(&page);
    assert!(act.contains("path, new, round 1 not done") && !act.contains("Look at"), "{act}");
    assert!(page.contains("live clock, 1 step."), "{page}");
}

#[test]
fn the_error_of_a_sick_bench_stands_in_full_once_with_what_brings_it_back() {
    let (record, mut night) = refused("");
    let error = "the port vanished\nin line 2\nin line 3";
    let mut figure = crate::report::night::testing::figure("mean", 1.0);
    figure.value = None;
    night.health = Some(crate::night::result::HealthResult {
        well: false,
        reasons: vec![error.to_owned()],
        bundle: String::new(),
        figures: vec![figure],
    });
    night.reasons = vec![format!("the bench is sick: {error}")];
    night.measures[0].ended = format!("the bench is sick: {error}");
    let page = super::night(&record, &night);
    assert_eq!(page.matches("in line 3").count(), 1, "{page}");
    assert!(act_of(&page).contains("<code>ppsrig check bench.toml --back-online</code>"), "{page}");
    assert!(page.contains("gave no figure") && !page.contains("What the golden image gave"), "{page}");
}

#[test]
fn a_tail_is_told_as_a_factor() {
    let (record, mut night) = example("path");
    night.measures[0].comparisons = vec![tail("new")];
    let page = super::night(&record, &night);
    let sentence = "tail_share of new inline is worse than of old by a factor of 2.000; the margin is a factor of 1.250.";
    assert!(act_of(&page).contains(sentence), "{page}");
    for cell in ["×2.000", "×1.500 to ×2.700", "×1.250", "×1.400"] {
        assert!(page.contains(&format!(">{cell}</td>")), "{cell}: {page}");
    }
    assert!(page.contains("× is a factor"));
}

#[test]
fn a_picked_build_is_named_once_and_its_run_is_linked() {
    let (record, mut night) = example("path");
    let one = &mut night.measures[0].comparisons[0];
    (one.base, one.new) = ("old:inline".to_owned(), "new:inline".to_owned());
    (one.metric, one.unit, one.change_unit) =
        ("instructions".to_owned(), "instructions".to_owned(), "instructions".to_owned());
    one.change = Some(fixed(1.0));
    let page = super::night(&record, &night);
    let act = act_of(&page);
    assert!(
        act.contains("path: instructions of new:inline are worse than those of old:inline by 1.000; the margin is 1.000."),
        "{act}"
    );
    assert!(act.contains("<a href=\"./runs/4-new/report.html\">Look at its last run</a>"), "{act}");
}

#[test]
fn columns_in_which_nothing_stands_are_left_out() {
    let (record, mut night) = example("path");
    let measure = &mut night.measures[0];
    measure.comparisons = vec![comparison("new", Verdict::Equivalent, 0.1)];
    measure.comparisons[0].interval = None;
    measure.limits[0].reason = "p99 120.000 ns in 3 sessions: above the limit of 80".to_owned();
    let page = super::night(&record, &night);
    let of = |what: &str| {
        let table = page.split(&format!("<caption>path: {what}")).nth(1).unwrap();
        table.split("</table>").next().unwrap().to_owned()
    };
    for gone in ["interval on the margin", ">interval<", ">why<"] {
        assert!(!of("comparisons").contains(gone), "{gone}");
    }
    assert!(of("comparisons").contains(">change<"));
    for gone in [">interval<", ">at least<", ">why<"] {
        assert!(!of("limits").contains(gone), "{gone}");
    }
    assert!(of("limits").contains(">at most<"));
    night.measures[0].limits[0].reason = "its mean is not known".to_owned();
    assert!(super::night(&record, &night).contains("its mean is not known</td>"));
}
