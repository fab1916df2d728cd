"""Parts of files have, in order, the records and the bytes of the files, wherever the cuts fall."""

from __future__ import annotations

import gzip
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from unittest import mock

import pytest
from helpers.bgzf import END, bgzip, blocks
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics import kmers
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io import placed_text
from oclgenomics.io.file_slice import FileSlice, stored_size
from oclgenomics.io.source import Source
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census, InputProgress, letter_blocks, packed_blocks, slices
from oclgenomics.sequence.records import Record, read_records
from oclgenomics.sequence.slices import cut_files, cut_inputs

NAMES = ("r", "r1 x", "a/1", "é", "@", "+", ">", "", " lead", "x" * 40)
BREAKS = ("\n", "\r\n")
words = st.text(st.sampled_from("ACGTNacgt"), max_size=12)


@st.composite
def fasta(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from((*BREAKS, "\r")))
    lines = [""] * draw(st.integers(0, 2))
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=8)):
        lines += [">" + name, *draw(st.lists(words, max_size=4))]
    text = end.join(lines) + draw(st.sampled_from(("", end, 3 * end)))
    return draw(st.sampled_from((b"", b"\xef\xbb\xbf"))) + text.encode()


@st.composite
def fastq(draw: st.DrawFn, *, wrapped: bool = False) -> bytes:
    """Records whose qualities look like all other lines, and, if wrapped, some with more than four lines."""
    end = draw(st.sampled_from(BREAKS))
    lines = [""] * draw(st.integers(0, 2))
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=8)):
        letters = draw(words)
        qualities = draw(st.text(st.sampled_from("@+>I!"), min_size=len(letters), max_size=len(letters)))
        at = draw(st.integers(0, len(letters))) if wrapped else 0
        lines += ["@" + name, letters[:at], letters[at:]] if at else ["@" + name, letters]
        lines += ["+" + draw(st.sampled_from(("", name)))]
        lines += [qualities[:at], qualities[at:]] if at else [qualities]
        lines += [""] * (wrapped and draw(st.integers(0, 1)))
    text = end.join(lines) + draw(st.sampled_from(("", end, 3 * end) if lines[-1] else (end,)))
    return draw(st.sampled_from((b"", b"\xef\xbb\xbf"))) + text.encode()


def parts_of(names: Sequence[str], of: int) -> list[list[str]]:
    return [cut_files(names, number, of) for number in range(1, of + 1)]


def read(names: Sequence[str]) -> list[Record]:
    return [record for name in names for record in read_records(name)]


def unpacked(name: str) -> bytes:
    with Source(name) as source:
        return b"".join(source)


def check(folder: Path, texts: Sequence[bytes], of: int) -> None:
    names = [str(folder / str(number)) for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        Path(name).write_bytes(text)
    parts = parts_of(names, of)
    assert b"".join(unpacked(name) for part in parts for name in part) == b"".join(map(unpacked, names))
    assert [record for part in parts for record in read(part)] == read(names)


@contextmanager
def looked_at(read: int, lines: int, most: int) -> Iterator[None]:
    """Look at so much of a file at a time, at so many lines at least, and at so many bytes around a cut."""
    with ExitStack() as stack:
        for module, name, value in (
            (placed_text, "FIRST_READ", read), (placed_text, "MOST_READ", read),
            (slices, "LINES_THAT_TELL", lines), (slices, "MOST_TEXT", most),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(module, name, value))
        yield


looks = st.tuples(st.sampled_from((5, 16, 64, 1 << 16)), st.sampled_from((8, 12)), st.sampled_from((1, 100, 1 << 24)))
texts = st.lists(st.one_of(fasta(), fastq(), fastq(wrapped=True)), min_size=1, max_size=3)


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.integers(1, 9), looks)
def test_uncompressed_files(tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], of: int,
                            look: tuple[int, int, int]) -> None:  # fmt: skip
    with looked_at(*look):
        check(tmp_path_factory.mktemp("plain"), texts, of)


@settings(max_examples=examples(100), deadline=None)
@given(texts, st.integers(1, 9), looks, st.sampled_from((1, 3, 10, 64, 1000)), st.booleans())
def test_compressed_files(tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], of: int,
                          look: tuple[int, int, int], size: int, empty: bool) -> None:  # fmt: skip
    packed = [bgzip(text, size) for text in texts]
    if empty:  # blocks between others
        packed = [END.join(blocks(text, size)) + 2 * END for text in texts]
    packed.insert(1, gzip.compress(texts[0]))
    with looked_at(*look):
        check(tmp_path_factory.mktemp("packed"), packed, of)


@st.composite
def mates(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    """First and second mates whose names are the same, have a number behind, or have nothing to do with each other."""
    count, kind = draw(st.integers(1, 40)), draw(st.sampled_from(("same", "numbered", "other", "one")))
    rng = random.Random(draw(st.integers(0, 1 << 32)))  # one draw for the thousands of letters, each of which costs
    fastq = draw(st.booleans())

    def record(number: int, mate: int) -> bytes:
        letters = "".join(rng.choices("ACGT", k=rng.randint(0, 30)))
        name = {"same": f"r{number}", "numbered": f"{number}/{mate + 1}", "one": "r"}.get(kind, f"{mate}:{number}")
        text = name + rng.choice(("", " text")) + f"\n{letters}\n"
        qualities = "".join(rng.choices("@+>I", k=len(letters)))
        return (f"@{text}+\n{qualities}\n" if fastq else f">{text}").encode()

    return [record(number, 0) for number in range(count)], [record(number, 1) for number in range(count)]


@contextmanager
def searched(first: int, most: int) -> Iterator[None]:
    """Search names so far, first and at most, from where they are expected."""
    with mock.patch.object(slices, "FIRST_WIDTH", first), mock.patch.object(slices, "MOST_WIDTH", most):
        yield


packings = st.sampled_from((bytes, partial(bgzip, size=10), partial(bgzip, size=200), gzip.compress))
widths = st.tuples(st.sampled_from((1, 50, 1 << 16)), st.sampled_from((1, 400, 1 << 25)))


@settings(max_examples=examples(100), deadline=None)
@given(mates(), st.integers(1, 9), looks, widths, packings, packings)
def test_mates_in_two_files(
    tmp_path_factory: pytest.TempPathFactory, records: tuple[list[bytes], list[bytes]], of: int,
    look: tuple[int, int, int], width: tuple[int, int], pack: Callable[[bytes], bytes],
    pack_other: Callable[[bytes], bytes],
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("mates")
    names = str(folder / "1"), str(folder / "2")
    for name, some, packing in zip(names, records, (pack, pack_other), strict=True):
        Path(name).write_bytes(packing(b"".join(some)))
    with looked_at(*look), searched(*width):
        parts = [part for number in range(of) for part in cut_inputs([names], number + 1, of)]
    for first, second in parts:
        assert len(read([first])) == len(read([second])) > 0
    for mate in (0, 1):
        assert [record for part in parts for record in read([part[mate]])] == read([names[mate]])


@settings(max_examples=examples(100), deadline=None)
@given(mates(), st.integers(1, 9), looks, packings)
def test_interleaved_mates(
    tmp_path_factory: pytest.TempPathFactory, records: tuple[list[bytes], list[bytes]], of: int,
    look: tuple[int, int, int], pack: Callable[[bytes], bytes],
) -> None:  # fmt: skip
    name = str(tmp_path_factory.mktemp("mates") / "x")
    Path(name).write_bytes(pack(b"".join(chain.from_iterable(zip(*records, strict=True)))))
    with looked_at(*look):
        parts = [cut_files([name], number + 1, of, interleaved=True) for number in range(of)]
    assert all(len(read(part)) % 2 == 0 for part in parts)
    assert [record for part in parts for record in read(part)] == read([name])


FASTA = b">a\nACGTTGCATTGACC\n>b x\nGGTACCAGTA\nCC\n>c\n\n>d\nNNACGTACGATCAGCATCAGNACT\n" * 5
FASTQ = b"@a\nACGTTGCATTGACC\n+\n@+>@+>@+>@+>@+\n@b/1 y\nGGTACCAGTACC\n+\nIIIIIIIIIII@\n" * 5


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / name) for name in ("a.fa", "b.fq", "c.fa")]
    for name, text in zip(names, (FASTA, FASTQ, FASTA), strict=True):
        Path(name).write_bytes(text)
    return names


def letters_of(engine: Engine, names: Sequence[str], *, join: bool) -> list[bytes]:
    found: list[bytes] = []
    for block in letter_blocks(engine, names, block_bytes=64, overlap=3, join=join):
        pieces = block.pieces
        found += [b""] * (int(pieces.record[-1]) + 1 - len(found))
        for record, place, owned in zip(pieces.record, pieces.letters, pieces.owned, strict=True):
            found[record] += block.host[place : place + owned].tobytes()
    return found


@pytest.mark.parametrize("of", [1, 2, 3, 7, 40])
def test_readers_on_the_device(engine: Engine, files: list[str], of: int) -> None:
    parts = parts_of(files, of)
    for join in (False, True):
        found = [letters for part in parts for letters in letters_of(engine, part, join=join)]
        assert found == letters_of(engine, files, join=join) == [record.letters for record in read(files)]
    assert counted(engine, parts) == counted(engine, [files])


def counted(engine: Engine, parts: Sequence[Sequence[str]]) -> tuple[Census, Counter[int]]:
    """Count records, letters and k-mers of all parts."""
    census, found = Census(), Counter[int]()
    for part in parts:
        for _ in packed_blocks(engine, part, census=census):
            pass
        if part:
            counts = kmers.count(part, kmers.CountOptions(5), engine=engine)
            found.update(dict(zip(counts.keys[0].tolist(), counts.counts.tolist(), strict=True)))
    return census, found


def test_parts_are_about_equally_large(files: list[str]) -> None:
    sizes = [sum(stored_size(name) or 0 for name in part) for part in parts_of(files, 4)]
    assert max(sizes) - min(sizes) < 100
    assert cut_files(files, 1, 1) == files
    assert not any(isinstance(name, FileSlice) for name in cut_files(files, 1, 1))


@pytest.mark.parametrize("level", [0, 6])
def test_bgzip_is_cut_at_records(tmp_path: Path, level: int) -> None:
    """Also where the text holds what begins like a block."""
    name = str(tmp_path / "x.gz")
    text = FASTQ.replace(b"@b/1 y", b"@b/1 " + END.replace(b"\n", b"")) * 20
    Path(name).write_bytes(bgzip(text, 100, level))
    parts = parts_of([name], 30)
    found = [one for part in parts for one in part]
    assert len(found) == 30
    assert all(isinstance(one, FileSlice) for one in found)
    assert b"".join(map(unpacked, found)) == text
    assert all(unpacked(one).startswith((b"@a\n", b"@b/1 ")) for one in found)
    sizes = [stored_size(one) or 0 for one in found]
    assert max(sizes) - min(sizes) < 500


def test_bgzip_with_other_members(tmp_path: Path) -> None:
    """Parts begin at blocks, and a search that would end at what is none is refused."""
    name = str(tmp_path / "x.gz")
    text = b">a\nACGT\n" * 100
    Path(name).write_bytes(bgzip(text, 100) + gzip.compress(text) + bgzip(text, 100))
    for of in (1, 2, 5, 50):
        assert [record for part in parts_of([name], of) for record in read(part)] == read([name])
    Path(name).write_bytes(bgzip(text + b">b\n" + b"A" * 2000, 100) + gzip.compress(text))
    with pytest.raises(InputError, match="no whole block of bgzip"):
        parts_of([name], 50)


def test_mates_that_are_not_equally_many(tmp_path: Path) -> None:
    names = str(tmp_path / "1.fq"), str(tmp_path / "2.fq")
    for name, count in zip(names, (40, 10), strict=True):
        Path(name).write_text("".join(f"@{name}:{number}\nACGT\n+\nIIII\n" for number in range(count)))
    with pytest.raises(InputError, match=r"2\.fq: the mates of records of .*1\.fq are not in it"):
        [cut_inputs([names], number, 5) for number in range(1, 6)]


# Each looks like two records of four lines, but for the numbers of letters and qualities.
TWO_IN_ONE = b"".join(b"@%d\nACGTACGTAC\n+\nII\n@I\nII\n+I\nII\n" % number for number in range(40))
# Each line but the third may be the first of a record.
TWO_WAYS = b"@a\n@C\n+a\n+I\n" * 40


@pytest.mark.parametrize("text", [TWO_IN_ONE, b"\n\n\n" + TWO_IN_ONE, TWO_WAYS])
@pytest.mark.parametrize("interleaved", [False, True])
def test_lines_that_look_like_others(tmp_path: Path, text: bytes, interleaved: bool) -> None:
    name = str(tmp_path / "x.fq")
    Path(name).write_bytes(text)
    for of in (2, 7, 39, 300):
        parts = [cut_files([name], number + 1, of, interleaved=interleaved) for number in range(of)]
        assert [record for part in parts for record in read(part)] == read([name])
        assert not interleaved or all(len(read(part)) % 2 == 0 for part in parts)


@pytest.mark.parametrize("of", [2, 7, 39, 300])
def test_other_lines_far_from_the_beginning(tmp_path: Path, of: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are parsed; one of 300 cuts lies where the rest of a record looks like one, and that is an error."""
    monkeypatch.setattr(slices, "HEAD_TEXT", 64)
    monkeypatch.setattr(placed_text, "FIRST_READ", 64)
    name = str(tmp_path / "x.fq")
    Path(name).write_bytes(FASTQ + TWO_IN_ONE + FASTQ)
    parts = parts_of([name], of)
    with pytest.raises(InputError, match="not equally many") if of == 300 else nullcontext():
        assert [record for part in parts for record in read(part)] == read([name])


def pair(folder: Path, names: Sequence[str], others: Sequence[str]) -> tuple[str, str]:
    """Two files of mates with these names, the first ones of the second mates much longer."""
    written = str(folder / "1.fa"), str(folder / "2.fa")
    for mate, some in enumerate((names, others)):
        letters = ["ACGT" * (1 + mate * max(0, 20 - at)) for at in range(len(some))]
        text = "".join(f">{name} >{name} x\n{bases}\n" for name, bases in zip(some, letters, strict=True))
        Path(written[mate]).write_text(text)
    return written


@pytest.mark.parametrize(("names", "width"), [(["r"] * 60, 8), ([f"r{number % 20}" for number in range(80)], 1 << 16)])
def test_names_that_come_again(tmp_path: Path, names: list[str], width: int) -> None:
    """Mates are counted where names do not tell them."""
    both = pair(tmp_path, names, names)
    with looked_at(5, 12, 1 << 24), searched(width, width):
        parts = [part for number in range(20) for part in cut_inputs([both], number + 1, 20)]
    assert [len(read([first])) for first, _ in parts] == [len(read([second])) for _, second in parts]
    assert sum(len(read([first])) for first, _ in parts) == len(names)


def test_names_tell_mates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted, and little is read."""
    both = pair(tmp_path, [f"r{number}/1" for number in range(9000)], [f"r{number}/2" for number in range(9000)])
    monkeypatch.setattr(slices._Records, "_all", None)
    with looked_at(1000, 12, 1 << 14), searched(4000, 4000):
        parts = [part for number in range(8) for part in cut_inputs([both], number + 1, 8)]
    assert len(parts) == 8
    assert [len(read([first])) for first, _ in parts] == [len(read([second])) for _, second in parts]


def test_interleaved_mates_with_other_names(tmp_path: Path) -> None:
    """They are counted, also where few records are left."""
    name = str(tmp_path / "x.fa")
    Path(name).write_text("".join(f">{number}\nACGT\n" for number in range(20)))
    for of in range(2, 80):
        parts = [cut_files([name], number + 1, of, interleaved=True) for number in range(of)]
        assert all(len(read(part)) % 2 == 0 for part in parts)
        assert [record for part in parts for record in read(part)] == read([name])


def test_a_defect_before_the_cut(tmp_path: Path) -> None:
    """It is found where it is, if the file has to be parsed to be cut."""
    name = str(tmp_path / "x.fq")
    Path(name).write_bytes(FASTQ + TWO_IN_ONE.replace(b"@7\n", b"@7\nN") + TWO_IN_ONE)
    with looked_at(64, 12, 100), pytest.raises(InputError) as caught:
        cut_files([name], 2, 2)
    with pytest.raises(InputError) as wanted:
        read([name])
    assert str(caught.value) == str(wanted.value)


def test_places_in_parts_that_are_joined(engine: Engine, files: list[str]) -> None:
    parts = [cut_files(files[:1], number, 2)[0] for number in (2, 1)]
    (block,) = letter_blocks(engine, parts, join=True)
    assert block.origins is not None
    error = block.error_at(0, "is A")
    assert isinstance(parts[0], FileSlice)
    assert (error.source, error.byte) == (files[0], parts[0].start)


def test_progress_of_parts(engine: Engine, files: list[str]) -> None:
    told: list[tuple[int, int | None]] = []
    part = cut_files(files, 2, 3)
    size = sum(stored_size(name) or 0 for name in part)
    progress = InputProgress(part, lambda done, total: told.append((done, total)))
    for _ in packed_blocks(engine, part, progress=progress):
        pass
    assert told[-1] == (size, size)


def test_several_inputs_of_both_kinds(files: list[str], tmp_path: Path) -> None:
    """All inputs together have so many parts."""
    name = str(tmp_path / "d.fa")
    Path(name).write_bytes(FASTA.lower())
    inputs = [(files[0],), (files[2], name), (files[1],)]
    parts = [cut_inputs(inputs, number, 7) for number in range(1, 8)]
    assert all(len(part) in (1, 2) for part in parts)
    for mate in (0, 1):
        found = read([names[mate] for part in parts for names in part if len(names) > mate])
        assert found == read([names[mate] for names in inputs if len(names) > mate])


@pytest.mark.parametrize("text", [b">a\nACGT\n", b"@a\nACGT\n+\nIIII\n"])
def test_a_record_at_the_cut_is_behind_it(tmp_path: Path, text: bytes) -> None:
    name = str(tmp_path / "x")
    Path(name).write_bytes(text * 12)
    for of in (2, 3, 4, 6, 12):
        assert [len(read(part)) for part in parts_of([name], of)] == [12 // of] * of


def test_a_defect_is_found_where_it_is_in_the_file(files: list[str]) -> None:
    text = Path(files[1]).read_bytes().replace(b"IIII@", b"II I@")
    Path(files[1]).write_bytes(text)
    last = cut_files(files[1:2], 9, 9)
    assert isinstance(last[0], FileSlice)
    with pytest.raises(InputError) as caught:
        read(last)
    byte = text.rindex(b"II I@") + 2
    assert str(caught.value).startswith(f"{files[1]} from stored byte {last[0].start} on, byte {byte}: ")
    assert caught.value.source == files[1]


@pytest.mark.parametrize("text", [b"", b"\n\n\n", b"no sequence\n" * 9, b"\xff\xfe>\0a\0", b"@HD\tVN:1.6\n" * 9])
def test_what_is_not_cut_goes_to_one_part(tmp_path: Path, text: bytes) -> None:
    name = str(tmp_path / "x")
    Path(name).write_bytes(text)
    for of in (1, 2, 5):
        parts = parts_of([name], of)
        assert [part for part in parts if part] == [[name]]
        assert not any(isinstance(one, FileSlice) for part in parts for one in part)


def test_a_border_that_is_wrong_is_an_error(tmp_path: Path) -> None:
    """Text that fits in one wrong way only cannot be read as other records."""
    name = str(tmp_path / "x.fq")
    Path(name).write_bytes(FASTQ)
    for stop in range(1, len(FASTQ)):
        if FASTQ[stop - 1 : stop] == b"\n" and not FASTQ[stop:].startswith((b"@a\nA", b"@b/1 y")):
            with pytest.raises(InputError):
                read([FileSlice(name, 0, stop)])


def test_what_cannot_be_cut(tmp_path: Path) -> None:
    name = str(tmp_path / "x.fa")
    with pytest.raises(InputError, match="no such file"):
        cut_files([name], 1, 2)
    os.mkfifo(name)
    with pytest.raises(UsageError, match="only files are cut into parts"):
        cut_files([name], 1, 2)
    with pytest.raises(UsageError, match="standard input: only files"):
        cut_files(["-"], 1, 2)
    for number, of in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises(UsageError, match="must be between 1"):
            cut_files([], number, of)
    with pytest.raises(UsageError, match="cannot be cut again"):
        cut_files([FileSlice(name, 0, 1)], 1, 2)
