"""The made language: what its sentences tell, what they do not, and which words are taught."""

from __future__ import annotations

import pytest

from foresay.study.claims.made_language import EITHER, KINDS, NAMES, SAID, Language, columns


def test_words_are_of_one_kind_and_the_same_for_a_seed():
    words = Language(1).words
    everything = [word for own in words.values() for word in own]
    assert len(set(everything)) == sum(KINDS.values()) and words == Language(1).words != Language(2).words
    assert not any(word.endswith("s") for word in everything)  # a plural is told by its last letter alone


def test_names_have_the_tags_of_their_kind():
    language = Language(1)
    kind_of = {word: kind for kind in NAMES for word in language.words[kind]}
    seen = set()
    for _ in range(300):
        for word, tag in language.naming(1.0, alone=0.5):
            assert tag == kind_of.get(word, "other")
            seen.add(tag)
    assert seen == {"person", "place", "other"}


def test_alone_nothing_but_the_word_tells():
    language = Language(1)
    frames = {tuple(frame.split()) for frame in EITHER}
    for _ in range(50):
        sentence = language.naming(1.0, alone=1.0)
        assert tuple(word if tag == "other" else "_" for word, tag in sentence) in frames


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_labelled_sentences_have_a_share_of_the_words(share):
    language = Language(1)
    met = {word for _ in range(600) for word in language.review(share)[0].split()}
    for kind in ("praise", "blame"):
        known = language.words[kind][: int(share * KINDS[kind])]
        assert met & set(language.words[kind]) == set(known)


def test_what_is_said_after_a_review_goes_with_its_words():
    language = Language(1)
    praise = set(language.words["praise"])
    reviews = [line.split(" , ") for line in language.text(200) if " , " in line]
    assert reviews and all((review.split()[3] in praise) == (said in SAID["praise"]) for review, said in reviews)


def test_columns():
    assert columns([[("a", "x"), ("b", "y")], [("c", "x")]]) == "a\tx\nb\ty\n\nc\tx\n"
