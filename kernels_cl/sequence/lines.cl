// The lines of a text: `count_lines` counts the newlines of each tile, and after their scan, which says how many come before it,
// `place_lines` writes where they are.
//
//   lines[t]      newlines of tile t; after its scan, newlines before tile t
//   newlines[n]   place of newline n
//
// The text begins at byte `skip` of the memory.
#include "sequence/text.clh"
#ifdef WIDE
#include "sequence/windows.clh"
#endif

__kernel ONE_BY_ONE
void count_lines(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, __global uint *lines)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    uint at = t * tile, count = 0;
    const uint end = MIN(at + tile, size);
#ifdef WIDE
    while (at + WINDOW <= end) {
        Window counts = (Window)(0ul);
        for (uint i = 0; i < 255 && at + WINDOW <= end; ++i, at += WINDOW)
            counts += window_equal(load_window(text, at), '\n');
        count += sum_window(counts);
    }
#endif
    for (at = skip_line(text, at, end); at + 8 <= end; at = skip_line(text, at + 8, end))
        count += count_marked(bytes_equal(load_text(text, at), '\n'));
    for (; at < end; ++at)
        count += text[at] == '\n';
    lines[t] = count;
}

__kernel ONE_BY_ONE
void place_lines(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, __global const uint *lines,
                 __global uint *newlines)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    uint at = t * tile, line = lines[t];
    const uint end = MIN(at + tile, size);
    for (at = skip_line(text, at, end); at + 8 <= end; at = skip_line(text, at + 8, end))
        for (ulong marks = bytes_equal(load_text(text, at), '\n'); marks; marks &= marks - 1)
            newlines[line++] = at + first_marked(marks);
    for (; at < end; ++at)
        if (text[at] == '\n')
            newlines[line++] = at;
}
