//! What is asked of a history.

use rusqlite::{Row, ToSql};
use serde::Serialize;

use super::{History, HistoryError};

/// The golden image's name among a night's images.
pub const GOLDEN: &str = "golden";

/// What is left in. Empty: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The bench.
    pub bench: Option<String>,
    /// The image: the plan's name for it, or its file name, or the beginning of its hash.
    pub image: Option<String>,
    /// edge, path, ctime, or the plan's name of a measure.
    pub measurement: Option<String>,
    /// As in summary.csv.
    pub metric: Option<String>,
    /// Begun on this day (UTC) or later: YYYY-MM-DD.
    pub since: Option<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Relative to the results folder.
    pub folder: String,
    /// The night that it belongs to; empty: none.
    pub night: String,
    /// The plan's name for what was measured; empty without night.
    pub measure: String,
    /// The plan's name of the image, or its file name.
    pub image: String,
    /// Its SHA-256.
    pub image_sha256: String,
    /// The bench.
    pub bench: String,
    /// What was measured.
    pub measurements: String,
    /// UTC, ISO 8601; empty: not known.
    pub started_utc: String,
    /// complete, partial; empty without summary.
    pub status: String,
    /// passed, failed, invalid, not-done, unjudged; empty without summary.
    pub outcome: String,
    /// Its exit code.
    pub exit: Option<u8>,
    /// The decisive reason.
    pub reason: String,
    /// Whether its board was emulated.
    pub emulated: Option<bool>,
    /// live, exact.
    pub clock: String,
    /// Its seed, decimal.
    pub seed: String,
    /// Why there are no figures.
    pub problem: String,
}

/// A night.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NightRow {
    /// Relative to the results folder.
    pub folder: String,
    /// The plan's name.
    pub plan: String,
    /// The bench.
    pub bench: String,
    /// UTC, ISO 8601; empty: not known.
    pub started_utc: String,
    /// As of a run.
    pub outcome: String,
    /// Its exit code.
    pub exit: Option<u8>,
    /// Why, the decisive reasons first.
    pub reasons: Vec<String>,
    /// well, sick; empty: not measured.
    pub health: String,
    /// Why the bench was sick.
    pub offline: Vec<String>,
    /// Why there is no outcome.
    pub problem: String,
}

/// A figure with its run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureOfRun {
    /// The run's folder.
    pub run: String,
    /// The night's; empty: none.
    pub night: String,
    /// The night's plan; empty: none.
    pub plan: String,
    /// The night's start, or the run's.
    pub night_utc: String,
    /// The plan's name for what was measured.
    pub measure: String,
    /// The plan's name of the image, or its file name.
    pub image: String,
    /// Its SHA-256.
    pub image_sha256: String,
    /// The bench.
    pub bench: String,
    /// The run's start.
    pub started_utc: String,
    /// Whether its board was emulated.
    pub emulated: Option<bool>,
    /// live, exact.
    pub clock: String,
    /// Whether the run is one to judge by: complete, its verdict not without reference, its bench not sick.
    pub trusted: bool,
    /// As in summary.csv.
    pub measurement: String,
    /// As in summary.csv.
    pub variant: String,
    /// As in summary.csv.
    pub clock_id: String,
    /// As in summary.csv.
    pub cores: String,
    /// As in summary.csv.
    pub mode: String,
    /// As in summary.csv.
    pub tie: String,
    /// As in summary.csv.
    pub rate_hz: String,
    /// As in summary.csv.
    pub metric: String,
    /// As in summary.csv.
    pub unit: String,
    /// As in summary.csv.
    pub n: i64,
    /// As in summary.csv.
    pub sessions: i64,
    /// As in summary.csv.
    pub value: Option<f64>,
    /// As in summary.csv.
    pub ci95_low: Option<f64>,
    /// As in summary.csv.
    pub ci95_high: Option<f64>,
    /// As in summary.csv.
    pub u_systematic: Option<f64>,
    /// As in summary.csv.
    pub verdict: String,
}

const RUNS: &str = "SELECT r.folder, coalesce(s.night, ''), coalesce(s.measure, ''), coalesce(s.image, r.image), \
    r.image_sha256, r.bench, r.measurements, r.started_utc, r.status, r.outcome, r.exit, r.reason, r.emulated, \
    r.clock, r.seed, r.problem FROM runs r LEFT JOIN steps s ON s.folder = r.folder WHERE 1";

const FIGURES: &str = "SELECT r.folder, coalesce(s.night, ''), coalesce(t.plan, ''), \
    coalesce(t.started_utc, r.started_utc), coalesce(s.measure, ''), coalesce(s.image, r.image), r.image_sha256, \
    r.bench, r.started_utc, r.emulated, r.clock, \
    r.status = 'complete' AND r.outcome NOT IN ('invalid', 'not-done') AND coalesce(t.health, '') <> 'sick' \
    AND f.verdict NOT IN ('invalid', 'refused'), \
    f.measurement, f.variant, f.clock_id, f.cores, f.mode, f.tie, f.rate_hz, f.metric, f.unit, f.n, f.sessions, \
    f.value, f.ci95_low, f.ci95_high, f.u_systematic, f.verdict \
    FROM figures f JOIN runs r ON r.id = f.run LEFT JOIN steps s ON s.folder = r.folder \
    LEFT JOIN nights t ON t.folder = s.night WHERE 1";

impl Filter {
    /// Conditions on runs `r` and steps `s`, with what is bound to them.
    fn of_runs(&self) -> (String, Vec<String>) {
        let (mut sql, mut bound) = (String::new(), Vec::new());
        let mut and = |condition: &str, value: &Option<String>| {
            if let Some(value) = value {
                bound.push(value.clone());
                let condition = condition.replace('?', &format!("?{}", bound.len()));
                sql.push_str(&format!(" AND ({condition})"));
            }
        };
        and("r.bench = ?", &self.bench);
        let image = "s.image = ? OR r.image = ? OR (length(?) >= 6 AND substr(r.image_sha256, 1, length(?)) = lower(?))";
        and(image, &self.image);
        and("',' || r.measurements || ',' LIKE '%,' || ? || ',%' OR s.measure = ?", &self.measurement);
        and("r.started_utc >= ?", &self.since);
        (sql, bound)
    }
}

impl History {
    /// The runs, newest first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Run>, HistoryError> {
        let (conditions, bound) = filter.of_runs();
        let sql = format!("{RUNS}{conditions} ORDER BY r.started_utc DESC, r.folder DESC");
        self.rows(&sql, &bound, |row| {
            Ok(Run {
                folder: row.get(0)?,
                night: row.get(1)?,
                measure: row.get(2)?,
                image: row.get(3)?,
                image_sha256: row.get(4)?,
                bench: row.get(5)?,
                measurements: row.get(6)?,
                started_utc: row.get(7)?,
                status: row.get(8)?,
                outcome: row.get(9)?,
                exit: row.get(10)?,
                reason: row.get(11)?,
                emulated: row.get(12)?,
                clock: row.get(13)?,
                seed: row.get(14)?,
                problem: row.get(15)?,
            })
        })
    }

    /// The nights, newest first. Of the filter, bench and day hold.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn nights(&self, filter: &Filter) -> Result<Vec<NightRow>, HistoryError> {
        let sql = "SELECT folder, plan, bench, started_utc, outcome, exit, reasons, health, offline, problem \
                   FROM nights WHERE (?1 = '' OR bench = ?1) AND started_utc >= ?2 \
                   ORDER BY started_utc DESC, folder DESC";
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let bound = [text(&filter.bench), text(&filter.since)];
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        self.rows(sql, &bound, |row| {
            Ok(NightRow {
                folder: row.get(0)?,
                plan: row.get(1)?,
                bench: row.get(2)?,
                started_utc: row.get(3)?,
                outcome: row.get(4)?,
                exit: row.get(5)?,
                reasons: lines(row.get(6)?),
                health: row.get(7)?,
                offline: lines(row.get(8)?),
                problem: row.get(9)?,
            })
        })
    }

    /// The figures, oldest run first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn figures(&self, filter: &Filter) -> Result<Vec<FigureOfRun>, HistoryError> {
        let (mut conditions, mut bound) = filter.of_runs();
        if let Some(metric) = &filter.metric {
            bound.push(metric.clone());
            conditions.push_str(&format!(" AND f.metric = ?{}", bound.len()));
        }
        let sql = format!("{FIGURES}{conditions} ORDER BY r.started_utc, r.folder, f.rowid");
        self.rows(&sql, &bound, figure)
    }

    fn rows<T>(
        &self,
        sql: &str,
        bound: &[String],
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, HistoryError> {
        let read = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(sql)?;
            let bound = bound.iter().map(|value| value as &dyn ToSql).collect::<Vec<_>>();
            statement.query_map(bound.as_slice(), row)?.collect()
        };
        read().map_err(|source| HistoryError::Database { path: self.path.clone(), source })
    }
}

fn figure(row: &Row<'_>) -> rusqlite::Result<FigureOfRun> {
    Ok(FigureOfRun {
        run: row.get(0)?,
        night: row.get(1)?,
        plan: row.get(2)?,
        night_utc: row.get(3)?,
        measure: row.get(4)?,
        image: row.get(5)?,
        image_sha256: row.get(6)?,
        bench: row.get(7)?,
        started_utc: row.get(8)?,
        emulated: row.get(9)?,
        clock: row.get(10)?,
        trusted: row.get(11)?,
        measurement: row.get(12)?,
        variant: row.get(13)?,
        clock_id: row.get(14)?,
        cores: row.get(15)?,
        mode: row.get(16)?,
        tie: row.get(17)?,
        rate_hz: row.get(18)?,
        metric: row.get(19)?,
        unit: row.get(20)?,
        n: row.get(21)?,
        sessions: row.get(22)?,
        value: row.get(23)?,
        ci95_low: row.get(24)?,
        ci95_high: row.get(25)?,
        u_systematic: row.get(26)?,
        verdict: row.get(27)?,
    })
}
