"""Claim: truncated BPTT is faster but learns nothing longer than the chunk. Recall across chunks: docs/claims.md.

a symbol is shown, LAG steps later it is asked for (study/recall.py); the sequence is cut so that the last chunk has
K steps, the state goes on from chunk to chunk, the gradient does not: K >= LAG + 1 is the whole sequence

speed: tokens a second of training on sequences of LONG steps with a loss at every step, an update for each chunk
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.encoder import State, detach
from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.clip import ByNorm
from foresay.train.optimise import Adam
from foresay.train.progress import Tell

LAG = 8
CHUNKS = (1, 2, 4, 8, 9)  # the last holds all
NETWORKS: dict[str, recall.Kind] = {"LSTM": "lstm"}
MORE: dict[str, recall.Kind] = {"LSTM, forget bias 5": {"kind": "lstm", "forget_bias": 5.0}}  # in the full form
LITTLE = 100 / recall.SYMBOLS + 10  # %: what counts as not learnt
LONG, TIMED = 256, (8, 32, 256)  # steps of a sequence, and chunks of it
TURNS = 5


@dataclass(frozen=True)
class Size:
    """Updates of a network at most, sequences of each and in the test."""

    updates: int
    rows: int = 64
    tested: int = 1024
    parameters: int = 4000
    rate: float = 3e-3


QUICK, FULL = Size(300), Size(3000)


@dataclass(frozen=True)
class Learnt:
    """What one network recalls when it learns by chunks of so many steps."""

    network: str
    seed: int
    chunk: int
    accuracy: float


@claim(
    "truncated",
    lecture="002",
    sentence="Truncated BPTT is faster but learns nothing longer than the chunk.",
    rule=(
        f"holds when for the LSTM the 95 % intervals over seeds of what is recalled {LAG} steps later lie below "
        f"{LITTLE:g} % (chance + 10) with every chunk that leaves the symbol out, and above 95 % with all in one, and "
        f"that of tokens a second with chunks of {TIMED[0]} over those with {LONG} lies above 1; does not hold when "
        f"with a chunk of {CHUNKS[-2]} or less the recall lies above {LITTLE:g} %, or the ratio below 1; else not "
        "decided. 3 seeds (full: 5). An LSTM whose forget bias begins at 5 does not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Learnt]()
    networks = NETWORKS if quick else NETWORKS | MORE
    jobs = [(name, one, chunk) for name in networks for chunk in CHUNKS for one in seeds]
    with one_thread():
        for done, (name, one, chunk) in enumerate(jobs, 1):
            found.append(learnt(name, one, chunk, size))
            tell(0.9 * done / len(jobs))
        speeds = timed(seed)
    tell(1.0)
    recalled = {(name, chunk): average_of(f"{name}, chunk {chunk}: recalled", of(found, name, chunk), "%")
                for name in networks for chunk in CHUNKS}  # fmt: skip
    ratios = [short / whole for short, whole in zip(speeds[TIMED[0]], speeds[LONG], strict=True)]
    faster = mean_of(f"tokens a second, chunks of {TIMED[0]} over {LONG}", ratios)
    each = [mean_of(f"chunks of {chunk}", own, "tokens a second") for chunk, own in speeds.items()]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found], "tokens a second": speeds}
    own = {chunk: recalled["LSTM", chunk] for chunk in CHUNKS}
    return Result(judge(own, faster), [*recalled.values(), faster, *each], details, picture(found, speeds))


def of(found: Sequence[Learnt], network: str, chunk: int) -> list[float]:
    return [100 * one.accuracy for one in found if (one.network, one.chunk) == (network, chunk)]


def judge(recalled: Mapping[int, Figure], faster: Figure) -> Verdict:
    """The rule."""
    whole, short = recalled[CHUNKS[-1]], [recalled[chunk] for chunk in CHUNKS[:-1]]
    assert faster.low is not None and faster.high is not None
    little = max(one.high or 0.0 for one in short) < LITTLE
    if little and (whole.low or 0.0) > 100 * recall.ENOUGH and faster.low > 1:
        return "holds"
    wrong = max(one.low or 0.0 for one in short) > LITTLE or faster.high < 1
    return "does not hold" if wrong else "not decided at this size"


def learnt(name: str, seed: int, chunk: int, size: Size) -> Learnt:
    """Trains one network; the loss is at the last step alone."""
    model = recall.build((NETWORKS | MORE)[name], size.parameters, seed)
    chance = torch.Generator().manual_seed(1000 * seed + chunk)
    optimizer, clip = Adam(lr=size.rate).open(model), ByNorm(limit=1.0)
    for update in range(size.updates):
        x, answers = recall.draw(size.rows, LAG, chance)
        optimizer.zero_grad()
        F.cross_entropy(answer(model, x, chunk), answers).backward()
        clip.apply(model, update)
        optimizer.step()
    fresh = torch.Generator().manual_seed(-1000 * seed - chunk)
    return Learnt(name, seed, chunk, recall.accuracy(model, LAG, size.tested, fresh))


def answer(model: recall.Recaller, x: Tensor, chunk: int) -> Tensor:
    """Scores after the last step (B, K); no gradient passes out of the last chunk."""
    before = x.shape[1] - chunk
    state: State | None = None
    if before > 0:
        with torch.no_grad():
            state = model.encoder(x[:, :before])[1]
    return model.answer(model.encoder(x[:, max(before, 0) :], state=state)[0][:, -1])


def timed(seed: int) -> dict[int, list[float]]:
    """Tokens a second by chunk, in turns; the first turn is not counted."""
    found: dict[int, list[float]] = {chunk: [] for chunk in TIMED}
    for turn in range(TURNS + 1):
        for chunk in TIMED if turn % 2 else reversed(TIMED):
            model = recall.build("lstm", QUICK.parameters, seed)
            optimizer = Adam(lr=QUICK.rate).open(model)
            x, _ = recall.draw(QUICK.rows, LONG - 1, torch.Generator().manual_seed(turn))
            targets = x[:, :, : recall.SYMBOLS].argmax(2)
            began = time.process_time()
            read_by_chunks(model, optimizer, x, targets, chunk)
            if turn:
                found[chunk].append(QUICK.rows * LONG / (time.process_time() - began))
    return found


def read_by_chunks(model: recall.Recaller, optimizer: Any, x: Tensor, targets: Tensor, chunk: int) -> None:
    """An update for each chunk; the state is carried, the gradient is not."""
    state: State | None = None
    for piece, wanted in zip(x.split(chunk, 1), targets.split(chunk, 1), strict=True):
        optimizer.zero_grad()
        y, after = model.encoder(piece, state=state)
        F.cross_entropy(model.answer(y).flatten(0, 1), wanted.flatten()).backward()
        optimizer.step()
        state = detach(after)


def picture(found: Sequence[Learnt], speeds: Mapping[int, Sequence[float]]) -> Any:
    """What is recalled by chunk, and the speed."""
    names = dict.fromkeys(one.network for one in found)
    lines = {name: {chunk: of(found, name, chunk) for chunk in CHUNKS} for name in names}
    levels = {"95 %": 100 * recall.ENOUGH, "chance": 100 / recall.SYMBOLS}
    return draw([
        Panel(f"Recalled {LAG} steps later", f"steps of the last chunk; {LAG + 1} is the whole sequence", "recalled, %",
              lines, levels, ticks={chunk: str(chunk) for chunk in CHUNKS}, bounds=(0, 105), legend=(0.02, 0.55)),
        Panel(f"Speed, sequences of {LONG} steps", "steps of a chunk", "tokens a second of CPU time", {"LSTM": speeds},
              doubling=True, ticks={chunk: str(chunk) for chunk in TIMED}, bounds=(0, None), over="turns"),
    ])  # fmt: skip
