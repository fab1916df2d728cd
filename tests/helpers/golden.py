"""The golden OmegaPlus runs: their command lines, inputs and reports, as told by the files OmegaPlus wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from oclgenomics.omega.options import ScanOptions

TESTS = Path(__file__).parents[1]
REPORTS = TESTS / "golden" / "omega"
INPUTS = TESTS / "data" / "omega"
FLAGS = {"all", "binary", "no-singletons", "noSeparator", "reports"}
RENAMED = {"ref20.vcf": "chr20_1000G_300samples.vcf.gz"}


@dataclass(frozen=True)
class GoldenRun:
    """One run of OmegaPlus 3.0.3."""

    name: str
    source: Path
    length: float | None
    options: ScanOptions
    all_columns: bool
    separator: bool
    report: Path


def golden_run(name: str, precision: str = "compat") -> GoldenRun:
    """The run whose files end in `name`, from the command line in its Info file."""
    command = re.search(r"OmegaPlus (-name .*)", (REPORTS / f"OmegaPlus_Info.{name}").read_text())
    assert command is not None
    words = command.group(1).split()
    given: dict[str, str] = {}
    impute: set[str] = set()
    while words:
        flag = words.pop(0)[1:]
        given[flag] = "" if flag in FLAGS else words.pop(0)
        if flag == "impute":
            impute.add(given[flag])
    options = ScanOptions(
        grid=int(given["grid"]),
        minwin=int(given["minwin"]),
        maxwin=int(given["maxwin"]),
        minsnps=int(given.get("minsnps", 5)),
        border=int(given.get("b", -1)),
        ld=given.get("ld", "RSQUARE"),
        maf=float(given.get("maf", 0)),
        no_singletons="no-singletons" in given,
        binary="binary" in given,
        impute=frozenset({"G": "GAP"}.get(kind, kind) for kind in impute),
        seed=int(given["seed"]) if "seed" in given else None,
        precision=precision,
    )
    return GoldenRun(
        name=name,
        source=_input(Path(given["input"]).name),
        length=float(given["length"]) if "length" in given else None,
        options=options,
        all_columns="all" in given,
        separator="noSeparator" not in given,
        report=REPORTS / f"OmegaPlus_Report.{name}",
    )


def _input(name: str) -> Path:
    name = RENAMED.get(name, name)
    return next(path for path in INPUTS.rglob("*") if path.name in (name, f"{name}.gz"))
