// Puts k-mers into a table, see key_table.clh.
//
//   insert_keys   `size` k-mers from `start` on, of keys in channels of `stride` words: those with a count from `least` to
//                 `most`. taken[l] k-mers have asked for line l; all zero at first. A work-item takes `each` k-mers, of which
//                 it asks for the lines of BATCH before it needs them.
//
// -D WORDS=n     words of a key
// -D COUNTS=0|1  the table has the counts of the k-mers, too
// -D BATCH=n     k-mers that are put in together
#include "kmers/key_table.clh"

static inline void read_key(__global const ulong *run_keys, ulong stride, ulong place, ulong *key)
{
    for (uint w = 0; w < WORDS; ++w)
        key[w] = run_keys[w * stride + place];
}

__kernel void insert_keys(__global const ulong *run_keys, __global const uint *run_counts, ulong stride, ulong start, uint size,
                          uint each, uint least, uint most, uint slots, __global uint *taken, __global uint *full,
                          __global ulong *keys, __global uint *poly_a
#if COUNTS
                          , __global uint *key_counts
#endif
                          )
{
    const uint begin = MIN((uint)get_global_id(0) * each, size), last = MIN(begin + each, size), line_count = slots / LINE;
    ulong key[WORDS];
    uint lines[BATCH];
    for (uint at = begin; at < last; at += BATCH) {
        const uint some = MIN((uint)BATCH, last - at);
        for (uint i = 0; i < some; ++i) {
            read_key(run_keys, stride, start + at + i, key);
            lines[i] = line_of(key, line_count);
            COME(taken + lines[i]);
            COME(keys + (ulong)LINE * lines[i]);
#if COUNTS
            COME(key_counts + (ulong)LINE * lines[i]);
#endif
        }
        for (uint i = 0; i < some; ++i) {
            const uint count = run_counts[start + at + i];
            if (count < least || count > most)
                continue;
            read_key(run_keys, stride, start + at + i, key);
            if (is_poly_a(key)) {
                *poly_a = count;
                continue;
            }
            uint line = lines[i], place = atomic_inc(&taken[line]);
            while (place >= LINE) {
                atomic_or(&full[line / 32], 1u << line % 32);
                line = next_line(line, line_count);
                place = atomic_inc(&taken[line]);
            }
            const uint slot = LINE * line + place;
            for (uint w = 0; w < WORDS; ++w)
                keys[(ulong)w * slots + slot] = key[w];
#if COUNTS
            key_counts[slot] = count;
#endif
        }
    }
}
