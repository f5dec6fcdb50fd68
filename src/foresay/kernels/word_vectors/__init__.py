"""The loops that train word vectors, compiled by numba when they are first called.

plan      what the loops pass to one another
chance    random numbers that depend on a key alone, and draws from a distribution
window    which inputs and targets a place in a text has
block     inputs against targets: scores, loss and gradients
walk      over a text without a lock: rows change on the way
columns   over a text, the same for any number of threads: each has columns of its own
triton_walk   over a text on a GPU
vector    the innermost loops, for vectors of sixteen numbers; plainly: the same as Python; compiled: which of the two

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are.
"""
