//! Real threads read while the clocksource is switched, the clock set and timekeeping suspended.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    thread,
};

use super::snapshots::builds;
use crate::{
    Arch, ClockId, Clocksource, ClocksourceFlags, ClocksourceId, SystemTimeSnapshot, Timekeeper, Timespec64,
    testing::{FlagBranch, LockedClock, leak},
};

/// Runs with every reading, by whichever clocksource: the cores' common counter.
static READINGS: AtomicU64 = AtomicU64::new(0);

/// A machine whose counter all threads share.
struct SharedCounter;

impl Arch for SharedCounter {
    type ReadInlined = FlagBranch;
    type Clock = LockedClock;

    fn arch_inlined_clocksource_read() -> u64 {
        READINGS.fetch_add(1, Ordering::SeqCst)
    }
}

fn clocks() -> [&'static Clocksource; 2] {
    let arch =
        Clocksource::register_hz(|_| SharedCounter::arch_inlined_clocksource_read(), 64, 1_000_000_000);
    let other = Clocksource::register_hz(
        |_| 1_000_000 + SharedCounter::arch_inlined_clocksource_read() / 4,
        40,
        250_000_000,
    );
    [
        leak(arch.with(ClocksourceId::ARM_ARCH_COUNTER, ClocksourceFlags::CAN_INLINE_READ)),
        leak(other.with(ClocksourceId(77), ClocksourceFlags::NONE)),
    ]
}

/// Readings of one thread in turn, and of all threads by what they tell one another.
fn read_on(timekeeper: &Timekeeper<SharedCounter>, latest: &AtomicI64) {
    let mut valid = 0;
    while valid < 100_000 {
        for clock_id in [ClockId::REALTIME, ClockId::MONOTONIC] {
            let before = latest.load(Ordering::SeqCst);
            for snapshot in builds(timekeeper, clock_id).into_iter().filter(SystemTimeSnapshot::valid) {
                assert!(snapshot.monoraw >= before, "{snapshot:?} after {before}");
                assert!(
                    clock_id != ClockId::MONOTONIC || snapshot.systime == snapshot.monoraw,
                    "{snapshot:?}"
                );
                latest.fetch_max(snapshot.monoraw, Ordering::SeqCst);
                valid += 1;
            }
        }
    }
}

#[test]
fn time_never_goes_back_while_everything_about_it_changes() {
    let clocks = clocks();
    let mut timekeeper = Timekeeper::<SharedCounter>::new(clocks[0]);
    let mut timekeeping = timekeeper.timekeeping_init();
    let latest = AtomicI64::new(0);
    let shared = timekeeping.timekeeper();
    thread::scope(|scope| {
        let readers = [0; 3].map(|_| scope.spawn(|| read_on(shared, &latest)));
        let mut round = 0usize;
        while readers.iter().any(|reader| !reader.is_finished()) {
            match round % 4 {
                0 | 2 => timekeeping.timekeeping_notify(clocks[(round / 2 + 1) % 2]).expect("not suspended"),
                1 => {
                    let wall = Timespec64 { tv_sec: [4_000, 8_000][round % 8 / 4], tv_nsec: 0 };
                    timekeeping.do_settimeofday64(wall).expect("a valid time");
                }
                _ => {
                    timekeeping.timekeeping_suspend();
                    timekeeping.timekeeping_resume(Some(5_000_000_000));
                }
            }
            timekeeping.update_wall_time();
            round += 1;
        }
    });
}
