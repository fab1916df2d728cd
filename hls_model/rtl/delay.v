// A line of CYCLES registers, a wire for 0: it balances operands that take different ways.
module delay #(
    parameter WIDTH = 32,
    parameter CYCLES = 1
) (
    input wire clk,
    input wire [WIDTH-1:0] in,
    output wire [WIDTH-1:0] out
);
  generate
    if (CYCLES == 0) begin : no_registers
      wire unused = clk;
      assign out = in;
    end else if (CYCLES == 1) begin : one_register
      reg [WIDTH-1:0] line;
      always @(posedge clk) line <= in;
      assign out = line;
    end else begin : registers
      reg [WIDTH*CYCLES-1:0] line;
      always @(posedge clk) line <= {line[WIDTH*(CYCLES-1)-1:0], in};
      assign out = line[WIDTH*CYCLES-1:WIDTH*(CYCLES-1)];
    end
  endgenerate
endmodule
