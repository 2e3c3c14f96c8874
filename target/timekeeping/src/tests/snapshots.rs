//! Single claims about snapshots and about what changes the clocks.

use std::vec::Vec;

use crate::{
    Arch, ClockId, Clocksource, ClocksourceHwSnapshot, ClocksourceId, SnapshotValidity, SystemTimeSnapshot,
    Timekeeper, Timekeeping, TimekeepingError, Timespec64,
    testing::{
        TestArch, advance, arch_clock, leak, other_clock, read_derived, read_other, set_counters, take_reads,
    },
};

pub(super) const CORE: [ClockId; 4] =
    [ClockId::REALTIME, ClockId::MONOTONIC, ClockId::MONOTONIC_RAW, ClockId::BOOTTIME];
const AUX: ClockId = ClockId(18);
const HZ: u32 = 12_500_000;
const WALL: Timespec64 = Timespec64 { tv_sec: 1_800_000_000, tv_nsec: 7 };

/// The snapshot by each of the three builds.
pub(super) fn builds<A: Arch>(timekeeper: &Timekeeper<A>, clock_id: ClockId) -> [SystemTimeSnapshot; 3] {
    let mut snapshots = [SystemTimeSnapshot::UNKNOWN; 3];
    timekeeper.ktime_get_snapshot_id_indirect(clock_id, &mut snapshots[0]);
    timekeeper.ktime_get_snapshot_id_inline(clock_id, &mut snapshots[1]);
    timekeeper.ktime_get_snapshot_id_inline_biased(clock_id, &mut snapshots[2]);
    snapshots
}

fn started(counter: u64) -> Timekeeper<TestArch> {
    set_counters(counter, 0);
    Timekeeper::new(arch_clock(56, HZ))
}

fn times(timekeeping: &Timekeeping<'_, TestArch>) -> Vec<i64> {
    CORE.iter().map(|clock_id| timekeeping.ktime_get_snapshot_id(*clock_id).systime).collect()
}

#[test]
fn a_snapshot_reads_the_counter_once_in_each_build() {
    let mut timekeeper = started(5);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.aux_clock_enable(AUX).expect("an auxiliary clock");
    for clock_id in CORE.into_iter().chain([AUX]) {
        let mut snapshot = SystemTimeSnapshot::UNKNOWN;
        take_reads();
        timekeeping.ktime_get_snapshot_id_indirect(clock_id, &mut snapshot);
        assert_eq!((take_reads(), snapshot.cycles, snapshot.valid()), ((1, 0), 5, true), "{clock_id:?}");
        timekeeping.ktime_get_snapshot_id_inline(clock_id, &mut snapshot);
        assert_eq!((take_reads(), snapshot.cycles, snapshot.valid()), ((1, 1), 5, true), "{clock_id:?}");
        timekeeping.ktime_get_snapshot_id_inline_biased(clock_id, &mut snapshot);
        assert_eq!((take_reads(), snapshot.cycles, snapshot.valid()), ((1, 1), 5, true), "{clock_id:?}");
    }
}

#[test]
fn a_second_of_ticks_is_a_second() {
    let mut timekeeper = started(1_000);
    let timekeeping = timekeeper.timekeeping_init();
    advance(u64::from(HZ), 0);
    assert_eq!(times(&timekeeping), [1_000_000_000; 4]);
}

#[test]
fn clocks_that_were_not_started_are_invalid() {
    let timekeeper = started(1_000);
    for clock_id in CORE {
        let validities = builds(&timekeeper, clock_id).map(|snapshot| snapshot.validity);
        assert_eq!(validities, [SnapshotValidity::ClockInvalid; 3]);
    }
}

#[test]
fn an_invalid_snapshot_says_why_and_leaves_the_counter_alone() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    take_reads();
    for (clock_id, why) in [
        (AUX, SnapshotValidity::ClockInvalid),
        (ClockId(2), SnapshotValidity::UnknownClock),
        (ClockId(15), SnapshotValidity::UnknownClock),
        (ClockId(24), SnapshotValidity::UnknownClock),
        (ClockId(32), SnapshotValidity::UnknownClock),
        (ClockId(-1), SnapshotValidity::UnknownClock),
        (ClockId(i32::MIN), SnapshotValidity::UnknownClock),
        (ClockId(i32::MAX), SnapshotValidity::UnknownClock),
    ] {
        assert_eq!(
            builds(&timekeeping, clock_id).map(|snapshot| snapshot.validity),
            [why; 3],
            "{clock_id:?}"
        );
    }
    assert_eq!(take_reads(), (0, 0));
    timekeeping.timekeeping_suspend();
    take_reads();
    for clock_id in CORE {
        let validities = builds(&timekeeping, clock_id).map(|snapshot| snapshot.validity);
        assert_eq!(validities, [SnapshotValidity::Suspended; 3]);
    }
    assert_eq!(take_reads(), (0, 0));
}

#[test]
fn setting_the_clock_moves_realtime_only() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(u64::from(HZ), 0);
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    assert_eq!(times(&timekeeping), [WALL.to_ktime(), 1_000_000_000, 1_000_000_000, 1_000_000_000]);
}

#[test]
fn setting_the_clock_back_does_not_touch_monotonic_time() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    advance(3, 0);
    timekeeping.do_settimeofday64(Timespec64 { tv_sec: 1, tv_nsec: 0 }).expect("a valid time");
    assert_eq!(times(&timekeeping), [1_000_000_000, 240, 240, 240]);
}

#[test]
fn times_that_the_kernel_refuses_are_refused_and_change_nothing() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(2 * u64::from(HZ), 0);
    let before = timekeeping.ktime_get_snapshot_id(ClockId::REALTIME);
    for (tv_sec, tv_nsec, error) in [
        (-1, 0, TimekeepingError::InvalidTime),
        (5, 1_000_000_000, TimekeepingError::InvalidTime),
        (i64::MAX, 0, TimekeepingError::InvalidTime),
        (1, 999_999_999, TimekeepingError::BeforeMonotonic),
    ] {
        assert_eq!(timekeeping.do_settimeofday64(Timespec64 { tv_sec, tv_nsec }), Err(error));
    }
    assert_eq!(timekeeping.ktime_get_snapshot_id(ClockId::REALTIME), before);
}

#[test]
fn sleep_moves_boottime_and_realtime_but_not_monotonic() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.timekeeping_inject_sleeptime64(30).expect("a positive time");
    assert_eq!(times(&timekeeping), [30, 0, 0, 30]);
    assert_eq!(timekeeping.timekeeping_inject_sleeptime64(-1), Err(TimekeepingError::InvalidTime));
}

#[test]
fn a_counter_that_goes_on_in_suspend_tells_how_long_it_was() {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(other_clock(64, 1_000_000));
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(0, 5);
    timekeeping.timekeeping_suspend();
    advance(0, 2_000_000);
    timekeeping.timekeeping_resume(Some(1));
    assert_eq!(times(&timekeeping), [2_000_005_000, 5_000, 5_000, 2_000_005_000]);
}

#[test]
fn a_persistent_clock_tells_how_long_a_suspend_was_if_the_counter_does_not() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.timekeeping_suspend();
    advance(1 << 40, 0);
    assert_eq!(timekeeping.do_settimeofday64(WALL), Err(TimekeepingError::Suspended));
    timekeeping.timekeeping_resume(Some(77));
    assert_eq!(times(&timekeeping), [77, 0, 0, 77]);
}

#[test]
fn every_clock_set_and_clocksource_change_is_counted() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    let seqs = |timekeeping: &Timekeeping<'_, TestArch>| {
        let snapshot = timekeeping.ktime_get_snapshot_id(ClockId::REALTIME);
        (snapshot.clock_was_set_seq, snapshot.cs_was_changed_seq, snapshot.cs_id)
    };
    assert_eq!(seqs(&timekeeping), (1, 1, ClocksourceId::ARM_ARCH_COUNTER));
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    assert_eq!(seqs(&timekeeping), (2, 1, ClocksourceId::ARM_ARCH_COUNTER));
    timekeeping.update_wall_time();
    assert_eq!(seqs(&timekeeping), (2, 1, ClocksourceId::ARM_ARCH_COUNTER));
    timekeeping.timekeeping_notify(other_clock(32, 1_000_000)).expect("not suspended");
    assert_eq!(seqs(&timekeeping), (3, 2, ClocksourceId(77)));
    timekeeping.timekeeping_suspend();
    timekeeping.timekeeping_resume(None);
    assert_eq!(seqs(&timekeeping), (4, 2, ClocksourceId(77)));
}

#[test]
fn the_inlined_read_is_used_exactly_while_the_clocksource_allows_it() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    let inlined = |timekeeping: &Timekeeping<'_, TestArch>| {
        take_reads();
        assert!(timekeeping.ktime_get_snapshot_id(ClockId::REALTIME).valid());
        take_reads()
    };
    let arch = arch_clock(56, HZ);
    assert_eq!(inlined(&timekeeping), (1, 1));
    timekeeping.timekeeping_notify(other_clock(32, 1_000_000)).expect("not suspended");
    assert_eq!(inlined(&timekeeping), (1, 0));
    timekeeping.timekeeping_notify(arch).expect("not suspended");
    assert_eq!(inlined(&timekeeping), (1, 1));
    let derived = leak(Clocksource { flags: arch.flags, ..*arch }.with_read_snapshot(read_derived));
    timekeeping.timekeeping_notify(derived).expect("not suspended");
    assert_eq!(inlined(&timekeeping), (1, 0));
}

#[test]
fn a_branch_that_changes_late_does_no_harm() {
    use crate::StaticBranch;
    let mut timekeeper = started(9);
    let mut timekeeping = timekeeper.timekeeping_init();
    set_counters(9, 1234);
    timekeeping.timekeeping_notify(other_clock(32, 1_000_000)).expect("not suspended");
    timekeeping.clocksource_read_inlined.enable();
    for snapshot in builds(&timekeeping, ClockId::REALTIME) {
        assert_eq!((snapshot.cycles, snapshot.cs_id), (1234, ClocksourceId(77)));
    }
}

#[test]
fn a_derived_clocksource_gives_the_counter_beneath() {
    set_counters(4_711, 50);
    let clock = leak(Clocksource::register_hz(read_other, 64, 1_000_000).with_read_snapshot(read_derived));
    let mut timekeeper = Timekeeper::<TestArch>::new(clock);
    let timekeeping = timekeeper.timekeeping_init();
    for snapshot in builds(&timekeeping, ClockId::REALTIME) {
        let hw = ClocksourceHwSnapshot { hw_cycles: 4_711, hw_csid: ClocksourceId::ARM_ARCH_COUNTER };
        assert_eq!((snapshot.cycles, snapshot.hw), (50, hw));
    }
}

#[test]
fn a_clocksource_switch_is_no_step() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(1_000, 123_456);
    timekeeping.timekeeping_notify(other_clock(32, 1_000_000)).expect("not suspended");
    assert_eq!(times(&timekeeping), [80_000; 4]);
    advance(0, 3);
    assert_eq!(times(&timekeeping), [83_000; 4]);
}

#[test]
fn an_auxiliary_clock_runs_by_itself() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(u64::from(HZ), 0);
    timekeeping.aux_clock_enable(AUX).expect("an auxiliary clock");
    timekeeping.aux_clock_set(AUX, WALL).expect("a valid time");
    advance(1, 0);
    for snapshot in builds(&timekeeping, AUX) {
        assert_eq!((snapshot.systime, snapshot.monoraw), (WALL.to_ktime() + 80, 80));
    }
    assert_eq!(times(&timekeeping), [1_000_000_080; 4]);
    timekeeping.aux_clock_disable(AUX).expect("it is enabled");
    assert!(!timekeeping.ktime_get_snapshot_id(AUX).valid());
    assert_eq!(timekeeping.aux_clock_set(AUX, WALL), Err(TimekeepingError::NoSuchClock));
    assert_eq!(timekeeping.aux_clock_enable(ClockId::REALTIME), Err(TimekeepingError::NoSuchClock));
}

#[test]
fn a_counter_that_another_core_reads_late_does_not_jump_ahead() {
    let mut timekeeper = started(1_000);
    let mut timekeeping = timekeeper.timekeeping_init();
    advance(10, 0);
    timekeeping.update_wall_time();
    set_counters(1_009, 0);
    assert_eq!(times(&timekeeping), [800; 4]);
}

#[test]
fn coarse_time_moves_at_ticks_and_never_below_the_floor() {
    let mut timekeeper = started(0);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    advance(10, 0);
    assert_eq!(timekeeping.ktime_get_coarse_real_ts64(), WALL);
    assert_eq!(timekeeping.ktime_get_coarse_real_ts64_with_floor(0), WALL);
    let above = Timespec64::from_ktime(WALL.to_ktime() + 5);
    assert_eq!(timekeeping.ktime_get_coarse_real_ts64_with_floor(5), above);
    assert_eq!(crate::coarse_ctime(&timekeeping, 5), above.to_ktime());
    timekeeping.update_wall_time();
    let ticked = Timespec64::from_ktime(WALL.to_ktime() + 800);
    assert_eq!(timekeeping.ktime_get_coarse_real_ts64_with_floor(5), ticked);
    assert_eq!(crate::coarse_ctime(&timekeeping, 5), ticked.to_ktime());
    assert_eq!(
        (timekeeping.ktime_get_coarse(), timekeeping.ktime_get_coarse_real()),
        (800, ticked.to_ktime())
    );
}

#[test]
fn a_time_beyond_what_64_bits_of_product_hold_is_exact() {
    let mut timekeeper = started(0);
    let timekeeping = timekeeper.timekeeping_init();
    let clock = arch_clock(56, HZ);
    for ticks in [clock.max_cycles, clock.max_cycles + 1, 1 << 50, (1 << 55) - 1] {
        set_counters(ticks, 0);
        assert_eq!(times(&timekeeping), [80 * ticks as i64; 4]);
    }
}
