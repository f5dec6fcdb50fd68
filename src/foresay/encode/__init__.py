"""Vectors -> features."""

from foresay.parts import import_siblings

import_siblings(__name__)
