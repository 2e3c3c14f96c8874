//! A month of nights on the virtual bench, into one results folder, as a lab's CI does them: the kernel takes one instruction
//! more from night 20 on, the bench is sick on night 10, the reference loses its satellites on night 15. Each is found on its
//! night, and nothing else is.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::{Place, fixtures, image, image_with_one_more, text, virtual_bench};
use serde_json::Value;

const NIGHTS: u32 = 30;
/// From this night on the kernel takes one instruction more.
const SLOWER_FROM: u32 = 20;
const SICK: u32 = 10;
/// Nights with edges, which take real time: few, and slow.
const WITH_EDGES: [u32; 3] = [14, 15, 16];
const OUTAGE: u32 = 15;

/// What the bench suffers, by the name that every plan gives it: the plan does not know on which night.
const TONIGHT: &str = "tonight.toml";

/// One build, counted in instructions: the same on every machine.
const COUNTED: &str = "measurement = \"path\"\nclock = \"exact\"\ncounter-hz = 1_000_000_000\n\
                       iterations = 100_000\nvariants = [\"inline-biased\"]\n";
/// The same as options of `ppsrig run`.
const COUNTED_BY_HAND: &str =
    "--measure path --clock exact --counter-hz 1000000000 --iterations 100000 --variant inline-biased";
/// Pulses so wide that they are seen also where the emulator shares its core.
const EDGES: &str = "[[measure]]\nname = \"edge\"\nmeasurement = \"edge\"\nedges = 10\nrate = 2\nwidth-ms = 250\n\
                     sessions = 1\n";
/// Satellites lost for one pulse: with the guard and the settling time of the bench file, most of the edges are not believed.
const LOST: &str = "[[fault]]\nkind = \"unlock\"\nburst = 2\nfrom-s = 3\nto-s = 4\n";

/// A lab: its plan, its images and its results.
struct Lab {
    place: Place,
    kernel: PathBuf,
    /// What the golden image gives, found before night 1.
    instructions: f64,
}

/// What a night came to.
struct Night {
    output: Output,
    folder: PathBuf,
    summary: Value,
}

impl Night {
    /// The comparisons of the path, as verdict and change.
    fn path(&self) -> Vec<(&str, Option<f64>)> {
        let comparisons = self.summary["measures"][0]["comparisons"].as_array().expect("a list");
        comparisons
            .iter()
            .map(|one| (one["verdict"].as_str().expect("a word"), one["change"].as_f64()))
            .collect()
    }

    fn reasons(&self) -> String {
        self.summary["reasons"].to_string()
    }

    #[track_caller]
    fn ended(&self, night: u32, code: i32, outcome: &str) {
        let (stdout, stderr) = (text(&self.output.stdout), text(&self.output.stderr));
        assert_eq!(self.output.status.code(), Some(code), "night {night}: {stdout}\n{stderr}");
        assert_eq!(self.summary["outcome"], outcome, "night {night}: {:#}", self.summary);
    }
}

impl Lab {
    fn new() -> Self {
        let place = Place::new();
        let copy = |name: &str| {
            let path = place.path().join(name);
            std::fs::copy(image(), &path).expect("the image is built");
            path
        };
        copy("golden.elf");
        let kernel = copy("kernel.elf");
        let mut lab = Self { place, kernel, instructions: f64::NAN };
        lab.instructions = lab.record_the_baseline();
        lab
    }

    fn bench() -> PathBuf {
        fixtures().join("benches/virtual.toml")
    }

    /// Records the baseline, and returns the instructions that it took.
    fn record_the_baseline(&self) -> f64 {
        let mut run = self.place.ppsrig(["run"]);
        run.arg(Self::bench()).args(COUNTED_BY_HAND.split(' ')).arg("--out");
        let output = run.arg(self.place.path().join("baseline")).output().expect("ppsrig starts");
        let stdout = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{stdout}\n{}", text(&output.stderr));
        let bundle = Path::new(stdout.lines().last().expect("the bundle's path"));
        let mut table = csv::Reader::from_path(bundle.join("summary.csv")).expect("it was written");
        let mut rows = table.deserialize::<std::collections::BTreeMap<String, String>>();
        let row = rows.find_map(|row| row.ok().filter(|row| row["metric"] == "instructions"));
        row.expect("exact mode counts")["value"].parse().expect("a number")
    }

    /// The plan of a night: some measure edges too.
    fn plan(&self, night: u32) -> PathBuf {
        let instructions = self.instructions;
        let scenario = format!("scenario = \"{TONIGHT}\"\n");
        let mut text = format!(
            "name = \"month\"\nbench = \"{}\"\n[images]\nkernel = \"kernel.elf\"\n\
             [health]\nimage = \"golden.elf\"\n{COUNTED}{scenario}\
             limits = [{{ metric = \"instructions\", at-least = {instructions}, at-most = {instructions} }}]\n\
             [[measure]]\nname = \"path\"\nbaseline = \"baseline\"\n{COUNTED}{scenario}",
            Self::bench().display()
        );
        if WITH_EDGES.contains(&night) {
            text += EDGES;
            text += &scenario;
        }
        self.place.file("month.toml", text)
    }

    /// Writes what the bench suffers on a night.
    fn suffers(&self, night: u32) {
        let scenario = match night {
            SICK => {
                std::fs::read_to_string(fixtures().join("scenarios/dead-board.toml")).expect("it is there")
            }
            OUTAGE => LOST.to_owned(),
            _ => String::new(),
        };
        self.place.file(TONIGHT, scenario);
    }

    fn night(&self, night: u32) -> Night {
        let newest = if night < SLOWER_FROM { image() } else { image_with_one_more() };
        std::fs::copy(newest, &self.kernel).expect("the image is built");
        self.suffers(night);
        let output =
            self.place.ppsrig([Path::new("nightly"), &self.plan(night)]).output().expect("ppsrig starts");
        let stdout = text(&output.stdout);
        let last = stdout.lines().last();
        let folder = PathBuf::from(last.unwrap_or_else(|| panic!("night {night}: {}", text(&output.stderr))));
        let summary = std::fs::read(folder.join("summary.json")).expect("it was written");
        Night { output, folder, summary: serde_json::from_slice(&summary).expect("it is JSON") }
    }

    /// The bench failed its golden image: it is refused until a person brings it back, and nothing is said of the kernel.
    fn the_bench_is_sick(&self, sick: &Night) {
        sick.ended(SICK, 2, "not-done");
        assert!(sick.reasons().contains("the bench is sick: "), "{}", sick.reasons());
        assert!(!sick.summary.to_string().contains("worse"), "{:#}", sick.summary);
        assert_eq!(sick.summary["health"]["well"], false);
        assert_eq!(sick.path(), [("no-verdict", None)], "nothing was compared");

        // The same plan with the fault mended: what refuses it is that nobody has said so.
        let refused = self.night(SICK + 1);
        refused.ended(SICK, 2, "not-done");
        let told = text(&refused.output.stderr) + &refused.reasons();
        let reason = sick.summary["health"]["reasons"][0].as_str().expect("it has one");
        assert!(told.contains("offline") && told.contains("--back-online"), "{told}");
        assert!(refused.reasons().contains(reason.split('\n').next().expect("a line")), "{reason}: {told}");
        assert_eq!(refused.summary["health"], Value::Null, "nothing was measured");
        assert!(!refused.summary.to_string().contains("worse"), "{:#}", refused.summary);

        let back =
            self.place.ppsrig([Path::new("check"), &Self::bench(), Path::new("--back-online")]).output();
        let back = back.expect("ppsrig starts");
        assert_eq!(back.status.code(), Some(0), "{}\n{}", text(&back.stdout), text(&back.stderr));
    }
}

#[test]
fn a_month_finds_the_slower_kernel_the_sick_bench_and_the_lost_reference_on_their_nights() {
    let _turn = virtual_bench();
    let lab = Lab::new();
    for number in 1..=NIGHTS {
        let night = lab.night(number);
        match number {
            SICK => lab.the_bench_is_sick(&night),
            OUTAGE => {
                night.ended(number, 3, "invalid");
                assert!(
                    night.reasons().contains("the reference could not be trusted"),
                    "{}",
                    night.reasons()
                );
                assert!(!night.summary.to_string().contains("worse"), "{:#}", night.summary);
                assert_eq!(night.path(), [("equivalent", Some(0.0))]);
            }
            SLOWER_FROM..=NIGHTS => {
                night.ended(number, 1, "failed");
                assert_eq!(night.path(), [("worse", Some(1.0))], "night {number}");
                assert_eq!(night.summary["health"]["well"], true, "night {number}");
            }
            _ => {
                night.ended(number, 0, "passed");
                assert_eq!(night.path(), [("equivalent", Some(0.0))], "night {number}");
                let reasons = night.summary["reasons"].as_array().expect("a list");
                assert!(
                    reasons.len() == 1 && night.reasons().contains("none worse"),
                    "night {number}: {reasons:?}"
                );
            }
        }
        println!("night {number}: {} {}", night.folder.display(), night.reasons());
    }
    lab.place.wait_until_nothing_runs();
}
