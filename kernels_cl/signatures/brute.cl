// Brute force, the method of the paper: a work-item compares one pattern with one piece, start by start and letter by letter.
//
// Neighbouring work-items share the piece and vary the pattern, so they read the same letters at about the same time. A
// comparison ends at the first letter too many that does not match. Hits, first and best match stay in registers.
//
// -D QUALITIES=0|1      samples have qualities; else all sums are 0
// -D PREFIX_SUMS=0|1    1: the sum of a window's qualities is the difference of two prefix sums; 0: its qualities are added up
// -D FILTERED=0|1       matches need a least sum of qualities and a least number of informative positions, per pattern
// -D SUM=uint|ulong     type of sums of qualities
#include "signatures/matches.clh"

// A pattern above a piece, and what its matches need.
typedef struct {
    __global const uchar *letters, *pattern;
    uint length, starts, most;  // letters of the pattern, starts to try, mismatches that a match may have
    __global const SUM *sums;         // prefix sums from the piece's first quality on
    __global const uchar *qualities;  // or the qualities themselves
    ulong least_sum;
    uint least_informative;
} Comparison;

// Mismatches at a start; more than `most` where there are more.
static inline uint count_mismatches(Comparison c, uint start)
{
    uint wrong = 0;
    for (uint j = 0; j < c.length && wrong <= c.most; ++j)
        wrong += (c.letters[start + j] & c.pattern[j]) == 0;
    return wrong;
}

static inline SUM sum_qualities(Comparison c, uint start)
{
#if !QUALITIES
    return 0;
#elif PREFIX_SUMS
    return c.sums[(ulong)start + c.length] - c.sums[start];
#else
    SUM sum = 0;
    for (uint j = 0; j < c.length; ++j)
        sum += c.qualities[start + j] - 33;
    return sum;
#endif
}

// Whether a set, in the low four bits, is a single nucleotide.
static inline uint is_single(uint set)
{
    return (set & (set - 1) & 15) == 0;
}

// Whether a match passes the filters.
static inline uint passes(Comparison c, uint start, SUM sum)
{
#if FILTERED
    if (sum < c.least_sum)
        return 0;
    uint informative = 0;
    for (uint j = 0; j < c.length && informative < c.least_informative; ++j)
        informative += is_single(c.letters[start + j]) & is_single(c.pattern[j]);
    return informative >= c.least_informative;
#else
    return 1;
#endif
}

// The next match from a start on: its start, or `starts` if there is none; its mismatches and the sum of its qualities.
static inline uint next_match(Comparison c, uint start, uint *mismatches, SUM *sum)
{
    for (; start < c.starts; ++start) {
        *mismatches = count_mismatches(c, start);
        if (*mismatches > c.most)
            continue;
        *sum = sum_qualities(c, start);
        if (passes(c, start, *sum))
            break;
    }
    return start;
}

// What is the same for all work-items: where the text begins, mismatches that a match may have, and the round (matches.clh).
typedef struct {
    ulong skip;
    uint most, row, column, columns, pairs, unused;
} Job;

#define COMPARISON_ARGUMENTS                                                                                                      \
    __global const Piece *pieces, __global const Pattern *patterns, __global const uchar *codes, __global const SUM *sums,        \
        __global const uchar *memory, __global const uchar *sets, __global const Job *job

// Row `row` of the pieces, and column `column` of the patterns.
#define COMPARISON(row, column) compare(pieces[row], patterns[column], codes, sums, memory, sets, job)

static inline Comparison compare(Piece piece, Pattern pattern, __global const uchar *codes, __global const SUM *sums,
                                 __global const uchar *memory, __global const uchar *sets, __global const Job *job)
{
    Comparison c;
    c.letters = codes + piece.letters;
    c.pattern = sets + pattern.begin;
    c.length = (uint)pattern.length;
    c.starts = starts_of(piece.size, piece.owned, pattern.length);
    c.most = job->most;
    c.sums = sums + piece.qualities;
    c.qualities = memory + job->skip + piece.qualities;
    c.least_sum = pattern.least_sum;
    c.least_informative = (uint)pattern.least_informative;
    return c;
}

// The matches of pairs begin .. end - 1 of a round: a work-item a pair.
__kernel void compare_pairs(COMPARISON_ARGUMENTS, uint begin, uint end, __global uchar *found,
                            __global uint *table)
{
    const uint pair = begin + get_global_id(0);
    if (pair >= end)
        return;
    const Comparison c = COMPARISON(job->row + pair / job->columns, job->column + pair % job->columns);
    Matches matches = {0, 0, 0, 0, 0};
    uint mismatches = 0;
    SUM sum = 0;
    for (uint start = next_match(c, 0, &mismatches, &sum); start < c.starts; start = next_match(c, start + 1, &mismatches, &sum))
        add_match(&matches, start, mismatches, sum);
    write_matches(matches, pair, job->pairs, found, table);
}

// The starts of all matches of pairs, each pair's from its offset on: a work-item a pair.
__kernel void list_starts(COMPARISON_ARGUMENTS, __global const Listed *listed, __global uint *starts)
{
    const uint pair = get_global_id(0);
    if (pair >= job->pairs)
        return;
    const Comparison c = COMPARISON(listed[pair].row, listed[pair].column);
    uint to = listed[pair].to, mismatches = 0;
    SUM sum = 0;
    for (uint start = next_match(c, 0, &mismatches, &sum); start < c.starts; start = next_match(c, start + 1, &mismatches, &sum))
        starts[to++] = start;
}
