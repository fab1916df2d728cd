"""Reading signals: every format gives what was written, in blocks that change nothing."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.signal_files import WRITERS, file_bytes, need, npy_bytes, raw_signals, stalled, write_fast5, write_slow5
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError, MissingDependencyError, ParameterError
from oclgenomics.signals import Signals, TrimOptions, read, read_signals, trim_start, write_signals
from oclgenomics.signals.readers import apart, numpy_files
from oclgenomics.signals.readers.libraries import read_fast5, read_pod5, read_slow5
from oclgenomics.signals.readers.numpy_files import read_npz

NAMES = raw_signals((1,) * 5).names.tolist()
FACTS = ("scale", "offset", "rate", "channel")


def all_of(paths, **options) -> Signals:
    return Signals.joined(list(read_signals(paths, **options)))


def same(one: Signals, other: Signals) -> None:
    assert one.names.tolist() == other.names.tolist()
    assert one.starts.tolist() == other.starts.tolist()
    assert one.samples.tolist() == other.samples.tolist()
    for fact in FACTS:
        np.testing.assert_array_equal(getattr(one, fact), getattr(other, fact))


def in_order(signals: Signals, kind: str) -> Signals:
    """The reads as a file lists them: HDF5 by name; the first alone where a file has one."""
    if kind == "single.fast5":
        return signals.take(np.array([0]))
    return signals.take(np.argsort(signals.names)) if kind.endswith("fast5") else signals


@pytest.fixture(scope="module", params=[kind for kind in WRITERS if kind != "arrays.npz"])
def written(request, tmp_path_factory) -> tuple[str, Path, Signals]:
    need(request.param)
    signals = raw_signals((50, 3000, 1, 700))
    path = tmp_path_factory.mktemp("signals") / "x"  # the name says nothing
    WRITERS[request.param](path, signals)
    return request.param, path, in_order(signals, request.param)


@pytest.mark.usefixtures("one_reader")
def test_every_format(written):
    kind, path, signals = written
    found = all_of(path)
    if kind == "pod5":  # which keeps calibrations in single precision
        np.testing.assert_allclose(found.scale, signals.scale, rtol=1e-7)
        found.scale[:] = signals.scale
    same(found, signals)


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", ["npz", "arrays.npz", "blow5", "pod5", "fast5"])
@pytest.mark.parametrize(
    ("trim", "most"),
    [(None, 1), (None, 299), (TrimOptions(extra=30), None), (TrimOptions(extra=30), 2), (TrimOptions(False, 40), 300)],
)
def test_trimmed_and_cut(tmp_path, kind, trim, most):
    need(kind)
    signals = in_order(Signals.of([stalled(900, 90, 120), *(raw_signals().read(i) for i in range(4))], NAMES), kind)
    WRITERS[kind](tmp_path / "x", signals)
    starts = np.array([trim_start(signals.read(number), trim) for number in range(len(signals))])
    cut = signals.cut(starts, signals.lengths if most is None else starts + most)
    found = all_of(tmp_path / "x", trim=trim, max_samples=most)
    assert found.names.tolist() == cut.names.tolist()
    assert found.starts.tolist() == cut.starts.tolist()
    assert found.samples.tolist() == cut.samples.tolist()


def test_reads_are_chosen_in_all_ways():
    """By range, number and truth value; of each the samples between two places."""
    signals = raw_signals((10, 0, 500, 499, 3))
    for first, stop in ((0, 5), (1, 3), (2, 2), (0, 0), (5, 5)):
        some, whole = signals.between(first, stop), signals.take(np.arange(first, stop))
        same(some, whole)
        assert np.shares_memory(some.samples, signals.samples) or not len(some.samples)
        assert [some.read(number).tolist() for number in range(len(some))] == [
            signals.read(number).tolist() for number in range(first, stop)
        ]
    same(signals.take(np.array([True, False, False, True, False])), signals.take(np.array([0, 3])))
    assert signals.take(np.array([3, 0])).samples.tolist() == [*signals.read(3), *signals.read(0)]
    cut = signals.cut(np.array([2, 0, 600, 5, 1]), np.array([4, 9, 700, 480, 0]))
    assert cut.lengths.tolist() == [2, 0, 0, 475, 0]
    assert cut.samples.tolist() == [*signals.read(0)[2:4], *signals.read(3)[5:480]]


@pytest.mark.usefixtures("one_reader")
def test_pod5_of_several_chunks(tmp_path):
    """A read of POD5 is packed in chunks of about 100,000 samples, of which only the first ones are unpacked."""
    need("pod5")
    signals = raw_signals((250_000, 5))
    WRITERS["pod5"](tmp_path / "x", signals)
    assert all_of(tmp_path / "x").samples.tolist() == signals.samples.tolist()
    for most in (102_400, 102_401, 210_000):
        assert all_of(tmp_path / "x", max_samples=most).read(0).tolist() == signals.read(0)[:most].tolist()


@given(st.integers(1, 5000))
def test_blocks_change_nothing(tmp_path_factory, size):
    path = tmp_path_factory.getbasetemp() / "blocks.npz"
    signals = raw_signals((10, 0, 500, 499, 0, 0, 2000, 1, 0))
    if not path.exists():
        write_signals(path, signals)
    blocks = list(read_signals(path, block_samples=size))
    same(Signals.joined(blocks), signals)
    assert all(len(block) for block in blocks)
    # A block ends with the read that fills it.
    assert all(len(block.samples) >= size for block in blocks[:-1])
    assert all(block.starts[-2] < size for block in blocks)


def test_several_files_and_folders(tmp_path):
    need("slow5")
    parts = [raw_signals((20, 30), seed) for seed in range(4)]
    inner = tmp_path / "b" / "inner"
    inner.mkdir(parents=True)
    write_signals(tmp_path / "b" / "1.npz", parts[0])
    write_signals(inner / "x.npz", parts[1])
    write_slow5(tmp_path / "b" / "z", parts[2])
    write_signals(tmp_path / "a.npz", parts[3])
    (tmp_path / "b" / "notes.txt").write_text("no signals")
    (tmp_path / "b" / "up").symlink_to(tmp_path / "b")
    same(all_of([tmp_path / "b", tmp_path / "a.npz"]), Signals.joined(parts))
    same(all_of(os.fspath(tmp_path)), Signals.joined([parts[3], *parts[:3]]))
    (inner / "y.FAST5").write_bytes(b"")
    with pytest.raises(InputError, match=r"y\.FAST5: the file is empty"):
        all_of(tmp_path)


@pytest.mark.usefixtures("one_reader")
def test_progress_comes_to_the_end(tmp_path):
    need("pod5")
    for name in ("npz", "pod5", "fast5", "blow5"):
        WRITERS[name](tmp_path / name, raw_signals())
    told: list[tuple[int, int | None]] = []
    all_of(tmp_path, progress=lambda *numbers: told.append(numbers))
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert told == sorted(told)
    assert told[-1] == (total, total)
    assert all(number[1] == total for number in told)


def test_a_read_without_samples_is_kept(tmp_path):
    write_signals(tmp_path / "x", raw_signals((900, 0, 1200)))
    assert all_of(tmp_path / "x", trim=TrimOptions()).lengths.tolist() == [0, 0, 200]


def test_a_file_without_reads_gives_no_blocks(tmp_path):
    write_signals(tmp_path / "x", Signals.of([]))
    assert list(read_signals(tmp_path / "x")) == []


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", ["slow5", "blow5"])
def test_slow5_without_channels(tmp_path, kind):
    need(kind)
    signals = raw_signals()
    write_slow5(tmp_path / f"x.{kind}", signals, kind, channels=False)
    found = all_of(tmp_path / f"x.{kind}")
    assert found.channel.tolist() == [0] * len(signals)
    assert found.samples.tolist() == signals.samples.tolist()


@pytest.mark.usefixtures("one_reader")
def test_fast5_without_calibration(tmp_path):
    need("fast5")
    import h5py

    write_fast5(tmp_path / "x", raw_signals((9,)))
    with h5py.File(tmp_path / "x", "a") as file:
        (group,) = file.values()
        del group["channel_id"]
    found = all_of(tmp_path / "x")
    assert (found.scale[0], found.offset[0], found.channel[0]) == (1, 0, 0)
    assert np.isnan(found.rate[0])
    with h5py.File(tmp_path / "x", "a") as file:
        file[group.name if group else next(iter(file))].create_group("channel_id").attrs["range"] = 3.0
    with pytest.raises(InputError, match="lacks the digitisation of its channel"):
        all_of(tmp_path / "x")


class TestNumPy:
    """Files of NumPy, whatever made them."""

    def test_array_for_each_read(self, tmp_path):
        np.savez(tmp_path / "x.npz", b=np.arange(5, dtype=np.int16), a=np.arange(3, dtype=np.uint8), c=np.arange(0))
        found = all_of(tmp_path / "x.npz")
        assert found.names.tolist() == ["b", "a", "c"]
        assert found.lengths.tolist() == [5, 3, 0]
        assert found.samples.tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
        assert found.scale.tolist() == [1, 1, 1]
        assert np.isnan(found.rate).all()

    @pytest.mark.parametrize("kind", ["i1", "u1", ">i2", "<u2", "i4", "u8", "i8"])
    def test_integers(self, tmp_path, kind):
        values = np.array([[1, 2, 3], [4, 100, 6]], kind)
        (tmp_path / "run.npy").write_bytes(npy_bytes(values))
        found = all_of(tmp_path / "run.npy")
        assert found.names.tolist() == ["run.1", "run.2"]
        assert found.samples.tolist() == values.ravel().tolist()

    def test_one_read(self, tmp_path):
        (tmp_path / "r.npy").write_bytes(npy_bytes(np.array([-32768, 32767], np.int64)))
        found = all_of(tmp_path / "r.npy")
        assert (found.names.tolist(), found.samples.tolist()) == (["r"], [-32768, 32767])

    @pytest.mark.parametrize("kind", ["f2", "f4", ">f8"])
    def test_currents(self, tmp_path, kind):
        currents = np.array([0, 80.25, -3.5, 100.03125, 511.96875], kind)
        (tmp_path / "r.npy").write_bytes(npy_bytes(currents))
        found = all_of(tmp_path / "r.npy")
        assert found.scale.tolist() == [1 / 32]
        np.testing.assert_allclose(found.samples * found.scale[0] + found.offset[0], currents.astype("f8"), atol=1 / 64)

    @pytest.mark.parametrize(
        ("values", "trouble"),
        [
            (np.array([1.0, np.nan]), "read 'r' has currents that are no finite numbers"),
            (np.array([1.0, np.inf]), "read 'r' has currents that are no finite numbers"),
            (np.array([1024.0]), "read 'r' has currents beyond -1,024 to 1,023.97"),
            (np.array([-1025.0]), "read 'r' has currents beyond"),
            (np.array([1e300]), "read 'r' has currents beyond"),
            (np.array([32768]), "read 'r' has samples beyond -32,768 to 32,767"),
            (np.array([-32769]), "read 'r' has samples beyond"),
            (np.array([40000], np.uint16), "read 'r' has samples beyond"),
            (np.array([1 << 63], np.uint64), "read 'r' has samples beyond"),
            (np.array([True]), "read 'r' is of type bool; give integers, or currents in pA"),
            (np.array([1j]), "read 'r' is of type complex128"),
            (np.array(["a"]), "read 'r' is of type <U1"),
            (np.zeros((2, 2, 2)), "an array of shape (2, 2, 2)"),
            (np.array(3), "an array of shape ()"),
            (np.zeros((3, 0)), "an array of shape (3, 0)"),
            (np.array([{}], object), "damaged, or no .npy"),
        ],
    )
    def test_refused(self, tmp_path, values, trouble):
        path = tmp_path / "r.npy"
        path.write_bytes(npy_bytes(values))
        with pytest.raises(InputError, match="^" + str(path)) as caught:
            all_of(path)
        assert trouble in str(caught.value)

    def test_names_of_reads_are_told(self, tmp_path):
        np.savez(tmp_path / "x.npz", good=np.zeros(3), bad=np.array([np.nan]))
        with pytest.raises(InputError, match="read 'bad' has currents"):
            all_of(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (b"", "the file is empty; give POD5, FAST5"),
        (b">chr1\nACGT\n", "is FASTA, which has no raw signal; give POD5, FAST5"),
        (b"notes\n", "no signals; give POD5, FAST5"),
        (b"\x1f\x8b\x08\0\0\0", "packed with gzip; unpack it"),
        (b"PK\x03\x04", "damaged, or no .npz"),
        (b"\x93NUMPY\x01\0\x10\0{", "damaged, or no .npy"),
        (b"BLOW5\x01\0", "damaged, or no SLOW5 (pyslow5"),
        (b"#slow5_version\t9.9\n", "damaged, or no SLOW5 (pyslow5"),
        (b"\x8bPOD\r\n\x1a\n" + bytes(99), "damaged, or no POD5 ("),
        (b"\x89HDF\r\n\x1a\n" + bytes(99), "damaged, or no FAST5 ("),
    ],
)
def test_foreign_and_damaged_files(tmp_path, capfd, data, trouble):
    if trouble.startswith("damaged"):  # as the library of the format says
        need(trouble.split()[3].lower())
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(InputError, match="^" + str(path)) as caught:
        all_of(path)
    assert trouble in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", ["blow5", "plain.blow5", "npz", "arrays.npz", "pod5", "fast5"])
def test_truncated_files(tmp_path, kind):
    """Wherever the end is missing, that is told."""
    need(kind)
    whole = file_bytes(kind, raw_signals((50, 300, 1, 70)))
    path = tmp_path / "x"
    for size in (20, len(whole) // 2, len(whole) - 30, len(whole) - 6, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            all_of(path)


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", ["slow5", "blow5", "arrays.npz"])
def test_the_last_good_read_is_told(tmp_path, kind):
    need(kind)
    signals = raw_signals((50, 300, 40))
    data = bytearray(file_bytes(kind, signals))
    # In the samples of the third read: BLOW5 packs its name, too.
    place = len(data) - 30 if kind == "blow5" else data.index(signals.names[2].encode()) + 100
    data[place] ^= 0x5A
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(InputError) as caught:
        all_of(tmp_path / "x")
    assert f"x: damaged after read '{signals.names[1]}' (" in str(caught.value)


def test_what_cannot_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    for path, trouble in (
        ("-", "standard input: signals are read from files, not from standard input"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "empty", "a folder without signals"),
        ("a\0b", "cannot be read (embedded null byte)"),
    ):
        with pytest.raises(InputError) as caught:
            all_of(path)
        assert trouble in str(caught.value)


def test_a_missing_file_is_told_before_the_first_is_read(tmp_path):
    write_signals(tmp_path / "x", raw_signals())
    with pytest.raises(InputError, match="none"):
        next(read_signals([tmp_path / "x", tmp_path / "none"], block_samples=1))


@pytest.mark.parametrize("wrong", [{"max_samples": 0}, {"block_samples": 0}, {"max_samples": -1}])
def test_parameters(tmp_path, wrong):
    with pytest.raises(ParameterError, match="must be 1 or more"):
        read_signals(tmp_path, **wrong)


class TestProcess:
    """The process that libraries are in."""

    @pytest.fixture(autouse=True)
    def hidden(self, monkeypatch, tmp_path):
        """Modules that stand in the place of libraries."""
        self.modules = tmp_path / "modules"
        self.modules.mkdir()
        monkeypatch.setenv("PYTHONPATH", os.fspath(self.modules))
        self.path = tmp_path / "x"
        self.path.write_bytes(b"BLOW5\x01")

    def told(self, code: str) -> str:
        (self.modules / "pyslow5.py").write_text(code)
        with pytest.raises((InputError, MissingDependencyError)) as caught:
            all_of(self.path)
        return str(caught.value).removeprefix(f"{self.path}: ")

    def test_missing_package(self):
        assert self.told("raise ModuleNotFoundError") == "SLOW5 needs pyslow5: pip install 'oclgenomics[slow5]'"

    def test_crash(self):
        code = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\nsignal.pause()"
        assert self.told(code) == "damaged, or no SLOW5 (pyslow5 ended by SIGSEGV)"

    def test_exit(self):
        assert self.told("import os\nos._exit(3)") == "damaged, or no SLOW5 (pyslow5 ended with 3)"

    def test_no_process(self, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        assert self.told("") == "cannot be read, as /nowhere/python cannot be started (No such file or directory)"

    def test_silence(self, monkeypatch):
        monkeypatch.setattr(apart, "MAX_SILENCE", 0.25)
        began = time.monotonic()
        assert self.told("import time\ntime.sleep(600)") == "damaged, or no SLOW5 (pyslow5 gave no answer in 0.25 s)"
        assert time.monotonic() - began < 500  # it did not wait for the end

    def test_nobody_left(self, monkeypatch):
        """A library that hangs is ended by an alarm, should nobody be left who asked; one that only waits is not."""
        came = []

        def hanging():
            until = time.monotonic() + 60
            while not came and time.monotonic() < until:
                time.sleep(0.01)
            yield from ()

        before = signal.signal(signal.SIGALRM, lambda *_: came.append("alarm"))
        try:
            for _ in apart.timed(iter(["read"])):
                assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)  # while the read is used
            monkeypatch.setattr(apart, "MAX_SECONDS", 0.05)
            assert list(apart.timed(hanging())) == []
            assert came == ["alarm"]
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_memory(self):
        code = f"bytearray({apart.MAX_MEMORY})\nraise OSError('there is more')"
        assert self.told(code) == "damaged, or no SLOW5 (MemoryError)"

    def test_chatter(self, capfd):
        code = "import os, sys\nprint('a' * 99)\nos.write(1, b'b' * 99)\nos.write(2, b'c' * 99)\nraise OSError('d\\ne')"
        assert self.told(code) == "damaged, or no SLOW5 (d e)"
        assert capfd.readouterr() == ("", "")


def test_a_reader_that_is_left_leaves_no_process(tmp_path):
    need("slow5")
    write_slow5(tmp_path / "x.blow5", raw_signals((9,) * 50))
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text()
    reading = read_signals(tmp_path / "x.blow5", block_samples=1)
    next(reading)
    assert children.read_text() != before
    reading.close()
    assert children.read_text() == before


def test_signals_import_no_libraries():
    code = "import sys, oclgenomics.signals; "
    code += "sys.exit(bool({'pyslow5', 'pod5', 'h5py', 'pyopencl', 'subprocess'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.getcwd()})


def test_own_file_stands_for_itself(tmp_path):
    """NumPy reads it, equal signals give equal bytes, and its arrays may be packed."""
    signals = raw_signals()
    write_signals(tmp_path / "a", signals)
    write_signals(tmp_path / "b", raw_signals())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with np.load(tmp_path / "a", allow_pickle=False) as arrays:
        assert set(arrays) == {"samples", "starts", "names", *FACTS}
        assert arrays["names"].tolist() == signals.names.tolist()
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)
    (tmp_path / "c").write_bytes(packed.getvalue())
    same(all_of(tmp_path / "c"), signals)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1), max_size=6))
def test_names_come_back(tmp_path_factory, names):
    path = tmp_path_factory.getbasetemp() / "names.npz"
    signals = Signals.of([np.arange(3, dtype=np.int16)] * len(names), names)
    write_signals(path, signals)
    assert all_of(path).names.tolist() == names


@pytest.mark.parametrize("name", ["", "a\0", "\0"])
def test_names_that_no_file_holds(tmp_path, name):
    with pytest.raises(ValueError, match="names"):
        write_signals(tmp_path / "x", Signals.of([np.zeros(1, np.int16)], [name]))
    assert not (tmp_path / "x").exists()


OWN = {
    "samples": np.arange(5, dtype=np.int16), "starts": np.array([0, 2, 5]), "names": np.array(["a", "b"]),
    "scale": np.ones(2), "offset": np.zeros(2), "rate": np.full(2, 4000.0), "channel": np.zeros(2, np.int32),
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "trouble"),
    [
        ({"samples": np.arange(5)}, "the array 'samples' is int64"),
        ({"samples": np.zeros((5, 1), np.int16)}, "the array 'samples' is int16 of shape"),
        ({"samples": np.arange(6, dtype=np.int16)}, "starts"),
        ({"samples": np.arange(4, dtype=np.int16)}, "starts"),
        ({"starts": np.array([0, 6, 5])}, "starts"),
        ({"starts": np.array([1, 2, 5])}, "starts"),
        ({"starts": np.array([0, 5])}, "its arrays do not fit together"),
        ({"starts": np.array([])}, "the array 'starts' is float64"),
        ({"scale": np.ones(3)}, "its arrays do not fit together"),
        ({"scale": np.array([1, np.nan])}, "read 'b' has a calibration that cannot be"),
        ({"scale": np.array([0.0, 1])}, "read 'a' has a calibration that cannot be"),
        ({"offset": np.array([0.0, np.inf])}, "read 'b' has a calibration that cannot be"),
        ({"rate": np.array([4000.0, 0])}, "read 'b' has 0 samples per second"),
        ({"channel": np.array([-1, 0], np.int32)}, "read 'a' has channel -1"),
        ({"names": np.array(["a", ""])}, "a read without a name"),
        ({"names": np.array(["a", "b\tc"])}, "which cannot be printed"),
        ({"names": np.array([1, 2])}, "the array 'names' is int64"),
    ],
)
def test_own_files_that_contradict_themselves(tmp_path, wrong, trouble):
    np.savez(tmp_path / "x.npz", **(OWN | wrong))
    with pytest.raises(InputError, match="^" + str(tmp_path)) as caught:
        all_of(tmp_path / "x.npz")
    assert trouble in str(caught.value)


def test_changed_samples_are_noticed(tmp_path):
    """The sums of the zip file are checked even where only the first samples of reads are kept."""
    write_signals(tmp_path / "x", Signals.of([stalled(4000, 10, 20)]))
    data = bytearray((tmp_path / "x").read_bytes())
    with zipfile.ZipFile(tmp_path / "x") as archive:
        place = archive.getinfo("samples.npy").header_offset
    data[place + 6000] ^= 1
    (tmp_path / "x").write_bytes(data)
    for most in (None, 5):
        with pytest.raises(InputError, match="CRC"):
            all_of(tmp_path / "x", max_samples=most)


def test_more_samples_than_a_file_says(tmp_path):
    write_signals(tmp_path / "x", Signals.of([np.arange(5, dtype=np.int16)]))
    with zipfile.ZipFile(tmp_path / "x") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["samples.npy"] += b"\0\0"
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match="more samples than it says"):
        all_of(tmp_path / "x")


def bomb(path, kind, samples):
    """A packed file of zeros, a thousand times as large as it looks."""
    zeros = np.zeros(samples, np.int16)
    if kind == "read":
        np.savez_compressed(path, a=zeros[:10], b=zeros)
    elif kind == "currents":
        np.savez_compressed(path, a=zeros[:10], b=zeros[: samples // 4].astype(np.float64))
    elif kind == "own samples":
        np.savez_compressed(path, **OWN | {"samples": zeros, "starts": np.array([0, 10, samples])})
    else:  # facts of reads without samples
        reads = samples // 512
        facts = {name: np.ones(reads, np.asarray(OWN[name]).dtype) for name in OWN if name not in ("samples", "starts")}
        np.savez_compressed(path, **facts, samples=zeros[:0], starts=np.zeros(reads + 1, np.int64))


@pytest.mark.parametrize("kind", ["read", "currents", "own samples", "own facts"])
def test_packed_zeros_do_not_fill_memory(tmp_path, kind, monkeypatch):
    """Of what a file unpacks to, only the samples that are asked for are in memory, and a block."""
    path = tmp_path / "x.npz"
    reads = 24_000  # that take more memory than buffers do
    bomb(path, kind, 512 * reads if kind == "own facts" else 1 << 22)
    assert path.stat().st_size < 300_000
    monkeypatch.setattr(read, "MAX_READS", 256)
    monkeypatch.setattr(numpy_files, "BLOCK_READS", 256)
    unpacked = sum(member.file_size for member in zipfile.ZipFile(path).infolist())
    tracemalloc.start()
    try:
        names = sum(len(signals) for signals in read_signals(path, max_samples=100))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert names == (reads if kind == "own facts" else 2)
    assert peak < unpacked / 2


@pytest.mark.parametrize("kind", ["read", "currents", "own samples", "npy"])
def test_a_read_that_would_fill_memory_is_refused(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(numpy_files, "MAX_READ_SAMPLES", 999)
    path = tmp_path / "x.npz"
    np.save(tmp_path / "x.npy", np.zeros(1000, np.int16)) if kind == "npy" else bomb(path, kind, 4000)
    path = tmp_path / "x.npy" if kind == "npy" else path
    with pytest.raises(InputError, match="at most 999 of a read are taken"):
        all_of(path)
    assert all_of(path, max_samples=999)
    monkeypatch.setattr(numpy_files, "MAX_READ_SAMPLES", 4000)
    assert all_of(path)


def test_an_interrupt_ends_a_long_member(tmp_path, monkeypatch):
    """Between its blocks, not after it."""
    bomb(tmp_path / "x.npz", "read", 1 << 23)
    blocks = []

    def interrupted(archive, *words):
        member = archive_open(archive, *words)
        unpack = member.read

        def counted(size=-1):
            blocks.append(size)
            if len(blocks) == 20:
                raise KeyboardInterrupt
            return unpack(size)

        member.read = counted
        return member

    archive_open = zipfile.ZipFile.open
    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        all_of(tmp_path / "x.npz", max_samples=1)
    assert max(blocks) <= numpy_files.BLOCK_BYTES


@pytest.mark.parametrize("kind", ["npz", "arrays.npz", "blow5", "pod5", "fast5"])
def test_readers_give_no_more_than_they_are_asked_for(tmp_path, kind):
    need(kind)
    WRITERS[kind](tmp_path / "x", raw_signals((50, 3, 70)))
    reads = {"npz": read_npz, "arrays.npz": read_npz, "blow5": read_slow5, "pod5": read_pod5, "fast5": read_fast5}[kind]
    assert sorted(len(one.samples) for one in reads(os.fspath(tmp_path / "x"), 20)) == [3, 20, 20]


def test_long_reads_do_not_fill_memory(tmp_path):
    """Only what is kept of a read stays."""
    write_signals(tmp_path / "x", Signals.of([np.zeros(1 << 20, np.int16)] * 3))
    (block,) = read_signals(tmp_path / "x", max_samples=10, trim=TrimOptions())
    assert len(block.samples) == 30
    shutil.rmtree(tmp_path)
