"""The lectures' claims as experiments, one file each; a new file registers its claim without another edit."""

from foresay.parts import import_siblings

import_siblings(__name__)
