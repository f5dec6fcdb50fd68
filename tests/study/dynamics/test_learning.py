"""Spectra through the training of a run: its checkpoints, its first weights, those that are kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from foresay import start
from foresay.errors import UserError
from foresay.loading import load
from foresay.study.dynamics.learning import draw, lines, spectra_of, spectrum_of
from foresay.study.dynamics.spectrum import radius
from foresay.train.progress import Watch
from tests import test_classify, test_tag, test_translate
from tests.tides import TIDES, risen


def greatest(weights: dict[str, torch.Tensor], layer: int, gate: int) -> float:
    """Of rows of 12 of a layer's recurrent weights."""
    block = weights[f"encoder.forwards.{layer}.weight_hh"][12 * gate : 12 * gate + 12].double()
    return float(torch.linalg.eigvals(block).abs().max())


def test_spectra_are_those_of_the_files(trained: Path):
    """24 steps, saved every 5, two kept; evaluated every 8."""
    found = spectrum_of(load(trained, "cpu"))
    kept = json.loads((trained / "checkpoints" / "best" / "state.json").read_text())["step"]
    assert found.steps == [0, 15, 20, kept] and list(found.spectra[0]) == [f"{n}.{g}" for n in "01" for g in "ifgo"]
    old = load_file(trained / "checkpoints" / "00000015" / "model.safetensors")
    last = load_file(trained / "model.safetensors")
    assert radius(found.spectra[1]["0.f"]) == pytest.approx(greatest(old, 0, 1), rel=1e-6)
    assert radius(found.spectra[-1]["1.o"]) == pytest.approx(greatest(last, 1, 3), rel=1e-6)
    assert found.as_dict()["weights"] == ["first", "checkpoint", "checkpoint", "kept"] and not found.missing
    told = found.as_dict()["matrices"]["1.o"]
    assert told["radius"][-1] == pytest.approx(greatest(last, 1, 3), rel=1e-6) and len(told["eigenvalues"]) == 12
    assert abs(complex(*told["eigenvalues"][0])) == pytest.approx(told["radius"][-1])
    assert lines(found)[0] == f"step\t0\t15\t20\t{kept} kept" and len(lines(found)) == 9
    assert len(draw(found).axes) == 4


def test_the_first_weights_are_those_that_training_began_with(tiny: dict, tmp_path: Path):
    """With a rate of nearly nothing all spectra are the first ones."""
    slow = {"kind": "sgd", "lr": 1e-12}
    train = tiny["train"] | {"steps": 2, "optimizer": slow, "save": {"every": 1}}
    run = start.train(tiny | {"train": train, "seed": 9}, out=tmp_path / "slow", device="cpu", watch=Watch())
    found = spectrum_of(run)
    assert found.steps[0] == 0
    for name, values in found.spectra[0].items():
        torch.testing.assert_close(values, found.spectra[-1][name], atol=1e-6, rtol=1e-6)


def slow_run(folder: Path, recipe: dict[str, Any], **more: Any) -> Any:
    """One step at a rate of nearly nothing: the weights that are kept are the first ones."""
    train = recipe["train"] | {"steps": 1, "optimizer": {"kind": "sgd", "lr": 1e-12}, "save": {"every": 1}}
    return start.train(recipe | more | {"train": train}, out=folder / "slow", device="cpu", watch=Watch())


@pytest.mark.parametrize("task", ["series", "tagger", "classifier", "seq2seq"])
def test_the_first_weights_of_other_tasks(task: str, tmp_path: Path) -> None:
    """Which need to be told of columns, tags, labels or sources."""
    recipes: dict[str, Any] = {"series": TIDES, "tagger": test_tag.RECIPE, "classifier": test_classify.TINY}
    place = tmp_path / "in"
    place.mkdir()
    if task == "series":
        data = {"kind": "series", "train": str(risen(place))}
    elif task == "tagger":
        (place / "x.conll").write_text(test_tag.sentences(60, 1))
        data = {"kind": "tags", "train": str(place / "x.conll")}
    elif task == "classifier":
        data = {"kind": "labels", "train": test_classify.wrote(str(place / "x.csv"), 60, 1)}
    else:
        data = {"kind": "pairs", "train": test_translate.table(place / "x.tsv", test_translate.rows(60, 1))}
    found = spectrum_of(slow_run(tmp_path, recipes.get(task, test_translate.TINY), data=data))
    assert found.steps == [0, 1, 1] and found.missing == ""
    for name, values in found.spectra[0].items():
        torch.testing.assert_close(values, found.spectra[-1][name], atol=1e-6, rtol=1e-6)


def test_a_run_that_began_with_another(trained: Path, tiny: dict, tmp_path: Path) -> None:
    """Its first weights are the other's; without that there are none."""
    other = tmp_path / "other"
    shutil.copytree(trained, other)
    run = slow_run(tmp_path, tiny, begin={"run": str(other)}, seed=5)
    found, its = spectrum_of(run), spectra_of(load(other, "cpu").model)
    for name, values in found.spectra[0].items():
        torch.testing.assert_close(values, its[name], atol=1e-6, rtol=1e-6)
    shutil.rmtree(other)
    found = spectrum_of(load(run.folder, "cpu"))
    assert (
        found.steps == [1, 1]
        and found.missing == found.as_dict()["missing"] == f"the run that it began with, {other}, is gone"
    )
    assert found.as_dict()["weights"] == ["checkpoint", "kept"]


def test_without_checkpoints_there_are_two_spectra(trained: Path, tmp_path: Path):
    folder = tmp_path / "bare"
    shutil.copytree(trained, folder)
    shutil.rmtree(folder / "checkpoints")
    assert spectrum_of(load(folder, "cpu")).steps == [0, 24]


def test_every_cell_of_a_model_is_told_of_once(fresh):
    both: Any = fresh({"kind": "zoneout", "cell": {"kind": "shortcut", "cell": "lstm"}}).model
    assert list(spectra_of(both)) == [*(f"0.{g}<-h@4" for g in "ifgo"), *(f"0.{g}" for g in "ifgo")]


@pytest.mark.parametrize(
    ("cell", "message"),
    [("mingru", "the state of its cell mingru meets no square matrix"), ("window", "it is window")],
)
def test_refusals(cell, message, fresh):
    with pytest.raises(UserError, match=f"has no recurrent matrix to look at: {message}; give a run of a recurrent"):
        spectrum_of(fresh({"kind": cell, "size": 2} if cell == "window" else cell, whole=cell == "window"))
