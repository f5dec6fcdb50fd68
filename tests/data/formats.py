"""One text in every format there is."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

LINES = [
    'He said "no, never".',
    "中关村北大街, where I lived",
    "a\ttab inside",
    "emoji 👩‍👩‍👧 and é",
    "{'not': 'json'}",
    " leading blank",
    "and, many, commas; 12345*54321=670592745",
] + [f"line {i}: the cat sat on mat {i * i}" for i in range(60)]


def packed(content: bytes, kind: str) -> bytes:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    }
    return pack[kind](content)


def table_csv(lines: list[str]) -> bytes:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(["id", "text", "note"])
    writer.writerows([i, line, "x"] for i, line in enumerate(lines))
    return made.getvalue().encode()


def write(folder: Path, name: str, lines: list[str]) -> Path:
    """The lines under a name whose ending says how; .txt has one a line."""
    path = folder / name
    kind, _, pack = name.partition(".")[2].partition(".")
    if kind == "parquet":
        table = pyarrow.table({"id": list(range(len(lines))), "text": lines})
        pyarrow.parquet.write_table(table, path, row_group_size=13)
        return path
    if kind == "csv":
        content = table_csv(lines)
    elif kind == "tsv":
        content = "".join(f"{i}\t{line}\n" for i, line in enumerate(lines)).encode()
    elif kind in ("fasta", "fa"):
        content = "".join(f">{i}\n{line}\n" for i, line in enumerate(lines)).encode()
    elif kind == "jsonl":
        content = "".join(json.dumps({"id": i, "text": line}) + "\n" for i, line in enumerate(lines)).encode()
    else:
        content = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(packed(content, pack) if pack else content)
    return path


def shards(folder: Path) -> dict[str, bytes]:
    """Every file of a prepared corpus."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
