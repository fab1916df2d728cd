"""The command `classify serve`: how it begins and ends, and what it says."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.classify_databases import EDGE, VIRAL, viral_database
from helpers.classify_serving import PATIENCE
from helpers.products import only_whole

from oclgenomics.classify.database.file import write_database
from oclgenomics.classify.serving import Client
from oclgenomics.cli.main import main
from oclgenomics.runtime import Engine

READS = EDGE / "edge_reads.fa"


@pytest.mark.parametrize("stop", [signal.SIGTERM, *only_whole(signal.SIGINT)])
def test_the_command(tmp_path: Path, engine: Engine, stop: signal.Signals) -> None:
    write_database(tmp_path / "db", viral_database())
    words = ["classify", "serve", "db", "--socket", "socket", "-v", "--device", str(engine.device.index)]
    with subprocess.Popen(
        [sys.executable, "-m", "oclgenomics", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            told = iter(process.stderr.readline, "")
            assert any("listening on unix:socket" in line for line in told)
            with Client(f"unix:{tmp_path / 'socket'}", timeout=PATIENCE) as client:
                assert client.classify(READS, format="tsv").count(b"\n") == 16
                reads = (VIRAL / "reads" / "se150.fq.gz").read_bytes() * 2
                answer = client.classify_parts(reads, format="tsv")
                lines = next(answer).count(b"\n")  # it is at work
                process.send_signal(stop)
                assert lines + b"".join(answer).count(b"\n") == 40_001
            assert process.wait(PATIENCE) == 0
            rest = process.stderr.read()
        finally:
            process.kill()
    assert "local POST /classify?format=tsv: 200" in rest
    assert rest.endswith("oclgenomics: ended; requests answered: 2\n")
    assert not (tmp_path / "socket").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--listen", "x"], 2, "write HOST:PORT"),
        (["--listen", "1", "--socket", "s"], 2, "contradict each other"),
        (["--max-waiting", "0", "--timeout", "0"], 2, "must be above 0"),
        (["--device", "none of these"], 4, "none of these"),
        (["--socket", "no/socket"], 5, "there is no folder no"),
        (["--socket", "socket"], 3, "no database: no such file"),
    ],
)
def test_servers_that_do_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: int,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["classify", "serve", "no database", *words]) == code
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_servers_without_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["classify", "serve", str(tmp_path / "db")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "pip install 'oclgenomics[serve]'" in error
