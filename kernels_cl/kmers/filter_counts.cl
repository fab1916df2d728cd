// Which counts are kept, and where counters stop. A work-item a count.

// Whether each count is in [least, most].
__kernel void flag_counts(__global const uint *counts, ulong size, uint least, uint most, __global uchar *flags)
{
    const ulong i = get_global_id(0);
    if (i < size)
        flags[i] = counts[i] >= least && counts[i] <= most;
}

__kernel void cap_counts(__global uint *counts, ulong size, uint most)
{
    const ulong i = get_global_id(0);
    if (i < size)
        counts[i] = counts[i] < most ? counts[i] : most;
}
