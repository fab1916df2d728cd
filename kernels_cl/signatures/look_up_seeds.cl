// Places of samples at which seeds of patterns lie: one look at a table for each STEP letters, whatever the number of patterns.
//
// The table (oclgenomics/signatures/panels/seeds.py) has a row for each head: 125 bits, one a tail, and a list of seeds. A place
// with its bit set is a hit. The CHECKED letters behind the head of each seed in the row are compared with the sample, and what
// passes is a candidate: a start at which the whole pattern has to be compared.
//
// Of the at most TILE letters of a tile every place divisible by STEP is looked up, counted from the first of the text.
//
//   find_candidates   found[slot], found[room + slot] and found[2 * room + slot] are piece, seed and start of the candidates, in no
//                     order, as many as there is `room` for; counts[0] counts all, and counts[1 + t] those of each tile. With
//                     EDITS a candidate is a place at which a seed lies, instead of a start: insertions and deletions shift what
//                     is behind it
//   count_listed      counts[t]: about how many seeds are in the rows of all hits of a tile, which find_candidates would compare. The
//                     bases that a tile begins with are looked up, one in SAMPLED of all but for short tiles
//
// -D HEAD=n           seeds.clh
// -D TILE=n           letters of the largest tile
// -D CPU=0|1          1: a work-item a tile; 0: a work-group of LANES a tile
// -D LANES=n
// -D EDITS=0|1        1: compare nothing but the seeds
// -D MISMATCHES=n     those that a match may have; 0 with EDITS
#include "common/portable.clh"
#include "common/bits.clh"
#include "signatures/records.clh"
#include "signatures/seeds.clh"

#define LOOK_UPS (TILE / STEP + 1)
#define SAMPLED 8

// The word of four letters at a place, which STEP divides; behind a piece there are codes enough to read on (encode.cl).
static inline uint word_at(__global const uchar *codes, uint place)
{
    return *(__global const uint *)(codes + place);
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
static inline uint is_hit(__global const uchar *codes, uint place, __global const uint *bits, uint *row)
{
    const uint a = word_at(codes, place), b = word_at(codes, place + 4), c = word_at(codes, place + 8);
    const uint tail = code_of(a, b, c, HEAD, SEED);
    *row = code_of(a, b, c, 0, HEAD);
    return bits[*row * ROW_WORDS + (tail >> 5)] >> (tail & 31) & 1;
}

// The known letters behind the head at a place, as `barred` has those of seeds.
static inline ulong known_at(__global const uchar *codes, uint place)
{
    const uint begin = place + HEAD / 4 * 4;
    ulong low = word_at(codes, begin) | (ulong)word_at(codes, begin + 4) << 32;
    ulong high = word_at(codes, begin + 8) | (ulong)word_at(codes, begin + 12) << 32;
#if HEAD % 4
    low = low >> 8 * (HEAD % 4) | high << (64 - 8 * (HEAD % 4));
    high = high >> 8 * (HEAD % 4) | (ulong)word_at(codes, begin + 16) << (64 - 8 * (HEAD % 4));
#endif
    return known_sets(low) | known_sets(high) << 32;
}

// The pattern of a seed, and its place in it.
typedef struct {
    uint pattern, offset;
} Seed;

// Whether letters have too many mismatches with what a seed bars.
static inline uint differ(ulong known, ulong barred)
{
#if EDITS
    barred &= LOW_BITS64(4 * TAIL);
#endif
    const ulong wrong = known & barred;
#if MISMATCHES
    return wrong && POPCOUNT64(wrong) > MISMATCHES;
#else
    return wrong != 0;
#endif
}

// Stores a candidate if the pattern fits into the piece; returns 1 if it does.
static inline uint store(Piece piece, uint number, uint place, __global const Seed *seeds, uint seed,
                         __global const Pattern *patterns, uint room, __global uint *found, __global uint *counts)
{
    const uint at = place - piece.letters;
#if EDITS
    const uint start = at;
#else
    const uint offset = seeds[seed].offset;
    const ulong length = patterns[seeds[seed].pattern].length;
    if (at < offset || at - offset >= piece.owned || at - offset + length > piece.size)
        return 0;
    const uint start = at - offset;
#endif
    const uint slot = atomic_inc(counts);
    if (slot < room) {
        found[slot] = number;
        found[room + slot] = seed;
        found[2 * room + slot] = start;
    }
    return 1;
}

#define STORE(place, seed) store(piece, tiles[tile].piece, place, seeds, seed, patterns, room, found, counts)

// The places of a tile that are looked up: begin, begin + STEP ... before end.
typedef struct {
    uint begin, end;
} Places;

static inline Places places_of(Piece piece, uint begin, uint end)
{
    const uint whole = piece.size < SEED ? 0 : piece.size - SEED + 1;
    const Places places = {(piece.letters + begin + STEP - 1) / STEP * STEP, piece.letters + MIN(end, whole)};
    return places;
}

// How many bases of a tile are looked up to estimate its candidates.
static inline uint sampled(Tile tile)
{
    const uint letters = tile.end - tile.begin;
    return MIN(letters, MAX(letters / SAMPLED, STEP * SAMPLED));
}

static inline uint estimate(uint count, Tile tile, uint looked)
{
    return (uint)MIN((ulong)count * (tile.end - tile.begin) / looked, 0xffffffff);
}

#define FIND_ARGUMENTS                                                                                                            \
    __global const uchar *codes, __global const Piece *pieces, __global const Tile *tiles, __global const uint *bits,             \
        __global const uint *first, __global const uint *lists, __global const ulong *barred, __global const Seed *seeds,         \
        __global const Pattern *patterns, uint room, __global uint *found, __global uint *counts
#define COUNT_ARGUMENTS                                                                                                           \
    __global const uchar *codes, __global const Piece *pieces, __global const Tile *tiles, __global const uint *bits,             \
        __global const uint *first, __global uint *counts

#if CPU

typedef uint16 words_u __attribute__((aligned(4)));

DEFINE_CODE(uint16, codes_of)

// Lists the places of a tile that are hits, and their rows; returns how many.
static inline uint list_hits(__global const uchar *codes, Places places, __global const uint *bits, uint *hits, uint *rows)
{
    uint count = 0, place = places.begin;
    for (; place + 15 * STEP < places.end; place += 16 * STEP) {
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
        count += is_hit(codes, place, bits, rows + count);
    }
    return count;
}

__kernel __attribute__((vec_type_hint(ulong8)))
void find_candidates(FIND_ARGUMENTS)
{
    const uint tile = get_global_id(0);
    uint hits[LOOK_UPS], rows[LOOK_UPS], stops[LOOK_UPS], firsts[LOOK_UPS];
    const Piece piece = pieces[tiles[tile].piece];
    const Places places = places_of(piece, tiles[tile].begin, tiles[tile].end);
    const uint listed = list_hits(codes, places, bits, hits, rows);
    // First what is far away in memory: these loads wait for nothing, and there are many under way.
    for (uint i = 0; i < listed; ++i) {
        const uint row = rows[i], begin = first[row];
        rows[i] = begin;
        stops[i] = first[row + 1];
        firsts[i] = lists[begin];
    }
    uint count = 0;
    for (uint i = 0; i < listed; ++i) {
        const ulong known = known_at(codes, hits[i]);
        uint seed = firsts[i];
        for (uint j = rows[i];;) {
            if (!differ(known, barred[seed]))
                count += STORE(hits[i], seed);
            if (++j == stops[i])
                break;
            seed = lists[j];
        }
    }
    counts[1 + tile] = count;
}

__kernel __attribute__((vec_type_hint(ulong8)))
void count_listed(COUNT_ARGUMENTS)
{
    const uint tile = get_global_id(0);
    uint hits[LOOK_UPS], rows[LOOK_UPS];
    const uint looked = sampled(tiles[tile]);
    const Places places = places_of(pieces[tiles[tile].piece], tiles[tile].begin, tiles[tile].begin + looked);
    const uint listed = list_hits(codes, places, bits, hits, rows);
    uint count = 0;
    for (uint i = 0; i < listed; ++i)
        count += first[rows[i] + 1] - first[rows[i]];
    counts[tile] = estimate(count, tiles[tile], looked);
}

#else

#define GROUP_SIZE __attribute__((reqd_work_group_size(LANES, 1, 1)))

GROUP_SIZE
__kernel void find_candidates(FIND_ARGUMENTS)
{
    __local uint hits[LOOK_UPS], rows[LOOK_UPS], listed, count;
    const uint tile = get_group_id(0), lane = get_local_id(0);
    const Piece piece = pieces[tiles[tile].piece];
    const Places places = places_of(piece, tiles[tile].begin, tiles[tile].end);
    if (lane == 0)
        listed = count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint place = places.begin + lane * STEP; place < places.end; place += LANES * STEP) {
        uint row;
        if (is_hit(codes, place, bits, &row)) {
            const uint slot = atomic_inc(&listed);
            hits[slot] = place;
            rows[slot] = row;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (uint i = lane; i < listed; i += LANES) {
        const ulong known = known_at(codes, hits[i]);
        for (uint j = first[rows[i]]; j < first[rows[i] + 1]; ++j)
            if (!differ(known, barred[lists[j]]))
                own += STORE(hits[i], lists[j]);
    }
    if (own)
        atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        counts[1 + tile] = count;
}

GROUP_SIZE
__kernel void count_listed(COUNT_ARGUMENTS)
{
    __local uint count;
    const uint tile = get_group_id(0), lane = get_local_id(0);
    const uint looked = sampled(tiles[tile]);
    const Places places = places_of(pieces[tiles[tile].piece], tiles[tile].begin, tiles[tile].begin + looked);
    if (lane == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (uint place = places.begin + lane * STEP; place < places.end; place += LANES * STEP) {
        uint row;
        if (is_hit(codes, place, bits, &row))
            own += first[row + 1] - first[row];
    }
    if (own)
        atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        counts[tile] = estimate(count, tiles[tile], looked);
}

#endif
