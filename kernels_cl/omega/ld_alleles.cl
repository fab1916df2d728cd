// ld_alleles: overwrites what ld_matrix wrote for pairs in which a site shows three or more states, by the weighted sum over
// one-against-the-rest pairs that allele_values.cl describes.
//
// bits, alleles, first_row, row_count: as there, all sites; the output: as in ld_matrix.cl. Grid: dimension 0 the columns, dimension 1 the rows.
//
// -D PER_HAPLOTYPE=0|1    1: divided by the haplotypes observed at both sites, NaN where one of the sites does not vary; 0: there 0
// -D GENOTYPES, WIDE: allele_pair.clh
#include "common/portable.clh"
#include "omega/allele_pair.clh"
#include "omega/layout.clh"

__kernel void ld_alleles(__global const uint *bits, __global const uint *alleles, __global const uint *valid, int words, __global const int *first_row,
                         __global const int *row_count, __global float *out, int row0, int rows, int stride)
{
    const int column = (int)get_global_id(0), row = (int)get_global_id(1);
    const int j = row0 + column, i = row0 + row;
    if (column >= stride || column <= row || row >= rows)
        return;
    const int states_j = row_count[j], states_i = row_count[i];
    if (states_j < 2 && states_i < 2)
        return;
    const state_sum_t sum = sum_over_states(bits, alleles, words, valid, j, i, first_row[j], states_j, first_row[i], states_i);
    const float of_j = states_j > 1 ? (float)(states_j - 1) / (float)states_j : 1.0f;
    const float of_i = states_i > 1 ? (float)(states_i - 1) / (float)states_i : 1.0f;
    float value = sum.total * (of_j * of_i);
#if PER_HAPLOTYPE
    value = sum.defined ? value / (float)MAX(sum.haplotypes, 1u) : NAN;
#endif
    out[(size_t)row * stride + column] = value;
}
