"""Commands on vectors of words: `words RUN|FILE near|analogy|odd|similarity|eval|map`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from foresay.cli.app import Force, Json, app, check_free, say, show, show_json

if TYPE_CHECKING:
    from foresay.vectors.questions import Answers
    from foresay.vectors.ratings import Agreement
    from foresay.vectors.word_vectors import WordVectors

words = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(words, name="words")

WordsArgument = Annotated[list[str], typer.Argument(metavar="WORD...")]
Number = Annotated[int, typer.Option(help="How many words.")]
Most = Annotated[int | None, typer.Option(help="Read only the first words of the file.")]
Which = Annotated[str, typer.Option(help="Of a run: input, output, or both side by side.")]
Among = Annotated[int | None, typer.Option(help="Answers, and questions, of the most frequent words only.")]


@words.callback()
def source(
    context: typer.Context,
    place: Annotated[Path, typer.Argument(metavar="RUN|FILE", help="A run of word vectors, or a file of vectors.")],
) -> None:
    """Vectors of words: near ones, analogies, odd ones out, similarity; measured and drawn."""
    context.obj = place


def load(context: typer.Context, which: str, most: int | None = None) -> WordVectors:
    from foresay.vectors.word_vectors import WordVectors

    return WordVectors.load(cast("Path", context.obj), most, which=cast("Any", which))


@words.command()
def near(
    context: typer.Context,
    asked: WordsArgument,
    number: Number = 10,
    which: Which = "input",
    most: Most = None,
    as_json: Json = False,
) -> None:
    """The nearest words by cosine."""
    found = load(context, which, most).near(asked, number)
    if as_json:
        show_json([{"word": word, "near": listed(one)} for word, one in zip(asked, found, strict=True)])
        return
    for word, one in zip(asked, found, strict=True):
        if len(asked) > 1:
            show(word)
        show_list(one)


@words.command()
def analogy(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    c: Annotated[str, typer.Argument(metavar="C")],
    number: Number = 5,
    method: Annotated[str, typer.Option(help="add (3CosAdd) or multiply (3CosMul).")] = "add",
    among: Among = None,
    which: Which = "input",
    most: Most = None,
    as_json: Json = False,
) -> None:
    """A is to B as C is to ?, such as: man king woman."""
    found = load(context, which, most).analogy(a, b, c, number, cast("Any", method), among=among)
    if as_json:
        show_json({"question": [a, b, c], "method": method, "answers": listed(found)})
    else:
        show_list(found)


@words.command()
def odd(context: typer.Context, asked: WordsArgument, which: Which = "input", as_json: Json = False) -> None:
    """The word that does not belong to the others."""
    found = load(context, which).odd(asked)
    if as_json:
        show_json({"words": asked, "odd": found})
    else:
        show(found)


@words.command()
def similarity(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    which: Which = "input",
    as_json: Json = False,
) -> None:
    """The cosine of two words, and the distance of their vectors."""
    vectors = load(context, which)
    found = {"cosine": vectors.similarity(a, b), "distance": vectors.distance(a, b)}
    if as_json:
        show_json({"words": [a, b]} | found)
    else:
        for name, value in found.items():
            show(f"{name:<8}  {value:.4f}")


@words.command("eval")
def evaluate(
    context: typer.Context,
    tests: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Analogy questions, or rated pairs.")],
    method: Annotated[str, typer.Option(help="Of analogies: add, multiply or both.")] = "both",
    among: Among = None,
    unseen: Annotated[bool, typer.Option("--unseen", help="Rated words without a vector, by their spelling.")] = False,
    which: Which = "input",
    most: Most = None,
    as_json: Json = False,
) -> None:
    """Measure on analogies and rated pairs.

    Shares of right answers and correlations of ranks, with coverage and 95 % intervals, split by frequency.
    """
    from foresay.vectors import questions, ratings

    methods = ["add", "multiply"] if method == "both" else [method]
    given = {path: questions.is_questions(path) for path in tests}
    read = {path: questions.read(path) if asked else ratings.read(path) for path, asked in given.items()}
    vectors = load(context, which, most)
    found: list[Answers | Agreement] = []
    for test in read.values():
        if isinstance(test, ratings.Ratings):
            found.append(ratings.evaluate(vectors, test, unseen=unseen))
        else:
            found += [questions.evaluate(vectors, test, cast("Any", one), among) for one in methods]
    if as_json:
        show_json([one.as_dict() for one in found])
        return
    for one in found:
        for line in lines_of(one):
            show(line)


@words.command("map")
def map_(
    context: typer.Context,
    asked: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="By default the most frequent.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PICTURE", help=".png, .svg, or .html to move about in; by default beside RUN|FILE."),
    ] = None,
    method: Annotated[str, typer.Option(help="tsne, umap or pca.")] = "tsne",
    number: Number = 500,
    colour: Annotated[
        str | None, typer.Option(metavar="frequency|FILE", help="By frequency, or by groups: word TAB group lines.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed, the same map.")] = 1,
    which: Which = "input",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw the words as points of a plane."""
    from foresay.study.maps import draw_map, read_groups

    place = cast("Path", context.obj)
    beside = place.resolve() if place.is_dir() else place.with_suffix("")
    path = out if out is not None else place.parent / f"{beside.name}-map.png"
    check_free(path, force, anywhere=out is None)
    shown: Any = colour if colour in (None, "frequency") else read_groups(colour)
    chosen: Any = method
    vectors = load(context, which)
    found = draw_map(vectors, path, method=chosen, words=asked or None, number=number, colour=shown, seed=seed)
    if as_json:
        show_json({"picture": str(path), "words": len(found.words), "missing": found.missing})
        return
    if found.missing:
        say(f"{len(found.missing):,} words have no vector and are not drawn, such as {found.missing[0]!r}")
    say(f"{path} is written")


def listed(found: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "score": score} for word, score in found]


def show_list(found: list[tuple[str, float]]) -> None:
    for word, score in found:
        show(f"{score:8.4f}  {word}")


def lines_of(found: Answers | Agreement) -> list[str]:
    """A table of what was measured on one file, as lines."""
    from foresay.vectors.ratings import Agreement

    if isinstance(found, Agreement):
        pearson = "–" if found.pearson is None else f"{found.pearson:.4f}"
        lines = [f"{found.name}: Spearman, of {found.pairs:,} pairs (Pearson {pearson})"]
        whole = row("all", found.pairs, found.covered, found.spearman, found.interval)
        split = [row(name, pairs, pairs, value, None) for name, (pairs, value) in found.bands.items()]
        return [*lines, whole, *split, ""]
    among = "" if found.among is None else f" among the first {found.among:,} words"
    groups = {**found.sections, **found.kinds, **found.bands, "all": found.total}
    shares = [row(name, one.asked, one.covered, one.accuracy, one.interval) for name, one in groups.items()]
    return [f"{found.name}: share of right answers, method {found.method}{among}", *shares, ""]


def row(name: str, asked: int, covered: int, value: float | None, interval: tuple[float, float] | None) -> str:
    figure = "      –" if value is None else f"{value:7.4f}"
    between = "" if interval is None else f"  ({interval[0]:.4f} to {interval[1]:.4f})"
    return f"  {name:<28} {covered:>6,} of {asked:>6,} covered {figure}{between}"
