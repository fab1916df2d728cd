// Pairs of what sketches hold: feature j of window w becomes the number key * 2^32 + (number of the window), whose order is that of
// keys, and within a key that of windows.
//
// All places of a sketch make a pair, also those behind its last feature: their key is that of NO_FEATURE, which no feature has, and
// is left out when the pairs are sorted (clip_runs.cl). So where each pair goes is known beforehand, and nothing has to be counted.
//
//   features[w * SIZE + j]   feature j of window w, from `first` on: `size` of them, w and j counted through
//   pairs[to + i]            the pair of features[first + i]
//   window                   number of the window that features[0] is of
//
// -D SIZE=n   features of a window at most
#include "classify/hashes.clh"

__kernel void make_pairs(__global const uint *features, uint first, uint size, uint window, ulong to, __global ulong *pairs)
{
    const uint i = get_global_id(0);
    if (i < size)
        pairs[to + i] = (ulong)mix_feature(features[first + i]) << 32 | (window + (first + i) / SIZE);
}
