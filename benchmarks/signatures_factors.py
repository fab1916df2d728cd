"""What the time of a scan depends on: the four factors of the paper, one varied at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import table
from signatures_data import DataSet, of_length, scaled, simulate_sets, subset
from signatures_scans import kernel_seconds, measure_scan
from signatures_steps import measure_method

from oclgenomics.runtime import Engine
from oclgenomics.simulate.signatures.scenario import Scenario

__all__ = ["factor_rows", "factor_table"]

FACTORS = ("length", "n", "copies", "samples")
PAPER_METHOD = "+ flattening"
LENGTHS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
N_RATES = (0.0, 0.05, 0.1, 0.2, 0.4)
COPIES = ((100, 200), (200, 300), (300, 400), (400, 500))
SAMPLES = (0.25, 0.5, 1, 1.5, 2)  # times those of the paper's set
SIGNATURES = (500, 512, 1000)
NOT_MATCHING = ("sequence", "transfer", "primitives", "common", "other")


@dataclass(frozen=True)
class Point:
    """One value of a factor.

    Attributes
    ----------
    value : float
    label : str
    set : str
        The set of samples, by its name.
    samples, signatures : int, optional
        The first ones alone.
    """

    value: float
    label: str
    set: str
    samples: int | None = None
    signatures: int | None = None


def points(factor: str, base: Scenario) -> tuple[dict[str, Scenario], list[Point]]:
    """The sets and the points of a factor, around a scenario."""
    if factor == "length":
        sets = {f"length {part:g}": of_length(base, part) for part in LENGTHS}
        longest = [scenario.sample_length[1] for scenario in sets.values()]
        return sets, [Point(x, f"{x:,}", name) for x, name in zip(longest, sets, strict=True)]
    if factor == "n":
        sets = {f"n {rate:g}": replace(base, sample_n=rate) for rate in N_RATES}
        return sets, [Point(rate, f"{rate:g}", name) for rate, name in zip(N_RATES, sets, strict=True)]
    if factor == "copies":
        sets = {f"copies {low}": replace(base, copies=(low, high)) for low, high in COPIES}
        return sets, [Point(sum(c) / 2, f"{c[0]} to {c[1]}", name) for c, name in zip(COPIES, sets, strict=True)]
    counts = [max(1, round(base.samples * times)) for times in SAMPLES]
    panels = sorted({min(count, base.signatures) for count in SIGNATURES})
    return {"samples": scaled(base, max(SAMPLES))}, [
        Point(n, f"{n:,}", "samples", n, count) for count in panels for n in counts
    ]


def factor_rows(
    engine: Engine, profiled: Engine, folder: Path, base: Scenario, *, repeat: int, most: float
) -> list[dict[str, Any]]:
    """Measure all points of all factors.

    Parameters
    ----------
    engine, profiled : Engine
        Without and with profiles.
    folder : Path
        For the sets, which are removed in the end.
    base : Scenario
        What does not vary.
    repeat : int
    most : float
        The paper's method gets sets of at most so many alignments.
    """
    sets, wanted = {"base": base}, {}
    for factor in FACTORS:
        own, wanted[factor] = points(factor, base)
        sets |= {name: scenario for name, scenario in own.items() if scenario != base}
    made = simulate_sets(sets, folder)
    measured: dict[str, Any] = {}  # of the set that is a point of most factors
    rows = []
    for factor, point in ((factor, point) for factor, some in wanted.items() for point in some):
        row = {"factor": factor, "value": point.value, "label": point.label}
        if point.set in made:
            for data in _data(made[point.set], point, folder):
                row |= _measure(engine, profiled, data, repeat, most)
        else:
            measured = measured or _measure(engine, profiled, made["base"], repeat, most)
            row |= measured
        rows.append(row)
        print(f"{factor} {point.label}: {row['total_s']:.3g} s", file=sys.stderr, flush=True)
    for data in made.values():
        _remove(data)
    return rows


def _data(data: DataSet, point: Point, folder: Path) -> Iterator[DataSet]:
    """The point's own set, as long as it is needed."""
    if point.samples is None:
        yield data
        return
    part = subset(data, folder / "part", point.samples, point.signatures)
    yield part
    _remove(part)


def _remove(data: DataSet) -> None:
    data.samples.unlink()
    data.signatures.unlink()


def _measure(engine: Engine, profiled: Engine, data: DataSet, repeat: int, most: float) -> dict[str, Any]:
    own, _ = measure_scan(engine, data, repeat=repeat)
    kernels = kernel_seconds(profiled, data)
    paper = measure_method(profiled, data, [PAPER_METHOD])[PAPER_METHOD] if data.alignments <= most else None
    return {
        "samples": data.records,
        "letters": data.letters,
        "signatures": data.signatures.read_bytes().count(b">"),
        "alignments": data.alignments,
        "total_s": own["median"],
        "reading_s": own["stages"]["reading"],
        "matching_s": sum(seconds for stage, seconds in kernels.items() if stage not in NOT_MATCHING),
        "stages": own["stages"],
        "kernels": kernels,
        "matches": own["matches"],
        "paper": paper,
    }


def factor_table(rows: list[dict[str, Any]]) -> str:
    """The rows as text; the paper's method in the last columns."""
    shown = []
    for row in rows:
        paper = row["paper"]
        shown.append(
            {
                "factor": row["factor"],
                "value": row["label"],
                "samples": row["samples"],
                "signatures": row["signatures"],
                "total s": row["total_s"],
                "reading s": row["reading_s"],
                "kernels s": row["matching_s"],
                "T alignments/s": row["alignments"] / row["total_s"] / 1e12,
                "paper's: total s": paper["read_s"] + paper["wall_s"] if paper else "-",
                "kernels s ": paper["kernel_s"] if paper else "-",
            }
        )
    return table(shown)
