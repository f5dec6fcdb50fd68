"""Claim: the cell keeps gender and number of the subject, the forget gate drops them at a new one: docs/claims.md.

    emil from oslo near rome sings often and he waits here and farmers of bonn wait there and they dance now .
    emil from oslo near rome sings often and he waits here and he dances there .

A verb agrees with its subject in number, a pronoun in gender and number, some words after it. Whether `and` goes on
with the old subject or a new one, nothing before tells: until then the old one is worth remembering, after a new one
it is not. An LSTM language model learns such sentences. Linear probes (study/probe.py) then read both subjects off its
cell state c at every place, and its forget gate f is looked at. Genders are of single subjects alone: `they` has none.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.text_learning import learn, padded, whole_rows
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.study.probe import fit
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell

SUBJECTS = {
    "he": "emil felix hugo john karl otto paul peter".split(),  # noqa: SIM905
    "she": "anna clara emma ida lena marta olga vera".split(),  # noqa: SIM905
    "they": "farmers friends guests painters sailors students teachers neighbours".split(),  # noqa: SIM905
}
SINGLE = "sings waits dances sleeps works reads".split()  # noqa: SIM905
MANY = [verb[:-1] for verb in SINGLE]
NEAR, TOWNS = ("from", "near", "of"), ("bonn", "oslo", "paris", "rome")
WHEN = ("often", "here", "there", "now", "again")
WORDS = [*SPECIALS, *SUBJECTS, *(word for own in SUBJECTS.values() for word in own), *SINGLE, *MANY, *NEAR, *TOWNS]
WORDS += [*WHEN, "and", "."]
IDS = {word: number for number, word in enumerate(WORDS)}
# what stands where; a sentence has every role once, but for the words between subject and verb
ROLES = (
    "subject", "between", "verb", "adverb", "and", "pronoun", "verb 2", "adverb 2", "and 2",
    "new subject", "between 2", "verb 3", "adverb 3", "and 3", "pronoun 2", "verb 4", "adverb 4", "end",
)  # fmt: skip
BEFORE, NEW, AFTER = "and 2", "new subject", "pronoun 2"
OTHERS = "others"
GENDER, NUMBER = "gender", "number"
ASKED = (
    ("kept", "first", BEFORE, "just before a new subject"),
    ("dropped", "first", NEW, "of the former subject, just after the new one"),
    ("carried", "first", "and", "just before its pronoun"),
    ("later", "first", AFTER, "of the former subject, at the new one's pronoun"),
    ("new", "second", AFTER, "of the new subject, at its pronoun"),
)
WIDTH, SIZE = 16, 32
KEPT, DROPPED = 90.0, 75.0  # %: what counts as kept, and as dropped; 50 is guessing


@dataclass(frozen=True)
class Size:
    """Updates of a model, sentences in each, and sentences that the probes are fitted to and asked of, half each."""

    updates: int
    rows: int = 32
    looked: int = 1000


QUICK, FULL = Size(800), Size(3000)


@dataclass(frozen=True)
class Sentence:
    """Words with their roles, and the pronouns of both subjects, which are one where none is new."""

    words: list[str]
    roles: list[str]
    first: str
    second: str

    @property
    def ids(self) -> list[int]:
        return [IDS[word] for word in self.words]


@dataclass(frozen=True)
class Looked:
    """Of one seed: % right by subject and what, by role; the forget gate by role, of all units and weighted by
    what they tell of the first subject."""

    seed: int
    trained: bool
    right: dict[str, dict[str, float]]
    forget: dict[str, float]
    holders: dict[str, float]
    agreement: float


@claim(
    "cell-memory",
    lecture="002",
    sentence="The cell keeps gender and number of the subject; the forget gate drops them at a new subject.",
    rule=(
        "linear probes on c, held-out accuracy; holds when the 95 % intervals over seeds lie above "
        f"{KEPT:g} % for gender and for number of the subject just before a new one, below {DROPPED:g} % for both of "
        "the former subject just after the new one, and below 0 for the mean forget gate at new subjects less that at "
        "all other words; does not hold when one of the five lies on the other side; else not decided. 3 seeds "
        "(full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), []
    for done, one in enumerate(seeds, 1):
        chance, model = random.Random(one), build(one)
        found.append(look(model, one, size, trained=False))
        learn(model, (whole_rows(drawn(chance, size.rows)) for _ in range(size.updates)), lr=2e-2)
        found.append(look(model, one, size, trained=True))
        tell(done / len(seeds))
    figures = figures_of(found)
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(figures), [*figures.values()], details, draw(found))


def figures_of(found: Sequence[Looked]) -> dict[str, Figure]:
    """What the rule asks for and what stands beside it, the former also before training."""
    figures = {}
    for trained, when in ((True, ""), (False, ", before training")):
        own = [one for one in found if one.trained == trained]
        for what in (GENDER, NUMBER):
            for key, subject, role, name in ASKED if trained else ASKED[:2]:
                values = [one.right[f"{subject} {what}"][role] for one in own]
                figures[f"{key} {what}{when}"] = average_of(f"{what} {name}{when}", values, "%")
        for key, name in (("forget", "forget gate"), ("holders", "forget gate of the units that tell")):
            new, others = ([getattr(one, key)[role] for one in own] for role in (NEW, OTHERS))
            figures[f"{key} new{when}"] = average_of(f"{name}, new subjects{when}", new)
            figures[f"{key} others{when}"] = average_of(f"{name}, other words{when}", others)
            apart = [a - b for a, b in zip(new, others, strict=True)]
            figures[f"{key} apart{when}"] = average_of(f"{name}, new subjects less others{when}", apart)
        figures[f"agreement{when}"] = average_of(f"pronouns and verbs agree{when}", [one.agreement for one in own], "%")
    return figures


def judge(figures: Mapping[str, Figure]) -> Verdict:
    """The rule."""
    asked = [(figures[f"kept {what}"], KEPT, 1) for what in (GENDER, NUMBER)]
    asked += [(figures[f"dropped {what}"], DROPPED, -1) for what in (GENDER, NUMBER)]
    sides = [side(one, limit) * wanted for one, limit, wanted in (*asked, (figures["forget apart"], 0.0, -1))]
    return "holds" if min(sides) > 0 else "does not hold" if min(sides) < 0 else "not decided at this size"


def side(figure: Figure, limit: float) -> int:
    """1 where the whole interval lies above the limit, -1 where it lies below, else 0."""
    assert figure.low is not None and figure.high is not None
    return (figure.low > limit) - (figure.high < limit)


def sentence(chance: random.Random, *, new: bool) -> Sentence:
    """One of a subject and a new one, or of a subject that `and` goes on with."""
    first, second = subject(chance), subject(chance)
    words = [(word, role) for word, role in clause(chance, first, ROLES[:8])]
    words.append(("and", BEFORE))
    words += clause(chance, second, ROLES[9:17]) if new else again(chance, first, ("pronoun 2", "verb 4", "adverb 4"))
    spoken, roles = zip(*words, (".", "end"), strict=True)
    return Sentence(list(spoken), list(roles), first, second if new else first)


def subject(chance: random.Random) -> str:
    """A pronoun: half are single, of these half he."""
    return chance.choice(("they", "they", "he", "she"))


def clause(chance: random.Random, pronoun: str, roles: Sequence[str]) -> list[tuple[str, str]]:
    """subject, one to three times where it is from, verb, adverb, and, pronoun, verb, adverb."""
    places = [word for _ in range(chance.randint(1, 3)) for word in (chance.choice(NEAR), chance.choice(TOWNS))]
    verb, adverb = chance.choice(MANY if pronoun == "they" else SINGLE), chance.choice(WHEN)
    found = [(chance.choice(SUBJECTS[pronoun]), roles[0]), *((word, roles[1]) for word in places)]
    return [*found, (verb, roles[2]), (adverb, roles[3]), ("and", roles[4]), *again(chance, pronoun, roles[5:])]


def again(chance: random.Random, pronoun: str, roles: Sequence[str]) -> list[tuple[str, str]]:
    verb = chance.choice(MANY if pronoun == "they" else SINGLE)
    return list(zip((pronoun, verb, chance.choice(WHEN)), roles, strict=True))


def drawn(chance: random.Random, rows: int) -> list[list[int]]:
    """Ids of so many sentences, half of them with a new subject on the average."""
    return [sentence(chance, new=chance.random() < 0.5).ids for _ in range(rows)]


def build(seed: int) -> LanguageModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        task = {"kind": "language-model", "embedding": {"size": WIDTH}, "encoder": {"cell": "lstm", "size": SIZE}}
        model: LanguageModel = make("task", task)
        model.build(len(WORDS))
    return model


@torch.no_grad()
def look(model: LanguageModel, seed: int, size: Size, *, trained: bool) -> Looked:
    """Probes and gates on other sentences, all with a new subject; the second half of them is asked."""
    chance = random.Random(seed + 1000)
    rows = [sentence(chance, new=True) for _ in range(size.looked)]
    ids, mask = padded([row.ids for row in rows])
    found = model.eval().trace(ids, mask)
    c, f = found["encoder.0.c"][:, 1:], found["encoder.0.f"][:, 1:]  # the first is <start>'s
    right, telling = probed(c, rows, ROLES if trained else (BEFORE, NEW))
    forget, holders = gates(f, rows, mask), gates(f, rows, mask, telling)
    return Looked(seed, trained, right, forget, holders, agreement(model, rows))


def place(row: Sentence, role: str) -> int:
    """The last word of a role."""
    return len(row.roles) - 1 - row.roles[::-1].index(role)


def probed(c: Tensor, rows: Sequence[Sentence], roles: Sequence[str]) -> tuple[dict[str, dict[str, float]], Tensor]:
    """% right by subject and what, at the last word of each role; how much a unit tells of the first at BEFORE (H,)."""
    number = torch.arange(len(rows))
    at = {role: c[number, torch.tensor([place(row, role) for row in rows])] for role in roles}
    right, telling = {}, torch.zeros(c.shape[2], dtype=torch.float64)
    for which in ("first", "second"):
        pronouns = [getattr(row, which) for row in rows]
        for what, yes in ((GENDER, "she"), (NUMBER, "they")):
            labels = torch.tensor([one == yes for one in pronouns]).long()
            known = torch.tensor([what == NUMBER or one != "they" for one in pronouns])
            fitted, asked = known & (number < len(rows) // 2), known & (number >= len(rows) // 2)
            probes = {role: fit(x[fitted], labels[fitted], 2) for role, x in at.items()}
            right[f"{which} {what}"] = {
                role: 100 * probe.accuracy(at[role][asked], labels[asked]) for role, probe in probes.items()
            }
            if which == "first":
                telling += (probes[BEFORE].weight[:, 1] - probes[BEFORE].weight[:, 0]).abs()
    return right, telling


def gates(f: Tensor, rows: Sequence[Sentence], mask: Tensor, telling: Tensor | None = None) -> dict[str, float]:
    """The mean of f (B, T, H) by role, and of all words but new subjects (`others`); units weighted by `telling`."""
    share = torch.full((f.shape[2],), 1.0) if telling is None else telling
    each = (f.double() @ share.double()) / share.sum()
    roles = torch.full(mask.shape, -1)
    for number, row in enumerate(rows):
        roles[number, : len(row.roles)] = torch.tensor([ROLES.index(role) for role in row.roles])
    found = {role: float(each[roles == number].mean()) for number, role in enumerate(ROLES)}
    return found | {OTHERS: float(each[mask & (roles != ROLES.index(NEW))].mean())}


def agreement(model: LanguageModel, rows: Sequence[Sentence]) -> float:
    """% of words that must agree where one that does is likelier than any that does not."""
    batch = whole_rows([row.ids for row in rows])
    scores = model.output.log_probs(model.encoder(model.embedding(batch), batch.mask)[0])
    right = []
    for role, forms in (("pronoun", [*SUBJECTS]), ("verb", None), ("verb 3", None), ("verb 4", None)):
        own = scores[torch.arange(len(rows)), torch.tensor([place(row, role) for row in rows])]
        meant = [row.first if role in ("pronoun", "verb") else row.second for row in rows]
        if forms:
            best = own[:, [IDS[word] for word in forms]].argmax(1)
            right += [forms[int(one)] == pronoun for one, pronoun in zip(best, meant, strict=True)]
        else:
            many, single = (own[:, [IDS[verb] for verb in verbs]].amax(1) for verbs in (MANY, SINGLE))
            right += [bool(a > b) == (pronoun == "they") for a, b, pronoun in zip(many, single, meant, strict=True)]
    return 100 * statistics.fmean(right)


def draw(found: Sequence[Looked]) -> Any:
    """What probes read at every word, and the forget gate there; every seed a thin line."""
    picture, (left, right) = sheet(2)
    trained = [one for one in found if one.trained]
    places = range(len(ROLES))
    names = (("first gender", "first subject: gender"), ("first number", "first subject: number"),
             ("second gender", "new subject: gender"), ("second number", "new subject: number"))  # fmt: skip
    for (key, name), (colour, mark) in zip(names, LOOKS, strict=False):
        own = [[one.right[key][role] for role in ROLES] for one in trained]
        several(left, places, own, name, colour, mark)
    left.axhline(50, color=GREY, linestyle="--", linewidth=1)
    left.set_ylim(20, 102)
    left.set_ylabel("read off the cell by a linear probe, % right")
    plain(left, "What the cell holds")
    for (key, name, own), (colour, mark) in zip(
        (("forget", "all units", trained), ("holders", "units that tell the subject", trained),
         ("forget", "before training", [one for one in found if not one.trained])), LOOKS, strict=False,
    ):  # fmt: skip
        several(right, places, [[getattr(one, key)[role] for role in ROLES] for one in own], name, colour, mark)
    right.set_ylim(0, 1)
    right.set_ylabel("forget gate: 1 keeps, 0 drops")
    plain(right, "The forget gate")
    for axes in (left, right):
        axes.axvline(ROLES.index(NEW), color=GREY, linestyle=":", linewidth=1.5)
        axes.set_xticks(places, [role.split()[0] if role != NEW else "NEW SUBJECT" for role in ROLES], rotation=90)
        axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 0.02))
    return picture


def several(axes: Any, x: Sequence[int], lines: Sequence[Sequence[float]], name: str, colour: str, mark: str) -> None:
    """The mean of some lines, and each of them thin."""
    for one in lines:
        axes.plot(x, one, color=colour, linewidth=0.7, alpha=0.4)
    means = [statistics.fmean(values) for values in zip(*lines, strict=True)]
    axes.plot(x, means, color=colour, marker=mark, markersize=5, linewidth=1.8, label=name)
