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
// -D SHORT=0|1      a k-mer has less than 16 letters
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
#if CANONICAL
    uint8 others[4]; // of their reverse complements
#endif
    uint inside;       // those in the range, the first one highest
} Windows;

static inline uint joined(uint8 bits)
{
    const uint4 both = bits.lo | bits.hi;
    const uint2 few = both.lo | both.hi;
    return few.lo | few.hi;
}

// What a walk keeps of the symbols. A k-mer that starts in the group lies in windows over these words: shifted to the right by
// an even number of bits, 0 to 62, word w + 1 before word w gives its word w.
typedef struct {
    __global const uint *codes;
    int groups;
    uint past; // letters of a k-mer but one that lie in the last group it reaches, of one that starts with a group; 0 to 31
    uint low, span;
    ulong latest; // the last group that a k-mer reaches
    ulong forward[WORDS + 1]; // from a letter before the last 32 letters of a k-mer on, and from 32 letters before on
#if CANONICAL
    ulong backward[WORDS + 1]; // the reverse complements of the group and of those behind it
    uint x, y, z; // of the 16 last letters of k-mers
#endif
} Walk;

// The letters of a group; none before the first one or behind the last.
static inline ulong group_letters(const Walk *walk, int g)
{
    return g >= 0 && g < walk->groups ? (ulong)walk->codes[2 * g] << 32 | walk->codes[2 * g + 1] : 0;
}

// Goes on to group g, when all is there of the one before it.
static inline void go_on(Walk *walk, int g)
{
    const uint past = 2 * walk->past;
    const ulong before = walk->latest;
    walk->latest = group_letters(walk, g + WORDS);
    UNROLL
    for (uint w = WORDS; w > 0; --w)
        walk->forward[w] = walk->forward[w - 1];
    walk->forward[0] = before << past | walk->latest >> 1 >> (63 - past);
#if CANONICAL
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        walk->backward[w] = walk->backward[w + 1];
    walk->backward[WORDS] = reverse_letters(~walk->latest);
    const ulong ends = walk->backward[WORDS] << (62 - past) | walk->backward[WORDS - 1] >> 1 >> (past + 1);
    walk->x = walk->z;
    walk->y = (uint)ends;
    walk->z = (uint)(ends >> 32);
#endif
}

// As if the groups before g had been walked: all that are still to be seen from there.
static inline void start(Walk *walk, int g)
{
    walk->latest = group_letters(walk, g - 2);
    for (int before = g - WORDS - 1; before < g; ++before)
        go_on(walk, before);
}

// The 16 letters from letter i of a group on.
static inline uint letters_in(__global const uint *codes, uint i)
{
    const ulong both = (ulong)codes[i / 16] << 32 | codes[i / 16 + 1];
    return (uint)(both << 2 * (i % 16) >> 32);
}

static inline uint8 forward_at(uint a, uint b, uint8 shift)
{
    return (uint8)(a) << shift | ((uint8)(b) >> 1) >> (31 - shift);
}

static inline uint8 backward_at(uint a, uint b, uint8 shift)
{
    return (uint8)(a << 1) << (31 - shift) | (uint8)(b) >> shift;
}

// Of k-mers with less than 16 letters the prefix is shorter: the highest bits, the others 0.
#if SHORT
#define CUT_FORWARD(prefix) ((prefix) >> unused << unused)
#define CUT_BACKWARD(prefix) ((prefix) << unused)
#else
#define CUT_FORWARD(prefix) (prefix)
#define CUT_BACKWARD(prefix) (prefix)
#endif

static inline void look(const Walk *walk, int g, uint unused, Windows *windows)
{
    const uint8 early = (uint8)(0, 2, 4, 6, 8, 10, 12, 14), late = early + 16;
    const uint8 marks = (uint8)(128, 64, 32, 16, 8, 4, 2, 1);
    const uint a = walk->codes[2 * g], b = walk->codes[2 * g + 1], c = g + 1 < walk->groups ? walk->codes[2 * g + 2] : 0;
    uint8 inside = 0;
#if CANONICAL
#define LESSER(q, shift, from, to) \
    const uint8 other = CUT_BACKWARD(backward_at(to, from, shift)); \
    windows->others[q] = other; \
    prefix = other < prefix ? other : prefix
#else
#define LESSER(q, shift, from, to)
#endif
#define QUARTER(q, shift, first, second, from, to) \
    do { \
        uint8 prefix = CUT_FORWARD(forward_at(first, second, shift)); \
        LESSER(q, shift, from, to); \
        inside |= as_uint8(prefix - walk->low <= walk->span) & marks << (24 - 8 * q); \
        windows->prefixes[q] = prefix; \
    } while (0)
    QUARTER(0, early, a, b, walk->x, walk->y);
    QUARTER(1, late, a, b, walk->x, walk->y);
    QUARTER(2, early, b, c, walk->y, walk->z);
    QUARTER(3, late, b, c, walk->y, walk->z);
#undef QUARTER
#undef LESSER
    windows->inside = joined(inside);
}

// Word w of what begins or ends `shift` bits, 0 to 62, behind the words.
static inline ulong shifted(const ulong *words, uint w, uint shift)
{
    return words[w + 1] << 1 << (63 - shift) | words[w] >> shift;
}

// The lowest STORED words of the k-mer that starts at letter i of the group, or of the lesser of it and its reverse complement;
// `unused` as for prefixes.
static inline void cut(const Walk *walk, const Windows *windows, int g, uint i, ulong top, uint unused, ulong *key)
{
#if CANONICAL && WORDS > 1
    // The first letters say which one is the lesser, so only that one is cut out.
    const uint first = letters_in(walk->codes + 2 * g, i);
    const uint other_first = ((const uint *)windows->others)[i];
    if (first != other_first) {
        const ulong *from = first < other_first ? walk->forward : walk->backward;
        const uint shift = first < other_first ? 62 - 2 * i : 2 * i;
        UNROLL
        for (uint w = 0; w < STORED; ++w)
            key[w] = shifted(from, w, shift);
        if (STORED == WORDS)
            key[STORED - 1] &= top;
        return;
    }
#endif
    ulong all[WORDS];
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        all[w] = shifted(walk->forward, w, 62 - 2 * i);
#if SHORT
    all[0] >>= unused;
#endif
    all[WORDS - 1] &= top;
#if CANONICAL
    ulong other[WORDS];
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        other[w] = shifted(walk->backward, w, 2 * i);
    other[WORDS - 1] &= top;
    ulong less = 0;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        less = (other[w] < all[w]) | ((other[w] == all[w]) & less);
    UNROLL
    for (uint w = 0; w < WORDS; ++w) // a branch could not be foretold
        all[w] ^= (all[w] ^ other[w]) & -less;
#endif
    UNROLL
    for (uint w = 0; w < STORED; ++w)
        key[w] = all[w];
}

// Calls TAKE(i, prefix) for each window that starts in the work-item's groups and whose prefix is in the range.
#define EACH_WINDOW \
    const uint item = get_global_id(0); \
    const int begin = MIN(item * each, groups), end = MIN(begin + each, groups); \
    const uint unused = 32 - 2 * MIN(k, 16u); \
    Walk walk = {codes, groups, (MAX(k, 16u) - 1) % 32, low, last - low}; \
    if (begin < end) \
        start(&walk, begin); \
    for (int g = begin; g < end; ++g) { \
        go_on(&walk, g); \
        Windows windows; \
        look(&walk, g, unused, &windows); \
        const uint *prefixes = (const uint *)windows.prefixes; \
        for (uint left = windows.inside & starts[g]; left; left &= left - 1) { \
            const uint i = 31 - lowest_bit32(left); \
            TAKE(i, prefixes[i]); \
        } \
    }

__kernel void count_prefixes(__global const uint *codes, __global const uint *starts, uint groups, uint each, uint k,
                             uint low, uint last, uint shift, uint bins, __global uint *counts)
{
    counts += (ulong)get_global_id(0) * bins;
#define TAKE(i, prefix) ++counts[(prefix - low) >> shift]
    EACH_WINDOW
#undef TAKE
}

__kernel void fill_bins(__global const uint *codes, __global const uint *starts, uint groups, uint each, uint k,
                        uint low, uint last, uint shift, uint bins, __global uint *places, __global uchar *keys)
{
    places += (ulong)get_global_id(0) * bins;
    const ulong top = LOW_BITS64(2 * k - 64 * (WORDS - 1));
#define TAKE(i, prefix) \
    ulong key[STORED]; \
    cut(&walk, &windows, g, i, top, unused, key); \
    store_key(packed_key(keys, places[(prefix - low) >> shift]++), key)
    EACH_WINDOW
#undef TAKE
}
