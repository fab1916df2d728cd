"""Histories of populations from demes files, for msprime (extra `msprime`)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from oclgenomics.errors import InputError, MissingDependencyError, ParameterError
from oclgenomics.io.text_file import read_text

__all__ = ["Demography", "read_demography"]


@dataclass(frozen=True)
class Demography:
    """A history, and the deme of it that is sampled today.

    Attributes
    ----------
    text : str
        The demes file.
    deme : str
    """

    text: str
    deme: str

    def for_msprime(self) -> Any:
        """Return the `msprime.Demography`."""
        return _for_msprime(self.text)


def read_demography(path: str | os.PathLike[str], deme: str | None = None) -> Demography:
    """Read a history in the demes format (https://popsim-consortium.github.io/demes-spec-docs).

    Parameters
    ----------
    path : str or path-like
        YAML file, or "-" for standard input; plain or packed.
    deme : str, optional
        The deme that is sampled; needed where more than one lives to the present.

    Raises
    ------
    InputError
        The file cannot be read, or is no history.
    ParameterError
        There is no such deme today, or none is named and there are several.
    MissingDependencyError
        msprime is not installed.
    """
    text, name = read_text(path)
    demes = _demes()
    try:
        graph = demes.loads(text)
        _for_msprime(text)
    except Exception as error:  # of the YAML reader, of demes and of msprime, whose classes have nothing in common
        told = " ".join(str(error).split())
        raise InputError(f"is no history in the demes format: {told}", source=name) from None
    today = [one.name for one in graph.demes if one.end_time == 0]
    if deme is None and len(today) == 1:
        return Demography(text, today[0])
    if deme is None or deme not in today:
        raise ParameterError("deme", f"name one that lives to the present: {', '.join(today) or 'there is none'}", deme)
    return Demography(text, deme)


def _demes() -> Any:
    try:
        import demes  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import msprime  # type: ignore[import-not-found,import-untyped,unused-ignore] # noqa: F401
    except ImportError:
        raise MissingDependencyError("`demes` needs msprime: pip install 'oclgenomics[msprime]'") from None
    return demes


@lru_cache(maxsize=4)
def _for_msprime(text: str) -> Any:
    import msprime

    return msprime.Demography.from_demes(_demes().loads(text))
