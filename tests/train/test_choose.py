"""What is chosen for a text when nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay import recipe as recipes
from foresay.errors import UserError
from foresay.train.choose import Chosen, choose, choose_for

ENGLISH = "The value of the expression is the sum of its parts, as everybody knows. " * 50
CHINESE = "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n" * 50
JAPANESE = "むかしむかし、あるところに、おじいさんとおばあさんがありました。\n" * 50
CODE = "def add(self, other):\n    return self.value + other.value  # 两\n" * 50
SAMPLES = {"english": ENGLISH, "chinese": CHINESE, "japanese": JAPANESE, "code": CODE}


def chosen(sample: str, size: int = 1_000_000, device: str = "cpu", minutes: float = 10.0) -> Chosen:
    return choose("my.txt", sample, size, device, minutes)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("size", [0, 20_000, 1_000_000, 50_000_000, 5_000_000_000])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_choice_is_a_whole_recipe_with_reasons(sample: str, size: int, device: str) -> None:
    made = chosen(SAMPLES[sample], size, device)
    checked = recipes.complete(recipes.read(made.recipe)).as_dict()
    assert checked["data"]["train"] == "my.txt" and checked["train"]["batches"]["kind"] == "streams"
    assert made.holding(made.recipe) == list(made.reasons.values()) and len(made.reasons) == 3
    assert str(checked["encoder"]["size"]) in made.reasons["encoder"]
    assert str(checked["encoder"]["dropout"]) in made.reasons["encoder"]


def test_a_reason_holds_only_for_what_is_still_chosen() -> None:
    made = chosen(ENGLISH)
    other = made.recipe | {"tokens": {"kind": "words"}, "encoder": {"kind": "transformer"}}
    assert made.holding(other) == [made.reasons["train.batches"]]


@pytest.mark.parametrize(
    ("sample", "size", "tokens"),
    [
        (ENGLISH, 1_000_000, {"kind": "characters"}),
        (CODE, 1_000_000, {"kind": "characters"}),
        (ENGLISH, 20_000_000, {"kind": "subwords", "size": 4000}),
        (CODE, 20_000_000, {"kind": "subwords", "size": 4000}),
        (ENGLISH, 200_000_000, {"kind": "subwords", "size": 16000}),
        (CHINESE, 1_000_000, {"kind": "characters"}),
        (CHINESE, 200_000_000, {"kind": "characters"}),
        (JAPANESE, 200_000_000, {"kind": "characters"}),
    ],
)
def test_tokens_for_each_script_and_size(sample: str, size: int, tokens: dict) -> None:
    made = chosen(sample, size)
    assert made.recipe["tokens"] == tokens
    assert made.reasons["tokens"].startswith(
        "characters" if tokens["kind"] == "characters" else f"{tokens['size']} subwords"
    )


def test_little_text_gets_a_small_model_and_much_dropout() -> None:
    small, large = (chosen(ENGLISH, size).recipe["encoder"] for size in (20_000, 100_000_000))
    assert small["size"] < large["size"] and small["dropout"] > large["dropout"]


def test_a_gpu_gets_a_larger_model_in_bfloat16() -> None:
    cpu, gpu = (chosen(ENGLISH, 50_000_000, device).recipe for device in ("cpu", "cuda"))
    assert gpu["encoder"]["size"] > cpu["encoder"]["size"]
    assert (cpu["train"]["precision"], gpu["train"]["precision"]) == ("float32", "bfloat16")


def test_less_time_means_smaller_batches_and_so_enough_steps() -> None:
    rows = [chosen(ENGLISH, minutes=minutes).recipe["train"]["batches"]["rows"] for minutes in (0.2, 1, 5, 10, 1000)]
    assert rows == sorted(rows) and rows[0] < rows[-1]
    assert all(row & (row - 1) == 0 for row in rows)  # powers of two


def test_less_than_a_pass_over_the_text_begins_anew_now_and_then() -> None:
    forget = [chosen(ENGLISH, size).recipe["train"]["batches"]["forget"] for size in (500_000, 3_900_000_000)]
    assert forget == [0.0, 0.05]


def test_columns_of_numbers_are_no_text(tmp_path: Path) -> None:
    place = tmp_path / "x.csv"
    place.write_text("date,city,sales\n" + "2024-01-01,Bonn,3\n2024-01-02,Kiel,5\n" * 20, "utf-8")
    said = r"columns date, city, sales and none called text; set data\.kind=series, which reads sales, or name one"
    with pytest.raises(UserError, match=said):
        choose_for(str(place), [], "cpu", 1.0)
    said = r"data\.column=sales of .*x\.csv holds numbers; set data\.kind=series and data\.columns=\[sales\]"
    with pytest.raises(UserError, match=said):
        choose_for(str(place), ["data.column=sales"], "cpu", 1.0)
    assert choose_for(str(place), ["data.column=city"], "cpu", 1.0).recipe["task"] == "language-model"
    words = ["data.kind=text", "data.column=sales"]
    assert choose_for(str(place), words, "cpu", 1.0).recipe["task"] == "language-model"
    words = ["data.kind=series", "data.columns=[sales]"]
    assert choose_for(str(place), words, "cpu", 1.0).recipe["task"] == "series"
