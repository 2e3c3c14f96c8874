//! Logs of a TICC, in its three modes.
#![no_main]

use ppsrig::formats::series::Kind;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ppsrig_fuzz::series(
    data,
    &[Some(Kind::TiccTimestamp), Some(Kind::TiccInterval), Some(Kind::TiccPeriod)]
));
