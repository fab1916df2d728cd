// The length or the weight of runs, from where they start.
//
//   sums[r] = ends - starts, or the sum of the weights of items starts[r] .. starts[r + 1] - 1, at most `most`
//
// `before` is the exclusive prefix sum of the weights (64 bits). The last run ends at `size`.
//
// -D WEIGHTED=0|1   1: sums of weights, else lengths
// -D SUM=uint|ulong the type of the sums
#include "common/portable.clh"

__kernel void sum_runs(__global const uint *starts, uint runs, ulong size, __global const ulong *before, ulong all, ulong most,
                       __global SUM *sums)
{
    const uint r = get_global_id(0);
    if (r >= runs)
        return;
    const uint last = r + 1 == runs;
#if WEIGHTED
    const ulong sum = (last ? all : before[starts[last ? r : r + 1]]) - before[starts[r]];
#else
    const ulong sum = (last ? size : starts[last ? r : r + 1]) - starts[r];
#endif
    sums[r] = (SUM)MIN(sum, most);
}

// Weights as 64-bit numbers, for their prefix sum.
__kernel void widen(__global const uint *weights, ulong size, __global ulong *wide)
{
    const ulong i = get_global_id(0);
    if (i < size)
        wide[i] = weights[i];
}
