"""Limits of the process (ulimit) that OpenCL runtimes do not survive, or survive without saying what is wrong."""

from __future__ import annotations

import contextlib

from oclgenomics.errors import DeviceError, readable_bytes

with contextlib.suppress(ImportError):  # not on Windows
    import resource

__all__ = ["MIN_STACK", "check_limits", "limits_hint"]

MIN_STACK = 1 << 20  # bytes; Intel's compiler for CPUs ends the process with a segmentation fault on 256 KiB
MIN_FILES = 16  # Intel's runtime for CPUs ends the process where it cannot open its libraries
AMPLE_MEMORY = 16 << 30  # bytes of addresses, which runtimes of GPUs reserve and do not fill; those of CPUs take one


def check_limits() -> None:
    """Refuse to run under limits by which runtimes end the process without a message.

    Raises
    ------
    DeviceError
        The limit of the stack or of open files is too low. That of the stack cannot be raised from within, because
        threads get the limit of the start.
    """
    stack, files = _limit("RLIMIT_STACK"), _limit("RLIMIT_NOFILE")
    if stack is not None and stack < MIN_STACK:
        raise DeviceError(
            f"the stack is limited to {stack >> 10:,} KiB, and OpenCL drivers need {MIN_STACK >> 10:,} KiB or more; "
            "raise the limit: ulimit -s 8192"
        )
    if files is not None and files < MIN_FILES:
        raise DeviceError(
            f"open files are limited to {files}, and OpenCL drivers need {MIN_FILES} or more; raise the limit: "
            "ulimit -n 1024"
        )


def limits_hint() -> str:
    """Say that memory is limited, where it is: what looks like a missing or broken device then has another cause."""
    for name, letter in (("RLIMIT_AS", "v"), ("RLIMIT_DATA", "d")):
        memory = _limit(name)
        if memory is not None and memory < AMPLE_MEMORY:
            return (
                f"the memory of this process is limited to {readable_bytes(memory)}, which may be too little for "
                f"OpenCL; raise the limit: ulimit -{letter} unlimited"
            )
    return ""


def _limit(name: str) -> int | None:
    """A limit of this process; None where there is none."""
    if "resource" not in globals():
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit
