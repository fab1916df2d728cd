"""A threshold that was made for other data or options is refused; replicates are made after a scan's report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import ScanOptions, Significance, find_peaks, find_thresholds, read_report, read_thresholds, scan
from oclgenomics.omega.formats.scans import read_facts
from oclgenomics.omega.result import DataFacts
from oclgenomics.omega.significance import comparable
from oclgenomics.omega.significance.facts import NullFacts
from oclgenomics.simulate import Region, neutral_alignments
from oclgenomics.simulate.haplotypes.msprime import read_demography
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.observation import Observation, as_observed

OPTIONS = ScanOptions(grid=20, minwin=2_000, maxwin=30_000)
REGION = Region(12, 100_000, 10_000, 1.0, 40.0, sites=120)
WINDOWS = ["--grid", "20", "--minwin", "2k", "--maxwin", "30k", "--length", "100k"]
CPU = ["-d", "cpu"]
ONE_DEME = """
time_units: generations
demes:
  - name: A
    epochs:
      - {start_size: 10000, end_time: 400}
      - {start_size: 500, end_time: 0}
"""


def omega(*words: object) -> int:
    return main(["omega", *map(str, words)])


def replicates(seed: int, number: int, region: Region = REGION, **seen: object):
    return as_observed(neutral_alignments(region, seed, number), Observation(**seen))


@pytest.fixture(scope="module")
def null(device) -> Significance:
    return find_thresholds(replicates(1, 19), OPTIONS, length=100_000, engine=device)


# What differs is refused


OTHER = {
    "haplotypes": (replace(REGION, samples=14), {}, "has 14, for which"),
    "sites": (replace(REGION, sites=150), {}, "sites per kb"),
    "fewer sites": (replace(REGION, sites=100), {}, "sites per kb"),
    "phase": (REGION, {"genotypes": True}, "phased haplotypes, the scan .1. has unphased genotypes"),
    "missing": (REGION, {"missing": 0.1}, "0.0 % of the states missing"),
}


@pytest.mark.parametrize("what", OTHER)
def test_peaks_of_other_data_are_refused(what, null, engine):
    region, seen, message = OTHER[what]
    scans = list(scan(replicates(2, 1, region, **seen), OPTIONS, engine=engine))
    with pytest.raises(UsageError, match=message):
        find_peaks(scans, threshold=null)
    assert find_peaks(scans, quantile=0.5).compared is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grid": 30}, "grid positions .* bp apart"),
        ({"minwin": 1_000}, "minwin"),
        ({"maxwin": 40_000}, "maxwin"),
        ({"minsnps": 6}, "minsnps"),
        ({"border": 50}, "border"),
        ({"ld": "D"}, "ld="),
        ({"maf": 0.1}, "maf"),
        ({"no_singletons": True}, "no_singletons"),
    ],
)
def test_peaks_of_other_options_are_refused(changed, message, null, engine):
    scans = list(scan(replicates(2, 1), replace(OPTIONS, **changed), engine=engine))
    with pytest.raises(UsageError, match=message):
        find_peaks(scans, threshold=null)


def test_regions_left_out_are_compared(null, engine):
    left_out = BedRegions.of([("1", 30_000, 50_000)])
    region = replace(REGION, sites=150)
    scans = list(scan(replicates(2, 1, region), OPTIONS, exclude=left_out, engine=engine))
    assert scans[0].data is not None
    assert scans[0].data.masked == pytest.approx(0.2, abs=0.01)
    with pytest.raises(UsageError, match=r"0.0 % of the bp excluded, the scan \(1\) has 20"):
        find_peaks(scans, threshold=null)


def test_filled_states_are_compared(engine):
    made = find_thresholds(replicates(1, 19, missing=0.1), OPTIONS, engine=engine)
    filling = replace(OPTIONS, impute=frozenset({"N"}), seed=1)
    (filled,) = scan(replicates(2, 1, missing=0.1), filling, engine=engine)
    assert filled.data is not None
    assert filled.data.missing == pytest.approx(0.1, abs=0.02)  # as it was read
    with pytest.raises(UsageError, match="with impute of nothing, and the scan of N"):
        find_peaks([filled], threshold=made)


def test_like_data_are_compared_and_told(null, engine):
    scans = list(scan(replicates(2, 1, replace(REGION, sites=125)), OPTIONS, engine=engine))
    found = find_peaks(scans, threshold=null)
    assert found.compared is not None
    facts = {fact.name: (fact.scan, fact.replicates) for fact in found.compared.facts}
    assert facts["haplotypes"] == (12, 12)
    assert facts["genotypes"] == (False, False)
    assert set(comparable.MUST_AGREE) < set(facts)
    assert "not compared: history of the population" in str(found.compared)
    assert json.loads(json.dumps(found.compared.record()))["facts"][0]["tolerance"] == "equal"


def test_what_is_not_known_is_refused(null, engine):
    (one,) = scan(replicates(2, 1), OPTIONS, engine=engine)
    with pytest.raises(UsageError, match="the scan does not tell what data were scanned"):
        find_peaks([replace(one, data=None)], threshold=null)
    with pytest.raises(UsageError, match="does not tell with which minwin"):
        find_peaks([replace(one, parameters={})], threshold=null)
    with pytest.raises(UsageError, match="the thresholds does not tell what data its replicates were"):
        find_peaks([one], threshold=replace(null, data=None))


def test_replicates_that_differ_fit_nothing(null, engine):
    (one,) = scan(replicates(2, 1), OPTIONS, engine=engine)
    assert null.data is not None
    for mixed in (replace(null.data, fewest_haplotypes=10), replace(null.data, genotypes=None)):
        with pytest.raises(UsageError, match=r"10 to 12 haplotypes|both phased and unphased"):
            find_peaks([one], threshold=replace(null, data=mixed))


def test_the_range_of_replicates_with_a_mutation_rate_counts(null, engine):
    (one,) = scan(replicates(2, 1, replace(REGION, sites=160)), OPTIONS, engine=engine)
    assert null.data is not None
    wide = replace(null.data, most_density=0.0017)
    compared = find_peaks([one], threshold=replace(null, data=wide)).compared
    assert compared is not None
    assert "within the range of the replicates (1.197 to 1.7)" in compared.warnings[0]
    assert find_peaks([one], threshold=replace(null, data=replace(wide, density=0.00155))).compared.warnings == ()


def test_an_order_that_is_taken_for_phase_is_told(null, engine):
    (one,) = scan(replicates(2, 1), OPTIONS, engine=engine)
    for phase, count in (("ignore", 1), ("auto", 0)):
        compared = find_peaks([replace(one, parameters={**one.parameters, "phase": phase})], threshold=null).compared
        assert compared is not None
        assert len(compared.warnings) == count


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"haplotypes": 14}, "has 12 to 14 haplotypes, and the neutral replicates have 12"),
        ({"genotypes": True}, "has unphased genotypes, and the neutral replicates have phased"),
        ({"missing": 0.06}, r"has 6.0 % of the states missing"),
        ({"masked": 0.2}, r"has 20.0 % of the bp excluded"),
        ({"density": 0.002}, r"has 2 sites per kb, and the neutral replicates have 1.2"),
        ({"spacing": 2_000.0}, "has positions 2,000 bp apart"),
    ],
)
def test_sweeps_of_other_data_are_refused(changed, message, null):
    assert null.data is not None
    assert comparable.check_sweeps(null.data, null.data, "x") is None
    with pytest.raises(UsageError, match=message):
        comparable.check_sweeps(null.data, replace(null.data, **changed), "--sweeps x")
    fewer = replace(null.data, density=0.0008, least_density=0.0007)
    assert "has 0.8 sites per kb" in str(comparable.check_sweeps(null.data, fewer, "--sweeps x"))


# Files


@pytest.fixture(scope="module")
def folder(tmp_path_factory, device) -> Path:
    folder = tmp_path_factory.mktemp("null")
    common = [
        "simulate",
        "omega",
        "--samples",
        "12",
        "--rho",
        "40",
        "--length",
        "100000",
        "-q",
        "--seed",
        "3",
        "--replicates",
        "1",
    ]
    for name, words in {
        "one.vcf": ["--sites", "120", "--format", "vcf", "--unphased", "1", "--missing", "0.03"],
        "neutral.ms": ["--sites", "120", "--replicates", "19"],
        "one.ms": ["--sites", "118"],
        "more.ms": ["--sites", "240"],
    }.items():
        assert main([*common, *words, "-o", str(folder / name)]) == 0
    for name in ("one.vcf", "one.ms", "more.ms"):
        for format in ("tsv", "json"):
            out = folder / f"{name}.{format}"
            assert omega("scan", folder / name, *WINDOWS, "--format", format, "-o", out, *CPU, "-q") == 0
    words = [folder / "neutral.ms", *WINDOWS, "--json", "-o", folder / "t.json", *CPU, "-q"]
    assert omega("threshold", *words) == 0
    return folder


@pytest.mark.parametrize("format", ["tsv", "json"])
def test_reports_keep_what_was_scanned(format, folder):
    (track,) = read_report(folder / f"one.vcf.{format}").tracks
    assert track.data is not None
    assert (track.data.haplotypes, track.data.genotypes) == (12, True)
    assert track.data.missing == pytest.approx(0.03, abs=0.015)
    assert len(track.positions) == 20


def test_a_broken_line_of_facts(folder, tmp_path):
    text = (folder / "one.ms.tsv").read_text()
    broken = tmp_path / "broken.tsv"
    for wrong in ("haplotypes=x", "haplotypes=-1"):
        broken.write_text(text.replace("haplotypes=12", wrong))
        with pytest.raises(InputError, match=r"line \d+: the line of what was scanned is broken"):
            read_report(broken)
    assert read_facts({"haplotypes": 3}) is None


@pytest.mark.parametrize("format", ["tsv", "json"])
@pytest.mark.parametrize("name", ["one.vcf", "more.ms"])
def test_peaks_of_a_report(name, format, folder, capsys):
    assert omega("peaks", folder / f"{name}.{format}", "--threshold", folder / "t.json") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert ("unphased genotypes" if name == "one.vcf" else "sites per kb") in told.err


def test_peaks_tell_what_was_compared(folder, capsys):
    for format in ("bed", "tsv", "json"):
        words = ["peaks", folder / "one.ms.tsv", "--threshold", folder / "t.json", "--format", format]
        assert omega(*words) == 0
        told = capsys.readouterr()
        assert "compared with the replicates: haplotypes 12, genotypes no, sites per kb" in told.err
        if format == "json":
            assert json.loads(told.out)["compared"]["facts"][0] == {
                "fact": "haplotypes", "scan": 12, "replicates": 12, "tolerance": "equal",
            }  # fmt: skip
        else:
            assert "# compared: haplotypes 12" in told.out


def test_a_figure_with_a_line_for_other_data(folder, tmp_path, capsys):
    words = ["scan", folder / "more.ms", *WINDOWS, *CPU, "-o", tmp_path / "x", "--plot", tmp_path / "x.svg"]
    assert omega(*words, "--threshold", folder / "t.json") == 2
    assert "sites per kb" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_changed_file_of_thresholds(folder, tmp_path):
    text = (folder / "t.json").read_text()
    assert read_thresholds(folder / "t.json").thresholds
    record = json.loads(text)
    for name in ("thresholds", "data", "scan", "maxima", "length"):
        changed = json.loads(text)
        if name == "thresholds":
            changed[name][0]["omega"] /= 2
        elif name == "maxima":
            changed[name]["omega"][0] += 1
        elif name == "length":
            changed[name] = 5
        else:
            changed[name]["haplotypes" if name == "data" else "minwin"] = 40
        (tmp_path / "t.json").write_text(json.dumps(changed))
        with pytest.raises(InputError, match="was changed after it was written"):
            read_thresholds(tmp_path / "t.json")
    (tmp_path / "t.json").write_text(json.dumps(record))  # written in another way, but the same
    assert read_thresholds(tmp_path / "t.json").data == read_thresholds(folder / "t.json").data


# Replicates after a report


def test_replicates_are_made_after_the_report(folder, tmp_path, capsys):
    out = tmp_path / "t.json"
    words = ["--scan", folder / "one.vcf.tsv", "--seed", "4", "--replicates", "19", "--jobs", "1", "--rho", "40"]
    assert omega("threshold", *words, "--json", "-o", out, *CPU) == 0
    told = capsys.readouterr().err
    assert "taken from" in told
    assert "--genotypes --missing 0.0" in told
    assert "compared with the replicates: haplotypes 12, genotypes yes" in told
    made, (track,) = json.loads(out.read_text()), read_report(folder / "one.vcf.tsv").tracks
    assert track.data is not None
    assert made["scan"]["grid"] == 20
    assert (made["scan"]["minwin"], made["scan"]["maxwin"]) == (2_000, 30_000)
    assert (made["data"]["haplotypes"], made["data"]["genotypes"]) == (12, True)
    assert made["data"]["missing"] == pytest.approx(track.data.missing, abs=0.01)
    assert abs(made["length"] - 100_000) < 4_000
    assert made["compared"]["facts"][0]["fact"] == "haplotypes"
    assert omega("peaks", folder / "one.vcf.tsv", "--threshold", out, "-q") == 0


def test_a_stretch_of_the_scan(folder, tmp_path, capsys):
    out = tmp_path / "t.json"
    words = ["--scan", folder / "more.ms.json", "--length", "50k", "--seed", "4", "--replicates", "19", "--jobs", "1"]
    assert omega("threshold", *words, "--json", "-o", out, *CPU) == 0
    assert "is those of a stretch" not in capsys.readouterr().err
    made = json.loads(out.read_text())
    assert made["scan"]["grid"] in (10, 11)
    assert omega("peaks", folder / "more.ms.tsv", "--threshold", out) == 0
    assert "are those of a stretch of 50,000 bp" in capsys.readouterr().err


def test_regions_of_the_report_are_left_out(folder, tmp_path, capsys):
    bed, report, out = tmp_path / "x.bed", tmp_path / "x.tsv", tmp_path / "t.json"
    bed.write_text("1\t20000\t45000\n")
    assert omega("scan", folder / "more.ms", *WINDOWS, "--exclude", bed, "-o", report, *CPU, "-q") == 0
    words = ["--scan", report, "--seed", "4", "--replicates", "19", "--jobs", "1", "--json", "-o", out, *CPU]
    assert omega("threshold", *words) == 0
    assert f"--exclude {bed}" in capsys.readouterr().err
    assert json.loads(out.read_text())["data"]["masked"] == pytest.approx(0.25, abs=0.02)
    bed.unlink()
    assert omega("threshold", *words) == 2
    assert "which is not there; name it by --exclude" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scan", "FOLDER/one.ms.tsv", "--samples", "10", "--seed", "1"], "has 12 haplotypes and the replicates"),
        (["--scan", "FOLDER/one.ms.tsv", "--minsnps", "9", "--seed", "1"], "minsnps"),
        (["FOLDER/neutral.ms", "--length", "100k", "--scan", "FOLDER/more.ms.tsv"], "sites per kb"),
        (["FOLDER/neutral.ms", "--length", "100k", "--grid", "9"], "give --minwin, or --scan REPORT"),
        (["FOLDER/neutral.ms", *WINDOWS, "--sweeps", "FOLDER/one.vcf", "--site", "50k"], "one.vcf: has unphased genot"),
        (["FOLDER/neutral.ms", *WINDOWS, "--missing", "1"], "--missing 1.0: the share of missing calls"),
        (["--scan", "FOLDER/one.ms.tsv", "--seed", "1", "--deme", "A"], "--deme has no effect without --demes"),
        (["--scan", "FOLDER/one.ms.tsv", "--seed", "1", "--demes", "x", "--theta", "1"], "--theta has no effect"),
        (["--scan", "FOLDER/one.ms.tsv", "--seed", "1", "--demes", "FOLDER/t.json"], "is no history in the demes"),
    ],
)
def test_mistakes(words, message, folder, capsys):
    if "--demes" in words:
        pytest.importorskip("msprime")
    shown = [str(word).replace("FOLDER", str(folder)) for word in words]
    few = ["--replicates", "19", "--jobs", "1"] if shown[0] == "--scan" else []
    assert omega("threshold", *shown, *few, *CPU) == (3 if "is no history" in message else 2)
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err.splitlines()[-1]


def test_genotypes_of_an_odd_number_of_haplotypes():
    odd = replace(REGION, samples=11)
    with pytest.raises(UsageError, match="replicate 1 has 11"):
        next(replicates(1, 1, odd, genotypes=True))


def test_what_is_observed_is_what_was_simulated():
    (whole,), (seen,) = list(neutral_alignments(REGION, 5, 1)), list(replicates(5, 1, genotypes=True, missing=0.2))
    seen.validate()
    assert seen.valid is not None
    assert np.array_equal(seen.bits, whole.bits & seen.valid)
    pairs = (seen.valid >> np.uint32(1) ^ seen.valid) & np.uint32(0x55555555)
    assert not pairs.any()  # both haplotypes of a call
    states = np.unpackbits(whole.bits.view(np.uint8), axis=None, bitorder="little").reshape(-1, 32)[:, :12]
    assert seen.unphased_calls == int((states[:, ::2] != states[:, 1::2]).sum())


# Histories


def test_a_history_changes_what_is_drawn(tmp_path):
    pytest.importorskip("msprime")
    path = tmp_path / "history.yaml"
    path.write_text(ONE_DEME)
    history = read_demography(path)
    assert history.deme == "A"
    grown = list(neutral_alignments(REGION, 1, 8, engine="msprime", demography=history))
    steady = list(neutral_alignments(REGION, 1, 8, engine="msprime"))
    assert [one.sites for one in grown] == [one.sites for one in steady] == [120] * 8

    def singletons(alignments) -> float:
        counts = np.concatenate([np.bitwise_count(one.bits[0]) for one in alignments])
        return float(np.mean((counts == 1) | (counts == 11)))

    assert singletons(grown) < 0.8 * singletons(steady)  # few lineages are old enough to differ


def test_histories_that_do_not_say_what_to_sample(tmp_path):
    pytest.importorskip("msprime")
    path = tmp_path / "history.yaml"
    path.write_text(ONE_DEME + "  - name: B\n    epochs:\n      - {start_size: 100}\n")
    with pytest.raises(UsageError, match="name one that lives to the present: A, B"):
        read_demography(path)
    assert read_demography(path, "B").deme == "B"
    path.write_text("demes: 5")
    with pytest.raises(InputError, match="is no history in the demes format"):
        read_demography(path)
    with pytest.raises(UsageError, match="demes needs engine='msprime'"):
        next(neutral_alignments(REGION, 1, 1, demography=_any_history()))


def _any_history():
    from oclgenomics.simulate.haplotypes.msprime import Demography

    return Demography(ONE_DEME, "A")


# Facts


def test_facts_of_replicates():
    data = DataFacts(10, 5, False, 0.1, 0.0)
    nan = float("nan")
    facts = NullFacts.of([(data, 0.1, 5.0), (replace(data, genotypes=True, missing=0.3), 0.3, 7.0), (data, nan, nan)])
    assert facts is not None
    assert (facts.genotypes, facts.missing, facts.spacing) == (None, pytest.approx(0.2), 6.0)
    assert (facts.least_density, facts.most_density) == (0.1, 0.3)
    assert NullFacts.read(json.loads(json.dumps(facts.record()))) == facts
    assert NullFacts.of([(data, nan, nan)]) is None
    for wrong in ({"genotypes": "x"}, {"density": "1"}, {"missing": -1}):
        with pytest.raises((ValueError, TypeError)):
            NullFacts.read(facts.record() | wrong)
