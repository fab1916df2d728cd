// result = a + b, or a - b with SUBTRACT, in IEEE binary32: rounded to nearest even, subnormals flushed to a zero of
// their sign in operands and result. LATENCY registers are spread over four steps; new operands are taken every cycle.
module fp32_add #(
    parameter LATENCY = 5,
    parameter SUBTRACT = 0
) (
    input wire clk,
    input wire [31:0] a,
    input wire [31:0] b,
    output wire [31:0] result
);
  localparam AFTER_1 = LATENCY / 4;
  localparam AFTER_2 = LATENCY * 2 / 4 - LATENCY / 4;
  localparam AFTER_3 = LATENCY * 3 / 4 - LATENCY * 2 / 4;
  localparam AFTER_4 = LATENCY - LATENCY * 3 / 4;

  // step 1: the greater magnitude first, the other one shifted to its exponent, with guard, round and sticky bit
  wire sign_a = a[31];
  wire sign_b = b[31] ^ (SUBTRACT != 0);
  wire [30:0] size_a = (a[30:23] == 0) ? 31'd0 : a[30:0];
  wire [30:0] size_b = (b[30:23] == 0) ? 31'd0 : b[30:0];
  wire swap = size_b > size_a;
  wire [30:0] greater = swap ? size_b : size_a;
  wire [30:0] lesser = swap ? size_a : size_b;
  wire [7:0] apart = greater[30:23] - lesser[30:23];
  wire [53:0] shifted = {lesser[30:23] != 0, lesser[22:0], 30'd0} >> ((apart > 27) ? 8'd27 : apart);
  wire [26:0] aligned_1 = {shifted[53:28], |shifted[27:0]};
  wire [26:0] top_1 = {greater[30:23] != 0, greater[22:0], 3'd0};
  wire nan_1 = (size_a > 31'h7f800000) || (size_b > 31'h7f800000)
      || (size_a == 31'h7f800000 && size_b == 31'h7f800000 && sign_a != sign_b);
  wire infinite_1 = greater[30:23] == 8'hff;
  wire opposed_1 = sign_a ^ sign_b;
  wire sign_1 = swap ? sign_b : sign_a;

  // step 2: add the magnitudes or subtract them; a difference of 0 is +0
  wire [26:0] aligned_2, top_2;
  wire [7:0] exponent_2;
  wire nan_2, infinite_2, opposed_2, sign_2;
  delay #(.WIDTH(66), .CYCLES(AFTER_1)) after_1 (.clk(clk),
      .in({aligned_1, top_1, greater[30:23], nan_1, infinite_1, opposed_1, sign_1}),
      .out({aligned_2, top_2, exponent_2, nan_2, infinite_2, opposed_2, sign_2}));
  wire [27:0] total_2 = opposed_2 ? {1'b0, top_2} - {1'b0, aligned_2} : {1'b0, top_2} + {1'b0, aligned_2};

  // step 3: bring the leading one to its place
  wire [27:0] total_3;
  wire [7:0] exponent_3;
  wire nan_3, infinite_3, sign_3;
  delay #(.WIDTH(39), .CYCLES(AFTER_2)) after_2 (.clk(clk),
      .in({total_2, exponent_2, nan_2, infinite_2, sign_2 && !(opposed_2 && total_2 == 0)}),
      .out({total_3, exponent_3, nan_3, infinite_3, sign_3}));
  reg [27:0] normal;
  reg signed [9:0] power;
  reg [4:0] zeros;
  always @* begin
    zeros = 5'd0;
    normal = total_3;
    if (normal[27:12] == 0) begin normal = normal << 16; zeros = zeros + 5'd16; end
    if (normal[27:20] == 0) begin normal = normal << 8; zeros = zeros + 5'd8; end
    if (normal[27:24] == 0) begin normal = normal << 4; zeros = zeros + 5'd4; end
    if (normal[27:26] == 0) begin normal = normal << 2; zeros = zeros + 5'd2; end
    if (!normal[27]) begin normal = normal << 1; zeros = zeros + 5'd1; end
    power = {2'b00, exponent_3} + 10'sd1 - {5'd0, zeros};
  end

  // step 4: round and pack. A sum below the normal numbers is exact, so flushing needs no look at the rounding.
  wire [27:0] normal_4;
  wire signed [9:0] power_4;
  wire nan_4, infinite_4, sign_4;
  delay #(.WIDTH(41), .CYCLES(AFTER_3)) after_3 (.clk(clk),
      .in({normal, power, nan_3, infinite_3, sign_3}),
      .out({normal_4, power_4, nan_4, infinite_4, sign_4}));
  wire up = normal_4[3] && (normal_4[4] || normal_4[2:0] != 0);
  wire [24:0] rounded = {1'b0, normal_4[27:4]} + {24'd0, up};
  wire signed [9:0] last_power = power_4 + {9'd0, rounded[24]};
  reg [31:0] packed_4;
  always @* begin
    if (nan_4) packed_4 = 32'h7fc00000;
    else if (infinite_4 || last_power >= 10'sd255) packed_4 = {sign_4, 31'h7f800000};
    else if (!normal_4[27] || last_power <= 0) packed_4 = {sign_4, 31'd0};
    else packed_4 = {sign_4, last_power[7:0], rounded[24] ? rounded[23:1] : rounded[22:0]};
  end
  delay #(.WIDTH(32), .CYCLES(AFTER_4)) after_4 (.clk(clk), .in(packed_4), .out(result));
endmodule
