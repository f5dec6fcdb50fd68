"""Made proteins: a chain of amino acids, and for each whether it lies in a helix (H), a strand (E) or a coil (C).

    a_t, b_t = mean of P(a), P(b) over the residues t-3 ... t+3 that there are
    H where a_t > 1.05 and a_t >= b_t,  E where b_t > 1.05 and b_t > a_t,  C elsewhere
    a proline (P) and the residue before it are C;  runs of H shorter than 5 and of E shorter than 3 become C

P(a) and P(b) are the propensities of Chou and Fasman (1978). Their own rule begins and extends runs in other ways: this
one is a toy with the same need, that a residue says little and those on both its sides say the rest. Chains are drawn
in stretches that favour one of the three, and the rule reads nothing but the letters. A chain stands in one part alone.
"""

from __future__ import annotations

import functools
import random
from itertools import groupby

from foresay.data.in_parts import in_parts

SIZES = {"test": 400, "valid": 200, "train": 2_000}
SHORTEST, LONGEST = 40, 120  # residues of a chain
NEAR = 3  # residues on each side that count
LEAST = 1.05  # mean propensity
RUN = {"H": 5, "E": 3, "C": 1}  # the shortest run
PROPENSITIES = {  # P(a), P(b)
    "A": (1.42, 0.83), "R": (0.98, 0.93), "N": (0.67, 0.89), "D": (1.01, 0.54), "C": (0.70, 1.19), "Q": (1.11, 1.10),
    "E": (1.51, 0.37), "G": (0.57, 0.75), "H": (1.00, 0.87), "I": (1.08, 1.60), "L": (1.21, 1.30), "K": (1.16, 0.74),
    "M": (1.45, 1.05), "F": (1.13, 1.38), "P": (0.57, 0.55), "S": (0.77, 0.75), "T": (0.83, 1.19), "W": (1.08, 1.37),
    "Y": (0.69, 1.47), "V": (1.06, 1.70),
}  # fmt: skip

Chain = tuple[list[str], list[str]]  # residues, tags


def folded(residues: str) -> str:
    """The tags of a chain by the rule."""
    found = list[str]()
    for t, own in enumerate(residues):
        near = [PROPENSITIES[one] for one in residues[max(t - NEAR, 0) : t + NEAR + 1]]
        a, b = (sum(values) / len(near) for values in zip(*near, strict=True))
        broken = "P" in (own, *residues[t + 1 : t + 2])
        found.append("C" if broken or max(a, b) <= LEAST else "H" if a >= b else "E")
    runs = (list(run) for _, run in groupby(found))
    return "".join("C" * len(run) if len(run) < RUN[run[0]] else "".join(run) for run in runs)


def drawn(draw: random.Random) -> str:
    """A chain in stretches: residues with weights P(a)^2, P(b)^2 or 1 / (P(a) P(b))."""
    length, found = draw.randint(SHORTEST, LONGEST), ""
    while len(found) < length:
        kind = draw.choice("HHHECC")
        weights = [{"H": a * a, "E": b * b, "C": 1 / (a * b)}[kind] for a, b in PROPENSITIES.values()]
        found += "".join(draw.choices(list(PROPENSITIES), weights, k=draw.randint(4, 14)))
    return found[:length]


@functools.lru_cache(maxsize=2)
def proteins(seed: int) -> dict[str, list[Chain]]:
    """Train, valid and test of a seed, every chain once."""
    draw = random.Random(f"proteins {seed}")
    found = dict[str, None]()
    while len(found) < sum(SIZES.values()):
        found.setdefault(drawn(draw))
    return in_parts([(list(one), list(folded(one))) for one in found], SIZES)
