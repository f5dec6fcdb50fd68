"""Hidden Markov language model: symbols emitted by K states that nobody has named.

    P(w_1 .. w_T) = sum_s pi[s_1] B[w_1, s_1] prod_{t>1} A[s_{t-1}, s_t] B[w_t, s_t]
    p_t = P(s_t | w_1 .. w_{t-1}),   P(w_t | w_1 .. w_{t-1}) = sum_k p_t[k] B[w_t, k]
    p_{t+1} = f_t A,   f_t[k] = p_t[k] B[w_t, k] / P(w_t | w_1 .. w_{t-1}),   p = pi before a document

Learnt by Baum and Welch (baum_welch.py) in float64, `smoothing` added to every expected count. What is carried from
word to word is p alone, K numbers that sum to 1: of all that came before, a guess at the last state. A row that begins
amid a document knows the states' usual shares, and the one word before it.

ids (B, T) -> log P (B, T); state p (B, K); K states.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from foresay.counts.frequency import count_tokens
from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.encode.encoder import State
from foresay.errors import UserError
from foresay.kernels.markov import both, follow
from foresay.models.markov.baum_welch import Chain, How, Pass, Rows, best_of, log_prior, random_chain, shares
from foresay.models.task import Fitting, Task, masked
from foresay.parts import Amount, Size, part
from foresay.text.tokens import START, STOP


class Symbols:
    """B (V, K): of every state, shares of the symbols."""

    own = False

    def __init__(self, shares: np.ndarray, smoothing: float):
        self.shares, self.smoothing = shares, smoothing

    def table(self) -> tuple[np.ndarray, float]:
        return self.shares, 0.0

    def prior(self) -> float:
        return log_prior(self.shares, self.smoothing)

    def learn(self, emitted: np.ndarray) -> None:
        self.shares = np.ascontiguousarray(shares(emitted.T, self.smoothing).T)


@part("task", "hmm-lm")
class HiddenMarkov(Task):
    """Hidden Markov language model, learnt by Baum and Welch."""

    doing = "learning"

    def __init__(
        self,
        states: Size = 64,
        passes: Size = 50,
        tolerance: Amount = 1e-4,
        smoothing: Amount = 0.01,
        starts: Size = 1,
    ):
        super().__init__()
        self.states, self.passes, self.tolerance = states, passes, tolerance
        self.smoothing, self.starts = smoothing, starts
        self.history: list[Pass] = []
        self.notes: list[str] = []

    def build(self, vocabulary: int) -> None:
        self.vocabulary, states = vocabulary, self.states
        for name, shape in (("first", (states,)), ("moves", (states, states)), ("usual", (states,))):
            self.register_buffer(name, torch.full(shape, 1.0 / states, dtype=torch.float64))
        self.register_buffer("emits", torch.full((vocabulary, states), 1.0 / vocabulary, dtype=torch.float64))

    def fit(
        self,
        shards: Shards,
        on_progress: Callable[[float], None] | None = None,
        how: Fitting = Fitting(),  # noqa: B008 - it is frozen
    ) -> None:
        """Passes over the whole text, every document by itself."""
        if not len(shards):
            raise UserError("the text is empty; give one line or more")
        rows = rows_of(shards)
        counts = count_tokens(shards, self.vocabulary).astype(np.float64)

        def begin(chance: np.random.Generator) -> Chain:
            often = counts[:, None] * chance.exponential(size=(self.vocabulary, self.states))
            spread = np.ascontiguousarray(shares(often.T, self.smoothing).T)
            return random_chain(self.states, Symbols(spread, self.smoothing), chance)

        course = How(self.passes, self.tolerance, self.smoothing)
        tell = on_progress or (lambda done: None)
        chain, self.history, self.notes = best_of(self.starts, begin, rows, course, how.seed, tell)
        assert isinstance(chain.emissions, Symbols) and chain.usual is not None
        for name, found in (("first", chain.first), ("moves", chain.moves), ("usual", chain.usual)):
            setattr(self, name, torch.from_numpy(found))
        self.emits = torch.from_numpy(chain.emissions.shares)

    def size(self) -> int:
        """The numbers of pi, A and B; no gradient reaches them."""
        return self.states * (1 + self.states + self.vocabulary)

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.ids is not None and batch.targets is not None
        if state is None or batch.fresh:  # what stands before the first target is all that is known
            state = self._amid(batch.ids[:, :1])
        return self.score(batch.targets, batch.mask, state=state)

    def _amid(self, ids: Tensor) -> State:
        """After one symbol (B, 1) of which nobody knows what was before it."""
        first, known = self._table("first"), self._table("usual").expand(len(ids), -1)
        if not ids.shape[1]:
            return {"states": known.clone()}
        _, after = self._follow(ids, None, known)
        fresh = (ids == START) | (ids == STOP)
        return {"states": torch.where(fresh, first, after)}

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {"states": self._table("first").expand(rows, -1).clone()}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        _, known = self._follow(ids, mask, state["states"])
        return (known @ self._table("emits").T).log().float(), {"states": known}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        found, known = self._follow(ids, mask, (state or self.begin(len(ids)))["states"])
        return masked(found.float(), mask), {"states": known}

    def posteriors(self, ids: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """P(s_t | w_1 .. w_t) and P(s_t | w_1 .. w_T) of one document (T,), each (T, K)."""
        tables = [self._table(name).cpu().numpy() for name in ("emits", "moves", "first")]
        return both(tables[0], ids.cpu().numpy(), *tables[1:])

    def _follow(self, ids: Tensor, mask: Tensor | None, known: Tensor) -> tuple[Tensor, Tensor]:
        sizes = torch.full((len(ids),), ids.shape[1], device=ids.device) if mask is None else mask.sum(1)
        moves, first = self._table("moves"), self._table("first")
        return follow(self._table("emits"), ids, sizes, moves, first, known.double(), STOP)

    def _table(self, name: str) -> Tensor:
        return self.get_buffer(name).double()


def rows_of(shards: Shards) -> Rows:
    """All tokens, and where documents begin and end; what follows the last <stop> is one too."""
    ids = shards.slice(0, len(shards)).astype(np.int32)
    ends = 1 + np.flatnonzero(ids == STOP)
    edges = np.unique(np.concatenate([[0], ends, [len(ids)]]))
    return Rows(ids, edges)
