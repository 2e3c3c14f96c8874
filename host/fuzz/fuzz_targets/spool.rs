//! pairs.spool. Its sums are put right first, since no chance finds them: what they guard is what is to be tried.
#![no_main]

use ppsrig::formats::spool::Spool;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for bytes in [data.to_vec(), ppsrig_fuzz::spool_with_sums(data)] {
        for lenient in [false, true] {
            ppsrig_fuzz::samples(&bytes, |reads, collector| {
                let mut reader = Spool::new(lenient);
                for read in reads {
                    reader.push(read, collector)?;
                }
                reader.finish()
            });
        }
    }
});
