// Places of samples at which seeds of patterns lie: one look at a table for each STEP letters, whatever the number of patterns.
//
// The table (oclgenomics/signatures/seed_table.py) has a row for each head: 125 bits, one a tail, and a list of seeds. A place
// with its bit set is a hit. The CHECKED letters behind the head of each seed in the row are compared with the sample, and what
// passes is a candidate: a start at which the whole pattern has to be compared.
//
// A tile is the look-ups of piece tile_piece[t] at its letters tile_begin[t] .. tile_end[t] - 1, at most TILE letters, of which
// every place divisible by STEP is looked up, counted from the first of the text.
//
//   find_candidates   found_piece, found_seed and found_start hold the candidates, in no order, as many as there is `room` for;
//                     total[0] counts all, and counts[t] those of each tile. With EDITS a candidate is a place at which a seed
//                     lies, in found_start: insertions and deletions shift what is behind it
//   count_listed      counts[t]: the seeds in the rows of all hits of a tile, which find_candidates would compare
//
// -D HEAD=n           seeds.clh
// -D TILE=n           letters of the largest tile
// -D CPU=0|1          1: a work-item a tile; 0: a work-group of LANES a tile
// -D LANES=n
// -D EDITS=0|1        1: compare nothing but the seeds; 0 when not given
#include "common/portable.clh"
#include "common/bits.clh"
#include "signatures/seeds.clh"

#ifndef EDITS
#define EDITS 0
#endif

#define LOOK_UPS (TILE / STEP + 1)

// The word of four letters at a place, which STEP divides; bytes behind the end of the codes are 0.
static inline uint word_at(__global const uchar *codes, uint place, uint end)
{
    if (place + 4 <= end)
        return *(__global const uint *)(codes + place);
    uint word = 0;
    for (uint j = 0; place + j < end; ++j)
        word |= (uint)codes[place + j] << 8 * j;
    return word;
}

// The code of letters FROM .. TO - 1 of the seeds that begin with words `a`; their next letters are in `b` and `c`.
#define DEFINE_CODE(type, name)                                                    \
    static inline type name(type a, type b, type c, uint from, uint to)            \
    {                                                                              \
        type code = 0;                                                             \
        UNROLL                                                                     \
        for (uint j = from; j < to; ++j)                                           \
            code += LETTER(j < 4 ? a : j < 8 ? b : c, j % 4) * WORTH(j - from);    \
        return code;                                                               \
    }

DEFINE_CODE(uint, code_of)

// Whether the tail of a place is in the row of its head.
static inline uint is_hit(__global const uchar *codes, uint place, uint end, __global const uint *bits, uint *row)
{
    const uint a = word_at(codes, place, end), b = word_at(codes, place + 4, end), c = word_at(codes, place + 8, end);
    const uint tail = code_of(a, b, c, HEAD, SEED);
    *row = code_of(a, b, c, 0, HEAD);
    return bits[*row * ROW_WORDS + (tail >> 5)] >> (tail & 31) & 1;
}

// The known letters behind the head at a place, as SEEDS have them; none behind the end of the codes.
static inline ulong known_at(__global const uchar *codes, uint place, uint end)
{
    const uint begin = place + HEAD / 4 * 4;
    ulong low = word_at(codes, begin, end) | (ulong)word_at(codes, begin + 4, end) << 32;
    ulong high = word_at(codes, begin + 8, end) | (ulong)word_at(codes, begin + 12, end) << 32;
#if HEAD % 4
    low = low >> 8 * (HEAD % 4) | high << (64 - 8 * (HEAD % 4));
    high = high >> 8 * (HEAD % 4) | (ulong)word_at(codes, begin + 16, end) << (64 - 8 * (HEAD % 4));
#endif
    return known_sets(low) | known_sets(high) << 32;
}

#define TABLE __global const uint *bits, __global const uint *first, __global const uint *lists
#define SAMPLES \
    __global const uchar *codes, uint end, __global const uint *letters, __global const uint *size, __global const uint *owned
#define TILES __global const uint *tile_piece, __global const uint *tile_begin, __global const uint *tile_end
#define SEEDS \
    __global const ulong *barred, __global const uint *seed_pattern, __global const uint *seed_offset, \
        __global const ulong *offsets
#define FOUND \
    uint mismatches, uint room, __global uint *found_piece, __global uint *found_seed, __global uint *found_start, \
        __global uint *total

// Whether letters have too many mismatches with what a seed bars.
static inline uint differ(ulong known, ulong barred, uint mismatches)
{
#if EDITS
    barred &= LOW_BITS64(4 * TAIL);
#endif
    const ulong wrong = known & barred;
    return wrong && (mismatches == 0 || POPCOUNT64(wrong) > mismatches);
}

// Stores a candidate if the pattern fits into the piece; returns 1 if it does.
static inline uint store(SAMPLES, SEEDS, FOUND, uint piece, uint place, uint seed)
{
#if EDITS
    const uint start = place - letters[piece];
#else
    const uint at = place - letters[piece], offset = seed_offset[seed], pattern = seed_pattern[seed];
    const ulong length = offsets[pattern + 1] - offsets[pattern];
    if (at < offset || at - offset >= owned[piece] || at - offset + length > size[piece])
        return 0;
    const uint start = at - offset;
#endif
    const uint slot = atomic_inc(total);
    if (slot < room) {
        found_piece[slot] = piece;
        found_seed[slot] = seed;
        found_start[slot] = start;
    }
    return 1;
}

#define STORE(place, seed) \
    store(codes, end, letters, size, owned, barred, seed_pattern, seed_offset, offsets, mismatches, room, found_piece, found_seed, \
          found_start, total, piece, place, seed)

// The places of a tile that are looked up: begin, begin + STEP ... before end.
typedef struct {
    uint begin, end;
} Places;

static inline Places places_of(__global const uint *letters, __global const uint *size, uint piece, uint begin, uint end)
{
    const uint whole = size[piece] < SEED ? 0 : size[piece] - SEED + 1;
    const Places places = {(letters[piece] + begin + STEP - 1) / STEP * STEP, letters[piece] + MIN(end, whole)};
    return places;
}

#if CPU

typedef uint16 words_u __attribute__((aligned(4)));

DEFINE_CODE(uint16, codes_of)

// Lists the places of a tile that are hits, and their rows; returns how many.
static inline uint list_hits(__global const uchar *codes, uint end, Places places, __global const uint *bits, uint *hits,
                             uint *rows)
{
    uint count = 0, place = places.begin;
    for (; place + 15 * STEP < places.end && place + 18 * STEP <= end; place += 16 * STEP) {
        __global const uchar *at = codes + place;
        const uint16 a = *(__global const words_u *)at, b = *(__global const words_u *)(at + 4);
        const uint16 c = *(__global const words_u *)(at + 8);
        const uint16 row = codes_of(a, b, c, 0, HEAD), tail = codes_of(a, b, c, HEAD, SEED);
        const uint16 word = row * ROW_WORDS + (tail >> 5);
        uint own[16], where[16], which[16];
        *(uint16 *)own = row;
        *(uint16 *)where = word;
        *(uint16 *)which = tail & 31;
        UNROLL
        for (uint i = 0; i < 16; ++i) {
            hits[count] = place + i * STEP;
            rows[count] = own[i];
            count += bits[where[i]] >> which[i] & 1;
        }
    }
    for (; place < places.end; place += STEP) {
        hits[count] = place;
        count += is_hit(codes, place, end, bits, rows + count);
    }
    return count;
}

__kernel __attribute__((vec_type_hint(ulong8)))
void find_candidates(SAMPLES, TILES, TABLE, SEEDS, FOUND, __global uint *counts)
{
    const uint tile = get_global_id(0);
    uint hits[LOOK_UPS], rows[LOOK_UPS], stops[LOOK_UPS], firsts[LOOK_UPS];
    const uint piece = tile_piece[tile];
    const Places places = places_of(letters, size, piece, tile_begin[tile], tile_end[tile]);
    const uint listed = list_hits(codes, end, places, bits, hits, rows);
    // First what is far away in memory: these loads wait for nothing, and there are many under way.
    for (uint i = 0; i < listed; ++i) {
        const uint row = rows[i], begin = first[row];
        rows[i] = begin;
        stops[i] = first[row + 1];
        firsts[i] = lists[begin];
    }
    uint count = 0;
    for (uint i = 0; i < listed; ++i) {
        const ulong known = known_at(codes, hits[i], end);
        uint seed = firsts[i];
        for (uint j = rows[i];;) {
            if (!differ(known, barred[seed], mismatches))
                count += STORE(hits[i], seed);
            if (++j == stops[i])
                break;
            seed = lists[j];
        }
    }
    counts[tile] = count;
}

__kernel __attribute__((vec_type_hint(ulong8)))
void count_listed(SAMPLES, TILES, TABLE, __global uint *counts)
{
    const uint tile = get_global_id(0);
    uint hits[LOOK_UPS], rows[LOOK_UPS];
    const Places places = places_of(letters, size, tile_piece[tile], tile_begin[tile], tile_end[tile]);
    const uint listed = list_hits(codes, end, places, bits, hits, rows);
    uint count = 0;
    for (uint i = 0; i < listed; ++i)
        count += first[rows[i] + 1] - first[rows[i]];
    counts[tile] = count;
}

#else

#define GROUP_SIZE __attribute__((reqd_work_group_size(LANES, 1, 1)))

GROUP_SIZE
__kernel void find_candidates(SAMPLES, TILES, TABLE, SEEDS, FOUND, __global uint *counts)
{
    __local uint hits[LOOK_UPS], rows[LOOK_UPS], listed, count;
    const uint tile = get_group_id(0), lane = get_local_id(0), piece = tile_piece[tile];
    const Places places = places_of(letters, size, piece, tile_begin[tile], tile_end[tile]);
    if (lane == 0)
        listed = count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint place = places.begin + lane * STEP; place < places.end; place += LANES * STEP) {
        uint row;
        if (is_hit(codes, place, end, bits, &row)) {
            const uint slot = atomic_inc(&listed);
            hits[slot] = place;
            rows[slot] = row;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (uint i = lane; i < listed; i += LANES) {
        const ulong known = known_at(codes, hits[i], end);
        for (uint j = first[rows[i]]; j < first[rows[i] + 1]; ++j)
            if (!differ(known, barred[lists[j]], mismatches))
                own += STORE(hits[i], lists[j]);
    }
    if (own)
        atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        counts[tile] = count;
}

GROUP_SIZE
__kernel void count_listed(SAMPLES, TILES, TABLE, __global uint *counts)
{
    __local uint count;
    const uint tile = get_group_id(0), lane = get_local_id(0);
    const Places places = places_of(letters, size, tile_piece[tile], tile_begin[tile], tile_end[tile]);
    if (lane == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (uint place = places.begin + lane * STEP; place < places.end; place += LANES * STEP) {
        uint row;
        if (is_hit(codes, place, end, bits, &row))
            own += first[row + 1] - first[row];
    }
    if (own)
        atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        counts[tile] = count;
}

#endif
