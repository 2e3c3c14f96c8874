//! Writes a synthetic recording as a bundle, in the bytes that the instruments would have sent.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use ppsrig_wire::frame::{MAX_FRAME, encode};

use super::{Bundle, RawFile, RawFiles};
use crate::analysis::synthetic::{FIRST_HOST_NS, FIRST_SECOND, Scene};
use crate::events::{BoardEvent, IntervalChannel, IntervalEvent, IntervalStamp, Recording};
use crate::formats::raw_log::Direction;
use crate::plan::RunRecord;
use crate::units::HostNanos;

const SECOND: i64 = 1_000_000_000;
/// 1980-01-06T00:00:00 UTC as Unix time, less the 18 s by which GPST is ahead of UTC.
const GPS_EPOCH_UNIX: i64 = 315_964_800 - 18;

/// Writes the bundle into `results`, and returns its folder.
pub(crate) fn write(scene: &Scene, results: &Path) -> PathBuf {
    let recording = scene.recording();
    let (bundle, mut raw) = begun(&scene.record(), &recording, results);
    interval_counter(&recording, &mut raw.interval_counter);
    reference(scene, &recording, &mut raw.reference);
    raw.generator.record(HostNanos(1), Direction::Tx, b"*IDN?\n").expect("generator.log");
    bundle.dir().to_owned()
}

/// Writes a bundle of a run that needs nothing but the board, and returns its folder.
pub(crate) fn write_board_only(record: &RunRecord, recording: &Recording, results: &Path) -> PathBuf {
    let (bundle, _) = begun(record, recording, results);
    bundle.dir().to_owned()
}

/// A bundle with what rig and board recorded.
fn begun(record: &RunRecord, recording: &Recording, results: &Path) -> (Bundle, RawFiles) {
    let started: Timestamp = "2026-11-30T12:00:00Z".parse().expect("a time");
    let (bundle, mut raw) = Bundle::create(results, "synthetic", started).expect("a new bundle");
    bundle.write_record(record).expect("run.toml");
    for event in &recording.rig {
        let line = serde_json::to_vec(&event.event).expect("an event is JSON");
        raw.rig.record(event.at, Direction::Did, &line).expect("rig.log");
    }
    link(recording, &mut raw.link);
    (bundle, raw)
}

fn link(recording: &Recording, log: &mut RawFile) {
    for event in &recording.board {
        let bytes = match &event.event {
            BoardEvent::Frame { sequence, message } => {
                let mut out = [0; MAX_FRAME];
                let length = encode(*sequence, message, &mut out).expect("it fits");
                out[..length].to_vec()
            }
            BoardEvent::Damaged { .. } => b"\x07torn!\x00".to_vec(),
        };
        log.record(event.at, Direction::Rx, &bytes).expect("link.log");
    }
}

fn interval_counter(recording: &Recording, log: &mut RawFile) {
    log.record(HostNanos(0), Direction::Rx, b"# synthetic TICC\r\n").expect("interval-counter.log");
    for event in &recording.interval {
        let IntervalEvent::Stamp(IntervalStamp { channel, time, half_width }) = event.event else { continue };
        let letter = if channel == IntervalChannel::A { 'A' } else { 'B' };
        let seconds = |ps: i128| format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000);
        let mut text =
            half_width.map_or_else(String::new, |width| format!("# +/- {} ch{letter}\r\n", seconds(width.0)));
        text.push_str(&format!("{} ch{letter}\r\n", seconds(time.0)));
        log.record(event.at, Direction::Rx, text.as_bytes()).expect("interval-counter.log");
    }
}

/// TIM-TP 80 ms after the pulse before the one that it names, RMC 120 ms after the pulse that it names.
fn reference(scene: &Scene, recording: &Recording, log: &mut RawFile) {
    let end = crate::analysis::synthetic::end(recording);
    let outage = scene.outage_seconds();
    for second in -3.. {
        let pulse = FIRST_HOST_NS + second * SECOND;
        let named = FIRST_SECOND + second;
        let host = |after: i64| HostNanos(u64::try_from(pulse + after).expect("time is positive"));
        if host(0) >= end {
            break;
        }
        let locked = |second: i64| !outage.contains(&second);
        log.record(host(80_000_000), Direction::Rx, &tim_tp(named + 1, locked(named + 1)))
            .expect("reference.log");
        log.record(host(120_000_000), Direction::Rx, rmc(named, locked(named)).as_bytes())
            .expect("reference.log");
    }
}

fn tim_tp(second: i64, locked: bool) -> Vec<u8> {
    let mut frame = vec![0xb5, 0x62, 0x0d, 0x01, 16, 0];
    frame.extend(((second % 604_800) as u32 * 1000).to_le_bytes());
    frame.extend(0u32.to_le_bytes());
    frame.extend(((second * 37 % 8001) as i32 - 4000).to_le_bytes());
    frame.extend(((second / 604_800) as u16).to_le_bytes());
    frame.extend([if locked { 0 } else { 1 << 5 }, 0]);
    let (mut a, mut b) = (0u8, 0u8);
    for &byte in &frame[2..] {
        a = a.wrapping_add(byte);
        b = b.wrapping_add(a);
    }
    frame.extend([a, b]);
    frame
}

fn rmc(second: i64, locked: bool) -> String {
    let utc = Timestamp::from_second(GPS_EPOCH_UNIX + second).expect("a date");
    let status = if locked { 'A' } else { 'V' };
    let body = format!(
        "GNRMC,{},{status},4717.11,N,00833.91,E,0.0,0.0,{},,,A",
        utc.strftime("%H%M%S.00"),
        utc.strftime("%d%m%y")
    );
    let checksum = body.bytes().fold(0, |sum, byte| sum ^ byte);
    format!("${body}*{checksum:02X}\r\n")
}
