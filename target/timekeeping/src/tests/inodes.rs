//! Stamps of inodes, one core at a time and on real threads.

use std::{thread, vec::Vec};

use proptest::prelude::*;

use crate::{
    Broken, Build, Coarse, CtimeFloor, Inode, Multigrain, MultigrainFloor, Stamper, Timekeeper, Timespec64,
    testing::{TestArch, advance, arch_clock, set_counters},
};

const WALL: Timespec64 = Timespec64 { tv_sec: 1_800_000_000, tv_nsec: 0 };

fn with_stamper<B: Build>(test: impl FnOnce(Stamper<'_, TestArch, B>, &mut dyn FnMut())) {
    set_counters(0, 0);
    let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, 1_000_000_000));
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    let floor = CtimeFloor::new();
    let stamper = Stamper::<_, B>::new(timekeeping.timekeeper(), &floor);
    test(stamper, &mut || timekeeping.update_wall_time());
}

#[test]
fn a_stamp_that_nobody_looked_at_stays_coarse() {
    with_stamper::<MultigrainFloor>(|stamper, _| {
        let inode = Inode::new(WALL);
        advance(100, 0);
        assert_eq!(stamper.inode_set_ctime_current(&inode), WALL);
        assert_eq!(stamper.current_time(&inode), WALL);
    });
}

#[test]
fn a_change_after_a_look_has_a_later_stamp() {
    fn check<B: Build>() {
        with_stamper::<B>(|stamper, _| {
            let inode = Inode::new(WALL);
            assert_eq!(inode.fill_mg_cmtime(), WALL);
            advance(100, 0);
            assert_eq!(stamper.current_time(&inode).tv_nsec, 100);
            assert_eq!(stamper.inode_set_ctime_current(&inode).tv_nsec, 100);
            assert!(!inode.ctime().queried);
            assert_eq!(inode.ctime().time.tv_nsec, 100);
        });
    }
    check::<Multigrain>();
    check::<MultigrainFloor>();
}

#[test]
fn another_inode_is_not_stamped_earlier_than_a_fine_stamp_before_it() {
    fn order<B: Build>() -> bool {
        let mut ordered = false;
        with_stamper::<B>(|stamper, _| {
            let (first, second) = (Inode::new(WALL), Inode::new(WALL));
            first.fill_mg_cmtime();
            advance(100, 0);
            let fine = stamper.inode_set_ctime_current(&first);
            ordered = stamper.inode_set_ctime_current(&second) >= fine;
        });
        ordered
    }
    assert!(order::<Coarse>());
    assert!(order::<Multigrain>());
    assert!(order::<MultigrainFloor>());
    assert!(!order::<Broken>(), "the check must be able to fail");
}

#[test]
fn coarse_stamps_do_not_tell_two_changes_of_a_tick_apart() {
    with_stamper::<Coarse>(|stamper, tick| {
        let inode = Inode::new(WALL);
        inode.fill_mg_cmtime();
        advance(100, 0);
        assert_eq!(stamper.inode_set_ctime_current(&inode), WALL);
        tick();
        assert_eq!(stamper.inode_set_ctime_current(&inode).tv_nsec, 100);
    });
}

proptest! {
    #[test]
    fn a_stamp_comes_out_of_an_inode_as_it_went_in(tv_sec in -(1i64 << 32)..1 << 32, tv_nsec in 0u32..1_000_000_000) {
        let time = Timespec64 { tv_sec, tv_nsec };
        let inode = Inode::new(time);
        prop_assert_eq!(inode.fill_mg_cmtime(), time);
        prop_assert_eq!(inode.ctime(), crate::Ctime { time, queried: true });
    }

    /// In any sequence of ticks, looks and changes of a few inodes: stamps order as the changes did, and two looks with
    /// a change in between differ.
    #[test]
    fn stamps_order_as_the_changes_did(
        steps in prop::collection::vec((1u32..1000, 0usize..4, 0u8..4), 1..60),
        with_floor: bool,
    ) {
        fn check<B: Build>(steps: &[(u32, usize, u8)]) -> Result<(), TestCaseError> {
            let mut result = Ok(());
            with_stamper::<B>(|stamper, tick| {
                let inodes: [Inode; 4] = core::array::from_fn(|_| Inode::new(WALL));
                let mut looked: [Option<Timespec64>; 4] = [None; 4];
                let mut last = WALL;
                for (ticks, index, action) in steps {
                    advance(u64::from(*ticks), 0);
                    match action {
                        0 => tick(),
                        1 => looked[*index] = Some(inodes[*index].fill_mg_cmtime()),
                        _ => {
                            let stamp = stamper.inode_set_ctime_current(&inodes[*index]);
                            let seen = looked[*index].take();
                            if stamp < last || seen.is_some_and(|seen| stamp <= seen) {
                                result = Err(TestCaseError::fail("out of order"));
                            }
                            last = stamp;
                        }
                    }
                }
            });
            result
        }
        if with_floor { check::<MultigrainFloor>(&steps)? } else { check::<Multigrain>(&steps)? }
    }
}

/// A change on each of four real threads, each with a look at the shared stamps of the others first.
#[test]
fn no_thread_sees_a_stamp_earlier_than_one_handed_out_before() {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
    static NOW: AtomicU64 = AtomicU64::new(0);
    let read: crate::Read = |_| NOW.fetch_add(1, Ordering::Relaxed);
    let clock = crate::testing::leak(crate::Clocksource::register_hz(read, 64, 1_000_000_000));
    let mut timekeeper = Timekeeper::<TestArch>::new(clock);
    let mut timekeeping = timekeeper.timekeeping_init();
    timekeeping.do_settimeofday64(WALL).expect("a valid time");
    let (floor, handed_out) = (CtimeFloor::new(), AtomicI64::new(0));
    let stamper = Stamper::<_, MultigrainFloor>::new(timekeeping.timekeeper(), &floor);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let inode = Inode::new(WALL);
                    for round in 0..20_000 {
                        let before = handed_out.load(Ordering::Acquire);
                        if round % 3 == 0 {
                            inode.fill_mg_cmtime();
                        }
                        let stamp = stamper.inode_set_ctime_current(&inode).to_ktime();
                        assert!(stamp >= before, "{stamp} after {before}");
                        handed_out.fetch_max(stamp, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            timekeeping.update_wall_time();
            thread::yield_now();
        }
    });
}
