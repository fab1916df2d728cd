// Probe: the helpers of common/bits.clh and common/portable.clh, five results for each word.
#include "common/bits.clh"

__kernel void probe_bits(__global const ulong *words, __global ulong *results)
{
    const size_t i = get_global_id(0);
    const ulong word = words[i];
    const uint low = (uint)word;
    results[5 * i] = (ulong)POPCOUNT64(word) << 32 | POPCOUNT(low);
    results[5 * i + 1] = lowest_bit32(low);
    results[5 * i + 2] = lowest_bit64(word);
    results[5 * i + 3] = reverse_bits64(word);
    results[5 * i + 4] = LOW_BITS64(word % 65);
}

// results[i] = population count of words[i + 1]: vectors loaded one element off their natural alignment.
__kernel void probe_vectors(__global const uint *words, __global uint *results)
{
    const size_t i = get_global_id(0) * VW;
    const uint_v lanes = LOAD_V(uint, words + i + 1);
    STORE_V(uint, results + i, POPCOUNT_V(lanes));
}
