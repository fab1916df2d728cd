"""Small files of raw signals in every format, written by the libraries themselves, and what is in them."""

from __future__ import annotations

import datetime
import io
import os
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.sdtw_oracle import small_squiggle
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.signals import Signals, write_signals

__all__ = ["CHEMISTRIES", "WRITERS", "file_bytes", "need", "npy_bytes", "raw_signals", "stalled", "write_signal_inputs"]

PACKAGES = {"slow5": "pyslow5", "blow5": "pyslow5", "pod5": "pod5", "fast5": "ont_fast5_api"}
CHANNEL, RATE, OFFSET, DIGITISATION, RANGE = 126, 4000.0, 6.0, 8192.0, 1467.5
BEGIN = datetime.datetime(2024, 5, 4, tzinfo=datetime.UTC)


def need(kind: str) -> None:
    """Skip the test where the library of a format of `WRITERS` is not installed."""
    if package := PACKAGES.get(kind.split(".")[-1]):
        pytest.importorskip(package)


CHEMISTRIES: list[tuple[dict[str, str], tuple[str, str]]] = [
    ({"flow_cell_product_code": "FLO-MIN106", "experiment_type": "genomic_dna"}, ("R9", "dna")),
    ({"flow_cell_product_code": "FLO-PRO114M", "sequencing_kit": "sqk-lsk114"}, ("R10", "")),
    ({"sequencing_kit": "sqk-rna002"}, ("R9", "rna")),
    ({}, ("", "")),
]  # what sequencers write, and what it means


def stalled(length: int, begin: int, end: int, seed: int = 0) -> np.ndarray:
    """A read with high currents from one sample to another."""
    samples = np.random.default_rng(seed).normal(500, 40, length)
    samples[begin:end] += 600
    return np.rint(samples).astype(np.int16)


def raw_signals(lengths: tuple[int, ...] = (50, 300, 1, 700), seed: int = 5) -> Signals:
    """Reads with names and facts as files have them."""
    rng = np.random.default_rng(seed)
    reads = [np.rint(rng.normal(500, 60, length)).astype(np.int16) for length in lengths]
    names = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in lengths]
    return Signals.of(reads, names, scale=RANGE / DIGITISATION, offset=OFFSET, rate=RATE, channel=CHANNEL)


def write_slow5(
    path: Path,
    signals: Signals,
    ending: str = "blow5",
    *,
    channels: bool = True,
    facts: dict[str, str] | None = None,
    **compression: str,
) -> None:
    import pyslow5

    made = path.with_name(f"{path.name}.new.{ending}")  # which tells the library what to write
    file = pyslow5.Open(os.fspath(made), "w", **compression)
    file.write_header(dict.fromkeys(file.get_empty_header(), "x") | (facts or {}))
    for number, name in enumerate(signals.names):
        samples = signals.read(number)
        record, extra = file.get_empty_record(aux=True)
        record |= {"read_id": name, "read_group": 0, "digitisation": DIGITISATION, "offset": OFFSET, "range": RANGE,
                   "sampling_rate": RATE, "len_raw_signal": len(samples), "signal": samples}  # fmt: skip
        extra = {
            "channel_number": str(CHANNEL),
            "median_before": 1.5,
            "read_number": 3,
            "start_mux": 1,
            "start_time": 7,
        }
        file.write_record(record, extra if channels else None)
    file.close()
    made.rename(path)


def write_pod5(path: Path, signals: Signals, *, facts: dict[str, str] | None = None) -> None:
    import pod5

    texts = dict.fromkeys(
        ("acquisition_id", "experiment_name", "flow_cell_id", "flow_cell_product_code", "protocol_name",
         "protocol_run_id", "sample_id", "sequencing_kit", "sequencer_position", "sequencer_position_type", "software",
         "system_name", "system_type"), "x",
    )  # fmt: skip
    known = facts or {}
    texts |= {name: text for name, text in known.items() if name in texts}
    run = pod5.RunInfo(
        **texts, acquisition_start_time=BEGIN, protocol_start_time=BEGIN, adc_max=4095, adc_min=-4096,
        context_tags=known, tracking_id={}, sample_rate=int(RATE),
    )  # fmt: skip
    with pod5.Writer(path) as file:
        for number, name in enumerate(signals.names):
            file.add_read(pod5.Read(
                read_id=uuid.UUID(name), pore=pod5.Pore(CHANNEL, 1, "x"), read_number=number, start_sample=5,
                calibration=pod5.Calibration.from_range(OFFSET, RANGE, int(DIGITISATION)), median_before=1.5,
                end_reason=pod5.EndReason(pod5.EndReasonEnum.UNKNOWN, False), run_info=run, signal=signals.read(number),
            ))  # fmt: skip


def write_fast5(
    path: Path, signals: Signals, *, compression: str = "GZIP", facts: dict[str, str] | None = None
) -> None:
    """A file of many reads."""
    from ont_fast5_api import compression_settings
    from ont_fast5_api.multi_fast5 import MultiFast5File

    with MultiFast5File(os.fspath(path), "w") as file:
        for number, name in enumerate(signals.names):
            read = file.create_empty_read(name, "run")
            read.add_raw_data(signals.read(number), compression=getattr(compression_settings, compression))
            read.add_channel_info(_channel())
            read.add_context_tags(facts or {})


def write_single_fast5(path: Path, signals: Signals, *, facts: dict[str, str] | None = None) -> None:
    """A file of one read, the first one."""
    import h5py

    with h5py.File(path, "w") as file:
        file.create_group("UniqueGlobalKey/channel_id").attrs.update(_channel())
        file.create_group("UniqueGlobalKey/context_tags").attrs.update(facts or {})
        group = file.create_group("Raw/Reads/Read_5")
        group.attrs["read_id"] = np.bytes_(signals.names[0])
        group.create_dataset("Signal", data=signals.read(0), compression="gzip", chunks=True)


def _channel() -> dict[str, object]:
    return {"channel_number": str(CHANNEL), "digitisation": DIGITISATION, "offset": OFFSET, "range": RANGE,
            "sampling_rate": RATE}  # fmt: skip


def write_arrays(path: Path, signals: Signals) -> None:
    """An array for each read."""
    with open(path, "wb") as file:
        np.savez_compressed(file, **{name: signals.read(number) for number, name in enumerate(signals.names)})


WRITERS: dict[str, Callable[..., None]] = {
    "slow5": lambda path, signals: write_slow5(path, signals, "slow5"),
    "blow5": write_slow5,
    "plain.blow5": lambda path, signals: write_slow5(path, signals, rec_press="none", sig_press="none"),
    "zstd.blow5": lambda path, signals: write_slow5(path, signals, rec_press="zstd", sig_press="svb_zd"),
    "pod5": write_pod5,
    "fast5": write_fast5,
    "vbz.fast5": lambda path, signals: write_fast5(path, signals, compression="VBZ"),
    "single.fast5": write_single_fast5,
    "npz": write_signals,
    "arrays.npz": write_arrays,
}


def file_bytes(kind: str, signals: Signals) -> bytes:
    """What a file of a format holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{kind}"
        WRITERS[kind](path, signals)
        return path.read_bytes()


def npy_bytes(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def write_signal_inputs(folder: Path) -> None:
    """Write a reference, target.sdtw, and reads of it and of noise, reads.npz."""
    rng = np.random.default_rng(21)
    reference = small_squiggle("target", 80 + 12 * rng.standard_normal(120))
    reads = []
    for number, length in enumerate((700, 400, 650, 90, 500, 30, 320, 1, 610, 130, 480)):
        levels = rng.permutation(reference.levels) if number % 3 == 1 else reference.levels
        reads.append((10 * np.repeat(levels[number : number + 100], 9)[:length]).astype(np.int16))
    write_squiggle(folder / "target.sdtw", reference)
    write_signals(folder / "reads.npz", Signals.of(reads))
