// Patterns aligned to samples within wide bands of diagonals, with at most so many substitutions, insertions and deletions: as
// align_candidates.cl does it, for any number of edits, with the band's cells in memory instead of registers.
//
//   align_bands   the keys at the ends that are on the diagonals of candidate c at keys[c * cells], as many sums of qualities at
//                 sums[c * cells]. Sums of what is no match mean nothing
//
// Hints of vector types keep CPUs' compilers from joining work-items, which would gather what lies apart.
//
// -D WIDE_KEYS=1       edit_keys.clh
// -D QUALITIES=0|1     there are qualities
// -D SUM=uint|ulong    quality_sums.clh
#include "common/portable.clh"
#include "signatures/records.clh"
#include "signatures/edit_keys.clh"
#include "signatures/quality_sums.clh"

__attribute__((vec_type_hint(ulong8)))
__kernel void align_bands(__global const uchar *codes, __global const Piece *pieces, __global const uchar *memory, ulong skip,
                 uint text_size, __global const SUM *groups, __global const uchar *sets, __global const Pattern *patterns,
                 __global const Candidate *candidates, uint count, int edits, __global edit_key *keys,
                 __global SUM *sums)
{
    const uint c = get_global_id(0);
    if (c >= count)
        return;
    const Candidate candidate = candidates[c];
    const Piece piece = pieces[candidate.piece];
    const int size = (int)piece.size, low = candidate.low, length = (int)patterns[candidate.pattern].length, cells = 4 * edits + 1;
    __global const uchar *sample = codes + piece.letters, *own = sets + patterns[candidate.pattern].begin;
    __global edit_key *row = keys + (ulong)c * cells;
    const edit_key one = ONE, shift = SHIFT, nothing = NOTHING(edits);
    for (int k = 0; k < cells; ++k)
        row[k] = low + k >= 0 ? START(edits) : nothing;
    // The cells from `first` to `last` may have few enough edits; all others were left with more.
    int first = 0, last = cells - 1;
    for (int i = 0; i < length && first <= last; ++i) {
        const uint bases = own[i], single = (bases & (bases - 1)) == 0;
        edit_key left = nothing, here = row[first];
        int from = cells, to = -1;
        // A letter of the pattern that is left out leads to the diagonal below, letters of the sample to those above.
        const int begin = MAX(first - 1, 0);
        if (begin < first)
            here = nothing;
        for (int k = begin; k < cells; ++k) {
            const int at = low + i + k;
            const edit_key above = k + 1 <= last ? row[k + 1] : nothing;
            const uint letter = at >= 0 && at < size ? sample[at] & 15u : 0, same = single && letter == bases;
            edit_key key = MIN(nothing, left + one + shift);
            const edit_key across = here + (letter & bases ? 0 : one) - same, down = above + one - shift;
            key = MIN(key, across);
            key = MIN(key, down);
            row[k] = left = key;
            here = above;
            if (EDITS_OF(key) <= edits) {
                from = MIN(from, k);
                to = k;
            } else if (k > last) {
                break;
            }
        }
        first = from;
        last = to;
    }
#if QUALITIES
    for (int k = 0; k < cells; ++k) {
        const int end = low + length + k, start = MIN(end - SHIFT_OF(row[k]) + (edits + 1) - length, end - 1);
        SUM sum = 0;
        if (EDITS_OF(row[k]) <= edits && end <= size)
            sum = sum_window(groups, memory + skip, piece.qualities + start, end - start, text_size);
        sums[(ulong)c * cells + k] = sum;
    }
#endif
}
