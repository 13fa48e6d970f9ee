/* SPDX-License-Identifier: MIT */
/* simulate.h - a loop program run on the machine that its target describes.
 *
 * Calls compute what their semantics say.  Memories are bytes that remember
 * which array put them there: what was never written, was written for another
 * array, or lies beyond a memory or across its banks, is a fault and stops.
 *
 * Time: a call takes the cycles of its declaration in its queue, and begins
 * when the queue is free and what it reads and overwrites is no more in use by
 * calls before it; queues run side by side.  The host is a queue of its own. */
#ifndef POLY_SIMULATE_H
#define POLY_SIMULATE_H

#include "poly/loops/loops.h"

enum { PO_MOST_QUEUES = 16 };

typedef struct po_instr_time {
  const char *name, *queue;
  double calls, cycles, bytes; /* bytes: moved between memories */
} po_instr_time;

typedef struct po_queue_time {
  const char *name;
  double busy, free; /* cycles; when it is free again */
} po_queue_time;

typedef struct po_simulation {
  double cycles; /* until all is done */
  uint32_t n_queues;
  po_queue_time queue[PO_MOST_QUEUES];
  BS_VEC(po_instr_time) instrs; /* in the order of first use */
} po_simulation;

/* Runs the program; trace: a line for each call, or NULL.  False with a
 * diagnostic.  The lists are on the program's heap. */
bool po_simulate(const po_program *, const gs_tensor *inputs,
                 gs_tensor *outputs, po_simulation *out, bs_text *trace);
void po_simulation_done(const po_program *, po_simulation *);

#endif
