// Lists of windows to pairs again, as make_pairs.cl has them: a work-item a feature.
//
//   keys[f]                                  of feature f, ascending
//   locations[starts[f] .. starts[f+1] - 1]  its windows
//   pairs[to + l]                            the pair of locations[l]
__kernel void expand_runs(__global const uint *keys, __global const uint *starts, uint size, __global const uint *locations,
                          ulong to, __global ulong *pairs)
{
    const uint f = get_global_id(0);
    if (f >= size)
        return;
    const ulong key = (ulong)keys[f] << 32;
    for (uint l = starts[f]; l < starts[f + 1]; ++l)
        pairs[to + l] = key | locations[l];
}
