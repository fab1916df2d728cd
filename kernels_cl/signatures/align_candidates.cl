// Patterns aligned to samples within a band of diagonals, with at most EDITS substitutions, insertions and deletions.
//
// A cell (i, j) stands for alignments of the pattern's first i letters to letters of the sample that end before letter j; its
// diagonal is j - i. A candidate is a piece, a pattern and the lowest of CELLS diagonals. The band of row i is the cells of these
// diagonals, in registers. An alignment may start in any cell of row 0, and ends in row `length`, whose cells are ends of matches.
//
// A cell's key, the lower the better, holds three numbers, the first one counting the most:
//     bits 29 - 31   edits, EDITS + 1 for more than EDITS
//     bits 25 - 28   EDITS + 1 plus the cell's diagonal minus the start: the least one is the rightmost start
//     bits 0 - 24    2^25 - 1 less the positions at which single nucleotides are aligned to the same ones
// All three add up along alignments, so each key is the least of three sums:
//     from (i - 1, j - 1), letters aligned          + ONE if they do not meet, - 1 if they are the same nucleotide
//     from (i - 1, j), the pattern's letter deleted + ONE - SHIFT
//     from (i, j - 1), the sample's letter inserted + ONE + SHIFT
// Patterns have less than 2^25 letters. Cells before the piece's first letter keep more than EDITS edits; those behind its last
// letter lead to no end in the piece.
//
//   align_candidates   keys[0] counts the candidates with a match. Each of them has ROW items from keys[1] on, in any order: its
//                      number, and the keys at the ends that are on the band's diagonals; and as many sums of qualities as it has
//                      keys, from sums[slot * CELLS] on. Sums of what is no match mean nothing
//
// -D EDITS=1..4
// -D QUALITIES=0|1     there are qualities
// -D SUM=uint|ulong    quality_sums.clh
#include "common/portable.clh"
#include "signatures/records.clh"
#include "signatures/quality_sums.clh"

#define CELLS (4 * EDITS + 1)
#define ROW (CELLS + 1)
#define ONE (1u << 29)
#define SHIFT (1u << 25)
#define START ((EDITS + 1u) << 25 | (SHIFT - 1))
#define NOTHING ((EDITS + 1u) << 29 | (ONE - 1))

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

typedef struct {
    uint piece, pattern;
    int low;
} Candidate;

__kernel void align_candidates(__global const uchar *codes, __global const Piece *pieces, __global const uchar *memory, ulong skip,
                               uint text_size, __global const SUM *groups, __global const uchar *sets,
                               __global const Pattern *patterns, __global const Candidate *candidates, uint count,
                               __global uint *keys, __global SUM *sums)
{
    const uint c = get_global_id(0);
    if (c >= count)
        return;
    const Candidate candidate = candidates[c];
    const Piece piece = pieces[candidate.piece];
    const uint letter_count = piece.size;
    const int low = candidate.low, length = (int)patterns[candidate.pattern].length;
    __global const uchar *sample = codes + piece.letters, *own = sets + patterns[candidate.pattern].begin;
    uint cells[CELLS];
    Window window = {0, 0, 0, 0, 0};
    UNROLL
    for (int k = 0; k < CELLS; ++k) {
        cells[k] = low + k >= 0 ? START : NOTHING;
        if (k > 0)
            shift_window(&window, sample, letter_count, low + k - 1);
    }
    for (int i = 0; i < length; ++i) {
        shift_window(&window, sample, letter_count, low + i + CELLS - 1);
        const uint bases = own[i], met = meeting(&window, bases);
        const uint same = (bases & (bases - 1)) == 0 ? met & window.single : 0;
        uint left = NOTHING, least = NOTHING;
        UNROLL
        for (int k = 0; k < CELLS; ++k) {
            uint key = MIN(NOTHING, left + ONE + SHIFT);
            const uint across = cells[k] + (met >> k & 1 ? 0 : ONE) - (same >> k & 1);
            key = MIN(key, across);
            if (k + 1 < CELLS) {
                const uint down = cells[k + 1] + ONE - SHIFT;
                key = MIN(key, down);
            }
            cells[k] = left = key;
            least = MIN(least, key);
        }
        if (least >= (EDITS + 1) * ONE)
            return;
    }
    const uint slot = atomic_inc(keys);
    __global uint *row = keys + 1 + (ulong)slot * ROW;
    row[0] = c;
    UNROLL
    for (int k = 0; k < CELLS; ++k) {
        row[1 + k] = cells[k];
#if QUALITIES
        const int end = low + length + k, start = low + k + (EDITS + 1) - (int)(cells[k] >> 25 & 15);
        SUM sum = 0;
        if (cells[k] < (EDITS + 1) * ONE && end <= (int)letter_count)
            sum = sum_window(groups, memory + skip, piece.qualities + MIN(start, end - 1), end - MIN(start, end - 1), text_size);
        sums[(ulong)slot * CELLS + k] = sum;
#endif
    }
}
