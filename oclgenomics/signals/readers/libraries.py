"""POD5, SLOW5 and FAST5, by the libraries of these formats; what runs them is `oclgenomics.signals.readers.apart`.

Each reader takes a path, the number of samples of each read that are asked for, from the first one on, or None for
all, and the part of the file whose reads are asked for, or None. It yields a `RawRead` for each read, and raises
MissingDependencyError where the library is not installed, InputError for what is not as it should be, and whatever the
library raises of a damaged file.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.lazy_names import optional
from oclgenomics.signals.chemistry import FACTS, Chemistry, chemistry_of
from oclgenomics.signals.file_part import FilePart, numbers_of
from oclgenomics.signals.readers.raw_read import RawRead, channel_number, pore_scale
from oclgenomics.signals.readers.slow5_parts import small_files

RUN_FACTS = ("flow_cell_product_code", "sequencing_kit", "protocol_name")


def read_pod5(path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
    """Read POD5; chunks behind the samples that are asked for are not decoded."""
    pod5 = optional("pod5", _need("POD5", "pod5"))
    with pod5.Reader(path) as file:
        batches, known = file.batch_count, dict[tuple[str, str], Chemistry]()
        asked, behind = numbers_of(part, file.num_reads), 0
        for number in range(batches):
            batch = file.get_batch(number)
            first, behind = behind, behind + batch.num_reads
            if first >= asked.stop:
                break
            if behind <= asked.start:
                continue
            for row, record in enumerate(batch.reads()):
                if first + row not in asked:
                    continue
                run, pore = record.run_info, str(record.pore.pore_type)
                of = str(run.acquisition_id), pore
                if of not in known:
                    known[of] = _pod5_chemistry(run, pore)
                scale, offset = float(record.calibration.scale), float(record.calibration.offset)
                share = (number + (row + 1) / batch.num_reads) / batches
                yield RawRead(
                    str(record.read_id), _pod5_samples(record, limit), scale, offset, float(run.sample_rate),
                    int(record.pore.channel), share, *known[of],
                )  # fmt: skip


def _pod5_chemistry(run: Any, pore: str) -> Chemistry:
    facts = {**run.tracking_id, **run.context_tags, "pore_type": pore}
    facts |= {name: getattr(run, name) for name in RUN_FACTS}
    return chemistry_of({name: str(facts[name]) for name in FACTS if name in facts})


def _pod5_samples(record: Any, limit: int | None) -> NDArray[np.int16]:
    if limit is None:
        return np.asarray(record.signal, np.int16)
    chunks, size = [np.empty(0, np.int16)], 0
    for index in range(len(record.signal_rows)):
        if size >= limit:
            break
        chunks.append(np.asarray(record.signal_for_chunk(index), np.int16))
        size += len(chunks[-1])
    return np.concatenate(chunks)[:limit]


class _Slow5Troubles(logging.Handler):
    """Errors that the library only logs; it then goes on as if the file had ended."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(" ".join(record.getMessage().split()))


def read_slow5(path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
    """Read SLOW5 or BLOW5, of which the library decodes all samples."""
    if part is None:
        with _with_ending(path) as named:
            yield from _slow5_reads(named, path, limit)
        return
    for named, share in small_files(part):
        for read in _slow5_reads(named, path, limit):
            yield replace(read, share=share)


def _slow5_reads(named: str, path: str, limit: int | None) -> Iterator[RawRead]:
    """The reads of a file whose name ends as the library wants it, or of a part of it."""
    pyslow5 = optional("pyslow5", _need("SLOW5", "pyslow5"))
    troubles = _Slow5Troubles()
    log = logging.getLogger("pyslow5")
    log.addHandler(troubles)
    try:
        file = pyslow5.Open(named, "r")
        handle, size = _handle(path), os.path.getsize(path)
        wanted = ["channel_number"] if "channel_number" in (file.get_aux_names() or ()) else None
        known: dict[int, Chemistry] = {}
        for record in file.seq_reads(aux=wanted):
            group = int(record["read_group"])
            if group not in known:
                known[group] = _slow5_chemistry(file, group)
            share = 0.0 if handle is None else os.lseek(handle, 0, os.SEEK_CUR) / size
            yield _slow5_read(record, limit, share, path, known[group])
        file.close()
    finally:
        log.removeHandler(troubles)
    if troubles.texts:
        raise OSError(troubles.texts[0])


@contextmanager
def _with_ending(path: str) -> Iterator[str]:
    """The path, or a link to it whose name tells the library what the file holds, which it sees in nothing else."""
    with open(path, "rb") as file:
        ending = ".blow5" if file.read(1) == b"B" else ".slow5"
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, f"x{ending}")
        os.symlink(os.path.realpath(path), link)
        yield link


def _slow5_chemistry(file: Any, group: int) -> Chemistry:
    """What the head says of the reads of a group."""
    there = set(file.get_header_names() or ())
    facts = {name: file.get_header_value(name, read_group=group) for name in FACTS if name in there}
    return chemistry_of({name: str(text) for name, text in facts.items() if text is not None})


def _slow5_read(record: dict[str, Any], limit: int | None, share: float, path: str, chemistry: Chemistry) -> RawRead:
    name = str(record["read_id"])
    scale = pore_scale(float(record["range"]), float(record["digitisation"]), name, path)
    samples, number = np.asarray(record["signal"], np.int16)[:limit], str(record.get("channel_number", ""))
    return RawRead(
        name, samples, scale, float(record["offset"]), float(record["sampling_rate"]), channel_number(number), share,
        *chemistry,
    )  # fmt: skip


def _handle(path: str) -> int | None:
    """The handle by which the library reads, which says how far it is; None where the system lists no handles."""
    wanted = os.stat(path)
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.path.samestat(os.fstat(int(name)), wanted):
                    return int(name)
    return None


def read_fast5(path: str, limit: int | None, part: FilePart | None = None) -> Iterator[RawRead]:
    """Read FAST5, a file of one read or of many, by h5py; chunks behind the samples asked for are not decoded.

    ont-fast5-api has the filter that unpacks VBZ.
    """
    h5py = optional("h5py", _need("FAST5", "ont-fast5-api"))
    _find_filters(h5py)
    known = dict[str, Chemistry]()
    with h5py.File(path, "r") as file:
        groups = [name for name in file if name.startswith("read_")]
        if groups:
            for number in numbers_of(part, len(groups)):
                own = file[groups[number]]
                share = (number + 1) / len(groups)
                yield _fast5_read(
                    groups[number][5:], own["Raw"], own.get("channel_id"), limit, share, _fast5_chemistry(own, known)
                )
            return
        if "Raw/Reads" not in file:
            raise InputError("HDF5 without reads of FAST5; bulk files are not read", source=path)
        names = list(file["Raw/Reads"])  # one, but for very old files
        for number in numbers_of(part, len(names)):
            name, raw = names[number], file["Raw/Reads"][names[number]]
            identifier = _text(raw.attrs.get("read_id", name))
            own = file.get("UniqueGlobalKey", {})
            yield _fast5_read(identifier, raw, own.get("channel_id"), limit, 0.0, _fast5_chemistry(own, known))


def _find_filters(h5py: Any) -> None:
    """Tell HDF5 where the filter lies. ont-fast5-api would do it when imported, by a module that newer setups lack."""
    package = importlib.util.find_spec("ont_fast5_api")
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        folder = os.fsencode(os.path.join(place, "vbz_plugin"))
        if folder not in [h5py.h5pl.get(number) for number in range(h5py.h5pl.size())]:
            h5py.h5pl.prepend(folder)


def _fast5_chemistry(group: Any, known: dict[str, Chemistry]) -> Chemistry:
    """What a group of a read says, or that of a file of one read; of the runs seen before it is known."""
    attributes = getattr(group, "attrs", {})
    run = _text(attributes["run_id"]) if "run_id" in attributes else ""
    if not run or run not in known:
        known[run] = chemistry_of(_run_facts(group, attributes))
    return known[run]


def _run_facts(group: Any, attributes: Any) -> dict[str, str]:
    tables = [attributes, *(group[name].attrs for name in ("tracking_id", "context_tags") if name in group)]
    found = ((name, table[name]) for table in tables for name in FACTS if name in table)
    return {name: _text(value) for name, value in found if np.size(value) == 1}


def _fast5_read(name: str, raw: Any, channel: Any, limit: int | None, share: float, chemistry: Chemistry) -> RawRead:
    path = os.fsdecode(raw.file.filename)
    return RawRead(
        name, _fast5_samples(raw, limit, name, path), *_channel_facts(channel, name, path), share, *chemistry
    )


def _fast5_samples(raw: Any, limit: int | None, name: str, path: str) -> NDArray[np.int16]:
    data = raw["Signal"]
    if data.dtype.kind not in "iu" or data.dtype.itemsize != 2 or len(data.shape) != 1:
        raise InputError(f"read {name!r} has samples of {data.dtype}, {data.shape}; the file is damaged", source=path)
    samples = data[:limit]
    if data.dtype.kind == "u" and samples.max(initial=0) > np.iinfo(np.int16).max:
        raise InputError(f"read {name!r} has samples of more than 16 bits with sign", source=path)
    return np.asarray(samples, np.int16)


def _channel_facts(channel: Any, name: str, path: str) -> tuple[float, float, float, int]:
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


def _need(format: str, package: str) -> str:
    return f"{format} needs {package}: pip install 'oclgenomics[{format.lower()}]'"
