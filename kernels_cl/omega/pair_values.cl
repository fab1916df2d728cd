// pair_values: the linkage disequilibrium value of every pair of sites in a block of rows, by AND and population count.
//
// bits: groups of sites (layout.clh) from site0 on. A work-item keeps BLOCK_J x BLOCK_I counts in registers while it walks the words.
// Entries with i >= j are written as 0. Layout of the output: layout.clh.
//
// Grid: dimension 0 walks the columns of a row tile from the diagonal back, dimension 1 the row tiles.
//   VW = 1 (GPUs)             work-groups of 16 x SIDE_J items, 4 x 4 pairs an item: strips of 64 x 4 SIDE_J, of which a tile of 64 x 64 is made
//   VW > 1 (CPUs)             one item a work-group: tiles of 16 x 64 pairs, row by row with VW columns a vector; of 2 x 64 where states are missing
//
// first_tile: row tile of the block to begin with, so that a long launch can be cut.
// -D SIDE_J=n     rows of items in a work-group: 16, or a smaller power of two where the device allows no more
// -D MASKED=1     some states are missing; `valid` lies as `bits` does
// -D GENOTYPES, COMPAT, MEASURE, WIDE: pair_counts.clh
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/pair_counts.clh"

// Where nothing is missing, CPUs leave out the words of the row's site that are 0: most alleles are rare.
#define LISTED (VW > 1 && !MASKED)
#if VW > 1
#define MARKED_WORDS 32
#define MARKS(words) CEIL_DIV(words, MARKED_WORDS)  // numbers of a site

// marks: for each site, a bit for each of its words that is not 0. Grid: the numbers of a site, groups of sites.
__kernel void mark_words(__global const uint *bits, int words, __global uint *marks)
{
    const int from = (int)get_global_id(0) * MARKED_WORDS, site = (int)get_global_id(1) * SITE_GROUP;
    const int stop = MIN(from + MARKED_WORDS, words);
    for (int x = 0; x < SITE_GROUP; x += VW) {
        uint_v mark = 0;
        for (int w = from; w < stop; w++)
            mark |= *(__global const uint_v *)(bits + SITE_WORD(site + x, w, words)) != 0u ? (uint_v)(1u << (w - from)) : (uint_v)0u;
        for (int l = 0; l < VW; l++)
            marks[(size_t)(site + x + l) * MARKS(words) + get_global_id(0)] = ((const uint *)&mark)[l];
    }
}
#endif

#if LISTED
#define STRETCH 128  // words; a multiple of MARKED_WORDS
#define ROWS 16
#define EACH (GENOTYPES ? 2 : 1)
#define AT_ONCE 4
#define COLUMNS (TILE / VW)

// Words of a row's site that are not 0, and where those lie that they meet, counted from the first word of a group; filled up to AT_ONCE with zeros.
typedef struct {
    int count;
    uint places[STRETCH * EACH + AT_ONCE], values[STRETCH * EACH + AT_ONCE];
} list_t;

// Lists the words [start, stop) of a site, the first of which is at at_j; of unphased genotypes each twice, for both of their products.
static inline void list_words(list_t *list, __global const uint *at_j, __global const uint *marks, int start, int stop)
{
    int n = 0;
    for (int w = start; w < stop; w += MARKED_WORDS)
        for (uint left = marks[w / MARKED_WORDS]; left; left &= left - 1) {
            const uint place = (uint)(w + 31 - (int)clz(left & -left)) * SITE_GROUP, value = at_j[place];
            list->places[n] = place;
            list->values[n++] = value;
#if GENOTYPES
            list->places[n] = place;
            list->values[n++] = SWAP_PAIRS(value);
#endif
        }
    list->count = n;
    for (; n % AT_ONCE; n++) {
        list->places[n] = (uint)start * SITE_GROUP;
        list->values[n] = 0;
    }
}

#define BOTH(n) (*(__global const uint_v *)(at_i + list->places[n]) & list->values[n])
#if VW == 16
// Processors with a population count of vectors: all columns of a tile at a time, so that a word of the row is loaded once.
static inline void count_listed(const list_t *list, __global const uint *at_i, size_t group, uint_v *counts)
{
    uint_v here[COLUMNS];
    UNROLL
    for (int v = 0; v < COLUMNS; v++)
        here[v] = counts[v];
    for (int n = 0; n < list->count; n++) {
        const uint_v value = (uint_v)list->values[n];
        __global const uint *words = at_i + list->places[n];
        UNROLL
        for (int v = 0; v < COLUMNS; v++)
            here[v] += POPCOUNT_V(*(__global const uint_v *)(words + v * group) & value);
    }
    UNROLL
    for (int v = 0; v < COLUMNS; v++)
        counts[v] = here[v];
}
#else
// Else words are first added up bit by bit: a carry-save adder turns three words into a word of sums and a word of carries, four words into one of
// weight four, and only that is counted (Harley and Seal). Counts are kept in 16-bit lanes, which cost the least to widen; a stretch of words adds
// at most 16 for each four of its words.
#define HALVES PASTE(ushort, TWICE_VW)
#define AS_HALVES(x) PASTE(as_ushort, TWICE_VW)(x)

static inline HALVES count_halves(HALVES x)
{
    x = x - ((x >> (ushort)1) & (ushort)0x5555);
    x = (x & (ushort)0x3333) + ((x >> (ushort)2) & (ushort)0x3333);
    x = (x + (x >> (ushort)4)) & (ushort)0x0f0f;
    return (x * (ushort)0x0101) >> (ushort)8;
}

static inline uint_v add_halves(HALVES x)
{
    const uint_v pairs = AS_V(uint, x);
    return (pairs & 0xffffu) + (pairs >> 16);
}

#define ADD_THREE(carry, sum, x, y)                                                                                                            \
    {                                                                                                                                          \
        const uint_v either = sum ^ (x), both_bits = sum & (x);                                                                                \
        carry = both_bits | (either & (y));                                                                                                    \
        sum = either ^ (y);                                                                                                                    \
    }

// Ones in common between VW sites and the words of a list.
static inline uint_v count_common(const list_t *list, __global const uint *at_i)
{
    uint_v ones = 0, twos = 0;
    HALVES fours = 0;
    for (int n = 0; n < list->count; n += AT_ONCE) {
        uint_v carry_a, carry_b, carry;
        ADD_THREE(carry_a, ones, BOTH(n), BOTH(n + 1))
        ADD_THREE(carry_b, ones, BOTH(n + 2), BOTH(n + 3))
        ADD_THREE(carry, twos, carry_a, carry_b)
        fours += count_halves(AS_HALVES(carry));
    }
    return 4 * add_halves(fours) + 2 * add_halves(count_halves(AS_HALVES(twos))) + add_halves(count_halves(AS_HALVES(ones)));
}

static inline void count_listed(const list_t *list, __global const uint *at_i, size_t group, uint_v *counts)
{
    for (int v = 0; v < COLUMNS; v++)
        counts[v] += count_common(list, at_i + v / (SITE_GROUP / VW) * group + v % (SITE_GROUP / VW) * VW);
}
#endif
#endif

// The values as they are summed; 0 where i >= j.
static inline sum_v value_of(const counts_t *count, int j, int i, uint units, __global const uint *ones, __global const float *weight,
                             float haplotypes, float scale)
{
    const int_v earlier = i + LANE_NUMBERS < j;
    const float_v value = counted_value(count, j, i, units, ones, weight, haplotypes);
    const float_v kept = earlier ? value : (float_v)0.0f;
#if COMPAT
    return kept;
#else
    return fixed_point(kept, scale);
#endif
}

#if LISTED
#define MARKS_ARGUMENT __global const uint *marks,
#else
#define MARKS_ARGUMENT
#endif
#if VW == 1
#define BLOCK 4
#define SIDE 16
#ifndef SIDE_J
#define SIDE_J 16
#endif
#define STRIP (BLOCK * SIDE_J)
// Unrolled, the loop over words takes AMD's CDNA more registers than a lane has.
#ifdef __AMDGCN__
#define WORD_LOOP _Pragma("unroll 1")
#else
#define WORD_LOOP
#endif
__attribute__((reqd_work_group_size(SIDE, SIDE_J, 1)))
#endif
__kernel void pair_values(__global const uint *bits, __global const uint *valid, MARKS_ARGUMENT int words, uint units,
                          __global const uint *ones, __global const float *weight, float haplotypes, __global sum_t *sums, block_t block,
                          int site0, int first_tile)
{
    const int row0 = block.row0, rows = block.rows, col0 = block.col0, stride = block.stride;
    const float scale = block.scale;
#if VW == 1
    const int tile_j = row0 + (first_tile + (int)get_group_id(1)) * TILE;
    const int tile_i = (tile_j / TILE - (int)get_group_id(0)) * TILE;
    if (tile_i < col0)
        return;
    const int i0 = tile_i + (int)get_local_id(0);
    for (int strip = 0; strip < TILE; strip += STRIP) {
        const int j0 = tile_j + strip + (int)get_local_id(1);
        counts_t count[BLOCK][BLOCK];
#pragma unroll
        for (int b = 0; b < BLOCK; b++)
#pragma unroll
            for (int a = 0; a < BLOCK; a++)
                count[b][a] = (counts_t){0};
        WORD_LOOP
        for (int w = 0; w < words; w++) {
            uint bits_i[BLOCK], bits_j[BLOCK], valid_i[BLOCK], valid_j[BLOCK];
#pragma unroll
            for (int a = 0; a < BLOCK; a++) {
                const size_t at_i = SITE_WORD(i0 + a * SIDE - site0, w, words), at_j = SITE_WORD(j0 + a * SIDE_J - site0, w, words);
                bits_i[a] = bits[at_i];
                bits_j[a] = bits[at_j];
#if MASKED
                valid_i[a] = valid[at_i];
                valid_j[a] = valid[at_j];
#else
                valid_i[a] = valid_j[a] = 0;
#endif
            }
#pragma unroll
            for (int b = 0; b < BLOCK; b++)
#pragma unroll
                for (int a = 0; a < BLOCK; a++)
                    count_word(&count[b][a], bits_j[b], bits_i[a], valid_j[b], valid_i[a]);
        }
#pragma unroll
        for (int b = 0; b < BLOCK; b++) {
            const int j = j0 + b * SIDE_J;
#pragma unroll
            for (int a = 0; a < BLOCK; a++) {
                const int i = i0 + a * SIDE;
                if (j < row0 + rows)
                    sums[AT(j, i)] = value_of(&count[b][a], j, i, units, ones, weight, haplotypes, scale);
            }
        }
    }
#elif LISTED
    const int j0 = row0 + first_tile * TILE + (int)get_global_id(1) * ROWS;
    const int tile_i = (j0 / TILE - (int)get_global_id(0)) * TILE;
    if (tile_i < col0)
        return;
    const int rows_here = MIN(ROWS, row0 + rows - j0);
    counts_t counts[ROWS][COLUMNS];
    for (int b = 0; b < ROWS; b++)
        for (int v = 0; v < COLUMNS; v++)
            counts[b][v] = (counts_t){0};
    // a stretch of words of all columns stays in the first-level cache for all rows
    for (int start = 0; start < words; start += STRETCH)
        for (int b = 0; b < rows_here; b++) {
            const int site = j0 + b - site0;
            list_t list;
            list_words(&list, bits + SITE_WORD(site, 0, words), marks + (size_t)site * MARKS(words), start, MIN(start + STRETCH, words));
            count_listed(&list, bits + SITE_WORD(tile_i - site0, 0, words), (size_t)words * SITE_GROUP, &counts[b][0].both);
        }
    for (int b = 0; b < rows_here; b++)
        for (int v = 0; v < COLUMNS; v++) {
            const int j = j0 + b, i0 = tile_i + v * VW;
            STORE_V(sum, sums + AT(j, i0), value_of(&counts[b][v], j, i0, units, ones, weight, haplotypes, scale));
        }
#else
#define ROWS 2
#define STRETCH 128  // words
    const int j0 = row0 + first_tile * TILE + (int)get_global_id(1) * ROWS;
    const int tile_i = (j0 / TILE - (int)get_global_id(0)) * TILE;
    if (tile_i < col0)
        return;
    counts_t counts[TILE / VW][ROWS];
    for (int v = 0; v < TILE / VW; v++)
        for (int b = 0; b < ROWS; b++)
            counts[v][b] = (counts_t){0};
    // a stretch of words of all columns stays in the first-level cache for all rows
    for (int start = 0; start < words; start += STRETCH) {
        const int stop = MIN(start + STRETCH, words);
        for (int v = 0; v < TILE / VW; v++) {
            const int i0 = tile_i + v * VW;
            counts_t here[ROWS];
#pragma unroll
            for (int b = 0; b < ROWS; b++)
                here[b] = counts[v][b];
            for (int w = start; w < stop; w++) {
                const size_t at_i = SITE_WORD(i0 - site0, w, words), at_j = SITE_WORD(j0 - site0, w, words);
                const uint_v bits_i = *(__global const uint_v *)(bits + at_i), valid_i = *(__global const uint_v *)(valid + at_i);
#pragma unroll
                for (int b = 0; b < ROWS; b++)
                    count_word(&here[b], (uint_v)bits[at_j + b], bits_i, (uint_v)valid[at_j + b], valid_i);
            }
#pragma unroll
            for (int b = 0; b < ROWS; b++)
                counts[v][b] = here[b];
        }
    }
    for (int b = 0; b < ROWS && j0 + b < row0 + rows; b++)
        for (int v = 0; v < TILE / VW; v++) {
            const int j = j0 + b, i0 = tile_i + v * VW;
            STORE_V(sum, sums + AT(j, i0), value_of(&counts[v][b], j, i0, units, ones, weight, haplotypes, scale));
        }
#endif
}
