"""Writes the pages of the API reference: one for each public package, and one for each name of its `__all__`.

`conf.py` calls it, so the reference follows the code.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

# Of the program and its tests; nobody imports these.
INTERNAL = {"app", "cli", "commands", "device", "io", "kernels_cl", "selftest", "serving"}


def public_names() -> dict[str, dict[str, object]]:
    """Return what each public package offers, by name, and each module that a package offers.

    Names that begin with an underscore are left out.
    """
    root = importlib.import_module("oclgenomics")
    found = {"oclgenomics": root, "oclgenomics.errors": importlib.import_module("oclgenomics.errors")}
    for module in pkgutil.walk_packages(root.__path__, "oclgenomics."):
        if module.ispkg and not INTERNAL & set(module.name.split(".")):
            found[module.name] = importlib.import_module(module.name)
    for package in list(found.values()):
        values = (getattr(package, name) for name in getattr(package, "__all__", ()))
        found |= {value.__name__: value for value in values if inspect.ismodule(value)}
    names = {package: _offered(module) for package, module in sorted(found.items())}
    return {package: offered for package, offered in names.items() if offered}


def _offered(package: object) -> dict[str, object]:
    values = {name: getattr(package, name) for name in getattr(package, "__all__", ()) if not name.startswith("_")}
    return {name: value for name, value in values.items() if not inspect.ismodule(value)}


def write_pages(folder: Path) -> None:
    """Write `index.rst`, a page of each package and one of each name, and remove those of earlier runs."""
    folder.mkdir(exist_ok=True)
    for page in folder.glob("*.rst"):
        page.unlink()
    packages = public_names()
    tree = [".. toctree::", "   :maxdepth: 1", "", *(f"   {package}" for package in packages)]
    _write(folder / "index.rst", "Python API", tree)
    indexed: dict[int, str] = {}
    for package, values in sorted(packages.items(), key=lambda item: -item[0].count(".")):
        again = []
        for name, value in values.items():
            known = inspect.isclass(value) and indexed.setdefault(id(value), package) != package
            # Names are in the tables of their packages, not in the site's contents, which would be too long.
            _write(
                folder / f"{package}.{name}.rst",
                f"{package}.{name}",
                _directive(package, name, value, known),
                ":orphan:\n\n",
            )
            again += [f":doc:`{name} <{package}.{name}>`"] if known else []
        listed = [f".. automodule:: {package}", "   :no-members:", ""]
        listed += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in values)]
        _write(
            folder / f"{package}.rst",
            package,
            [*listed, "", *([f"Of other packages: {', '.join(again)}."] if again else [])],
        )


def _directive(package: str, name: str, value: object, known: bool) -> list[str]:
    """The lines that document a name; Sphinx must index a class once only."""
    if inspect.isclass(value):
        kind, options = "exception" if issubclass(value, Exception) else "class", ["   :members:"]
    else:
        kind, options = "function" if callable(value) else "data", []
    return [
        f".. currentmodule:: {package}",
        "",
        f".. auto{kind}:: {name}",
        *options,
        *(["   :no-index:"] if known else []),
    ]


def _write(page: Path, title: str, lines: list[str], head: str = "") -> None:
    page.write_text("\n".join([f"{head}{title}", "=" * len(title), "", *lines, ""]))
