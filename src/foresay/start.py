"""`foresay.train`: from a recipe or a text file to a finished run folder.

    read -> choose (text file) -> override -> complete -> prepare data -> build -> fit the time -> train -> finish

Killed at any moment and called again with `resume="runs/x"`, it goes on from the newest whole checkpoint.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from foresay import own
from foresay import recipe as recipes
from foresay.begun import Beginning, check_run, with_tokens
from foresay.checks import check, check_together, unused
from foresay.data.compressed import PACKED_NAMES
from foresay.data.frame_shards import Framed, SpeechShards
from foresay.data.label_shards import LabelShards
from foresay.data.levels import LevelShards
from foresay.data.prepare import SOURCE, Prepared, prepare
from foresay.data.series_shards import SeriesShards
from foresay.embed.elmo import FOLDER as ELMO
from foresay.embed.elmo import elmos
from foresay.embed.embedding import Embedding
from foresay.errors import UserError
from foresay.forecast import SeriesRun
from foresay.foretold import write_forecasts
from foresay.loading import load, pick_device
from foresay.media import MediaRun
from foresay.models.classifier import Classifier
from foresay.models.language_model import LanguageModel
from foresay.models.task import Fitting, Task
from foresay.output.output import Output
from foresay.recipe import Recipe
from foresay.run import Run
from foresay.samples import write_samples
from foresay.text.saved import open_tokens
from foresay.train import folder as folders
from foresay.train.best import check_best
from foresay.train.board import Board, check_tensorboard
from foresay.train.budget import FEWEST, plan
from foresay.train.calibrate import calibrate
from foresay.train.choose import Chosen, Text, choose_for
from foresay.train.diverged import check_learnt
from foresay.train.loop import Trainer
from foresay.train.measure import check_positions, measure_on, swapped
from foresay.train.memory import PeakMemory
from foresay.train.progress import Metrics, Watch, watch_for
from foresay.train.report import write_card, write_curve, write_results
from foresay.train.resume import Source, check_same_text, own_text, run_to_resume, saved_recipe
from foresay.train.team import Lost, Team, check_seen, gathered, losing
from foresay.train.warned import warn

LEFT_OUT = {  # what is said of rows that are too long to learn from
    "pairs": "pairs have more than {} tokens on a side",
    "tags": "sentences have more than {} words",
    "speech": "recordings have more than {} frames",
}
DEFAULT_MINUTES = 10.0  # for a bare text file, when nothing says how long
Settings = str | Sequence[str] | Mapping[str, Any]


def train(
    source: Source = None,
    settings: Settings = (),
    *,
    out: str | Path | None = None,
    resume: bool | str | Path = False,
    minutes: float | None = None,
    device: str | None = None,
    trust: bool = False,
    watch: Watch | None = None,
) -> Run:
    """Trains a recipe (name, YAML file, dict) or a text file and returns the run.

    `settings` are `["encoder.size=512"]` or `{"encoder.size": 512}`. `minutes` is turned into steps by measuring
    the first ones. `resume="runs/x"` goes on with that run; `resume=True` with the one in `out`, or begins it.
    A run that brings code along goes on with `trust=True`. Started by torchrun, in several processes, they train
    together, and each returns the run.
    """
    began = time.perf_counter()
    own.refuse_inside()
    if minutes is not None and not 0 < minutes < 1e6:
        raise UserError(f"minutes={minutes}; allowed: a number > 0")
    with gathered(pick_device(device)) as team:
        watch = Watch() if not team.leads else watch_for() if watch is None else watch
        given = Given(source, words_of(settings), resume is not False, minutes, trust)
        if resume is not False:
            given, out = given.resumed(out, resume)
        folder = Path(team.told(str(out if out is not None else folders.next_free(name_of(given.source)))))
        _train(folder, given, began, watch, team)
        return load(folder, str(team.device), trust=True)  # what was trained here was named here, or trusted


@dataclass(frozen=True)
class Given:
    """What `train` was given, but for places."""

    source: Source
    words: list[str]
    resume: bool
    minutes: float | None
    trust: bool

    def resumed(self, out: str | Path | None, resume: str | Path | Literal[True]) -> tuple[Given, Path]:
        source, folder = run_to_resume(self.source, out, resume)
        return replace(self, source=source), folder

    def new(self, folder: Path, place: torch.device) -> New:
        """The recipe of a run that is there and gone on with, or of a new one."""
        saved = folder / "recipe.yaml"
        if not self.resume or not saved.exists():
            return new_recipe(self.source, self.words, self.minutes, place)
        with folders.own_code(folder, trust=self.trust):
            return New(saved_recipe(saved, self.source, self.words, self.minutes))


def _train(folder: Path, given: Given, began: float, watch: Watch, team: Team) -> None:
    """A finished run in a folder, by all processes of a team; the leading one holds the folder."""
    new = given.new(folder, team.device)
    if not team.alone:
        check_together(new.recipe, team.size)
    exact = torch.are_deterministic_algorithms_enabled()
    opened = folders.opened(folder, resume=given.resume) if team.leads else nullcontext(False)
    try:
        with losing(), opened as there:
            there = team.told(there)
            if there:
                new = New(folders.read_recipe(folder, trust=given.trust))
            if team.told(there and folders.is_finished(folder)):
                watch.note(f"{folder} is finished; nothing to resume")
            else:
                _train_in(folder, new, began, there, watch, team)
            team.wait()
    except KeyboardInterrupt:
        if (folder / "recipe.yaml").exists():
            watch.note(f"stopped before the first checkpoint; {folders.how_to_resume(folder)} begins anew")
        raise
    except Lost as lost:
        raise Lost(f"{lost}; {folders.how_to_resume(folder)} goes on from the last checkpoint") from None
    finally:
        torch.use_deterministic_algorithms(exact)
        watch.close()


@dataclass(frozen=True)
class New:
    """A checked recipe, the minutes it is to be fitted to, if any, and what to tell about it."""

    recipe: Recipe
    minutes: float | None = None
    words: Sequence[str] = ()  # `key=value` as given: they hold against the fitting too
    notes: Sequence[str] = ()


def new_recipe(source: Source, words: list[str], minutes: float | None, place: torch.device) -> New:
    """A recipe by name, file or dict, or the one chosen for a text, with `key=value` words applied, checked."""
    if source is None:
        raise UserError(
            "nothing to train; give a recipe or a text file, or go on with a run: foresay train --resume RUN"
        )
    chosen = None
    if isinstance(source, dict) or recipes.is_recipe(source):
        raw, dropped = recipes.override(recipes.read(source), words)
        timed = any(word.startswith("train.steps=") for word in words)
    else:
        chosen = _chosen(source, words, place, minutes)
        raw, dropped = recipes.override(chosen.recipe, words)
        timed = "steps" in raw["train"]
    if timed and minutes is not None:
        raise UserError(f"train.steps and minutes={minutes:g}; allowed: one of them: leave the other out")
    notes = [] if chosen is None else [f"chosen: {reason}" for reason in chosen.holding(raw)]
    if chosen is not None and not timed and minutes is None:
        minutes = DEFAULT_MINUTES
        notes.append(f"chosen: {minutes:.0f} minutes of training; --minutes M sets another time")
    recipe = check(with_tokens(recipes.complete(raw)), place)
    return New(recipe, minutes, words, [*notes, *dropped, *unused(recipe, words, minutes)])


def _chosen(source: Text, words: Sequence[str], place: torch.device, minutes: float | None) -> Chosen:
    """The recipe for a bare text: that of the run it begins with, or one chosen by a look at it."""
    begun = next((word.partition("=")[2] for word in words if word.startswith("begin.run=")), None)
    if begun is None:
        return choose_for(source, words, place.type, minutes or DEFAULT_MINUTES)
    raw = folders.read_recipe(check_run(begun, Path(begun).expanduser()), trust=False).as_dict()
    raw.pop("begin", None)
    raw["data"] |= {"train": source if isinstance(source, list) else str(source), "valid": None, "test": None}
    del raw["train"]["steps"]
    return Chosen(raw, {"task": f"the recipe of {begun}, which it goes on with"})


def _train_in(folder: Path, new: New, began: float, there: bool, watch: Watch, team: Team) -> None:
    recipe, place = new.recipe, team.device
    if recipe.train.save.tensorboard:
        check_tensorboard()
    if not there:
        recipe.code()  # what cannot be kept is said before any work
    if recipe.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    data = own_text(folder, recipe) if there else recipe.data
    with watch.stage("preparing text") as tell, team.first_here():
        learnt, cut = recipe.learnt_tokens, recipe.tokens
        cut = open_tokens(folder) if there and learnt else cut
        prepared = prepare(data, cut, recipe.seed, on_progress=lambda stage, done: tell(done, stage), learnt=learnt)
    for note in [*prepared.notes, *_lengths(recipe, prepared)]:
        watch.note(note)
    tokens = prepared.tokens
    if prepared.tags is not None and len(prepared.tags) == 1:
        raise UserError(f"every word of data.train has the tag {prepared.tags.names[0]}; give words of at least two")
    for note in new.notes:
        watch.note(note)
    if not hasattr(recipe.task, "fit") and new.minutes is not None:
        left = 60.0 * new.minutes - (time.perf_counter() - began)
        recipe = _fitted(recipe, prepared, left, new.words, folder, team)
        short = "; the time is too short for more" if recipe.train.steps == FEWEST else ""
        watch.note(f"planned: {recipe.train.steps} steps for the {left:.0f} seconds left{short}")
    memory = PeakMemory(place)
    beginning = Beginning(recipe, prepared, place, folder if there else None)
    model = beginning.model()
    told = [*beginning.notes, *_told_by_parts(model, recipe), *_held_out(model, prepared)]
    for note in dict.fromkeys(told):  # what two say, once
        watch.note(note)
    if not hasattr(model, "fit"):
        check_best(recipe.train.evaluate.best, model, measured=prepared.valid is not None)
    fitted = _fit(model, recipe, prepared, watch) if hasattr(model, "fit") else None  # before there is a run
    if there:
        check_same_text(folder, prepared)
    else:
        _check_one_text_a_row(model, recipe)
        if team.leads:
            _begin_folder(folder, model, recipe, prepared)
        check_seen(folder, team)
    watch.note(f"{folder}: {model.size():,} parameters, {len(tokens):,} symbols, {len(prepared.train):,} tokens")
    if fitted is not None:
        lines, facts = fitted
        _write_metrics(folder, recipe, lines)
        _finish(folder, model, recipe, prepared, facts | {"peak_bytes": memory.bytes()}, watch)
        return
    trainer = Trainer(model, recipe.train, prepared, recipe.seed, folder, watch, team)
    facts = _learn(trainer, beginning.model, there)
    if not team.leads:
        return
    model = trainer.model
    if isinstance(model, Classifier) and model.calibrate and prepared.valid is not None:
        watch.note(calibrate(model, recipe.train.batches, prepared.valid))
        measured = measure_on(model, recipe.train.batches, prepared.valid, limit=recipe.train.evaluate.tokens)
        facts["valid"] = measured.as_dict()  # of the model as it is kept
    _finish(folder, model, recipe, prepared, facts | {"peak_bytes": memory.bytes()}, watch)


def _learn(trainer: Trainer, begun: Callable[[], Task], there: bool) -> dict[str, Any]:
    """Step by step to the end, from the newest checkpoint of a run that is there; the best weights, and facts."""
    if there and trainer.resume():
        trainer.watch.note(f"resumed at step {trainer.counters.step}")
    else:
        _check_elmo(trainer.folder, trainer.model)
    trainer.run()
    trainer.bring_together(begun)
    if not trainer.team.leads:
        return {}
    best, counters = trainer.take_best(), trainer.counters
    if counters.step and counters.skipped == counters.step:
        trainer.watch.note(
            "warning: nothing was learnt: in no step was the loss a number; lower the rate, or mend the output"
        )
    valid = best["valid"] if best else None
    check_learnt(trainer, valid, begun)
    facts = {"steps": counters.step, "tokens": counters.tokens, "seconds": counters.seconds}
    return facts | {"skipped": counters.skipped, "valid": valid}


def _held_out(model: Task, prepared: Prepared) -> Iterator[str]:
    """Refuses held-out rows that are longer than there are positions; says where sources and targets look swapped."""
    if isinstance(prepared.train, SpeechShards):
        check_positions(model, prepared.train, "data.train")
    for name, one in (("data.valid", prepared.valid), ("data.test", prepared.test)):
        check_positions(model, one, name)
        yield from swapped(model, one, name)


def _told_by_parts(model: Task, recipe: Recipe) -> Iterator[str]:
    """What the parts of a model want a person to know."""
    for module in model.modules():
        if isinstance(module, Embedding | Output | Classifier):
            yield from module.notes
    for elmo in elmos(model):
        if never := elmo.never_thaw(recipe.train.steps * recipe.train.accumulate):
            yield f"warning: elmo: thaw={elmo.thaw}: {never} of its layers thaw after the last batch"


def _check_elmo(folder: Path, model: Task) -> None:
    """Refuses to begin with a bilm whose weights are nowhere."""
    for elmo in elmos(model):
        if elmo.bare:
            raise UserError(
                f"elmo: run={elmo.run!r} is not there, and {folder} has neither its weights nor a whole checkpoint; "
                "bring it back to its place, or start a new run"
            )


def _check_one_text_a_row(model: Task, recipe: Recipe) -> None:
    """Refuses packed rows under a bilm before there is a run; only a batch can tell that in the end, and late."""
    if elmos(model) and recipe.train.batches.part_name == "packed":
        raise UserError("elmo reads one text a row, and rows are packed; set train.batches=buckets")


def _begin_folder(folder: Path, model: Task, recipe: Recipe, prepared: Prepared) -> None:
    """All that a run needs to be used or resumed, but its weights; the recipe last."""
    prepared.tokens.save(folder)
    if prepared.source_tokens is not None:
        prepared.source_tokens.save(folder / SOURCE)
    if prepared.tags is not None:
        prepared.tags.save(folder)
    for elmo in elmos(model):
        elmo.keep(folder / ELMO)
    if isinstance(prepared.train, LabelShards):
        prepared.train.labels.save(folder)
    if isinstance(prepared.train, LevelShards):
        prepared.train.form.save(folder)
    if isinstance(prepared.train, SeriesShards | Framed):
        prepared.train.form.save(folder)
    folders.write_recipe(folder, recipe, len(prepared.tokens), prepared.folder.name)


def _lengths(recipe: Recipe, prepared: Prepared) -> Iterator[str]:
    """How many rows are left out of training as too long, or not read to their end."""
    batches = recipe.train.batches
    order: Any = batches.open(prepared.train, recipe.seed) if batches.reads in LEFT_OUT else None
    if order is not None and order.left_out:
        long = LEFT_OUT[batches.reads]
        yield (
            f"data.train: {order.left_out:,} of {prepared.train.documents:,} {long.format(batches.longest)} and are "
            "left out (train.batches.longest)"
        )
    noun, unit = ("recordings", "frames") if isinstance(prepared.train, Framed) else ("texts", "tokens")
    if batches.reads == "labels" and (long := batches.too_long(prepared.train)):
        yield (
            f"data.train: {long:,} of {prepared.train.documents:,} {noun} have more than {batches.longest} {unit}; "
            "the rest of them is not read (train.batches.longest)"
        )


def _fitted(
    recipe: Recipe, prepared: Prepared, seconds: float, words: Sequence[str], folder: Path, team: Team
) -> Recipe:
    """The recipe with as many steps as fit into the time, measured on a model that is thrown away."""

    def throw_away() -> Trainer:
        model = Beginning(recipe, prepared, team.device).model()
        return Trainer(model, recipe.train, prepared, recipe.seed, folder, Watch(), team)

    planned = plan(throw_away, seconds)
    kept = [word for word in words if word.startswith(("train.evaluate.", "train.eval_every", "train.save"))]
    raw, _ = recipes.override(recipe.as_dict(), [*words_of(planned), *kept])
    schedule = raw["train"]["optimizer"]["schedule"]
    if "warmup" in schedule:
        schedule["warmup"] = min(schedule["warmup"], planned["train.steps"] // 8)
    fitted = recipes.complete(raw)
    return replace(recipe, task=fitted.task, train=fitted.train)


def _fit(model: Any, recipe: Recipe, prepared: Prepared, watch: Watch) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A model that is fitted as a whole, by counting or in epochs of its own; its lines of metrics, and facts."""
    began = time.perf_counter()
    words, longest = prepared.tokens.pieces(range(len(prepared.tokens))), recipe.train.batches.longest
    how = Fitting(words, recipe.seed, recipe.deterministic, longest=longest)
    with watch.stage(model.doing) as tell:
        model.fit(prepared.train, tell, how)
    for note in model.notes:
        watch.note(note)
    seconds, tokens = time.perf_counter() - began - getattr(model, "compiling", 0.0), len(prepared.train)
    lines: list[dict[str, Any]] = [
        {"step": n, "tokens": n * tokens, "seconds": round(epoch.seconds, 3), "loss": epoch.loss}
        for n, epoch in enumerate(model.history, 1)
    ]
    facts = {"tokens": tokens * max(len(lines), 1), "seconds": seconds, "valid": None}
    lines = lines or [{"step": 1, "tokens": tokens, "seconds": round(seconds, 3)}]
    if prepared.valid is not None and (model.sequence or model.reads in ("tags", "labels", "series")):
        measured = measure_on(model, recipe.train.batches, prepared.valid, limit=recipe.train.evaluate.tokens)
        facts["valid"] = measured.as_dict()
        watch.note(measured.spelt())
        lines[-1] |= {f"valid_{name}": value for name, value in measured.as_dict().items()}
    elif prepared.valid is not None:
        facts["held_out"] = lines[-1]["valid_loss"] = model.held_out(prepared.valid, how)
        watch.note(f"held-out loss {facts['held_out']:.4f} a prediction")
    return lines, facts | ({"epochs": [epoch.loss for epoch in model.history]} if model.history else {})


def _write_metrics(folder: Path, recipe: Recipe, lines: list[dict[str, Any]]) -> None:
    board = Board(folder / "tensorboard") if recipe.train.save.tensorboard else None
    metrics = Metrics(folder / "metrics.jsonl", board)
    metrics.cut(0)
    for line in lines:
        metrics.write(line)
    metrics.close()


def _finish(folder: Path, model: Task, recipe: Recipe, prepared: Prepared, facts: dict[str, Any], watch: Watch) -> None:
    """What people read first, the weights last: a run with a model is a finished one."""
    results = facts | {
        "parameters": model.size(),
        "vocabulary": len(prepared.tokens),
        "train_tokens": len(prepared.train),
        "tokens_per_second": facts["tokens"] / max(facts["seconds"], 1e-9),
        "device": str(model.device),
        **({} if prepared.tags is None else {"tags": len(prepared.tags)}),
    }
    warn(results, watch, recipe.train.optimizer.schedule.warmup, model)
    write_results(folder, results)
    if isinstance(prepared.train, LevelShards) and type(model) is LanguageModel:
        with watch.stage("drawing samples") as tell:
            write_samples(MediaRun(folder, recipe, prepared.tokens, model.eval()), prepared.train, tell)
    if isinstance(prepared.train, SeriesShards):
        with watch.stage("forecasting"):
            told = write_forecasts(SeriesRun(folder, recipe, prepared.tokens, model.eval()), prepared)
        results |= {"valid": results["valid"] and results["valid"] | told}
        write_results(folder, results)
    write_card(folder, recipe, results)
    write_curve(folder)
    task, vocabulary = recipe.task.part_name, len(prepared.tokens)
    folders.write_model(folder, model.tensors(), task, vocabulary, prepared.folder.name)


def tokens_for(source: Text, words: Sequence[str] = ()) -> dict[str, Any]:
    """The tokens chosen for a text when nothing is said: what `compare` gives every model."""
    return choose_for(source, words, "cpu", DEFAULT_MINUTES).recipe["tokens"]


def words_of(settings: Settings) -> list[str]:
    """Settings as `key=value` words."""
    if isinstance(settings, str):
        return [settings]
    if isinstance(settings, Mapping):
        return [f"{key}={json.dumps(value, ensure_ascii=False, default=str)}" for key, value in settings.items()]
    return list(settings)


def name_of(source: Any) -> str:
    """What a run of this source is called."""
    if not source or isinstance(source, dict):
        return "run"
    first = str(source[0] if isinstance(source, list) else source).removeprefix("builtin:").removeprefix("hub:")
    packed = next((ending for ending in PACKED_NAMES if first.endswith(ending)), "")
    name = Path(first.removesuffix(packed)).stem.strip(".")
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "run"
