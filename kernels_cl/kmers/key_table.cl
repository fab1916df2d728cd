// Puts k-mers into a table, see key_table.clh.
//
//   insert_keys   `size` k-mers from `start` on, of keys in channels of `stride` words: those with a count from `least` to
//                 `most`. taken[l] k-mers have asked for line l; all zero at first. A work-item a k-mer.
//
// -D WORDS=n     words of a key
// -D COUNTS=0|1  the table has the counts of the k-mers, too
#include "kmers/key_table.clh"

__kernel void insert_keys(__global const ulong *run_keys, __global const uint *run_counts, ulong stride, ulong start, uint size,
                          uint least, uint most, uint slots, __global uint *taken, __global uint *full,
                          __global ulong *keys, __global uint *poly_a
#if COUNTS
                          , __global uint *key_counts
#endif
                          )
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    const uint count = run_counts[start + i];
    if (count < least || count > most)
        return;
    ulong key[WORDS];
    for (uint w = 0; w < WORDS; ++w)
        key[w] = run_keys[w * stride + start + i];
    if (is_poly_a(key)) {
        *poly_a = count;
        return;
    }
    const uint lines = slots / LINE;
    uint line = line_of(key, lines), place = atomic_inc(&taken[line]);
    while (place >= LINE) {
        atomic_or(&full[line / 32], 1u << line % 32);
        line = next_line(line, lines);
        place = atomic_inc(&taken[line]);
    }
    const uint slot = LINE * line + place;
    for (uint w = 0; w < WORDS; ++w)
        keys[(ulong)w * slots + slot] = key[w];
#if COUNTS
    key_counts[slot] = count;
#endif
}
