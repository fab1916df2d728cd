"""Text files, read completely and up to a limit."""

from __future__ import annotations

import os

from hls_model.errors import ModelInputError

__all__ = ["read_text"]

LARGEST_TEXT = 1 << 30  # bytes; a device such as /dev/zero has no end


def read_text(path: str | os.PathLike[str], trouble: str, largest: int = LARGEST_TEXT) -> str:
    """Return the text of a UTF-8 file.

    Parameters
    ----------
    path : path
    trouble : str
        The message for a file that is not text.
    largest : int
        Size at most, in bytes.

    Raises
    ------
    ModelInputError
        The file cannot be read, is too large, or is not text.
    """
    name = os.fspath(path)
    parts: list[bytes] = []
    size = 0
    try:
        with open(name, "rb") as file:
            while chunk := file.read(1 << 20):
                size += len(chunk)
                if b"\0" in chunk:
                    raise ModelInputError(f"{name}: {trouble}")
                if size > largest:
                    raise ModelInputError(f"{name}: {trouble}; it holds more than {largest:,} bytes")
                parts.append(chunk)
        return b"".join(parts).decode("utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, ModelInputError):
            raise
        if isinstance(error, UnicodeDecodeError):
            raise ModelInputError(f"{name}: {trouble}") from error
        raise ModelInputError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
