// K-mers of any length from packed symbols to bins, for CPUs.
//
// What decides on a k-mer's bin is its prefix: the first 16 letters of the canonical k-mer, or all where there are fewer, as
// the highest bits of 32. It is the lesser of the first letters of either strand, so the prefixes of the 32 windows that
// start in a group of symbols are found by shifts and minima of vectors; only k-mers that go into a bin are cut out.
// A work-item takes `each` groups of every stream; a bin is 2 ^ shift prefixes from `low` on, and `last` is the last prefix.
//
//   find_starts       starts[g]: a bit for each symbol of group g, the first one highest: k letters begin here
//   count_prefixes    counts[item * bins + bin] of k-mers
//   fill_bins         keys as packed_key.clh has them, each at a place that is counted up: places[item * bins + bin]
//
// -D WORDS=n        words of a k-mer
// -D CANONICAL=0|1  the lesser of a k-mer and its reverse complement
// -D KEY_BYTES=n    of a k-mer that go into a bin
#include "common/portable.clh"
#include "kmers/kmer.clh"
#include "kmers/packed_key.clh"

#define HIGHEST 0x80000000u

// The words whose first k letters are all good, in one group: windows that end in a later one are not there.
static inline uint erode(uint good, uint k)
{
    if (k > 32)
        return 0;
    for (uint have = 1; have < k;) {
        const uint more = MIN(have, k - have);
        good &= good << more;
        have += more;
    }
    return good;
}

__kernel void find_starts(__global const uint *valid, uint groups, uint each, uint k, __global uint *starts)
{
    const uint begin = MIN((uint)get_global_id(0) * each, groups), end = MIN(begin + each, groups);
    uint run = 0; // letters that follow each other behind the group
    for (uint g = end; begin < end && g < groups && run < k; ++g) {
        const uint letters = lowest_bit32(reverse_bits32(~valid[g]));
        run += letters;
        if (letters < 32)
            break;
    }
    for (uint g = end; g-- > begin;) {
        const uint good = valid[g], tail = lowest_bit32(~good);
        // windows that reach the end of the group start `run` + 32 - k symbols into it or before, and in its last letters
        const uint fit = run + 32 < k ? 0 : MIN(run + 33 - k, 32u);
        starts[g] = erode(good, k) | (~LOW_BITS32(32 - fit) & LOW_BITS32(tail));
        run = tail < 32 ? lowest_bit32(reverse_bits32(~good)) : MIN(run + 32, 1u << 30);
    }
}

typedef struct {
    uint8 prefixes[4]; // of the 32 windows
    uint inside;       // those in the range, the first one highest
} Windows;

static inline uint joined(uint8 bits)
{
    const uint4 both = bits.lo | bits.hi;
    const uint2 few = both.lo | both.hi;
    return few.lo | few.hi;
}

// What a walk keeps of the symbols: of each word of a k-mer that starts in the group there are two to shift.
typedef struct {
    __global const uint *codes;
    uint words; // of `codes`
    uint letters; // of a k-mer, at least 16
    uint low, span;
    uint a, b, c; // the 16 letters of a word each from the group's first on
    ulong forward[WORDS + 1]; // the word that holds a k-mer's last letters first
#if CANONICAL
    ulong backward[WORDS + 1]; // the reverse complements of the group and of those behind it
    uint x, y, z; // of the 16 last letters of k-mers
#endif
} Walk;

// 32 letters from letter `at` on; what is before the first word or behind the last is 0.
static inline ulong letters_at(const Walk *walk, int at)
{
    const int word = at >> 4, off = 2 * (at & 15), words = walk->words;
    ulong first, second, third;
    if (word >= 0 && word + 2 < words) {
        first = walk->codes[word];
        second = walk->codes[word + 1];
        third = walk->codes[word + 2];
    } else {
        first = word >= 0 && word < words ? walk->codes[word] : 0;
        second = word + 1 >= 0 && word + 1 < words ? walk->codes[word + 1] : 0;
        third = word + 2 >= 0 && word + 2 < words ? walk->codes[word + 2] : 0;
    }
    return (first << 32 | second) << off | third >> (32 - off);
}

// The letters of a group; none behind the last word.
static inline ulong group_letters(const Walk *walk, uint g)
{
    return 2 * g + 1 < walk->words ? (ulong)walk->codes[2 * g] << 32 | walk->codes[2 * g + 1] : 0;
}

// Goes on to group g, when all is there of the one before it.
static inline void go_on(Walk *walk, uint g)
{
    walk->a = walk->codes[2 * g];
    walk->b = walk->codes[2 * g + 1];
    walk->c = 2 * g + 2 < walk->words ? walk->codes[2 * g + 2] : 0;
    UNROLL
    for (uint w = WORDS; w > 0; --w)
        walk->forward[w] = walk->forward[w - 1];
    walk->forward[0] = letters_at(walk, 32 * g + walk->letters);
#if CANONICAL
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        walk->backward[w] = walk->backward[w + 1];
    walk->backward[WORDS] = reverse_letters(~group_letters(walk, g + WORDS));
    const ulong last = reverse_letters(~walk->forward[0]);
    walk->x = walk->z;
    walk->y = (uint)last;
    walk->z = (uint)(last >> 32);
#endif
}

// As if the group before g had been walked.
static inline void start(Walk *walk, uint g)
{
    const int before = 32 * (int)g - 32;
    UNROLL
    for (uint w = 0; w <= WORDS; ++w)
        walk->forward[w] = letters_at(walk, before + (int)walk->letters - 32 * (int)w);
#if CANONICAL
    UNROLL
    for (uint w = 0; w <= WORDS; ++w)
        walk->backward[w] = reverse_letters(~letters_at(walk, before + 32 * (int)w));
    walk->z = (uint)(reverse_letters(~walk->forward[0]) >> 32);
#endif
}

static inline uint8 forward_at(uint a, uint b, uint8 shift)
{
    return (uint8)(a) << shift | ((uint8)(b) >> 1) >> (31 - shift);
}

static inline uint8 backward_at(uint a, uint b, uint8 shift)
{
    return ((uint8)(a) << 1) << (31 - shift) | (uint8)(b) >> shift;
}

static inline void look(const Walk *walk, uint unused, Windows *windows)
{
    const uint8 early = (uint8)(0, 2, 4, 6, 8, 10, 12, 14), late = early + 16;
    const uint8 marks = (uint8)(128, 64, 32, 16, 8, 4, 2, 1);
    uint8 inside = 0;
#if CANONICAL
#define LESSER(shift, from, to) \
    const uint8 other = backward_at(to, from, shift) << unused; \
    prefix = other < prefix ? other : prefix
#else
#define LESSER(shift, from, to)
#endif
#define QUARTER(q, shift, first, second, from, to) \
    do { \
        uint8 prefix = forward_at(first, second, shift) >> unused << unused; \
        LESSER(shift, from, to); \
        inside |= as_uint8(prefix - walk->low <= walk->span) & marks << (24 - 8 * q); \
        windows->prefixes[q] = prefix; \
    } while (0)
    QUARTER(0, early, walk->a, walk->b, walk->x, walk->y);
    QUARTER(1, late, walk->a, walk->b, walk->x, walk->y);
    QUARTER(2, early, walk->b, walk->c, walk->y, walk->z);
    QUARTER(3, late, walk->b, walk->c, walk->y, walk->z);
#undef QUARTER
#undef LESSER
    windows->inside = joined(inside);
}

// The k-mer that starts at letter i of the group, or the lesser of it and its reverse complement; `unused` as for prefixes.
static inline void cut(const Walk *walk, uint i, ulong top, uint unused, ulong *key)
{
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        key[w] = walk->forward[w + 1] << 2 * i | walk->forward[w] >> 1 >> (63 - 2 * i);
#if WORDS == 1
    key[0] >>= unused;
#endif
    key[WORDS - 1] &= top;
#if CANONICAL
    ulong other[WORDS];
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        other[w] = walk->backward[w + 1] << 1 << (63 - 2 * i) | walk->backward[w] >> 2 * i;
    other[WORDS - 1] &= top;
    ulong less = 0;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        less = (other[w] < key[w]) | ((other[w] == key[w]) & less);
    UNROLL
    for (uint w = 0; w < WORDS; ++w) // a branch could not be foretold
        key[w] ^= (key[w] ^ other[w]) & -less;
#endif
}

// Calls TAKE(i, prefix) for each window that starts in the work-item's groups and whose prefix is in the range.
#define EACH_WINDOW \
    const uint item = get_global_id(0); \
    const uint begin = MIN(item * each, groups), end = MIN(begin + each, groups); \
    const uint unused = 32 - 2 * MIN(k, 16u); \
    Walk walk = {codes, words, MAX(k, 16u), low, last - low}; \
    if (begin < end) \
        start(&walk, begin); \
    for (uint g = begin; g < end; ++g) { \
        go_on(&walk, g); \
        Windows windows; \
        look(&walk, unused, &windows); \
        const uint *prefixes = (const uint *)windows.prefixes; \
        for (uint left = windows.inside & starts[g]; left; left &= left - 1) { \
            const uint i = 31 - lowest_bit32(left); \
            TAKE(i, prefixes[i]); \
        } \
    }

__kernel void count_prefixes(__global const uint *codes, __global const uint *starts, uint words, uint groups, uint each, uint k,
                             uint low, uint last, uint shift, uint bins, __global uint *counts)
{
    counts += (ulong)get_global_id(0) * bins;
#define TAKE(i, prefix) ++counts[(prefix - low) >> shift]
    EACH_WINDOW
#undef TAKE
}

__kernel void fill_bins(__global const uint *codes, __global const uint *starts, uint words, uint groups, uint each, uint k,
                        uint low, uint last, uint shift, uint bins, __global uint *places, __global uchar *keys)
{
    places += (ulong)get_global_id(0) * bins;
    const ulong top = LOW_BITS64(2 * k - 64 * (WORDS - 1));
#define TAKE(i, prefix) \
    ulong key[WORDS]; \
    cut(&walk, i, top, unused, key); \
    store_key(packed_key(keys, places[(prefix - low) >> shift]++), key)
    EACH_WINDOW
#undef TAKE
}
