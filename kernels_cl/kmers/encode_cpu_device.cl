// Sections on CPUs: first key, gaps, counts, facts and tally in one go while the section is in the cache; see vlq.cl, simple8b.cl,
// section_facts.cl and tally.cl for what they are. Processors have to be little-endian, as all are that OpenCL runs on.
//
// Gaps are taken apart into limbs of 56 bits, which 8 bytes hold: each 7 bits move to a byte of their own by three masks and shifts.
// 8 bytes are written whatever a number takes, and what is too much is written over.
//
// Layout: of channels of `stride` keys, `size` from `start` on are encoded. A section has `room` bytes in `out`, a multiple of 8 and at
// least 16 more than it takes; `facts` are channels of all sections. Each section has a row of TALLIED + 2 numbers in `tallies`, whose last
// one counts keys that are not greater than the one before. A work-item a section.
//
// -D WORDS=n     words of a key
// -D EVERY=n     keys of a section
// -D STRETCH=n   counts of a stretch
// -D TALLIED=n   counts from here on are large
#include "kmers/simple8b.clh"
#include "kmers/siphash.clh"
#include "kmers/vlq.clh"

#define STORE(p, value) (*(__global ulong_anywhere *)(p) = (value))

#define LIMB_BITS 56
#define LIMBS CEIL_DIV(64 * WORDS, LIMB_BITS)
#define LAST 0x80ul               // that of a number's last byte
#define TABLES 4                  // equal counts in turn would wait for each other

static inline ulong limb_of(const Key *key, uint j)
{
    const uint w = LIMB_BITS * j / 64, shift = LIMB_BITS * j % 64;
    ulong bits = key->word[w] >> shift;
    if (shift > 64 - LIMB_BITS && w + 1 < WORDS)
        bits |= key->word[w + 1] << (64 - shift);
    return bits & ((1ul << LIMB_BITS) - 1);
}

// Half of the bits that are still together move: 56 bits become 2 x 28, 4 x 14 and 8 x 7.
static inline ulong spread(ulong x)
{
    x = (x & 0x000000000ffffffful) | (x & 0x00fffffff0000000ul) << 4;
    x = (x & 0x00003fff00003ffful) | (x & 0x0fffc0000fffc000ul) << 2;
    return (x & 0x007f007f007f007ful) | (x & 0x3f803f803f803f80ul) << 1;
}

// Write a number; return how many bytes it takes.
static inline uint write_gap(__global uchar *at, const Key *gap)
{
    uint bytes = 0;
#pragma unroll
    for (uint j = LIMBS; j-- > 0;) {
        const ulong limb = limb_of(gap, j), code = turn_bytes(spread(limb) | (j ? MORE : MORE ^ LAST));
        if (bytes) {
            STORE(at + bytes, code);
            bytes += 8;
        } else if (limb || j == 0) {
            bytes = CEIL_DIV(bits_of(limb), 7);
            STORE(at, code >> (64 - 8 * bytes));
        }
    }
    return bytes;
}

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

static inline uint write_counts(__global uchar *out, __global const uint *counts, ulong begin, ulong end)
{
    uint words = 0;
    for (ulong from = begin; from < end; from += STRETCH) {
        const ulong to = MIN(from + STRETCH, end);
        for (ulong place = from; place < to; ++words) {
            const uint selector = select_word(counts, place, to);
            STORE(out + 8 * words, pack_word(counts, place, selector));
            place += SIZES[selector];
        }
    }
    return words;
}

static inline void tally_section(__global const uint *counts, ulong begin, ulong end, __global uint *tally)
{
    uint few[TABLES][TALLIED + 1];
    for (uint t = 0; t < TABLES; ++t)
        for (uint c = 0; c <= TALLIED; ++c)
            few[t][c] = 0;
    for (ulong i = begin; i < end; ++i)
        ++few[i % TABLES][MIN(counts[i], TALLIED)];
    for (uint c = 0; c <= TALLIED; ++c) {
        tally[c] = few[0][c];
        for (uint t = 1; t < TABLES; ++t)
            tally[c] += few[t][c];
    }
}

__kernel void encode_sections(__global const ulong *keys, __global const uint *counts, ulong stride, ulong start, uint size,
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
