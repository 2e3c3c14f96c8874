//! Every clock, in every build, follows a model in plain i128 arithmetic through any sequence of changes.
//!
//! The model keeps each time as one number, nanoseconds shifted left by the clocksource's `shift`, and drops what a
//! smaller shift cannot hold when the clocksource changes: nothing else may ever be lost.

use proptest::prelude::*;

use super::snapshots::{CORE, builds};
use crate::{
    ClockId, Clocksource, Timekeeper, Timespec64,
    testing::{TestArch, advance, arch_clock, other_clock, set_counters},
};

const AUX: ClockId = ClockId(21);

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u32, u32),
    Tick,
    Set(i64, u32),
    Sleep(i64),
    Suspend(u32, Option<u32>),
    Switch(bool),
    AuxEnable,
    AuxSet(i64, u32),
}

fn steps() -> impl Strategy<Value = std::vec::Vec<Step>> {
    let step = prop_oneof![
        4 => (0u32..1 << 20, 0u32..1 << 20).prop_map(|(arch, other)| Step::Advance(arch, other)),
        1 => any::<(u32, u32)>().prop_map(|(arch, other)| Step::Advance(arch, other)),
        2 => Just(Step::Tick),
        2 => (0i64..4_000_000_000, 0u32..1_000_000_000).prop_map(|(sec, nsec)| Step::Set(sec, nsec)),
        1 => (0i64..1 << 40).prop_map(Step::Sleep),
        1 => (0u32..1 << 30, any::<Option<u32>>()).prop_map(|(ticks, slept)| Step::Suspend(ticks, slept)),
        2 => any::<bool>().prop_map(Step::Switch),
        1 => Just(Step::AuxEnable),
        1 => (0i64..4_000_000_000, 0u32..1_000_000_000).prop_map(|(sec, nsec)| Step::AuxSet(sec, nsec)),
    ];
    prop::collection::vec(step, 0..24)
}

/// One time that advances with the counter.
#[derive(Clone, Copy, Debug, Default)]
struct Elapsed(i128);

impl Elapsed {
    fn advance(&mut self, clock: &Clocksource, ticks: u32) {
        self.0 += i128::from(ticks) * i128::from(clock.mult);
    }

    fn switch(&mut self, from: &Clocksource, to: &Clocksource) {
        self.0 = if to.shift < from.shift {
            self.0 >> (from.shift - to.shift)
        } else {
            self.0 << (to.shift - from.shift)
        };
    }

    fn ns(self, clock: &Clocksource) -> i64 {
        i64::try_from(self.0 >> clock.shift).expect("the steps stay within 292 years")
    }
}

/// The clocks, one after the other.
struct Model {
    clock: &'static Clocksource,
    mono: Elapsed,
    aux: Option<Elapsed>,
    coarse: i64,
    offs_real: i64,
    offs_boot: i64,
    offs_aux: i64,
}

impl Model {
    fn new(clock: &'static Clocksource) -> Self {
        let mono = Elapsed::default();
        Self { clock, mono, aux: None, coarse: 0, offs_real: 0, offs_boot: 0, offs_aux: 0 }
    }

    fn advance(&mut self, ticks: u32) {
        self.mono.advance(self.clock, ticks);
        if let Some(aux) = &mut self.aux {
            aux.advance(self.clock, ticks);
        }
    }

    fn accumulate(&mut self) {
        self.coarse = self.mono.ns(self.clock);
    }

    fn sleep(&mut self, ns: i64) {
        self.offs_real += ns;
        self.offs_boot += ns;
    }

    fn switch(&mut self, to: &'static Clocksource) {
        self.mono.switch(self.clock, to);
        if let Some(aux) = &mut self.aux {
            aux.switch(self.clock, to);
        }
        self.clock = to;
    }

    /// System and raw time.
    fn time(&self, clock_id: ClockId) -> Option<(i64, i64)> {
        let mono = self.mono.ns(self.clock);
        Some(match clock_id {
            ClockId::REALTIME => (mono + self.offs_real, mono),
            ClockId::BOOTTIME => (mono + self.offs_boot, mono),
            AUX => {
                let aux = self.aux?.ns(self.clock);
                (aux + self.offs_aux, aux)
            }
            _ => (mono, mono),
        })
    }
}

proptest! {
    #[test]
    fn every_clock_in_every_build_follows_the_sequential_model(
        start: (u64, u64),
        arch_hz in 781_250u32..=1_000_000_000,
        other_hz in 781_250u32..=100_000_000,
        steps in steps(),
    ) {
        set_counters(start.0, start.1);
        let clocks = [arch_clock(56, arch_hz), other_clock(64, other_hz)];
        let mut timekeeper = Timekeeper::<TestArch>::new(clocks[0]);
        let mut timekeeping = timekeeper.timekeeping_init();
        let mut model = Model::new(clocks[0]);
        let mut used = 0;
        for step in steps {
            match step {
                Step::Advance(arch, other) => {
                    advance(u64::from(arch), u64::from(other));
                    model.advance([arch, other][used]);
                }
                Step::Tick => {
                    timekeeping.update_wall_time();
                    model.accumulate();
                }
                Step::Set(tv_sec, tv_nsec) => {
                    let to = Timespec64 { tv_sec, tv_nsec };
                    let accepted = timekeeping.do_settimeofday64(to).is_ok();
                    prop_assert_eq!(accepted, to.to_ktime() >= model.mono.ns(model.clock));
                    if accepted {
                        model.accumulate();
                        model.offs_real = to.to_ktime() - model.coarse;
                    }
                }
                Step::Sleep(ns) => {
                    prop_assert!(timekeeping.timekeeping_inject_sleeptime64(ns).is_ok());
                    model.accumulate();
                    model.sleep(ns);
                }
                Step::Suspend(ticks, persistent) => {
                    timekeeping.timekeeping_suspend();
                    prop_assert!(!timekeeping.ktime_get_snapshot_id(ClockId::REALTIME).valid());
                    prop_assert_eq!(timekeeping.ktime_get(), model.mono.ns(model.clock));
                    advance(u64::from(ticks), u64::from(ticks));
                    timekeeping.timekeeping_resume(persistent.map(i64::from));
                    model.accumulate();
                    let mut slept = Elapsed::default();
                    slept.advance(model.clock, ticks);
                    let persistent = persistent.map_or(0, i64::from);
                    model.sleep(if used == 1 { slept.ns(model.clock) } else { persistent });
                }
                Step::Switch(other) => {
                    let to = usize::from(other);
                    prop_assert!(timekeeping.timekeeping_notify(clocks[to]).is_ok());
                    if to != used {
                        model.accumulate();
                        model.switch(clocks[to]);
                        used = to;
                    }
                }
                Step::AuxEnable => {
                    prop_assert!(timekeeping.aux_clock_enable(AUX).is_ok());
                    (model.aux, model.offs_aux) = (Some(Elapsed::default()), 0);
                }
                Step::AuxSet(tv_sec, tv_nsec) => {
                    let to = Timespec64 { tv_sec, tv_nsec };
                    prop_assert_eq!(timekeeping.aux_clock_set(AUX, to).is_ok(), model.aux.is_some());
                    model.offs_aux = model.aux.map_or(0, |aux| to.to_ktime() - aux.ns(model.clock));
                }
            }
            for clock_id in CORE.into_iter().chain([AUX]) {
                for snapshot in builds(&timekeeping, clock_id) {
                    let time = snapshot.valid().then_some((snapshot.systime, snapshot.monoraw));
                    prop_assert_eq!(time, model.time(clock_id), "{:?} after {:?}", clock_id, step);
                    prop_assert!(!snapshot.valid() || snapshot.cs_id == model.clock.id);
                }
            }
            prop_assert_eq!(timekeeping.ktime_get_coarse(), model.coarse);
            prop_assert_eq!(timekeeping.ktime_get_coarse_real(), model.coarse + model.offs_real);
            let now = model.time(ClockId::REALTIME).map(|time| Timespec64::from_ktime(time.0));
            prop_assert_eq!(Some(timekeeping.ktime_get_real_ts64()), now);
        }
    }

    #[test]
    fn a_floor_above_the_coarse_clock_is_returned_and_one_below_it_is_not(
        wall in 10_000_000_000i64..4_000_000_000_000_000_000,
        ticks in 0u32..1 << 30,
        floor in 0i64..1 << 34,
    ) {
        set_counters(0, 0);
        let mut timekeeper = Timekeeper::<TestArch>::new(arch_clock(56, 1_000_000_000));
        let mut timekeeping = timekeeper.timekeeping_init();
        prop_assert!(timekeeping.do_settimeofday64(Timespec64::from_ktime(wall)).is_ok());
        advance(u64::from(ticks), 0);
        timekeeping.update_wall_time();
        let expected = wall + i64::from(ticks).max(floor);
        let with_floor = timekeeping.ktime_get_coarse_real_ts64_with_floor(floor);
        prop_assert_eq!(with_floor, Timespec64::from_ktime(expected));
        prop_assert_eq!(crate::coarse_ctime(&timekeeping, floor), expected);
    }
}
