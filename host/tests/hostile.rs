//! Strings from instruments, files, boards and labs are data wherever they land: each of these texts goes into every place
//! that can hold one, through every format, and the real readers of the formats get it back with nothing else changed.

mod reports;

use std::collections::BTreeSet;
use std::path::Path;

use ppsrig::analysis::analyse;
use ppsrig::analysis::seconds::recorded;
use ppsrig::events::RigEvent;
use ppsrig::formats::foreign_text::{csv_text, visible};
use ppsrig::night::Night;
use ppsrig::report;
use ppsrig::report::html::page::shown;
use reports::{Names, USUAL, cases, night, read_back, record, sick, write};
use serde_json::Value;

/// A long one is made in the test.
const HOSTILE: [&str; 18] = [
    "<script>alert(1)</script>",
    "\"quoted\" and 'quoted' and \\back\\",
    "=HYPERLINK(\"x\",A1)",
    "+1-1",
    "-2+3",
    "@SUM(1)",
    "\t=tab",
    "two\nlines\r\nand more",
    "a | b | `c` | ```d",
    "]]> <![CDATA[ &amp; &#0; <!-- -->",
    "\u{202e}gnp.exe \u{2066}x\u{2069}",
    "nul \0 bell \x07 escape \x1b[31mred\x1b[0m \u{85} \u{7f}",
    "broken \u{fffd}\u{fffd} \u{fffe} \u{ffff}",
    "@someone @org/team #12 !34 www.x.example https://x.example/ a@b.example :tada:",
    "1. one",
    "</summary></details><h1>x</h1> {{7*7}} ${7*7} $(id) ; rm -rf /",
    "[click](javascript:alert(1)) ![x](http://x.example/x.png) **b** _i_ ~~s~~",
    "# EOF",
];

/// `what` in each place of a night, told apart by what is in front or behind.
fn names(what: &str) -> [String; 6] {
    ["", " measure", " before", " after", " bench", " reason"].map(|role| format!("{what}{role}"))
}

fn with(names: &[String; 6]) -> Names<'_> {
    let [plan, measure, before, after, bench, reason] = names;
    Names { plan, bench, measure, before, after, reason }
}

fn texts(value: &Value, pointer: &str) -> BTreeSet<String> {
    let items = value.as_array().expect("it is a list").iter();
    items.filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned)).collect()
}

/// Where words are set apart by any amount of space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn hostile_names_of_a_night_come_back_from_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let long = "very long, ".repeat(2000);
    let all: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    let mut folders = Vec::new();
    for (number, what) in all.iter().enumerate() {
        let names = names(what);
        let names = with(&names);
        for (kind, night) in [("done", night(&names)), ("sick", sick(&names))] {
            folders.push(folder.path().join(format!("{kind}-{number}")));
            write_night(folders.last().unwrap(), &names, &night);
        }
    }
    folders.push(folder.path().join("usual"));
    write_night(folders.last().unwrap(), &USUAL, &night(&USUAL));
    let found = read_back(&folders.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    for (number, what) in all.iter().enumerate() {
        let names = names(what);
        let names = with(&names);
        let (done, sick) = (&found[format!("done-{number}")], &found[format!("sick-{number}")]);
        junit_holds(&names, done, &found["usual"]);
        junit_holds_the_reason(&names, sick);
        metrics_hold(&names, done, &found["usual"]);
        markdown_holds(&names, done, &found["usual"]);
        csv_holds(&names, done, &found["usual"]);
        json_holds(&names, done);
        html_holds(&names, done, &found["usual"]);
    }
}

fn write_night(folder: &Path, names: &Names<'_>, night: &Night) {
    let record = record(names);
    write(folder, &report::night::files(&record, night));
    std::fs::write(folder.join("report.html"), report::html::night(&record, night)).expect("it fits");
}

fn html_holds(names: &Names<'_>, found: &Value, usual: &Value) {
    let (page, usual) = (&found["report.html"], &usual["report.html"]);
    assert_eq!(page["tags"], usual["tags"], "{:?}", names.plan);
    assert_eq!(page["attributes"], usual["attributes"], "{:?}", names.plan);
    for link in page["links"].as_array().expect("there are links") {
        let link = link.as_str().expect("a link is text");
        // The page has no icon, so that none is asked for.
        let inside =
            link == "data:," || ["#", "./runs/", "./health/"].iter().any(|start| link.starts_with(start));
        assert!(inside && !link.contains(".."), "{link:?} leads out of the night's folder");
    }
    let text = words(page["text"].as_str().expect("it has text"));
    for name in [names.plan, names.measure, names.before, names.after, names.reason] {
        assert!(text.contains(&words(&shown(name))), "{name:?} is not shown: {text}");
    }
}

fn junit_holds(names: &Names<'_>, found: &Value, usual: &Value) {
    let junit = &found["junit.xml"];
    assert_eq!(junit["errors"], serde_json::json!([]), "{:?}", names.plan);
    assert_eq!(junit["name"], format!("ppsrig {}", visible(names.plan)));
    assert_eq!(junit["suites"][1]["name"], format!("{}.{}", visible(names.plan), visible(names.measure)));
    let named = texts(&junit["suites"][1]["cases"], "/name");
    let (before, after) = (visible(names.before), visible(names.after));
    assert!(named.contains(&format!("measured {after} inline")), "{named:?}");
    assert!(named.contains(&format!("compare inline mean: {after} with {before}")), "{named:?}");
    let skipped = cases(junit).into_iter().find(|case| case["result"] == "skipped").unwrap();
    let message = skipped["message"].as_str().unwrap();
    assert!(message.ends_with(&*visible(names.reason)), "{message:?}");
    let results =
        |junit: &Value| -> Vec<Value> { cases(junit).iter().map(|case| case["result"].clone()).collect() };
    assert_eq!(results(junit), results(&usual["junit.xml"]), "nothing else changed");
}

fn junit_holds_the_reason(names: &Names<'_>, sick: &Value) {
    let junit = &sick["junit.xml"];
    assert_eq!(junit["errors"], serde_json::json!([]), "{:?}", names.plan);
    let done = cases(junit).into_iter().find(|case| case["name"] == "night done").unwrap();
    assert_eq!(done["message"], format!("the bench is sick: {}", visible(names.reason)));
}

fn metrics_hold(names: &Names<'_>, found: &Value, usual: &Value) {
    let shape = |metrics: &Value| -> Vec<(Value, usize)> {
        let families = metrics.as_array().unwrap().iter();
        families.map(|one| (one["name"].clone(), one["samples"].as_array().unwrap().len())).collect()
    };
    let metrics = &found["metrics.prom"];
    assert_eq!(shape(metrics), shape(&usual["metrics.prom"]), "{:?}", names.plan);
    for family in metrics.as_array().unwrap() {
        for sample in family["samples"].as_array().unwrap() {
            let is = |label: &str, text: &str| match sample[1].get(label) {
                Some(found) => assert_eq!(found.as_str().unwrap(), visible(text), "{label}"),
                None => assert!(label != "bench", "every sample says of which bench it is"),
            };
            is("plan", names.plan);
            is("bench", names.bench);
            is("measure", names.measure);
            is("base", names.before);
            is("new", names.after);
        }
    }
}

fn markdown_holds(names: &Names<'_>, found: &Value, usual: &Value) {
    let (page, usual) = (&found["summary.md"], &usual["summary.md"]);
    let count = |page: &Value| page["blocks"].as_array().unwrap().len();
    assert_eq!(count(page), count(usual), "{:?}: {page:#}", names.plan);
    let tags = |page: &Value| -> BTreeSet<String> {
        let all = page["tags"].as_array().unwrap().iter();
        // A mention's sign stands in `code`, which hashes also are in.
        all.map(|tag| tag.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tags(page), tags(usual), "{:?}", names.plan);
    assert_eq!(page["attributes"], usual["attributes"], "no link, no picture, no script");
    let blocks: Vec<String> =
        page["blocks"].as_array().unwrap().iter().map(|block| words(block.as_str().unwrap())).collect();
    let shown = |text: &str| words(&visible(text));
    assert_eq!(blocks[0], format!("❌ {}: failed (emulated board)", shown(names.plan)));
    assert!(blocks.contains(&shown(names.measure)), "{:?} in {blocks:#?}", names.measure);
    let compared = format!("{} with {}", shown(names.after), shown(names.before));
    assert!(blocks.contains(&compared), "{compared:?} in {blocks:#?}");
    assert!(blocks.contains(&format!("not-resolvable: {}", shown(names.reason))), "{blocks:#?}");
}

fn csv_holds(names: &Names<'_>, found: &Value, usual: &Value) {
    let (rows, usual) = (found["summary.csv"].as_array().unwrap(), usual["summary.csv"].as_array().unwrap());
    assert_eq!(rows.len(), usual.len());
    for (row, usual) in rows.iter().zip(usual) {
        for (column, field) in row.as_object().unwrap() {
            let field = field.as_str().expect("a field");
            let expected = match column.as_str() {
                "measure" if !field.is_empty() => visible(names.measure),
                "image" if usual["image"] == "before" => visible(names.before),
                "image" if usual["image"] == "after" => visible(names.after),
                "base" if !field.is_empty() => visible(names.before),
                "new" if !field.is_empty() => visible(names.after),
                "reason" if !field.is_empty() => {
                    assert!(csv_text(field).ends_with(&*visible(names.reason)), "{field:?}");
                    continue;
                }
                _ => usual[column].as_str().unwrap().into(),
            };
            assert_eq!(csv_text(field), expected, "{column}");
            let computes = field.starts_with(['=', '+', '@', '\t', '\r'])
                || field.starts_with('-') && field.parse::<f64>().is_err();
            assert!(!computes, "a spreadsheet would compute {field:?}");
        }
    }
}

fn json_holds(names: &Names<'_>, found: &Value) {
    let object = &found["summary.json"];
    assert_eq!(object["name"], names.plan);
    assert_eq!(object["bench"], names.bench);
    assert_eq!(object["measures"][0]["name"], names.measure);
    assert_eq!(object["measures"][0]["comparisons"][1]["reason"], names.reason);
    assert_eq!(object["measures"][0]["steps"][0]["step"]["image"], names.before);
}

#[test]
fn hostile_names_of_a_run_come_back_from_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let contents = reports::capture("synthetic-alternate");
    let (usual, recording) = (contents.record.unwrap(), contents.recording);
    let folders: Vec<_> = (0..HOSTILE.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (what, folder) in HOSTILE.iter().zip(&folders) {
        let (mut record, mut recording) = (usual.clone(), recording.clone());
        let provenance = &mut record.provenance;
        for field in [&mut provenance.bench_file, &mut provenance.image, &mut record.conditions.generator] {
            (*what).clone_into(field);
        }
        (*what).clone_into(&mut record.conditions.bring_up);
        let last = recording.rig.last_mut().expect("the run was finished");
        last.event = RigEvent::Stopped { reason: (*what).to_owned() };
        let analysis = analyse(&record, &recording, &recorded(&record, &recording));
        write(folder, &report::files(&record, &analysis));
        // The table for people is made of the same.
        let table = report::terminal::table(&record, &analysis, &[], (folder, &[]));
        assert!(!table.contains(|letter: char| letter.is_control() && letter != '\n'), "{what:?}");
    }
    let found = read_back(&folders.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    for (number, what) in HOSTILE.iter().enumerate() {
        let found = &found[number.to_string()];
        let junit = &found["junit.xml"];
        assert_eq!(junit["errors"], serde_json::json!([]), "{what:?}");
        let properties = junit["suites"][0]["properties"].as_array().unwrap();
        assert!(properties.contains(&serde_json::json!(["image", visible(what)])), "{properties:?}");
        let whole = cases(junit)[0];
        assert_eq!(whole["result"], "error");
        assert_eq!(whole["message"], format!("the recording is partial: {}", visible(what)));
        let object = &found["summary.json"];
        assert_eq!(object["provenance"]["image"], *what);
        assert_eq!(object["partial_because"], *what);
        assert_eq!(found["edges.csv"].as_array().unwrap().len(), 40, "{what:?}");
    }
}
