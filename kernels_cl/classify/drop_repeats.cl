// Features that a read has more than once: all but one of each are taken for features that were not found.
//
// The features of a read that were found go into a table with open addresses. It is a read's own, and where a feature goes depends
// on `key`, an odd number that is drawn anew by each process: nobody can make reads of features that crowd together. Which of
// several equal features stays depends on the order in which work-items come; as the index says the same of all of them, nothing
// that follows does.
//
// Without LISTED the reads are those of a row, and those with more than SLOTS / 2 features are left as they are. With LISTED they
// are those of `listed`, and tables are in global memory: that of listed[i] has 2^bits[i] slots, from places[i] on.
//
// features[`base` + i] is the feature of found[i].
//
// A work-item of a CPU takes `each` reads; on GPUs a work-group takes one.
//
// -D CPU=0|1
// -D LISTED=0|1
// -D LANES=n     work-group size; 1 on CPUs
// -D SLOTS=n     a power of two: slots of a read's table in private memory, or in local memory on GPUs
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/hashes.clh"

#define MIN_BITS 6

#if LISTED
#define TABLE __global uint
#define FENCE() barrier(CLK_GLOBAL_MEM_FENCE)
#elif CPU
#define TABLE uint
#else
#define TABLE __local uint
#define FENCE() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#if CPU
#define LANE 0
#undef FENCE
#define FENCE()
#else
#define LANE get_local_id(0)
#endif

// What a slot held before it was given to a feature, if it was free.
static inline uint claim(TABLE *slot, uint feature)
{
#if CPU
    const uint held = *slot;
    if (held == NO_FEATURE)
        *slot = feature;
    return held;
#else
    return atomic_cmpxchg((volatile TABLE *)slot, NO_FEATURE, feature);
#endif
}

// Whether a table holds a feature already, which it then does.
static inline uint is_repeated(TABLE *table, uint bits, uint key, uint feature)
{
    uint slot = feature * key >> (32 - bits);
    for (;;) {
        const uint held = claim(table + slot, feature);
        if (held == NO_FEATURE || held == feature)
            return held == feature;
        slot = (slot + 1) & ((1u << bits) - 1);
    }
}

static inline void drop_repeats_of(__global ulong *found, __global const uint *features, uint size, TABLE *table, uint bits, uint key)
{
    for (uint slot = LANE; slot < 1u << bits; slot += LANES)
        table[slot] = NO_FEATURE;
    FENCE();
    for (uint i = LANE; i < size; i += LANES)
        if (COUNT_OF(found[i]) && is_repeated(table, bits, key, features[i]))
            found[i] = 0;
    FENCE();
}

__kernel void drop_repeats(__global ulong *found, ulong base, __global const uint *first, uint sketch, __global const uint *features,
                           uint reads, uint each, uint key, __global const uint *listed, __global const ulong *places,
                           __global const uint *table_bits, __global uint *tables)
{
#if CPU
    const uint from = get_global_id(0) * each, to = MIN(from + each, reads);
#else
    const uint from = get_group_id(0), to = from + 1;
#endif
#if !LISTED
#if CPU
    uint table[SLOTS];
#else
    __local uint table[SLOTS];
#endif
#endif
    for (uint i = from; i < to; ++i) {
#if LISTED
        const uint read = listed[i], bits = table_bits[i];
        __global uint *table = tables + places[i];
#else
        const uint read = i;
#endif
        const uint windows = first[read + 1] - first[read], size = windows * sketch;
        const ulong begin = FIRST_FEATURE(read);
#if !LISTED
        if (windows < 2 || size > SLOTS / 2)
            continue;
        uint bits = MIN_BITS;
        while (1u << bits < 2 * size)
            ++bits;
#endif
        drop_repeats_of(found + begin, features + base + begin, size, table, bits, key);
    }
}
