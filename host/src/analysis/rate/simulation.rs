//! Readings of counters whose rate is known, through the real estimator: whether its interval holds the truth, what is
//! named, and how often something is named that is not there. Fixed seeds.

use super::steps::{Search, StepKind, find};
use super::{Component, CounterRate, Reading, measure};
use crate::events::Burst;
use crate::units::PS_PER_S;

const HZ: f64 = 12_500_000.0;

/// SplitMix64.
struct Random(u64);

impl Random {
    /// Uniform, above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        ((crate::random::next(&mut self.0) >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// Seconds of each edge.
    WhitePhase(f64),
    /// Relative, of each second.
    WhiteFrequency(f64),
    /// Relative, from second to second.
    WalkOfFrequency(f64),
}

const NOISES: [Noise; 5] = [
    Noise::WhitePhase(200e-9),
    Noise::WhiteFrequency(1e-9),
    Noise::WhiteFrequency(1e-7),
    Noise::WalkOfFrequency(3e-11),
    Noise::WalkOfFrequency(1e-9),
];

/// The counter's time error at each of so many edges, one a second, and the relative frequency that it starts with.
fn phase(noise: Noise, count: usize, random: &mut Random) -> (Vec<f64>, f64) {
    let offset = 20e-6 * (random.uniform() - 0.5);
    let (mut phase, mut walk) = (random.uniform() / HZ, 0.0);
    let values = (0..count).map(|_| {
        let now = phase;
        phase += offset + walk;
        match noise {
            Noise::WhitePhase(sd) => now + sd * random.normal(),
            Noise::WhiteFrequency(sd) => {
                phase += sd * random.normal();
                now
            }
            Noise::WalkOfFrequency(sd) => {
                walk += sd * random.normal();
                now
            }
        }
    });
    (values.collect(), offset)
}

fn readings(phase: &[f64], period_ps: i128) -> Vec<Reading> {
    let of_edge = |(edge, error): (usize, &f64)| {
        let time_ps = edge as i128 * period_ps;
        let nominal = time_ps * 25_000_000 / PS_PER_S;
        let ticks = (nominal as f64 / 2.0 + error * HZ).floor();
        let (half_ticks, half_width) = (2 * ticks as i128, 0);
        Reading {
            edge: edge as u32,
            burst: Burst::Edges,
            half_ticks,
            half_width,
            time_ps,
            time_uncertainty: Some(Component::bound("", 0.0)),
        }
    };
    phase.iter().enumerate().map(of_edge).collect()
}

fn rate_of(readings: &[Reading]) -> CounterRate {
    measure(readings, "nominal", PS_PER_S, 1).unwrap()
}

#[test]
fn the_interval_of_the_rate_holds_the_truth() {
    for (count, runs) in [(600, 400), (3600, 150)] {
        for noise in NOISES {
            let mut random = Random(count as u64);
            let hits = (0..runs).filter(|_| {
                let (phase, offset) = phase(noise, count, &mut random);
                let rate = rate_of(&readings(&phase, PS_PER_S));
                assert!(rate.stability.is_some(), "{noise:?}");
                (rate.half_ticks as f64 / 2.0 / HZ / (rate.span_ps as f64 * 1e-12) - 1.0 - offset).abs()
                    <= rate.u_relative
            });
            let coverage = hits.count() as f64 / f64::from(runs);
            assert!(coverage >= 0.95, "{noise:?}, {count} s: {coverage}");
        }
    }
}

fn search(phase: &[f64]) -> Search {
    let readings = readings(phase, PS_PER_S);
    find(&readings, &rate_of(&readings), false)
}

/// The second before which the step comes, and what it is.
fn told(search: &Search) -> Vec<(u32, StepKind)> {
    search.steps.iter().map(|step| (step.edge, step.kind)).collect()
}

#[test]
fn fewer_than_one_clean_run_in_a_thousand_has_a_step() {
    let (mut runs, mut alarms) = (0, 0);
    for count in [100, 250, 400] {
        for noise in NOISES {
            let mut random = Random(7 * count as u64);
            for _ in 0..300 {
                runs += 1;
                alarms += usize::from(!search(&phase(noise, count, &mut random).0).steps.is_empty());
            }
        }
    }
    assert!(alarms * 1000 <= runs, "{alarms} of {runs}");
}

#[test]
fn lost_and_gained_counts_are_found_with_their_edge_and_their_number() {
    for (edge, ticks) in [(50, 60), (137, -45), (137, 1000), (250, -400)] {
        for noise in NOISES.into_iter().filter(|noise| *noise != Noise::WhiteFrequency(1e-7)) {
            let (mut phase, _) = phase(noise, 300, &mut Random(11));
            phase[edge as usize..].iter_mut().for_each(|error| *error += f64::from(ticks) / HZ);
            let search = search(&phase);
            let [(at, StepKind::Phase { ticks: found, .. })] = told(&search)[..] else {
                panic!("{noise:?}, {ticks} at {edge}: {search:?}");
            };
            assert!(at.abs_diff(edge) <= 2, "{noise:?}, {ticks} at {edge}: {at}");
            assert!((found - i128::from(ticks)).abs() <= 8, "{noise:?}, {ticks} at {edge}: {found}");
        }
    }
}

#[test]
fn two_phase_steps_are_both_found() {
    let (mut phase, _) = phase(Noise::WhitePhase(100e-9), 600, &mut Random(3));
    phase[200..].iter_mut().for_each(|error| *error += 500.0 / HZ);
    phase[417..].iter_mut().for_each(|error| *error -= 90.0 / HZ);
    let search = search(&phase);
    let edges: Vec<u32> = told(&search).iter().map(|(edge, _)| *edge).collect();
    assert!(edges.len() == 2 && edges[0].abs_diff(200) <= 1 && edges[1].abs_diff(417) <= 2, "{search:?}");
}

#[test]
fn a_changed_rate_is_found_with_its_time_and_both_rates() {
    for (edge, ppm) in [(120, 0.5), (200, -2.0), (200, 40.0), (280, 1.0)] {
        for noise in [Noise::WhitePhase(200e-9), Noise::WhiteFrequency(1e-9), Noise::WalkOfFrequency(3e-11)] {
            let (mut phase, offset) = phase(noise, 400, &mut Random(5));
            let behind = phase[edge..].iter_mut().enumerate();
            behind.for_each(|(after, error)| *error += ppm * 1e-6 * after as f64);
            let search = search(&phase);
            let [(at, StepKind::Frequency { before, after, ppm: found })] = told(&search)[..] else {
                panic!("{noise:?}, {ppm} ppm at {edge}: {search:?}");
            };
            assert!((found - ppm).abs() < 0.05 * ppm.abs() + 0.02, "{noise:?}, {ppm} ppm at {edge}: {found}");
            assert!((before.to_f64() / HZ - 1.0 - offset).abs() < 2e-8, "{before}");
            assert!((after.to_f64() / before.to_f64() - 1.0 - found * 1e-6).abs() < 1e-9, "{before} {after}");
            assert!(at.abs_diff(edge as u32) <= 8, "{noise:?}, {ppm} ppm at {edge}: {at}");
        }
    }
}

#[test]
fn on_an_emulated_board_a_step_under_fifty_milliseconds_is_a_stall() {
    let (mut phase, _) = phase(Noise::WhitePhase(200e-9), 300, &mut Random(3));
    phase[150..].iter_mut().for_each(|error| *error += 0.049);
    let of = |phase: &[f64]| {
        let readings = readings(phase, PS_PER_S);
        find(&readings, &rate_of(&readings), true).steps.len()
    };
    assert_eq!(of(&phase), 0);
    phase[150..].iter_mut().for_each(|error| *error += 0.002);
    assert_eq!(of(&phase), 1);
}

#[test]
fn lost_counts_are_in_the_uncertainty() {
    let (mut phase, offset) = phase(Noise::WhitePhase(100e-9), 300, &mut Random(3));
    phase[150..].iter_mut().for_each(|error| *error -= 500.0 / HZ);
    let readings = readings(&phase, PS_PER_S);
    let mut rate = rate_of(&readings);
    rate.allow_for(&find(&readings, &rate, false).steps);
    let off = rate.half_ticks as f64 / 2.0 / HZ / (rate.span_ps as f64 * 1e-12) - 1.0 - offset;
    assert!(rate.components.iter().any(|part| part.name == "steps of the counter"), "{rate:?}");
    assert!(off.abs() > 1e-7 && off.abs() <= rate.u_relative, "{off:e} {:e}", rate.u_relative);
}
