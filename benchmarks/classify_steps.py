"""Building and querying within a warm process: wall seconds, and seconds of the kernels."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import Any, Protocol

from classify_data import Genomes
from measure import run_times

from oclgenomics.classify import Index
from oclgenomics.classify.api import build
from oclgenomics.classify.options import Input, inputs_of
from oclgenomics.runtime import Engine
from oclgenomics.runtime.source import source_folder

__all__ = ["breakdown", "warm_build", "warm_query"]

OWN = "classify"
# Stages of a query, and the files of their kernels; all else is of reading.
STAGES = {
    "sketch_windows": "sketch", "make_pairs": "make pairs", "clip_runs": "clip runs", "index_features": "index",
    "look_up_features": "look up", "find_candidates": "find candidates", "find_in_groups": "find candidates",
    "find_in_lanes": "find candidates", "join_lines": "write lines",
}  # fmt: skip


class Sample(Protocol):
    """Reads in files."""

    @property
    def reads(self) -> int: ...

    @property
    def files(self) -> list[Path]: ...


def warm_build(engine: Engine, genomes: Genomes, repeat: int) -> dict[str, Any]:
    """Time `build`, after a run that is not counted, and its kernels."""
    seconds = run_times(repeat + 1, lambda: build(genomes.references, taxonomy=genomes.taxonomy, engine=engine))
    with Engine(engine.device, profile=True) as profiled:
        build(genomes.references, taxonomy=genomes.taxonomy, engine=profiled)
        profiled.profile.clear()
        build(genomes.references, taxonomy=genomes.taxonomy, engine=profiled)
        stages = _stage_seconds(profiled)
    kernels = sum(stages.values())
    best = min(seconds[1:])
    row = {"warm s": best, "warm GB/s": genomes.bytes / best / 1e9, "device s": kernels}
    return row | {"device GB/s": genomes.bytes / kernels / 1e9, "warm seconds": seconds, "stages": dict(stages)}


def warm_query(engine: Engine, database: Path, sample: Sample, repeat: int) -> dict[str, Any]:
    """Time `Index.iter_query`, after a run that is not counted, and its kernels."""
    seconds = []
    start = time.perf_counter()
    with Index(database, engine=engine) as index:
        load = time.perf_counter() - start
        for _ in range(repeat + 1):
            start = time.perf_counter()
            found = sum(len(part) for part in index.iter_query(_inputs(sample)))
            seconds.append(time.perf_counter() - start)
    if found != sample.reads:
        raise SystemExit(f"{found} reads were classified of {sample.reads}")
    with Engine(engine.device, profile=True) as profiled:
        kernels = sum(_query_stages(profiled, database, sample).values())
    best = min(seconds[1:])
    row = {"load s": load, "warm M/s": sample.reads / best / 1e6, "device M/s": sample.reads / kernels / 1e6}
    return row | {"warm seconds": seconds}


def breakdown(engine: Engine, database: Path, sample: Sample) -> list[dict[str, Any]]:
    """Seconds and shares of the stages of a query; the engine has to keep profiles."""
    stages = _query_stages(engine, database, sample)
    whole = sum(stages.values())
    return [{"stage": name, "ms": 1e3 * own, "share": own / whole} for name, own in stages.most_common()]


def _query_stages(engine: Engine, database: Path, sample: Sample) -> Counter[str]:
    with Index(database, engine=engine) as index:
        for _ in range(2):
            engine.profile.clear()
            for _part in index.iter_query(_inputs(sample)):
                pass
        return _stage_seconds(engine)


def _inputs(sample: Sample) -> list[Input]:
    if len(sample.files) == 2:
        return inputs_of([], [(sample.files[0], sample.files[1])], interleaved=False)
    return inputs_of(sample.files, [], interleaved=False)


def _stage_seconds(engine: Engine) -> Counter[str]:
    """Seconds of kernels by stage; copies and work of the host do not count."""
    sources = _kernel_sources()
    stages: Counter[str] = Counter()
    for name, row in engine.profile.totals().items():
        if ": " not in name:
            stages[sources.get(name, "other")] += row["total_ms"] / 1e3
    return stages


def _kernel_sources() -> dict[str, str]:
    """The stage of each kernel."""
    root = source_folder()
    sources = {}
    for folder in ("common", "primitives", "sequence", OWN):  # the last one that has a name gives it
        for path in sorted((root / folder).glob("*.cl")):
            stage = STAGES.get(path.stem, path.stem.replace("_", " ")) if folder == OWN else folder
            sources |= dict.fromkeys(re.findall(r"__kernel\b[^{;]*?\bvoid\s+(\w+)", path.read_text()), stage)
    return sources
