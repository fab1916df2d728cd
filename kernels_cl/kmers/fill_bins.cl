// K-mers of a span of prefixes from packed symbols to bins, for CPUs.
//
// The prefix of a k-mer is its first 16 letters, or all where there are fewer, as the highest bits of 32. The span is the prefixes
// from `low` to `last`, a bin is 2 ^ shift of them. A key is the bits behind the prefix of its bin, `rest` of them. bin_lines.clh
// says how it gets into the bin.
//
// A work-item, one a processor core, takes the next `each` groups of 32 symbols from a counter until there are none. It looks at
// GROUPS of them at a time. Windows are looked at in vectors; those that lie in the span and start a k-mer are found as a bit
// each. Vectors of these bits stay as they are: bit n of lane i is window i of the n-th vector. So windows are taken in another order
// than they begin in, which bins do not mind.
//
// Of one word, the vectors have the k-mers themselves, from the highest bit on. Of more, they have the first 16 letters of both strands,
// and only k-mers that go into a bin are cut out. For that, the letters of the groups lie in words, as numbers of which the last
// group is lowest, and their reverse complements with the first group lowest. A k-mer is in a window over one of these, shifted by
// an even number of bits. Which of both is the lesser one the first letters say; where they are the same, all are compared.
//
//   fill_bins         counters[0]: chunks taken of the pool, more than `chunks` when it was full and the walk ended early;
//                     counters[1 + stream]: blocks taken of this stream
//
// -D WORDS=n        words of a k-mer
// -D CANONICAL=0|1  the lesser of a k-mer and its reverse complement
// -D KEY_BYTES=n    of a key in a bin: 4 (of one word), 6, 12 (of more), or whole words of 8
// -D STAGE_LINES=n  bin_lines.clh
#include "common/portable.clh"
#include "common/bits.clh"
#include "kmers/letters.clh"
#include "kmers/prefixes.clh"
#include "kmers/bin_lines.clh"

// Index of the lowest set bit of a word that is not 0. Not all compilers see an instruction in the arithmetic of lowest_bit64.
#ifdef __has_builtin
#if !SIMULATED && __has_builtin(__builtin_ctzl)
#define LOWEST64(x) ((uint)__builtin_ctzl(x))
#endif
#endif
#ifndef LOWEST64
#define LOWEST64(x) lowest_bit64(x)
#endif

// The letters of a group; none before the first one or behind the last.
static inline ulong group_letters(__global const uint *codes, int groups, int g)
{
    return g >= 0 && g < groups ? (ulong)codes[2 * (ulong)g] << 32 | codes[2 * (ulong)g + 1] : 0;
}

typedef struct {
    __global const uint *codes, *starts;
    int groups;
    uint k, rest;
    uint low, span, shift;
} Walk;

#if WORDS == 1

#define GROUPS 16
#define LANES 8
#define STEPS 4 // vectors of a group

#if KEY_BYTES == 6
typedef ulong Key_any __attribute__((aligned(2)));
#else
typedef ulong Key_any;
#endif

static inline uint take(const Walk *walk, const Bins *bins, ulong offset, ushort *filled, uint *many)
{
    const uint bin = (uint)(offset >> 32 >> walk->shift);
    const ulong key = offset >> (64 - 2 * walk->k) & LOW_BITS64(walk->rest);
    __global uchar *place = place_for_key(bins, bin, filled, many);
    if (!place)
        return 0;
#if KEY_BYTES == 4
    *(__global uint *)place = (uint)key;
#else
    *(__global Key_any *)place = key;
#endif
    return 1;
}

static inline uint fill_groups(const Walk *walk, const Bins *bins, int begin, int end)
{
    const ulong8 shifts = (ulong8)(0, 2, 4, 6, 8, 10, 12, 14), marks = (ulong8)(128, 64, 32, 16, 8, 4, 2, 1);
    const ulong low = (ulong)walk->low << 32, span = (ulong)walk->span << 32 | 0xffffffffu;
    const uint unused = 64 - 2 * walk->k;
    const ulong used = 0xfffffffffffffffful << unused;
    ulong8 offsets[STEPS * GROUPS], inside = (ulong8)(0ul);
    ulong y = group_letters(walk->codes, walk->groups, begin), step = 1;
    for (int g = begin; g < end; ++g) {
        const ulong x = y, starts = walk->starts[g];
        y = group_letters(walk->codes, walk->groups, g + 1);
#if CANONICAL
        const ulong from = reverse_letters(~x), to = reverse_letters(~y);
#endif
        UNROLL
        for (uint q = 0; q < STEPS; ++q) {
            const ulong8 by = shifts + 16 * q;
            ulong8 kmer = ((ulong8)(x) << by | (ulong8)(y >> 1) >> (63 - by)) & used;
#if CANONICAL
            const ulong8 other = ((ulong8)(to << 1) << (63 - by) | (ulong8)(from) >> by) << unused;
            kmer = other < kmer ? other : kmer;
#endif
            kmer -= low;
            offsets[STEPS * (g - begin) + q] = kmer;
            const long8 good = (kmer <= span) & (((ulong8)(starts) & marks << (24 - 8 * q)) != (ulong8)(0ul));
            inside |= as_ulong8(good) & step;
            step <<= 1;
        }
    }
    const ulong *each = (const ulong *)offsets, *chosen = (const ulong *)&inside;
    ushort filled[32 * GROUPS + 1];
    uint many = 0;
    for (uint lane = 0; lane < LANES; ++lane)
        for (ulong left = chosen[lane]; left; left &= left - 1)
            if (!take(walk, bins, each[LANES * LOWEST64(left) + lane], filled, &many))
                return 0;
    return store_stages(bins, filled, many);
}

#else

#define GROUPS 32
#define LANES 16
#define STEPS 2 // vectors of a group
#define HALF 16 // groups whose windows have a bit each in lanes of 32
#define HELD (GROUPS + WORDS + 1) // groups: one before, those behind that k-mers reach into
#define SPARSE 96 // of so long k-mers, many groups of short reads start none
#define BATCH 4 // windows that are listed at a time
#define SPARE 9 // words behind them that are loaded and not used

#define KEY_ALIGNED (KEY_BYTES % 8 == 0 ? 8 : KEY_BYTES % 4 == 0 ? 4 : 2)
#if STORED == 1
typedef ulong Key;
#elif STORED == 2
typedef ulong2 Key;
#elif STORED <= 4
typedef ulong4 Key;
#else
typedef ulong8 Key;
#endif
typedef Key Key_any __attribute__((aligned(KEY_ALIGNED)));
typedef ulong2 Half_any __attribute__((aligned(8)));

// Letters, and WIDTH words behind them their reverse complements.
#define WIDTH (HELD + SPARE)
typedef struct {
    ulong words[2 * WIDTH];
} Letters;

static inline void put_letters(Letters *letters, uint h, ulong word)
{
    letters->words[HELD - 1 - h] = word;
    letters->words[WIDTH + h] = reverse_letters(~word);
}

static inline void load_letters(const Walk *walk, int begin, Letters *letters)
{
    if (begin >= 1 && begin - 1 + HELD <= walk->groups) {
        __global const uint *codes = walk->codes + 2 * (ulong)(begin - 1);
        for (int h = 0; h < HELD; ++h)
            put_letters(letters, h, (ulong)codes[2 * h] << 32 | codes[2 * h + 1]);
    } else {
        for (int h = 0; h < HELD; ++h)
            put_letters(letters, h, group_letters(walk->codes, walk->groups, begin - 1 + h));
    }
    for (int h = HELD; h < WIDTH; ++h)
        letters->words[h] = letters->words[WIDTH + h] = 0;
}

// Where the k-mer at letter `at` of the groups begins, least significant word first, and by how many bits it is shifted.
static inline const ulong *window_of(const Letters *letters, uint k, uint at, uint other, uint *shift)
{
    const uint last = at + k - 1;
    const uint own_place = HELD - 2 - last / 32, other_place = WIDTH + 1 + at / 32;
    const uint chosen = 0u - other; // a branch could not be foretold
    *shift = 2 * ((~last ^ ((~last ^ at) & chosen)) % 32);
    return letters->words + (own_place ^ ((own_place ^ other_place) & chosen));
}

#if CANONICAL
// Whether the reverse complement is the lesser.
static inline uint other_is_less(const Letters *letters, uint k, uint at)
{
    uint shift, other_shift, less = 0;
    const ulong *own = window_of(letters, k, at, 0, &shift), *other = window_of(letters, k, at, 1, &other_shift);
    for (uint w = 0; w < WORDS; ++w) {
        const ulong mask = w + 1 < WORDS ? 0xfffffffffffffffful : LOW_BITS64(2 * k - 64 * (WORDS - 1));
        const ulong a = (own[w + 1] << 1 << (63 - shift) | own[w] >> shift) & mask;
        const ulong b = (other[w + 1] << 1 << (63 - other_shift) | other[w] >> other_shift) & mask;
        less = b != a ? b < a : less;
    }
    return less;
}
#endif

// A k-mer that goes into a bin, in a word. At first: the bin, the letter where its window begins, and whether the reverse complement
// is taken; then: the bin, the word where the k-mer begins, and half of the bits that it is shifted by.
#define ENTRY(bin, at, other) ((bin) << 16 | (at) << 1 | (other))
#define PLACED(entry, word, half) (((entry) & 0xffff0000u) | (word) << 5 | (half))

// Finds where 16 k-mers begin, as window_of does.
static inline uint16 placed(uint16 entries, uint k)
{
    const uint16 at = entries >> 1 & 0x7fff, chosen = 0 - (entries & 1), last = at + (k - 1);
    const uint16 own = HELD - 2 - (last >> 5), other = WIDTH + 1 + (at >> 5);
    return PLACED(entries, own ^ ((own ^ other) & chosen), (~last ^ ((~last ^ at) & chosen)) & 31);
}

static inline uint take(const Bins *bins, const Letters *letters, Key mask, uint entry, ushort *filled, uint *many)
{
    const uint bin = entry >> 16, shift = 2 * (entry & 31);
    const ulong *from = letters->words + (entry >> 5 & 0x7ff);
    const Key key = (*(const Key_any *)(from + 1) << 1 << (63 - shift) | *(const Key_any *)from >> shift) & mask;
#if STAGE_KEYS == 1
    return store_lines(bins, bin, &key);
#else
    __global uchar *place = place_for_key(bins, bin, filled, many);
    if (!place)
        return 0;
#if KEY_BYTES == 24 // another stage begins behind the last one
    *(__global Half_any *)place = key.lo;
    ((__global ulong *)place)[2] = key.z;
#else
    *(__global Key_any *)place = key;
#endif
    return 1;
#endif
}

static inline Key key_mask(uint rest)
{
    Key mask;
    UNROLL
    for (uint w = 0; w < sizeof(Key) / 8; ++w)
        ((ulong *)&mask)[w] = rest > 64 * w ? LOW_BITS64(rest - 64 * w) : 0;
    return mask;
}

// What is known of windows, a bit each.
typedef struct {
    uint16 inside, less, same; // they go into a bin; the reverse complement begins lesser; both begin alike
} Found;

// Looks at the windows of HALF groups, the h-th ones of `letters` and on.
static inline void look_at(const Walk *walk, const Letters *letters, int begin, int end, uint h, uint16 *prefixes, Found *found)
{
    const uint16 marks = WINDOW_MARKS;
    const uint sparse = walk->k >= SPARSE;
    uint16 inside = (uint16)(0u), less = inside, same = inside;
    uint step = 1;
#if CANONICAL
    const ulong *ends = letters->words + WIDTH + walk->k / 32;
    const uint past = 2 * (walk->k % 32);
#endif
    for (int g = begin; g < end; ++g, ++h, prefixes += STEPS) {
        const uint starts = walk->starts[g];
        if (sparse && !starts) {
            step <<= STEPS;
            continue;
        }
        const ulong here = letters->words[HELD - 1 - h], next = letters->words[HELD - 2 - h];
#if CANONICAL
        const ulong before = ends[h] << 1 << (63 - past) | ends[h - 1] >> past;
        const ulong behind = ends[h + 1] << 1 << (63 - past) | ends[h] >> past;
        const uint x = (uint)(before >> 32), y = (uint)behind, z = (uint)(behind >> 32);
#endif
        UNROLL
        for (uint q = 0; q < STEPS; ++q) {
            uint16 prefix = q ? forward_prefixes((uint)here, (uint)(next >> 32)) : forward_prefixes((uint)(here >> 32), (uint)here);
#if CANONICAL
            const uint16 other = q ? backward_prefixes(y, z) : backward_prefixes(x, y);
            less |= as_uint16(other < prefix) & step;
            same |= as_uint16(other == prefix) & step;
            prefix = other < prefix ? other : prefix;
#endif
            prefix -= walk->low;
            prefixes[q] = prefix;
            const int16 good = (prefix <= walk->span) & (((uint16)(starts) & marks >> 16 * q) != (uint16)(0u));
            inside |= as_uint16(good) & step;
            step <<= 1;
        }
    }
    found->inside = inside;
    found->less = less;
    found->same = same;
}

#define LANE_OF(part, lane) ((ulong)((const uint *)&found[1].part)[lane] << 32 | ((const uint *)&found[0].part)[lane])

// Lists the k-mers that go into bins; returns how many.
static inline uint list_windows(const Walk *walk, const Letters *letters, const uint *prefixes, const Found *found, uint *entries)
{
    uint size = 0;
    for (uint lane = 0; lane < LANES; ++lane) {
        ulong left = LANE_OF(inside, lane), others = 0;
#if CANONICAL
        others = LANE_OF(less, lane);
        for (ulong equal = left & LANE_OF(same, lane); equal; equal &= equal - 1) {
            const uint bit = LOWEST64(equal);
            others |= (ulong)other_is_less(letters, walk->k, LANES * bit + lane) << bit;
        }
#endif
        const uint many = (uint)POPCOUNT64(left);
        for (uint done = 0; done < many; done += BATCH) {
            UNROLL
            for (uint i = 0; i < BATCH; ++i) { // some behind the last one, too, which others will take the place of
                const uint bit = LOWEST64(left | 1ul << 63), at = LANES * bit + lane;
                entries[size + done + i] = ENTRY(prefixes[at] >> walk->shift, at, (uint)(others >> bit & 1));
                left &= left - 1;
            }
        }
        size += many;
    }
    return size;
}

static inline uint fill_groups(const Walk *walk, const Bins *bins, int begin, int end)
{
    Letters letters;
    Found found[2];
    uint16 prefixes[STEPS * GROUPS], entries[2 * GROUPS + 1];
    load_letters(walk, begin, &letters);
    const int middle = MIN(begin + HALF, end);
    look_at(walk, &letters, begin, middle, 1, prefixes, found);
    look_at(walk, &letters, middle, end, 1 + HALF, prefixes + STEPS * HALF, found + 1);
    const uint size = list_windows(walk, &letters, (const uint *)prefixes, found, (uint *)entries);
    for (uint i = 0; i < size; i += 16)
        entries[i / 16] = placed(entries[i / 16], walk->k);
    const Key mask = key_mask(walk->rest);
    ushort filled[32 * GROUPS + 1];
    uint many = 0;
    for (uint i = 0; i < size; ++i)
        if (!take(bins, &letters, mask, ((const uint *)entries)[i], filled, &many))
            return 0;
    return store_stages(bins, filled, many);
}

#endif

// shape: k, the first and the last prefix, bits behind those of a bin, bins, bits of a key, chunks of the pool, and how many are
// granted at a time.
__kernel ALONE void fill_bins(__global const uint *codes, __global const uint *starts, uint groups, uint each, uint stream,
                              __global const uint *shape, volatile __global uint *counters, __global uint *granted,
                              __global uchar *stages, __global uchar *staged, __global uint *places, __global ushort *owners,
                              __global uchar *pool)
{
    const uint k = shape[0], low = shape[1], last = shape[2], shift = shape[3], bins = shape[4], rest = shape[5], chunks = shape[6];
    const ulong first = (ulong)get_global_id(0) * bins;
    const Walk walk = {codes, starts, groups, k, rest, low, last - low, shift};
    const Bins into = {stages + first * STAGE_BYTES, staged + first, places + first, counters, granted + 2 * get_global_id(0), chunks,
                       shape[7], owners, (__global ulong8 *)pool};
    const uint blocks = CEIL_DIV(groups, each);
    for (uint block = atomic_inc(counters + 1 + stream); block < blocks; block = atomic_inc(counters + 1 + stream)) {
        if (counters[0] > chunks)
            return;
        const int end = MIN((block + 1) * each, groups);
        for (int g = block * each; g < end; g += GROUPS)
            if (!fill_groups(&walk, &into, g, MIN(g + GROUPS, end)))
                return;
    }
}
