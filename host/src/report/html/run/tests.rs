use ppsrig_wire::EdgeMode;

use super::*;
use crate::analysis::synthetic::Scene;
use crate::analysis::{analyse, seconds};
use crate::bundle;
use crate::events::{Recording, RigEvent, Stamped};
use crate::report::html::testing::{HOSTILE, assert_inert};
use crate::units::HostNanos;

fn page_of(scene: &Scene, change: impl Fn(&mut RunRecord, &mut Recording)) -> String {
    let results = tempfile::tempdir().unwrap();
    let contents = bundle::read(&bundle::synthetic::write(scene, results.path())).unwrap();
    let (mut record, mut recording) = (contents.record.unwrap(), contents.recording);
    change(&mut record, &mut recording);
    let reference = seconds::recorded(&record, &recording);
    let analysis = analyse(&record, &recording, &reference);
    let page = run(&record, &analysis);
    assert_eq!(page, run(&record, &analysis), "the same bytes again");
    page
}

fn faulty() -> Scene {
    let mut scene = Scene::new(EdgeMode::Irq, 60, 500);
    scene.echo = true;
    scene.skipped = [3].into();
    scene.spurious_after = [9].into();
    scene.outage = 30..34;
    scene
}

fn warm(recording: &mut Recording, name: &str) {
    for turn in 0..6 {
        let event = RigEvent::Temperature { name: name.to_owned(), millicelsius: 41_000 + turn * 250 };
        let at = HostNanos(turn as u64 * 10_000_000_000);
        recording.rig.push(Stamped { at, event });
    }
    recording.rig.sort_by_key(|event| event.at);
}

#[test]
fn the_verdict_is_first_and_everything_that_shows_why_follows() {
    let page = page_of(&faulty(), |_, recording| warm(recording, "board"));
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is there"));
    let order = [
        "Verdict: failed",
        "1 edges missed, the limit is 0",
        "Exit status 1: a limit was exceeded",
        "class=\"label\">emulated",
        "Latencies: irq, tie echo",
        "Latency over time",
        "temperature board",
        "When the reference could not be trusted",
        "TDEV and MTIE of the captured edges",
        "What became of every edge",
        "The latest edges",
        "Edges that did not pair",
        "What U is made of",
        "Provenance",
    ];
    let places: Vec<usize> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("no capture within a quarter period") && page.contains("board 41."));
    assert!(page.matches("A good one:").count() >= 4, "a sentence beside each plot");
}

#[test]
fn what_is_not_known_is_said_in_words() {
    let mut scene = Scene::new(EdgeMode::Irq, 12, 500);
    scene.interval_counter = false;
    let page = page_of(&scene, |_, _| {});
    assert!(page.contains("Temperature: not recorded."), "{page}");
    assert!(page.contains("No TDEV and MTIE: "));
    assert!(page.contains("No edge has an absolute latency"));
    assert!(page.contains("no tie: against the session") && page.contains("later than the first, "));
}

#[test]
fn hostile_strings_of_instruments_files_and_boards_stay_text() {
    for hostile in HOSTILE {
        let page = page_of(&faulty(), |record, recording| {
            warm(recording, hostile);
            record.provenance.bench_file = hostile.to_owned();
            record.provenance.image = hostile.to_owned();
            record.conditions.generator = hostile.to_owned();
            record.conditions.bring_up = hostile.to_owned();
            let event =
                RigEvent::TemperatureUnreadable { name: hostile.to_owned(), reason: hostile.to_owned() };
            recording.rig.insert(0, Stamped { at: HostNanos(0), event });
            recording.incomplete.push(hostile.to_owned());
        });
        assert_inert(&page, hostile);
    }
}
