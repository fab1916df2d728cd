"""Every command that reads a file, given damaged ones: it succeeds, or ends with one line and the right exit code."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.foreign_files import FOREIGN
from helpers.fuzz_samples import DATA, SAMPLES
from helpers.fuzzing import SECONDS, TOKENS, command, draws, inputs, limited, mutated, mutated_zip

from oclgenomics.io.foreign import ALIGNED

pytestmark = pytest.mark.fuzz

WINDOWS = ["--grid", "4", "--minwin", "1", "--maxwin", "400", "--minsnps", "2"]
SCAN = ["omega", "scan", "{x}", *WINDOWS, "--length", "1000", "-d", "cpu", "-o", "{out}"]
FOUND = ["--strand", "both", "--max-mismatch", "1", "-d", "cpu", "-o", "{out}"]
QUERY = ["-d", "cpu", "-o", "{out}"]
TAXONOMY = str(DATA / "classify" / "edge")
PROJECT = ["fpga", "project", "{x}", *WINDOWS, "--length", "1000", "--no-measure"]

# What is damaged, and the command; {x} is the damaged file, {name} a whole one.
HOST = [
    ("tsv", ["omega", "peaks", "{x}", "--threshold", "1"]),
    ("tsv", ["omega", "peaks", "{x}", "--top", "2", "--format", "tsv"]),
    ("json", ["omega", "peaks", "{x}", "--quantile", "0.5", "--json"]),
    ("json", ["omega", "peaks", "{x}", "--threshold", "{thresholds}"]),
    ("thresholds", ["omega", "peaks", "{json}", "--threshold", "{x}", "--fpr", "0.1"]),
    ("thresholds", ["omega", "peaks", "{tsv}", "--threshold", "{x}"]),
    ("toml", ["fpga", "timing", "--board", "{x}", "--left", "20", "--right", "50"]),
    ("toml", ["fpga", "resources", "--board", "{x}"]),
    ("toml", ["fpga", "roofline", "--board", "{x}", "--json"]),
    ("board", ["fpga", "timing", "--board", "{x}", "--left", "20", "--right", "50"]),
    ("board", ["fpga", "resources", "--board", "{x}", "--sources", "--json"]),
    ("board", ["fpga", "sdtw", "--board", "{x}", "--pes", "50", "--columns", "999"]),
    (
        "board",
        ["fpga", "project", "--snps", "300", *WINDOWS, "--no-measure", "--price-per-hour", "{x}=2", "--board", "{x}"],
    ),
    ("positions", ["fpga", "project", "--positions", "{x}", *WINDOWS, "--no-measure"]),
    *((name, PROJECT) for name in ("vcf", "phases", "ms", "macs", "alignment", "trees", "vcz")),
    ("mbs", [*PROJECT, "--input-format", "mbs"]),
    ("names", ["fpga", "project", "{phases}", *WINDOWS, "--no-measure", "--samples", "{x}"]),
    ("kmers", ["kmers", "info", "{x}"]),
    ("kmers", ["kmers", "dump", "{x}"]),
    ("kmers", ["kmers", "histogram", "{x}"]),
    ("kmers", ["kmers", "merge", "{x}", "{kmers}", "-o", "{out}"]),
    ("kmers", ["kmers", "query", "{x}", "GATTACAGATTACA"]),
    ("fasta", ["kmers", "query", "{kmers}", "--file", "{x}", "--per-record"]),
    ("fastq", ["kmers", "query", "{kmers}", "--file", "{x}"]),
    *((name, ["signatures", "build", "{x}", "-o", "{out}"]) for name in ("fasta", "fastq", "built_panel")),
    ("built_panel", ["signatures", "info", "{x}"]),
    ("result", ["classify", "merge", "{x}", "{result}", "--taxonomy", TAXONOMY, "-o", "{out}", "--lineage"]),
]
DEVICE = [
    *((name, SCAN) for name in ("vcf", "phases", "ms", "macs", "alignment", "trees", "vcz")),
    ("mbs", [*SCAN, "--input-format", "mbs", "--format", "omegaplus", "--all"]),
    ("phases", [*SCAN, "--phase", "missing", "--json"]),
    ("phases", [*SCAN, "--impute", "N", "--binary", "--seed", "3", "--no-singletons", "--maf", "0.1"]),
    ("bed", ["omega", "scan", "{phases}", *WINDOWS, "-d", "cpu", "-o", "{out}", "--exclude", "{x}"]),
    ("names", ["omega", "scan", "{phases}", *WINDOWS, "-d", "cpu", "-o", "{out}", "--samples", "{x}"]),
    ("ms", ["omega", "threshold", "{x}", *WINDOWS, "--length", "1000", "--fpr", "0.4", "-d", "cpu"]),
    ("json", ["omega", "ld", "{ms}", "--scan", "{x}", "-d", "cpu"]),
    ("tsv", ["omega", "ld", "{ms}", "--scan", "{x}", "--at", "1:350", "-d", "cpu"]),
    ("phases", ["omega", "ld", "{x}", "--region", "20:1-300", "-d", "cpu"]),
    *((name, ["kmers", "count", "{x}", "-k", "5", "-d", "cpu", "-o", "{out}"]) for name in ("fasta", "fastq", "bam")),
    *((name, ["signatures", "scan", "{x}", "{fasta}", *FOUND]) for name in ("fasta", "fastq")),
    ("fasta", ["signatures", "scan", "{fastq}", "{x}", *FOUND]),
    *((name, ["classify", "query", "{classify}", "{x}", *QUERY, "--allhits"]) for name in ("fasta", "fastq")),
    ("fastq", ["classify", "query", "{classify}", "--paired", "{x}", "{fastq}", "--any-mates", *QUERY, "--json"]),
    ("mates", ["classify", "query", "{classify}", "{x}", "--interleaved", "--classified-out", "{out}.fq", *QUERY]),
    ("classify", ["classify", "query", "{x}", "{fastq}", *QUERY]),
]
OPTIONS = [
    (SCAN, ["--grid", "--minwin", "--maxwin", "--minsnps", "--border", "--length", "--maf", "--seed", "--threads"]),
    ([*SCAN, "--binary", "--impute", "N"], ["--seed"]),
    (SCAN, ["--max-memory", "--ld", "--precision", "--kernel", "--phase", "--input-format", "--format", "--impute"]),
    (["omega", "peaks", "{tsv}"], ["--threshold", "--top", "--quantile", "--merge", "--fpr", "--format"]),
    (["omega", "ld", "{ms}", "--scan", "{tsv}", "-d", "cpu"], ["--peak", "--at", "--margin", "--seed", "--maf"]),
    (["omega", "ld", "{ms}", "--length", "1000", "-d", "cpu"], ["--region"]),
    (PROJECT, ["--grid", "--maxwin", "--unroll", "--level", "--set"]),
    (["fpga", "project", "--no-measure", "--grid", "3"], ["--length", "--snps", "--samples", "--positions"]),
    (["kmers", "dump", "{kmers}"], ["--min-count", "--max-count"]),
    (["kmers", "count", "{fasta}", "-k", "5", "-d", "cpu", "-o", "{out}"], ["-k", "--min-quality", "--counter-max"]),
    (["signatures", "scan", "{fastq}", "{fasta}", *FOUND], ["--max-mismatch", "--min-informative", "--min-score"]),
    (
        ["signatures", "scan", "{fastq}", "{fasta}", *FOUND],
        ["--strand", "--report", "--method", "--format", "--threads"],
    ),
    (
        ["classify", "query", "{classify}", "{fasta}", *QUERY],
        ["--hitmin", "--hitdiff", "--maxcand", "--lowest", "--highest", "--insertsize", "--winstride", "--sketchlen"],
    ),
    (
        ["classify", "query", "{classify}", "{fasta}", *QUERY, "--abundances", "{out}.a"],
        [
            "--abundance-per",
            "--format",
            "--separator",
            "--comment",
            "--cov-percentile",
            "--min-readlen",
            "--query-limit",
        ],
    ),
    (
        ["simulate", "signatures", "--seed", "1", "-o", "{out}", "--panel", "{out}.fa"],
        ["--seed", "--signature-n", "--sample-n", "--planted-n", "--mismatches", "--strand", "--preset"],
    ),
    (
        ["simulate", "signals", "--seed", "1", "--reads", "3", "--samples", "9", "--length", "99", "-o", "{out}"],
        ["--seed", "--gc", "--strand", "--preset", "--dwell", "--dwell-sd", "--slowness-cv", "--amplitude", "--jitter"],
    ),
    (
        ["simulate", "signals", "--seed", "1", "--reads", "3", "--samples", "9", "--length", "99", "-o", "{out}"],
        ["--junk", "--adapter", "--rate", "--deviation", "--molecule", "--background-reads"],
    ),
]
SEQUENCES = [
    *(words for name, words in HOST + DEVICE if name in ("fasta", "fastq", "mates")),
    ["kmers", "filter", "{kmers}", "{x}", "-d", "cpu", "-o", "{out}"],
    ["kmers", "matrix", "{x}", "-k", "5", "-d", "cpu", "-o", "{out}"],
    ["kmers", "histogram", "{fasta}", "{x}", "-k", "5", "-d", "cpu"],
    ["classify", "build", "{out}", "{x}", "-d", "cpu"],
    ["classify", "run", "{fastq}", "--targets", "{x}", "-d", "cpu", "-o", "{out}"],
    ["sdtw", "index", "{x}", "--model", "r9.4.1", "-o", "{out}"],
    ["simulate", "signals", "--target", "{x}", "--seed", "1", "--reads", "3", "--samples", "9", "-o", "{out}"],
]
GZIP = b"\x1f\x8b"
NEEDS = {"trees": "tskit", "vcz": "zarr", "bam": "pysam"}


def written(folder: Path, words: list[str]) -> dict[str, Path]:
    """Whole files that a command names, and its output."""
    places = {"out": folder / "out"}
    for whole in (word[1:-1] for word in words if word[0] == "{" and word[1:-1] in SAMPLES):
        places[whole] = folder / whole
        places[whole].write_bytes(SAMPLES[whole])
    return places


def named(runs: list[tuple[str, list[str]]]) -> list[object]:
    return [
        pytest.param(name, words, id=f"{number}-{name}-{words[0]}-{words[1]}")
        for number, (name, words) in enumerate(runs)
    ]


@pytest.mark.parametrize(("name", "words"), named(HOST))
def test_on_the_host(tmp_path, name, words):
    fuzzed(tmp_path, name, words, SECONDS / len(HOST))


@pytest.mark.parametrize(("name", "words"), named(DEVICE))
def test_on_a_device(tmp_path, name, words):
    fuzzed(tmp_path, name, words, SECONDS / len(DEVICE))


@pytest.mark.parametrize(
    ("words", "options"), [pytest.param(*run, id=f"{i}-{run[0][0]}-{run[0][1]}") for i, run in enumerate(OPTIONS)]
)
def test_values_of_options(tmp_path, words, options):
    line = [word.format(**written(tmp_path, words), x=tmp_path / "ms") for word in words]
    (tmp_path / "ms").write_bytes(SAMPLES["ms"])
    values = [token.decode() for token in TOKENS if b"\0" not in token and token.isascii()]
    values += [f"1:{value}" for value in values[:20]] + [f"1:1-{value}" for value in values[:20]]
    values += [f"unroll={value}" for value in values[:30]]
    for _, rng in draws(" ".join(words), SECONDS / len(OPTIONS)):
        option, value = options[int(rng.integers(len(options)))], values[int(rng.integers(len(values)))]
        said = " ".join([*line, option, value[:40]])
        with limited(value.encode(), said):
            command([*line, f"{option}={value}" if option.startswith("--") else option + value], (0, 2, 3, 4))


@pytest.mark.parametrize("words", SEQUENCES, ids=lambda words: " ".join(words[:2]))
def test_files_of_other_formats(tmp_path, words):
    """Given by mistake: none is taken for FASTA or FASTQ, whatever follows its beginning and however it is packed."""
    places = written(tmp_path, words) | {"x": tmp_path / "x"}
    line = [word.format(**places) for word in words]
    takes_databases = {"matrix", "histogram"} & set(words)
    kinds = sorted(FOREIGN.keys() - ({"kmers"} if takes_databases else set()))
    kinds = [kind for kind in kinds if FOREIGN[kind][0] not in ALIGNED]  # which are read
    for number, rng in draws(f"other formats {words[:2]}", SECONDS / len(SEQUENCES)):
        called, data = FOREIGN[kinds[int(rng.integers(len(kinds)))]]
        if not data.startswith(GZIP):
            data += (data, rng.bytes(2000), SAMPLES["fastq"], SAMPLES["fasta"])[int(rng.integers(4))]
            data = gzip.compress(data) if rng.random() < 0.3 else data
        places["x"].write_bytes(data)
        with limited(data, f"number {number} of {' '.join(line)}, {called}"):
            assert command(line) == 3


def fuzzed(folder: Path, name: str, words: list[str], seconds: float) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    places = written(folder, words) | {"x": folder / ("x.toml" if name in ("toml", "board") else "x")}
    line = [word.format(**places) for word in words]
    mutate = mutated_zip if name == "vcz" else mutated
    places["x"].write_bytes(SAMPLES[name])
    assert command(line) == 0
    for number, data in inputs(SAMPLES, name, seconds, mutate):
        places["x"].write_bytes(data)
        with limited(data, f"number {number} of {' '.join(line)}"):
            command(line)
