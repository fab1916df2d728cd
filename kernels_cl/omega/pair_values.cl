// pair_values: the linkage disequilibrium value of every pair of sites in a block of rows, by AND and population count.
//
// bits: groups of sites (layout.clh) from site0 on. A work-item keeps BLOCK_J x BLOCK_I counts in registers while it walks the words.
// Entries with i >= j are written as 0. Layout of the output: layout.clh.
//
// Grid: dimension 0 walks the columns of a row tile from the diagonal back, dimension 1 the row tiles.
//   VW = 1 (GPUs)             work-groups of 16 x SIDE_J items, 4 x 4 pairs an item: strips of 64 x 4 SIDE_J, of which a tile of 64 x 64 is made
//   VW > 1 (PoCL CPU)         one item a work-group: 4 rows x VW columns in vector registers, over tiles of 4 x 64
//
// first_tile: row tile of the block to begin with, so that a long launch can be cut.
// -D SIDE_J=n     rows of items in a work-group: 16, or a smaller power of two where the device allows no more
// -D MASKED=1     some states are missing; `valid` lies as `bits` does
// -D GENOTYPES, COMPAT, MEASURE, WIDE: pair_counts.clh
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/pair_counts.clh"

#if VW > 1 && !MASKED && !GENOTYPES
#define BOTH(w) (*(__global const uint_v *)(at_i + (w) * SITE_GROUP) & at_j[(w) * SITE_GROUP])
// Long rows of words are first added up bit by bit: a carry-save adder turns three words into a word of sums and a word of carries, four
// words into one of weight four, and only that is counted (Harley and Seal). Counts are kept in 16-bit lanes, which cost the least to
// widen; a stretch of words adds at most 16 for each four of its words.
#define CARRY_SAVE 1
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

// Ones in common between VW sites and one site, over the first `words` words, a multiple of 4; the pointers are to their first words.
static inline uint_v count_common(__global const uint *at_i, __global const uint *at_j, int words)
{
    uint_v ones = 0, twos = 0;
    HALVES fours = 0;
    for (int w = 0; w < words; w += 4) {
        uint_v carry_a, carry_b, carry;
        ADD_THREE(carry_a, ones, BOTH(w), BOTH(w + 1))
        ADD_THREE(carry_b, ones, BOTH(w + 2), BOTH(w + 3))
        ADD_THREE(carry, twos, carry_a, carry_b)
        fours += count_halves(AS_HALVES(carry));
    }
    return 4 * add_halves(fours) + 2 * add_halves(count_halves(AS_HALVES(twos))) + add_halves(count_halves(AS_HALVES(ones)));
}
#else
#define CARRY_SAVE 0
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
__kernel void pair_values(__global const uint *bits, __global const uint *valid, int words, uint units,
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
#else
#if MASKED
#define ROWS 2
#else
#define ROWS 4
#endif
#define STRETCH 128  // words; a multiple of 4
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
            int w = start;
#if CARRY_SAVE
            w += (stop - start) / 4 * 4;
            for (int b = 0; b < ROWS && w > start; b++)
                here[b].both += count_common(bits + SITE_WORD(i0 - site0, start, words), bits + SITE_WORD(j0 + b - site0, start, words), w - start);
#endif
            for (; w < stop; w++) {
                const size_t at_i = SITE_WORD(i0 - site0, w, words), at_j = SITE_WORD(j0 - site0, w, words);
                const uint_v bits_i = *(__global const uint_v *)(bits + at_i);
#if MASKED
                const uint_v valid_i = *(__global const uint_v *)(valid + at_i);
#else
                const uint_v valid_i = 0;
#endif
#pragma unroll
                for (int b = 0; b < ROWS; b++) {
#if MASKED
                    const uint_v valid_j = (uint_v)valid[at_j + b];
#else
                    const uint_v valid_j = 0;
#endif
                    count_word(&here[b], (uint_v)bits[at_j + b], bits_i, valid_j, valid_i);
                }
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
