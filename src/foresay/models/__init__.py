"""The joined things: what a recipe calls a task."""

from foresay.parts import import_siblings

import_siblings(__name__)
