/* SPDX-License-Identifier: MIT */
/* agree.c - the check of a whole e-graph by interpretation.
 *
 * One program is made of the e-graph: a term for each class, built from the
 * first of its nodes that can be, and beside it each other node over the terms
 * of its children, two outputs a node.  One interpretation gives all values. */
#include "agree.h"
#include "glenside/interpret/interpret.h"
#include <math.h>
#include <string.h>

typedef struct checker {
  const gs_context *ctx;
  const eg_graph *g;
  gs_program *p;
  gs_term *terms;           /* by class id */
  BS_VEC(eg_class) classes; /* of outputs 2 k and 2 k + 1 */
} checker;

#define EACH_CLASS(g, c)                                                       \
  eg_class c = eg_first_class(g);                                              \
  c.i != UINT32_MAX;                                                           \
  c = eg_next_class(g, c)

/* --- terms ---------------------------------------------------------------- */

static gs_term
input_named(const checker *x, const char *name) {
  for (uint32_t k = 0; k < x->p->inputs.len; k++)
    if (!strcmp(x->p->inputs.data[k].name, name))
      return x->p->inputs.data[k].term;
  return GS_NO_TERM;
}

/* The node over the terms of its children; none while one of them has none. */
static gs_term
term_of(const checker *x, eg_node node) {
  gs_term kids[16];
  gs_fault fault;
  uint32_t n;
  const eg_class *ids = eg_kids(x->g, node, &n);
  bs_value attr = eg_attr(x->g, node);
  for (uint32_t k = 0; k < n; k++) {
    kids[k] = x->terms[eg_find(x->g, ids[k]).i];
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  }
  if (eg_op(x->g, node) == GS_TENSOR)
    return input_named(
        x, bs_as_sym(x->ctx->values, bs_item(x->ctx->values, attr, 0)));
  return gs_add(x->p, eg_op(x->g, node), attr, kids, n, BS_NOWHERE, &fault);
}

static void
give_terms(checker *x) {
  for (bool more = true; more;) {
    more = false;
    for (EACH_CLASS(x->g, c)) {
      uint32_t n;
      const eg_node *nodes = eg_class_nodes(x->g, c, &n);
      for (uint32_t k = 0; k < n && !gs_term_ok(x->terms[c.i]); k++) {
        x->terms[c.i] = term_of(x, nodes[k]);
        more |= gs_term_ok(x->terms[c.i]);
      }
    }
  }
}

static void
add_outputs(checker *x) {
  bs_arena *arena = x->ctx->arena;
  for (EACH_CLASS(x->g, c)) {
    uint32_t n;
    const eg_node *nodes = eg_class_nodes(x->g, c, &n);
    for (uint32_t k = 0; k < n; k++) {
      gs_term t = term_of(x, nodes[k]);
      if (!gs_term_ok(t) || (t.i == x->terms[c.i].i && n > 1))
        continue;
      gs_add_output(x->p, bs_arena_printf(arena, "a%u", x->classes.len),
                    x->terms[c.i], BS_NOWHERE);
      gs_add_output(x->p, bs_arena_printf(arena, "b%u", x->classes.len), t,
                    BS_NOWHERE);
      bs_push(x->ctx->heap, &x->classes, c);
    }
  }
}

/* --- values --------------------------------------------------------------- */

static double
greatest(const gs_tensor *t) {
  double most = 0;
  for (int64_t i = 0; i < t->elements; i++) {
    double v = fabs(gs_tensor_get(t, i));
    most = isfinite(v) && v > most ? v : most;
  }
  return most;
}

static bool
same_values(const gs_tensor *a, const gs_tensor *b) {
  gs_difference d;
  double rel = a->dtype == GS_BF16 ? 0.04 : 2e-4;
  return gs_tensor_compare(a, b, rel, rel * greatest(a) + 1e-30, &d);
}

static bool
is_constant(const gs_tensor *t, double x) {
  for (int64_t i = 0; i < t->elements; i++)
    if (fabs(gs_tensor_get(t, i) - x) > 1e-4 * (1 + fabs(x)))
      return false;
  return true;
}

/* Is it zero where dimension z[0] lies in [z[1], z[2])? */
static bool
is_zero(const gs_tensor *t, const int64_t *z) {
  int64_t inner = 1;
  for (uint32_t d = (uint32_t)z[0] + 1; d < t->rank; d++)
    inner *= t->dim[d];
  for (int64_t i = 0; i < t->elements; i++) {
    int64_t at = i / inner % t->dim[z[0]];
    if (at >= z[1] && at < z[2] && gs_tensor_get(t, i) != 0)
      return false;
  }
  return true;
}

static bool
facts_hold(const checker *x, eg_class c, const gs_tensor *t) {
  const rl_facts *f = rl_facts_of(x->g, c);
  bs_values *values = x->ctx->values;
  uint32_t n = f->zeros.i ? bs_len(values, f->zeros) : 0, len;
  bool ok = !f->constant.i || is_constant(t, bs_as_real(values, f->constant));
  for (uint32_t k = 0; k < n; k++) {
    int64_t z[3];
    ok = ok && bs_to_ints(values, bs_item(values, f->zeros, k), z, 3, &len) &&
         is_zero(t, z);
  }
  return ok;
}

static void
put_pair(const checker *x, uint32_t k, const char *what, bs_text *why) {
  bs_put(why, "  ");
  gs_print_term(x->p, x->p->outputs.data[2 * k].term, why);
  bs_putf(why, "\n%s ", what);
  gs_print_term(x->p, x->p->outputs.data[2 * k + 1].term, why);
}

static bool
compare(const checker *x, const gs_tensor *out, bs_text *why) {
  for (uint32_t k = 0; k < x->classes.len; k++) {
    if (!same_values(&out[2 * k], &out[2 * k + 1])) {
      put_pair(x, k, "!=", why);
      return false;
    }
    if (!facts_hold(x, x->classes.data[k], &out[2 * k])) {
      put_pair(x, k, "of which a wrong fact is believed,", why);
      return false;
    }
  }
  return true;
}

static bool
interpret(const checker *x, uint64_t seed, bs_text *why) {
  bs_heap *heap = x->ctx->heap;
  const gs_program *p = x->p;
  gs_tensor *in = bs_calloc(heap, p->inputs.len + 1u, sizeof *in);
  gs_tensor *out = bs_calloc(heap, p->outputs.len + 1u, sizeof *out);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type t;
    gs_type_at(p, p->inputs.data[k].term, &t);
    gs_tensor_init(heap, &in[k], &t);
    gs_tensor_fill(&in[k], seed, p->inputs.data[k].name);
  }
  bool ok = gs_interpret(p, in, out);
  if (!ok)
    bs_put(why, "the interpreter refused");
  return ok && compare(x, out, why);
}

bool
agree(const gs_context *ctx, const gs_program *original, const rl_run *run,
      uint64_t seed, bs_text *why) {
  checker x = {
      .ctx = ctx, .g = run->graph, .p = gs_program_new(ctx, original->target)};
  uint32_t n = 0;
  for (EACH_CLASS(x.g, c))
    n = c.i + 1;
  x.terms = bs_alloc(ctx->heap, (n + 1) * sizeof *x.terms);
  for (uint32_t k = 0; k <= n; k++)
    x.terms[k] = GS_NO_TERM;
  for (uint32_t k = 0; k < original->inputs.len; k++) {
    gs_type t;
    gs_type_at(original, original->inputs.data[k].term, &t);
    gs_add_tensor(x.p, original->inputs.data[k].name, &t, BS_NOWHERE);
  }
  give_terms(&x);
  add_outputs(&x);
  return interpret(&x, seed, why);
}
