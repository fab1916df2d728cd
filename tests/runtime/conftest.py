"""Fixtures of the tests of the runtime."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers.shared_programs import own_programs


@pytest.fixture(autouse=True)
def programs_of_its_own() -> Iterator[None]:
    """Engines build their programs themselves: that is what is tested here."""
    with own_programs():
        yield
