//! edges.csv.
#![no_main]

use ppsrig::formats::series::Kind;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ppsrig_fuzz::series(data, &[Some(Kind::Edges)]));
