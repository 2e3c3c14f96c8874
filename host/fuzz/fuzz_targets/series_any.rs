//! A file of a series of a kind that its content has to tell.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ppsrig_fuzz::series(data, &[None]));
