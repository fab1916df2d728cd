// An unsigned integer to IEEE binary32, rounded to nearest even; new operands are taken every cycle.
module u32_to_fp32 #(
    parameter LATENCY = 4
) (
    input wire clk,
    input wire [31:0] in,
    output wire [31:0] result
);
  reg [31:0] normal;
  reg [4:0] zeros;
  always @* begin
    zeros = 5'd0;
    normal = in;
    if (normal[31:16] == 0) begin normal = normal << 16; zeros = zeros + 5'd16; end
    if (normal[31:24] == 0) begin normal = normal << 8; zeros = zeros + 5'd8; end
    if (normal[31:28] == 0) begin normal = normal << 4; zeros = zeros + 5'd4; end
    if (normal[31:30] == 0) begin normal = normal << 2; zeros = zeros + 5'd2; end
    if (!normal[31]) begin normal = normal << 1; zeros = zeros + 5'd1; end
  end

  wire [31:0] normal_2;
  wire [4:0] zeros_2;
  delay #(.WIDTH(37), .CYCLES(LATENCY / 2)) after_1 (.clk(clk), .in({normal, zeros}), .out({normal_2, zeros_2}));
  wire up = normal_2[7] && (normal_2[8] || normal_2[6:0] != 0);
  // the carry of the rounding runs into the exponent
  wire [31:0] sum = {1'b0, 8'd158 - {3'd0, zeros_2}, normal_2[30:8]} + {31'd0, up};
  delay #(.WIDTH(32), .CYCLES(LATENCY - LATENCY / 2)) after_2 (.clk(clk),
      .in(normal_2[31] ? sum : 32'd0), .out(result));
endmodule
