// Sketches moved from one array to another, so that those of a read, or of a pair of mates, are neighbours.
//
//   copy_rows    target[(to + r) * SKETCH ..] = source[(begin + r) * SKETCH ..]       r = 0 .. rows - 1
//   place_rows   target[places[r] * SKETCH ..] = source[(begin + r) * SKETCH ..]
//
// -D SKETCH=<n>   features of a row
// -D CPU=0|1      1: a work-item moves a row; 0: a work-item moves a feature, so that neighbours write to neighbouring memory
#include "common/portable.clh"

__kernel void copy_rows(__global const uint *source, ulong begin, ulong to, ulong rows, __global uint *target)
{
    const ulong i = get_global_id(0);
#if CPU
    if (i >= rows)
        return;
    for (uint c = 0; c < SKETCH; ++c)
        target[(to + i) * SKETCH + c] = source[(begin + i) * SKETCH + c];
#else
    if (i >= rows * SKETCH)
        return;
    target[to * SKETCH + i] = source[begin * SKETCH + i];
#endif
}

__kernel void place_rows(__global const uint *source, ulong begin, __global const uint *places, ulong rows, __global uint *target)
{
    const ulong i = get_global_id(0);
#if CPU
    if (i >= rows)
        return;
    const ulong to = places[i];
    for (uint c = 0; c < SKETCH; ++c)
        target[to * SKETCH + c] = source[(begin + i) * SKETCH + c];
#else
    if (i >= rows * SKETCH)
        return;
    target[(ulong)places[i / SKETCH] * SKETCH + i % SKETCH] = source[begin * SKETCH + i];
#endif
}
