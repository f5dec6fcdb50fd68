"""The spectrum of every recurrent matrix of a run through its training: from the first weights to those that are kept.

    step 0     the first weights, made again from the recipe, its seed, its own data and the run that it began with
    step n     checkpoints/: as many as `train.save.keep` left (2 unless set), each `train.save.every` steps
    kept       the run's model: the best on the validation text, or the last

Step 0 is missing, and why is told, where the data or the other run are not as they were, and of models that began
with given vectors or a bilm, which may have changed since.

`0.f` is the matrix of the gate f in the lowest layer, `0.back.f` that of a layer read backwards.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresay.begun import Beginning
from foresay.building import build
from foresay.embed.elmo import Elmo
from foresay.encode.cells.cell import Cell
from foresay.errors import UserError, counted
from foresay.models.language_model import LanguageModel
from foresay.run import Run
from foresay.study.dynamics.backwards import COLOURS
from foresay.study.dynamics.spectrum import Spectrum, radius, spectrum
from foresay.train.checkpoint import CHECKPOINTS, load_checkpoint, numbered
from foresay.train.resume import own_prepared


@dataclass(frozen=True)
class Through:
    """Spectra by step in order; the last is of the weights that are kept, whose step may lie before others'."""

    steps: list[int]
    spectra: list[Spectrum]
    missing: str = ""  # why there is no step 0

    def as_dict(self) -> dict[str, Any]:
        last = self.spectra[-1]
        matrices = {
            name: {"radius": [radius(one[name]) for one in self.spectra], "eigenvalues": pairs(last[name])}
            for name in last
        }
        weights = ["first" if not step else "checkpoint" for step in self.steps[:-1]] + ["kept"]
        missing = {"missing": self.missing} if self.missing else {}
        return {"steps": self.steps, "weights": weights, **missing, "matrices": matrices}


def pairs(values: Tensor) -> list[list[float]]:
    """Complex numbers as JSON has them: real and imaginary part."""
    return torch.view_as_real(values.to(torch.complex128)).tolist()


def spectra_of(model: nn.Module) -> Spectrum:
    """Of every recurrent cell of a model, by the layer's name and the gate's."""
    found: Spectrum = {}
    cells = {name: one for name, one in model.named_modules() if isinstance(one, Cell) and one._parameters}
    for name, cell in cells.items():
        if not any(name.startswith(f"{other}.") for other in cells):  # else a modifier has told of it
            found |= {f"{place_of(name)}.{gate}": values for gate, values in spectrum(cell).items()}
    return found


def place_of(name: str) -> str:
    """encoder.forwards.0 -> 0, encoder.backwards.0 -> 0.back; elsewhere in a model as it is called there."""
    if name.startswith("encoder.forwards."):
        return name.removeprefix("encoder.forwards.").split(".")[0]
    if name.startswith("encoder.backwards."):
        return name.removeprefix("encoder.backwards.").split(".")[0] + ".back"
    return name


def spectrum_of(run: Run) -> Through:
    """The spectra of a run through training."""
    kept = spectra_of(run.model)
    if not kept:
        kind = getattr(getattr(run.model, "encoder", None), "part_name", run.recipe.task.part_name)
        cells = [one for one in run.model.modules() if isinstance(one, Cell)]
        what = f"the state of its cell {cells[0].part_name} meets no square matrix" if cells else f"it is {kind}"
        raise UserError(
            f"{run.folder} has no recurrent matrix to look at: {what}; give a run of a recurrent encoder, such as "
            "foresay train lstm"
        )
    found: dict[int, Spectrum] = {}
    first = _first(run)
    missing = first if isinstance(first, str) else ""
    if not isinstance(first, str):
        found[0] = first
    model = copy.deepcopy(run.model)
    for path in numbered(run.folder / CHECKPOINTS):
        model.restore(load_checkpoint(path)[0]["model"], str(path))
        found[int(path.name)] = spectra_of(model)
    return Through([*found, _step_kept(run)], [*found.values(), kept], missing)


def _first(run: Run) -> Spectrum | str:
    """Of the first weights, or why they cannot be made again."""
    model, begin, cpu = run.model, run.recipe.begin, torch.device("cpu")
    if any(getattr(one, "pretrained", None) or isinstance(one, Elmo) for one in model.modules()):
        return "it began with given vectors or a bilm, which may have changed since"
    with torch.random.fork_rng(devices=[]):
        if isinstance(model, LanguageModel) and model.condition is None and begin is None:
            return spectra_of(build(run.recipe, run.tokens, cpu, run.folder))  # of which the text says nothing
        try:
            beginning = Beginning(run.recipe, own_prepared(run.folder, run.recipe), cpu, run.folder)
            if begin is not None and begin.run is not None and beginning.other is None:
                return f"the run that it began with, {begin.run}, is gone"
            return spectra_of(beginning.model())
        except UserError as error:
            return str(error)


def _step_kept(run: Run) -> int:
    best = run.folder / CHECKPOINTS / "best"
    if best.is_dir():
        return int(load_checkpoint(best)[1]["step"])
    steps = numbered(run.folder / CHECKPOINTS)
    return int(steps[-1].name) if steps else run.recipe.train.steps


def lines(found: Through) -> list[str]:
    """For a person: each matrix and its greatest |eigenvalue| at every step."""
    steps = [*map(str, found.steps[:-1]), f"{found.steps[-1]} kept"]
    return ["step\t" + "\t".join(steps)] + [
        "\t".join([name, *(f"{radius(one[name]):.3f}" for one in found.spectra)]) for name in found.spectra[-1]
    ]


def draw(found: Through) -> Any:
    """matplotlib's figure: for every layer the eigenvalues that are kept, and the radii over steps."""
    from matplotlib.figure import Figure

    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in found.spectra[-1]))
    picture = Figure(figsize=(11, 4.6 * len(layers)), layout="constrained")
    for (left, right), layer in zip(picture.subplots(len(layers), 2, squeeze=False), layers, strict=True):
        names = [name for name in found.spectra[-1] if name.rpartition(".")[0] == layer]
        for name, colour in zip(names, COLOURS * 3, strict=False):
            last, gate = found.spectra[-1][name], name.rpartition(".")[2]
            left.plot(last.real, last.imag, "o", color=colour, markersize=3.5, alpha=0.7, label=gate)
            own = [radius(one[name]) for one in found.spectra]
            right.plot(found.steps[:-1], own[:-1], "-o", color=colour, markersize=4, linewidth=1.8)
            right.plot(found.steps[-1:], own[-1:], "*", color=colour, markersize=12, label=f"{gate}: {own[-1]:.3g}")
        _finish(left, right, layer, len(found.steps) - 1)
    return picture


def _finish(left: Any, right: Any, layer: str, before: int) -> None:
    from matplotlib.patches import Circle

    left.add_patch(Circle((0, 0), 1, fill=False, color="#5A5A5A", linestyle="--", linewidth=1))
    left.set_aspect("equal", "datalim")
    left.set_xlabel("real part")
    left.set_ylabel("imaginary part")
    left.set_title(f"layer {layer}: eigenvalues of the weights kept", loc="left", fontweight="bold", fontsize=10)
    right.axhline(1, color="#5A5A5A", linestyle="--", linewidth=1)
    right.set_xlabel("step of training")
    right.set_ylabel("greatest |eigenvalue|")
    title = (
        f"through training: {counted(before, 'step')} and ★ as kept" if before else "★ as kept; no checkpoint is left"
    )
    right.xaxis.get_major_locator().set_params(integer=True)
    right.set_title(title, loc="left", fontweight="bold", fontsize=10)
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8.5)
        axes.grid(alpha=0.25, linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
