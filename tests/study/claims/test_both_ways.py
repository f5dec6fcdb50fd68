"""The claim on reading both ways: its rule, equal parameters, what is asked, and what a reader forwards cannot know."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from foresay.study.claims import both_ways as claim
from foresay.study.claims.both_ways import (
    BOTH,
    LAST,
    MADE_TAGS,
    MAX,
    ONE,
    REAL,
    Size,
    batch_of,
    build,
    draw,
    judge,
    right,
)
from foresay.study.claims.both_ways_text import (
    EITHER,
    FILLERS,
    IDS,
    KEYS,
    LABELS,
    LONGEST,
    SHORTEST,
    TAGS,
    RealText,
    Row,
    labelled,
    real,
    tagged,
)
from foresay.study.claims.claim import Figure
from foresay.study.recall import count
from foresay.text.tokens import SPECIALS, UNK

NAMES = {number: word for word, number in IDS.items()}
TEXT = RealText(50, ("A", "B", "C"), [], [])


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("tags", "labels", "quick", "verdict"),
    [
        ((20, 30), (10, 40), True, "holds"),
        ((4, 30), (10, 40), False, "not decided at this size"),
        ((20, 30), (-1, 4), True, "not decided at this size"),
        ((20, 30), (-1, 4), False, "does not hold"),
        ((0, 1), (10, 40), False, "does not hold"),
    ],
)
def test_the_rule(tags, labels, quick, verdict):
    assert judge([figure(*tags), figure(*labels)], quick) == verdict


@pytest.mark.parametrize("name", [MADE_TAGS, LAST, MAX, REAL])
def test_one_way_has_as_many_parameters(name):
    one, both = build(name, ONE, TEXT), build(name, BOTH, TEXT)
    assert one.encoder.causal and not both.encoder.causal
    assert abs(count(one) / count(both) - 1) < 0.02


def test_what_precedes_tells_half_of_the_words_and_what_follows_the_other_half():
    chance = random.Random(1)
    rows = [tagged(chance) for _ in range(2000)]
    by_next, by_last, noun = 0, 0, 0
    for row in rows:
        words, tags = [NAMES[number] for number in row.ids], [TAGS[number] for number in row.targets]
        assert [word in EITHER for word in words] == row.asked.tolist() and row.asked.sum() == 3
        for place in np.flatnonzero(row.asked):
            before, after, tag = words[place - 1], words[place + 1], tags[place]
            if after in ("the", "a", "was", "is"):
                by_next += 1
                assert tag == ("VERB" if after in ("the", "a") else "NOUN") and before in "then now later perhaps"
            else:
                by_last += 1
                assert tag == ("VERB" if before in ("they", "we") else "NOUN") and after in "again alone there"
            noun += tag == "NOUN"
    assert abs(by_next / (by_next + by_last) - 0.5) < 0.03 and abs(noun / 6000 - 0.5) < 0.03


def test_the_key_word_stands_first_or_last_and_is_the_label():
    chance, first = random.Random(1), len(SPECIALS) + FILLERS
    rows = [labelled(chance) for _ in range(500)]
    for row in rows:
        (key,) = np.flatnonzero(row.ids >= first)
        assert key == (len(row.ids) - 1 if row.asked else 0)
        assert (row.ids[key] - first) // KEYS == row.targets and SHORTEST <= len(row.ids) <= LONGEST
    assert {int(row.targets) for row in rows} == set(range(LABELS)) and 200 < sum(int(row.asked) for row in rows) < 300


def test_right_counts_what_is_asked_for():
    """A tagger that says NOUN everywhere; a classifier that says 0."""
    noun = TAGS.index("NOUN")
    tagger = build(MADE_TAGS, BOTH, None).eval()
    with torch.no_grad():
        tagger.head.weight.zero_()
        tagger.head.bias.zero_()[noun] = 1.0
    asked = np.array([True, False, True])
    rows = [Row(np.array([5, 6, 7]), np.array([noun, 0, 0]), asked), Row(np.array([5]), np.array([noun]), asked[:1])]
    assert right(tagger, rows)[0] == pytest.approx(100 * 2 / 3)
    classifier = build(LAST, ONE, None).eval()
    with torch.no_grad():
        classifier.classes.weight.zero_()
        classifier.classes.bias.zero_()[0] = 1.0
    places = [(0, 0), (1, 0), (0, 1), (0, 1)]  # label, and whether it is last
    texts = [Row(np.array([5, 6]), np.array(label), np.array(last)) for label, last in places]
    assert right(classifier, texts) == (75.0, [50.0, 100.0])


@pytest.mark.parametrize("way", [ONE, BOTH])
def test_only_one_that_reads_both_ways_sees_what_follows(way):
    torch.manual_seed(1)
    model = build(MADE_TAGS, way, None).eval()
    rows = [
        Row(np.array([IDS[word] for word in text.split()]), np.zeros(4, int), np.ones(4, bool))
        for text in ("then answer the letter", "then answer was late")
    ]
    with torch.no_grad():
        scores = model.scores(batch_of(rows))
    assert torch.equal(scores[0, 1], scores[1, 1]) is (way == ONE)


def test_both_ways_learns_what_one_way_cannot():
    """Forwards three quarters at most: within four standard errors of 600 words, half of them guessed."""
    size = Size(updates=40, real=0, asked=200)
    one, both = (claim.learnt(MADE_TAGS, way, 3, size, None)[0] for way in (ONE, BOTH))
    assert both > 95 and one < 75 + 400 * (0.125 * 0.875 / 600 + 0.0625 / 600) ** 0.5


def test_real_text(tmp_path, monkeypatch):
    folder = tmp_path / "ud-english-ewt"
    folder.mkdir()
    lines = "The\tDET\tDT\ndog\tNOUN\tNN\n\nthe\tDET\tDT\nend\tNOUN\tNN\n\na\tX\tX\n\n"
    for part in ("train", "dev", "test"):
        (folder / f"{part}.tsv").write_text(lines)
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    found = real(2, 1)
    first = len(SPECIALS)
    assert (found.vocabulary, found.tags) == (first + 1, ("DET", "NOUN")) and len(found.valid) == 1
    assert [row.ids.tolist() for row in found.train] == [[first, UNK], [first, UNK]]
    assert found.train[0].targets.tolist() == [0, 1]


def test_without_real_text_the_rest_is_measured(monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    monkeypatch.setattr(claim, "QUICK", Size(updates=1, real=1, rows=4, asked=30))
    found = claim.run(True, 1, lambda _: None)
    assert "FORESAY_DATA is not set" in found.note and set(found.details["parameters"]) == {MADE_TAGS, LAST, MAX}


def test_a_picture_has_every_question():
    found = {way: {MADE_TAGS: [50.0, 60.0], LAST: [70.0, 90.0]} for way in (ONE, BOTH)}
    left, other = draw(found, {ONE: [[10.0, 90.0], [30.0, 90.0]], BOTH: [[100.0, 100.0]] * 2}).axes
    assert [bar.get_height() for bar in left.patches] == [55.0, 80.0] * 2
    assert [bar.get_height() for bar in other.patches] == [20.0, 90.0, 100.0, 100.0]
