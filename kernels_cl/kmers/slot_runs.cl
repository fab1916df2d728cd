// Slots as keys and counts: `size` k-mers from k-mer `start` of all on, to `place` on.
//
// Layout: see slot_key.clh for slots; keys go to WORDS channels of `room` words, the least significant first. A work-item EACH k-mers.
//
// -D SLOT_WORDS=n   words of a slot
// -D WORDS=n        words of a k-mer
// -D EACH=n         k-mers of a work-item
#include "kmers/slot_key.clh"

__kernel ALONE void expand_slots(__global const ulong *words, __global const ulong *table, __global const uint *larges,
                                 __global const ulong *shape, ulong start, uint size, ulong room, ulong place, __global ulong *keys,
                                 __global uint *counts)
{
    const ulong stride = shape[0];
    const uint rest = (uint)shape[1], count_bits = (uint)shape[2], bins = (uint)shape[3], large = (uint)shape[4];
    __global const ulong *const starts = table, *const heads = table + bins + 1, *const begins = heads + bins;
    const ulong first = (ulong)get_global_id(0) * EACH;
    if (first >= size)
        return;
    const ulong begin = start + first, end = start + MIN(first + EACH, size);
    ulong at = begin, to = place + first;
    for (uint bin = bin_of(starts, bins, begin); at < end; ++bin) {
        const Key head = key_of_head(heads[bin], rest);
        const ulong slot = begins[bin] + (at - starts[bin]);
        const uint kmers = (uint)(MIN(starts[bin + 1], end) - at);
        for (uint i = 0; i < kmers; ++i) {
            const Key key = key_of_slot(words, stride, slot + i, &head, rest, count_bits);
            for (uint w = 0; w < WORDS; ++w)
                keys[w * room + to + i] = key.word[w];
            counts[to + i] = (uint)(words[slot + i] & ((1ul << count_bits) - 1));
        }
        put_large(counts + to, slot, kmers, larges, larges + large, large);
        at += kmers;
        to += kmers;
    }
}
