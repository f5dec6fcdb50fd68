"""The entry: runs the command line and turns what goes wrong into one line and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer

from foresay import __version__
from foresay.cli.app import app, say, show
from foresay.errors import UserError
from foresay.waiting import wait_briefly


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False
) -> None:
    if version:
        show(f"foresay {__version__}")
        raise typer.Exit
    count = os.environ.get("WORLD_SIZE", "1")
    if context.invoked_subcommand != "train" and count != "1" and "TORCHELASTIC_RUN_ID" in os.environ:
        if os.environ.get("RANK") != "0":  # the leading process says it
            raise SystemExit(2)
        raise UserError(
            f"foresay {context.invoked_subcommand} in {count} processes of torchrun; allowed: train: start one process"
        )


def main() -> NoReturn:
    """Runs the command line; mistakes give one line and code 2, signals 130 and 143."""
    signal.signal(signal.SIGTERM, _terminated)
    wait_briefly()
    if "RANK" in os.environ:  # by torchrun: that another process has ended is told in one line
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    try:
        code = app(prog_name="foresay", standalone_mode=False) or 0
        if code == 130:  # how typer ends at Ctrl-C
            _fail("stopped", code)
        sys.stdout.flush()
    except SystemExit as error:
        code = 0 if isinstance(error.__context__, BrokenPipeError) else error.code  # typer has caught it
    except UserError as error:
        code = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("stopped", 130)
    except BrokenPipeError:  # the reader has gone (foresay ... | head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        code = _fail(
            f"{error.filename or 'the system'}: {error.strerror or error}; check the path, its disk and rights"
        )
    except Exception as error:
        code = _known(error)
        if code is None:
            raise
    sys.exit(code)


def _known(error: Exception) -> int | None:
    """The exit code of a run that was stopped, or of a word the command line does not have; else None."""
    if hasattr(error, "format_message"):  # click's errors, which typer carries under names of its own
        text = error.format_message()  # pyright: ignore[reportAttributeAccessIssue]
        if type(error).__name__ == "NoArgsIsHelpError":
            show(text)
            return 2
        context = getattr(error, "ctx", None)
        command = "foresay" if context is None else re.sub(r"\{(\w+)[^}]*\}", r"\1", context.command_path)
        return _fail(f"{text.rstrip('.')}; see {command} --help")  # foresay words RUN near: so it runs
    code = getattr(error, "code", None)
    if code is not None:
        say(str(error))
    return code


def _terminated(number: int, _frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def _fail(text: str, code: int = 2) -> int:
    from foresay.study.visible import visible_text

    say("foresay: " + visible_text(" ".join(text.split("\n"))))
    return code
