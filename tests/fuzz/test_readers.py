"""Every reader, given damaged inputs: it gives what it reads, or one error of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fuzz_samples import SAMPLES
from helpers.fuzzing import SECONDS, inputs, limited, mutated, mutated_zip

from hls_model.errors import ModelError
from hls_model.positions import read_positions
from hls_model.presets import load
from oclgenomics.errors import OclGenomicsError
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.omega.reports.reading import read_report
from oclgenomics.omega.reports.thresholds import read_thresholds
from oclgenomics.sequence.records import read_records
from oclgenomics.variation import ReadOptions, read_alignments
from oclgenomics.variation.bed import read_bed
from oclgenomics.variation.samples import sample_names

pytestmark = pytest.mark.fuzz


def alignments(path: Path, number: int) -> None:
    """All of an input, in blocks and phases that change with the number."""
    phase = ("auto", "missing", "strict", "ignore")[number % 4]
    options = ReadOptions(length=1000, phase=phase)
    list(read_alignments(path, options, block_bytes=(16, 1 << 20)[number % 2], threads=1 + number % 3 // 2))


def database(path: Path, _number: int) -> None:
    with KmerDatabase.open(path) as kmers:
        for _ in kmers.blocks():
            pass


READERS: dict[str, Callable[[Path, int], object]] = {
    **dict.fromkeys(("vcf", "phases", "ms", "macs", "alignment", "trees", "vcz"), alignments),
    "mbs": lambda path, _number: list(read_alignments(path, ReadOptions(format="mbs"))),
    "bed": lambda path, _number: read_bed(path),
    "names": lambda path, _number: sample_names(path),
    **dict.fromkeys(("tsv", "json"), lambda path, _number: read_report(path)),
    "thresholds": lambda path, _number: read_thresholds(path),
    "positions": lambda path, _number: read_positions(path),
    "toml": lambda path, _number: load(path),
    **dict.fromkeys(("fasta", "fastq"), lambda path, _number: list(read_records(path))),
    "kmers": database,
}


@pytest.mark.parametrize("name", READERS)
def test_reader(tmp_path, name):
    if name in ("trees", "vcz"):
        pytest.importorskip({"trees": "tskit", "vcz": "zarr"}[name])
    path = tmp_path / ("x.toml" if name == "toml" else "x")
    mutate = mutated_zip if name == "vcz" else mutated
    READERS[name](written(path, SAMPLES[name]), 0)
    refused = 0
    for number, data in inputs(SAMPLES, name, SECONDS / len(READERS), mutate):
        with limited(data, f"the reader of {name}, number {number}"):
            refused += was_refused(READERS[name], written(path, data), number)
    assert refused


def was_refused(reader: Callable[[Path, int], object], path: Path, number: int) -> bool:
    """Whether a reader refuses a file, which it does in one line."""
    try:
        reader(path, number)
    except (OclGenomicsError, ModelError) as error:
        refusal = error
    else:
        return False
    assert "\n" not in str(refusal)
    assert refusal.exit_code in (2, 3)
    return True


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
