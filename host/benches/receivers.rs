//! Throughput of the decoders of what a reference sends: `cargo bench -p ppsrig --bench receivers`.
//!
//! Each decodes the same 8 MB again and again, in reads of 4096 bytes as a port delivers them, and prints the best and the
//! median of its rounds in MB/s (10^6 bytes). With `--require MB/S` it fails below that.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use ppsrig::formats::receiver::ReceiverDecoder;
use ppsrig::units::HostNanos;

const SIZE: usize = 8_000_000;
const READ: usize = 4096;
const ROUNDS: usize = 15;

const RMC: &[u8] = b"$GPRMC,005947.00,A,3715.6616,N,12157.6709,W,0.0,0.0,080710,,*2F\r\n";
const ZDA: &[u8] = b"$GPZDA,005947.00,08,07,2010,+00,00*4E\r\n";
const GSA: &[u8] = b"$GNGSA,A,3,,,,,,,,,,,,,1.12,0.62,0.94,5*0E\r\n";
const TIM_TP: &[u8] =
    b"\xb5\x62\x0d\x01\x10\x00\x98\x9f\x2d\x0e\x00\x00\x00\x00\x86\x26\x00\x00\x62\x08\x0b\x0f\xc0\x33";
const AB: &[u8] = b"\x10\x8f\xab\x00\x01\x1c\xb8\x08\x25\x00\x12\x00\x30\x0e\x14\x16\x0c\x07\xe3\x10\x03";

/// A UBX frame with the right checksum.
fn frame(class: u8, id: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xb5, 0x62, class, id];
    frame.extend((payload.len() as u16).to_le_bytes());
    frame.extend(payload);
    let (a, b) = frame[2..].iter().fold((0_u8, 0_u8), |(a, b), byte| {
        let a = a.wrapping_add(*byte);
        (a, b.wrapping_add(a))
    });
    frame.extend([a, b]);
    frame
}

/// NAV-SAT with this many satellites in use.
fn nav_sat(count: u8) -> Vec<u8> {
    let mut payload = vec![0, 0, 0, 0, 1, count, 0, 0];
    (0..count).for_each(|_| payload.extend([0, 1, 40, 45, 0, 0, 0, 0, 0x0f, 0, 0, 0]));
    frame(0x01, 0x35, &payload)
}

/// What a timing receiver says in a second: some 600 bytes.
fn ubx_second() -> Vec<u8> {
    let mut time_utc = vec![0; 4];
    time_utc.extend(20_u32.to_le_bytes());
    time_utc.extend(12_i32.to_le_bytes());
    time_utc.extend([0xea, 0x07, 11, 30, 1, 2, 3, 0xf7]);
    [TIM_TP.to_vec(), frame(0x01, 0x21, &time_utc), nav_sat(40)].concat()
}

fn repeated(unit: &[u8]) -> Vec<u8> {
    unit.iter().copied().cycle().take(SIZE / unit.len() * unit.len()).collect()
}

/// Seconds for each round, sorted.
fn rounds(bytes: &[u8], decoder: fn() -> ReceiverDecoder) -> Vec<f64> {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut decoder = decoder();
            let began = Instant::now();
            for (read, at) in bytes.chunks(READ).zip(0..) {
                black_box(decoder.push(black_box(read), HostNanos(at)));
            }
            black_box(decoder.finish());
            began.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--require").skip(1);
    let required: f64 = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
    type Case = (&'static str, Vec<u8>, fn() -> ReceiverDecoder);
    let cases: [Case; 6] = [
        ("NMEA, RMC and ZDA", [RMC, ZDA].concat(), ReceiverDecoder::nmea),
        ("NMEA, with other sentences", [RMC, ZDA, GSA, GSA, GSA, GSA].concat(), ReceiverDecoder::nmea),
        ("UBX, TIM-TP alone", TIM_TP.to_vec(), ReceiverDecoder::ubx),
        ("UBX, a second of a timing receiver", ubx_second(), ReceiverDecoder::ubx),
        ("UBX and NMEA", [&ubx_second(), RMC, ZDA].concat(), ReceiverDecoder::ubx),
        ("TSIP, 8F-AB", AB.to_vec(), ReceiverDecoder::tsip),
    ];
    let mut slow = false;
    for (name, unit, decoder) in cases {
        let bytes = repeated(&unit);
        let times = rounds(&bytes, decoder);
        let rate = |seconds: f64| bytes.len() as f64 / seconds / 1e6;
        let (best, median) = (rate(times[0]), rate(times[ROUNDS / 2]));
        println!("{name:<36} best {best:>7.1} MB/s  median {median:>7.1} MB/s");
        slow |= best < required && !name.starts_with("TSIP");
    }
    if slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
