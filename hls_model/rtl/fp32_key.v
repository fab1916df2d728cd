// An integer that orders as the binary32 number does: +0 and -0 are equal, NaN is 0 and below all others.
module fp32_key (
    input wire [31:0] number,
    output wire [31:0] key
);
  wire nan = number[30:0] > 31'h7f800000;
  wire negative = number[31] && number[30:0] != 0;
  assign key = nan ? 32'd0 : negative ? ~number : {1'b1, number[30:0]};
endmodule
