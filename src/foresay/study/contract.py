"""The contract of a recurrent cell, clause by clause.

A clause is a function of a `Subject` that returns a figure, raises `Failed` with what is wrong, or `Told` where there
is something to say and nothing to fail. Cells are made anew for each, their parameters moved off zero, where a mistake
would not show; in float64 equal means equal to 1e-10.

x (B, T, D) -> y (B, T, H) with B = 2, T = 5, D = 3, H = 7, all different and prime; H = 37 for the fused loop.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell
from foresay.encode.segments import Rows, find_cuts, run_segments
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.plain import run_plain

B, T, D, H = 2, 5, 3, 7
WIDE = 37  # two vectors of sixteen and a tail: what a fused loop has of each kind
EXACT = 1e-10  # float64 against float64
MODES = (("in use", False), ("in training", True), ("in use", False))
FUSED = 1e-4  # float32, fused, against float64, plain: of the largest value


class Failed(Exception):
    """A clause that does not hold, and why."""


class Told(Exception):
    """Neither held nor broken: something to know."""


@dataclass(frozen=True)
class Subject:
    """A cell as a recipe writes it."""

    recipe: dict[str, Any]

    def cell(self, dtype: torch.dtype = torch.float64, width: int = D, size: int = H) -> Cell:
        """A new one in use, not in training, always with the same parameters, none of them at zero."""
        torch.manual_seed(1)
        cell: Cell = parts.make("cell", self.recipe)
        cell.build(width, size)
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.add_(0.3 * (H / size) ** 0.5 * torch.randn_like(parameter))
        return cell.to(dtype).eval()


def inputs(rows: int = B, steps: int = T, dtype: torch.dtype = torch.float64) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(rows, steps, D, dtype=torch.float64).to(dtype)


def right_padding(*lengths: int) -> Tensor:
    return torch.arange(T) < torch.tensor(lengths)[:, None]


def difference(one: Tensor, other: Tensor) -> float:
    """The largest one; not a number counts as infinite."""
    if one.shape != other.shape:
        raise Failed(f"shape {tuple(one.shape)} instead of {tuple(other.shape)}")
    found = (one.double() - other.double()).abs().max().item() if one.numel() else 0.0
    return found if found == found else float("inf")


def within(figure: float, allowed: float, what: str) -> str:
    if figure > allowed:
        raise Failed(f"{what} differ by {figure:.2g}; allowed: {allowed:.0e}")
    return f"{what} differ by {figure:.1e}"


def builds(subject: Subject) -> str:
    cell = subject.cell()
    states, gates = ", ".join(cell.maths.states), ", ".join(cell.maths.gates)
    return f"{sum(p.numel() for p in cell.parameters()):,} parameters; states {states}; gates {gates}"


def shapes(subject: Subject) -> str:
    cell, x = subject.cell(), inputs()
    first = cell.begin(x)
    y, after = cell.run(x, first)
    if y.shape != (B, T, cell.width):
        raise Failed(f"y is {tuple(y.shape)}; allowed: {(B, T, cell.width)}")
    for name, state in first.items():
        if after[name].shape != state.shape:
            raise Failed(f"state {name} is {tuple(after[name].shape)} after, {tuple(state.shape)} before")
    if y.dtype != x.dtype:
        raise Failed(f"y is {y.dtype} for x in {x.dtype}: a constant in the step has a dtype of its own")
    told = ", ".join(f"{name} {tuple(state.shape)}" for name, state in after.items())
    return f"x {tuple(x.shape)} -> y {tuple(y.shape)}; {told}"


def padding(subject: Subject) -> str:
    """What stands in the padding reaches no real position, and a row does not know its neighbours."""
    cell, x = subject.cell(), inputs(4)
    lengths, mask = [3, 5, 1, 0], right_padding(3, 5, 1, 0)
    y = cell.run(x, cell.begin(x), mask)[0]
    other = cell.run(torch.where(mask[..., None], x, 9.0), cell.begin(x), mask)[0]
    if (y[~mask] != 0).any():
        raise Failed("y is not zero at padding")
    alone = [cell.run(x[r : r + 1, :n], cell.begin(x[:1]))[0] for r, n in enumerate(lengths)]
    worst = max(difference(y[r : r + 1, :n], one) for (r, n), one in zip(enumerate(lengths), alone, strict=True))
    return within(max(worst, difference(y, other)), EXACT, "rows with padding and alone")


def causality(subject: Subject) -> str:
    """No y sees a later x, and every y sees its own."""
    cell, x = subject.cell(), inputs().requires_grad_()
    for step in range(T):
        (grad,) = torch.autograd.grad(cell.run(x, cell.begin(x))[0][:, step].square().sum(), x)
        if (grad[:, step + 1 :] != 0).any():
            raise Failed(f"y at step {step} depends on a later x")
        if not (grad[:, step] != 0).any():
            raise Failed(f"y at step {step} does not depend on x at that step")
    return "no y depends on a later x"


def chunks(subject: Subject) -> str:
    """Two chunks with carried states equal one pass."""
    cell, x = subject.cell(), inputs()
    whole, end = cell.run(x, cell.begin(x))
    one, memory = cell.run(x[:, :2], cell.begin(x))
    two, memory = cell.run(x[:, 2:], memory)
    worst = max(difference(memory[name], end[name]) for name in end)
    return within(max(worst, difference(torch.cat([one, two], 1), whole)), EXACT, "two chunks and one pass")


def starts(subject: Subject) -> str:
    """A document that begins within a row is read as if it stood alone."""
    cell, x = subject.cell(), inputs()
    begins = torch.zeros(B, T, dtype=torch.bool)
    begins[0, 2] = begins[1, 1] = begins[1, 4] = True
    first = cell.begin(x)
    y = run_segments(cell, x, first, first, Rows(None, begins, find_cuts(T, begins)))[0]["h"]
    worst = 0.0
    for row, documents in enumerate([[(0, 2), (2, 5)], [(0, 1), (1, 4), (4, 5)]]):
        for begin, end in documents:
            alone = cell.run(x[row : row + 1, begin:end], cell.begin(x[:1]))[0]
            worst = max(worst, difference(y[row : row + 1, begin:end], alone))
    return within(worst, EXACT, "documents in a row and alone")


def gradients(subject: Subject) -> str:
    """Every parameter gets gradient."""
    cell, x = subject.cell(), inputs()
    y = cell.run(x, cell.begin(x))[0]
    (y * torch.randn_like(y)).sum().backward()
    named = dict(cell.named_parameters())
    silent = [name for name, p in named.items() if p.grad is None or not (p.grad != 0).any()]
    if silent:
        raise Failed(f"{', '.join(silent)} get no gradient; leave out what the step does not use")
    return f"all of {', '.join(named)} get some"


def finite_differences(subject: Subject) -> str:
    """The plain loop's derivatives against differences, in float64."""
    cell, x = subject.cell(), inputs(steps=3).requires_grad_()
    memory = {name: torch.randn_like(state).requires_grad_() for name, state in cell.begin(x).items()}
    named = {"x": x} | {f"state {name}": state for name, state in memory.items()} | dict(cell.named_parameters())

    def run(*_: Tensor) -> tuple[Tensor, ...]:  # gradcheck moves the tensors it was given in place
        with plainly():
            y, after = cell.run(x, memory)
        return y, *after.values()

    try:
        torch.autograd.gradcheck(run, tuple(named.values()))
    except RuntimeError as error:
        raise Failed(_mismatch(str(error), list(named))) from None
    return f"{sum(tensor.numel() for tensor in named.values()):,} derivatives agree"


def _mismatch(text: str, names: list[str]) -> str:
    """gradcheck's report in one line: which gradient is wrong."""
    found = re.search(r"with respect to input (\d+)", text)
    which = f" of {names[int(found[1])]}" if found else ""
    return f"the gradient{which} is not that of the step: {text.strip().splitlines()[0]}"


@contextmanager
def plainly() -> Iterator[None]:
    """The plain loop, whatever would be faster."""
    before = os.environ.get("FORESAY_PLAIN")
    os.environ["FORESAY_PLAIN"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["FORESAY_PLAIN"]
        else:
            os.environ["FORESAY_PLAIN"] = before


def fused(subject: Subject) -> str:
    """The fused CPU loop in float32 against the plain one in float64: values and gradients, padded, states carried.

    In use, in training and in use again, the same cell: a form that was worked out for one is wrong in the other.
    """
    from foresay.kernels.recurrent.loop import Loop

    fast, plain = subject.cell(torch.float32, size=WIDE), subject.cell(size=WIDE)
    worst, without = 0.0, {}
    for mode, training in MODES:
        expected = _pulled(plain.train(training), torch.float64, run_plain)
        if engine.fusible(fast.train(training).maths, training=training) is None:
            without[mode] = fast.maths.derived["unfusible"]
            continue
        found = _pulled(fast, torch.float32, partial(engine.run_fused, Loop))
        for name in expected:
            figure = _relative(found[name], expected[name])
            if figure > FUSED:
                raise Failed(
                    f"{mode} {name} differs from the plain loop by {figure:.2g} of its size; allowed: {FUSED:.0e}"
                )
            worst = max(worst, figure)
    if without:
        where, there = ("", "") if len(without) == 2 else (f" {next(iter(without))}", " there")
        raise Told(f"no fused form{where}: {next(iter(without.values()))}; the plain loop runs it{there}")
    return f"values and gradients, in use and in training, within {worst:.1e} of the plain loop in float64"


def _pulled(cell: Cell, dtype: torch.dtype, run: Callable[..., Any]) -> dict[str, Tensor]:
    """What a way of running gives: h, the states after, and every gradient of a random sum of these, by name."""
    x = inputs(4, dtype=dtype).requires_grad_()
    # above zero: what a step divides by (sLSTM's n) is so too, and near zero float32 has no right digits
    memory = {n: torch.rand(s.shape, dtype=torch.float64).to(dtype) for n, s in cell.begin(x).items()}
    memory = {name: state.requires_grad_() for name, state in memory.items()}
    torch.manual_seed(3)  # a cell may draw noise
    kept, after = run(cell.maths, cell.inputs(x, memory, right_padding(3, 5, 1, 4)), ("new:h",))
    torch.manual_seed(4)
    given = {"h": kept["new:h"]} | {f"state {name} after": state for name, state in after.items()}
    total = sum((one * torch.randn(one.shape, dtype=torch.float64).to(dtype)).sum() for one in given.values())
    named = {"x": x} | {f"state {name}": state for name, state in memory.items()} | dict(cell.named_parameters())
    assert isinstance(total, Tensor)
    found = torch.autograd.grad(total, list(named.values()), allow_unused=True)
    pulled = {f"the gradient of {name}": grad for name, grad in zip(named, found, strict=True) if grad is not None}
    return {name: one.detach() for name, one in (given | pulled).items()}


def _relative(one: Tensor, other: Tensor) -> float:
    return difference(one, other) / max(1.0, other.abs().max().item())


def saved(subject: Subject) -> str:
    """Written and read back, as a recipe and as weights, it gives the same."""
    cell, x = subject.cell(), inputs()
    again = replace(subject, recipe=parts.describe(cell)).cell()
    with torch.no_grad():
        for parameter in again.parameters():
            parameter.zero_()
    again.load_state_dict(load(save(cell.state_dict())))
    if parts.describe(again) != parts.describe(cell):
        raise Failed(f"its settings come back as {parts.describe(again)} instead of {parts.describe(cell)}")
    return within(difference(again.run(x, again.begin(x))[0], cell.run(x, cell.begin(x))[0]), 0.0, "saved and loaded")


CLAUSES: list[Callable[[Subject], str]] = [
    builds,
    shapes,
    padding,
    causality,
    chunks,
    starts,
    gradients,
    finite_differences,
    fused,
    saved,
]
