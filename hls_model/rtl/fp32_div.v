// result = a / b in IEEE binary32: rounded to nearest even, subnormals flushed to a zero of their sign in operands and
// result. 26 quotient bits by restoring division, spread over LATENCY registers; new operands are taken every cycle.
module fp32_div #(
    parameter LATENCY = 10
) (
    input wire clk,
    input wire [31:0] a,
    input wire [31:0] b,
    output wire [31:0] result
);
  localparam BITS = 26;  // 24 of the mantissa, one more where the quotient is below 1, and the guard bit

  wire zero_a = a[30:23] == 0;
  wire zero_b = b[30:23] == 0;
  wire infinite_a = a[30:0] == 31'h7f800000;
  wire infinite_b = b[30:0] == 31'h7f800000;
  wire nan = a[30:0] > 31'h7f800000 || b[30:0] > 31'h7f800000 || (zero_a && zero_b) || (infinite_a && infinite_b);
  wire infinite = infinite_a || zero_b;
  wire zero = zero_a || infinite_b;
  wire [9:0] power = {2'b00, a[30:23]} - {2'b00, b[30:23]} + 10'd127;

  genvar s;
  generate
    for (s = 0; s < LATENCY; s = s + 1) begin : stage
      localparam FIRST = BITS * s / LATENCY;
      localparam LAST = BITS * (s + 1) / LATENCY;
      wire [24:0] rest_in;
      wire [BITS-1:0] quotient_in;
      wire [23:0] divisor_in;
      wire [13:0] kind_in;  // nan, infinite, zero, sign, exponent
      reg [24:0] rest_out;
      reg [BITS-1:0] quotient_out;
      integer i;
      always @* begin
        rest_out = rest_in;
        quotient_out = quotient_in;
        for (i = FIRST; i < LAST; i = i + 1) begin
          quotient_out = {quotient_out[BITS-2:0], rest_out >= {1'b0, divisor_in}};
          if (rest_out >= {1'b0, divisor_in}) rest_out = rest_out - {1'b0, divisor_in};
          rest_out = rest_out << 1;
        end
      end
      if (s == 0) begin : first
        assign rest_in = {2'b01, a[22:0]};
        assign quotient_in = 0;
        assign divisor_in = {1'b1, b[22:0]};
        assign kind_in = {nan, infinite, zero, a[31] ^ b[31], power};
      end else begin : later
        delay #(.WIDTH(25 + BITS + 24 + 14), .CYCLES(1)) register (.clk(clk),
            .in({stage[s-1].rest_out, stage[s-1].quotient_out, stage[s-1].divisor_in, stage[s-1].kind_in}),
            .out({rest_in, quotient_in, divisor_in, kind_in}));
      end
    end
  endgenerate

  // Round and pack. The one quotient that lies half a subnormal below the least normal number is rounded up to it.
  wire [BITS-1:0] quotient = stage[LATENCY-1].quotient_out;
  wire [13:0] kind = stage[LATENCY-1].kind_in;
  wire one = quotient[BITS-1];
  wire [23:0] bits = one ? quotient[BITS-2:1] : quotient[BITS-3:0];  // fraction and guard bit
  wire sticky = stage[LATENCY-1].rest_out != 0 || (one && quotient[0]);
  wire [23:0] rounded = {1'b0, bits[23:1]} + {23'd0, bits[0] && (sticky || bits[1])};
  wire signed [9:0] last_power = kind[9:0] - {9'd0, !one} + {9'd0, rounded[23]};
  reg [31:0] packed_result;
  always @* begin
    if (kind[13]) packed_result = 32'h7fc00000;
    else if (kind[12]) packed_result = {kind[10], 31'h7f800000};
    else if (kind[11]) packed_result = {kind[10], 31'd0};
    else if (last_power <= 0) packed_result = {kind[10], (last_power == 0 && &bits[23:1]) ? 31'h00800000 : 31'd0};
    else if (last_power >= 10'sd255) packed_result = {kind[10], 31'h7f800000};
    else packed_result = {kind[10], last_power[7:0], rounded[22:0]};
  end
  delay #(.WIDTH(32), .CYCLES(1)) register (.clk(clk), .in(packed_result), .out(result));
endmodule
