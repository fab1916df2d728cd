// Qualities as numbers, for prefix sums. What is no quality gives numbers that mean nothing, and wrap.
//
// -D SUM=uint|ulong    type of the sums
#include "common/portable.clh"

// out[i]: the quality of byte i of a text, without its offset of 33, for i < size; out[size] = 0.
__kernel void widen_qualities(__global const uchar *memory, ulong skip, ulong size, __global SUM *out)
{
    const ulong i = get_global_id(0);
    if (i <= size)
        out[i] = i < size ? (SUM)memory[skip + i] - 33 : 0;
}
