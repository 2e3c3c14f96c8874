//! Counter values of a polling loop become the time that a snapshot would have given, or none.

use std::vec::Vec;

use proptest::prelude::*;

use crate::{
    ClockId, PpsError, PpsTime, SnapshotValidity, Timekeeper, Timespec64,
    testing::{TestArch, advance, arch_clock, other_clock, set_counters},
};

const HZ: u32 = 12_500_000;

fn wall(tv_sec: i64) -> Timespec64 {
    Timespec64 { tv_sec, tv_nsec: 0 }
}

#[test]
fn an_edge_before_a_clock_set_has_the_old_time_and_one_after_it_the_new() {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, HZ));
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.do_settimeofday64(wall(1_000)).expect("a valid time");
    let poll = timekeeping.pps_poll_begin(ClockId::REALTIME).expect("the clock runs");
    advance(100, 0);
    timekeeping.do_settimeofday64(wall(50)).expect("a valid time");
    advance(100, 0);
    let convert = |cycles| timekeeping.pps_poll_convert(&poll, cycles);
    assert_eq!(convert(99), Ok(PpsTime { systime: 1_000_000_007_920, monoraw: 7_920 }));
    assert_eq!(convert(100), Ok(PpsTime { systime: 50_000_000_000, monoraw: 8_000 }));
    assert_eq!(convert(200), Ok(PpsTime { systime: 50_000_008_000, monoraw: 16_000 }));
    assert_eq!(convert(201), Err(PpsError::OutOfInterval));
}

#[test]
fn after_two_clock_sets_only_an_edge_after_the_last_has_a_time() {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, HZ));
    let mut timekeeping = timekeeper.timekeeping_init();
    let poll = timekeeping.pps_poll_begin(ClockId::REALTIME).expect("the clock runs");
    for second in [5, 3] {
        advance(10, 0);
        timekeeping.do_settimeofday64(wall(second)).expect("a valid time");
    }
    advance(10, 0);
    assert_eq!(timekeeping.pps_poll_convert(&poll, 5), Err(PpsError::ClockWasSet));
    assert_eq!(timekeeping.pps_poll_convert(&poll, 25).map(|time| time.systime), Ok(3_000_000_400));
}

#[test]
fn another_clocksource_is_refused() {
    set_counters(0, 0);
    let arch = arch_clock(56, HZ);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch);
    let mut timekeeping = timekeeper.timekeeping_init();
    let poll = timekeeping.pps_poll_begin(ClockId::REALTIME).expect("the clock runs");
    timekeeping.timekeeping_notify(other_clock(64, 1_000_000)).expect("not suspended");
    assert_eq!(timekeeping.pps_poll_convert(&poll, 0), Err(PpsError::ClocksourceChanged));
    timekeeping.timekeeping_notify(arch).expect("not suspended");
    assert_eq!(timekeeping.pps_poll_convert(&poll, 0), Err(PpsError::ClocksourceChanged));
}

#[test]
fn a_counter_value_from_a_suspend_has_no_time() {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, HZ));
    let mut timekeeping = timekeeper.timekeeping_init();
    let poll = timekeeping.pps_poll_begin(ClockId::BOOTTIME).expect("the clock runs");
    advance(10, 0);
    timekeeping.timekeeping_suspend();
    let suspended = PpsError::Invalid(SnapshotValidity::Suspended);
    assert_eq!(timekeeping.pps_poll_convert(&poll, 5), Err(suspended));
    advance(10, 0);
    timekeeping.timekeeping_resume(Some(1_000_000));
    advance(10, 0);
    let systime = |cycles| timekeeping.pps_poll_convert(&poll, cycles).map(|time| time.systime);
    assert_eq!(systime(5), Ok(400));
    assert_eq!(systime(15), Err(PpsError::OutOfInterval));
    assert_eq!(systime(25), Ok(1_000_000 + 800 + 400));
}

#[test]
fn a_clock_that_cannot_be_read_is_refused() {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, HZ));
    let timekeeping = timekeeper.timekeeping_init();
    for (clock_id, why) in
        [(ClockId::AUX, SnapshotValidity::ClockInvalid), (ClockId(3), SnapshotValidity::UnknownClock)]
    {
        assert_eq!(timekeeping.pps_poll_begin(clock_id), Err(PpsError::Invalid(why)));
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Edge,
    Tick,
    Set(i64),
    Switch,
}

proptest! {
    /// Whatever happens while polling: a time that is given is the one that a snapshot at the edge gave.
    #[test]
    fn a_conversion_is_right_or_refused(
        start: u64,
        hz in 781_250u32..=1_000_000_000,
        before in 0u32..1 << 24,
        clock in 0usize..4,
        events in prop::collection::vec(
            (0u32..1 << 24, prop_oneof![
                5 => Just(Event::Edge),
                3 => Just(Event::Tick),
                1 => (100i64..4_000_000_000).prop_map(Event::Set),
                1 => Just(Event::Switch),
            ]),
            1..12,
        ),
    ) {
        set_counters(start, 0);
        let clock_id = super::snapshots::CORE[clock];
        let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, hz));
        let mut timekeeping = timekeeper.timekeeping_init();
        advance(u64::from(before), 7);
        let poll = timekeeping.pps_poll_begin(clock_id).expect("the clock runs");
        let (mut edges, mut sets, mut switched) = (Vec::new(), 0, false);
        for (ticks, event) in events {
            advance(u64::from(ticks) + 1, u64::from(ticks));
            match event {
                Event::Edge => edges.push((sets, timekeeping.ktime_get_snapshot_id(clock_id))),
                Event::Tick => timekeeping.update_wall_time(),
                Event::Set(second) => {
                    prop_assert!(timekeeping.do_settimeofday64(wall(second)).is_ok());
                    sets += 1;
                }
                Event::Switch => {
                    let other = other_clock(64, 1_000_000);
                    prop_assert!(timekeeping.timekeeping_notify(other).is_ok());
                    switched = true;
                }
            }
        }
        for (sets_before, edge) in edges {
            let expected = if switched {
                Err(PpsError::ClocksourceChanged)
            } else if sets_before < sets && !(sets_before == 0 && sets == 1) {
                Err(PpsError::ClockWasSet)
            } else {
                Ok(PpsTime { systime: edge.systime, monoraw: edge.monoraw })
            };
            prop_assert_eq!(timekeeping.pps_poll_convert(&poll, edge.cycles), expected);
        }
    }
}
