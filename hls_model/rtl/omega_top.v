// The omega pipeline of one grid position: P lanes, the RS buffer, the read path and the state machine.
// docs/how/fpga-cycles.md defines what happens in which cycle, and how memory is laid out.
//
// Memory is addressed in port beats of W words. One beat of the lanes (WORDS words) takes C port beats, or one port beat
// feeds G beats. LS of a column comes over a narrow port of its own, in the order of the requests.
`include "design.vh"

module omega_top #(
    parameter P = `LANES,
    parameter W = `PORT_WORDS,  // words of a port beat
    parameter STREAM_RS = `STREAM_RS,  // RS comes with TS in every beat (P words of RS, P of TS); there is no buffer
    parameter FADD = `FADD,
    parameter FSUB = `FSUB,
    parameter FDIV = `FDIV,
    parameter I2F = `I2F,
    parameter IMUL = `IMUL,
    parameter IADD = `IADD,
    parameter FCMP = `FCMP,
    parameter FIFO_BITS = 8,  // the FIFO has up to 2**FIFO_BITS port beats
    parameter BUFFER_BITS = 10,  // the RS buffer has up to 2**BUFFER_BITS beats
    parameter LS_BITS = 9  // up to 2**LS_BITS columns are under way
) (
    input wire clk,
    input wire reset,

    // settings, constant from start to done
    input wire start,
    input wire overlap_outer,
    input wire prefetch_per_outer,
    input wire blocked,
    input wire [15:0] burst_length,
    input wire [15:0] outstanding_limit,
    input wire [15:0] fifo_limit,
    input wire [15:0] interval,
    input wire [15:0] fsm_cycles,
    input wire [31:0] columns,
    input wire [31:0] tiles,
    input wire [31:0] tile_beats,
    input wire [31:0] tile_ports,  // port beats of a column of tile_beats beats
    input wire [31:0] last_tile_beats,
    input wire [31:0] last_tile_ports,
    input wire [31:0] last_lanes,  // lanes that take part in the position's last beat
    input wire [31:0] stretch,  // blocked: each lane's right-side iterations,
    input wire [31:0] longer_lanes,  // of which the first lanes have one more
    input wire [31:0] first_k,
    input wire [31:0] first_m,
    input wire [31:0] rs_address,
    input wire [31:0] ts_address,

    // read requests and data
    output wire ar_valid,
    input wire ar_ready,
    output wire [31:0] ar_addr,
    output wire [15:0] ar_len,  // port beats
    output wire ar_first,  // first burst of a column
    input wire r_valid,
    output wire r_ready,
    input wire [32*W-1:0] r_data,
    input wire r_last,
    output wire ls_request,
    input wire ls_valid,
    input wire [31:0] ls_data,

    output wire issue,  // a beat enters the lanes
    output wire done,
    output reg [31:0] best,
    output reg [31:0] best_key,
    output reg [31:0] best_column,
    output reg [31:0] best_right,
    output wire [32*P-1:0] lane_best,
    output wire [32*P-1:0] lane_key,
    output wire [32*P-1:0] lane_column,
    output wire [32*P-1:0] lane_right
);
  localparam WORDS = (STREAM_RS != 0) ? 2 * P : P;
  localparam C = (WORDS + W - 1) / W;
  localparam G = (W > WORDS) ? W / WORDS : 1;
  localparam PAIRS = IMUL + IADD + I2F;
  localparam ABOVE = ((FADD > PAIRS) ? FADD : PAIRS) + FDIV;
  localparam BELOW = ((2 * FSUB > IMUL + I2F) ? 2 * FSUB : IMUL + I2F) + FDIV + FADD;
  localparam DEPTH = ((ABOVE > BELOW) ? ABOVE : BELOW) + FDIV + FCMP;
  localparam FIFO = 1 << FIFO_BITS;

  localparam IDLE = 3'd0;
  localparam PREFETCH = 3'd1;  // RS into its buffer
  localparam STREAM = 3'd2;  // beats into the lanes
  localparam DRAIN = 3'd3;  // until the maxima hold the last beat
  localparam MERGE = 3'd4;  // one lane a cycle
  localparam DONE = 3'd5;
  reg [2:0] state;

  reg [31:0] tile, column, beat;  // beat: within the tile's column
  reg [31:0] tile_base, beat_base;  // right-side iteration of the first lane, at the tile's start and now
  wire last_tile = tile == tiles - 1;
  wire last_column = column == columns - 1;
  wire last_beat = beat == (last_tile ? last_tile_beats : tile_beats) - 1;

  // ---- port beats to beats of the lanes
  reg [32*W-1:0] fifo[0:FIFO-1];
  reg [FIFO_BITS-1:0] fifo_head, fifo_tail;
  reg [15:0] fifo_count;
  reg [15:0] part;  // beats that the port beat at the head has fed
  wire [32*WORDS-1:0] words;
  assign r_ready = fifo_count < fifo_limit;
  wire taken = r_valid && r_ready;
  wire there = fifo_count >= C;
  wire write_rs = state == PREFETCH && there;
  assign issue = state == STREAM && there && since_issue >= interval;
  wire step_beat = write_rs || issue;
  wire leave = step_beat && (part == G - 1 || last_beat);

  genvar i;
  generate
    if (C > 1) begin : gather
      // Where W does not divide a beat, the last of its port beats has words to spare.
      /* verilator lint_off UNUSEDSIGNAL */
      wire [32*W*C-1:0] heads;
      /* verilator lint_on UNUSEDSIGNAL */
      for (i = 0; i < C; i = i + 1) begin : head
        wire [FIFO_BITS-1:0] place = fifo_head + i;
        assign heads[32*W*i+:32*W] = fifo[place];
      end
      assign words = heads[32*WORDS-1:0];
    end else begin : select
      wire [32*W-1:0] head = fifo[fifo_head];
      assign words = head[32*WORDS*part+:32*WORDS];
    end
  endgenerate

  always @(posedge clk) begin
    if (taken) fifo[fifo_tail] <= r_data;
    if (reset) begin
      fifo_head <= 0;
      fifo_tail <= 0;
      fifo_count <= 0;
      part <= 0;
    end else begin
      fifo_tail <= fifo_tail + {{(FIFO_BITS-1){1'b0}}, taken};
      if (leave) fifo_head <= fifo_head + C;
      fifo_count <= fifo_count + {15'd0, taken} - (leave ? C : 0);
      if (step_beat) part <= leave ? 0 : part + 1;
    end
  end

  // ---- events of the state machine
  reg [15:0] since_issue, drain_left;
  wire column_issued = issue && last_beat;
  wire drained = state == DRAIN && drain_left == 1;
  wire pass_over = drained && last_column;
  wire start_pass = start || (pass_over && !last_tile);
  wire next_column = drained && !last_column;
  wire start_rs = STREAM_RS == 0 && (start_pass || (next_column && prefetch_per_outer));
  wire start_ts = (write_rs && last_beat) || (STREAM_RS != 0 && start_pass) || (next_column && !start_rs);
  wire run_on = column_issued && overlap_outer && !last_column;
  wire [31:0] next_tile = start ? 32'd0 : pass_over ? tile + 1 : tile;
  wire [31:0] next_beat = (start_rs || start_ts) ? 32'd0 : !step_beat ? beat : last_beat ? 32'd0 : beat + 1;
  reg [31:0] merge_lane;
  wire merged = state == MERGE && merge_lane == P - 1;
  assign done = state == DONE;

  always @(posedge clk) begin
    if (reset) state <= IDLE;
    else if (start_rs) state <= PREFETCH;
    else if (start_ts) state <= STREAM;
    else if (column_issued && !run_on) state <= DRAIN;
    else if (pass_over) state <= MERGE;
    else if (merged) state <= DONE;
    drain_left <= column_issued ? DEPTH + fsm_cycles - 1 : drain_left - 1;
    since_issue <= start_ts ? interval : issue ? 16'd1 : since_issue + {15'd0, since_issue < interval};
  end

  always @(posedge clk) begin
    tile <= next_tile;
    beat <= next_beat;
    if (start_pass) column <= 0;
    else if (drained || run_on) column <= column + 1;
    if (start) tile_base <= 0;
    else if (pass_over) tile_base <= beat_base + (blocked ? 1 : P);
    if (start_ts || run_on) beat_base <= start ? 0 : tile_base;
    else if (issue && !last_beat) beat_base <= beat_base + (blocked ? 1 : P);
  end

  // ---- requests: RS columns tile by tile, and TS columns in the order in which they run. Each column starts at a
  // multiple of the burst length, so the last burst, which may be shorter, is followed by unused port beats.
  reg requesting, first_burst;
  reg [31:0] ports_left, columns_left, ts_next, rs_next, rs_tile;
  reg [15:0] under_way;
  wire reads_rs = state == PREFETCH;
  wire accepted = ar_valid && ar_ready;
  wire column_requested = accepted && ports_left <= {16'd0, burst_length};
  wire request_ts = start_ts || (column_requested && !reads_rs && columns_left != 0);
  wire [31:0] rs_start = start ? rs_address : pass_over ? rs_next : rs_tile;
  assign ar_valid = requesting && under_way < outstanding_limit;
  assign ar_addr = reads_rs ? rs_next : ts_next;
  assign ar_len = (ports_left > {16'd0, burst_length}) ? burst_length : ports_left[15:0];
  assign ar_first = first_burst;
  assign ls_request = accepted && first_burst && !reads_rs;

  always @(posedge clk) begin
    if (reset) requesting <= 0;
    else if (start_rs || request_ts) requesting <= 1;
    else if (column_requested) requesting <= 0;
    if (start_rs || request_ts) begin
      first_burst <= 1;
      ports_left <= (next_tile == tiles - 1) ? last_tile_ports : tile_ports;
    end else if (accepted) begin
      first_burst <= 0;
      ports_left <= ports_left - {16'd0, ar_len};
    end
    if (start_ts) columns_left <= overlap_outer ? columns - 1 : 0;
    else if (request_ts) columns_left <= columns_left - 1;
    rs_tile <= rs_start;
    if (start_rs) rs_next <= rs_start;
    else if (accepted && reads_rs) rs_next <= rs_next + {16'd0, burst_length};
    if (start) ts_next <= ts_address;
    else if (accepted && !reads_rs) ts_next <= ts_next + {16'd0, burst_length};
    under_way <= reset ? 16'd0 : under_way + {15'd0, accepted} - {15'd0, taken && r_last};
  end

  // ---- LS, one value a column
  reg [31:0] ls_fifo[0:(1<<LS_BITS)-1];
  reg [LS_BITS-1:0] ls_head, ls_tail;
  wire [31:0] ls = ls_fifo[ls_head];
  always @(posedge clk) begin
    if (ls_valid) ls_fifo[ls_tail] <= ls_data;
    ls_tail <= reset ? 0 : ls_tail + {{(LS_BITS-1){1'b0}}, ls_valid};
    ls_head <= reset ? 0 : ls_head + {{(LS_BITS-1){1'b0}}, column_issued};
  end

  // ---- RS and TS of a beat
  wire [32*P-1:0] rs, ts;
  generate
    if (STREAM_RS != 0) begin : streamed
      assign {ts, rs} = words;
    end else begin : buffered
      reg [32*P-1:0] buffer[0:(1<<BUFFER_BITS)-1];
      reg [32*P-1:0] row;
      always @(posedge clk) begin
        if (write_rs) buffer[beat[BUFFER_BITS-1:0]] <= words;
        row <= buffer[next_beat[BUFFER_BITS-1:0]];  // a beat ahead: block RAM answers a cycle later
      end
      assign rs = row;
      assign ts = words;
    end
  endgenerate

  // ---- lanes: C(k,2) and the tag of a beat are the same for all
  wire [31:0] k = first_k + column;
  wire [31:0] m = first_m + beat_base;
  wire [31:0] left_product, column_late, base_late;
  wire last_late;
  reg [DEPTH-2:0] issued;  // the only part of the pipeline that has to be reset
  always @(posedge clk) issued <= reset ? 0 : {issued[DEPTH-3:0], issue};
  u32_mul #(.LATENCY(IMUL)) multiply_left (.clk(clk), .a(k), .b(k - 32'd1), .result(left_product));
  delay #(.WIDTH(65), .CYCLES(DEPTH - 1)) tag (.clk(clk),
      .in({last_tile && last_beat, column, beat_base}), .out({last_late, column_late, base_late}));

  generate
    for (i = 0; i < P; i = i + 1) begin : lanes
      wire [31:0] offset = !blocked ? i : i * stretch + ((i < longer_lanes) ? i : longer_lanes);
      wire [31:0] base;
      lane #(.FADD(FADD), .FSUB(FSUB), .FDIV(FDIV), .I2F(I2F), .IMUL(IMUL), .IADD(IADD), .FCMP(FCMP)) pipeline (
          .clk(clk), .clear(start), .ts(ts[32*i+:32]), .ls(ls), .rs(rs[32*i+:32]), .k(k), .m(m + offset),
          .left_pairs(left_product >> 1), .update(issued[DEPTH-2] && (!last_late || i < last_lanes)),
          .column(column_late), .base(base_late), .best(lane_best[32*i+:32]), .best_key(lane_key[32*i+:32]),
          .best_column(lane_column[32*i+:32]), .best_base(base));
      assign lane_right[32*i+:32] = base + offset;
    end
  endgenerate

  // ---- merge: equal omegas go to the smaller column, then to the smaller right-side iteration
  wire [31:0] next_key = lane_key[32*merge_lane+:32];
  wire [31:0] next_at = lane_column[32*merge_lane+:32];
  wire [31:0] next_right = lane_right[32*merge_lane+:32];
  wire earlier = next_at < best_column || (next_at == best_column && next_right < best_right);
  always @(posedge clk) begin
    if (start) begin
      merge_lane <= 0;
      best <= 32'h7fc00000;
      best_key <= 0;
      best_column <= 0;
      best_right <= 0;
    end else if (state == MERGE) begin
      merge_lane <= merge_lane + 1;
      if (next_key > best_key || (next_key == best_key && earlier)) begin
        best <= lane_best[32*merge_lane+:32];
        best_key <= next_key;
        best_column <= next_at;
        best_right <= next_right;
      end
    end
  end
endmodule
