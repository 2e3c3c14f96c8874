//! What a SCPI instrument answers, each line taken for all that it could be.
#![no_main]

use ppsrig::formats::scpi::{LineDecoder, flag, identity, queue_entry, scaled};
use ppsrig::units::HostNanos;
use ppsrig_fuzz::{payload, same_at_any_read_size};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    same_at_any_read_size(
        data,
        LineDecoder::new,
        |decoder, read| decoder.push(read, HostNanos(0)),
        |_| Vec::new(),
    );
    for answer in LineDecoder::new().push(&payload(data), HostNanos(0)) {
        let answer = answer.event;
        let _read = (flag(&answer).ok(), identity(&answer).ok(), queue_entry(&answer).ok());
        let _scaled = [-12, 0, 9].map(|decimals| scaled(&answer, decimals).ok());
    }
});
