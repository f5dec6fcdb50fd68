"""What is chosen for pictures and sounds when nothing is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foresay import recipe as recipes
from foresay import start
from foresay.data.wav import wav_bytes
from foresay.errors import UserError
from foresay.train.choose import Chosen, choose_for
from foresay.train.progress import Watch


def chosen(place: object, *words: str, device: str = "cpu") -> Chosen:
    return choose_for(str(place), words, device, 1.0)


def drawn(folder: Path, *sizes: tuple[int, ...], values: Any = 256) -> Path:
    draw = np.random.default_rng(1)
    for number, size in enumerate(sizes):
        place = folder / str(number % 2) / f"{number}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draw.choice(values, size).astype(np.uint8)).save(place)
    return folder


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("place", ["builtin:digits", "builtin:shapes", "builtin:tones"])
def test_every_choice_is_a_whole_recipe_with_reasons(place: str, device: str) -> None:
    made = chosen(place, device=device)
    checked = recipes.complete(recipes.read(made.recipe)).as_dict()
    assert checked["data"]["train"] == place and checked["condition"] == 16
    assert made.holding(made.recipe) == list(made.reasons.values()) and len(made.reasons) >= 2
    assert str(checked["encoder"]["size"]) in made.reasons["encoder"]
    assert checked["train"]["precision"] == ("float32" if device == "cpu" else "bfloat16")


def test_levels_that_lose_nothing(tmp_path: Path) -> None:
    assert chosen("builtin:digits").recipe["tokens"] == {"kind": "levels", "number": 17}
    for values, number in (([0, 255], 2), ([0, 127, 128, 255], 256), ([0, 85, 170, 255], 4)):
        folder = drawn(tmp_path / str(number), *[(6, 5)] * 4, values=values)
        assert chosen(folder).recipe["tokens"]["number"] == number


def test_pictures_of_many_sizes_colours_and_labels(tmp_path: Path) -> None:
    many = chosen(drawn(tmp_path / "many", (30, 20), (40, 40)))
    assert many.recipe["data"]["read"] == {"size": [30, 20]} and "several sizes" in many.reasons["data.read.size"]
    large = chosen(drawn(tmp_path / "large", *[(100, 200, 3)] * 2)).recipe["data"]["read"]["size"]
    assert 3 * large[0] * large[1] <= 4096 and large == pytest.approx([26, 52], abs=1)
    mixed = chosen(drawn(tmp_path / "mixed", (8, 8), (8, 8, 3)))
    assert mixed.recipe["data"]["read"] == {"colour": "rgb"} and "data.read.size" not in mixed.reasons
    assert many.recipe["condition"] == 16 and "there are 2" in many.reasons["condition"]
    assert "condition" not in chosen(drawn(tmp_path / "one", (8, 8))).recipe
    own = chosen(tmp_path / "many", "data.size=[9,9]").recipe["data"]["read"]
    assert own == {"size": [9, 9]}


def test_labels_are_looked_for_everywhere(tmp_path: Path) -> None:
    """Of 300 files in the order of their labels, not the first ones alone."""
    for number in range(300):
        place = tmp_path / ("a" if number < 280 else "b") / f"{number:03d}.wav"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(wav_bytes(np.zeros(4), 100))
    assert chosen(tmp_path).recipe["condition"] == 16


def test_sounds_of_high_rates_and_long_ones(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav_bytes(np.zeros(5 * 16_000), 16_000))
    made = chosen(tmp_path / "a.wav")
    assert made.recipe["data"]["read"] == {"rate": 8_000, "seconds": 2.0} and "condition" not in made.recipe
    assert made.recipe["train"]["batches"]["longest"] == 16_001
    assert chosen(tmp_path / "a.wav", device="cuda").recipe["data"]["read"] == {"seconds": 2.0}
    own = chosen(tmp_path / "a.wav", "data.rate=4000", "data.seconds=0.5").recipe
    assert own["data"]["read"] == {"rate": 4000, "seconds": 0.5} and own["train"]["batches"]["longest"] == 2_001


def test_it_trains(tmp_path: Path) -> None:
    """From a folder alone, with a word of one's own."""
    folder = drawn(tmp_path / "in", *[(6, 5)] * 12, values=[0, 255])
    run = start.train(
        str(folder), ["train.steps=2", "encoder.size=8"], out=tmp_path / "run", device="cpu", watch=Watch()
    )
    assert run.draw(1, label="1")[0].shape == (6, 5, 1) and run.levels == 2
    with pytest.raises(UserError, match="holds no text files"):
        start.train(str(folder), ["data.kind=text"], out=tmp_path / "text", device="cpu", watch=Watch())
    with pytest.raises(
        UserError, match="and no recipe, and one is chosen only for text, images, sounds, series, music"
    ):
        chosen(folder, "data.kind=pairs")
