#include "transfer.h"

/* Counts a part that the driver took, or says what it refused. */
static qn_status judge(ocl_place *place, cl_int code, const char *what, uint64_t size) {
  if (code == CL_SUCCESS) {
    place->taken++;
    return QN_OK;
  }
  return ocl_fail(place->failure, ocl_status_of(code), code, "%s of %llu bytes", what, (unsigned long long)size);
}

static qn_status copy(ocl_place *place, const qn_adapter_memory *target, uint64_t target_offset,
                      const qn_adapter_memory *source, uint64_t source_offset, uint64_t size, cl_event *event) {
  cl_int code = place->cl->EnqueueCopyBuffer(place->queue, source->buffer, target->buffer, (size_t)source_offset,
                                             (size_t)target_offset, (size_t)size, ocl_place_count(place),
                                             ocl_place_waits(place), event);
  return judge(place, code, "copy", size);
}

/* ---- Fill --------------------------------------------------------------------------------------- */

static qn_status fill(ocl_place *place, const qn_adapter_memory *target, uint64_t offset, uint64_t size,
                      const void *pattern, uint64_t pattern_bytes, cl_event *event) {
  cl_int code =
      place->cl->EnqueueFillBuffer(place->queue, target->buffer, pattern, (size_t)pattern_bytes, (size_t)offset,
                                   (size_t)size, ocl_place_count(place), ocl_place_waits(place), event);
  return judge(place, code, "fill", size);
}

/* OpenCL fills from multiples of the pattern's size on; ours from anywhere. So the first pattern is laid down in pieces of
 * the largest power of two that divides the offset, and then copied to twice, four times, ... its length. */
static qn_status fill_in_pieces(ocl_place *place, const qn_adapter_command *c) {
  const unsigned char *pattern = c->pattern;
  uint64_t piece = c->target_offset & (~c->target_offset + 1), done = 0;
  qn_status status = QN_OK;
  for (; done < c->pattern_bytes && status >= 0; done += piece)
    status = fill(place, c->target, c->target_offset + done, piece, pattern + done, piece,
                  done + piece == c->size_bytes ? place->event : NULL);
  while (done < c->size_bytes && status >= 0) {
    uint64_t more = done < c->size_bytes - done ? done : c->size_bytes - done;
    status = copy(place, c->target, c->target_offset + done, c->target, c->target_offset, more,
                  done + more == c->size_bytes ? place->event : NULL);
    done += more;
  }
  return status;
}

/* ---- By kind ------------------------------------------------------------------------------------ */

static qn_status write(ocl_place *place, const qn_adapter_command *c) {
  cl_int code = place->cl->EnqueueWriteBuffer(place->queue, c->target->buffer, CL_FALSE, (size_t)c->target_offset,
                                              (size_t)c->size_bytes, c->host, ocl_place_count(place),
                                              ocl_place_waits(place), place->event);
  return judge(place, code, "write", c->size_bytes);
}

static qn_status read(ocl_place *place, const qn_adapter_command *c) {
  cl_int code = place->cl->EnqueueReadBuffer(place->queue, c->source->buffer, CL_FALSE, (size_t)c->source_offset,
                                             (size_t)c->size_bytes, c->host, ocl_place_count(place),
                                             ocl_place_waits(place), place->event);
  return judge(place, code, "read", c->size_bytes);
}

qn_status ocl_transfer(ocl_place *place, const qn_adapter_command *c) {
  switch (c->kind) {
    case QN_COMMAND_COPY:
      return copy(place, c->target, c->target_offset, c->source, c->source_offset, c->size_bytes, place->event);
    case QN_COMMAND_FILL:
      if (c->target_offset % c->pattern_bytes != 0) return fill_in_pieces(place, c);
      return fill(place, c->target, c->target_offset, c->size_bytes, c->pattern, c->pattern_bytes, place->event);
    case QN_COMMAND_WRITE:
      return write(place, c);
    default:
      return read(place, c);
  }
}
