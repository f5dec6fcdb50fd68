"""The register: strict settings, nested parts, and what every registered part keeps."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from torch import nn

from foresay import parts
from foresay.errors import UserError
from foresay.parts import Amount, Count, Share, Size, anew, check, describe, fits, make, spell

NEEDED = {  # what the parts with settings of no default are made with here
    ("cell", "lstm-projected"): {"projection": 3},
    ("embedding", "elmo"): {"run": "runs/elmo"},
    ("confusions", "listed"): {"sets": ["a,b"]},
    ("data", "captions"): {"train": "my.npy"},
    ("data", "speech"): {"train": "my-talks"},
    ("data", "keywords"): {"train": "my-talks", "word": "seven"},
    ("data", "pairs"): {"train": "my.tsv"},
    ("data", "images"): {"train": "my.npy"},
    ("data", "labels"): {"train": "my.tsv"},
    ("data", "music"): {"train": "my.mid"},
    ("data", "series"): {"train": "my.csv"},
    ("data", "sounds"): {"train": "my.wav"},
    ("data", "tags"): {"train": "my.conll"},
    ("data", "text"): {"train": "my.txt"},
    ("encoder", "stack"): {"layers": ["recurrent", {"kind": "window", "span": 3}]},
    ("schedule", "decay"): {"hold": 10, "every": 5},
}
EVERY = [(kind, name) for kind in parts.HOMES for name in parts.names(kind)]
every = pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda value: value)


@dataclass(frozen=True)
class Pace:
    every: Size = 7
    slow: bool = False


class Wheel:
    part_kind = "decoder"


@pytest.fixture
def wheels(monkeypatch) -> dict[str, type]:
    """Parts of a kind of their own: nested, in lists, in groups."""
    monkeypatch.setitem(parts._register, "decoder", {})
    monkeypatch.setitem(parts.HOMES, "decoder", __name__)

    @parts.part("decoder", "small")
    class Small(Wheel):
        """A small one."""

        def __init__(
            self, size: Size = 3, weight: float = 1.0, round: bool = True, colour: Literal["red", "blue"] = "red"
        ):
            self.size, self.weight = size, weight

    @parts.part("decoder", "large")
    class Large(Wheel):
        """A large one."""

        def __init__(self, spokes: Size): ...

    @parts.part("decoder", "cart")
    class Cart(Wheel):
        """Wheels in a cart."""

        def __init__(
            self,
            front: Wheel | str = "small",
            spare: Wheel | None = None,
            back: list[Wheel] | None = None,
            pace: Pace = Pace(),  # noqa: B008 - frozen
        ):
            self.front, self.spare, self.back, self.pace = front, spare, back, pace

    return {"small": Small, "large": Large, "cart": Cart}


def refused(call, *args, **given) -> str:
    with pytest.raises(UserError) as caught:
        call(*args, **given)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("annotation", "value", "kept"),
    [
        (int, 256, 256),
        (float, 1, 1.0),
        (float, 1e-3, 0.001),
        (Size | None, None, None),
        (Count, 0, 0),
        (Share, 0, 0.0),
        (Literal["tanh", "relu"], "relu", "relu"),
        (list[int], [1, 2], [1, 2]),
    ],
)
def test_values_that_fit(annotation, value, kept):
    found = fits(annotation, value, "x")
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, "256", "x='256'; allowed: an integer"),
        (int, True, "x=True; allowed: an integer"),
        (int, 2.0, "x=2.0; allowed: an integer"),
        (float, "1e-3", "x='1e-3'; allowed: a number"),
        (float, True, "x=True; allowed: a number"),
        (float, None, "x=None; allowed: a number"),
        (bool, 1, "x=1; allowed: true or false"),
        (bool, "yes", "x='yes'; allowed: true or false"),
        (str, 5, "x=5; allowed: text"),
        (Size, -3, "x=-3; allowed: an integer > 0"),
        (Size, 0, "x=0; allowed: an integer > 0"),
        (Count, -1, "x=-1; allowed: an integer >= 0"),
        (Share, 1, "x=1; allowed: a number >= 0 and < 1"),
        (Amount, float("nan"), "x=nan; allowed: a number >= 0"),
        (Size | None, "3", "x='3'; allowed: an integer > 0 or null"),
        (Literal["tanh", "relu"], "tan", "x='tan'; allowed: one of tanh, relu"),
        (list[int], 3, "x=3; allowed: a list, each an integer"),
        (list[int] | str | None, 3, "x=3; allowed: a list, each an integer, or text or null"),
    ],
)
def test_values_that_do_not_fit(annotation, value, message):
    assert refused(fits, annotation, value, "x") == message


def test_spell_of_parts_and_anything():
    assert spell(Wheel | str) == "a part of kind decoder"
    assert spell(list[Wheel]) == "a list of decoder parts"
    assert spell(Any) == "anything"
    assert spell(None) == "null"


def test_unknown_setting_names_the_nearest(wheels):
    text = refused(wheels["small"], sise=4)
    assert text == (
        "decoder small: sise is no setting of decoder small; allowed: size, weight, round, colour; did you mean 'size'?"
    )
    assert refused(check, wheels["small"], {7: 1}).startswith("7 is no setting of decoder small; allowed: size")


def test_a_part_without_settings_says_so():
    assert refused(make, "decoder", {"kind": "greedy", "heat": 1}) == (
        "decoder.heat is no setting of decoder greedy; it has none"
    )


def test_missing_setting_is_named(wheels):
    text = "spokes is missing; decoder large needs it: an integer > 0"
    assert refused(wheels["large"]) == f"decoder large: {text}"
    assert refused(make, "decoder", "large", "front") == f"front.{text}"


def test_unknown_name_names_the_nearest(wheels):
    text = refused(make, "decoder", "smal", "front")
    assert text == "front='smal' is no decoder; allowed: cart, large, small; did you mean 'small'?"
    assert refused(make, "decoder", {"kind": "smal", "size": 2}, "front").startswith("front.kind='smal' is no decoder")
    assert refused(make, "decoder", "smal").startswith("decoder='smal' is no decoder")


@pytest.mark.parametrize("value", [5, None, ["small"]])
def test_what_is_no_part(wheels, value):
    expected = f"front={value!r}; allowed: a name (cart, large, small) or {{kind: name, ...}}"
    assert refused(make, "decoder", value, "front") == expected


def test_kind_that_is_missing_or_no_name(wheels):
    assert refused(make, "decoder", {"size": 1}) == "decoder.kind is missing; allowed: cart, large, small"
    assert refused(make, "decoder", {"kind": 5}) == "decoder.kind=5; allowed: cart, large, small"


def test_a_part_of_another_kind_is_refused_on_one_line():
    from foresay.encode.recurrent import Recurrent

    assert refused(make, "embedding", Recurrent(size=4)).startswith("embedding=Recurrent( (forwards)")


@pytest.mark.parametrize("front", ["small", {"kind": "small"}, {}, {"size": 3}])
def test_nested_part_by_name_kind_or_default(wheels, front):
    cart = make("decoder", {"kind": "cart", "front": front})
    assert type(cart.front) is wheels["small"] and cart.front.size == 3


def test_nested_part_as_object_is_taken_as_it_is(wheels):
    small = wheels["small"](9)
    cart = wheels["cart"](small)
    assert cart.front is small
    assert describe(cart)["front"] == {"kind": "small", "size": 9, "weight": 1.0, "round": True, "colour": "red"}


def test_nested_part_that_may_be_none(wheels):
    assert wheels["cart"]().spare is None
    assert wheels["cart"](spare="small").spare.size == 3
    assert refused(wheels["cart"], spare={"size": 1}).startswith("decoder cart: spare.kind is missing")


def test_nested_mistake_names_the_whole_path(wheels):
    given = {"kind": "cart", "front": {"size": "3"}}
    assert refused(make, "decoder", given, "train.cart") == "train.cart.front.size='3'; allowed: an integer > 0"


def test_list_of_parts(wheels):
    cart = wheels["cart"](back=["small", {"kind": "large", "spokes": 2}, wheels["small"](5)])
    assert [part["kind"] for part in describe(cart)["back"]] == ["small", "large", "small"]
    assert refused(wheels["cart"], back=["small", "larg"]).startswith("decoder cart: back.1='larg' is no decoder")
    for wrong in ("small", [], {"kind": "small"}):
        assert refused(wheels["cart"], back=wrong) == (
            f"decoder cart: back={wrong!r}; allowed: a list of decoder parts or null"
        )


def test_group_of_settings(wheels):
    cart = wheels["cart"](pace={"every": 2})
    assert cart.pace == Pace(2, False)
    assert describe(cart)["pace"] == {"every": 2, "slow": False}
    assert refused(wheels["cart"], pace={"evry": 2}).endswith("allowed: every, slow; did you mean 'every'?")
    assert refused(wheels["cart"], pace=3) == "decoder cart: pace=3; allowed: settings such as {every: ...}"
    assert refused(wheels["cart"], pace=Pace(every=-1)) == "decoder cart: pace.every=-1; allowed: an integer > 0"


def test_settings_by_place(wheels):
    assert wheels["small"](5, 2).settings == {"size": 5, "weight": 2.0, "round": True, "colour": "red"}
    assert refused(wheels["small"], 1, 2, True, "red", 3) == "decoder small takes 4 settings, 5 were given"
    assert refused(wheels["small"], 5, size=6).startswith("decoder small: size is given twice")


def test_anew_is_another_object_with_equal_settings(wheels):
    cart = wheels["cart"](front={"size": 4}, back=["small"])
    fresh = anew(cart)
    assert fresh is not cart and fresh.front is not cart.front and fresh.back[0] is not cart.back[0]
    assert describe(fresh) == describe(cart)


def test_a_registered_subclass_checks_its_own_settings(wheels):
    @parts.part("decoder", "tiny")
    class Tiny(wheels["small"]):
        """A tiny one."""

        def __init__(self, size: Size = 1):
            super().__init__(size, "heavy")  # the parent's settings are ours to give: not checked

    assert describe(Tiny()) == {"kind": "tiny", "size": 1}
    assert refused(Tiny, weight=2.0).startswith("decoder tiny: weight is no setting of decoder tiny")


def test_a_part_without_a_constructor_has_no_settings(wheels):
    """Its own or torch's: a user's cell may be a few lines."""

    @parts.part("decoder", "bare")
    class Bare(Wheel): ...

    @parts.part("decoder", "module")
    class Module(nn.Module):
        part_kind = "decoder"

    for cls in (Bare, Module):
        assert describe(cls()) == {"kind": cls.part_name} and describe(anew(cls())) == describe(cls())
        assert refused(cls, 1) == f"decoder {cls.part_name} takes 0 settings, 1 were given"


def test_two_parts_with_one_name_are_refused(wheels):
    with pytest.raises(AssertionError, match="two parts are called decoder small"):

        @parts.part("decoder", "small")
        class Other(Wheel): ...


def test_unnamed_settings_are_refused(wheels):
    @parts.part("decoder", "loose")
    class Loose(Wheel):
        def __init__(self, **settings): ...

    with pytest.raises(UserError, match=r"Loose takes \*\*settings; name each setting"):
        Loose()


def test_an_unknown_kind_of_part_is_refused():
    with pytest.raises(AssertionError, match="unknown kind of part 'decodre'"):
        parts.part("decodre", "small")


def test_summary_falls_back_to_the_file(wheels):
    @parts.part("decoder", "plain")
    class Plain(Wheel): ...

    assert parts.summary(wheels["small"]) == "A small one."
    assert parts.summary(Plain) == sys.modules[__name__].__doc__.split("\n")[0]


@every
def test_every_part_describes_itself(kind, name):
    made = make(kind, {"kind": name, **NEEDED.get((kind, name), {})})
    told = describe(made)
    assert list(told) == ["kind", *(setting.name for setting in parts.settings_of(type(made)))]
    assert describe(make(kind, told)) == told
    fresh = anew(made)
    assert fresh is not made and describe(fresh) == told


@every
def test_every_part_has_one_line_and_few_settings(kind, name):
    cls = parts.find(kind, name)
    line = parts.summary(cls)
    assert 5 < len(line) < 120 and line.endswith("."), f"{kind} {name}: {line!r}"
    settings = [setting.name for setting in parts.settings_of(cls)]
    assert len(settings) <= 8, f"{kind} {name} has {len(settings)} settings; nest some: {settings}"


@every
def test_every_setting_is_spelt_and_annotated(kind, name):
    for setting in parts.settings_of(parts.find(kind, name)):
        assert setting.annotation is not Any, f"{kind} {name}: {setting.name} has no type"
        assert spell(setting.annotation)


@every
def test_every_part_refuses_an_unknown_setting(kind, name):
    given = {"kind": name, **NEEDED.get((kind, name), {}), "nonsense": 1}
    assert refused(make, kind, given).startswith(f"{kind}.nonsense is no setting of {kind} {name}; ")


def test_an_annotation_that_cannot_be_hashed_is_checked_too():
    annotation = Annotated[int, {"unit": "words"}]
    assert fits(annotation, 3, "size") == 3
    with pytest.raises(UserError, match=r"^size='a'; allowed: an integer$"):
        fits(annotation, "a", "size")
