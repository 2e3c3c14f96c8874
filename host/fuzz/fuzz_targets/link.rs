//! What the board sends.
#![no_main]

use ppsrig::formats::link::LinkDecoder;
use ppsrig::units::HostNanos;
use ppsrig_fuzz::same_at_any_read_size;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    same_at_any_read_size(
        data,
        LinkDecoder::new,
        |decoder, read| decoder.push(read, HostNanos(0)),
        |_| Vec::new(),
    );
});
