"""The contracts hold every part to the same clauses, thousands of small tests: they run without coverage, which would
double their time; each part's own tests are counted."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "contracts" in item.path.parts:
            item.add_marker(pytest.mark.no_cover)
