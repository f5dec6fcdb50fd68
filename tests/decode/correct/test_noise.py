"""P(observed | right): by the formula, summing to one, learnt from pairs, saved and read."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Counted, Noise, Rates
from foresay.decode.correct.saved import as_json, read_noise
from foresay.decode.correct.tune import SEEN, choose, count, explain, learn
from foresay.decode.correct.words import WordNoise
from foresay.errors import UserError

COUNTED = Counted({"a": {"b": 3, "d": 1}}, {"a": 96, "b": 10})


def noise(**given) -> Noise:
    return Noise([Listed(["a,bc"])], Rates(0.1), {"listed": 0.8, "any": 0.2}, COUNTED, 4.0, **given).build("abcd")


def test_the_formula():
    made = noise()
    wrong = (4 + 4 * 0.1) / (96 + 4)
    assert math.exp(made.log_sub("a", "a")) == pytest.approx(1 - wrong)
    assert math.exp(made.log_sub("a", "b")) == pytest.approx(wrong * (3 + 4 * (0.4 + 0.05)) / 8)
    assert math.exp(made.log_sub("a", "d")) == pytest.approx(wrong * (1 + 4 * 0.05) / 8)
    assert math.exp(made.log_sub("d", "a")) == pytest.approx(0.1 * 0.25)  # no set: all of it is `any`'s
    assert noise(caution=1.0).log_sub("a", "b") == pytest.approx(made.log_sub("a", "b") - 1)
    assert made.using(caution=1.0).log_sub("a", "b") == pytest.approx(made.log_sub("a", "b") - 1)


def test_candidates_are_what_sets_and_counts_join():
    assert list(noise().candidates("b")) == ["b", "a"]
    assert list(noise().candidates("d")) == ["d", "a"]  # by a count alone
    assert list(noise().candidates("e")) == ["e"]


def test_pairs_are_counted():
    tally = count([("axc", "abc"), ("abc", "abc"), ("bac", "abc"), ("abbc", "abc"), ("ac", "abc")])
    assert tally.mistaken == {"b": {"x": 1}} and tally.meant["a"] == 5
    assert (tally.swapped, tally.inserted, tally.deleted) == (1, 1, 1)


def test_learning_finds_the_shares():
    pairs = [("b", "a")] * 30 + [("d", "a")] * 10 + [("a", "a")] * 60
    made = learn(pairs, [Listed(["a,bc"])], "abcd")
    assert made.rates.wrong == pytest.approx(40.5 / 101) and not made.rates.edits
    shares = explain(made)
    # the most of 30 log(s/2 + (1-s)/4) + 10 log((1-s)/4) is at s = 1/2
    assert shares == pytest.approx({"listed": 0.5, "any": 0.5}, abs=1e-3)
    assert made.log_sub("a", "b") > made.log_sub("a", "d") > made.log_sub("a", "c")
    assert learn([("ba", "ab")] * SEEN, [], "ab").rates.swap > 0 == learn([("ba", "ab")], [], "ab").rates.swap


def test_weight_and_caution_are_chosen():
    made = noise()

    def correct(wrong, one):
        """Right at caution 2; too bold below, too shy above."""
        return {0.0: "c", 2.0: "a"}.get(one.caution, wrong)

    best, tried = choose(correct, made, [("b", "a")] * 4, most_alarms=0.1, weights=[1.0], cautions=[0.0, 2.0, 3.0])
    assert best.caution == 2.0 and [one["correction"]["f1"] for one in tried] == [0, 1, 0]
    best, _ = choose(lambda w, one: "c", made, [("b", "a")], weights=[1.0], cautions=[0.0, 1.0])
    assert best.caution == 0.0  # all alarm: the first


def test_words_by_their_letters():
    letters = Noise([], Rates(0.01, 0.01, 0.01, 0.01)).build("abcdefgh")
    made = WordNoise(letters, ["abc", "abd", "bad", "head"])
    assert set(made.candidates("ab")) == {"ab", "abc", "abd"} and next(iter(made.candidates("abc"))) == "abc"
    assert made.log_sub("abc", "abc") > -0.2 > -4 > made.log_sub("abc", "acb") > made.log_sub("abc", "cab")
    bold, shy = made.using(caution=0.0), made.using(caution=2.0)
    assert shy.log_sub("abc", "acb") == pytest.approx(bold.log_sub("abc", "acb") - 2)
    assert shy.log_sub("abc", "abc") == bold.log_sub("abc", "abc")
    again = WordNoise(letters.using(caution=2.0), made.units)
    assert again.log_sub("abc", "acb") == pytest.approx(shy.log_sub("abc", "acb"))


def test_saved_and_read(tmp_path):
    made, path = noise(weight=1.5, caution=0.5), tmp_path / "noise.json"
    path.write_text(as_json(made, "character"), "utf-8")
    again = read_noise(path).build("abcd")
    assert again.weight == 1.5 and again.caution == 0.5
    assert all(again.log_sub(x, o) == made.log_sub(x, o) for x in "abcd" for o in "abcd")


@pytest.mark.parametrize(
    "change", [{"format": 9}, {"rates": {}}, {"weight": 0}, {"confusions": ["shape"]}, {"meant": 3}]
)
def test_damaged_files_are_said(tmp_path, change):
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(json.loads(as_json(noise(), "character")) | change), "utf-8")
    with pytest.raises(UserError) as error:
        read_noise(path)
    assert "\n" not in str(error.value) and "noise.json" in str(error.value)


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_anything_else_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    with pytest.raises(UserError):
        read_noise(path)
