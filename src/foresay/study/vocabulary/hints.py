"""What is poor in a setting, and what to set instead: each hint is what was found and the remedies, as `key=value`.

A good setting gives no hint. The remedies of one hint are alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass

from foresay.study.vocabulary.facts import RARE, Facts, Text
from foresay.text.tokens import SPECIALS

ENOUGH = 1000  # tokens to judge a text by: half a per cent of fewer is a handful
MANY_UNKNOWN = (
    0.005  # of the validation tokens, from where training warns too: perplexity leaves out what they stand for
)
HARDLY_SEEN = 0.5  # of the symbols are rare: most of the table and of the softmax learns nothing
LONG_TAIL = 0.2  # the same for Chinese characters, of which a few thousand are all of a text and the others names
CHINESE = 0.3  # of the symbols, from where the text counts as Chinese or Japanese when tokens are chosen too
FALLEN_APART = 0.5  # of the tokens are single bytes: longer than they need be, and most merges are not used
SHORT = 3.0  # tokens a document: less has no context to learn from
UNLIKE_BYTES = 1.25  # times as many bytes per token: parts of one text differ by a tenth
# A new text has about as many new symbols as train has symbols seen once (Good 1953), some more where topics change.
UNLIKE_TIMES, UNLIKE_MORE = 3.0, 0.02


@dataclass(frozen=True)
class Hint:
    """What was found and what to set instead: one of the remedies."""

    about: str
    remedies: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.about}; try {', or '.join(self.remedies)}"


def find_hints(facts: Facts) -> list[Hint]:
    """The hints for a vocabulary and its text, the gravest first."""
    unknown = _unknown(facts)
    rare = _hardly_seen(facts, smaller=unknown is None)
    found = (_unlike(facts), unknown, _fallen_apart(facts), rare, _documents(facts))
    return [hint for hint in found if hint is not None]


def _unknown(facts: Facts) -> Hint | None:
    tokens, valid = facts.about.tokens, _valid(facts)
    if valid is None:
        return None
    remedies: list[str] = []
    if _full(facts):
        remedies.append(f"tokens.size={2 * tokens['size']}")
    if tokens.get("min_count", 1) > 1:
        remedies.append(f"tokens.min_count={tokens['min_count'] // 2}")
    # Nothing was left out of a vocabulary that is not full: what is unknown in train is written there as <unk>.
    written = 0.0 if remedies else facts.texts["train"].unknown
    if valid.unknown - written <= MANY_UNKNOWN:
        return None
    about = f"{_percent(valid.unknown)} of the validation tokens are unknown"
    return Hint(about, (*remedies, "tokens=subwords"))


def _hardly_seen(facts: Facts, smaller: bool) -> Hint | None:
    """Rare symbols; where there are many unknown ones as well, fewer symbols would only make more of those."""
    tokens, train = facts.about.tokens, facts.texts["train"]
    if train.tokens < ENOUGH or "size" not in tokens:
        return None
    share = facts.rare_learnt / max(facts.learnt, 1)
    chinese = tokens["kind"] == "characters" and facts.chinese > CHINESE
    if share <= (LONG_TAIL if chinese else HARDLY_SEEN):
        return None
    what = "Chinese characters with a long tail" if chinese else "symbols that are hardly ever seen"
    about = (
        f"{what}: train has {_percent(share)} of them fewer than {RARE} times, together {_percent(train.rare)} of its "
        "tokens"
    )
    if not smaller:
        return Hint(about, ("tokens=subwords",))
    smallest = len(SPECIALS) + facts.alphabet + 1
    fewer = f"tokens.size={max(_round(facts.symbols - facts.rare_learnt), smallest)}"
    return Hint(about, (f"tokens.min_count={RARE}", fewer) if "min_count" in tokens else (fewer,))


def _fallen_apart(facts: Facts) -> Hint | None:
    if facts.one_byte is None or facts.one_byte <= FALLEN_APART or "size" not in facts.about.tokens:
        return None
    about = f"subwords fall apart: {_percent(facts.one_byte)} of the train tokens are single bytes"
    if _full(facts):
        return Hint(about, (f"tokens.size={_round(4 * facts.symbols)}", "tokens=characters"))
    return Hint(f"{about}, and there is too little text to learn more", ("tokens=characters", "tokens=bytes"))


def _documents(facts: Facts) -> Hint | None:
    train, unit = facts.texts["train"], (facts.about.data or {}).get("unit")
    if train.documents > 1 and train.tokens_per_document < SHORT and unit != "document":
        about = f"documents of {train.tokens_per_document:.1f} tokens have no context to learn from"
        return Hint(about, ("data.unit=document",))
    if train.documents == 1 and facts.about.batches == "buckets":
        about = "train is one document, and buckets put a whole document into a row"
        return Hint(about, ("data.unit=line", "train.batches=streams"))
    return None


def _unlike(facts: Facts) -> Hint | None:
    train, valid = facts.texts["train"], _valid(facts)
    if valid is None:
        return None
    times = valid.bytes_per_token / train.bytes_per_token
    expected = max(UNLIKE_TIMES * (train.unknown + facts.once), train.unknown + UNLIKE_MORE)
    if not 1 / UNLIKE_BYTES <= times <= UNLIKE_BYTES:
        found = f"{valid.bytes_per_token:.2f} bytes per token against {train.bytes_per_token:.2f}"
    elif valid.unknown > expected:
        found = f"{_percent(valid.unknown)} of its tokens are unknown against {_percent(train.unknown)}"
    else:
        return None
    about, data = f"the validation text is unlike the train text: {found}", facts.about.data or {}
    if data.get("valid") is None and data.get("holdout", "tail") == "tail":
        return Hint(about, ("data.holdout=seed", "data.valid=FILE"))
    return Hint(about, ("data.valid=FILE",))


def _valid(facts: Facts) -> Text | None:
    """The validation text, when there is enough to judge by."""
    valid = facts.texts.get("valid")
    return valid if valid is not None and valid.tokens >= ENOUGH else None


def _full(facts: Facts) -> bool:
    """Whether the vocabulary is as large as it may be: a larger one would hold more."""
    size = facts.about.tokens.get("size")
    return size is not None and facts.symbols >= max(size, len(SPECIALS))


def _round(number: int) -> int:
    """To two digits: 3187 -> 3200."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return (number + unit // 2) // unit * unit


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"
