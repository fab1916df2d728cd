// Which patterns run past the start or the end of a record with edits, and by how many bases: a work-item compares a pattern
// with an end of a piece.
//
//   choose_overhangs   insides[pair] is how many of the pattern's first bases the best match has, 0 if there is none: `least` or
//                      more but not all, which end where the record ends with at most edits / length edits a base. There is
//                      none if the whole pattern ends there with `edits`. The best match has the fewest edits and bases left
//                      out together, then the most bases
//
// Pairs are rows (ends, as overhangs.cl has them) of columns (patterns, from `first` on). At the start of a record both are read
// backwards. The columns of the alignment are those of Myers (1999): bit j of two words says whether row j + 1 has an edit more or
// less than row j. A pattern of several words is compared word after word (Hyyro 2003): bit i of the carry of a column says
// whether the last row of the word has an edit more or less there than in the column before. The next word begins with that.
//
// No cell below a row has fewer edits than the row's least one, so words behind one with more than `edits` everywhere are left out.
//
// `masks` has a word for each pattern's word, direction (forwards, backwards) and nucleotide: bit j is that of base j; the words
// of pattern p begin with word first_words[p]. `carry` has two words for each BITS columns and pair.
//
// -D BITS=32|64   bases of a word
// -D LONG=0|1     patterns may have several words
#include "signatures/records.clh"

#if BITS == 64
#define WORD ulong
#else
#define WORD uint
#endif

__kernel void choose_overhangs(__global const uchar *codes, __global const Piece *pieces, __global const Pattern *patterns,
                               __global const uint *ends, uint first, uint columns, uint pairs, uint least, uint edits,
                               __global const WORD *masks, __global const uint *first_words, __global WORD *carry,
                               __global uint *insides)
{
    const uint pair = get_global_id(0);
    if (pair >= pairs)
        return;
    const uint pattern = first + pair % columns, end = ends[pair / columns], last = end & 1;
    const uint length = (uint)patterns[pattern].length;
    const Piece piece = pieces[end / 2];
    const uint size = min(piece.size, length + edits);
    __global const uchar *letters = codes + piece.letters + (last ? piece.size - size : 0);
    uint cost = 0, fewest = ~0u, inside = 0;
#if LONG
    // Rows beyond the last one leave out more bases than there may be edits.
    const uint rows = min(length, size + edits + 1);
    for (uint row = 0; row < rows; row += BITS) {
        __global const WORD *mask = masks + 8 * (ulong)(first_words[pattern] + row / BITS) + (last ? 0 : 4);
        WORD more_before = 0, less_before = 0, more_here = 0, less_here = 0;
        uint here = row + BITS, lowest = here;
#else
    const uint row = 0, rows = length;
    __global const WORD *mask = masks + 8 * (ulong)first_words[pattern] + (last ? 0 : 4);
    {
#endif
        const WORD a = mask[0], c = mask[1], g = mask[2], t = mask[3];
        WORD more = ~(WORD)0, less = 0;
        for (uint i = 0; i < size; ++i) {
            const uint set = letters[last ? i : size - 1 - i];
            WORD met = (set & 1 ? a : 0) | (set & 2 ? c : 0) | (set & 4 ? g : 0) | (set & 8 ? t : 0);
#if LONG
            const uint bit = i % BITS;
            if (row && bit == 0) {
                more_before = carry[2 * (ulong)(i / BITS) * pairs + pair];
                less_before = carry[(2 * (ulong)(i / BITS) + 1) * pairs + pair];
            }
            const WORD more_above = more_before >> bit & 1, less_above = less_before >> bit & 1;
            const WORD down = met | less;
            met |= less_above;
#else
            const WORD more_above = 0, less_above = 0, down = met | less;
#endif
            const WORD across = (((met & more) + more) ^ more) | met;
            WORD right = less | ~(across | more), left = more & across;
#if LONG
            const WORD up = right >> (BITS - 1), back = left >> (BITS - 1);
            more_here |= up << bit;
            less_here |= back << bit;
            here += (uint)up - (uint)back;
            lowest = min(lowest, here);
            if (bit == BITS - 1 || i + 1 == size) {
                carry[2 * (ulong)(i / BITS) * pairs + pair] = more_here;
                carry[(2 * (ulong)(i / BITS) + 1) * pairs + pair] = less_here;
                more_here = less_here = 0;
            }
#endif
            right = right << 1 | more_above;
            left = left << 1 | less_above;
            more = left | ~(down | right);
            less = right & down;
        }
        for (uint j = row + 1; j <= min(rows, row + BITS); ++j) {
            cost += (uint)(more & 1) - (uint)(less & 1);
            more >>= 1;
            less >>= 1;
            if (j >= least && j < length && cost * (ulong)length <= edits * (ulong)j && cost + (length - j) <= fewest) {
                fewest = cost + (length - j);
                inside = j;
            }
        }
#if LONG
        if (row + BITS < rows && lowest > edits) {
            cost = edits + 1;
            break;
        }
    }
    if (rows < length)
        cost = edits + 1;
#else
    }
#endif
    insides[pair] = cost > edits ? inside : 0;
}
