"""Shared libraries that a thread loads while Python goes on.

The system's linker needs nothing of Python, but those who call it from Python mostly hold Python up. Libraries stay in
a process once they are there: who asks for one later gets it at once.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence

__all__ = ["EarlyLibraries"]


class EarlyLibraries:
    """Begins to load libraries.

    What cannot be loaded is left out without a word; whoever needs it learns why when asking for it.

    Parameters
    ----------
    libraries : sequence of str
        Names or paths, in the order of loading.
    """

    def __init__(self, libraries: Sequence[str]) -> None:
        self._thread: threading.Thread | None = None
        if libraries and hasattr(os, "RTLD_LAZY"):  # not on Windows
            self._thread = threading.Thread(target=_load, args=(libraries,), daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until all are there."""
        if self._thread is not None:
            self._thread.join()


def _load(libraries: Sequence[str]) -> None:
    load = ctypes.CDLL(None).dlopen  # called as a foreign function, which lets Python go on meanwhile
    load.argtypes, load.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    for library in libraries:
        load(os.fsencode(library), os.RTLD_LAZY)
