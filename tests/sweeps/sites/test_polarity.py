"""`--ancestral`: which statistics depend on the derived state, and what they leave out."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import spectrum, states_of, varying

from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import SweepOptions, reference, scan
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, compare, thresholds
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.selection import take_sites

CLEAN = Path(__file__).parents[2] / "data" / "sweeps" / "phased_clean.vcf.gz"
EVERY = ("mu", "pi", "theta", "tajima_d", "fay_wu_h", "h12", "nsl", "clr")
WIDTH = 8


def with_bases(alignment: Alignment, ancestral: str) -> Alignment:
    """The same sites with the alleles A and C, and ancestral bases: one for each, in turn."""
    at = np.sort(np.random.default_rng(2).choice(np.arange(1, 40 * alignment.sites), alignment.sites, replace=False))
    letters = np.tile(np.frombuffer(b"AC", np.uint8), (alignment.sites, 1))
    bases = np.frombuffer((ancestral * alignment.sites)[: alignment.sites].encode(), np.uint8)
    return replace(alignment, positions=at, alphabet="dna", letters=letters, ancestral=bases)


@pytest.mark.parametrize("genotypes", [False, True])
def test_statistics_of_the_derived_state(genotypes: bool, engine: Engine) -> None:
    alignment = with_bases(varying(np.random.default_rng(3), 160, 12, 0.03), "AGCC.a")
    alignment.ploidy, alignment.unphased = (2, True) if genotypes else (1, False)
    chosen = {"statistics": [*EVERY], "width": WIDTH, "haplotype_window": 20, "ehh_edge": "keep", "max_missing": 1.0,
              "missing": "drop", "step": 100}  # fmt: skip
    (found,) = scan(alignment, SweepOptions(**chosen, ancestral="AA"), engine=engine)
    (plain,) = scan(alignment, SweepOptions(**chosen), engine=engine)
    for name in ("mu", "pi", "theta", "tajima_d", "h12"):
        np.testing.assert_array_equal(found.values[name], plain.values[name], err_msg=name)
    states, seen = states_of(alignment)
    counts = spectrum(states, seen)
    keep = [s for s, (d, t) in enumerate(counts) if 0 < d < t == 12]
    assert alignment.ancestral is not None
    bases = alignment.ancestral.tobytes().decode()
    known = {s: (counts[s][0] if bases[s] == "A" else 12 - counts[s][0], 12) for s in keep if bases[s] in "AC"}
    at = alignment.positions
    blind = 0
    for row, (start, end) in enumerate(zip(found.start, found.end, strict=True)):
        inside = [one for s, one in known.items() if start <= at[s] < end]
        expected = reference.diversity(inside, 1.0)["fay_wu_h"]
        if not inside and any(start <= at[s] < end for s in keep):
            expected, blind = np.nan, blind + 1
        assert found.values["fay_wu_h"][row] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert blind
    others = sum(bases[s] == "G" for s in keep)
    text = (
        f"the ancestral state of {len(keep) - len(known):,} of {len(keep):,} sites is not known, at {others:,} of them"
    )
    assert found.remarks[0].removeprefix("warning: ").startswith(text)
    assert found.remarks[0].endswith("because it is neither allele; left out by fay_wu_h, nsl, clr")
    assert found.facts.unpolarised == pytest.approx(1 - len(known) / len(keep))
    scores, usual = found.details["nsl"], plain.details["nsl"]
    assert scores.unscored["ancestral state not known"] > 0
    turned = np.isin(scores.positions, at[[s for s in known if bases[s] == "C"]])
    same = np.isin(usual.positions, scores.positions)
    assert 0 < turned.sum() < len(turned)
    for ours, own, other in (("first", "first", "second"), ("second", "second", "first")):
        expected = np.where(turned, getattr(usual, other)[same], getattr(usual, own)[same])
        np.testing.assert_array_equal(getattr(scores, ours), expected)
    np.testing.assert_allclose(scores.frequency, np.where(turned, 1 - usual.frequency[same], usual.frequency[same]))


def test_clr_takes_polarised_sites_alone_unless_it_is_folded(engine: Engine) -> None:
    alignment = with_bases(varying(np.random.default_rng(5), 120, 12), "CGA")
    ends = [0, alignment.sites - 1]
    assert alignment.ancestral is not None
    alignment.ancestral = alignment.ancestral.copy()
    alignment.ancestral[ends] = ord("C")
    known = alignment.ancestral != ord("G")
    clr = {"statistics": ["clr"], "step": 200, "ancestral": "AA"}
    part = take_sites(alignment, known)
    one, other = (scan(each, SweepOptions(**clr), engine=engine)[0] for each in (alignment, part))
    assert one.positions.tolist() == other.positions.tolist()
    np.testing.assert_array_equal(one.values["clr"], other.values["clr"])
    (plain,) = scan(part, SweepOptions(**(clr | {"ancestral": None})), engine=engine)
    assert not np.array_equal(one.values["clr"], plain.values["clr"])
    folds = [SweepOptions(**(clr | {"clr_folded": True, "ancestral": source})) for source in ("AA", None)]
    whole, folded = (scan(alignment, options, engine=engine)[0] for options in folds)
    np.testing.assert_array_equal(whole.values["clr"], folded.values["clr"])
    assert "left out" not in whole.remarks[0]


def test_thresholds_of_the_derived_state_need_it(engine: Engine) -> None:
    alignment = with_bases(varying(np.random.default_rng(6), 120, 12), "ACG")
    scans = scan(alignment, SweepOptions(ancestral="AA", width=WIDTH), engine=engine)
    facts, density = scans[0].facts, (scans[0].facts.sites - 1) / (scans[0].end.max() - scans[0].start.min())
    data = NullFacts(12, 12, False, 0.0, density, density, density)
    for name, refused in (("fay_wu_h", True), ("mu", False)):
        array = np.arange(4.0)
        null = Significance(
            scans[0].parameters, 1000, data, {name: array}, {name: array}, tuple(thresholds(name, array, [0.25]))
        )
        if refused:
            with pytest.raises(UsageError, match=f"at {100 * (facts.unpolarised or 0):.1f} % of those of it"):
                compare(null, scans, "it")
        else:
            compare(null, scans, "it")


def test_ancestral_bases_of_a_file(device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = gzip.decompress(CLEAN.read_bytes()).decode().splitlines()
    records = [line.split("\t") for line in lines if not line.startswith("#")]
    sequence = bytearray(b"N" * int(records[-1][1]))
    for number, record in enumerate(records):  # ancestral is REF, ALT or unknown, in turn
        sequence[int(record[1]) - 1] = ord((record[3], record[4], "-")[number % 3])
    fasta, vcf, reports = tmp_path / "x.fa", tmp_path / "x.vcf", []
    fasta.write_bytes(b">ANCESTOR_for_chromosome:X:%s:1:9:1\n%s\n" % (records[0][0].encode(), bytes(sequence)))
    for number, record in enumerate(records):
        record[7] = f"AA={(record[3], record[4], '-')[number % 3]}|||"
    header = [line for line in lines if line.startswith("#")]
    vcf.write_text("\n".join([*header, *("\t".join(record) for record in records)]) + "\n")
    own = ["-d", str(device.index), "--stat", "fay_wu_h", "-w", "20"]
    for source, ancestral in ((CLEAN, fasta), (vcf, "AA")):
        assert main(["sweeps", "scan", str(source), "--ancestral", str(ancestral), *own]) == 0
        out, err = capsys.readouterr()
        reports.append([line for line in out.splitlines() if not line.startswith("#")])
        assert "1: the ancestral state of 201 of 604 sites is not known; left out by fay_wu_h\n" in err
        assert " unpolarised=0.3" in out
    assert reports[0] == reports[1]
    assert main(["sweeps", "scan", str(CLEAN), *own, "--ancestral", "AA"]) == 0
    assert "warning: the ancestral state of 604 of 604 sites is not known" in capsys.readouterr().err
    fasta.write_text(">other\nACGT\n")
    assert main(["sweeps", "scan", str(CLEAN), *own, "--ancestral", str(fasta)]) == 0
    assert "warning: the ancestral state of 604 of 604 sites is not known" in capsys.readouterr().err
    for words, status, message in (
        (["--ancestral", "none.fa"], 3, "none.fa: no such file"),
        (["--ancestral", str(CLEAN)], 3, "is no FASTA"),
        (["--ancestral", "AA", "--ancestral-confidence", "low"], 2, "choose one of high, any"),
    ):
        assert main(["sweeps", "scan", str(CLEAN), *own, *words]) == status
        assert message in capsys.readouterr().err
