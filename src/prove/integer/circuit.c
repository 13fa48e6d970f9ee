/* SPDX-License-Identifier: MIT */
/* circuit.c - see circuit.h.
 *
 * Elements are made by the evaluation of element.c, with gates in place of
 * normal forms: views say which element is which, and the table of values
 * makes equal gates one.  A circuit is then what two values need, walked
 * without recursion. */
#include "prove/integer/circuit.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_GATES 4096

/* --- elements ------------------------------------------------------------- */

/* One gate; `args` are read `step` apart.  Words: what cannot be seen from the
 * operator, and the operands. */
static pv_value
gate(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n,
     uint32_t step) {
  pv_node node = {.kind = PV_APPLY,
                  .dtype = c->dtype,
                  .labelled = true,
                  .op = (uint16_t)c->op,
                  .param = c->o.i};
  uint32_t *words = bs_alloc(v->heap, ((size_t)n + 1) * sizeof *words);
  words[0] = c->tuple << 8 | c->from;
  for (uint32_t k = 0; k < n; k++)
    words[k + 1] = in[(size_t)k * step];
  pv_value made = pv_intern(v, node, words, n + 1);
  bs_free(v->heap, words);
  return made;
}

/* The table, and the index last. */
static void
gather(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n,
       uint32_t m, pv_value *out) {
  pv_value *args = bs_alloc(v->heap, ((size_t)n + 1) * sizeof *args);
  memcpy(args, in, n * sizeof *args);
  for (uint32_t k = 0; k < m && !v->failed; k++) {
    args[n] = in[n + k];
    out[k] = gate(v, c, args, n + 1, 1);
  }
  bs_free(v->heap, args);
}

static void
bare_item(pv_values *v, const pv_compute *c, const pv_value *in, uint32_t n,
          pv_value *out) {
  uint32_t items = n / c->tuple;
  switch (gs_compute_table[c->op].kind) {
  case GS_REDUCE:
  case GS_DOT:
    out[0] = gate(v, c, in, n, 1);
    return;
  case GS_FOLD:
  case GS_SELECT:
    for (uint32_t k = 0; k < items && !v->failed; k++)
      out[k] = gate(v, c, in + k, c->tuple, items);
    return;
  case GS_ELEMENTWISE:
  case GS_CAST:
    for (uint32_t k = 0; k < n && !v->failed; k++)
      out[k] = gate(v, c, in + k, 1, 1);
    return;
  case GS_GATHER:
    gather(v, c, in, items, items, out);
    return;
  case GS_LOOKUP:
    items = (uint32_t)gs_lookup_table(c->values, c->o);
    gather(v, c, in, items, n - items, out);
    return;
  case GS_SOFTMAX:
    v->failed = true;
    return;
  }
}

void
pv_bare_init(pv_bare *b, bs_heap *heap, const gs_program *p,
             const pv_options *options) {
  *b = (pv_bare){0};
  pv_values_init(&b->values, heap, options->max_work);
  b->elements = (pv_elements){.p = p, .values = &b->values, .item = bare_item};
  b->elements.of =
      bs_calloc(heap, p->nodes.len + (size_t)1, sizeof *b->elements.of);
}

bool
pv_bare_elements(pv_bare *b, const uint8_t *wanted) {
  return pv_evaluate(&b->elements, wanted);
}

void
pv_bare_done(pv_bare *b) {
  bs_heap *heap = b->values.heap;
  for (uint32_t k = 0; k < b->elements.p->nodes.len; k++)
    bs_free(heap, b->elements.of[k]);
  bs_free(heap, b->elements.of);
  bs_free(heap, b->gate);
  bs_free(heap, b->seen);
  bs_vec_done(heap, &b->stack);
  pv_values_done(&b->values);
}

/* --- circuits ------------------------------------------------------------- */

void
pv_circuit_init(pv_circuit *c, bs_heap *heap) {
  *c = (pv_circuit){.heap = heap};
}

void
pv_circuit_done(pv_circuit *c) {
  bs_vec_done(c->heap, &c->gates);
  bs_vec_done(c->heap, &c->args);
  bs_vec_done(c->heap, &c->wires);
  bs_vec_done(c->heap, &c->text);
}

static bool
is_done(const pv_bare *b, pv_value x) {
  return b->seen[x] == b->round;
}

/* Three words; two are those of a constant that is no number. */
static bool
add_leaf(pv_circuit *c, const pv_node *n, const uint32_t *words, pv_gate *g) {
  pv_wire wire = {{words[0]}, 0};
  if (n->n != 3)
    return false;
  wire.element = (int64_t)((uint64_t)words[2] << 32 | words[1]);
  g->kind = PV_GATE_LEAF;
  g->n = c->wires.len;
  c->bits += 8u * gs_dtype_table[n->dtype].bytes;
  bs_push(c->heap, &c->wires, wire);
  return true;
}

static void
add_operator(const pv_bare *b, pv_circuit *c, const pv_node *n,
             const uint32_t *words, pv_gate *g) {
  g->kind = PV_GATE_APPLY;
  g->op = (gs_compute)n->op;
  g->o = (bs_value){n->param};
  g->from = (gs_dtype)(words[0] & 255);
  g->tuple = words[0] >> 8;
  g->n = n->n - 1;
  g->at = c->args.len;
  for (uint32_t k = 1; k < n->n; k++) {
    assert(b->seen[words[k]] == b->round); /* operands stand first */
    bs_push(c->heap, &c->args, b->gate[words[k]]);
  }
}

/* A value whose operands are there. */
static bool
add_gate(pv_bare *b, pv_circuit *c, pv_value x) {
  const pv_node *n = pv_at(&b->values, x);
  const uint32_t *words = pv_words(&b->values, x);
  pv_gate g = {.kind = PV_GATE_NUMBER, .dtype = (gs_dtype)n->dtype};
  pv_number number;
  bool ok = true;
  if (n->kind == PV_LEAF)
    ok = add_leaf(c, n, words, &g);
  else if (n->kind == PV_APPLY)
    add_operator(b, c, n, words, &g);
  else if (pv_is_number(&b->values, x, &number))
    g.number = pv_number_real(number);
  else
    g.number = -INFINITY;
  c->integers &= gs_dtype_table[n->dtype].integer;
  b->gate[x] = c->gates.len;
  b->seen[x] = b->round;
  bs_push(c->heap, &c->gates, g);
  return ok && c->gates.len <= MOST_GATES && c->args.len <= 8 * MOST_GATES;
}

/* Puts the operands of x that are not there on the stack; false if none. */
static bool
push_operands(pv_bare *b, pv_value x) {
  const pv_node *n = pv_at(&b->values, x);
  const uint32_t *words = pv_words(&b->values, x);
  uint32_t before = b->stack.len;
  for (uint32_t k = n->n; n->kind == PV_APPLY && k-- > 1;)
    if (!is_done(b, words[k]))
      bs_push(b->values.heap, &b->stack, words[k]);
  return b->stack.len > before;
}

static bool
walk(pv_bare *b, pv_circuit *c, pv_value root) {
  bs_push(b->values.heap, &b->stack, root);
  while (b->stack.len) {
    pv_value x = b->stack.data[b->stack.len - 1];
    if (!is_done(b, x) && push_operands(b, x))
      continue;
    b->stack.len--;
    if (!is_done(b, x) && !add_gate(b, c, x))
      return false;
  }
  return true;
}

bool
pv_circuit_take(pv_bare *b, pv_value left, pv_value right, pv_circuit *c) {
  assert(left < b->values.nodes.len && right < b->values.nodes.len);
  if (!b->gate) {
    b->gate = bs_calloc(c->heap, b->values.nodes.len, sizeof *b->gate);
    b->seen = bs_calloc(c->heap, b->values.nodes.len, sizeof *b->seen);
  }
  c->gates.len = c->args.len = c->wires.len = c->bits = 0;
  c->integers = true;
  b->stack.len = 0;
  b->round++;
  if (!walk(b, c, left) || !walk(b, c, right))
    return false;
  c->left = b->gate[left];
  c->right = b->gate[right];
  return true;
}

static void
put(pv_circuit *c, const void *data, size_t bytes) {
  bs_reserve(c->heap, &c->text, (uint64_t)c->text.len + bytes);
  memcpy(c->text.data + c->text.len, data, bytes);
  c->text.len += (uint32_t)bytes;
}

/* Gates are put field by field: there are gaps between the fields. */
void
pv_circuit_write(pv_circuit *c) {
  c->text.len = 0;
  for (uint32_t k = 0; k < c->gates.len; k++) {
    const pv_gate *g = &c->gates.data[k];
    uint32_t words[7] = {g->kind, g->dtype, g->from, g->op,
                         g->o.i,  g->tuple, g->n};
    put(c, words, sizeof words);
    put(c, &g->number, sizeof g->number);
    if (g->kind == PV_GATE_APPLY)
      put(c, c->args.data + g->at, g->n * sizeof *c->args.data);
  }
  put(c, &c->left, sizeof c->left);
  put(c, &c->right, sizeof c->right);
}
