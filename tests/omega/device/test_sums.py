"""How devices round values to the format of exact sums."""

from __future__ import annotations

import numpy as np
import pytest

from oclgenomics.runtime import Device, Engine, program, program as kernel_cache
from oclgenomics.runtime.source import load_source

KERNEL = """
__kernel void round_all(__global const float *values, float scale, __global long *found)
{
    const size_t place = get_global_id(0) * VW;
    float_v value;
    long_v rounded;
    for (int lane = 0; lane < VW; ++lane)
        ((float *)&value)[lane] = values[place + lane];
    rounded = fixed_point(value, scale);
    for (int lane = 0; lane < VW; ++lane)
        found[place + lane] = ((long *)&rounded)[lane];
}
"""


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("bits", [0, 3, 30])
def test_values_of_either_sign_go_to_the_nearest(
    device: Device, width: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that are as near, the one farther from 0: a value and its negative have opposite integers.

    What a half that is added in single precision makes of a value has the same bound there: one more.
    """
    rng = np.random.default_rng(bits)
    halves = np.arange(0, 200, dtype=np.float32) / 2
    near = np.concatenate([halves[1:] - np.float32(2**-9), halves + np.float32(2**-9), np.zeros(1, np.float32)])
    small = rng.uniform(0, 1 << 20, 400).astype(np.float32)
    large = np.ldexp(rng.uniform(0.5, 1, 400).astype(np.float32), rng.integers(25, 54, 400))
    edges = np.array([*(np.nextafter(halves[1::2], 0)), *range((1 << 23) + 1, (1 << 24), 400_002)], np.float32)
    scaled = np.concatenate([halves, near, small, large.astype(np.float32), edges])
    scaled = np.concatenate([np.zeros(-len(scaled) % width, np.float32), scaled])
    values = np.ldexp(np.concatenate([scaled, -scaled]), -bits).astype(np.float32)
    expected = [int(np.floor(np.longdouble(one) + np.longdouble(0.5))) for one in scaled]
    text = load_source("omega/pair_values.cl") + KERNEL
    for module in (program, kernel_cache):
        monkeypatch.setattr(module, "load_source", lambda _: text)
    with Engine(device) as engine:
        kernel = engine.kernel("omega/pair_values.cl", "round_all", VW=width, MASKED=0, GENOTYPES=0)
        found = engine.empty(values.size, np.int64)
        engine.launch(
            kernel, (values.size // width,), None, values=engine.upload(values), scale=float(1 << bits), found=found
        )
        rounded = engine.download(found).reshape(2, -1)
    assert (rounded[0] == -rounded[1]).all()
    assert rounded[0, : -len(edges)].tolist() == expected[: -len(edges)]
    assert all(0 <= one - other <= 1 for one, other in zip(rounded[0].tolist(), expected, strict=True))
