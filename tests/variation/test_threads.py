"""How many threads read, and in which blocks, changes nothing: neither alignments nor errors nor their order."""

from __future__ import annotations

import dataclasses
import gzip
import os
import subprocess
import sys
import threading
import weakref
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.bgzf import END, bgzip, blocks
from helpers.damage import INPUTS, damage
from helpers.products import examples
from helpers.vcf_files import COLUMNS, HEAD, files
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.io import inflate, raw_file
from oclgenomics.io.inflate import inflate_members
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.source import Source
from oclgenomics.io.workers import Workers
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.readers.input_buffer import PADDING
from oclgenomics.variation.readers.line_blocks import LineBlock
from oclgenomics.variation.readers.read import ProgressGate, one_ahead

THREADS = (1, 2, 3, 7)
BLOCKS = (1, 60, 700)  # bytes
SAMPLES = 40
RECORDS = [f"{1 + i // 700}\t{i % 700 + 5}\t.\tA\tG\t.\t.\t.\tGT" + "\t0|1" * SAMPLES + "\n" for i in range(2000)]
VCF = (HEAD + COLUMNS + "".join(f"\ts{i}" for i in range(SAMPLES)) + "\n" + "".join(RECORDS)).encode()


def fields(alignment: Alignment) -> list[object]:
    """All that an alignment says, so that two of them can be compared."""
    values = [getattr(alignment, field.name) for field in dataclasses.fields(alignment)]
    return [(v.dtype.str, v.shape, v.tobytes()) if isinstance(v, np.ndarray) else repr(v) for v in values]


def outcome(path, **options) -> list[object]:
    """The alignments in their order, and the error after them."""
    found: list[object] = []
    try:
        found += (fields(alignment) for alignment in read_alignments(path, ReadOptions(length=1000), **options))
    except InputError as error:
        found.append((str(error), error.line, error.byte))
    return found


def same_whatever_the_threads(path) -> list[object]:
    """The outcome, the same for any number of threads, each with one of three blocks: which one, the content says."""
    expected = outcome(path, threads=1)
    first = zlib.crc32(path.read_bytes())
    for number, threads in enumerate(THREADS):
        size = BLOCKS[(first + number) % len(BLOCKS)]
        assert outcome(path, threads=threads, block_bytes=size, prefetch=threads << 20) == expected, (threads, size)
    return expected


def packed(data: bytes, how: str) -> bytes:
    if how == "plain":
        return data
    return gzip.compress(data) if how == "gzip" else bgzip(data, 300)


@settings(max_examples=examples(25), deadline=None)
@given(file=files(), how=st.sampled_from(["plain", "gzip", "bgzip"]))
def test_vcf(tmp_path_factory, file, how):
    path = tmp_path_factory.mktemp("vcf") / "x"
    path.write_bytes(packed(file[0].encode(), how))
    assert same_whatever_the_threads(path)


@pytest.mark.parametrize("alternative", ["G", "Y"])  # Y is no base, so its haploid call is not known
def test_haploid_calls_in_blocks_of_their_own(tmp_path, alternative):
    records = [f"1\t1\t.\tC\t{alternative}\t.\t.\t.\tGT\t1", *(f"1\t{at}\t.\tA\tG\t.\t.\t.\tGT\t0|0" for at in (2, 3))]
    (tmp_path / "x").write_text(HEAD + COLUMNS + "\ts0\n" + "\n".join(records))
    (known,) = [alignment.haploid for alignment in read_alignments(tmp_path / "x", ReadOptions())]
    assert (known is None) == (alternative == "Y")
    same_whatever_the_threads(tmp_path / "x")


@pytest.mark.parametrize("how", ["plain", "gzip", "bgzip"])
@pytest.mark.parametrize("name", INPUTS)
def test_damaged_inputs(tmp_path, name, how):
    path = tmp_path / "x"
    rng = np.random.default_rng(len(name) + len(how))
    refused = 0
    for _ in range(25):
        data = damage(INPUTS[name].encode(), rng) if how == "plain" or rng.random() < 0.5 else INPUTS[name].encode()
        path.write_bytes(damage(packed(data, how), rng) if how != "plain" else data)
        refused += isinstance(same_whatever_the_threads(path)[-1], tuple)
    assert refused > 5


@pytest.mark.parametrize(
    ("bad", "message", "complete"),
    [
        ({700: "1\t1\tx"}, "line 703.*: 3 columns", 0),
        ({900: "2\t3\t.\tA\tG\t.\t.\t.\tGT" + "\t0|1" * SAMPLES, 901: "x"}, "line 903.*position 3 comes after", 1),
        ({901: "2\t3\t.\tA\tG\t.\t.\t.\tGT" + "\t0|1" * SAMPLES, 900: "x"}, "line 903.*1 columns", 1),
        ({1990: RECORDS[1990].replace("0|1\n", "0|9\n").strip(), 1995: "#"}, "line 1993.*allele 9 of sample s39", 2),
    ],
)
def test_the_first_of_several_bad_lines_is_named(tmp_path, bad, message, complete):
    lines = [bad.get(i, line.strip()) for i, line in enumerate(RECORDS)]
    path = tmp_path / "x.vcf"
    path.write_bytes(VCF[: VCF.index(RECORDS[0].encode())] + "\n".join(lines).encode())
    expected = outcome(path, threads=1)
    for threads in THREADS:
        for size in (3000, 1 << 20):
            assert outcome(path, threads=threads, block_bytes=size) == expected
    with pytest.raises(InputError, match=message):
        list(read_alignments(path))
    assert len(expected) == complete + 1


FEW = RECORDS[600:900]
BAD = {"bad": (150, "1\t1\tx\n"), "twice": (299, FEW[299].replace("0|1\n", "0|9\n"))}


@pytest.mark.parametrize("kind", ["whole", "no end", "blank lines", "mark", "return", "macs", *BAD])
def test_threads_read_the_blocks_of_a_large_file(tmp_path, monkeypatch, kind):
    lines = list(FEW)
    if kind in BAD:
        lines[BAD[kind][0]] = BAD[kind][1]
    data = VCF[: VCF.index(RECORDS[0].encode())] + "".join(lines).encode()
    if kind == "macs":
        sites = "".join(f"SITE:\t{i}\t0.{i:03}\t0.5\t{'01' * 30}\n" for i in range(300))
        data = f"COMMAND:\tx\n{sites}TOTAL_SITES:\t300\n".encode() * 2
    data = {
        "no end": data.rstrip(b"\n"), "blank lines": data.replace(b"0|1\n", b"0|1\n\n"), "mark": b"\xef\xbb\xbf" + data,
        "return": data.replace(b"\n", b"\r\n"),
    }.get(kind, data)  # fmt: skip
    path = tmp_path / "x"
    path.write_bytes(data)
    expected = outcome(path, threads=1)
    assert isinstance(expected[-1], tuple) == (kind in BAD)
    read, sizes = raw_file.FileRest.read, []
    monkeypatch.setattr(raw_file, "MIN_SHARED_OUT", 1)
    monkeypatch.setattr(raw_file, "FIRST_LOOK", 5)
    monkeypatch.setattr(
        raw_file.FileRest, "read", lambda self, at, target: (sizes.append(len(target)), read(self, at, target))
    )
    for threads in (1, 3):
        for size in (60, 7000):
            done: list[int] = []
            seen = outcome(path, threads=threads, block_bytes=size, progress=lambda now, _, done=done: done.append(now))
            assert seen == expected
            assert done == sorted(done)
            assert kind in BAD or done[-1] == len(data)
    assert max(sizes) > 3000
    assert sum(sizes) > (2 if kind in BAD else 3) * len(data)


def test_a_large_file_that_shrinks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(raw_file, "MIN_SHARED_OUT", 1)
    path, read = tmp_path / "x", raw_file.FileRest.read
    path.write_bytes(VCF)

    def shrink(self, at, target):
        if at > 100_000:
            os.truncate(path, 100_000)
        read(self, at, target)

    monkeypatch.setattr(raw_file.FileRest, "read", shrink)
    with pytest.raises(InputError, match="x: became shorter while it was read"):
        list(read_alignments(path, block_bytes=7000))


def test_no_thread_reads_a_large_file_that_is_closed(tmp_path, monkeypatch):
    """A bad line ends the reading while threads are at work on the blocks behind it."""
    monkeypatch.setattr(raw_file, "MIN_SHARED_OUT", 1)
    path, closed, go = tmp_path / "x", threading.Event(), threading.Event()
    path.write_bytes(VCF.replace(RECORDS[0].encode(), b"x\n"))
    read, settle, close = raw_file.FileRest.read, Workers.settle, StoredBytes.close
    seen: list[bool] = []

    def late(self, at, target):
        if at > 1000:
            go.wait(20)
        seen.append(closed.is_set())
        read(self, at, target)

    def settled(self):
        go.set()
        settle(self)

    def closes(self):
        closed.set()
        go.set()
        close(self)

    monkeypatch.setattr(raw_file.FileRest, "read", late)
    monkeypatch.setattr(Workers, "settle", settled)
    monkeypatch.setattr(StoredBytes, "close", closes)
    with pytest.raises(InputError, match="1 columns"):
        list(read_alignments(path, block_bytes=700, threads=3))
    assert len(seen) > 1
    assert not any(seen)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 200_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5])
def test_ends_of_lines(size, share):
    rng = np.random.default_rng(size)
    data = np.where(rng.random(size) < share, np.uint8(10), rng.integers(14, 256, size).astype(np.uint8))
    data[-1:] = 10
    found = LineBlock.split(np.append(data, np.full(PADDING, 10, np.uint8)), 0, "x")
    ends = np.flatnonzero(data == 10).tolist()
    lines = [
        (number, begin, end)
        for number, (begin, end) in enumerate(zip([0, *(e + 1 for e in ends[:-1])], ends, strict=False))
    ]
    expected = [one for one in lines if one[1] < one[2]]
    assert list(zip(found.lines.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True)) == expected
    assert found.newlines == len(ends)


def test_ms_in_many_slices(tmp_path):
    rng = np.random.default_rng(4)
    text = ""
    for rows, letters in ((333, "01"), (70, "01-N"), (8, "01"), (257, "01N")):
        text += "\n//\nsegsites: 50\npositions: " + " ".join(f"{i / 50}" for i in range(50)) + "\n"
        text += "".join("".join(rng.choice(list(letters), 50)) + "\n" for _ in range(rows))
    path = tmp_path / "x.ms"
    path.write_text("ms 1 1\n" + text)
    assert len(same_whatever_the_threads(path)) == 4


@pytest.fixture(params=["isal", "zlib"])
def small_runs(request, monkeypatch):
    """Many runs of blocks in a small file, with both ways of inflating."""
    if request.param == "zlib":
        monkeypatch.setitem(__import__("sys").modules, "isal", None)
    else:
        pytest.importorskip("isal")
    monkeypatch.setattr(inflate, "_STRETCH_BYTES", 5000)
    monkeypatch.setattr(inflate, "_READ_BYTES", 3000)


def content(path, threads: int) -> tuple[bytes, str]:
    """What can be inflated, and the error that ends it."""
    parts = []
    with Workers(threads) as workers, Source(path, workers=workers) as source:
        try:
            for chunk in source:
                parts.append(chunk)
        except InputError as error:
            return b"".join(parts), str(error)
    return b"".join(parts), ""


def whole(path) -> str:
    """The error of the members taken one after the other."""
    stored = StoredBytes(str(path))
    try:
        for _ in inflate_members(stored):
            pass
    except InputError as error:
        return str(error)
    finally:
        stored.close()
    return ""


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(bgzip, id="bgzip"),
        pytest.param(lambda text: bgzip(text, 900), id="small blocks"),
        pytest.param(lambda text: bgzip(text, 900) + bytes(500), id="padding"),
        pytest.param(lambda text: bgzip(text[:70000]) + gzip.compress(text[70000:]), id="then gzip"),
        pytest.param(lambda text: gzip.compress(text[:70000]) + bgzip(text[70000:]), id="gzip first"),
        pytest.param(lambda text: bgzip(text[:9000], 800) + END + bgzip(text[9000:], 800), id="joined"),
        pytest.param(lambda text: wrong_size(blocks(text, 900)), id="a size that is wrong"),
    ],
)
def test_bgzip(tmp_path, pack, threads):
    path = tmp_path / "x.gz"
    path.write_bytes(pack(VCF))
    assert content(path, threads) == (VCF, "")


def wrong_size(parts: list[bytes]) -> bytes:
    """A block whose header says another size than it has; nothing that gzip looks at."""
    parts[40] = parts[40][:16] + b"\x99\x01" + parts[40][18:]
    return b"".join(parts)


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda b: b[:60] + bytes([b[60] ^ 0x55]) + b[61:], id="data"),
        pytest.param(lambda b: b[:-8] + bytes([b[-8] ^ 1]) + b[-7:], id="checksum"),
        pytest.param(lambda b: b[:-4] + bytes([b[-4] ^ 1]) + b[-3:], id="length"),
        pytest.param(lambda b: b"\x1f\x8c" + b[2:], id="magic"),
        pytest.param(lambda b: b[: len(b) // 2], id="a hole"),
    ],
)
def test_a_damaged_block_in_the_middle(tmp_path, spoil):
    parts = blocks(VCF, 900)
    path = tmp_path / "x.gz"
    path.write_bytes(b"".join([*parts[:100], spoil(parts[100]), *parts[101:], END]))
    found = [content(path, threads) for threads in THREADS]
    assert found[0][0].startswith(VCF[: 100 * 900])
    assert "damaged gzip data" in found[0][1]
    assert found[0][1] == whole(path)
    assert found == found[:1] * len(THREADS)
    expected = outcome(path, threads=1)
    assert expected[-1] == (found[0][1], None, None)
    for threads in THREADS:
        assert outcome(path, threads=threads, block_bytes=5000) == expected


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("left", [5, 17, 30, -1])
def test_truncated_in_a_block(tmp_path, left):
    parts = blocks(VCF, 900)
    path = tmp_path / "x.gz"
    path.write_bytes(b"".join(parts[:100]) + parts[100][:left])
    for threads in THREADS:
        text, error = content(path, threads)
        assert text.startswith(VCF[: 100 * 900])
        assert error.endswith("the gzip data ends in the middle (a truncated file?); fetch it again")


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize(
    "tail", [pytest.param([], id="cut"), pytest.param([bytes(500)], id="padding"), pytest.param([END[:18]], id="in it")]
)
@pytest.mark.parametrize("before", [[], [END]])
def test_truncated_between_blocks(tmp_path, before, tail):
    parts = blocks(VCF, 900)
    path = tmp_path / "x.gz"
    path.write_bytes(b"".join([*parts[:20], *before, *parts[20:100], *tail]))
    for threads in THREADS:
        text, error = content(path, threads)
        assert text == VCF[: 100 * 900]
        assert "a truncated file?" in error
        assert ("end marker" in error) == (tail != [END[:18]])
        assert outcome(path, threads=threads)[-1] == (error, None, None)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", ["plain", "gzip", "bgzip"])
@pytest.mark.parametrize("prefetch", [0, 1 << 30])
def test_closing_early_ends_all_threads(tmp_path, how, prefetch):
    path = tmp_path / "x.vcf"
    path.write_bytes(packed(VCF, how))
    before = threading.active_count()
    reader = read_alignments(path, block_bytes=2000, threads=3, prefetch=prefetch)
    assert next(reader).sites == 700
    reader.close()
    assert threading.active_count() == before


def test_a_failed_reader_leaves_no_thread(tmp_path):
    path = tmp_path / "x.vcf"
    path.write_bytes(VCF + b"x\n")
    before = threading.active_count()
    with pytest.raises(InputError, match="line 2003"):
        list(read_alignments(path, block_bytes=2000, threads=3))
    assert threading.active_count() == before


def test_no_thread_is_started_for_one(tmp_path):
    path = tmp_path / "x.vcf.gz"
    path.write_bytes(bgzip(VCF, 900))
    before = threading.active_count()
    reader = read_alignments(path, block_bytes=2000, threads=1)
    next(reader)
    assert threading.active_count() == before
    reader.close()


def test_fewer_than_one_thread():
    with pytest.raises(UsageError, match=r"^threads must be between 1 and 1024, not 0$"):
        next(read_alignments("x", threads=0))


@pytest.mark.parametrize("how", ["gzip", "bgzip"])
def test_the_program_may_end_while_an_alignment_is_read(tmp_path, how):
    path = tmp_path / "x.vcf"
    path.write_bytes(packed(VCF, how))
    code = f"reader = read_alignments({str(path)!r}, threads=3, prefetch=1 << 30, block_bytes=3000); next(reader)"
    code = f"from oclgenomics.variation import read_alignments; {code}"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


class Reader:
    """Gives alignments of one site, and tells when each is read."""

    def __init__(self, count: int) -> None:
        self.read = [threading.Event() for _ in range(count)]
        self.closed = self.stopped = False

    def alignments(self) -> Iterator[Alignment]:
        try:
            for event in self.read:
                event.set()
                yield Alignment("1", np.ones(1, np.int64), np.zeros((1, 1), np.uint32), 2, np.zeros((1, 2), np.uint8))
        finally:
            self.closed = True

    def stop(self) -> None:
        self.stopped = True


def silent() -> ProgressGate:
    return ProgressGate(lambda _done, _total: None)


def test_the_next_alignment_is_read_while_one_is_worked_on():
    reader = Reader(3)
    ahead = one_ahead(reader.alignments(), 5, silent(), reader.stop)
    next(ahead)
    assert reader.read[1].wait(60)
    next(ahead)
    assert reader.read[2].wait(60)
    ahead.close()
    assert reader.closed
    assert reader.stopped


def test_after_a_large_alignment_the_next_is_read_when_asked_for():
    reader = Reader(3)
    ahead = one_ahead(reader.alignments(), 4, silent(), reader.stop)
    next(ahead)
    assert not reader.read[1].is_set()
    assert len(list(ahead)) == 2
    assert reader.closed


@pytest.mark.parametrize("limit", [0, 1 << 30])
def test_an_alignment_given_out_is_kept_by_nobody(limit):
    reader = Reader(3)
    ahead = one_ahead(reader.alignments(), limit, silent(), reader.stop)
    held = weakref.ref(next(ahead))
    if limit:
        assert reader.read[1].wait(60)
    else:
        next(ahead)
    assert held() is None
    ahead.close()


def test_an_error_comes_after_the_alignments_before_it(tmp_path):
    path = tmp_path / "x.vcf"
    path.write_bytes(VCF + b"x\n")
    reader = read_alignments(path, threads=2, prefetch=1 << 30)
    assert [next(reader).name, next(reader).name] == ["1", "2"]
    with pytest.raises(InputError, match="line 2003"):
        next(reader)


def test_progress_comes_only_while_somebody_waits():
    seen: list[int] = []
    gate = ProgressGate(lambda done, _total: seen.append(done))
    gate(1, None)
    with gate.waiting():
        gate(2, None)
    gate(3, None)
    with gate.waiting():
        gate(4, None)
    assert seen == [1, 2, 4]
