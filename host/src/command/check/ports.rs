//! What can be said of the ports before they are opened: adapters that hold bytes back, names that do not last.

use super::findings::Findings;
use crate::bench_file::BenchFile;
use crate::rig::port::adapter::{self, Adapter, Roots};

/// Looks at every port that the bench names. Who holds one shows when it is opened.
pub(super) fn look(bench: &BenchFile, findings: &mut Findings) {
    look_in(bench, &Roots::default(), findings);
}

fn look_in(bench: &BenchFile, roots: &Roots, findings: &mut Findings) {
    let mut ports = vec![("link's port", &bench.board.link), ("reference's port", &bench.reference.port)];
    if bench.generator.driver.has_port() {
        ports.push(("generator's port", &bench.generator.port));
    }
    if let Some(counter) = &bench.interval_counter
        && !counter.is_reference(&bench.reference)
    {
        ports.push(("interval counter's port", &counter.port));
    }
    for (name, address) in ports {
        let found = adapter::findings(address, roots);
        for what in &found {
            findings.unwell(name, format!("{address}: {what}"));
        }
        if found.is_empty() {
            findings.good(name, format!("{address}{}", timer(address, roots)));
        }
    }
}

/// What is known of an adapter's latency timer.
fn timer(address: &str, roots: &Roots) -> String {
    match Adapter::of_tty(std::path::Path::new(address), roots).latency_ms {
        Some(ms) => format!(", latency timer {ms} ms"),
        None => ", no latency timer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::port::adapter::tests::FakeMachine;

    #[test]
    fn an_adapter_that_holds_bytes_back_is_not_well_and_is_told_what_to_do() {
        let machine = FakeMachine::new();
        let text = include_str!("../../../../fixtures/benches/virtual.toml");
        let text = text.replace("@run/gps.tty", machine.by_id().to_str().expect("it is text"));
        let bench = crate::bench_file::parse(&text, std::path::Path::new("/repo/fixtures/benches")).unwrap();
        let mut findings = Findings::default();
        look_in(&bench, &machine.roots, &mut findings);
        assert_eq!(findings.exit_code(), 1);
        let json = findings.json().to_string();
        assert!(json.contains("16 ms") && json.contains("latency_timer"), "{json}");
        machine.write("sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer", "1\n");
        let mut findings = Findings::default();
        look_in(&bench, &machine.roots, &mut findings);
        assert_eq!(findings.exit_code(), 0, "{}", findings.json());
    }
}
