//! Readers of the clocks against clocksource switch, clock set and suspend.

use loom::thread;

use super::{
    explore,
    machine::{ARCH_CYCLES, ModelArch, OTHER, OTHER_CYCLES, by_arch, by_running},
};
use crate::{
    ClockId, ClocksourceId, SnapshotValidity, StaticBranch, SystemTimeSnapshot, Timekeeper, Timekeeping,
    Timespec64, sync::Ordering,
};

type Build = fn(&Timekeeper<ModelArch>, ClockId) -> SystemTimeSnapshot;

fn indirect(timekeeper: &Timekeeper<ModelArch>, clock_id: ClockId) -> SystemTimeSnapshot {
    let mut snapshot = SystemTimeSnapshot::UNKNOWN;
    timekeeper.ktime_get_snapshot_id_indirect(clock_id, &mut snapshot);
    snapshot
}

fn inline_biased(timekeeper: &Timekeeper<ModelArch>, clock_id: ClockId) -> SystemTimeSnapshot {
    let mut snapshot = SystemTimeSnapshot::UNKNOWN;
    timekeeper.ktime_get_snapshot_id_inline_biased(clock_id, &mut snapshot);
    snapshot
}

/// Reads in place and does not check afterwards that the clocksource may be read so.
fn trusts_the_branch(timekeeper: &Timekeeper<ModelArch>, clock_id: ClockId) -> SystemTimeSnapshot {
    let mut snapshot = SystemTimeSnapshot::UNKNOWN;
    loop {
        let seq = timekeeper.core.seq.read_begin();
        if !timekeeper.clocksource_read_inlined.likely() {
            return indirect(timekeeper, clock_id);
        }
        if timekeeper.fill(clock_id, &mut snapshot, seq, ARCH_CYCLES) {
            return snapshot;
        }
    }
}

/// Both counters stand still, so every clock shows 0 by either, and anything else by a mixture.
fn check_switched(snapshot: SystemTimeSnapshot) {
    let of = (snapshot.cycles, snapshot.cs_id, snapshot.cs_was_changed_seq);
    let arch = (ARCH_CYCLES, ClocksourceId(1), 1);
    let other = (OTHER_CYCLES, ClocksourceId(2), 2);
    assert!(snapshot.valid() && (of == arch || of == other), "mixed: {snapshot:?}");
    assert_eq!((snapshot.systime, snapshot.monoraw), (0, 0), "mixed: {snapshot:?}");
}

fn switch_against(build: Build) {
    explore(2, move || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let reader = thread::spawn(move || check_switched(build(timekeeper, ClockId::REALTIME)));
        timekeeping.timekeeping_notify(&OTHER).expect("not suspended");
        reader.join().expect("it ends");
        check_switched(build(timekeeper, ClockId::REALTIME));
    });
}

#[test]
fn loom_a_clocksource_switch_is_whole_for_the_indirect_read() {
    switch_against(indirect);
}

#[test]
fn loom_a_clocksource_switch_is_whole_for_the_inlined_read() {
    switch_against(inline_biased);
}

#[test]
#[should_panic(expected = "mixed")]
fn loom_an_inlined_read_that_trusts_its_branch_is_found() {
    switch_against(trusts_the_branch);
}

#[test]
fn loom_a_clock_set_is_whole_for_snapshots() {
    explore(2, || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let check = move || {
            let snapshot = inline_biased(timekeeper, ClockId::REALTIME);
            let time = i64::from(snapshot.clock_was_set_seq - 1) * 1_000_000_000;
            assert_eq!((snapshot.valid(), snapshot.systime, snapshot.monoraw), (true, time, 0));
            snapshot.clock_was_set_seq
        };
        let reader = thread::spawn(check);
        timekeeping.do_settimeofday64(Timespec64 { tv_sec: 1, tv_nsec: 0 }).expect("a valid time");
        reader.join().expect("it ends");
        assert_eq!(check(), 2);
    });
}

/// The clock is set back. The floor lies 5 ns above the coarse clock, at either offset.
fn coarse_against(read: fn(&Timekeeper<ModelArch>) -> Timespec64) {
    explore(2, move || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        timekeeping.do_settimeofday64(Timespec64 { tv_sec: 3, tv_nsec: 0 }).expect("a valid time");
        let reader = thread::spawn(move || {
            let time = read(timekeeper).to_ktime();
            assert!(time == 3_000_000_005 || time == 2_000_000_005, "mixed: {time}");
        });
        timekeeping.do_settimeofday64(Timespec64 { tv_sec: 2, tv_nsec: 0 }).expect("a valid time");
        reader.join().expect("it ends");
    });
}

#[test]
fn loom_a_coarse_time_with_floor_is_of_one_clock() {
    coarse_against(|timekeeper| timekeeper.ktime_get_coarse_real_ts64_with_floor(5));
}

#[test]
#[should_panic(expected = "mixed")]
fn loom_a_coarse_time_and_an_offset_that_are_read_apart_are_found() {
    coarse_against(|timekeeper| {
        let coarse = timekeeper.ktime_get_coarse_real_ts64().to_ktime();
        let floor = timekeeper.core.offs_real.load(Ordering::Relaxed) + 5;
        Timespec64::from_ktime(coarse.max(floor))
    });
}

/// Boot time before and after a suspend of 4 s, or that there is none.
fn check_boottime(timekeeper: &Timekeeper<ModelArch>) {
    let snapshot = inline_biased(timekeeper, ClockId::BOOTTIME);
    if snapshot.validity != SnapshotValidity::Suspended {
        let time = i64::from(snapshot.clock_was_set_seq - 1) * 4_000_000_000;
        assert_eq!((snapshot.validity, snapshot.systime), (SnapshotValidity::Valid, time));
    }
}

#[test]
fn loom_a_suspend_is_seen_whole() {
    explore(2, || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let reader = thread::spawn(move || check_boottime(timekeeper));
        timekeeping.timekeeping_suspend();
        reader.join().expect("it ends");
    });
}

#[test]
fn loom_a_resume_is_seen_whole() {
    explore(2, || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        timekeeping.timekeeping_suspend();
        let reader = thread::spawn(move || check_boottime(timekeeper));
        timekeeping.timekeeping_resume(Some(4_000_000_000));
        reader.join().expect("it ends");
    });
}

/// No reader saw a time, before a suspend or while it began, that is later than the one at which the clocks stand then.
#[test]
fn loom_no_reader_is_ahead_of_a_suspend() {
    explore(2, || {
        let timekeeper = by_running();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let reader = thread::spawn(move || indirect(timekeeper, ClockId::MONOTONIC));
        timekeeping.timekeeping_suspend();
        let seen = reader.join().expect("it ends");
        assert!(!seen.valid() || seen.systime <= timekeeper.ktime_get(), "ahead: {seen:?}");
    });
}

fn polled_edge_against(change: fn(&mut Timekeeping<'static, ModelArch>)) {
    explore(2, move || {
        let timekeeper = by_arch();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let poll = timekeeper.pps_poll_begin(ClockId::REALTIME).expect("the clock runs");
        let reader = thread::spawn(move || match timekeeper.pps_poll_convert(&poll, poll.cycles()) {
            Ok(time) => assert!(time.systime == 0 || time.systime == 3_000_000_000, "mixed: {time:?}"),
            Err(why) => assert_eq!(why, crate::PpsError::ClocksourceChanged),
        });
        change(&mut timekeeping);
        reader.join().expect("it ends");
    });
}

#[test]
fn loom_a_polled_edge_is_converted_right_across_a_clock_set() {
    polled_edge_against(|timekeeping| {
        timekeeping.do_settimeofday64(Timespec64 { tv_sec: 3, tv_nsec: 0 }).expect("a valid time");
    });
}

#[test]
fn loom_a_polled_edge_is_converted_right_or_refused_across_a_clocksource_switch() {
    polled_edge_against(|timekeeping| timekeeping.timekeeping_notify(&OTHER).expect("not suspended"));
}
