"""Scans within a warm process: wall seconds of their stages, and seconds of their kernels."""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any
from unittest.mock import patch

import numpy as np
from measure import best_time
from signatures_data import DataSet

from oclgenomics.runtime import Engine
from oclgenomics.runtime.source import source_folder
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures.device import methods
from oclgenomics.signatures.device.samples import Encoder
from oclgenomics.signatures.device.seed_table import DeviceTable
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.result import ScanResult

__all__ = ["StageClock", "kernel_seconds", "link_rate", "measure_scan"]

scans = importlib.import_module("oclgenomics.signatures.device.scans")
scanning = importlib.import_module("oclgenomics.signatures.api")  # whose package has the verb of the same name
LINK_BYTES = 1 << 28
STAGES: dict[str, tuple[Any, str]] = {  # the functions whose time they are
    "panel": (scanning, "read_panel"),
    "table": (DeviceTable, "of_patterns"),
    "encode": (Encoder, "encode"),
    "match": (methods.Methods, "pairs"),
    "describe": (scans, "describe"),
}


def link_rate(engine: Engine) -> float:
    """GB/s at which letters come to the device from pinned memory."""
    size = min(LINK_BYTES, engine.max_allocation // 4)
    source, target = engine.pinned(size, np.uint8), engine.empty(size, np.uint8)
    source.fill(1)

    def send() -> None:
        engine.write(target, source)
        engine.finish()

    seconds = best_time(5, send)
    target.release()
    return size / seconds / 1e9


class StageClock:
    """Wall seconds of the stages of a scan, taken around the functions that it calls, which wait for the device.

    The seconds of a stage within another one count for the inner one alone.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner = [0.0]  # seconds of stages within each stage that is under way

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the body of a `with` statement."""
        start = time.perf_counter()
        self._inner.append(0.0)
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self.seconds[name] += seconds - self._inner.pop()
            self._inner[-1] += seconds

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its seconds counted."""

        def run(*args: Any, **options: Any) -> Any:
            with self.stage(name):
                return function(*args, **options)

        return run

    def blocks(self, *args: Any, **options: Any) -> Iterator[Any]:
        """The blocks of the input, with the seconds counted that a scan waits for them."""
        with closing(letter_blocks(*args, **options)) as blocks:
            while True:
                with self.stage("reading"):
                    block = next(blocks, None)
                if block is None:
                    return
                yield block

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Count the stages of scans within a `with` statement."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(scanning, "letter_blocks", self.blocks))
            for name, (owner, function) in STAGES.items():
                stack.enter_context(patch.object(owner, function, self.timed(name, getattr(owner, function))))
            yield


def measure_scan(
    engine: Engine, data: DataSet, options: ScanOptions = ScanOptions(), *, repeat: int = 3
) -> tuple[dict[str, Any], ScanResult]:
    """Time scans after one that is not counted, and check that they find what was planted.

    Returns
    -------
    dict
        `seconds` of each run, those of the `median` run, its `stages`, `matches` and rates.
    ScanResult
    """
    runs = []
    for _ in range(repeat + 1):
        clock = StageClock()
        start = time.perf_counter()
        with clock.watching():
            found = scanning.scan(data.samples, data.signatures, options, engine=engine)
        runs.append((time.perf_counter() - start, clock.seconds))
    check_found(data, found, options)
    middle, seconds = sorted(runs[1:], key=lambda run: run[0])[(repeat - 1) // 2]
    stages = {name: seconds[name] for name in ("reading", *STAGES)}
    return {
        "seconds": [run[0] for run in runs[1:]],
        "median": middle,
        "stages": {**stages, "rest": middle - sum(stages.values())},
        "matches": len(found.matches),
        "hits": int(found.matches.hits.sum()),
        "letters_per_second": data.letters / middle,
        "alignments_per_second": data.alignments / middle,
        "bytes_per_second": data.bytes / middle,
    }, found


def check_found(data: DataSet, found: ScanResult, options: ScanOptions) -> None:
    """Letters that are not read and copies that are not found are wrong numbers, for which there is no time."""
    read = len(found.samples), int(found.samples.letters.sum())
    if read != (data.records, data.letters):
        raise SystemExit(f"{data.samples.name}: {read} records and letters, not {(data.records, data.letters)}")
    pairs = set(zip(found.matches.sample.tolist(), found.matches.signature.tolist(), strict=True))
    if missing := data.planted - pairs:
        raise SystemExit(f"{data.samples.name}, method {options.method}: {len(missing)} planted copies were not found")


def kernel_seconds(engine: Engine, data: DataSet, options: ScanOptions = ScanOptions()) -> dict[str, float]:
    """Seconds of the kernels of a scan, by the stage that their source belongs to; the engine has to keep profiles."""
    scanning.scan(data.samples, data.signatures, options, engine=engine)
    engine.profile.clear()
    scanning.scan(data.samples, data.signatures, options, engine=engine)
    sources = kernel_sources()
    stages: Counter[str] = Counter()
    for name, row in engine.profile.totals().items():
        if not name.startswith("host: "):
            lane, _, _ = name.rpartition(": ")
            stages[lane or sources.get(name, "other")] += row["total_ms"] / 1e3
    return dict(stages.most_common())


def kernel_sources() -> dict[str, str]:
    """The source of each kernel: its file among those of signatures, else its folder."""
    root = source_folder()
    sources = {}
    for folder in ("primitives", "common", "sequence", "signatures"):  # the last one that has a name gives it
        for path in sorted((root / folder).glob("*.cl")):
            stage = path.stem if folder == "signatures" else folder
            sources |= dict.fromkeys(re.findall(r"__kernel\b[^{;]*?\bvoid\s+(\w+)", path.read_text()), stage)
    return sources
