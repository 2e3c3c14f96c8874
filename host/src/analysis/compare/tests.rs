//! What a comparison makes of sides that are known: matching, margins, levels, verdicts and exit status.

use super::group::{Group, Key, Quantity, Session, Values};
use super::testing::{OPTIONS, group, key, plain, session, side};
use super::{Comparison, Options, Side, Source, Verdict, compare};
use crate::names::Measurement;

const DEFAULT: Options = Options { margin_ns: None, ..OPTIONS };

fn sessions(values: &[f64]) -> Vec<Session> {
    values.iter().enumerate().map(|(number, value)| session(number, *value, None)).collect()
}

fn about(mean: f64) -> Vec<f64> {
    [-0.1, 0.0, 0.1, 0.05, -0.05].map(|off| mean + off).to_vec()
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.rows.iter().map(|row| row.verdict).collect()
}

fn means(base: f64, new: f64, options: &Options) -> Verdict {
    verdicts(&compare(&plain("a", &about(base)), &plain("b", &about(new)), options))[0]
}

#[test]
fn a_difference_counts_beyond_the_margin_only() {
    assert_eq!(means(45.0, 47.0, &DEFAULT), Verdict::Worse);
    assert_eq!(means(47.0, 45.0, &DEFAULT), Verdict::Better);
    assert_eq!(means(45.0, 45.5, &DEFAULT), Verdict::Equivalent);
    assert_eq!(means(45.0, 46.05, &DEFAULT), Verdict::NotResolvable);
    assert_eq!(means(45.0, 45.5, &OPTIONS), Verdict::Worse);
    assert_eq!(means(45.0, 47.0, &Options { margin_ns: Some(3.0), ..OPTIONS }), Verdict::Equivalent);
}

#[test]
fn the_margin_is_the_larger_bound_on_the_bias_where_that_is_more_than_a_nanosecond() {
    let of = |bound| Group { bias_bound_ns: Some(bound), ..group(key(), sessions(&about(45.0))) };
    let margin = |base, new| {
        compare(&side("a", vec![of(base)]), &side("b", vec![of(new)]), &DEFAULT).rows[0].margin.unwrap()
    };
    assert_eq!((margin(0.1, 0.09), margin(0.1, 2.5), margin(3.5, 0.2)), (1.0, 2.5, 3.5));
}

#[test]
fn more_operations_are_better_by_a_hundredth_of_the_base() {
    let operations = Key {
        measurement: Some(Measurement::Ctime),
        variant: "coarse".to_owned(),
        quantity: Quantity::Operations,
        ..key()
    };
    let of = |name, mean: f64| {
        let values: Vec<f64> = about(mean).iter().map(|value| value * 1e6).collect();
        side(name, vec![group(operations.clone(), sessions(&values))])
    };
    let found = |new| compare(&of("a", 100.0), &of("b", new), &DEFAULT).rows.remove(0);
    assert_eq!((found(102.0).verdict, found(98.0).verdict), (Verdict::Better, Verdict::Worse));
    assert_eq!((found(100.3).verdict, found(100.3).margin), (Verdict::Equivalent, Some(1e6)));
}

#[test]
fn several_metrics_share_alpha_as_holm_has_it() {
    let build =
        |variant: &str, values: Vec<Session>| group(Key { variant: variant.to_owned(), ..key() }, values);
    let of = |name, inline: f64, indirect: f64, biased: f64| {
        let all = [("inline", inline), ("indirect", indirect), ("inline-biased", biased)];
        side(name, all.map(|(variant, mean)| build(variant, sessions(&about(mean)))).to_vec())
    };
    let found = compare(&of("a", 45.0, 50.0, 40.0), &of("b", 55.0, 50.0, 60.0), &DEFAULT);
    let levels: Vec<f64> = found.rows.iter().map(|row| row.level.unwrap()).collect();
    assert_eq!(levels, [0.005, 0.01, 0.01 / 3.0]);
    assert_eq!(verdicts(&found), [Verdict::Worse, Verdict::Equivalent, Verdict::Worse]);
    for row in &found.rows {
        let beyond = row.interval.unwrap().0 > row.margin.unwrap();
        assert_eq!(row.p_value.unwrap() < row.level.unwrap(), beyond, "{row:?}");
    }
}

#[test]
fn what_has_no_verdict_takes_no_level_from_what_has_one() {
    let inline = |group: Group| Group { key: Key { variant: "inline".to_owned(), ..key() }, ..group };
    let of = |name, mean: f64| {
        let judged = group(key(), sessions(&about(mean)));
        let doubted = Group { doubts: vec!["dither is off".to_owned()], ..judged.clone() };
        side(name, vec![judged, inline(doubted)])
    };
    let found = compare(&of("a", 45.0), &of("b", 49.0), &DEFAULT);
    assert_eq!(verdicts(&found), [Verdict::Worse, Verdict::Invalid]);
    assert_eq!(found.rows[0].level, Some(0.01));
    assert_eq!(found.rows[1].reason, "base: dither is off, and 1 more");
    // Worse weighs more than what has no verdict.
    assert_eq!((found.exit(), found.verdict()), (1, Verdict::Worse));
    let same = compare(&of("a", 45.0), &of("b", 45.0), &DEFAULT);
    assert_eq!((same.exit(), same.verdict()), (3, Verdict::Invalid));
}

#[test]
fn fewer_than_three_sessions_a_side_are_not_resolvable() {
    for (base, new) in [(1, 5), (5, 2), (2, 2)] {
        let found = compare(&plain("a", &about(45.0)[..base]), &plain("b", &about(90.0)[..new]), &DEFAULT);
        assert_eq!((verdicts(&found), found.exit()), (vec![Verdict::NotResolvable], 3));
        assert_eq!((found.rows[0].interval, found.rows[0].resolvable), (None, None));
    }
}

#[test]
fn each_condition_that_differs_is_named_and_what_is_unknown_goes_with_anything() {
    let of = |change: fn(&mut Key)| {
        let mut key = key();
        change(&mut key);
        side("b", vec![group(key, sessions(&about(45.0)))])
    };
    let base = plain("a", &about(45.0));
    let left_out = |change| compare(&base, &of(change), &DEFAULT).left_out;
    for (change, wanted) in [
        (
            (|key| key.conditions.clock_id = Some("monotonic".to_owned())) as fn(&mut Key),
            "clock_id realtime against monotonic",
        ),
        (|key| key.conditions.cores = Some("4".to_owned()), "cores 1 against 4"),
        (|key| key.conditions.emulated = Some(true), "board real against emulated"),
        (|key| key.conditions.board = Some("virt".to_owned()), "board a53 against virt"),
        (|key| key.conditions.clock = Some("exact".to_owned()), "clock live against exact"),
        (|key| key.conditions.counter_hz = Some("1".to_owned()), "counter, Hz 12500000 against 1"),
    ] {
        assert_eq!(left_out(change), [format!("path indirect realtime mean: not compared: {wanted}")]);
    }
    let other = left_out(|key| key.variant = "inline".to_owned());
    assert_eq!(
        other,
        ["path indirect realtime mean: only in the base", "path inline realtime mean: only in the new side"]
    );
    let unknown = compare(&base, &of(|key| key.conditions = super::group::Conditions::default()), &DEFAULT);
    assert_eq!((unknown.left_out.len(), unknown.rows.len()), (1, 1), "only the tail: {:?}", unknown.left_out);
}

#[test]
fn inputs_of_one_side_are_put_together_by_what_they_measured() {
    let mut both = Side::default();
    let unknown = Key { conditions: super::group::Conditions::default(), ..key() };
    let other = Key { variant: "inline".to_owned(), ..key() };
    both.add(Source::default(), vec![group(unknown, sessions(&[1.0, 2.0]))]);
    both.add(Source::default(), vec![group(other, sessions(&[7.0])), group(key(), sessions(&[3.0]))]);
    assert_eq!((both.groups.len(), both.groups[0].figure()), (2, Some((2.0, 3, 3_000_000))));
    assert_eq!(both.groups[0].key.conditions.board.as_deref(), Some("a53"));
}

#[test]
fn a_summary_is_compared_as_its_sessions_are() {
    let values = about(45.0);
    let moments = super::difference::Moments::of(&values).unwrap();
    let summary = Group::new(key(), Values::Summary { moments, n: 5 });
    let new = plain("b", &about(46.5));
    let (by_summary, by_session) = (
        compare(&side("a", vec![summary]), &new, &DEFAULT).rows.remove(0),
        compare(&plain("a", &values), &new, &DEFAULT).rows.remove(0),
    );
    assert_eq!((by_summary.interval, by_summary.p_value), (by_session.interval, by_session.p_value));
}

#[test]
fn the_last_session_without_neighbour_is_left_out_and_told() {
    let at = |times: &[i128]| {
        let timed =
            times.iter().enumerate().map(|(number, at)| session(number, 45.0 + *at as f64, Some(*at)));
        group(key(), timed.collect())
    };
    let found = compare(&side("a", vec![at(&[0, 2, 4, 100])]), &side("b", vec![at(&[1, 3, 5])]), &DEFAULT);
    let row = &found.rows[0];
    assert_eq!((row.base.sessions, row.change), (3, Some(1.0)));
    assert!(found.warnings[0].contains("the last session has no neighbour"), "{:?}", found.warnings);
}

#[test]
fn a_side_without_spread_is_told_from_one_with_few_sessions() {
    let alone = Group::new(key(), Values::Alone { value: 45.0, sessions: 5, n: 500 });
    let found = compare(&side("a", vec![alone]), &plain("b", &about(45.0)), &DEFAULT);
    assert_eq!(found.rows[0].verdict, Verdict::NotResolvable);
    assert_eq!(found.rows[0].reason, "the spread between the sessions of a side is not known");
    assert_eq!(found.left_out, ["tail of path indirect realtime mean: single values are not known"]);
}

#[test]
fn a_warning_is_said_once() {
    let source =
        |name: &str| Source { name: name.to_owned(), fingerprint: "f".to_owned(), ..Source::default() };
    let base = Side { sources: ["x", "y", "x"].map(source).to_vec(), ..plain("a", &about(45.0)) };
    let new = Side { sources: vec![source("z")], ..plain("b", &about(45.0)) };
    let warnings = compare(&base, &new, &DEFAULT).warnings;
    assert_eq!(warnings[..2], ["x and z are the same recording", "y and z are the same recording"]);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}

#[test]
fn a_mean_below_its_uncertainty_has_no_ratio() {
    let of = |mean: f64| Group { uncertainty: Some(50.0), ..group(key(), sessions(&about(mean))) };
    let ratio =
        |base, new| compare(&side("a", vec![of(base)]), &side("b", vec![of(new)]), &DEFAULT).rows[0].ratio;
    assert_eq!((ratio(45.0, 90.0), ratio(90.0, 45.0), ratio(-90.0, 90.0)), (None, None, None));
    assert_eq!(ratio(60.0, 90.0), Some(1.5));
}
