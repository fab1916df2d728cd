// Probe: how float arithmetic rounds. r[4i] = x / y, r[4i+1] = sqrt(x), r[4i+2] = fma(x, y, -x), r[4i+3] = x * y - x with two roundings.
#pragma OPENCL FP_CONTRACT OFF
__kernel void probe_float(__global const float *x, __global const float *y, __global float *r)
{
    const size_t i = get_global_id(0);
    const float product = x[i] * y[i];
    r[4 * i] = x[i] / y[i];
    r[4 * i + 1] = sqrt(x[i]);
    r[4 * i + 2] = fma(x[i], y[i], -x[i]);
    r[4 * i + 3] = product - x[i];
}
