// The distinct k-mers of bins and how often each is there, for CPUs: a table each work-item has for itself, small enough for
// the processor's caches.
//
// All k-mers of a bin begin with the same `skip` bits. A k-mer's first slot is its next 32 bits, scaled to the slots of
// the table, so slots are in the order of k-mers but for those that found theirs taken and went on to the next ones: what
// is read out of the table is nearly sorted. A bin whose k-mers crowd in some slots is left as it is, to be divided.
// Keys lie as packed_key.clh has them.
//
//   count_distinct    the first found[bin] keys of a bin, their numbers in counts[first[bin]] and on; or found is CROWDED
//   divide_bins       keys of a bin dealt out by their next 8 bits in place; ends[bin * 256 + digit]
//   gather_distinct   keys and counts of all bins, dense and in channels: out[w * stride + places[bin] + i]. What the keys of a
//                     bin have in common, heads[bin], comes before their lowest `rest` bits
//
// -D WORDS=n        words of a k-mer
// -D KEY_BYTES=n    bytes in which k-mers of a bin may differ
// -D PROBES=n       slots that a k-mer may have to look at; so many follow the table's last one
#include "common/portable.clh"
#include "kmers/packed_key.clh"

#define CROWDED 0xffffffffu

// Where the 32 bits behind the first ones of a k-mer lie.
typedef struct {
    uint word, down, up;
} Digits;

static inline Digits digits_behind(uint skip, uint bits)
{
    const uint rest = bits > skip ? bits - skip : 0;
    const uint low = rest > 32 ? rest - 32 : 0;
    const Digits digits = {low / 64, low % 64, rest < 32 ? 32 - rest : 0};
    return digits;
}

static inline uint digits_of(const ulong *key, Digits digits)
{
    ulong found = key[digits.word] >> digits.down;
#if STORED > 1
    if (digits.down > 32 && digits.word + 1 < STORED)
        found |= key[digits.word + 1] << (64 - digits.down);
#endif
    return (uint)(found << digits.up);
}

static inline uint equal(__global const ulong *a, const ulong *b)
{
    ulong differ = 0;
    UNROLL
    for (uint w = 0; w < STORED; ++w)
        differ |= a[w] ^ b[w];
    return !differ;
}

static inline uint less(__global const ulong *a, const ulong *b)
{
    uint result = 0;
    UNROLL
    for (uint w = 0; w < STORED; ++w)
        result = (a[w] < b[w]) | ((a[w] == b[w]) & result);
    return result;
}

static inline void copy(__global ulong *to, __global const ulong *from)
{
    UNROLL
    for (uint w = 0; w < STORED; ++w)
        to[w] = from[w];
}

static inline void put(__global ulong *to, const ulong *key)
{
    UNROLL
    for (uint w = 0; w < STORED; ++w)
        to[w] = key[w];
}

// Puts all keys into the table; 0 where they crowd.
static inline uint enter(__global const uchar *keys, uint size, Digits digits, uint slots, __global ulong *table,
                         __global uint *tallies)
{
    for (uint i = 0; i < size; ++i) {
        ulong key[STORED];
        load_key(keys + (ulong)i * KEY_BYTES, key);
        uint slot = (ulong)digits_of(key, digits) * slots >> 32;
        const uint stop = slot + PROBES;
        while (tallies[slot] && !equal(table + slot * STORED, key))
            if (++slot == stop)
                return 0;
        put(table + slot * STORED, key);
        ++tallies[slot];
    }
    return 1;
}

static inline void clear(uint slots, __global uint *tallies)
{
    for (uint slot = 0; slot < slots + PROBES; ++slot)
        tallies[slot] = 0;
}

// Moves the slots in use to the front; returns how many.
static inline uint close_ranks(uint slots, __global ulong *table, __global uint *tallies)
{
    uint used = 0;
    for (uint slot = 0; slot < slots; ++slot) {
        const uint tally = tallies[slot];
        tallies[slot] = 0;
        copy(table + used * STORED, table + slot * STORED);
        tallies[used] = tally;
        used += tally != 0;
    }
    return used;
}

// Insertion sort of what is nearly sorted: no key is more than PROBES slots behind its place.
static inline void put_right(uint used, __global ulong *table, __global uint *tallies)
{
    for (uint i = 1; i < used; ++i) {
        ulong key[STORED];
        UNROLL
        for (uint w = 0; w < STORED; ++w)
            key[w] = table[i * STORED + w];
        if (less(table + (i - 1) * STORED, key))
            continue;
        const uint tally = tallies[i];
        uint place = i;
        for (; place && !less(table + (place - 1) * STORED, key); --place) {
            copy(table + place * STORED, table + (place - 1) * STORED);
            tallies[place] = tallies[place - 1];
        }
        put(table + place * STORED, key);
        tallies[place] = tally;
    }
}

__kernel void count_distinct(__global uchar *keys, __global const uint *begins, __global const uint *sizes,
                             __global const uint *skips, __global const uint *first, uint bins, uint bits, uint max_slots,
                             __global uint *next, __global ulong *tables, __global uint *all_tallies, __global uint *found,
                             __global uint *counts)
{
    const ulong item = get_global_id(0), room = max_slots + PROBES;
    __global ulong *table = tables + item * room * STORED;
    __global uint *tallies = all_tallies + item * room;
    uint share = 256; // distinct k-mers of 256, as in the bin before
    for (uint bin = atomic_inc(next); bin < bins; bin = atomic_inc(next)) {
        const uint size = sizes[bin];
        const Digits digits = digits_behind(skips[bin], bits);
        __global uchar *own = packed_key(keys, begins[bin]);
        uint slots = MIN((ulong)size * (share + 8) * 3 / 256, max_slots);
        uint entered = enter(own, size, digits, slots, table, tallies);
        if (!entered && slots < max_slots && slots < 2 * (ulong)size) {
            clear(slots, tallies);
            slots = MIN(2 * (ulong)size, max_slots);
            entered = enter(own, size, digits, slots, table, tallies);
        }
        if (!entered) {
            clear(slots, tallies);
            found[bin] = CROWDED;
            continue;
        }
        const uint used = close_ranks(slots + PROBES, table, tallies);
        put_right(used, table, tallies);
        __global uint *numbers = counts + first[bin];
        for (uint i = 0; i < used; ++i) {
            ulong key[STORED];
            for (uint w = 0; w < STORED; ++w)
                key[w] = table[i * STORED + w];
            store_key(own + (ulong)i * KEY_BYTES, key);
            numbers[i] = tallies[i];
            tallies[i] = 0;
        }
        found[bin] = used;
        share = (ulong)used * 256 / size;
    }
}

__kernel void divide_bins(__global uchar *keys, __global const uint *begins, __global const uint *sizes,
                          __global const uint *skips, uint bins, uint bits, __global uint *ends)
{
    const uint bin = get_global_id(0);
    if (bin >= bins)
        return;
    const Digits digits = digits_behind(skips[bin], bits);
    __global uchar *own = packed_key(keys, begins[bin]);
    ulong key[STORED], other[STORED];
    uint places[256], stops[256];
    for (uint digit = 0; digit < 256; ++digit)
        stops[digit] = 0;
    for (uint i = 0; i < sizes[bin]; ++i) {
        load_key(own + (ulong)i * KEY_BYTES, key);
        ++stops[digits_of(key, digits) >> 24];
    }
    for (uint digit = 0, sum = 0; digit < 256; ++digit) {
        places[digit] = sum;
        sum += stops[digit];
        stops[digit] = sum;
        ends[bin * 256 + digit] = begins[bin] + sum;
    }
    for (uint digit = 0; digit < 256; ++digit)
        while (places[digit] < stops[digit]) {
            __global uchar *here = packed_key(own, places[digit]);
            load_key(here, key);
            const uint wanted = digits_of(key, digits) >> 24;
            __global uchar *there = packed_key(own, places[wanted]++);
            if (wanted != digit) {
                load_key(there, other);
                store_key(there, key);
                store_key(here, other);
            }
        }
}

__kernel void gather_distinct(__global uchar *keys, __global const uint *begins, __global const uint *found,
                              __global const uint *first, __global const uint *counts, __global const uint *places,
                              __global const uint *heads, uint bins, uint rest, ulong stride, __global ulong *out,
                              __global uint *out_counts)
{
    const uint bin = get_global_id(0);
    if (bin >= bins)
        return;
    ulong head[WORDS + 1];
    for (uint w = 0; w <= WORDS; ++w)
        head[w] = 0;
    head[rest / 64] = (ulong)heads[bin] << rest % 64;
    head[rest / 64 + 1] = (ulong)heads[bin] >> 1 >> (63 - rest % 64);
    const uint size = found[bin];
    out += places[bin];
    for (uint i = 0; i < size; ++i) {
        ulong key[STORED];
        load_key(packed_key(keys, begins[bin] + (ulong)i), key);
        UNROLL
        for (uint w = 0; w < WORDS; ++w)
            out[w * stride + i] = head[w] | (w < STORED ? key[MIN(w, STORED - 1)] : 0);
        out_counts[places[bin] + i] = counts[first[bin] + i];
    }
}
