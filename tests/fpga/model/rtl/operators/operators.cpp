// Clocks pairs of 32-bit words from a file through operators.v and writes its 21 results of every cycle to another.
#include <cstdint>
#include <cstdio>

#include "Voperators.h"
#include "verilated.h"

int main(int count, char** arguments) {
  std::FILE* in = count == 3 ? std::fopen(arguments[1], "rb") : nullptr;
  std::FILE* out = count == 3 ? std::fopen(arguments[2], "wb") : nullptr;
  if (!in || !out) return 2;
  Voperators top;
  uint32_t pair[2];
  while (std::fread(pair, sizeof pair, 1, in) == 1) {
    top.a = pair[0];
    top.b = pair[1];
    top.clk = 0;
    top.eval();
    uint32_t key = top.key;
    std::fwrite(&top.results[0], sizeof(uint32_t), 20, out);
    std::fwrite(&key, sizeof key, 1, out);
    top.clk = 1;
    top.eval();
  }
  std::fclose(in);
  std::fclose(out);
  return 0;
}
