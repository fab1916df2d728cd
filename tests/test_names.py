"""What a notebook needs is at hand, and costs nothing before it is used."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

import oclgenomics
from oclgenomics.app import provenance


@pytest.mark.parametrize("name", ["oclgenomics", *(f"oclgenomics.{system}" for system in oclgenomics.SYSTEMS)])
def test_every_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    assert len(module.__all__) == len(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert set(module.__all__) <= set(dir(module))


def test_verbs_are_functions_whatever_was_imported_before() -> None:
    """A module of the same name must not take the place of a function."""
    code = "import oclgenomics.omega.api, oclgenomics as og; sys.exit(not callable(og.omega.scan))"
    assert subprocess.run([sys.executable, "-c", f"import sys; {code}"], check=False).returncode == 0


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="'oclgenomics' has no attribute 'nonesuch'"):
        oclgenomics.nonesuch  # noqa: B018


@pytest.mark.parametrize(
    ("first_use", "absent"),
    [
        ("", ["numpy", "pyopencl", "matplotlib", "argparse"]),
        ("oclgenomics.omega.scan; oclgenomics.ReadOptions; oclgenomics.fpga.project_scan", ["pyopencl", "matplotlib"]),
    ],
)
def test_importing_is_cheap(first_use: str, absent: list[str]) -> None:
    code = f"import sys, oclgenomics; {first_use}\nprint([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_examples() -> None:
    for module in (oclgenomics, provenance):
        assert doctest.testmod(module).failed == 0
