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
// The text begins at byte `skip` of the memory. `starts` says that its first byte starts a line, and `inside` that it is inside
// a header.
#include "sequence/fasta.clh"
#include "sequence/records.clh"

__kernel void copy_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
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
        const uint line = break_at(text, at, end);
        if (starts_line(text, at, starts) && text[at] == '>') {
            letters[to++] = '\n';
            record_places[record] = at;
            const uint header_end = break_at(text, line, size);
            header_lengths[record] = header_end - at - 1;
            note_record(text, at, header_end, record++, to, record_starts, name_places, name_lengths);
        } else {
            for (uint i = at; i < line; ++i)
                letters[to + (i - at)] = text[i];
            to += line - at;
        }
        at = line + 1;
    }
}
