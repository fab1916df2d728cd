"""The oracle against RAiSD 2.9 and scikit-allel."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import oracle_counts, rows_of, spectrum, states_of

from oclgenomics.sweeps import reference
from oclgenomics.variation import ReadOptions, read_alignments

TESTS = Path(__file__).parents[1]
INPUTS, REPORTS = TESTS / "data" / "sweeps", TESTS / "golden" / "sweeps"


def oracle_report(name: str, width: int, slack: int, length: float | None = None, masked: bool = False) -> str:
    lines = []
    for one in read_alignments(INPUTS / name, ReadOptions(length=length, exact_positions=True, records="raisd")):
        lines.append(f"// {one.name if length is None else one.replicate - 1}\n")
        states, seen = states_of(one)
        counts = spectrum(states, seen)
        keep = [s for s, (d, t) in enumerate(counts) if 0 < d < t and (masked or t == one.haplotypes)]
        at = (one.positions if one.exact is None else one.exact)[keep]
        patterns = oracle_counts(rows_of(states[keep], seen[keep]), width)
        edge = [reference.edges(*counts[s], slack) for s in keep]
        total, sites = (float(one.last_record), len(keep)) if length is None else (length, one.sites)
        for i, found in enumerate(patterns):
            first, last = float(at[i]), float(at[i + width - 1])
            edge_sum = sum(edge[i : i + width])
            row = reference.raisd_mu(last - first, total, sites, width, edge_sum, one.haplotypes, found)
            centre = reference.half_away((first + last) / 2)
            lines.append("\t".join([*(f"{bp:.0f}" for bp in (centre, first, last)), *(f"{x:.3e}" for x in row)]) + "\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("phased_c3", {"name": "phased.vcf.gz", "width": 30, "slack": 3}),
        ("m140_2", {"name": "missing140.vcf.gz", "width": 30, "slack": 1, "masked": True}),
        ("sw40w20c2", {"name": "sweep40.ms.gz", "width": 20, "slack": 2, "length": 200_000.0}),
    ],
)
def test_mu_is_that_of_raisd(name: str, how: dict[str, object]) -> None:
    assert oracle_report(**how) == gzip.decompress((REPORTS / f"RAiSD_Report.{name}.gz").read_bytes()).decode()  # type: ignore[arg-type]


def test_diversity_is_that_of_scikit_allel() -> None:
    (one,) = read_alignments(INPUTS / "phased_clean.vcf.gz", ReadOptions(records="raisd"))
    counts = np.array(spectrum(*states_of(one)))
    names = {"pi": "pi", "theta_w": "theta", "tajima_d": "tajima_d"}
    rows = [line.split() for line in (REPORTS / "scikit-allel.phased_clean.tsv").read_text().splitlines()[2:]]
    for statistic, start, end, value in rows:
        inside = (one.positions >= int(start)) & (one.positions <= int(end))
        found = reference.diversity([tuple(pair) for pair in counts[inside].tolist()], int(end) - int(start) + 1)
        assert found[names[statistic]] == pytest.approx(float(value), rel=1e-9)
    assert len(rows) == 3 * 29


def test_fay_and_wus_h_by_hand() -> None:
    found = reference.diversity([(1, 4), (3, 4), (2, 3)], 10)
    assert found["fay_wu_h"] == pytest.approx((6 + 6) / 12 + 4 / 6 - (2 + 18) / 12 - 8 / 6)


def test_patterns_are_those_of_complements() -> None:
    assert reference.pattern([0, 1, None]) == reference.pattern([1, 0, None])
    assert reference.pattern([0, 1, None]) != reference.pattern([0, 1, 1])
    assert reference.pattern([0, 1, 2], genotypes=True) == reference.pattern([2, 1, 0], genotypes=True)
    assert reference.pattern([0, 1, 2], genotypes=True) != reference.pattern([0, 1, 1], genotypes=True)
