//! Samples as histograms: the batches are the equal parts that a board would have made of them.

use proptest::prelude::*;

use super::*;

fn key(session: u32) -> SampleKey {
    SampleKey { session, variant: "inline".to_owned(), clock_id: "realtime".to_owned() }
}

fn of_differences(differences: &[u32]) -> SessionSamples {
    let mut collector = Collector::default();
    collector.session(&key(1)).unwrap();
    differences.iter().for_each(|&ticks| collector.pair(1 << 40, (1 << 40) + u64::from(ticks)));
    collector.finish().unwrap().pop().unwrap_or_default()
}

fn histogram(differences: &[u32]) -> Histogram {
    let mut all = Histogram::default();
    differences.iter().for_each(|&ticks| all.add(ticks, 1));
    all
}

proptest! {
    #[test]
    fn batches_are_equal_parts_in_order_the_larger_ones_first(
        differences in prop::collection::vec(prop_oneof![8 => 0..3_u32, 1 => 250..260_u32, 1 => any::<u32>()], 1..400),
    ) {
        let session = of_differences(&differences);
        let mut rest = differences.as_slice();
        for (index, batch) in session.batches.iter().enumerate() {
            let size = differences.len() / BATCHES + usize::from(index < differences.len() % BATCHES);
            let (own, left) = rest.split_at(size);
            rest = left;
            prop_assert_eq!(batch, &histogram(own));
        }
        prop_assert_eq!((session.batches.len(), rest.len()), (BATCHES, 0));
        prop_assert_eq!(session.histogram(), histogram(&differences));
    }

    #[test]
    fn records_of_a_spool_are_counted_as_their_pairs(
        pairs in prop::collection::vec(prop_oneof![
            8 => (any::<u32>(), 0..3_u64).prop_map(|(pre, ticks)| (u64::from(pre), u64::from(pre) + ticks)),
            1 => (any::<u32>(), 253..258_u64).prop_map(|(pre, ticks)| (u64::from(pre), u64::from(pre) + ticks)),
            1 => any::<(u64, u64)>(),
        ], 1..1200),
    ) {
        let (mut singly, mut records) = (Collector::default(), Collector::default());
        singly.session(&key(1)).unwrap();
        records.session(&key(1)).unwrap();
        pairs.iter().for_each(|&(pre, snapshot)| singly.pair(pre, snapshot));
        let bytes: Vec<u8> =
            pairs.iter().flat_map(|(pre, snapshot)| [pre.to_le_bytes(), snapshot.to_le_bytes()].concat()).collect();
        records.records(&bytes);
        prop_assert_eq!(singly.finish(), records.finish());
    }
}

#[test]
fn pairs_that_go_backwards_or_do_not_fit_are_classes_of_their_own() {
    let mut collector = Collector::default();
    collector.session(&key(1)).unwrap();
    for (pre, snapshot) in [(10, 11), (10, 9), (0, u64::MAX), (0, u64::from(u32::MAX)), (u64::MAX, 0)] {
        collector.pair(pre, snapshot);
    }
    let session = collector.finish().unwrap().pop().unwrap();
    assert_eq!((session.n(), session.backwards, session.overflow), (2, 2, 1));
    assert_eq!(session.histogram(), histogram(&[1, u32::MAX]));
    assert!(!session.is_whole());
}

#[test]
fn a_session_whose_pairs_stand_in_two_places_is_refused() {
    let mut collector = Collector::default();
    for session in [1, 2, 1] {
        collector.session(&key(session)).unwrap();
        collector.pair(1, 2);
    }
    assert_eq!(collector.health(), Err(SampleFault::Resumed(key(1))));
    assert_eq!(collector.finish(), Err(SampleFault::Resumed(key(1))));
}

#[test]
fn histograms_come_in_any_order_and_their_batches_are_bounded() {
    let mut collector = Collector::default();
    for (session, batch) in [(1, 1), (2, 0), (1, 0)] {
        collector.session(&key(session)).unwrap();
        collector.counted(batch, 1, 5);
    }
    let sessions = collector.finish().unwrap();
    assert_eq!(sessions.iter().map(SessionSamples::n).collect::<Vec<_>>(), [10, 5]);
    let mut collector = Collector::default();
    collector.session(&key(1)).unwrap();
    collector.counted(1024, 1, 5);
    assert!(collector.finish().unwrap_err().to_string().contains("has a batch 1024"));
}

#[test]
fn a_percentile_is_a_whole_tick_or_none() {
    let mut mostly_one = vec![1; 900];
    mostly_one.extend([0; 99]);
    mostly_one.push(4);
    let all = histogram(&mostly_one);
    assert_eq!(TickPercentile::of(&all, 50), None, "below one tick");
    let median = TickPercentile::of(&all, 500).unwrap();
    assert_eq!((median.ticks, median.bracket()), (1, (0, 2)));
    assert_eq!(median.interval, Some((1, 1)));
    assert_eq!(TickPercentile::of(&histogram(&[1; 5]), 999), None, "nothing to be expected beyond");
}
