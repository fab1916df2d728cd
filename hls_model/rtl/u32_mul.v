// The low 32 bits of a product of unsigned integers; new operands are taken every cycle.
module u32_mul #(
    parameter LATENCY = 2
) (
    input wire clk,
    input wire [31:0] a,
    input wire [31:0] b,
    output wire [31:0] result
);
  delay #(.WIDTH(32), .CYCLES(LATENCY)) registers (.clk(clk), .in(a * b), .out(result));
endmodule
