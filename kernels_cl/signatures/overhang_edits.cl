// Which patterns may run past the start or the end of a record with edits: a work-item compares a pattern with an end of a piece.
//
//   flag_overhangs   flags[pair] is 1 if any number of the pattern's first letters, `least` or more but not all, ends where the
//                    record ends with at most edits / length edits a letter, and the whole pattern does not with `edits`
//
// Pairs are rows (ends, as overhangs.cl has them) of columns (patterns). At the start of a record both are read backwards. The
// columns of the alignment are those of Myers (1999): bit j of two words says whether row j + 1 has an edit more or less than row j.
//
// `masks` has a word for each pattern, direction (forwards, backwards) and nucleotide: bit j is that of letter j.
//
// -D BITS=32|64   letters of a pattern, at most
#include "signatures/records.clh"

#if BITS == 64
#define WORD ulong
#else
#define WORD uint
#endif

__kernel void flag_overhangs(__global const uchar *codes, __global const Piece *pieces, __global const Pattern *patterns,
                             __global const uint *ends, uint columns, uint pairs, uint least, uint edits,
                             __global const WORD *masks, __global uchar *flags)
{
    const uint pair = get_global_id(0);
    if (pair >= pairs)
        return;
    const uint end = ends[pair / columns], last = end & 1, length = (uint)patterns[pair % columns].length;
    const Piece piece = pieces[end / 2];
    const uint size = min(piece.size, length + edits);
    __global const uchar *letters = codes + piece.letters + (last ? piece.size - size : 0);
    __global const WORD *mask = masks + 8 * (pair % columns) + (last ? 0 : 4);
    const WORD a = mask[0], c = mask[1], g = mask[2], t = mask[3];
    WORD more = ~(WORD)0, less = 0;
    for (uint i = 0; i < size; ++i) {
        const uint set = letters[last ? i : size - 1 - i];
        const WORD met = (set & 1 ? a : 0) | (set & 2 ? c : 0) | (set & 4 ? g : 0) | (set & 8 ? t : 0);
        const WORD across = (((met & more) + more) ^ more) | met;
        const WORD right = (less | ~(across | more)) << 1, left = (more & across) << 1, down = met | less;
        more = left | ~(down | right);
        less = right & down;
    }
    uint some = 0, cost = 0;
    for (uint j = 1; j <= length; ++j) {
        cost += (uint)(more & 1) - (uint)(less & 1);
        more >>= 1;
        less >>= 1;
        if (j >= least && j < length)
            some |= cost * length <= edits * j;
    }
    flags[pair] = (uchar)(some && cost > edits);
}
