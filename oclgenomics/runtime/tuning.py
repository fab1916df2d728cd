"""How kernels are specialised for a class of devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.processor import instruction_sets


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
    shape : {'cpu', 'gpu'}
        What kernels are written for: contiguous register-blocked loops without local memory, or work-groups that share
        tiles in local memory.
    shares_memory : bool
        True where the device works in the host's memory as it is; else arrays are copied.
    vector_bytes : int
        Width of the vector registers of a CPU, for kernels that fill them by vectors of their own.
    vector_popcount : bool
        True where such a register's population counts are an instruction.
    waiting_helps : bool
        True where a thread that waits for the compute queue lends a hand: Intel's runtime starts one worker fewer than
        there are cores and counts on it. A wait for an event does not do that.
    """

    vector_width: int
    local_size: int
    builtin_popcount: bool
    shape: Literal["cpu", "gpu"]
    shares_memory: bool = False
    waiting_helps: bool = False
    vector_bytes: int = 32
    vector_popcount: bool = False

    @property
    def cpu(self) -> bool:
        """Whether kernels have the shape for CPUs."""
        return self.shape == "cpu"

    def defines(self) -> dict[str, int]:
        """Return the `-D` parameters every build gets."""
        return {"VW": self.vector_width, "BUILTIN_POPCOUNT": int(self.builtin_popcount)}


def tuning_for(device: Device) -> Tuning:
    """Return the tuning of a device's class."""
    if device.kind == "gpu":
        return Tuning(vector_width=1, local_size=256, builtin_popcount=True, shape="gpu")
    shares = device.kind == "cpu" and device.unified_memory
    width, size = {"pocl": (16, 16), "intel": (1, 64)}.get(device.family, (1, 16))
    held_back = bool(device.builtins)  # PoCL compiles for an older processor than this one, without AVX-512
    known = frozenset() if held_back else instruction_sets()
    return Tuning(
        width, size, False, "cpu", shares_memory=shares, waiting_helps=device.family == "intel",
        vector_bytes=64 if "avx512bw" in known else 32, vector_popcount="avx512_vpopcntdq" in known,
    )  # fmt: skip
