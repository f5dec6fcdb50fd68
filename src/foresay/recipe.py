"""The one description of a run: read, override, check, complete, save.

A recipe is YAML: a task, the parts it is made of, data, tokens, training and a seed. `complete` makes the parts and
fills in every default; what it fills in is saved in the run (`recipe.yaml`), and reading that file back gives the same
recipe.

    raw = read("lstm")                              # a built-in name, a YAML file or a dict
    raw, notes = override(raw, ["encoder.size=512"])
    recipe = complete(raw)
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from annotated_types import Ge, Lt

from foresay import own, parts
from foresay.begin import Begin, read_begin
from foresay.errors import UserError, nearest
from foresay.yaml12 import dump, parse

VERSION = 1
Seed = Annotated[int, Ge(0), Lt(2**63)]  # what torch takes
SECTIONS = {
    "data": "text",
    "tokens": "subwords",
    "train": "loop",
}  # section (= kind of part) -> kind when none is named
LAST = (
    "version",
    "task",
    *SECTIONS,
    "begin",
    "seed",
    "deterministic",
)  # every recipe has these; the task's settings stand between

# What people type most, one level deep.
SHORTHANDS = {
    "train.lr": "train.optimizer.lr",
    "train.schedule": "train.optimizer.schedule",
    "train.average": "train.optimizer.average",
    "train.batch": "train.batches.rows",
    "train.chunk": "train.batches.chunk",
    "train.workers": "train.batches.workers",
    "train.accumulate": "train.compute.accumulate",
    "train.graph": "train.compute.graph",
    "train.parallel": "train.compute.parallel",
    "train.save_every": "train.save.every",
    "train.tensorboard": "train.save.tensorboard",
    "train.eval_every": "train.evaluate.every",
    "train.patience": "train.evaluate.patience",
    "train.best": "train.evaluate.best",
    "data.format": "data.read.format",
    "data.column": "data.read.column",
    "data.columns": "data.read.columns",
    "data.several": "data.read.several",
    "data.separator": "data.read.separator",
    "data.between": "data.read.between",
    "data.without": "data.read.without",
    "data.reverse": "data.read.reverse",
    "data.scheme": "data.read.scheme",
    "data.rewrite": "data.read.rewrite",
    "data.encoding": "data.read.encoding",
    "data.errors": "data.read.errors",
    "data.duplicates": "data.read.duplicates",
    "data.broken": "data.read.broken",
    "data.blank": "data.read.blank",
    "data.colour": "data.read.colour",
    "data.size": "data.read.size",
    "data.rate": "data.read.rate",
    "data.seconds": "data.read.seconds",
    "data.law": "data.read.law",
    "data.trim": "data.read.trim",
    "data.label": "data.read.label",
    "data.window": "data.read.window",
    "data.hop": "data.read.hop",
    "data.bands": "data.read.bands",
    "data.by": "data.read.by",
    "data.grid": "data.read.grid",
    "data.beat": "data.read.beat",
    "data.step": "data.read.step",
}


@dataclass(frozen=True)
class Recipe:
    """A checked recipe: parts made, defaults filled in, nothing built yet."""

    task: Any
    data: Any
    tokens: Any
    train: Any
    seed: int
    deterministic: bool
    begin: Begin | None = None

    @property
    def learnt_tokens(self) -> bool:
        """Whether the text is cut by tokens that another run has learnt."""
        return self.begin is not None and self.begin.takes_tokens

    def as_dict(self) -> dict[str, Any]:
        """The recipe as it is saved: every setting of every part."""
        task = parts.describe(self.task)
        head = {"version": VERSION, "task": task.pop("kind")}
        sections = {name: parts.describe(getattr(self, name)) for name in SECTIONS}
        if self.begin is not None:
            sections["begin"] = self.begin.as_dict()
        return head | task | sections | {"seed": self.seed, "deterministic": self.deterministic}

    def as_yaml(self) -> str:
        return dump(self.as_dict())

    def own_classes(self) -> dict[str, type]:
        """The classes of users' files among its parts, by name."""
        return parts.own_classes(self.task, *(getattr(self, name) for name in SECTIONS))

    def code(self) -> dict[str, bytes]:
        """The users' files that its parts come from, as a run keeps them: `code/mycells.py` -> its bytes."""
        return own.sources(self.own_classes())


def built_in() -> dict[str, str]:
    """The built-in recipes: name -> its opening comment."""
    folder = resources.files("foresay.recipes")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return {f.name.removesuffix(".yaml"): f.read_text("utf-8").split("\n")[0].lstrip("# ") for f in files}


def is_recipe(source: object) -> TypeGuard[str | Path]:
    """Whether what is given to train on names a recipe (and not a text, or a list of them)."""
    return not isinstance(source, list) and (str(source) in built_in() or str(source).endswith((".yaml", ".yml")))


def read(source: str | Path | dict[str, Any]) -> dict[str, Any]:
    """A raw recipe from a built-in name, a YAML file or a dict; shorthands are spelt out."""
    if isinstance(source, dict):
        return _spelt_out(copy.copy(source))
    name = str(source)
    if name in built_in():
        text = resources.files("foresay.recipes").joinpath(f"{name}.yaml").read_text("utf-8")
    elif name.endswith((".yaml", ".yml")):
        text = _text_of(Path(name))
    else:
        allowed = ", ".join(built_in())
        raise UserError(f"{name!r} is no recipe; allowed: {allowed}, or a .yaml file{nearest(name, built_in())}")
    raw = parse(text, name)
    if not isinstance(raw, dict):
        raise UserError(f"{name} holds no recipe; allowed: 'task: ...' and its parts; see foresay list recipes")
    return _spelt_out(raw)


def override(raw: dict[str, Any], assignments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The recipe with `key=value` words applied, and a line for each change of kind that dropped settings.

    A part comes before its settings, so that `encoder.span=4 encoder=window` means the same in any order. Another kind
    of data brings along the tokens and the batches it needs, where no word speaks of them.
    """
    raw, notes, given = _spelt_out(copy.deepcopy(raw)), [], []
    for word in assignments:
        key, sign, text = word.partition("=")
        if not sign or not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", key):
            raise UserError(f"{word!r} is no setting; allowed: key=value, such as encoder.size=512")
        path = long_key(key.removesuffix(".kind")).split(".")
        given.append((path, parse(text, word)))
    given += _beside(raw, given)
    for path, value in sorted(given, key=lambda pair: len(pair[0])):
        notes += _assign(raw, path, value)
    return _spelt_out(raw), notes


def complete(raw: dict[str, Any], *, model: bool = True) -> Recipe:
    """Makes every part and fills in every default; the first mistake is a one-line UserError.

    Without the model the task is None: what is asked of the text alone needs none of a run's own code.
    """
    raw = dict(raw)
    version = raw.pop("version", VERSION)
    if version != VERSION:
        raise UserError(
            f"version={version!r} of the recipe; this Foresay reads {VERSION}: install the one that wrote it"
        )
    name = raw.pop("task", None)
    if not isinstance(name, str):
        raise UserError(f"task={name!r}; allowed: {', '.join(parts.names('task'))}")
    seed = parts.fits(Seed, raw.pop("seed", 1), "seed")
    deterministic = parts.fits(bool, raw.pop("deterministic", False), "deterministic")
    begin = read_begin(raw.pop("begin", None))
    data = _section("data", raw.pop("data", {}))
    beside = getattr(data, "beside", {})
    tokens = raw.pop("tokens", None)
    tokens = _section("tokens", beside.get("tokens", {}) if tokens is None else tokens)
    train = _section("train", _with_batches(raw.pop("train", {}), beside.get("train.batches")))
    sections = {"data": data, "tokens": tokens, "train": train}
    if not model:
        return Recipe(task=None, **sections, seed=seed, deterministic=deterministic, begin=begin)
    cls = parts.find("task", name, "task")
    allowed = [setting.name for setting in parts.settings_of(cls)]
    for key in raw:
        if key not in allowed:
            every = [*allowed, *LAST]
            near = nearest(str(key), every)
            raise UserError(f"{key} is no setting of a {name} recipe; allowed: {', '.join(every)}{near}")
    task = cls(**parts.check(cls, raw))
    return Recipe(task=task, **sections, seed=seed, deterministic=deterministic, begin=begin)


def _with_batches(train: Any, kind: str | None) -> Any:
    """The training of a recipe with the batches that its data need, where no kind of them is named."""
    if kind is None or not isinstance(train, dict):
        return train
    batches = train.get("batches", {})
    return train | {"batches": {"kind": kind, **batches}} if isinstance(batches, dict) else train


def _section(section: str, value: Any) -> Any:
    if isinstance(value, dict) and "kind" not in value:
        value = {"kind": SECTIONS[section], **value}
    try:
        return parts.make(section, value)
    except UserError as error:
        place, _, said = str(error).partition("=")
        short = next((short for short, full in SHORTHANDS.items() if section == "data" and full == place), None)
        if short is None:
            raise
        raise UserError(f"{short}={said}") from None


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; give a .yaml file or one of {', '.join(built_in())}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a recipe: {error}") from None


def long_key(key: str) -> str:
    """A dotted key with its shorthand spelt out."""
    for short, full in SHORTHANDS.items():
        if key == short or key.startswith(short + "."):
            return full + key[len(short) :]
    return key


def _spelt_out(raw: dict[str, Any]) -> dict[str, Any]:
    """The recipe with the shorthands of its sections moved to where they belong."""
    for section in ("train", "data"):
        given = raw.get(section)
        if not isinstance(given, dict):
            continue
        raw = raw | {section: {k: v for k, v in given.items() if f"{section}.{k}" not in SHORTHANDS}}
        for key, value in given.items():
            full = SHORTHANDS.get(f"{section}.{key}")
            if full is None:
                continue
            if _has(raw, full.split(".")):
                raise UserError(f"{section}.{key} and {full} are the same setting; give one of them")
            _assign(raw, full.split("."), value)
    train = raw.get("train")
    if isinstance(train, dict) and isinstance(train.get("clip"), (int, float)):
        train["clip"] = {"kind": "norm", "limit": train["clip"]}
    return raw


def _has(node: Any, path: list[str]) -> bool:
    for key in path:
        node = _described(node)
        if not isinstance(node, dict) or key not in node:
            return False
        node = node[key]
    return True


def _assign(raw: dict[str, Any], path: list[str], value: Any) -> list[str]:
    """Sets one value; a change of kind drops the settings of the old one and says so."""
    node: Any = raw
    for depth, key in enumerate(path[:-1], 1):
        place = _index(node, key, ".".join(path[:depth]))
        inner = _described(node[place] if isinstance(node, list) else node.get(place))
        node[place] = {"kind": inner} if isinstance(inner, str) else copy.copy(inner)
        if not isinstance(node[place], (dict, list)):
            node[place] = {}
        node = node[place]
    leaf = _index(node, path[-1], ".".join(path))
    old = _described(node[leaf] if isinstance(node, list) else node.get(leaf))
    if path == ["task"] and old not in (None, value):
        dropped = [key for key in raw if key not in LAST]
        for key in dropped:
            del raw[key]
        raw["task"] = value
        return _dropped("task", value, dropped)
    if isinstance(old, dict) and isinstance(value, str):
        kind = old.get("kind") or _default_kind(raw, path)
        dropped = [key for key in old if key != "kind"] if kind not in (None, value) else []
        node[leaf] = {key: kept for key, kept in old.items() if key not in dropped} | {"kind": value}
        return _dropped(".".join(path), value, dropped)
    node[leaf] = value
    return []


def _default_kind(raw: dict[str, Any], path: list[str]) -> str | None:
    """The kind that `complete` takes for a part that names none: its section's, or the default of its setting.

    `_assign` has opened the path: every node on it is a dict.
    """
    cls, node, default = None, raw, None
    for depth, key in enumerate(path, 1):
        if depth == 1 and key in SECTIONS:
            kind, default = key, SECTIONS[key]
        else:
            cls = cls or parts.find("task", str(raw.get("task")), "task")
            setting = next((setting for setting in parts.settings_of(cls) if setting.name == key), None)
            usual = None if setting is None else setting.default
            usual = usual["kind"] if isinstance(usual, dict) else usual
            if setting is None or setting.nested is None or not isinstance(usual, str):
                return None
            kind, default = setting.nested, usual
        node = node[key]
        if depth < len(path):
            cls = parts.find(kind, node.get("kind", default), ".".join([*path[:depth], "kind"]))
    return default


def _described(value: Any) -> Any:
    """A part made in Python as a recipe writes it; anything else as it is."""
    return parts.describe(value) if hasattr(type(value), "part_name") else value


def _index(node: Any, key: str, place: str) -> Any:
    """The key as `node` takes it: a number for a list, which must have that many."""
    if not isinstance(node, list):
        return key
    if not key.isdecimal() or int(key) >= len(node):
        raise UserError(f"{place} does not exist; allowed: 0 to {len(node) - 1}, as the list has {len(node)}")
    return int(key)


def _beside(raw: dict[str, Any], given: list[tuple[list[str], Any]]) -> list[tuple[list[str], Any]]:
    """What a newly given kind of data needs of parts that are still made for texts: their paths and kinds."""
    kind = next((value for path, value in reversed(given) if path == ["data"]), None)
    found = []
    for place, needed in (
        getattr(parts.find("data", kind, "data"), "beside", {}).items() if isinstance(kind, str) else ()
    ):
        path, old = place.split("."), _kind_at(raw, place.split("."))
        told = any(one == path for one, _ in given)
        for_texts = old is None or getattr(parts.find(path[-1], old, place), "reads", "text") == "text"
        if for_texts and not told and old != needed:
            found.append((path, needed))
    return found


def _kind_at(raw: dict[str, Any], path: list[str]) -> str | None:
    """The kind of the part at a place, where one is named."""
    node: Any = raw
    for key in path:
        node = _described(node)
        node = node.get(key) if isinstance(node, dict) else None
    node = _described(node)
    return node if isinstance(node, str) else node.get("kind") if isinstance(node, dict) else None


def _dropped(place: str, kind: str, names: list[str]) -> list[str]:
    return [f"{place} is now {kind}: dropped the recipe's {', '.join(names)}"] if names else []
