// The windows of k letters of a stream of symbols: which there are, and their k-mers.
//
//   find_windows      starts[g]: a bit for each of the 32 symbols of group g, the first one highest: k letters begin here
//   count_prefixes    how many k-mers have each prefix of `bits` bits
//   select_windows    of `starts` those whose k-mer has a prefix in [low, high)
//   count_starts      their numbers, whose scan says where the k-mers of a group go
//   write_kmers       keys[w * stride + place]: word w of each k-mer
//
// -D WORDS=n       words of a k-mer
// -D CANONICAL=0|1 the lesser of a k-mer and its reverse complement
// -D CPU=0|1       1: write_kmers gets a work-item a stretch of `each` groups; else a work-item a symbol
#include "common/portable.clh"
#include "kmers/kmer.clh"

#define HIGHEST 0x80000000u

__kernel void find_windows(__global const uint *valid, uint groups, uint k, __global uint *starts)
{
    const uint g = get_global_id(0);
    if (g >= groups)
        return;
    // where the run of letters that reaches the end of the group ends
    const uint whole = groups * 32;
    uint end = 32 * (g + 1);
    while (end < whole && end < 32 * g + 32 + k) {
        const uint word = valid[end / 32];
        if (word == ~0u) {
            end += 32;
        } else {
            for (uint bit = HIGHEST; word & bit; bit >>= 1)
                ++end;
            break;
        }
    }
    const uint letters = valid[g];
    uint found = 0;
    for (uint i = 32; i-- > 0;) {
        const uint at = 32 * g + i;
        if (!(letters & HIGHEST >> i))
            end = at;
        if (end >= at + k)
            found |= HIGHEST >> i;
    }
    starts[g] = found;
}

__kernel void count_starts(__global const uint *starts, uint groups, __global uint *counts)
{
    const uint g = get_global_id(0);
    if (g < groups)
        counts[g] = POPCOUNT(starts[g]);
}

__kernel void count_prefixes(__global const uint *codes, __global const uint *starts, uint groups, uint k, uint bits,
                             __global uint *counts)
{
    const uint g = get_global_id(0);
    if (g >= groups)
        return;
    for (uint left = starts[g], i = 0; left; left <<= 1, ++i)
        if (left & HIGHEST) {
            ulong key[WORDS];
            cut_kmer(codes, 32 * g + i, k, CANONICAL, key);
            atomic_inc(&counts[prefix_of(key, k, bits)]);
        }
}

__kernel void select_windows(__global const uint *codes, __global const uint *starts, uint groups, uint k, uint bits, uint low,
                             uint high, __global uint *selected)
{
    const uint g = get_global_id(0);
    if (g >= groups)
        return;
    uint found = 0;
    for (uint left = starts[g], i = 0; left; left <<= 1, ++i)
        if (left & HIGHEST) {
            ulong key[WORDS];
            cut_kmer(codes, 32 * g + i, k, CANONICAL, key);
            const uint prefix = prefix_of(key, k, bits);
            if (prefix >= low && prefix < high)
                found |= HIGHEST >> i;
        }
    selected[g] = found;
}

#if CPU

__kernel void write_kmers(__global const uint *codes, __global const uint *starts, __global const uint *places, uint groups,
                          uint each, uint k, ulong stride, ulong first, __global ulong *keys)
{
    const uint end = MIN((get_global_id(0) + 1) * each, groups);
    for (uint g = get_global_id(0) * each; g < end; ++g) {
        ulong place = first + places[g];
        for (uint left = starts[g], i = 0; left; left <<= 1, ++i)
            if (left & HIGHEST) {
                ulong key[WORDS];
                cut_kmer(codes, 32 * g + i, k, CANONICAL, key);
                for (uint w = 0; w < WORDS; ++w)
                    keys[w * stride + place] = key[w];
                ++place;
            }
    }
}

#else

__kernel void write_kmers(__global const uint *codes, __global const uint *starts, __global const uint *places, uint groups,
                          uint each, uint k, ulong stride, ulong first, __global ulong *keys)
{
    const uint at = get_global_id(0), g = at / 32, bit = HIGHEST >> at % 32;
    if (g >= groups || !(starts[g] & bit))
        return;
    ulong key[WORDS];
    cut_kmer(codes, at, k, CANONICAL, key);
    // the bits above this one are the windows that start before it
    const ulong place = first + places[g] + POPCOUNT(starts[g] & ~(bit | (bit - 1)));
    for (uint w = 0; w < WORDS; ++w)
        keys[w * stride + place] = key[w];
}

#endif
