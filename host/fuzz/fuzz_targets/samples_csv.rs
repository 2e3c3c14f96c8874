//! pairs.csv, samples.csv, and tables with their columns.
#![no_main]

use ppsrig::formats::samples_csv::SamplesCsv;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for lenient in [false, true] {
        ppsrig_fuzz::samples(data, |reads, collector| {
            let mut reader = SamplesCsv::new(lenient);
            for read in reads {
                reader.push(read, collector)?;
            }
            reader.finish()
        });
    }
});
