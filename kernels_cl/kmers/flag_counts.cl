// Which counts are kept.

// Whether each count is in [least, most].
__kernel void flag_counts(__global const uint *counts, ulong size, uint least, uint most, __global uchar *flags)
{
    const ulong i = get_global_id(0);
    if (i < size)
        flags[i] = counts[i] >= least && counts[i] <= most;
}
