// Registers in a row for what moves through the array, with a bit that says whether there is something; a wire for 0.
module sdtw_move #(
    parameter WIDTH = 24,
    parameter CYCLES = 1
) (
    input wire clk,
    input wire clear,
    input wire valid_in,
    input wire [WIDTH-1:0] in,
    output wire valid_out,
    output wire [WIDTH-1:0] out
);
  generate
    if (CYCLES == 0) begin : no_registers
      wire unused = clk | clear;
      assign {valid_out, out} = {valid_in, in};
    end else begin : registers
      genvar i;
      wire [WIDTH:0] line[0:CYCLES];
      assign line[0] = {valid_in, in};
      for (i = 0; i < CYCLES; i = i + 1) begin : stage
        reg valid;
        reg [WIDTH-1:0] held;
        always @(posedge clk) begin
          valid <= line[i][WIDTH] && !clear;
          held <= line[i][WIDTH-1:0];
        end
        assign line[i+1] = {valid, held};
      end
      assign {valid_out, out} = line[CYCLES];
    end
  endgenerate
endmodule
