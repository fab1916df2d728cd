"""The one way in which anything is imported late: names of packages, modules that are seldom needed, optional packages.

So that importing a package costs little, and a command pays for what it needs.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from oclgenomics.errors import MissingDependencyError


def found_in(
    package: str, homes: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what a package needs as its `__getattr__`, `__dir__` (PEP 562) and `__all__`.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping of str to str
        Modules, relative to the package or by their whole names, and the names it offers of each, apart by spaces;
        modules of its own that it offers as they are stand under "".
    renamed : mapping of str to str, optional
        Old names, which still work with a `DeprecationWarning`, and the new ones.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if renamed is not None and name in renamed:
            what = f"{package}.{name} is now called {renamed[name]}; the old name goes with the next version"
            warnings.warn(what, DeprecationWarning, stacklevel=2)
            return find(renamed[name])
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]
        if not home:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(home if home.startswith("oclgenomics.") else f"{package}.{home}"), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, listed, sorted(home_of)


def late(module: str) -> Any:
    """Return what stands for a module, which is imported when something of it is first used."""
    return _Late(module)


class _Late:
    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._module), name)


def optional(module: str, need: str | None = None) -> Any:
    """Import a package that may be missing.

    Parameters
    ----------
    module : str
        As `import` takes it.
    need : str, optional
        What is said where it is missing: who needs it, and the command that installs it. Without it, None is returned.

    Raises
    ------
    MissingDependencyError
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        if need is None:
            return None
        raise MissingDependencyError(need) from None
