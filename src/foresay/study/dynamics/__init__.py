"""The dynamics lab: what a recurrence does to its state and to its gradient, in numbers and pictures (SPEC E4)."""
