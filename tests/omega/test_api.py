"""The Python interface from an input to scans."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.linkage import ld_matrix

from oclgenomics import omega
from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import Run, ScanOptions, Scans, iter_scan, plot_scans, scan, scan_record
from oclgenomics.omega.formats.scans import summary_line
from oclgenomics.omega.sites import sources
from oclgenomics.omega.sites.filters import filter_alignment
from oclgenomics.omega.sites.sources import FilteredBatch, filtered_batches
from oclgenomics.variation import Alignment, ReadOptions, read_alignments

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
LENGTH = ReadOptions(length=1_000_000)
OPTIONS = ScanOptions(grid=50, minwin=100, maxwin=50_000)


def test_scans_a_file(engine):
    first, second = scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine)
    assert (first.name, second.name) == ("chrA", "chrB")
    assert second.omega[second.best] == pytest.approx(30.241493, rel=1e-4)
    assert (second.left[second.best], second.right[second.best]) == (205469, 213869)
    assert scan_record(second)["maximum"]["position"] == second.positions[second.best]


def test_scans_alignments_from_elsewhere(engine):
    alignments = list(read_alignments(EDGE / "plain.ms", ReadOptions(length=1_000_000)))
    (given,) = scan(alignments, OPTIONS, engine=engine)
    (read,) = scan(EDGE / "plain.ms", OPTIONS, reading=LENGTH, engine=engine)
    assert np.array_equal(given.omega, read.omega)


def test_a_mix_of_files_and_alignments(engine):
    (alignment,) = read_alignments(EDGE / "plain.ms", LENGTH)
    (alone,) = scan(alignment, OPTIONS, engine=engine)
    source = [EDGE / "twochrom.vcf", alignment, str(EDGE / "plain.ms")]
    found = list(scan(source, OPTIONS, reading=LENGTH, engine=engine))
    assert [one.name for one in found] == ["chrA", "chrB", alone.name, alone.name]
    for again in found[2:]:
        assert np.array_equal(again.omega, alone.omega)


def test_hooks_see_alignments_and_results_in_order(engine):
    seen = []
    scans = iter_scan(
        EDGE / "twochrom.vcf", OPTIONS, engine=engine,
        on_alignment=lambda alignment: seen.append(("alignment", alignment.name)),
        on_result=lambda result: seen.append(("result", result.name)),
    )  # fmt: skip
    assert not seen
    assert next(scans).name == "chrA"
    assert seen[-1] == ("result", "chrA")
    assert ("result", "chrB") not in seen
    assert [one.name for one in scans] == ["chrB"]
    for kind in ("alignment", "result"):
        assert [name for what, name in seen if what == kind] == ["chrA", "chrB"]


def test_a_file_without_an_alignment(engine, tmp_path):
    path = tmp_path / "empty.ms"
    path.write_text("ms 4 0\n1 2 3\n")
    with pytest.raises(InputError, match=r"empty\.ms"):
        list(scan(path, OPTIONS, reading=ReadOptions(length=1000, format="ms"), engine=engine))
    assert not list(scan([], OPTIONS, engine=engine))


def test_a_bad_input_is_told_before_a_device_is_opened():
    with pytest.raises(InputError, match="missing"):
        scan("missing.vcf", OPTIONS, engine="no such device")


def test_seconds_hold_those_of_the_filter(engine, monkeypatch):
    (alignment,) = read_alignments(EDGE / "plain.ms", LENGTH)
    batches = list(filtered_batches([alignment, alignment], OPTIONS))
    assert [len(batch.alignments) for batch in batches] == [2]
    assert batches[0].seconds > 0
    slow = [FilteredBatch(batch.prepared, 2e6) for batch in batches]
    monkeypatch.setattr(sources, "filter_batch", lambda *_: slow[0])
    assert [one.stats.seconds > 1e6 for one in scan([alignment, alignment], OPTIONS, engine=engine)] == [True, True]


def test_counts_the_sites_of_each_window(engine):
    (alignment,) = read_alignments(EDGE / "plain.ms", ReadOptions(length=1_000_000))
    (result,) = scan([alignment], OPTIONS, engine=engine)
    for index in range(OPTIONS.grid):
        inside = (alignment.positions >= result.left[index]) & (alignment.positions <= result.right[index])
        assert result.window_sites[index] == (inside.sum() if result.valid[index] else -1)


def test_says_what_was_left_out(engine):
    options = ScanOptions(grid=10, minwin=100, maxwin=50_000, maf=0.2)
    (result,) = scan(EDGE / "filters.vcf", options, engine=engine)
    assert result.discarded["maf"] > 0
    assert result.sites + result.discarded["maf"] <= 294
    assert set(result.discarded) > {"maf"}


def test_tells_its_progress(engine):
    seen: list[tuple[int, int]] = []
    options = ScanOptions(grid=50, minwin=100, maxwin=50_000, chunk_positions=10)

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    (result,) = scan(EDGE / "plain.ms", options, reading=LENGTH, engine=engine, run=Run(progress=progress))
    assert seen
    assert seen[-1][0] <= seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert result.possible


def test_opens_a_device_by_itself():
    (result,) = scan(EDGE / "few.ms", OPTIONS, reading=LENGTH, engine="cpu")
    assert not result.possible
    assert result.best is None
    assert plot_scans([result]).axes


def test_errors_come_from_the_scan(engine):
    with pytest.raises(InputError, match="missing"):
        scan("missing.vcf", OPTIONS, engine=engine)
    with pytest.raises(UsageError, match="unphased"):
        scan(EDGE / "unphased.vcf", ScanOptions(grid=5, minwin=1, maxwin=50_000, ld="D"), engine=engine)


def test_importing_it_is_cheap():
    code = "import sys, oclgenomics.omega; print([m for m in ('pyopencl', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_all_is_there():
    assert all(hasattr(omega, name) for name in omega.__all__)


def chromosome_x(path: Path, separator: str, single: str, males: int = 6, females: int = 5) -> Path:
    """A VCF whose males are haploid; every seventh site varies among them alone."""
    rng = np.random.default_rng(3)
    names = [f"s{number}" for number in range(females + males)]
    columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
    lines = ["##fileformat=VCFv4.2", "\t".join([*columns, *names])]
    for site in range(60):
        states = (rng.random(2 * females + males) < rng.uniform(0.2, 0.6)).astype(int)
        if site % 7 == 3:
            states[: 2 * females], states[-2:] = 0, (0, 1)
        calls = [f"{a}{separator}{b}" for a, b in states[: 2 * females].reshape(-1, 2)]
        calls += [single.format(state) for state in states[2 * females :]]
        lines.append("\t".join([f"X\t{100 * site + 100}\t.\tA\tG\t.\tPASS\t.\tGT", *calls]))
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.parametrize("separator", ["|", "/"])
def test_haploid_males_among_diploid_females(engine, tmp_path, separator):
    """One haplotype each; in correlations of genotypes homozygous, so that no male and no site is lost."""
    options = ScanOptions(grid=10, minwin=100, maxwin=3000)
    read = list(read_alignments(chromosome_x(tmp_path / "x.vcf", separator, "{0}")))
    (found,) = scan(read, options, engine=engine)
    assert (found.haplotypes, found.data.missing) == (16, 0)
    assert f"{found.haplotypes} haplotypes" in summary_line(found)
    if separator == "/":
        (homozygous,) = scan(chromosome_x(tmp_path / "y.vcf", "/", "{0}/{0}"), options, engine=engine)
        np.testing.assert_allclose(found.omega, homozygous.omega, rtol=1e-6)
        together = scan([*read, *read], options, engine=engine)
        assert all(np.array_equal(one.omega, found.omega) for one in together)
        values = ld_matrix(read[0], 0, 59, engine=engine)
        expected = ld_matrix(next(read_alignments(tmp_path / "y.vcf")), 0, 59, engine=engine)
        np.testing.assert_allclose(values, expected, atol=1e-6)
        assert values[3, 10] > 0
    else:
        filled = filter_alignment(read[0], dataclasses.replace(options, impute={"N"}, seed=1), None).alignment
        assert np.array_equal(filled.valid, read[0].valid)


def test_half_missing_genotypes_do_not_make_a_site_vary(engine, tmp_path):
    half_missing = [[0, 0], [0, 0], [0, -1], [1, -1]]
    calls = np.array([[[0, 1], [0, 0], [0, 0], [1, 0]], half_missing, [[0, 1], [1, 1], [0, 0], [0, 1]]])
    alignment = Alignment.from_genotypes([1, 2, 3], calls, phased=False)
    assert filter_alignment(alignment, OPTIONS, None).discarded == {"monomorphic": 1}


@pytest.mark.parametrize("states", [2, 3])
def test_states_of_half_missing_genotypes_alone_do_not_count(engine, states):
    rng = np.random.default_rng(states)
    calls = rng.integers(0, 2, (12, 20, 2))
    calls[5] = rng.integers(1, states + 1, (20, 2))
    half_missing = calls.copy()
    calls[5, 3], half_missing[5, 3] = [-1, -1], [0, -1]  # the only allele 0 of its site
    options = dataclasses.replace(OPTIONS, maf=0.05)
    read = [Alignment.from_genotypes(np.arange(10, 130, 10), one, phased=False) for one in (calls, half_missing)]
    used, same = (filter_alignment(one, options, None).alignment for one in read)
    same.validate()
    for name in ("bits", "valid", "letters", "multi_site", "multi_bits", "multi_letter"):
        assert np.array_equal(getattr(used, name), getattr(same, name)), name
    known, found = (scan(one, options, engine=engine)[0] for one in read)
    assert (found.sites, found.data) == (known.sites, dataclasses.replace(known.data, missing=found.data.missing))
    assert (known.omega > 0).any()
    np.testing.assert_allclose(found.omega, known.omega, rtol=1e-6)


def test_scans_are_a_sequence_with_one_table(engine, monkeypatch):
    found = scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine)
    assert isinstance(found, Scans)
    assert [one.name for one in found] == ["chrA", "chrB"]
    assert (len(found), found[1].name, [one.name for one in found[:1]]) == (2, "chrB", ["chrA"])
    assert list(found.records()) == [record for one in found for record in one.records()]
    monkeypatch.setattr("oclgenomics.app.tracks.to_frame", dict)
    table = found.to_frame()
    assert {len(column) for column in table.values()} == {2 * OPTIONS.grid}
    assert table["chromosome"].tolist() == ["chrA"] * OPTIONS.grid + ["chrB"] * OPTIONS.grid
    assert table["replicate"].dtype == np.int64
    assert set(map(len, Scans([]).to_frame().values())) == {0}
    assert repr(found).startswith("<Scans: <Scan of 'chrA'")


def test_options_have_defaults(engine):
    (found,) = scan(EDGE / "plain.ms", reading=LENGTH, engine=engine)
    assert len(found.positions) == ScanOptions().grid


def test_keywords_of_the_version_before_still_work(engine):
    seen = []
    with pytest.warns(DeprecationWarning, match="scan: device, threads, progress: give engine="):
        (found,) = scan(
            EDGE / "plain.ms", OPTIONS, reading=LENGTH, device=engine, threads=1,
            progress=lambda done, total: seen.append((done, total)),
        )  # fmt: skip
    assert seen[-1][1] == OPTIONS.grid
    (same,) = scan(EDGE / "plain.ms", OPTIONS, reading=LENGTH, engine=engine)
    np.testing.assert_array_equal(found.omega, same.omega)
    with (
        pytest.warns(DeprecationWarning, match="iter_scan: max_memory"),
        contextlib.closing(iter_scan(EDGE / "plain.ms", OPTIONS, reading=LENGTH, max_memory=1 << 28)) as scans,
    ):
        np.testing.assert_array_equal(next(scans).omega, same.omega)
