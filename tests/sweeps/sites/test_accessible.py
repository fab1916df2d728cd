"""`--accessible`: which sites and bp count, which windows have no value, and which thresholds hold."""

from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import oracle_counts, rows_of, spectrum, states_of, varying

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import SweepOptions, reference, scan
from oclgenomics.sweeps.plan import sites_known
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import used_sites
from oclgenomics.sweeps.statistics.ehh import CoreSites, core_sites
from oclgenomics.variation import BedRegions
from oclgenomics.variation.bed import MAX_BP

WIDTH = 8
REGIONS = ((2000, 2600), (0, 900), (2500, 5200), (5600, 9000))  # neither in order nor disjoint
CLEAN = str(Path(__file__).parents[2] / "data" / "sweeps" / "phased_clean.vcf.gz")


def bed(path: Path, *regions: tuple[int, int], name: str = "1") -> str:
    text = "track name=mask\n" + "".join(f"{name}\t{start}\t{end}\n" for start, end in regions)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


@pytest.mark.parametrize("least", [0.5, 0.95])
def test_values_count_accessible_sites_and_bp_alone(engine: Engine, least: float, tmp_path: Path) -> None:
    alignment = varying(np.random.default_rng(4), 180, 12)
    path = bed(tmp_path / "mask.bed.gz", *REGIONS)
    options = SweepOptions(width=WIDTH, accessible=path, min_accessible=least)
    (found,) = scan(alignment, options, engine=engine)
    bp = {at for start, end in REGIONS for at in range(start + 1, end + 1)}
    states, seen = states_of(alignment)
    counts = spectrum(states, seen)
    keep = [s for s, (d, t) in enumerate(counts) if 0 < d < t and int(alignment.positions[s]) in bp]
    rows, at = rows_of(states[keep], seen[keep]), alignment.positions[keep].tolist()
    assert found.discarded["inaccessible"] == sum(int(x) not in bp for x in alignment.positions)
    assert found.sites == len(keep)
    total, unknown = len(bp & set(range(at[0] + 1, at[-1] + 1))), 0
    for i, pair in enumerate(oracle_counts(rows, WIDTH)):
        inside = [counts[s] for s in keep[i : i + WIDTH]]
        open_bp = len(bp & set(range(at[i], at[i + WIDTH - 1] + 1)))
        edges = sum(reference.edges(*one, 1) for one in inside)
        mu = reference.mu(open_bp - 1, total, len(at), WIDTH, edges, 12, pair)
        expected = dict(zip(("mu_var", "mu_sfs", "mu_ld", "mu"), mu, strict=True))
        expected |= reference.diversity(inside, open_bp)
        few = open_bp < least * (at[i + WIDTH - 1] - at[i] + 1)
        unknown += few
        for name, value in expected.items():
            assert found.values[name][i] == pytest.approx(math.nan if few else value, nan_ok=True), name
    assert 0 < unknown < len(found.positions)
    assert found.facts.accessible == pytest.approx(len(bp & set(range(at[0], at[-1] + 1))) / (at[-1] - at[0] + 1))


def test_windows_of_haplotypes_that_are_hardly_accessible_have_no_value(engine: Engine, tmp_path: Path) -> None:
    alignment = varying(np.random.default_rng(5), 200, 12)
    path = bed(tmp_path / "mask.bed", (0, 3000), (7000, 20_000))
    options = SweepOptions(statistics=["h12"], width=10, haplotype_window=10, haplotype_step=1, accessible=path)
    (found,) = scan(alignment, options, engine=engine)
    lost = np.where((found.start <= 3000) & (found.end > 7000), 4000, 0)
    few = found.end - found.start + 1 - lost < (found.end - found.start + 1) / 2
    assert few.any()
    np.testing.assert_array_equal(np.isnan(found.values["h12"]), few)


def test_walks_end_at_inaccessible_stretches_that_are_longer_than_the_largest_gap() -> None:
    alignment = varying(np.random.default_rng(6), 100, 12)
    accessible = BedRegions.of([("1", 0, 2000), ("1", 3000, 9000)])
    cores: dict[int, CoreSites] = {}
    for gap in (900, 1400):
        options = SweepOptions(statistics=["nsl"], ehh_maf=0, ehh_max_gap=gap)
        used = used_sites(alignment, options, None, None, accessible=accessible)
        cores[gap] = core_sites(used, options, Mask.of(None, "1", options, accessible))
    first = int(np.searchsorted(cores[900].positions, 3000))
    steps = np.diff(cores[900].positions)
    assert cores[900].gaps[first] == steps[first - 1] > 1000  # all bp count
    assert [int(cores[gap].barriers[first]) for gap in (900, 1400)] == [2, 0]
    assert np.array_equal(cores[1400].gaps[1:], steps)


def test_chromosomes_that_the_mask_does_not_have(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sweeps", "scan", CLEAN, "-d", str(device.index), "--accessible"]
    path = bed(tmp_path / "other.bed", (0, 10**6), name="2")
    assert main([*words, path]) == 0
    out, err = capsys.readouterr()
    assert f"1: warning: {path} does not have it, so nothing of it is accessible\n" in err
    assert out.splitlines()[-1].startswith("# data: haplotypes=80 sites=0 ")
    assert " inaccessible)" in err
    assert main([*words, bed(tmp_path / "chr.bed", (0, 10**6), name="chr1")]) == 2
    assert "its chromosome chr1 is called 1 in the input; rename one of them" in capsys.readouterr().err
    assert main([*words, path, "--precision", "compat"]) == 2
    assert "RAiSD counts all bp of a region" in capsys.readouterr().err
    assert main([*words, path, "--min-accessible", "2"]) == 2
    assert "--min-accessible 2.0: give a share, 0 to 1" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "none.bed")]) == 3
    assert "none.bed: no such file" in capsys.readouterr().err


def test_thresholds_hold_for_scans_with_their_mask(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own = ["-d", str(device.index), "--stat", "mu,pi", "-w", "20"]
    bed(Path("mask.bed"), *((start, start + 1500) for start in range(0, 200_000, 2000)))
    assert main(["sweeps", "scan", CLEAN, *own, "--accessible", "mask.bed", "-o", "scan.tsv"]) == 0
    facts = next(line for line in Path("scan.tsv").read_text().splitlines() if line.startswith("# data: "))
    share = float(facts.partition(" accessible=")[2].split()[0])
    assert 0.7 < share < 0.8
    capsys.readouterr()
    line = "sweeps threshold --scan scan.tsv --length 50k --replicates 19 --seed 1 --jobs 1 --json -o null.json"
    assert main([*line.split(), *own[:2]]) == 0
    assert "compared with the replicates: 80 haplotypes" in capsys.readouterr().err
    record = json.loads(Path("null.json").read_text())
    assert (record["scan"]["accessible"], record["scan"]["min_accessible"]) == ("mask.bed", 0.5)
    assert record["data"]["accessible"] == pytest.approx(0.75, abs=0.02)
    assert main(["sweeps", "peaks", "scan.tsv", "--threshold", "null.json", "--json"]) == 0
    assert main(["sweeps", "scan", CLEAN, *own, "-o", "plain.tsv", "-q"]) == 0
    capsys.readouterr()
    assert main(["sweeps", "peaks", "plain.tsv", "--threshold", "null.json"]) == 2
    assert "scanned with accessible mask.bed, and the scan with accessible None" in capsys.readouterr().err
    lines = Path("mask.bed").read_text().splitlines(keepends=True)
    Path("copy.bed.gz").write_bytes(gzip.compress("".join(lines[:0:-1]).encode()))
    for name, lines_of, status in (("copy.bed.gz", None, 0), ("mask.bed", lines[:60] + lines[61:], 2)):
        if lines_of is not None:
            Path(name).write_text("".join(lines_of))
        assert main(["sweeps", "scan", CLEAN, *own, "--accessible", name, "-o", "again.tsv", "-q"]) == 0
        capsys.readouterr()
        assert main(["sweeps", "peaks", "again.tsv", "--threshold", "null.json"]) == status
    assert "null.json: its mask (accessible) has other bp than that of the scan (1)" in capsys.readouterr().err
    assert main([*line.split(), *own[:2]]) == 2  # before anything is simulated
    assert "mask.bed: its mask (--accessible) has other bp than that of scan.tsv (1)" in capsys.readouterr().err
    Path("mask.bed").rename("moved.bed")
    assert main([*line.split(), *own[:2]]) == 2
    assert "--accessible mask.bed: there is no such file; name that of the scan" in capsys.readouterr().err
    bed(Path("two.bed"), (0, 1000))
    Path("two.bed").write_text(Path("two.bed").read_text() + "2\t0\t10\n")
    alone = "sweeps threshold --length 50k --samples 20 --sites 100 --replicates 19 --seed 1 --accessible two.bed"
    assert main([*alone.split(), *own]) == 2
    assert "has 2 chromosomes, and nothing says which of them" in capsys.readouterr().err
    os.mkfifo("pipe.bed")  # nobody writes into it
    assert main([*alone.replace("two.bed", "pipe.bed").split(), *own]) == 2
    assert "pipe.bed: is a pipe or a device, and it is read twice" in capsys.readouterr().err


def test_the_least_share_counts_both_ends_of_a_window() -> None:
    accessible, options = BedRegions.of([("1", 0, 1), ("1", 3, 4)]), SweepOptions()
    assert [one.tolist() for one in accessible.outside("1")] == [[1, 4], [3, MAX_BP]]
    assert [one.tolist() for one in accessible.outside("2")] == [[0], [MAX_BP]]
    mask = Mask.of(None, "1", options, accessible)
    assert sites_known(np.array([1.0, 1.0]), np.array([4.0, 5.0]), options, mask).tolist() == [True, False]
