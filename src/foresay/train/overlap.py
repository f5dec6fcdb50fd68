"""How near written texts come to references, by the measures that a task asks for.

    exact   the share of texts that equal their reference, blanks at the ends aside                  (0 to 1)
    errors  words to insert, delete or exchange until text and reference are equal, / words of the references;
            of phonemes this is the phoneme error rate                                               (0 and up)
    bleu    geometric mean of the precisions of 1- to 4-grams of words, shorter texts punished       (0 to 100)
    chrf    F_2 of character 1- to 6-grams                                                           (0 to 100)
    rouge   F_1 of words, of pairs of words, of the longest common subsequence; mean over the texts  (0 to 100)

BLEU and chrF are sacrebleu's, ROUGE is torchmetrics'. A signature says how a figure was made (tokeniser, case,
version); figures with another signature do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from foresay.errors import UserError
from foresay.extras import need
from foresay.models.seq2seq.task import USUAL, Measure

ROUGE = {"rouge1": "rouge1_fmeasure", "rouge2": "rouge2_fmeasure", "rougeL": "rougeL_fmeasure"}


@dataclass(frozen=True)
class Overlap:
    """What a comparison gives: a figure for each measure that was asked for, None for the others."""

    texts: int
    exact: float | None = None
    errors: float | None = None
    bleu: float | None = None
    chrf: float | None = None
    rouge: dict[str, float] | None = None  # rouge1, rouge2, rougeL
    signatures: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        figures = {"exact": self.exact, "errors": self.errors, "bleu": self.bleu, "chrf": self.chrf}
        found = {"texts": self.texts} | {name: one for name, one in figures.items() if one is not None}
        return found | (self.rouge or {}) | {"signatures": self.signatures}


def overlap(written: Sequence[str], references: Sequence[str], measures: Sequence[Measure] = USUAL) -> Overlap:
    """Texts against their references, as many."""
    if not written or len(written) != len(references):
        raise UserError(
            f"{len(written)} texts and {len(references)} references; give as many of each, and at least one"
        )
    found: dict[str, Any] = {}
    signatures: dict[str, str] = {}
    if "exact" in measures:
        found["exact"] = exact_match(written, references)
    if "errors" in measures:
        found["errors"] = error_rate(written, references)
    for name in ("bleu", "chrf"):
        if name in measures:
            metric: Any = getattr(need("sacrebleu", "translate", "BLEU and chrF"), name.upper())()
            found[name] = metric.corpus_score(list(written), [list(references)]).score
            signatures[name] = str(metric.get_signature())
    if "rouge" in measures:
        found["rouge"], signatures["rouge"] = _rouge(written, references)
    return Overlap(len(written), **found, signatures=signatures)


def exact_match(written: Sequence[str], references: Sequence[str]) -> float:
    return sum(one.strip() == other.strip() for one, other in zip(written, references, strict=True)) / len(written)


def error_rate(written: Sequence[str], references: Sequence[str]) -> float:
    """Edits between the words of texts and references, for each word of the references."""
    both = [(one.split(), other.split()) for one, other in zip(written, references, strict=True)]
    words = sum(len(reference) for _, reference in both)
    if not words:
        raise UserError("the references have no words, and errors are counted for each; give some with words")
    return sum(distance(one, other) for one, other in both) / words


def distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The fewest words, or symbols, to insert, delete or exchange (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, wanted in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != wanted))
    return row[-1]


def _rouge(written: Sequence[str], references: Sequence[str]) -> tuple[dict[str, float], str]:
    library = need("torchmetrics.functional.text.rouge", "summarise", "ROUGE")
    scores = library.rouge_score(list(written), list(references), rouge_keys=tuple(ROUGE))
    version = need("torchmetrics", "summarise", "ROUGE").__version__
    signature = f"case:lower|tok:a-z0-9|stem:no|mean:texts|torchmetrics:{version}"
    return {name: 100 * float(scores[key]) for name, key in ROUGE.items()}, signature
