"""Counts of n-grams and what is made of them: no torch in here, so that counting a text needs little memory."""

from foresay.parts import import_siblings

import_siblings(__name__)
