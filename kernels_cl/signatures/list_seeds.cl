// What a table of seeds (oclgenomics/signatures/panels/seeds.py) is made of, from the letters of the patterns.
//
// A letter of a pattern can meet each of its nucleotides, and the fifth letter. Bit c of `met_by` says whether it can meet code c.
//
//   count_rows   counts[s]: how many heads in five letters the head of seed s can meet; tails[s]: a bit for each tail in five
//                letters that its tail can meet; barred[s]: the nucleotides that the CHECKED letters behind its head do not match,
//                four bits each, none behind the pattern's end
//   list_rows    rows[i] and listed[i], for i from begins[s] on: each of these heads, and s
//   join_tails   bits[r]: the tails of all seeds of row r, which are lists[first[r]] .. lists[first[r + 1] - 1]
//
// -D HEAD=n   seeds.clh
#include "common/portable.clh"
#include "common/bits.clh"
#include "signatures/records.clh"
#include "signatures/seeds.clh"

#define CHECKED 16
#define ANY 15u

// The pattern of a seed, and its place in it.
typedef struct {
    uint pattern, offset;
} Seed;

static inline uint met_by(uchar bases)
{
    return bases | 16u;
}

// The bits of all tails that letters can meet: one in 5^0 .. 5^2 for each code of a letter.
static inline uint4 tails_of(__global const uchar *letters)
{
    const ulong nearest = met_by(letters[0]);
    const uint middle = met_by(letters[1]), last = met_by(letters[2]);
    ulong square = 0;
    UNROLL
    for (uint code = 0; code < 5; ++code)
        square |= middle >> code & 1 ? nearest << 5 * code : 0;
    // 25 bits for each code of the last letter; those of code 2 lie on either side of bit 64.
    ulong low = square << 0 * 25 & -(ulong)(last & 1);
    low |= square << 1 * 25 & -(ulong)(last >> 1 & 1);
    low |= square << 2 * 25 & -(ulong)(last >> 2 & 1);
    ulong high = square >> (64 - 2 * 25) & -(ulong)(last >> 2 & 1);
    high |= square << (3 * 25 - 64) & -(ulong)(last >> 3 & 1);
    high |= square << (4 * 25 - 64) & -(ulong)(last >> 4 & 1);
    return (uint4)((uint)low, (uint)(low >> 32), (uint)high, (uint)(high >> 32));
}

__kernel void count_rows(__global const uchar *sets, __global const Pattern *patterns, __global const Seed *seeds, uint size,
                         __global uint *counts, __global uint4 *tails, __global ulong *barred)
{
    const uint seed = get_global_id(0);
    if (seed >= size)
        return;
    const Pattern pattern = patterns[seeds[seed].pattern];
    const uint offset = seeds[seed].offset;
    __global const uchar *letters = sets + pattern.begin + offset;
    uint rows = 1;
    UNROLL
    for (uint j = 0; j < HEAD; ++j)
        rows *= POPCOUNT(met_by(letters[j]));
    counts[seed] = rows;
    tails[seed] = tails_of(letters + HEAD);
    const uint behind = (uint)MIN((ulong)CHECKED, pattern.length - offset - HEAD);
    ulong bars = 0;
    for (uint j = 0; j < behind; ++j)
        bars |= (ulong)(ANY ^ letters[HEAD + j]) << 4 * j;
    barred[seed] = bars;
}

__kernel void list_rows(__global const uchar *sets, __global const Pattern *patterns, __global const Seed *seeds, uint size,
                        __global const uint *begins, __global uint *rows, __global uint *listed)
{
    const uint seed = get_global_id(0);
    if (seed >= size)
        return;
    __global const uchar *letters = sets + patterns[seeds[seed].pattern].begin + seeds[seed].offset;
    // Codes that are still to come of each letter, the current one first: the first letter changes fastest.
    uint left[HEAD], row = 0;
    for (uint j = 0; j < HEAD; ++j) {
        left[j] = met_by(letters[j]);
        row += lowest_bit32(left[j]) * WORTH(j);
    }
    for (uint place = begins[seed];; ++place) {
        rows[place] = row;
        listed[place] = seed;
        uint j = 0;
        for (; j < HEAD; ++j) {
            const uint code = lowest_bit32(left[j]);
            left[j] &= left[j] - 1;
            if (left[j]) {
                row += (lowest_bit32(left[j]) - code) * WORTH(j);
                break;
            }
            left[j] = met_by(letters[j]);
            row -= (code - lowest_bit32(left[j])) * WORTH(j);
        }
        if (j == HEAD)
            return;
    }
}

__kernel void join_tails(__global const uint *first, __global const uint *lists, __global const uint4 *tails, uint size,
                         __global uint4 *bits)
{
    const uint row = get_global_id(0);
    if (row >= size)
        return;
    const uint4 every = (uint4)(0xffffffffu, 0xffffffffu, 0xffffffffu, LOW_BITS32(125 - 3 * 32));
    const uint end = first[row + 1];
    uint4 joined = 0;
    for (uint i = first[row]; i < end; ++i) {
        joined |= tails[lists[i]];
        if (joined.x == every.x && joined.y == every.y && joined.z == every.z && joined.w == every.w) // which rows with most seeds soon have
            break;
    }
    bits[row] = joined;
}
