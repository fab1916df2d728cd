"""Limits of the process (ulimit) that OpenCL runtimes do not survive, or survive without saying what is wrong."""

from __future__ import annotations

from oclgenomics.errors import DeviceError, readable_bytes
from oclgenomics.io.processes import memory_limit, process_limit, said_of_limit

MIN_STACK = 1 << 20  # bytes; Intel's compiler for CPUs ends the process with a segmentation fault on 256 KiB
MIN_FILES = 16  # Intel's runtime for CPUs ends the process where it cannot open its libraries
MIN_MEMORY = {"RLIMIT_AS": ("v", 1 << 30), "RLIMIT_DATA": ("d", 3 << 27)}  # bytes; runtimes of CPUs crash with less
AMPLE_MEMORY = 16 << 30  # bytes of addresses, which runtimes of GPUs reserve and do not fill; those of CPUs take one


def check_limits() -> None:
    """Refuse to run under limits by which runtimes end the process without a message.

    Raises
    ------
    DeviceError
        The limit of the stack, of open files or of memory is too low. That of the stack cannot be raised from within,
        because threads get the limit of the start.
    """
    stack, files = process_limit("RLIMIT_STACK"), process_limit("RLIMIT_NOFILE")
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
    for name, (letter, least) in MIN_MEMORY.items():
        memory = process_limit(name)
        if memory is not None and memory < least:
            needed = f"and OpenCL drivers need {readable_bytes(least)} or more"
            raise DeviceError(said_of_limit(readable_bytes(memory), needed, letter))


def limits_hint() -> str:
    """Say that memory is limited, where it is: what looks like a missing or broken device then has another cause."""
    limited = memory_limit(AMPLE_MEMORY)
    if limited is None:
        return ""
    limit, letter = limited
    return said_of_limit(readable_bytes(limit), "which may be too little for OpenCL", letter)
