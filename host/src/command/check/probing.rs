//! The instruments in turn: each is opened, asked, and closed again.

use std::time::Duration;

use ppsrig_wire::{Capabilities, Identity};

use super::findings::Findings;
use crate::bench_file::{BenchFile, EdgeTiming, PortSettings, ReferenceDriver};
use crate::events::Trust;
use crate::rig::generator::{self, GeneratorError};
use crate::rig::image::Image;
use crate::rig::interval_counter::IntervalCounter;
use crate::rig::link::Link;
use crate::rig::port::{Port, PortError};
use crate::rig::probe::lock::ProbeLock;
use crate::rig::probe::{self, Load, Performed, Target, Task};
use crate::rig::recorder::Recorder;
use crate::rig::reference::Reference;
use crate::rig::watch::{Deadline, Watch};

const FIRST_MESSAGE: Duration = Duration::from_secs(10);
/// Receivers that state their trust do so once a second.
const TRUST_STATED: Duration = Duration::from_secs(3);
const READINGS: Duration = Duration::from_secs(3);

/// Looks at every instrument, as long as there is time.
pub(super) fn probe(bench: &BenchFile, deadline: Deadline, watch: &Watch, findings: &mut Findings) {
    type Look = fn(&BenchFile, &Watch, &mut Findings);
    let looks: [(&str, Look); 4] = [
        ("board", board),
        ("generator", generator),
        ("reference", reference),
        ("interval counter", interval_counter),
    ];
    for (instrument, look) in looks {
        if deadline.passed() || watch.check().is_err() {
            findings.not_checked(instrument, "the time for the whole check is over");
        } else {
            look(bench, watch, findings);
        }
    }
}

fn open(settings: &PortSettings, watch: &Watch) -> Result<Port, PortError> {
    Port::open_with(settings, Recorder::new(watch).no_log())
}

fn board(bench: &BenchFile, watch: &Watch, findings: &mut Findings) {
    let image = match Image::read(&bench.board.image) {
        Ok(image) => image,
        Err(error) => {
            findings.unusable("image", error.to_string());
            return findings.not_checked("board", "there is no image to load");
        }
    };
    findings.good("image", format!("{} bytes, sha256 {}", image.bytes(), &image.sha256[..16]));
    let target = Target { selector: bench.board.probe.clone(), chip: bench.board.chip.clone() };
    let _lock = match ProbeLock::acquire(&target.selector) {
        Ok(lock) => lock,
        Err(error) => return findings.unusable("probe", error.to_string()),
    };
    match probe::perform(&Task::Attach(target.clone()), watch, &mut |_| {}) {
        Ok(Performed { report, .. }) => {
            let ms = report.attach_ns as f64 / 1e6;
            findings.good("probe", format!("{} attached in {ms:.0} ms", target.selector));
        }
        Err(error) => {
            findings.unusable("probe", error.to_string());
            return findings.not_checked("link", "the board cannot be loaded");
        }
    }
    // The link is open before the board starts: its first bytes count.
    let port = match open(&bench.board.link_settings(), watch) {
        Ok(port) => port,
        Err(error) => return findings.unusable("link", error.to_string()),
    };
    let task = Task::Load { target, load: Load::plain(bench.board.image.clone()) };
    match probe::perform(&task, watch, &mut |_| {}) {
        Ok(Performed { report, .. }) => {
            findings.good(
                "load",
                format!("{} bytes loaded and verified, started at {:#x}", report.bytes, report.entry),
            );
        }
        Err(error) => return findings.unusable("load", error.to_string()),
    }
    match Link::new(port).identify(watch) {
        Ok(identity) => identified(bench, &identity, findings),
        Err(error) => findings.unusable("link", error.to_string()),
    }
}

fn identified(bench: &BenchFile, identity: &Identity, findings: &mut Findings) {
    let has = |capability| identity.capabilities.has(capability);
    let can: Vec<_> = [
        (Capabilities::EDGE_IRQ, "irq"),
        (Capabilities::EDGE_POLL, "poll"),
        (Capabilities::ECHO, "echo"),
        (Capabilities::EMULATED, "emulated"),
    ]
    .into_iter()
    .filter_map(|(capability, name)| has(capability).then_some(name))
    .collect();
    findings.good(
        "link",
        format!(
            "board {}, firmware {}, protocol {}, EL{}, MIDR {:#x}, {}",
            identity.board,
            identity.git_hash,
            identity.protocol,
            identity.exception_level,
            identity.midr,
            can.join(" ")
        ),
    );
    let (declared, board) = (bench.board.counter_hz, identity.declared_counter_hz);
    if declared.0 == board {
        findings.good("counter", format!("declared {declared} by bench file and board"));
    } else {
        findings.unwell(
            "counter",
            format!("the bench file declares {declared}, the board {board} Hz; see `counter rate` for which is right"),
        );
    }
    if bench.board.emulated != has(Capabilities::EMULATED) {
        findings
            .unusable("board", "the bench file and the board disagree on `emulated`; correct the bench file");
    }
    if bench.wiring.echo && !has(Capabilities::ECHO) {
        findings.unusable("board", "the bench file says that its echo is wired, but it has none");
    }
}

fn generator(bench: &BenchFile, watch: &Watch, findings: &mut Findings) {
    let port = || open(&bench.generator.port_settings(), watch).map_err(GeneratorError::from);
    match generator::open(&bench.generator, port) {
        Ok(generator) => {
            let (driver, identity) = (bench.generator.driver, generator.identity());
            match driver.timing() {
                EdgeTiming::EachPulse => findings.good("generator", identity),
                timing => findings.good("generator", format!("{identity}; {}; output off", timing.words())),
            }
        }
        Err(error) => findings.unusable("generator", error.to_string()),
    }
}

fn reference(bench: &BenchFile, watch: &Watch, findings: &mut Findings) {
    let port = match open(&bench.reference.port_settings(), watch) {
        Ok(port) => port,
        Err(error) => return findings.unusable("reference", error.to_string()),
    };
    let mut reference = Reference::new(port, bench.reference.driver);
    let heard = reference.first_message(FIRST_MESSAGE, watch).and_then(|message| {
        reference.await_trust(TRUST_STATED, watch)?;
        Ok(message)
    });
    let message = match heard {
        Ok(message) => message,
        Err(error) => return findings.unusable("reference", error.to_string()),
    };
    let evidence = format!("{} names GPS second {}", message.source.name(), message.second.0);
    match reference.trust() {
        Some(Trust::Locked) => findings.good("reference", format!("locked; {evidence}")),
        Some(Trust::Holdover) => findings.unwell("reference", format!("in holdover; {evidence}")),
        Some(Trust::Unlocked) => {
            findings.unwell("reference", format!("not locked; {evidence}; does its antenna see the sky?"));
        }
        Some(Trust::NotStated) | None => {
            findings.unwell(
                "reference",
                format!("no message vouches for the time; {evidence}; {}", vouching(bench)),
            );
        }
    }
}

/// What to switch on, so that the reference says whether it can be trusted.
const fn vouching(bench: &BenchFile) -> &'static str {
    match bench.reference.driver {
        ReferenceDriver::Nmea => "switch RMC on",
        ReferenceDriver::Ubx => "switch RMC or TIM-TP on",
        ReferenceDriver::Tsip => "switch its supplemental timing packet, 8F-AC, on",
        ReferenceDriver::HpScpi | ReferenceDriver::Jackson => {
            "it answers no question about its lock: is it what `driver` says?"
        }
    }
}

fn interval_counter(bench: &BenchFile, watch: &Watch, findings: &mut Findings) {
    let name = "interval counter";
    let Some(declared) = &bench.interval_counter else { return };
    if declared.is_reference(&bench.reference) {
        return findings
            .not_checked(name, "it is the reference's time mark input, and no edge is fired here");
    }
    let port = match open(&declared.port_settings(), watch) {
        Ok(port) => port,
        Err(error) => return findings.unusable(name, error.to_string()),
    };
    let mut counter = match IntervalCounter::open(port, declared, bench.generator.edge) {
        Ok(counter) => counter,
        Err(error) => return findings.unusable(name, error.to_string()),
    };
    // Without edges only a PPS on channel B can be seen.
    let pps = !bench.wiring.echo;
    if let Err(error) =
        counter.listen(READINGS, watch, |shown| shown.stamps_b > 1 || (!pps && shown.bytes > 0))
    {
        return findings.unusable(name, error.to_string());
    }
    let shown = counter.shown();
    let readings = match counter.identity() {
        None => format!("{} readings on channel A, {} on B", shown.stamps_a, shown.stamps_b),
        // It measures from an edge on, and none is fired here.
        Some(identity) => {
            return findings.good(name, format!("{identity}; it answers, no interval is due without edges"));
        }
    };
    match (&shown.refused, shown.reference_lost) {
        (_, true) => findings.unwell(name, "its 10 MHz reference is lost; check the cable"),
        (Some(reason), _) if shown.stamps_a + shown.stamps_b == 0 => {
            findings.unusable(name, format!("{} bytes, no reading: {reason}; is `baud` right?", shown.bytes));
        }
        _ if pps && shown.stamps_b == 0 => {
            findings.unwell(name, format!("{readings}; no PPS reaches channel B"));
        }
        _ if pps => findings.good(name, readings),
        _ => findings
            .good(name, format!("port open, {} bytes heard; no reading is due without edges", shown.bytes)),
    }
}
