//! What the deviations cost: one call each, over a million points at octave averaging times.
//!
//! `cargo bench -p ppsrig --bench stability`; a part of a name after it picks. Each deviation runs with the best
//! instructions of the machine and with those that every machine has; MTIE also over a pure drift, where no window can be
//! left out.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ppsrig::analysis::stability::{Deviation, Instructions, Prepared, Taus, estimates, taus};
use ppsrig::series::{Phase, Series};

const POINTS: usize = 1_000_000;

/// White phase noise of 5 ns, white frequency noise of 1e-10 and a daily wave of 100 ns.
fn noisy() -> Series {
    let mut state = 1_u64;
    let mut even = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut walk = 0.0;
    let values = (0..POINTS)
        .map(|i| {
            // Twelve even numbers add up to a normal one of variance 1.
            let normal: f64 = (0..12).map(|_| even()).sum();
            walk += 1e-10 * (0..12).map(|_| even()).sum::<f64>();
            5e-9 * normal + walk + 1e-7 * (i as f64 * std::f64::consts::TAU / 86_400.0).sin()
        })
        .collect();
    Series { phase: Phase::Seconds(values), tau0_s: 1.0, missing: 0 }
}

/// A millionth of frequency offset and nothing else.
fn drifting() -> Series {
    let values = (0..POINTS).map(|i| i as f64 * 1e-6).collect();
    Series { phase: Phase::Seconds(values), tau0_s: 1.0, missing: 0 }
}

/// The look at the series is part of the call.
fn call(series: &Series, deviation: Deviation, instructions: Instructions) {
    let factors = taus(Taus::Octave, deviation, series.phase.len());
    let phase = Prepared::new(series).expect("a series").with(instructions);
    black_box(estimates(deviation, &phase, &factors));
}

fn stability(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stability");
    group.sample_size(20).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    group.throughput(Throughput::Elements(POINTS as u64));
    let series = noisy();
    let ours = [Deviation::Oadev, Deviation::Mdev, Deviation::Ohdev, Deviation::Mtie, Deviation::Totdev];
    for deviation in ours {
        for (name, instructions) in [("best", Instructions::best()), ("scalar", Instructions::Scalar)] {
            group.bench_function(format!("{deviation}/{name}"), |bencher| {
                bencher.iter(|| call(&series, deviation, instructions));
            });
        }
    }
    let series = drifting();
    group.bench_function("mtie/drift", |bencher| {
        bencher.iter(|| call(&series, Deviation::Mtie, Instructions::best()));
    });
    group.finish();
}

criterion_group!(benches, stability);
criterion_main!(benches);
