"""Reads what `ppsrig history --parquet` wrote, as a fleet's analyst would: read_history.py DIR. Prints one JSON list of rows."""

import json
import pathlib
import sys

import duckdb

pattern = str(pathlib.Path(sys.argv[1]) / "**" / "*.parquet")
rows = duckdb.sql(
    "select bench, cast(date as varchar) as date, variant, metric, unit, n, value, ci95_low, emulated, "
    "epoch_us(started_utc) as started_us, run "
    f"from read_parquet('{pattern}', hive_partitioning = true, hive_types_autocast = false) order by date, run, metric, variant"
)
names = [column[0] for column in rows.description]
print(json.dumps([dict(zip(names, row)) for row in rows.fetchall()]))
