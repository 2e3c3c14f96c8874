//! A raw recording: what is read of it and written again is the same.
#![no_main]

use ppsrig::formats::raw_log::{append_record, header, parse};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for instrument in ["reference", "link", "rig"] {
        let Ok(log) = parse(data, instrument) else { continue };
        let mut written = header(instrument).into_bytes();
        for record in &log.records {
            append_record(&mut written, record.at, record.direction, &record.payload);
        }
        let again = parse(&written, instrument).expect("what we wrote is whole");
        assert_eq!((again.records, again.torn_tail_bytes), (log.records, 0));
    }
});
