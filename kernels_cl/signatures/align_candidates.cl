// Patterns aligned to samples within a band of diagonals, with at most EDITS substitutions, insertions and deletions.
//
// A cell (i, j) stands for alignments of the pattern's first i letters to letters of the sample that end before letter j; its
// diagonal is j - i. A candidate is a piece, a pattern and the lowest of CELLS diagonals. The band of row i is the cells of these
// diagonals, in registers. An alignment may start in any cell of row 0, and ends in row `length`, whose cells are ends of matches.
//
// Keys and what they are made of: edit_keys.clh. Cells before the piece's first letter keep more than EDITS edits; those behind its
// last letter lead to no end in the piece.
//
//   align_candidates   hits[0] counts the candidates with a match, whose numbers follow, in any order. The keys at the ends that are
//                      on the band's diagonals are at keys[slot * CELLS], and as many sums of qualities at sums[slot * CELLS]. Sums
//                      of what is no match mean nothing
//
// -D EDITS=1..7
// -D WIDE_KEYS=0|1     edit_keys.clh; 0 for at most 4 edits
// -D QUALITIES=0|1     there are qualities
// -D SUM=uint|ulong    quality_sums.clh
#include "common/portable.clh"
#include "signatures/records.clh"
#include "signatures/edit_keys.clh"
#include "signatures/quality_sums.clh"

#define CELLS (4 * EDITS + 1)

// For each nucleotide, at which diagonals' letters it is possible, a bit each; and where the letter is a single nucleotide.
typedef struct {
    uint a, c, g, t, single;
} Window;

// Move on by a letter of the sample.
static inline void shift_window(Window *window, __global const uchar *sample, uint size, int at)
{
    const uint bases = at >= 0 && (uint)at < size ? sample[at] & 15u : 0;
    const uint top = CELLS - 1;
    window->a = window->a >> 1 | (bases & 1) << top;
    window->c = window->c >> 1 | (bases >> 1 & 1) << top;
    window->g = window->g >> 1 | (bases >> 2 & 1) << top;
    window->t = window->t >> 1 | (bases >> 3 & 1) << top;
    window->single = window->single >> 1 | (uint)((bases & (bases - 1)) == 0) << top;
}

// The window's letters that meet one of the pattern.
static inline uint meeting(const Window *window, uint bases)
{
    return (window->a & -(bases & 1)) | (window->c & -(bases >> 1 & 1)) | (window->g & -(bases >> 2 & 1)) |
           (window->t & -(bases >> 3 & 1));
}

__kernel void align_candidates(__global const uchar *codes, __global const Piece *pieces, __global const uchar *memory, ulong skip,
                               uint text_size, __global const SUM *groups, __global const uchar *sets,
                               __global const Pattern *patterns, __global const Candidate *candidates, uint count,
                               __global uint *hits, __global edit_key *keys, __global SUM *sums)
{
    const uint c = get_global_id(0);
    if (c >= count)
        return;
    const Candidate candidate = candidates[c];
    const Piece piece = pieces[candidate.piece];
    const uint letter_count = piece.size;
    const int low = candidate.low, length = (int)patterns[candidate.pattern].length;
    __global const uchar *sample = codes + piece.letters, *own = sets + patterns[candidate.pattern].begin;
    const edit_key one = ONE, shift = SHIFT, nothing = NOTHING(EDITS);
    edit_key cells[CELLS];
    Window window = {0, 0, 0, 0, 0};
    UNROLL
    for (int k = 0; k < CELLS; ++k) {
        cells[k] = low + k >= 0 ? START(EDITS) : nothing;
        if (k > 0)
            shift_window(&window, sample, letter_count, low + k - 1);
    }
    for (int i = 0; i < length; ++i) {
        shift_window(&window, sample, letter_count, low + i + CELLS - 1);
        const uint bases = own[i], met = meeting(&window, bases);
        const uint same = (bases & (bases - 1)) == 0 ? met & window.single : 0;
        edit_key left = nothing, least = nothing;
        UNROLL
        for (int k = 0; k < CELLS; ++k) {
            edit_key key = MIN(nothing, left + one + shift);
            const edit_key across = cells[k] + (met >> k & 1 ? 0 : one) - (same >> k & 1);
            key = MIN(key, across);
            if (k + 1 < CELLS) {
                const edit_key down = cells[k + 1] + one - shift;
                key = MIN(key, down);
            }
            cells[k] = left = key;
            least = MIN(least, key);
        }
        if (EDITS_OF(least) > EDITS)
            return;
    }
    const uint slot = atomic_inc(hits);
    hits[1 + slot] = c;
    UNROLL
    for (int k = 0; k < CELLS; ++k)
        keys[(ulong)slot * CELLS + k] = cells[k];
#if QUALITIES
    // By keys that were just written: in the loop above, each cell would have a copy of the sum's code, to compile for seconds.
    for (int k = 0; k < CELLS; ++k) {
        const edit_key key = keys[(ulong)slot * CELLS + k];
        const int end = low + length + k, start = MIN(end - SHIFT_OF(key) + (EDITS + 1) - length, end - 1);
        SUM sum = 0;
        if (EDITS_OF(key) <= EDITS && end <= (int)letter_count)
            sum = sum_window(groups, memory + skip, piece.qualities + start, end - start, text_size);
        sums[(ulong)slot * CELLS + k] = sum;
    }
#endif
}
