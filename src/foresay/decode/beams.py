"""A beam search as it goes: what is live, what is finished, and how each came about. What it does stands in beam.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from foresay.decode.best import largest
from foresay.decode.generate import BLOCK, asks, padded
from foresay.decode.graphed import Repeated, taken_over
from foresay.decode.kept import going_on
from foresay.decode.search import MARGIN, NEVER, Found, Limits, nothing_possible
from foresay.kernels.switch import compiles, plain
from foresay.parts import describe
from foresay.text.tokens import STOP

if TYPE_CHECKING:
    from foresay.decode.beam import Beam

NONE = -torch.inf
WORTH = 1 << 14  # log-probabilities of a step for which compiled loops are loaded


@dataclass
class Candidates:
    """Extensions, or those of them that go on: each (B, C), `met` (B, C, R); S is -inf where there is none."""

    parents: Tensor  # places among the live
    ids: Tensor
    logs: Tensor  # log P of the symbol
    totals: Tensor  # S
    met: Tensor  # which required symbols are there

    def at(self, places: Tensor) -> Candidates:
        """Those at some places (B, C')."""
        parents, ids, logs, totals = (t.gather(1, places) for t in (self.parents, self.ids, self.logs, self.totals))
        return Candidates(
            parents, ids, logs, totals, self.met.gather(1, places[..., None].expand(-1, -1, self.met.shape[2]))
        )


@dataclass
class Ends:
    """What left the beam after a step, (B, M): its score, -inf for what did not."""

    step: int  # symbols before <stop>
    scores: Tensor
    logs: Tensor  # log P of <stop>


@dataclass
class Trail:
    """Every step of the first prompt's search, for a picture of it: what was looked at, went on and ended."""

    steps: list[tuple[Candidates, Candidates, Ends]] = field(default_factory=list)


class Beams:
    """The search of all prompts of a batch. Its tensors stay in their places, so that on a GPU a step is a graph."""

    def __init__(self, how: Beam, model: Any, prompts: Sequence[Sequence[int]], limits: Limits, trail: Trail | None):
        self.how, self.model, self.trail, self.rows = how, model, trail, len(prompts)
        ids, mask = padded(prompts, model.device)
        log_probs, state = model.step(ids, model.begin(self.rows, capacity=ids.shape[1] + limits.length), mask)
        self.limits = limits.checked(log_probs.shape[1])
        self.required = [id for id in self.limits.required if id != STOP]
        self.asked = torch.tensor(self.required, dtype=torch.long, device=model.device)
        self.never = torch.tensor([*NEVER, *self.limits.banned], device=model.device)
        self.each = how.width // how.groups
        self.wide = (len(self.required) + 1) * self.each  # candidates of a group
        live = how.groups * self.wide
        self.offsets = torch.arange(self.rows, device=model.device)[:, None] * live
        spread = torch.arange(self.rows, device=model.device).repeat_interleave(live)
        self.log_probs, self.state = log_probs[spread], model.reorder(state, spread)
        self.totals = log_probs.new_full((self.rows, live), NONE, dtype=torch.float64)
        self.totals[:, :: self.wide] = 0.0  # one beginning for each group
        self.met = torch.zeros(self.rows, live, len(self.required), dtype=torch.bool, device=model.device)
        self.sure = torch.ones(self.rows, dtype=torch.bool, device=model.device)
        self.top = self.totals.new_full((self.rows, how.best), NONE)  # the best finished scores so far
        self.made, self.written = 0, torch.zeros(1, dtype=torch.long, device=model.device)  # steps, here and there
        self.told = Told.of(self.limits.length, self.totals)
        self.next_ids, self.next_rows = torch.zeros(2, self.rows * live, dtype=torch.long, device=model.device)
        lengths = torch.arange(self.limits.length + 2, dtype=torch.float64, device=model.device)
        self.norms = lengths.clamp(min=1) ** how.alpha
        self.kernels = self._kernels()

    def _kernels(self) -> Any:
        """Those for a GPU, or for a CPU where they are worth loading, if they know this search."""
        usual = self.how.groups == 1 and not self.required and self.trail is None
        if not usual or plain() or self.log_probs.dtype == torch.float64:
            return None
        if self.totals.is_cuda:
            from foresay.kernels import beam_triton as kernels  # there is no Triton without a GPU
        elif compiles() and self.log_probs.numel() >= WORTH:
            from foresay.kernels import beam_loops as kernels  # numba takes a second to import
        else:
            return None
        few = max(self.how.width, self.how.best) <= kernels.MOST and self.how.width < self.log_probs.shape[1]
        return kernels if few else None

    def run(self) -> tuple[list[list[Found]], list[bool]]:
        """The best of each prompt, and whether every choice on the way was clear."""
        self._extend()
        self.made = 1
        if self.totals.device.type == "cuda" and self.trail is None:
            settings = (describe(self.how), self.limits)
            with going_on(self, Beams._whole, self.model, settings) as (beams, both):
                return beams._search(both)
        return self._search(None)

    def _search(self, together: Repeated | None) -> tuple[list[list[Found]], list[bool]]:
        """From the first step on; `together` is a step and the end of the one before it."""
        while self.made < self.limits.length:
            if together is None:
                self._close()
            else:
                together()
            if asks(self.made - 1, self.totals.device) and not self._lives():
                break
            if together is None:
                self._go_on()
                self._extend()
            self.made += 1
        cut = self.totals.masked_fill(~self.met.all(-1), NONE)  # of what is still live, all that is required is there
        if STOP in self.limits.required:
            cut = torch.full_like(cut, NONE)
        return self._results(self.how.normed(cut, self.made))

    def _whole(self) -> None:
        self._close()
        self._go_on()
        self._extend()

    def _go_on(self) -> None:
        """The model reads what was chosen."""
        state = self.model.reorder(self.state, self.next_rows)
        self.log_probs, state = self.model.step(self.next_ids[:, None], state)
        self.state = taken_over(self.state, state)

    def _extend(self) -> None:
        """One step: what ends is noted, the best of the rest go on."""
        if self.kernels is None:
            self._extend_plainly()
        else:
            logs = self.log_probs.float() if self.how.temperature == 1.0 else self.how.warmed(self.log_probs)
            if not logs.is_cuda:  # a model may have kept what it was given
                self.told.make_room(self.written)
                self.next_ids, self.next_rows = torch.empty_like(self.next_ids), torch.empty_like(self.next_rows)
            told = [self.told.parents, self.told.ids, self.told.logs, self.told.scores, self.told.stops]
            own = (self.totals, self.sure, self.written, self.norms, told, self.never)
            self.kernels.choose(logs, *own, STOP, self.limits.least, MARGIN, self.next_ids, self.next_rows)
        self.written += 1

    def _extend_plainly(self) -> None:
        """Each group in turn."""
        log_probs = self.how.warmed(self.log_probs).index_fill(1, self.never, NONE).view(*self.totals.shape, -1)
        stops = log_probs[..., STOP].masked_fill(self.written < self.limits.least, NONE)
        log_probs[..., STOP] = NONE
        ended = torch.full_like(self.totals, NONE)
        taken = log_probs.new_zeros(self.rows, log_probs.shape[2])  # by how many groups, at this step
        grown, looked = [], []
        for begin in range(0, len(self.totals[0]), self.wide):
            slots = slice(begin, begin + self.wide)
            found, ranks = self._candidates(log_probs[:, slots], slots, taken * self.how.diversity)
            endings = (self.totals[:, slots] + stops[:, slots].double()).masked_fill(~self.met[:, slots].all(-1), NONE)
            ended[:, slots] = self._ending(endings, ranks.masked_fill(self._bank(found) != len(self.required), NONE))
            grown.append(self._best(found, ranks))
            looked.append(found)
            if self.how.groups > 1:
                taken.scatter_add_(1, grown[-1].ids, (grown[-1].totals > NONE).to(taken.dtype))
        chosen = joined(grown)
        scores = self.how.normed(ended, self.written + 1)
        self.told.note(self.written, chosen, scores, stops)
        self.totals, self.met = taken_over(self.totals, chosen.totals), taken_over(self.met, chosen.met)
        self.next_ids = taken_over(self.next_ids, chosen.ids.flatten())
        self.next_rows = taken_over(self.next_rows, (self.offsets + chosen.parents).flatten())
        if self.trail is not None:
            self.trail.steps.append((joined(looked), chosen, Ends(self.made, scores, stops)))

    def _candidates(self, log_probs: Tensor, slots: slice, loss: Tensor) -> tuple[Candidates, Tensor]:
        """The extensions of a group that may go on, and what they are ranked by: S less the loss, (B, C)."""
        asked = self.asked
        ranked = log_probs - loss[:, None]
        own, own_rank = log_probs.index_select(-1, asked), ranked.index_select(-1, asked)
        ranked = ranked.index_fill(-1, asked, NONE)
        ranks, ids = largest(ranked, self.each + 1)  # one more, to know how clear the choice is
        ids = torch.cat([ids, asked.expand(*ids.shape[:2], -1)], -1)
        logs = torch.cat([log_probs.gather(-1, ids[..., : ranks.shape[-1]]), own], -1)
        ranks = torch.cat([ranks, own_rank], -1)
        before, met = self.totals[:, slots, None], self.met[:, slots, None]
        parents = torch.arange(slots.start, slots.stop, device=ids.device)[:, None].expand_as(ids)
        after = met | (ids[..., None] == asked)
        flat = (each.flatten(1, 2) for each in (parents, ids, logs, before + logs.double(), after))
        return Candidates(*flat), (before + ranks.double()).flatten(1)

    def _bank(self, found: Candidates) -> Tensor:
        """How many required symbols are there, (B, C)."""
        return found.met.sum(-1)

    def _best(self, found: Candidates, ranks: Tensor) -> Candidates:
        """Those that go on: the best of every number of required symbols."""
        bank, picked = self._bank(found), []
        for number in range(len(self.required) + 1):
            values, places = self._pick(ranks.masked_fill(bank != number, NONE))
            one = found.at(places)
            one.totals = one.totals.masked_fill(values == NONE, NONE)
            picked.append(one)
        return joined(picked)

    def _pick(self, ranks: Tensor) -> tuple[Tensor, Tensor]:
        """The best of a pool, filled up with some that have -inf; notes whether the choice was clear."""
        values, places = largest(ranks, self.each + 1)
        self._note(values)
        short = self.each - values.shape[1]
        if short > 0:
            values = torch.cat([values, values.new_full((len(values), short), NONE)], 1)
            places = torch.cat([places, places.new_zeros(len(places), short)], 1)
        return values[:, : self.each], places[:, : self.each]

    def _note(self, falling: Tensor) -> None:
        """Whether the last that is taken, of one more than that, was clearly ahead."""
        if falling.shape[1] > self.each:
            last, next_one = falling[:, self.each - 1], falling[:, self.each]
            self.sure &= (next_one == NONE) | (last - next_one > MARGIN)

    def _ending(self, endings: Tensor, ranks: Tensor) -> Tensor:
        """S (B, M') of those that end and are among the best of all extensions, -inf for the others."""
        together = torch.cat([endings, ranks], 1)  # of equals, what ends comes first
        values, places = largest(together, self.each + 1)
        self._note(values)
        among = torch.zeros_like(together, dtype=torch.bool).scatter_(1, places[:, : self.each], True)
        return endings.masked_fill(~among[:, : endings.shape[1]], NONE)

    def _lives(self) -> bool:
        """Whether a row is still searched."""
        return bool((self.totals > NONE).any())

    def _close(self) -> None:
        """Ends the rows whose search is over."""
        if self.kernels is not None:
            own = (self.totals, self.top, self.sure, self.written, self.norms, self.told.scores)
            self.kernels.close(*own, self.limits.length, self.how.until, MARGIN)
            return
        scores = self.told.last("scores", self.written - 1)
        top = torch.cat([self.top, scores], 1).sort(dim=1, descending=True).values[:, : self.how.best]
        self.top = taken_over(self.top, top)
        worst = self.top[:, -1]
        over = worst > NONE
        if self.how.until == "length":
            over = torch.zeros_like(over)
        elif self.how.until == "sure":
            possible = self.how.normed(self.totals.amax(1), self.limits.length)
            self.sure &= ~over | (possible == NONE) | ((worst - possible).abs() > MARGIN)
            over &= worst >= possible
        self.totals = taken_over(self.totals, self.totals.masked_fill(over[:, None], NONE))

    def _results(self, cut: Tensor) -> tuple[list[list[Found]], list[bool]]:
        scores = torch.cat([*self.told.scores[: self.made], cut], 1)
        best, places = scores.sort(dim=1, descending=True, stable=True)
        wanted = best[:, : self.how.best + 1]
        gaps = wanted[:, :-1] - wanted[:, 1:]
        self.sure &= ((wanted[:, 1:] == NONE) | (gaps > MARGIN)).all(1)
        steps = {
            name: getattr(self.told, name)[: self.made].cpu().numpy() for name in ("parents", "ids", "logs", "stops")
        }
        found = [self._first(steps, row, best[row], places[row]) for row in range(self.rows)]
        if not all(found):
            raise nothing_possible(self.limits)
        return found, self.sure.tolist()

    def _first(self, steps: dict[str, np.ndarray], row: int, best: Tensor, places: Tensor) -> list[Found]:
        """The best sequences of a prompt; of two groups that found the same one, it is taken once."""
        found: list[Found] = []
        many = len(best) if self.how.groups > 1 else self.how.best
        for score, place in zip(best[:many].tolist(), places[:many].tolist(), strict=True):
            if score == NONE or len(found) == self.how.best:
                break
            one = followed_back(steps, row, place, score)
            if all((one.ids, one.finished) != (other.ids, other.finished) for other in found):
                found.append(one)
        return found


@dataclass
class Told:
    """Of every step, each (L, B, M): the place a candidate came from, its symbol and the log P of that; what ended with
    which score, and with which log P of <stop>."""

    parents: Tensor
    ids: Tensor
    logs: Tensor
    scores: Tensor
    stops: Tensor

    @staticmethod
    def of(length: int, like: Tensor) -> Told:
        """Room for so many steps, and for more on a CPU when they come."""
        room = length if like.is_cuda else min(length, BLOCK)
        whole = torch.zeros(room, *like.shape, dtype=torch.long, device=like.device)
        real = torch.zeros_like(whole, dtype=like.dtype)
        return Told(whole, whole.clone(), real, torch.full_like(real, NONE), real.clone())

    def note(self, step: Tensor, chosen: Candidates, scores: Tensor, stops: Tensor) -> None:
        self.make_room(step)
        new = (chosen.parents, chosen.ids, chosen.logs, scores, stops)
        for own, value in zip(self.__dict__.values(), new, strict=True):
            own.index_copy_(0, step, value[None].to(own.dtype))

    def make_room(self, step: Tensor) -> None:
        """For a step that has none yet; a GPU has room for all."""
        if not step.is_cuda and int(step) == len(self.ids):
            for name, value in self.__dict__.items():
                setattr(self, name, torch.cat([value, torch.zeros_like(value)]))

    def last(self, name: str, step: Tensor) -> Tensor:
        return getattr(self, name).index_select(0, step)[0]


def followed_back(steps: dict[str, np.ndarray], row: int, place: int, score: float) -> Found:
    """A sequence, from its place among all ends: those of every step, then what was cut."""
    live = steps["ids"].shape[2]
    end, slot = place // live, place % live
    finished = end < len(steps["ids"])
    logs = [float(steps["stops"][end, row, slot])] if finished else []
    ids: list[int] = []
    for step in range(end - 1, -1, -1):
        ids.append(int(steps["ids"][step, row, slot]))
        logs.append(float(steps["logs"][step, row, slot]))
        slot = steps["parents"][step, row, slot]
    return Found(ids[::-1], logs[::-1], score, finished)


def joined(pools: list[Candidates]) -> Candidates:
    """Side by side."""
    names = ("parents", "ids", "logs", "totals", "met")
    return Candidates(*(torch.cat([getattr(pool, name) for pool in pools], 1) for name in names))
