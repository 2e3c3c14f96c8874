//! What an interval counter sends, whichever it is: what only talks, and what answers what it was asked.
#![no_main]

use ppsrig::formats::interval_counter::IntervalCounterDecoder;
use ppsrig::names::IntervalCounterDriver;
use ppsrig::units::HostNanos;
use ppsrig_fuzz::same_at_any_read_size;

/// Those that answer are asked for readings, and now and then for something else.
const ASKED: &[u8] = b"READ?\nDATA:REM? 100\nSTAT:QUES:EVEN?\n*IDN?\n";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for &driver in IntervalCounterDriver::ALL {
        for falling in [false, true] {
            let new = || {
                let mut decoder = IntervalCounterDecoder::new(driver, ['A', 'B'], falling);
                (0..16).for_each(|_| decoder.sent(ASKED));
                decoder
            };
            let push = |decoder: &mut IntervalCounterDecoder, read: &[u8]| decoder.push(read, HostNanos(0));
            same_at_any_read_size(data, new, push, |_| Vec::new());
        }
    }
});
