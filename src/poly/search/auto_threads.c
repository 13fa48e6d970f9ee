/* SPDX-License-Identifier: MIT */
/* auto_threads.c - the loops that are spread over threads.
 *
 * In each nest the outermost loop that allows it.  A nest that does little
 * beside the others, the border of a stencil as an example, is left to one
 * thread: to wake the others would take longer. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include <assert.h>

/* Whether a loop in it has a mark. */
static bool
is_marked(const po_program *p, uint32_t root) {
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark != PO_SERIAL)
      return true;
  return false;
}

bool
po_mark_parallel(po_chooser *c, uint32_t loop) {
  po_step_call call = po_step("parallel");
  call.args[0] = po_loop_arg(loop);
  return po_attempt(c, &call, NULL);
}

/* The outermost loop that allows it and has more than one iteration, and the
 * next one where that alone would leave cores idle: a team shares both.  They
 * are not made one loop: what is below would be found by remainders. */
static void
make_parallel(po_chooser *c, uint32_t root) {
  uint32_t loops[PO_MAX_DEPTH], n = po_result_loops(po_now(c), root, loops);
  int64_t cores = gs_cores(po_now(c)->target);
  for (uint32_t k = 0; k < n; k++) {
    int64_t extent = po_extent_of(po_now(c), loops[k]);
    if (extent < 2 || !po_mark_parallel(c, loops[k]))
      continue;
    if (extent < 4 * cores && k + 1 < n)
      po_mark_parallel(c, loops[k + 1]);
    return;
  }
}

double
po_work_in(const po_program *p, uint32_t root) {
  assert(root < p->nest.nodes.len);
  double sum = 0;
  for (uint32_t k = po_nest_first_leaf(p, root); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, root)) {
    int64_t n = po_likely_instances(p, po_node(p, k)->stmt);
    sum += n < 0 ? po_estimate_instances(p, po_node(p, k)->stmt) : (double)n;
  }
  return sum;
}

bool
po_threads_are_profitable(const po_program *p, uint32_t root) {
  return po_work_in(p, root) >= GS_THREAD_INSTANCES;
}

/* What the largest nest does; threads cost more than a small part of that
 * takes, the border of a stencil as an example. */
static double
most_work(const po_program *p) {
  double most = 0;
  for (uint32_t k = po_node(p, 0)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next) {
    double work = po_work_in(p, k);
    most = work > most ? work : most;
  }
  return most;
}

/* What a nest has to do; who asked for a schedule sees its threads in a small
 * program, too. */
static double
least_work(const po_chooser *c) {
  double least = most_work(po_now(c)) / GS_THREAD_LARGEST;
  return c->options->unasked || least > GS_THREAD_INSTANCES
             ? GS_THREAD_INSTANCES
             : least;
}

void
po_parallelise(po_chooser *c) {
  uint32_t after = PO_NO_NODE;
  double least = least_work(c);
  for (;;) {
    uint32_t root = po_last_root(po_now(c), after);
    if (root == PO_NO_NODE || c->stopped)
      return;
    if (po_node(po_now(c), root)->kind == PO_LOOP &&
        po_may_change(po_now(c), root) && !is_marked(po_now(c), root) &&
        po_work_in(po_now(c), root) >= least)
      make_parallel(c, root);
    after = po_last_root(po_now(c), after);
  }
}
