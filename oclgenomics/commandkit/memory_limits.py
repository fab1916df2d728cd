"""What `ulimit` leaves of memory to this process; read before anything large is imported."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):  # not on Windows
    import resource

__all__ = ["memory_limit", "process_limit", "said_of_limit"]


def process_limit(name: str) -> int | None:
    """Return a limit of this process, such as ``RLIMIT_AS``; None where there is none."""
    if "resource" not in globals():
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit


def memory_limit(below: int) -> tuple[int, str] | None:
    """Return the first limit of memory that is lower than so many bytes, and its letter in `ulimit`."""
    for name, letter in (("RLIMIT_AS", "v"), ("RLIMIT_DATA", "d")):
        limit = process_limit(name)
        if limit is not None and limit < below:
            return limit, letter
    return None


def said_of_limit(limit: str, consequence: str, letter: str) -> str:
    """Say that memory is limited, what follows, and what to do.

    Parameters
    ----------
    limit : str
        A size with its unit.
    consequence : str
        What comes behind the limit and a comma.
    letter : str
        Of the limit in `ulimit`.
    """
    raised = f"raise the limit: ulimit -{letter} unlimited"
    return f"the memory of this process is limited to {limit}, {consequence}; {raised}"
