// Sections of a database back to those keys and counts that have a mark (key_table.clh), and few others; see section_walk.clh for the
// layout. A key is looked at while it is in registers, and other keys are never in memory.
//
//   decode_marked   kept[s]: k-mers that stay of section s, from the place of its first one on, in order. All keys and counts are
//                   decoded and checked. For sections whose checksum is right; a work-item takes `each` sections
//   join_marked     what stays of all sections, one behind the other, in channels of `to_stride`. `spans` has three channels: where
//                   the k-mers of a section begin, where they go, and how many stay. A work-item a section
//
// -D WORDS=n   words of a key
// -D CPU=0|1   1: words may be loaded from anywhere
#define BATCH 1
#include "kmers/key_table.clh"
#include "kmers/section_lanes.clh"

typedef struct {
    __global ulong *keys;
    ulong stride;
    __global uint *counts, *kept;
    __global const uint *marks;
    uint k, bits;
} Output;

// Put a section's key behind those that stay; the next one takes its place unless it stays, too. Its number in the section goes where
// its count will.
static inline uint take_key(const Output *out, const Walk *walk, uint i, uint taken)
{
    const uint mark = mark_of(walk->key.word, out->k, out->bits);
    put_key(walk, out->keys, out->stride, walk->begin + taken);
    out->counts[walk->begin + taken] = i;
    return taken + BIT_OF(out->marks, mark);
}

#if WIDE
static inline void take_lanes(const Output *out, const Lanes *lanes, ulong place, uint apart, uint i, uint *taken)
{
    const ulong8 key = lanes->key;
    const ulong8 at = key >> (2 * out->k - out->bits) << MARK_BITS | (key * MARK_FACTOR) >> (64 - MARK_BITS);
    __global const uint *marks = out->marks;
    const ulong8 word = (ulong8)(marks[at.s0 >> 5], marks[at.s1 >> 5], marks[at.s2 >> 5], marks[at.s3 >> 5], marks[at.s4 >> 5],
                                 marks[at.s5 >> 5], marks[at.s6 >> 5], marks[at.s7 >> 5]);
    const ulong8 marked = word >> (at & 31) & 1;
    if (!any_lane(as_long8(marked)))
        return;
    ulong some[WIDE], held[WIDE];
    PUT_LANES(marked, some, 1);
    PUT_LANES(key, held, 1);
    for (uint t = 0; t < WIDE; ++t)
        if (some[t]) {
            const ulong to = place + t * apart + taken[t]++;
            out->keys[to] = held[t];
            out->counts[to] = i;
        }
}
#endif

// Decode the counts of the keys that stay, whose numbers are there.
static inline uint take_counts(const Output *out, const Sections *all, uint section, uint taken)
{
    const uint words = count_words_of(all, section), kmers = kmers_of(all, section);
    __global uint *counts = out->counts + begin_of(all, section);
    ulong at = counts_from(all, section);
    uint place = 0, done = 0;
    out->kept[section] = taken;
    for (uint i = 0; i < words; ++i, at += 8) {
        const CountWord some = count_word(all->data, at);
        if (!is_sound(&some, kmers - place))
            return 0;
        for (; done < taken && counts[done] < place + some.held; ++done)
            counts[done] = count_at(&some, counts[done] - place);
        place += some.held;
    }
    return place == kmers;
}

#include "kmers/section_loop.clh"

__kernel ALONE
void decode_marked(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride, uint sections,
                   uint each, uint k, uint bits, __global const uint *marks, __global ulong *keys, __global uint *counts,
                   __global uint *kept, __global uint *status)
{
    const Sections all = {data, table, limits, status, sections};
    const Output out = {keys, stride, counts, kept, marks, k, bits};
    decode_each(&all, &out, each);
}

__kernel void join_marked(__global const ulong *spans, uint sections, ulong stride, __global const ulong *keys,
                          __global const uint *counts, ulong to_stride, __global ulong *to_keys, __global uint *to_counts)
{
    const uint section = get_global_id(0);
    if (section >= sections)
        return;
    const ulong begin = spans[section], place = spans[sections + section], kept = spans[2 * sections + section];
    for (ulong i = 0; i < kept; ++i) {
        for (uint w = 0; w < WORDS; ++w)
            to_keys[w * to_stride + place + i] = keys[w * stride + begin + i];
        to_counts[place + i] = counts[begin + i];
    }
}
