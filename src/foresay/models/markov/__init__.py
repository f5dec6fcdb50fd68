"""Hidden Markov models whose states nobody has named: of symbols and of numbers, learnt by Baum and Welch."""

from foresay.parts import import_siblings

import_siblings(__name__)
