// Hash many byte strings or numbers with SipHash-2-4, one work-item each.
#include "common/hash.clh"

// bytes: all strings one after the other; string i is bytes[offsets[i]] to bytes[offsets[i + 1] - 1].
__kernel void hash_strings(
    __global const uchar *bytes, __global const ulong *offsets, ulong k0, ulong k1, uint count, __global ulong *hashes)
{
    const size_t i = get_global_id(0);
    if (i < count)
        hashes[i] = siphash_bytes(bytes + offsets[i], offsets[i + 1] - offsets[i], k0, k1);
}

__kernel void hash_numbers(__global const ulong *numbers, ulong k0, ulong k1, uint count, __global ulong *hashes)
{
    const size_t i = get_global_id(0);
    if (i < count)
        hashes[i] = siphash_u64(numbers[i], k0, k1);
}
