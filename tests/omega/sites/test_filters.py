"""Site processing against a loop over sites and haplotypes, and against OmegaPlus' own reports."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.reference import compat_scan, compat_values
from oclgenomics.omega.sites.filters import GlibcRandom, count_states, prepare
from oclgenomics.variation import Alignment, ReadOptions, characters, read_alignments

INPUTS = Path(__file__).parents[2] / "data" / "omega"
REPORTS = Path(__file__).parents[2] / "golden" / "omega"


@pytest.mark.parametrize(
    ("seed", "values"),
    [(1, [1804289383, 846930886, 1681692777, 1714636915]), (42, [71876166, 708592740, 1483128881, 907283241])],
)
def test_random_numbers_are_those_of_glibc(seed, values):
    assert GlibcRandom(seed).draw(4).tolist() == values
    random = GlibcRandom(seed)
    assert [int(random.draw(1)[0]) for _ in range(4)] == values


def test_random_numbers_far_on():
    random = GlibcRandom(1)
    assert np.array_equal(random.draw(1000), GlibcRandom(1).draw(1000))
    assert np.array_equal(random.draw(500), GlibcRandom(1).draw(1500)[1000:])
    assert GlibcRandom(0).draw(1)[0] == 1804289383


@pytest.mark.parametrize("seed", [7, 123456789, 2**31 - 1, 2**31 + 5, 2**32 - 1])
def test_random_numbers_of_this_machines_c_library(seed):
    ctypes = pytest.importorskip("ctypes")
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        pytest.skip("the C library is not glibc")
    libc.srand(ctypes.c_uint(seed))
    assert GlibcRandom(seed).draw(400).tolist() == [libc.rand() for _ in range(400)]


def build(tmp_path: Path, rows: list[str], alphabet: str) -> Alignment:
    """An alignment from haplotype rows, by way of a file; monomorphic DNA columns are gone."""
    path = tmp_path / "x"
    if alphabet == "dna":
        path.write_text("".join(f">{i}\n{row}\n" for i, row in enumerate(rows)))
    else:
        positions = " ".join(f"{i / 100:.2f}" for i in range(len(rows[0])))
        path.write_text(f"//\nsegsites: {len(rows[0])}\npositions: {positions}\n" + "\n".join(rows) + "\n")
    (alignment,) = read_alignments(path, ReadOptions(length=100))
    return alignment


def slow_prepare(columns, order, maf, no_singletons, impute, binary, seed):
    """Columns of characters after all steps, and the counts of dropped ones."""
    random, discarded, kept = GlibcRandom(seed), {}, []
    for column in columns:
        counts = {state: column.count(state) for state in order if state in column}
        total = sum(counts.values())
        if len(counts) < 2:
            reason = "monomorphic"
        elif no_singletons and 1 in counts.values():
            reason = "singleton"
        elif any(count < maf * total for count in counts.values()):
            reason = "maf"
        else:
            kept.append((list(column), counts))
            continue
        discarded[reason] = discarded.get(reason, 0) + 1
    for column, counts in kept:
        for h, state in enumerate(column):
            if (state == "N" and "N" in impute) or (state == "-" and "GAP" in impute):
                at = int(random.draw(1)[0]) % sum(counts.values()) + 1
                for candidate, count in counts.items():
                    if at <= count:
                        column[h] = candidate
                        break
                    at -= count
    for column, _ in kept:
        counts = {state: column.count(state) for state in order if state in column}
        if not binary or len(counts) < 3:
            continue
        ranked = list("ACGT")
        for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):  # equal counts stay in their order, as OmegaPlus has it
            if counts.get(ranked[i], 0) < counts.get(ranked[j], 0):
                ranked[i], ranked[j] = ranked[j], ranked[i]
        for rare in ranked[2:]:  # drawn for, even if nobody has it
            at = int(random.draw(1)[0]) % (counts[ranked[0]] + counts[ranked[1]]) + 1
            column[:] = [(ranked[0] if at <= counts[ranked[0]] else ranked[1]) if c == rare else c for c in column]
    return ["".join(column) for column, _ in kept], discarded


@settings(max_examples=examples(120), deadline=None)
@given(data=st.data(), alphabet=st.sampled_from(["binary", "dna"]))
def test_as_the_loop(tmp_path_factory, data, alphabet):
    letters = data.draw(
        st.sampled_from(["01", "0001-", "01N-"] if alphabet == "binary" else ["AACG", "ACGT", "ACT-N", "AAAC"])
    )
    sites, count = data.draw(st.integers(1, 12)), data.draw(st.sampled_from([2, 5, 31, 33, 64]))
    rows = [data.draw(st.text(letters, min_size=sites, max_size=sites)) for _ in range(count)]
    options = {
        "maf": data.draw(st.sampled_from([0.0, 0.1, 0.25])),
        "no_singletons": data.draw(st.booleans()),
        "impute": frozenset(data.draw(st.sets(st.sampled_from(["N", "GAP"])))),
        "binary": data.draw(st.booleans()),
        "seed": data.draw(st.integers(1, 2**31)),
    }
    alignment = build(tmp_path_factory.mktemp("sites"), rows, alphabet)
    before = [bytes(site).decode() for site in characters(alignment)]
    prepared = prepare(alignment, ScanOptions(**options))
    expected, discarded = slow_prepare(before, "01" if alphabet == "binary" else "ACGT", **options)
    after = prepared.alignment
    assert [bytes(site).decode() for site in characters(after)] == expected
    assert prepared.discarded == discarded
    assert [bytes(site).decode() for site in characters(alignment)] == before
    if options["binary"]:
        assert not len(after.multi_site)
    if alphabet == "dna" and not len(after.multi_site):
        assert after.alphabet == "binary"
        first = [next(c for c in site if c not in "N-") for site in expected]
        assert bytes(after.letters[:, 0]).decode() == "".join(first)
    if after.valid is not None:
        assert not (after.bits & ~after.valid).any()
    counts = count_states(after)
    assert counts.observed.tolist() == [sum(c not in "N-" for c in site) for site in expected]


def test_draws_need_a_seed(tmp_path):
    alignment = build(tmp_path, ["A", "C", "-"], "dna")
    with pytest.raises(UsageError, match="give seed so"):
        prepare(alignment, ScanOptions(impute={"GAP"}))
    assert prepare(alignment, ScanOptions(impute={"N"}, seed=1)).alignment.sites == 1
    with pytest.raises(UsageError, match="give seed so"):
        prepare(build(tmp_path, ["A", "C", "G"], "dna"), ScanOptions(binary=True))


@pytest.mark.parametrize("options", [{"maf": -0.1}, {"maf": 0.6}, {"impute": {"X"}}])
def test_options_out_of_range(tmp_path, options):
    with pytest.raises(UsageError):
        prepare(build(tmp_path, ["A", "C"], "dna"), ScanOptions(**options))


COMMANDS = {
    "maf": ("plain.ms", {"maf": 0.1}),
    "filters": ("filters.vcf", {}),
    "phased": ("phased.vcf", {}),
    "gapimp": ("gap.ms", {"impute": {"GAP"}, "seed": 7}),
    "missimp": ("missing.vcf", {"impute": {"N"}, "seed": 7}),
    "multib": ("multiallelic.vcf", {"binary": True, "seed": 7}),
    "macs4": ("macs4.txt", {}),
    "sing": ("e_sweep50.ms.gz", {"no_singletons": True}),
}


def find(folder: Path, name: str) -> Path:
    """A file anywhere below a folder."""
    return next(folder.rglob(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_reports_of_omegaplus(name):
    """The first alignment of each report, through the oracle of its arithmetic."""
    file, options = COMMANDS[name]
    alignment = next(read_alignments(find(INPUTS, file), ReadOptions(length=1000000)))
    prepared = prepare(alignment, ScanOptions(precision="compat", **options))
    sites = prepared.alignment
    text = characters(sites) == sites.letters[:, 1:]
    rows = compat_scan(compat_values(text), sites.positions, grid=50, minwin=100, maxwin=50000)
    report = re.split(r"\n//\d+\n", find(REPORTS, f"OmegaPlus_Report.{name}").read_text())[1]
    assert "".join("{:.4f}\t{:f}\t{}\t{}\t{}\n".format(*row) for row in rows) == report
    info = find(REPORTS, f"OmegaPlus_Info.{name}")
    dropped = re.search(r"Discarded sites:\s+(\d+)", info.read_text().split("Alignment 2")[0])
    assert sum(prepared.discarded.values()) == (int(dropped[1]) if dropped else 0)
