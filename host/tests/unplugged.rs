//! Runs on the virtual bench in which an instrument's adapter is unplugged for five seconds and comes back as another
//! terminal under its name: the run goes on, the ledger balances, and nothing is paired that should not be.

mod common;

use std::path::Path;

use common::{Place, fixtures, text, virtual_bench};
use serde_json::Value;

const EDGES: u64 = 28;

/// A run that ended in order.
struct Run {
    code: Option<i32>,
    stderr: String,
    summary: Value,
    /// The ledger's rows of the measurement, each by column name.
    rows: Vec<csv::StringRecord>,
    columns: csv::StringRecord,
    rig: String,
}

impl Run {
    fn with(scenario: &str) -> Self {
        let place = Place::new();
        let scenario = fixtures().join("scenarios").join(scenario).display().to_string();
        let edges = EDGES.to_string();
        let arguments =
            ["run", "--scenario", &scenario, "--edges", &edges, "--rate", "2", "--width-ms", "250", "--json"];
        let output = place.ppsrig(arguments).output().expect("ppsrig starts");
        let bundle = place.bundle();
        let read = |name: &str| std::fs::read(bundle.join(name)).expect("it was written");
        let mut table = csv::Reader::from_path(bundle.join("edges.csv")).expect("it was written");
        let run = Self {
            code: output.status.code(),
            stderr: text(&output.stderr),
            summary: serde_json::from_slice(&read("summary.json")).expect("it is JSON"),
            columns: table.headers().expect("it has some").clone(),
            rows: table.records().map(|row| row.expect("it is whole")).collect(),
            rig: text(&read("raw/rig.log")),
        };
        replays_the_same(&place, &bundle);
        place.wait_until_nothing_runs();
        run.completed_and_balanced();
        run
    }

    fn completed_and_balanced(&self) {
        assert_eq!(self.summary["status"], "complete", "{}", self.stderr);
        assert_eq!(self.summary["ledger"]["balanced"], true, "{}", self.summary["ledger"]);
        assert!(self.code.is_some_and(|code| code != 2), "{}", self.stderr);
        // Nothing was missed and nothing spurious, so every pair has to be of one number.
        for row in self.rows.iter().filter(|row| self.cell(row, "class") == "paired") {
            assert_eq!(self.cell(row, "commanded_seq"), self.cell(row, "captured_seq"), "{row:?}");
        }
        for class in ["missed", "spurious", "duplicate", "ambiguous"] {
            for side in ["commanded", "captured"] {
                let count = &self.summary["ledger"][side][class];
                assert!(count.is_null() || count == 0, "{class}: {}", self.summary["ledger"]);
            }
        }
    }

    fn cell<'r>(&self, row: &'r csv::StringRecord, column: &str) -> &'r str {
        let index = self.columns.iter().position(|name| name == column).expect("there is such a column");
        &row[index]
    }

    fn count(&self, side: &str, class: &str) -> u64 {
        self.summary["ledger"][side][class].as_u64().unwrap_or(0)
    }

    /// The rig's log tells of both, and so does stderr.
    fn tells_of(&self, instrument: &str, for_people: &str) {
        for what in ["port-vanished", "port-returned"] {
            let told = self.rig.lines().any(|line| {
                line.contains(&format!("\"did\":\"{what}\""))
                    && line.contains(&format!("\"instrument\":\"{instrument}\""))
            });
            assert!(told, "{what} {instrument}: {}", self.rig);
        }
        let vanished = format!("{for_people}: ");
        let lines = || self.stderr.lines().filter(|line| line.starts_with(&vanished));
        assert!(lines().any(|line| line.contains("vanished")), "{}", self.stderr);
        assert!(lines().any(|line| line.contains("is back after")), "{}", self.stderr);
    }
}

fn replays_the_same(place: &Place, bundle: &Path) {
    let again = place.path().join("again");
    let replay =
        place.ppsrig(["replay"]).arg(bundle).arg("--out").arg(&again).output().expect("ppsrig starts");
    assert_ne!(replay.status.code(), Some(2), "{}", text(&replay.stderr));
    let read = |folder: &Path| std::fs::read(folder.join("edges.csv")).expect("it was written");
    assert!(read(bundle) == read(&again), "the replay differs");
}

#[test]
fn what_the_board_sends_while_its_link_is_away_is_lost_and_counted() {
    let _turn = virtual_bench();
    let run = Run::with("unplugged-link.toml");
    run.tells_of("link", "link to the board");
    // Five seconds at two a second, and what was under way at either end; some may count as disturbed.
    let lost = run.count("commanded", "lost");
    assert!((8..=12).contains(&lost), "{}", run.summary["ledger"]);
    let gone = run.count("captured", "dropped") + run.count("captured", "torn");
    assert_eq!(gone, lost, "the board's own count tells how many: {}", run.summary["ledger"]);
    assert!(run.count("commanded", "paired") + lost + 2 >= EDGES, "{}", run.summary["ledger"]);
    let reasons = run.rows.iter().filter(|row| run.cell(row, "class") == "dropped");
    let away =
        reasons.filter(|row| run.cell(row, "reason").contains("the port of the link to the board was away"));
    assert!(away.count() > 0, "{:?}", run.rows);
}

#[test]
fn a_receiver_that_was_away_is_not_trusted_for_that_time() {
    let _turn = virtual_bench();
    let run = Run::with("unplugged-receiver.toml");
    run.tells_of("reference", "reference");
    let (unlocked, settling) = (run.count("commanded", "unlocked"), run.count("commanded", "settling"));
    // Two seconds of guard, then five to seven without a message, then three to settle.
    assert!((12..=20).contains(&unlocked), "{}", run.summary["ledger"]);
    assert!(settling <= 6, "{}", run.summary["ledger"]);
    assert_eq!(run.count("commanded", "lost"), 0);
    let paired = run.count("commanded", "paired");
    assert!(paired > 0 && paired + unlocked + settling == EDGES, "{}", run.summary["ledger"]);
}

#[test]
fn generator_and_interval_counter_may_be_away_while_edges_are_fired() {
    let _turn = virtual_bench();
    let run = Run::with("unplugged-instruments.toml");
    run.tells_of("generator", "generator");
    run.tells_of("interval-counter", "interval counter");
    assert_eq!(run.count("commanded", "paired"), EDGES, "{}", run.summary["ledger"]);
    // No reading, no latency by the echo. Of the others a busy machine may spoil some, but not most.
    let has_reading = |row: &&csv::StringRecord| !run.cell(row, "interval_ps").is_empty();
    let edge = |row: &csv::StringRecord| run.cell(row, "commanded_seq").parse::<u32>().expect("it is paired");
    let with: Vec<u32> = run.rows.iter().filter(has_reading).map(edge).collect();
    // The port is away from 2.1 s on for 5 s, and the edges are half a second apart.
    assert!(with.iter().all(|edge| !(5..=14).contains(edge)), "{with:?}");
    assert!(
        with.iter().any(|edge| *edge < 5) && with.iter().filter(|edge| **edge > 14).count() > 6,
        "{with:?}"
    );
}
