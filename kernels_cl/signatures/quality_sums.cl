// Sums of qualities, for prefix sums. What is no quality gives numbers that mean nothing, and wrap.
//
// -D SUM=uint|ulong    type of the sums
#include "signatures/quality_sums.clh"

// out[i]: the quality of byte i of a text, without its offset of 33, for i < size; out[size] = 0.
__kernel void widen_qualities(__global const uchar *memory, ulong skip, ulong size, __global SUM *out)
{
    const ulong i = get_global_id(0);
    if (i <= size)
        out[i] = i < size ? (SUM)memory[skip + i] - 33 : 0;
}

// out[g]: the sum of the bytes of group g of a text. Behind the text there are bytes of 0.
__kernel void sum_groups(__global const uchar *memory, ulong skip, uint size, uint groups, __global SUM *out)
{
    const uint g = get_global_id(0);
    if (g < groups)
        out[g] = sum_bytes(memory + skip, g * GROUP, MIN(GROUP, size - g * GROUP), size);
}
