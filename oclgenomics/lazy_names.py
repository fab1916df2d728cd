"""Names of a package that are imported when they are first used, so that importing the package costs little."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["found_in"]


def found_in(
    package: str, homes: Mapping[str, str], names: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return what a package needs as its `__getattr__` and `__dir__` (PEP 562).

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping of str to str
        The modules that have the names, relative to the package; "" where the name is that of a module.
    names : sequence of str
        All public names.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not homes[name]:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return find, listed
