"""Writes signals to files."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.signals.model import Signals

__all__ = ["write_signals"]


def write_signals(path: str | os.PathLike[str], signals: Signals) -> None:
    """Write a .npz file, whole or not at all; equal signals give equal bytes.

    Its arrays are those of `Signals`, not packed, with texts of fixed width; `pore` and `molecule` are left out where
    nothing is known of them. `numpy.load` reads it, as does `read_signals`.

    Parameters
    ----------
    path : path
        Its name is taken as it is.
    signals : Signals

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        A name is empty or ends with a NUL, which text of fixed width does not hold.
    """
    names = signals.names.astype(np.str_) if len(signals) else np.empty(0, "<U1")
    if any(not name or name.endswith("\0") for name in signals.names):
        raise ValueError("names are not empty and do not end with a NUL")
    arrays: dict[str, NDArray[Any]] = {
        "names": names,
        "starts": signals.starts,
        "scale": signals.scale,
        "offset": signals.offset,
        "rate": signals.rate,
        "channel": signals.channel,
        "samples": signals.samples,
    }
    for name, texts in (("pore", signals.pore), ("molecule", signals.molecule)):
        if texts.any():
            arrays[name] = texts.astype(np.str_)
    with open_whole(path, "wb", OutputError) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, values in arrays.items():
            # The date of such a member is fixed, so that equal signals give equal bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                stored = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
                np.lib.format.write_array(member, stored, version=(1, 0), allow_pickle=False)
