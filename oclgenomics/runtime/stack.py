"""The stack that OpenCL drivers need: their compilers run in the caller's thread and in threads of the default size."""

from __future__ import annotations

import contextlib

from oclgenomics.errors import DeviceError

with contextlib.suppress(ImportError):  # not on Windows
    import resource

__all__ = ["MIN_STACK", "check_stack"]

MIN_STACK = 1 << 20  # bytes; Intel's compiler for CPUs ends the process with a segmentation fault on 256 KiB


def check_stack() -> None:
    """Refuse to run on a stack that drivers overflow, which would end the process without a message.

    Raises
    ------
    DeviceError
        The limit of the stack is too low. It cannot be raised from within, because threads get the limit of the start.
    """
    if "resource" not in globals():
        return
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if limit != resource.RLIM_INFINITY and limit < MIN_STACK:
        raise DeviceError(
            f"the stack is limited to {limit >> 10:,} KiB, and OpenCL drivers need {MIN_STACK >> 10:,} KiB or more; "
            "raise the limit: ulimit -s 8192"
        )
