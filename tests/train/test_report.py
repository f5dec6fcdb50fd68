"""What a finished run leaves for people: the card, the figures, the curve."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml

from foresay import recipe as recipes
from foresay.train import report
from foresay.train.progress import Metrics
from foresay.train.report import draw_curves, read_results, write_card, write_curve, write_results

VALID = {
    "loss": 1.2345,
    "perplexity": 3.4367,
    "perplexity_interval": [3.3, 3.6],
    "bits_per_character": 1.781,
    "bits_per_byte": 1.75,
    "unknown": 0.0125,
    "tokens": 2000,
    "of_tokens": 22600,
}
RESULTS = {
    "steps": 24,
    "parameters": 12345,
    "vocabulary": 31,
    "train_tokens": 20000,
    "seconds": 12.34,
    "device": "cpu",
    "valid": VALID,
}
PNG = b"\x89PNG\r\n\x1a\n"


def card(folder: Path, tiny: dict, results: dict) -> str:
    write_card(folder, recipes.complete(recipes.read(tiny)), results)
    return (folder / "README.md").read_text("utf-8")


def test_the_card_has_data_settings_results_and_use(tiny: dict, tmp_path: Path) -> None:
    text = card(tmp_path, tiny, RESULTS)
    assert "12,345 parameters" in text and "31 symbols (characters), 20,000 training tokens" in text
    assert "| on 2,000 of 22,600 validation tokens | |" in text
    assert "| loss, nats per token | 1.2345 |" in text
    assert "| perplexity (95 % bootstrap interval) | 3.437 (3.300 – 3.600) |" in text
    assert "| bits per byte | 1.7500 |" in text and "(curve.png)" in text
    assert f'foresay generate {tmp_path} "Once upon"' in text


def test_the_recipe_in_the_card_is_the_whole_recipe(tiny: dict, tmp_path: Path) -> None:
    text = card(tmp_path, tiny, RESULTS)
    shown = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    assert shown == recipes.complete(recipes.read(tiny)).as_dict()


def test_the_card_opens_with_what_the_hub_reads(tiny: dict, tmp_path: Path) -> None:
    _, about, _ = card(tmp_path, tiny, RESULTS).split("---\n", 2)
    assert yaml.safe_load(about) == {
        "library_name": "foresay",
        "tags": ["foresay", "language-model", "recurrent"],
        "pipeline_tag": "text-generation",
        "metrics": ["perplexity"],
    }


def test_without_validation_the_card_says_so(tiny: dict, tmp_path: Path) -> None:
    counted = {name: value for name, value in RESULTS.items() if name != "steps"} | {"valid": None}
    text = card(tmp_path, tiny, counted)
    assert "No validation text was held out." in text and "curve.png" not in text


@pytest.mark.parametrize(("name", "what"), [("ngram", "An n-gram model"), ("skipgram", "Word vectors")])
def test_what_is_fitted_as_a_whole_has_no_steps(name: str, what: str, tmp_path: Path) -> None:
    recipe = recipes.complete(recipes.read(name))
    write_card(tmp_path, recipe, RESULTS)
    text = (tmp_path / "README.md").read_text("utf-8")
    assert f"\n{what} trained with Foresay" in text
    whole = recipe.as_dict()
    del whole["train"]
    assert yaml.safe_load(text.split("```yaml\n")[1].split("```")[0]) == whole


def test_results_are_valid_json(tmp_path: Path) -> None:
    write_results(tmp_path, RESULTS | {"valid": VALID | {"loss": math.nan}})
    text = (tmp_path / "results.json").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert read_results(tmp_path) == RESULTS | {"valid": VALID | {"loss": None}}


def test_the_curve_is_drawn_from_the_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "draw_curves", draw_curves)  # this one is drawn anew
    write_curve(tmp_path)
    assert not (tmp_path / "curve.png").exists()  # nothing was trained
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.write({"step": 1, "seconds": 0.5, "loss": 3.0})
    metrics.write({"step": 2, "seconds": 1.0, "loss": None})
    metrics.write({"step": 2, "seconds": 1.0, "valid_loss": 2.5})
    write_curve(tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


def test_a_curve_shows_its_points(tmp_path: Path) -> None:
    """More of the picture is in the first colour when there are more points of the first curve."""
    from matplotlib.image import imread

    def drawn(points: list[tuple[float, float]]) -> int:
        draw_curves(tmp_path / "a.png", {"a": points, "b": [(0.0, 1.0), (1.0, 2.0)]}, "loss", "title")
        picture = imread(tmp_path / "a.png")[:, :, :3]
        return int((abs(picture - [0x1B / 255, 0x6C / 255, 0xA8 / 255]).max(2) < 0.02).sum())

    assert drawn([(x / 10, 1 + x % 2) for x in range(11)]) > 2 * drawn([(0.0, 1.0), (1.0, 1.0)]) > 0


@pytest.mark.parametrize("name", ["$x_{", "唐诗", "50% & <b>"])
def test_any_name_can_be_drawn(name: str, tmp_path: Path) -> None:
    draw_curves(tmp_path / "a.png", {name: [(0.0, 1.0), (1.0, 0.5)]}, "loss", title=name)
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
