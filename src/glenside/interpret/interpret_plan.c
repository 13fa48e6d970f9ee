/* SPDX-License-Identifier: MIT */
/* interpret_plan.c - what an interpretation keeps, and whether it can be done.
 *
 * Stored are inputs, constants, results, outputs, operands of calls and scans,
 * and those views that are read more than once an element and are not too
 * large. An array goes when the last term that reads it, directly or through
 * views that are not stored, has been computed. */
#include "glenside/interpret/interpret_state.h"
#include <assert.h>
#include <string.h>

/* Tuples are loaded side by side; storing them gains nothing. */
static bool
is_tuple(gs_op op) {
  return op == GS_CARTPROD || op == GS_PAIR;
}

static void
mark_uses(in_state *s, uint32_t *uses) {
  for (uint32_t t = 0; t < s->p->nodes.len; t++) {
    const gs_node *node = &s->p->nodes.data[t];
    for (uint32_t k = 0; s->live[t] && k < node->n_kids; k++) {
      uint32_t *use = &uses[node->kids[k].i];
      *use += gs_op_is(node->op, GS_REREADS) ? 2 : 1;
      if (node->op == GS_CALL || node->op == GS_SCAN)
        s->stored[node->kids[k].i] = 1;
    }
  }
}

static void
choose_stored(in_state *s) {
  uint32_t n = s->p->nodes.len;
  uint32_t *uses = bs_calloc(s->run->ctx.heap, (size_t)n + 1, sizeof *uses);
  mark_uses(s, uses);
  for (uint32_t t = 0; t < n; t++) {
    gs_op op = s->p->nodes.data[t].op;
    if (!s->live[t])
      continue;
    bool small = gs_elements(&s->types[t]) <= IN_MAX_STORED_VIEW;
    if (!gs_op_table[op].view || (uses[t] > 1 && small && !is_tuple(op)))
      s->stored[t] = 1;
  }
  for (uint32_t k = 0; k < s->p->outputs.len; k++)
    s->stored[s->p->outputs.data[k].term.i] = 1;
  bs_free(s->run->ctx.heap, uses);
}

/* Parents come after children, so that a view knows its own last reader. */
static void
find_last_uses(in_state *s) {
  for (uint32_t k = 0; k < s->p->outputs.len; k++)
    s->last_use[s->p->outputs.data[k].term.i] = UINT32_MAX;
  for (uint32_t t = s->p->nodes.len; t-- > 0;) {
    const gs_node *node = &s->p->nodes.data[t];
    uint32_t reader = s->stored[t] ? t : s->last_use[t];
    for (uint32_t k = 0; s->live[t] && k < node->n_kids; k++)
      if (s->last_use[node->kids[k].i] < reader)
        s->last_use[node->kids[k].i] = reader;
  }
}

static bool
too_large(const in_state *s, uint32_t t, const char *what, int64_t found,
          int64_t most) {
  assert(t < s->p->nodes.len);
  bs_error(s->run->ctx.diags, s->p->nodes.data[t].span, "too-large",
           "too large to interpret: %s %lld, at most %lld", what,
           (long long)found, (long long)most);
  bs_hint(s->run->ctx.diags, "compile the program instead");
  return false;
}

/* Adds what computing a stored term visits. */
static bool
count_work(in_state *s, uint32_t t) {
  assert(t < s->p->nodes.len);
  const gs_node *node = &s->p->nodes.data[t];
  const gs_type *type = &s->types[t];
  int64_t visits = gs_elements(type);
  if (node->op == GS_TENSOR || node->op == GS_CONST)
    return true;
  if (visits > IN_MAX_ARRAY)
    return too_large(s, t, "elements of one array:", visits, IN_MAX_ARRAY);
  if (node->op == GS_COMPUTE) {
    const gs_type *in = &s->types[node->kids[0].i];
    int64_t item = gs_prod(in->dim + in->access, in->rank - in->access);
    visits = gs_elements(in);
    if (item > IN_MAX_ITEM)
      return too_large(s, t, "elements of one item:", item, IN_MAX_ITEM);
  }
  s->run->work += visits; /* each at most 2^40, refused past 2^33 */
  return s->run->work <= IN_MAX_WORK ||
         too_large(s, t, "elements to visit:", s->run->work, IN_MAX_WORK);
}

int64_t
in_bytes(const in_state *s, uint32_t t) {
  assert(t < s->p->nodes.len);
  const gs_type *type = &s->types[t];
  int64_t bound = s->bounds ? (int64_t)sizeof(double) : 0;
  return gs_elements(type) * (gs_dtype_table[type->dtype].bytes + bound);
}

/* Of the items that are loaded while a term is computed. */
static int64_t
item_bytes(const in_state *s, uint32_t t) {
  assert(t < s->p->nodes.len);
  const gs_node *node = &s->p->nodes.data[t];
  if (node->op != GS_COMPUTE)
    return 0;
  const gs_type *in = &s->types[node->kids[0].i], *type = &s->types[t];
  int64_t n = gs_prod(in->dim + in->access, in->rank - in->access) +
              gs_prod(type->dim + type->access, type->rank - type->access);
  return n * (int64_t)sizeof(double) * (s->bounds ? 2 : 1);
}

/* Arrays come and go as they will; outputs are copied in the end.  Each has at
 * most IN_MAX_ARRAY elements here, so that no sum overflows. */
static bool
count_bytes(in_state *s) {
  uint32_t n = s->p->nodes.len;
  int64_t now = s->run->bytes, outputs = 0;
  int64_t *gone = bs_calloc(s->run->ctx.heap, (size_t)n + 1, sizeof *gone);
  bool ok = true;
  for (uint32_t t = 0; ok && t < n; t++) {
    gs_op op = s->p->nodes.data[t].op;
    if (s->live[t] && s->stored[t] && op != GS_TENSOR && op != GS_CONST) {
      now += in_bytes(s, t);
      gone[s->last_use[t] < n ? s->last_use[t] : n] += in_bytes(s, t);
      int64_t most = now + item_bytes(s, t);
      ok = most <= IN_MAX_BYTES ||
           too_large(s, t, "bytes at a time:", most, IN_MAX_BYTES);
    }
    now -= gone[t];
  }
  for (uint32_t k = 0; ok && k < s->p->outputs.len; k++) {
    uint32_t t = s->p->outputs.data[k].term.i;
    outputs += in_bytes(s, t);
    ok = now + outputs <= IN_MAX_BYTES ||
         too_large(s, t, "bytes at a time:", now + outputs, IN_MAX_BYTES);
  }
  bs_free(s->run->ctx.heap, gone);
  return ok;
}

bool
in_plan(in_state *s) {
  gs_mark_live(s->p, s->live);
  for (uint32_t t = 0; t < s->p->nodes.len; t++)
    if (s->live[t])
      gs_type_at(s->p, (gs_term){t}, &s->types[t]);
  choose_stored(s);
  find_last_uses(s);
  for (uint32_t t = 0; t < s->p->nodes.len; t++)
    if (s->live[t] && s->stored[t] && !count_work(s, t))
      return false;
  return count_bytes(s);
}
