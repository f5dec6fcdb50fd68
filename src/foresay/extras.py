"""Libraries that only some capabilities need: imported when asked for, with the remedy when they are not installed."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

from foresay.errors import UserError


class MissingLibrary(UserError):
    """A library, or the version of it, that is not installed: nothing the user wrote is wrong."""


def need(module: str, extra: str, what: str) -> ModuleType:
    """The module, or a MissingLibrary that says how to install it; `what` is what asked for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some of these libraries are older than the Python that runs them
            return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingLibrary(
            f"{what} needs the library {package} ({error}); install it: pip install 'foresay[{extra}]'"
        ) from None
