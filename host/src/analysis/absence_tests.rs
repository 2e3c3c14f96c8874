//! Recordings in which the port of an instrument was away for five seconds.

use ppsrig_wire::{EdgeMode, FromBoard};

use super::class::Class;
use super::edge::analyse;
use super::synthetic::Scene;
use crate::events::{BoardEvent, IntervalEvent, PortOwner, Recording, RigEvent, Stamped};
use crate::units::HostNanos;

const AWAY_NS: u64 = 5_000_000_000;

/// When the record of a capture of the measurement arrived.
fn arrival(recording: &Recording, wanted: u32) -> HostNanos {
    let is_it = |event: &&Stamped<BoardEvent>| {
        matches!(&event.event, BoardEvent::Frame { message: FromBoard::Capture(capture), .. }
            if (capture.window, capture.number) == (2, wanted))
    };
    recording.board.iter().find(is_it).expect("it was captured").at
}

/// Records that the port was away from shortly behind capture 10 on; returns from when to when.
fn absence(recording: &mut Recording, instrument: PortOwner) -> (HostNanos, HostNanos) {
    let from = HostNanos(arrival(recording, 10).0 + 400_000_000);
    let to = HostNanos(from.0 + AWAY_NS);
    let (port, reason) = ("/dev/serial/by-id/x".to_owned(), "end of file".to_owned());
    let vanished = RigEvent::PortVanished { port: port.clone(), instrument, reason };
    recording.rig.push(Stamped { at: from, event: vanished });
    let returned = RigEvent::PortReturned { port, instrument, after_ms: 5000 };
    recording.rig.push(Stamped { at: to, event: returned });
    recording.rig.sort_by_key(|event| event.at);
    (from, to)
}

fn lost_of<E>(events: &mut Vec<Stamped<E>>, (from, to): (HostNanos, HostNanos)) {
    events.retain(|event| event.at < from || event.at > to);
}

#[test]
fn records_that_nobody_could_receive_are_dropped_and_say_whose_port_was_away() {
    let scene = Scene::new(EdgeMode::Irq, 30, 1000);
    let mut recording = scene.recording();
    let away = absence(&mut recording, PortOwner::Link);
    lost_of(&mut recording.board, away);
    let torn = BoardEvent::Damaged { bytes: 9, reason: "bytes were lost or damaged on the link" };
    recording.board.push(Stamped { at: HostNanos(away.1.0 + 1), event: torn });
    recording.board.sort_by_key(|event| event.at);
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    let ledger = &analysis.edges;
    assert_eq!(ledger.imbalances(), Vec::<String>::new());
    assert_eq!(ledger.commanded.count(Class::Lost), 5);
    assert_eq!((ledger.captured.count(Class::Torn), ledger.captured.count(Class::Dropped)), (1, 4));
    assert_eq!(ledger.commanded.count(Class::Paired) + ledger.commanded.count(Class::Disturbed), 25);
    let dropped: Vec<_> = analysis.rows().filter(|row| row.class == Class::Dropped).collect();
    let why = "the port of the link to the board was away for 5.0 s (end of file)";
    assert!(dropped.iter().all(|row| row.reason.contains(why)), "{dropped:?}");
    assert!(analysis.sessions[0].disturbed.iter().any(|what| what == why));
}

#[test]
fn readings_of_a_counter_that_started_anew_belong_to_no_edge() {
    let mut scene = Scene::new(EdgeMode::Irq, 30, 1000);
    scene.echo = true;
    // The scale goes on, or is another one: by a whole number of periods, which would look like other edges, or not.
    for (moved_ps, with_reading) in [(0, 25), (-3_000_000_000_000, 11), (-3_300_000_000_000, 11)] {
        let mut recording = scene.recording();
        let away = absence(&mut recording, PortOwner::IntervalCounter);
        lost_of(&mut recording.interval, away);
        for event in recording.interval.iter_mut().filter(|event| event.at > away.1) {
            if let IntervalEvent::Stamp(stamp) = &mut event.event {
                stamp.time.0 += moved_ps;
            }
        }
        let analysis = analyse(&scene.record(), &recording, &scene.reference());
        assert_eq!(analysis.edges.imbalances(), Vec::<String>::new());
        assert_eq!(analysis.edges.commanded.count(Class::Paired), 30, "{moved_ps}");
        let found = analysis.rows().filter(|row| row.capture.is_some_and(|capture| capture.window == 2));
        assert_eq!(found.filter(|row| row.interval_ps.is_some()).count(), with_reading, "{moved_ps}");
    }
}
