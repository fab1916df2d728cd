// ld_matrix: linkage disequilibrium of every pair of sites in a block of rows, to be looked at rather than summed: r^2, or n r^2 as omega
// sums it.
//
// Row s of the block is site row0 + s, column c is site row0 + c; `stride`, a multiple of VW, columns a row. Entries that are not right of
// the diagonal are 0: every pair is there once, in the row of its earlier site. row0 is a multiple of TILE.
//
// bits: groups of all sites (layout.clh). An item does 4 rows x VW columns. Grid: dimension 0 the columns / VW, dimension 1 the rows / 4.
//
// -D MASKED=1             some states are missing; `valid` lies as `bits` does
// -D PER_HAPLOTYPE=0|1    1: r^2, which never passes 1, and is NaN where a site does not vary; 0: n r^2, there 0
// -D GENOTYPES, WIDE: pair_counts.clh
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/pair_counts.clh"

#define ROWS 4

static inline float_v shown_value(const counts_t *count, int i, int j, uint units, __global const uint *ones, __global const float *weight,
                                  float haplotypes)
{
    const float_v value = counted_value(count, i, j, units, ones, weight, haplotypes);
#if !PER_HAPLOTYPE
    return value;
#else
#if MASKED
    const float_v n = CONVERT_V(float, count->units > 0 ? count->units : (uint_v)1);
#else
    const float_v n = (float_v)haplotypes;
#endif
    const float_v square = value / n;
    return both_vary(count, i, j, weight) ? (square > 1.0f ? (float_v)1.0f : square) : (float_v)NAN;
#endif
}

__kernel void ld_matrix(__global const uint *bits, __global const uint *valid, int words, uint units, __global const uint *ones,
                        __global const float *weight, float haplotypes, __global float *out, int row0, int rows, int stride)
{
    const int column = (int)get_global_id(0) * VW, row = (int)get_global_id(1) * ROWS;
    if (column >= stride)
        return;
    const int j = row0 + column, i0 = row0 + row;
    counts_t count[ROWS];
#pragma unroll
    for (int b = 0; b < ROWS; b++)
        count[b] = (counts_t){0};
    for (int w = 0; w < words && column + VW - 1 > row; w++) {
        const size_t at_j = SITE_WORD(j, w, words), at_i = SITE_WORD(i0, w, words);
        const uint_v bits_j = LOAD_V(uint, bits + at_j);
#if MASKED
        const uint_v valid_j = LOAD_V(uint, valid + at_j);
#else
        const uint_v valid_j = 0;
#endif
#pragma unroll
        for (int b = 0; b < ROWS; b++) {
#if MASKED
            const uint_v valid_i = (uint_v)valid[at_i + b];
#else
            const uint_v valid_i = 0;
#endif
            count_word(&count[b], (uint_v)bits[at_i + b], bits_j, valid_i, valid_j);
        }
    }
    for (int b = 0; b < ROWS && row + b < rows; b++) {
        const int_v later = row + b < column + LANE_NUMBERS;
        const float_v value = later ? shown_value(&count[b], i0 + b, j, units, ones, weight, haplotypes) : (float_v)0.0f;
        STORE_V(float, out + (size_t)(row + b) * stride + column, value);
    }
}
