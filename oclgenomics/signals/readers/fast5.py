"""FAST5, files of one read or of many, by h5py; ont-fast5-api has the filter that unpacks VBZ."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.signals.chemistry import FACTS, Chemistry, chemistry_of
from oclgenomics.signals.readers.raw_read import RawRead, channel_number, pore_scale

__all__ = ["read_fast5"]


def read_fast5(path: str, limit: int | None) -> Iterator[RawRead]:
    """Read a file.

    Parameters
    ----------
    path : str
    limit : int or None
        Samples of each read that are asked for, from the first one on; chunks behind them are not decoded.

    Yields
    ------
    RawRead

    Raises
    ------
    ImportError
        h5py is not installed.
    InputError
        No FAST5, or something in it is not as it should be.
    Exception
        Anything that the library raises of a damaged file.
    """
    import h5py

    _find_filters(h5py)
    known = _Known()
    with h5py.File(path, "r") as file:
        groups = [name for name in file if name.startswith("read_")]
        if groups:
            for number, group in enumerate(groups, 1):
                own = file[group]
                share = number / len(groups)
                yield _read(group[5:], own["Raw"], own.get("channel_id"), limit, share, known(own))
            return
        if "Raw/Reads" not in file:
            raise InputError("HDF5 without reads of FAST5; bulk files are not read", source=path)
        for name, raw in file["Raw/Reads"].items():  # one, but for very old files
            identifier = _text(raw.attrs.get("read_id", name))
            own = file.get("UniqueGlobalKey", {})
            yield _read(identifier, raw, own.get("channel_id"), limit, 0.0, known(own))


def _find_filters(h5py: Any) -> None:
    """Tell HDF5 where the filter lies. ont-fast5-api would do it when imported, by a module that newer setups lack."""
    package = importlib.util.find_spec("ont_fast5_api")
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        folder = os.fsencode(os.path.join(place, "vbz_plugin"))
        if folder not in [h5py.h5pl.get(number) for number in range(h5py.h5pl.size())]:
            h5py.h5pl.prepend(folder)


class _Known:
    """What reads are of, by their runs."""

    def __init__(self) -> None:
        self._chemistries: dict[str, Chemistry] = {}

    def __call__(self, group: Any) -> Chemistry:
        """What a group of a read says, or that of a file of one read."""
        attributes = getattr(group, "attrs", {})
        run = _text(attributes["run_id"]) if "run_id" in attributes else ""
        if not run or run not in self._chemistries:
            self._chemistries[run] = chemistry_of(_run_facts(group, attributes))
        return self._chemistries[run]


def _run_facts(group: Any, attributes: Any) -> dict[str, str]:
    tables = [attributes, *(group[name].attrs for name in ("tracking_id", "context_tags") if name in group)]
    found = ((name, table[name]) for table in tables for name in FACTS if name in table)
    return {name: _text(value) for name, value in found if np.size(value) == 1}


def _read(name: str, raw: Any, channel: Any, limit: int | None, share: float, chemistry: Chemistry) -> RawRead:
    path = os.fsdecode(raw.file.filename)
    return RawRead(name, _samples(raw, limit, name, path), *_facts(channel, name, path), share, *chemistry)


def _samples(raw: Any, limit: int | None, name: str, path: str) -> NDArray[np.int16]:
    data = raw["Signal"]
    if data.dtype.kind not in "iu" or data.dtype.itemsize != 2 or len(data.shape) != 1:
        raise InputError(f"read {name!r} has samples of {data.dtype}, {data.shape}; the file is damaged", source=path)
    samples = data[:limit]
    if data.dtype.kind == "u" and samples.max(initial=0) > np.iinfo(np.int16).max:
        raise InputError(f"read {name!r} has samples of more than 16 bits with sign", source=path)
    return np.asarray(samples, np.int16)


def _facts(channel: Any, name: str, path: str) -> tuple[float, float, float, int]:
    """Scale, offset, rate and channel; what is known of none without a group."""
    if channel is None:
        return 1.0, 0.0, float("nan"), 0
    facts = {key: channel.attrs.get(key) for key in ("range", "digitisation", "offset", "sampling_rate")}
    missing = [key for key, value in facts.items() if np.size(value) != 1 or value is None]
    if missing:
        raise InputError(f"read {name!r} lacks the {missing[0]} of its channel", source=path)
    size, digits, offset, rate = (float(np.ravel(value)[0]) for value in facts.values())
    number = channel_number(_text(channel.attrs.get("channel_number", "")))
    return pore_scale(size, digits, name, path), offset, rate, number


def _text(value: Any) -> str:
    one = np.ravel(value)[0]
    return one.decode(errors="replace") if isinstance(one, bytes) else str(one)
