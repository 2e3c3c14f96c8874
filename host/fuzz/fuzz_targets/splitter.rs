//! What a reference sends: UBX frames, NMEA sentences, TSIP packets and answers to commands, found in any bytes.
#![no_main]

use ppsrig::formats::receiver::ReceiverDecoder;
use ppsrig::units::HostNanos;
use ppsrig_fuzz::same_at_any_read_size;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let kinds: [fn() -> ReceiverDecoder; 5] = [
        ReceiverDecoder::nmea,
        ReceiverDecoder::ubx,
        ReceiverDecoder::tsip,
        ReceiverDecoder::hp_scpi,
        ReceiverDecoder::jackson,
    ];
    for new in kinds {
        same_at_any_read_size(
            data,
            new,
            |decoder, read| decoder.push(read, HostNanos(0)),
            |decoder| decoder.finish(),
        );
    }
});
