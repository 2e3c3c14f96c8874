//! Writes what was found into the database: only what is new or has changed is read.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::figures::FigureRow;
use super::scan::{Found, Kind, Scan};
use super::{Refreshed, entry};

/// Folders by name, with their fingerprint.
type Known = HashMap<String, String>;

pub(super) fn bring_up_to_date(connection: &Connection, scan: &Scan) -> rusqlite::Result<Refreshed> {
    let mut done = Refreshed { words: scan.words.clone(), ..Refreshed::default() };
    for (kind, table) in [(Kind::Night, "nights"), (Kind::Run, "runs")] {
        let mut known = known(connection, table)?;
        for found in scan.found.iter().filter(|found| found.kind == kind) {
            match known.remove(&found.name) {
                Some(fingerprint) if fingerprint == found.fingerprint => {
                    done.unchanged += 1;
                    continue;
                }
                Some(_) => remove(connection, kind, &found.name)?,
                None => {}
            }
            match kind {
                Kind::Run => put_run(connection, found)?,
                Kind::Night => put_night(connection, found)?,
            }
            done.read += 1;
        }
        for gone in known.keys() {
            remove(connection, kind, gone)?;
            done.removed += 1;
        }
    }
    Ok(done)
}

fn known(connection: &Connection, table: &str) -> rusqlite::Result<Known> {
    let mut statement = connection.prepare(&format!("SELECT folder, fingerprint FROM {table}"))?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn remove(connection: &Connection, kind: Kind, folder: &str) -> rusqlite::Result<()> {
    let statements = match kind {
        Kind::Run => [
            "DELETE FROM figures WHERE run IN (SELECT id FROM runs WHERE folder = ?1)",
            "DELETE FROM runs WHERE folder = ?1",
        ],
        Kind::Night => ["DELETE FROM steps WHERE night = ?1", "DELETE FROM nights WHERE folder = ?1"],
    };
    for statement in statements {
        connection.prepare_cached(statement)?.execute([folder])?;
    }
    Ok(())
}

fn put_run(connection: &Connection, found: &Found) -> rusqlite::Result<()> {
    let run = entry::run(&found.path);
    let mut insert = connection.prepare_cached(
        "INSERT INTO runs (folder, fingerprint, bench, measurements, image, image_sha256, started_utc, status, \
         outcome, exit, reason, emulated, clock, seed, problem) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let id = insert.insert(params![
        found.name,
        found.fingerprint,
        run.bench,
        run.measurements,
        run.image,
        run.image_sha256,
        run.started_utc,
        run.status,
        run.outcome,
        run.exit,
        run.reason,
        run.emulated,
        run.clock,
        run.seed,
        run.problem,
    ])?;
    run.figures.iter().try_for_each(|figure| put_figure(connection, id, figure))
}

fn put_figure(connection: &Connection, run: i64, figure: &FigureRow) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO figures VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    let mut at = 1;
    let mut bind = |value: &dyn rusqlite::ToSql| {
        at += 1;
        insert.raw_bind_parameter(at - 1, value)
    };
    bind(&run)?;
    figure.names.iter().try_for_each(|name| bind(name))?;
    bind(&figure.n)?;
    bind(&figure.sessions)?;
    figure.numbers.iter().try_for_each(|number| bind(number))?;
    bind(&figure.verdict)?;
    insert.raw_execute().map(|_| ())
}

fn put_night(connection: &Connection, found: &Found) -> rusqlite::Result<()> {
    let night = entry::night(&found.path);
    let mut insert = connection
        .prepare_cached("INSERT INTO nights VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?;
    insert.execute(params![
        found.name,
        found.fingerprint,
        night.plan,
        night.bench,
        night.started_utc,
        night.outcome,
        night.exit,
        night.reasons.join("\n"),
        night.health,
        night.offline.join("\n"),
        night.problem,
    ])?;
    let mut insert = connection.prepare_cached("INSERT OR REPLACE INTO steps VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (bundle, measure, image, round) in night.steps {
        insert.execute(params![format!("{}/{bundle}", found.name), found.name, measure, image, round])?;
    }
    Ok(())
}
