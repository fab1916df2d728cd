// Makes a table of k-mers, see key_table.clh.
//
//   find_prefixes   starts: where the keys with each prefix begin among `size` ascending ones; one more entry is `size`. A work-item
//                   takes `each` prefixes. It goes on from one to the next in steps that double, so that any keys take few of them.
//   choose_kmers    flags[i] = 1 for the k-mers with a count from `least` to `most` and, with MARKS, a mark; else 0. A work-item a
//                   k-mer.
//
// -D WORDS=n     words of a key
// -D MARKS=0|1   marks are asked for
#define BATCH 1
#include "kmers/key_table.clh"

static inline void read_key(__global const ulong *keys, ulong stride, ulong place, ulong *key)
{
    for (uint w = 0; w < WORDS; ++w)
        key[w] = keys[w * stride + place];
}

static inline uint prefix_at(__global const ulong *keys, ulong stride, uint place, uint k, uint bits)
{
    ulong key[WORDS];
    read_key(keys, stride, place, key);
    return prefix_of(key, k, bits);
}

__kernel void find_prefixes(__global const ulong *keys, ulong stride, uint size, uint k, uint bits, uint each, __global uint *starts)
{
    const uint prefixes = 1u << bits, begin = MIN((ulong)get_global_id(0) * each, (ulong)prefixes);
    const uint last = MIN((ulong)begin + each, (ulong)prefixes);
    if (begin == 0)
        starts[prefixes] = size;
    uint low = 0; // all keys before it have prefixes that are less
    for (uint prefix = begin; prefix < last; ++prefix) {
        uint step = prefix == begin ? size : 1;
        while (step < size - low && prefix_at(keys, stride, low + step - 1, k, bits) < prefix) {
            low += step;
            step *= 2;
        }
        uint high = low + MIN(step, size - low);
        while (low < high) {
            const uint middle = low + (high - low) / 2;
            if (prefix_at(keys, stride, middle, k, bits) < prefix)
                low = middle + 1;
            else
                high = middle;
        }
        starts[prefix] = low;
    }
}

__kernel void choose_kmers(__global const ulong *keys, __global const uint *counts, ulong stride, uint size, uint k, uint bits,
                           uint least, uint most, __global const uint *marks, __global uchar *flags)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    const uint count = counts[i];
    uint chosen = count >= least && count <= most;
#if MARKS
    ulong key[WORDS];
    read_key(keys, stride, i, key);
    const uint mark = mark_of(key, k, bits);
    chosen &= BIT_OF(marks, mark);
#endif
    flags[i] = chosen;
}
