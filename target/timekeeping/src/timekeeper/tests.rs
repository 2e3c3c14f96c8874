//! The timekeeper against plain i128 arithmetic: time = cycles since the start * mult >> shift, plus the clock's offset.

extern crate std;

use core::cell::Cell;
use std::thread_local;

use proptest::prelude::*;

use super::*;

thread_local! {
    static COUNTER: Cell<u64> = const { Cell::new(0) };
    static READS: Cell<u32> = const { Cell::new(0) };
}

fn read_counter() -> u64 {
    READS.set(READS.get() + 1);
    COUNTER.get()
}

fn started_at(counter: u64, bits: u32, hz: u32) -> Timekeeper {
    COUNTER.set(counter);
    Timekeeper::timekeeping_init(Clocksource::register_hz(read_counter, bits, hz))
}

const ALL: [ClockId; 4] = [ClockId::Realtime, ClockId::Monotonic, ClockId::MonotonicRaw, ClockId::Boottime];

#[test]
fn a_snapshot_reads_the_counter_once() {
    let timekeeper = started_at(5, 56, 12_500_000);
    for clock_id in ALL {
        READS.set(0);
        let snapshot = timekeeper.ktime_get_snapshot_id(clock_id);
        assert_eq!((READS.get(), snapshot.cycles), (1, 5), "{clock_id:?}");
    }
}

#[test]
fn a_second_of_ticks_is_a_second() {
    let timekeeper = started_at(1_000, 56, 12_500_000);
    COUNTER.set(1_000 + 12_500_000);
    for clock_id in ALL {
        assert_eq!(timekeeper.ktime_get_snapshot_id(clock_id).systime, 1_000_000_000, "{clock_id:?}");
    }
}

#[test]
fn setting_the_clock_moves_realtime_only() {
    let mut timekeeper = started_at(0, 56, 12_500_000);
    COUNTER.set(12_500_000);
    timekeeper.do_settimeofday64(-7);
    let times = ALL.map(|clock_id| timekeeper.ktime_get_snapshot_id(clock_id).systime);
    assert_eq!(times, [-7, 1_000_000_000, 1_000_000_000, 1_000_000_000]);
}

#[test]
fn suspend_moves_boottime_and_realtime_but_not_monotonic() {
    let mut timekeeper = started_at(0, 56, 12_500_000);
    timekeeper.timekeeping_inject_sleeptime64(30);
    let times = ALL.map(|clock_id| timekeeper.ktime_get_snapshot_id(clock_id).systime);
    assert_eq!(times, [30, 0, 0, 30]);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    Forward,
    Set(i64),
    Sleep(i64),
}

fn steps() -> impl Strategy<Value = std::vec::Vec<Step>> {
    let step = prop_oneof![
        (0u64..1 << 20).prop_map(Step::Advance),
        (0u64..1 << 50).prop_map(Step::Advance),
        Just(Step::Forward),
        (i64::MIN / 4..i64::MAX / 4).prop_map(Step::Set),
        (0i64..1 << 40).prop_map(Step::Sleep),
    ];
    prop::collection::vec(step, 0..20)
}

proptest! {
    #[test]
    fn every_clock_follows_the_i128_model(start: u64, hz in 781_250u32..=2_000_000_000, steps in steps()) {
        let mut timekeeper = started_at(start, 64, hz);
        let clock = timekeeper.clock;
        let (mut elapsed, mut offs_real, mut offs_boot) = (0i128, 0i128, 0i128);
        let monotonic = |elapsed: i128| (elapsed * i128::from(clock.mult)) >> clock.shift;
        for step in steps {
            match step {
                Step::Advance(ticks) => {
                    COUNTER.set(COUNTER.get().wrapping_add(ticks));
                    elapsed += i128::from(ticks);
                }
                Step::Forward => timekeeper.timekeeping_forward_now(),
                Step::Set(to) => {
                    timekeeper.do_settimeofday64(to);
                    offs_real = i128::from(to) - monotonic(elapsed);
                }
                Step::Sleep(ns) => {
                    timekeeper.timekeeping_inject_sleeptime64(ns);
                    offs_real += i128::from(ns);
                    offs_boot += i128::from(ns);
                }
            }
            for (clock_id, offset) in ALL.into_iter().zip([offs_real, 0, 0, offs_boot]) {
                let snapshot = timekeeper.ktime_get_snapshot_id(clock_id);
                prop_assert_eq!(i128::from(snapshot.systime), monotonic(elapsed) + offset);
                prop_assert_eq!(i128::from(snapshot.monoraw), monotonic(elapsed));
                prop_assert_eq!(snapshot.cycles, COUNTER.get());
            }
        }
    }
}
