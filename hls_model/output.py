"""Output files that are complete or absent."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import IO, Any

from hls_model.errors import ModelOutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.io.packed_file import open_packed

__all__ = ["open_output"]


def open_output(name: str, mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open an output that is written completely or not at all.

    Parameters
    ----------
    name : str
        The file; "-" is standard output, and a device or a pipe is written in place. Text is packed if the name says
        so; see `oclgenomics.io.packed_file.open_packed`.
    mode : {'w', 'wb'}
        Text (UTF-8) or bytes.

    Raises
    ------
    ModelOutputError
        The file cannot be written; what was there before is still there.
    """
    return (open_whole if "b" in mode else open_packed)(name, mode, ModelOutputError)
