// Runs passes through sdtw_array.v. Standard input, in numbers: passes; then of each pass whether it is the first of its
// query (1 or 0), rows, cycles of loading, columns, the samples, and of each column its level and the cycle from which
// it is there. Standard output, a line of numbers a pass: its cycles, the least score, and the last row.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <vector>

#include "Vsdtw_array.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

static void tick(Vsdtw_array &top) {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

int main() {
    const uint64_t limit = 1000000;  // cycles of a pass
    Vsdtw_array top;
    top.clk = top.start = top.level_valid = top.level = top.sample = 0;
    top.eval();
    int passes;
    std::cin >> passes;
    for (int pass = 0; pass < passes; ++pass) {
        int first;
        uint64_t rows, load, columns;
        std::cin >> first >> rows >> load >> columns;
        std::vector<uint32_t> samples(rows), levels(columns);
        std::vector<uint64_t> there(columns);
        for (auto &sample : samples) std::cin >> sample;
        for (uint64_t column = 0; column < columns; ++column) std::cin >> levels[column] >> there[column];
        if (!std::cin) {
            std::fprintf(stderr, "Error: the stimulus ends early\n");
            return 1;
        }
        top.start = 1;
        top.first = first;
        top.load_cycles = load;
        top.columns = columns;
        top.level_valid = 0;
        tick(top);
        top.start = 0;
        std::vector<uint32_t> row;
        uint64_t cycle = 0, column = 0;
        while (true) {
            const uint64_t step = cycle / LOAD_STAGES;
            top.sample = step < rows ? (1u << W) | samples[rows - 1 - step] : 0;
            top.level_valid = column < columns && there[column] <= cycle;
            top.level = column < columns ? levels[column] : 0;
            top.eval();
            if (top.done) break;
            column += top.level_valid && top.level_ready;
            if (top.score_valid) row.push_back(top.score);
            tick(top);
            if (++cycle > limit) {
                std::fprintf(stderr, "Error: the array hangs in pass %d\n", pass);
                return 1;
            }
        }
        std::printf("%llu %u", static_cast<unsigned long long>(cycle), static_cast<unsigned>(top.best));
        for (uint32_t score : row) std::printf(" %u", score);
        std::printf("\n");
    }
    return 0;
}
