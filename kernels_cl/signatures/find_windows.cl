// Where windows of patterns, up to 32 letters of each, match with at most EDITS edits: 32 cells of a column of the dynamic
// programming in a few operations on words (Myers 1999, Journal of the ACM 46, 395, as Hyyro has them).
//
// Bit i of `up` and of `down` says whether cell i + 1 of a column has one edit more, or one less, than cell i; `edits` is the last
// cell. met[bases * columns + c] has a bit for each letter of window c that meets a letter of the sample. The ends
// begin + 1 .. end of a tile are looked at; alignments start up to EDITS letters more than a window before them.
//
//   find_windows   stretches of 2 EDITS + 1 diagonals that hold the start of a match of the whole pattern if there is one, which is
//                  within EDITS diagonals of the window's end: piece, column and stretch at found[slot], found[room + slot] and
//                  found[2 * room + slot], in no order, as many as there is `room` for; counts[0] counts all, and
//                  counts[1 + t] those of each tile
//
// -D EDITS=1..4
#include "common/portable.clh"
#include "signatures/records.clh"

#define STRETCH (2 * EDITS + 1)

// The letters of a window, and those of its pattern up to the window's end.
typedef struct {
    uint height, behind;
} Window;

__kernel void find_windows(__global const uchar *codes, __global const Piece *pieces, __global const Tile *tiles, uint columns,
                           uint items, __global const uint *met, __global const Window *windows, uint room, __global uint *found,
                           __global uint *counts)
{
    const uint item = get_global_id(0);
    if (item >= items)
        return;
    const uint tile = item / columns, column = item % columns, piece = tiles[tile].piece;
    const uint begin = tiles[tile].begin, end = tiles[tile].end;
    const uint height = windows[column].height, behind = windows[column].behind, last = height - 1;
    __global const uchar *sample = codes + pieces[piece].letters;
    uint up = 0xffffffffu, down = 0, edits = height, own = 0;
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
        const int high = (int)(j + 1) - (int)behind + EDITS;
        if (high < 0)
            continue;
        const int low = MAX(0, high - 2 * EDITS) / STRETCH;
        for (int stretch = MAX(low, next); stretch <= high / STRETCH; ++stretch) {
            const uint slot = atomic_inc(counts);
            if (slot < room) {
                found[slot] = piece;
                found[room + slot] = column;
                found[2 * room + slot] = stretch;
            }
            ++own;
            next = stretch + 1;
        }
    }
    if (own)
        atomic_add(&counts[1 + tile], own);
}
