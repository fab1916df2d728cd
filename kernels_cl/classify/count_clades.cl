// How many features the targets of each clade have: what each node adds to the sum of its clade, which the host makes.
//
// Nodes are targets, taxa and a root above them, numbered such that a clade is a range that begins with its own node; so a parent has a
// smaller number than its children. GROUP(t) is the number of target t, and parents[n] that of the parent of node n; the root is its own.
//
// A feature adds 1 at every node that has it, and takes 1 away where the paths of neighbours in the order of nodes meet. So the sum of a
// clade is 1 if any of its targets has the feature.
//
// Features come piece by piece, `size` of them with counts[counts_at] and locations[locations_at] and on. A work-item takes `each` features: on CPUs many, on GPUs
// one. sums[w]: locations of the features before those of work-item w (index_features.cl), in the lower half.
//
//   gains[n]         what node n adds; the host takes it before it may overflow
//   nodes, spare     room for as many numbers as there are locations
//
// -D COUNT=uchar|ushort   numbers of locations
#include "common/portable.clh"
#include "classify/sort_list.clh"

static inline uint meeting(__global const uint *parents, uint one, uint other)
{
    while (one != other) {
        const uint lower = MAX(one, other); // which is not above the other one
        one = MIN(one, other);
        other = parents[lower];
    }
    return one;
}

__kernel void count_clades(__global const COUNT *counts, uint counts_at, uint size, uint each, __global const ulong *sums,
                           __global const uint *locations, uint locations_at, TARGETS, __global const uint *parents, __global uint *nodes,
                           __global uint *spare, __global int *gains)
{
    counts += counts_at;
    locations += locations_at;
    const uint begin = MIN(get_global_id(0) * each, size), end = MIN(begin + each, size);
    uint start = begin < end ? (uint)sums[begin / each] : 0, met = 0;
    int times = 0; // that the paths of neighbours met in one node: most meet near the root, where all work-items would add
    for (uint i = begin; i < end; ++i) {
        const uint count = counts[i];
        for (uint j = 0; j < count; ++j)
            nodes[start + j] = (uint)GROUP(target_of(targets, blocks, locations[start + j]));
        __global const uint *sorted = count > 1 ? sort_list(nodes + start, spare + start, count) : nodes + start;
        for (uint j = 0; j < count; ++j) {
            atomic_add(gains + sorted[j], 1);
            const uint node = j ? meeting(parents, sorted[j - 1], sorted[j]) : met;
            if (node != met) {
                if (times)
                    atomic_add(gains + met, -times);
                met = node;
                times = 0;
            }
            times += j > 0;
        }
        start += count;
    }
    if (times)
        atomic_add(gains + met, -times);
}
