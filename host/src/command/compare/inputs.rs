//! Reads the inputs of a comparison, whatever each is: a run bundle, a CSV file of one, a spool, or a plain table.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::from_files::{of_edges, of_samples, of_summary, of_table};
use crate::analysis::class::Class;
use crate::analysis::compare::from_run::Run;
use crate::analysis::compare::group::Group;
use crate::analysis::compare::same::twins;
use crate::analysis::compare::{Side, Source};
use crate::analysis::verdict::Outcome;
use crate::analysis::{Analysis, analyse, seconds};
use crate::bundle::{self, Contents, Instrument};
use crate::command::nightly::is_night;
use crate::command::samples::read_samples;
use crate::formats::{figure_table, run_csv, spool};
use crate::names::{CtimeVariant, PathVariant};
use crate::night::names::RUNS;
use crate::plan::RunRecord;
use crate::units::Hertz;

/// What of a side can be picked: the builds, and the ways of capture.
const MODES: [&str; 2] = ["irq", "poll"];
/// Stands for standard input.
const STDIN: &str = "-";
/// Largest plain table: published figures are a few lines.
const MOST_TABLE_BYTES: u64 = 1 << 20;
/// Bytes in which a file says what it is: the header of the widest of ours has 300.
const HEAD: u64 = 4096;

/// Why a file of ours gives nothing, where nothing else is known.
const EMPTY: &str = "no line of it has a measured value";
/// What can be read.
const KINDS: &str = "give one of: a run bundle's folder, its edges.csv, samples.csv, pairs.csv, pairs.spool or summary.csv, \
                     or a plain table of figures, name,value in CSV or Markdown";

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// Lines with faults are left out and counted.
    pub lenient: bool,
    /// The counter's rate of files of samples that do not say it.
    pub counter_hz: Option<Hertz>,
}

/// Reads all inputs of one side.
pub(super) fn side(inputs: &[PathBuf], name: &str, how: How) -> anyhow::Result<Side> {
    let mut side = Side::default();
    for (index, input) in inputs.iter().enumerate() {
        let (path, picked) = selector(input)?;
        ensure!(
            index == 0 || side.picked == picked,
            "{}: the {name} side picks {} before; pick the same of every input of a side",
            input.display(),
            side.picked.as_deref().unwrap_or("nothing")
        );
        let (source, mut groups) = read(&path, index, how)?;
        if let Some(picked) = &picked {
            let held: BTreeSet<String> = groups.iter().map(|group| group.key.variant.clone()).collect();
            groups.retain(|group| group.key.variant == *picked);
            let held = Vec::from_iter(held).join(", ");
            ensure!(
                !groups.is_empty() || held.is_empty(),
                "{} holds nothing of {picked}; it holds {held}",
                path.display()
            );
        }
        if groups.is_empty() {
            let why = if source.remarks.is_empty() { EMPTY.to_owned() } else { source.remarks.join("; ") };
            bail!("{} holds no session that could be compared: {why}", path.display());
        }
        if let Some(twin) = side.sources.iter().find(|other| other.is_copy_of(&source)) {
            bail!("{} and {} are the same recording: its sessions would count twice", twin.name, source.name);
        }
        side.picked = picked;
        let name = input.display().to_string();
        side.add(Source { name, path, ..source }, groups);
    }
    if let Some((one, other, session)) = twins(&side) {
        let (one, other) = (&side.sources[one].name, &side.sources[other].name);
        bail!("{one} and {other} hold the same recording: session {session} of the first would count twice");
    }
    Ok(side)
}

/// `PATH`, or `PATH:VARIANT`.
fn selector(input: &Path) -> anyhow::Result<(PathBuf, Option<String>)> {
    if input.exists() || input == Path::new(STDIN) {
        return Ok((input.to_owned(), None));
    }
    let builds = PathVariant::ALL.iter().map(|one| one.name());
    let names: Vec<&str> =
        builds.chain(CtimeVariant::ALL.iter().map(|one| one.name())).chain(MODES).collect();
    let text = input.to_str().and_then(|text| text.rsplit_once(':'));
    match text.filter(|(path, _)| Path::new(path).exists()) {
        Some((path, name)) if names.contains(&name) => Ok((PathBuf::from(path), Some(name.to_owned()))),
        Some((path, name)) => {
            bail!("{path}:{name}: nothing is called {name}; give one of {}", names.join(", "))
        }
        None => bail!("{}: no such file or folder", input.display()),
    }
}

fn read(path: &Path, index: usize, how: How) -> anyhow::Result<(Source, Vec<Group>)> {
    if path.is_dir() {
        ensure!(
            !is_night(path),
            "{} is a night, which holds runs of several images; give those to compare, bundles in {}",
            path.display(),
            path.join(RUNS).display()
        );
        return read_bundle(path, index);
    }
    if is_stream(path) {
        return read_stream(path, index, how);
    }
    let mut head = Vec::new();
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.by_ref()
        .take(HEAD)
        .read_to_end(&mut head)
        .with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!head.is_empty(), "{} is empty", path.display());
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let columns: Vec<&str> = line.trim().split(',').map(|name| name.trim_matches('"')).collect();
    let has = |name: &str| columns.contains(&name);
    let mut source = Source { name: path.display().to_string(), ..Source::default() };
    let groups = if head.starts_with(&spool::MAGIC) || has("counter_pre") || (has("ticks") && has("count")) {
        samples(path, index, how, &mut source)?
    } else if has("latency_ns") {
        source.kind = "edges.csv";
        let rows = run_csv::edges(reader(path)?, how.lenient).with_context(|| path.display().to_string())?;
        remark_lines(&mut source, rows.left_out.len() as u64);
        of_edges(&rows.rows, index)
    } else if has("metric") && has("ci95_low") {
        source.kind = "summary.csv";
        let rows =
            run_csv::summary(reader(path)?, how.lenient).with_context(|| path.display().to_string())?;
        remark_lines(&mut source, rows.left_out.len() as u64);
        source.remarks.push("summary.csv has no sessions one by one: no pairs, and no tail".to_owned());
        of_summary(&rows.rows)
    } else {
        recognised(path, &line, columns.len())?;
        table(path, how, &mut source)?
    };
    let emulated = groups.iter().map(|group| group.key.conditions.emulated);
    source.emulated = emulated.flatten().reduce(|a, b| a || b);
    source.fingerprint = fingerprint(&[path.to_owned()])?;
    Ok((source, groups))
}

/// Refuses what is surely no table, by its name and its first line.
fn recognised(path: &Path, line: &str, columns: usize) -> anyhow::Result<()> {
    let line = line.trim();
    let named = path
        .extension()
        .is_some_and(|name| ["json", "toml", "xml", "html", "log"].iter().any(|no| name == *no));
    let path = path.display();
    ensure!(!named && !line.starts_with(['{', '[', '<']), "{path}: not recognised; {KINDS}");
    ensure!(
        !line.contains(';') || line.contains([',', '|']) || line.starts_with('#'),
        "{path} line 1 column {}: not recognised: fields are separated by a comma, not by `;`; {KINDS}",
        line.chars().position(|c| c == ';').map_or(1, |at| at + 1)
    );
    ensure!(columns <= 6, "{path} line 1: no file of ppsrig has these columns; {KINDS}");
    Ok(())
}

/// Whether what is read from it cannot be read again.
fn is_stream(path: &Path) -> bool {
    path == Path::new(STDIN) || fs::metadata(path).is_ok_and(|one| !one.is_file() && !one.is_dir())
}

/// A pipe can be read only once, so it cannot be asked first what it is: it has to hold samples.
fn read_stream(path: &Path, index: usize, how: How) -> anyhow::Result<(Source, Vec<Group>)> {
    let name = path.display().to_string();
    let mut source = Source { name, ..Source::default() };
    let groups = samples(path, index, how, &mut source)?;
    source.emulated = groups.iter().filter_map(|group| group.key.conditions.emulated).reduce(|a, b| a || b);
    Ok((source, groups))
}

fn reader(path: &Path) -> anyhow::Result<BufReader<File>> {
    Ok(BufReader::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?))
}

fn remark_lines(source: &mut Source, count: u64) {
    if count > 0 {
        source.remarks.push(format!("lines with faults, left out: {count}"));
    }
}

fn samples(path: &Path, index: usize, how: How, source: &mut Source) -> anyhow::Result<Vec<Group>> {
    source.kind = "samples";
    let set = read_samples(path, how.lenient)?;
    let counter = set.counter_hz.or(how.counter_hz).with_context(|| {
        format!(
            "{} does not say how fast its counter runs; give --counter-hz, or the bundle that it comes from",
            path.display()
        )
    })?;
    remark_lines(source, set.left_out.classes.iter().map(|class| class.count).sum());
    source.remarks.push("its phases are not known, so nothing bounds the bias of its mean".to_owned());
    Ok(of_samples(&set, counter, index))
}

fn table(path: &Path, how: How, source: &mut Source) -> anyhow::Result<Vec<Group>> {
    source.kind = "table";
    let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    ensure!(
        size <= MOST_TABLE_BYTES,
        "{} is no file of ppsrig, and with {size} bytes too large for a table of figures",
        path.display()
    );
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    // What has no line of a table is called one by nobody.
    let is_table = figure_table::parse(&bytes, true).is_ok();
    let table = figure_table::parse(&bytes, how.lenient).with_context(|| match is_table {
        true => path.display().to_string(),
        false => format!("{}: not recognised; {KINDS}", path.display()),
    })?;
    remark_lines(source, table.left_out.len() as u64);
    Ok(of_table(&table.figures))
}

fn read_bundle(dir: &Path, index: usize) -> anyhow::Result<(Source, Vec<Group>)> {
    let Contents { record, recording } = bundle::read(dir)?;
    let record =
        record.with_context(|| format!("{} has no run.toml, so it is no finished run", dir.display()))?;
    let reference = seconds::recorded(&record, &recording);
    let analysis = analyse(&record, &recording, &reference);
    if analysis.verdict.outcome == Outcome::NotDone {
        let why = analysis.verdict.reasons.first().map_or("it is not whole", String::as_str);
        bail!("{}: {why}; only finished runs are compared", dir.display());
    }
    let started = record.provenance.started_utc.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond);
    let run = Run { record: &record, recording: &recording, analysis: &analysis, started, source: index };
    let mut remarks = Vec::new();
    let groups = run.groups();
    if groups.is_empty() {
        remarks = nothing_measured(&analysis);
    } else if analysis.verdict.outcome == Outcome::Failed {
        remarks.extend(analysis.verdict.reasons.first().map(|why| format!("the run failed: {why}")));
    }
    let raw = dir.join(bundle::names::RAW);
    let recorded = [
        dir.join(bundle::names::RUN),
        raw.join(Instrument::Rig.file_name()),
        raw.join(Instrument::Link.file_name()),
    ];
    let source = Source {
        name: dir.display().to_string(),
        path: dir.to_owned(),
        kind: "bundle",
        fingerprint: fingerprint(&recorded)?,
        emulated: Some(analysis.emulated),
        provenance: provenance(&record, &analysis),
        remarks,
    };
    Ok((source, groups))
}

/// Why a run gives nothing to compare.
fn nothing_measured(analysis: &Analysis) -> Vec<String> {
    let mut why = match analysis.verdict.outcome {
        Outcome::Passed | Outcome::Unjudged => Vec::new(),
        Outcome::Failed | Outcome::Invalid | Outcome::NotDone => analysis.verdict.reasons.clone(),
    };
    let Some(edge) = &analysis.edge else { return why };
    let lost = Class::ALL.into_iter().filter(|class| *class != Class::Paired && class.on_commanded_side());
    let counts = lost.map(|class| (edge.edges.commanded.count(class), class)).filter(|(count, _)| *count > 0);
    why.extend(counts.map(|(count, class)| format!("{count} edges {class}")));
    if edge.edges.commanded.count(Class::Paired) > 0 {
        why.push("its edges have no tie (echo or bracket), so only their spread is known".to_owned());
    }
    why
}

fn provenance(record: &RunRecord, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let from = &record.provenance;
    let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
    let mut list = vec![
        ("image", format!("{} {}", from.image, short(&from.image_sha256))),
        ("ppsrig", format!("{} ({})", from.ppsrig_version, from.ppsrig_commit)),
        ("bench", from.bench_file.clone()),
        ("seed", record.plan.seed.to_string()),
    ];
    if let Some(identity) = &analysis.identity {
        list.push(("board", identity.board.to_string()));
        list.push(("firmware", identity.git_hash.to_string()));
    }
    list.retain(|(_, value)| !value.is_empty());
    list
}

/// What of a file tells it from another: the whole of a small one; of a large one its length, where it begins and where it
/// ends, since hashing costs more than reading samples.
const MOST_HASHED: u64 = 1 << 20;

/// SHA-256 over what tells these files from others.
fn fingerprint(files: &[PathBuf]) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    for path in files {
        let read = || -> io::Result<(u64, Vec<u8>)> {
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            let mut bytes = Vec::new();
            file.by_ref().take(MOST_HASHED).read_to_end(&mut bytes)?;
            file.seek(SeekFrom::Start(length.saturating_sub(MOST_HASHED).max(bytes.len() as u64)))?;
            file.take(MOST_HASHED).read_to_end(&mut bytes)?;
            Ok((length, bytes))
        };
        let (length, bytes) = read().with_context(|| format!("cannot read {}", path.display()))?;
        hash.update(length.to_le_bytes());
        hash.update(bytes);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
