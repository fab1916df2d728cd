// allele_values: values of pairs in which a site shows three or more states, as a weighted sum over one-against-the-rest pairs
// (Zaykin et al. 2008, as OmegaPlus uses it):
//
//     value(i, j) = (v_i - 1)(v_j - 1) / (v_i v_j) * sum over states a of i, b of j of n r^2(a, b),
//
// where a site with two states takes part with one of them and factor 1, which comes to the same. OmegaPlus' DNA mode (-D COMPAT=1) gives
// every site all its states, counts v over the haplotypes observed at both sites, and multiplies by their number once more; it computes the
// factor and its product with the sum in double.
//
// bits, valid: the sites from site0 on in groups as in layout.clh; alleles: one-against-the-rest rows in such groups, of which site s owns
// first_row[s] .. first_row[s] + row_count[s] - 1 if row_count[s] > 1. The kernel overwrites what pair_values wrote. Grid: dimension 0 the other site of the pair, dimension 1 the `listed` sites (all later sites of a pair when COMPAT).
#include "common/portable.clh"
#include "omega/allele_pair.clh"
#include "omega/layout.clh"

#if COMPAT
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline float compat_sum(state_sum_t sum)
{
    const int states = sum.shown_j * sum.shown_i;
    if (states == 0)
        return 0.0f;
    return (float)((double)sum.total * ((((double)(sum.shown_j - 1) * (double)(sum.shown_i - 1)) * (double)sum.haplotypes) / (double)states));
}
#endif

__kernel void allele_values(__global const uint *bits, __global const uint *alleles, __global const uint *valid, int words,
                            __global const int *first_row, __global const int *row_count, __global const int *listed, int list0, int as_column,
                            __global sum_t *sums, block_t block, int site0)
{
    const int row0 = block.row0, col0 = block.col0, stride = block.stride;
    const int here = listed[list0 + (int)get_global_id(1)];
    const int away = (int)get_global_id(0) + 1;
    const int j = as_column ? MAX(here, row0 - 1) + away : here, i = as_column ? here : here - away;
    if (j < row0 || j >= row0 + block.rows || i < col0 || j - i >= block.band)
        return;
    const int states_j = row_count[j], states_i = row_count[i];
    const state_sum_t sum =
        sum_over_states(bits, alleles, words, valid, j - site0, i - site0, first_row[j], states_j, first_row[i], states_i);
#if COMPAT
    sums[AT(j, i)] = compat_sum(sum);
#else
    const float of_j = states_j > 1 ? (float)(states_j - 1) / (float)states_j : 1.0f;
    const float of_i = states_i > 1 ? (float)(states_i - 1) / (float)states_i : 1.0f;
    sums[AT(j, i)] = fixed_point(sum.total * (of_j * of_i), block.scale);
#endif
}
