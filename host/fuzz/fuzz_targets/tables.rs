//! Tables of figures, and the CSV files of a run that `compare` reads.
#![no_main]

use ppsrig::formats::{figure_table, run_csv};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for lenient in [false, true] {
        let _table = figure_table::parse(data, lenient);
        let _edges = run_csv::edges(data, lenient);
        let _summary = run_csv::summary(data, lenient);
    }
});
