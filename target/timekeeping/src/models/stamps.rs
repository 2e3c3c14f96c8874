//! The floor and the change times of inodes.

use loom::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
};

use super::{explore, machine::by_running};
use crate::{
    Broken, Build, CtimeFloor, Inode, Multigrain, MultigrainFloor, Stamper, Timekeeping, Timespec64,
};

const START: Timespec64 = Timespec64 { tv_sec: 0, tv_nsec: 0 };

loom::lazy_static! {
    static ref FLOOR: CtimeFloor = CtimeFloor::new();
}

/// One core hands out a fine-grained stamp and tells another of it, which ticks and then stamps.
fn order_of_inodes<B: Build + 'static>() {
    explore(3, || {
        let timekeeper = by_running();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let floor: &'static CtimeFloor = &FLOOR;
        let told = Arc::new(AtomicI64::new(0));
        let first = {
            let told = Arc::clone(&told);
            thread::spawn(move || {
                let inode = Inode::new(START);
                inode.fill_mg_cmtime();
                let stamp = Stamper::<_, B>::new(timekeeper, floor).inode_set_ctime_current(&inode);
                told.store(stamp.to_ktime(), Ordering::Release);
            })
        };
        timekeeping.update_wall_time();
        let before = told.load(Ordering::Acquire);
        let inode = Inode::new(START);
        let stamp = Stamper::<_, B>::new(timekeeper, floor).inode_set_ctime_current(&inode);
        assert!(stamp.to_ktime() >= before, "out of order: {stamp:?} after {before}");
        first.join().expect("it ends");
    });
}

#[test]
fn loom_a_coarse_stamp_is_not_earlier_than_a_fine_one_before_it() {
    order_of_inodes::<MultigrainFloor>();
}

#[test]
fn loom_a_coarse_stamp_in_two_steps_is_not_earlier_either() {
    order_of_inodes::<Multigrain>();
}

#[test]
#[should_panic(expected = "out of order")]
fn loom_coarse_stamps_without_the_floor_are_found() {
    order_of_inodes::<Broken>();
}

/// Two cores change two files that were looked at, a third ticks and looks: no file goes back in time, and whoever
/// looked sees a later stamp after the change.
#[test]
fn loom_a_file_never_goes_back_in_time() {
    explore(3, || {
        let timekeeper = by_running();
        let mut timekeeping = Timekeeping::start(timekeeper);
        let floor: &'static CtimeFloor = &FLOOR;
        let other = thread::spawn(move || {
            let inode = Inode::new(START);
            inode.fill_mg_cmtime();
            Stamper::<_, MultigrainFloor>::new(timekeeper, floor).inode_set_ctime_current(&inode);
        });
        let stamper = Stamper::<_, MultigrainFloor>::new(timekeeper, floor);
        let inode = Inode::new(START);
        timekeeping.update_wall_time();
        let mut last = START;
        for _ in 0..2 {
            let stamp = stamper.inode_set_ctime_current(&inode);
            assert!(stamp > last, "{stamp:?} after {last:?} had been looked at");
            last = inode.fill_mg_cmtime();
            assert!(last >= stamp, "{last:?} after {stamp:?}");
        }
        other.join().expect("it ends");
    });
}

/// Two cores change one file at once after it was looked at, and somebody looks meanwhile.
#[test]
fn loom_a_stamp_is_set_once_and_whole() {
    explore(3, || {
        let timekeeper = by_running();
        let _timekeeping = Timekeeping::start(timekeeper);
        let floor: &'static CtimeFloor = &FLOOR;
        let inode = Arc::new(Inode::new(START));
        inode.fill_mg_cmtime();
        let change = |inode: Arc<Inode>| {
            move || {
                let stamp =
                    Stamper::<_, MultigrainFloor>::new(timekeeper, floor).inode_set_ctime_current(&inode);
                assert!(stamp > START, "the change does not show");
            }
        };
        let cores = [thread::spawn(change(Arc::clone(&inode))), thread::spawn(change(Arc::clone(&inode)))];
        let looked = inode.fill_mg_cmtime();
        for core in cores {
            core.join().expect("it ends");
        }
        assert!(inode.ctime().time >= looked.max(Timespec64 { tv_sec: 0, tv_nsec: 1 }));
    });
}
