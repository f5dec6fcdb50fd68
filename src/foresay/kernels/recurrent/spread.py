"""How a recurrence is spread over a GPU so that its weights stay on the chip: who owns which units and rows.

Program (j, r) owns BJ units and BN rows. All programs must run at once, because each step they wait for each other, so
there may be no more of them than multiprocessors; and the weights into a program's units, with an operand on its way,
must fit into the multiprocessor's shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from foresay.kernels.recurrent.fuse import Fused, of_one_width

BJ = 16
SHARED = 227 * 1024  # bytes of a multiprocessor's shared memory that one program may have
LOADED = 1 << 16  # bytes of operands on their way at once on the way back


@dataclass(frozen=True)
class Shape:
    """How a recurrence is spread: rows of a program (BN), its warps, and the most units of one tl.dot."""

    rows: int
    warps: int
    most: int

    def chunks(self, units: int, *, split: bool) -> list[tuple[int, int]]:
        """(first unit, how many) of each dot: powers of two, the last one reaching past the end as little as can be.

        Where the warps split a chunk, each gets sixteen units at least.
        """
        least = 16 * self.warps if split else 16
        chunks, begin = [], 0
        while begin < units:
            left = -(-(units - begin) // least) * least
            size = min(self.most, 1 << (left.bit_length() - 1))
            chunks.append((begin, size))
            begin += size
        return chunks


def pieces(gates: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Gates in groups that are multiplied together: four at a time (three count as four), else one by one."""
    fours = [gates[i : i + 4] for i in range(0, len(gates), 4)]
    return [one for piece in fours for one in ([piece] if len(piece) > 2 else [(gate,) for gate in piece])]


def spread(fused: Fused, rows: int, device: torch.device) -> tuple[Shape, Shape] | None:
    """How to spread the work over the chip, forwards and backwards; None where it does not fit."""
    key = ("spread", rows, device)
    if key not in fused.derived:
        programs = torch.cuda.get_device_properties(device).multi_processor_count
        fused.derived[key] = _spread(fused, rows, programs) if fits(fused) else None
    return fused.derived[key]


def fits(fused: Fused) -> bool:
    """Whether the cell is of the kind a program can own units of: one width, nothing summed along rows."""
    return of_one_width(fused.maths) and not any(kernel.reduces for kernel in (*fused.forwards, *fused.backwards))


def _spread(fused: Fused, rows: int, programs: int) -> tuple[Shape, Shape] | None:
    size = fused.maths.widths["state:h"]
    blocks = -(-size // BJ)
    fitting = [n for n in (8, 16, 32, 64) if blocks * -(-rows // n) <= programs]
    if not fitting:
        return None
    rows_of = fitting[0]
    forwards = Shape(rows_of, 8 if rows_of > 32 else 4, 8192 // rows_of)
    backwards = Shape(rows_of, 8, 8192 // rows_of)
    if max(_held_forwards(fused, forwards), _held_backwards(fused, backwards)) > SHARED:
        return None
    return forwards, backwards


def _held_forwards(fused: Fused, shape: Shape) -> int:
    """Bytes of shared memory: weights, an operand, the sums of a product."""
    size = fused.maths.widths["state:h"]
    whole, split = (sum(n for _, n in shape.chunks(size, split=split)) for split in (False, True))
    groups = [piece for gates in fused.phases.seen.values() for piece in pieces(gates)]
    weights = sum(4 * whole if len(piece) > 2 else split for piece in groups) * BJ * 2
    return weights + max(whole, split) * shape.rows * 2 + 4 * BJ * shape.rows * 4


def _held_backwards(fused: Fused, shape: Shape) -> int:
    runs = [run for source in fused.runs.values() for run in source]
    units = [sum(n for _, n in shape.chunks(run.end - run.begin, split=True)) for run in runs]
    loaded = min(max(units) * shape.rows * 2, max(LOADED, shape.most * shape.rows * 2))
    return sum(units) * BJ * 2 + loaded + shape.warps * BJ * shape.rows * 4
