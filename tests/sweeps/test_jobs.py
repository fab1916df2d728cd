"""Scans in pieces give what one scan gives, bit for bit; pieces of different scans are refused."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.pieces import check_combined, check_refusals, make_pieces, no_engine, outputs_of
from helpers.products import examples
from helpers.sweep_sites import SEEDS, few_haplotypes, varying
from hypothesis import given, settings, strategies as st

from oclgenomics.app.jobs import Job, Spread, make_piece
from oclgenomics.app.pieces import PieceFile, Shard
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.records import HEAD, pack_record, unpack_record
from oclgenomics.runtime import Device, Engine
from oclgenomics.simulate import NeutralReplicates, Region
from oclgenomics.sweeps import (
    Run,
    Scan,
    ScanJob,
    SweepOptions,
    ThresholdJob,
    find_thresholds,
    jobs,
    read_thresholds,
    scan,
)
from oclgenomics.sweeps.formats.thresholds import as_json
from oclgenomics.sweeps.plan import Portion
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.observation import Observation

INPUTS = Path(__file__).parents[1] / "data" / "sweeps"
CLEAN, UNPHASED, THREE, MISSING = (
    str(INPUTS / f"{name}.vcf.gz") for name in ("phased_clean", "unphased", "threechrom", "missing140")
)
SWEEP = str(INPUTS / "sweep40.ms.gz")
EVERY = "mu,pi,theta,tajima_d,fay_wu_h,h1,h12,h123,h2_h1,lassi,saltilassi,nsl,ihs,clr"
SMALL = ["-w", "20", "--haplotype-window", "30", "--haplotype-step", "7", "--ehh-edge", "keep"]
REGION = Region(12, 200_000, 10_000, theta=40, rho=40)
OTHER_OPTIONS = {
    "statistics": ["mu"], "width": 8, "edge": 2, "grid": 9, "step": 7, "window": 9, "precision": "compat", "maf": 0.1,
    "missing": "drop", "max_missing": 0.2, "on_exclude": "drop", "ehh_maf": 0.1, "ehh_max_gap": 9, "ehh_edge": "keep",
    "haplotype_window": 9, "haplotype_step": 9, "clr_step": 9, "clr_folded": True, "clr_spectrum": "x",
    "recombination_map": "x", "populations": "x", "between": ("a", "b"),
    "refine": 5, "refine_margin": 5, "refine_quantile": 0.5,
    "accessible": "x", "min_accessible": 0.1, "ancestral": "AA", "ancestral_confidence": "any",
    "impute_seed": 3,
}  # fmt: skip


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small alignments cut, too."""
    monkeypatch.setattr(jobs, "GRAIN", 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Stored:
    """A piece in memory, whose parts went through bytes."""

    name: str
    kept: list[Any]

    def parts(self, kinds: Sequence[type]) -> Iterator[Any]:
        for part in self.kept:
            head, text, *arrays = pack_record(part)
            assert HEAD.unpack(head)
            yield unpack_record(text, bytearray(b"".join(arrays)), kinds)


def combined(job: Job[Any], number: int, engine: Engine) -> list[Any]:
    """What the pieces of a job come to, which are so many."""
    made = [Stored(str(one), list(job.parts(engine, Run(), Shard(one, number)))) for one in range(1, number + 1)]
    return list(job.combined(made))  # type: ignore[arg-type]


def scans_of(parts: Sequence[Any]) -> list[Scan]:
    return [one for one in parts if isinstance(one, Scan)]


def plain(value: Any) -> Any:
    """All that is in a value, so that two can be compared; NaN is equal to NaN."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name != "seconds"}
    if isinstance(value, dict):
        return [(key, plain(item)) for key, item in value.items()]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def same(found: Sequence[Scan], expected: Sequence[Scan]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert plain(one) == plain(other)


# All statistics, and what they are compared with

WAYS = [
    {}, {"window": 60}, {"grid": 7}, {"step": 40, "clr_step": 90}, {"grid": 5, "precision": "compat"},
    {"on_exclude": "drop", "window": 30}, {"clr_folded": True, "on_exclude": "zero"},
]  # fmt: skip


@given(
    seed=SEEDS, number=st.sampled_from([1, 2, 3, 7]), way=st.sampled_from(WAYS), missing=st.sampled_from([0.0, 0.1]),
    given_background=st.booleans(), sizes=st.lists(st.integers(0, 70), min_size=1, max_size=3),
)  # fmt: skip
@settings(max_examples=examples(12), deadline=None)
def test_any_pieces_give_the_scans_of_the_whole(
    engine: Engine, seed: int, number: int, way: dict[str, Any], missing: float, given_background: bool,
    sizes: list[int],
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    source = []
    for replicate, sites in enumerate(sizes, start=1):
        states, seen = few_haplotypes(rng, sites, 12, missing)
        at = np.sort(rng.integers(1, 20 * sites + 2, sites))
        source.append(replace(make_alignment(states, at, seen), replicate=replicate))
    options = SweepOptions(
        statistics=EVERY.split(","), width=6, haplotype_window=5, haplotype_step=3, ehh_edge="keep", ehh_maf=0.0,
        max_missing=1.0, **way,
    )  # fmt: skip
    exclude = BedRegions({"1": np.array([300])}, {"1": np.array([340])})
    backgrounds = None
    if given_background:
        (neutral,) = scan(varying(rng, 150, 12), replace(options, precision="accurate"), engine=engine)
        backgrounds = neutral.backgrounds
        spectrum = np.append(np.full(12, 1 / 11), 0.0)
        spectrum[0] = 0.0
        backgrounds = {**backgrounds, "clr": {"spectrum": spectrum}}  # which lacks no kind of site
    how: dict[str, Any] = {"exclude": exclude, "backgrounds": backgrounds}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "GRAIN", 1)
        expected = scan(source, options, engine=engine, **how)
        job = ScanJob(source, options, ReadOptions(), exclude, backgrounds)
        same(scans_of(combined(job, number, engine)), expected)


@given(total=st.integers(0, 50), borders=st.lists(st.integers(0, 9), max_size=4))
def test_portions_have_everything_once(total: int, borders: list[int]) -> None:
    ends = sorted({0, *borders, 9})
    shares = [Portion(begin, end, 9).share(total) for begin, end in itertools.pairwise(ends)]
    assert [one for begin, end in shares for one in range(begin, end)] == list(range(total))


def test_accessible_bp_and_ancestral_bases_in_pieces(engine: Engine, cut: None, folder: Path) -> None:
    alignment = next(iter(read_alignments(CLEAN)))
    at, name = alignment.positions, alignment.name
    Path("accessible.bed").write_text("".join(f"{name}\t{begin}\t{begin + 900}\n" for begin in range(0, 80_000, 1_000)))
    bases = np.full(int(at[-1]) + 1, ord("N"), np.uint8)
    bases[at[::3] - 1], bases[at[1::3] - 1] = alignment.letters[::3, 0], alignment.letters[1::3, 1]
    Path("ancestral.fa").write_bytes(b">" + name.encode() + b"\n" + bases.tobytes() + b"\n")
    options = SweepOptions(
        statistics=EVERY.split(","), width=10, haplotype_window=20, ehh_edge="keep", accessible="accessible.bed",
        ancestral="ancestral.fa",
    )  # fmt: skip
    expected = scan(CLEAN, options, engine=engine)
    assert expected[0].remarks
    same(scans_of(combined(ScanJob((CLEAN,), options), 3, engine)), expected)


@pytest.mark.parametrize("missing", ["impute", "match"])
def test_missing_states_of_raisd_in_pieces(engine: Engine, cut: None, missing: Any) -> None:
    options = SweepOptions(statistics=["mu"], width=10, precision="compat", missing=missing)
    same(scans_of(combined(ScanJob((MISSING,), options), 3, engine)), scan(MISSING, options, engine=engine))


def test_populations_in_pieces(engine: Engine, cut: None, folder: Path) -> None:
    Path("two").write_text("".join(f"s{number}\t{'AB'[number % 2]}\n" for number in range(38)))
    options = SweepOptions(
        statistics=["fst", "dxy", "xp_nsl", "xp_ehh"], populations="two", ehh_edge="keep", width=10
    )  # fmt: skip
    same(scans_of(combined(ScanJob((CLEAN,), options), 3, engine)), scan(CLEAN, options, engine=engine))


@pytest.mark.parametrize(
    ("words", "outputs"),
    [
        (f"{CLEAN} --stat {EVERY}", {"-o": "x.tsv"}),
        (f"{THREE} --stat mu,pi,nsl,clr --grid 20 --json", {"-o": "x.json"}),
        (f"{SWEEP} --length 200k --stat mu,saltilassi,pi --step 5k", {"-o": "x.tsv.gz"}),
        (f"{UNPHASED} --stat ihs,h12 --format selscan --all", {"-o": "x.out"}),
        (f"{CLEAN} --stat mu --precision compat --format raisd --all --no-separator", {"-o": "x"}),
    ],
)
def test_combined_is_what_one_scan_writes(
    device: Device, folder: Path, cut: None, words: str, outputs: dict[str, str]
) -> None:
    command = ["sweeps", "scan", *words.split(), *SMALL]
    check_combined(command, ["-d", str(device.index)], outputs, folder, [3])


def test_outputs_may_be_named_when_pieces_are_combined(device: Device, folder: Path, cut: None) -> None:
    command = ["sweeps", "scan", THREE, "--stat", "mu,pi", *SMALL]
    given_now = ["--json", "--multiqc", "x_mqc.json"]
    check_combined(command, ["-d", str(device.index)], {"-o": "x.json"}, folder, [3], given=given_now)
    assert Path("x_mqc.json").exists()


def test_combining_reads_no_alignments(device: Device, folder: Path, cut: None) -> None:
    Path("x.vcf.gz").write_bytes(Path(CLEAN).read_bytes())
    words = ["sweeps", "scan", "x.vcf.gz", "--stat", "pi,clr,nsl", *SMALL, "-d", str(device.index)]
    whole = outputs_of(words, {"-o": "x.tsv"}, folder / "whole")
    pieces = make_pieces(words, 3, folder)
    Path("x.vcf.gz").unlink()
    with no_engine():
        assert outputs_of(["sweeps", "combine", *pieces], {"-o": "x.tsv"}, folder / "combined") == whole


def test_small_alignments_are_not_cut_and_large_ones_are(device: Device, engine: Engine) -> None:
    alignment = varying(np.random.default_rng(1), 3_000, 40)
    options = SweepOptions(statistics=["mu", "pi"], width=8)

    def portions(grain: int) -> list[list[tuple[int, int, int]]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jobs, "GRAIN", grain)
            pieces = [list(ScanJob(alignment, options).parts(engine, Run(), Shard(one, 3))) for one in (1, 2, 3)]
        shares = [[part for part in piece if isinstance(part, jobs.SweepShare)] for piece in pieces]
        rows = [len(one.begun.scan.positions) for piece in shares for one in piece]
        assert max(rows) - min(rows) <= 2
        return [[(one.portion.begin, one.portion.end, one.portion.of) for one in piece] for piece in shares]

    assert portions(1 << 22) == [[(0, 1, 1)], [], []]
    assert portions(1 << 12) == [[(0, 1365, 4096)], [(1365, 2730, 4096)], [(2730, 4096, 4096)]]


# What pieces have to have in common


def test_options_that_matter_are_compared(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OTHER_OPTIONS) == {field.name for field in fields(SweepOptions)}
    needed: dict[str, dict[str, Any]] = {
        "refine": {"step": 50}, "refine_margin": {"step": 50, "refine": 5},
        "refine_quantile": {"step": 50, "refine": 5},
        "populations": {"statistics": ["fst"]}, "between": {"statistics": ["fst"], "populations": "x"},
    }  # fmt: skip
    for name, value in OTHER_OPTIONS.items():
        also = needed.get(name, {})
        if name == "populations":  # without which there is no such scan
            continue
        one, other = SweepOptions(**also), SweepOptions(**also | {name: value})
        assert ScanJob((CLEAN,), one).parameters() != ScanJob((CLEAN,), other).parameters(), name
    Path("a.bed").write_text("1\t1000\t1200\n")
    Path("b.bed").write_text("1\t1000\t1201\n")
    first = ["sweeps", "scan", CLEAN, "--stat", "pi", *SMALL, "-d", str(device.index)]
    others = [[*first[:2], THREE, *first[3:]], [*first, "--exclude", "a.bed"], [*first, "--maf", "0.1"]]
    check_refusals("sweeps", first, others, folder, capsys)
    check_refusals("sweeps", others[1], [[*first, "--exclude", "b.bed"]], folder, capsys)


def test_files_that_options_name_are_inputs() -> None:
    options = SweepOptions(statistics=["fst", "clr"], populations="p", clr_spectrum="s", recombination_map="m")
    reading = ReadOptions(samples="names")
    job = ScanJob(("x.vcf",), options, reading, "b.bed", "null.json")
    assert job.inputs() == ("x.vcf", "b.bed", "names", "s", "m", "p", "null.json")
    moved = replace(job, options=replace(options, populations="q"))
    assert moved.parameters() == job.parameters()
    again: Any = pickle.loads(pickle.dumps(job))
    assert again == job
    assert ThresholdJob(("n.ms",), options, reading, report="r").inputs() == ("n.ms", "names", "s", "m", "p", "r")


@pytest.mark.parametrize("fault", ["missing", "twice", "damaged", "input", "other"])
def test_pieces_that_are_no_whole_are_refused(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["sweeps", "scan", THREE, "--stat", "pi", *SMALL, "-d", str(device.index)]
    one, two = make_pieces(words, 2, folder)
    output = "out"
    if fault == "damaged":
        data = bytearray(Path(two).read_bytes())
        data[len(data) // 2] ^= 1
        Path(two).write_bytes(data)
    elif fault == "other":  # as of an input that changed, and has its time and its ends all the same
        monkeypatch.setattr(jobs, "GRAIN", 1)
        assert main([*words, "--shard", "2/2", "-o", two, "-q"]) == 0
    elif fault == "input":
        Path("in.vcf.gz").write_bytes(Path(THREE).read_bytes())
        one, two = make_pieces(["sweeps", "scan", "in.vcf.gz", *words[3:]], 2, folder)
        output = "in.vcf.gz"
    pieces = {"missing": [two], "twice": [one, two, two]}.get(fault, [one, two])
    capsys.readouterr()
    assert main(["sweeps", "combine", *pieces, "-o", output, "-q"]) == (2 if fault == "input" else 3)
    told = {
        "missing": "of which 1 is missing", "twice": "give each piece once", "damaged": "is damaged",
        "input": "the same file as the input", "other": "saw other alignments than",
    }[fault]  # fmt: skip
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert told in err
    assert Path(output).exists() == (fault == "input")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "--shard 1/2: name the file of the piece with -o"),
        ("-o x --plot y.svg", "--plot y.svg: a piece is no whole result; give this option to combine"),
        ("-o x --threshold z", "--threshold z: a piece has no figure; give this option to combine"),
        ("-o x --workers auto", "--shard and --workers contradict each other"),
        ("-o x --recombination-map none", "none: no such file"),
    ],
)
def test_what_a_piece_does_not_have(
    device: Device, folder: Path, words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("z").write_text("{}")
    assert main(["sweeps", "scan", CLEAN, "--shard", "1/2", *words.split()]) in (2, 3)
    assert told in capsys.readouterr().err
    assert not any(Path(name).exists() for name in ("x", "y.svg"))


def test_pieces_refine_no_rows(engine: Engine) -> None:
    options = SweepOptions(step=500, refine=50)
    with pytest.raises(UsageError, match="refine looks again at rows of the whole scan, which no piece has"):
        ScanJob((CLEAN,), options).parts(engine, Run(), Shard(1, 2))


def test_samples_have_names(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("names").write_text("a\n")
    words = ["sweeps", "scan", SWEEP, "--length", "200k", "--samples", "names", "-d", str(device.index)]
    assert main([*words, "--shard", "1/2", "-o", "x"]) == 2
    assert "--samples has no effect: this input does not name its samples" in capsys.readouterr().err


# Backgrounds in files


def test_pieces_take_backgrounds_from_a_file(
    device: Device, folder: Path, cut: None, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["-d", str(device.index)]
    stat = ["--stat", "lassi,saltilassi", *SMALL]
    made = "--length 30k --samples 80 --sites 200 --seed 1 --replicates 2 --jobs 1 --fpr 0.5 --json"
    null = ["sweeps", "threshold", *made.split(), *stat, *where, "-q"]
    assert main([*null, "-o", "null.json"]) == 0
    assert main([*null, "--max-missing", "0.2", "-o", "other.json"]) == 0
    words = ["sweeps", "scan", CLEAN, *stat]
    plainly = outputs_of([*words, *where], {"-o": "x.tsv"}, folder / "plain")
    words += ["--background", "null.json"]
    assert outputs_of([*words, *where], {"-o": "x.tsv"}, folder / "given") != plainly
    check_combined(words, where, {"-o": "x.tsv"}, folder, [2])
    check_refusals("sweeps", [*words, *where], [[*words[:-1], "other.json", *where]], folder, capsys)
    pieces = make_pieces([*words, *where], 2, folder)
    Path("null.json").write_bytes(Path("other.json").read_bytes())
    capsys.readouterr()
    assert main(["sweeps", "combine", *pieces, "-o", "out", "-q"]) == 3
    assert "null.json: is not the file that" in capsys.readouterr().err


# Replicates

NEUTRAL = NeutralReplicates(REGION, 3, 20)
LENGTH = ReadOptions(length=200_000)
JUDGED = SweepOptions(
    statistics=["mu", "pi", "saltilassi", "nsl"], width=8, haplotype_window=9, haplotype_step=4, ehh_edge="keep",
    ehh_maf=0.0,
)  # fmt: skip


def test_pieces_of_replicates_give_the_thresholds_of_one_run(device: Device, engine: Engine) -> None:
    how: dict[str, Any] = {"fpr": (0.1, 0.3), "combined": ("pi", "mu"), "length": 200_000}
    expected = find_thresholds(NEUTRAL, JUDGED, engine=engine, **how)
    assert not np.isnan(expected.extremes["nsl"]).all()
    for number in (3, 23):  # more pieces than replicates, too
        with ThreadPoolExecutor(1) as executor:
            spread = Spread(executor, number)
            found = find_thresholds(NEUTRAL, JUDGED, engine=str(device.index), executor=spread, **how)
        assert as_json(found, [], {}) == as_json(expected, [], {}), number


def test_replicates_in_files_and_as_they_are_observed(engine: Engine, cut: None) -> None:
    options = replace(JUDGED, statistics=["pi", "clr", "lassi"], clr_step=40_000)
    for observation in (None, Observation(genotypes=True, missing=0.02, seed=4)):
        job = ThresholdJob((SWEEP,), options, LENGTH, observation)
        expected = list(job.parts(engine, Run()))
        same(scans_of(combined(job, 4, engine)), expected)


def test_clr_of_simulated_replicates_needs_a_spectrum(
    device: Device, engine: Engine, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "sweeps threshold --length 50k --samples 12 --seed 1 --replicates 20 --jobs 1 --stat clr"
    assert main([*words.split(), "--shard", "1/2", "-o", "x", "-d", str(device.index), "-q"]) == 2
    assert "give --clr-spectrum, or the replicates as a file" in capsys.readouterr().err
    assert not Path("x").exists()
    Path("spectrum").write_text("".join(f"{count}\t{1 / 11}\n" for count in range(1, 12)))
    job = ThresholdJob(
        NeutralReplicates(REGION, 3, 5), SweepOptions(statistics=["clr"], clr_spectrum="spectrum", clr_step=50_000)
    )
    same(scans_of(combined(job, 3, engine)), list(job.parts(engine, Run())))


def test_combined_thresholds_are_those_of_one_run(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["-d", str(device.index)]
    stat = ["--stat", "mu,pi", *SMALL]
    assert main(["sweeps", "scan", CLEAN, *stat, "-o", "scan.tsv", "-q", *where]) == 0
    simulated = "sweeps threshold --scan scan.tsv --length 50k --seed 1 --jobs 1 --fpr 0.2 --combine pi,mu"
    command = [*simulated.split(), "--replicates", "19"]
    check_combined(command, where, {"-o": "x.tsv"}, folder, [3])
    pieces = make_pieces([*command, *where], 2, folder)
    assert main(["sweeps", "combine", *pieces, "-o", "null.json", "--json", "-q"]) == 0
    assert main([*command, *where, "-o", "whole.json", "--json", "-q"]) == 0
    found, expected = (json.loads(Path(name).read_text()) for name in ("null.json", "whole.json"))
    assert {key for key in expected if found[key] != expected[key]} == {"provenance", "checksum"}
    assert read_thresholds("null.json").threshold("mu") == read_thresholds("whole.json").threshold("mu")
    capsys.readouterr()
    assert main(["sweeps", "combine", *pieces, "-o", "x", "--plot", "x.svg"]) == 2
    assert "--plot: `sweeps threshold` has no such option" in capsys.readouterr().err
    changes = ["--seed 2", "--fpr 0.3", "--missing-calls 0.1"]
    check_refusals("sweeps", [*command, *where], [[*command, *where, *one.split()] for one in changes], folder, capsys)
    scored = ["--threshold", "whole.json"]  # the combined score
    check_combined(["sweeps", "scan", CLEAN, *stat], where, {"-o": "x.tsv"}, folder, [2], given=scored)


# From Python


def test_executors_give_what_one_scan_gives(device: Device, cut: None, tmp_path: Path) -> None:
    where, options = str(device.index), replace(JUDGED, statistics=["mu", "pi", "saltilassi", "nsl", "clr"])
    expected = scan(THREE, options, engine=where)
    told: list[tuple[int, int | None]] = []
    with ThreadPoolExecutor(2) as executor:
        found = scan(
            THREE, options, engine=where, executor=Spread(executor, 3, tmp_path),
            run=Run(progress=lambda done, total: told.append((done, total))),
        )  # fmt: skip
        same(found, expected)
        assert told == sorted(told)
        with pytest.raises(ParameterError, match="source must be a file with executor"):
            scan(varying(np.random.default_rng(1), 9, 8), options, executor=executor)
        with pytest.raises(ParameterError, match="on_alignment cannot be called with executor"):
            scan(THREE, options, executor=executor, on_alignment=lambda _: None)
        with pytest.raises(ParameterError, match="backgrounds must be a file with executor"):
            scan(THREE, options, executor=executor, backgrounds={"clr": {}})


def test_an_input_is_read_once_by_a_process(device: Device, cut: None, folder: Path) -> None:
    """As long as it is the same file, read and scanned in the same way."""
    read: list[str] = []
    opened = jobs.open_alignments
    Path("x.vcf.gz").write_bytes(Path(THREE).read_bytes())
    job = ScanJob(("x.vcf.gz",), replace(JUDGED, statistics=["pi", "clr"]))

    def noted(source: Any, *args: Any, **how: Any) -> Iterator[Alignment]:
        read.append(str(source))
        return opened(source, *args, **how)

    def pieces(job: ScanJob, *numbers: int) -> list[bytes]:
        made = []
        for number in numbers:
            make_piece(job, Shard(number, 3), "x.piece", device=str(device.index))
            shares = [one for one in PieceFile("x.piece").parts(job.KINDS) if isinstance(one, jobs.SweepShare)]
            made.append(b"".join(one.begun.scan.values["pi"].tobytes() for one in shares))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "open_alignments", noted)
        first = pieces(job, 1, 2, 3, 1)
        assert len(read) == 1
        assert first[0] == first[3]
        assert len(set(first)) > 1
        pieces(replace(job, options=replace(job.options, maf=0.1)), 1)
        assert len(read) == 2
        Path("x.vcf.gz").write_bytes(Path(CLEAN).read_bytes())
        pieces(replace(job, options=replace(job.options, maf=0.1)), 1)
        assert len(read) == 3


def test_the_same_alignments_are_dealt_out_in_the_same_way(engine: Engine) -> None:
    """Pieces of other alignments do not agree, whatever their portions."""
    options = SweepOptions(statistics=["pi"], width=8)
    source = [replace(varying(np.random.default_rng(seed), 30, 8), replicate=seed) for seed in range(1, 5)]
    pieces = [
        Stored("a", list(ScanJob(source, options).parts(engine, Run(), Shard(1, 2)))),
        Stored("b", list(ScanJob(source[:3], options).parts(engine, Run(), Shard(2, 2)))),
    ]
    with pytest.raises(InputError, match=r"saw other alignments than b \(4 and 3\)"):
        list(ScanJob(source, options).combined(pieces))  # type: ignore[arg-type]


def test_a_worker_begins_anew_after_a_piece_that_failed(
    device: Device, engine: Engine, cut: None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had counted of the input until then is not counted twice."""
    job = ScanJob((THREE,), replace(JUDGED, statistics=["pi", "clr"]))
    see, seen = jobs.SweepScanner.see, list[str]()

    def failing(self: jobs.SweepScanner, used: Any) -> None:
        seen.append(used.name)
        if len(seen) == 2:
            raise InputError("damaged")
        see(self, used)

    monkeypatch.setattr(jobs.SweepScanner, "see", failing)
    with pytest.raises(InputError, match="damaged"):
        make_piece(job, Shard(1, 2), "1.piece", device=str(device.index))
    for number in (1, 2):
        make_piece(job, Shard(number, 2), f"{number}.piece", device=str(device.index))
        expected = [plain(one) for one in job.parts(engine, Run(), Shard(number, 2))]
        found = [plain(one) for one in PieceFile(f"{number}.piece").parts(job.KINDS)]
        assert found == expected
    assert len(seen) == 2 + 3 + 2 * 3  # of the worker's second piece none: it knows them
