"""The switch: which values of FORESAY_PLAIN ask for the plain twins."""

from __future__ import annotations

import pytest

from foresay.kernels.switch import as_file, as_graph, in_file, in_graph, plain


@pytest.mark.parametrize(("value", "expected"), [("", False), ("0", False), ("1", True), ("yes", True), ("00", True)])
def test_values(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORESAY_PLAIN", value)
    assert plain() is expected


def test_off_when_nothing_is_said_and_read_anew_each_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FORESAY_PLAIN", raising=False)
    assert plain() is False
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert plain() is True


def test_a_graph_ends_with_its_block():
    with pytest.raises(KeyError), as_graph():
        with as_graph():
            assert in_graph()
        assert in_graph()
        raise KeyError
    assert not in_graph()


def test_a_file_takes_the_plain_twins_and_ends_with_its_block(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FORESAY_PLAIN", raising=False)
    with as_file():
        assert in_file() and plain()
    assert not in_file() and not plain()
