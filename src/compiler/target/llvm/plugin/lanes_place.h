/* lanes_place.h - a place in memory for each lane, and reading and writing there. */
#ifndef QUERN_LLVM_LANES_PLACE_H
#define QUERN_LLVM_LANES_PLACE_H

#include "lanes.h"

/* Of a pointer: `base` is a pointer, or one a lane when the shape is varying. Of a private variable by leaves: `var` is
 * set and `base` is an offset in bytes, or one a lane. */
typedef struct place {
  lane_var *var;
  shape shape;
  LLVMValueRef base;
} place;

/* What is read or written: `count` scalars in a row, `stride` of them apart in memory from one vector to the next. */
typedef struct access {
  const ir_type *elem;
  unsigned count; /* components */
  unsigned room;  /* elements that the vector takes: 4 for 3 unless packed */
  unsigned align;
} access;

place lanes_place(lanes *l, ir_inst *pointer);
place place_at(lanes *l, place p, uint64_t bytes);
void place_load(lanes *l, place p, const access *a, LLVMValueRef *parts);
/* `blend`: lanes that don't run keep what a private variable has. */
void place_store(lanes *l, place p, const access *a, LLVMValueRef *parts, bool blend);

/* Code that runs once for each lane that runs: between open and close, `lane` is its number (i32). */
typedef struct each_lane {
  LLVMValueRef lane, bits, phi;
  LLVMBasicBlockRef body;
} each_lane;
void each_lane_open(lanes *l, each_lane *loop);
void each_lane_close(lanes *l, each_lane *loop);
/* A number of a lane that runs; the last one, so that of writes to one place the last item's stays. */
LLVMValueRef lanes_last_running(lanes *l);

#endif
