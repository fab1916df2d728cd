"""`oclgenomics worker`: a Dask worker for each device of this machine, which does pieces of the jobs of others."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import tempfile
from typing import TYPE_CHECKING, Any

from oclgenomics import runtime
from oclgenomics.app.commands import add_message_options, say
from oclgenomics.app.files import reads
from oclgenomics.errors import SchedulerError
from oclgenomics.io.cores import VARIABLE, usable_cores
from oclgenomics.io.processes import child_environment, child_python
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from subprocess import Popen

    from oclgenomics.runtime import Device

cluster = late("oclgenomics.app.cluster")
subprocess = late("subprocess")

WITHOUT_SCHEDULER = 60  # seconds after which a worker ends
ENDING_SECONDS = 10


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "worker",
        description="Start a Dask worker for each device of this machine. They do pieces of commands that are given "
        "--scheduler, one at a time, until the scheduler ends or this command is interrupted.",
        allow_abbrev=False,
    )
    scheduler = parser.add_argument(
        "scheduler", metavar="SCHEDULER", help="address of the scheduler, tcp://HOST:PORT, or its scheduler file"
    )
    reads(scheduler, lambda _, name: [] if "://" in name else [name])
    parser.add_argument(
        "--workers", metavar="DEVICES", default="auto",
        help="gpu: one for each GPU; cpu: one for the CPU; auto: as gpu if there is one, else as cpu; or indexes of "
        "`oclgenomics devices`, such as 0,1 (default: %(default)s)",
    )  # fmt: skip
    add_message_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Start the workers and wait for their end.

    Raises
    ------
    MissingDependencyError, DeviceError
        See the exit codes of `oclgenomics.errors`.
    """
    cluster.distributed()
    devices = runtime.select_devices(args.workers)
    with cluster.connected(args.scheduler) as client:
        address: str = client.scheduler.address
    for device in devices:
        say(args, f"device {device.index}: {device}: passed the self-test")
    with tempfile.TemporaryDirectory(prefix="oclgenomics-", ignore_cleanup_errors=True) as folder:
        _serve(args, devices, address, folder)
    say(args, f"the scheduler at {address} has ended")
    return 0


def _serve(args: argparse.Namespace, devices: list[Device], address: str, folder: str) -> None:
    """Have a worker on each device until the scheduler ends; scratch files and logs go to the folder."""
    share = {VARIABLE: str(max(1, usable_cores() // len(devices)))}  # of the cores
    logs = [None if args.verbose else os.path.join(folder, f"{number}.log") for number in range(len(devices))]
    workers: list[Popen[bytes]] = []
    try:
        for number, (device, log) in enumerate(zip(devices, logs, strict=True)):
            name = f"{socket.gethostname()}-{os.getpid()}-{number}-{'_'.join(device.name.split())}"
            workers.append(_started(address, device, name, share, folder, log))
        say(args, f"{len(workers)} {'worker' if len(workers) == 1 else 'workers'} for {address}; Ctrl-C ends them")
        statuses = [worker.wait() for worker in workers]
    finally:
        _end(workers)
    for device, log, status in zip(devices, logs, statuses, strict=True):
        if status != 0:
            told = f"the worker on device {device.index} failed (exit status {status}{_last_line(log)})"
            raise SchedulerError(f"{told}; -v shows its log")


def _started(
    address: str, device: Device, name: str, variables: dict[str, str], folder: str, log: str | None
) -> Popen[bytes]:
    """Start a worker with one thread, as an engine is for one, and a nanny that starts it again if it dies."""
    resources = f"{cluster.DEVICE}=1" + (" GPU=1" if device.kind == "gpu" else "")
    words = {
        "--name": name, "--nworkers": "1", "--nthreads": "1", "--resources": resources, "--memory-limit": "0",
        "--death-timeout": str(WITHOUT_SCHEDULER), "--local-directory": folder,
    }  # fmt: skip
    options = [word for pair in words.items() for word in pair]
    command = child_python("-m", "distributed.cli.dask_worker", address, *options, "--no-dashboard")
    environment = child_environment() | variables | {"OCLGENOMICS_DEVICE": str(device.index)}
    with contextlib.nullcontext() if log is None else open(log, "wb") as stream:
        started: Popen[bytes] = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
    return started


def _last_line(log: str | None) -> str:
    if log is None:
        return ""
    with open(log, encoding="utf-8", errors="replace") as stream:
        return "".join(f": {line}" for line in stream.read().strip().splitlines()[-1:])


def _end(workers: list[Popen[bytes]]) -> None:
    """End those that still run: at once where they do not end in order."""
    for end in ("terminate", "kill"):
        for worker in workers:
            if worker.poll() is None:
                getattr(worker, end)()
        for worker in workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.wait(ENDING_SECONDS)
