//! One UBX frame.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _event = ppsrig::formats::ubx::decode(data);
});
