"""K-mers dealt out to bins, against k-mers cut out of text one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from helpers.products import on_one_cpu
from hypothesis import given, settings, strategies as st

from oclgenomics.kmers.device import bin_fill
from oclgenomics.kmers.device.bin_fill import BinFiller, ChunkLists, FilledBins
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.bins import (
    CHUNK_BYTES as CHUNK,
    CHUNK_LINES,
    PrefixSpan,
    chunk_keys,
    key_bytes,
    stage_bytes,
    stage_keys,
    stage_lines,
)
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols

DIGITS = str.maketrans("ACGT", "0123")
COMPLEMENTS = str.maketrans("ACGT", "TGCA")


def random_text(seed: int, size: int, wrong: float = 0.004) -> str:
    """Letters, some of them none, with a repeat and a place that is its own reverse complement."""
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(list("ACGT"), size))
    half = "".join(rng.choice(list("ACGT"), 140))
    text = text[: size // 2] + half + half.translate(COMPLEMENTS)[::-1] + "A" * 40 + "AT" * 150 + text[size // 2 :]
    return "".join("N" if bad else letter for letter, bad in zip(text, rng.random(len(text)) < wrong, strict=True))


def kmers_of(text: str, k: int, canonical: bool) -> list[int]:
    """All k-mers, as numbers."""
    found = []
    for begin in range(len(text) - k + 1):
        kmer = text[begin : begin + k]
        if set(kmer) <= set("ACGT"):
            other = kmer.translate(COMPLEMENTS)[::-1]
            found.append(int((min(kmer, other) if canonical else kmer).translate(DIGITS), 4))
    return found


def prefix_of(kmer: int, k: int) -> int:
    """The highest 32 bits of a k-mer, or all of them before zeros."""
    return kmer >> (2 * k - 32) if k > 16 else kmer << (32 - 2 * k)


def in_bins(kmers: list[int], k: int, span: PrefixSpan) -> list[Counter[int]]:
    """What each bin of a span has to hold."""
    bins: list[Counter[int]] = [Counter() for _ in range(span.bins)]
    rest = 2 * k - 32 + span.shift
    for kmer in kmers:
        offset = prefix_of(kmer, k) - span.low
        if 0 <= offset < span.bins << span.shift:
            bins[offset >> span.shift][kmer & ((1 << rest) - 1)] += 1
    return bins


def symbols_of(engine: Engine, text: str) -> Symbols:
    """Packed symbols; what is no letter has any code."""
    letters = np.frombuffer(text.encode(), np.uint8)
    codes = np.full(-(-max(len(text), 1) // 32) * 32, 3, np.uint64)
    valid = np.zeros(len(codes), np.uint8)
    for code, letter in enumerate(b"ACGT"):
        codes[: len(text)][letters == letter] = code
        valid[: len(text)][letters == letter] = 1
    words = (codes.reshape(-1, 16) << np.arange(30, -2, -2, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
    bits = np.packbits(valid).view(">u4").astype(np.uint32)
    return Symbols(engine.upload(words), engine.upload(bits), len(text))


def filler_of(engine: Engine, options: CountOptions, texts: list[str], walkers: int | None = None) -> BinFiller:
    """Streams of texts, whose k-mers are found."""
    filler = BinFiller(engine, options, walkers)
    for text in texts:
        assert filler.add(symbols_of(engine, text)) == len(kmers_of(text, options.k, options.canonical))
    return filler


def pool_of(engine: Engine, chunks: int) -> np.ndarray:
    return engine.upload(np.random.default_rng(chunks).integers(0, 256, chunks * CHUNK, np.uint8))


def held(engine: Engine, filled: FilledBins) -> list[Counter[int]]:
    """What each bin holds: the keys of its chunks and stages."""
    size, keys, together = key_bytes(filled.rest), stage_keys(filled.rest), stage_lines(filled.rest)
    room, full = stage_bytes(filled.rest), CHUNK_LINES // stage_lines(filled.rest)
    pool = engine.download(filled.pool).reshape(-1, CHUNK)[:, : full * room].reshape(-1, full, room)
    lists, (stages, staged) = filled.lists, (engine.download(array) for array in (filled.stages, filled.staged))
    begins, chunks, lines = lists.begins, lists.chunks, lists.lines
    assert engine.download(filled.listed).tolist() == lists.packed.tolist()
    assert len(set(chunks.tolist())) == len(chunks) == begins[-1]
    assert (staged < keys).all()
    assert stages.shape == (*staged.shape, room)
    assert not (lines % together).any()
    bins = []
    for number in range(filled.span.bins):
        here = range(begins[number], begins[number + 1])
        parts = [pool[chunks[c], : lines[c] // together, : keys * size].reshape(-1, size) for c in here]
        parts += [s[number, : n[number] * size].reshape(-1, size) for s, n in zip(stages, staged, strict=True)]
        found = Counter(int.from_bytes(key.tobytes(), "little") for part in parts for key in part)
        assert found.total() == filled.sizes[number]
        bins.append(found)
    return bins


def spans_of(kmers: list[int], k: int) -> list[PrefixSpan]:
    """Spans: all prefixes, some in the middle, and bins of few prefixes each around one that is there."""
    least = max(0, 33 - 2 * k)  # of a shift, for a bit to be left
    coarse = max(28, least)
    wide = PrefixSpan(0, coarse, 1 << (32 - coarse))
    middle = PrefixSpan(1 << coarse, coarse, max(1, wide.bins // 3)) if wide.bins > 1 else wide
    prefix = prefix_of(sorted(kmers)[len(kmers) // 2], k)
    fine = PrefixSpan(max(0, (prefix >> least) - 3) << least, least, 7)
    last = PrefixSpan((1 << 32) - (1 << max(least, 20)), max(least, 20), 1)
    return [span for span in (wide, middle, fine, last) if span.high <= 1 << 32]


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("k", [1, *on_one_cpu(7, 15), 16, 17, 31, 32, 33, 49, 64, 97, 101, 160, 256])
def test_bins_hold_the_kmers_of_their_prefixes(engine: Engine, k: int, canonical: bool) -> None:
    texts = [random_text(k, 1500), random_text(k + 1, 700), "ACGT", random_text(k + 2, 32)]
    filler = filler_of(engine, CountOptions(k, canonical), texts, walkers=3)
    kmers = [kmer for text in texts for kmer in kmers_of(text, k, canonical)]
    assert filler.kmers == len(kmers)
    for span in spans_of(kmers, k):
        filled = filler.fill(span, pool_of(engine, 3 * span.bins + len(kmers) // CHUNK_LINES + 1))
        assert filled is not None
        assert filled.span == span
        assert filled.rest == 2 * k - 32 + span.shift == span.rest(k)
        assert held(engine, filled) == in_bins(kmers, k, span)


@pytest.mark.parametrize("k", [5, 21, 31, 49, 97])
def test_a_pool_is_full_or_holds_everything(engine: Engine, k: int) -> None:
    """Whatever its size: with one walker, the least that does is known."""
    texts = [random_text(3, 3000), random_text(4, 2000)]
    filler = filler_of(engine, CountOptions(k), texts, walkers=1)
    kmers = [kmer for text in texts for kmer in kmers_of(text, k, canonical=True)]
    span = PrefixSpan(0, 29, 8)
    wanted = in_bins(kmers, k, span)
    rest = span.rest(k)
    full_lines = [bin.total() // stage_keys(rest) * stage_lines(rest) for bin in wanted]
    need = sum(-(-lines // (chunk_keys(rest) // stage_keys(rest) * stage_lines(rest))) for lines in full_lines)
    for chunks in range(max(0, need - 3), need + 3):
        filled = filler.fill(span, pool_of(engine, max(chunks, 1)) if chunks else engine.empty(0, np.uint8))
        assert (filled is None) == (chunks < need), chunks
        if filled is not None:
            assert held(engine, filled) == wanted
            assert filled.lists.lines.sum() == sum(full_lines)


@pytest.mark.parametrize("walkers", [1, 2, 5])
def test_walkers_share_streams_of_any_length(engine: Engine, monkeypatch: pytest.MonkeyPatch, walkers: int) -> None:
    """Blocks of 3 groups: many, some for few walkers, or fewer groups than a block."""
    monkeypatch.setattr(bin_fill, "LEAST_BLOCK", 3)
    texts = ["N" * 5000 + random_text(1, 3000, 0.0), "ACGTTGCAAC" * 30, random_text(2, 90), "N" * 40, "", "ACGT"]
    for k in (21, 49):
        filler = filler_of(engine, CountOptions(k), texts, walkers)
        kmers = [kmer for text in texts for kmer in kmers_of(text, k, canonical=True)]
        span = PrefixSpan(0, 26, 64)
        for _ in range(2):  # the pool and its memory are used again
            filled = filler.fill(span, pool_of(engine, 64 * walkers + 100))
            assert filled is not None
            assert filled.staged.shape == (walkers, 64)
            assert held(engine, filled) == in_bins(kmers, k, span)


@pytest.mark.parametrize("k", [16, 33])
def test_runs_of_letters_that_end_at_every_place(engine: Engine, k: int) -> None:
    for begin in (0, 1, 31, 32, 33, 16 * 32 - k, 16 * 32 - 1, 16 * 32, 16 * 32 + 1):
        for size in (k - 1, k, k + 1, k + 31, k + 32):
            text = "N" * begin + random_text(begin + size, size, 0.0)[:size]
            for tail in ("", "N"):
                filler = filler_of(engine, CountOptions(k), [text + tail], walkers=1)
                assert filler.kmers == size - k + 1
                filled = filler.fill(PrefixSpan(0, 31, 2), pool_of(engine, 4))
                assert filled is not None
                assert held(engine, filled) == in_bins(kmers_of(text, k, canonical=True), k, PrefixSpan(0, 31, 2))


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("k", [1, *on_one_cpu(4, 7, 12, 15), 16, 17, 40, 200])
def test_density_counts_prefixes(engine: Engine, k: int, canonical: bool) -> None:
    texts = [random_text(k, 3000), random_text(k + 1, 500), "ACGT" * 8]
    filler = filler_of(engine, CountOptions(k, canonical), texts)
    kmers = [kmer for text in texts for kmer in kmers_of(text, k, canonical)]
    for bits in {1, min(2 * k, 15)}:
        every = np.bincount([prefix_of(kmer, k) >> (32 - bits) for kmer in kmers], minlength=1 << bits)
        whole = PrefixSpan(0, 32 - bits, 1 << bits)
        assert np.array_equal(filler.density(whole, every=1), every)
        some = whole.cut(len(every) // 2, len(every))
        assert np.array_equal(filler.density(some, every=1), every[len(every) // 2 :])
        few = filler.density(whole, every=7)
        assert (few <= every).all()
        assert 0 < few.sum() < every.sum() / 2


def test_a_sample_does_not_keep_step_with_reads(engine: Engine) -> None:
    """Reads of 127 letters and a gap: only the first of 4 groups starts k-mers of 100."""
    reads = [random_text(seed, 127, 0.0)[:127] + "N" for seed in range(200)]
    filler = filler_of(engine, CountOptions(100), ["".join(reads)])
    for every in (4, 8, 12):
        found = filler.density(PrefixSpan(0, 31, 2), every=every).sum()
        assert 0.5 < found * every / filler.kmers < 2


def test_streams_without_kmers(engine: Engine) -> None:
    filler = filler_of(engine, CountOptions(21), ["", "N" * 100, "ACGT" * 5])
    assert filler.kmers == 0
    assert filler.density(PrefixSpan(0, 17, 1 << 15), every=3).sum() == 0
    filled = filler.fill(PrefixSpan(0, 24, 256), engine.empty(0, np.uint8))
    assert filled is not None
    assert filled.sizes.tolist() == [0] * 256
    assert held(engine, filled) == [Counter()] * 256


@pytest.mark.one_cpu  # refusals
@pytest.mark.parametrize(
    ("span", "pool", "message"),
    [
        (PrefixSpan(0, 10, 1), CHUNK, "bins of one k-mer"),
        (PrefixSpan(0, 32, 1), CHUNK, "as large as all prefixes"),
        (PrefixSpan(0, 30, 5), CHUNK, "more than 32 bits"),
        (PrefixSpan(-(1 << 30), 30, 2), CHUNK, "more than 32 bits"),
        (PrefixSpan(0, 30, 0), CHUNK, "no bins"),
        (PrefixSpan(0, 15, (1 << 16) + 1), CHUNK, "more than 65,536"),
        (PrefixSpan(1 << 20, 21, 2), CHUNK, "begins within a bin"),
        (PrefixSpan(0, 24, 2), CHUNK - 8, "whole number of chunks"),
    ],
)
def test_what_cannot_be_filled_is_refused(engine: Engine, span: PrefixSpan, pool: int, message: str) -> None:
    filler = filler_of(engine, CountOptions(11), ["ACGT" * 30])
    with pytest.raises(ValueError, match=message):
        filler.fill(span, engine.empty(pool, np.uint8))


@pytest.mark.parametrize("k", [21, 55, 101])
def test_chunks_are_granted_some_at_a_time(engine: Engine, monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """What is left of the last ones is nobody's, and a pool of no whole number of grants is used as far as they go."""
    monkeypatch.setattr(bin_fill, "GRANTS_SHARE", 1)
    texts = [random_text(5, 3000), random_text(6, 1000)]
    filler = filler_of(engine, CountOptions(k), texts, walkers=3)
    wanted = in_bins([kmer for text in texts for kmer in kmers_of(text, k, canonical=True)], k, PrefixSpan(0, 29, 8))
    filled = filler.fill(PrefixSpan(0, 29, 8), pool_of(engine, 16 * 3 * 8 + 15))
    assert filled is not None
    assert held(engine, filled) == wanted
    assert filler.fill(PrefixSpan(0, 29, 8), pool_of(engine, 5)) is None


@given(data=st.data(), bins=st.integers(1, 9), walkers=st.integers(1, 3), together=st.sampled_from([1, 3]))
@settings(max_examples=60)
def test_chunks_are_sorted_by_bin(data: st.DataObject, bins: int, walkers: int, together: int) -> None:
    """Chains of chunks that walkers took in any order, between others that nobody has."""
    full = CHUNK_LINES // together
    stages = data.draw(st.lists(st.integers(0, 3 * full), min_size=bins * walkers, max_size=bins * walkers))
    lines = [many * together for many in stages]
    takers = [pair for pair, many in enumerate(stages) for _ in range(-(-many // full))]
    takers = data.draw(st.permutations(takers + [-1] * data.draw(st.integers(0, 3))))
    owners, left, places, of_chunk = [], list(lines), np.zeros(len(lines), np.uint32), []
    for chunk, pair in enumerate(takers):
        here = min(left[pair], full * together) if pair >= 0 else 0
        if pair >= 0:
            left[pair] -= here
            places[pair] = chunk * CHUNK_LINES + (here if here < full * together else CHUNK_LINES)
        owners.append(pair % bins if pair >= 0 else -1)
        of_chunk.append(here)
    spare = np.array([[chunk, chunk + 1] for chunk, pair in enumerate(takers) if pair < 0], np.uint32).reshape(-1, 2)
    arrays = np.array(owners).astype(np.uint16), places.reshape(walkers, bins)
    lists = ChunkLists.of(*arrays, bins, together, spare)
    assert lists.sizes.tolist() == [sum(lines[number::bins]) for number in range(bins)]
    for number in range(bins):
        here = lists.chunks[lists.begins[number] : lists.begins[number + 1]].tolist()
        assert here == [chunk for chunk, owner in enumerate(owners) if owner == number]
    assert lists.lines.tolist() == [of_chunk[chunk] for chunk in lists.chunks]
