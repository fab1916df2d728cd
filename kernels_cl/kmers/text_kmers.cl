// K-mers of letters as they stand in the text, looked up in a table, or marked for one (key_table.clh).
//
// Cut c are the windows[c] windows of k letters that start at text[letters[c]] and behind it. `cuts` holds letters, windows and
// what a kernel takes besides, `count` of each. A window with a letter other than A, C, G and T, in either case, is no k-mer.
// The text begins at byte `skip` of the memory.
//
//   count_found     kmers[p] and found[p]: k-mers of piece p, and those that the table has; both are added to. Cut c belongs to
//                   piece pieces[c].
//   take_counts     counts[i]: that of window i, if the table has it; valid[i] = 1 if it is a k-mer. All others stay as they
//                   are. The first window of cut c is windows places[c] of the result.
//   mark_kmers      sets the mark of each k-mer
//   find_sections   needed[s + 1] = 1 for the section s of a database that would hold a k-mer; `firsts` has WORDS channels of the first
//                   key of each section, ascending. needed[0] is for k-mers that are less than all
//
// A work-item takes `each` cuts. It gathers BATCH k-mers before it looks them up, so that the processor waits for many places
// of the table at a time.
//
// -D WORDS=n         words of a k-mer
// -D CANONICAL=0|1   the lesser of a k-mer and its reverse complement
// -D BACKWARD=0|1    the reverse complement; not with CANONICAL
// -D BATCH=n         k-mers that are looked up together
#include "kmers/key_table.clh"

#define BOTH (CANONICAL || BACKWARD)

// On CPUs a work-item is a group of its own.
#if BATCH > 1
#define ONE_BY_ONE ALONE
#else
#define ONE_BY_ONE
#endif

// The last k letters, and their reverse complement; the last `run` letters were A, C, G and T.
typedef struct {
    ulong forward[WORDS];
#if BOTH
    ulong backward[WORDS];
#endif
    uint run;
} Strands;

static inline void start_strands(Strands *strands)
{
    for (uint w = 0; w < WORDS; ++w) {
        strands->forward[w] = 0;
#if BOTH
        strands->backward[w] = 0;
#endif
    }
    strands->run = 0;
}

// Two bits for A 0, C 1, G 2 or T 3, and 4 for any other letter.
static inline uint code_of(uint letter)
{
    uint code = letter >> 1 & 3;
    code ^= code >> 1;
    const uint meant = 0x54474341u >> 8 * code & 0xff; // T, G, C, A
    return (letter & 0xdf) == meant ? code : 4;
}

// Goes on by one letter; `top` are the letters of the most significant word.
static inline void go_on(Strands *strands, ulong code, uint top)
{
    UNROLL
    for (uint w = WORDS - 1; w > 0; --w)
        strands->forward[w] = strands->forward[w] << 2 | strands->forward[w - 1] >> 62;
    strands->forward[0] = strands->forward[0] << 2 | code;
    strands->forward[WORDS - 1] &= ~0ul >> (64 - 2 * top);
#if BOTH
    UNROLL
    for (uint w = 0; w + 1 < WORDS; ++w)
        strands->backward[w] = strands->backward[w] >> 2 | strands->backward[w + 1] << 62;
    strands->backward[WORDS - 1] = strands->backward[WORDS - 1] >> 2 | (3 - code) << (2 * top - 2);
#endif
}

static inline void take_kmer(const Strands *strands, ulong *key)
{
#if CANONICAL
    uint less = 0;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        less = strands->backward[w] != strands->forward[w] ? strands->backward[w] < strands->forward[w] : less;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        key[w] = less ? strands->backward[w] : strands->forward[w];
#else
    for (uint w = 0; w < WORDS; ++w)
#if BACKWARD
        key[w] = strands->backward[w];
#else
        key[w] = strands->forward[w];
#endif
#endif
}

// Goes on by one letter and says whether a k-mer ends with it, which is the key then.
static inline uint next_kmer(Strands *strands, uint letter, uint k, ulong *key)
{
    const uint code = code_of(letter);
    strands->run = code > 3 ? 0 : strands->run + 1;
    go_on(strands, code & 3, k - 32 * (WORDS - 1));
    if (strands->run < k)
        return 0;
    take_kmer(strands, key);
    return 1;
}

// Looks up a batch: places[i] is that of a k-mer in the table, which is NO_PLACE where it is not there. It comes with its prefix.
static inline void places_of(const ulong *batch, uint *places, uint held, ulong stride, __global const ulong *keys,
                             __global const uint *starts)
{
    uint sizes[BATCH];
    for (uint i = 0; i < held; ++i) {
        const uint prefix = places[i];
        places[i] = starts[prefix];
        sizes[i] = starts[prefix + 1] - places[i];
        for (uint w = 0; w < WORDS; ++w) {
            COME(keys + w * stride + places[i]);
            COME(keys + w * stride + places[i] + FEW - 1);
        }
    }
    for (uint i = 0; i < held; ++i)
        places[i] = place_of(keys, stride, batch + i * WORDS, places[i], sizes[i]);
}

__kernel ONE_BY_ONE
void count_found(__global const uchar *memory, uint skip, __global const uint *cuts, uint count, uint each, uint k, uint bits,
                 ulong stride, __global const ulong *keys, __global const uint *starts, __global uint *kmers,
                 __global uint *found)
{
    __global const uint *const letters = cuts, *const windows = cuts + count, *const pieces = windows + count;
    __global const uchar *text = memory + skip;
    const uint begin = MIN((uint)get_global_id(0) * each, count), last = MIN(begin + each, count);
    for (uint c = begin; c < last; ++c) {
        Strands strands;
        start_strands(&strands);
        ulong batch[BATCH * WORDS];
        uint places[BATCH];
        uint held = 0, seen = 0, there = 0;
        const uint end = letters[c] + windows[c] + k - 1;
        for (uint at = letters[c]; at < end; ++at) {
            if (next_kmer(&strands, text[at], k, batch + held * WORDS)) {
                places[held] = prefix_of(batch + held * WORDS, k, bits);
                COME(starts + places[held]);
                ++seen;
                ++held;
            }
            if (held == BATCH || (held && at + 1 == end)) {
                places_of(batch, places, held, stride, keys, starts);
                for (uint i = 0; i < held; ++i)
                    there += places[i] != NO_PLACE;
                held = 0;
            }
        }
        if (seen)
            atomic_add(&kmers[pieces[c]], seen);
        if (there)
            atomic_add(&found[pieces[c]], there);
    }
}

__kernel ONE_BY_ONE
void take_counts(__global const uchar *memory, uint skip, __global const uint *cuts, uint count, uint each, uint k, uint bits,
                 ulong stride, __global const ulong *keys, __global const uint *starts, __global const uint *key_counts,
                 __global uint *counts, __global uchar *valid)
{
    __global const uint *const letters = cuts, *const windows = cuts + count, *const begins = windows + count;
    __global const uchar *text = memory + skip;
    const uint begin = MIN((uint)get_global_id(0) * each, count), last = MIN(begin + each, count);
    for (uint c = begin; c < last; ++c) {
        Strands strands;
        start_strands(&strands);
        ulong batch[BATCH * WORDS];
        uint places[BATCH], to[BATCH];
        uint held = 0;
        const uint first = letters[c] + k - 1, end = first + windows[c];
        for (uint at = letters[c]; at < end; ++at) {
            if (next_kmer(&strands, text[at], k, batch + held * WORDS)) {
                places[held] = prefix_of(batch + held * WORDS, k, bits);
                COME(starts + places[held]);
                to[held] = begins[c] + (at - first);
                valid[to[held]] = 1;
                ++held;
            }
            if (held == BATCH || (held && at + 1 == end)) {
                places_of(batch, places, held, stride, keys, starts);
                for (uint i = 0; i < held; ++i)
                    if (places[i] != NO_PLACE)
                        COME(key_counts + places[i]);
                for (uint i = 0; i < held; ++i)
                    if (places[i] != NO_PLACE)
                        counts[to[i]] = key_counts[places[i]];
                held = 0;
            }
        }
    }
}

__kernel ONE_BY_ONE
void mark_kmers(__global const uchar *memory, uint skip, __global const uint *cuts, uint count, uint each, uint k, uint bits,
                __global uint *marks)
{
    __global const uint *const letters = cuts, *const windows = cuts + count;
    __global const uchar *text = memory + skip;
    const uint begin = MIN((uint)get_global_id(0) * each, count), last = MIN(begin + each, count);
    for (uint c = begin; c < last; ++c) {
        Strands strands;
        start_strands(&strands);
        ulong key[WORDS];
        uint batch[BATCH];
        uint held = 0;
        const uint end = letters[c] + windows[c] + k - 1;
        for (uint at = letters[c]; at < end; ++at) {
            if (next_kmer(&strands, text[at], k, key)) {
                batch[held] = mark_of(key, k, bits);
                COME(marks + batch[held] / 32);
                ++held;
            }
            if (held == BATCH || (held && at + 1 == end)) {
                for (uint i = 0; i < held; ++i)
                    if (!BIT_OF(marks, batch[i]))
                        atomic_or(&marks[batch[i] / 32], 1u << batch[i] % 32);
                held = 0;
            }
        }
    }
}

__kernel void find_sections(__global const uchar *memory, uint skip, __global const uint *cuts, uint count, uint each, uint k,
                            __global const ulong *firsts, uint sections, __global uint *needed)
{
    __global const uint *const letters = cuts, *const windows = cuts + count;
    __global const uchar *text = memory + skip;
    const uint begin = MIN((uint)get_global_id(0) * each, count), last = MIN(begin + each, count);
    for (uint c = begin; c < last; ++c) {
        Strands strands;
        start_strands(&strands);
        ulong key[WORDS];
        const uint end = letters[c] + windows[c] + k - 1;
        for (uint at = letters[c]; at < end; ++at) {
            if (!next_kmer(&strands, text[at], k, key))
                continue;
            uint low = 0, size = sections;
            while (size) { // the first `low` sections begin with the key or one that is less
                const uint below = size / 2 + 1;
                const uint less = is_at_most(firsts, sections, low + below - 1, key);
                low += less ? below : 0;
                size = less ? size - below : below - 1;
            }
            if (!needed[low])
                needed[low] = 1; // as other work-items would, too
        }
    }
}
