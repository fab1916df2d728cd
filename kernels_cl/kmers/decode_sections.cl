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

typedef struct {
    __global ulong *keys;
    ulong stride;
    __global uint *counts;
} Output;

static inline uint take_key(const Output *out, const Walk *walk, uint i, uint taken)
{
    put_key(walk, out->keys, out->stride, walk->begin + i);
    return taken + 1;
}

#if WIDE
static inline void take_lanes(const Output *out, const Lanes *lanes, ulong place, uint apart, uint i, uint *taken)
{
    PUT_LANES(lanes->key, out->keys + place + i, apart);
}
#endif

static inline uint take_counts(const Output *out, const Sections *all, uint section, uint taken)
{
    const uint words = count_words_of(all, section), kmers = kmers_of(all, section);
    __global uint *counts = out->counts + begin_of(all, section);
    ulong at = counts_from(all, section);
    uint place = 0;
    for (uint i = 0; i < words; ++i, at += 8) {
        const CountWord some = count_word(all->data, at);
        if (!is_sound(&some, kmers - place))
            return 0;
        for (uint j = 0; j < some.held; ++j)
            counts[place + j] = count_at(&some, j);
        place += some.held;
    }
    return place == kmers;
}

#include "kmers/section_loop.clh"

__kernel void check_sections(__global const ulong *data, __global const ulong *table, uint sections, ulong k0, ulong k1,
                             __global uint *status)
{
    const uint section = get_global_id(0);
    if (section >= sections)
        return;
    const uint bytes = (uint)table[sections + section] + 8 * (uint)table[2 * sections + section];
    status[section] = siphash_span(data, table[section], bytes, k0, k1) != table[3 * sections + section];
}

__kernel ALONE
void decode_sections(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride, uint sections,
                     uint each, __global ulong *keys, __global uint *counts, __global uint *status)
{
    const Sections all = {data, table, limits, status, sections};
    const Output out = {keys, stride, counts};
    decode_each(&all, &out, each);
}
