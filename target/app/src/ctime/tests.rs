//! The workload on threads of the host, with the host's clock as counter.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
    vec::Vec,
};

use super::*;
use crate::testing::{Host, HostArch, clocks, sources};

fn plan(variant: CtimeVariant, cores: u8, operations: u64) -> CtimePlan {
    CtimePlan { window: 1, variant, cores, operations, seed: 1 }
}

/// Runs a plan on threads while another one moves the coarse clock every millisecond.
fn run(plan: CtimePlan) -> Vec<CtimeCore> {
    let mut timekeeping = clocks(sources());
    let clocks = timekeeping.timekeeper();
    let (shared, stop) = (Shared::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                timekeeping.update_wall_time();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let shared = &shared;
        let cores: Vec<_> = (0..usize::from(plan.cores))
            .map(|core| scope.spawn(move || work(&plan, core, clocks, shared, &Host)))
            .collect();
        let cores = cores.into_iter().map(|core| core.join().unwrap()).collect();
        stop.store(true, Ordering::Relaxed);
        cores
    })
}

/// (operations, violations, fine-grained stamps) of all cores.
fn sums(cores: &[CtimeCore]) -> (u64, u64, u64) {
    let sum = |figure: fn(&CtimeCore) -> u64| cores.iter().map(figure).sum();
    (sum(|core| core.operations), sum(|core| core.ordering_violations), sum(|core| core.fine_stamps))
}

#[test]
fn coarse_stamps_alone_are_in_order_and_never_fine() {
    assert_eq!(sums(&run(plan(CtimeVariant::Coarse, 4, 400_000))), (400_000, 0, 0));
}

#[test]
fn both_multigrain_builds_hand_out_fine_stamps_in_order() {
    for variant in [CtimeVariant::Multigrain, CtimeVariant::MultigrainFloor] {
        let (operations, violations, fine) = sums(&run(plan(variant, 4, 400_000)));
        assert_eq!((operations, violations), (400_000, 0), "{variant:?}");
        assert!(fine > 100, "{variant:?}: {fine}");
    }
}

#[test]
fn the_broken_build_is_caught_on_one_core_and_on_four() {
    for cores in [1, 4] {
        let (_, violations, fine) = sums(&run(plan(CtimeVariant::Broken, cores, 100_000)));
        assert!(violations > 0 && fine > 0, "{cores} cores: {violations} violations, {fine} fine stamps");
    }
}

#[test]
fn shares_add_up_and_differ_by_at_most_one() {
    for (operations, cores) in [(10, 4), (4, 4), (1_000_003, 3), (7, 1)] {
        let plan = plan(CtimeVariant::Coarse, cores, operations);
        let shares: Vec<u64> = (0..usize::from(cores)).map(|core| share(&plan, core)).collect();
        assert_eq!(shares.iter().sum::<u64>(), operations);
        assert!(shares.windows(2).all(|two| two[0] == two[1] || two[0] == two[1] + 1));
    }
}

#[test]
fn what_a_pipe_takes_in_comes_out() {
    let mut pipe = Pipe { page: [0; PIPE_BYTES], at: 0 };
    for i in 0..20 {
        let mut out = [0; BYTES];
        pipe.write(&[i; BYTES]);
        pipe.read(&mut out);
        assert_eq!(out, [i; BYTES]);
    }
}

#[test]
fn every_core_does_something_else() {
    let (timekeeping, shared) = (clocks(sources()), Shared::new());
    let first = |core| {
        let plan = plan(CtimeVariant::Coarse, 4, 4);
        let mut worker: Worker<'_, HostArch, Coarse> =
            Worker::new(&plan, core, timekeeping.timekeeper(), &shared);
        worker.random.next()
    };
    let firsts: std::collections::BTreeSet<u64> = (0..4).map(first).collect();
    assert_eq!(firsts.len(), 4);
}
