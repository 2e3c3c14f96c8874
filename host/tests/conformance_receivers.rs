//! The decoders against recordings of real instruments, whose right answers are known.
//!
//! The recordings belong to their authors and are no part of this repository: they are looked for in `shared/data`
//! beside it, or where `PPSRIG_SHARED_DATA` says. Run with `just conformance`, or `cargo test -p ppsrig --test
//! conformance_receivers -- --ignored`. Where they are absent each test counts as ignored and says `skipped`; the
//! built-in harness could only let it pass.

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};
use ppsrig::analysis::reference::{Demands, ReferenceState, ReferenceTimeline};
use ppsrig::bench_file::IntervalCounterDriver;
use ppsrig::events::{
    IntervalEvent, ReferenceEvent, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource, Trust,
};
use ppsrig::formats::interval_counter::IntervalCounterDecoder;
use ppsrig::formats::receiver::ReceiverDecoder;
use ppsrig::formats::utc::UtcTime;
use ppsrig::units::{GpsSecond, HostNanos, Nanos};

const READ_SIZES: [usize; 4] = [1, 3, 7, 64];
/// Seeds of reads of random sizes, 1 to 200 bytes.
const RANDOM_READS: [u64; 3] = [1, 2, 3];

/// A test over the collection in a folder.
type Test = fn(&Collection);

const TESTS: [(&str, Test); 9] = [
    ("u_blox_m8t", u_blox_m8t),
    ("u_blox_f9t", u_blox_f9t),
    ("trimble_resolution_smtx", trimble_resolution_smtx),
    ("a_pulse_that_is_37_us_off_is_refused", a_pulse_that_is_37_us_off_is_refused),
    ("firefly_ii", firefly_ii),
    ("meinberg_gps164", meinberg_gps164),
    ("hp_58534a_without_checksums", hp_58534a_without_checksums),
    ("sentences_split_at_odd_places", sentences_split_at_odd_places),
    ("ticc_loopback", ticc_loopback),
];

fn main() -> ExitCode {
    let trials =
        TESTS.map(|(name, test)| Trial::ignorable_test(name, move || Ok(run(test))).with_ignored_flag(true));
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

fn run(test: Test) -> Completion {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("PPSRIG_SHARED_DATA").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        return Completion::ignored_with("skipped: no ../shared/data");
    }
    test(&Collection { folder });
    Completion::Completed
}

struct Collection {
    folder: PathBuf,
}

impl Collection {
    /// A recording, without the header that its collector put before it.
    fn recording(&self, name: &str) -> Vec<u8> {
        let bytes = std::fs::read(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut rest = &bytes[..];
        while matches!(rest.first(), Some(b'#' | b'{')) {
            let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |index| index + 1);
            rest = &rest[end..];
        }
        rest.to_vec()
    }

    /// What a recording says, which must be the same at every read size.
    fn events(&self, name: &str, decoder: fn() -> ReceiverDecoder) -> Vec<ReferenceEvent> {
        let bytes = self.recording(name);
        let whole = decoded(decoder(), &bytes, bytes.len().max(1));
        for read_size in READ_SIZES {
            assert_eq!(decoded(decoder(), &bytes, read_size), whole, "{name} at read size {read_size}");
        }
        for seed in RANDOM_READS {
            let found = decoded_in(decoder(), random_reads(&bytes, seed));
            assert_eq!(found, whole, "{name} in reads of random sizes, seed {seed}");
        }
        whole
    }
}

fn decoded(decoder: ReceiverDecoder, bytes: &[u8], read_size: usize) -> Vec<ReferenceEvent> {
    decoded_in(decoder, bytes.chunks(read_size).collect())
}

fn decoded_in(mut decoder: ReceiverDecoder, reads: Vec<&[u8]>) -> Vec<ReferenceEvent> {
    let mut events: Vec<_> =
        reads.into_iter().zip(0..).flat_map(|(read, at)| decoder.push(read, HostNanos(at))).collect();
    events.extend(decoder.finish());
    events.into_iter().map(|stamped| stamped.event).collect()
}

fn random_reads(mut bytes: &[u8], mut state: u64) -> Vec<&[u8]> {
    let mut reads = Vec::new();
    while !bytes.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 1 + (state >> 33) as usize % 200;
        let (read, rest) = bytes.split_at(size.min(bytes.len()));
        reads.push(read);
        bytes = rest;
    }
    reads
}

fn states<'e>(events: &'e [ReferenceEvent]) -> Vec<&'e StateMessage> {
    let of = |event: &'e ReferenceEvent| match event {
        ReferenceEvent::State(state) => Some(state),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn messages(events: &[ReferenceEvent], source: TimeSource) -> Vec<TimeMessage> {
    let of = |event: &ReferenceEvent| match event {
        ReferenceEvent::Time(message) if message.source == source => Some(*message),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn refusals(events: &[ReferenceEvent]) -> Vec<String> {
    let of = |event: &ReferenceEvent| match event {
        ReferenceEvent::Refused { reason } => Some(reason.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn utc(year: i16, month: i8, day: i8, hour: u8, minute: u8, second: u8) -> GpsSecond {
    UtcTime { year, month, day, hour, minute, second }.gps_second().unwrap()
}

/// The messages name `count` seconds in a row from `first` on.
fn assert_consecutive(messages: &[TimeMessage], first: GpsSecond, count: usize) {
    let seconds: Vec<_> = messages.iter().map(|message| message.second.0).collect();
    let expected: Vec<_> = (first.0..).take(count).collect();
    assert_eq!(seconds, expected);
}

fn u_blox_m8t(collection: &Collection) {
    let events = collection.events("receivers/u-blox-m8t-time.log", ReceiverDecoder::ubx);
    let pulses = messages(&events, TimeSource::UbxTimTp);
    // Time of week 237870000 ms on UTC; the first NAV-TIMEUTC names 18:04:29, the pulse is the next one.
    assert_consecutive(&pulses, utc(2021, 2, 23, 18, 4, 30), 152);
    assert!(pulses.iter().all(|pulse| pulse.trust == Trust::Locked));
    let errors: Vec<_> = pulses.iter().map(|pulse| pulse.qerr_ps.expect("flags 0x0B: valid")).collect();
    assert_eq!(errors[..3], [-4331, 9862, 2873]);
    assert_eq!((errors.iter().min(), errors.iter().max()), (Some(&-10_158), Some(&10_086)));
    // 1511 whole frames, and 21 bytes of one more.
    assert_eq!(refusals(&events), ["21 bytes: the recording ends inside a UBX frame"]);
    let epochs = messages(&events, TimeSource::UbxNavTimeUtc);
    assert_consecutive(&epochs, utc(2021, 2, 23, 18, 4, 29), 151);
    assert!(epochs.iter().all(|epoch| epoch.trust == Trust::NotStated), "valid 0xF7");
    // Each TIM-TP names the second behind the epoch whose report follows it; the last one's was cut off.
    assert!(pulses.iter().zip(&epochs).all(|(pulse, epoch)| pulse.second == epoch.second.plus(1)));
}

fn u_blox_f9t(collection: &Collection) {
    let events = collection.events("receivers/ublox-zed-f9t-ubx_nmea_l5.log", ReceiverDecoder::ubx);
    let (rmc, zda) = (messages(&events, TimeSource::NmeaRmc), messages(&events, TimeSource::NmeaZda));
    assert_eq!((rmc.len(), zda.len()), (9, 9));
    assert_consecutive(&rmc, rmc[0].second, 9);
    assert_consecutive(&zda, rmc[0].second, 9);
    assert!(rmc.iter().all(|message| message.trust == Trust::Locked));
    assert!(messages(&events, TimeSource::UbxTimTp).is_empty());
    let pvt = messages(&events, TimeSource::UbxNavPvt);
    assert_consecutive(&pvt, rmc[0].second, 9);
    assert!(pvt.iter().all(|message| message.trust == Trust::Locked));
    assert!(refusals(&events).is_empty(), "{:?}", refusals(&events));
}

fn trimble_resolution_smtx(collection: &Collection) {
    let events = collection.events("receivers/trimble-smtx.log", ReceiverDecoder::tsip);
    let primary = messages(&events, TimeSource::TsipPrimary);
    // Time of week 72888 of week 2085: 20:14:48 GPS time, 18 s less in UTC.
    assert_consecutive(&primary, GpsSecond(2085 * 604_800 + 72_888), 30);
    assert_eq!(primary[0].second, utc(2019, 12, 22, 20, 14, 30));
    assert!(primary.iter().all(|message| message.scale == TimeScale::Gps));
    let offsets = events.iter().filter_map(|event| match event {
        ReferenceEvent::Leap(leap) => leap.gps_minus_utc,
        _ => None,
    });
    assert_eq!(offsets.collect::<Vec<_>>(), [18; 30]);
    let states = states(&events);
    assert_eq!(states.len(), 30);
    assert!(states.iter().all(|state| state.source == StateSource::TsipSupplemental));
    assert!(states.iter().all(|state| state.trust == Trust::Locked), "every alarm is 0: {states:?}");
    assert_eq!(states[0].offset_ps.map(|ps| (ps as f64 / 1e5).round() / 10.0), Some(37.4), "microseconds");
}

fn a_pulse_that_is_37_us_off_is_refused(collection: &Collection) {
    let bytes = collection.recording("receivers/trimble-smtx.log");
    let mut decoder = ReceiverDecoder::tsip();
    // About 100 bytes a second on the line.
    let events: Vec<_> = bytes
        .chunks(10)
        .zip(0..)
        .flat_map(|(read, index)| decoder.push(read, HostNanos(index * 100_000_000)))
        .collect();
    let end = events.last().expect("there are some").at;
    let state = |max_offset_ns: u32| {
        let demands = Demands { settle_s: 0, guard_s: 0, max_offset_ns };
        let timeline = ReferenceTimeline::new(&events, end, demands);
        let (state, reason) = timeline.state(Nanos::at(GpsSecond(2085 * 604_800 + 72_900)));
        (state, reason.to_owned())
    };
    let (refused, reason) = state(1000);
    assert_eq!(refused, ReferenceState::Unlocked);
    assert!(reason.contains("8F-AC") && reason.contains("max-offset-ns = 1000"), "{reason}");
    assert_eq!(state(50_000).0, ReferenceState::Locked, "the limit is the bench file's");
}

fn firefly_ii(collection: &Collection) {
    let events = collection.events("receivers/firefly-II.log", ReceiverDecoder::nmea);
    let first = utc(2010, 7, 8, 0, 59, 47);
    let (rmc, zda) = (messages(&events, TimeSource::NmeaRmc), messages(&events, TimeSource::NmeaZda));
    assert_consecutive(&rmc, first, 23);
    assert_consecutive(&zda, first, 23);
    assert_eq!(rmc[22].second, utc(2010, 7, 8, 1, 0, 9));
    assert!(rmc.iter().all(|message| message.trust == Trust::Locked));
    assert!(zda.iter().all(|message| message.trust == Trust::NotStated));
    let refusals = refusals(&events);
    assert_eq!(refusals.len(), 23, "{refusals:?}");
    assert!(refusals.iter().all(|reason| reason.starts_with("GPGGA: checksum")), "{refusals:?}");
}

fn meinberg_gps164(collection: &Collection) {
    let events = collection.events("receivers/meinberg-gps164.log", ReceiverDecoder::nmea);
    let rmc = messages(&events, TimeSource::NmeaRmc);
    let (valid, void): (Vec<_>, Vec<_>) =
        rmc.iter().copied().partition(|message| message.trust == Trust::Locked);
    assert_eq!((valid.len(), void.len()), (70, 20));
    assert!(void.iter().all(|message| message.trust == Trust::Unlocked));
    assert_consecutive(&rmc[..23], utc(2023, 12, 18, 22, 9, 52), 23);
    assert_consecutive(&void, utc(2023, 12, 18, 22, 10, 15), 20);
    assert_eq!(rmc[23], void[0], "the void ones follow the first 23");
    assert_eq!(events.len(), rmc.len(), "{:?}", refusals(&events));
}

fn hp_58534a_without_checksums(collection: &Collection) {
    let events = collection.events("receivers/hp58534a.log", ReceiverDecoder::nmea);
    let refusals = refusals(&events);
    assert!(!events.is_empty());
    assert_eq!(refusals.len(), events.len(), "nothing may be accepted");
    assert!(refusals.iter().all(|reason| reason.ends_with(": no checksum")), "{refusals:?}");
}

fn sentences_split_at_odd_places(collection: &Collection) {
    let events = collection.events("receivers/tcp-torture.log", ReceiverDecoder::nmea);
    let (rmc, zda) = (messages(&events, TimeSource::NmeaRmc), messages(&events, TimeSource::NmeaZda));
    assert_eq!((rmc.len(), zda.len()), (1, 1), "{events:?}");
    assert_eq!(rmc[0].second, utc(2007, 12, 23, 19, 32, 21));
    assert_eq!(zda[0].second, utc(2007, 12, 23, 19, 32, 23));
    assert!(!refusals(&events).is_empty(), "the recording begins inside a sentence");
}

fn ticc_loopback(collection: &Collection) {
    let bytes = collection.recording("counter/ticc_rev_d_loopback_chA_debug.txt");
    let stamps = |reads: Vec<&[u8]>| {
        let mut decoder = IntervalCounterDecoder::new(IntervalCounterDriver::Ticc, ['A', 'B'], false);
        let events = reads.into_iter().flat_map(|read| decoder.push(read, HostNanos(0)));
        let time = |event| match event {
            IntervalEvent::Stamp(stamp) => stamp.time.0,
            other => panic!("{other:?}"),
        };
        events.map(|stamped| time(stamped.event)).collect::<Vec<_>>()
    };
    let times = stamps(vec![&bytes]);
    for read_size in READ_SIZES {
        assert_eq!(stamps(bytes.chunks(read_size).collect()), times, "read size {read_size}");
    }
    for seed in RANDOM_READS {
        assert_eq!(stamps(random_reads(&bytes, seed)), times, "reads of random sizes, seed {seed}");
    }
    assert_eq!(times.len(), 1000);
    let intervals: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (gap, intervals) = intervals.split_last().unwrap();
    assert_eq!(*gap, 5_000_000_000_007);
    let off: Vec<_> = intervals.iter().map(|interval| interval - 1_000_000_000_000).collect();
    assert_eq!((off.iter().min(), off.iter().max()), (Some(&-273), Some(&226)));
    let mean = off.iter().sum::<i128>() as f64 / off.len() as f64;
    let variance = off.iter().map(|&off| (off as f64 - mean).powi(2)).sum::<f64>() / (off.len() - 1) as f64;
    assert!((mean - 0.012).abs() < 0.0005, "mean {mean} ps");
    assert!((variance.sqrt() - 72.0).abs() < 0.5, "standard deviation {} ps", variance.sqrt());
}
