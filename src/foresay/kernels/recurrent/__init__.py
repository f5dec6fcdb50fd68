"""The recurrent engine: a cell states its maths once, the engine owns the loop over time."""
