// Exact matches, or such with few mismatches, by bit planes (planes.clh): many starts at once.
//
// Bit i of a window's survivors says that a match may start i letters behind the window's first start. A step of a pattern's
// program (a plane and a position) reads the plane that many letters further on, and excludes the starts whose bit is 0 there:
//
//     survivors = AND over all steps of (plane >> position)
//
// Most starts are excluded by a few steps. Positions at multiples of 8 (CPUs) or 32 (GPUs) come first: there bits lie as they
// are needed, in bytes or words; others are shifted. The first FIRST_STEPS of these lie close to those of other patterns,
// followed by steps that exclude nothing where there are fewer. HEAD of them are taken at once, then survivors are looked for.
// With mismatches, misses of each start are counted by COUNTERS bits, one bit of 512 or 32 starts in a number, which begin at
// `spare` = 2^COUNTERS - 1 - mismatches allowed; the start that makes them overflow is excluded.
//
// Survivors are matches where the piece owns them and the pattern ends in it. They are considered one by one.
//
// Hints of vector types keep CPUs' compilers from joining work-items, which would gather what lies apart.
//
// -D CPU=0|1            1: a window is 512 starts, a work-item a pair; 0: a window is 32 starts, and the work-items of a group
//                       either share a pair or have one each
// -D HEAD=n             steps to take at once, at most FIRST_STEPS
// -D COUNTERS=0|1|2|3   bits to count mismatches
// -D FILTERED=0|1       matches need a least sum of qualities and a least number of informative positions, per pattern
// -D SUM=uint|ulong     type of sums of qualities
// -D LANES=n, ROOT=n    (GPUs) work-group size and its square root
#include "signatures/matches.clh"
#include "signatures/planes.clh"
#include "signatures/quality_sums.clh"

#define POSITION_BITS 28
#define FIRST_STEPS 32
#define STARTS (BLOCK * 32)  // of a window

// A place of a plane is that of a unit of UNIT letters: a byte or a word. Numbers are shifted by up to NUMBER letters.
#if CPU
#define UNIT 8
#define NUMBER 64
typedef uchar unit_t;
typedef ulong8 window_t;
typedef window_t window_at __attribute__((aligned(1)));  // at any byte
#else
#define UNIT 32
#define NUMBER 32
typedef uint unit_t;
typedef uint window_t;
typedef window_t window_at;
#endif

// The letters of a window.
static inline window_t load_window(__global const unit_t *place)
{
    return *(__global const window_at *)place;
}

// Likewise, for a window that begins `by` letters further on, which are fewer than a unit and at least one.
static inline window_t load_shifted(__global const unit_t *place, uint by)
{
    return load_window(place) >> by | load_window(place + NUMBER / UNIT) << (NUMBER - by);
}

static inline uint any_survives(window_t window)
{
#if CPU
    const ulong4 four = window.lo | window.hi;
    const ulong2 two = four.lo | four.hi;
    return (two.x | two.y) != 0;
#else
    return window != 0;
#endif
}

typedef struct {
    window_t alive;
    window_t c0, c1, c2;  // counters, lowest bit first
} Survivors;

static inline void take_step(Survivors *s, window_t letters)
{
#if COUNTERS == 0
    s->alive &= letters;
#else
    window_t carry = ~letters, both = s->c0 & carry;
    s->c0 ^= carry;
    carry = both;
#if COUNTERS > 1
    both = s->c1 & carry;
    s->c1 ^= carry;
    carry = both;
#endif
#if COUNTERS > 2
    both = s->c2 & carry;
    s->c2 ^= carry;
    carry = both;
#endif
    s->alive &= ~carry;
#endif
}

// A row: the piece, and the first word of its planes.
typedef struct {
    uint size, owned, qualities, place;
} Row;

// A column: the program of the pattern among all programs, where its aligned steps end and all of them, and what its matches need.
typedef struct {
    ulong begin, concrete, least_sum; // the second one: where its words of single nucleotides begin
    uint turn, end, length, least_informative, concrete_letters, unused;
} Column;

// What is the same for all work-items: of the planes, of the text, whether there are qualities, where counters begin, the round
// (matches.clh), and whether the work-items of a group share a pair.
typedef struct {
    ulong stride, single, skip;
    uint text_size, scored, spare, row, column, columns, pairs, together;
} Job;

// A pattern at a piece, and what its matches need.
typedef struct {
    __global const uint *planes;  // from the piece's first word on
    ulong stride;
    __global const uint *steps, *first_steps;  // the program, and what it begins with
    __global const unit_t *head[HEAD];         // places of the head
    uint turn, end;              // its aligned steps end, and all steps
    uint starts, spare, qualities; // the latter: where the piece's begin
    // What survivors alone need, and is not held in registers until then: where it is.
    __global const Job *job;
    __global const Column *column;
    __global const SUM *sums;      // of groups of the text
    __global const uchar *memory;  // with the text
    __global const uint *ranks;    // from the piece's first word on
    __global const uint *concrete; // of all patterns
} Comparison;

#define POSITION(step) ((step) & ((1u << POSITION_BITS) - 1))

// What a step reads for the piece's first window, but for the letters that it is shifted by.
static inline __global const unit_t *place_of(const Comparison *c, uint step)
{
    __global const uint *plane = c->planes + (step >> POSITION_BITS) * c->stride;
    return (__global const unit_t *)plane + POSITION(step) / UNIT;
}

// Take steps n .. end - 1 while starts survive; `at` is the window's place, in units.
static inline void take_steps(const Comparison *c, Survivors *s, __global const uint *steps, uint n, uint end, uint at)
{
    const uint turn = MIN(end, c->turn);
    for (; n + 4 <= turn && any_survives(s->alive); n += 4) {
        UNROLL
        for (uint i = 0; i < 4; ++i)
            take_step(s, load_window(place_of(c, steps[n + i]) + at));
    }
    for (; n < end && any_survives(s->alive); ++n) {
        const uint step = steps[n];
        __global const unit_t *place = place_of(c, step) + at;
        take_step(s, n < turn ? load_window(place) : load_shifted(place, POSITION(step) % UNIT));
    }
}

// All starts of a window, before any step.
static inline Survivors all_starts(const Comparison *c)
{
    const window_t none = (window_t)(0);
    Survivors s = {~none, none, none, none};
#if COUNTERS > 0
    s.c0 -= c->spare & 1;
    s.c1 -= c->spare >> 1 & 1;
    s.c2 -= c->spare >> 2 & 1;
#endif
    return s;
}

// Take all steps from n on.
static inline void take_rest(const Comparison *c, Survivors *s, uint n, uint at)
{
    const uint next = MIN(FIRST_STEPS, c->turn);
    take_steps(c, s, c->first_steps, n, next, at);
    take_steps(c, s, c->steps, next, c->end, at);
}

// Starts of a window that the whole program leaves.
static inline Survivors survivors_of(const Comparison *c, uint first)
{
    const uint at = first / UNIT;
    Survivors s = all_starts(c);
    UNROLL
    for (uint n = 0; n < HEAD; ++n)
        take_step(&s, load_window(c->head[n] + at));
    if (any_survives(s.alive))
        take_rest(c, &s, HEAD, at);
    return s;
}

// Survivors as words of 32 starts.
typedef union {
    window_t window;
    uint words[BLOCK];
} Words;

typedef struct {
    Words alive, c0, c1, c2;
} SurvivorWords;

static inline SurvivorWords words_of(Survivors s)
{
    SurvivorWords words;
    words.alive.window = s.alive;
    words.c0.window = s.c0;
    words.c1.window = s.c1;
    words.c2.window = s.c2;
    return words;
}

static inline uint mismatches_of(const SurvivorWords *s, uint word, uint i, uint spare)
{
#if COUNTERS == 0
    return 0;
#else
    uint count = s->c0.words[word] >> i & 1;
#if COUNTERS > 1
    count |= (s->c1.words[word] >> i & 1) << 1;
#endif
#if COUNTERS > 2
    count |= (s->c2.words[word] >> i & 1) << 2;
#endif
    return count - spare;
#endif
}

static inline SUM sum_qualities(const Comparison *c, uint start)
{
    __global const Job *job = c->job;
    return job->scored ? sum_window(c->sums, c->memory + job->skip, c->qualities + start, c->column->length, job->text_size) : 0;
}

// Single nucleotides of a piece before a letter; `single` is their plane from the piece's first word on.
static inline uint singles_before(const Comparison *c, __global const uint *single, ulong letter)
{
    return c->ranks[letter >> 5] + POPCOUNT(single[letter >> 5] & LOW_BITS32(letter & 31));
}

// Whether so many positions of a match are informative as it needs. Bounds, which need only the numbers of single nucleotides
// in the piece and in the pattern, mostly tell.
static inline uint is_informative(const Comparison *c, uint start)
{
    __global const uint *single = c->planes + c->job->single * c->stride;
    const uint length = c->column->length;
    const uint here = singles_before(c, single, (ulong)start + length) - singles_before(c, single, start);
    const uint there = c->column->concrete_letters, least = c->column->least_informative;
    if (MIN(here, there) < least)
        return 0;
    if ((ulong)here + there >= (ulong)length + least)
        return 1;
    const uint by = start & 31;
    __global const uint *letters = single + (start >> 5), *concrete = c->concrete + c->column->concrete;
    uint both = 0;
    for (uint w = 0; w * 32ul < length; ++w)
        both += POPCOUNT((uint)((letters[w] | (ulong)letters[w + 1] << 32) >> by) & concrete[w]);
    return both >= least;
}

// Whether a survivor is a match that passes the filters.
static inline uint is_match(const Comparison *c, uint start, SUM sum)
{
#if FILTERED
    return sum >= c->column->least_sum && is_informative(c, start);
#else
    return 1;
#endif
}

#define COMPARISON_ARGUMENTS                                                                                                      \
    __global const Row *rows, __global const Column *patterns, __global const uint *steps, __global const uint *first_steps,      \
        __global const uint *concrete, __global const uint *planes, __global const uint *ranks, __global const SUM *sums,         \
        __global const uchar *memory, __global const Job *job

// The column's pattern at the row's piece.
#define COMPARE(c, row, column)                                                                                                   \
    compare(c, rows + (row), patterns + (column), steps, first_steps + (column) * FIRST_STEPS, concrete, planes, ranks, sums,     \
            memory, job)

static inline void compare(Comparison *c, __global const Row *row, __global const Column *column, __global const uint *steps,
                           __global const uint *first_steps, __global const uint *concrete, __global const uint *planes,
                           __global const uint *ranks, __global const SUM *sums, __global const uchar *memory,
                           __global const Job *job)
{
    c->starts = starts_of(row->size, row->owned, column->length);
    c->spare = job->spare;
    c->planes = planes + row->place;
    c->stride = job->stride;
    c->steps = steps + column->begin;
    c->first_steps = first_steps;
    c->turn = column->turn;
    c->end = column->end;
    UNROLL
    for (uint n = 0; n < HEAD; ++n)
        c->head[n] = place_of(c, c->first_steps[n]);
    c->job = job;
    c->qualities = row->qualities;
    c->column = column;
    c->sums = sums;
    c->memory = memory;
    c->ranks = ranks + row->place;
    c->concrete = concrete;
}

// Count the matches among the survivors of a window.
static inline void count_matches(const Comparison *c, Survivors survivors, uint first, Matches *matches)
{
    const SurvivorWords s = words_of(survivors);
    for (uint w = 0; w < BLOCK; ++w) {
        for (uint left = s.alive.words[w]; left; left &= left - 1) {
            const uint i = lowest_bit32(left), start = first + 32 * w + i;
            if (start >= c->starts)
                return;
            const SUM sum = sum_qualities(c, start);
            if (is_match(c, start, sum))
                add_match(matches, start, mismatches_of(&s, w, i, c->spare), sum);
        }
    }
}

#if CPU

// What matches of a round of pairs.
__kernel __attribute__((reqd_work_group_size(1, 1, 1), vec_type_hint(ulong8)))
void match_planes(COMPARISON_ARGUMENTS, __global uchar *found, __global uint *table)
{
    const uint pair = get_global_id(0);
    Comparison c;
    COMPARE(&c, job->row + pair / job->columns, job->column + pair % job->columns);
    Matches matches = {0, 0, 0, 0, 0};
    for (uint first = 0; first < c.starts; first += STARTS) {
        const Survivors s = survivors_of(&c, first);
        if (any_survives(s.alive))
            count_matches(&c, s, first, &matches);
    }
    write_matches(matches, pair, job->pairs, found, table);
}

// The starts of all matches of pairs, each pair's from its place on.
__kernel __attribute__((reqd_work_group_size(1, 1, 1), vec_type_hint(ulong8)))
void list_starts(COMPARISON_ARGUMENTS, __global const Listed *listed, __global uint *starts)
{
    const uint pair = get_global_id(0);
    Comparison c;
    COMPARE(&c, listed[pair].row, listed[pair].column);
    __global uint *out = starts + listed[pair].to;
    for (uint first = 0; first < c.starts; first += STARTS) {
        const Survivors s = survivors_of(&c, first);
        if (!any_survives(s.alive))
            continue;
        const SurvivorWords words = words_of(s);
        for (uint w = 0; w < BLOCK; ++w) {
            for (uint left = words.alive.words[w]; left; left &= left - 1) {
                const uint start = first + 32 * w + lowest_bit32(left);
                if (start < c.starts && is_match(&c, start, sum_qualities(&c, start)))
                    *out++ = start;
            }
        }
    }
}

#else

// Add what was found at other starts, which may lie anywhere.
static inline void join_matches(Matches *matches, Matches other)
{
    if (other.hits == 0)
        return;
    const uint hits = matches->hits + other.hits;
    const uint first = matches->hits == 0 ? other.first : MIN(matches->first, other.first);
    const uint fewer = other.mismatches < matches->mismatches, same = other.mismatches == matches->mismatches;
    const uint higher = other.sum > matches->sum || (other.sum == matches->sum && other.best < matches->best);
    if (matches->hits == 0 || fewer || (same && higher))
        *matches = other;
    matches->hits = hits;
    matches->first = first;
}

// What matches of a round of pairs: a work-group a pair, or a work-item a pair.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1), vec_type_hint(uint4)))
void match_planes(COMPARISON_ARGUMENTS, __global uchar *found, __global uint *table)
{
    __local Matches found_by[LANES];
    const uint together = job->together, pairs = job->pairs;
    const uint lane = get_local_id(0), lanes = together ? LANES : 1;
    const uint pair = together ? get_group_id(0) : get_global_id(0);
    Matches matches = {0, 0, 0, 0, 0};
    if (pair < pairs) {
        Comparison c;
        COMPARE(&c, job->row + pair / job->columns, job->column + pair % job->columns);
        for (uint first = (together ? lane : 0) * STARTS; first < c.starts; first += lanes * STARTS) {
            const Survivors s = survivors_of(&c, first);
            if (any_survives(s.alive))
                count_matches(&c, s, first, &matches);
        }
    }
    if (together) {
        found_by[lane] = matches;
        for (uint others = LANES / 2; others > 0; others /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < others) {
                const Matches other = found_by[lane + others];
                join_matches(&matches, other);
                found_by[lane] = matches;
            }
        }
    }
    if (pair < pairs && (!together || lane == 0))
        write_matches(matches, pair, pairs, found, table);
}

typedef uint State;
#define NOTHING 0
#define UNITS 1
static inline State join(State a, State b)
{
    return a + b;
}
#include "primitives/group_scan.clh"

// The starts of all matches of pairs, each pair's from its place on: a work-group a pair, a window a work-item at a time.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1), vec_type_hint(uint4)))
void list_starts(COMPARISON_ARGUMENTS, __global const Listed *listed, __global uint *starts)
{
    __local State states[GROUP_STATES];
    const uint pair = get_group_id(0);
    Comparison c;
    COMPARE(&c, listed[pair].row, listed[pair].column);
    __global uint *out = starts + listed[pair].to;
    for (uint base = 0; base < c.starts; base += LANES * STARTS) {
        const uint first = base + get_local_id(0) * STARTS;
        uint matches = 0;
        if (first < c.starts) {
            // Without the places of the head at hand, which with all else would need more scalar registers than AMD's GPUs have.
            Survivors s = all_starts(&c);
            take_rest(&c, &s, 0, first / UNIT);
            for (uint left = s.alive & LOW_BITS32(c.starts - first); left; left &= left - 1) {
                const uint i = lowest_bit32(left);
                matches |= is_match(&c, first + i, sum_qualities(&c, first + i)) << i;
            }
        }
        uint place[1] = {POPCOUNT(matches)};
        const uint count = scan_group(place, states);
        for (uint left = matches; left; left &= left - 1)
            out[place[0]++] = first + lowest_bit32(left);
        out += count;
    }
}

#endif
