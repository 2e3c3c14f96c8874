//! What a receiver sends: UBX frames and NMEA sentences, found in any bytes.
#![no_main]

use ppsrig::formats::receiver::ReceiverDecoder;
use ppsrig::units::HostNanos;
use ppsrig_fuzz::same_at_any_read_size;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for new in [ReceiverDecoder::nmea, ReceiverDecoder::ubx] {
        same_at_any_read_size(
            data,
            new,
            |decoder, read| decoder.push(read, HostNanos(0)),
            |decoder| decoder.finish(),
        );
    }
});
