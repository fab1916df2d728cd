// Sections of a database back to keys and counts; see section_walk.clh for the layout, and encode_cpu_device.cl, vlq.cl and simple8b.clh
// for what sections are made of.
//
//   check_sections    whether the checksums are right; CPUs hash a section in each lane of their vectors
//   decode_sections   the keys and counts of those whose checksum is; a work-item takes `each` sections
//
// -D WORDS=n   words of a key
// -D CPU=0|1   1: words may be loaded from anywhere
#include "kmers/section_lanes.clh"
#include "kmers/siphash.clh"

// Decode the counts; whether that was possible.
static inline uint read_counts(__global const ulong *data, ulong at, uint words, uint kmers, __global uint *counts)
{
    uint place = 0;
    for (uint i = 0; i < words; ++i, at += 8) {
        const CountWord some = count_word(data, at);
        if (!is_sound(&some, kmers - place))
            return 0;
        for (uint j = 0; j < some.held; ++j)
            counts[place + j] = count_at(&some, j);
        place += some.held;
    }
    return place == kmers;
}

__kernel void check_sections(__global const ulong *data, __global const ulong *table, uint sections, ulong k0, ulong k1,
                             __global uint *status)
{
    const uint section = get_global_id(0);
    if (section >= sections)
        return;
    const uint bytes = (uint)table[sections + section] + 8 * (uint)table[2 * sections + section];
    status[section] = siphash_span(data, table[section], bytes, k0, k1) != table[3 * sections + section];
}

// Decode up to TOGETHER sections.
static inline void decode_few(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride,
                              uint sections, uint first, uint few, __global ulong *keys, __global uint *counts, __global uint *status)
{
    Walk walks[TOGETHER];
    start_walks(data, table, limits, sections, first, few, status, walks);
    UNROLL
    for (uint t = 0; t < TOGETHER; ++t)
        if (walks[t].kmers)
            put_key(&walks[t], keys, stride, walks[t].begin);
    const uint longest = longest_of(walks);
    for (uint i = 1; i < longest; ++i) {
        UNROLL
        for (uint t = 0; t < TOGETHER; ++t)
            if (i < walks[t].kmers) {
                go_to_next(data, &walks[t]);
                put_key(&walks[t], keys, stride, walks[t].begin + i);
            }
    }
    UNROLL
    for (uint t = 0; t < TOGETHER; ++t)
        if (walks[t].kmers) {
            const uint words = table[2 * sections + first + t];
            const uint fine = ends_well(&walks[t], limits, sections, first + t) &&
                              read_counts(data, walks[t].end, words, walks[t].kmers, counts + walks[t].begin);
            status[first + t] = fine ? 0 : 2;
        }
}

#if WIDE
// Decode WIDE sections; whether all are sound and nothing about them is rare.
static inline uint decode_lanes(__global const ulong *data, __global const ulong *table, __global const ulong *limits, uint sections,
                                uint first, __global ulong *keys, __global uint *counts)
{
    const uint kmers = table[4 * sections + first];
    const ulong begin = table[5 * sections + first];
    Lanes lanes = start_lanes(data, table, limits, sections, first);
    for (uint i = 0;; ++i) {
        PUT_LANES(lanes.key, keys + begin + i, kmers);
        if (i + 1 == kmers)
            break;
        go_on_in_lanes(data, &lanes);
    }
    uint fine = lanes_end_well(&lanes, limits, sections, first);
    for (uint t = 0; fine && t < WIDE; ++t) {
        const uint words = table[2 * sections + first + t];
        fine = read_counts(data, table[first + t] + table[sections + first + t], words, kmers, counts + begin + t * kmers);
    }
    return fine;
}
#endif

__kernel ALONE
void decode_sections(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride, uint sections,
                     uint each, __global ulong *keys, __global uint *counts, __global uint *status)
{
    uint first = get_global_id(0) * each;
    const uint last = MIN(first + each, sections);
    while (first < last) {
#if WIDE
        if (are_alike(table, last, sections, first, status) && decode_lanes(data, table, limits, sections, first, keys, counts)) {
            first += WIDE;
            continue;
        }
#endif
        const uint few = MIN(TOGETHER, last - first);
        decode_few(data, table, limits, stride, sections, first, few, keys, counts, status);
        first += few;
    }
}
