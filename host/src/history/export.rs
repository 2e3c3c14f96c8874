//! The history for those who outgrow one machine: its figures as Parquet, in folders by bench and day.
//!
//! `<dir>/bench=B/date=YYYY-MM-DD/<name>.parquet`: what Hive, Spark, DataFusion and DuckDB call partitions and read in place. The
//! file's name follows from the results folder, so that many machines can write into one tree, and a machine that exports again
//! replaces its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use sha2::{Digest, Sha256};

use super::HistoryError;
use super::query::FigureOfRun;

/// Columns of a Parquet file, in order. Bench and date are the folders'.
const SCHEMA: &str = "message figure {
    REQUIRED BYTE_ARRAY run (STRING);
    REQUIRED BYTE_ARRAY night (STRING);
    REQUIRED BYTE_ARRAY plan (STRING);
    REQUIRED BYTE_ARRAY measure (STRING);
    REQUIRED BYTE_ARRAY image (STRING);
    REQUIRED BYTE_ARRAY image_sha256 (STRING);
    OPTIONAL INT64 started_utc (TIMESTAMP(MICROS,true));
    OPTIONAL BOOLEAN emulated;
    REQUIRED BYTE_ARRAY clock (STRING);
    OPTIONAL BOOLEAN trusted;
    REQUIRED BYTE_ARRAY measurement (STRING);
    REQUIRED BYTE_ARRAY variant (STRING);
    REQUIRED BYTE_ARRAY clock_id (STRING);
    REQUIRED BYTE_ARRAY cores (STRING);
    REQUIRED BYTE_ARRAY mode (STRING);
    REQUIRED BYTE_ARRAY tie (STRING);
    REQUIRED BYTE_ARRAY rate_hz (STRING);
    REQUIRED BYTE_ARRAY metric (STRING);
    REQUIRED BYTE_ARRAY unit (STRING);
    OPTIONAL INT64 n;
    OPTIONAL INT64 sessions;
    OPTIONAL DOUBLE value;
    OPTIONAL DOUBLE ci95_low;
    OPTIONAL DOUBLE ci95_high;
    OPTIONAL DOUBLE u_systematic;
    REQUIRED BYTE_ARRAY verdict (STRING);
}";

/// The days of one bench, or one of them.
type Partitions<'a> = BTreeMap<(String, String), Vec<&'a FigureOfRun>>;

/// Writes a Parquet file a bench and day below `dir`, and says which.
///
/// # Errors
/// [`HistoryError`], naming the file; nothing is left half-written.
pub fn parquet(dir: &Path, results: &Path, figures: &[FigureOfRun]) -> Result<Vec<PathBuf>, HistoryError> {
    let whole = results.canonicalize().unwrap_or_else(|_| results.to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let origin = Sha256::digest(format!("{host}:{}", whole.display()));
    let origin: String = origin.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("ppsrig-{origin}.parquet");
    let mut partitions = Partitions::new();
    for figure in figures {
        let day = figure.started_utc.get(..10).filter(|day| day.parse::<jiff::civil::Date>().is_ok());
        let day = day.unwrap_or("__HIVE_DEFAULT_PARTITION__").to_owned();
        partitions.entry((figure.bench.clone(), day)).or_default().push(figure);
    }
    let mut written = Vec::new();
    for ((bench, day), figures) in partitions {
        let folder = dir.join(format!("bench={}", partition(&bench))).join(format!("date={day}"));
        let path = folder.join(&name);
        let file = |source| HistoryError::File { path: path.clone(), source };
        fs::create_dir_all(&folder).map_err(file)?;
        let scratch =
            tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(&folder).map_err(file)?;
        let to = scratch.reopen().map_err(file)?;
        write(to, &figures).map_err(|source| HistoryError::Parquet { path: path.clone(), source })?;
        super::share(scratch.path(), dir);
        scratch.as_file().sync_all().map_err(file)?;
        scratch.persist(&path).map_err(|error| file(error.error))?;
        written.push(path);
    }
    Ok(written)
}

/// A value as part of a folder's name: letters, digits, `-`, `_` and `.` as they are, all else percent-encoded, which the readers
/// of such trees take back.
fn partition(value: &str) -> String {
    if value.is_empty() {
        return "__HIVE_DEFAULT_PARTITION__".to_owned();
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let of = |(index, byte): (usize, u8)| match byte {
        b'.' if index > 0 => ".".to_owned(),
        byte if plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    value.bytes().enumerate().map(of).collect()
}

fn write(to: File, figures: &[&FigureOfRun]) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    columns(Columns { group: writer.next_row_group()?, figures })?;
    writer.close().map(drop)
}

fn columns(mut group: Columns<'_, '_>) -> Result<(), ParquetError> {
    group.texts(&[|one| &one.run, |one| &one.night, |one| &one.plan, |one| &one.measure])?;
    group.texts(&[|one| &one.image, |one| &one.image_sha256])?;
    group.some::<Int64Type>(|one| micros(&one.started_utc))?;
    group.some::<BoolType>(|one| one.emulated)?;
    group.texts(&[|one| &one.clock])?;
    group.some::<BoolType>(|one| Some(one.trusted))?;
    group.texts(&[|one| &one.measurement, |one| &one.variant, |one| &one.clock_id, |one| &one.cores])?;
    group.texts(&[
        |one| &one.mode,
        |one| &one.tie,
        |one| &one.rate_hz,
        |one| &one.metric,
        |one| &one.unit,
    ])?;
    group.some::<Int64Type>(|one| Some(one.n))?;
    group.some::<Int64Type>(|one| Some(one.sessions))?;
    group.some::<DoubleType>(|one| one.value)?;
    group.some::<DoubleType>(|one| one.ci95_low)?;
    group.some::<DoubleType>(|one| one.ci95_high)?;
    group.some::<DoubleType>(|one| one.u_systematic)?;
    group.texts(&[|one| &one.verdict])?;
    group.group.close().map(drop)
}

fn micros(utc: &str) -> Option<i64> {
    utc.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}

/// The columns of a file's one group of rows, written one behind the other.
struct Columns<'a, 'f> {
    group: SerializedRowGroupWriter<'a, File>,
    figures: &'f [&'f FigureOfRun],
}

impl Columns<'_, '_> {
    fn texts(&mut self, columns: &[fn(&FigureOfRun) -> &String]) -> Result<(), ParquetError> {
        for column in columns {
            let values: Vec<ByteArray> =
                self.figures.iter().map(|one| ByteArray::from(column(one).as_str())).collect();
            self.column::<ByteArrayType>(&values, None)?;
        }
        Ok(())
    }

    fn some<T: DataType>(&mut self, of: impl Fn(&FigureOfRun) -> Option<T::T>) -> Result<(), ParquetError> {
        let all: Vec<Option<T::T>> = self.figures.iter().map(|one| of(one)).collect();
        let levels: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = all.into_iter().flatten().collect();
        self.column::<T>(&values, Some(&levels))
    }

    fn column<T: DataType>(&mut self, values: &[T::T], levels: Option<&[i16]>) -> Result<(), ParquetError> {
        let missing = || ParquetError::General("the schema has fewer columns than are written".to_owned());
        let mut column = self.group.next_column()?.ok_or_else(missing)?;
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()
    }
}

#[cfg(test)]
mod tests {
    use super::partition;

    #[test]
    fn a_bench_of_any_name_is_one_folder() {
        assert_eq!(partition("a53-1.lab"), "a53-1.lab");
        assert_eq!(partition("../x=y/ü"), "%2E.%2Fx%3Dy%2F%C3%BC");
        assert_eq!(partition(""), "__HIVE_DEFAULT_PARTITION__");
    }
}
