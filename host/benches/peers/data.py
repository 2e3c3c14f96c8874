"""Makes what is measured with, once, below build/benchmark: phase series, and samples as CSV and as a spool.

The spool is written here from results/README.md alone, so that what reads it is tried on bytes that it did not write.
"""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

YEAR = 31_536_000
ROWS = 10_000_000


def phase(n: int) -> np.ndarray:
    """White phase noise of 5 ns, white and random-walk frequency noise, and a sine a day; seconds, one a second."""
    random = np.random.default_rng(20261130)
    frequency = 1e-10 * random.standard_normal(n) + np.cumsum(1e-14 * random.standard_normal(n))
    day = 20e-9 * np.sin(2 * np.pi * np.arange(n) / 86400)
    return 5e-9 * random.standard_normal(n) + np.cumsum(frequency) + day


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counter values of a loop at 12.5 MHz, and those some 45 ns later, with a tail of one in a thousand."""
    random = np.random.default_rng(1)
    pre = np.cumsum(random.integers(300, 340, n, dtype=np.uint64)) + np.uint64(123_456_789_012)
    ticks = (random.random(n) < 0.5642).astype(np.uint64)
    tail = random.random(n) < 0.001
    ticks[tail] += random.integers(1, 5, int(tail.sum())).astype(np.uint64)
    return pre, pre + ticks


def spool(path: Path, pre: np.ndarray, snapshot: np.ndarray) -> None:
    records = np.column_stack([pre, snapshot]).astype("<u8").tobytes()

    def summed(head: bytes) -> bytes:
        return head + struct.pack("<I", zlib.crc32(head))

    with path.open("wb") as file:
        file.write(summed(b"\x89PPS\r\n\x1a\n" + struct.pack("<HHHHQI", 1, 32, 1, 16, 12_500_000, 0)))
        for at in range(0, len(pre), 4096):
            block = records[16 * at : 16 * (at + 4096)]
            head = b"BLK1" + struct.pack("<IQII", len(block) // 16, at, 1, 0)
            head += b"inline".ljust(32, b"\0") + b"realtime".ljust(16, b"\0")
            file.write(summed(head + struct.pack("<I", zlib.crc32(block))) + block)
        file.write(summed(b"END1" + struct.pack("<IQII", 0, len(pre), 0, 0) + bytes(52)))


def make(folder: Path) -> None:
    """Makes whatever is not there yet."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)

    def missing(name: str):
        """The file under another name until it is whole, so that one cut short is made again."""
        path = folder / name
        if path.exists():
            return None
        print(f"making {name}", flush=True)
        return folder / f"{name}.part"

    def done(part: Path) -> None:
        part.rename(part.with_suffix(""))

    for name, n in [("1e5", 10**5), ("1e6", 10**6), ("1e7", 10**7)]:
        if part := missing(f"phase-{name}.f64"):
            phase(n).astype("<f8").tofile(part)
            done(part)
    if part := missing("drift-1e7.f64"):
        (1e-6 * np.arange(10**7)).astype("<f8").tofile(part)
        done(part)
    for name, n in [("1e6", 10**6), ("year", YEAR)]:
        if part := missing(f"phase-{name}.txt"):
            pl.DataFrame({"x": phase(n)}).write_csv(part, include_header=False, float_precision=12)
            done(part)
    files = ["pairs.csv", "columns.csv", "pairs.spool"]
    if any(not (folder / name).exists() for name in files):
        pre, snapshot = pairs(ROWS)
        columns = pl.DataFrame(
            {"seq": np.arange(ROWS), "counter_pre": pre, "counter_snapshot": snapshot}
        )
        if part := missing("columns.csv"):
            columns.write_csv(part)
            done(part)
        if part := missing("pairs.csv"):
            whose = [
                pl.lit(1).alias("session"),
                pl.lit("inline").alias("variant"),
                pl.lit("realtime").alias("clock_id"),
            ]
            columns.select(whose + [pl.all()]).write_csv(part)
            done(part)
        if part := missing("pairs.spool"):
            spool(part, pre, snapshot)
            done(part)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
