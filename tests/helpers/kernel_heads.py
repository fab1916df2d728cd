"""What a compiler tells of the heads of kernels, for the drivers' sake from programs whose kernels do nothing.

    python -m helpers.kernel_heads INDEX SOURCE DEFINES

A driver may crash on a kernel without a body (NVIDIA's does, on one of these), so GPUs are asked in a process of its
own, and after a crash of the whole source.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyopencl

from oclgenomics.errors import BuildError
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.runtime import Device, list_devices, program
from oclgenomics.runtime.source import load_source

__all__ = ["FOR_CPUS", "Head", "told_apart", "told_heads"]

FOR_CPUS = {"kmers/line_tables.cl"}  # which GPUs never get, and NVIDIA's compiler crashes on

Head = tuple[str, bool, str | None]  # name, whether it is a pointer, type if that is OpenCL's own
# What a kernel does has no part in its head, and takes by far the most of the compiler's time.
BODY = re.compile(r"^(__kernel\b[^{]*\{).*?^\}", re.MULTILINE | re.DOTALL)


def without_bodies(source: str) -> str:
    """Load a source with kernels that do nothing."""
    text = load_source(source)
    short = BODY.sub(r"\1 }", text)
    assert (
        len(re.findall(r"^__kernel\b", short, re.MULTILINE)) == len(re.findall(r"^__kernel\b", text, re.MULTILINE)) > 0
    )
    return short


def told_heads(
    device: Device, source: str, defines: Mapping[str, Any], *, bodies: bool = False
) -> dict[str, list[Head]] | None:
    """Return the arguments of each kernel of a source; None where it is not written for these parameters."""
    context = pyopencl.Context([device.handle])
    options = [*program.build_options(device, defines), "-cl-kernel-arg-info"]
    with mock.patch.object(program, "load_source", load_source if bodies else without_bodies):
        try:
            built = program.build_program(context, device, source, options, fresh=True)
        except BuildError:
            return None
    kernels = built.all_kernels()
    return {one.function_name: [argument(one, place) for place in range(one.num_args)] for one in kernels}


def told_apart(device: Device, source: str, defines: Mapping[str, Any]) -> dict[str, list[Head]] | None:
    """Return the same, from processes of their own: of kernels without bodies, after a crash of the whole ones."""
    words = [str(device.index), source, json.dumps(dict(defines))]
    environment = child_environment()
    environment["PYTHONPATH"] = f"{Path(__file__).parents[1]}:{environment['PYTHONPATH']}"
    for more in ([], ["bodies"]):
        command = child_python("-m", "helpers.kernel_heads", *words, *more)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            answer = json.loads(done.stdout)
            return answer and {name: [tuple(one) for one in heads] for name, heads in answer.items()}
    raise AssertionError(f"{source} cannot be compiled: {done.stderr}")


def argument(kernel: Any, place: int) -> Head:
    """What OpenCL tells of an argument: its name, whether it is a pointer, and its type if that is OpenCL's own."""
    what = pyopencl.kernel_arg_info
    name, kind = (kernel.get_arg_info(place, one).rstrip("\0") for one in (what.NAME, what.TYPE_NAME))
    base = kind.rstrip("*").rstrip("0123456789").removeprefix("unsigned ")
    types: dict[str, Any] = {"char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64}
    types |= {f"u{key}": np.dtype(value).str.replace("i", "u") for key, value in types.items()}
    types |= {"float": np.float32, "double": np.float64}
    known = ("u" if kind.startswith("unsigned ") else "") + base
    return name, kind.endswith("*"), np.dtype(types[known]).str if known in types else None


if __name__ == "__main__":
    (here,) = [device for device in list_devices() if device.index == int(sys.argv[1])]
    print(json.dumps(told_heads(here, sys.argv[2], json.loads(sys.argv[3]), bodies="bodies" in sys.argv)))
