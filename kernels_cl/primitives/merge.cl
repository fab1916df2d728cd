// Merge of two neighbouring sorted runs, stable: of equal keys those of the first run come first.
//
//   keys:  ... [begin, middle) [middle, end) ...   both sorted        out:  ... [begin, end) ...
//
// A work-item makes EACH neighbouring keys of the output. Where its part starts in either run is found by bisection: of the
// first d keys of the output as many come from the first run as it has keys i with a[i] <= b[d - 1 - i] (the merge path).
//
// Word w of key i is keys[w * stride + i], least significant word first.
//
// -D KEY=uint|ulong, WORDS=n   a word, and words of a key
// -D VALUE=type                the value's type, where there are values
// -D EACH=n                    keys of the output per work-item
#include "common/portable.clh"

// Whether key i is at most key j.
static inline uint at_most(__global const KEY *keys, ulong stride, ulong i, ulong j)
{
    for (uint w = WORDS - 1; w > 0; --w) {
        const KEY x = keys[w * stride + i], y = keys[w * stride + j];
        if (x != y)
            return x < y;
    }
    return keys[i] <= keys[j];
}

__kernel void merge_runs(__global const KEY *keys, ulong stride, ulong begin, ulong middle, ulong end, __global KEY *out
#ifdef VALUE
                         , __global const VALUE *values, __global VALUE *values_out
#endif
)
{
    const ulong a_size = middle - begin, b_size = end - middle;
    const ulong first = get_global_id(0) * EACH, last = MIN(first + EACH, end - begin);
    if (first >= last)
        return;
    ulong low = first > b_size ? first - b_size : 0, high = MIN(first, a_size);
    while (low < high) {
        const ulong half_way = (low + high) / 2;
        if (at_most(keys, stride, begin + half_way, middle + first - 1 - half_way))
            low = half_way + 1;
        else
            high = half_way;
    }
    ulong i = begin + low, j = middle + first - low;
    for (ulong to = begin + first; to < begin + last; ++to) {
        const uint from_a = j >= end || (i < middle && at_most(keys, stride, i, j));
        const ulong from = from_a ? i : j;
        for (uint w = 0; w < WORDS; ++w)
            out[w * stride + to] = keys[w * stride + from];
#ifdef VALUE
        values_out[to] = values[from];
#endif
        i += from_a;
        j += !from_a;
    }
}
