// Runs grid positions through the kernel, for g++ and for the vendor's C simulation and cosimulation.
//
//   testbench [STIMULUS [together]]     prints a line of JSON for each position; the stimulus is stimulus.bin by default
//
// Each position is a call of its own, so that a cosimulation reports its cycles; `together` makes one call of all. The
// stimulus is 32-bit little-endian words: a magic number, lanes, words of a port beat and positions; then for each
// position the fields of Header, LS, the memory, and the maxima that are expected, the winner's before those of the
// lanes, as (key, omega, column, right). Exit status 1 says that something differs, 2 that the stimulus is unusable.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "omega_kernel.hpp"

namespace {

typedef std::uint32_t Word;

const Word MAGIC = 0x534c484fu;  // "OHLS"
const Word PORT_BEAT_WORDS = PORTS * PORT_WORDS;

struct Header {
  Word columns, right, first_k, first_m, ts_address, memory_ports, expected;
};

struct Case {
  Header header;
  std::vector<float> left_sums;
  std::vector<float> memory;
  std::vector<Maximum> expected;
};

template <typename T>
bool read_all(std::FILE *file, T *target, std::size_t count) {
  return count == 0 || std::fread(target, sizeof(T), count, file) == count;
}

bool read_case(std::FILE *file, Case &one) {
  if (!read_all(file, &one.header, 1)) return false;
  one.left_sums.resize(one.header.columns);
  one.memory.resize(std::size_t(one.header.memory_ports) * PORT_BEAT_WORDS);
  one.expected.resize(one.header.expected);
  return read_all(file, one.left_sums.data(), one.left_sums.size()) &&
         read_all(file, one.memory.data(), one.memory.size()) &&
         read_all(file, one.expected.data(), one.expected.size());
}

// The memory as the ports see it: each has its words of every port beat.
struct Ports {
  std::vector<PortBeat> of[PORTS];

  explicit Ports(std::size_t beats) {
    for (std::size_t port = 0; port < PORTS; ++port) of[port].resize(beats);
  }
  void put(std::size_t first, const std::vector<float> &memory) {
    for (std::size_t x = 0; x < memory.size() / PORT_BEAT_WORDS; ++x)
      for (std::size_t port = 0; port < PORTS; ++port)
        std::memcpy(of[port][first + x].word, &memory[x * PORT_BEAT_WORDS + port * PORT_WORDS], sizeof(PortBeat));
  }
};

struct Results {
  std::vector<Maximum> best, lanes;
};

void call(Ports &ports, const std::vector<Position> &positions, const std::vector<float> &left_sums,
          Results &results) {
  results.best.resize(positions.size());
  results.lanes.resize(positions.size() * LANES);
#define PORT_POINTER(n) ports.of[n].data(),
  omega_kernel(FOR_EACH_PORT(PORT_POINTER) positions.data(), left_sums.data(), results.best.data(),
#if WRITE_LANES
               results.lanes.data(),
#endif
               static_cast<Word>(positions.size()));
}

std::size_t at_least(std::size_t count, std::size_t least) { return count < least ? least : count; }

// Buffers have the depth that the directives state: a cosimulation copies that much.
Results run_alone(const Case &one) {
  Ports ports(at_least(one.header.memory_ports, DEPTH_MEMORY));
  ports.put(0, one.memory);
  std::vector<float> left_sums(one.left_sums);
  left_sums.resize(at_least(left_sums.size(), DEPTH_LS));
  const Header &h = one.header;
  Results results;
  call(ports, {{h.columns, h.right, h.first_k, h.first_m, 0, h.ts_address, 0, 0}}, left_sums, results);
  return results;
}

Results run_together(const std::vector<Case> &cases) {
  std::size_t beats = 0;
  std::vector<Position> positions;
  std::vector<float> left_sums;
  for (const Case &one : cases) {
    const Header &h = one.header;
    const Word first = static_cast<Word>(beats), first_ls = static_cast<Word>(left_sums.size());
    positions.push_back({h.columns, h.right, h.first_k, h.first_m, first, first + h.ts_address, first_ls, 0});
    left_sums.insert(left_sums.end(), one.left_sums.begin(), one.left_sums.end());
    beats += h.memory_ports;
  }
  left_sums.resize(at_least(left_sums.size(), 1));
  Ports ports(at_least(beats, 1));
  beats = 0;
  for (const Case &one : cases) {
    ports.put(beats, one.memory);
    beats += one.header.memory_ports;
  }
  Results results;
  call(ports, positions, left_sums, results);
  return results;
}

Word bits_of(float number) {
  Word bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

void print(const Maximum &one) {
  std::printf("[%u, %u, %u, %u]", one.key, bits_of(one.omega), one.column, one.right);
}

void print(const Results &results, std::size_t index) {
  std::printf("{\"best\": ");
  print(results.best[index]);
  std::printf(", \"lanes\": [");
#if WRITE_LANES
  for (std::size_t lane = 0; lane < LANES; ++lane) {
    if (lane != 0) std::printf(", ");
    print(results.lanes[index * LANES + lane]);
  }
#endif
  std::printf("]}\n");
}

bool same(const Maximum &one, const Maximum &other) {
  if (one.key == 0 || other.key == 0) return one.key == other.key;
  return one.key == other.key && bits_of(one.omega) == bits_of(other.omega) && one.column == other.column &&
         one.right == other.right;
}

bool as_expected(const Results &results, std::size_t index, const std::vector<Maximum> &expected) {
  if (!expected.empty() && !same(results.best[index], expected[0])) return false;
#if WRITE_LANES
  for (std::size_t lane = 0; lane + 1 < expected.size(); ++lane)
    if (!same(results.lanes[index * LANES + lane], expected[lane + 1])) return false;
#endif
  return true;
}

bool read_stimulus(const char *name, std::vector<Case> &cases) {
  std::FILE *file = std::fopen(name, "rb");
  if (!file) {
    std::fprintf(stderr, "testbench: %s cannot be read\n", name);
    return false;
  }
  Word head[4] = {0, 0, 0, 0};
  bool good = read_all(file, head, 4) && head[0] == MAGIC && head[1] == LANES && head[2] == PORT_BEAT_WORDS;
  if (!good) std::fprintf(stderr, "testbench: %s is no stimulus of this design\n", name);
  for (Word i = 0; good && i < head[3]; ++i) {
    cases.push_back(Case());
    good = read_case(file, cases.back());
    if (!good) std::fprintf(stderr, "testbench: %s ends within a position\n", name);
  }
  std::fclose(file);
  return good;
}

}  // namespace

int main(int count, char **arguments) {
  std::vector<Case> cases;
  if (!read_stimulus(count > 1 ? arguments[1] : "stimulus.bin", cases)) return 2;
  const bool together = count > 2 && std::strcmp(arguments[2], "together") == 0;
  Results all;
  if (together) all = run_together(cases);
  unsigned long differ = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Results one = together ? Results() : run_alone(cases[i]);
    const Results &results = together ? all : one;
    const std::size_t index = together ? i : 0;
    print(results, index);
    if (!as_expected(results, index, cases[i].expected)) ++differ;
  }
  std::fprintf(stderr, "testbench: %lu positions, %lu differ\n", static_cast<unsigned long>(cases.size()), differ);
  return differ == 0 ? 0 : 1;
}
