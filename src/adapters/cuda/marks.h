/* marks.h - how far a queue is. All under the queue's lock and entered, but for cu_marks_wait. */
#ifndef QUERN_ADAPTERS_CUDA_MARKS_H
#define QUERN_ADAPTERS_CUDA_MARKS_H

#include "queue.h"

/* Events: cuEventRecord, cuEventQuery, cuStreamWaitEvent. Words: cuStreamWriteValue64, a load, cuStreamWaitValue64. */
typedef struct cu_marks_kind {
  const char *name;
  bool needs_word;
  cu_result (*put)(qn_adapter_queue *queue, uint64_t value);
  /* Sees how far the marks are. CU_SUCCESS or CU_NOT_READY: the queue is well. */
  cu_result (*look)(qn_adapter_queue *queue);
  /* Makes a stream wait for a mark at the value or after it, which is there. */
  cu_result (*wait)(qn_adapter_queue *queue, uint64_t value, cu_stream stream);
} cu_marks_kind;

/* QUERN_CUDA_MARKS: "events", "words", else what measured best; timed queues have events. */
const cu_marks_kind *cu_marks_choose(const qn_adapter_device *device, bool is_timed);

/* Room for a mark: its events are made. */
cu_result cu_marks_next(qn_adapter_queue *queue, cu_mark **out_mark);
/* Marks the last command, unless it is marked or complete. False: the driver takes none, and the device has been judged. */
bool cu_marks_put(qn_adapter_queue *queue);
/* Drops the marks of values that were not given out after all. */
void cu_marks_forget(qn_adapter_queue *queue);
/* Looks how far the queue is; `thoroughly`: asks the stream as well when marks don't tell. On a lost device everything has failed. */
void cu_marks_look(qn_adapter_queue *queue, bool thoroughly);
/* Everything up to the value is complete. */
void cu_marks_reach(qn_adapter_queue *queue, uint64_t value);
/* Makes a stream of the same device wait for a value of the queue, on the device. Takes the queue's lock. */
qn_status cu_marks_wait(qn_adapter_queue *queue, uint64_t value, cu_stream stream, cu_failure *failure);

#endif
