"""Figures that another process draws: the same bytes as here, whatever becomes of that process."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import drawn
from helpers.drawn import plot_line
from matplotlib import rc_context
from PIL import Image

from oclgenomics import runtime
from oclgenomics.app import drawing, stopping
from oclgenomics.app.commands import begin_engine
from oclgenomics.app.figures import DPI, STYLE, save_plot
from oclgenomics.errors import OutputError, ParameterError
from oclgenomics.io.processes import child_environment, has_one_thread

TESTS = str(Path(__file__).parents[1])


def figure_here(suffix: str, *values: float, title: str) -> bytes:
    stream = io.BytesIO()
    save_plot(plot_line(*values, title=title), stream, suffix)
    return stream.getvalue()


# A program that draws with another process, and prints what is wrong.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from oclgenomics import runtime
from oclgenomics.app import drawing, stopping
from oclgenomics.app.commands import begin_engine
stopping.without_algebra_threads()
stopping.leave_at_once()
stopping.exit_on_signals("test")
drawing.usable_cores = lambda: 2
folder = Path(sys.argv[1])
read, write = os.pipe()
drawing.begin_drawing("oclgenomics.omega.plots", "plot_scans")
child = drawing._drawer
assert child is not None
os.close(write)
assert os.read(read, 1) == b"", "the other process holds files of this one"
assert os.getpgid(child._process.pid) == child._process.pid, "it gets the signals of this one's group"

from helpers import drawn

for suffix in ("png", "svg", "pdf"):
    drawing.draw_figure(folder / f"other.{suffix}", drawn, "plot_line", 1.0, 3.0, 2.0, title="above")
assert drawing._drawer is child and child._process.poll() is None, "it has not drawn"
try:
    drawing.draw_figure(folder / "failed.png", drawn, "plot_nothing")
except ZeroDivisionError:
    pass
assert drawing._drawer is None and child._process.poll() is not None, "it goes on after an error"
assert not (folder / "failed.png").exists()
drawing.begin_drawing("oclgenomics.omega.plots", "plot_scans")
os.kill(drawing._drawer._process.pid, signal.SIGKILL)
drawing.draw_figure(folder / "lost.png", drawn, "plot_line", 1.0, 3.0, 2.0, title="above")
assert drawing._drawer is None
print("all")
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not say how many threads there are")
def test_another_process_draws_the_same(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], env=child_environment() | {"PYTHONPATH": TESTS},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr
    for suffix in ("png", "svg", "pdf"):
        here = figure_here(suffix, 1.0, 3.0, 2.0, title="above")
        assert (tmp_path / f"other.{suffix}").read_bytes() == here
    assert (tmp_path / "lost.png").read_bytes() == figure_here("png", 1.0, 3.0, 2.0, title="above")


def begun(monkeypatch: pytest.MonkeyPatch, **how: Any) -> bool:
    """Whether a process is started where a condition is another than in a program with one thread and two cores."""
    started: list[object] = []
    monkeypatch.setattr(drawing, "ForkedChild", lambda *_: started.append(1))
    for name, value in {"usable_cores": 2, "has_one_thread": True, **how}.items():
        place = stopping if name == "is_program" else drawing
        monkeypatch.setattr(place, name, lambda value=value: value)
    if "is_program" not in how:
        monkeypatch.setattr(stopping, "is_program", lambda: True)
    monkeypatch.setattr(drawing, "_drawer", None)
    drawing.begin_drawing("oclgenomics.omega.plots", "plot_scans")
    return bool(started)


def test_a_process_is_started_only_where_it_may_be_and_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert begun(monkeypatch)
    assert not begun(monkeypatch, usable_cores=1)
    assert not begun(monkeypatch, has_one_thread=False)
    assert not begun(monkeypatch, is_program=False)


@pytest.mark.parametrize(("plot", "begun"), [("x.png", [("oclgenomics.kmers.plots", "plot_copies")]), (None, [])])
def test_commands_that_will_draw_begin_so(
    monkeypatch: pytest.MonkeyPatch, plot: str | None, begun: list[object]
) -> None:
    done: list[object] = []
    monkeypatch.setattr(drawing, "begin_drawing", lambda *what: done.append(what))
    monkeypatch.setattr(runtime, "begin_gpu", lambda device: done.append(f"GPU of {device}"))
    monkeypatch.setattr(runtime, "begin_engine", done.append)
    begin_engine(argparse.Namespace(plot=plot, command="kmers", device="device"), draws="plot_copies")
    assert done == [*begun, "GPU of device", "device"]


def test_tests_are_no_program() -> None:
    assert not stopping.is_program()


def test_threads_are_counted() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert not has_one_thread()
    finally:
        end.set()
        thread.join()


def test_a_process_that_cannot_be_started_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(stopping, "is_program", lambda: True)
    monkeypatch.setattr(drawing, "usable_cores", lambda: 2)
    monkeypatch.setattr(drawing, "has_one_thread", lambda: True)
    monkeypatch.setattr(os, "fork", fail)
    drawing.begin_drawing("oclgenomics.omega.plots", "plot_scans")
    drawing.draw_figure(tmp_path / "x.png", drawn, "plot_line", 1.0, 2.0, title="one")
    assert (tmp_path / "x.png").read_bytes() == figure_here("png", 1.0, 2.0, title="one")


def test_a_figure_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        drawing.draw_figure(tmp_path / "none" / "x.png", drawn, "plot_line", 1.0, title="one")
    with pytest.raises(ParameterError):
        drawing.draw_figure(tmp_path / "x.gif", drawn, "plot_line", 1.0, title="one")
    assert not list(tmp_path.iterdir())


def test_figures_are_drawn_as_by_matplotlib() -> None:
    ours, theirs = io.BytesIO(), io.BytesIO()
    figure = plot_line(1.0, 3.0, 2.0, title="above")
    before = figure.canvas, figure.dpi
    save_plot(figure, ours, "png")
    assert (figure.canvas, figure.dpi) == before
    with rc_context(STYLE):
        plot_line(1.0, 3.0, 2.0, title="above").savefig(theirs, format="png", dpi=DPI)
    picture = Image.open(ours)
    assert picture.info["dpi"] == pytest.approx((DPI, DPI), abs=0.1)
    assert np.array_equal(np.asarray(picture), np.asarray(Image.open(theirs).convert("RGB")))
