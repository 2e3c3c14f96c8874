//! A file, gzip or stdin to a series: in pieces, whatever its size.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, IsTerminal, Read as _};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use flate2::read::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};

use crate::formats::series::{ReadOptions, SeriesReader};
use crate::series::{Input, Series};

/// Bytes of one read.
const PIECE: usize = 1 << 20;
/// What gzip begins with (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What is done sooner needs no bar.
const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// From one look at the bar to the next.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// A file that was read.
#[derive(Debug)]
pub(super) struct FileRead {
    pub(super) series: Series,
    pub(super) input: Input,
    /// It was compressed.
    pub(super) gzip: bool,
    /// The compressed data end early.
    pub(super) cut: bool,
}

/// How a file is called in messages.
pub(super) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

/// Reads a series from a file, or from stdin where the path is `-`.
pub(super) fn read(path: &Path, options: &ReadOptions, progress: &Progress) -> anyhow::Result<FileRead> {
    let name = name_of(path);
    let bytes: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).with_context(|| format!("{name}: cannot be opened"))?;
        let facts = file.metadata().with_context(|| format!("{name}: cannot be read"))?;
        if facts.is_dir() {
            bail!("{name}: a folder; give a file in it, as edges.csv of a run bundle");
        }
        progress.expect(facts.len());
        Box::new(file)
    };
    read_from(bytes, &name, options, progress)
}

fn read_from(
    bytes: impl io::Read,
    name: &str,
    options: &ReadOptions,
    progress: &Progress,
) -> anyhow::Result<FileRead> {
    let mut bytes = Counted { bytes, count: Rc::clone(&progress.done) };
    let mut begin = Vec::new();
    bytes
        .by_ref()
        .take(GZIP.len() as u64)
        .read_to_end(&mut begin)
        .with_context(|| format!("{name}: cannot be read"))?;
    let gzip = begin == GZIP;
    let whole = Cursor::new(begin).chain(bytes);
    let mut plain: Box<dyn io::Read + '_> = if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(PIECE, whole)))
    } else {
        Box::new(whole)
    };
    let mut reader = SeriesReader::new(options.clone());
    let mut piece = vec![0; PIECE];
    let (mut at, mut cut) = (0_u64, false);
    loop {
        let length = match plain.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if gzip && error.kind() == ErrorKind::UnexpectedEof && options.lenient => {
                cut = true;
                break;
            }
            Err(error) if gzip && error.kind() == ErrorKind::UnexpectedEof => {
                bail!(
                    "{name}: its gzip data end early, after {at} bytes of text (--lenient takes what is there)"
                )
            }
            Err(error) if gzip => {
                return Err(error)
                    .with_context(|| format!("{name}: its gzip data are damaged, after {at} bytes of text"));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("{name}: cannot be read after {at} bytes"));
            }
        };
        at += length as u64;
        reader.push(&piece[..length]).map_err(|error| anyhow!("{name}: {error}"))?;
        progress.show();
    }
    drop(piece);
    let read = reader.finish().map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(FileRead { series: read.series, input: read.input, gzip, cut })
}

/// Counts what is read.
struct Counted<R> {
    bytes: R,
    count: Rc<Cell<u64>>,
}

impl<R: io::Read> io::Read for Counted<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(piece)?;
        self.count.set(self.count.get() + length as u64);
        Ok(length)
    }
}

/// Shows how far the reading is: on a terminal, and only where it takes long.
pub(super) struct Progress {
    terminal: bool,
    began: Instant,
    shown: Cell<Instant>,
    /// Bytes of the file that were read.
    done: Rc<Cell<u64>>,
    length: Cell<u64>,
    bar: RefCell<Option<ProgressBar>>,
}

impl Progress {
    /// A bar if stderr is a terminal that can show one.
    pub(super) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let now = Instant::now();
        Self {
            terminal: io::stderr().is_terminal() && !dumb,
            began: now,
            shown: Cell::new(now),
            done: Rc::default(),
            length: Cell::new(0),
            bar: RefCell::new(None),
        }
    }

    /// The file has so many bytes; 0 if that is not known.
    fn expect(&self, length: u64) {
        self.length.set(length);
    }

    fn show(&self) {
        if !self.terminal || self.began.elapsed() < SHOWN_AFTER || self.shown.get().elapsed() < SHOWN_EVERY {
            return;
        }
        self.shown.set(Instant::now());
        let mut bar = self.bar.borrow_mut();
        let bar = bar.get_or_insert_with(|| match self.length.get() {
            0 => ProgressBar::new_spinner().with_style(style("{spinner} reading {bytes}")),
            length => ProgressBar::new(length).with_style(
                style("reading [{bar:16}] {bytes} of {total_bytes}, {eta} left").progress_chars("=> "),
            ),
        });
        bar.set_position(self.done.get());
    }

    /// The series was read and is looked at.
    pub(super) fn computing(&self, points: usize) {
        self.clear();
        if self.terminal && self.began.elapsed() >= SHOWN_AFTER {
            let bar = ProgressBar::new_spinner().with_style(style("{spinner} {msg}"));
            bar.set_message(format!("computing, {points} points"));
            bar.enable_steady_tick(SHOWN_EVERY);
            *self.bar.borrow_mut() = Some(bar);
        }
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well-formed")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
