"""Tables of results for notebooks, with pandas or polars, whichever is there."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from oclgenomics.errors import MissingDependencyError

LIBRARIES = ("pandas", "polars")


def frame_of(records: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> Any:
    """Make a table of records; `names` are its columns, those of the first record if not given. See `to_frame`."""
    return to_frame({name: [record[name] for record in records] for name in names or records[0]})


def to_frame(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Any:
    """Make a table of named columns.

    Parameters
    ----------
    columns : mapping of str to sequence or ndarray
        One-dimensional and of one length.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        Of pandas where both are installed.

    Raises
    ------
    MissingDependencyError
        Neither is installed.
    """
    for name in LIBRARIES:
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame(dict(columns))
    raise MissingDependencyError("tables need pandas or polars: pip install pandas; records() needs neither")
