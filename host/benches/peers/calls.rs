//! The calls that `compare.py` measures beside those of other programs: each reads its input, makes one call, and prints one
//! JSON object with the CPU seconds of that call and what came of it.
//!
//! `calls samples FILE` reads samples as every subcommand does; `calls csv-crate FILE` reads the same file with the csv
//! crate's ByteRecord and an integer parser of its own, the usual way to do it in Rust. `calls stability FILE DEV TAUS
//! LEVEL` takes phase in seconds (f64, little-endian, a second apart), and computes one deviation at `octave`, `decade`
//! or `all` averaging times, or at those up to M points (`octave:M`), with the `best` instructions or the `scalar` ones.

use std::error::Error;
use std::path::Path;

use ppsrig::analysis::path::histogram::Histogram;
use ppsrig::analysis::samples::Collector;
use ppsrig::analysis::stability::{Deviation, Instructions, Prepared, Taus, estimates, taus};
use ppsrig::series::{Phase, Series};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// CPU seconds of this process so far.
fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = match arguments.as_slice() {
        ["samples", file] => samples(file)?,
        ["csv-crate", file] => csv_crate(file)?,
        ["stability", file, deviation, taus, level] => stability(file, deviation, taus, level)?,
        _ => return Err("give `samples FILE`, `csv-crate FILE` or `stability FILE DEV TAUS LEVEL`".into()),
    };
    println!("{said}");
    Ok(())
}

fn stability(file: &str, deviation: &str, which: &str, level: &str) -> Result<Value, Box<dyn Error>> {
    let unknown = || format!("no deviation `{deviation}`");
    let deviation = Deviation::ALL.iter().find(|one| one.name() == deviation).copied().ok_or_else(unknown)?;
    let (name, most) = which.split_once(':').unwrap_or((which, ""));
    let most = if most.is_empty() { usize::MAX } else { most.parse()? };
    let which = match name {
        "octave" => Taus::Octave,
        "decade" => Taus::Decade,
        "all" => Taus::All,
        _ => return Err(format!("no taus `{name}`").into()),
    };
    let instructions = match level {
        "best" => Instructions::best(),
        "scalar" => Instructions::Scalar,
        _ => return Err(format!("no level `{level}`").into()),
    };
    let series = Series { phase: Phase::Seconds(read_f64(file)?), tau0_s: 1.0, missing: 0 };
    let began = cpu_s();
    let phase = Prepared::new(&series)?.with(instructions);
    let factors: Vec<usize> =
        taus(which, deviation, phase.len()).into_iter().filter(|m| *m <= most).collect();
    let values = estimates(deviation, &phase, &factors);
    let cpu_s = cpu_s() - began;
    // Powers of two will do to compare.
    let rows: Vec<Value> = factors
        .iter()
        .zip(values)
        .filter(|(m, _)| m.is_power_of_two())
        .filter_map(|(m, value)| value.map(|value| json!({"m": m, "n": value.n, "value": value.value})))
        .collect();
    Ok(
        json!({"cpu_s": cpu_s, "instructions": format!("{instructions:?}"), "taus": factors.len(), "rows": rows}),
    )
}

fn read_f64(file: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file)?);
    let mut values = Vec::with_capacity(usize::try_from(file.get_ref().metadata()?.len() / 8)?);
    let mut bytes = [0; 8];
    while std::io::Read::read_exact(&mut file, &mut bytes).is_ok() {
        values.push(f64::from_le_bytes(bytes));
    }
    Ok(values)
}

fn samples(file: &str) -> Result<Value, Box<dyn Error>> {
    let began = cpu_s();
    let mut collector = Collector::default();
    ppsrig::bundle::read_samples(Path::new(file), false, &mut collector)?;
    let sessions = collector.finish()?;
    let all: Vec<Histogram> = sessions.iter().map(|session| session.histogram()).collect();
    Ok(figures(&Histogram::of_all(&all), cpu_s() - began))
}

fn csv_crate(file: &str) -> Result<Value, Box<dyn Error>> {
    let began = cpu_s();
    let mut reader = csv::Reader::from_path(file)?;
    let place = |headers: &csv::ByteRecord, names: &[&str]| {
        headers.iter().position(|header| names.iter().any(|name| name.as_bytes() == header))
    };
    let headers = reader.byte_headers()?.clone();
    let pre = place(&headers, &["counter_pre"]).ok_or("no counter_pre")?;
    let snapshot = place(&headers, &["counter_snapshot", "counter_snap"]).ok_or("no counter_snapshot")?;
    let mut counts = vec![0_u64; 1 << 16];
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        let number = |field| record.get(field).and_then(digits).ok_or("no whole number");
        let ticks = number(snapshot)?.checked_sub(number(pre)?).ok_or("backwards")?;
        *counts.get_mut(ticks as usize).ok_or("too long")? += 1;
    }
    let mut all = Histogram::default();
    (0..).zip(&counts).for_each(|(ticks, count)| all.add(ticks, *count));
    Ok(figures(&all, cpu_s() - began))
}

fn digits(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(digit.into()) }
    })
}

fn figures(all: &Histogram, cpu_s: f64) -> Value {
    json!({
        "cpu_s": cpu_s,
        "n": all.total(),
        "mean_ticks": all.mean(),
        "sd_ticks": all.deviation(),
        "max_ticks": all.most(),
    })
}
