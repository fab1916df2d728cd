// Gaps between neighbouring keys as variable-length quantities: 7 bits a byte, the most significant first, and the high bit set in
// all bytes of a number but its last one.
//
//   gap[i] = key[i] - key[i - 1];   the first key of a section, i = 0, every, 2 every, ..., is written raw, 8 x WORDS bytes
//
// Layout: keys lie in WORDS channels of `size` words, the least significant first. `measure_gaps` gives the bytes of each number, and
// 0 after the last one; `write_gaps` gets where each number starts, their exclusive scan. A work-item a key.
//
// -D WORDS=n   words of a key
#include "common/portable.clh"

#define GROUPS CEIL_DIV(64 * WORDS, 7)

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

static inline uint bytes_of(const Key *gap)
{
    uint bytes = 1;
    for (uint g = 1; g < GROUPS; ++g)
        bytes = group_of(gap, g) ? g + 1 : bytes;
    return bytes;
}

__kernel void measure_gaps(__global const ulong *keys, uint size, uint every, __global uint *bytes)
{
    const uint i = get_global_id(0);
    if (i > size)
        return;
    if (i == size) {
        bytes[i] = 0;
    } else if (i % every == 0) {
        bytes[i] = 8 * WORDS;
    } else {
        const Key gap = gap_before(keys, size, i);
        bytes[i] = bytes_of(&gap);
    }
}

__kernel void write_gaps(__global const ulong *keys, uint size, uint every, __global const uint *starts, __global uchar *out)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    __global uchar *place = out + starts[i];
    if (i % every == 0) {
        const Key key = load_key(keys, size, i);
        for (uint b = 0; b < 8 * WORDS; ++b)
            place[b] = (uchar)(key.word[b / 8] >> (b % 8 * 8));
        return;
    }
    const Key gap = gap_before(keys, size, i);
    const uint bytes = starts[i + 1] - starts[i];
    for (uint g = 0; g < GROUPS; ++g)
        if (g < bytes)
            place[bytes - 1 - g] = (uchar)(group_of(&gap, g) | (g ? 128u : 0u));
}

// Where sections start, in bytes: starts[0], starts[every], ..., and starts[size], the end of the last one.
__kernel void pick_sections(__global const uint *starts, uint size, uint every, uint sections, __global uint *picked)
{
    const uint s = get_global_id(0);
    if (s <= sections)
        picked[s] = starts[s == sections ? size : s * every];
}
