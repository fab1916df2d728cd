#include "omega_kernel.hpp"

#ifndef __SYNTHESIS__
#include <cfloat>
#include <cmath>
#endif

// Directives and the names of loops are for synthesis; other compilers warn of both. Directives take macros only
// through one more level of expansion (UG1399, "Using #define with Pragma Directives").
#ifdef __SYNTHESIS__
#define PRAGMA_SUB(x) _Pragma(#x)
#define PRAGMA_HLS(x) PRAGMA_SUB(x)
#define LOOP(name) name:
#else
#define PRAGMA_HLS(x)
#define LOOP(name)
#endif

namespace {

typedef std::uint32_t Word;

const float OFFSET = 0.00001f;
const Word PORT_BEAT_WORDS = PORTS * PORT_WORDS;
const Word ISSUE_WORDS = LANES * (1 + STREAM_RS);
const Word GATHERED_WORDS = BEATS_PER_ISSUE * PORT_BEAT_WORDS;

// How the right side of a position falls to beats and lanes.
struct Shape {
  Word inside;   // right-side iterations that the lanes take
  Word stretch;  // of a lane, where lanes are blocked; the first `longer` lanes have one more
  Word longer;
  Word beats;
};

// A part of the right side that fits into the RS buffer.
struct Tile {
  Word first_beat;
  Word beats;
  Word ports;  // port beats of a column
};

// Operators of the FPGA flush subnormals to a zero of their sign; here it takes a statement.
float flushed(float number) {
  PRAGMA_HLS(HLS inline)
#ifndef __SYNTHESIS__
  if (std::fabs(number) < FLT_MIN) return std::copysign(0.0f, number);
#endif
  return number;
}

// An integer that orders as the number does: +0 and -0 are equal, NaN is 0 and below all others. Comparing integers
// takes one cycle, so the running maximum holds an initiation interval of 1; a float comparison takes longer.
Word key_of(float number) {
  PRAGMA_HLS(HLS inline)
  union {
    float number;
    Word bits;
  } view;
  view.number = number;
  const Word size = view.bits & 0x7fffffffu;
  if (size > 0x7f800000u) return 0;
  return (view.bits >> 31) != 0 && size != 0 ? ~view.bits : size | 0x80000000u;
}

// Fig. 8 of the paper, in its order of operations.
float score(float ts, float ls, float rs, Word k, Word m) {
  PRAGMA_HLS(HLS inline)
  const Word pairs = (k * (k - 1) >> 1) + (m * (m - 1) >> 1);
  const Word product = k * m;
  const float sums = flushed(ls + rs);
  const float numerator = flushed(sums / static_cast<float>(pairs));
  const float without_left = flushed(ts - ls);
  const float across = flushed(without_left - rs);
  const float mean = flushed(across / static_cast<float>(product));
  const float denominator = flushed(mean + OFFSET);
  return flushed(numerator / denominator);
}

// Take the next port beat into what is gathered for a beat of the lanes: the first one ends at the bottom.
void gather(FOR_EACH_PORT(PORT_PARAMETER) Word address, float gathered[GATHERED_WORDS]) {
  PRAGMA_HLS(HLS inline)
  for (Word i = 0; i + PORT_BEAT_WORDS < GATHERED_WORDS; ++i) {
    PRAGMA_HLS(HLS unroll)
    gathered[i] = gathered[i + PORT_BEAT_WORDS];
  }
#define TAKE_PORT(n)                                                                                \
  {                                                                                                 \
    const PortBeat beat = memory##n[address];                                                       \
    for (Word i = 0; i < PORT_WORDS; ++i) {                                                         \
      PRAGMA_HLS(HLS unroll)                                                                        \
      gathered[GATHERED_WORDS - PORT_BEAT_WORDS + n * PORT_WORDS + i] = beat.word[i];               \
    }                                                                                               \
  }
  FOR_EACH_PORT(TAKE_PORT)
#undef TAKE_PORT
}

#if !STREAM_RS
// Read the RS column of a tile into the buffer, a bank for each lane.
void prefetch_rs(FOR_EACH_PORT(PORT_PARAMETER) Word address, const Tile &tile,
                 float rs_buffer[RS_BUFFER_BEATS][LANES]) {
  PRAGMA_HLS(HLS inline)
  float gathered[GATHERED_WORDS];
  PRAGMA_HLS(HLS array_partition variable = gathered complete)
  for (Word i = 0; i < GATHERED_WORDS; ++i) {
    PRAGMA_HLS(HLS unroll)
    gathered[i] = 0;
  }
  Word beat = 0, part = 0;
LOOP(prefetch)
  for (Word x = 0; x < tile.ports; ++x) {
    PRAGMA_HLS(HLS pipeline II = ISSUES_PER_BEAT)
    PRAGMA_HLS(HLS loop_tripcount min = TRIP_PORTS max = TRIP_PORTS)
    gather(FOR_EACH_PORT(PORT_ARGUMENT) address + x, gathered);
    const bool whole = part + 1 == BEATS_PER_ISSUE;
    for (Word s = 0; s < ISSUES_PER_BEAT; ++s) {
      PRAGMA_HLS(HLS unroll)
      for (Word lane = 0; lane < LANES; ++lane) {
        PRAGMA_HLS(HLS unroll)
        if (whole && beat + s < tile.beats) rs_buffer[beat + s][lane] = gathered[s * ISSUE_WORDS + lane];
      }
    }
    if (whole) beat += ISSUES_PER_BEAT;
    part = whole ? 0 : part + 1;
  }
}
#endif

// One beat: every lane scores its right-side iteration and keeps the greatest omega.
void score_beat(const float ts[LANES], const float rs[LANES], Word column, Word beat, float ls, Word k,
                Word first_m, const Shape &shape, Maximum best[LANES]) {
  PRAGMA_HLS(HLS inline)
  for (Word lane = 0; lane < LANES; ++lane) {
    PRAGMA_HLS(HLS unroll)
#if BLOCKED
    const Word right = lane * shape.stretch + (lane < shape.longer ? lane : shape.longer) + beat;
    const bool taken = !MASKED || beat < shape.stretch + (lane < shape.longer ? 1u : 0u);
#else
    const Word right = beat * LANES + lane;
    const bool taken = !MASKED || right < shape.inside;
#endif
    const float omega = score(flushed(ts[lane]), ls, flushed(rs[lane]), k, first_m + right);
    const Word key = key_of(omega);
    // columns ascend within a tile: an equal omega of a smaller column can only come in a later tile
    const bool better = key > best[lane].key || (key == best[lane].key && column < best[lane].column);
    if (taken && better) {
      best[lane].key = key;
      best[lane].omega = omega;
      best[lane].column = column;
      best[lane].right = right;
    }
  }
}

// Run columns that lie one after the other in memory as one loop over their port beats. Without OVERLAP_OUTER there is
// one, so that the lanes drain after each.
void run_columns(FOR_EACH_PORT(PORT_PARAMETER) Word address, Word first_column, Word columns,
                 const float ls_block[LS_BLOCK], const Tile &tile, const Shape &shape, const Position &position,
#if !STREAM_RS
                 const float rs_buffer[RS_BUFFER_BEATS][LANES],
#endif
                 Maximum best[LANES]) {
  PRAGMA_HLS(HLS inline)
  float gathered[GATHERED_WORDS];
  PRAGMA_HLS(HLS array_partition variable = gathered complete)
  for (Word i = 0; i < GATHERED_WORDS; ++i) {
    PRAGMA_HLS(HLS unroll)
    gathered[i] = 0;
  }
  const Word total = columns * tile.ports;
  Word column = first_column, port = 0, part = 0, beat = 0;
LOOP(beats)
  for (Word x = 0; x < total; ++x) {
    PRAGMA_HLS(HLS pipeline II = PORT_INTERVAL)
    PRAGMA_HLS(HLS loop_tripcount min = TRIP_BEATS max = TRIP_BEATS)
    gather(FOR_EACH_PORT(PORT_ARGUMENT) address + x, gathered);
    const float ls = flushed(ls_block[column % LS_BLOCK]);
    const bool whole = part + 1 == BEATS_PER_ISSUE;
    for (Word s = 0; s < ISSUES_PER_BEAT; ++s) {
      PRAGMA_HLS(HLS unroll)
      if (whole && beat + s < tile.beats) {
        float words[ISSUE_WORDS], rs[LANES];
        PRAGMA_HLS(HLS array_partition variable = words complete)
        PRAGMA_HLS(HLS array_partition variable = rs complete)
        for (Word i = 0; i < ISSUE_WORDS; ++i) {
          PRAGMA_HLS(HLS unroll)
          words[i] = gathered[s * ISSUE_WORDS + i];
        }
        for (Word lane = 0; lane < LANES; ++lane) {
          PRAGMA_HLS(HLS unroll)
#if STREAM_RS  // RS of all lanes comes first, then TS
          rs[lane] = words[lane];
#else
          rs[lane] = rs_buffer[beat + s][lane];
#endif
        }
        score_beat(words + STREAM_RS * LANES, rs, column, tile.first_beat + beat + s, ls, position.first_k + column,
                   position.first_m, shape, best);
      }
    }
    const bool last = port + 1 == tile.ports;
    beat = last ? 0 : whole ? beat + ISSUES_PER_BEAT : beat;
    part = whole ? 0 : part + 1;
    port = last ? 0 : port + 1;
    column = last ? column + 1 : column;
  }
}

// Lanes and beats of a right side. What is left after a division by the unroll is software's, or masked.
Shape shape_of(Word columns, Word right) {
  PRAGMA_HLS(HLS inline)
  Shape shape;
  shape.inside = MASKED ? right : right - right % UNROLL;
  shape.stretch = shape.inside / LANES;
  shape.longer = shape.inside % LANES;
  shape.beats = columns == 0 ? 0 : shape.stretch + (shape.longer != 0 ? 1u : 0u);
  return shape;
}

// The greatest omega of all lanes; equal ones go to the smaller column, then to the smaller right-side iteration.
Maximum merge_lanes(const Maximum best[LANES]) {
  PRAGMA_HLS(HLS inline)
  Maximum winner = {0, 0.0f, 0, 0};
LOOP(merge)
  for (Word lane = 0; lane < LANES; ++lane) {
    PRAGMA_HLS(HLS pipeline II = 1)
    const Maximum one = best[lane];
    const bool earlier = one.column < winner.column || (one.column == winner.column && one.right < winner.right);
    if (one.key > winner.key || (one.key != 0 && one.key == winner.key && earlier)) winner = one;
  }
  return winner;
}

}  // namespace

extern "C" {
void omega_kernel(FOR_EACH_PORT(PORT_PARAMETER) const Position *positions, const float *left_sums, Maximum *results,
#if WRITE_LANES
                  Maximum *lanes,
#endif
                  std::uint32_t count) {
#ifdef DATA_PACK  // Vivado HLS; Vitis HLS makes one word of a struct by itself
#define PACK(name) PRAGMA_HLS(HLS data_pack variable = name)
#else
#define PACK(name)
#endif
#define READ_PORT(name, words)                                                                                    \
  PACK(name)                                                                                                      \
  PRAGMA_HLS(HLS interface m_axi port = name bundle = name offset = slave depth = words latency = LATENCY         \
                 max_read_burst_length = BURST_LENGTH num_read_outstanding = OUTSTANDING)                         \
  PRAGMA_HLS(HLS interface s_axilite port = name bundle = control)
#define MEMORY_PORT(n) READ_PORT(memory##n, DEPTH_MEMORY)
  FOR_EACH_PORT(MEMORY_PORT)
  PACK(positions)
  PRAGMA_HLS(HLS interface m_axi port = positions bundle = other offset = slave depth = 1)
  PRAGMA_HLS(HLS interface s_axilite port = positions bundle = control)
  PRAGMA_HLS(HLS interface m_axi port = left_sums bundle = left_sums offset = slave depth = DEPTH_LS latency = LATENCY
                 max_read_burst_length = BURST_LENGTH num_read_outstanding = OUTSTANDING)
  PRAGMA_HLS(HLS interface s_axilite port = left_sums bundle = control)
  PACK(results)
  PRAGMA_HLS(HLS interface m_axi port = results bundle = other offset = slave depth = 1)
  PRAGMA_HLS(HLS interface s_axilite port = results bundle = control)
#if WRITE_LANES
  PACK(lanes)
  PRAGMA_HLS(HLS interface m_axi port = lanes bundle = other offset = slave depth = LANES)
  PRAGMA_HLS(HLS interface s_axilite port = lanes bundle = control)
#endif
  PRAGMA_HLS(HLS interface s_axilite port = count bundle = control)
  PRAGMA_HLS(HLS interface s_axilite port = return bundle = control)

  Maximum best[LANES];
  PRAGMA_HLS(HLS array_partition variable = best complete)
  float ls_block[LS_BLOCK];
#if !STREAM_RS
  float rs_buffer[RS_BUFFER_BEATS][LANES];
  PRAGMA_HLS(HLS array_partition variable = rs_buffer complete dim = 2)
#endif

LOOP(positions_of_the_grid)
  for (Word p = 0; p < count; ++p) {
    PRAGMA_HLS(HLS loop_tripcount min = 1 max = 1)
    const Position position = positions[p];
    const Shape shape = shape_of(position.columns, position.right);
    for (Word lane = 0; lane < LANES; ++lane) {
      PRAGMA_HLS(HLS unroll)
      best[lane].key = 0;
      best[lane].omega = 0;
      best[lane].column = 0;
      best[lane].right = 0;
    }
    Word rs_address = position.rs_address, ts_address = position.ts_address;
  LOOP(tiles)
    for (Word first_beat = 0; first_beat < shape.beats; first_beat += TILE_BEATS) {
      PRAGMA_HLS(HLS loop_tripcount min = TRIP_TILES max = TRIP_TILES)
      Tile tile;
      tile.first_beat = first_beat;
      tile.beats = shape.beats - first_beat < TILE_BEATS ? shape.beats - first_beat : TILE_BEATS;
      tile.ports = BEATS_PER_ISSUE > 1 ? tile.beats * BEATS_PER_ISSUE
                                       : (tile.beats + ISSUES_PER_BEAT - 1) / ISSUES_PER_BEAT;
#if !STREAM_RS && !PREFETCH_PER_COLUMN
      prefetch_rs(FOR_EACH_PORT(PORT_ARGUMENT) rs_address, tile, rs_buffer);
#endif
    LOOP(blocks)
      for (Word first = 0; first < position.columns; first += LS_BLOCK) {
        PRAGMA_HLS(HLS loop_tripcount min = TRIP_BLOCKS max = TRIP_BLOCKS)
        const Word left = position.columns - first;
        const Word held = left < LS_BLOCK ? left : LS_BLOCK;
      LOOP(left_sums_of_a_block)
        for (Word i = 0; i < held; ++i) {
          PRAGMA_HLS(HLS pipeline II = 1)
          PRAGMA_HLS(HLS loop_tripcount min = TRIP_HELD max = TRIP_HELD)
          ls_block[i] = left_sums[position.ls_address + first + i];
        }
        const Word together = OVERLAP_OUTER ? held : 1;
      LOOP(columns)
        for (Word i = 0; i < held; i += together) {
          PRAGMA_HLS(HLS loop_tripcount min = TRIP_COLUMNS max = TRIP_COLUMNS)
#if !STREAM_RS && PREFETCH_PER_COLUMN
          prefetch_rs(FOR_EACH_PORT(PORT_ARGUMENT) rs_address, tile, rs_buffer);
#endif
          run_columns(FOR_EACH_PORT(PORT_ARGUMENT) ts_address, first + i, together, ls_block, tile, shape, position,
#if !STREAM_RS
                      rs_buffer,
#endif
                      best);
          ts_address += together * tile.ports;
        }
      }
      rs_address += tile.ports;
    }
    results[p] = merge_lanes(best);
#if WRITE_LANES
  LOOP(write_lanes)
    for (Word lane = 0; lane < LANES; ++lane) {
      PRAGMA_HLS(HLS pipeline II = 1)
      lanes[p * LANES + lane] = best[lane];
    }
#endif
  }
}
}
