"""How kernels are specialised for a class of devices."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.runtime.devices import Device

__all__ = ["Tuning", "tuning_for"]


@dataclass(frozen=True)
class Tuning:
    """Choices that depend on the device's class only, never on the data.

    Attributes
    ----------
    vector_width : int
        Lanes of the explicit vectors (`-D VW`): PoCL does not vectorise across work-items through an inner loop, so
        there the kernels do it; GPUs and Intel's runtime do it by themselves.
    local_size : int
        The work-group size for one-dimensional kernels. PoCL compiles once per local size, so there are few.
    builtin_popcount : bool
        True where `popcount()` is an instruction (`-D BUILTIN_POPCOUNT`); on CPUs it may be a function call.
    cpu : bool
        True on CPUs: contiguous register-blocked loops, no local-memory tiles.
    waiting_helps : bool
        True where a thread that waits for the compute queue lends a hand: Intel's runtime starts one worker fewer than
        there are cores and counts on it. A wait for an event does not do that.
    """

    vector_width: int
    local_size: int
    builtin_popcount: bool
    cpu: bool
    waiting_helps: bool = False

    def defines(self) -> dict[str, int]:
        """Return the `-D` parameters every build gets."""
        return {"VW": self.vector_width, "BUILTIN_POPCOUNT": int(self.builtin_popcount)}


def tuning_for(device: Device) -> Tuning:
    """Return the tuning of a device's class."""
    if device.kind == "gpu":
        return Tuning(vector_width=1, local_size=256, builtin_popcount=True, cpu=False)
    if device.family == "pocl":
        return Tuning(vector_width=16, local_size=16, builtin_popcount=False, cpu=True)
    if device.family == "intel":
        return Tuning(vector_width=1, local_size=64, builtin_popcount=False, cpu=True, waiting_helps=True)
    return Tuning(vector_width=1, local_size=16, builtin_popcount=False, cpu=True)
