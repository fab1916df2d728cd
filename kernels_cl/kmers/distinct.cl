// The distinct k-mers of bins and how often each is there, for CPUs: a table each work-item has for itself, small enough for
// the processor's caches.
//
// All k-mers of a bin begin with the same `skip` bits. A k-mer's first slot is its next 32 bits, scaled to the slots of
// the table, so slots are in the order of k-mers but for those that found theirs taken and went on to the next ones: what
// is read out of the table is nearly sorted. A bin whose k-mers crowd in some slots is left as it is, to be split.
// Keys lie one after another, WORDS words each.
//
//   count_distinct    the first found[bin] keys of a bin, their numbers in counts[first[bin]] and on; or found is CROWDED
//   split_bins        keys of a bin dealt out by their next 8 bits in place; ends[bin * 256 + digit]
//   gather_distinct   keys and counts of all bins, dense and in channels: out[w * stride + place[bin] + i]
//
// -D WORDS=n        words of a k-mer
// -D PROBES=n       slots that a k-mer may have to look at; so many follow the table's last one
#include "common/portable.clh"

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

static inline uint digits_of(__global const ulong *key, Digits digits)
{
    ulong found = key[digits.word] >> digits.down;
#if WORDS > 1
    if (digits.down > 32 && digits.word + 1 < WORDS)
        found |= key[digits.word + 1] << (64 - digits.down);
#endif
    return (uint)(found << digits.up);
}

static inline uint equal(__global const ulong *a, __global const ulong *b)
{
    ulong differ = 0;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        differ |= a[w] ^ b[w];
    return !differ;
}

static inline uint less(__global const ulong *a, const ulong *b)
{
    uint result = 0;
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        result = (a[w] < b[w]) | ((a[w] == b[w]) & result);
    return result;
}

static inline void copy(__global ulong *to, __global const ulong *from)
{
    UNROLL
    for (uint w = 0; w < WORDS; ++w)
        to[w] = from[w];
}

// Puts all keys into the table; 0 where they crowd.
static inline uint enter(__global const ulong *keys, uint size, Digits digits, uint slots, __global ulong *table,
                         __global uint *tallies)
{
    for (uint i = 0; i < size; ++i) {
        __global const ulong *key = keys + (ulong)i * WORDS;
        uint slot = (ulong)digits_of(key, digits) * slots >> 32;
        const uint stop = slot + PROBES;
        while (tallies[slot] && !equal(table + slot * WORDS, key))
            if (++slot == stop)
                return 0;
        copy(table + slot * WORDS, key);
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
        copy(table + used * WORDS, table + slot * WORDS);
        tallies[used] = tally;
        used += tally != 0;
    }
    return used;
}

// Insertion sort of what is nearly sorted: no key is more than PROBES slots behind its place.
static inline void put_right(uint used, __global ulong *table, __global uint *tallies)
{
    for (uint i = 1; i < used; ++i) {
        ulong key[WORDS];
        UNROLL
        for (uint w = 0; w < WORDS; ++w)
            key[w] = table[i * WORDS + w];
        if (less(table + (i - 1) * WORDS, key))
            continue;
        const uint tally = tallies[i];
        uint place = i;
        for (; place && !less(table + (place - 1) * WORDS, key); --place) {
            copy(table + place * WORDS, table + (place - 1) * WORDS);
            tallies[place] = tallies[place - 1];
        }
        UNROLL
        for (uint w = 0; w < WORDS; ++w)
            table[place * WORDS + w] = key[w];
        tallies[place] = tally;
    }
}

__kernel void count_distinct(__global ulong *keys, __global const uint *begins, __global const uint *sizes,
                             __global const uint *skips, __global const uint *first, uint bins, uint bits, uint most_slots,
                             __global uint *next, __global ulong *tables, __global uint *all_tallies, __global uint *found,
                             __global uint *counts)
{
    const ulong item = get_global_id(0), room = most_slots + PROBES;
    __global ulong *table = tables + item * room * WORDS;
    __global uint *tallies = all_tallies + item * room;
    uint share = 256; // distinct k-mers of 256, as in the bin before
    for (uint bin = atomic_inc(next); bin < bins; bin = atomic_inc(next)) {
        const uint size = sizes[bin];
        const Digits digits = digits_behind(skips[bin], bits);
        __global ulong *own = keys + (ulong)begins[bin] * WORDS;
        uint slots = MIN((ulong)size * (share + 8) * 3 / 256, most_slots);
        uint entered = enter(own, size, digits, slots, table, tallies);
        if (!entered && slots < most_slots && slots < 2 * (ulong)size) {
            clear(slots, tallies);
            slots = MIN(2 * (ulong)size, most_slots);
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
            copy(own + i * WORDS, table + i * WORDS);
            numbers[i] = tallies[i];
            tallies[i] = 0;
        }
        found[bin] = used;
        share = (ulong)used * 256 / size;
    }
}

__kernel void split_bins(__global ulong *keys, __global const uint *begins, __global const uint *sizes,
                         __global const uint *skips, uint bins, uint bits, __global uint *ends)
{
    const uint bin = get_global_id(0);
    if (bin >= bins)
        return;
    const Digits digits = digits_behind(skips[bin], bits);
    __global ulong *own = keys + (ulong)begins[bin] * WORDS;
    uint places[256], stops[256];
    for (uint digit = 0; digit < 256; ++digit)
        stops[digit] = 0;
    for (uint i = 0; i < sizes[bin]; ++i)
        ++stops[digits_of(own + (ulong)i * WORDS, digits) >> 24];
    for (uint digit = 0, sum = 0; digit < 256; ++digit) {
        places[digit] = sum;
        sum += stops[digit];
        stops[digit] = sum;
        ends[bin * 256 + digit] = begins[bin] + sum;
    }
    for (uint digit = 0; digit < 256; ++digit)
        while (places[digit] < stops[digit]) {
            __global ulong *key = own + (ulong)places[digit] * WORDS;
            const uint wanted = digits_of(key, digits) >> 24;
            __global ulong *other = own + (ulong)places[wanted]++ * WORDS;
            for (uint w = 0; w < WORDS && wanted != digit; ++w) {
                const ulong word = key[w];
                key[w] = other[w];
                other[w] = word;
            }
        }
}

__kernel void gather_distinct(__global const ulong *keys, __global const uint *begins, __global const uint *found,
                              __global const uint *first, __global const uint *counts, __global const uint *place, uint bins,
                              ulong stride, __global ulong *out, __global uint *out_counts)
{
    const uint bin = get_global_id(0);
    if (bin >= bins)
        return;
    const uint size = found[bin];
    for (uint w = 0; w < WORDS; ++w) {
        __global const ulong *from = keys + (ulong)begins[bin] * WORDS + w;
        __global ulong *to = out + w * stride + place[bin];
        for (uint i = 0; i < size; ++i)
            to[i] = from[i * WORDS];
    }
    for (uint i = 0; i < size; ++i)
        out_counts[place[bin] + i] = counts[first[bin] + i];
}
