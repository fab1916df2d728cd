"""Every reader, given damaged inputs: it gives what it reads, or one error of one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzz_samples import SAMPLES
from helpers.fuzzing import SECONDS, draws, inputs, limited, mutated, mutated_zip

from hls_model.errors import ModelError
from hls_model.presets import load
from hls_model.workload import read_positions
from oclgenomics.app.sheets import read_sheet
from oclgenomics.errors import OclGenomicsError
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.omega.formats.scans import read_report
from oclgenomics.omega.formats.thresholds import read_thresholds
from oclgenomics.runtime import Engine
from oclgenomics.sequence import names_of, packed_blocks
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.parse import NO_QUALITY
from oclgenomics.sequence.records import read_records
from oclgenomics.signatures.api import read_panel
from oclgenomics.signatures.formats.panel_file import open_panel
from oclgenomics.signatures.options import STRANDS
from oclgenomics.signatures.panels.letters import sets_of
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


def panel(path: Path, _number: int) -> None:
    """The signatures of a file, which are those that the reader of records finds."""
    read = read_panel(path)
    records = list(read_records(path))
    assert list(read.names) == [record.name for record in records]
    assert read.sets.tobytes() == sets_of(b"".join(record.letters for record in records)).tobytes()
    assert read.lengths.tolist() == [len(record.letters) for record in records]
    for strand in STRANDS:
        read.patterns(strand)


def letters_in_place(engine: Engine, path: Path, number: int) -> list[tuple[str, bytes]]:
    """Names and letters of an input as the device finds them, in blocks and overlaps that change with the number."""
    overlap, block_bytes = (0, 1, 7)[number % 3], (16, 61, 1 << 20)[number // 3 % 3]
    names: list[str] = []
    letters: list[bytes] = []
    held: list[tuple[int, int, bytes]] = []  # record, start and letters of each piece, with its overlap
    for block in letter_blocks(engine, [path], overlap=overlap, block_bytes=block_bytes):
        names += block.names
        letters += [b""] * len(block.names)
        pieces = block.pieces
        columns = (pieces.record, pieces.start, pieces.letters, pieces.size, pieces.owned, pieces.ends)
        for record, start, place, size, owned, ends in zip(*(column.tolist() for column in columns), strict=True):
            assert place + size <= block.text.size
            assert size - owned == (0 if ends else overlap)
            letters[record] += block.host[place : place + owned].tobytes()
            held.append((record, start, block.host[place : place + size].tobytes()))
        if pieces.qualities is not None:
            assert (pieces.qualities.astype(np.int64) + pieces.size <= block.text.size).all()
    assert all(letters[record][start : start + len(text)] == text for record, start, text in held)
    return list(zip(names, letters, strict=True))


def built_panel(path: Path, _number: int) -> None:
    """A panel and its tables."""
    found = open_panel(path)
    for key in found.tables.numbers:
        found.tables.read(key)


READERS: dict[str, Callable[[Path, int], object]] = {
    **dict.fromkeys(("vcf", "phases", "ms", "macs", "alignment", "trees", "vcz"), alignments),
    "mbs": lambda path, _number: list(read_alignments(path, ReadOptions(format="mbs"))),
    "bed": lambda path, _number: read_bed(path),
    "names": lambda path, _number: sample_names(path),
    "sheet": lambda path, _number: read_sheet(path, folders=True),
    **dict.fromkeys(("tsv", "json"), lambda path, _number: read_report(path)),
    "thresholds": lambda path, _number: read_thresholds(path),
    "positions": lambda path, _number: read_positions(path),
    "toml": lambda path, _number: load(path),
    **dict.fromkeys(("fasta", "fastq"), lambda path, _number: list(read_records(path))),
    "panel": panel,
    "kmers": database,
    "built_panel": built_panel,
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


@pytest.mark.parametrize("name", ["fasta", "fastq", "panel"])
def test_letters_in_place(tmp_path, engine, name):
    """The device finds what the host finds, and refuses what the host refuses."""
    refused = 0
    for number, data in inputs(SAMPLES, name, SECONDS / 6):
        with limited(data, f"letters of {name} in place, number {number}"):
            refused += was_refused(partial(compare_letters, engine), written(tmp_path / "x", data), number)
    assert refused


def compare_letters(engine: Engine, path: Path, number: int) -> None:
    found = letters_in_place(engine, path, number)
    try:
        known = [(record.name, record.letters) for record in read_records(path)]
    except OclGenomicsError as error:
        raise AssertionError(f"refused on the host alone: {error}") from error
    # The device takes one carriage return with a newline for the end of a line, the host any number.
    assert [(name, letters.rstrip(b"\r")) for name, letters in found] == known


def test_rewritten_fastq(tmp_path, engine):
    """Wrapped text has the records of the same text with four lines each, in blocks of any size."""
    for number, rng in draws("rewritten FASTQ", SECONDS / 6, each=0.03):
        plain, wrapped = both_layouts(rng)
        with limited(wrapped, f"rewritten FASTQ, number {number}"):
            found = [letters_in_place(engine, written(tmp_path / "x", text), number) for text in (plain, wrapped)]
            assert found[0] == found[1]
            symbols = [packed_content(engine, written(tmp_path / "x", text)) for text in (plain, wrapped)]
            assert symbols[0] == symbols[1]
            assert [(record.name, record.letters) for record in read_records(tmp_path / "x")] == found[0]


def both_layouts(rng: np.random.Generator) -> tuple[bytes, bytes]:
    """FASTQ with four lines a record, and the same records with other lines."""
    plain, wrapped = [], []
    for number in range(int(rng.integers(1, 30))):
        size = int(rng.choice([0, 1, 7, 60, 61, 200]))
        letters = rng.choice(np.frombuffer(b"ACGTNacgt", np.uint8), size).tobytes()
        qualities = rng.choice(np.frombuffer(b"!@+I~", np.uint8), size).tobytes()
        title = b"r%d %s" % (number, b"x" * int(rng.integers(0, 20)))
        again = title if rng.random() < 0.5 else b""
        plain.append(b"@%b\n%b\n+%b\n%b\n" % (title, letters, again, qualities))
        lines = [b"@" + title, *cut(letters, rng), b"+" + again, *cut(qualities, rng), *[b""] * int(rng.integers(0, 3))]
        ends = rng.choice([b"\n", b"\r\n"], len(lines)).tolist()
        wrapped.append(b"".join(line + end for line, end in zip(lines, ends, strict=True)))
    return b"".join(plain), b"".join(wrapped)


def cut(line: bytes, rng: np.random.Generator) -> list[bytes]:
    """A line as it is, or in parts, some of them empty."""
    places = [0, *sorted(rng.integers(0, len(line) + 1, int(rng.choice([0, 0, 1, 5]))).tolist()), len(line)]
    return [line[begin:end] for begin, end in pairwise(places)]


def packed_content(engine: Engine, path: Path) -> tuple[list[str], bytes]:
    """The names of all records, and their letters and qualities as symbols, in blocks of their own size."""
    names: list[str] = []
    symbols: list[bytes] = []
    for block in packed_blocks(engine, [path], names=True, qualities=True):
        names += names_of(engine, block.records)
        kept = engine.download(block.qualities) != NO_QUALITY
        bits = [np.unpackbits(engine.download(words).astype(">u4").view(np.uint8))
                for words in (block.symbols.valid, block.symbols.codes)]  # fmt: skip
        valid, codes = bits[0][: len(kept)][kept], bits[1][: 2 * len(kept)].reshape(-1, 2)[kept]
        symbols += [valid.tobytes(), codes.tobytes(), engine.download(block.qualities)[kept].tobytes()]
    return names, b"".join(symbols)


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
