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

// Put a section's key behind those that stay; the next one takes its place unless it stays, too. Its number in the section goes where
// its count will.
static inline uint keep_marked(const Walk *walk, uint number, uint kept, uint k, uint bits, __global const uint *marks,
                               __global ulong *keys, ulong stride, __global uint *counts)
{
    const uint mark = mark_of(walk->key.word, k, bits);
    put_key(walk, keys, stride, walk->begin + kept);
    counts[walk->begin + kept] = number;
    return kept + BIT_OF(marks, mark);
}

// Decode the counts of the `kept` k-mers whose numbers are there; whether all of the section were sound.
static inline uint read_kept(__global const ulong *data, ulong at, uint words, uint kmers, uint kept, __global uint *counts)
{
    uint place = 0, done = 0;
    for (uint i = 0; i < words; ++i, at += 8) {
        const CountWord some = count_word(data, at);
        if (!is_sound(&some, kmers - place))
            return 0;
        for (; done < kept && counts[done] < place + some.held; ++done)
            counts[done] = count_at(&some, counts[done] - place);
        place += some.held;
    }
    return place == kmers;
}

// Decode up to TOGETHER sections.
static inline void keep_few(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride,
                            uint sections, uint first, uint few, uint k, uint bits, __global const uint *marks, __global ulong *keys,
                            __global uint *counts, __global uint *kept, __global uint *status)
{
    Walk walks[TOGETHER];
    uint stay[TOGETHER];
    start_walks(data, table, limits, sections, first, few, status, walks);
    UNROLL
    for (uint t = 0; t < TOGETHER; ++t)
        stay[t] = walks[t].kmers ? keep_marked(&walks[t], 0, 0, k, bits, marks, keys, stride, counts) : 0;
    const uint longest = longest_of(walks);
    for (uint i = 1; i < longest; ++i) {
        UNROLL
        for (uint t = 0; t < TOGETHER; ++t)
            if (i < walks[t].kmers) {
                go_to_next(data, &walks[t]);
                stay[t] = keep_marked(&walks[t], i, stay[t], k, bits, marks, keys, stride, counts);
            }
    }
    UNROLL
    for (uint t = 0; t < TOGETHER; ++t)
        if (walks[t].kmers) {
            const uint words = table[2 * sections + first + t];
            const uint fine = ends_well(&walks[t], limits, sections, first + t) &&
                              read_kept(data, walks[t].end, words, walks[t].kmers, stay[t], counts + walks[t].begin);
            status[first + t] = fine ? 0 : 2;
            kept[first + t] = stay[t];
        }
}

#if WIDE
// Decode WIDE sections; whether all are sound and nothing about them is rare.
static inline uint keep_in_lanes(__global const ulong *data, __global const ulong *table, __global const ulong *limits, uint sections,
                                 uint first, uint k, uint bits, __global const uint *marks, __global ulong *keys,
                                 __global uint *counts, __global uint *kept)
{
    const uint kmers = table[4 * sections + first];
    const ulong begin = table[5 * sections + first];
    Lanes lanes = start_lanes(data, table, limits, sections, first);
    uint stay[WIDE] = {0};
    for (uint i = 0;; ++i) {
        const ulong8 at = lanes.key >> (2 * k - bits) << MARK_BITS | (lanes.key * MARK_FACTOR) >> (64 - MARK_BITS);
        const ulong8 word = (ulong8)(marks[at.s0 >> 5], marks[at.s1 >> 5], marks[at.s2 >> 5], marks[at.s3 >> 5], marks[at.s4 >> 5],
                                     marks[at.s5 >> 5], marks[at.s6 >> 5], marks[at.s7 >> 5]);
        const ulong8 marked = word >> (at & 31) & 1;
        if (any_lane(as_long8(marked))) {
            ulong some[WIDE], held[WIDE];
            PUT_LANES(marked, some, 1);
            PUT_LANES(lanes.key, held, 1);
            for (uint t = 0; t < WIDE; ++t)
                if (some[t]) {
                    const ulong place = begin + t * kmers + stay[t]++;
                    keys[place] = held[t];
                    counts[place] = i;
                }
        }
        if (i + 1 == kmers)
            break;
        go_on_in_lanes(data, &lanes);
    }
    uint fine = lanes_end_well(&lanes, limits, sections, first);
    for (uint t = 0; fine && t < WIDE; ++t) {
        const uint words = table[2 * sections + first + t];
        kept[first + t] = stay[t];
        fine = read_kept(data, table[first + t] + table[sections + first + t], words, kmers, stay[t], counts + begin + t * kmers);
    }
    return fine;
}
#endif

__kernel ALONE
void decode_marked(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride, uint sections,
                   uint each, uint k, uint bits, __global const uint *marks, __global ulong *keys, __global uint *counts,
                   __global uint *kept, __global uint *status)
{
    uint first = get_global_id(0) * each;
    const uint last = MIN(first + each, sections);
    while (first < last) {
#if WIDE
        if (are_alike(table, last, sections, first, status) &&
            keep_in_lanes(data, table, limits, sections, first, k, bits, marks, keys, counts, kept)) {
            first += WIDE;
            continue;
        }
#endif
        const uint few = MIN(TOGETHER, last - first);
        keep_few(data, table, limits, stride, sections, first, few, k, bits, marks, keys, counts, kept, status);
        first += few;
    }
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
