"""Texts corrected in place: characters, words, several runs; what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from foresay import start
from foresay.decode.correct.chain import Annealing
from foresay.decode.correct.corrector import Corrector
from foresay.decode.correct.keyboard import Keyboard
from foresay.decode.correct.listed import Listed
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.pairs import Pair
from foresay.decode.correct.scorer import Scorer
from foresay.decode.correct.usual import default_noise
from foresay.errors import UserError
from foresay.loading import load
from foresay.models.mixture import Mixture
from foresay.run import Run
from foresay.train.progress import Watch
from tests.decode.correct.conftest import SmallRun

LINES = [f"the {a} sees the {b} and then the {c} runs ." for a, b, c in itertools.permutations(
    ["small cat", "old dog", "red bird", "river", "tree", "house"], 3)]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("correct")
    (place / "text.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    data = {"train": str(place / "text.txt"), "unit": "line"}
    small = {"normalise": {"lowercase": True}}
    kinds = {
        "blanks": {},
        "characters": {},
        "subwords": {"size": 300},
        "small-blanks": small,
        "small-characters": small,
    }
    for name, settings in kinds.items():
        tokens = {"kind": name.removeprefix("small-"), **settings}
        recipe = {"task": "ngram", "order": 4, "data": data, "tokens": tokens}
        start.train(recipe, out=place / name, device="cpu", watch=Watch())
    return place


def runs(folder: Path, *names: str) -> list:
    return [load(folder / name, "cpu") for name in names]


def test_words_are_changed_in_place(folder):
    corrector = Corrector(runs(folder, "blanks"))
    given = "the  smal cat sees the odl dog  and then the tree runs ."
    found = corrector.correct(given, number=3)
    assert found.text == "the  small cat sees the old dog  and then the tree runs ."
    assert [(one.before, one.after) for one in found.changes] == [("smal", "small"), ("odl", "old")]
    assert [given[one.begin : one.end] for one in found.changes] == ["smal", "odl"]
    assert found.marked() == "the  [small] cat sees the [old] dog  and then the tree runs ."
    assert found.after < found.before and len(found.best) == 3 and found.best[0].text == found.text
    assert found.best[0].nats == pytest.approx(found.after)
    assert found.best[0].posterior >= found.best[1].posterior >= found.best[2].posterior
    right = corrector.correct(LINES[7])
    assert right.text == LINES[7] and right.changes == [] and right.before == right.after


@pytest.mark.parametrize("wrong, right", [("tree", "trree"), ("river", "rver"), ("house", "huose")])
def test_letters_are_put_in_left_out_and_exchanged(folder, wrong, right):
    text = "the tree sees the river and then the house runs ."
    found = Corrector(runs(folder, "characters")).correct(text.replace(wrong, right))
    assert found.text == text and len(found.changes) in (1, 2)


def test_two_edits_are_two_changes_though_the_length_stays(folder):
    text = "the tree sees the river and then the house runs ."
    found = Corrector(runs(folder, "characters")).correct(text.replace("river", "rver").replace("house", "hhouse"))
    assert found.text == text and [(one.before, one.after) for one in found.changes] == [("", "i"), ("h", "")]


@pytest.mark.parametrize("chain", ["gibbs", "metropolis"])
def test_chains_that_meet_a_place_by_chance(folder, chain):
    corrector = Corrector(runs(folder, "characters"), annealing=Annealing(chain, restarts=0))
    assert corrector.correct("the trree sees the river .").text == "the tree sees the river ."


def test_units_may_be_smaller_than_tokens(folder):
    corrector = Corrector(runs(folder, "subwords"))
    found = corrector.correct("the tree sees the rover and then the house runs .")
    assert found.after < found.before and "river" in found.text


def test_two_runs_and_a_noise_of_their_own(folder):
    noise = Noise([Listed(["x,e"])], Rates(0.05))
    corrector = Corrector(runs(folder, "characters", "characters"), noise, weights=[0.5, 0.5])
    assert corrector.correct("thx tree sees the river and then the house runs .").text.startswith("the tree")


def test_learning_and_choosing(folder):
    pairs = [Pair(line.replace("sees", "seez"), line) for line in LINES[:6]]
    corrector = Corrector(runs(folder, "characters"))
    corrector.learn(pairs, [])
    assert corrector.noise.counted.mistaken == {"s": {"z": 6}} and corrector.noise.rates.edits
    tried = corrector.choose([Pair(LINES[9].replace("sees", "seez"), LINES[9])])
    assert max(one["correction"]["f1"] for one in tried) == 1.0
    assert corrector.judge(Pair(LINES[8].replace("sees", "seez"), LINES[8])).mended
    kept, unit = corrector.saved_noise()
    assert unit == "character" and kept is corrector.noise
    words = Corrector(runs(folder, "blanks"))
    assert words.learn([*pairs, Pair("the tree runs", "the trees run .")]) == 6
    assert words.noise.letters.counted.mistaken == {"s": {"z": 6}} and words.saved_noise()[1] == "word"


def test_the_noise_fits_the_text(folder):
    assert [one.part_name for one in default_noise(Scorer(runs(folder, "blanks"))).confusions] == ["keyboard"]


@pytest.mark.parametrize(
    "text, says", [("", "is empty"), ("  ", "is empty"), ("日本", "knows nothing"), ("a" * 501, "501")]
)
def test_bad_texts(folder, text, says):
    with pytest.raises(UserError, match=says) as error:
        Corrector(runs(folder, "characters")).correct(text)
    assert "\n" not in str(error.value)


def test_a_model_with_a_window_takes_no_longer_text():
    run = SmallRun()
    run.context = 12
    with pytest.raises(UserError, match="8 units; allowed: up to 7 a line"):
        Corrector([run], Noise([], Rates())).correct("abcabcab")


def test_tokens_that_do_not_mix(folder):
    with pytest.raises(UserError, match="token by token"):
        Corrector(runs(folder, "characters", "blanks"))


def test_an_lstm_drives_it_too(trained):
    run = load(trained, "cpu")
    corrector = Corrector([run], Noise([Keyboard()], Rates(0.05)))
    found = corrector.correct("the cat sees")
    assert found.after <= found.before
    assert found.before == pytest.approx(run.score("the cat sees")[0].nats, rel=1e-5)
    assert found.after == pytest.approx(run.score(found.text)[0].nats, rel=1e-5)


def test_a_run_corrects(folder):
    (run,) = runs(folder, "blanks")
    found = run.correct(["the smal cat sees the old dog .", LINES[3]], number=2)
    assert found[0].text == "the small cat sees the old dog ." and found[1].text == LINES[3] and len(found[0].best) == 2
    with pytest.raises(UserError, match="number=0"):
        run.correct("the cat", number=0)


def test_a_mixture_of_models_drives_it_too(folder):
    (run,) = runs(folder, "characters")
    mixed = Run(run.folder, run.recipe, run.tokens, Mixture([run.model, run.model]))
    text = "the tree seez the river and then the house runs ."
    one, other = Corrector([run]).correct(text), Corrector([mixed]).correct(text)
    assert one.text == other.text != text and one.after == pytest.approx(other.after, rel=1e-5)


def test_word_vectors_are_no_language_model():
    run = SmallRun()
    run.model.sequence = False
    with pytest.raises(UserError, match="small is no language model"):
        Corrector([run])


@pytest.mark.parametrize("name, other", [("blanks", "character"), ("characters", "word")])
def test_a_noise_of_other_units(folder, name, other):
    with pytest.raises(UserError, match=f"a noise model of {other}s and a run by"):
        Corrector(runs(folder, name), Noise([], Rates(), unit=other))


def test_a_few_pairs_leave_possible_what_they_do_not_show(folder):
    corrector = Corrector(runs(folder, "characters"))
    corrector.learn([Pair(LINES[0].replace("sees", "seez"), LINES[0])])
    text = "the tree sees the river and then the house runs ."
    for wrong in ("rver", "rivver", "rievr"):
        assert corrector.correct(text.replace("river", wrong)).text == text


def test_nothing_to_learn_from(folder):
    with pytest.raises(UserError, match="no pair has as many words"):
        Corrector(runs(folder, "blanks")).learn([Pair("a b", "ab")])


@pytest.mark.parametrize("text, becomes", [("smal", "small"), ("riber", "river"), ("hous", "house")])
def test_a_misspelt_word_alone(folder, text, becomes):
    assert Corrector(runs(folder, "blanks")).correct(text).text == becomes


@pytest.mark.parametrize("wrong, right", [("TEH", "THE"), ("Teh", "The"), ("teh", "the"), ("THE", "THE")])
@pytest.mark.parametrize("name", ["small-blanks", "small-characters"])
def test_a_run_of_small_letters_mends_large_ones(folder, name, wrong, right):
    end = " small cat sees the River and then the house runs ."
    found = Corrector(runs(folder, name)).correct(wrong + end)
    assert found.text == right + end and len(found.changes) == (wrong != right)


def test_a_blank_left_out(folder):
    corrector = Corrector(runs(folder, "blanks"))
    text = "the small cat sees the old dog and then the tree runs ."
    found = corrector.correct(text.replace("the old", "theold"), number=2)
    assert found.text == text and found.marked() == text.replace("the old", "[the old]")
    assert found.after == pytest.approx(corrector.correct(text).before)
    assert corrector.judge(Pair(text.replace("the old", "theold"), text)).mended


@pytest.mark.parametrize("wrong", [{"number": 0}, {"number": "x"}, {"seed": "x"}, {"seed": None}])
def test_bad_settings(folder, wrong):
    with pytest.raises(UserError, match=f"{next(iter(wrong))}=.*; allowed"):
        Corrector(runs(folder, "blanks")).correct("the cat", **wrong)


@pytest.mark.parametrize("text", [None, 5, ["the"]])
def test_what_is_no_text(folder, text):
    (run,) = runs(folder, "blanks")
    with pytest.raises(UserError, match=r"text=.*; allowed"):
        Corrector([run]).correct(text)
    if text != ["the"]:
        with pytest.raises(UserError, match=r"texts=.*; allowed"):
            run.correct(text)


@pytest.mark.parametrize("given", [[], 5, [5], SmallRun(), "run"])
def test_what_are_no_runs(given):
    with pytest.raises(UserError, match=r"runs=.*; allowed: a list of one run or more"):
        Corrector(given)


@pytest.mark.parametrize(
    "settings, says",
    [({"weights": 5}, "weights=5"), ({"weights": ["x"]}, "weights="), ({"noise": "n.json"}, "noise='n.json'")],
)
def test_what_is_no_setting(settings, says):
    with pytest.raises(UserError, match=f"{says}.*; allowed"):
        Corrector([SmallRun()], **settings)


def test_pairs_that_cannot_be_corrected_stay(folder):
    corrector = Corrector(runs(folder, "characters"))
    for wrong in ("日本", "a" * 501):
        found = corrector.judge(Pair(wrong, "the cat"))
        assert tuple(found.output) == tuple(wrong) and found.is_wrong and not found.changed
    tried = corrector.choose([Pair("日本", "日木")])
    assert all(one["changed"] == 0 for one in tried)
