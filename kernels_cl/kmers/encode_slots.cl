// Sections of a database from slots, on CPUs: first key, gaps, counts, facts and tally in one go while the section is in the cache.
//
// Layout: see slot_key.clh for slots, and section_parts.clh for what is written. `size` k-mers from k-mer `start` of all on are encoded,
// behind `held` ones, fewer than a section, that are in held_keys, WORDS channels of `held_room` words, and held_counts.
// A section has `room` bytes in `out`, a multiple of 8 and at least 16 more than it takes; `facts` are channels of `sections`. Each section
// has a row of TALLIED + 2 numbers in `tallies`, whose last one counts keys that are not greater than the one before, and EVERY numbers of
// room in `many`, where its counts of TALLIED and more go. Work-items, as many as `numbers` has rows of EVERY counts for, take the next
// section from `next`, which is 0 at first. Behind the numbers of slots, `shape` holds held_room, held, start, size, sections, the two
// words of the checksum's key, and room.
//
// -D SLOT_WORDS=n   words of a slot
// -D WORDS=n        words of a k-mer
// -D EVERY=n        k-mers of a section
// -D STRETCH=n      counts of a stretch
// -D TALLIED=n      counts from here on are large
// -D BYTES=n        of a vector
#include "kmers/section_parts.clh"
#include "common/hash.clh"
#include "kmers/slot_key.clh"

#define MIN_COUNT_BITS 8 // of a slot, so its rest has no more than all others
typedef ulong8 ulong8_row __attribute__((aligned(8)));

// What keys are made of.
typedef struct {
    __global const ulong *words;
    ulong stride;
    uint rest, count_bits;
} Slots;

static inline Key key_at(const Slots *slots, ulong slot, const Key *head)
{
    return key_of_slot(slots->words, slots->stride, slot, head, slots->rest, slots->count_bits);
}

// Gaps and counts of neighbours in a bin, one by one; `before` is the k-mer before them.
static inline __global uchar *write_each(__global uchar *at, const Slots *slots, ulong slot, uint kmers, const Key *head,
                                         const Key *before, __global uint *counts, uint *wrong)
{
    const ulong hole = (1ul << slots->count_bits) - 1;
    Key then = *before;
    for (uint i = 0; i < kmers; ++i) {
        const Key key = key_at(slots, slot + i, head), gap = gap_between(&then, &key, wrong);
        at += write_gap(at, &gap);
        counts[i] = (uint)(slots->words[slot + i] & hole);
        then = key;
    }
    return at;
}

#if SLOT_WORDS <= 4
// Gaps within a bin do not have its head, so they are differences of slots. Eight at a time are spread by vectors and written one by one.
#define AT_A_TIME 8
#define GAP_LIMBS CEIL_DIV(64 * SLOT_WORDS - MIN_COUNT_BITS, LIMB_BITS)

// As `spread`, with the bytes turned round: the lowest 7 bits become the highest byte.
static inline ulong8 spread_turned(ulong8 x)
{
    x = x >> 28 | (x & 0x000000000ffffffful) << 32;
    x = (x >> 14 & 0x00003fff00003ffful) | (x & 0x00003fff00003ffful) << 16;
    return (x >> 7 & 0x007f007f007f007ful) | (x & 0x007f007f007f007ful) << 8;
}

// Bytes that limbs take as the first ones of a number.
static inline ulong8 bytes_of_limbs(ulong8 limbs)
{
    const long8 x = as_long8(limbs);
    long8 bytes = (long8)(1l);
    UNROLL
    for (uint bits = 7; bits < LIMB_BITS; bits += 7)
        bytes -= x >= (long8)(1l << bits);
    return as_ulong8(bytes);
}

static inline ulong8 load_slots(const Slots *slots, uint word, ulong slot)
{
    return *(__global const ulong8_row *)(slots->words + word * slots->stride + slot);
}

// The differences of AT_A_TIME slots from `slot` on and those before, as numbers whose least significant words come first, and the first
// words of the slots; `wrong` gets -1 where one is not greater than the one before.
static inline ulong8 gaps_of_eight(const Slots *slots, ulong slot, ulong8 *gaps, long8 *wrong)
{
    const uint behind = 64 * SLOT_WORDS - slots->count_bits - slots->rest;
    const ulong8 first = load_slots(slots, 0, slot), first_then = load_slots(slots, 0, slot - 1);
    ulong8 borrow = (ulong8)(0ul), any = borrow;
    UNROLL
    for (uint w = SLOT_WORDS - 1; w > 0; --w) {
        const ulong8 own = load_slots(slots, w, slot), then = load_slots(slots, w, slot - 1), less = own - then;
        gaps[SLOT_WORDS - 1 - w] = less + borrow;
        any |= less + borrow;
        borrow = as_ulong8(own < then) | (as_ulong8(own == then) & borrow);
    }
    const ulong8 top = (first >> slots->count_bits) - (first_then >> slots->count_bits) + borrow;
    gaps[SLOT_WORDS - 1] = top;
    gaps[SLOT_WORDS] = (ulong8)(0ul);
    *wrong |= (as_long8(top) < (long8)(0l)) | ((any | top) == (ulong8)(0ul));
    UNROLL
    for (uint w = 0; w < SLOT_WORDS; ++w)
        gaps[w] = gaps[w] >> behind | gaps[w + 1] << 1 << (63 - behind);
    return first;
}

// Gaps and counts of AT_A_TIME k-mers from `slot` on; `wrong` as above.
static inline __global uchar *write_eight(__global uchar *at, const Slots *slots, ulong slot, __global uint *counts, long8 *wrong)
{
    const uint limbs = CEIL_DIV(slots->rest, LIMB_BITS);
    ulong8 gaps[SLOT_WORDS + 1];
    ulong own[AT_A_TIME], codes[GAP_LIMBS][AT_A_TIME], sizes[GAP_LIMBS][AT_A_TIME];
    *(ulong8_row *)own = gaps_of_eight(slots, slot, gaps, wrong) & ((1ul << slots->count_bits) - 1);
    UNROLL
    for (uint lane = 0; lane < AT_A_TIME; ++lane)
        counts[lane] = (uint)own[lane];
    ulong8 more = (ulong8)(0ul); // ones where a limb before is not 0
    UNROLL
    for (uint j = GAP_LIMBS; j-- > 0;) {
        const uint w = LIMB_BITS * j / 64, shift = LIMB_BITS * j % 64;
        if (j >= limbs)
            continue;
        ulong8 limb = gaps[w] >> shift;
        if (shift > 64 - LIMB_BITS)
            limb |= gaps[w + 1] << (64 - shift);
        limb &= (1ul << LIMB_BITS) - 1;
        const ulong8 any = as_ulong8(limb != (ulong8)(0ul));
        const ulong8 bytes = (more & 8ul) | (bytes_of_limbs(limb) & any & ~more);
        *(ulong8_row *)codes[j] = (spread_turned(limb) | (j ? MORE : MORE >> 8)) >> (64 - 8 * bytes & 63);
        *(ulong8_row *)sizes[j] = bytes;
        more |= any;
    }
    UNROLL
    for (uint lane = 0; lane < AT_A_TIME; ++lane) {
        UNROLL
        for (uint j = GAP_LIMBS; j-- > 0;) {
            if (j >= limbs)
                continue;
            STORE(at, codes[j][lane]);
            at += sizes[j][lane];
        }
    }
    return at;
}
#endif

// Gaps and counts of neighbours in a bin, behind the k-mer `before`, which becomes the last one. The slot before has that k-mer if it
// is `known` to be of the bin.
static inline __global uchar *write_bin(__global uchar *at, const Slots *slots, ulong slot, uint kmers, uint known, const Key *head,
                                        Key *before, __global uint *counts, uint *wrong)
{
    if (!kmers)
        return at;
    uint done = 0;
    Key then = *before;
#if SLOT_WORDS <= 4
    if (!known) {
        at = write_each(at, slots, slot, 1, head, before, counts, wrong);
        done = 1;
    }
    long8 eight = (long8)(0l);
    for (; done + AT_A_TIME <= kmers; done += AT_A_TIME)
        at = write_eight(at, slots, slot + done, counts + done, &eight);
    long lanes[AT_A_TIME];
    *(long8 *)lanes = eight;
    UNROLL
    for (uint lane = 0; lane < AT_A_TIME; ++lane)
        *wrong -= (int)lanes[lane];
    if (done)
        then = key_at(slots, slot + done - 1, head);
#endif
    at = write_each(at, slots, slot + done, kmers - done, head, &then, counts + done, wrong);
    *before = key_at(slots, slot + kmers - 1, head);
    return at;
}

// Gaps and counts of k-mers that are held, behind the first one, `before`, which becomes the last one.
static inline __global uchar *write_held(__global uchar *at, __global const ulong *held_keys, ulong held_room,
                                         __global const uint *held_counts, uint held, Key *before, __global uint *counts, uint *wrong)
{
    for (uint i = 0; i < held; ++i) {
        Key key;
        UNROLL
        for (uint w = 0; w < WORDS; ++w)
            key.word[w] = held_keys[w * held_room + i];
        counts[i] = held_counts[i];
        if (i) {
            const Key gap = gap_between(before, &key, wrong);
            at += write_gap(at, &gap);
        }
        *before = key;
    }
    return at;
}

static inline void list_many(__global const uint *counts, uint kmers, __global uint *many)
{
    uint listed = 0;
    for (uint i = 0; i < kmers; ++i)
        if (counts[i] >= TALLIED)
            many[listed++] = counts[i];
}

// Checksums of some sections, as many lanes of a vector: each word of one has to wait for the word before. Lanes without a section of
// their own have the first one's.
#define ROWS 8

typedef struct {
    uint section[ROWS], bytes[ROWS], size;
} Pending;

static inline void sum_pending(Pending *pending, __global const ulong *out, ulong room, ulong k0, ulong k1, __global ulong *sums)
{
    __global const ulong *rows[ROWS];
    uint words = 0xffffffffu;
    UNROLL
    for (uint lane = 0; lane < ROWS; ++lane) {
        const uint own = lane < pending->size ? lane : 0;
        rows[lane] = out + pending->section[own] * (room / 8);
        words = MIN(words, pending->bytes[own] / 8);
    }
    SIP_START(s0, s1, s2, s3, k0, k1);
    ulong8 v0 = (ulong8)(s0), v1 = (ulong8)(s1), v2 = (ulong8)(s2), v3 = (ulong8)(s3);
    for (uint i = 0; i < words; ++i) {
        const ulong8 word = (ulong8)(rows[0][i], rows[1][i], rows[2][i], rows[3][i],
                                     rows[4][i], rows[5][i], rows[6][i], rows[7][i]);
        SIP_WORD(v0, v1, v2, v3, word);
    }
    ulong states[4][ROWS];
    *(ulong8_row *)states[0] = v0;
    *(ulong8_row *)states[1] = v1;
    *(ulong8_row *)states[2] = v2;
    *(ulong8_row *)states[3] = v3;
    for (uint lane = 0; lane < pending->size; ++lane) {
        s0 = states[0][lane];
        s1 = states[1][lane];
        s2 = states[2][lane];
        s3 = states[3][lane];
        const uint bytes = pending->bytes[lane], whole = bytes / 8;
        for (uint i = words; i < whole; ++i)
            SIP_WORD(s0, s1, s2, s3, rows[lane][i]);
        const ulong rest = (rows[lane][whole] & ((1ul << 8 * (bytes % 8)) - 1)) | (ulong)bytes << 56;
        SIP_WORD(s0, s1, s2, s3, rest);
        sums[pending->section[lane]] = sip_finish(s0, s1, s2, s3);
    }
    pending->size = 0;
}

__kernel ALONE
void encode_slots(__global const ulong *words, __global const ulong *table, __global const uint *larges, __global const ulong *shape,
                  __global const ulong *held_keys, __global const uint *held_counts, volatile __global uint *next,
                  __global uint *numbers, __global ulong *out, __global ulong *facts, __global uint *tallies, __global uint *many)
{
    const ulong stride = shape[0], held_room = shape[5], start = shape[7], k0 = shape[10], k1 = shape[11], room = shape[12];
    const uint rest = (uint)shape[1], count_bits = (uint)shape[2], bins = (uint)shape[3], large = (uint)shape[4];
    const uint held = (uint)shape[6], size = (uint)shape[8], sections = (uint)shape[9];
    __global const ulong *const starts = table, *const heads = table + bins + 1, *const begins = heads + bins;
    const Slots slots = {words, stride, rest, count_bits};
    Pending pending;
    pending.size = 0;
    __global uint *const counts = numbers + get_global_id(0) * EVERY;
    for (uint section = atomic_inc(next); section < sections; section = atomic_inc(next)) {
        const uint own_held = section ? 0 : held;
        const ulong begin = start + (section * EVERY + own_held - held), end = start + MIN((section + 1) * EVERY - held, size);
        __global ulong *const aligned = out + section * (room / 8);
        __global uchar *const bytes = (__global uchar *)aligned;
        __global uint *const tally = tallies + section * (TALLIED + 2);
        uint wrong = 0, bin = bin_of(starts, bins, begin);
        Key head = key_of_head(heads[bin], rest);
        const ulong first = begins[bin] + (begin - starts[bin]);
        Key before = key_at(&slots, first, &head);
        if (own_held) {
            UNROLL
            for (uint w = 0; w < WORDS; ++w)
                before.word[w] = held_keys[w * held_room];
        }
        if (section) { // which has to follow the section before
            const uint last = bin - (begin == starts[bin]);
            const Key head_then = key_of_head(heads[last], rest);
            const Key then = key_at(&slots, begins[last] + (begin - 1 - starts[last]), &head_then);
            gap_between(&then, &before, &wrong);
        }
        __global uchar *at = bytes;
        for (uint w = 0; w < WORDS; ++w, at += 8) {
            STORE(at, before.word[w]);
            facts[(3 + w) * sections + section] = before.word[w];
        }
        at = write_held(at, held_keys, held_room, held_counts, own_held, &before, counts, &wrong);
        counts[own_held] = (uint)(words[first] & ((1ul << count_bits) - 1));
        for (ulong place = begin; place < end; ++bin) {
            const uint known = place == begin && !own_held; // the first k-mer
            const ulong slot = begins[bin] + (place - starts[bin]);
            const uint kmers = (uint)(MIN(starts[bin + 1], end) - place);
            __global uint *const own = counts + own_held + (place - begin);
            head = key_of_head(heads[bin], rest);
            at = write_bin(at, &slots, slot + known, kmers - known, known, &head, &before, own + known, &wrong);
            put_large(own, slot, kmers, larges, larges + large, large);
            place += kmers;
        }
        const uint kmers = own_held + (uint)(end - begin), gap_bytes = (uint)(at - bytes), count_words = write_counts(at, counts, 0, kmers);
        STORE(at + 8 * count_words, 0ul); // the checksum reads whole words
        tally_section(counts, 0, kmers, tally);
        tally[TALLIED + 1] = wrong;
        if (tally[TALLIED])
            list_many(counts, kmers, many + (ulong)section * EVERY);
        facts[section] = gap_bytes;
        facts[sections + section] = count_words;
        pending.section[pending.size] = section;
        pending.bytes[pending.size++] = gap_bytes + 8 * count_words;
        if (pending.size == ROWS)
            sum_pending(&pending, out, room, k0, k1, facts + 2 * sections);
        for (uint w = 0; w < WORDS; ++w)
            facts[(3 + WORDS + w) * sections + section] = before.word[w];
    }
    if (pending.size)
        sum_pending(&pending, out, room, k0, k1, facts + 2 * sections);
}
