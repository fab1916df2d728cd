// Matches of patterns that run past the start or the end of a record: a work-item compares a pattern with an end of a piece.
//
//   mask_ends         of end e: bit j of masks[4 * e + c] says whether letter j of the first or last `most_letters` may be c
//   count_overhangs   number of matches of each pair of an end and a pattern; pairs are rows (ends) of columns (patterns)
//   list_overhangs    the numbers of these matches, of pair i from listed[i].to on
//
// An end is twice the number of its piece, plus 1 for the piece's last letters. Match k of the first letters leaves out
// length - least - k letters of the pattern; match k of the last letters begins k letters after the first one that leaves out
// any. So matches are numbered from left to right.
//
// `codes` are those of encode.cl. A match has `least` letters or more, and at most most / length mismatches a letter.
//
// -D BITS=0|32|64   for count_overhangs: no pattern has more letters, so ends and patterns are compared as masks; 0: letter by letter
#include "signatures/records.clh"

#if BITS == 64
#define WORD ulong
#else
#define WORD uint
#endif

#define LETTER 15

typedef struct {
    uint end, pattern, to;
} Listed;

// An end under a pattern: where its letters begin, how many matter, and how many matches are possible.
typedef struct {
    __global const uchar *letters, *pattern;
    uint length, inside, last, count;
} Overhang;

static inline Overhang overhang_of(uint end, Piece piece, Pattern pattern, __global const uchar *codes,
                                   __global const uchar *sets, uint least)
{
    Overhang o;
    o.last = end & 1;
    o.length = (uint)pattern.length;
    o.inside = min(piece.size, o.length - 1);
    o.letters = codes + piece.letters + (o.last ? piece.size - o.inside : 0);
    o.pattern = sets + pattern.begin;
    o.count = o.inside < least ? 0 : o.last ? o.inside - least + 1 : o.length - least;
    return o;
}

static inline uint is_match(Overhang o, uint k, uint least, uint most)
{
    const uint skip = o.last ? 0 : o.length - least - k, begin = o.last ? k : 0;
    const uint size = o.last ? o.inside - k : min(o.inside, o.length - skip);
    const uint allowed = most * size / o.length;
    uint wrong = 0;
    for (uint j = 0; j < size && wrong <= allowed; ++j)
        wrong += (o.letters[begin + j] & o.pattern[skip + j] & LETTER) == 0;
    return wrong <= allowed;
}

__kernel void mask_ends(__global const uchar *codes, __global const Piece *pieces, __global const uint *ends, uint count,
                        uint most_letters, __global WORD *masks)
{
    const uint e = get_global_id(0);
    if (e >= count)
        return;
    const Piece piece = pieces[ends[e] / 2];
    const uint size = min(piece.size, most_letters);
    __global const uchar *letters = codes + piece.letters + (ends[e] & 1 ? piece.size - size : 0);
    WORD mask[4] = {0, 0, 0, 0};
    for (uint j = 0; j < size; ++j)
        for (uint c = 0; c < 4; ++c)
            mask[c] |= (WORD)(letters[j] >> c & 1) << j;
    for (uint c = 0; c < 4; ++c)
        masks[4 * (ulong)e + c] = mask[c];
}

#if BITS
// As `is_match`, for masks of an end and of a pattern; `before` letters of the end come before those that matter.
static inline uint masks_match(Overhang o, uint k, uint least, uint most, const WORD *end, const WORD *pattern, uint before)
{
    const uint skip = o.last ? 0 : o.length - least - k, begin = o.last ? before + k : 0;
    const uint size = o.last ? o.inside - k : min(o.inside, o.length - skip);
    WORD met = 0;
    for (uint c = 0; c < 4; ++c)
        met |= end[c] >> begin & pattern[c] >> skip;
    return (uint)popcount(~met & (WORD)~(WORD)0 >> (BITS - size)) * o.length <= most * size;
}
#endif

__kernel void count_overhangs(__global const uchar *codes, __global const Piece *pieces, __global const uchar *sets,
                              __global const Pattern *patterns, __global const uint *ends, uint columns, uint pairs,
                              uint least, uint most, uint most_letters, __global const WORD *end_masks,
                              __global const WORD *pattern_masks, __global uint *counts)
{
    const uint pair = get_global_id(0);
    if (pair >= pairs)
        return;
    const uint end = ends[pair / columns];
    const Overhang o = overhang_of(end, pieces[end / 2], patterns[pair % columns], codes, sets, least);
    uint count = 0;
#if BITS
    WORD mask[4], letters[4];
    for (uint c = 0; c < 4; ++c) {
        mask[c] = end_masks[4 * (ulong)(pair / columns) + c];
        letters[c] = pattern_masks[4 * (pair % columns) + c];
    }
    const uint before = min(pieces[end / 2].size, most_letters) - o.inside;
    for (uint k = 0; k < o.count; ++k)
        count += masks_match(o, k, least, most, mask, letters, before);
#else
    for (uint k = 0; k < o.count; ++k)
        count += is_match(o, k, least, most);
#endif
    counts[pair] = count;
}

__kernel void list_overhangs(__global const uchar *codes, __global const Piece *pieces, __global const uchar *sets,
                             __global const Pattern *patterns, __global const Listed *listed, uint pairs, uint least,
                             uint most, __global uint *found)
{
    const uint pair = get_global_id(0);
    if (pair >= pairs)
        return;
    const Listed one = listed[pair];
    const Overhang o = overhang_of(one.end, pieces[one.end / 2], patterns[one.pattern], codes, sets, least);
    uint to = one.to;
    for (uint k = 0; k < o.count; ++k)
        if (is_match(o, k, least, most))
            found[to++] = k;
}
