// Probe: do 64-bit atomics work? Every work-item adds its number plus 2^33 to total[0], and puts its number, by compare and
// exchange, on top of a chain of sums in total[1]; both must hold the whole sum.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
__kernel void probe_int64_atomics(volatile __global ulong *total)
{
    const ulong mine = (ulong)get_global_id(0) + (1ul << 33);
    atom_add(&total[0], mine);
    ulong seen = atom_add(&total[1], 0ul);
    for (;;) {
        const ulong before = atom_cmpxchg(&total[1], seen, seen + mine);
        if (before == seen)
            break;
        seen = before;
    }
}
