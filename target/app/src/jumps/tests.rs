//! The trial on threads of the host, and that its check can fail.

use std::{sync::Mutex, thread};

use super::*;
use crate::testing::{Host, HostArch, clocks, sources};

fn plan(cores: u8, ticks: u64) -> JumpsPlan {
    JumpsPlan { window: 1, cores, ticks, seed: 1 }
}

#[test]
fn no_snapshot_mixes_states_while_clocks_are_changed_under_load() {
    let (plan, sources) = (plan(3, 300_000_000), sources());
    let mut timekeeping = clocks(sources);
    let shared = Shared::new();
    prepare(&mut timekeeping, &shared);
    let clocks = timekeeping.timekeeper();
    let timekeeping = Mutex::new(timekeeping);
    let mut done = thread::scope(|scope| {
        let shared = &shared;
        let others: [_; 2] = [1, 2].map(|core| scope.spawn(move || read(&plan, core, clocks, shared)));
        let mut done =
            change(&plan, clocks, sources, shared, &Host, |change| change(&mut timekeeping.lock().unwrap()));
        for other in others {
            done.cores.push(other.join().unwrap()).unwrap();
        }
        done
    });
    assert!(done.sets > 10 && done.suspends > 10 && done.switches > 10, "{done:?}");
    assert!(done.cores[0].suspended > 0, "the changing core reads in suspend: {done:?}");
    done.cores.iter_mut().for_each(|core| assert!(core.snapshots > 1000 && core.violations == 0, "{core:?}"));
}

#[test]
fn a_snapshot_that_mixes_two_states_is_seen() {
    let sources = sources();
    let mut timekeeping = clocks(sources);
    let shared = Shared::new();
    prepare(&mut timekeeping, &shared);
    let clocks = timekeeping.timekeeper();
    let mut reader: Reader<'_, HostArch> = Reader::new(&plan(1, 0), 0, clocks, &shared);
    let good = clocks.ktime_get_snapshot_id(ClockId::REALTIME);
    reader.last_raw = good.monoraw;
    assert!(reader.belongs_to_one_state(ClockId::REALTIME, &good));
    shared.remember(good.clock_was_set_seq.wrapping_add(1), 2);
    let bad = [
        SystemTimeSnapshot { clock_was_set_seq: good.clock_was_set_seq.wrapping_add(1), ..good },
        SystemTimeSnapshot { systime: good.systime + ERA, ..good },
        SystemTimeSnapshot { cs_was_changed_seq: good.cs_was_changed_seq.wrapping_add(1), ..good },
        SystemTimeSnapshot { cs_id: OTHER_ID, ..good },
        SystemTimeSnapshot { cycles: good.cycles + OTHER_OFFSET, ..good },
        SystemTimeSnapshot { monoraw: good.monoraw - 1, ..good },
    ];
    for snapshot in bad {
        assert!(!reader.belongs_to_one_state(ClockId::REALTIME, &snapshot), "{snapshot:?}");
    }
    let raw = SystemTimeSnapshot { systime: good.monoraw + 1, ..good };
    assert!(!reader.belongs_to_one_state(ClockId::MONOTONIC_RAW, &raw));
}
