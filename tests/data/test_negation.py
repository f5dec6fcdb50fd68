"""Reviews that only order tells apart: their labels by a reading of another kind, no word that gives them away."""

from __future__ import annotations

from collections import Counter

from foresay.data.negation import DENIED, TEXTS, WORDS, negation


def read(text: str) -> str:
    """The label of a review: the last word of praise or blame, turned round by a denial shortly before it."""
    words = text.split()
    place = max(n for n, word in enumerate(words) if word in WORDS["good"] + WORDS["bad"])
    praise = words[place] in WORDS["good"]
    before = " ".join(words[max(place - 3, 0) : place + 1])
    denied = any(form.split(" {}")[0].removesuffix(" a") in before for form in DENIED)
    return "good" if praise != denied else "bad"


def test_labels_are_those_of_the_last_remark():
    for name, texts in negation(1).items():
        assert len(texts) == TEXTS[name] and all(read(text) == label for text, label in texts)
    every = [text for texts in negation(1).values() for text, _ in texts]
    assert len(set(every)) == len(every)


def test_no_word_tells_the_labels_apart():
    """Of 2,000 reviews a word's share of good ones is within four standard errors of the share of all."""
    texts = negation(1)["train"]
    met = Counter((word, label) for text, label in texts for word in set(text.split()))
    share = sum(label == "good" for _, label in texts) / len(texts)
    assert abs(share - 0.5) < 0.05
    for word in {word for word, _ in met}:
        good, number = met[word, "good"], met[word, "good"] + met[word, "bad"]
        assert abs(good / number - share) < 4 * (0.25 / number) ** 0.5, word


def test_the_seed_decides():
    assert negation(1)["test"] != negation(2)["test"] and negation(1) is negation(1)
