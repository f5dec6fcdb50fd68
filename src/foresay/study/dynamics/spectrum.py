"""The eigenvalues of what a cell multiplies its state by: W_h of every gate, block by block.

    new   Elman's W           i, f, g, o   an LSTM's           n<-rh   the GRU's U, which sees r * h

A block counts where what it multiplies is a state of the step before, or is made of one within the step. An LRU has its
eigenvalues as parameters. Of a projected LSTM, which feeds r = P m back, a gate's are those of P U.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell
from foresay.encode.cells.changed import Changed
from foresay.encode.cells.lru import LRU
from foresay.encode.cells.lru import eigenvalues as lru_eigenvalues
from foresay.encode.cells.projected import Projected
from foresay.kernels.recurrent.maths import Maths

Spectrum = dict[str, Tensor]  # of each gate its eigenvalues, complex, the greatest first


@torch.no_grad()
def spectrum(cell: Cell) -> Spectrum:
    """Of every recurrent block of a built cell; nothing where the state meets no square matrix."""
    found: Spectrum = {}
    for inner in (one for one in cell.modules() if isinstance(one, Cell)):
        if isinstance(inner, LRU):
            real, imaginary = lru_eigenvalues(inner.get_parameter("nu"), inner.get_parameter("theta"))
            found["state"] = sort(torch.complex(real.double(), imaginary.double()))
            continue
        maths = inner.cell.maths if isinstance(inner, Changed) else inner.maths
        for source, weight in inner.products().items():
            gates = _gates(inner, source)
            blocks = weight.double().split([maths.widths[f"gate:{gate}"] for gate in gates])
            for gate, block in zip(gates, blocks, strict=True):
                square = _square(inner, block)
                if square is not None and remembers(maths, source):
                    found[name_of(gate, source)] = sort(torch.linalg.eigvals(square))
    return found


def _gates(cell: Cell, source: str) -> tuple[str, ...]:
    """The gates that see a source, of a modifier those that it makes see it."""
    if isinstance(cell, Changed):
        return tuple(gate for gate in cell.cell.maths.gates if "state:h" in cell.cell.maths.sees[gate])
    return cell.maths.sources[source]


def _square(cell: Cell, block: Tensor) -> Tensor | None:
    if isinstance(cell, Projected) and block.shape == (cell.size, cell.projection):
        return cell.get_parameter("weight_shown").double() @ block
    return block if block.shape[0] == block.shape[1] else None


def remembers(maths: Maths, source: str) -> bool:
    """Whether a source is a state from before the step, or is made of one."""
    if source.startswith("state:"):
        return True
    made = [stage for stage in maths.stages if source in stage.gives]
    return any(remembers(maths, read) for stage in made for read in stage.reads if read[:6] in ("state:", "value:"))


def name_of(gate: str, source: str) -> str:
    kind, seen = source.split(":")
    return gate if source == "state:h" else f"{gate}<-{'new_' * (kind == 'new')}{seen}"


def sort(values: Tensor) -> Tensor:
    """The greatest first; of equals the one with the greater real, then imaginary part."""
    keys = [(-round(abs(one), 12), -one.real, -one.imag) for one in values.tolist()]
    return values[sorted(range(len(keys)), key=keys.__getitem__)]


def radius(values: Tensor) -> float:
    return float(values.abs().max())
