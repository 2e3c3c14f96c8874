//! One NMEA sentence.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _event = ppsrig::formats::nmea::decode(data);
});
