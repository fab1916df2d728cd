// Letters of FASTA as neighbours, without line breaks between them.
//
// sequence/count_fasta.cl with -D NAMES says where the letters of each tile go, places[t], and the number of its first record,
// headers[t]. A newline is written for each header. No header may go on beyond the text.
//
//   record_places[r]                  where the record's header is, from its > on
//   header_lengths[r]                 bytes of its line behind that
//   record_starts[r]                  where its letters are among those written
//   name_places[r], name_lengths[r]   its name, in the text
//
// Letters are written as they are looked at: bytes that a tile does not own are never written, not even to be overwritten.
//
// The text begins at byte `skip` of the memory. `starts` says that its first byte starts a line, and `inside` that it is inside
// a header.
#include "sequence/fasta.clh"
#include "sequence/records.clh"

static inline void store_letters(__global uchar *letters, ulong x)
{
    UNROLL
    for (uint i = 0; i < 8; ++i)
        letters[i] = (uchar)(x >> 8 * i);
}

// Copy a line up to its end, which is returned.
static inline uint copy_line(__global const uchar *text, uint at, uint end, __global uchar *letters)
{
    const uint begin = at;
#ifdef WIDE
    for (; at + 16 <= end; at += 16) {
        const uchar16 x = load_wide(text, at);
        if (has_breaks(x))
            break;
        *(__global bytes16 *)(letters + (at - begin)) = x;
    }
#endif
    for (; at + 8 <= end; at += 8) {
        ulong x = load_text(text, at);
        const ulong marks = line_breaks(x);
        if (marks) {
            const uint count = first_marked(marks);
            for (uint i = 0; i < count; ++i, x >>= 8)
                letters[at + i - begin] = (uchar)x;
            return at + count;
        }
        store_letters(letters + (at - begin), x);
    }
    for (; at < end && !is_break(text[at]); ++at)
        letters[at - begin] = text[at];
    return at;
}

__kernel ONE_BY_ONE
void copy_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
                __global const uint *marks, __global const uint *places, __global const uint *headers,
                __global uchar *letters, __global uint *record_places, __global uint *record_starts,
                __global uint *name_places, __global uint *name_lengths, __global uint *header_lengths)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    uint at = t * tile, to = places[t], record = headers[t];
    const uint end = MIN(at + tile, size);
    if (in_header(text, at, starts, inside, marks[t]))
        at = break_at(text, at, end) + 1;
    while (at < end) {
        if (starts_line(text, at, starts) && text[at] == '>') {
            const uint line = break_at(text, at, end);
            letters[to++] = '\n';
            record_places[record] = at;
            const uint header_end = break_at(text, line, size);
            header_lengths[record] = header_end - at - 1;
            note_record(text, at, header_end, record++, to, record_starts, name_places, name_lengths);
            at = line + 1;
        } else {
            const uint line = copy_line(text, at, end, letters + to);
            to += line - at;
            at = line + 1;
        }
    }
}
