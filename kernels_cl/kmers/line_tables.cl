// The distinct k-mers of bins and how often each is there, for CPUs: a table each work-item has for itself, small enough for the
// processor's caches, of slots as slot.clh has them.
//
// A line is 8 slots: word w of all of them is vector w of its SLOT_WORDS vectors of 8 words, each a cache line. A key's line is its
// leading 32 bits scaled to the lines of the table, so lines are in the order of keys. One vector comparison finds the key's slot
// or an empty one; a key that finds its line full goes on to the next. Empty slots are all ones in their first word. A slot's count
// stays below all ones: where it would get there it starts at 1 again and its escapes, 2^count_bits - 2 each, are counted aside.
//
// Read out, each line is sorted as a whole (Batcher's network for 8), and what went over lines is put right by insertion. Each bin
// has one step over a full line for every four k-mers: that bounds insertion, too. A bin that needs more starts again: with lines for
// as many distinct k-mers as k-mers if its table was well filled, then with lines by a hash, as many steps as k-mers, and slots that
// are merged into order. A bin that these do not suffice for is OVERFULL.
//
// `words` may have room for fewer slots than bins could need. The first work-item whose bin finds none ends all others after the
// bins that they are at; ranges say NO_ROOM of that bin and of all that nobody took.
//
// Counts outside least..most are left out, others stop at `cap`. A count that does not fit into its hole is all ones there; the
// true one is in a list.
//
// Keys lie in stages of STAGE_LINES lines of 64 bytes, whose last bytes are not used where KEY_BYTES does not divide them: chunks[i] of
// pool has lines[i] lines of keys of bin b, for i from begins[b] to begins[b + 1] - 1, and stage b of each walker has
// staged[walker * bins + b].
//
// -D SLOT_WORDS=n, -D KEY_WORDS=n   slot.clh
// -D KEY_BYTES=n                    bytes of a key, a little-endian number: 4, 6, 12, or 8 * KEY_WORDS
// -D STAGE_LINES=n                  lines of a stage
// -D COMPRESSED=0|1             1 where no two bases of a k-mer that follow each other are equal
// -D JOINED=0|1                     1 where a vector of 64 bytes is more than a register, or compiled as if it were
#include "common/bits.clh"
#include "common/fetch.clh"
#include "kmers/slot.clh"

#define OVERFULL 0xffffffffu
#define NO_ROOM 0xfffffffeu // which all bins have at first
#define EMPTY (~0ul)
#define STAGE_BYTES (64 * STAGE_LINES)
#define STAGE_KEYS (STAGE_BYTES / KEY_BYTES)
#define CHUNK_LINES 64
#define BEHIND 16 // lines behind a table's last one, for keys that go over it
#define LANES 8
#define SHARE_BITS 16
#define LAG 64 // slots
#define AHEAD 8 // lines of a chunk that are asked for while the one before is counted; processors go on by themselves

typedef ulong8 ulong8_any __attribute__((aligned(8)));
typedef ulong ulong_at_2 __attribute__((aligned(2)));
typedef ulong ulong_at_4 __attribute__((aligned(4)));

#define LOAD8(p) (*(__global const ulong8_any *)(p))
#define STORE8(p, v) (*(__global ulong8_any *)(p) = (v))

// A byte of ones for each lane that is true. Conversion by the compiler, since the built-in is a call on some CPU runtimes; where
// vectors of 64 bytes are two or more in registers, bytes of halves are joined, which is sooner done.
#if JOINED
static inline ulong BYTES(long8 hit)
{
    const long8 bytes = hit & (long8)(0xffL, 0xffL << 8, 0xffL << 16, 0xffL << 24, 0xffL << 32, 0xffL << 40, 0xffL << 48, ~0L << 56);
    const long4 four = bytes.lo | bytes.hi;
    const long2 two = four.lo | four.hi;
    return (ulong)(two.x | two.y);
}
#else
#define BYTES(hit) as_ulong(__builtin_convertvector(hit, char8))
#endif

typedef struct {
    __global ulong8 *lines; // SLOT_WORDS vectors a line
    __global uint *escapes; // of each slot of the table
    __global uint *listed;  // slots that have escapes
    uint grown;             // how many those are
    uint wanted;            // lines that keys are scaled to
    uint last;              // the last line that a key may be in
    uint end;               // lines there are
    uint ready;             // lines that were empty once, and since then after each bin
    ulong steps;            // over full lines, that are left
    ulong below;            // ones in the count's bits
    uint rest, count_bits;
    uint used;              // slots with a key
} Table;

static inline void load_key(__global const uchar *at, ulong *key)
{
#if KEY_BYTES == 4
    key[0] = *(__global const uint *)at;
#elif KEY_BYTES == 6
    key[0] = *(__global const ulong_at_2 *)at & LOW_BITS64(48); // of a line, it ends before the last bytes
#elif KEY_BYTES == 12
    key[0] = *(__global const ulong_at_4 *)at;
    key[1] = ((__global const uint *)at)[2];
#else
    UNROLL
    for (uint w = 0; w < KEY_WORDS; ++w)
        key[w] = ((__global const ulong *)at)[w];
#endif
}

#if COMPRESSED
// The leading 32 bits of a key of a compressed sequence, in the same order, so that keys are spread evenly over all numbers. A base
// is never the one before it: of the three that it may be, 8 of them make a number to the base of 3. `odd` is 1 where the first bit
// is the second one of a base.
static inline uint evenly(uint top, uint odd)
{
    uint number = odd ? top >> 31 : 0;
    top <<= odd;
    uint before = top >> 30;
    number = 4 * number + before; // what is before the first one is not known
    UNROLL
    for (uint i = 1; i < 8; ++i) {
        const uint base = top >> (30 - 2 * i) & 3;
        number = 3 * number + base - (base > before);
        before = base;
    }
    return (uint)((ulong)(number << 16 | (top & 0xffff)) * (odd ? 59 : 119) >> 4); // to nearly 2^32
}
#endif

static inline uint line_of(const ulong *slot, uint lines, uint hashed, uint rest)
{
    ulong mixed = slot[0];
#if COMPRESSED
    if (!hashed)
        return (uint)((ulong)evenly((uint)(mixed >> 32), rest & 1) * lines >> 32);
#endif
    if (hashed) {
        UNROLL
        for (uint w = 1; w < SLOT_WORDS; ++w)
            mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ul + slot[w];
        mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111ebul;
        mixed = (mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15ul;
    }
    return (uint)((mixed >> 32) * lines >> 32);
}

// Lanes of a line that have a key or nothing yet.
static inline ulong lanes_for(__global const ulong8 *line, const ulong *slot, ulong below)
{
    const ulong8 first = line[0];
    long8 same = ((first ^ slot[0]) & ~below) == 0;
    UNROLL
    for (uint w = 1; w < SLOT_WORDS; ++w)
        same &= line[w] == slot[w];
    return BYTES(same | (first == EMPTY));
}

// Whether the first and the last of `n` keys are equal; so they often are where one key comes many times on end.
static inline uint ends_alike(__global const uchar *keys, uint n)
{
    if (n < 2)
        return 0;
    ulong one[KEY_WORDS], other[KEY_WORDS], differ = 0;
    load_key(keys, one);
    load_key(keys + (ulong)((n - 1) / STAGE_KEYS) * STAGE_BYTES + (n - 1) % STAGE_KEYS * KEY_BYTES, other);
    UNROLL
    for (uint w = 0; w < KEY_WORDS; ++w)
        differ |= one[w] ^ other[w];
    return !differ;
}

// Counts `n` keys; 0 where they crowd. Where keys come in `runs`, each run's slot is looked for once.
static inline uint enter(__global const uchar *keys, uint n, Table *table, const uint hashed, const uint runs)
{
    __global ulong8 *lines = table->lines;
    const ulong below = table->below;
    const uint wanted = table->wanted, rest = table->rest, count_bits = table->count_bits;
    uint used = table->used, at = 0;
    __global ulong *word = (__global ulong *)lines;
    ulong previous[SLOT_WORDS];
    UNROLL
    for (uint w = 0; w < SLOT_WORDS; ++w)
        previous[w] = EMPTY; // no slot without a count is
    for (uint i = 0; i < n; ++i) {
        ulong key[KEY_WORDS], slot[SLOT_WORDS];
        load_key(keys + (ulong)i * KEY_BYTES + i / STAGE_KEYS * (STAGE_BYTES - STAGE_KEYS * KEY_BYTES), key);
        slot_of_key(key, rest, count_bits, slot);
        ulong other = slot[0] ^ previous[0];
        UNROLL
        for (uint w = 1; runs && w < SLOT_WORDS; ++w)
            other |= slot[w] ^ previous[w];
        if (!runs || other) {
            uint line = line_of(slot, wanted, hashed, rest);
            ulong lanes = lanes_for(lines + (ulong)line * SLOT_WORDS, slot, below);
            while (__builtin_expect(!lanes, 0)) {
                if (++line == table->end || !table->steps)
                    return 0;
                --table->steps;
                table->last = MAX(table->last, line);
                lanes = lanes_for(lines + (ulong)line * SLOT_WORDS, slot, below);
            }
            const uint lane = lowest_bit64(lanes) >> 3;
            at = line * LANES + lane;
            word = (__global ulong *)(lines + (ulong)line * SLOT_WORDS) + lane;
            UNROLL
            for (uint w = 0; runs && w < SLOT_WORDS; ++w)
                previous[w] = slot[w];
        }
        const ulong before = *word;
        ulong after = (before == EMPTY ? slot[0] : before) + 1;
        if (__builtin_expect((after & below) == below, 0)) {
            if (!table->escapes[at]++)
                table->listed[table->grown++] = at;
            after -= below - 1;
        }
        *word = after;
        used += before == EMPTY;
        UNROLL
        for (uint w = 1; w < SLOT_WORDS; ++w)
            word[w * LANES] = slot[w];
    }
    table->used = used;
    return 1;
}

// Where the keys of a bin are.
typedef struct {
    __global const uchar *pool, *stages;
    __global const uint *chunks, *lines, *staged;
    uint begin, end, walkers, bin, bins;
} Keys;

static inline ulong keys_of(const Keys *keys)
{
    ulong n = 0;
    for (uint i = keys->begin; i < keys->end; ++i)
        n += keys->lines[i] / STAGE_LINES * STAGE_KEYS;
    for (uint walker = 0; walker < keys->walkers; ++walker)
        n += keys->staged[(ulong)walker * keys->bins + keys->bin];
    return n;
}

// Counts all keys of a bin; 0 where they crowd.
static inline uint enter_all(const Keys *keys, Table *table, const uint hashed)
{
    const uint pieces = keys->end - keys->begin + keys->walkers;
    for (uint piece = 0; piece < pieces; ++piece) {
        const uint i = keys->begin + piece;
        const ulong stage = (ulong)(i - keys->end) * keys->bins + keys->bin;
        const uint chunked = i < keys->end;
        __global const uchar *at = chunked ? keys->pool + (ulong)keys->chunks[i] * (CHUNK_LINES * 64) : keys->stages + stage * STAGE_BYTES;
        const uint n = chunked ? keys->lines[i] / STAGE_LINES * STAGE_KEYS : keys->staged[stage];
        if (i + 1 < keys->end) {
            __global const uchar *next = keys->pool + (ulong)keys->chunks[i + 1] * (CHUNK_LINES * 64);
            for (uint line = 0; line < AHEAD; ++line)
                FETCH(next + line * 64);
        }
        if (!(hashed || ends_alike(at, n) ? enter(at, n, table, hashed, 1) : enter(at, n, table, hashed, 0)))
            return 0;
    }
    return 1;
}

static inline void start(Table *table, ulong steps, uint lines)
{
    table->wanted = lines;
    table->last = lines - 1;
    table->end = lines + BEHIND;
    for (; table->ready < table->end; ++table->ready) { // memory that no bin needs is never touched
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            table->lines[(ulong)table->ready * SLOT_WORDS + w] = (ulong8)(EMPTY);
        UNROLL
        for (uint lane = 0; lane < LANES; ++lane)
            table->escapes[table->ready * LANES + lane] = 0;
    }
    table->steps = steps;
    table->used = 0;
    table->grown = 0;
}

static inline void clear_lines(Table *table)
{
    for (uint line = 0; line <= table->last; ++line)
        table->lines[(ulong)line * SLOT_WORDS] = (ulong8)(EMPTY);
}

static inline void forget(Table *table)
{
    clear_lines(table);
    for (uint i = 0; i < table->grown; ++i)
        table->escapes[table->listed[i]] = 0;
}

// Slots of a bin, dense: word w of slot i is words[w * stride + i].
typedef struct {
    __global ulong *words;
    ulong stride, below;
} Dense;

static inline void get(const Dense *dense, ulong i, ulong *slot)
{
    UNROLL
    for (uint w = 0; w < SLOT_WORDS; ++w)
        slot[w] = dense->words[w * dense->stride + i];
}

static inline void put(const Dense *dense, ulong i, const ulong *slot)
{
    UNROLL
    for (uint w = 0; w < SLOT_WORDS; ++w)
        dense->words[w * dense->stride + i] = slot[w];
}

// Whether the key of slot a is less than that of b.
static inline uint less(const ulong *a, const ulong *b, ulong below)
{
    uint result = 0;
    UNROLL
    for (uint w = SLOT_WORDS - 1; w > 0; --w)
        result = (a[w] < b[w]) | ((a[w] == b[w]) & result);
    const ulong x = a[0] | below, y = b[0] | below;
    return (x < y) | ((x == y) & result);
}

// Sorts a line by the first words of its slots, counts included; empty ones come last. Slots that these do not tell apart stay as
// they are to each other, for put_right to see.
#define STEP(P, HIGH)                                                          \
    do {                                                                       \
        const long8 high = (long8)HIGH;                                        \
        const ulong8 first = v[0].P;                                           \
        const long8 moves = ((first < v[0]) & ~high) | ((v[0] < first) & high); \
        UNROLL                                                                 \
        for (uint w = 1; w < SLOT_WORDS; ++w) {                                \
            const ulong8 other = v[w].P;                                       \
            v[w] = moves ? other : v[w];                                       \
        }                                                                      \
        v[0] = moves ? first : v[0];                                           \
    } while (0)

static inline void sort_line(ulong8 *v)
{
    STEP(s23016745, (0, 0, -1, -1, 0, 0, -1, -1));
    STEP(s45670123, (0, 0, 0, 0, -1, -1, -1, -1));
    STEP(s10325476, (0, -1, 0, -1, 0, -1, 0, -1));
    STEP(s01452367, (0, 0, 0, 0, -1, -1, 0, 0));
    STEP(s04261537, (0, 0, 0, 0, -1, 0, -1, 0));
    STEP(s02143657, (0, 0, -1, 0, -1, 0, -1, 0));
}

// Moves those of 8 slots from `first` on that come before the one on their left to their places.
static inline void put_right(const Dense *dense, uint first, uint end)
{
    __global const ulong *words = dense->words + first;
    long8 wrong = 0;
    UNROLL
    for (uint w = SLOT_WORDS - 1; w > 0; --w) {
        const ulong8 here = LOAD8(words + w * dense->stride), left = LOAD8(words + w * dense->stride - 1);
        wrong = (here < left) | ((here == left) & wrong);
    }
    const ulong8 here = LOAD8(words) | dense->below, left = LOAD8(words - 1) | dense->below;
    wrong = (here < left) | ((here == left) & wrong);
    ulong left_wrong; // a byte of ones for each lane that may be
    if (first + LANES <= end)
        left_wrong = BYTES(wrong);
    else // what lies behind the last slot says nothing
        left_wrong = LOW_BITS64(8 * (end - first));
    while (__builtin_expect(left_wrong != 0, 0)) {
        ulong slot[SLOT_WORDS], other[SLOT_WORDS];
        const uint lane = lowest_bit64(left_wrong) >> 3, place = first + lane;
        uint to = place;
        left_wrong &= ~(0xfful << 8 * lane);
        get(dense, place, slot);
        for (; to; --to) {
            get(dense, to - 1, other);
            if (!less(slot, other, dense->below))
                break;
            put(dense, to, other);
        }
        if (to == place)
            continue;
        put(dense, to, slot);
        if (place + 1 < MIN(first + LANES, end)) // the one on its left is another one now
            left_wrong |= 0xfful << 8 * (lane + 1);
    }
}

// Moves slots out of the table, line by line, each line sorted; puts them right some lines behind, where they are still near, but
// no more on their way to memory.
static inline void read_out(Table *table, const Dense *dense, const uint ordered)
{
    uint used = 0, right = 1;
    for (uint line = 0; line <= table->last; ++line) {
        ulong8 v[SLOT_WORDS];
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            v[w] = table->lines[(ulong)line * SLOT_WORDS + w];
        table->lines[(ulong)line * SLOT_WORDS] = (ulong8)(EMPTY);
        const uint keys = (uint)POPCOUNT64(BYTES(v[0] != EMPTY)) / 8;
        sort_line(v);
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            STORE8(dense->words + w * dense->stride + used, v[w]);
        used += keys;
        if (ordered && right + LAG < used) {
            put_right(dense, right, right + LANES);
            right += LANES;
        }
    }
    for (; ordered && right < used; right += LANES)
        put_right(dense, right, MIN(right + LANES, used));
}

#if SLOT_WORDS == 1
#define DIGIT_BITS 8

// Sorts by digits of the rest, the lowest first, to and fro between the slots and another place. The lowest digit may reach into
// counts, which no two keys are told apart by.
static inline void sort_slots(Dense dense, Dense other, uint used, uint rest)
{
    const Dense result = dense;
    for (uint shift = 64 - CEIL_DIV(rest, DIGIT_BITS) * DIGIT_BITS; shift < 64; shift += DIGIT_BITS) {
        uint places[1 << DIGIT_BITS], before = 0;
        for (uint digit = 0; digit < 1 << DIGIT_BITS; ++digit)
            places[digit] = 0;
        for (uint i = 0; i < used; ++i)
            ++places[dense.words[i] >> shift & LOW_BITS64(DIGIT_BITS)];
        for (uint digit = 0; digit < 1 << DIGIT_BITS; ++digit) {
            const uint many = places[digit];
            places[digit] = before;
            before += many;
        }
        for (uint i = 0; i < used; ++i) {
            const ulong slot = dense.words[i];
            other.words[places[slot >> shift & LOW_BITS64(DIGIT_BITS)]++] = slot;
        }
        const Dense turned = dense;
        dense = other;
        other = turned;
    }
    if (dense.words != result.words)
        for (uint i = 0; i < used; ++i)
            result.words[i] = dense.words[i];
}
#else
// Sorts by merging runs, to and fro between the slots and another place.
static inline void sort_slots(Dense dense, Dense other, uint used, uint rest)
{
    const Dense result = dense;
    for (uint width = 1; width < used; width *= 2) {
        for (uint first = 0; first < used; first += 2 * width) {
            uint a = first, b = MIN(first + width, used);
            const uint a_end = b, b_end = MIN(b + width, used);
            for (uint i = first; i < b_end; ++i) {
                ulong left[SLOT_WORDS], right[SLOT_WORDS];
                get(&dense, MIN(a, used - 1), left);
                get(&dense, MIN(b, used - 1), right);
                const uint takes_b = b < b_end && (a == a_end || less(right, left, dense.below));
                put(&other, i, takes_b ? right : left);
                a += !takes_b;
                b += takes_b;
            }
        }
        const Dense turned = dense;
        dense = other;
        other = turned;
    }
    if (dense.words != result.words)
        for (uint i = 0; i < used; ++i) {
            ulong slot[SLOT_WORDS];
            get(&dense, i, slot);
            put(&result, i, slot);
        }
}
#endif

// The place of a key that is there.
static inline uint place_of(const Dense *dense, uint used, const ulong *wanted)
{
    uint low = 0, high = used - 1;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        ulong slot[SLOT_WORDS];
        get(dense, middle, slot);
        if (less(slot, wanted, dense->below))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Notes keys that have escapes, and their counts: SLOT_WORDS + 1 words each.
static inline void note_grown(Table *table, __global ulong *grown)
{
    for (uint i = 0; i < table->grown; ++i) {
        const uint at = table->listed[i];
        __global const ulong *word = (__global const ulong *)(table->lines + (ulong)(at / LANES) * SLOT_WORDS) + at % LANES;
        __global ulong *noted = grown + (ulong)i * (SLOT_WORDS + 1);
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            noted[w] = word[w * LANES];
        const ulong total = (word[0] & table->below) + table->escapes[at] * (table->below - 1);
        noted[SLOT_WORDS] = MIN(total, 0xfffffffful);
        table->escapes[at] = 0;
    }
}

typedef struct {
    uint least, most, cap;
} Filter;

// Leaves out slots whose counts the filter does not pass; returns how many are left. A count of all ones is to be kept.
static inline uint kept(const Dense *dense, uint used, const Filter *filter)
{
    const ulong below = dense->below;
    uint left = 0;
    for (uint i = 0; i < used; ++i) {
        ulong slot[SLOT_WORDS];
        get(dense, i, slot);
        const ulong count = slot[0] & below;
        const uint keep = (count >= filter->least) & (count <= filter->most), large = count == below;
        slot[0] = large || count <= filter->cap ? slot[0] : (slot[0] & ~below) | filter->cap;
        put(dense, left, slot);
        left += keep | large;
    }
    return left;
}

// Marks keys that have escapes: a count of all ones if the filter passes them, else 0, which it never does.
static inline void mark_grown(const Dense *dense, uint used, __global const ulong *grown, uint count, const Filter *filter)
{
    for (uint i = 0; i < count; ++i) {
        __global const ulong *noted = grown + (ulong)i * (SLOT_WORDS + 1);
        ulong slot[SLOT_WORDS];
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            slot[w] = noted[w];
        const ulong total = noted[SLOT_WORDS];
        const uint place = place_of(dense, used, slot), keep = total >= filter->least && total <= filter->most;
        dense->words[place] = (slot[0] & ~dense->below) | (keep ? dense->below : 0);
    }
}

// Writes the counts of those that were kept, where they fit, or into the list of large ones.
static inline void write_grown(const Dense *dense, uint used, uint begin, __global const ulong *grown, uint count,
                               const Filter *filter, volatile __global uint *tally, __global uint *larges)
{
    for (uint i = 0; i < count; ++i) {
        __global const ulong *noted = grown + (ulong)i * (SLOT_WORDS + 1);
        const ulong total = noted[SLOT_WORDS], most = MIN(total, (ulong)filter->cap);
        if (total < filter->least || total > filter->most)
            continue;
        ulong slot[SLOT_WORDS];
        UNROLL
        for (uint w = 0; w < SLOT_WORDS; ++w)
            slot[w] = noted[w];
        const uint place = place_of(dense, used, slot);
        if (most < dense->below) {
            dense->words[place] = (slot[0] & ~dense->below) | most;
            continue;
        }
        const uint at = 2 * atomic_inc(tally);
        larges[at] = begin + place;
        larges[at + 1] = (uint)most;
    }
}

// Counts a bin in the smallest table that does; 0 if none does, 2 if its slots lie by a hash.
static inline uint count_bin(const Keys *keys, Table *table, ulong n, uint share, uint most_lines)
{
    const ulong all = n / (LANES / 2) + LANES, some = (n * share >> SHARE_BITS) / (LANES / 2) + LANES;
    const uint rest = table->rest;
    const ulong room = rest < 31 ? MIN(most_lines, (1u << rest) / (LANES / 2) + 1) : most_lines; // 4 keys a line at most
    const uint most = (uint)MIN(all, room), few = (uint)MIN(some, room);
    uint lines = few;
    ROLLED
    for (;;) {
        start(table, n / 4 + LANES, lines); // with more steps, a hash and a sort are sooner done
        if (enter_all(keys, table, 0))
            return 1;
        forget(table);
        if (lines == most || table->used <= few * 5) // it was too small; else keys begin alike
            break;
        lines = most;
    }
    start(table, n + LANES, most);
    if (enter_all(keys, table, 1))
        return 2;
    forget(table);
    return 0;
}

// tallies: bins that were taken, slots, and large counts. ranges: the first slot of each bin, and then how many each has. larges:
// a slot and its count in turn. states, two numbers of each work-item: distinct k-mers of 2^SHARE_BITS, in the bin before, and lines of
// its table that are empty and have no escapes, the first ones; 0 at first. lists: begins (bins + 1), chunks and lines (`listed` each).
// tables: those of all work-items, and behind them the escapes of all. all_grown: the keys that were noted, with their counts, and
// behind them the places of all.
// shape: walkers, bins, listed, the first bin and the one behind the last, bits of a key and of a count, lines of a table at most, keys
// that may be noted, the bounds of counts, where they stop, and the slots of a word of `words`.
__kernel ALONE void count_lines(__global const uchar *pool, __global const uint *lists, __global const uchar *stages,
                                __global const uint *staged, __global const ulong *shape, volatile __global uint *tallies,
                                __global ulong *tables, __global ulong *all_grown, __global uint *states, __global ulong *words,
                                __global uint *ranges, __global uint *larges)
{
    const uint walkers = (uint)shape[0], bins = (uint)shape[1], listed = (uint)shape[2], first = (uint)shape[3], end = (uint)shape[4];
    const uint rest = (uint)shape[5], count_bits = (uint)shape[6], most_lines = (uint)shape[7], most_grown = (uint)shape[8];
    const uint least = (uint)shape[9], most = (uint)shape[10], cap = (uint)shape[11];
    const ulong stride = shape[12], item = get_global_id(0), items = get_global_size(0), room = most_lines + BEHIND;
    __global const uint *const begins = lists, *const chunks = lists + bins + 1, *const lines = chunks + listed;
    Keys keys = {pool, stages, chunks, lines, staged, 0, 0, walkers, 0, bins};
    Table table;
    table.lines = (__global ulong8 *)tables + item * room * SLOT_WORDS;
    table.escapes = (__global uint *)(tables + items * room * LANES * SLOT_WORDS) + item * room * LANES;
    table.listed = (__global uint *)(all_grown + items * most_grown * (SLOT_WORDS + 1)) + item * most_grown;
    table.below = LOW_BITS64(count_bits);
    table.rest = rest;
    table.count_bits = count_bits;
    __global ulong *grown = all_grown + item * most_grown * (SLOT_WORDS + 1);
    const Filter filter = {MAX(least, 1u), most, cap};
    const uint filtered = least > 1 || most != 0xffffffffu || cap < table.below - 1;
    uint share = states[2 * item];
    table.ready = states[2 * item + 1];
    for (uint bin = first + atomic_inc(tallies); bin < end; bin = first + atomic_inc(tallies)) {
        __global uint *range = ranges + (bin - first);
        range[0] = range[end - first] = 0;
        keys.begin = begins[bin];
        keys.end = begins[bin + 1];
        keys.bin = bin;
        const ulong n = keys_of(&keys);
        if (!n)
            continue;
        const uint form = count_bin(&keys, &table, n, share, most_lines);
        if (!form) {
            range[end - first] = OVERFULL;
            continue;
        }
        const uint taken = (table.used + 2 * LANES - 1) / LANES * LANES, begin = atomic_add(tallies + 1, taken);
        if ((ulong)begin + taken > stride) {
            forget(&table);
            range[end - first] = NO_ROOM;
            atomic_add(tallies, end - first);
            break;
        }
        const Dense dense = {words + begin, stride, table.below};
        const uint count = table.grown;
        uint used = table.used;
        note_grown(&table, grown);
        read_out(&table, &dense, form == 1);
        if (form == 2) {
            const Dense other = {(__global ulong *)table.lines, used, table.below};
            sort_slots(dense, other, used, rest);
            clear_lines(&table);
        }
        share = (uint)(((ulong)used << SHARE_BITS) / n) + 1;
        mark_grown(&dense, used, grown, count, &filter);
        if (filtered)
            used = kept(&dense, used, &filter);
        write_grown(&dense, used, begin, grown, count, &filter, tallies + 2, larges);
        range[0] = begin;
        range[end - first] = used;
    }
    states[2 * item] = share;
    states[2 * item + 1] = table.ready;
}
