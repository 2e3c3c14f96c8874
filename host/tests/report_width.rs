//! The report on terminals of several widths: what is shown of a recorded run, as a person would see it.

mod common;

use std::fs::File;
use std::io::Read;

use common::{Place, fixtures, text};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The report of a recorded run on a terminal of so many columns.
fn report_at(columns: u16) -> String {
    let place = Place::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a free pty");
    grantpt(&master).expect("it is ours");
    unlockpt(&master).expect("it is ours");
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a terminal has a size");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let terminal =
        rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it can be opened");
    let capture = fixtures().join("captures/synthetic-alternate");
    let mut replay = place.ppsrig(["replay"]);
    replay.arg(capture).arg("--out").arg(place.path()).stdout(terminal);
    let mut child = replay.spawn().expect("ppsrig starts");
    // The command holds the terminal open, and reading would not end.
    drop(replay);
    let mut shown = Vec::new();
    // A terminal that nobody has open any more ends in an error.
    let _end = File::from(master).read_to_end(&mut shown);
    assert!(child.wait().expect("it ends").success());
    text(&shown).replace('\r', "")
}

fn widest(report: &str) -> usize {
    // Paths are not wrapped.
    let lines = report.lines().filter(|line| !line.starts_with("files in"));
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_report_is_as_wide_as_its_terminal_up_to_a_hundred_and_twenty_columns() {
    for (columns, least, most) in [(100, 81, 100), (120, 101, 120), (300, 101, 120)] {
        let report = report_at(columns);
        let widest = widest(&report);
        assert!((least..=most).contains(&widest), "{widest} on {columns}:\n{report}");
    }
}

#[test]
fn a_narrow_report_tears_no_number_apart() {
    let report = report_at(20);
    for figure in ["103825.530", "94526.445", "113124.615", "46040.117"] {
        assert!(report.contains(figure), "no {figure} in\n{report}");
    }
    assert!(widest(&report) <= 70, "{report}");
}
