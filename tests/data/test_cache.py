"""The cache: whole or not there, made once, dead writers' leavings removed."""

import os
import signal
import time

import pytest

from foresay.data.cache import FORGOTTEN, cache_folder, made_once
from foresay.errors import UserError


def start(forks, cache, seconds, key="key"):
    return forks.start(["foresay"], hook=("tests.data.processes", "write_slowly", str(cache), seconds, key))


def test_made_once(tmp_path):
    calls = []

    def write(folder):
        calls.append(folder)
        (folder / "file").write_text("content")

    first = made_once(tmp_path, "key", write)
    assert made_once(tmp_path, "key", write) == first == tmp_path / "key"
    assert len(calls) == 1 and (first / "file").read_text() == "content"


@pytest.mark.parametrize("error", [RuntimeError("a process ended early"), KeyboardInterrupt()])
def test_what_may_go_on_later_is_kept(tmp_path, error):
    def write(folder):
        (folder / "half").write_text("1")
        raise error

    with pytest.raises(type(error)):
        made_once(tmp_path, "key", write)
    assert (tmp_path / "key.part" / "half").exists() and not (tmp_path / "key").exists()


def test_a_full_disk_is_told(tmp_path):
    def write(folder):
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match=r"the cache .* cannot be written \(No space left on device\)"):
        made_once(tmp_path, "key", write)
    assert [path.name for path in tmp_path.iterdir()] == ["key.lock"]


def test_a_cache_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot be written .*set FORESAY_CACHE"):
        made_once(tmp_path / "file" / "cache", "key", lambda folder: None)


def test_a_second_process_waits_and_reuses(tmp_path, forks):
    first = start(forks, tmp_path, 0.5)
    assert first.line() == "writing\n"
    second = start(forks, tmp_path, 0)
    assert first.wait() == 0 and second.finish() == (0, "", "")
    assert (tmp_path / "writes").read_text() == "x" and (tmp_path / "key" / "whole").exists()


def killed(forks, cache):
    """What a killed writer leaves."""
    writer = start(forks, cache, 60)
    writer.line()
    writer.signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    assert not (cache / "key").exists() and (cache / "key.part" / "half").exists()


def test_the_next_writer_goes_on_with_what_a_killed_one_left(tmp_path, forks):
    killed(forks, tmp_path)
    made_once(tmp_path, "other", lambda folder: None)  # is none of its business
    made = made_once(tmp_path, "key", lambda folder: (folder / "whole").touch())
    assert sorted(path.name for path in made.iterdir()) == ["half", "whole"]
    assert not (tmp_path / "key.part").exists()


def test_what_nobody_goes_on_with_is_removed(tmp_path, forks):
    killed(forks, tmp_path)
    long_ago = time.time() - FORGOTTEN - 60
    for path in (tmp_path / "key.part" / "half", tmp_path / "key.part"):
        os.utime(path, (long_ago, long_ago))
    made_once(tmp_path, "other", lambda folder: None)
    assert not (tmp_path / "key.part").exists()


def test_a_living_writer_is_left_alone(tmp_path, monkeypatch, forks):
    writer = start(forks, tmp_path, 1.0)
    writer.line()
    monkeypatch.setattr("foresay.data.cache.FORGOTTEN", -1)
    made_once(tmp_path, "other", lambda folder: None)
    assert (tmp_path / "key.part" / "half").exists()
    assert writer.wait() == 0
    assert (tmp_path / "key" / "whole").exists()


def test_a_mistake_leaves_nothing(tmp_path):
    def write(folder):
        (folder / "half").touch()
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        made_once(tmp_path, "key", write)
    assert [path.name for path in tmp_path.iterdir()] == ["key.lock"]


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("FORESAY_CACHE", "/some/where")
    assert str(cache_folder()) == "/some/where"
    monkeypatch.delenv("FORESAY_CACHE")
    assert cache_folder().parts[-2:] == (".cache", "foresay")
