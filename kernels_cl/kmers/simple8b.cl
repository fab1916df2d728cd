// Counts less one in 64-bit words (Simple-8b): the top 4 bits select how many numbers the word holds and how wide they are.
//
//   selector     0    1   2   3   4   5   6   7  8  9  10  11  12  13  14  15
//   bits         0    0   1   2   3   4   5   6  7  8  10  12  15  20  30  60
//   numbers    240  120  60  30  20  15  12  10  8  7   6   5   4   3   2   1
//
// A word takes the lowest selector that the numbers from there on fit, and no more numbers than are left of the stretch.
//
// Layout: `counts` are `size` numbers, in stretches of STRETCH and a rest. `count_words` gives the words of each stretch, and 0 after the
// last one; `write_words` gets where each stretch's words start, their exclusive scan. A work-item a stretch.
//
// -D STRETCH=n   numbers of a stretch
#include "common/portable.clh"

#define SELECTORS 16

__constant uchar SIZES[SELECTORS] = {240, 120, 60, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1};
__constant uchar WIDTHS[SELECTORS] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60};

// The lowest selector of the numbers from `place` on. Windows grow as selectors fall, until a number is too wide for the next
// window: `all` has the bits of all numbers so far, so it is as wide as the widest.
static inline uint select_word(__global const uint *counts, uint place, uint end)
{
    uint best = SELECTORS - 1, held = 1;
    ulong all = counts[place] - 1u;
    while (best > 0 && place + SIZES[best - 1] <= end) {
        const uint size = SIZES[best - 1], width = WIDTHS[best - 1];
        while (held < size && all >> width == 0)
            all |= counts[place + held++] - 1u;
        if (all >> width)
            break;
        --best;
    }
    return best;
}

static inline ulong pack_word(__global const uint *counts, uint place, uint selector)
{
    const uint size = SIZES[selector], width = WIDTHS[selector];
    ulong word = (ulong)selector << 60;
    if (width)
        for (uint i = 0; i < size; ++i)
            word |= (ulong)(counts[place + i] - 1u) << (i * width);
    return word;
}

__kernel void count_words(__global const uint *counts, uint size, uint stretches, __global uint *words)
{
    const uint stretch = get_global_id(0);
    if (stretch > stretches)
        return;
    const uint end = MIN((stretch + 1) * STRETCH, size);
    uint count = 0;
    for (uint place = stretch * STRETCH; place < end; ++count)
        place += SIZES[select_word(counts, place, end)];
    words[stretch] = count;
}

__kernel void write_words(__global const uint *counts, uint size, uint stretches, __global const uint *starts,
                          __global ulong *words)
{
    const uint stretch = get_global_id(0);
    if (stretch >= stretches)
        return;
    const uint end = MIN((stretch + 1) * STRETCH, size);
    uint next = starts[stretch];
    for (uint place = stretch * STRETCH; place < end; ++next) {
        const uint selector = select_word(counts, place, end);
        words[next] = pack_word(counts, place, selector);
        place += SIZES[selector];
    }
}
