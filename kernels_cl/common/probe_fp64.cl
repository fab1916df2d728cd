// Probe: does double arithmetic work and round as IEEE 754 says? r[i] = x[i] * y[i] + x[i] / y[i], each operation rounded by itself.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void probe_fp64(__global const double *x, __global const double *y, __global double *r)
{
    const size_t i = get_global_id(0);
    const double product = x[i] * y[i];
    const double quotient = x[i] / y[i];
    r[i] = product + quotient;
}
