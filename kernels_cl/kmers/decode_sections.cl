// Sections of a database back to keys and counts; see encode_cpu_device.cl, vlq.cl and simple8b.clh for what they are made of.
//
//   status[s] = 0: fine, 1: the checksum differs, 2: the bytes are no such section, or its keys do not lie where they have to;
//   keys and counts are undefined then
//
//   check_sections    whether the checksums are right; CPUs hash a section in each lane of their vectors
//   decode_sections   the keys and counts of those whose checksum is
//
// 8 bytes of a gap are looked at together: the first one without its high bit ends the number, and what 7 bits each has move together
// by three masks and shifts.
//
// Layout: `data` are the little-endian words of all bytes, and one more behind them. `table` has six channels of all sections: where
// each starts, the bytes of its first key and gaps, its words of counts, its checksum, its k-mers, and the place of its first k-mer
// among all. `limits` has WORDS channels of the first key that each section has to have, and WORDS more of the greatest that it may
// have. Keys go to channels of `stride`. A work-item a section.
//
// -D WORDS=n   words of a key
// -D CPU=0|1   1: words may be loaded from anywhere
#include "kmers/simple8b.clh"
#include "kmers/siphash.clh"
#include "kmers/vlq.clh"

#define ONES 0x0101010101010101ul
#define MAX_BYTES CEIL_DIV(64 * WORDS, 7)
#define TOP_BITS (64 * WORDS - 7 * (MAX_BYTES - 1)) // that the first of so many bytes may have

// 8 bytes from anywhere on.
static inline ulong bytes_from(__global const ulong *data, ulong at)
{
#if CPU
    return *(__global const ulong_anywhere *)((__global const uchar *)data + at);
#else
    const uint low = at % 8 * 8;
    return data[at / 8] >> low | data[at / 8 + 1] << 1 << (63 - low);
#endif
}

static inline ulong squeeze(ulong x)
{
    x = (x & 0x007f007f007f007ful) | (x & 0x7f007f007f007f00ul) >> 1;
    x = (x & 0x00003fff00003ffful) | (x & 0x3fff00003fff0000ul) >> 2;
    return (x & 0x000000000ffffffful) | (x & 0x0fffffff00000000ul) >> 4;
}

// The number at `at`; return its bytes, or 0 where it takes more than a key can or than there are.
static inline uint read_gap(__global const ulong *data, ulong at, ulong end, Key *gap)
{
    uint bytes = 0;
#pragma unroll
    for (uint w = 0; w < WORDS; ++w)
        gap->word[w] = 0;
    while (at + bytes < end && bytes < MAX_BYTES) {
        const ulong next = bytes_from(data, at + bytes), ends = ~next & MORE, first = ends & (0 - ends);
        const uint taken = ((first - 1) & ONES) * ONES >> 56; // bytes up to the first end, or 8
        const ulong part = squeeze(turn_bytes(next) >> (64 - 8 * taken));
#pragma unroll
        for (uint w = WORDS; w-- > 1;)
            gap->word[w] = gap->word[w] << 7 * taken | gap->word[w - 1] >> (64 - 7 * taken);
        gap->word[0] = gap->word[0] << 7 * taken | part;
        bytes += taken;
        if (ends)
            return bytes < MAX_BYTES || (bytes == MAX_BYTES && !((bytes_from(data, at) & 127) >> TOP_BITS)) ? bytes : 0;
    }
    return 0;
}

static inline uint add_gap(Key *key, const Key *gap)
{
    const Key before = *key;
    uint wrong = 0;
    ulong carry = 0;
#pragma unroll
    for (uint w = 0; w < WORDS; ++w) {
        const ulong sum = key->word[w] + gap->word[w], all = sum + carry;
        carry = (sum < key->word[w]) | (all < sum);
        key->word[w] = all;
    }
    gap_between(&before, key, &wrong);
    return wrong;
}

// Decode the keys, of which the first one has to be `least` and none may be greater than `greatest`; whether that was possible.
static inline uint read_keys(__global const ulong *data, ulong at, ulong end, ulong begin, uint kmers, ulong stride,
                             const Key *least, const Key *greatest, __global ulong *keys)
{
    Key key;
    uint differs = 0;
    for (uint w = 0; w < WORDS; ++w, at += 8) {
        key.word[w] = bytes_from(data, at);
        keys[w * stride + begin] = key.word[w];
        differs |= key.word[w] != least->word[w];
    }
    uint wrong = differs;
    for (uint i = 1; i < kmers; ++i) {
        Key gap;
        const uint bytes = read_gap(data, at, end, &gap);
        if (!bytes)
            return 0;
        wrong += add_gap(&key, &gap);
        at += bytes;
        for (uint w = 0; w < WORDS; ++w)
            keys[w * stride + begin + i] = key.word[w];
    }
    uint greater = 0;
    for (uint w = 0; w < WORDS; ++w)
        greater = (key.word[w] > greatest->word[w]) | ((key.word[w] == greatest->word[w]) & greater);
    return !wrong && !greater && at == end;
}

// Decode the counts; whether that was possible.
static inline uint read_counts(__global const ulong *data, ulong at, uint words, uint kmers, __global uint *counts)
{
    uint place = 0;
    for (uint i = 0; i < words; ++i, at += 8) {
        const ulong word = bytes_from(data, at);
        const uint selector = word >> 60, held = SIZES[selector], width = WIDTHS[selector];
        const ulong mask = (1ul << width) - 1;
        if (place + held > kmers)
            return 0;
        if (selector == SELECTORS - 1 && (word & mask) >= 0xfffffffful)
            return 0;
        for (uint j = 0; j < held; ++j)
            counts[place + j] = (uint)(word >> (j * width) & mask) + 1;
        place += held;
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

__kernel void decode_sections(__global const ulong *data, __global const ulong *table, __global const ulong *limits, ulong stride,
                              uint sections, __global ulong *keys, __global uint *counts, __global uint *status)
{
    const uint section = get_global_id(0);
    if (section >= sections || status[section])
        return;
    const ulong at = table[section], gaps_end = at + table[sections + section];
    const uint words = table[2 * sections + section];
    const uint kmers = table[4 * sections + section];
    const ulong begin = table[5 * sections + section];
    const Key least = load_key(limits, sections, section), greatest = load_key(limits + WORDS * (ulong)sections, sections, section);
    const uint fine = read_keys(data, at, gaps_end, begin, kmers, stride, &least, &greatest, keys) &&
                      read_counts(data, gaps_end, words, kmers, counts + begin);
    status[section] = fine ? 0 : 2;
}
