// All operators side by side at four sets of latencies, for the test of single operators.
module operators (
    input wire clk,
    input wire [31:0] a,
    input wire [31:0] b,
    output wire [32*20-1:0] results,  // of each set: a + b, a - b, a / b, float(a), a * b
    output wire [31:0] key
);
  fp32_key order (.number(a), .key(key));
  genvar s;
  generate
    for (s = 0; s < 4; s = s + 1) begin : set
      localparam ADD = (s == 0) ? 1 : (s == 1) ? 3 : (s == 2) ? 5 : 11;
      localparam DIV = (s == 0) ? 1 : (s == 1) ? 8 : (s == 2) ? 10 : 28;
      localparam CONVERT = (s == 0) ? 1 : (s == 1) ? 3 : (s == 2) ? 4 : 6;
      localparam MULTIPLY = s + 1;
      wire [31:0] sum, difference, quotient, number, product;
      fp32_add #(.LATENCY(ADD)) add (.clk(clk), .a(a), .b(b), .result(sum));
      fp32_add #(.LATENCY(ADD), .SUBTRACT(1)) subtract (.clk(clk), .a(a), .b(b), .result(difference));
      fp32_div #(.LATENCY(DIV)) divide (.clk(clk), .a(a), .b(b), .result(quotient));
      u32_to_fp32 #(.LATENCY(CONVERT)) convert (.clk(clk), .in(a), .result(number));
      u32_mul #(.LATENCY(MULTIPLY)) multiply (.clk(clk), .a(a), .b(b), .result(product));
      assign results[160*s+:160] = {product, number, quotient, difference, sum};
    end
  endgenerate
endmodule
