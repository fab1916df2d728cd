"""Downloads that are cut, changed, refused and stopped: a file is whole under its name, or not there."""

from __future__ import annotations

import contextlib
import email.utils
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from helpers.web import MODIFIED, Handler, Web, cuts, md5_of, says, web

from oclgenomics.errors import InputError, MissingDependencyError, OutputError
from oclgenomics.io import downloads
from oclgenomics.io.downloads import ChecksumError, Downloader, MissingFileError, listed_md5

DATA = bytes(range(256)) * 4000


@pytest.fixture
def server() -> Iterator[Web]:
    with web() as known:
        known.files["a"] = DATA
        yield known


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def net(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> Downloader:
    monkeypatch.setattr(downloads, "PER_SECOND", 1e9)
    return Downloader(wait=waits.append)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "d").mkdir()
    return tmp_path / "d" / "a"


def only(place: Path, data: bytes | None = DATA) -> None:
    """Check that the folder holds the file and nothing else."""
    assert [path.name for path in place.parent.iterdir()] == ([] if data is None else [place.name])
    assert data is None or place.read_bytes() == data


def test_a_file_comes_once(server: Web, net: Downloader, place: Path) -> None:
    for _ in range(2):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
        only(place)
    assert len(server.asked) == 1
    assert net.received == len(DATA)


def test_another_file_of_the_name_is_replaced(server: Web, net: Downloader, place: Path) -> None:
    place.write_bytes(DATA[:-1])
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("tags", [True, False])
def test_a_cut_file_goes_on_where_it_ended(
    server: Web, net: Downloader, place: Path, waits: list[float], *, checked: bool, tags: bool
) -> None:
    server.tags = tags
    server.trouble("a", cuts(300_000))
    net.get(f"{server.url}/a", str(place), md5_of(DATA) if checked else None)
    only(place)
    begin = int(str(server.asked[1][1]).removeprefix("bytes=").removesuffix("-"))
    assert 0 < begin <= 300_000
    assert net.received == len(DATA)
    assert [wait for wait in waits if wait > 0.1] == [1]


def test_nothing_goes_on_that_nobody_can_tell_from_another_version(server: Web, net: Downloader, place: Path) -> None:
    server.tags = server.dates = False
    server.trouble("a", cuts(300_000))
    net.get(f"{server.url}/a", str(place))
    only(place)
    assert [within for _, within in server.asked] == [None, None]


def test_what_a_killed_process_left_of_a_list_is_dropped(server: Web, net: Downloader, place: Path) -> None:
    Path(f"{place}.part").write_bytes(b"x" * 1000)
    net.get(f"{server.url}/a", str(place))
    only(place)
    assert server.asked == [("a", None)]


def test_servers_without_ranges_send_all_again(server: Web, net: Downloader, place: Path) -> None:
    server.ranges = False
    server.trouble("a", cuts(300_000))
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert len(server.asked) == 2


@pytest.mark.parametrize("checked", [True, False])
def test_a_file_that_changes_between_two_tries_begins_anew(
    server: Web, net: Downloader, place: Path, *, checked: bool
) -> None:
    other = DATA[::-1]

    def change(handler: Handler) -> bool:
        server.files["a"] = other
        return False

    server.trouble("a", cuts(300_000), change)
    net.get(f"{server.url}/a", str(place), md5_of(other) if checked else None)
    only(place, other)
    assert len(server.asked) == 2  # If-Range: the whole new file answers


def test_a_range_of_another_version_is_refused(server: Web, net: Downloader, place: Path) -> None:
    """Of a server that does not heed If-Range."""
    other = DATA[::-1]

    def wrong(handler: Handler) -> bool:
        server.files["a"] = other
        head = {"Content-Range": f"bytes 262144-{len(other) - 1}/{len(other)}", "ETag": '"other"'}
        handler.answer(206, other[262144:], head)
        return True

    server.trouble("a", cuts(262144), wrong)
    net.get(f"{server.url}/a", str(place))
    only(place, other)


def test_a_range_from_elsewhere_is_refused(server: Web, net: Downloader, place: Path) -> None:
    def wrong(handler: Handler) -> bool:
        handler.answer(206, DATA[5:], {"Content-Range": f"bytes 5-{len(DATA) - 1}/{len(DATA)}"})
        return True

    server.trouble("a", cuts(262144), wrong)
    net.get(f"{server.url}/a", str(place))
    only(place)


def test_another_process_goes_on_with_a_part(server: Web, net: Downloader, place: Path) -> None:
    part = Path(f"{place}.{md5_of(DATA)}.part")
    part.write_bytes(DATA[:1000])
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert server.asked == [("a", "bytes=1000-")]


def test_a_whole_part_needs_no_request(server: Web, net: Downloader, place: Path) -> None:
    Path(f"{place}.{md5_of(DATA)}.part").write_bytes(DATA)
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert not server.asked


@pytest.mark.parametrize("part", [b"x" * 1000, DATA + b"x"])
def test_a_damaged_part_begins_anew(server: Web, net: Downloader, place: Path, part: bytes) -> None:
    Path(f"{place}.{md5_of(DATA)}.part").write_bytes(part)
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)


def test_a_part_of_another_version_is_not_taken(server: Web, net: Downloader, place: Path) -> None:
    Path(f"{place}.{md5_of(DATA[::-1])}.part").write_bytes(DATA[::-1][:1000])
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert place.read_bytes() == DATA
    assert server.asked == [("a", None)]


def test_wrong_checksums_leave_nothing(server: Web, net: Downloader, place: Path) -> None:
    with pytest.raises(ChecksumError, match="its MD5 is not"):
        net.get(f"{server.url}/a", str(place), md5_of(b"other"))
    only(place, None)


def test_what_keeps_failing_is_kept_as_a_part(server: Web, net: Downloader, place: Path, waits: list[float]) -> None:
    server.trouble("a", cuts(300_000), *[says(503)] * 6)
    with pytest.raises(InputError, match=r"cannot be downloaded \(HTTP status 503\); run the command again later"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert [path.name for path in place.parent.iterdir()] == [f"a.{md5_of(DATA)}.part"]
    assert [wait for wait in waits if wait > 0.1] == [1, 2, 4, 8, 16]
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert net.received == len(DATA)


def test_no_progress_ends(server: Web, net: Downloader, place: Path) -> None:
    """Also where the server begins anew each time, and so sends bytes."""
    server.ranges = False
    server.trouble("a", *[cuts(300_000)] * 20)
    with pytest.raises(InputError, match="cannot be downloaded"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert len(server.asked) < 10


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_servers_may_order_a_pause(server: Web, net: Downloader, place: Path, waits: list[float], status: int) -> None:
    server.trouble("a", says(status, Retry_After="120"))
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert max(waits) == pytest.approx(120, abs=2)


def test_an_ordered_pause_may_be_a_date(server: Web, net: Downloader, place: Path, waits: list[float]) -> None:
    server.trouble("a", says(429, Retry_After=email.utils.formatdate(time.time() + 500, usegmt=True)))
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert max(waits) == pytest.approx(500, abs=60)


def test_too_long_a_pause_is_an_error(server: Web, net: Downloader, place: Path, waits: list[float]) -> None:
    server.trouble("a", says(429, Retry_After="100000"))
    with pytest.raises(InputError, match="run the command again later"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert max(waits, default=0) < 1


def test_requests_take_turns(server: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(downloads, "PER_SECOND", 1e-3)
    net = Downloader(wait=waits.append)
    for _ in range(3):
        net.read(f"{server.url}/a")
    assert waits == [pytest.approx(1000, abs=60), pytest.approx(2000, abs=60)]


def test_redirects_are_followed(server: Web, net: Downloader, place: Path) -> None:
    server.trouble("b", says(302, Location="/a"))
    net.get(f"{server.url}/b", str(place), md5_of(DATA))
    only(place)


@pytest.mark.parametrize(("status", "kind"), [(404, MissingFileError), (410, MissingFileError), (403, InputError)])
def test_what_is_not_there_is_not_tried_again(
    server: Web, net: Downloader, place: Path, status: int, kind: type[InputError]
) -> None:
    server.trouble("a", says(status))
    with pytest.raises(kind, match=f"HTTP status {status}"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
    assert len(server.asked) == 1
    only(place, None)


def test_a_list_comes_again_when_it_is_newer(server: Web, net: Downloader, place: Path) -> None:
    for _ in range(2):
        net.get(f"{server.url}/a", str(place))
    assert net.received == len(DATA)
    assert os.path.getmtime(place) == MODIFIED
    server.files["a"], server.modified["a"] = b"new", MODIFIED + 1
    net.get(f"{server.url}/a", str(place))
    only(place, b"new")


def test_a_list_whose_end_nobody_knows_is_refused(server: Web, net: Downloader, place: Path) -> None:
    server.lengths = False
    with pytest.raises(InputError, match="does not say how long it is"):
        net.get(f"{server.url}/a", str(place))
    only(place, None)
    net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)


def test_a_server_that_is_not_there_is_one_line(net: Downloader, place: Path) -> None:
    with web() as gone:
        url = gone.url
    with pytest.raises(InputError, match="cannot be downloaded") as caught:
        net.get(f"{url}/a", str(place), md5_of(DATA))
    assert "\n" not in str(caught.value)


def test_a_full_disk_is_one_line(server: Web, net: Downloader, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(part: downloads._Part, block: bytes) -> None:
        with part._telling():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(downloads._Part, "write", full)
    with pytest.raises(OutputError, match="cannot be written \\(No space left on device\\); the same command goes on"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place, None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_no_files_is_one_line(server: Web, net: Downloader, place: Path) -> None:
    place.parent.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        net.get(f"{server.url}/a", str(place), md5_of(DATA))


def test_a_folder_that_is_not_there_is_one_line(server: Web, net: Downloader, place: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        net.get(f"{server.url}/a", str(place.parent / "no" / "a"), md5_of(DATA))


def test_large_texts_are_refused(server: Web, net: Downloader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MAX_TEXT", 1000)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        net.read(f"{server.url}/a")


def test_so_many_come_at_a_time(server: Web, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None is answered before all have asked."""
    monkeypatch.setattr(downloads, "PER_SECOND", 1e9)
    met = threading.Barrier(4, timeout=60)

    def meet(handler: Handler) -> bool:
        met.wait()
        return False

    server.files |= {name: name.encode() for name in "bcde"}
    for name in "bcde":
        server.trouble(name, meet)
    net = Downloader(parallel=4)
    with closing(net.each(lambda name: net.get(f"{server.url}/{name}", str(tmp_path / name)), "bcde")) as done:
        assert sorted(done) == [(name, None) for name in "bcde"]
    assert sorted(path.name for path in tmp_path.iterdir()) == list("bcde")


def test_errors_come_with_what_they_are_of(server: Web, net: Downloader, place: Path) -> None:
    with closing(net.each(lambda name: net.get(f"{server.url}/{name}", str(place)), ["a", "b"])) as done:
        errors = dict(done)
    assert errors["a"] is None
    assert isinstance(errors["b"], MissingFileError)


def test_a_silent_server_does_not_keep_from_stopping(server: Web, place: Path) -> None:
    """What came before stays as a part, and the next process goes on."""
    silent, over = threading.Event(), threading.Event()

    def stall(handler: Handler) -> bool:
        handler.answer(200, DATA, handler.known("a"), cut=300_000)
        handler.wfile.flush()
        silent.set()
        over.wait(60)
        with contextlib.suppress(OSError):  # nobody reads it any more
            handler.wfile.write(DATA[300_000:])
        return True

    server.trouble("a", stall)
    net, name = Downloader(parallel=2), place.parent / f"a.{md5_of(DATA)}.part"

    def work(item: str) -> None:
        if item == "stop":
            assert silent.wait(60)
            return
        net.get(f"{server.url}/{item}", str(place), md5_of(DATA))

    with closing(net.each(work, ["a", "stop"])) as done:
        assert next(done) == ("stop", None)
    assert not place.exists()
    over.set()
    for thread in threading.enumerate():
        if thread.daemon and "run" in thread.name:
            thread.join(60)
    assert not place.exists()
    size = name.stat().st_size if name.exists() else 0
    Downloader().get(f"{server.url}/a", str(place), md5_of(DATA))
    only(place)
    assert server.asked[-1] == ("a", f"bytes={size}-" if size else None)


def test_lists_of_checksums() -> None:
    text = f"{'a' * 32}  ./x_genomic.fna.gz\n{'B' * 32} *y\nshort  z\n{'c' * 32}  w w\n{'d' * 32}"
    assert listed_md5(text) == {"x_genomic.fna.gz": "a" * 32, "y": "b" * 32, "w w": "c" * 32}


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'oclgenomics\[fetch\]'"):
        Downloader()
