"""Inputs that are read whole, as text: bounded, as packed zeros, or a device without end, could fill any memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from oclgenomics.errors import InputError
from oclgenomics.io.source import Source

MAX_TEXT_BYTES = 1 << 30  # bytes; a report of some 15 million grid positions


def read_text(path: str | os.PathLike[str], largest: int = MAX_TEXT_BYTES) -> tuple[str, str]:
    """Read all of an input; bytes that are no UTF-8 become replacement characters.

    Parameters
    ----------
    path : str or path-like
        File, or "-" for standard input; uncompressed or compressed (gzip, bzip2, xz, zstd).
    largest : int
        Bytes, unpacked, that it may hold.

    Returns
    -------
    text, name : str
        Its content, and what messages call it.

    Raises
    ------
    InputError
        It cannot be read, holds more bytes, or a byte that no text has.
    """
    parts: list[bytes] = []
    size = 0
    with Source(path) as source:
        for chunk in source:
            if b"\0" in chunk:
                raise InputError("is no text: it holds a zero byte", source=source.name)
            size += len(chunk)
            if size > largest:
                raise InputError(f"holds more than {largest:,} bytes of text", source=source.name)
            parts.append(chunk)
        return b"".join(parts).decode("utf-8", "replace"), source.name


MISSING = "."  # in a table, where there is nothing


def rows_of(columns: Sequence[Sequence[Any]], form: str | None = None) -> str:
    """Write rows of columns of one length, with tabs between them unless `form`, as `%` takes it, says otherwise."""
    form = form or "\t".join(["%s"] * len(columns)) + "\n"
    return "".join([form % row for row in zip(*columns, strict=True)])
