// Where windows of patterns, up to 32 letters of each, match with at most EDITS edits: 32 cells of a column of the dynamic
// programming in a few operations on words (Myers 1999, Journal of the ACM 46, 395, as Hyyro has them).
//
// Bit i of `up` and of `down` says whether cell i + 1 of a column has one edit more, or one less, than cell i; `edits` is the last
// cell. met[bases * columns + c] has a bit for each letter of window c that meets a letter of the sample. A tile is the ends
// tile_begin[t] + 1 .. tile_end[t] of piece tile_piece[t]; alignments start up to EDITS letters more than a window before them.
//
//   find_windows   stretches of 2 EDITS + 1 diagonals that hold the start of a match of the whole pattern if there is one, which is
//                  within EDITS diagonals of the window's end: found_piece, found_column and found_stretch, in no order, as many as
//                  there is `room` for; total[0] counts all, and counts[t] those of each tile
//
// heights[c] are the letters of window c, behind[c] those of its pattern up to the window's end.
//
// -D EDITS=1..4
#include "common/portable.clh"

#define STRETCH (2 * EDITS + 1)

__kernel void find_windows(__global const uchar *codes, __global const uint *letters, __global const uint *tile_piece,
                           __global const uint *tile_begin, __global const uint *tile_end, uint columns, uint items,
                           __global const uint *met, __global const uint *heights, __global const uint *behind, uint room,
                           __global uint *found_piece, __global uint *found_column, __global uint *found_stretch,
                           __global uint *total, __global uint *counts)
{
    const uint item = get_global_id(0);
    if (item >= items)
        return;
    const uint tile = item / columns, column = item % columns, piece = tile_piece[tile];
    const uint begin = tile_begin[tile], end = tile_end[tile], height = heights[column], last = height - 1;
    __global const uchar *sample = codes + letters[piece];
    uint up = 0xffffffffu, down = 0, edits = height, found = 0;
    int next = 0; // stretches before this one were found
    for (uint j = begin > height + EDITS ? begin - height - EDITS : 0; j < end; ++j) {
        const uint equal = met[(sample[j] & 15u) * columns + column];
        const uint across = (((equal & up) + up) ^ up) | equal;
        uint more = down | ~(across | up), less = up & across;
        edits += (more >> last & 1) - (less >> last & 1);
        more <<= 1;
        less <<= 1;
        const uint still = equal | down;
        up = less | ~(still | more);
        down = more & still;
        if (edits > EDITS || j < begin)
            continue;
        const int high = (int)(j + 1) - (int)behind[column] + EDITS;
        if (high < 0)
            continue;
        const int low = MAX(0, high - 2 * EDITS) / STRETCH;
        for (int stretch = MAX(low, next); stretch <= high / STRETCH; ++stretch) {
            const uint slot = atomic_inc(total);
            if (slot < room) {
                found_piece[slot] = piece;
                found_column[slot] = column;
                found_stretch[slot] = stretch;
            }
            ++found;
            next = stretch + 1;
        }
    }
    if (found)
        atomic_add(&counts[tile], found);
}
