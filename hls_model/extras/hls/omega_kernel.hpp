// The omega pipeline as source for high-level synthesis. docs/how/fpga.md defines what it computes, and
// docs/how/fpga.md where it differs: columns lie in memory without gaps between them.
//
// design.hpp is made for a design by `fpga hls`. Plain C++11: vendors' tools and g++ take the same text.
#ifndef OMEGA_KERNEL_HPP
#define OMEGA_KERNEL_HPP

#include <cstdint>

#include "design.hpp"

// One grid position. Addresses count port beats of the memory, and words of the left sums.
struct Position {
  std::uint32_t columns;   // left borders
  std::uint32_t right;     // right-side iterations, those of the remainder included
  std::uint32_t first_k;   // SNPs of the left part in the first column
  std::uint32_t first_m;   // SNPs of the right part in the first right-side iteration
  std::uint32_t rs_address;
  std::uint32_t ts_address;
  std::uint32_t ls_address;
  std::uint32_t reserved;  // makes 256 bits
};

// The greatest omega so far and its place. The key orders as the omega does; 0 says that there is none.
struct Maximum {
  std::uint32_t key;
  float omega;
  std::uint32_t column;
  std::uint32_t right;
};

// What one port brings in a cycle.
struct PortBeat {
  float word[PORT_WORDS];
};

#define PORT_PARAMETER(n) const PortBeat *memory##n,
#define PORT_ARGUMENT(n) memory##n,

extern "C" {
// Compute `count` positions. Port n has words n PORT_WORDS to (n + 1) PORT_WORDS - 1 of each port beat of the memory.
void omega_kernel(FOR_EACH_PORT(PORT_PARAMETER) const Position *positions, const float *left_sums, Maximum *results,
#if WRITE_LANES
                  Maximum *lanes,  // LANES for each position
#endif
                  std::uint32_t count);
}

#endif
