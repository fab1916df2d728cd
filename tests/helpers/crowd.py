"""How many work-groups a CPU device runs at a time.

Each group adds itself to a counter while it is at work, and the highest count is kept. So a busy machine, on which
threads take turns, changes nothing: a group that waits for a core still counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.runtime.devices import Device, held_cores, list_devices
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.pocl import knows_processor

GROUPS, ROUNDS = 64, 4_000_000
SOURCE = """
__kernel void crowd(__global volatile int *counts, uint rounds) {
    atomic_max(counts + 1, atomic_inc(counts) + 1);
    uint x = get_global_id(0);
    for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u ^ x >> 7;
    if (x == 12345u) counts[2] = 1;
    atomic_dec(counts);
}
"""


def most_at_a_time(device: Device) -> int:
    """Run groups that take some milliseconds each; devices need not pass the self-test."""
    cl: Any = opencl()
    with held_cores(device):
        context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    kernel = cl.Program(context, SOURCE).build(cache_dir=False).crowd
    counts = np.zeros(3, np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=counts)
    kernel(queue, (GROUPS,), (1,), buffer, np.uint32(ROUNDS))
    cl.enqueue_copy(queue, counts, buffer)
    return int(counts[1])


def crowds() -> list[dict[str, Any]]:
    """Return units and work-groups at a time of the devices of Intel's runtime for CPUs and of PoCL."""
    return [
        {"device": str(one), "family": one.family, "units": one.compute_units, "most": most_at_a_time(one)}
        for one in list_devices()
        if one.kind == "cpu" and (one.family == "intel" or (one.family == "pocl" and knows_processor(one.version)))
    ]
