"""The loops of n-grams, compiled by numba when they are first called.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are. What they are for stands where
they are called, in counts/.
"""
