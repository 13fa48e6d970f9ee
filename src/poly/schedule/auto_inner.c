/* auto_inner.c - the loops around statements, last of all.
 *
 * From a statement outwards: loops of few iterations are written out while
 * their product is small; the first long loop is the one that runs along a
 * vector.  Where loops below it are shorter at its ends than between them, its
 * full part gets code of its own, and so does that of the loops of the same
 * nest around it; tile loops, and those over threads, stay one. */
#include "poly/schedule/chooser.h"

/* Iterations written out, in all; those of a loop that is longer may vary. */
enum { MOST_WRITTEN_OUT = 64, LONG = 16 };

static void
mark(po_chooser *c, const char *how, uint32_t loop) {
  po_step_call call = po_step(how);
  call.args[0] = po_loop_arg(loop);
  po_attempt(c, &call, NULL);
}

/* A loop that is written out below it runs over fewer values in some of its
 * iterations. */
static bool
is_uneven(const po_program *p, uint32_t loop) {
  int64_t min, count;
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE;
       k = po_nest_next(p, k, loop))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == PO_UNROLL &&
        !po_constant_range(p, k, &min, &count))
      return true;
  return false;
}

/* From a loop outwards, as long as it is the nest's own: what stands beside it
 * shares the loops around. */
static void
separate_points(po_chooser *c, uint32_t loop) {
  uint32_t up;
  for (; loop != PO_NO_NODE && loop != 0; loop = up) {
    const po_nest_node *n = po_node(po_now(c), loop);
    up = n->prev == PO_NO_NODE && n->next == PO_NO_NODE ? n->parent : 0;
    if (n->kind == PO_LOOP && n->mark == PO_SERIAL && !n->separate &&
        is_uneven(po_now(c), loop))
      mark(c, "separate", loop);
  }
}

/* A long loop that ends early at times: every iteration written out would be
 * a test. */
static bool
is_part(const po_program *p, uint32_t loop, int64_t most) {
  int64_t min, count;
  return most > LONG && !po_constant_range(p, loop, &min, &count);
}

/* Around a statement, from the inside out. */
static void
finish_leaf(po_chooser *c, uint32_t leaf) {
  int64_t product = 1;
  uint32_t loop = po_node(po_now(c), leaf)->parent;
  for (; loop != PO_NO_NODE && loop != 0;
       loop = po_node(po_now(c), loop)->parent) {
    if (po_node(po_now(c), loop)->kind != PO_LOOP)
      return;
    int64_t n = po_most_iterations(po_now(c), loop);
    if (n < 1 || product > MOST_WRITTEN_OUT / n || is_part(po_now(c), loop, n))
      break;
    product *= n;
    if (po_node(po_now(c), loop)->mark == PO_SERIAL)
      mark(c, "unroll", loop);
    if (po_node(po_now(c), loop)->mark != PO_UNROLL)
      return;
  }
  separate_points(c, loop);
}

static void
finish_nest(po_chooser *c, uint32_t root) {
  uint32_t next;
  for (uint32_t k = root; k != PO_NO_NODE && !c->stopped; k = next) {
    next = po_nest_next(po_now(c), k, root);
    if (po_node(po_now(c), k)->kind == PO_LEAF)
      finish_leaf(c, k);
  }
}

void
po_finish_inner_loops(po_chooser *c) {
  uint32_t next;
  for (uint32_t k = po_node(po_now(c), 0)->first;
       k != PO_NO_NODE && !c->stopped; k = next) {
    next = po_node(po_now(c), k)->next;
    if (po_node(po_now(c), k)->kind == PO_LOOP && po_may_change(po_now(c), k))
      finish_nest(c, k);
  }
}
