"""Throughput by reference, variant and number of reads (Fig. 7 of the paper)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from measure import table
from sdtw_bench import Bench
from sdtw_data import VARIANTS
from sdtw_timing import measure

from oclgenomics.sdtw.device.aligner import Aligner

__all__ = ["PUBLISHED", "throughput_rows", "throughput_table"]

# Samples a second of the paper's Fig. 7 and its text: of the first reference, and of the last.
PUBLISHED = {
    "Crescent, A100": (172_062, 438_250),
    "Crescent, RTX 3090": (130_507, 333_873),
    "Crescent, 16 threads of a CPU": (2_333, 5_000),
}
DRAWN = ("default", "step 1", "Crescent")  # variants of the figure: all references, and on GPUs all numbers of reads


def cases(bench: Bench) -> Iterator[tuple[str, str, int]]:
    """Variants, references and numbers of reads: fewer of them on CPUs, which take longer."""
    first = next(iter(bench.references))
    counts = bench.counts
    for variant in VARIANTS:
        for name in bench.references:
            if bench.cpu and name != first and variant not in DRAWN:
                continue
            if bench.cpu:
                wanted = counts if (variant, name) == ("default", first) else counts[:1]
            else:
                wanted = counts if variant in DRAWN else counts[1:2]
            yield from ((variant, name, count) for count in wanted)


def throughput_rows(bench: Bench) -> list[dict[str, Any]]:
    """Time all cases."""
    rows = []
    for variant, name, count in cases(bench):
        aligner = Aligner(bench.engine, [bench.references[name]], VARIANTS[variant])
        reads = bench.reads.some(count)
        rows.append(measure(bench.engine, aligner, reads, bench.clock, variant=variant, ghz=bench.ghz))
        print(throughput_table(rows[-1:]).splitlines()[1], file=sys.stderr, flush=True)
    return rows


def throughput_table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    shown = []
    for row in rows:
        short = {"variant": row["variant"], "reference": row["reference"], "reads": row["reads"]}
        short |= {"best s": row["best"], "median s": row["median"], "kernel s": row["kernels_ms"]["align_strips"] / 1e3}
        short |= {"M samples/s": row["samples_per_s"] / 1e6, "G cells/s": row["cells_per_s"] / 1e9}
        short["kernel G cells/s"] = row["kernel_cells_per_s"] / 1e9
        shown.append(short | bound_columns(row))
    published = [f"{name} {low:,} to {high:,}" for name, (low, high) in PUBLISHED.items()]
    return f"{table(shown)}\nPublished samples/s of the longest and the shortest reference: {', '.join(published)}."


def bound_columns(row: dict[str, Any]) -> dict[str, Any]:
    """What is shown of the bound."""
    if "cells_per_core_s" not in row:
        return {"of bound": row["of_bound"]}
    shown = {"cores had": row["cores"], "G cells/s a core": row["cells_per_core_s"] / 1e9}
    if row["cells_per_cycle"] is not None:
        shown |= {"cells/cycle": row["cells_per_cycle"], "vectors/cycle": row["vector_instructions_per_cycle"]}
    return shown
