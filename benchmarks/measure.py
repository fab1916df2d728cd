"""What all benchmarks share: whole processes timed, the device's copy rate, and results as a table and as JSON."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oclgenomics import __version__
from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.loader import opencl

__all__ = [
    "best_time", "copy_rate", "draw_result", "host", "machine", "run_parts", "run_process", "run_times", "table",
    "write_json",
]  # fmt: skip

COPY_BYTES = 1 << 28


# Runs a command and prints its wall time, CPU time and peak memory. A process of its own, because a child's peak counts
# from its parent's size.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def run_process(
    command: Sequence[str], repeat: int, *, outputs: Path | None = None, folder: Path | None = None
) -> dict[str, Any]:
    """Run a command several times from start to exit.

    Parameters
    ----------
    command : sequence of str
    repeat : int
    outputs : Path, optional
        A folder that is there and empty when each run begins: to delete what is left of the run before takes time.
    folder : Path, optional
        The working folder of the command, for programs that write there.

    Returns
    -------
    dict
        `seconds`: wall time of each run in order, `best`, `median`, `cpu`: least CPU time of a run, `peak_mb`: the
        largest resident memory, in units of 2^20 bytes.
    """
    seconds, cpu, peak = [], [], 0.0
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(repeat):
        if outputs is not None:
            shutil.rmtree(outputs, ignore_errors=True)
            outputs.mkdir()
        run = subprocess.run(
            [sys.executable, "-S", "-c", LAUNCHER, *command],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=folder,
        )
        took, worked, memory, status = run.stdout.split()
        if int(status):
            raise SystemExit(f"{' '.join(command)} failed:\n{run.stderr}")
        seconds.append(float(took))
        cpu.append(float(worked))
        peak = max(peak, int(memory) / 1024)
    times = {"best": min(seconds), "median": float(np.median(seconds)), "cpu": min(cpu)}
    return {"seconds": seconds, **times, "peak_mb": peak}


def run_times(repeat: int, call: Callable[..., object], *arguments: object) -> list[float]:
    """Wall seconds of each of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - start)
    return times


def best_time(repeat: int, call: Callable[..., object], *arguments: object) -> float:
    """Wall seconds of the fastest of some calls."""
    return min(run_times(repeat, call, *arguments))


def copy_rate(engine: Engine) -> float:
    """GB/s of a copy within the device's memory, bytes read and bytes written counted."""
    cl = opencl()
    size = min(COPY_BYTES, engine.max_allocation // 4)
    source, target = engine.empty(size, np.uint8), engine.empty(size, np.uint8)
    engine.fill(source, 1)

    def copy() -> None:
        cl.enqueue_copy(engine._compute, target.memory.buffer, source.memory.buffer, byte_count=size)
        engine.finish()

    engine.finish()
    seconds = best_time(5, copy)
    source.release()
    target.release()
    return 2 * size / seconds / 1e9


def machine(device: Device) -> dict[str, Any]:
    """Where and with what the numbers were taken."""
    own = host()
    return {
        "date": own.pop("date"),
        "version": own.pop("version"),
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "compute_units": device.compute_units,
        **own,
    }


def host() -> dict[str, Any]:
    """The same without a device."""
    return {
        "date": datetime.date.today().isoformat(),
        "version": __version__,
        "host": _processor(),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].split(":")[1].strip() if names else platform.processor()


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as aligned text; floats with three significant digits."""
    shown = [
        {key: f"{value:.3g}" if isinstance(value, float) else str(value) for key, value in row.items()} for row in rows
    ]
    widths = {key: max(len(key), *(len(row[key]) for row in shown)) for key in shown[0]}
    lines = ["  ".join(key.rjust(width) for key, width in widths.items())]
    lines += ["  ".join(row[key].rjust(width) for key, width in widths.items()) for row in shown]
    return "\n".join(lines)


def write_json(path: str | None, record: dict[str, Any]) -> None:
    """Write a record to a file, "-" for standard output, if one is named."""
    if not path:
        return
    text = json.dumps(record, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)


def run_parts(
    parts: Mapping[str, tuple[Callable[[Any], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], str]]],
    names: Iterable[str],
    bench: Any,
    record: dict[str, Any],
    path: str | None,
) -> None:
    """Run parts of a benchmark, print their rows, and write what is done, so that it is there if a later part fails.

    Parameters
    ----------
    parts : mapping of str to (callable, callable)
        What makes the rows of a part, and what makes text of them.
    names : iterable of str
        Of the parts to run.
    bench : object
        What parts measure.
    record : dict
        Gets the rows by the names of the parts.
    path : str, optional
        The file of the record.
    """
    for name in names:
        run, as_text = parts[name]
        print(f"{name} ...", file=sys.stderr, flush=True)
        record[name] = run(bench)
        print(f"\n{name}\n{as_text(record[name])}", flush=True)
        write_json(path, record)


def draw_result(draw: Callable[[Any, str], object], description: str | None) -> None:
    """Draw the figure of a result that was written before, both of which the command line names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", metavar="RESULT.json")
    parser.add_argument("figure", metavar="FIGURE.png")
    args = parser.parse_args()
    draw(json.loads(Path(args.result).read_text()), args.figure)
