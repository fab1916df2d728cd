// A processing element (PE): one row of the matrix of subsequence DTW, a column in every cycle that brings one.
//
//   S[i, j] = |q_i - r_j| + min(S[i-1, j-1], S[i-1, j]), saturated
//
// Scores of row i - 1 and levels of the reference come from the PE before and go on, STAGES cycles later, with the score
// of this row. A PE that holds no sample hands the row on as it is. FIRST is the PE of the query's first sample: while
// free is high, its scores are 0, for an alignment starts anywhere.
module sdtw_pe #(
    parameter W = 8,  // bits of a sample and a level
    parameter S = 16,  // bits of a score
    parameter STAGES = 1,
    parameter LOAD_STAGES = 1,  // cycles of a sample from PE to PE
    parameter FIRST = 0
) (
    input wire clk,
    input wire clear,  // before a pass: no sample, no column
    input wire load,  // samples move on
    input wire [W:0] sample_in,  // a sample is there, and the sample
    output wire [W:0] sample_out,
    input wire free,
    input wire valid_in,
    input wire [W-1:0] level_in,
    input wire [S-1:0] above,
    output wire valid_out,
    output wire [W-1:0] level_out,
    output wire [S-1:0] score
);
  reg [(W+1)*LOAD_STAGES-1:0] samples;
  generate
    if (LOAD_STAGES == 1) begin : one_register
      always @(posedge clk) if (clear) samples <= 0; else if (load) samples <= sample_in;
    end else begin : registers
      always @(posedge clk) if (clear) samples <= 0; else if (load) samples <= {samples[(W+1)*(LOAD_STAGES-1)-1:0], sample_in};
    end
  endgenerate
  assign sample_out = samples[(W+1)*LOAD_STAGES-1:(W+1)*(LOAD_STAGES-1)];
  wire held = sample_out[W];
  wire [W-1:0] sample = sample_out[W-1:0];

  reg [S-1:0] earlier;  // S[i-1, j-1]
  always @(posedge clk) if (clear) earlier <= {S{1'b1}}; else if (valid_in) earlier <= above;

  wire [W:0] below = {1'b0, sample} - {1'b0, level_in};
  wire [W-1:0] apart = below[W] ? level_in - sample : below[W-1:0];
  wire [S-1:0] least = (held && earlier < above) ? earlier : above;
  wire [S:0] sum = {1'b0, least} + {{(S + 1 - W){1'b0}}, held ? apart : {W{1'b0}}};
  wire [S-1:0] cell_score = (FIRST != 0 && free) ? {S{1'b0}} : sum[S] ? {S{1'b1}} : sum[S-1:0];

  sdtw_move #(.WIDTH(W + S), .CYCLES(STAGES)) move (
      .clk(clk), .clear(clear), .valid_in(valid_in), .in({level_in, cell_score}), .valid_out(valid_out),
      .out({level_out, score})
  );
endmodule
