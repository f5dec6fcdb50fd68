"""Seeing what models do: comparisons and plots."""
