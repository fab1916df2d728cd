// Where alignments start whose ends are known: those of align_strips.cl, done again in a window before each end, with the column at
// which they began carried along (recurrence and bonus: see there and score.clh).
//
//   origin[i][j] = origin[i-1][j-1] if the alignment came from there, else origin[i-1][j];  origin[0][j] = j
//
// A work-item is a read. Scores of STRIP columns stay in registers while the samples go by; those of the strip's last column, and their
// origins, are written down for the strip to the right. A score depends on REACH columns to its left for each row before it, so nothing
// to the left of the window matters, and a strip is done when what it gives can no longer come to the end.
//
// Layout: element i of read q, of levels and of edges, is at [(q / group) * rows * group + i * group + q % group].
//
// -D STRIP=n          columns of a strip, 2 or more
// -D BONUS=0|1|2
// -D BONUS_MOST=n
// -D REACH=n          columns a row
// and those of score.clh; LANES is 1, and SCORE 1 or 2.
#include "common/portable.clh"
#include "sdtw/score.clh"


#if BONUS
// A row of a strip, from left to right. `left`, `left_origin` and `left_bonus` are of the row before in the column to the left,
// `bonus_here` is of this row there.
static inline void step_row(
    element_t *score, int *origin, element_t *bonus, const element_t *level, element_t x, element_t left, int left_origin,
    element_t left_bonus, element_t bonus_here, int begins)
{
    UNROLL
    for (int c = 0; c < STRIP; ++c) {
        const element_t stay = score[c], stayed = bonus[c], come = less_bonus(left, left_bonus);
        const element_t counted = (BONUS == 1 ? stayed : bonus_here) + BONUS_STEP;
        const int moves = come < stay, own = origin[c];
        score[c] = add_cost(moves ? come : stay, x, level[c]);
        origin[c] = moves ? left_origin : own;
        bonus[c] = moves ? 0 : MIN(counted, BONUS_MOST);
        if (BONUS == 2 && c == 0 && begins)
            bonus[c] = 0; // the published counter does not run in the first column
        left = stay;
        left_origin = own;
        left_bonus = stayed;
        bonus_here = bonus[c];
    }
}
#else
// A row of a strip, from right to left, so that each score is still that of the row before when its neighbour needs it.
static inline void step_row(element_t *score, int *origin, const element_t *level, element_t x, element_t left, int left_origin)
{
    UNROLL
    for (int c = STRIP - 1; c >= 0; --c) {
        const element_t come = c ? score[c - 1] : left;
        const int moves = come < score[c];
        origin[c] = moves ? (c ? origin[c - 1] : left_origin) : origin[c];
        score[c] = add_cost(moves ? come : score[c], x, level[c]);
    }
}
#endif

__kernel void find_starts(
    __global const element_t *levels,  // (groups, rows, group)
    __global const element_t *columns, // levels of all references
    __global const int *windows,       // (reads, 3): first and last of `columns`; 1: the window begins where a track does
    uint rows,
    uint group,                        // reads that lie side by side
    uint reads,
    __global element_t *edges,         // (groups, rows, group) scores of last columns
    __global int *edge_origins,        // the same for origins
#if BONUS
    __global element_t *edge_bonuses,  // the same for the bonus
#endif
    __global int *starts,              // (reads,) of `columns`
    __global element_t *costs)         // (reads,) of the alignments
{
    const uint read = get_global_id(0);
    if (read >= reads)
        return;
    const size_t own = (size_t)(read / group) * rows * group + read % group;
    levels += own;
    edges += own;
    edge_origins += own;
#if BONUS
    edge_bonuses += own;
#endif
    const int first = windows[3 * read], begins = windows[3 * read + 2];
    columns += first;
    const uint width = (uint)(windows[3 * read + 1] - first) + 1;
    uint left_rows = 0; // that the strip to the left has done
    for (uint column = 0; column < width; column += STRIP) {
        const int opens = column == 0 && begins;
        element_t score[STRIP], level[STRIP];
        int origin[STRIP];
#if BONUS
        element_t bonus[STRIP], left_bonus = 0;
#endif
        UNROLL
        for (uint c = 0; c < STRIP; ++c) {
            const uint place = column + c;
            level[c] = columns[MIN(place, width - 1)];
            score[c] = 0;
            origin[c] = (int)place;
#if BONUS
            bonus[c] = 0;
#endif
        }
        if (opens)
            score[0] = add_cost(0, levels[0], level[0]);
        const uint done = MIN(column + STRIP, width);
        const uint end = rows - CEIL_DIV(width - done, REACH); // rows that can matter
        element_t left = (element_t)NO_SCORE;
        int left_origin = -1;
        for (uint row = 0; row < end; ++row) {
            const size_t place = (size_t)row * group;
            const int known = row < left_rows;
            const element_t next = known ? edges[place] : (element_t)NO_SCORE;
            const int next_origin = known ? edge_origins[place] : -1;
#if BONUS
            const element_t next_bonus = known ? edge_bonuses[place] : 0;
            if (row)
                step_row(score, origin, bonus, level, levels[place], left, left_origin, left_bonus, next_bonus, opens);
            left_bonus = next_bonus;
            edge_bonuses[place] = bonus[STRIP - 1];
#else
            if (row)
                step_row(score, origin, level, levels[place], left, left_origin);
#endif
            left = next;
            left_origin = next_origin;
            edges[place] = score[STRIP - 1];
            edge_origins[place] = origin[STRIP - 1];
        }
        left_rows = end;
        UNROLL
        for (uint c = 0; c < STRIP; ++c)
            if (column + c == width - 1) {
                starts[read] = first + origin[c];
                costs[read] = score[c];
            }
    }
}
