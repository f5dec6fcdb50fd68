"""Made proteins: tags by the rule, worked again in another way and by hand; what a residue alone tells."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from foresay.data.proteins import LONGEST, PROPENSITIES, SHORTEST, SIZES, folded, proteins


@pytest.mark.parametrize(
    ("residues", "tags"),
    [
        ("EEEEE", "HHHHH"),
        ("EEEE", "CCCC"),  # too short for a helix
        ("VVV", "EEE"),
        ("VV", "CC"),
        ("GGGGG", "CCCCC"),
        ("EEEEEPEEEEE", "CCCCCCHHHHH"),  # P and the residue before it; four that are left are no helix
        ("VVVVVVVEEEEEEEE", "EEEEEEHHHHHHHHH"),  # the last V, times 7: a = 4 * 1.06 + 3 * 1.51 > b = 4 * 1.7 + 3 * 0.37
        ("GGGGAGGGG", "CCCCCCCCC"),  # its own residue likes helices, those around it do not
    ],
)
def test_tags_by_hand(residues: str, tags: str) -> None:
    assert folded(residues) == tags


def windows(residues: str) -> str:
    """The rule once more: sums over windows as convolutions, runs by where tags change."""
    p = np.array([PROPENSITIES[one] for one in residues])
    count = np.convolve(np.ones(len(p)), np.ones(7), "full")[3:-3]
    a, b = (np.convolve(p[:, side], np.ones(7), "full")[3:-3] / count for side in (0, 1))
    tags = np.where(np.maximum(a, b) <= 1.05, "C", np.where(a >= b, "H", "E"))
    proline = np.array([one == "P" for one in residues])
    tags[proline | np.append(proline[1:], False)] = "C"
    ends = [0, *(np.flatnonzero(tags[1:] != tags[:-1]) + 1), len(tags)]
    for begin, end in pairwise(ends):
        if end - begin < {"H": 5, "E": 3, "C": 1}[str(tags[begin])]:
            tags[begin:end] = "C"
    return "".join(tags)


def test_every_chain_follows_the_rule() -> None:
    made = proteins(1)
    assert {name: len(own) for name, own in made.items()} == SIZES
    every = ["".join(residues) for own in made.values() for residues, _ in own]
    assert len(set(every)) == len(every) and {len(one) for one in every} <= set(range(SHORTEST, LONGEST + 1))
    for residues, tags in made["test"]:
        assert "".join(tags) == windows("".join(residues))


def test_a_residue_alone_says_little() -> None:
    """The most frequent tag of each residue in train is right for 55 % of test."""
    met: dict[str, Counter[str]] = defaultdict(Counter)
    for residues, tags in proteins(1)["train"]:
        for one, tag in zip(residues, tags, strict=True):
            met[one][tag] += 1
    best = {one: counts.most_common(1)[0][0] for one, counts in met.items()}
    right = [best[one] == tag for both in proteins(1)["test"] for one, tag in zip(*both, strict=True)]
    assert set(best) == set(PROPENSITIES) and 0.53 < sum(right) / len(right) < 0.57
