// Runs grid positions through omega_top with the memory of docs/how/fpga.md beside it.
//
//   bench STIMULUS                  prints a line of JSON for each position
//   bench STIMULUS WAVES HALF       also dumps the waveforms of the first one, where the Verilog was built with --trace;
//                                   HALF is half a clock period in units of the dump
//
// Requests have to keep to AXI4: what is offered stays until it is accepted, a burst has 256 beats at most, and its bytes
// on one port do not cross a multiple of 4,096.
//
// The stimulus is 32-bit little-endian words: for each position the fields of Position in order, then LS (columns words),
// then the memory (memory_ports * PORT_WORDS words): the RS columns of all tiles, then the TS columns.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "Vomega_top.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

struct Position {
  uint32_t overlap_outer, prefetch_per_outer, blocked, burst_length, outstanding, fifo_beats, interval, fsm_cycles;
  uint32_t columns, tiles, tile_beats, tile_ports, last_tile_beats, last_tile_ports, last_lanes, stretch, longer_lanes;
  uint32_t first_k, first_m, latency, burst_gap, pace_numerator, pace_denominator, random_below, stall_below;
  uint32_t random_seed, ts_address, memory_ports, port_bytes, trace;
};

// Ports are plain integers up to 64 bits and arrays of words above.
static void put(IData& port, const uint32_t* words) { port = words[0]; }
static void put(QData& port, const uint32_t* words) { port = words[0] | uint64_t(words[1]) << 32; }
template <std::size_t N> static void put(VlWide<N>& port, const uint32_t* words) {
  std::memcpy(&port[0], words, sizeof(uint32_t) * N);
}
static uint32_t get(const IData& port, int) { return port; }
static uint32_t get(const QData& port, int index) { return uint32_t(port >> 32 * index); }
template <std::size_t N> static uint32_t get(const VlWide<N>& port, int index) { return port[index]; }

// The two random choices of the memory: 32 bits for the number of a port beat or a burst.
static uint32_t hashed(uint32_t h) {
  h ^= h >> 15;
  h *= 2246822519u;
  return h ^ h >> 13;
}

// Accepts requests late, and tells what AXI4 forbids.
class Requests {
 public:
  explicit Requests(const Position& position) : position(position) {}

  // Whether the request on the channel is accepted in this cycle.
  bool accepts(const Vomega_top& top, int64_t cycle) {
    const Request now{top.ar_addr, top.ar_len, bool(top.ar_first)};
    if (waits) {
      if (!top.ar_valid) fail(cycle, "is dropped before it is accepted");
      if (now.address != waiting.address || now.length != waiting.length || now.first != waiting.first)
        fail(cycle, "changes before it is accepted");
    }
    if (!top.ar_valid) return false;
    if (!waits) {
      check(now, cycle);
      burst_of_column = now.first ? 0 : burst_of_column + 1;
      left = stall(burst_of_column);
    }
    waiting = now;
    waits = left > 0;
    if (waits) left--;
    return !waits;
  }

 private:
  struct Request {
    uint32_t address, length;
    bool first;
  };
  static void fail(int64_t cycle, const char* what) {
    std::fprintf(stderr, "bench: error: the request of cycle %lld %s\n", static_cast<long long>(cycle), what);
    std::exit(1);
  }
  void check(const Request& request, int64_t cycle) const {
    const uint64_t first = uint64_t(request.address) * position.port_bytes;
    const uint64_t last = first + uint64_t(request.length) * position.port_bytes - 1;
    if (request.length == 0 || request.length > 256) fail(cycle, "has not 1 to 256 beats");
    if (first / 4096 != last / 4096) fail(cycle, "crosses a multiple of 4,096 bytes");
    if (uint64_t(request.address) + request.length > position.memory_ports) fail(cycle, "lies outside of memory");
  }
  uint32_t stall(uint32_t burst) const {
    const uint32_t h = hashed(2654435761u * burst + 40503u * position.random_seed + 3266489917u);
    return (h & 0xffff) < position.stall_below ? 1 + ((h >> 16) & 7) : 0;
  }

  const Position& position;
  Request waiting{};
  bool waits = false;
  uint32_t left = 0, burst_of_column = 0;
};

class Memory {
 public:
  Memory(const Position& position, const std::vector<uint32_t>& ls, const std::vector<uint32_t>& words)
      : position(position), ls(ls), words(words) {}

  void request(int64_t cycle, uint32_t address, uint32_t length, bool first_of_column) {
    bursts.push_back({cycle, address, length, first_of_column});
  }
  void request_ls(int64_t cycle) { ls_cycles.push_back(cycle + position.latency); }

  // What is on the data channel in this cycle.
  bool offers(int64_t cycle) {
    if (bursts.empty()) return false;
    const Burst& burst = bursts.front();
    if (taken_of_burst == 0) {
      const int64_t slow = burst.first_of_column ? turn(beat_of_column) : late(beat_of_column);
      const int64_t free = last_taken + 1 + position.burst_gap + slow;
      return cycle >= burst.accepted + int64_t(position.latency) && cycle >= free;
    }
    return cycle >= last_taken + 1 + late(beat_of_column);
  }
  const uint32_t* data() const { return &words[std::size_t(bursts.front().address + taken_of_burst) * PORT_WORDS]; }
  bool last() const { return taken_of_burst + 1 == bursts.front().length; }
  void take(int64_t cycle) {
    if (taken_of_burst == 0 && bursts.front().first_of_column) beat_of_column = 0;
    last_taken = cycle;
    beat_of_column++;
    if (++taken_of_burst == bursts.front().length) {
      bursts.pop_front();
      taken_of_burst = 0;
    }
  }
  bool offers_ls(int64_t cycle) const { return !ls_cycles.empty() && ls_cycles.front() == cycle; }
  uint32_t take_ls() {
    ls_cycles.pop_front();
    return ls[ls_column++ % position.columns];
  }

 private:
  struct Burst {
    int64_t accepted;
    uint32_t address, length;
    bool first_of_column;
  };
  int64_t late(uint64_t x) const {
    if (x == 0) return 0;
    const uint64_t slower = position.pace_numerator - position.pace_denominator, unit = position.pace_denominator;
    const uint32_t h = hashed(2654435761u * uint32_t(x) + 40503u * position.random_seed);
    const int64_t random = (h & 0xffff) < position.random_below ? 1 + ((h >> 16) & 3) : 0;
    return int64_t(x * slower / unit - (x - 1) * slower / unit) + random;
  }

  // Lateness of a column's first port beat behind a column of so many of them, rounded up once a column.
  int64_t turn(uint64_t beats) const {
    if (beats == 0) return 0;
    const uint64_t slower = position.pace_numerator - position.pace_denominator, unit = position.pace_denominator;
    return int64_t((beats * slower + unit - 1) / unit - (beats - 1) * slower / unit);
  }

  const Position& position;
  const std::vector<uint32_t>&ls, &words;
  std::deque<Burst> bursts;
  std::deque<int64_t> ls_cycles;
  int64_t last_taken = INT64_MIN / 2;
  uint32_t taken_of_burst = 0;
  uint64_t beat_of_column = 0, ls_column = 0;
};

// From a cycle to the next: the clock falls in the middle of one and rises at its end.
static void clock(Vomega_top& top) {
  top.clk = 0;
  top.eval();
  top.clk = 1;
  top.eval();
}

#if VM_TRACE
// Waveforms: the clock rises where a cycle begins, and what is said of a cycle stands until the next rise.
class Waves {
 public:
  Waves(Vomega_top& top, const char* path, uint64_t half) : half(half) {
    top.trace(&file, LEVELS);
    file.open(path);
  }
  void dump(Vomega_top& top, int64_t cycle) {
    file.dump(2 * half * uint64_t(cycle));
    top.clk = 0;
    top.eval();
    file.dump(2 * half * uint64_t(cycle) + half);
  }

 private:
  static constexpr int LEVELS = 99;
  VerilatedVcdC file;
  uint64_t half;
};
#else
struct Waves {
  Waves(Vomega_top&, const char*, uint64_t) {}
  void dump(Vomega_top&, int64_t) {}
};
#endif

static void set_up(Vomega_top& top, const Position& position) {
  top.clk = 0;
  top.r_valid = top.ls_valid = top.start = 0;
  top.ar_ready = 0;
  top.reset = 1;
  top.eval();
  clock(top);
  top.reset = 0;
  top.overlap_outer = position.overlap_outer;
  top.prefetch_per_outer = position.prefetch_per_outer;
  top.blocked = position.blocked;
  top.burst_length = position.burst_length;
  top.outstanding_limit = position.outstanding;
  top.fifo_limit = position.fifo_beats;
  top.interval = position.interval;
  top.fsm_cycles = position.fsm_cycles;
  top.columns = position.columns;
  top.tiles = position.tiles;
  top.tile_beats = position.tile_beats;
  top.tile_ports = position.tile_ports;
  top.last_tile_beats = position.last_tile_beats;
  top.last_tile_ports = position.last_tile_ports;
  top.last_lanes = position.last_lanes;
  top.stretch = position.stretch;
  top.longer_lanes = position.longer_lanes;
  top.first_k = position.first_k;
  top.first_m = position.first_m;
  top.rs_address = 0;
  top.ts_address = position.ts_address;
  top.start = 1;
  clock(top);
  top.start = 0;
}

// Run to the end; cycle 0 is that of the first request. Returns the cycles, -1 where the hardware hangs.
static int64_t run(Vomega_top& top, const Position& position, Memory& memory, std::vector<int64_t>& issues,
                   Waves* waves) {
  Requests requests(position);
  const int64_t pause = position.latency + position.interval + position.fsm_cycles
      + position.pace_numerator / position.pace_denominator;
  const int64_t patience = (1 << 20) + 16 * pause;
  int64_t busy = 0;
  for (int64_t cycle = 0; !top.done; cycle++) {
    if (cycle > busy + patience) return -1;
    top.r_valid = memory.offers(cycle);
    if (top.r_valid) {
      put(top.r_data, memory.data());
      top.r_last = memory.last();
    }
    top.ls_valid = memory.offers_ls(cycle);
    if (top.ls_valid) top.ls_data = memory.take_ls();
    top.eval();
    top.ar_ready = requests.accepts(top, cycle);
    top.eval();
    if (top.ar_ready) memory.request(cycle, top.ar_addr, top.ar_len, top.ar_first);
    if (top.ls_request) memory.request_ls(cycle);
    if (top.issue && position.trace) issues.push_back(cycle);
    if (top.r_valid && top.r_ready) memory.take(cycle);
    if (top.ar_valid || top.issue || top.r_valid) busy = cycle;
    if (waves) waves->dump(top, cycle);
    clock(top);
    if (top.done) {
      top.ar_ready = top.r_valid = top.ls_valid = 0;
      top.eval();
      if (waves) waves->dump(top, cycle + 1);
      return cycle + 1;
    }
  }
  return -1;
}

static void print(const Vomega_top& top, int64_t cycles, const std::vector<int64_t>& issues) {
  std::printf("{\"cycles\": %lld, \"best\": [%u, %u, %u, %u], \"lanes\": [", static_cast<long long>(cycles),
              top.best, top.best_key, top.best_column, top.best_right);
  for (int i = 0; i < LANES; i++)
    std::printf("%s[%u, %u, %u, %u]", i ? ", " : "", get(top.lane_best, i), get(top.lane_key, i),
                get(top.lane_column, i), get(top.lane_right, i));
  std::printf("], \"issues\": [");
  for (std::size_t i = 0; i < issues.size(); i++)
    std::printf("%s%lld", i ? ", " : "", static_cast<long long>(issues[i]));
  std::printf("]}\n");
}

static bool read_words(std::FILE* file, void* target, std::size_t words) {
  return std::fread(target, sizeof(uint32_t), words, file) == words;
}

int main(int count, char** arguments) {
  std::FILE* file = count == 2 || (count == 4 && VM_TRACE) ? std::fopen(arguments[1], "rb") : nullptr;
  if (!file) {
    std::fprintf(stderr, "bench: give one readable stimulus file\n");
    return 2;
  }
  const std::unique_ptr<VerilatedContext> context(new VerilatedContext);
  context->randReset(2);  // registers start at random: the reset has to do
  context->randSeed(1);
  context->traceEverOn(count == 4);
  const std::unique_ptr<Vomega_top> top(new Vomega_top(context.get()));
  std::unique_ptr<Waves> waves;
  if (count == 4) waves.reset(new Waves(*top, arguments[2], std::strtoull(arguments[3], nullptr, 10)));
  Position position;
  while (read_words(file, &position, sizeof position / sizeof(uint32_t))) {
    std::vector<uint32_t> ls(position.columns), words(std::size_t(position.memory_ports) * PORT_WORDS);
    if (!read_words(file, ls.data(), ls.size()) || !read_words(file, words.data(), words.size())) {
      std::fprintf(stderr, "bench: the stimulus ends within a position\n");
      return 2;
    }
    Memory memory(position, ls, words);
    std::vector<int64_t> issues;
    set_up(*top, position);
    const int64_t cycles = run(*top, position, memory, issues, waves.get());
    waves.reset();
    if (cycles < 0) {
      std::fprintf(stderr, "bench: the hardware hangs\n");
      return 1;
    }
    print(*top, cycles, issues);
  }
  std::fclose(file);
  return 0;
}
