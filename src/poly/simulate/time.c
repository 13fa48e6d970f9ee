/* SPDX-License-Identifier: MIT */
/* time.c - when calls run. */
#include "poly/simulate/simulate_machine.h"
#include <assert.h>
#include <string.h>

uint32_t
po_find_queue(po_machine_state *m, const char *name) {
  po_simulation *s = m->out;
  for (uint32_t k = 0; k < s->n_queues; k++)
    if (!strcmp(s->queue[k].name, name))
      return k;
  if (s->n_queues == PO_MOST_QUEUES)
    return PO_MOST_QUEUES - 1;
  s->queue[s->n_queues] = (po_queue_time){.name = name};
  return s->n_queues++;
}

/* The part of a memory that a patch lies in, or an array of dram as a whole. */
typedef struct span {
  double *read, *written;
  int64_t lo, hi;
} span;

static span
span_of(const po_machine_state *m, const po_patch *x) {
  int64_t size = gs_dtype_table[x->array->dtype].bytes, last = x->first;
  if (x->array->role != PO_MEMORY)
    return (span){m->read, m->written, x->number, x->number};
  const po_bank *b = &m->banks[x->array->memory - 1];
  for (uint32_t d = 0; d < x->operand->rank; d++)
    last += (x->operand->dim[d] - 1) * x->operand->stride[d];
  return (span){b->read, b->written,
                (x->array->offset + x->first * size) / b->unit,
                (x->array->offset + (last + 1) * size - 1) / b->unit};
}

static double
latest(const double *times, int64_t lo, int64_t hi, double than) {
  for (int64_t k = lo; k <= hi; k++)
    than = times[k] > than ? times[k] : than;
  return than;
}

static void
until(double *times, int64_t lo, int64_t hi, double end) {
  for (int64_t k = lo; k <= hi; k++)
    times[k] = end > times[k] ? end : times[k];
}

void
po_take_time(po_machine_state *m, uint32_t queue, double cycles,
             const po_patch *patches, uint32_t n) {
  po_queue_time *q = &m->out->queue[queue];
  double start = q->free;
  span spans[PO_MOST_PATCHES];
  assert(n <= PO_MOST_PATCHES);
  for (uint32_t k = 0; k < n; k++) {
    span s = spans[k] = span_of(m, &patches[k]);
    start = latest(s.written, s.lo, s.hi, start);
    if (k + 1 == n) /* the result */
      start = latest(s.read, s.lo, s.hi, start);
  }
  q->free = start + cycles;
  q->busy += cycles;
  for (uint32_t k = 0; k < n; k++) {
    span s = spans[k];
    until(k + 1 == n ? s.written : s.read, s.lo, s.hi, q->free);
  }
  if (q->free > m->out->cycles)
    m->out->cycles = q->free;
  if (m->trace && m->stmt->kind == PO_CALL)
    bs_putf(m->trace, "%10.0f %10.0f  %-8s %s", start, q->free, q->name,
            m->stmt->instr->name);
}
