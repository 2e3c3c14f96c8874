"""One call of a peer, in a process of its own: prints one JSON object with its CPU seconds and what came of it."""

import json
import sys
import time


def factors(text: str) -> list[int]:
    """A JSON list, or `all:MOST`, which would be too long for a command line."""
    return list(range(1, int(text[4:]) + 1)) if text.startswith("all:") else json.loads(text)


def allantools_call(file: str, deviation: str, factors: list[int]) -> dict:
    import allantools
    import numpy

    data = numpy.fromfile(file, dtype="<f8")
    began = time.process_time()
    taus, values, _, counts = getattr(allantools, deviation)(data, rate=1.0, data_type="phase", taus=factors)
    cpu_s = time.process_time() - began
    rows = [{"m": round(t), "n": int(n), "value": float(v)} for t, v, n in zip(taus, values, counts)]
    return {"cpu_s": cpu_s, "rows": [row for row in rows if row["m"] & (row["m"] - 1) == 0]}


def allantools_text(file: str, deviation: str, factors: list[int]) -> dict:
    import allantools
    import numpy

    began = time.process_time()
    data = numpy.loadtxt(file)
    taus, values, _, counts = getattr(allantools, deviation)(data, rate=1.0, data_type="phase", taus=factors)
    rows = [{"m": round(t), "n": int(n), "value": float(v)} for t, v, n in zip(taus, values, counts)]
    return {"cpu_s": time.process_time() - began, "rows": rows}


def polars_call(file: str) -> dict:
    import polars as pl

    began = time.process_time()
    ticks = (pl.col("counter_snapshot") - pl.col("counter_pre")).alias("ticks")
    counts = pl.scan_csv(file).select(ticks).group_by("ticks").len().collect(engine="streaming")
    n = counts["len"].sum()
    mean = (counts["ticks"] * counts["len"]).sum() / n
    return {"cpu_s": time.process_time() - began, "n": n, "mean_ticks": mean}


if __name__ == "__main__":
    what, file, *rest = sys.argv[1:]
    match what:
        case "allantools":
            said = allantools_call(file, rest[0], factors(rest[1]))
        case "allantools-text":
            said = allantools_text(file, rest[0], factors(rest[1]))
        case "polars":
            said = polars_call(file)
        case _:
            sys.exit(f"no peer {what}")
    print(json.dumps(said))
