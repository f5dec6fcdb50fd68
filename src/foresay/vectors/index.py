"""An inverted file: rows in lists by the nearest of some centres; a question looks through the lists nearest to it.

The centres are found by spherical k-means on a sample: assign each row to the centre of the largest cosine, move each
centre to the direction of its rows' sum. Asking costs (lists + V * probes / lists) products instead of V; what lies in
a list that is not looked through is missed. The index holds a second copy of the unit rows, ordered by list.
"""

from __future__ import annotations

import numpy as np

from foresay.vectors.nearest import largest, nearest, unit_rows

SAMPLE, ROUNDS = 64, 10  # rows for each centre, and how often the centres move


class Index:
    """`lists` centres, of which a question probes the nearest `probes`; the same seed, the same index."""

    def __init__(self, unit: np.ndarray, lists: int, probes: int, seed: int = 1):
        self.lists = min(lists, len(unit))
        self.probes = min(probes, self.lists)
        self.centres = _centres(unit, self.lists, np.random.default_rng(seed))
        of = nearest(self.centres, unit, 1)[0][:, 0]
        self.rows = np.argsort(of, kind="stable")
        self.first = np.searchsorted(of[self.rows], np.arange(self.lists + 1))
        self.unit = unit[self.rows]

    def nearest(self, questions: np.ndarray, number: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Rows and cosines for each question (B, D), nearest first, ties in row order."""
        probed = largest(questions @ self.centres.T, self.probes)
        found = [self._one(question, lists, number) for question, lists in zip(questions, probed, strict=True)]
        return [rows for rows, _ in found], [cosines for _, cosines in found]

    def _one(self, question: np.ndarray, lists: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        spans = [slice(self.first[one], self.first[one + 1]) for one in lists]
        rows = np.concatenate([self.rows[span] for span in spans])
        cosines = np.concatenate([self.unit[span] @ question for span in spans])
        kept = np.lexsort([rows, -cosines])[:number]
        return rows[kept], np.clip(cosines[kept], -1, 1)


def _centres(unit: np.ndarray, lists: int, draw: np.random.Generator) -> np.ndarray:
    sample = unit[np.sort(draw.choice(len(unit), min(len(unit), SAMPLE * lists), replace=False))]
    centres = sample[draw.choice(len(sample), lists, replace=False)]
    for _ in range(ROUNDS):
        of = nearest(centres, sample, 1)[0][:, 0]
        order = np.argsort(of, kind="stable")
        taken, first = np.unique(of[order], return_index=True)
        moved = sample[draw.choice(len(sample), lists, replace=False)]  # for centres that no row is nearest to
        moved[taken] = unit_rows(np.add.reduceat(sample[order], first, axis=0))
        centres = moved
    return centres
