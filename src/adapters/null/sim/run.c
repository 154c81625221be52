/* run.c - what packets do to memory. */
#include <string.h>

#include "inside.h"
#include "mix.h"

static char *bytes_of(const sim_use *use) { return use->block->bytes + use->offset; }

static void copy(const sim_packet *p) {
  memmove(bytes_of(&p->uses[0]), bytes_of(&p->uses[1]), (size_t)p->uses[0].size);
}

static void fill(const sim_packet *p) {
  char *at = bytes_of(&p->uses[0]);
  uint64_t size = p->uses[0].size, step = p->pattern_size;
  if (step == 1)
    memset(at, p->pattern[0], (size_t)size);
  else
    for (uint64_t i = 0; i < size; i += step) memcpy(at + i, p->pattern, (size_t)step);
}

static void write_in(const sim_packet *p) { memcpy(bytes_of(&p->uses[0]), p->host, (size_t)p->uses[0].size); }
static void read_out(const sim_packet *p) { memcpy(p->host, bytes_of(&p->uses[0]), (size_t)p->uses[0].size); }

static void launch(const sim_packet *p) {
  uint64_t digest = p->key;
  for (uint32_t i = 0; i < p->use_count; i++)
    if (p->uses[i].access & SIM_READS) digest = sim_mix_bytes(digest, bytes_of(&p->uses[i]), p->uses[i].size);
  for (uint32_t i = 0; i < p->use_count; i++)
    if (p->uses[i].access & SIM_WRITES) sim_mix_fill(digest, i, bytes_of(&p->uses[i]), p->uses[i].size);
}

static void nothing(const sim_packet *p) { (void)p; }

static void (*const runs[])(const sim_packet *) = {
    [SIM_COPY] = copy,     [SIM_FILL] = fill,    [SIM_WRITE] = write_in, [SIM_READ] = read_out,
    [SIM_LAUNCH] = launch, [SIM_WAIT] = nothing, [SIM_NOTHING] = nothing};

void sim_run(const sim_packet *packet) { runs[packet->op](packet); }

void sim_scribble(const sim_packet *packet) {
  for (uint32_t i = 0; i < packet->use_count; i++)
    if (packet->uses[i].access & SIM_WRITES) memset(bytes_of(&packet->uses[i]), 0xfa, (size_t)packet->uses[i].size);
}
