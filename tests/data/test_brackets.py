"""Brackets: balanced, of the grammar as an independent parser reads it, with one parse each; sentences held out."""

from __future__ import annotations

import functools

from foresay.data import brackets
from foresay.data.brackets import SIZES, words_of

RULES: dict[str, list[tuple[str, ...]]] = {
    "S": [("NP", "VP")],
    "NP": [("name",), ("core",), ("core", "PN"), ("core", "SBAR")],
    "core": [("article", "noun"), ("article", "adjective", "noun")],
    "PN": [("of-noun", "NP")],
    "PV": [("of-verb", "NP")],
    "SBAR": [("who", "alone"), ("who", "object", "NP")],
    "VP": [("alone",), ("alone", "PV"), ("object", "NP"), ("object", "NP", "PV"), ("clause", "that", "S")],
}
WORDS = {
    "name": brackets._NAMES, "article": brackets._ARTICLES, "adjective": brackets._ADJECTIVES, "noun": brackets._NOUNS,
    "of-noun": brackets._OF_NOUNS, "of-verb": brackets._OF_VERBS, "alone": brackets._ALONE, "object": brackets._OBJECT,
    "clause": brackets._CLAUSE, "who": ("who",), "that": ("that",),
}  # fmt: skip


def parses(sentence: str) -> list[str]:
    """Every parse, by trying all rules at all places; a relative clause is for subjects."""
    words = sentence.split()

    @functools.cache
    def spans(symbol: str, begin: int, end: int, subject: bool) -> tuple[str, ...]:
        if symbol in WORDS:
            return (words[begin],) if end == begin + 1 and words[begin] in WORDS[symbol] else ()
        found = []
        for rule in RULES[symbol]:
            if "SBAR" in rule and not subject:
                continue
            found += joined(symbol, rule, begin, end)
        label = {"PN": "PP", "PV": "PP"}.get(symbol, symbol)
        if symbol == "SBAR":  # what follows `who` is a VP
            found = [f"who (VP {one.removeprefix('who ')} )" for one in found]
        return tuple(found) if symbol == "core" else tuple(f"({label} {one} )" for one in found)

    @functools.cache
    def joined(symbol: str, rule: tuple[str, ...], begin: int, end: int) -> list[str]:
        if not rule:
            return [""] if begin == end else []
        head, rest = rule[0], rule[1:]
        ways = []
        for middle in range(begin + 1, end + 1):
            subject = symbol == "S" and head == "NP"
            ways += [
                f"{a} {b}".strip()
                for a in spans(head, begin, middle, subject)
                for b in joined(symbol, rest, middle, end)
            ]
        return ways

    return list(spans("S", 0, len(words), False))


def test_a_parse_by_hand() -> None:
    wanted = "(S (NP the old dog (PP near (NP a tree ) ) ) (VP sleeps ) )"
    assert parses("the old dog near a tree sleeps") == [wanted]
    assert words_of(wanted) == "the old dog near a tree sleeps"


def test_every_sentence_has_the_one_parse_of_the_grammar() -> None:
    pairs = brackets.brackets(1)["valid"][:150]
    assert [parses(sentence) for sentence, _ in pairs] == [[parse] for _, parse in pairs]


def test_held_out_sentences_stand_in_no_training_pair() -> None:
    made = brackets.brackets(1)
    assert {name: len(pairs) for name, pairs in made.items()} == SIZES
    every = [sentence for pairs in made.values() for sentence, _ in pairs]
    assert len(set(every)) == len(every) == sum(SIZES.values())
    assert brackets.brackets(2)["valid"] != made["valid"]
    for sentence, parse in made["test"] + made["train"]:
        tokens, source = parse.split(), sentence.split()
        assert words_of(parse) == sentence
        assert sum(t[0] == "(" for t in tokens) == tokens.count(")")
        assert len(tokens) <= 2 * (len(source) + 1) + 10  # the longest that is written for a source
