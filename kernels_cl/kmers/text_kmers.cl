// K-mers of letters as they stand in the text, looked up in a table (key_table.clh).
//
// Cut c are the `windows[c]` windows of k letters that start at text[letters[c]] and behind it; it belongs to piece
// pieces[c]. `cuts` holds letters, windows and pieces, `count` of each. A window with a letter other than A, C, G and T, in either case, is no k-mer. The text begins at byte `skip` of
// the memory.
//
//   count_found   kmers[p] and found[p]: k-mers of piece p, and those that the table has; both are added to
//
// A work-item takes `each` cuts. It gathers BATCH k-mers before it looks them up, so that the processor waits for many lines
// of the table at a time.
//
// -D WORDS=n        words of a k-mer
// -D CANONICAL=0|1  the lesser of a k-mer and its reverse complement
// -D BATCH=n        k-mers that are looked up together
#include "common/fetch.clh"
#include "kmers/key_table.clh"

#if BATCH > 1
#define COME(line) FETCH(line)
#else
#define COME(line)
#endif

// The last k letters, and their reverse complement.
typedef struct {
    ulong forward[WORDS];
#if CANONICAL
    ulong backward[WORDS];
#endif
} Strands;

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
#if CANONICAL
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
        key[w] = strands->forward[w];
#endif
}

static inline uint found_of(const ulong *batch, const uint *lines, uint size, uint slots, __global const ulong *keys,
                            __global const uint *full, __global const uint *poly_a)
{
    uint found = 0;
    for (uint i = 0; i < size; ++i) {
        const ulong *key = batch + i * WORDS;
        if (is_poly_a(key))
            found += *poly_a;
        else
            found += slot_from(keys, slots, full, key, lines[i]) != NO_SLOT;
    }
    return found;
}

__kernel void count_found(__global const uchar *memory, uint skip, __global const uint *cuts, uint count, uint each, uint k, uint slots,
                          __global const ulong *keys, __global const uint *full, __global const uint *poly_a,
                          __global uint *kmers, __global uint *found)
{
    __global const uint *const letters = cuts, *const windows = cuts + count, *const pieces = windows + count;
    __global const uchar *text = memory + skip;
    const uint top = k - 32 * (WORDS - 1);
    const uint begin = MIN((uint)get_global_id(0) * each, count), last = MIN(begin + each, count);
    for (uint c = begin; c < last; ++c) {
        Strands strands;
        for (uint w = 0; w < WORDS; ++w) {
            strands.forward[w] = 0;
#if CANONICAL
            strands.backward[w] = 0;
#endif
        }
        ulong batch[BATCH * WORDS];
        uint lines[BATCH];
        uint run = 0, held = 0, seen = 0, there = 0;
        const uint end = letters[c] + windows[c] + k - 1;
        for (uint at = letters[c]; at < end; ++at) {
            const uint code = code_of(text[at]);
            run = code > 3 ? 0 : run + 1;
            go_on(&strands, code & 3, top);
            if (run < k)
                continue;
            take_kmer(&strands, batch + held * WORDS);
            lines[held] = line_of(batch + held * WORDS, slots / LINE);
            COME(keys + (ulong)LINE * lines[held]);
            ++seen;
            if (++held == BATCH) {
                there += found_of(batch, lines, BATCH, slots, keys, full, poly_a);
                held = 0;
            }
        }
        there += found_of(batch, lines, held, slots, keys, full, poly_a);
        if (seen)
            atomic_add(&kmers[pieces[c]], seen);
        if (there)
            atomic_add(&found[pieces[c]], there);
    }
}
