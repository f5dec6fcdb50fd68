"""The register of parts: (kind, name) -> class; a part's settings are its constructor's signature.

    @part("cell", "lstm")
    class LSTM(Cell):
        def __init__(self, *, forget_bias: float = 1.0): ...

A part is made from a recipe (`make("cell", {"kind": "lstm", "forget_bias": 0.0})`) or in Python
(`LSTM(forget_bias=0.0)`); both go through the same strict check, and the instance remembers its settings
(`instance.settings`), so that a model made of Python objects saves as a recipe (`describe`).

A setting annotated with a base class that has a `part_kind` (also `Cell | str`, `list[Encoder]`, `Cell | None`)
is a nested part: a name, a `{kind: ...}` or an object; without `kind` the default's, or the only one, is meant. A
setting annotated with a dataclass is a group of settings, checked the same way.

A class of a user's file is a part without being registered: `mycells.py:MyCell` wherever a name may stand (own.py).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import math
import pkgutil
import sys
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Gt, Le, Lt

from foresay import own
from foresay.errors import UserError, nearest

Size = Annotated[int, Gt(0)]
Count = Annotated[int, Ge(0)]
Rate = Annotated[float, Gt(0)]
Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Lt(1)]

# Where the parts of a kind live; the package is imported when the kind is first asked for.
HOMES = {
    "tokens": "foresay.text",
    "normalise": "foresay.text",
    "segment": "foresay.text",
    "stem": "foresay.text",
    "phrases": "foresay.text",
    "data": "foresay.data",
    "batches": "foresay.data",
    "smoothing": "foresay.counts",
    "embedding": "foresay.embed",
    "positions": "foresay.embed",
    "cell": "foresay.encode.cells",
    "encoder": "foresay.encode",
    "pool": "foresay.encode",
    "output": "foresay.output",
    "density": "foresay.output",
    "tree": "foresay.output.trees",
    "decoder": "foresay.decode",
    "confusions": "foresay.decode.correct",
    "search": "foresay.decode",
    "predictor": "foresay.models",
    "objective": "foresay.models",
    "spelling": "foresay.models",
    "writer": "foresay.models",
    "task": "foresay.models",
    "optimizer": "foresay.train",
    "schedule": "foresay.train",
    "average": "foresay.train",
    "clip": "foresay.train",
    "train": "foresay.train",
}

# What is kept with a prepared text, which any run and any command may open: never a user's own code.
TEXT_SIDE = ("tokens", "normalise", "segment", "stem", "phrases", "data")

_register: dict[str, dict[str, type]] = {kind: {} for kind in HOMES}
_C = TypeVar("_C", bound=type)
_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Setting:
    """One setting of a part, read off its constructor."""

    name: str
    annotation: Any
    default: Any
    nested: str | None  # the kind of part it holds, if it holds one
    many: bool  # a list of such parts

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED


def part(kind: str, name: str) -> Callable[[_C], _C]:
    """Registers a class under its kind and name, and makes its constructor check and remember settings."""
    if kind not in HOMES:
        raise AssertionError(f"unknown kind of part {kind!r}")

    def register(cls: _C) -> _C:
        known = _register[kind].get(name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise AssertionError(f"two parts are called {kind} {name}: {known} and {cls}")
        remember_settings(cls)
        cls.part_kind, cls.part_name = kind, name  # pyright: ignore[reportAttributeAccessIssue]
        _register[kind][name] = cls
        return cls

    return register


class Part:
    """What the base class of a kind derives from: each subclass is a part, by its file's name until `part` names it."""

    part_kind: str
    part_name: str

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "part_kind" not in vars(cls):
            cls.part_name = own.name_of(cls)
            remember_settings(cls)


def remember_settings(cls: Any) -> None:
    """Makes the constructor of a class check its settings and keep them as `instance.settings`."""
    original = cls.__init__
    if getattr(original, "checks", None) is cls:
        return

    @functools.wraps(original)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        if type(self) is not cls:  # a subclass has checked its own settings
            original(self, *args, **given)
            return
        label = f"{cls.part_kind} {cls.part_name}"
        names = [setting.name for setting in settings_of(cls)]
        if len(args) > len(names):
            raise UserError(f"{label} takes {len(names)} settings, {len(args)} were given")
        placed = dict(zip(names, args, strict=False))
        for twice in placed.keys() & given.keys():
            raise UserError(f"{label}: {twice} is given twice, by place and by name; give it once")
        values = check(cls, placed | given, where=f"{label}: ")
        self.__dict__["settings"] = values
        original(self, **values)
        if hasattr(cls, "register_parameter") and "_parameters" not in self.__dict__:
            raise UserError(f"{label}: its __init__ does not call super().__init__(); make that its first line")

    checked.checks = cls  # pyright: ignore[reportAttributeAccessIssue]
    cls.__init__ = checked


def import_siblings(package: str) -> None:
    """Imports every module of a package, so that a new file registers its parts without another edit."""
    module = sys.modules[package]
    for found in pkgutil.iter_modules(module.__path__):
        importlib.import_module(f"{package}.{found.name}")


def names(kind: str) -> list[str]:
    """The registered names of one kind, sorted."""
    importlib.import_module(HOMES[kind])
    return sorted(_register[kind])


def find(kind: str, name: str, where: str = "") -> type:
    """The class registered as `name`, or a user's by `FILE.py:Class`; `where` is the setting that named it."""
    if own.is_own(name):
        return _find_own(kind, name, where)
    allowed = names(kind)
    if name not in allowed:
        place = f"{where}={name!r}" if where else f"{name!r}"
        remedy = f"; name the class too: {name}:CLASS" if name.endswith(".py") else nearest(name, allowed)
        raise UserError(f"{place} is no {kind}; allowed: {', '.join(allowed)}{remedy}")
    return _register[kind][name]


def _find_own(kind: str, name: str, where: str) -> type:
    """The class of a user's file as a part; names that the file itself gives its parts are not kept."""
    if kind in TEXT_SIDE:
        allowed = ", ".join(one for one in HOMES if one not in TEXT_SIDE)
        raise UserError(f"{own.named(name, where)}: no {kind} can come from a file; allowed kinds: {allowed}")
    try:
        cls: Any = own.load(name, where)
    finally:
        for known in _register.values():
            for one in [one for one, found in known.items() if found.__module__.startswith(own.MODULE)]:
                del known[one]
    if getattr(cls, "part_kind", None) != kind:
        place, is_a = own.named(name, where), getattr(cls, "part_kind", None)
        other = f"it is a part of kind {is_a}" if is_a else f"derive it from {base_of(kind)}"
        raise UserError(f"{place}: class {cls.__name__} is no {kind}; {other}")
    cls.part_name = name
    remember_settings(cls)
    settings_of(cls)
    return cls


def base_of(kind: str) -> str:
    """The class that a part of this kind derives from, as it is imported."""
    for cls in (_register[kind][name] for name in names(kind)):
        for base in reversed(cls.__mro__):
            if "part_kind" in vars(base):
                public = "foresay" if base.__name__ in ("Cell",) else base.__module__
                return f"{public}.{base.__name__}"
    raise AssertionError(f"no part of kind {kind}")


@functools.cache
def settings_of(cls: type) -> tuple[Setting, ...]:
    """The settings of a part class, in the order of its constructor."""
    init = inspect.unwrap(cls.__init__)
    if init.__qualname__ in ("object.__init__", "Module.__init__"):  # Python's and torch's own: no settings
        return ()
    try:
        hints = typing.get_type_hints(cls if dataclasses.is_dataclass(cls) else init, include_extras=True)
    except NameError as error:
        raise UserError(
            f"{cls.__name__}: a setting is annotated with {error.name}, which its file does not know"
        ) from None
    found = []
    for name, parameter in list(inspect.signature(init).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            sign = "*" if parameter.kind == parameter.VAR_POSITIONAL else "**"
            raise UserError(f"{cls.__name__} takes {sign}{name}; name each setting")
        annotation = hints.get(name, Any)
        nested, many = _nested_kind(annotation)
        found.append(Setting(name, annotation, parameter.default, nested, many))
    return tuple(found)


def check(cls: type, given: dict[str, Any], where: str = "") -> dict[str, Any]:
    """`given` checked against the constructor of `cls` and completed with its defaults."""
    schema = settings_of(cls)
    allowed = [setting.name for setting in schema]
    label = f"{cls.part_kind} {cls.part_name}" if hasattr(cls, "part_name") else cls.__name__.lower()
    for name in given:
        if name not in allowed:
            has = f"allowed: {', '.join(allowed)}" if allowed else "it has none"
            raise UserError(f"{where}{name} is no setting of {label}; {has}{nearest(str(name), allowed)}")
    values = {}
    for setting in schema:
        if setting.name not in given and setting.required:
            raise UserError(f"{where}{setting.name} is missing; {label} needs it: {spell(setting.annotation)}")
        value = given.get(setting.name, setting.default)
        values[setting.name] = _checked(setting, value, where)
    return values


def _checked(setting: Setting, value: Any, where: str) -> Any:
    place = f"{where}{setting.name}"
    optional = type(None) in typing.get_args(setting.annotation)
    if dataclasses.is_dataclass(setting.annotation):
        return _checked_group(setting.annotation, value, place)
    if setting.nested:
        if value is None and optional:
            return None
        if not setting.many:
            if isinstance(value, dict) and "kind" not in value:
                value = {**_usual(setting), **value}
            return make(setting.nested, value, place)
        if not isinstance(value, list) or not value:
            raise UserError(f"{place}={shown(value)}; allowed: {spell(setting.annotation)}")
        return [make(setting.nested, item, f"{place}.{i}") for i, item in enumerate(value)]
    if isinstance(value, Path):  # Python's way to give a file
        value = str(value)
    return fits(setting.annotation, value, place)


def _usual(setting: Setting) -> dict[str, Any]:
    """What a nested part is where its kind is not named: the default's, or the only one there is."""
    if isinstance(setting.default, dict):
        return setting.default
    only = names(setting.nested or "")
    kind = setting.default if isinstance(setting.default, str) else only[0] if len(only) == 1 else None
    return {} if kind is None else {"kind": kind}


def _checked_group(group: Any, value: Any, place: str) -> Any:
    if isinstance(value, group):
        value = {setting.name: getattr(value, setting.name) for setting in settings_of(group)}
    if not isinstance(value, dict):
        raise UserError(f"{place}={shown(value)}; allowed: settings such as {{{settings_of(group)[0].name}: ...}}")
    return group(**check(group, value, f"{place}."))


def fits(annotation: Any, value: Any, place: str) -> Any:
    """`value` if it fits the annotation strictly; otherwise the one-line error."""
    from pydantic import PydanticSchemaGenerationError, ValidationError

    try:
        found = _adapter(annotation).validate_python(value, strict=True)
        if isinstance(found, float) and not math.isfinite(found):
            raise UserError(f"{place}={value}; allowed: {spell(annotation)}, and finite")
        return found
    except ValidationError:
        raise UserError(f"{place}={shown(value)}; allowed: {spell(annotation)}") from None
    except PydanticSchemaGenerationError:
        raise UserError(
            f"{place}: {spell(annotation)} is no type of a setting; allowed: int, float, bool, str, list"
        ) from None


def _adapter(annotation: Any) -> Any:
    """What checks values; kept, as making one takes far longer than asking it."""
    try:
        return _kept_adapter(annotation)
    except TypeError:  # a user's annotation with a list or a dict in it
        return _kept_adapter.__wrapped__(annotation)


@functools.lru_cache(maxsize=1024)
def _kept_adapter(annotation: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(annotation)


def shown(value: Any) -> str:
    """A value in an error: on one line, however a module prints itself."""
    text = repr(value)
    return " ".join(text.split()) if "\n" in text else text


def make(kind: str, value: Any, where: str = "") -> Any:
    """A part from its name, from `{kind: name, setting: ...}`, or the object itself."""
    where = where or kind
    if getattr(type(value), "part_kind", None) == kind:
        if not hasattr(value, "settings"):
            raise UserError(f"{where}: {type(value).__name__} is no part; put @part({kind!r}, NAME) above its class")
        return value
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, dict):
        raise UserError(f"{where}={shown(value)}; allowed: a name ({', '.join(names(kind))}) or {{kind: name, ...}}")
    given = dict(value)
    name = given.pop("kind", None)
    if not isinstance(name, str):
        problem = " is missing" if "kind" not in value else f"={shown(name)}"
        raise UserError(f"{where}.kind{problem}; allowed: {', '.join(names(kind))}")
    cls = find(kind, name, f"{where}.kind" if len(value) > 1 else where)
    values = check(cls, given, f"{where}.")
    with own.blamed({own.named(name, where): cls} if own.is_own(name) else {}, "as it is made"):
        return cls(**values)


def anew(instance: Any) -> Any:
    """A fresh part with the same settings: nested parts are built anew per layer."""
    return type(instance)(**{name: _each(value, anew) for name, value in instance.settings.items()})


def describe(instance: Any) -> dict[str, Any]:
    """The part as a recipe writes it: its kind and every setting, nested parts too."""
    return {"kind": instance.part_name} | {name: _each(value, describe) for name, value in instance.settings.items()}


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A setting's value with `change` applied to the parts in it."""
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value) if change is describe else value
    return change(value) if hasattr(type(value), "part_kind") else value


def own_classes(*instances: Any) -> dict[str, type]:
    """The classes of parts, nested ones too, that are not registered: those of users' files, by name."""
    found: dict[str, type] = {}

    def look(instance: Any) -> Any:
        cls = type(instance)
        if _register[cls.part_kind].get(cls.part_name) is not cls:
            found[cls.part_name] = cls
        for value in instance.settings.values():
            _each(value, look)
        return instance

    for instance in instances:
        look(instance)
    return found


def summary(cls: type) -> str:
    """One line on what a part is: the first line of its class's, else of its file's docstring."""
    text = cls.__dict__.get("__doc__") or sys.modules[cls.__module__].__doc__ or ""
    return text.strip().split("\n")[0]


def spell(annotation: Any) -> str:
    """An annotation in a user's words: `an integer > 0`, `one of tanh, relu`."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (None, type(None)):
        return "null"
    if origin is Annotated:
        signs = {Gt: ("gt", ">"), Ge: ("ge", ">="), Lt: ("lt", "<"), Le: ("le", "<=")}
        bounds = [f"{signs[type(m)][1]} {getattr(m, signs[type(m)][0])}" for m in args[1:] if type(m) in signs]
        return " ".join([spell(args[0]), " and ".join(bounds)]).strip()
    if origin is Literal:
        return "one of " + ", ".join(str(value) for value in args)
    if origin in (typing.Union, types.UnionType):
        nested = _nested_kind(annotation)[0]
        kept = [arg for arg in args if not (nested and arg is str)]
        lists = [typing.get_origin(arg) is list and not nested for arg in kept[:-1]]
        ends = [", or " if several else " or " for several in lists]  # not of each of its items
        return "".join(spell(arg) + end for arg, end in zip(kept, [*ends, ""], strict=True))
    if origin is dict:
        return "a mapping of " + " to ".join(spell(arg) for arg in args)
    if origin is list:
        nested = _nested_kind(args[0])[0]
        return f"a list of {nested} parts" if nested else f"a list, each {spell(args[0])}"
    if getattr(annotation, "part_kind", None):
        return f"a part of kind {annotation.part_kind}"
    words = {int: "an integer", float: "a number", str: "text", bool: "true or false", Any: "anything"}
    return words.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _nested_kind(annotation: Any) -> tuple[str | None, bool]:
    """The kind of part an annotation asks for, and whether it asks for a list of them."""
    if isinstance(annotation, type) and getattr(annotation, "part_kind", None):
        return annotation.part_kind, False  # pyright: ignore[reportAttributeAccessIssue]
    origin = typing.get_origin(annotation)
    found: Iterable[tuple[str | None, bool]] = (_nested_kind(arg) for arg in typing.get_args(annotation))
    kind, many = next((pair for pair in found if pair[0]), (None, False))
    return kind, many or (origin is list and kind is not None)
