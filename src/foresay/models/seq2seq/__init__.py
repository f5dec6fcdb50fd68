"""Sequence to sequence: an encoder reads the source, a writer writes the target from what was read."""

from foresay.parts import import_siblings

import_siblings(__name__)
