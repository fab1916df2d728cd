"""A unit of the LD engine as Verilog, for a synthesis: a tree of adders and an accumulator, registers behind each."""

from __future__ import annotations

__all__ = ["unit_verilog"]


def unit_verilog(bits: int, *, pairs: bool) -> str:
    """Return the module `unit`, which counts the ones of `a`, or with `pairs` those that `a` and `b` share."""
    taken, number = (3, 2) if pairs else (6, 3)
    lines = [
        f"module unit(input clk, input clear, input [{bits - 1}:0] a, b, output reg [23:0] sum);",
        f"wire [{bits - 1}:0] x = {'a & b' if pairs else 'a'};",
    ]
    names = []
    for first in range(0, bits, taken):
        names.append(f"first_{first}")
        ones = " + ".join(f"x[{bit}]" for bit in range(first, min(bits, first + taken)))
        lines += [f"reg [{number - 1}:0] {names[-1]};", f"always @(posedge clk) {names[-1]} <= {ones};"]
    while len(names) > 1:
        number += 1
        joined = [names[place : place + 2] for place in range(0, len(names), 2)]
        names = [f"level{number}_{place}" for place in range(len(joined))]
        for name, two in zip(names, joined, strict=True):
            lines += [f"reg [{number - 1}:0] {name};", f"always @(posedge clk) {name} <= {' + '.join(two)};"]
    lines += [f"always @(posedge clk) sum <= clear ? {names[0]} : sum + {names[0]};", "endmodule"]
    return "\n".join(lines) + "\n"
