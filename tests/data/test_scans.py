"""Scans remembered: an unchanged file is not read again, a changed one is."""

import os
from dataclasses import replace

import pytest

from foresay.data import scans as module
from foresay.data.scan import scan
from foresay.data.scans import Scans
from foresay.data.source import Reading, Source


@pytest.fixture
def counted(monkeypatch):
    seen = []

    def counting(source, on_share=None):
        seen.append(source.name)
        return scan(source, on_share)

    monkeypatch.setattr(module, "scan", counting)
    return seen


def old(path, content, when=1_000_000):
    path.write_bytes(content)
    os.utime(path, (when, when))
    return Source(str(path), path)


def test_an_unchanged_file_is_not_read_again(tmp_path, counted):
    source = old(tmp_path / "a", b"text")
    first = Scans(tmp_path / "c", lambda *_: None)(source)
    assert Scans(tmp_path / "c", lambda *_: None)(source) == first
    assert len(counted) == 1
    again = old(tmp_path / "a", b"next", when=1_000_001)
    assert Scans(tmp_path / "c", lambda *_: None)(again).sha256 != first.sha256
    assert len(counted) == 2


def test_a_file_changed_just_now_is_read_again(tmp_path, counted):
    path = tmp_path / "a"
    path.write_bytes(b"text")
    for _ in range(2):
        Scans(tmp_path / "c", lambda *_: None)(Source("a", path))
    assert len(counted) == 2


def test_a_damaged_note_is_made_anew(tmp_path, counted):
    source = old(tmp_path / "a", b"text")
    first = Scans(tmp_path / "c", lambda *_: None)(source)
    for note in (tmp_path / "c" / "scans").iterdir():
        note.write_text("{")
    assert Scans(tmp_path / "c", lambda *_: None)(source) == first
    assert len(counted) == 2


def test_a_change_is_noticed_and_progress_told(tmp_path):
    told = []
    scans = Scans(tmp_path / "c", lambda stage, fraction: told.append((stage, fraction)))
    source = old(tmp_path / "a", b"text")
    scans(source)
    assert told == [(f"read {source.name}", 1.0)]
    assert scans.changed() is None
    old(tmp_path / "a", b"text", when=1_000_001)
    assert scans.changed() == source


def test_another_way_to_read_is_another_scan(tmp_path, counted):
    source = old(tmp_path / "a.csv", b"text,more\na,b\n")
    found = {Scans(tmp_path / "c", lambda *_: None)(replace(source, read=read)).sha256 for read in WAYS}
    assert len(found) == len(WAYS) == len(counted)


WAYS = [Reading(), Reading(column="more"), Reading(format="text"), Reading(format="tsv")]
