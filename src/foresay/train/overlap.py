"""How near written texts come to references: BLEU and chrF by sacrebleu, with its signatures, and exact match.

    BLEU   geometric mean of the precisions of 1- to 4-grams of words, shorter texts punished       (0 to 100)
    chrF   F_2 of character 1- to 6-grams                                                            (0 to 100)
    exact  the share of texts that equal their reference, blanks at the ends aside

A signature says how a figure was made (tokeniser, case, version); figures with another signature do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foresay.errors import UserError
from foresay.extras import need


@dataclass(frozen=True)
class Overlap:
    """What a comparison gives."""

    texts: int
    exact: float
    bleu: float
    chrf: float
    signatures: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        found = {"texts": self.texts, "exact": self.exact, "bleu": self.bleu, "chrf": self.chrf}
        return found | {"signatures": self.signatures}


def overlap(written: Sequence[str], references: Sequence[str]) -> Overlap:
    """Texts against their references, as many."""
    if not written or len(written) != len(references):
        raise UserError(
            f"{len(written)} texts and {len(references)} references; give as many of each, and at least one"
        )
    library = need("sacrebleu", "translate", "BLEU and chrF")
    found, signatures = {}, {}
    for name, metric in (("bleu", library.BLEU()), ("chrf", library.CHRF())):
        found[name] = metric.corpus_score(list(written), [list(references)]).score
        signatures[name] = str(metric.get_signature())
    return Overlap(len(written), exact_match(written, references), found["bleu"], found["chrf"], signatures)


def exact_match(written: Sequence[str], references: Sequence[str]) -> float:
    return sum(one.strip() == other.strip() for one, other in zip(written, references, strict=True)) / len(written)
