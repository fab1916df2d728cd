// Names of records from all over the text to one place, one behind the other.
//
//   names[name_starts[r] .. name_starts[r + 1] - 1]   the name of record r, which is text[places[r] ..]
//
// name_starts has an item more than there are records: where the last name ends. The text begins at byte `skip` of the memory.
#include "sequence/text.clh"

__kernel void gather_names(__global const uchar *memory, uint skip, __global const uint *places,
                           __global const uint *name_starts, uint records, __global uchar *names)
{
    __global const uchar *text = memory + skip;
    const uint r = get_global_id(0);
    if (r >= records)
        return;
    const uint begin = name_starts[r], end = name_starts[r + 1], place = places[r];
    for (uint i = begin; i < end; ++i)
        names[i] = text[place + (i - begin)];
}
