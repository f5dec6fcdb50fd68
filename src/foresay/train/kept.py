"""A training under way and its checkpoints: saved, gone on with, and the best of it kept.

Everything the next step depends on is in a checkpoint (weights, optimiser, averages, carried state, random state,
counters; the data position is the step itself). Of several processes (team.py) the leading one writes it, as a single
process would: shares of weights are put together (spread.py), and so are the rows of the carried state. So any number
of processes goes on from it. The same number goes on with the same random numbers, which are kept for each.

No `torch.distributed.checkpoint`: it keeps its table of contents as a pickle, and for each process a file of its own
form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay.data.prepare import Prepared
from foresay.encode.encoder import flatten_state, map_state, unflatten_state
from foresay.errors import UserError
from foresay.models.task import Task
from foresay.train import checkpoint
from foresay.train.board import Board
from foresay.train.measure import Figures
from foresay.train.optimise import optimizer_tensors, restore_optimizer
from foresay.train.progress import Metrics, NoMetrics, Watch
from foresay.train.settings import Loop
from foresay.train.step import Counters, Steps
from foresay.train.team import ALONE, Team


class Kept(Steps):
    """A model being trained, with all that must survive a kill."""

    def __init__(
        self,
        model: Task,
        loop: Loop,
        prepared: Prepared,
        seed: int,
        folder: Path,
        watch: Watch,
        team: Team = ALONE,
    ):
        super().__init__(model, loop, loop.batches.open(prepared.train, seed), watch, team)
        self.prepared, self.folder, self.seed = prepared, folder, seed
        self.checkpoints = folder / checkpoint.CHECKPOINTS
        self.metrics = NoMetrics(folder / "metrics.jsonl")
        if team.leads:
            board = Board(folder / "tensorboard") if loop.save.tensorboard else None
            self.metrics = Metrics(folder / "metrics.jsonl", board)
        self.rows = 0  # of a batch whose rows each process keeps
        if loop.batches.carries and not team.alone:
            self.rows = self.order.batch(0).height
            if self.rows < team.size:
                raise UserError(
                    f"batches of {self.rows} rows over {team.size} processes, and each keeps rows of its own; raise "
                    "train.batches.rows, give more text, or start fewer processes"
                )
        torch.manual_seed(team.seed(seed))

    def save(self) -> None:
        """Writes a checkpoint of this step: of several processes one, as a single process would write it."""
        self.settle()
        name, spread = f"{self.counters.step:08d}", self.spread
        tensors = {
            "model": spread.full(self.model.tensors()),
            "optimizer": spread.full(optimizer_tensors(self.optimizer)),
            # Copies: two names of a state may share their memory, which a file cannot.
            "carried": flatten_state(map_state(self.team.joined(self.carried or {}, self.rows), Tensor.clone)),
            "random": self._random(),
        }
        if self.averages is not None:
            tensors["averages"] = spread.full(self.averages.tensors)
        if not self.team.leads:
            return
        state = {
            "counters": asdict(self.counters),
            "scaler": self.scaler.state_dict(),
            "optimizer": self.loop.optimizer.part_name,
            "averages": self.averages.state() if self.averages is not None else None,
        }
        checkpoint.save_checkpoint(self.checkpoints, name, tensors, state)
        checkpoint.point_to_latest(self.checkpoints, name)
        checkpoint.prune(self.checkpoints, self.loop.save.keep)

    def keep_best(self, measured: Figures | None) -> None:
        """The weights of this step are the best so far."""
        tensors = self.spread.full(self.model.tensors())
        if self.team.leads and measured is not None:
            saved = {"step": self.counters.step, "valid": measured.as_dict()}
            checkpoint.save_checkpoint(self.checkpoints, "best", {"model": tensors}, saved)

    def _random(self) -> dict[str, Tensor]:
        """Where the random numbers of every process are: `cpu`, and `cpu.1` of the second."""
        own = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            own["cuda"] = torch.cuda.get_rng_state(self.device)
        if self.team.alone:
            return own
        each = {kind: self.team.each(state) for kind, state in own.items()}
        return {f"{kind}.{n}" if n else kind: one for kind, states in each.items() for n, one in enumerate(states)}

    def _go_on_drawing(self, saved: dict[str, Tensor]) -> None:
        """Random numbers go on where they were; with another number of processes, some from a seed of this step."""
        end = f".{self.team.rank}" if self.team.rank else ""
        if f"cpu{end}" in saved:
            torch.set_rng_state(saved[f"cpu{end}"])
        else:
            torch.manual_seed(self.team.seed(self.seed, self.counters.step))
        if self.device.type == "cuda" and f"cuda{end}" in saved:
            torch.cuda.set_rng_state(saved[f"cuda{end}"], self.device)
        before = sum(name.startswith("cpu") for name in saved)
        if before != self.team.size:
            self.watch.note(
                f"{before} processes trained so far, now {self.team.size}: what is drawn, as dropout, differs"
            )

    def _newest(self) -> tuple[Path, checkpoint.Parts, dict[str, Any]] | None:
        """The newest whole checkpoint, the same for all."""
        found = None
        if self.team.leads:
            checkpoint.sweep(self.checkpoints)
            found = checkpoint.newest(self.checkpoints, self.watch.note)
        name = self.team.told(None if found is None else found[0].name)
        if found is not None or name is None:
            return found
        return self.checkpoints / name, *checkpoint.load_checkpoint(self.checkpoints / name)

    def resume(self) -> bool:
        """Goes back to the newest whole checkpoint; False when there is none."""
        found = self._newest()
        if found is None:
            self.metrics.cut(0)
            return False
        (path, tensors, state), spread = found, self.spread
        self.model.restore(spread.own(self._here(tensors["model"]), self.model.tensors()), str(path))
        try:
            if state["optimizer"] != self.loop.optimizer.part_name:
                raise ValueError(f"its optimizer is {state['optimizer']}")
            restore_optimizer(self.optimizer, spread.own(tensors["optimizer"], self._by_number()))
            if self.averages is not None:
                averages = spread.own(tensors["averages"], self.averages.weights)
                self.averages.restore(averages, state["averages"])
            self.scaler.load_state_dict(state["scaler"])
            self.counters = Counters(**state["counters"])
            if isinstance(self.counters.best, float):  # of a run from before there was train.best
                self.counters.best = [self.counters.best, self.counters.best]
            carried = self.team.parted(unflatten_state(tensors["carried"]))
            self.carried = map_state(carried, lambda t: t.to(self.device)) or None
            self._go_on_drawing(tensors["random"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise UserError(f"{path} is of another recipe: {error}; use the run's own recipe.yaml") from None
        self.metrics.cut(self.counters.step)
        self._check_best()
        return True

    def _by_number(self) -> dict[str, Tensor]:
        """The parameter that each of the optimiser's tensors is of, by the name it is saved under."""
        order = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        names = ("exp_avg", "exp_avg_sq", "momentum_buffer")
        return {f"{number}.{name}": parameter for number, parameter in enumerate(order) for name in names}

    def _check_best(self) -> None:
        """The best weights so far must be whole; when they are not, later ones take their place."""
        if self.counters.best is not None and self.team.leads:
            try:
                checkpoint.load_checkpoint(self.checkpoints / "best")
            except UserError as error:
                self.watch.note(f"{error}; the best from here on is kept")
                self.counters.best = None
        self.counters.best = self.team.told(self.counters.best)

    def bring_together(self, begun: Callable[[], Task]) -> None:
        """After the last step: the leading process has the whole model, in one that `begun` makes where it had not."""
        if not self.spread.all_measure:
            return
        if self.averages is not None and self.prepared.valid is None:
            self.averages.put(self.averages.tensors)
        tensors = self.spread.full(self.model.tensors())
        self.averages = None
        if self.team.leads:
            self.model = begun()
            self.model.restore(self._here(tensors))

    def _here(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: tensor.to(self.device) for name, tensor in tensors.items()}

    def take_best(self) -> dict[str, Any] | None:
        """Puts the weights that were best on the validation text into the model; what was measured then.

        Without a validation text the averages of the weights, where there are some, are what is kept.
        """
        if not (self.checkpoints / "best").exists():
            if self.averages is not None:
                self.averages.put(self.averages.tensors)
            return None
        tensors, state = checkpoint.load_checkpoint(self.checkpoints / "best")
        self.model.restore(self._here(tensors["model"]), "checkpoints/best")
        return state
