"""The command that shows what a model looks at: `look`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresay.cli.app import (
    Device,
    Force,
    Json,
    RunArgument,
    Trust,
    app,
    check_free,
    load_run,
    say,
    show,
    show_json,
    told,
)
from foresay.cli.hearing import look_at_sound
from foresay.errors import UserError, counted

if TYPE_CHECKING:
    from foresay.run import Run


Option = typer.Option
PICTURES = {"--pair": "alignment", "--attention": "attention", "--text": "moved"}
PICTURES |= {"--posteriors": "posteriors"}
PICTURES |= {"--gradient": "gradient", "--spectrum": "spectrum", "--gates": "gates", "--sound": "heard"}


@app.command()
def look(
    run: RunArgument,
    target: Annotated[str | None, typer.Argument(help="With --pair: the target; else what the model writes.")] = None,
    pair: Annotated[
        str | None, Option(metavar="SOURCE", help="Draw which places of this source each written symbol sees.")
    ] = None,
    attention: Annotated[
        str | None, Option(metavar="TEXT", help="Draw where a Transformer looks as it reads this.")
    ] = None,
    text: Annotated[
        str | None, Option(metavar="TEXT", help="Draw which words of this moved a classifier's decision.")
    ] = None,
    gradient: Annotated[
        str | None, Option(metavar="TEXT|FILE", help="Draw how error passes back through time in a recurrent model.")
    ] = None,
    spectrum: Annotated[bool, Option("--spectrum", help="Draw the recurrent eigenvalues through training.")] = False,
    gates: Annotated[
        str | None, Option(metavar="TEXT|FILE", help="Draw what the gates do over this, and how many are saturated.")
    ] = None,
    posteriors: Annotated[
        str | None,
        Option(metavar="TEXT", help="Draw how probable tags or hidden states are, by what was read so far and by all."),
    ] = None,
    sound: Annotated[
        str | None, Option(metavar="FILE", help="Draw a recording's spectrogram, and what a recogniser hears when.")
    ] = None,
    label: Annotated[str | None, Option(help="With --text: for this label, else for the answer.")] = None,
    layer: Annotated[int | None, Option(help="With --attention: this layer alone, 0 the lowest.")] = None,
    head: Annotated[int | None, Option(help="With --attention: this head alone.")] = None,
    far: Annotated[int | None, Option(help="With --gradient: how many steps back; by default 64.")] = None,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The picture, .svg or .png (of words also .html); else in RUN.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Look inside a run: where it looks, which words moved a decision, how its recurrence remembers and learns."""
    whole = {"--pair": pair, "--attention": attention, "--text": text, "--gradient": gradient, "--gates": gates}
    whole |= {"--posteriors": posteriors, "--sound": sound}
    given = {name: value for name, value in whole.items() if value is not None}
    given |= {"--spectrum": ""} if spectrum else {}
    check_options(given, target, label, (layer, head), far)
    what, asked = given.popitem()
    loaded = load_run(run, device, trust)
    if what == "--attention":
        from foresay.study.attention_map import check_place

        check_place(loaded, layer, head)
    path = picture_of(run, what, out, force=force) if out is not None or not as_json else None
    show = {
        "--text": partial(look_at_words, loaded, asked, label),
        "--sound": partial(look_at_sound, loaded, run, asked),
        "--attention": partial(look_at_attention, loaded, asked, (layer, head)),
        "--posteriors": partial(look_at_posteriors, loaded, asked),
        "--pair": partial(look_at_pair, loaded, run, (asked, target)),
    }.get(what, partial(look_at_recurrence, loaded, what, asked, far))
    show(path, as_json=as_json)


def check_options(
    given: dict[str, str],
    target: str | None,
    label: str | None,
    place: tuple[int | None, int | None],
    far: int | None,
) -> None:
    """Refuses nothing, two things, and options of what is not looked at."""
    if len(given) != 1:
        raise UserError(
            f"{' and '.join(given) or 'nothing to look at'}; give one of --attention TEXT, --pair SOURCE [TARGET], "
            "--text TEXT, --gradient TEXT, --gates TEXT, --spectrum, --posteriors TEXT and --sound FILE"
        )
    (what,) = given
    if what != "--text" and label is not None:
        raise UserError(f"--label {label} without --text; it is for the words that moved a classifier")
    if what != "--pair" and target is not None:
        raise UserError(f"{target!r} is a target without a source; give --pair SOURCE TARGET")
    if what != "--attention" and place != (None, None):
        raise UserError(f"--layer and --head with {what}; they are for --attention")
    if what != "--gradient" and far is not None:
        raise UserError(f"--far {far} with {what}; it is for --gradient")


def picture_of(run: Path, what: str, out: Path | None, *, force: bool) -> Path:
    """Where the picture goes, checked before any work."""
    from foresay.study.pictures import check_ending

    path = check_ending(out or run / f"{PICTURES[what]}.svg", also=(".html",) if what == "--text" else ())
    return check_free(path, force, anywhere=out is None)


def look_at_recurrence(run: Run, what: str, asked: str, far: int | None, path: Path | None, *, as_json: bool) -> None:
    """Gradient, spectrum and gates: a picture, and a line for each state, matrix or gate."""
    from foresay.cli.lines import read_lines
    from foresay.study import pictures
    from foresay.study.dynamics import backwards, gates, learning

    text = "" if what == "--spectrum" else "\n".join(read_lines([asked]))
    with told():
        if what == "--gradient":
            found = backwards.gradient_of(run, text, far)
            lines, draw = backwards.lines(found), backwards.draw
        elif what == "--gates":
            found = gates.gates_of(run, text)
            lines, draw = gates.lines(found), gates.draw
        else:
            found = learning.spectrum_of(run)
            if found.missing:
                say(f"no step 0: {found.missing}")
            lines, draw = learning.lines(found), learning.draw
        if path is not None:
            pictures.write(path, draw(found))  # pyright: ignore[reportArgumentType]
    if path is not None:
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
    else:
        show("\n".join(lines))


def look_at_words(run: Run, text: str, label: str | None, path: Path | None, *, as_json: bool) -> None:
    from foresay.study import moved

    found = moved.moved_by(run, text, label)
    if path is not None:
        with told():
            moved.draw(found, path)
        say(f"{path} is written: {found.label}, {100 * found.probability:.1f} %")
    if as_json:
        show_json(found.as_dict())
        return
    for token, share in zip(found.tokens, found.shares, strict=True):
        show(f"{token}\t{share:+.4f}")


def look_at_attention(
    run: Run, text: str, place: tuple[int | None, int | None], path: Path | None, *, as_json: bool
) -> None:
    from foresay.study import attention_map, pictures

    with told():
        found = attention_map.attention_of(run, text)
    if path is not None:
        with told():
            pictures.write(path, attention_map.draw(found, *place))
        shape = f"{counted(len(found.maps), 'layer')} of {counted(len(found.maps[0]), 'head')}"
        say(f"{path} is written: {counted(len(found.tokens), 'token')}, of a model with {shape}")
    if as_json:
        show_json(found.as_dict(*place))


def look_at_posteriors(run: Run, text: str, path: Path | None, *, as_json: bool) -> None:
    from foresay.study import pictures
    from foresay.study import posteriors as study

    with told():
        found = study.posteriors_of(run, text)
        if path is not None:
            pictures.write(path, study.draw(found))
    if path is not None:
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
    else:
        show("\n".join(study.lines(found)))


def look_at_pair(run: Run, folder: Path, pair: tuple[str, str | None], path: Path | None, *, as_json: bool) -> None:
    from foresay.study import alignment

    if not run.model.conditional:
        raise UserError(f"{folder} writes from no source; allowed: a run of task seq2seq, such as foresay train dates")
    if not pair[0].strip():
        raise UserError("no source is given; give one: foresay look RUN --pair SOURCE [TARGET]")
    with told():
        found = run.align(*pair)  # pyright: ignore[reportAttributeAccessIssue]
    if path is not None:
        with told():
            alignment.draw(found, path)
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
        return
    for symbol, row in zip(found.target, found.weights, strict=True):
        most = max(range(len(row)), key=row.__getitem__)
        show(f"{alignment.shown([symbol])[0]}\t{alignment.shown([found.source[most]])[0]}\t{row[most]:.3f}")
