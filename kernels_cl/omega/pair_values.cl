// pair_values: the linkage disequilibrium value of every pair of sites in a block of rows, by AND and population count.
//
// bits[w * sites + s]: word w of site s (word-major, so that neighbouring sites are neighbouring words); `sites` is padded with empty sites to
// a multiple of 64, at least 64 past the last one. A work-item keeps BLOCK_J x BLOCK_I counts in registers while it walks the words.
// Entries with i >= j are written as 0. Layout of the output: layout.clh.
//
// Grid: dimension 0 walks the columns of a row tile from the diagonal back, dimension 1 the row tiles.
//   VW = 1 (GPUs, Intel CPU)  work-groups of 16 x 16 items, 4 x 4 pairs an item: tiles of 64 x 64
//   VW > 1 (PoCL CPU)         one item a work-group: 4 rows x VW columns in vector registers, over tiles of 4 x 64
//
// -D MASKED=1     some states are missing: counts run over the units observed at both sites, `valid` has the layout of `bits`
// -D GENOTYPES=1  unphased: bit 2s is "sample s carries the allele", bit 2s + 1 "carries it twice", so that a dosage is their sum
// -D COMPAT, MEASURE, WIDE: pair_value.clh
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/pair_value.clh"

#ifndef MASKED
#define MASKED 0
#endif
#ifndef GENOTYPES
#define GENOTYPES 0
#endif

#define TILE 64

#if GENOTYPES
#define SWAP_PAIRS(x) ((((x) >> 1) & 0x55555555u) | (((x) & 0x55555555u) << 1))
#define COUNT_BOTH(x, y) (POPCOUNT_V((x) & (y)) + POPCOUNT_V((x) & SWAP_PAIRS(y)))
#define COUNT_TWICE(x) POPCOUNT_V((x) & 0xaaaaaaaau)
#else
#define COUNT_BOTH(x, y) POPCOUNT_V((x) & (y))
#endif

// What is counted for one pair (or VW pairs).
typedef struct {
    uint_v both;
#if MASKED
    uint_v units, in_j, in_i;
#if GENOTYPES
    uint_v twice_j, twice_i;
#endif
#endif
} counts_t;

static inline void count_word(counts_t *count, uint_v bits_j, uint_v bits_i, uint_v valid_j, uint_v valid_i)
{
    count->both += COUNT_BOTH(bits_i, bits_j);
#if MASKED
    count->units += POPCOUNT_V(valid_j & valid_i);
    count->in_j += POPCOUNT_V(bits_j & valid_i);
    count->in_i += POPCOUNT_V(bits_i & valid_j);
#if GENOTYPES
    count->twice_j += COUNT_TWICE(bits_j & valid_i);
    count->twice_i += COUNT_TWICE(bits_i & valid_j);
#endif
#endif
}

#if VW == 1
#define LANE(x, l) (x)
#else
#define LANE(x, l) (((const uint *)&(x))[l])
#endif

// The value of lane l; j is the later site. ones: state sums of the sites, weight: 1 / variance of the sites (complete data).
static inline sum_t value_of(const counts_t *count, int l, int j, int i, uint units, __global const uint *ones,
                             __global const float *weight, float haplotypes, float scale)
{
    if (i >= j)
        return 0;
    const uint both = LANE(count->both, l);
#if MASKED
    uint n = LANE(count->units, l), in_j = LANE(count->in_j, l), in_i = LANE(count->in_i, l);
#if GENOTYPES
    n >>= 1;
    const uint square_j = in_j + 2 * LANE(count->twice_j, l), square_i = in_i + 2 * LANE(count->twice_i, l);
    const float ploidy = 2.0f;
#else
    const uint square_j = in_j, square_i = in_i;
    const float ploidy = 1.0f;
#endif
#if COMPAT
    return compat_value(n, both, in_j, in_i);
#else
    return fixed_point(masked_value(n, both, in_j, in_i, square_j, square_i, ploidy), scale);
#endif
#elif COMPAT
    return compat_value(units, both, ones[j], ones[i]);
#else
    return fixed_point(complete_value(units, both, ones[j], ones[i], weight[j], weight[i], haplotypes), scale);
#endif
}

#if VW == 1
#define BLOCK 4
#define SIDE 16
__attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
#endif
__kernel void pair_values(__global const uint *bits, __global const uint *valid, int sites, int words, uint units,
                          __global const uint *ones, __global const float *weight, float haplotypes, float scale,
                          __global sum_t *sums, int row0, int rows, int col0, int stride)
{
#if VW == 1
    const int tile_j = row0 + (int)get_group_id(1) * TILE;
    const int tile_i = (tile_j / TILE - (int)get_group_id(0)) * TILE;
    if (tile_i < col0)
        return;
    const int j0 = tile_j + (int)get_local_id(1), i0 = tile_i + (int)get_local_id(0);
    counts_t count[BLOCK][BLOCK];
#pragma unroll
    for (int b = 0; b < BLOCK; b++)
#pragma unroll
        for (int a = 0; a < BLOCK; a++)
            count[b][a] = (counts_t){0};
    for (int w = 0; w < words; w++) {
        const size_t base = (size_t)w * sites;
        uint bits_i[BLOCK], bits_j[BLOCK], valid_i[BLOCK], valid_j[BLOCK];
#pragma unroll
        for (int a = 0; a < BLOCK; a++) {
            bits_i[a] = bits[base + i0 + a * SIDE];
            bits_j[a] = bits[base + j0 + a * SIDE];
#if MASKED
            valid_i[a] = valid[base + i0 + a * SIDE];
            valid_j[a] = valid[base + j0 + a * SIDE];
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
        const int j = j0 + b * SIDE;
        if (j >= row0 + rows)
            break;
#pragma unroll
        for (int a = 0; a < BLOCK; a++) {
            const int i = i0 + a * SIDE;
            sums[AT(j, i)] = value_of(&count[b][a], 0, j, i, units, ones, weight, haplotypes, scale);
        }
    }
#else
#if MASKED
#define ROWS 2
#else
#define ROWS 4
#endif
    const int j0 = row0 + (int)get_global_id(1) * ROWS;
    const int tile_i = (j0 / TILE - (int)get_global_id(0)) * TILE;
    if (tile_i < col0)
        return;
    for (int i0 = tile_i; i0 < tile_i + TILE; i0 += VW) {
        counts_t count[ROWS];
#pragma unroll
        for (int b = 0; b < ROWS; b++)
            count[b] = (counts_t){0};
        for (int w = 0; w < words; w++) {
            const size_t base = (size_t)w * sites;
            const uint_v bits_i = *(__global const uint_v *)(bits + base + i0);
#if MASKED
            const uint_v valid_i = *(__global const uint_v *)(valid + base + i0);
#else
            const uint_v valid_i = 0;
#endif
#pragma unroll
            for (int b = 0; b < ROWS; b++) {
#if MASKED
                const uint_v valid_j = (uint_v)valid[base + j0 + b];
#else
                const uint_v valid_j = 0;
#endif
                count_word(&count[b], (uint_v)bits[base + j0 + b], bits_i, valid_j, valid_i);
            }
        }
        for (int b = 0; b < ROWS; b++) {
            const int j = j0 + b;
            if (j >= row0 + rows)
                break;
            for (int l = 0; l < VW; l++)
                sums[AT(j, i0 + l)] = value_of(&count[b], l, j, i0 + l, units, ones, weight, haplotypes, scale);
        }
    }
#endif
}
