"""Parts of files: each read is in one of them, whatever the format, and damage in a part is an error."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.signal_files import WRITERS, need, npy_bytes, raw_signals

from oclgenomics.errors import InputError
from oclgenomics.signals import FilePart, Signals, TrimOptions, read_signals, write_signals
from oclgenomics.signals.readers import slow5_parts

pytestmark = pytest.mark.usefixtures("one_reader")
SIGNALS = raw_signals((50, 3000, 2, 700, 1, 4000, 20, 900, 300))


@pytest.fixture(scope="module", params=[*WRITERS, "one.npy", "rows.npy"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    kind = request.param
    need(kind)
    path = tmp_path_factory.mktemp("parts") / "x"  # the name says nothing
    if kind.endswith("npy"):
        rows = np.arange(70, dtype=np.int16).reshape(7, 10)
        path.write_bytes(npy_bytes(rows if kind == "rows.npy" else rows[0]))
    else:
        WRITERS[kind](path, SIGNALS)
    return kind, path


def reads_of(paths: object, **options: object) -> list[tuple[object, ...]]:
    found = Signals.joined([Signals.of([]), *read_signals(paths, **options)])  # type: ignore[arg-type]
    return [
        (found.names[number], found.read(number).tobytes(), found.scale[number], found.offset[number],
         str(found.rate[number]), found.channel[number], found.pore[number], found.molecule[number])
        for number in range(len(found))
    ]  # fmt: skip


def parts_of(path: Path, borders: list[int]) -> list[FilePart]:
    size = path.stat().st_size
    ends = [0, *sorted(borders), size]
    return [FilePart(str(path), begin, end, size) for begin, end in pairwise(ends)]


def test_parts_have_each_read_once(written: tuple[str, Path]) -> None:
    _, path = written
    whole = reads_of(path)
    size = path.stat().st_size
    rng = np.random.default_rng(1)
    cuts = [[number * size // of for number in range(1, of)] for of in (1, 2, 3, 7, 20)]
    cuts += [rng.integers(0, size, 3).tolist() for _ in range(4)] + [[0, 1, 2, 2, size - 6, size - 5, size - 1, size]]
    cuts += [[cut] for cut in range(0, size, max(1, size // 20))]
    # Where records begin: of SLOW5 with the name, of BLOW5 with ten bytes of sizes before it.
    names = [at for name in SIGNALS.names[1:4] if (at := path.read_bytes().find(name.encode())) > 0]
    cuts += [[at + offset] for at in names for offset in (-11, -10, -9, -1, 0, 1)]
    assert reads_of([part for cut in cuts for part in parts_of(path, cut)]) == whole * len(cuts)
    first = [len(reads_of(part)) for part in parts_of(path, [size // 2])]
    assert sum(first) == len(whole)
    assert len(whole) < 7 or min(first) > 0


def test_parts_are_about_equal(tmp_path: Path) -> None:
    for kind in ("blow5", "slow5", "pod5", "fast5", "npz"):
        need(kind)
        WRITERS[kind](tmp_path / kind, raw_signals((2000,) * 40))
        size = (tmp_path / kind).stat().st_size
        counts = [
            len(reads_of(part)) for part in parts_of(tmp_path / kind, [number * size // 4 for number in (1, 2, 3)])
        ]
        assert min(counts) >= 8, (kind, counts)


@pytest.mark.parametrize("kind", ["blow5", "slow5"])
def test_copies_are_small(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records come in several small files, of which one is there at a time, and nothing of them is left."""
    need(kind)
    WRITERS[kind](tmp_path / "x", SIGNALS)
    monkeypatch.setattr(slow5_parts, "COPIED", 3000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    whole = tmp_path.joinpath("x").read_bytes()
    part = FilePart(str(tmp_path / "x"), 1, len(whole), len(whole))
    copies = []
    for path, share in slow5_parts.small_files(part):
        copies.append((Path(path).read_bytes(), share))
    assert len(copies) > 2
    shares = [share for _, share in copies]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    head = whole.index(b"#read_id" if kind == "slow5" else b"#char*")
    assert all(copy.startswith(whole[:head]) for copy, _ in copies)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert reads_of(parts_of(tmp_path / "x", [5000, 9000])) == reads_of(tmp_path / "x")


@pytest.mark.parametrize("kind", ["blow5", "plain.blow5", "zstd.blow5", "slow5", "npz"])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, kind: str) -> None:
    need(kind)
    WRITERS[kind](tmp_path / "x", SIGNALS)
    data = (tmp_path / "x").read_bytes()
    for size in (len(data) - 3, len(data) - 5, len(data) - 100, len(data) // 2):
        (tmp_path / "x").write_bytes(data[:size])
        try:
            alone = reads_of(tmp_path / "x")
        except InputError:
            with pytest.raises(InputError, match="damaged"):
                reads_of(parts_of(tmp_path / "x", [size // 3, size // 2]))
        else:  # the last line of SLOW5 is as good as a whole one
            assert reads_of(parts_of(tmp_path / "x", [size // 3])) == alone


def test_sizes_of_records_that_cannot_be(tmp_path: Path) -> None:
    need("blow5")
    WRITERS["plain.blow5"](tmp_path / "x", SIGNALS)
    data = bytearray((tmp_path / "x").read_bytes())
    place = 68 + int.from_bytes(data[64:68], "little")
    data[place : place + 8] = b"\xff" * 8
    (tmp_path / "x").write_bytes(data)
    for part in parts_of(tmp_path / "x", [len(data) // 2]):
        with pytest.raises(InputError, match=f"damaged.*the record at byte {place:,} is longer than the file"):
            reads_of(part)


def test_progress_of_parts(tmp_path: Path) -> None:
    for kind in ("npz", "pod5", "fast5", "blow5", "slow5"):
        need(kind)
        WRITERS[kind](tmp_path / kind, SIGNALS)
        size = (tmp_path / kind).stat().st_size
        told: list[tuple[int, int | None]] = []
        part = FilePart(str(tmp_path / kind), size // 3, size - 1000, size)
        reads_of([part, str(tmp_path / kind)], trim=TrimOptions(), progress=lambda *far, told=told: told.append(far))
        total = len(part) + size
        assert told == sorted(told)
        assert told[-1] == (total, total)
        assert (len(part), total) in told


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="x: cannot be read"):
        FilePart.whole(str(tmp_path / "x"))


def test_the_last_part_checks_what_others_leave_out(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    write_signals(path, SIGNALS)
    whole, size = reads_of(path), path.stat().st_size
    data = path.read_bytes()
    at = data.index(SIGNALS.read(0).astype("<i2").tobytes())
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    first, middle, last = parts_of(path, [size // 3, 2 * size // 3])
    found = reads_of(middle)
    assert found
    assert found == whole[len(reads_of(first)) :][: len(found)]
    with pytest.raises(InputError, match="Bad CRC"):
        reads_of(last)


def test_parts_of_packed_arrays(tmp_path: Path) -> None:
    write_signals(tmp_path / "x.npz", SIGNALS)
    with np.load(tmp_path / "x.npz") as arrays:
        np.savez_compressed(tmp_path / "y.npz", **arrays)
    size = (tmp_path / "y.npz").stat().st_size
    assert reads_of(parts_of(tmp_path / "y.npz", [size // 3, size // 2])) == reads_of(tmp_path / "x.npz")
