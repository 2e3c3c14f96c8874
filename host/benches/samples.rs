//! What reading samples costs: a million pairs from memory as CSV and as a spool, into exact histograms.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ppsrig::analysis::samples::{Collector, SessionSamples};
use ppsrig::bundle::read_from;
use ppsrig::formats::spool::{Header, SpoolWriter};
use ppsrig::samples::SampleKey;

const PAIRS: u64 = 1_000_000;

/// A loop of some 320 ticks, and 0 or 1 tick later.
fn pairs() -> impl Iterator<Item = (u64, u64)> {
    let mut state = 1_u64;
    let mut pre = 123_456_789_012_u64;
    (0..PAIRS).map(move |_| {
        // Knuth's MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pre += 300 + (state >> 59);
        (pre, pre + ((state >> 40) & 1))
    })
}

fn csv() -> Vec<u8> {
    let mut text = String::from("session,variant,clock_id,seq,counter_pre,counter_snapshot\n");
    for (seq, (pre, snapshot)) in pairs().enumerate() {
        text.push_str(&format!("1,inline,realtime,{seq},{pre},{snapshot}\n"));
    }
    text.into_bytes()
}

fn spool() -> Vec<u8> {
    let key = SampleKey { session: 1, variant: "inline".to_owned(), clock_id: "realtime".to_owned() };
    let mut spool = SpoolWriter::new(Vec::new(), Header::default()).expect("memory takes everything");
    spool.session(&key).expect("the names fit");
    pairs().for_each(|(pre, snapshot)| spool.pair(pre, snapshot).expect("memory takes everything"));
    spool.finish().expect("memory takes everything")
}

fn read(bytes: &[u8]) -> Vec<SessionSamples> {
    let mut collector = Collector::default();
    read_from(&mut black_box(bytes), Path::new("memory"), false, &mut collector).expect("it is sound");
    collector.finish().expect("it is one session")
}

fn samples(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("samples");
    group.throughput(Throughput::Elements(PAIRS)).sample_size(20);
    for (name, bytes) in [("csv", csv()), ("spool", spool())] {
        group.bench_function(name, |bencher| bencher.iter(|| read(&bytes)));
    }
    group.finish();
}

criterion_group!(benches, samples);
criterion_main!(benches);
