"""Kernels on torch's own threads: the same numbers as on one, each row once, and one thread where there is no team."""

from __future__ import annotations

import sys

import pytest
import torch

from foresay.kernels.recurrent import llvm, team
from foresay.kernels.recurrent.fuse import Access, Kernel, Part, Store
from foresay.kernels.recurrent.operations import Operations

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="torch's OpenMP is found on Linux alone")


@pytest.fixture
def threads():
    """Sets the number of torch's threads; afterwards it is as before."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def added(rows: int, width: int = 21) -> torch.Tensor:
    """A kernel that adds exp(x) in place, so that a row done twice would show; run at step 1 of two."""
    operations = Operations()
    value = operations.add("exp", "x")
    part = Part(width, {"x": Access("x")}, tuple(operations.steps), (Store(Access("out"), value, adds=True),), (), {})
    torch.manual_seed(1)
    arrays = {"x": torch.randn(2, rows, width), "out": torch.zeros(2, rows, width), "fed": torch.empty(2, rows, 0)}
    llvm.bind(Kernel("kernel", (part,)), arrays)(1)
    torch.testing.assert_close(arrays["out"][1], arrays["x"][1].exp())
    assert not arrays["out"][0].any()
    return arrays["out"]


@linux
def test_torch_has_a_team() -> None:
    found = team.find_team()
    assert found is not None and set(found) == set(team.NAMES) and all(found.values())


@linux
@pytest.mark.parametrize("rows", [2, 3, 7, 64])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_with_any_number_of_threads_the_same(rows: int, count: int, threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "WORTH", 0)
    threads(1)
    alone = added(rows)
    threads(count)
    called = []
    monkeypatch.setattr(
        llvm, "share", lambda whole=llvm.share: lambda *given: (called.append(given[2]), whole()(*given))
    )
    assert torch.equal(added(rows), alone) and called == [min(rows, count)]


@pytest.mark.parametrize("rows, found", [(1, True), (4, False)])
def test_one_thread_where_there_is_nothing_to_share(rows: int, found: bool, threads, monkeypatch) -> None:
    threads(2)
    monkeypatch.setattr(llvm, "WORTH", 0)
    monkeypatch.setattr(llvm, "share", None)
    if not found:
        monkeypatch.setattr(llvm, "find_team", lambda: None)
    added(rows)


def test_elsewhere_there_is_no_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert team.loaded() == [] and team.find_team.__wrapped__() is None
