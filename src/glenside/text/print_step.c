/* SPDX-License-Identifier: MIT */
/* print_step.c - the step of a scan as text, which parse_step.c reads.
 *
 * Parameters are called s, x0, x1, ..., w0, w1, ..., and nodes that are read
 * more than once t0, t1, ..., each in a let of its own; the others stand where
 * they are read. */
#include "glenside/text/text_print.h"
#include "glenside/program/scan.h"
#include <assert.h>

typedef struct place_of {
  uint32_t node; /* from 0 */
  uint32_t kid;  /* the next */
} place_of;

typedef struct printing {
  bs_text *out;
  const bs_values *values;
  bs_value attr;
  gs_step step;
  uint8_t uses[GS_MAX_STEP];    /* by node, up to 2 */
  uint32_t number[GS_MAX_STEP]; /* of those in lets */
  place_of stack[GS_MAX_STEP];
  uint32_t depth;
} printing;

static gs_step_node
node_at(const printing *x, uint32_t k) {
  gs_step_node node;
  gs_step_node_at(x->values, x->attr, &x->step, k, &node);
  return node;
}

static void
count_uses(printing *x) {
  for (uint32_t k = 0; k < x->step.n_nodes; k++) {
    gs_step_node node = node_at(x, k);
    for (uint32_t i = 0; i < node.n_kids; i++)
      if (node.kids[i] >= x->step.n_params &&
          x->uses[node.kids[i] - x->step.n_params] < 2)
        x->uses[node.kids[i] - x->step.n_params]++;
  }
}

static void
put_param(const printing *x, uint32_t k) {
  if (!k)
    bs_putc(x->out, 's');
  else if (k <= x->step.n_each)
    bs_putf(x->out, "x%u", k - 1);
  else
    bs_putf(x->out, "w%u", k - 1 - x->step.n_each);
}

static void
open_node(printing *x, uint32_t k) {
  gs_step_node node = node_at(x, k);
  bs_putf(x->out, "(%s", gs_op_table[node.op].name);
  if (print_attrs_first(node.op))
    print_attrs(x->values, NULL, node.op, node.attr, x->out);
  x->stack[x->depth++] = (place_of){k, 0};
}

static void
put_place(printing *x, uint32_t place) {
  uint32_t k = place - x->step.n_params;
  if (place < x->step.n_params)
    put_param(x, place);
  else if (x->uses[k] > 1)
    bs_putf(x->out, "t%u", x->number[k]);
  else
    open_node(x, k);
}

/* A node, whether it is in a let or not. */
static void
put_node(printing *x, uint32_t root) {
  open_node(x, root);
  while (x->depth) {
    place_of *top = &x->stack[x->depth - 1];
    gs_step_node node = node_at(x, top->node);
    if (top->kid < node.n_kids) {
      bs_putc(x->out, ' ');
      put_place(x, node.kids[top->kid++]);
      continue;
    }
    if (!print_attrs_first(node.op))
      print_attrs(x->values, NULL, node.op, node.attr, x->out);
    bs_putc(x->out, ')');
    x->depth--;
  }
}

static void
put_params(const printing *x, const char *word, uint32_t first, uint32_t n) {
  if (!n)
    return;
  bs_putf(x->out, " (%s", word);
  for (uint32_t k = first; k < first + n; k++) {
    bs_putc(x->out, ' ');
    put_param(x, k);
  }
  bs_putc(x->out, ')');
}

void
gs_put_step(bs_text *out, const bs_values *values, bs_value attr) {
  assert(bs_len(values, attr) == 1);
  printing x = {.out = out, .values = values, .attr = attr};
  uint32_t next = 0;
  if (!gs_step_read(values, attr, &x.step))
    return;
  count_uses(&x);
  bs_put(out, "(step s");
  put_params(&x, "each", 1, x.step.n_each);
  put_params(&x, "with", 1 + x.step.n_each, x.step.n_with);
  for (uint32_t k = 0; k < x.step.n_nodes; k++) {
    if (x.uses[k] < 2)
      continue;
    bs_putf(out, " (let t%u ", next);
    put_node(&x, k);
    bs_putc(out, ')');
    x.number[k] = next++;
  }
  bs_putc(out, ' ');
  if (x.step.result < x.step.n_params)
    put_param(&x, x.step.result);
  else if (x.uses[x.step.result - x.step.n_params] > 1)
    bs_putf(out, "t%u", x.number[x.step.result - x.step.n_params]);
  else
    put_node(&x, x.step.result - x.step.n_params);
  bs_putc(out, ')');
}
