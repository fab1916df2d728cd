// How many counts there are of each size.
//
//   tally[c] = counts that are c, for c < TALLIED;   tally[TALLIED] = those that are TALLIED or more
//
// Layout: of `counts`, `size` numbers from `start` on are looked at. `tally_counts` has groups of any number and adds to `tally`;
// `pick_large` puts the large ones anywhere in `large`, as many as `picked` had room, and counts them there. A work-item a count.
//
// -D TALLIED=n   counts from here on are large
#include "common/portable.clh"

__kernel void tally_counts(__global const uint *counts, ulong start, uint size, __global uint *tally)
{
    __local uint few[TALLIED + 1];
    const uint lane = get_local_id(0), lanes = get_local_size(0);
    for (uint c = lane; c <= TALLIED; c += lanes)
        few[c] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < size; i += get_global_size(0)) {
        const uint count = counts[start + i];
        atomic_inc(few + MIN(count, TALLIED));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = lane; c <= TALLIED; c += lanes)
        if (few[c])
            atomic_add(tally + c, few[c]);
}

__kernel void pick_large(__global const uint *counts, ulong start, uint size, __global uint *picked, __global uint *large)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    const uint count = counts[start + i];
    if (count >= TALLIED)
        large[atomic_inc(picked)] = count;
}
