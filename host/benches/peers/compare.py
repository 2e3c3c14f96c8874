"""Measures ppsrig beside allantools, polars and the csv crate, in one run on one machine, by turns, one thread each.

Every figure is of processes of their own: CPU seconds (user and system) and the peak of resident memory, from wait4. `call`
is the CPU time of the call alone, as the process says; `process` that of the whole process. Medians of five, or of three
where one takes seconds. Answers are compared first: a fast wrong one ends it. Leaves build/benchmark.json.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "benchmark"
RESULT = ROOT / "build" / "benchmark.json"
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "build")) / "release"
CALLS = RELEASE / "examples" / "calls"
PPSRIG = RELEASE / "ppsrig"
PEER = [sys.executable, str(Path(__file__).with_name("peer.py"))]
DEADLINE_S = 900


class Run:
    """One process: what it said, its CPU seconds and its peak memory."""

    def __init__(self, command, exits=(0,)):
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([str(part) for part in command], stdout=out, stdin=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read().decode()
        if process.returncode not in exits:
            sys.exit(f"{command}: exit {process.returncode}\n{text}")
        self.said = json.loads(text)
        self.process = used.ru_utime + used.ru_stime
        self.call = self.said.get("cpu_s", self.process)
        self.peak = used.ru_maxrss * 1024


class Side:
    """Who is measured, and how."""

    def __init__(self, command, name="ppsrig", of="call", exits=(0,)):
        self.command, self.name, self.of, self.exits = command, name, of, exits
        self.runs = []

    def run(self):
        self.runs.append(Run(self.command, self.exits))

    @property
    def cpu_s(self):
        """Of the call, or the whole process."""
        return median(getattr(run, self.of) for run in self.runs)

    @property
    def peak(self):
        return max(run.peak for run in self.runs)


def versions():
    crates = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    csv = next(crate["version"] for crate in crates if crate["name"] == "csv")
    return {"allantools": version("allantools"), "polars": version("polars"), "csv crate": csv}


class Table:
    def __init__(self):
        self.versions = versions()
        self.entries = []

    def measure(self, rounds, sides):
        """By turns, so that what else the machine does meets all alike."""
        for _ in range(rounds):
            for side in sides:
                side.run()

    def entry(self, name, ours, peer=None, at_most=None, ratio=None, at_least=None, peak=None, note=""):
        """`ratio` and `at_least`: ours over the peer's, at most, or the peer's over ours, at least; `at_most` seconds."""
        entry = {
            "name": name,
            "of": ours.of,
            "cpu_s": ours.cpu_s,
            "peak_bytes": ours.peak,
            "peer": peer and peer.name,
            "peer_version": peer and self.versions[peer.name],
            "peer_cpu_s": peer and peer.cpu_s,
            "peer_peak_bytes": peer and peer.peak,
            "ratio": peer and ours.cpu_s / peer.cpu_s,
            "rounds": len(ours.runs),
            "note": note,
        }
        targets = []
        if at_most is not None:
            targets.append((f"<= {at_most:g} s", ours.cpu_s <= at_most))
        if ratio is not None:
            targets.append((f"<= {ratio:g} of it", entry["ratio"] <= ratio))
        if at_least is not None:
            targets.append((f">= {at_least:g} x less", entry["ratio"] <= 1 / at_least))
        if peak is not None:
            targets.append((f"<= {peak / 2**20:.0f} MiB", ours.peak <= peak))
        entry["targets"] = [{"target": text, "met": bool(met)} for text, met in targets]
        self.entries.append(entry)
        print(line(entry), flush=True)


def line(entry):
    ratio = entry["ratio"]
    if ratio is None:
        beside = ""
    elif ratio < 0.2:
        beside = f"{1 / ratio:,.1f} x less than {entry['peer']} {entry['peer_cpu_s']:.4g} s"
    else:
        beside = f"{ratio:.3f} of {entry['peer']} {entry['peer_cpu_s']:.4g} s"
    peaks = f"{entry['peak_bytes'] / 2**20:.0f}"
    if entry["peer_peak_bytes"]:
        peaks += f"/{entry['peer_peak_bytes'] / 2**20:.0f}"
    targets = ", ".join(
        f"{target['target']}: {'met' if target['met'] else 'MISSED'}" for target in entry["targets"]
    )
    return f"{entry['name']:<44} {entry['cpu_s']:>8.4f} s {peaks:>10} MiB  {beside:<40} {targets}"


def same(name, ours, theirs, to=1e-6):
    """What is measured must have come to the same."""
    mine = {row["m"]: row for row in ours.said["rows"]}
    both = [(mine[row["m"]], row) for row in theirs.said["rows"] if row["m"] in mine]
    if not both:
        sys.exit(f"{name}: no averaging time in common")
    for own, other in both:
        if not math.isclose(own["value"], other["value"], rel_tol=to):
            sys.exit(f"{name}: at m = {own['m']} ppsrig says {own['value']}, the peer {other['value']}")


def factors(most):
    return [2**k for k in range(64) if 2**k <= most]


# Terms there are at m points: the longest averaging time of n phase points.
LONGEST = {"oadev": lambda n: (n - 1) // 2, "mdev": lambda n: n // 3, "ohdev": lambda n: (n - 1) // 3}


def stability(table):
    for size, n in [("1e6", 10**6), ("1e7", 10**7)]:
        for deviation, least in [("oadev", 15), ("mdev", 15), ("ohdev", 12)]:
            file = FOLDER / f"phase-{size}.f64"
            call = [CALLS, "stability", file, deviation, "octave"]
            best, scalar = Side([*call, "best"]), Side([*call, "scalar"])
            taus = json.dumps(factors(LONGEST[deviation](n)))
            peer = Side([*PEER, "allantools", file, deviation, taus], "allantools")
            table.measure(5, [best, peer, scalar])
            name = f"{deviation} {size}, octave"
            same(name, best.runs[0], peer.runs[0])
            same(name, scalar.runs[0], peer.runs[0])
            used = best.runs[0].said["instructions"]
            peak = 2.5 * 8 * n if n >= 10**7 else None
            table.entry(f"{name}, {used}", best, peer, at_least=least, peak=peak)
            table.entry(f"{name}, scalar", scalar, peer, at_least=6)


def mtie(table, full):
    file = FOLDER / "phase-1e6.f64"
    most = (10**6 - 1) // 2 if full else 4096
    taus = f"octave:{most}"
    ours = Side([CALLS, "stability", file, "mtie", taus, "best"])
    peer = Side([*PEER, "allantools", file, "mtie", json.dumps(factors(most))], "allantools")
    table.measure(5, [ours])
    table.measure(1, [peer])
    name = "mtie 1e6, octave" if full else f"mtie 1e6, octave to m = {most}"
    same(name, ours.runs[0], peer.runs[0], 1e-12)
    note = "" if full else "the peer's cost grows with m; --full takes all of them, some minutes"
    table.entry(name, ours, peer, at_least=5000 if full else None, note=note)
    for name, file in [("random", "phase-1e7.f64"), ("pure drift", "drift-1e7.f64")]:
        ours = Side([CALLS, "stability", FOLDER / file, "mtie", "octave", "best"])
        table.measure(5, [ours])
        table.entry(f"mtie 1e7, octave, {name}", ours, at_most=0.6, peak=2.5 * 8e7)


def many(table):
    file = FOLDER / "phase-1e5.f64"
    ours = Side([CALLS, "stability", file, "oadev", "all", "best"])
    most = LONGEST["oadev"](10**5)
    peer = Side([*PEER, "allantools", file, "oadev", f"all:{most}"], "allantools")
    table.measure(3, [ours])
    table.measure(1, [peer])
    same("all taus", ours.runs[0], peer.runs[0])
    table.entry("oadev 1e5, all taus", ours, peer, at_most=1)

    file = FOLDER / "phase-1e6.txt"
    ours = Side([PPSRIG, "stability", file, "--dev", "oadev", "--tau0", "1", "--json"], of="process")
    taus = json.dumps(factors(LONGEST["oadev"](10**6)))
    peer = Side([*PEER, "allantools-text", file, "oadev", taus], "allantools", of="process")
    table.measure(3, [ours, peer])
    same("a text file", ours.runs[0], peer.runs[0])
    table.entry("oadev 1e6, octave, of a text file", ours, peer)

    year = [PPSRIG, "stability", FOLDER / "phase-year.txt", "--dev", "all", "--tau0", "1", "--json"]
    ours = Side(year, of="process")
    table.measure(3, [ours])
    table.entry("a year at 1 Hz, 13 deviations, of a text file", ours, at_most=10, peak=2**30)


def samples(table):
    for name, file in [("pairs.csv", "pairs.csv"), ("three columns", "columns.csv")]:
        file = FOLDER / file
        ours = Side([CALLS, "samples", file], of="process")
        polars = Side([*PEER, "polars", file], "polars", of="process")
        crate = Side([CALLS, "csv-crate", file], "csv crate", of="process")
        table.measure(5, [ours, polars, crate])
        agree(name, [ours, polars, crate])
        table.entry(f"1e7 rows, {name}", ours, polars, ratio=0.25, peak=64 * 2**20)
        table.entry(f"1e7 rows, {name}", ours, crate, ratio=0.5)
        for side in [ours, polars, crate]:
            side.of = "call"
        table.entry(f"1e7 rows, {name}, call alone", ours, polars)
        table.entry(f"1e7 rows, {name}, call alone", ours, crate)
    ours = Side([CALLS, "samples", FOLDER / "pairs.spool"], of="process")
    crate = Side([CALLS, "csv-crate", FOLDER / "pairs.csv"], "csv crate", of="process")
    table.measure(5, [ours, crate])
    agree("pairs.spool", [ours, crate])
    table.entry("1e7 pairs, pairs.spool (peer: pairs.csv)", ours, crate, at_most=0.1, peak=64 * 2**20)
    for name in ["pairs.csv", "pairs.spool"]:
        command = [PPSRIG, "compare", FOLDER / name, "--counter-hz", "12500000", "--json"]
        ours = Side(command, of="process", exits=(0, 3))
        table.measure(5, [ours])
        table.entry(f"ppsrig compare of {name}", ours)


def agree(name, sides):
    first, *others = [side.runs[0].said for side in sides]
    for other in others:
        if other["n"] != first["n"] or not math.isclose(other["mean_ticks"], first["mean_ticks"], rel_tol=1e-12):
            sys.exit(f"{name}: ppsrig says {first}, the peer {other}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="MTIE of 1e6 points at all octave taus with the peer too")
    parser.add_argument("--only", choices=["stability", "mtie", "many", "samples"], help="one part; writes no file")
    arguments = parser.parse_args()
    # In a process of its own: a process that is started has the peak of the one that started it, until it passes it.
    subprocess.run([sys.executable, Path(__file__).with_name("data.py"), FOLDER], check=True)
    table = Table()
    parts = {
        "stability": lambda: stability(table),
        "mtie": lambda: mtie(table, arguments.full),
        "many": lambda: many(table),
        "samples": lambda: samples(table),
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            part()
    missed = [entry["name"] for entry in table.entries if not all(target["met"] for target in entry["targets"])]
    print(f"targets missed: {', '.join(missed) if missed else 'none'}")
    if arguments.only is None:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        RESULT.write_text(json.dumps({"machine": machine, "figures": table.entries}, indent=1) + "\n")
        print(RESULT.relative_to(ROOT))


if __name__ == "__main__":
    main()
