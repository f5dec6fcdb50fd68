"""ELMo under a task: the bilm's own layers by word, frozen or thawed, letters of new words, a run by itself."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from safetensors.torch import load_file

from foresay import parts, start
from foresay.data.batch import Batch
from foresay.data.tag_set import TagSet
from foresay.embed.elmo import Elmo
from foresay.errors import TextError, UserError
from foresay.kernels.switch import as_graph
from foresay.loading import load
from foresay.models.task import Task
from foresay.text.tokens import SPECIALS, UNK
from foresay.text.word_bytes import numbered
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dogs", "ran", "by"]
CHARACTERS = {"kind": "characters", "size": 6, "kernels": [[2, 8]], "longest": 20}
FED = {"kind": "recurrent", "size": 6, "layers": 2, "between": {"wiring": "fed"}}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small runs, one that reads letters and one that reads words, and files of tags."""
    made, draw = tmp_path_factory.mktemp("elmo"), random.Random(1)
    (made / "text.txt").write_text("\n".join(" ".join(draw.choices(WORDS, k=8)) for _ in range(60)))
    rows = [f"{word}\t{'N' if word in ('cat', 'mat') else 'X'}" for word in draw.choices([*WORDS, "new"], k=200)]
    (made / "a.conll").write_text("\n".join(row + ("\n" if n % 5 == 4 else "") for n, row in enumerate(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for name, embedding in (("letters", CHARACTERS), ("words", {"kind": "lookup", "size": 6})):
            train = {"steps": 2, "batches": {"kind": "packed", "rows": 2, "length": 12}}
            recipe = {"task": "bilm", "data": {"train": "text.txt"}, "tokens": "blanks", "embedding": embedding}
            start.train(recipe | {"encoder": FED, "train": train}, out=name, device="cpu", watch=Watch())
    return made


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


SYMBOLS = [*SPECIALS, "cat", "zebra", "the"]  # one that the bilm does not know
IDS = torch.tensor([[7, 5, 6, 5], [6, 7, 0, 0]])
MASK = torch.tensor([[True] * 4, [True, True, False, False]])


def build(run: str = "letters", **settings: Any) -> Elmo:
    torch.manual_seed(1)
    embedding = parts.make("embedding", {"kind": "elmo", "run": run, **settings})
    embedding.symbols = SYMBOLS
    embedding.build(len(SYMBOLS))
    return embedding.eval()


@pytest.mark.parametrize("run", ["letters", "words"])
def test_it_gives_the_layers_of_the_run_itself(run):
    """Words by name: what the bilm reads of `the cat <zebra> cat`, mixed by hand."""
    model: Any = load(run, "cpu").model
    the, cat = load(run, "cpu").tokens.encode("the cat").tolist()
    size = model.vocabulary
    own = torch.tensor([[the, cat, size, cat]])
    batch = Batch(ids=own.where(own < size, UNK), spelt=own, characters=torch.from_numpy(numbered(["zebra"], 50)))
    expected = model.read(batch)
    for weights in ([1.0, 0.0, 0.0], [0.0, 2.0, -1.0]):
        with torch.no_grad():
            found = build(run, mix=weights)(Batch(ids=IDS, mask=MASK))
        torch.testing.assert_close(found[:1], sum(w * h for w, h in zip(weights, expected, strict=True)))
        assert (found[1, 2:] == 0).all()


def test_words_of_no_vocabulary_by_their_letters():
    """`gnu`, which neither knows, is as `zebra` spelt like it; words without letters are one <unk>."""
    letters = torch.from_numpy(numbered(["zebra", "gnu"], 50))
    given = {"ids": torch.tensor([[7, UNK, 5]]), "characters": letters}
    for run, told in (("letters", True), ("words", False)):
        embedding, size = build(run), len(SYMBOLS)
        zebra = embedding(Batch(spelt=torch.tensor([[7, size, 5]]), **given))
        gnu = embedding(Batch(spelt=torch.tensor([[7, size + 1, 5]]), **given))
        torch.testing.assert_close(zebra, embedding(Batch(ids=torch.tensor([[7, 6, 5]]))))
        assert torch.allclose(zebra, gnu) != told


@pytest.mark.parametrize("thaw", [False, True])
def test_in_a_graph_it_gives_the_same_and_looks_at_no_number(thaw, monkeypatch):
    embedding = build(thaw=thaw)
    letters = torch.from_numpy(numbered(["new"], 100))
    spelt = IDS.where(IDS != 6, len(SYMBOLS))
    batch = Batch(ids=IDS.where(IDS != 6, UNK), spelt=spelt, characters=letters, mask=MASK)
    x = embedding(batch)
    for name in ("unique", "item", "tolist"):
        monkeypatch.setattr(torch.Tensor, name, None)
    with as_graph():
        torch.testing.assert_close(embedding(batch), x)


def test_frozen_or_thawed():
    for thaw in (False, True):
        embedding = build(thaw=thaw, dropout=0.0).train()
        assert embedding.inner.training == thaw
        embedding(Batch(ids=IDS, mask=MASK)).square().sum().backward()
        learns = {name for name, parameter in embedding.named_parameters() if parameter.grad is not None}
        assert {"mix.scores", "mix.gamma"} <= learns
        assert ("inner.encoder.forwards.0.weight_ih" in learns) == thaw == ("inner.embedding.alphabet" in learns)


def test_a_frozen_one_works_out_the_vectors_of_its_words_once(monkeypatch):
    embedding, read = build(), []
    own = embedding.inner.embedding._read
    monkeypatch.setattr(embedding.inner.embedding, "_read", lambda spelt: read.append(len(spelt)) or own(spelt))
    known = torch.tensor([[7, 5]])  # words of both vocabularies
    for _ in range(3):
        first = embedding.train()(Batch(ids=known))
    assert read[0] == 2 and sum(read) == 2 + 3  # and in each batch one row that stands for no strange word
    torch.testing.assert_close(first, embedding.eval()(Batch(ids=known)))


def test_it_thaws_layer_by_layer_from_the_top():
    """After 1, 2 and 4 batches; what does not learn yet keeps its bytes, though the optimiser has it from the start."""
    embedding = build(thaw=[1, 2, 4]).train()
    optimizer = torch.optim.AdamW([p for p in embedding.parameters() if p.requires_grad], lr=0.1, weight_decay=0.1)
    names = ("embedding.alphabet", "encoder.forwards.0.weight_ih", "backwards.forwards.1.weight_hh")
    learns = []
    for _ in range(6):
        before = {name: embedding.inner.get_parameter(name).clone() for name in names}
        embedding.train()(Batch(ids=IDS, mask=MASK)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        learns.append([not embedding.inner.get_parameter(name).equal(before[name]) for name in names])
    assert learns == [[False] * 3, [False, False, True], *[[False, True, True]] * 2, *[[True] * 3] * 2]
    assert int(embedding.state_dict()["batches"]) == 6


def test_dropout_of_the_bilm_begins_when_it_learns_and_no_batch_counts_in_evaluation():
    embedding = build(thaw=[1]).train()
    assert not embedding.inner.training
    embedding.eval()(Batch(ids=IDS, mask=MASK))
    assert not embedding.train().inner.training
    embedding(Batch(ids=IDS, mask=MASK))
    assert embedding.train().inner.training and not embedding.eval().inner.training


@pytest.mark.parametrize("thaw", [[], [1, 2, 3, 4], [3, 2]])
def test_more_numbers_than_layers_or_falling_ones_are_refused(thaw):
    with pytest.raises(UserError, match="one to 3 rising numbers of batches"):
        build(thaw=thaw)


def recipe(**changed: Any) -> dict[str, Any]:
    elmo = {"kind": "joined", "of": [{"kind": "lookup", "size": 4}, {"kind": "elmo", "run": "letters"}]}
    return {
        "task": "tagger",
        "data": {"kind": "tags", "train": "a.conll"},
        "tokens": {"kind": "blanks", "size": 12},
        "embedding": elmo,
        "encoder": {"kind": "recurrent", "size": 8, "bidirectional": True},
        "train": {"steps": 4, "batches": {"kind": "tags", "tokens": 40}, "save": {"every": 2}},
    } | changed


def test_a_run_stands_by_itself(tmp_path, monkeypatch):
    """Trained, it has the bilm's weights unchanged; loaded and resumed where the bilm's run is not, it is the same."""
    shutil.copytree("letters", tmp_path / "letters")
    shutil.copy("a.conll", tmp_path / "a.conll")
    monkeypatch.chdir(tmp_path)
    run: Any = start.train(recipe(), out="run", device="cpu", watch=Watch())
    kept, theirs = load_file("run/model.safetensors"), load_file("letters/model.safetensors")
    for name in ("encoder.forwards.1.weight_hh", "backwards.forwards.0.weight_ih", "embedding.alphabet"):
        assert torch.equal(kept[f"embedding.of.1.inner.{name}"], theirs[name])
    assert not any("output" in name for name in kept)
    shutil.rmtree("letters")
    again: Any = load("run", "cpu")
    words = [["the", "quagga", "cat"]]
    assert again.predict(words)[0].probabilities == run.predict(words)[0].probabilities
    Path("run/model.safetensors").unlink()
    shutil.rmtree("run/checkpoints/00000004")
    resumed: Any = start.train(resume="run", device="cpu", watch=Watch())
    assert resumed.predict(words)[0].probabilities == run.predict(words)[0].probabilities
    Path("run/elmo/text.json").write_text("{}")
    with pytest.raises(UserError, match=r"elmo/text\.json is damaged or not of this run"):
        load("run", "cpu")


@pytest.mark.parametrize("there", ["gone", "another"])
def test_a_run_stands_by_itself_from_its_beginning(tmp_path, monkeypatch, there):
    """Killed before its first checkpoint, it ends with the same bytes though the bilm's run is gone, or another."""
    for name in ("letters", "words"):
        shutil.copytree(name, tmp_path / name)
    shutil.copy("a.conll", tmp_path / "a.conll")
    monkeypatch.chdir(tmp_path)
    start.train(recipe(), out="whole", device="cpu", watch=Watch())
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "run", lambda self: killed())
        with pytest.raises(KeyboardInterrupt):
            start.train(recipe(), out="run", device="cpu", watch=Watch())
    shutil.rmtree("letters")
    if there == "another":
        Path("words").rename("letters")
    start.train(resume="run", device="cpu", watch=Watch())
    assert Path("run/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()
    assert sorted(path.name for path in Path("run/elmo").iterdir()) == ["recipe.yaml", "text.json", "tokenizer.json"]


def killed() -> None:
    raise KeyboardInterrupt


def test_weights_that_are_nowhere_are_not_made_up(tmp_path, monkeypatch):
    shutil.copytree("letters", tmp_path / "letters")
    shutil.copy("a.conll", tmp_path / "a.conll")
    monkeypatch.chdir(tmp_path)
    start.train(recipe(), out="run", device="cpu", watch=Watch())
    Path("run/model.safetensors").unlink()
    for one in ("letters", "run/checkpoints"):
        shutil.rmtree(one)
    with pytest.raises(UserError, match="run='letters' is not there, and run has neither its weights nor a whole"):
        start.train(resume="run", device="cpu", watch=Watch())


def test_a_run_that_thaws_is_resumed_where_it_was(tmp_path):
    thawing = recipe()
    thawing["embedding"]["of"][1]["thaw"] = [1, 3]
    start.train(thawing, out=tmp_path / "run", device="cpu", watch=Watch())
    weights = tmp_path / "run" / "model.safetensors"
    whole = weights.read_bytes()
    weights.unlink()
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "00000004")
    start.train(resume=tmp_path / "run", device="cpu", watch=Watch())
    assert weights.read_bytes() == whole
    theirs, kept = load_file("letters/model.safetensors"), load_file(weights)
    changed = [
        name for name in theirs if not kept.get(f"embedding.of.1.inner.{name}", theirs[name]).equal(theirs[name])
    ]
    assert "encoder.forwards.0.weight_hh" in changed and "embedding.alphabet" not in changed


def test_a_classifier_reads_it(tmp_path):
    Path("labels.csv").write_text("text,label\n" + "the cat sat,a\ndogs ran by,b\n" * 20)
    made = {"task": "classifier", "data": {"kind": "labels", "train": "labels.csv"}, "tokens": "words"}
    made |= {"embedding": {"kind": "elmo", "run": "words", "mix": "joined"}, "encoder": None, "pool": "mean"}
    train = {"steps": 60, "batches": {"kind": "labels", "tokens": 60}, "optimizer": {"kind": "adamw", "lr": 0.05}}
    run: Any = start.train(made | {"train": train}, out=tmp_path / "run", device="cpu", watch=Watch())
    assert [label for label, _ in run.predict(["the cat sat", "dogs ran by"])] == ["a", "b"]


@pytest.mark.parametrize("task", ["tagger", "classifier"])
def test_at_the_output_it_joins_what_is_read(task):
    """What the layer for tags or labels reads is [encoder; ELMo], each mix its own."""
    elmo = {"kind": "elmo", "run": "letters"}
    model: Any = parts.make("task", {"kind": task, "embedding": elmo, "encoder": recipe()["encoder"], "beside": elmo})
    for module in model.modules():
        if isinstance(module, Elmo):
            module.symbols = SYMBOLS
    if task == "tagger":
        model.tags = TagSet.of(["A", "B"])
    model.build(len(SYMBOLS))
    read: list[torch.Tensor] = []
    (model.head if task == "tagger" else model.pool).register_forward_pre_hook(lambda _, given: read.append(given[0]))
    batch = Batch(ids=IDS, mask=MASK)
    model.eval().scores(batch)
    y = model.encoder(model.embedding(batch), MASK)[0]
    torch.testing.assert_close(read[0], torch.cat([y, model.beside(batch)], 2))
    assert model.embedding.mix.gamma is not model.beside.mix.gamma


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"run": "nowhere"},
            r"elmo: run='nowhere' is no run; give the folder of a trained bilm: foresay train elmo",
        ),
        ({"run": "letters", "mix": [1.0]}, r"has 1 weights; allowed: 3"),
        ({"run": "letters", "mix": "sum"}, r"mix='sum'; allowed"),
    ],
)
def test_mistakes_are_told_before_there_is_a_run(given, told, tmp_path):
    with pytest.raises(UserError, match=told):
        start.train(recipe(embedding={"kind": "elmo", **given}), out=tmp_path / "run", device="cpu", watch=Watch())
    assert not (tmp_path / "run").exists()


def test_a_run_in_the_home_folder(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    found = build("~/letters")
    assert found.folder == place / "letters" and found.longest is None
    assert parts.make("embedding", {"kind": "elmo", "run": "~/letters"}).longest is None  # before it is built


@pytest.mark.parametrize(("tokens", "warned"), [("characters", True), ("blanks", False)])
def test_tokens_that_are_no_words_are_told(tokens, warned, tmp_path):
    """The bilm was trained on words."""
    told: list[str] = []
    watch = Watch()
    watch.note = told.append
    (tmp_path / "a.conll").write_text("c\tN\na\tX\n\n" * 30)
    given = recipe(data={"kind": "tags", "train": str(tmp_path / "a.conll")}, tokens=tokens)
    start.train(given, out=tmp_path / "run", device="cpu", watch=watch)
    assert [note for note in told if note.startswith("warning: elmo")] == warned * [
        "warning: elmo: run='letters' was trained on tokens=blanks, and here tokens=characters cuts words into pieces "
        "that it has never met; set tokens=blanks"
    ]


def test_notes_are_told_once_also_of_both_ends(tmp_path):
    """The words that the bilm knows, and layers that would thaw too late."""

    class Notes(Watch):
        told: ClassVar[list[str]] = []

        def note(self, text: str) -> None:
            self.told.append(text)

    thawing = recipe()
    thawing["embedding"]["of"][1]["thaw"] = [0, thawing["train"]["steps"] - 1, thawing["train"]["steps"]]
    thawing["beside"] = thawing["embedding"]["of"][1]
    start.train(thawing, out=tmp_path / "run", device="cpu", watch=Notes())
    assert len([note for note in Notes.told if note.endswith("symbols are in the vocabulary of letters")]) == 1
    assert [note for note in Notes.told if note.startswith("warning: elmo")] == [
        f"warning: elmo: thaw={thawing['embedding']['of'][1]['thaw']}: 1 of its layers thaw after the last batch"
    ]


def test_a_frozen_bilm_counts_for_no_parameters():
    task = Task()
    task.embedding = build()
    assert task.size() == 3 + 1  # the weights of the layers, and gamma
    task.embedding = build(thaw=True)
    assert task.size() == sum(p.numel() for p in task.parameters()) > 100


def test_what_predicts_the_next_word_may_not_see_it():
    for task in ("language-model", "bilm", "seq2seq"):
        for embedding in ({"kind": "elmo", "run": "letters"}, recipe()["embedding"]):
            with pytest.raises(UserError, match=r"sees the words that follow, which are to be predicted"):
                parts.make("task", {"kind": task, "embedding": embedding})


def test_packed_rows_and_two_runs_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"reads one text a row, and rows are packed; set train\.batches=buckets"):
        build()(Batch(ids=IDS, starts=MASK))
    masked = {"task": "masked-lm", "data": {"train": "text.txt"}, "tokens": "blanks", "output": {"tied": False}}
    masked |= {
        "embedding": {"kind": "elmo", "run": "letters"},
        "encoder": {"kind": "transformer", "size": 8, "heads": 2, "causal": False},
    }
    with pytest.raises(UserError, match=r"rows are packed; set train\.batches=buckets"):
        train = {"steps": 2, "batches": {"kind": "packed", "rows": 2, "length": 12}}
        start.train(masked | {"train": train}, out=tmp_path / "run", device="cpu", watch=Watch())
    assert not (tmp_path / "run").exists()
    two = {"kind": "joined", "of": [{"kind": "elmo", "run": name} for name in ("letters", "words")]}
    with pytest.raises(UserError, match="has the runs letters and words; allowed: one in a model"):
        start.train(recipe(embedding=two), out=tmp_path / "run", device="cpu", watch=Watch())


def test_positions_that_end_are_minded(tmp_path, monkeypatch):
    """A bilm with twelve learnt positions reads eleven words: what has more is refused where it is first known."""
    shutil.copy("text.txt", tmp_path / "text.txt")
    shutil.copy("a.conll", tmp_path / "a.conll")
    monkeypatch.chdir(tmp_path)
    encoder = {
        "kind": "transformer",
        "size": 8,
        "layers": 1,
        "heads": 2,
        "positions": {"kind": "learnt", "longest": 12},
    }
    bilm = {"task": "bilm", "data": {"train": "text.txt"}, "tokens": "blanks", "embedding": {"size": 8}}
    train = {"steps": 2, "batches": {"kind": "packed", "rows": 2, "length": 12}}
    narrow: Any = start.train(bilm | {"encoder": encoder, "train": train}, out="narrow", device="cpu", watch=Watch())
    assert len(narrow.embed(["the cat " * 5 + "sat"])[0].tokens) == 11
    with pytest.raises(TextError, match="text 2 of 2 has 12 tokens; the model has positions for 11: divide it"):
        narrow.embed(["the cat", "the cat " * 6])
    made = recipe(embedding={"kind": "elmo", "run": "narrow"})
    with pytest.raises(UserError, match=r"run='narrow' has positions for 11 words, but .* goes to 256; set train"):
        start.train(made, out="run", device="cpu", watch=Watch())
    Path("long.conll").write_text("the\tX\n" * 3 + "\n" + "cat\tN\n" * 12)
    words = ["train.batches.longest=11", "data.valid=long.conll"]
    with pytest.raises(
        UserError, match=r"data.valid: line 5 .* 12 words; what elmo \(run='narrow'\) can read ends at 11"
    ):
        start.train(made, words, out="run", device="cpu", watch=Watch())
    assert not Path("run").exists()
    run: Any = start.train(made, words[:1], out="run", device="cpu", watch=Watch())
    with pytest.raises(TextError, match="text 2 of 2 has 12 words; the model has positions for 11: divide it"):
        run.predict(["the cat", "the cat " * 6])
