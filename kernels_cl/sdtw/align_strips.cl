// Subsequence dynamic time warping of many reads with segments of a reference (Crescent, Algorithms 1 and 2; see score.clh).
//
// A work-item aligns LANES reads with a segment, a strip of STRIP columns after the other. The scores of a strip stay in registers
// while all samples go by; the scores of its last column are written down for the strip to its right. The reference is laid out in
// strips: a track begins at a strip of its own, and its last strip is filled up. A segment begins so many columns before the first
// one it reports that nothing to the left of it can matter (an alignment moves by one column a sample at most), or where a track
// begins, so segments are independent of each other.
//
// Before the first sample counts (`rows_done` is 0) a score is 0 in every column, but cost(x[0], r[0]) in the first column of a
// track; that is row 0. Else scores go on from those that an earlier launch left, with row 0 of this one.
//
// The bonus b, with BONUS=1: 10 for each row that the alignment has stayed at the column, up to BONUS_MOST; counted down the rows. With
// BONUS=2, as published: a cell that stays takes the counter of the cell to its left in the same row, and one more.
//
// Layout: element i of read q, of levels and of edges, is at [(q / GROUP) * rows * GROUP + i * GROUP + q % GROUP], where GROUP is LANES
// on CPUs and the number of reads on GPUs, where it is 1. Scores that stay: [slot * slot_size + column], then as many bonuses; those
// of slot s, 2 n or 2 n + 1, go to the other one of both, s ^ 1.
//
// -D STRIP=n          columns of a strip
// -D ROWS_AHEAD=n     rows whose levels and edges are loaded together, while the ones before are worked on
// -D BONUS=0|1|2
// -D BONUS_MOST=n
// -D STATE=0|1        1: scores come from and go to slots
// and those of score.clh.
#include "common/portable.clh"
#include "sdtw/score.clh"

#define BEGINS 0x80000000u // of a strip: a track begins here; the other bits count its columns

#if LANES == 1
#define LOAD(pointer, place) (pointer)[place]
#define STORE(pointer, place, value) (pointer)[place] = (value)
#else
#define LOAD(pointer, place) (*(__global const score_t *)((pointer) + (place)))
#define STORE(pointer, place, value) (*(__global score_t *)((pointer) + (place)) = (value))
#endif

// Samples and edges of rows that are worked on next; after the last row, of that one.
#if BONUS
#define LOAD_EDGE_BONUS(bonuses, k, place) (bonuses)[k] = LOAD(edge_bonuses, place);
#else
#define LOAD_EDGE_BONUS(bonuses, k, place)
#endif
#define LOAD_ROWS(samples, scores, bonuses, begin)                          \
    UNROLL                                                                  \
    for (uint k = 0; k < ROWS_AHEAD; ++k) {                                 \
        const size_t place = (size_t)MIN((begin) + k, rows - 1) * group;    \
        (samples)[k] = LOAD(levels, place);                                 \
        (scores)[k] = LOAD(edges, place);                                   \
        LOAD_EDGE_BONUS(bonuses, k, place)                                  \
    }

#if BONUS
// A row of a strip with a bonus, from left to right. `left` and `left_bonus` are of the row before in the column to the left,
// `bonus_here` is of this row there.
static inline void step_row(
    score_t *score, score_t *bonus, const score_t *level, score_t x, score_t left, score_t left_bonus, score_t bonus_here, int begins)
{
    UNROLL
    for (int c = 0; c < STRIP; ++c) {
        const score_t stay = score[c], stayed = bonus[c];
        const score_t come = less_bonus(left, left_bonus);
        const score_t grown = LESSER((BONUS == 1 ? stayed : bonus_here) + (element_t)BONUS_STEP, ALL_LANES(BONUS_MOST));
        score[c] = add_cost(LESSER(come, stay), x, level[c]);
        bonus[c] = CHOOSE(come < stay, ALL_LANES(0), grown);
        if (BONUS == 2 && c == 0 && begins)
            bonus[c] = ALL_LANES(0); // the published counter does not run in the first column
        left = stay;
        left_bonus = stayed;
        bonus_here = bonus[c];
    }
}
#else
// A row of a strip, from right to left, so that each score is still that of the row before when its neighbour needs it.
static inline void step_row(score_t *score, const score_t *level, score_t x, score_t left)
{
    UNROLL
    for (int c = STRIP - 1; c > 0; --c)
        score[c] = add_cost(LESSER(score[c], score[c - 1]), x, level[c]);
    score[0] = add_cost(LESSER(score[0], left), x, level[0]);
}
#endif

// The best score of a strip's columns, if it is below the best so far, and the first column that has it.
static inline void note_best(const score_t *score, uint columns, uint first, element_t *best, int *where)
{
    score_t least = score[0], found = ALL_LANES(0);
    UNROLL
    for (uint c = 1; c < STRIP; ++c)
        if (c < columns) {
            found = CHOOSE(score[c] < least, ALL_LANES(c), found);
            least = LESSER(score[c], least);
        }
    for (uint lane = 0; lane < LANES; ++lane)
        if (LANE(least, lane) < best[lane]) {
            best[lane] = LANE(least, lane);
            where[lane] = (int)first + (int)LANE(found, lane);
        }
}

#if STATE
#define NO_SLOT 0xffffffffu

// An element of the slots of all lanes.
static inline score_t gather(__global const element_t *element, __global const uint *slots, ulong slot_size)
{
    score_t value = ALL_LANES(0);
    ROLLED
    for (uint lane = 0; lane < LANES; ++lane)
        if (slots[lane] != NO_SLOT)
            LANE(value, lane) = element[slots[lane] * slot_size];
    return value;
}

// To the other slots of all lanes.
static inline void scatter(score_t value, __global element_t *element, __global const uint *slots, ulong slot_size)
{
    ROLLED
    for (uint lane = 0; lane < LANES; ++lane)
        if (slots[lane] != NO_SLOT)
            element[(slots[lane] ^ 1u) * slot_size] = LANE(value, lane);
}
#endif

__kernel void align_strips(
    __global const element_t *levels,     // (groups, rows, group)
    __global const element_t *columns,    // (strips * STRIP,) levels of the reference
    __global const uint *strips,          // (strips,) BEGINS and number of columns
    __global const uint *segments,        // (segments, 3): first strip, first strip that is reported, end
    uint rows,
    __global element_t *edges,            // (segments, groups, rows, group) scores of last columns
#if BONUS
    __global element_t *edge_bonuses,     // the same for the bonus
#endif
#if STATE
    uint rows_done,                       // 0: the first row is row 0
    __global const uint *slots,           // (reads,) that scores come from; NO_SLOT: none
    __global element_t *kept,             // (slots, slot_size) scores, then bonuses
#endif
    __global element_t *best,             // (segments, reads)
    __global int *where)                  // (segments, reads) place among `columns`
{
    const uint read = get_global_id(0) * LANES, reads = get_global_size(0) * LANES, segment = get_global_id(1);
    const uint group = LANES > 1 ? LANES : reads; // reads that lie side by side
    const size_t own = (size_t)(read / group) * rows * group + read % group;
    levels += own;
    edges += (size_t)segment * reads * rows + own;
#if BONUS
    edge_bonuses += (size_t)segment * reads * rows + own;
#endif
    const uint first_strip = segments[3 * segment], reported = segments[3 * segment + 1], end = segments[3 * segment + 2];
#if STATE
    const uint first_row = rows_done == 0;
    const ulong columns_kept = (ulong)segments[3 * get_global_size(1) - 1] * STRIP; // of all strips: the last segment ends there
    const ulong slot_size = columns_kept * (BONUS ? 2 : 1);
#else
    const uint first_row = 1;
#endif
    element_t best_score[LANES];
    int best_place[LANES];
    for (uint lane = 0; lane < LANES; ++lane) {
        best_score[lane] = (element_t)NO_SCORE;
        best_place[lane] = -1;
    }
    score_t left_start = ALL_LANES(NO_SCORE), left_bonus_start = ALL_LANES(0);
    for (uint strip = first_strip; strip < end; ++strip) {
        const uint facts = strips[strip], count = facts & ~BEGINS;
        const int begins = (facts & BEGINS) != 0, open = begins || strip == first_strip;
        score_t score[STRIP], level[STRIP];
#if BONUS
        score_t bonus[STRIP];
#endif
        UNROLL
        for (int c = 0; c < STRIP; ++c) {
            level[c] = ALL_LANES(columns[strip * STRIP + c]);
            score[c] = ALL_LANES(0);
#if BONUS
            bonus[c] = ALL_LANES(0);
#endif
        }
        if (first_row && begins)
            score[0] = add_cost(ALL_LANES(0), LOAD(levels, 0), level[0]);
#if STATE
        if (!first_row) {
            UNROLL
            for (int c = 0; c < STRIP; ++c) {
                score[c] = gather(kept + strip * STRIP + c, slots + read, slot_size);
#if BONUS
                bonus[c] = gather(kept + columns_kept + strip * STRIP + c, slots + read, slot_size);
#endif
            }
        }
#endif
        score_t left = open ? ALL_LANES(NO_SCORE) : left_start;
        left_start = score[STRIP - 1];
#if BONUS
        score_t left_bonus = open ? ALL_LANES(0) : left_bonus_start;
        left_bonus_start = bonus[STRIP - 1];
#endif
        if (open)
            for (uint row = 0; row < rows; ++row) {
                STORE(edges, (size_t)row * group, ALL_LANES(NO_SCORE));
#if BONUS
                STORE(edge_bonuses, (size_t)row * group, ALL_LANES(0));
#endif
            }
        score_t x[ROWS_AHEAD], edge[ROWS_AHEAD];
#if BONUS
        score_t edge_bonus[ROWS_AHEAD];
#endif
#if ROWS_AHEAD > 1
        LOAD_ROWS(x, edge, edge_bonus, first_row)
#endif
        for (uint row = first_row; row < rows; row += ROWS_AHEAD) {
#if ROWS_AHEAD > 1
            score_t next_x[ROWS_AHEAD], next_edge[ROWS_AHEAD];
#if BONUS
            score_t next_bonus[ROWS_AHEAD];
#endif
            LOAD_ROWS(next_x, next_edge, next_bonus, row + ROWS_AHEAD)
#else
            LOAD_ROWS(x, edge, edge_bonus, row)
#endif
            UNROLL
            for (uint k = 0; k < ROWS_AHEAD; ++k)
                if (ROWS_AHEAD == 1 || row + k < rows) {
#if BONUS
                    step_row(score, bonus, level, x[k], left, left_bonus, edge_bonus[k], begins);
                    left_bonus = edge_bonus[k];
                    STORE(edge_bonuses, (size_t)(row + k) * group, bonus[STRIP - 1]);
#else
                    step_row(score, level, x[k], left);
#endif
                    left = edge[k];
                    STORE(edges, (size_t)(row + k) * group, score[STRIP - 1]);
                }
#if ROWS_AHEAD > 1
            UNROLL
            for (uint k = 0; k < ROWS_AHEAD; ++k) {
                x[k] = next_x[k];
                edge[k] = next_edge[k];
#if BONUS
                edge_bonus[k] = next_bonus[k];
#endif
            }
#endif
        }
        if (strip < reported)
            continue;
#if STATE
        UNROLL
        for (int c = 0; c < STRIP; ++c) {
            scatter(score[c], kept + strip * STRIP + c, slots + read, slot_size);
#if BONUS
            scatter(bonus[c], kept + columns_kept + strip * STRIP + c, slots + read, slot_size);
#endif
        }
#endif
        // Not before the scores are stored, or its masks do not fit into the scalar registers of AMD's GPUs.
        note_best(score, count, strip * STRIP, best_score, best_place);
    }
    for (uint lane = 0; lane < LANES; ++lane) {
        best[(size_t)segment * reads + read + lane] = best_score[lane];
        where[(size_t)segment * reads + read + lane] = best_place[lane];
    }
}
