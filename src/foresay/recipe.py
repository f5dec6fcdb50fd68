"""The one description of a run: read, override, check, complete, save.

A recipe is YAML: a task, the parts it is made of, data, tokens, training and a seed. Numbers are read as in
YAML 1.2, so that 1e-3 is a number. `complete` makes the parts and fills in every default; what it fills in is
saved in the run (`recipe.yaml`), and reading that file back gives the same recipe.

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
from typing import Annotated, Any

import yaml
from annotated_types import Ge, Lt

from foresay import parts
from foresay.errors import UserError, nearest

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
    "seed",
    "deterministic",
)  # every recipe has these; the task's settings stand between

# What people type most, one level deep.
SHORTHANDS = {
    "train.lr": "train.optimizer.lr",
    "train.schedule": "train.optimizer.schedule",
    "train.batch": "train.batches.rows",
    "train.chunk": "train.batches.chunk",
    "train.workers": "train.batches.workers",
    "train.save_every": "train.save.every",
    "train.eval_every": "train.evaluate.every",
    "train.patience": "train.evaluate.patience",
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

    def as_dict(self) -> dict[str, Any]:
        """The recipe as it is saved: every setting of every part."""
        task = parts.describe(self.task)
        head = {"version": VERSION, "task": task.pop("kind")}
        sections = {name: parts.describe(getattr(self, name)) for name in SECTIONS}
        return head | task | sections | {"seed": self.seed, "deterministic": self.deterministic}

    def as_yaml(self) -> str:
        return yaml.dump(self.as_dict(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def built_in() -> dict[str, str]:
    """The built-in recipes: name -> its opening comment."""
    folder = resources.files("foresay.recipes")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return {f.name.removesuffix(".yaml"): f.read_text("utf-8").split("\n")[0].lstrip("# ") for f in files}


def is_recipe(source: str) -> bool:
    """Whether a word on the command line names a recipe (and not a text file)."""
    return source in built_in() or source.endswith((".yaml", ".yml"))


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
    """The recipe with `key=value` words applied, and a line for each change of kind that dropped settings."""
    raw, notes = _spelt_out(copy.deepcopy(raw)), []
    for word in assignments:
        key, sign, text = word.partition("=")
        if not sign or not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", key):
            raise UserError(f"{word!r} is no setting; allowed: key=value, such as encoder.size=512")
        notes += _assign(raw, _long(key).split("."), parse(text, word))
    return _spelt_out(raw), notes


def complete(raw: dict[str, Any]) -> Recipe:
    """Makes every part and fills in every default; the first mistake is a one-line UserError."""
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
    sections = {section: _section(section, raw.pop(section, {})) for section in SECTIONS}
    cls = parts.find("task", name, "task")
    allowed = [setting.name for setting in parts.settings_of(cls)]
    for key in raw:
        if key not in allowed:
            every = [*allowed, *LAST]
            near = nearest(str(key), every)
            raise UserError(f"{key} is no setting of a {name} recipe; allowed: {', '.join(every)}{near}")
    task = cls(**parts.check(cls, raw))
    return Recipe(task=task, **sections, seed=seed, deterministic=deterministic)


def parse(text: str, name: str) -> Any:
    """YAML with 1.2 numbers; a syntax error names the place."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise UserError(f"{name} is no YAML{place}: {problem}") from None
    except ValueError as error:  # a tag that its text does not fit, as in !!int abc
        raise UserError(f"{name} is no YAML: {error}") from None


def _section(section: str, value: Any) -> Any:
    if isinstance(value, dict) and "kind" not in value:
        value = {"kind": SECTIONS[section], **value}
    return parts.make(section, value)


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; give a .yaml file or one of {', '.join(built_in())}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a recipe: {error}") from None


def _long(key: str) -> str:
    """A dotted key with its shorthand spelt out."""
    for short, full in SHORTHANDS.items():
        if key == short or key.startswith(short + "."):
            return full + key[len(short) :]
    return key


def _spelt_out(raw: dict[str, Any]) -> dict[str, Any]:
    """The recipe with the shorthands of its train section moved to where they belong."""
    train = raw.get("train")
    if not isinstance(train, dict):
        return raw
    raw = raw | {"train": {k: v for k, v in train.items() if f"train.{k}" not in SHORTHANDS}}
    if isinstance(raw["train"].get("clip"), (int, float)):
        raw["train"]["clip"] = {"kind": "norm", "limit": raw["train"]["clip"]}
    for key, value in train.items():
        full = SHORTHANDS.get(f"train.{key}")
        if full is None:
            continue
        if _has(raw, full.split(".")):
            raise UserError(f"train.{key} and {full} are the same setting; give one of them")
        _assign(raw, full.split("."), value)
    return raw


def _has(node: Any, path: list[str]) -> bool:
    for key in path:
        node = _described(node)
        if not isinstance(node, dict) or key not in node:
            return False
        node = node[key]
    return True


def _assign(raw: dict[str, Any], path: list[str], value: Any) -> list[str]:
    """Sets one value; a change of kind drops the settings of the old one, where that was named, and says so."""
    if path[-1] == "kind" and len(path) > 1:  # encoder.kind=window is encoder=window
        path = path[:-1]
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
        dropped = [key for key in old if key != "kind"] if old.get("kind", value) != value else []
        node[leaf] = {key: kept for key, kept in old.items() if key not in dropped} | {"kind": value}
        return _dropped(".".join(path), value, dropped)
    node[leaf] = value
    return []


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


def _dropped(place: str, kind: str, names: list[str]) -> list[str]:
    return [f"{place} is now {kind}: dropped {', '.join(names)}"] if names else []


class _Loader(yaml.SafeLoader):
    """A SafeLoader with the numbers and booleans of YAML 1.2, and no key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]  # pyright: ignore[reportUnknownMemberType]
        for i, key in enumerate(keys):
            if key in keys[:i]:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes a text that YAML 1.1 or 1.2 would read as a number, a boolean or null."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
):
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node), 0 if node.value[:2] in ("0x", "0o") else 10)


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan"))


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
