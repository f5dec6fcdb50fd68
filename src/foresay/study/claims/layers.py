"""Claim: lower layers hold lower-level features. Linear probes on each layer of a bidirectional language model.

A model of two LSTMs each way learns made sentences (layers_text.py); nothing tells it of tags. Probes (study/probe.py)
then read the part of speech, the chunk and the topic of words off the word's own vector, layer 1 and layer 2, on other
sentences. In the full form also the parts of speech of UD EWT, where it is. Rule and figures: docs/claims.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.data.batch import Batch
from foresay.models.bilm import BiLM
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.layers_text import CHUNKS, EWT, POS, TOPICS, WORDS, Tagged, made, treebank
from foresay.study.claims.text_learning import learn, padded, whole_rows
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel
from foresay.study.claims.words_picture import draw as draw_panels
from foresay.study.probe import fit
from foresay.train.progress import Tell

LAYERS = ("own vector", "layer 1", "layer 2")
SPEECH, CHUNK, TOPIC = "part of speech", "chunk", "topic"
KINDS = {SPEECH: len(POS), CHUNK: len(CHUNKS), TOPIC: len(TOPICS)}
PROBED = 3  # words of each sentence


@dataclass(frozen=True)
class Size:
    """Updates of a model, sentences in each, sentences probed, half of them to fit; words of the treebank, 0: none."""

    updates: int
    rows: int = 32
    looked: int = 800
    width: int = 32
    treebank: int = 0


QUICK, FULL = Size(400), Size(2000, treebank=3000)
TREE = Size(600, looked=2000, width=64)


@dataclass(frozen=True)
class Probed:
    """Of one seed: % right of each label by layer."""

    seed: int
    text: str
    trained: bool
    right: dict[str, list[float]]


@claim(
    "layers",
    lecture="002",
    sentence="Lower layers hold lower-level features.",
    rule=(
        "the layer (0: the word's own vector, 1, 2; the lower of equal ones) where a linear probe is best at the "
        "topic, less that where it is best at the part of speech, on made text; holds when the 95 % interval over "
        "seeds lies above 0; does not hold when none of it does; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), []
    bank = treebank(size.treebank) if size.treebank else None
    for done, one in enumerate(seeds, 1):
        found += on_made(one, size)
        if bank is not None:
            chance = random.Random(one)
            model = build(one, bank.words, TREE.width)
            learn(model, batches(lambda: chance.choice(bank.train), TREE), lr=3e-3)  # noqa: B023 - used up at once
            tags = {SPEECH: bank.tags}
            found.append(Probed(one, EWT, True, probed(model, bank.test[: TREE.looked], tags, one)))
        tell(done / len(seeds))
    own = [one for one in found if one.text == "made" and one.trained]
    apart = average_of("best layer of topic less that of part of speech", [below(one) for one in own], "layers")
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    note = f"without {EWT}: it is not under FORESAY_DATA" if size.treebank and bank is None else ""
    return Result(judge(apart), [apart, *figures_of(found)], details, draw(found), note)


def judge(apart: Figure) -> Verdict:
    """The rule."""
    assert apart.low is not None and apart.high is not None
    return "holds" if apart.low > 0 else "does not hold" if apart.high <= 0 else "not decided at this size"


def below(one: Probed) -> int:
    return best(one.right[TOPIC]) - best(one.right[SPEECH])


def best(values: Sequence[float]) -> int:
    """The first of the largest."""
    return max(range(len(values)), key=lambda layer: values[layer])


def figures_of(found: Sequence[Probed]) -> list[Figure]:
    """Accuracy by text, training, label and layer."""
    figures = []
    for text, trained in dict.fromkeys((one.text, one.trained) for one in found if one.trained or one.text == "made"):
        own = [one for one in found if (one.text, one.trained) == (text, trained)]
        where = ("" if text == "made" else f", {text}") + ("" if trained else ", before training")
        for label in own[0].right:
            for layer, name in enumerate(LAYERS):
                figures.append(average_of(f"{label}, {name}{where}", [one.right[label][layer] for one in own], "%"))
    return figures


def on_made(seed: int, size: Size) -> list[Probed]:
    """One model before and after training on made sentences."""
    chance, others = random.Random(seed), random.Random(seed + 1000)
    rows = [made(others) for _ in range(size.looked)]
    model = build(seed, len(WORDS), size.width)
    before = Probed(seed, "made", False, probed(model, rows, KINDS, seed))
    learn(model, batches(lambda: made(chance), size), lr=1e-2)
    return [Probed(seed, "made", True, probed(model, rows, KINDS, seed)), before]


def build(seed: int, words: int, width: int) -> BiLM:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = {"kind": "recurrent", "size": width, "layers": 2, "between": {"wiring": "fed"}}
        model: BiLM = make("task", {"kind": "bilm", "embedding": {"kind": "lookup", "size": width}, "encoder": encoder})
        model.build(words)
    return model


def batches(drawn: Callable[[], Tagged], size: Size) -> Iterator[Batch]:
    return (whole_rows([drawn().ids for _ in range(size.rows)]) for _ in range(size.updates))


@torch.no_grad()
def probed(model: BiLM, rows: Sequence[Tagged], kinds: dict[str, int], seed: int) -> dict[str, list[float]]:
    """% right of each label by layer, on some words of the second half of the sentences."""
    chance = random.Random(seed)
    places = [(number, chance.randrange(len(row.ids))) for number, row in enumerate(rows) for _ in range(PROBED)]
    ids, mask = padded([row.ids for row in rows])
    at = tuple(torch.tensor(places).T)
    fitted = at[0] < len(rows) // 2  # whole sentences are held out
    layers = [h[at] for h in model.eval().read(Batch(ids=ids, mask=mask))]
    right = {}
    for label, many in kinds.items():
        said = torch.tensor([rows[number].labels[label][place] for number, place in places])
        right[label] = []
        for x in layers:
            probe = fit(x[fitted], said[fitted], many)
            right[label].append(100 * probe.accuracy(x[~fitted], said[~fitted]))
    return right


def draw(found: Sequence[Probed]) -> Any:
    """Accuracy by layer, of made text, before training, and of the treebank where it was read."""
    panels = []
    for title, text, trained in (
        ("Made text", "made", True),
        ("The same, before training", "made", False),
        ("UD EWT", EWT, True),
    ):
        own = [one for one in found if (one.text, one.trained) == (text, trained)]
        if own:
            lines = {label: {n: [one.right[label][n] for one in own] for n in range(3)} for label in own[0].right}
            ticks = dict(enumerate(LAYERS))
            panels.append(Panel(title, "", "read by a linear probe, % right", lines, ticks=ticks, legend="lower right"))
    return draw_panels(panels)
