"""A folder of a run -> the run, of the kind that its model makes it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay import recipe as recipes
from foresay.classify import Classifying
from foresay.counts import arpa
from foresay.counts.arpa_files import is_arpa
from foresay.data.label_shards import LabelSet
from foresay.data.levels import Form, LevelRows
from foresay.data.prepare import SOURCE
from foresay.data.series_form import SeriesForm
from foresay.data.speech import Speech
from foresay.data.tag_set import open_tags
from foresay.decode.beams import Trail
from foresay.decode.correct.corrector import Corrected
from foresay.decode.sample import Decoder
from foresay.decode.search import Found, Search
from foresay.embed.elmo import FOLDER as ELMO
from foresay.embed.elmo import Elmo
from foresay.embed.frames import tell_form
from foresay.encode.encoder import State, tell_grid
from foresay.errors import UserError
from foresay.extras import MissingLibrary
from foresay.forecast import SeriesRun
from foresay.hear import KeywordRun, SpeechRun
from foresay.hub import local
from foresay.media import MediaLabelRun, MediaRun
from foresay.models.bilm import BiLM
from foresay.models.labelling import Labelling
from foresay.models.language_model import LanguageModel
from foresay.models.series import Series
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.own import CodeError
from foresay.recipe import Recipe
from foresay.represent import Representing
from foresay.results import Scored, Written
from foresay.run import Run
from foresay.tag import TagUsing
from foresay.text.tokens import SPECIALS, UNK
from foresay.train import checkpoint
from foresay.train.folder import MODEL, how_to_resume, read_config, read_model, read_recipe
from foresay.translate import Translating, texts_of


class PairRun(Translating, Run):
    """A run whose model writes from a source: `translate`, `search`, `align`; `score` takes pairs."""

    def score(self, texts: Any) -> list[Scored]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """-log P(target | source) of each (source, target), and of each token of the target."""
        pairs = [texts] if isinstance(texts, tuple) else list(texts) if isinstance(texts, Sequence) else [texts]
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            given = next(pair for pair in pairs if not isinstance(pair, (tuple, list)) or len(pair) != 2)
            raise UserError(
                f"texts has {str(given)[:60]!r}; allowed: pairs, (source, target), as this run writes a target from a "
                "source"
            )
        return [Scored(target, *self.log_probs(source, target)) for source, target in pairs]

    def generate(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        prompt: str | Sequence[str] = "",
        *,
        length: int | None = None,
        number: int = 1,
        temperature: float = 0.0,
        decoder: Decoder | None = None,
        seed: int = 1,
        stop: str | Sequence[str] = (),
        on_text: Any = None,
    ) -> list[str]:
        """`number` texts for each source, greedily (temperature 0) or by sampling; `translate` searches."""
        if stop or on_text:
            raise UserError(f"{'stop' if stop else 'on_text'} is for texts without an end; this run ends its own")
        return self.write(prompt, length=length, number=number, temperature=temperature, decoder=decoder, seed=seed)

    def search(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        prompts: str | Sequence[str] = "",
        *,
        length: int | None = None,
        search: Search | None = None,
        least: int = 0,
        banned: Sequence[str] = (),
        required: Sequence[str] = (),
        fuse: Sequence[tuple[Run, float]] = (),
        trail: Trail | None = None,
        on_found: Callable[[list[Written]], None] | None = None,
    ) -> list[list[Written]]:
        """The best texts for each source, best first; settings as of any run. `on_found` has them as they come."""
        never = [self._token(one, "banned") for one in texts_of(banned, "banned")]
        wanted = {one: self._token(one, "required") for one in texts_of(required, "required")}
        both = [one for one, token in wanted.items() if token in never]
        if both:
            raise UserError(f"{both[0]!r} is banned and required; leave it out of one of the two")

        def written(best: list[Found]) -> list[Written]:
            return [Written(self.tokens.decode(one.ids), self.tokens.pieces(one.ids), one) for one in best]

        found = self.find(
            texts_of(prompts, "prompts"),
            length=length,
            search=search,
            least=least,
            banned=never,
            required=list(wanted.values()),
            beside=[(self._beside(other), weight) for other, weight in fuse],
            trail=trail,
            on_found=None if on_found is None else lambda best: on_found(written(best)),
        )
        return [written(best) for best in found]

    def step(self, text: str, state: State | None = None) -> tuple[Tensor, State]:
        raise UserError("this run writes from a source; use run.search(source), or run.model.begin(1, ids) and step")

    def correct(self, *_: Any, **__: Any) -> list[Corrected]:
        raise UserError("this run writes from a source, and correcting needs P of a text; use a language model")


class TwoWayRun(Representing, Run):
    """A run whose model reads both ways: `embed` too."""


class TagRun(TagUsing, Run):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A run whose model tags words: `predict`, `evaluate`."""


class LabelRun(Classifying, Run):  # pyright: ignore[reportIncompatibleMethodOverride]
    """A run whose model gives labels to texts: `predict`, `evaluate`; nothing else that a run does."""


def load(path: str | Path, device: str | None = None, *, trust: bool = False) -> Run:
    """A run from its folder; of an unfinished one, the newest whole checkpoint (the averages, where there are some).

    hub:OWNER/NAME is a run on Hugging Face's hub (hub.py).

    An ARPA file, packed or not, is used as a run of n-grams.

    A run that brings code along (`code/`) is loaded with `trust=True`: its code is run.
    """
    if not isinstance(path, str | Path):
        raise UserError(f"path={path!r}; allowed: a run's folder, as foresay train writes it")
    folder = local(path)
    if is_arpa(folder):
        return of_arpa(folder)
    if folder.is_file():
        raise UserError(f"{folder} is a file, no run and no ARPA file; give a folder that foresay train has written")
    config = read_config(folder)
    recipe = _recipe_of(folder, trust)
    model: Task = recipe.task
    forget_vectors(model)  # the saved weights hold what was read from there
    for module in model.modules():
        if isinstance(module, Elmo):
            module.place = folder / ELMO
    if getattr(recipe.data, "source_tokens", None) is not None:
        model.source_vocabulary = len(recipe.data.source_tokens)
    if isinstance(model, Tagging):
        model.tags = open_tags(folder)
    if isinstance(model, Labelling) or (isinstance(model, LanguageModel) and model.condition is not None):
        model.learn_labels(LabelSet.read(folder))
    if isinstance(recipe.data, LevelRows):
        form = Form.read(folder)
        tell_grid(model, form.columns, form.channels)
    if isinstance(recipe.data, Speech):
        tell_form(model, SeriesForm.read(folder))
    if isinstance(model, Series):
        model.learn_form(SeriesForm.read(folder))
    model.build(len(recipe.tokens))
    tensors, source = read_model(folder, config), folder / MODEL
    if tensors is None:
        found = checkpoint.newest(folder / checkpoint.CHECKPOINTS, lambda _: None)
        if found is None:
            raise UserError(f"{folder} has no finished model and no checkpoint; train it: {how_to_resume(folder)}")
        tensors, source = found[1]["model"] | found[1].get("averages", {}), found[0]
    model.restore(tensors, str(source))
    usual = TwoWayRun if isinstance(model, BiLM) else Run
    if isinstance(recipe.data, LevelRows):
        shown = MediaLabelRun if model.reads == "labels" else MediaRun
        return shown(folder, recipe, recipe.tokens, model.to(pick_device(device)).eval())
    if isinstance(recipe.data, Speech):
        hears = KeywordRun if model.reads == "labels" else SpeechRun
        return hears(folder, recipe, recipe.tokens, model.to(pick_device(device)).eval())
    kind = {"pairs": PairRun, "tags": TagRun, "labels": LabelRun, "series": SeriesRun}.get(model.reads, usual)
    return kind(folder, recipe, recipe.tokens, model.to(pick_device(device)).eval())


def of_arpa(path: Path) -> Run:
    """An ARPA file, used as a run: n-grams of words between blanks, each line a text."""
    table, words = arpa.read(path)
    if not np.isfinite(table.log_prob[1 + UNK]):
        warnings.warn(f"{path} has no <unk>: a text with any other word has probability 0", stacklevel=3)
    data = {"train": str(path), "unit": "line"}
    recipe = recipes.complete({"task": "ngram", "order": table.order, "data": data, "tokens": "blanks"})
    recipe.tokens.take(words[len(SPECIALS) :])
    model: Any = recipe.task
    model.vocabulary, model.table = len(words), table
    return Run(path, recipe, recipe.tokens, model.eval())


def forget_vectors(model: Task) -> None:
    """Lets every table of a model begin at random, without reading the vectors it names."""
    for module in model.modules():
        if getattr(module, "pretrained", None):
            module.pretrained = None  # pyright: ignore[reportArgumentType]


def _recipe_of(folder: Path, trust: bool) -> Recipe:
    """The recipe of a run, its tokeniser loaded."""
    path = folder / "recipe.yaml"
    if not path.is_file():
        raise UserError(f"{path} is missing; copy it back")
    try:
        recipe = read_recipe(folder, trust=trust)
        if getattr(recipe.data, "source_tokens", None) is not None:
            recipe.data.source_tokens.load(folder / SOURCE)
        recipe.tokens.load(folder)  # its files are whole (read_config): what does not fit them is the recipe
        return recipe
    except (MissingLibrary, CodeError):
        raise
    except UserError as error:
        raise UserError(f"{path} is damaged or not of this run: {error}") from None


def pick_device(name: str | None) -> torch.device:
    """The device asked for, or the GPU when there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        reason = "there is no such one" if reason.startswith("Expected one of") else reason  # twenty names follow
        raise UserError(f"device={name!r} cannot be used: {reason}; allowed: cpu, cuda where there is one") from None
    return device
