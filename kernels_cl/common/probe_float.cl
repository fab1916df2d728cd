// Probe: how float arithmetic rounds. r[5i] = x / y, r[5i+1] = sqrt(x), r[5i+2] = fma(x, y, -x), r[5i+3] = x * y - x with two roundings,
// r[5i+4] = native_recip(wide), of numbers of all magnitudes.
#pragma OPENCL FP_CONTRACT OFF
__kernel void probe_float(__global const float *x, __global const float *y, __global const float *wide, __global float *r)
{
    const size_t i = get_global_id(0);
    const float product = x[i] * y[i];
    r[5 * i] = x[i] / y[i];
    r[5 * i + 1] = sqrt(x[i]);
    r[5 * i + 2] = fma(x[i], y[i], -x[i]);
    r[5 * i + 3] = product - x[i];
    r[5 * i + 4] = native_recip(wide[i]);
}
