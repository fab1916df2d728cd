"""Thresholds, p-values and peaks: by ranks, in the direction of each statistic, for data like the replicates alone."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.simulate import NeutralReplicates, Region
from oclgenomics.sweeps import Scan, SweepOptions, find_peaks, find_thresholds, scan, sweep_parameters
from oclgenomics.sweeps.formats import write_peaks
from oclgenomics.sweeps.significance.peaks import GENE_COLUMNS, PEAK_COLUMNS
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, compare, sign_of, thresholds
from oclgenomics.sweeps.sites.used import SweepFacts

PARAMETERS = sweep_parameters(SweepOptions())
FACTS = SweepFacts(40, 101, False, 0.0, 0.0)


def track(values: list[float], name: str = "mu", **changes: object) -> Scan:
    """A scan with a row every 100 bp, of windows of 250 bp; 0.1 sites per bp."""
    at = 100.0 * np.arange(1, len(values) + 1)
    made = Scan(
        "1", 1, at, at - 125, at + 125, np.full(len(at), 50), {name: np.array(values)}, 101, 40, {}, FACTS, PARAMETERS
    )
    return replace(made, **changes)


def null_of(values: list[float], name: str = "mu", density: float = 0.1, **changes: object) -> Significance:
    data = NullFacts(40, 40, False, 0.0, 0.9 * density, density, 1.1 * density)
    array = np.array(values)
    found = tuple(thresholds(name, array, [0.25]))
    return replace(Significance(PARAMETERS, 1000, data, {name: array}, {name: array}, found), **changes)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0, math.nan]), min_size=4, max_size=40),
    rate=st.floats(0.2, 0.9), name=st.sampled_from(["mu", "tajima_d"]), seen=st.floats(0, 4),
)  # fmt: skip
def test_a_value_passes_a_threshold_where_its_p_value_is_at_most_the_rate(
    values: list[float], rate: float, name: str, seen: float
) -> None:
    null = null_of(values, name)
    (found,) = thresholds(name, np.array(values), [rate])
    passes = sign_of(name) * seen > sign_of(name) * found.value
    p = float(null.p_values(name, seen))
    assert passes == (p <= rate + 1e-12)
    known = [value for value in values if not math.isnan(value)]
    extreme = sum(sign_of(name) * value >= sign_of(name) * seen for value in known)
    assert p == (1 + extreme) / (1 + len(values))


def test_neutral_replicates_and_the_data_that_they_are_for(engine: Engine) -> None:
    neutral = NeutralReplicates(Region(20, 20_000, 10_000, theta=40, rho=40), 3, 24)
    options = SweepOptions(width=10)
    found = find_thresholds(neutral, options, fpr=[0.2, 0.1], length=20_000, engine=engine)
    assert len(found) == 24
    assert [(one.statistic, one.fpr) for one in found.thresholds[:3]] == [("mu", 0.2), ("mu", 0.1), ("pi", 0.2)]
    scans = scan(list(neutral), options, engine=engine)
    highest = [float(one.values["mu"].max()) for one in scans]
    assert found.extremes["mu"].tolist() == highest
    assert found.extremes["pi"].tolist() == [float(one.values["pi"].min()) for one in scans]
    peaks = find_peaks(scans, "mu", threshold=found, fpr=0.2)
    assert len({peak.replicate for peak in peaks.peaks}) == sum(value > peaks.threshold for value in highest) == 4
    assert "20 haplotypes" in str(peaks.compared)
    with pytest.raises(UsageError, match="grid"):
        find_thresholds(neutral, SweepOptions(grid=5), engine=engine)
    with pytest.raises(UsageError, match="there is no neutral replicate"):
        find_thresholds([], options, engine=engine)
    with pytest.raises(UsageError, match=r"no neutral replicate has a value of mu: .* smaller windows"):
        find_thresholds(neutral, SweepOptions(width=2_000), fpr=[0.2], engine=engine)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {**PARAMETERS, "width": 20}}, "width"),
        ({"parameters": {**PARAMETERS, "missing": "drop"}}, "missing"),
        ({"parameters": {**PARAMETERS, "grid": 7}}, "has a grid of so many positions"),
        ({"facts": replace(FACTS, haplotypes=41)}, "40 haplotypes, the scan .1. has 41"),
        ({"facts": replace(FACTS, genotypes=True)}, "unphased genotypes"),
        ({"facts": replace(FACTS, missing=0.06)}, "0.0 % of the states missing"),
        ({"facts": replace(FACTS, masked=0.11)}, "11.0 %"),
        ({"facts": replace(FACTS, haploid=0.06)}, "0.0 % of the haplotypes not there in haploid calls, .* 6.0 %"),
        ({"facts": replace(FACTS, sites=150)}, "sites per kb"),
    ],
)
def test_thresholds_of_other_data_are_refused(change: dict[str, object], message: str) -> None:
    null = null_of([1.0, 2.0, 3.0, 4.0])
    values = [5.0] * 8  # 950 bp
    assert find_peaks([track(values)], threshold=null).peaks[0].p_value == 0.2
    with pytest.raises(UsageError, match=message):
        find_peaks([track(values, **change)], threshold=null)


MASKED = {**PARAMETERS, "accessible": "mask.bed"}
OTHER = {**PARAMETERS, "accessible": "other.bed"}


@pytest.mark.parametrize(
    ("parameters", "sums", "message"),
    [
        (OTHER, ("chr", "other"), ""),  # the same bp of the chromosome, in a file of another name
        (OTHER, ("other", "file"), ""),  # another chromosome of the same file
        (MASKED, ("other", "other"), r"null.json: its mask \(accessible\) has other bp than that of the scan \(1\)"),
        (MASKED, ("", ""), "the scan: does not say which bp are accessible, as an earlier version wrote it; make it"),
        (PARAMETERS, ("", ""), "scanned with accessible=.mask.bed., and the scan with accessible=.None"),
    ],
)
def test_masks_are_compared_by_their_bp(parameters: dict[str, object], sums: tuple[str, str], message: str) -> None:
    null = null_of([1.0, 2.0, 3.0, 4.0], scan=MASKED, source="null.json")
    null = replace(null, data=replace(null.data, accessible=0.8, mask="chr", masks="file"))
    share = None if parameters is PARAMETERS else 0.8
    found = track([5.0] * 8, parameters=parameters, facts=replace(FACTS, accessible=share, mask=sums[0], masks=sums[1]))
    empty = replace(found, positions=found.positions[:0], facts=replace(found.facts, accessible=share and 0.0))
    if message:
        with pytest.raises(UsageError, match=message):
            find_peaks([found], threshold=null)
        return
    assert find_peaks([found], threshold=null).peaks[0].p_value == 0.2
    compare(null, [found, empty], "the scan")  # a chromosome that the mask does not have
    earlier = replace(null, data=replace(null.data, mask="", masks=""))
    with pytest.raises(UsageError, match=r"null.json: does not say which bp are accessible"):
        find_peaks([found], threshold=earlier)


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        ("a", "a", ""),
        ("b", "a", r"its background spectrum of CLR \(clr_spectrum\) is another than that of the scan"),
        ("", "a", "the scan: does not say which background spectrum CLR had"),
        ("a", "", "the thresholds: does not say which background spectrum CLR had"),
    ],
)
def test_background_spectra_are_compared_by_their_content(ours: str, theirs: str, message: str) -> None:
    null = null_of([1.0, 2.0, 3.0, 4.0], "clr", scan={**PARAMETERS, "clr_spectrum": "a.txt"})
    null = replace(null, data=replace(null.data, spectrum=theirs))
    parameters = {**PARAMETERS, "clr_spectrum": "copy.txt"}
    found = track([5.0] * 8, "clr", parameters=parameters, facts=replace(FACTS, spectrum=ours))
    if not message:
        assert len(find_peaks([found], "clr", threshold=null)) == 1
        return
    with pytest.raises(UsageError, match=message):
        find_peaks([found], "clr", threshold=null)


def test_thresholds_of_compat_precision_need_data_that_begin_at_the_first_bp() -> None:
    compat = {**PARAMETERS, "precision": "compat", "missing": "drop"}
    null = null_of([1.0, 2.0, 3.0, 4.0], scan=compat)
    late = track([5.0] * 8, parameters=compat)
    assert len(find_peaks([replace(late, start=late.start + 60, end=late.end + 60)], threshold=null)) == 1
    moved = replace(late, start=late.start + 1_000, end=late.end + 1_000)
    with pytest.raises(UsageError, match="begins at 975 bp; compat precision counts all bp before"):
        find_peaks([moved], threshold=null)


def test_peaks_are_merged_windows() -> None:
    values = [0.0, 5.0, 6.0, 0.0, math.nan, 0.0, 0.0, 7.0]
    found = find_peaks([track(values)], threshold=4.0)
    places = [(one.start, one.end, one.position, one.value, one.rows) for one in found.peaks]
    assert places == [(75, 425, 300.0, 6.0, 2), (675, 925, 800.0, 7.0, 1)]
    assert [one["name"] for one in found.records()] == ["peak2", "peak1"]
    assert len(find_peaks([track(values)], threshold=4.0, merge=248)) == 2
    assert len(find_peaks([track(values)], threshold=4.0, merge=249)) == 1
    low = find_peaks([track([-value for value in values], "tajima_d")], "tajima_d", threshold=-4.0)
    assert [one.value for one in low.peaks] == [-6.0, -7.0]
    gridded = find_peaks([track(values, gridded=True)], threshold=4.0)
    assert [one.end for one in gridded.peaks] == [424, 924]  # the last bp of a window of bp is outside


def test_the_rows_that_are_most_like_a_sweep() -> None:
    values = [4.0, 1.0, 3.0, math.nan, 2.0]
    assert sum(one.rows for one in find_peaks([track(values)], top=2).peaks) == 2
    assert sum(one.rows for one in find_peaks([track(values)], top=9).peaks) == 4
    assert sum(one.rows for one in find_peaks([track(values)], quantile=0.5).peaks) == 2
    low = find_peaks([track(values, "pi")], "pi", top=1)
    assert [one.value for one in low.peaks] == [1.0]
    assert len(find_peaks([track([math.nan])], quantile=0.5)) == 0
    equal = [track([0.0, 0.0, 0.0, 2.0, 1.0, 1.0, math.nan], "pi")]  # rows of one value pass together
    for how, rows in (({"top": 1}, 3), ({"top": 3}, 3), ({"top": 4}, 5), ({"top": 6}, 6), ({"quantile": 0.99}, 3)):
        assert sum(one.rows for one in find_peaks(equal, "pi", **how).peaks) == rows
    for how in ({"top": 1}, {"quantile": 0.5}):  # none is more like a sweep than the others
        assert len(find_peaks([track([0.0, 0.0], "pi")], "pi", **how)) == 0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "give one of `?threshold"),
        ({"top": 1, "quantile": 0.5}, "give one of `?threshold"),
        ({"top": 0}, "at least 1 row"),
        ({"quantile": 1.0}, "between 0 and 1"),
        ({"threshold": 1.0, "fpr": 0.1}, "no effect without"),
        ({"threshold": 1.0, "merge": -1}, "0 bp or more"),
        ({"statistic": "pi", "top": 1}, "is not in the scan"),
        ({"statistic": "omega", "top": 1}, "choose one of"),
    ],
)
def test_what_is_refused(how: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_peaks([track([1.0, 2.0])], **how)  # type: ignore[arg-type]


def test_options_of_some_statistics_have_to_agree_for_those_alone() -> None:
    values, other = [5.0] * 8, {**PARAMETERS, "haplotype_window": 60}
    for name, refused in (("mu", False), ("h12", True)):
        null, found = null_of([1.0, 2.0, 3.0, 4.0], name), track(values, name, parameters=other)
        if not refused:
            assert len(find_peaks([found], name, threshold=null)) == 1
            continue
        with pytest.raises(UsageError, match="haplotype_window=100, and the scan with haplotype_window=60"):
            find_peaks([found], name, threshold=null)


def test_peaks_name_their_genes(tmp_path: Path) -> None:
    path = tmp_path / "genes.bed"
    path.write_text("1\t100\t150\tA\n1\t180\t300\tB,C\n1\t2000\t2100\tD\n")
    scans = [track([5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0]), track([3.0], name="mu")]
    scans[1] = replace(scans[1], name="7")
    found = find_peaks(scans, "mu", threshold=2.0, genes=path)
    rows = {record["name"]: [record[name] for name in GENE_COLUMNS] for record in found.records()}
    refined = replace(found, peaks=tuple(replace(peak, fine_position=190.0) for peak in found.peaks))
    assert [record["gene_distance"] for record in refined.records()] == [0, 0, None]
    assert rows == {
        "peak1": ["A,B_C", "A", 1], "peak2": [None, "B,C", 500], "peak3": [None, None, None],
    }  # fmt: skip
    assert list(found.to_frame().columns) == [*PEAK_COLUMNS, *GENE_COLUMNS]
    table = [line.split("\t") for line in write_peaks(found, "tsv", {}).splitlines() if not line.startswith("#")]
    assert table[0] == [*PEAK_COLUMNS, *GENE_COLUMNS]
    assert table[1][-3:] == ["A,B_C", "A", "1"]
    lines = write_peaks(found, "bed", {}).splitlines()
    assert lines[-4].split("\t")[-3:] == ["genes", "nearestGene", "geneDistance"]
    assert lines[-1].split("\t")[-3:] == ["NA", "NA", "NA"]
    assert "genes" not in find_peaks(scans, "mu", threshold=2.0).records()[0]
