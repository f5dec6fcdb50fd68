"""What processes tell each other, and what each is told by its environment."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from foresay import start
from foresay.errors import UserError
from foresay.train.team import ALONE, Team, _own_device, _place, gathered
from tests.forks import Forks
from tests.train.together import together

WHOLE = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "0", "MASTER_ADDR": "a", "MASTER_PORT": "1"}


def test_rows_are_shared_out_evenly_and_none_is_lost() -> None:
    assert [Team(rank, 3).bounds(8) for rank in range(3)] == [(0, 2), (2, 5), (5, 8)]
    assert [Team(0, 4).bounds(2, rank) for rank in range(4)] == [(0, 0), (0, 1), (1, 1), (1, 2)]


def test_a_process_alone_has_nothing_to_tell() -> None:
    x = torch.ones(2)
    assert ALONE.alone and ALONE.leads and ALONE.seed(5) == 5
    assert ALONE.add(x) is x and ALONE.hand(x) is x and ALONE.told(x) is x and ALONE.most(3) == 3
    with gathered(torch.device("cpu")) as team:
        assert team.alone


def test_what_processes_draw_differs_and_can_be_drawn_again() -> None:
    seeds = [Team(rank, 3).seed(1) for rank in range(3)]
    assert seeds[0] == 1 and len(set(seeds)) == 3
    assert Team(2, 3).seed(1) == seeds[2] != Team(2, 3).seed(1, 50)


def test_the_environment_says_which_process_this_is() -> None:
    assert _place(WHOLE) == (1, 4, 0)
    assert _place({"PATH": "/bin"}) is None
    assert _place({"WORLD_SIZE": "1"}) is None
    assert _place(WHOLE | {"RANK": "0", "WORLD_SIZE": "1"}) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"RANK": "0"}, "RANK=0 is set and WORLD_SIZE is not"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE=2 is set and RANK is not"),
        ({**WHOLE, "RANK": "4"}, "RANK=4, WORLD_SIZE=4, LOCAL_RANK=0; allowed: whole numbers, 0 <= RANK < WORLD_SIZE"),
        ({**WHOLE, "LOCAL_RANK": "x"}, "LOCAL_RANK=x; allowed: whole numbers"),
        ({name: value for name, value in WHOLE.items() if name != "MASTER_PORT"}, "RANK=1 is set and MASTER_PORT is"),
    ],
)
def test_a_place_that_is_half_told_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        _place(given)


def test_half_an_environment_is_one_line_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch, tiny: dict
) -> None:
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(UserError, match="WORLD_SIZE is not; set RANK, WORLD_SIZE"):
        start.train(tiny, out="run", device="cpu")
    assert not Path("run").exists()


def test_processes_talk(forks: Forks) -> None:
    assert together(forks, 2, "train", hook=("tests.train.together", "check", "talk")) == ([0, 0], "")


def test_a_mistake_is_said_once(forks: Forks) -> None:
    codes, error = together(forks, 2, "train", "ngram", "--out", "run", "--device", "cpu")
    assert codes == [2, 2]
    assert error == (
        "foresay: task=ngram in 2 processes; it is fitted as a whole, on all cores of one: start one process\n"
    )
    assert not Path("run").exists()


def test_a_mistake_of_the_leading_process_ends_all(forks: Forks) -> None:
    Path("run").mkdir()
    Path("run/mine.txt").write_text("somebody's", "utf-8")
    codes, error = together(forks, 2, "train", "lstm", "--out", "run", "--device", "cpu")
    assert codes == [2, 1] and error.count("\n") == 1
    assert error.startswith("foresay: run exists; allowed: a new folder")


def test_each_process_has_the_gpu_of_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    assert _own_device(torch.device("cpu"), 5) == torch.device("cpu")
    assert _own_device(torch.device("cuda"), 1) == torch.device("cuda:1") and taken == [1]
    with pytest.raises(UserError, match="process 2 of this machine has no GPU: there are 2"):
        _own_device(torch.device("cuda"), 2)
    with pytest.raises(UserError, match="each takes a GPU of its own: --device cuda"):
        _own_device(torch.device("cuda:1"), 0)
