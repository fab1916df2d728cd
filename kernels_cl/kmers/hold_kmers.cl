// Copies of k-mers: `size` keys and counts from `start` on, to `place` on.
//
// Layout: keys lie in WORDS channels of `stride` words, and where they go in channels of `room`. A work-item a k-mer.
//
// -D WORDS=n       words of a key
// -D COUNTS=0|1    the counts are copied, too
__kernel void hold_kmers(__global const ulong *keys, __global const uint *counts, ulong stride, ulong start, uint size,
                         ulong room, ulong place, __global ulong *to_keys, __global uint *to_counts)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    for (uint w = 0; w < WORDS; ++w)
        to_keys[w * room + place + i] = keys[w * stride + start + i];
#if COUNTS
    to_counts[place + i] = counts[start + i];
#endif
}
