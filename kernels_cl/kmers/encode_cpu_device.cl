// Sections on CPUs: first key, gaps, counts, facts and tally in one go while the section is in the cache; see vlq.cl, simple8b.cl,
// section_facts.cl and tally.cl for what they are, and section_parts.clh for how they are written.
//
// Layout: of channels of `stride` keys, `size` from `start` on are encoded. A section has `room` bytes in `out`, a multiple of 8 and at
// least 16 more than it takes; `facts` are channels of all sections. Each section has a row of TALLIED + 2 numbers in `tallies`, whose last
// one counts keys that are not greater than the one before. A work-item a section.
//
// -D WORDS=n     words of a key
// -D EVERY=n     keys of a section
// -D STRETCH=n   counts of a stretch
// -D TALLIED=n   counts from here on are large
// -D BYTES=n     of a vector
#include "kmers/section_parts.clh"
#include "kmers/siphash.clh"

static inline uint write_keys(__global uchar *out, __global const ulong *keys, ulong stride, ulong begin, ulong end, uint *wrong)
{
    __global uchar *at = out;
    Key before = load_key(keys, stride, begin);
    for (uint w = 0; w < WORDS; ++w, at += 8)
        STORE(at, before.word[w]);
    for (ulong i = begin + 1; i < end; ++i) {
        const Key key = load_key(keys, stride, i), gap = gap_between(&before, &key, wrong);
        at += write_gap(at, &gap);
        before = key;
    }
    return (uint)(at - out);
}

__kernel ALONE void encode_sections(__global const ulong *keys, __global const uint *counts, ulong stride, ulong start, uint size,
                                    ulong k0, ulong k1, ulong room, __global ulong *out, __global ulong *facts,
                                    __global uint *tallies)
{
    const uint section = get_global_id(0), sections = get_global_size(0);
    const ulong begin = start + section * EVERY, end = start + MIN((section + 1) * EVERY, size);
    __global ulong *const aligned = out + section * (room / 8);
    __global uchar *const bytes = (__global uchar *)aligned;
    __global uint *const tally = tallies + section * (TALLIED + 2);
    uint wrong = 0;
    if (section) {
        const Key before = load_key(keys, stride, begin - 1), key = load_key(keys, stride, begin);
        gap_between(&before, &key, &wrong);
    }
    const uint gap_bytes = write_keys(bytes, keys, stride, begin, end, &wrong);
    const uint words = write_counts(bytes + gap_bytes, counts, begin, end);
    STORE(bytes + gap_bytes + 8 * words, 0ul); // the checksum reads whole words
    tally_section(counts, begin, end, tally);
    tally[TALLIED + 1] = wrong;
    facts[section] = gap_bytes;
    facts[sections + section] = words;
    facts[2 * sections + section] = siphash_span(aligned, 0, gap_bytes + 8 * words, k0, k1);
    for (uint w = 0; w < WORDS; ++w) {
        facts[(3 + w) * sections + section] = keys[w * stride + begin];
        facts[(3 + WORDS + w) * sections + section] = keys[w * stride + end - 1];
    }
}
