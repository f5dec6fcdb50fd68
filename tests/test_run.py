"""A loaded run: its scores are the model's, its texts repeat, and what is damaged is named."""

from __future__ import annotations

import copy
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import foresay
from foresay import start
from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.loading import load, pick_device
from foresay.run import PIECE, Run, Scored
from foresay.study.mix import mix
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch
from tests.train.stopping import train_to

SENTENCE = "the small dog sees a red house."


@pytest.fixture(scope="module")
def run(trained: Path) -> Run:
    return load(trained, "cpu")


@pytest.fixture(scope="module")
def on_lines(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run trained on words, line by line."""
    recipe = start.recipes.read(trained / "recipe.yaml")
    recipe["data"] |= {"unit": "line"}
    recipe["train"] |= {"batches": {"kind": "buckets", "tokens": 128}, "steps": 3}
    return start.train(
        recipe | {"tokens": "words"}, out=tmp_path_factory.mktemp("l") / "r", device="cpu", watch=Watch()
    )


@pytest.fixture(scope="module")
def transformer(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with windows of 10 tokens and no position beyond them."""
    recipe = start.recipes.read(trained / "recipe.yaml")
    positions = {"kind": "learnt", "longest": 10}
    recipe["encoder"] = {"kind": "transformer", "size": 8, "layers": 1, "heads": 2, "positions": positions}
    recipe["train"] |= {"batches": {"kind": "packed", "rows": 4, "length": 10}, "steps": 3}
    return start.train(recipe, out=tmp_path_factory.mktemp("t") / "r", device="cpu", watch=Watch())


def ids_of(run: Run, text: str) -> torch.Tensor:
    return torch.tensor([run.tokens.encode(text).tolist()])


def test_a_score_is_the_models_own(run: Run) -> None:
    scored = run.score(SENTENCE)[0]
    expected = run.model.score(ids_of(run, SENTENCE))[0][0].detach()
    assert scored.log_probs == pytest.approx(expected.tolist(), abs=1e-6)
    assert scored.nats == pytest.approx(-float(expected.double().sum()), rel=1e-6)
    assert scored.perplexity == pytest.approx(math.exp(scored.nats / len(SENTENCE)))
    assert scored.text == SENTENCE and scored.tokens == list(SENTENCE)


def test_a_score_is_the_product_of_single_steps(run: Run) -> None:
    scored = run.score("a dog")[0]
    for count, log_prob in enumerate(scored.log_probs):
        next_one = run.tokens.encode("a dog"[count]).item()
        assert log_prob == pytest.approx(float(run.step("a dog"[:count])[0][next_one]), abs=1e-5)


def test_a_long_text_is_scored_in_pieces_with_the_state_carried(run: Run) -> None:
    text = SENTENCE * (PIECE // len(SENTENCE) + 2)
    assert len(text) > PIECE
    whole = run.model.score(ids_of(run, text))[0][0]
    assert run.score(text)[0].log_probs == pytest.approx(whole.tolist(), abs=1e-5)


def test_many_texts_are_scored_each_on_its_own(run: Run) -> None:
    both = run.score([SENTENCE, "a cat"])
    assert [s.text for s in both] == [SENTENCE, "a cat"]
    assert both[1] == run.score("a cat")[0]


def test_perplexity_is_over_all_tokens_of_all_texts(run: Run) -> None:
    texts = [SENTENCE, "it"]
    nats = [s.nats for s in run.score(texts)]
    assert run.perplexity(texts) == pytest.approx(math.exp(sum(nats) / (len(SENTENCE) + 2)))
    assert run.perplexity("it") == pytest.approx(math.exp(nats[1] / 2))


def test_a_text_without_tokens(run: Run) -> None:
    scored = run.score("")[0]
    assert scored == Scored("", [], []) and scored.nats == 0.0 and scored.perplexity == 1.0
    with pytest.raises(UserError, match="no tokens"):
        run.perplexity("")


def test_a_hopeless_score_does_not_overflow() -> None:
    assert Scored("x", ["x"], [-5000.0]).perplexity == math.exp(700.0)


def test_the_end_counts_where_lines_were_trained_on(on_lines: Run, run: Run) -> None:
    scored = on_lines.score("a dog sees it.")[0]
    assert scored.tokens == ["a", "dog", "sees", "it", ".", "<stop>"] and len(scored.log_probs) == 6
    ids = torch.cat([ids_of(on_lines, "a dog sees it."), torch.tensor([[STOP]])], 1)
    assert scored.log_probs == pytest.approx(on_lines.model.score(ids)[0][0].tolist(), abs=1e-6)
    assert len(on_lines.score("")[0].log_probs) == 1  # an empty line: only its end
    assert "<stop>" not in run.score("a dog")[0].tokens


def test_a_score_as_json(run: Run) -> None:
    about = json.loads(json.dumps(run.score("it")[0].as_dict()))
    assert about["text"] == "it" and [t["token"] for t in about["tokens"]] == ["i", "t"]
    assert about["nats"] == pytest.approx(sum(t["nats"] for t in about["tokens"]))


def test_what_cannot_be_is_said_in_json() -> None:
    found = Scored("b a", ["b", "a"], [0.0, -math.inf]).as_dict()
    assert found["impossible"] is True and str(found["tokens"][0]["nats"]) == "0.0"
    assert "impossible" not in Scored("b", ["b"], [-1.0]).as_dict()


def test_a_step_is_a_distribution_and_goes_on_from_its_state(run: Run) -> None:
    whole, _ = run.step("the cat")
    assert float(whole.double().exp().sum()) == pytest.approx(1.0, abs=1e-5) and whole.shape == (len(run.tokens),)
    _, state = run.step("the ")
    again, _ = run.step("cat", state)
    torch.testing.assert_close(again, whole, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(run.step("cat")[0], whole)


def test_greedy_text_is_the_likeliest_symbol_again_and_again(run: Run) -> None:
    text = "the "
    for _ in range(12):
        log_probs = run.step(text)[0].clone()
        log_probs[[0, 1, 2, 4]] = -torch.inf  # <pad>, <unk>, <start>, <mask> are never written
        text += run.tokens.decode([int(log_probs.argmax())])
    assert run.generate("the ", length=12, temperature=0) == [text]


def test_generated_texts_repeat_with_their_seed(run: Run) -> None:
    one = run.generate("a ", length=40, number=3, seed=5)
    assert len(set(one)) == 3 and all(text.startswith("a ") for text in one)
    assert run.generate("a ", length=40, number=3, seed=5) == one
    assert run.generate("a ", length=40, seed=5) == one[:1]  # a row does not depend on its neighbours
    assert run.generate("a ", length=40, seed=6) != one[:1]


def test_generation_is_shown_as_it_grows_and_takes_a_decoder(run: Run) -> None:
    grown: list[str] = []
    (text,) = run.generate("a", length=9, decoder=Sample(top_k=1), on_text=grown.append)
    assert [len(part) for part in grown] == list(range(1, 10)) and text == "a" + grown[-1]
    assert [text] == run.generate("a", length=9, temperature=0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"length": 0}, "length=0; allowed: an integer > 0"),
        ({"length": "5"}, "length='5'; allowed: an integer > 0"),
        ({"number": 0}, "number=0; allowed: an integer > 0"),
        ({"temperature": -0.5}, "temperature=-0.5; allowed: a number >= 0"),
        ({"temperature": float("nan")}, "temperature=nan; allowed: a number >= 0"),
        ({"temperature": float("inf")}, "temperature=inf; allowed: a number >= 0, and finite"),
        ({"decoder": "gready"}, "'gready' is no decoder; allowed: greedy, sample; did you mean 'greedy'?"),
        ({"prompt": ["a"]}, "prompt=.*; allowed: text"),
    ],
)
def test_generation_refuses_what_cannot_be(given: dict, told: str, run: Run) -> None:
    with pytest.raises(UserError, match=told):
        run.generate(**{"prompt": "a"} | given)


def test_only_texts_are_scored(run: Run) -> None:
    with pytest.raises(UserError, match=r"texts=\[5\]; allowed: a list, each text"):
        run.score([5])  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="texts=None"):
        run.score(None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="text=3"):
        run.step(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match="path=3; allowed: a run's folder"):
        load(3)  # pyright: ignore[reportArgumentType]


def test_a_transformer_scores_texts_longer_than_its_window(transformer: Run) -> None:
    assert transformer.context == 10
    text = SENTENCE * 3
    scored = transformer.score(text)[0]
    assert len(scored.log_probs) == len(text) and all(math.isfinite(p) and p < 0 for p in scored.log_probs)
    ids = ids_of(transformer, text)
    # By hand: windows of 8 tokens (9 with <start>), of which the last 4 count; the first 4 see what there is.
    assert scored.log_probs[:4] == pytest.approx(transformer.model.score(ids[:, :4])[0][0].tolist(), abs=1e-5)
    for begin in range(4, len(text) - 4, 4):
        window = transformer.model.score(ids[:, begin - 4 : begin + 4])[0][0].tolist()
        assert scored.log_probs[begin : begin + 4] == pytest.approx(window[4:], abs=1e-5)
    assert math.isfinite(transformer.perplexity(text))
    assert max(len(transformer.generate("the ", length=50, seed=seed)[0]) for seed in range(9)) > 2 * 10


def test_a_bounded_look_back_goes_on_past_the_learnt_positions(transformer: Run, tmp_path: Path) -> None:
    """With a window nothing grows, but the positions end: texts are begun anew as without one."""
    recipe = start.recipes.read(transformer.folder / "recipe.yaml")
    recipe["encoder"]["attention"] = {"window": 4}
    run = start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    scored = run.score(SENTENCE * 3)[0]
    assert len(scored.log_probs) == 3 * len(SENTENCE) and all(math.isfinite(p) for p in scored.log_probs)
    assert max(len(run.generate("the ", length=50, seed=seed)[0]) for seed in range(9)) > 2 * 10
    recipe["encoder"]["positions"] = "rotary"
    assert start.train(recipe, out=tmp_path / "other", device="cpu", watch=Watch()).context is None


def test_a_short_text_needs_no_window(transformer: Run, run: Run) -> None:
    expected = transformer.model.score(ids_of(transformer, "cat"))[0][0].tolist()
    assert transformer.score("cat")[0].log_probs == pytest.approx(expected, abs=1e-6)
    assert run.context is None


def test_methods_of_other_tasks_say_who_has_them(run: Run) -> None:
    unknown: Any = run
    with pytest.raises(AttributeError, match=r"is of task language-model and has no embed; .* foresay train elmo$"):
        unknown.embed("a")
    with pytest.raises(AttributeError, match=r"^'Run' object has no attribute 'nothing'$"):
        unknown.nothing  # noqa: B018
    assert not hasattr(run, "predict") and not hasattr(copy.copy(run), "translate")


def test_one_piece_of_text_has_no_interval(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("the cat")
    assert run.evaluate(str(tmp_path / "one.txt"), rows=1).between() == "one piece of text: no interval"
    assert run.evaluate().between().startswith("95 % interval ")


def test_evaluation_speaks_of_what_was_given(run: Run) -> None:
    with pytest.raises(UserError, match=r"^data='nothere' is no file, folder or known text"):
        run.evaluate("nothere")


def test_one_run_is_no_mixture(run: Run) -> None:
    for runs in ([], [run]):
        with pytest.raises(UserError, match="no mixture; give two or more"):
            mix(runs)


def test_evaluation_repeats_what_the_run_measured(run: Run, trained: Path) -> None:
    measured = run.evaluate(limit=run.recipe.train.evaluate.tokens).as_dict()
    assert measured == json.loads((trained / "results.json").read_text())["valid"]
    whole = run.evaluate()
    assert whole.tokens == whole.of > measured["tokens"]


def test_evaluation_in_one_row_is_the_score_of_the_text(run: Run, tmp_path: Path) -> None:
    """One state through it all: what `score` gives of the same tokens, the end mark counted."""
    text = tmp_path / "other.txt"
    text.write_text("to be or not to be, that is the question\n" * 30, "utf-8")
    whole = run.evaluate(str(text), rows=1)
    ids = [*run.tokens.encode(text.read_text("utf-8")).tolist(), STOP]
    with torch.inference_mode():
        log_probs, _ = run.model.score(torch.tensor([ids]))
    assert whole.tokens == len(ids) and whole.loss == pytest.approx(-log_probs.mean().item(), rel=1e-5)
    assert run.evaluate(str(text)).loss != whole.loss  # rows that begin anew
    with pytest.raises(UserError, match=r"rows=0; allowed: an integer > 0"):
        run.evaluate(str(text), rows=0)


def test_evaluation_on_another_text_uses_the_runs_vocabulary(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("zebra dog\n" * 50, "utf-8")
    measured = run.evaluate(str(other))
    assert measured.tokens == 501  # characters and one end
    assert 1 in run.tokens.encode("z")  # <unk>: the vocabulary was not learnt anew
    with pytest.raises(UserError, match="is no file"):
        run.evaluate(str(tmp_path / "none.txt"))


def test_evaluation_refuses_a_split_that_is_not_there(run: Run) -> None:
    with pytest.raises(UserError, match="allowed: valid, test"):
        run.evaluate(split="train")
    with pytest.raises(UserError, match="the run has no test text"):
        run.evaluate(split="test")


def test_evaluation_on_a_text_that_has_changed_is_refused(
    tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(Path(tiny["data"]["train"]).read_text("utf-8"), "utf-8")
    run = start.train(tiny, ["train.steps=2", f"data.train={text}"], out=tmp_path / "r", device="cpu", watch=Watch())
    before = run.evaluate().loss
    text.write_text("λόγος " * 2000, "utf-8")
    assert run.evaluate().loss == before  # what was prepared is still there
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "empty"))
    with pytest.raises(UserError, match="has changed since it was trained"):
        run.evaluate()
    text.unlink()
    with pytest.raises(UserError, match=r"the text .* was trained on: .* is no file.*; or give a text to measure on"):
        run.evaluate()


def test_an_unfinished_run_is_its_newest_whole_checkpoint(tiny: dict, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train_to(12, tiny, folder)
    assert {p.name for p in (folder / "checkpoints").iterdir()} == {"00000005", "00000010", "best", "latest"}
    for name in ("00000010", "00000005"):
        saved = load_file(folder / "checkpoints" / name / "model.safetensors")
        found = load(folder, "cpu").model.tensors()
        assert all(torch.equal(found[key], saved[key]) for key in saved.keys() | found.keys())
        (folder / "checkpoints" / name / "optimizer.safetensors").write_bytes(b"damaged")
    with pytest.raises(UserError, match=r"no finished model and no checkpoint; train it: foresay train --resume"):
        load(folder, "cpu")


def test_a_model_without_its_hash_is_not_trusted(trained: Path, tmp_path: Path) -> None:
    """Killed after the model was written and before the config: the checkpoints are what counts."""
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    config = json.loads((folder / "config.json").read_text())
    del config["sha256"]["model.safetensors"]
    (folder / "config.json").write_text(json.dumps(config))
    newest = load_file(folder / "checkpoints" / "00000020" / "model.safetensors")
    assert torch.equal(load(folder, "cpu").model.tensors()["embedding.table"], newest["embedding.table"])


def test_a_foreign_recipe_is_named(trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    path = folder / "recipe.yaml"
    path.write_text(path.read_text().replace("size: 12", "size: 14"))
    with pytest.raises(UserError, match=r"model.safetensors is of another recipe: .* use the run's own recipe.yaml"):
        load(folder, "cpu")
    path.write_text("name: left-pad\n")
    with pytest.raises(UserError, match=r"run/recipe.yaml is damaged or not of this run: task=None"):
        load(folder, "cpu")


def test_a_device_that_is_not_there() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    for name in ("tpu9", "cuda:77"):
        with pytest.raises(UserError, match=f"device='{name}' cannot be used.*allowed: cpu") as error:
            pick_device(name)
        assert "fpga" not in str(error.value)


def test_the_public_names(trained: Path) -> None:
    assert foresay.load is load and foresay.Run is Run and foresay.train is start.train
    assert foresay.UserError is UserError and foresay.Scored is Scored
    assert callable(foresay.compare)
    assert foresay.load(str(trained)).perplexity("the cat") < 100
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = foresay.lode


def test_a_run_with_pretrained_vectors_needs_them_no_more(tiny: dict, tmp_path: Path) -> None:
    symbols = len(start.train(tiny, ["train.steps=2"], out=tmp_path / "a", device="cpu", watch=Watch()).tokens)
    save_file({"vectors": torch.randn(symbols, 8)}, tmp_path / "vectors.safetensors")
    words = ["train.steps=2", f"embedding.pretrained={tmp_path / 'vectors.safetensors'}"]
    before = start.train(tiny, words, out=tmp_path / "b", device="cpu", watch=Watch()).score(SENTENCE)
    (tmp_path / "vectors.safetensors").unlink()
    assert load(tmp_path / "b", "cpu").score(SENTENCE) == before


def test_trace_shows_gates_and_states_of_every_token(run: Run) -> None:
    """<start> and each token have a row; the states are those the model has after reading so far."""
    found = run.trace("the dog")
    assert found["tokens"] == run.tokens.pieces([START, *run.tokens.encode("the dog").tolist()])
    rows = len(found["tokens"])
    size = run.model.encoder.width
    assert all(value.shape[0] == rows for name, value in found.items() if name != "tokens")
    assert found["encoder.0.h"].shape == (rows, size) and found["embedding"].shape == (rows, 8)
    state = run.step("the d")[1]["encoder"]["0"]
    before = len(run.tokens.encode("the d"))
    torch.testing.assert_close(found["encoder.0.h"][before], state["h"][0])
    assert (found["encoder.0.f"] > 0).all() and (found["encoder.0.f"] < 1).all()
    assert len(run.trace("")["tokens"]) == 1


def test_trace_of_a_model_without_states(trained: Path, tmp_path: Path) -> None:
    data = start.recipes.read(trained / "recipe.yaml")["data"]
    counts = start.train({"task": "ngram", "data": data}, out=tmp_path / "n", device="cpu", watch=Watch())
    with pytest.raises(UserError, match="task ngram has no trace; allowed: a neural model of task language-model"):
        counts.trace("the dog")


def test_trace_of_a_transformer_gives_its_layers(transformer: Run) -> None:
    found = transformer.trace("the dog")
    assert set(found) == {"tokens", "embedding", "encoder.0"}
