// A row of PEs for subsequence DTW: samples move in, the reference passes through, the last row stays for the next pass.
//
// A pass: start for one cycle; then, from cycle 0 on, rows x LOAD_STAGES cycles in which samples move in, the query's
// last sample first; then a column in every cycle that brings one. In a pass that is not the first, the last row of the
// pass before is the row above the first PE. done comes when the running minimum has taken the last column.
//
// After every SPAN PEs lies a border between regions of the device, with CROSSING registers for all that crosses it. The
// chain has no way back, so that the last score is that much later, and columns follow one another as without borders.
module sdtw_array #(
    parameter P = 8,
    parameter W = 8,
    parameter S = 16,
    parameter STAGES = 1,
    parameter LOAD_STAGES = 1,
    parameter SPAN = 8,
    parameter CROSSING = 0,
    parameter ROW_BITS = 10  // of the address of a column in the buffer of the last row
) (
    input wire clk,
    input wire start,
    input wire first,
    input wire [31:0] load_cycles,
    input wire [ROW_BITS:0] columns,
    input wire [W:0] sample,  // a sample is there, and the sample
    input wire level_valid,
    input wire [W-1:0] level,
    output wire level_ready,
    output wire score_valid,  // of the last row
    output wire [S-1:0] score,
    output reg [S-1:0] best,
    output wire done
);
  reg [31:0] load_left;
  reg [ROW_BITS:0] entered, left;
  reg is_first;
  wire load = load_left != 0;
  assign level_ready = !load && !start && entered != columns;
  wire enters = level_valid && level_ready;
  wire [ROW_BITS:0] next = start ? 0 : entered + {{ROW_BITS{1'b0}}, enters};
  assign done = left == columns;

  // the buffer of the last row: the column that comes next is read ahead
  reg [S-1:0] row[0:(1<<ROW_BITS)-1];
  reg [S-1:0] kept;
  always @(posedge clk) begin
    if (score_valid) row[left[ROW_BITS-1:0]] <= score;
    kept <= row[next[ROW_BITS-1:0]];
  end

  always @(posedge clk) begin
    load_left <= start ? load_cycles : load_left - {31'd0, load};
    entered <= next;
    if (start) begin
      is_first <= first;
      left <= 0;
      best <= {S{1'b1}};
    end else if (score_valid) begin
      left <= left + 1'b1;
      if (score < best) best <= score;
    end
  end

  wire loads[0:P];
  wire [W:0] samples[0:P];
  wire valid[0:P];
  wire [W-1:0] levels[0:P];
  wire [S-1:0] scores[0:P];
  assign loads[0] = load;
  assign samples[0] = sample;
  assign valid[0] = enters;
  assign levels[0] = level;
  assign scores[0] = is_first ? {S{1'b0}} : kept;
  generate
    genvar i;
    for (i = 0; i < P; i = i + 1) begin : pes
      localparam CYCLES = (i % SPAN == SPAN - 1 && i != P - 1) ? CROSSING : 0;
      wire [W:0] sample_out;
      wire valid_out;
      wire [W-1:0] level_out;
      wire [S-1:0] score_out;
      sdtw_pe #(
          .W(W), .S(S), .STAGES(STAGES), .LOAD_STAGES(LOAD_STAGES), .FIRST(i == 0 ? 1 : 0)
      ) pe (
          .clk(clk), .clear(start), .load(loads[i]), .sample_in(samples[i]), .sample_out(sample_out),
          .free(is_first && entered != 0), .valid_in(valid[i]), .level_in(levels[i]), .above(scores[i]),
          .valid_out(valid_out), .level_out(level_out), .score(score_out)
      );
      sdtw_move #(.WIDTH(W + S), .CYCLES(CYCLES)) cross_columns (
          .clk(clk), .clear(start), .valid_in(valid_out), .in({level_out, score_out}), .valid_out(valid[i+1]),
          .out({levels[i+1], scores[i+1]})
      );
      sdtw_move #(.WIDTH(W + 1), .CYCLES(CYCLES)) cross_samples (
          .clk(clk), .clear(start), .valid_in(loads[i]), .in(sample_out), .valid_out(loads[i+1]),
          .out(samples[i+1])
      );
    end
  endgenerate
  wire [2*W+1:0] unused = {loads[P], samples[P], levels[P]};
  assign score_valid = valid[P];
  assign score = scores[P];
endmodule
