// Self-test: double precision as kernels use it, by itself and in vectors of VW lanes. runtime/idiom_values.py has the same in NumPy.
// -D ITEMS=n, -D ONLY, -D ONLY_<name>: check_scalar.cl
#include "common/portable.clh"
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define PUT(field, value) STORE_V(float, out + (field) * ITEMS + i, value)

#if !defined(ONLY) || defined(ONLY_doubles)
__kernel void doubles(__global const float *f, __global const float *g, __global float *out)
{
    const size_t i = get_global_id(0) * VW;
    const float_v a = LOAD_V(float, f + i), b = LOAD_V(float, g + i);
    PUT(0, a / CONVERT_V(float, CONVERT_V(double, b) + 0.00001));
    PUT(1, CONVERT_V(float, CONVERT_V(double, a) * CONVERT_V(double, b) - CONVERT_V(double, a)));
    PUT(2, CONVERT_V(float, (CONVERT_V(double, a) / CONVERT_V(double, b)) * 3.0));
}
#endif
