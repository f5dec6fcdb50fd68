"""How well corrections do, counted by sentence.

A sentence is wrong where the pair differs, changed where the corrector changed it.

    detection     a wrong sentence whose changed places are exactly those that are wrong
    correction    a wrong sentence that became the right one
    precision     of the changed sentences, how many;  recall: of the wrong ones;  F1 = 2 P R / (P + R)
    false alarm   a right sentence that was changed; the rate is of the right ones

Beside that the sentences that are merely changed where something is wrong, and precision and recall of single changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from foresay.decode.correct.align import align

RULE = (
    "by sentence: wrong = the pair differs, changed = output differs from input; correction = a wrong sentence whose "
    "output equals the right one; detection = a wrong sentence changed at exactly the wrong places; precision over "
    "changed sentences, recall over wrong ones; false alarm = a right sentence that was changed, over right ones"
)


@dataclass(frozen=True)
class Judged:
    """One sentence: as observed, as meant, as corrected, in units."""

    wrong: Sequence[str]
    right: Sequence[str]
    output: Sequence[str]

    @property
    def is_wrong(self) -> bool:
        return tuple(self.wrong) != tuple(self.right)

    @property
    def changed(self) -> bool:
        return tuple(self.output) != tuple(self.wrong)

    @property
    def mended(self) -> bool:
        return self.is_wrong and tuple(self.output) == tuple(self.right)

    @property
    def detected(self) -> bool:
        return self.is_wrong and places(self.wrong, self.output) == places(self.wrong, self.right)


def places(before: Sequence[str], after: Sequence[str]) -> frozenset[int]:
    """The places of `before` that are not the same after; a gap where something is put in counts as the next place."""
    return frozenset(i for one in align(before, after) for i in range(one.low, max(one.high, one.low + 1)))


def measure(judged: Iterable[Judged]) -> dict[str, Any]:
    """All figures and the counts behind them, and the 95 % intervals (Wilson) of recall and of the false-alarm rate."""
    found = list(judged)
    wrong, changed = sum(one.is_wrong for one in found), sum(one.changed for one in found)
    alarms = sum(one.changed and not one.is_wrong for one in found)
    right, mended = len(found) - wrong, sum(one.mended for one in found)
    single = _singles(found)
    return {
        "sentences": len(found),
        "wrong": wrong,
        "changed": changed,
        "detection": scores(sum(one.detected for one in found), changed, wrong),
        "correction": scores(mended, changed, wrong),
        "changes": scores(*single),
        "false_alarms": alarms,
        "false_alarm_rate": alarms / right if right else None,
        "mended_interval": wilson(mended, wrong),
        "false_alarm_interval": wilson(alarms, right),
        "rule": RULE,
    }


def scores(hits: int, given: int, wanted: int) -> dict[str, Any]:
    """Precision, recall and F1 of so many hits; 0 where there is nothing to divide by."""
    precision, recall = hits / given if given else 0.0, hits / wanted if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return {"hits": hits, "precision": precision, "recall": recall, "f1": f1}


def _singles(found: Sequence[Judged]) -> tuple[int, int, int]:
    """Changes that are right, changes made, changes wanted: each a place and what it became."""
    hits = given = wanted = 0
    for one in found:
        made, meant = (_spelt(one.wrong, after) for after in (one.output, one.right))
        hits, given, wanted = hits + len(made & meant), given + len(made), wanted + len(meant)
    return hits, given, wanted


def _spelt(before: Sequence[str], after: Sequence[str]) -> set[tuple[int, int, tuple[str, ...]]]:
    found: set[tuple[int, int, tuple[str, ...]]] = set()
    for one in align(before, after):
        if one.is_swap:
            found |= {(one.low + n, one.low + n + 1, (after[one.begin + n],)) for n in (0, 1)}
        else:
            found.add((one.low, one.high, tuple(after[one.begin : one.end])))
    return found


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson)."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, hits / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)
    return max(low, 0.0), min(high, 1.0)
