"""Claim: steps far back say less. How much the input d steps back still moves the loss: docs/claims.md.

    norm(d) = ||dL_t / dx_{t-d}||, x the vector of a letter         study/dynamics/gradient.py

Language models over letters that have learnt; a Transformer, in which every step is as near as any, stands beside them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.models.language_model import LanguageModel
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.small_text import Size, Text, build, learn, text_of, windows
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.dynamics.gradient import norm_of
from foresay.train.progress import Tell

NETWORKS: dict[str, Any] = {name: {"cell": cell} for name, cell in (("RNN", "elman"), ("LSTM", "lstm"), ("GRU", "gru"))}
TRANSFORMER = "Transformer"
MORE = {TRANSFORMER: {"kind": "transformer", "heads": 4, "layers": 2}}  # in the full form
HIDDEN, FAR, PLACES = 48, 32, 64
TENTH = 0.1
TINY = 1e-290
QUICK, FULL = Size(400, length=64), Size(3000, length=64)


@dataclass(frozen=True)
class Profiled:
    """Of one network and seed: norms for d = 0 ... FAR, and the loss."""

    network: str
    seed: int
    loss: float
    norms: list[float]

    @property
    def ratio(self) -> float:
        """Of the mean over the far half to the step before the last."""
        far = self.norms[FAR // 2 + 1 :]
        return sum(far) / len(far) / self.norms[1]


@claim(
    "far-steps",
    lecture="000",
    sentence="Steps far back say less.",
    rule=(
        f"‖∂L/∂x(t−d)‖ of language models that have learnt, its mean over d = {FAR // 2 + 1} … {FAR} over that at d = "
        f"1: holds when for RNN, LSTM and GRU its 95 % interval over seeds lies below {TENTH:g}; does not hold when "
        f"for one of them it lies above {TENTH:g}, in the full form only; else not decided. {HIDDEN} units, letters, "
        "3 seeds (full: 5). The Transformer of the full form does not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Profiled]()
    networks = NETWORKS if quick else NETWORKS | MORE
    jobs = [(name, one) for name in networks for one in seeds]
    for done, (name, one) in enumerate(jobs, 1):
        found.append(profiled(name, one, size))
        tell(done / len(jobs))
    ratios = {name: mean_of(f"{name}: far over near", [one.ratio for one in of(found, name)]) for name in networks}
    losses = [mean_of(f"{name}: loss", [one.loss for one in of(found, name)], "nats") for name in networks]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(ratios, quick), [*ratios.values(), *losses], details, picture(found))


def of(found: Sequence[Profiled], network: str) -> list[Profiled]:
    return [one for one in found if one.network == network]


def judge(ratios: Mapping[str, Figure], quick: bool) -> Verdict:
    """The rule."""
    own = [one for name, one in ratios.items() if name != TRANSFORMER]
    if max(one.high or 0.0 for one in own) < TENTH:
        return "holds"
    wrong = max(one.low or 0.0 for one in own) > TENTH
    return "does not hold" if wrong and not quick else "not decided at this size"


def profiled(name: str, seed: int, size: Size) -> Profiled:
    text = text_of(seed)
    model = build({**(NETWORKS | MORE)[name], "size": HIDDEN}, seed, text.vocabulary)
    loss = learn(model, text, size, seed)
    return Profiled(name, seed, loss, norms_of(model, text))


def norms_of(model: LanguageModel, text: Text) -> list[float]:
    """Norms at the last place of windows of the held-out text, in double precision but for the output layer."""
    batch = windows(text.held_out, PLACES, FAR + FAR // 4, torch.Generator().manual_seed(-3))
    assert batch.targets is not None
    encoder = copy.deepcopy(model.encoder).double().eval()
    x = model.embedding(batch).detach().double().requires_grad_()
    with one_thread():
        features = encoder(x)[0][:, -1:].float()
        (grad,) = torch.autograd.grad(-model.output.log_prob(features, batch.targets[:, -1:]).sum(), x)
    return [max(norm_of(step, len(x)), TINY) for step in grad.unbind(1)[: -FAR - 2 : -1]]


def picture(found: Sequence[Profiled]) -> Any:
    """log10 norm relative to d = 1."""
    shown = (1, 2, 3, *range(4, FAR + 1, 2))
    lines = {
        name: {d: [math.log10(one.norms[d] / one.norms[1]) for one in of(found, name)] for d in shown}
        for name in dict.fromkeys(one.network for one in found)
    }
    up = "log10 ‖∂L/∂x(t−d)‖ / ‖∂L/∂x(t−1)‖"
    return draw([Panel("What a letter d steps back still says", "distance d", up, lines, {"a tenth": -1.0})])
