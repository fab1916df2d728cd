"""How many copies, fills, kernels and buffers a command takes on a device, and how many bytes are copied.

    python benchmarks/device_commands.py [--apart] [--per KERNEL] [--json FILE] -- classify build x.db x.fa -d 0 -q

With --apart a CPU device is taken as one with memory of its own, as GPUs are: what is copied is what they copy. --per
divides by the launches of a kernel that each batch has one of, such as `encode_letters` of `signatures scan`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any, NoReturn

import pyopencl
from measure import host, table, write_json

from oclgenomics.cli.main import main as program
from oclgenomics.runtime import engine
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.tuning import Tuning, tuning_for

BUFFER = pyopencl.Buffer


def apart(device: Device) -> Tuning:
    """The tuning of a device that has memory of its own."""
    return replace(tuning_for(device), shape="gpu", shares_memory=False)


def counted(found: Counter[str]) -> None:
    """Count what is enqueued from now on."""
    copy, launch, fill = pyopencl.enqueue_copy, pyopencl.enqueue_nd_range_kernel, pyopencl.enqueue_fill_buffer

    def copied(queue: Any, target: Any, source: Any, **how: Any) -> Any:
        up = isinstance(target, BUFFER)
        found["copies to the device" if up else "copies to the host"] += 1
        found["bytes to the device" if up else "bytes to the host"] += (source if up else target).nbytes
        return copy(queue, target, source, **how)

    def launched(queue: Any, kernel: Any, *shape: Any, **how: Any) -> Any:
        found["kernels"] += 1
        found[kernel.function_name] += 1
        return launch(queue, kernel, *shape, **how)

    def filled(*arguments: Any) -> Any:
        found["fills"] += 1
        return fill(*arguments)

    def made(*arguments: Any, **how: Any) -> pyopencl.Buffer:
        found["buffers"] += 1
        return BUFFER(*arguments, **how)

    pyopencl.enqueue_copy, pyopencl.enqueue_nd_range_kernel = copied, launched
    pyopencl.enqueue_fill_buffer, pyopencl.Buffer = filled, made


def main() -> None:
    """Run the command, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--per", metavar="KERNEL")
    parser.add_argument("--json")
    parser.add_argument("words", nargs="+")
    args = parser.parse_args()
    if args.apart:
        engine.tuning_for = apart
    found: Counter[str] = Counter()
    counted(found)
    leave = os._exit

    def end(status: int) -> NoReturn:
        batches = found[args.per] if args.per else 1
        names = [f"{what} to the {where}" for where in ("device", "host") for what in ("copies", "bytes")]
        row = {name: round(found[name] / batches, 2) for name in (*names, "fills", "kernels", "buffers")}
        row |= {"batches": batches, "cpu s": time.process_time()}
        print(table([row]))
        write_json(args.json, {"benchmark": "device_commands", "words": args.words, **host(), "rows": [row]})
        sys.stdout.flush()
        leave(status)

    os._exit = end  # by which commands leave
    end(program(args.words))


if __name__ == "__main__":
    main()
