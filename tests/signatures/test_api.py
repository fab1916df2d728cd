"""The whole scan against the oracle: every report, method and strand, files of all kinds, and blocks of any size."""

from __future__ import annotations

import functools
import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.products import examples
from helpers.signature_matches import match_record, matches
from helpers.signature_parts import Read, scan_parts
from helpers.signature_samples import random_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import Panel, ScanOptions, ScanPart, ScanResult, iter_scan, reference, scan
from oclgenomics.signatures.options import EDITS_ONLY, METHODS, REPORTS, STRANDS

Sample = tuple[str, str, str | None]  # name, letters and qualities
Signature = tuple[str, str]


def make_samples(rng: np.random.Generator, signatures: list[Signature], *, qualities: bool) -> list[Sample]:
    """Samples of random lengths, some of which hold signatures, some of these on the other strand."""
    samples = []
    for number in range(int(rng.integers(1, 7))):
        size = int(rng.choice([0, 1, 30, 200, 900]))
        letters = bytearray(random_letters(rng, size, float(rng.choice([0, 0.1, 0.5])), "ACGTacgtRY"))
        for _ in range(int(rng.integers(0, 4))):
            signature = signatures[int(rng.integers(len(signatures)))][1]
            if rng.random() < 0.5:
                signature = signature[::-1].translate(str.maketrans("ACGT", "TGCA"))
            at = int(rng.integers(0, size + 1))
            letters[at : at + len(signature)] = signature.encode()
        scores = rng.integers(33, 127, len(letters)).astype(np.uint8).tobytes().decode()
        samples.append((f"s{number}", letters.decode(), scores if qualities else None))
    return samples


def make_signatures(rng: np.random.Generator) -> list[Signature]:
    sizes = rng.choice([1, 3, 8, 20, 70, 300], int(rng.integers(1, 8)))
    return [
        (f"p{i}", random_letters(rng, int(size), float(rng.choice([0, 0.1, 0.6])), "ACGT").decode())
        for i, size in enumerate(sizes)
    ]


def write_samples(path: Path, samples: list[Sample], *, wrap: int = 60) -> None:
    lines = []
    for name, letters, qualities in samples:
        if qualities is None:
            lines += [f">{name} more", *(letters[i : i + wrap] for i in range(0, len(letters), wrap))]
        else:
            lines += [f"@{name} more", letters, "+", qualities]
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def expected(samples: list[Sample], signatures: list[Signature], options: ScanOptions) -> list[dict[str, Any]]:
    rows = []
    for number, (name, letters, qualities) in enumerate(samples):
        for signature, pattern in signatures:
            for strand in "+-" if options.strand == "both" else options.strand:
                found = matches(
                    letters, qualities, pattern, strand=strand, max_mismatches=options.max_mismatches,
                    min_informative=options.min_informative, min_score=options.min_score,
                )  # fmt: skip
                if not found:
                    continue
                chosen = {"best": [reference.best(found)], "first": found[:1], "all": found}[options.report]
                hits = 1 if options.report == "all" else len(found)
                rows += [match_record(match, signature, hits, number + 1, name, qualities) for match in chosen]
    return rows


@pytest.mark.parametrize("method", [method for method in METHODS if method not in EDITS_ONLY])
@settings(deadline=None, max_examples=examples(8))
@given(data=st.data())
def test_scan_finds_what_the_oracle_finds(
    shaped: Engine, method: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30), "seed"))
    qualities = data.draw(st.booleans(), "qualities")
    options = ScanOptions(
        report=data.draw(st.sampled_from(["best", "first", "all"]), "report"),
        strand=data.draw(st.sampled_from(STRANDS), "strand"),
        method=method,
        max_mismatches=data.draw(st.sampled_from([0, 1]), "mismatches"),
        min_informative=data.draw(st.sampled_from([0.0, 0.4]), "informative"),
    )
    signatures = make_signatures(rng)
    samples = make_samples(rng, signatures, qualities=qualities)
    path = tmp_path_factory.mktemp("scan") / f"samples.{data.draw(st.sampled_from(['txt', 'gz']), 'packed')}"
    write_samples(path, samples)
    block_bytes = data.draw(st.sampled_from([1 << 20, 700, 100]), "block")
    with mock.patch(
        "oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=block_bytes)
    ):
        found = scan(path, Panel.from_signatures(signatures), options, engine=shaped)
    assert found.records() == expected(samples, signatures, options)
    check_samples(found, samples)


def check_samples(found: ScanResult, samples: list[Sample], *, best: bool = False) -> None:
    """Compare what is told of the samples themselves."""
    table = found.samples
    assert table.name.tolist() == [name for name, _, _ in samples]
    assert table.letters.tolist() == [len(letters) for _, letters, _ in samples]
    assert table.ns.tolist() == [letters.upper().count("N") for _, letters, _ in samples]
    assert table.ends.all()
    keys = {(match["sample_number"], match["signature"], match["strand"]) for match in found.records()}
    pairs = [sum(key[0] == number for key in keys) for number in range(1, len(samples) + 1)]
    assert best or table.pairs.tolist() == pairs
    scores = [[ord(byte) - 33 for byte in qualities or ""] for _, _, qualities in samples]
    assert table.quality_sum.tolist() == [sum(score) for score in scores]
    assert table.least_quality.tolist() == [min(score, default=255) for score in scores]


@settings(deadline=None, max_examples=examples(25))
@given(data=st.data())
def test_alignments_and_best_matches_of_samples(
    engine: Engine, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30), "seed"))
    options = ScanOptions(
        report=data.draw(st.sampled_from(REPORTS), "report"),
        strand=data.draw(st.sampled_from(STRANDS), "strand"),
        max_edits=data.draw(st.integers(0, 2), "edits"),
        alignments=data.draw(st.sampled_from([True, True, False]), "alignments"),
    )
    options = replace(options, max_mismatches=2 * (options.max_edits == 0))
    signatures = [(name, letters[:12]) for name, letters in make_signatures(rng)]
    samples = [
        (name, letters[:150], qualities and qualities[:150])
        for name, letters, qualities in make_samples(rng, signatures, qualities=data.draw(st.booleans(), "qualities"))
    ]
    if data.draw(st.booleans(), "long N"):  # a place that goes through blocks
        samples = [(name, letters[:60] + "N" * 70 + letters[60:], None) for name, letters, _ in samples]
    path = tmp_path_factory.mktemp("scan") / "samples.txt"
    write_samples(path, samples, wrap=data.draw(st.sampled_from([7, 60]), "wrap"))
    block_bytes = data.draw(st.sampled_from([1 << 20, 100, 37]), "block")
    with mock.patch(
        "oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=block_bytes)
    ):
        found = scan(path, Panel.from_signatures(signatures), options, engine=engine)
    panel, parts = scan_parts([Read(*sample) for sample in samples], signatures, options, len(samples))
    (part,) = parts
    assert (
        found.records()
        == ScanResult(panel, part.samples, part.matches, options, part.alignments, part.rivals).records()
    )
    if found.alignments is not None and part.alignments is not None:
        assert found.alignments.same.tolist() == part.alignments.same.tolist()
        for name in ("cigar", "letters", "reads", "qualities"):
            assert getattr(found.alignments, name).tolist() == getattr(part.alignments, name).tolist()
    check_samples(found, samples, best=options.report == "read")


@pytest.mark.parametrize("max_edits", [0, 1])
@pytest.mark.parametrize("report", REPORTS)
def test_bases_of_matches_that_wait_for_the_end_of_their_sample(
    engine: Engine, tmp_path: Path, report: Any, max_edits: int
) -> None:
    # Matches of several samples lie at the same places, in blocks long before the samples end.
    samples: list[Sample] = [
        (f"s{number}", (" " * 20 + word + " " * 200 + word + " " * 300).replace(" ", "C"), None)
        for number, word in enumerate(["AATTA", "AANTA", "AARTA", "AAWTA"])
    ]
    path = tmp_path / "samples.fasta"
    write_samples(path, samples)
    signatures = [("p", "AATTA"), ("q", "AAATA")]
    options = ScanOptions(report, max_edits=max_edits, max_mismatches=1 - max_edits, alignments=True)
    _, parts = scan_parts([Read(*sample) for sample in samples], signatures, options, len(samples))
    (expected,) = parts
    assert expected.alignments is not None
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=100)):
        found = scan(path, Panel.from_signatures(signatures), options, engine=engine)
    assert found.alignments is not None
    assert found.matches.start.tolist() == expected.matches.start.tolist()
    assert found.alignments.letters.tolist() == expected.alignments.letters.tolist()
    assert found.alignments.cigar.tolist() == expected.alignments.cigar.tolist()


def test_filters_of_scores(engine: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    signatures = [("p", "ACGNT"), ("q", "NNN")]
    samples = make_samples(rng, signatures, qualities=True)
    write_samples(tmp_path / "samples.fastq", samples)
    options = ScanOptions(min_score=45)
    found = scan(tmp_path / "samples.fastq", Panel.from_signatures(signatures), options, engine=engine).records()
    assert found == expected(samples, signatures, options)
    assert len(found) < len(expected(samples, signatures, ScanOptions()))


def test_several_files_of_both_kinds(engine: Engine, tmp_path: Path) -> None:
    first, second = tmp_path / "a.fastq", tmp_path / "b.fasta.gz"
    write_samples(first, [("x", "ACGTACGT", "IIIIIIII"), ("y", "TTTT", "IIII")])
    write_samples(second, [("x", "GGACG", None)], wrap=2)
    found = scan([first, second], Panel.from_signatures([("p", "ACG")]), engine=engine)
    rows = [(match["sample"], match["start"], match["hits"], match["sample_number"]) for match in found.records()]
    assert rows == [("x", 0, 2, 1), ("x", 2, 1, 3)]
    assert found.samples.source.tolist() == [str(first), str(first), str(second)]
    assert found.samples.has_qualities.tolist() == [True, True, False]


def test_parts_come_in_order_and_whole(engine: Engine, tmp_path: Path) -> None:
    samples: list[Sample] = [(f"s{i}", "ACGT" * (i % 5), "IIII" * (i % 5)) for i in range(40)]
    path = tmp_path / "samples.fastq"
    write_samples(path, samples)
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=128)):
        parts = list(iter_scan(path, Panel.from_signatures([("p", "GTA")]), engine=engine))
    assert len(parts) > 3
    assert [number for part in parts for number in part.samples.number.tolist()] == list(range(40))
    assert [number for part in parts for number in part.matches.sample.tolist()] == [i for i in range(40) if i % 5 > 1]


def test_scores_need_qualities(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "samples.fasta"
    write_samples(path, [("x", "ACGT", None)])
    with pytest.raises(InputError, match=r"samples\.fasta: is FASTA, which has no qualities that min_score"):
        scan(path, Panel.from_signatures([("p", "ACG")]), ScanOptions(min_score=1), engine=engine)


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("max_edits", [0, 1])
def test_parts_own_their_arrays(engine: Engine, tmp_path: Path, report: Any, max_edits: int) -> None:
    samples: list[Sample] = [(f"s{i}", "ACGTTGCA" * (5 * i), "I" * (40 * i)) for i in range(8)]
    path = tmp_path / "samples.fastq"
    write_samples(path, samples)
    panel, options = Panel.from_signatures([("p", "GTTGC")]), ScanOptions(report=report, max_edits=max_edits)
    with mock.patch("oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=128)):
        kept = [copied(part) for part in iter_scan(path, panel, options, engine=engine)]
        seen = []
        for part in iter_scan(path, panel, options, engine=engine):
            seen.append(copied(part))
            for array in arrays_of(part):
                array[:] = array[::-1].copy() if array.dtype == object else 0
    assert len(kept) > 3
    for one, other in zip(kept, seen, strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


def arrays_of(part: ScanPart) -> list[Any]:
    return [*vars(part.samples).values(), *vars(part.matches).values()]


def copied(part: ScanPart) -> list[Any]:
    return [array.copy() for array in arrays_of(part)]


def test_the_old_spelling_still_works(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "samples.fasta"
    write_samples(path, [("x", "ACGT", None)])
    panel, told = Panel.from_signatures([("p", "ACG")]), list[int]()
    with pytest.warns(DeprecationWarning, match="scan_parts is now called iter_scan"):
        from oclgenomics.signatures import scan_parts as old
    with pytest.warns(DeprecationWarning, match=r"iter_scan: threads, progress: give .* run=Run"):
        parts = old(path, panel, engine=engine, threads=1, progress=lambda done, _: told.append(done))
    assert [len(part.matches) for part in parts] == [1]
    assert told
    with pytest.warns(DeprecationWarning, match="scan: device, max_memory: give engine=Engine"):
        assert len(scan(path, panel, device=engine.device, max_memory=1 << 26).matches) == 1
