"""Binary trees over a vocabulary, one builder a file."""

from foresay.parts import import_siblings

import_siblings(__name__)
