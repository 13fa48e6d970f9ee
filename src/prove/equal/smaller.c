/* SPDX-License-Identifier: MIT */
/* smaller.c - the left side of a rule application over smaller arrays.
 *
 * Fresh tensors stand for the variables of the rule; their sizes and the sizes
 * in attributes become small, each the same wherever it stands.  A smaller
 * size may break what related the sizes, so nothing is believed of the term
 * that comes out: the rule itself is applied to it, with its pattern and
 * condition, and what it gives is compared by runs.  So a difference is one
 * that the rule makes, on a term of the form that it was applied to. */
#include "prove/equal/smaller.h"
#include "rules/rule/rule_apply.h"
#include <assert.h>
#include <string.h>

enum { MOST_SIZES = 64, MOST_TERMS = 4096 };
enum { NOT_MET, VARIABLE, MET, MET_VARIABLE };

/* How sizes above a limit are made small. */
typedef struct way {
  bool divide; /* by one factor; else in their order: limit, limit + 1, ... */
  int64_t limit;
} way;

typedef struct shrinking {
  const gs_context *ctx;
  const rl_rules *rules;
  const gs_program *p;
  const rl_lemma *l;
  const pv_options *options;
  BS_VEC(uint32_t) body; /* terms from the root down to the variables */
  uint8_t *met;          /* by term */
  gs_term *to;
  int64_t sizes[MOST_SIZES]; /* that occur, in order */
  uint32_t n_sizes;
  way way;
  gs_program *small;
  pv_answer *out;
  bool refuted;
} shrinking;

/* ---- sizes ---- */

static void
note_size(shrinking *s, int64_t n) {
  uint32_t k = 0;
  while (k < s->n_sizes && s->sizes[k] < n)
    k++;
  if ((k < s->n_sizes && s->sizes[k] == n) || s->n_sizes == MOST_SIZES)
    return;
  memmove(s->sizes + k + 1, s->sizes + k, (s->n_sizes - k) * sizeof *s->sizes);
  s->sizes[k] = n;
  s->n_sizes++;
}

static int64_t
smaller(const shrinking *s, int64_t n) {
  int64_t most = s->n_sizes ? s->sizes[s->n_sizes - 1] : 0, out = s->way.limit;
  if (n <= s->way.limit)
    return n;
  if (s->way.divide) {
    int64_t factor = (most + s->way.limit - 1) / s->way.limit;
    return n / factor < 2 ? 2 : n / factor;
  }
  for (uint32_t k = 0; k < s->n_sizes && s->sizes[k] < n; k++)
    out += s->sizes[k] > s->way.limit;
  return out;
}

static bs_value
shrunk_item(shrinking *s, bs_value v, bool note) {
  bs_values *values = s->ctx->values;
  int64_t few[GS_MAX_RANK];
  uint32_t n;
  if (bs_kind_of(values, v) == BS_KIND_INT) {
    if (note)
      note_size(s, bs_as_int(values, v));
    return bs_int(values, smaller(s, bs_as_int(values, v)));
  }
  if (bs_kind_of(values, v) != BS_KIND_LIST ||
      !bs_to_ints(values, v, few, GS_MAX_RANK, &n))
    return v;
  for (uint32_t k = 0; k < n; k++) {
    if (note)
      note_size(s, few[k]);
    few[k] = smaller(s, few[k]);
  }
  return bs_ints(values, few, n);
}

/* Parameters of compute operators are no sizes. */
static bs_value
shrunk_attr(shrinking *s, const gs_node *n, bool note) {
  bs_values *values = s->ctx->values;
  uint32_t len = bs_len(values, n->attr);
  if (n->op == GS_COMPUTE || !len)
    return n->attr;
  bs_value *items = bs_alloc(s->ctx->heap, len * sizeof *items);
  for (uint32_t k = 0; k < len; k++)
    items[k] = shrunk_item(s, bs_item(values, n->attr, k), note);
  bs_value out = bs_list(values, items, len);
  bs_free(s->ctx->heap, items);
  return out;
}

/* ---- the term ---- */

static void
meet(shrinking *s, gs_term t) {
  if (s->met[t.i] == MET || s->met[t.i] == MET_VARIABLE)
    return;
  s->met[t.i] = s->met[t.i] == VARIABLE ? MET_VARIABLE : MET;
  bs_push(s->ctx->heap, &s->body, t.i);
}

/* Parents come before children as they are met; each is kept once. */
static bool
collect(shrinking *s) {
  for (uint32_t k = 0; k < s->l->n_slots; k++)
    if (s->l->is_term[k] && s->l->slots[k] < s->p->nodes.len)
      s->met[s->l->slots[k]] = VARIABLE;
  meet(s, s->l->root);
  for (uint32_t k = 0; k < s->body.len; k++) {
    uint32_t t = s->body.data[k];
    const gs_node *n = &s->p->nodes.data[t];
    gs_type type;
    gs_type_at(s->p, (gs_term){t}, &type);
    for (uint32_t d = 0; s->met[t] == MET_VARIABLE && d < type.rank; d++)
      note_size(s, type.dim[d]);
    if (s->met[t] == MET_VARIABLE)
      continue;
    if (n->op == GS_TENSOR || n->op == GS_CONST || s->body.len > MOST_TERMS)
      return false;
    shrunk_attr(s, n, true);
    for (uint32_t j = 0; j < n->n_kids; j++)
      meet(s, n->kids[j]);
  }
  return true;
}

static gs_term
fresh(shrinking *s, uint32_t t) {
  gs_type type, flat;
  gs_fault fault;
  gs_type_at(s->p, (gs_term){t}, &type);
  for (uint32_t d = 0; d < type.rank; d++)
    type.dim[d] = smaller(s, type.dim[d]);
  const char *name = bs_arena_printf(s->ctx->arena, "t%u", t);
  gs_term out = gs_add_tensor(s->small, name, &type, BS_NOWHERE);
  gs_type_at(s->small, out, &flat);
  if (gs_type_equal(&flat, &type))
    return out;
  bs_value split = bs_int(s->ctx->values, type.access);
  return gs_add(s->small, GS_ACCESS, bs_list(s->ctx->values, &split, 1), &out,
                1, BS_NOWHERE, &fault);
}

static gs_term
build_one(shrinking *s, uint32_t t) {
  assert(t < s->p->nodes.len);
  const gs_node *n = &s->p->nodes.data[t];
  gs_fault fault;
  if (s->met[t] == MET_VARIABLE)
    return fresh(s, t);
  gs_term *kids =
      bs_alloc(s->ctx->heap, (n->n_kids + (size_t)1) * sizeof *kids);
  bool ok = true;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    kids[k] = s->to[n->kids[k].i];
    ok &= gs_term_ok(kids[k]);
  }
  gs_term out = ok ? gs_add(s->small, n->op, shrunk_attr(s, n, false), kids,
                            n->n_kids, BS_NOWHERE, &fault)
                   : GS_NO_TERM;
  bs_free(s->ctx->heap, kids);
  return out;
}

/* Children have smaller numbers than their parents. */
static gs_term
build(shrinking *s) {
  s->small = gs_program_new(s->ctx, s->p->target);
  for (uint32_t t = 0; t <= s->l->root.i; t++)
    if (s->met[t] == MET || s->met[t] == MET_VARIABLE)
      s->to[t] = build_one(s, t);
  return s->to[s->l->root.i];
}

/* ---- the rule ---- */

static bool
compare(void *ctx, const rl_equation *e, uint32_t n, const uint32_t *slots) {
  shrinking *s = ctx;
  pv_options runs = *s->options;
  pv_answer answer;
  (void)slots;
  runs.max_elements = 0;
  runs.max_operations = 0;
  if (s->l->result >= n || !gs_term_ok(e[s->l->result].right))
    return true;
  pv_equal_terms(s->ctx, s->small, e[s->l->result].left, e[s->l->result].right,
                 &runs, &answer);
  s->refuted = answer.verdict == PV_REFUTED && answer.method == PV_BY_RUNNING;
  if (s->refuted)
    *s->out = answer;
  return !s->refuted;
}

static void
say_where(shrinking *s, gs_term left) {
  bs_text text;
  bs_text_init(&text, s->ctx->heap);
  gs_print_term(s->small, left, &text);
  s->out->reason =
      bs_arena_printf(s->ctx->arena, "at a smaller size, of %.200s: %s",
                      bs_text_str(&text), s->out->reason);
  bs_text_done(&text);
}

static void
try_way(shrinking *s, way w) {
  s->way = w;
  gs_term left = build(s);
  if (!gs_term_ok(left))
    return;
  rl_each_application(s->ctx, s->rules, s->l->rule, s->small, left, compare, s);
  if (s->refuted)
    say_where(s, left);
}

bool
pv_refuted_smaller(const gs_context *ctx, const rl_rules *rules,
                   const gs_program *p, const rl_lemma *l,
                   const pv_options *options, pv_answer *out) {
  static const way ways[] = {{true, 8},  {false, 3}, {true, 4},
                             {false, 6}, {true, 16}, {false, 12}};
  shrinking s = {.ctx = ctx,
                 .rules = rules,
                 .p = p,
                 .l = l,
                 .options = options,
                 .out = out};
  size_t n = p->nodes.len + (size_t)1;
  s.met = bs_calloc(ctx->heap, n, 1);
  s.to = bs_calloc(ctx->heap, n, sizeof *s.to);
  bool ok = l->rule && gs_term_ok(l->root) && collect(&s);
  for (size_t k = 0; ok && !s.refuted && k < sizeof ways / sizeof *ways; k++)
    try_way(&s, ways[k]);
  bs_free(ctx->heap, s.met);
  bs_free(ctx->heap, s.to);
  bs_vec_done(ctx->heap, &s.body);
  return s.refuted;
}
