"""The engine of a verb: the one that its caller has, or one of its own."""

from __future__ import annotations

import contextlib

from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.engine import Engine

__all__ = ["lent_engine"]


def lent_engine(
    engine: Engine | None, device: Device | str | None, max_memory: int | None
) -> contextlib.AbstractContextManager[Engine]:
    """Lend the engine that is given, which stays open, or a new one, which does not.

    Parameters
    ----------
    engine : Engine, optional
    device : Device or str, optional
        Where to run if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    """
    return Engine(device, max_memory=max_memory) if engine is None else contextlib.nullcontext(engine)
