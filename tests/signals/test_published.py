"""Published models: downloads that are cut, refused and damaged, from a server of this test."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.web import Web, cuts, says, web

from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, OutputError, ParameterError, UsageError
from oclgenomics.io import downloads
from oclgenomics.io.downloads import ChecksumError, MissingFileError
from oclgenomics.signals import PUBLISHED, fetch_model, published, read_model
from oclgenomics.signals.published import installed_path, models_folder

K = 5
TABLE = "".join(
    f"{''.join(kmer)}\t{number / 512 - 1}\n" for number, kmer in enumerate(itertools.product("ACGT", repeat=K))
).encode()
PLACE = PUBLISHED["r10.4.1"].path


def blob_of(data: bytes) -> str:
    """As `git hash-object`."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Web]:
    """A server of a small table in the place of R10.4.1's, and a folder for it."""
    monkeypatch.setattr(downloads, "PER_SECOND", 1e9)
    monkeypatch.setattr(downloads, "FIRST_PAUSE", 0.0)
    monkeypatch.setenv("OCLGENOMICS_MODELS", str(tmp_path / "models"))
    small = replace(PUBLISHED["r10.4.1"], k=K, blob=blob_of(TABLE))
    monkeypatch.setattr(published, "PUBLISHED", PUBLISHED | {"r10.4.1": small})
    monkeypatch.setattr("oclgenomics.signals.model_files.PUBLISHED", PUBLISHED | {"r10.4.1": small})
    with web() as known:
        known.files[PLACE] = TABLE
        yield known


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "models").iterdir())


def test_identifiers_are_those_of_git() -> None:
    assert blob_of(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"  # of `git hash-object`
    assert all(len(one.blob) == 40 for one in PUBLISHED.values())


def test_a_model_comes_once_and_is_found_by_its_name(
    server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["sdtw", "fetch-model", "r10.4.1", "--source", server.url]) == 0
    assert len(server.asked) == 1
    assert left(tmp_path) == ["r10.4.1.txt"]
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("oclgenomics: r10.4.1: ")
    assert "Mozilla Public License 2.0" in told[0]
    model = read_model("r10.4.1")
    assert (model.name, model.k, model.pore, model.rate) == ("r10.4.1", K, "R10", 5000.0)
    assert model.mean[:3].tolist() == [-1, 1 / 512 - 1, 2 / 512 - 1]
    assert np.isnan(model.deviation).all()
    with pytest.raises(ParameterError, match="reverse_kmers"):
        read_model("r10.4.1", reverse_kmers=True)


def test_a_cut_download_goes_on_where_it_ended(server: Web, tmp_path: Path) -> None:
    server.trouble(PLACE, cuts(1000))
    path = fetch_model("r10.4.1", source=f"{server.url}/", wait=lambda _: None)
    assert path.read_bytes() == TABLE
    begin = int(str(server.asked[1][1]).removeprefix("bytes=").removesuffix("-"))
    assert 0 < begin <= 1000
    assert left(tmp_path) == ["r10.4.1.txt"]


def test_another_process_goes_on_with_a_part(server: Web, tmp_path: Path) -> None:
    part = tmp_path / "models" / f"r10.4.1.txt.{blob_of(TABLE)}.part"
    part.parent.mkdir()
    part.write_bytes(TABLE[:700])
    fetch_model("r10.4.1", source=server.url)
    assert server.asked == [(PLACE, "bytes=700-")]
    assert left(tmp_path) == ["r10.4.1.txt"]


def test_another_file_than_the_published_one_is_not_kept(
    server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files[PLACE] = TABLE[:-2] + b"9\n"
    with pytest.raises(ChecksumError, match=f"its git blob is not {blob_of(TABLE)}"):
        fetch_model("r10.4.1", source=server.url)
    assert left(tmp_path) == []
    assert main(["sdtw", "fetch-model", "r10.4.1", "--source", server.url]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"oclgenomics: error: {server.url}/{PLACE}: what came is not what is published")


@pytest.mark.parametrize(("status", "told"), [(404, "the server has no such file"), (403, "cannot be downloaded")])
def test_a_server_that_has_no_such_file(
    server: Web, tmp_path: Path, status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.trouble(PLACE, says(status))
    assert main(["sdtw", "fetch-model", "r10.4.1", "--source", server.url]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert left(tmp_path) == []
    server.files.clear()
    with pytest.raises(MissingFileError):
        fetch_model("r10.4.1", source=server.url)


def test_a_model_that_is_not_there_says_how_to_get_it(
    server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.fa").write_text(">x\nACGTACGTACGT\n")
    assert main(["sdtw", "index", str(tmp_path / "x.fa"), "--model", "r10.4.1", "-o", str(tmp_path / "y")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "r10.4.1: the model is not installed: `oclgenomics sdtw fetch-model r10.4.1`" in line
    assert published.REPOSITORY in line
    assert not (tmp_path / "y").exists()


def test_a_damaged_model_is_refused(server: Web) -> None:
    path = fetch_model("r10.4.1", source=server.url)
    path.write_bytes(TABLE[:-1])
    with pytest.raises(InputError, match=r"is not the published table of r10\.4\.1"):
        read_model("r10.4.1")
    fetch_model("r10.4.1", source=server.url)
    assert installed_path("r10.4.1") == path


def test_mistakes(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"r9.4.1: there is no such published model; choose one of r10.4.1, rna"):
        fetch_model("r9.4.1", source=server.url)
    assert main(["sdtw", "fetch-model", "r10.4.1", "r8", "--source", server.url]) == 2
    assert "r8: there is no such published model" in capsys.readouterr().err
    assert server.asked == []
    (tmp_path / "models").write_text("a file")
    with pytest.raises(OutputError, match="models"):
        fetch_model("r10.4.1", source=server.url)


def test_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCLGENOMICS_MODELS", "/a/b")
    assert models_folder() == Path("/a/b")
    monkeypatch.setenv("OCLGENOMICS_MODELS", " ")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert models_folder() == Path("/data/oclgenomics/models")
    monkeypatch.setenv("OCLGENOMICS_MODELS", "~no-such-user/x")
    with pytest.raises(UsageError, match="OCLGENOMICS_MODELS"):
        models_folder()
