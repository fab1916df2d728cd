"""The verb `align`: which prefixes of which reads are aligned, and in which blocks."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from helpers.sdtw_oracle import OracleAligner, small_squiggle
from hypothesis import given, settings, strategies as st

from oclgenomics import sdtw
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sdtw import Alignments, AlignOptions, Stage, Thresholds, align, iter_align, open_references
from oclgenomics.sdtw.device.reads import align_block, signal_blocks
from oclgenomics.sdtw.device.steps import finished
from oclgenomics.sdtw.plan import MAX_BLOCK_SAMPLES, PrefixBlock, block_reads, prefix_blocks
from oclgenomics.signals import Signals, TrimOptions, write_signals

LEVELS = 80 + 12 * np.random.default_rng(5).standard_normal(60)
TWO = (small_squiggle("a", LEVELS), small_squiggle("b", LEVELS[10:40], cuts=[12]))


def reads_of(lengths: list[int], seed: int = 1) -> Signals:
    """Reads of these numbers of samples."""
    rng = np.random.default_rng(seed)
    return Signals.of([rng.integers(300, 700, length).astype(np.int16) for length in lengths])


lengths = st.lists(st.integers(0, 25), max_size=12)


@given(lengths, st.integers(1, 5), st.integers(1, 24), st.integers(0, 12))
@settings(max_examples=60)
def test_blocks_hold_each_read_once(sizes: list[int], reads: int, rows: int, cut: int) -> None:
    """Whatever blocks the reads come in, they leave in their order, so many at a time."""
    signals = reads_of(sizes)
    given_blocks = [signals.take(slice(cut)), signals.take(slice(cut, None))]
    blocks = list(prefix_blocks(given_blocks, rows, reads))
    assert [len(block) for block in blocks[:-1]] == [reads] * (len(blocks) - 1)
    assert len(blocks) == max(1, -(-len(sizes) // reads))
    joined = Signals.joined([block.signals for block in blocks])
    assert list(joined.names) == list(signals.names)
    assert [joined.read(i).tolist() for i in range(len(joined))] == [
        signals.read(i)[:rows].tolist() for i in range(len(signals))
    ]
    assert [n for block in blocks for n in block.samples.tolist()] == sizes


@given(lengths, st.integers(1, 5))
@settings(max_examples=30)
def test_prefixes_are_aligned_where_reads_have_them(sizes: list[int], reads: int) -> None:
    """A read that is too short stays, without a cost."""
    signals, prefixes = reads_of(sizes), (3, 10, 20)
    aligner = OracleAligner(TWO, AlignOptions())
    parts = [finished(align_block(aligner, block, prefixes)) for block in prefix_blocks([signals], 20, reads)]
    found = Alignments.joined(parts)
    assert list(found.names) == list(signals.names)
    assert found.samples.tolist() == sizes
    for read, size in enumerate(sizes):
        for number, rows in enumerate(prefixes):
            if size < rows:
                assert np.isnan(found.cost[read, number]).all()
                assert (found.column[read, number] == -1).all()
            else:
                best = aligner.align(signals.read(read), np.zeros(1, np.int64), rows)
                assert (found.cost[read, number] == best.cost[0]).all()
                assert (found.column[read, number] == best.column[0]).all()


def test_all_reads_of_a_prefix_go_in_one_call() -> None:
    """An aligner is called once for each prefix of a block that some read has."""
    calls = []

    class Counting(OracleAligner):
        def align(self, samples, first, prefix):  # type: ignore[no-untyped-def]
            calls.append((len(first), prefix))
            return super().align(samples, first, prefix)

    signals = reads_of([5, 12, 12, 3])
    finished(align_block(Counting(TWO, AlignOptions()), PrefixBlock.of(signals, 20), (4, 10, 20)))
    assert calls == [(3, 4), (2, 10)]


def test_signals_come_as_given() -> None:
    """Signals, one or several or those of an iterator, need no file."""
    one, two = reads_of([3, 4]), reads_of([5])
    assert list(signal_blocks(one)) == [one]
    assert list(signal_blocks(iter([one, two]))) == [one, two]
    assert list(signal_blocks([])) == []


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([], "references must not be empty"),
        ([TWO[0], TWO[0]], "references must differ in name; 2 of them have the name a"),
        ([TWO[0], small_squiggle("r", LEVELS, molecule="rna")], "references must be all of DNA or all of RNA"),
    ],
)
def test_references_that_do_not_go_together(references: list, message: str) -> None:  # type: ignore[type-arg]
    """References have names of their own and are of one molecule."""
    with pytest.raises(ParameterError, match=message):
        open_references(references)


def test_blocks_are_worth_waiting_for() -> None:
    """A block is about so many samples, one read at least."""
    assert block_reads(1000) == MAX_BLOCK_SAMPLES // 1000
    assert block_reads(MAX_BLOCK_SAMPLES + 1) == 1


def test_small_squiggles_have_both_strands() -> None:
    """The helper's references: each column's place is where its level comes from."""
    for squiggle in (*TWO, small_squiggle("r", LEVELS, molecule="rna", cuts=[7, 30])):
        places = squiggle.places(np.arange(len(squiggle)))
        forward = squiggle.levels[: len(squiggle) // 2] if squiggle.molecule == "dna" else squiggle.levels[::-1]
        assert (forward[places.position] == squiggle.levels).all()


def test_reads_go_all_the_way(shaped: Engine) -> None:
    """Costs and places of the device are those of the oracle, and alignments start before they end."""
    signals, prefixes = reads_of([5, 300, 120, 0, 44, 300]), (40, 100)
    aligner = OracleAligner(TWO, AlignOptions())
    wanted = finished(align_block(aligner, PrefixBlock.of(signals, 100), prefixes))
    blocks = iter([signals.take(np.arange(2)), signals.take(np.arange(2, 6))])
    found = align(blocks, TWO, prefixes=prefixes, engine=shaped)
    np.testing.assert_array_equal(found.cost, wanted.cost)
    np.testing.assert_array_equal(found.column, wanted.column)
    assert found.start is None
    assert "start" not in found.columns()
    started = align(signals, TWO, prefixes=prefixes, starts=True, engine=shaped)
    assert started.start is not None
    assert ((started.start >= 0) == (found.column >= 0)).all()
    assert (started.start <= found.column).all()
    rows = started.records()
    assert len(rows) == 6 * 2 * 2
    assert [row["cost"] for row in rows[:4]] == [None] * 4


def test_no_reads_give_a_part(engine: Engine) -> None:
    """Which has all that others have."""
    (part,) = iter_align([], TWO, prefixes=(5,), starts=True, engine=engine)
    assert part.cost.shape == (0, 1, 2)
    assert part.start is not None
    assert part.records() == []


def test_prefixes_are_checked_first() -> None:
    """What cannot be is told before a file or a device is opened."""
    with pytest.raises(ParameterError, match="ascending"):
        align("no file", "no file", prefixes=(5, 5))
    with pytest.raises(ParameterError, match="at least the 3 samples of a row"):
        align("no file", "no file", prefixes=(1, 5))


def test_files_are_read_ahead(tmp_path: Path) -> None:
    """In their order, with progress; whoever stops early leaves no thread behind."""
    signals, told = reads_of([5, 300, 40]), []
    for name in ("one.npz", "two.npz"):
        write_signals(tmp_path / name, signals)
    paths = [tmp_path / "one.npz", tmp_path / "two.npz"]
    blocks = list(signal_blocks(paths, trim=TrimOptions(stall=False, extra=10), progress=lambda *far: told.append(far)))
    assert Signals.joined(blocks).lengths.tolist() == [0, 290, 30] * 2
    assert told[-1] == (sum(path.stat().st_size for path in paths),) * 2
    threads = threading.active_count()
    early = signal_blocks(paths)
    next(early)
    early.close()
    assert threading.active_count() == threads
    with pytest.raises(InputError, match="no file: no such file"):
        list(signal_blocks([*paths, "no file"]))
    assert threading.active_count() == threads


def test_the_old_spelling_works_and_warns(device: Device) -> None:
    """With the names and the keywords of the version before."""
    signals = reads_of([20, 9])
    with pytest.warns(DeprecationWarning, match="align_parts is now called iter_align"):
        old = sdtw.align_parts
    with pytest.warns(DeprecationWarning, match="classify_parts is now called iter_classify"):
        assert sdtw.classify_parts is sdtw.iter_classify
    with pytest.warns(DeprecationWarning, match="iter_align: device, max_memory"):
        parts = list(old(signals, TWO, AlignOptions(), prefixes=(9,), device=device, max_memory=1 << 28))
    expected = align(signals, TWO, prefixes=(9,), engine=device)
    np.testing.assert_array_equal(Alignments.joined(parts).cost, expected.cost)
    thresholds = Thresholds((Stage(9, 1000),), AlignOptions())
    with pytest.warns(DeprecationWarning, match="ReadUntilClassifier: device"):
        sdtw.ReadUntilClassifier(TWO, thresholds, device=device)
