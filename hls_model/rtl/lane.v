// One lane (Fig. 8): omega of one right-side iteration per cycle, and the lane's greatest omega.
//
//   omega = [(LS + RS) / (C(k,2) + C(m,2))] / [(TS - LS - RS) / (k m) + 0.00001]
//
// Operands of a beat come in one cycle, but left_pairs = C(k,2), the same for all lanes, comes IMUL cycles later, and the
// tag (update, column, base) comes with the omega, DEPTH - 1 cycles later. The maximum holds the omega after DEPTH cycles.
module lane #(
    parameter FADD = 5,
    parameter FSUB = 5,
    parameter FDIV = 10,
    parameter I2F = 4,
    parameter IMUL = 2,
    parameter IADD = 1,
    parameter FCMP = 2
) (
    input wire clk,
    input wire clear,
    input wire [31:0] ts,
    input wire [31:0] ls,
    input wire [31:0] rs,
    input wire [31:0] k,
    input wire [31:0] m,
    input wire [31:0] left_pairs,
    input wire update,
    input wire [31:0] column,
    input wire [31:0] base,
    output reg [31:0] best,
    output reg [31:0] best_key,
    output reg [31:0] best_column,
    output reg [31:0] best_base
);
  /*verilator hier_block*/
  localparam OFFSET = 32'h3727c5ac;  // 0.00001
  localparam PAIRS = IMUL + IADD + I2F;
  localparam ABOVE = (FADD > PAIRS) ? FADD : PAIRS;
  localparam BELOW = (2 * FSUB > IMUL + I2F) ? 2 * FSUB : IMUL + I2F;
  localparam NUMERATOR = ABOVE + FDIV;
  localparam DENOMINATOR = BELOW + FDIV + FADD;
  localparam BOTH = (NUMERATOR > DENOMINATOR) ? NUMERATOR : DENOMINATOR;

  // numerator
  wire [31:0] sums, sums_late, right_pairs, pairs, pairs_float, pairs_late, numerator, numerator_late;
  fp32_add #(.LATENCY(FADD)) add_sums (.clk(clk), .a(ls), .b(rs), .result(sums));
  u32_mul #(.LATENCY(IMUL)) multiply_right (.clk(clk), .a(m), .b(m - 32'd1), .result(right_pairs));
  delay #(.CYCLES(IADD)) add_pairs (.clk(clk), .in(left_pairs + (right_pairs >> 1)), .out(pairs));
  u32_to_fp32 #(.LATENCY(I2F)) convert_pairs (.clk(clk), .in(pairs), .result(pairs_float));
  delay #(.CYCLES(ABOVE - FADD)) wait_sums (.clk(clk), .in(sums), .out(sums_late));
  delay #(.CYCLES(ABOVE - PAIRS)) wait_pairs (.clk(clk), .in(pairs_float), .out(pairs_late));
  fp32_div #(.LATENCY(FDIV)) divide_sums (.clk(clk), .a(sums_late), .b(pairs_late), .result(numerator));
  delay #(.CYCLES(BOTH - NUMERATOR)) wait_numerator (.clk(clk), .in(numerator), .out(numerator_late));

  // denominator
  wire [31:0] without_left, rs_late, across, across_late, product, product_float, product_late;
  wire [31:0] mean, denominator, denominator_late;
  fp32_add #(.LATENCY(FSUB), .SUBTRACT(1)) subtract_left (.clk(clk), .a(ts), .b(ls), .result(without_left));
  delay #(.CYCLES(FSUB)) wait_right (.clk(clk), .in(rs), .out(rs_late));
  fp32_add #(.LATENCY(FSUB), .SUBTRACT(1)) subtract_right (.clk(clk), .a(without_left), .b(rs_late), .result(across));
  u32_mul #(.LATENCY(IMUL)) multiply_both (.clk(clk), .a(k), .b(m), .result(product));
  u32_to_fp32 #(.LATENCY(I2F)) convert_product (.clk(clk), .in(product), .result(product_float));
  delay #(.CYCLES(BELOW - 2 * FSUB)) wait_across (.clk(clk), .in(across), .out(across_late));
  delay #(.CYCLES(BELOW - IMUL - I2F)) wait_product (.clk(clk), .in(product_float), .out(product_late));
  fp32_div #(.LATENCY(FDIV)) divide_across (.clk(clk), .a(across_late), .b(product_late), .result(mean));
  fp32_add #(.LATENCY(FADD)) add_offset (.clk(clk), .a(mean), .b(OFFSET), .result(denominator));
  delay #(.CYCLES(BOTH - DENOMINATOR)) wait_denominator (.clk(clk), .in(denominator), .out(denominator_late));

  // omega and the running maximum
  wire [31:0] ratio, ratio_key, omega, omega_key;
  fp32_div #(.LATENCY(FDIV)) divide (.clk(clk), .a(numerator_late), .b(denominator_late), .result(ratio));
  fp32_key order (.number(ratio), .key(ratio_key));
  delay #(.WIDTH(64), .CYCLES(FCMP - 1)) compare (.clk(clk), .in({ratio, ratio_key}), .out({omega, omega_key}));

  // Columns ascend within a tile of the right side: an equal omega of a smaller column can only come in a later tile.
  wire better = omega_key > best_key || (omega_key == best_key && column < best_column);
  always @(posedge clk) begin
    if (clear) begin
      best <= 32'h7fc00000;
      best_key <= 32'd0;
      best_column <= 32'd0;
      best_base <= 32'd0;
    end else if (update && better) begin
      best <= omega;
      best_key <= omega_key;
      best_column <= column;
      best_base <= base;
    end
  end
endmodule
