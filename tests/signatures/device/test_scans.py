"""What is told of matches, against the oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pytest
from helpers.devices import gpu_shape
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.app.run import Run
from oclgenomics.runtime import Device, Engine
from oclgenomics.signatures import reference
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.scans import EditScan, MatchScan, describe, names_of_pieces
from oclgenomics.signatures.jobs import Finder
from oclgenomics.signatures.options import EDITS_ONLY, METHODS, REPORTS, ScanOptions
from oclgenomics.signatures.panels.panel import Panel


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 99), st.sampled_from([1, 2, 63, 64, 65, 700]), st.sampled_from(["ACGT", "ACGTRYKMSWBDHVN"]),
    st.booleans(),
)  # fmt: skip
def test_facts_of_any_place(shaped: Engine, seed: int, length: int, letters: str, qualities: bool) -> None:
    rng = np.random.default_rng(seed)
    records = [
        SampleRecord(
            random_letters(rng, size, 0.2, letters),
            rng.integers(33, 127, size).astype(np.uint8).tobytes() if qualities else None,
        )
        for size in (length, length + 40)
    ]
    signatures = [(str(i), random_letters(rng, size, 0.2, letters)) for i, size in enumerate((length, 1 + length // 2))]
    patterns = DevicePatterns.upload(shaped, Panel.from_signatures(signatures).patterns("+"), ScanOptions())
    samples = sample_letters(shaped, records)
    places = [(0, 0, 0), (1, 0, 3), (1, 1, 40), (0, 1, 0), (1, 0, 0)]
    piece, pattern_of, start_of = (np.array(column, np.uint32) for column in zip(*places, strict=True))
    ends = start_of + patterns.patterns.lengths[pattern_of]
    facts = describe(shaped, samples, patterns, piece, pattern_of, start_of, ends)
    for row, (piece, pattern, start) in enumerate(places):
        signature = signatures[pattern][1].decode()
        part = slice(start, start + len(signature))
        sample = records[piece]
        under = None if sample.qualities is None else sample.qualities[part].decode()
        (wanted,) = reference.matches(sample.letters[part].decode(), under, signature, max_mismatches=len(signature))
        assert (facts.mismatches[row], facts.informative[row]) == (wanted.mismatches, wanted.informative)
        assert (facts.sample_ns[row], facts.pattern_ns[row]) == (wanted.sample_ns, wanted.signature_ns)
        assert (facts.quality_sum[row], facts.error_units[row]) == (wanted.quality_sum or 0, wanted.error_units or 0)


def test_no_match_has_no_facts(engine: Engine) -> None:
    patterns = DevicePatterns.upload(engine, Panel.from_signatures([("a", "ACGT")]).patterns("+"), ScanOptions())
    nothing = np.empty(0, np.uint32)
    facts = describe(engine, sample_letters(engine, []), patterns, nothing, nothing, nothing, nothing)
    assert len(facts.quality_sum) == len(facts.mismatches) == len(facts.error_units) == 0


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("piece", [None, 4])
def test_names_of_pieces(engine: Engine, begun: bool, piece: int | None) -> None:
    records = [SampleRecord(b"ACGTACGTAC"), SampleRecord(b""), SampleRecord(b"ACGTACG")]
    block = sample_letters(engine, records, piece=piece, first=5).block
    if begun:  # the first record began in the block before
        block = replace(block, names=block.names[1:], first=6)
    names = ["" if begun and record == 5 else f"sample{record}" for record in block.pieces.record.tolist()]
    assert names_of_pieces(block).tolist() == names
    assert len(names) == (3 if piece is None else 6)


def test_no_piece_has_no_name(engine: Engine) -> None:
    assert names_of_pieces(sample_letters(engine, []).block).tolist() == []


@pytest.mark.parametrize(
    ("method", "max_edits"), [*((method, int(method in EDITS_ONLY)) for method in METHODS), ("index", 1), ("brute", 1)]
)
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("qualities", [False, True])
def test_columns_have_their_types(engine: Engine, method: Any, report: Any, max_edits: int, qualities: bool) -> None:
    """They are joined to those of other blocks as they are."""
    panel, options = (
        Panel.from_signatures([("p", "ACGTTGCATGACTGATT")]),
        ScanOptions(report, "+", method, max_edits=max_edits),
    )
    letters = b"GACGTTGCATGACTGATTGG"
    samples = sample_letters(engine, [SampleRecord(letters, b"I" * len(letters) if qualities else None)] * 3)
    patterns = DevicePatterns.upload(engine, panel.patterns("+"), options)
    scan = (EditScan if max_edits else MatchScan)(engine, patterns, options)
    ((rows, matches),) = scan.parts(samples)
    assert len(matches) == len(rows) == 3
    for found in (replace(rows, name=np.array(list(rows.name), object)), matches):
        kinds = [np.dtype(letter) for letter in found.TYPES]
        assert [getattr(found, field.name).dtype for field in fields(found)] == kinds


def test_commands_of_a_batch(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of reads take few copies; each has a match."""
    commands: Counter[str] = Counter()
    copy = pyopencl.enqueue_copy

    def copied(queue: Any, target: Any, source: Any, **how: Any) -> Any:
        commands["to device" if isinstance(target, pyopencl.Buffer) else "to host"] += 1
        return copy(queue, target, source, **how)

    monkeypatch.setattr(pyopencl, "enqueue_copy", copied)
    rng = np.random.default_rng(5)
    reads = ["".join(rng.choice(list("ACGT"), 150)) for _ in range(2000)]
    (tmp_path / "reads.fq").write_text("".join(f"@r{n}\n{read}\n+\n{'I' * 150}\n" for n, read in enumerate(reads)))
    panel = Panel.from_signatures([(str(n), read[10:70]) for n, read in enumerate(reads[::20])])
    options = ScanOptions(max_mismatches=1, method="index", report="all")
    with Engine(device, tuning=gpu_shape(device)) as engine:
        finder = Finder(engine, panel, options)
        found = [len(part.matches) for _, part in finder.found([tmp_path / "reads.fq"], Run(), 1 << 16)]
    batches = len(found)
    assert (sum(found), min(found) > 0, batches > 8) == (100, True, True)
    assert commands["to host"] <= 10 * batches
    assert commands["to device"] <= 12 * batches
