"""The spectrum of every recurrent matrix of a run through its training: from the first weights to those that are kept.

    step 0     the first weights, made again from the recipe and its seed, where nothing else was read for them
    step n     checkpoints/: as many as `train.save.keep` left (2 unless set), each `train.save.every` steps
    kept       the run's model: the best on the validation text, or the last

`0.f` is the matrix of the gate f in the lowest layer, `0.back.f` that of a layer read backwards.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresay.building import build
from foresay.embed.elmo import Elmo
from foresay.encode.cells.cell import Cell
from foresay.errors import UserError, counted
from foresay.models.language_model import LanguageModel
from foresay.run import Run
from foresay.study.dynamics.backwards import COLOURS
from foresay.study.dynamics.spectrum import Spectrum, radius, spectrum
from foresay.train.checkpoint import CHECKPOINTS, load_checkpoint, numbered


@dataclass(frozen=True)
class Through:
    """Spectra by step in order; the last is of the weights that are kept, of step `kept` where that is known."""

    steps: list[int]
    spectra: list[Spectrum]
    kept: int

    def as_dict(self) -> dict[str, Any]:
        last = self.spectra[-1]
        matrices = {
            name: {"radius": [radius(one[name]) for one in self.spectra], "eigenvalues": pairs(last[name])}
            for name in last
        }
        return {"steps": self.steps, "matrices": matrices}


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
    if first is not None:
        found[0] = first
    model = copy.deepcopy(run.model)
    for path in numbered(run.folder / CHECKPOINTS):
        model.restore(load_checkpoint(path)[0]["model"], str(path))
        found[int(path.name)] = spectra_of(model)
    return Through([*found, (at := _step_kept(run))], [*found.values(), kept], at)


def _first(run: Run) -> Spectrum | None:
    """Of the first weights; None where they depend on more than the recipe."""
    model = run.model
    reads_more = any(getattr(one, "pretrained", None) or isinstance(one, Elmo) for one in model.modules())
    if not isinstance(model, LanguageModel) or model.condition is not None or reads_more:
        return None
    with torch.random.fork_rng(devices=[]):
        return spectra_of(build(run.recipe, run.tokens, torch.device("cpu"), run.folder))


def _step_kept(run: Run) -> int:
    best = run.folder / CHECKPOINTS / "best"
    if best.is_dir():
        return int(load_checkpoint(best)[1]["step"])
    steps = numbered(run.folder / CHECKPOINTS)
    return int(steps[-1].name) if steps else run.recipe.train.steps


def lines(found: Through) -> list[str]:
    """For a person: each matrix and its greatest |eigenvalue| at every step."""
    return ["step\t" + "\t".join(map(str, found.steps))] + [
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
    title = f"through training: {counted(before, 'step')} looked at, ★ as kept"
    right.set_title(title, loc="left", fontweight="bold", fontsize=10)
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8.5)
        axes.grid(alpha=0.25, linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
