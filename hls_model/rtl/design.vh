// The design that omega_top.v is when nothing else is said; a build puts a file of this name before this one.
`define LANES 4
`define PORT_WORDS 4
`define STREAM_RS 0
`define FADD 5
`define FSUB 5
`define FDIV 10
`define I2F 4
`define IMUL 2
`define IADD 1
`define FCMP 2
