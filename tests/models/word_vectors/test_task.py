import math

import numpy as np
import pytest
import torch

import foresay
from foresay import parts
from foresay.errors import UserError
from foresay.models.task import Fitting
from foresay.models.word_vectors.task import count_words, shares, spelt_vectors
from foresay.text.tokens import SPECIALS
from foresay.vectors.spelling import pieces_of
from tests.data.made import shards_of
from tests.models.word_vectors.made import D, V, documents, spelt_words

WORDS = [*SPECIALS, *(f"w{n}" for n in range(V - len(SPECIALS)))]


def made(folder, texts=None, *, how=Fitting(WORDS), **settings):  # noqa: B008 - it is frozen
    torch.manual_seed(1)
    model = parts.make("task", {"kind": "word-vectors", "size": 10, "sample": 0.0, **settings})
    model.build(V)
    shards = shards_of(folder, documents() if texts is None else texts, shard=1000, vocabulary=V)
    model.fit(shards, None, how)
    return model


def cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("given, taken", [(0, 3), (1, 1), (2, 2)])
def test_threads_are_those_given_or_all(tmp_path, monkeypatch, given, taken):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    model = made(tmp_path / "text")
    tokens = shards_of(tmp_path / "again", documents(), shard=1000, vocabulary=V)
    assert model._course(tokens, model.counts.numpy(), Fitting(WORDS, threads=given)).threads == taken


@pytest.mark.parametrize("number", [0, 5])
def test_without_negatives_the_vectors_collapse(tmp_path, number):
    model = made(tmp_path / "text", documents(6, 80), epochs=40, lr=0.1, loss={"kind": "negative", "number": number})
    found = cosines(model.vectors.numpy()[model.counts.numpy() > 0])
    mean = found[np.triu_indices(len(found), 1)].mean()
    assert mean > 0.99 if number == 0 else mean < 0.6


def test_words_that_stand_alike_are_alike(tmp_path):
    """Words 5 and 6 stand in the same places, words 7 and 8 in others."""
    draw = np.random.default_rng(1)
    texts = [
        [int(draw.choice([9, 10, 11])), int(draw.choice([5, 6])), int(draw.choice([12, 13, 14]))] for _ in range(300)
    ] + [[int(draw.choice([15, 16, 17])), int(draw.choice([7, 8])), int(draw.choice([18, 19, 20]))] for _ in range(300)]
    for predict in ("skipgram", "cbow"):
        model = made(tmp_path / predict, texts, epochs=20, lr=0.1, predict=predict)
        found = cosines(model.vectors.numpy())
        assert found[5, 6] > 0.8 and found[7, 8] > 0.8
        assert max(found[5, 7], found[5, 8], found[6, 7], found[6, 8]) < 0.5


def test_how_often_words_are_kept():
    counts = np.array([0, 900, 90, 10])
    found = shares(counts, 0.01) / 2**32
    expected = [0.0, *(min(1.0, math.sqrt(0.01 / f) + 0.01 / f) for f in (0.9, 0.09, 0.01))]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (shares(counts, 0.0) == np.array([0, 1, 1, 1]) << 32).all()


def test_counts_are_of_words_alone(tmp_path):
    texts = [[1, 5, 6, 5], [5, 1]]
    found = count_words(shards_of(tmp_path / "text", texts, vocabulary=V), V)
    assert found[5] == 3 and found[6] == 1 and found.sum() == 4


def test_a_spelt_word_is_the_mean_of_its_parts():
    inputs, spelt = np.random.default_rng(1).normal(size=(V + 11, D)).astype(np.float32), spelt_words()
    found = spelt_vectors(inputs, spelt, V)
    for word in (4, 7):
        rows = [word, *spelt.pieces[spelt.first[word] : spelt.first[word + 1]]]
        np.testing.assert_allclose(found[word], inputs[rows].astype(np.float64).mean(0), rtol=1e-6)


def test_words_that_were_never_seen_are_spelt(tmp_path):
    (tmp_path / "text.txt").write_text("kings sing songs\nkings sang a song\nqueens sing\n" * 30)
    settings = [f"data.train={tmp_path}/text.txt", "data.unit=line", "data.share=0.0", "size=8", "sample=0"]
    run = foresay.train("skipgram", [*settings, "spelling.buckets=500", "tokens.min_count=2"], out=tmp_path / "run")
    assert run.model.pieces.shape == (500, 8)
    vectors = foresay.WordVectors.load(tmp_path / "run")
    assert "king" not in vectors and "kings" in vectors
    own = pieces_of("king", 3, 6, 500)
    np.testing.assert_allclose(vectors["king"], run.model.pieces.numpy()[own].mean(0), rtol=1e-5)
    with pytest.raises(UserError, match=r"shortest=5 and spelling\.longest=4"):
        made(tmp_path / "no", spelling={"shortest": 5, "longest": 4})


def test_deterministic_runs_are_equal(tmp_path, monkeypatch):
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(made(tmp_path / threads, how=Fitting(WORDS, 3, deterministic=True)).vectors.numpy().tobytes())
    assert found[0] == found[1]
    assert made(tmp_path / "other", how=Fitting(WORDS, 4, deterministic=True)).vectors.numpy().tobytes() != found[0]


def test_the_plain_path_learns_the_same(tmp_path, monkeypatch):
    fast = made(tmp_path / "fast", epochs=3, how=Fitting(WORDS, deterministic=True))
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    slow = made(tmp_path / "plain", epochs=3)
    losses = [[epoch.loss for epoch in model.history] for model in (fast, slow)]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    held = slow.held_out(shards_of(tmp_path / "other", documents(2, 30, 9), vocabulary=V), Fitting(WORDS))
    monkeypatch.delenv("FORESAY_PLAIN")
    assert held == pytest.approx(
        slow.held_out(shards_of(tmp_path / "more", documents(2, 30, 9), vocabulary=V)), rel=1e-5
    )


def test_what_cannot_be(tmp_path):
    with pytest.raises(UserError, match="loss=hierarchical with predict=cbow-product; allowed: loss=negative"):
        made(tmp_path / "a", predict="cbow-product", loss="hierarchical")
    model = parts.make("task", {"kind": "word-vectors"})
    with pytest.raises(UserError, match="the vocabulary has 1 word; vectors need two or more"):
        model.build(len(SPECIALS) + 1)
    with pytest.raises(UserError, match="the text has no known word; lower tokens"):
        made(tmp_path / "b", [[1, 1, 1]])
    with pytest.raises(UserError, match="no word of the text has a known word beside it"):
        made(tmp_path / "c", [[5], [6], [1, 7]])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "text.txt").write_text("the cat sat on the mat\nthe dog sat on the log\n" * 40)
    settings = [
        f"data.train={folder}/text.txt",
        "data.unit=line",
        "size=8",
        "epochs=3",
        "tokens.min_count=2",
        "sample=0",
    ]
    return foresay.train("skipgram", [*settings, "deterministic=true"], out=folder / "run")


def test_a_run(run):
    lines = (run.folder / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 3 and '"valid_loss"' in lines[-1]
    card = (run.folder / "README.md").read_text()
    assert "loss, nats a prediction" in card and "foresay words" in card and "on held-out text" in card
    assert (run.folder / "curve.png").exists()
    again = foresay.load(run.folder)
    assert torch.equal(again.model.vectors, run.model.vectors) and again.model.counts.sum() > 0


def test_a_run_is_no_sequence_model(run):
    for use in (
        lambda: run.score("the cat"),
        lambda: run.generate("the"),
        lambda: run.evaluate(),
        lambda: run.step("a"),
    ):
        with pytest.raises(UserError, match="is of task word-vectors, which knows no probability of a text"):
            use()


def test_the_same_run_again(run, tmp_path):
    again = foresay.train(str(run.folder / "recipe.yaml"), out=tmp_path / "again")
    assert (again.folder / "model.safetensors").read_bytes() == (run.folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    "recipe, settings",
    [
        ("skipgram", ["deterministic=true"]),
        ("skipgram", ["spelling=ngrams", "spelling.buckets=100"]),
        ("cbow", ["loss=softmax"]),
        ("cbow", ["predict=cbow-product"]),
    ],
)
def test_a_run_that_diverges_leaves_nothing(tmp_path, recipe, settings):
    (tmp_path / "text.txt").write_text("kings sing songs\nkings sang a song\nqueens sing\n" * 30)
    given = [f"data.train={tmp_path}/text.txt", "data.unit=line", "size=8", "sample=0", "tokens.min_count=2"]
    with pytest.raises(UserError, match=r"^lr=1e\+30: the vectors are no longer numbers after epoch 1; lower lr: 0"):
        foresay.train(recipe, [*given, "lr=1e30", *settings], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
