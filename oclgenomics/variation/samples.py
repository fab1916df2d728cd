"""Which samples to keep: names as given or in a file, and where an input has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

MAX_LIST_BYTES = 1 << 28  # bytes; ten million names


def sample_names(samples: Iterable[str] | str | os.PathLike[str] | None) -> list[str] | None:
    """Names to keep: as given, or the lines of a file."""
    if samples is None:
        return None
    if not isinstance(samples, (str, os.PathLike)):
        return list(samples)
    text, _ = read_text(samples, MAX_LIST_BYTES)
    return [name for line in text.splitlines() if (name := line.strip())]


def first_repeated(names: Sequence[str]) -> str | None:
    """The first name that was given before; None if all differ."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def columns_of(names: Sequence[str], samples: Iterable[str] | None, source: str) -> NDArray[np.int64] | None:
    """Columns of the wanted samples, None for all."""
    if samples is None:
        return None
    wanted = set(samples)
    unknown = sorted(wanted - set(names))
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise InputError(f"no sample is named {unknown[0]!r}{more}", source=source)
    if not wanted:
        raise InputError("the list of samples to keep is empty", source=source)
    return np.array([i for i, name in enumerate(names) if name in wanted], np.int64)
