/* SPDX-License-Identifier: MIT */
/* require.c - are the layers of a program mapped to instructions?
 *
 * A layer is a term that the program gives a name, with the terms below it down
 * to those of other layers.  It is mapped when calls do some of its work and
 * the host is left none that an instruction of the target could do.  What a
 * call of a layer above takes in is done by that call. */
#include "api/mapping.h"
#include "glenside/target/target.h"
#include <assert.h>

#include <string.h>

enum { MOST_RULES = 16, MOST_TOLD = 3, CALLED = 1, HOSTED = 2 };

typedef struct requirement {
  api_mapping m;
  const char *const *patterns;
  uint32_t n_patterns;
  uint8_t *named; /* by term of the input: a let */
  uint8_t *done;  /* by term of the input: CALLED, HOSTED */
  uint8_t *layer; /* by term: is in the layer that is looked at */
  bool ok;
} requirement;

/* ---- names ---- */

/* `*` is any text.  A mismatch is answered by what the last `*` stands for. */
static bool
fits(const char *pattern, const char *name) {
  const char *star = NULL, *from = name;
  while (*name) {
    if (*pattern == '*') {
      star = pattern++;
      from = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star + 1;
      name = ++from;
    } else
      return false;
  }
  while (*pattern == '*')
    pattern++;
  return !*pattern;
}

/* ---- what was done where ---- */

static bool
operator_of(const requirement *r, const gs_program *p, gs_term t,
            gs_compute *out) {
  const bs_values *values = r->m.ctx->gs.values;
  const gs_node *n = gs_at(p, t);
  return n->op == GS_COMPUTE &&
         gs_compute_of(values, bs_item(values, n->attr, 0), out);
}

static const char *
head_of(const requirement *r, uint32_t term) {
  bs_text text;
  bs_text_init(&text, &r->m.ctx->heap);
  api_mapping_put_head(&r->m, (gs_term){term}, &text);
  return api_string(r->m.ctx, &text);
}

/* By what was made of a term, or of the one that it became part of, whose own
 * work on the host is not its.  Sums of parts beside calls belong to these;
 * where there is no call they are the work. */
static uint8_t
done_in(const requirement *r, uint32_t top, uint32_t term) {
  const char *own = head_of(r, term);
  const char *above = top == term ? "" : head_of(r, top);
  uint8_t done = 0;
  bool other = false;
  for (uint32_t k = 0; k < r->m.shares.len; k++) {
    const api_share *s = &r->m.shares.data[k];
    if (s->owner != top)
      continue;
    if (s->call)
      done |= CALLED;
    else if (strcmp(s->head, above) != 0 && !strcmp(s->head, own))
      done |= HOSTED;
    else
      other |= strcmp(s->head, above) != 0;
  }
  return !done && other ? HOSTED : done;
}

/* Parents stand behind their children: what is not there any more became part
 * of the parent. */
static void
find_done(requirement *r) {
  const gs_program *p = r->m.from;
  bs_heap *heap = &r->m.ctx->heap;
  uint32_t *top = bs_alloc(heap, (p->nodes.len + (size_t)1) * sizeof *top);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    top[k] = r->m.present[k] ? k : UINT32_MAX;
  for (uint32_t k = 0; k < r->m.shares.len; k++)
    if (r->m.shares.data[k].owner < p->nodes.len)
      top[r->m.shares.data[k].owner] = r->m.shares.data[k].owner;
  for (uint32_t k = p->nodes.len; k-- > 0;) {
    const gs_node *n = &p->nodes.data[k];
    if (top[k] != UINT32_MAX && (n->op == GS_COMPUTE || n->op == GS_CALL))
      r->done[k] = done_in(r, top[k], k);
    for (uint32_t j = 0; j < n->n_kids; j++)
      if (top[n->kids[j].i] == UINT32_MAX)
        top[n->kids[j].i] = top[k];
  }
  bs_free(heap, top);
}

/* ---- layers ---- */

static void
mark_layer(requirement *r, gs_term top) {
  const gs_program *p = r->m.from;
  memset(r->layer, 0, p->nodes.len);
  r->layer[top.i] = 1;
  for (uint32_t k = top.i + 1; k-- > 0;)
    for (uint32_t j = 0; r->layer[k] && j < p->nodes.data[k].n_kids; j++)
      if (!r->named[p->nodes.data[k].kids[j].i])
        r->layer[p->nodes.data[k].kids[j].i] = 1;
}

static bool
computes(const requirement *r, const gs_instr *instr, gs_compute op) {
  const bs_values *values = r->m.ctx->gs.values;
  for (uint32_t k = 0; k < instr->semantics->n; k++) {
    const gs_sk_node *n = &instr->semantics->nodes[k];
    gs_compute found;
    if (n->hole || n->op != GS_COMPUTE || !n->n_attrs)
      continue;
    /* Behind the name may stand parameters. */
    const gs_expr *x = n->attrs[0];
    if (x->kind == GS_X_CALL && x->n_args)
      x = x->args[0];
    if (x->kind == GS_X_LITERAL && gs_compute_of(values, x->literal, &found) &&
        found == op)
      return true;
  }
  return false;
}

static bool
target_computes(const requirement *r, gs_compute op) {
  const gs_target *t = r->m.result->target;
  for (uint32_t k = 0; k < t->instrs.len; k++)
    if (computes(r, t->instrs.data[k], op))
      return true;
  return false;
}

/* ---- reasons ---- */

/* Classes that a term's forms are made of, down to other layers. */
static uint8_t *
classes_below(requirement *r, gs_term t) {
  const eg_graph *g = r->m.result->run.graph;
  bs_heap *heap = &r->m.ctx->heap;
  uint8_t *within = bs_calloc(heap, r->m.n_classes + (size_t)1, 1);
  BS_VEC(eg_class) todo = {0};
  bs_push(heap, &todo, r->m.from_class[t.i]);
  while (todo.len) {
    eg_class c = eg_find(g, bs_pop(&todo));
    uint32_t n, arity;
    gs_term at = r->m.of_class[c.i];
    if (within[c.i] || (gs_term_ok(at) && !r->layer[at.i]))
      continue;
    within[c.i] = 1;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t k = 0; k < n; k++) {
      const eg_class *kids = eg_kids(g, nodes[k], &arity);
      for (uint32_t j = 0; j < arity; j++)
        bs_push(heap, &todo, kids[j]);
    }
  }
  bs_vec_done(heap, &todo);
  return within;
}

static void
put_miss(const rl_near *near, bs_text *out) {
  if (near->expected)
    bs_putf(out, "needs %s, but there is %s", near->expected, near->found);
  for (uint32_t k = 0; k < near->n_needs; k++) {
    const rl_need *need = &near->needs[k];
    bs_putf(out, "%s %s, where %s", k ? ", and" : "needs", need->wanted,
            need->have);
    if (need->hint)
      bs_putf(out, " (%s)", need->hint);
  }
}

/* Of the rules that lead to an instruction, the one that came nearest. */
static bool
nearest_of(requirement *r, const gs_instr *instr, const uint8_t *within,
           rl_near *out) {
  const rl_rule *rules[MOST_RULES];
  const rl_run *run = &r->m.result->run;
  uint32_t n = rl_rules_for(run->rules, instr->name, rules, MOST_RULES);
  bool any = false;
  for (uint32_t k = 0; k < n; k++) {
    rl_nearness near;
    rl_nearest_within(&r->m.ctx->gs, run, rules[k], within, 1, &near);
    if (!near.n)
      continue;
    const rl_near *miss = &near.list[0];
    uint32_t left = miss->total - miss->matched;
    if (!any || left < out->total - out->matched ||
        (left == out->total - out->matched && miss->n_needs < out->n_needs))
      *out = *miss;
    any = true;
  }
  return any;
}

/* An instruction that fits costs more than what was chosen, or was found when a
 * limit came. */
static void
put_reason(requirement *r, const gs_instr *instr, const uint8_t *within,
           bs_text *out) {
  rl_near near;
  bs_putf(out, "%s%s ", out->len ? "; " : "", instr->name);
  if (!nearest_of(r, instr, within, &near))
    bs_put(out, "has no rule that matches a part of it");
  else if (near.applies)
    bs_put(out, "fits, but no cheaper program with it was found");
  else
    put_miss(&near, out);
}

static void
tell_reasons(requirement *r, gs_term t, gs_compute op) {
  const gs_target *target = r->m.result->target;
  uint8_t *within = classes_below(r, t);
  uint32_t told = 0;
  bs_text text;
  bs_text_init(&text, &r->m.ctx->heap);
  for (uint32_t k = 0; k < target->instrs.len && told < MOST_TOLD; k++)
    if (computes(r, target->instrs.data[k], op)) {
      put_reason(r, target->instrs.data[k], within, &text);
      told++;
    }
  if (told)
    bs_hint(&r->m.ctx->diags, "%s", bs_text_str(&text));
  else
    bs_hint(&r->m.ctx->diags, "no instruction of the target computes %s",
            gs_compute_table[op].name);
  bs_text_done(&text);
  bs_free(&r->m.ctx->heap, within);
}

static void
refuse(requirement *r, const char *name, gs_term t, gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  bs_error(&r->m.ctx->diags, gs_at(r->m.from, t)->span, "not-mapped",
           "%s is not mapped: %s %s", name, gs_compute_table[op].name,
           r->done[t.i] & CALLED ? "is left to the host in part"
                                 : "stays on the host");
  tell_reasons(r, t, op);
  r->ok = false;
}

/* Is there any work in it?  Where the target could do none of that, all that
 * the host does is told. */
static bool
check_layer(requirement *r, const gs_named *layer) {
  bool works = false, could = false;
  gs_compute op;
  mark_layer(r, layer->term);
  for (uint32_t k = 0; k <= layer->term.i; k++)
    if (r->layer[k] && operator_of(r, r->m.from, (gs_term){k}, &op)) {
      works = true;
      could |= (r->done[k] & CALLED) || target_computes(r, op);
    } else if (r->layer[k] && gs_at(r->m.from, (gs_term){k})->op == GS_CALL)
      works = could = true;
  for (uint32_t k = 0; k <= layer->term.i; k++)
    if (r->layer[k] && (r->done[k] & HOSTED) &&
        operator_of(r, r->m.from, (gs_term){k}, &op) &&
        (!could || target_computes(r, op)))
      refuse(r, layer->name, (gs_term){k}, op);
  return works;
}

static void
tell_layers(requirement *r, const char *pattern) {
  const gs_program *p = r->m.from;
  bs_text names;
  bs_text_init(&names, &r->m.ctx->heap);
  for (uint32_t k = 0; k < p->lets.len && names.len < 200; k++)
    bs_putf(&names, "%s%s", k ? ", " : "", p->lets.data[k].name);
  bs_error(&r->m.ctx->diags, BS_NOWHERE, "no-layer",
           "no layer that computes anything has a name like '%s'", pattern);
  bs_hint(&r->m.ctx->diags, "the names are: %s", bs_text_str(&names));
  bs_text_done(&names);
  r->ok = false;
}

static void
check_pattern(requirement *r, const char *pattern) {
  const gs_program *p = r->m.from;
  bool any = false;
  for (uint32_t k = 0; k < p->lets.len; k++)
    if (fits(pattern, p->lets.data[k].name))
      any |= check_layer(r, &p->lets.data[k]);
  if (!any)
    tell_layers(r, pattern);
}

bool
glen_map_require(glen_context *ctx, const glen_result *result,
                 const char *const *patterns, uint32_t n_patterns) {
  requirement r = {.m = {.ctx = ctx,
                         .result = result,
                         .from = result->input,
                         .to = result->program.program},
                   .patterns = patterns,
                   .n_patterns = n_patterns};
  API_ENTER(ctx, false);
  uint32_t n = r.m.from->nodes.len;
  api_mapping_find(&r.m);
  r.done = bs_calloc(&ctx->heap, n + (size_t)1, 1);
  r.layer = bs_calloc(&ctx->heap, n + (size_t)1, 1);
  r.named = bs_calloc(&ctx->heap, n + (size_t)1, 1);
  for (uint32_t k = 0; k < r.m.from->lets.len; k++)
    r.named[r.m.from->lets.data[k].term.i] = 1;
  find_done(&r);
  r.ok = true;
  for (uint32_t k = 0; k < n_patterns; k++)
    check_pattern(&r, patterns[k]);
  bs_free(&ctx->heap, r.named);
  bs_free(&ctx->heap, r.layer);
  bs_free(&ctx->heap, r.done);
  api_mapping_done(&r.m);
  return r.ok;
}
