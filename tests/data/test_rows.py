"""What is held out of train: by the seed, each row in one part, successive rows together where they belong so."""

from __future__ import annotations

import pytest

from foresay.data.rows import Rows, file_of
from foresay.errors import UserError


class Numbers(Rows):
    train, share = "numbers", 0.25

    def find(self, seed: int) -> dict[str, range]:
        return {"train": range(10_000), "test": range(3)}


class Runs(Numbers):
    together = 8  # pyright: ignore[reportAssignmentType]


def test_every_row_is_in_one_part() -> None:
    train, valid = (list(Numbers().rows(name, 1)) for name in ("train", "valid"))
    assert sorted(train + valid) == list(range(10_000)) and train == sorted(train)
    assert 2300 < len(valid) < 2700 and valid != list(Numbers().rows("valid", 2))
    assert list(Numbers().rows("test", 1)) == [0, 1, 2]


def test_runs_stay_together() -> None:
    valid = list(Runs().rows("valid", 1))
    assert len(valid) % 8 == 0 and 1900 < len(valid) < 3100
    assert all(valid[n : n + 8] == list(range(valid[n], valid[n] + 8)) for n in range(0, len(valid), 8))


def test_a_part_of_its_own_leaves_train_whole() -> None:
    found = {"train": range(5), "valid": range(2)}
    assert not Numbers().holds_out(found)
    assert [list(Numbers().rows(name, 1, found)) for name in ("train", "valid", "test")] == [[*range(5)], [0, 1], []]


def test_no_file() -> None:
    with pytest.raises(UserError, match=r"^data.valid='gone.tsv' is no file, folder or known text"):
        file_of("data.valid", "gone.tsv")


def test_a_folder_is_no_file(tmp_path) -> None:
    with pytest.raises(
        UserError, match=r"^data\.train='.*' is a folder; allowed: one file, or the name of a known set"
    ):
        file_of("data.train", str(tmp_path))
