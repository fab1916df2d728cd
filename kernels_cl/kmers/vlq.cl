// Gaps between neighbouring keys as variable-length quantities: 7 bits a byte, the most significant first, and the high bit set in
// all bytes of a number but its last one.
//
//   gap[i] = key[i] - key[i - 1];   the first key of a section, i = 0, EVERY, 2 EVERY, ..., is written raw, 8 x WORDS bytes
//
// Layout: keys lie in WORDS channels of `size` words, the least significant first. `measure_gaps` gives the bytes of each number, and
// 0 after the last one; `write_gaps` gets where each number starts, their exclusive scan. A work-item a key.
//
// -D WORDS=n   words of a key
// -D EVERY=n   keys of a section
#include "common/portable.clh"

typedef struct {
    ulong word[WORDS];
} Key;

static inline Key load_key(__global const ulong *keys, ulong size, ulong i)
{
    Key key;
    for (uint w = 0; w < WORDS; ++w)
        key.word[w] = keys[w * size + i];
    return key;
}

static inline Key gap_before(__global const ulong *keys, ulong size, ulong i)
{
    const Key key = load_key(keys, size, i), before = load_key(keys, size, i - 1);
    Key gap;
    ulong borrow = 0;
    for (uint w = 0; w < WORDS; ++w) {
        gap.word[w] = key.word[w] - before.word[w] - borrow;
        borrow = (key.word[w] < before.word[w]) | ((key.word[w] == before.word[w]) & borrow);
    }
    return gap;
}

// 7 bits of a number, from bit 7 g on.
static inline uint group_of(const Key *key, uint g)
{
    const uint w = 7 * g / 64, shift = 7 * g % 64;
    ulong bits = key->word[w] >> shift;
    if (shift > 57 && w + 1 < WORDS)
        bits |= key->word[w + 1] << (64 - shift);
    return (uint)bits & 127u;
}

// Bits of a number without the zeros before it, at least 1, by the exponent of a float. The bit after the first one is taken away,
// so that the number is not rounded up to the next power of two.
static inline uint bits_of(ulong x)
{
    x |= 1;
    x &= ~(x >> 1);
    return (as_uint((float)x) >> 23) - 126u;
}

static inline uint bytes_of(const Key *gap)
{
    uint bits = bits_of(gap->word[0]);
    for (uint w = 1; w < WORDS; ++w)
        bits = gap->word[w] ? 64 * w + bits_of(gap->word[w]) : bits;
    return CEIL_DIV(bits, 7);
}

__kernel void measure_gaps(__global const ulong *keys, uint size, __global uint *bytes)
{
    const uint i = get_global_id(0);
    if (i > size)
        return;
    if (i == size) {
        bytes[i] = 0;
    } else if (i % EVERY == 0) {
        bytes[i] = 8 * WORDS;
    } else {
        const Key gap = gap_before(keys, size, i);
        bytes[i] = bytes_of(&gap);
    }
}

__kernel void write_gaps(__global const ulong *keys, uint size, __global const uint *starts, __global uchar *out)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    __global uchar *place = out + starts[i];
    if (i % EVERY == 0) {
        const Key key = load_key(keys, size, i);
        for (uint b = 0; b < 8 * WORDS; ++b)
            place[b] = (uchar)(key.word[b / 8] >> (b % 8 * 8));
        return;
    }
    const Key gap = gap_before(keys, size, i);
    const uint bytes = starts[i + 1] - starts[i];
    for (uint g = bytes - 1; g > 0; --g)
        *place++ = (uchar)(group_of(&gap, g) | 128u);
    *place = (uchar)(gap.word[0] & 127u);
}

// Where sections start, in bytes: starts[0], starts[EVERY], ..., and starts[size], the end of the last one.
__kernel void pick_sections(__global const uint *starts, uint size, uint sections, __global uint *picked)
{
    const uint s = get_global_id(0);
    if (s <= sections)
        picked[s] = starts[s == sections ? size : s * EVERY];
}
