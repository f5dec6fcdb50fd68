"""Chunks: every sentence has the one reading that an independent parser finds; words are ambiguous; parts are apart."""

from __future__ import annotations

import functools
from collections import defaultdict

from foresay.data import chunks
from foresay.data.chunks import SIZES

RULES = {  # TYPE(...) is a chunk; 1 and n: of one, of many; small letters are words
    "S": "C end | ADJUNCT comma C end | C ADJUNCT end | C and FLAT end",
    "ADJUNCT": "PP(before) NP | SBAR(before) FLAT",
    "C": "FLAT | SUBJECT1 SAY1 | SUBJECTn SAYn",
    "FLAT": "SUBJECT1 PRED1 | SUBJECTn PREDn",
    "SUBJECT1": "NP1 | NP(pronoun1) | NP(name)",
    "SUBJECTn": "NPn | NP(pronounn)",
    "NP": "NP1 | NPn",
    "NP1": "NP(CORE1) | NP(CORE1) PP(of) NP",
    "NPn": "NP(COREn) | NP(COREn) PP(of) NP",
    "CORE1": "article1 NOUN1 | article1 adjective NOUN1",
    "COREn": "articlen NOUNn | articlen adjective NOUNn | nounn | adjective nounn",
    "NOUN1": "noun1 | noun1 noun1",
    "NOUNn": "nounn | noun1 nounn",
    "OBJECT": "NP | NP(object) | NP(name)",
    "ALONG": "PP(up) NP | PP(to) NP",
    "AIM": "VP(to actn) OBJECT",
}
for k in "1n":
    RULES[f"PRED{k}"] = (
        f"ACT{k} OBJECT | GIVE{k} NP(object) NP | GIVE{k} NP(name) NP | WALK{k} | WALK{k} ALONG | WALK{k} AIM | "
        f"WALK{k} ALONG AIM | PICK{k} PRT(up) OBJECT | PICK{k} OBJECT PRT(up) | WANT{k} OBJECT"
    )
    RULES[f"SAY{k}"] = f"SAYS{k} FLAT | SAYS{k} SBAR(that) FLAT"
    for verb, more in (("act", ""), ("give", ""), ("walk", ""), ("pick", ""), ("want", " to actn"), ("says", "")):
        RULES[f"{verb.upper()}{k}"] = (
            f"VP({verb}{k}{more}) | ADVP(adverb) VP({verb}{k}{more}) | VP(auxiliary {verb}n{more}) | "
            f"VP(auxiliary adverb {verb}n{more})"
        )
KINDS = {
    "end": ".", "comma": ",", "and": "and", "of": "of", "to": "to", "that": "that", "before": "before after since",
    "up": "up over", "object": "her him them", "pronoun1": "she he", "pronounn": "they we", "name": chunks.NAMES,
    "article1": "the a every that her", "articlen": "the some those her", "adjective": chunks.ADJECTIVES,
    "adverb": chunks.ADVERBS, "auxiliary": "will can must", "nounn": [f"{w}s" for w in chunks.BOTH + chunks.NOUNS],
    "noun1": chunks.BOTH + chunks.NOUNS,
}  # fmt: skip
VERBS = {
    "act": chunks.BOTH + chunks.SEE, "give": "give send sell", "walk": "walk run climb", "pick": "pick turn look",
    "want": "want learn hope", "says": "say think hope",
}  # fmt: skip
WORDS = {kind: set(own.split() if isinstance(own, str) else own) for kind, own in KINDS.items()}
for verb, own in VERBS.items():
    WORDS[f"{verb}n"] = set(own.split() if isinstance(own, str) else own)
    WORDS[f"{verb}1"] = {f"{word}s" for word in WORDS[f"{verb}n"]}


def symbols(text: str) -> list[str]:
    """The symbols of a rule; a chunk keeps its inside."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == " " and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def readings(sentence: str) -> set[tuple[str, ...]]:
    """The tags of every reading, by trying all rules at all places."""
    words = sentence.split()

    @functools.cache
    def of(symbol: str, begin: int, end: int) -> set[tuple[str, ...]]:
        if symbol in WORDS:
            return {("O",)} if end == begin + 1 and words[begin] in WORDS[symbol] else set()
        if "(" in symbol:
            kind, inside = symbol[:-1].split("(")
            tags = (f"B-{kind}", *[f"I-{kind}"] * (end - begin - 1))
            return {tags} if joined(tuple(symbols(inside)), begin, end) else set()
        return {tags for one in RULES[symbol].split(" | ") for tags in joined(tuple(symbols(one)), begin, end)}

    @functools.cache
    def joined(rest: tuple[str, ...], begin: int, end: int) -> set[tuple[str, ...]]:
        if len(rest) == 1:
            return of(rest[0], begin, end)
        ways = set[tuple[str, ...]]()
        for middle in range(begin + 1, end - len(rest) + 2):
            if first := of(rest[0], begin, middle):
                ways |= {a + b for b in joined(rest[1:], middle, end) for a in first}
        return ways

    return of("S", 0, len(words))


def test_readings_by_hand() -> None:
    many = "the plan orders list ships ."
    assert readings(many) == {("B-NP", "I-NP", "I-NP", "B-VP", "B-NP", "O")}
    assert readings("the plan orders lists .") == {("B-NP", "I-NP", "B-VP", "B-NP", "O")}
    assert readings("anna says that plan orders ships .") == {("B-NP", "B-VP", "B-NP", "I-NP", "B-VP", "B-NP", "O")}
    assert readings("anna says that plans order ships .") == {("B-NP", "B-VP", "B-SBAR", "B-NP", "B-VP", "B-NP", "O")}
    assert readings("ships anna .") == set()


def test_every_sentence_has_the_one_reading_of_the_grammar() -> None:
    made = chunks.chunks(1)["valid"][:50]
    assert [readings(" ".join(words)) for words, _ in made] == [{tuple(tags)} for _, tags in made]


def test_parts_are_apart_and_words_are_ambiguous() -> None:
    made = chunks.chunks(1)
    assert {name: len(own) for name, own in made.items()} == SIZES and chunks.chunks(2)["test"] != made["test"]
    every = [tuple(words) for own in made.values() for words, _ in own]
    assert len(set(every)) == len(every)
    seen: dict[str, set[str]] = defaultdict(set)
    for words, tags in made["train"]:
        for word, tag in zip(words, tags, strict=True):
            seen[word].add(tag)
    assert seen["order"] == {"I-NP", "I-VP", "B-VP"} and seen["orders"] == {"B-NP", "I-NP", "B-VP"}
    assert seen["that"] == {"B-NP", "B-SBAR"} and seen["to"] == {"B-PP", "B-VP", "I-VP"}
    assert seen["up"] == {"B-PP", "B-PRT"} and seen["before"] == {"B-PP", "B-SBAR"}
    assert seen["often"] == {"B-ADVP", "I-VP"} and seen["her"] == {"B-NP"}
