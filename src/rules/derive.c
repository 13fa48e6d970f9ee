/* derive.c - the lowering rule of an instruction, from its declared meaning.
 *
 * The rule is written as text in the rule language and then read like any
 * other, so it can be shown, and there is one way to compile a rule.
 *
 * Left: the semantics.  An operand that stands there under a chain of
 * invertible views is matched as the whole chain; the chain carries the
 * declared shape up to what is matched, whose own shape binds the dimensions.
 * Right: the call, each operand under the inverse of its chain.  `access` is
 * put back only where a reshape needs it and at the end. */
#include "rules/internal.h"
#include <string.h>

/* The size of a dimension as text, and which variables it takes. */
typedef struct size {
  const char *text;
  const uint8_t *uses; /* by slot; NULL: none */
  int plain;           /* the slot when it is a variable alone, else -1 */
  const struct size *factors; /* of a product */
  uint32_t n_factors;
} size;

/* A shape on the way up a chain. */
typedef struct stage {
  uint32_t access, rank;
  size dim[GS_MAX_RANK];
} stage;

#define MAX_CHAIN 32 /* views above are matched as they are */

/* The views over an operand, from the operand up; stages[k] is the shape below
 * node[k], stages[n] that of what is matched. */
typedef struct chain {
  uint32_t n;
  uint32_t node[MAX_CHAIN];
  stage stages[MAX_CHAIN + 1];
} chain;

typedef struct conjunct {
  const char *text;
  const uint8_t *uses;
  int defines;       /* slot, or -1 */
  const size *whole; /* of a dimension: what it must be */
  const char *dim;   /* and the dimension */
  bool done;
} conjunct;

typedef struct deriver {
  rl_rules *rules;
  const gs_context *ctx;
  const gs_instr *instr;
  gs_scope scope; /* the instruction's, written with question marks */
  uint8_t *bound; /* by slot */
  uint32_t n_fresh;
  BS_VEC(conjunct) conjuncts;
  chain *chains; /* by operand */
} deriver;

/* --- texts ---------------------------------------------------------------- */

static const char *
finish(const deriver *d, bs_text *t) {
  const char *s = bs_arena_strdup(d->ctx->arena, bs_text_str(t));
  bs_text_done(t);
  return s;
}

static const char *
expr_text(const deriver *d, const gs_expr *e) {
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  gs_put_expr(&t, d->ctx->values, &d->scope, e);
  return finish(d, &t);
}

static void
note_use(void *uses, uint32_t slot, bs_span span) {
  (void)span;
  ((uint8_t *)uses)[slot] = 1;
}

static const uint8_t *
uses_of(const deriver *d, const gs_expr *e) {
  uint8_t *uses = BS_NEWS(d->ctx->arena, uint8_t, d->scope.vars.len + 1u);
  gs_expr_vars(e, note_use, uses);
  return uses;
}

static size
size_of(const deriver *d, const gs_expr *e) {
  size out = {.text = expr_text(d, e),
              .uses = uses_of(d, e),
              .plain = e->kind == GS_X_VAR ? (int)e->slot : -1};
  if (e->kind != GS_X_CALL || strcmp(gs_function_name(e->function), "*"))
    return out;
  size *factors = BS_NEWS(d->ctx->arena, size, e->n_args);
  for (uint32_t k = 0; k < e->n_args; k++)
    factors[k] = size_of(d, e->args[k]);
  out.factors = factors;
  out.n_factors = e->n_args;
  return out;
}

static size
size_literal(const deriver *d, int64_t x) {
  const char *text = bs_arena_printf(d->ctx->arena, "%lld", (long long)x);
  return (size){.text = text, .plain = -1};
}

static size
size_product(const deriver *d, const size *s, uint32_t n) {
  bs_text t;
  uint8_t *uses = BS_NEWS(d->ctx->arena, uint8_t, d->scope.vars.len + 1u);
  if (n == 1)
    return s[0];
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(*");
  for (uint32_t k = 0; k < n; k++) {
    bs_putf(&t, " %s", s[k].text);
    for (uint32_t v = 0; s[k].uses && v < d->scope.vars.len; v++)
      uses[v] |= s[k].uses[v];
  }
  bs_putc(&t, ')');
  return (size){.text = finish(d, &t),
                .uses = uses,
                .plain = -1,
                .factors = bs_arena_copy(d->ctx->arena, s, n * sizeof *s),
                .n_factors = n};
}

static void
add_conjunct(deriver *d, const char *text, const uint8_t *uses, int defines) {
  conjunct c = {.text = text, .uses = uses, .defines = defines};
  bs_push(d->ctx->heap, &d->conjuncts, c);
}

/* --- chains --------------------------------------------------------------- */

static bool
literal_int(const deriver *d, const gs_expr *e, int64_t *out) {
  if (!e || e->kind != GS_X_LITERAL ||
      bs_kind_of(d->ctx->values, e->literal) != BS_KIND_INT)
    return false;
  *out = bs_as_int(d->ctx->values, e->literal);
  return true;
}

/* The items of a list that is written out. */
static bool
written_list(const deriver *d, const gs_expr *e, size *out, uint32_t *n) {
  *n = 0;
  if (e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), "list")) {
    if (e->n_args > GS_MAX_RANK)
      return false;
    for (; *n < e->n_args; (*n)++)
      out[*n] = size_of(d, e->args[*n]);
    return true;
  }
  if (e->kind != GS_X_LITERAL)
    return false;
  int64_t items[GS_MAX_RANK];
  if (!bs_to_ints(d->ctx->values, e->literal, items, GS_MAX_RANK, n))
    return false;
  for (uint32_t k = 0; k < *n; k++)
    out[k] = size_literal(d, items[k]);
  return true;
}

static bool
up_transpose(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t p[GS_MAX_RANK];
  uint32_t len;
  if (n->attrs[0]->kind != GS_X_LITERAL ||
      !bs_to_ints(d->ctx->values, n->attrs[0]->literal, p, GS_MAX_RANK, &len) ||
      len != a->rank)
    return false;
  for (uint32_t k = 0; k < len; k++)
    if (p[k] < 0 || p[k] >= len)
      return false;
  for (uint32_t k = 0; k < len; k++)
    b->dim[k] = a->dim[p[k]];
  return true;
}

static bool
up_squeeze(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t at;
  if (!literal_int(d, n->attrs[0], &at) || at < 0 || at >= a->rank)
    return false;
  for (uint32_t k = (uint32_t)at; k + 1 < a->rank; k++)
    b->dim[k] = a->dim[k + 1];
  b->rank--;
  b->access -= at < a->access;
  return true;
}

static bool
up_insert_axis(const deriver *d, const gs_sk_node *n, const stage *a,
               stage *b) {
  int64_t at;
  if (!literal_int(d, n->attrs[0], &at) || at < 0 || at > a->rank ||
      a->rank >= GS_MAX_RANK)
    return false;
  for (uint32_t k = a->rank; k > at; k--)
    b->dim[k] = a->dim[k - 1];
  b->dim[at] = size_literal(d, 1);
  b->rank++;
  b->access += at <= a->access;
  return true;
}

static bool
up_access(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  int64_t at;
  if (!literal_int(d, n->attrs[0], &at) || at < 0 || at > a->rank)
    return false;
  b->access = (uint32_t)at;
  return true;
}

static bool
up_reshape(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  size c[GS_MAX_RANK];
  uint32_t s, m;
  (void)a;
  if (!written_list(d, n->attrs[0], b->dim, &s) ||
      !written_list(d, n->attrs[1], c, &m) || s + m > GS_MAX_RANK)
    return false;
  memcpy(b->dim + s, c, m * sizeof *c);
  b->access = s;
  b->rank = s + m;
  return true;
}

static bool
up_flatten(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  uint32_t items = a->rank - a->access;
  (void)n;
  b->access = a->access > 0;
  b->rank = b->access + (items > 0);
  if (a->access)
    b->dim[0] = size_product(d, a->dim, a->access);
  if (items)
    b->dim[b->access] = size_product(d, a->dim + a->access, items);
  return true;
}

static bool
up_same(const deriver *d, const gs_sk_node *n, const stage *a, stage *b) {
  (void)d;
  (void)n;
  (void)a;
  (void)b;
  return true;
}

/* The shape above a view whose inverse can be written; b starts as a copy of
 * a.  Operators without a function end a chain. */
static bool (*const up_table[GS_OP_COUNT])(const deriver *, const gs_sk_node *,
                                           const stage *a, stage *b) = {
    [GS_ACCESS] = up_access,    [GS_TRANSPOSE] = up_transpose,
    [GS_SQUEEZE] = up_squeeze,  [GS_INSERT_AXIS] = up_insert_axis,
    [GS_RESHAPE] = up_reshape,  [GS_FLATTEN] = up_flatten,
    [GS_MATERIALIZE] = up_same,
};

/* The node over `node`, or the end. */
static uint32_t
parent_of(const gs_skeleton *s, uint32_t node) {
  for (uint32_t k = node + 1; k < s->n; k++)
    for (uint32_t j = 0; !s->nodes[k].hole && j < s->nodes[k].n_kids; j++)
      if (s->nodes[k].kids[j] == node)
        return k;
  return s->n;
}

/* Climbs from a hole as far as views can be inverted; stops below `top`. */
static void
climb(const deriver *d, const gs_skeleton *s, uint32_t hole, uint32_t top,
      const gs_operand *o, chain *c) {
  c->n = 0;
  c->stages[0] = (stage){.access = o->access, .rank = o->rank};
  for (uint32_t k = 0; k < o->rank; k++)
    c->stages[0].dim[k] = size_of(d, o->dims[k]);
  for (uint32_t at = parent_of(s, hole); at < top && c->n < MAX_CHAIN;
       at = parent_of(s, at)) {
    const gs_sk_node *n = &s->nodes[at];
    const stage *below = &c->stages[c->n];
    stage *above = &c->stages[c->n + 1];
    *above = *below;
    if (!up_table[n->op] || !up_table[n->op](d, n, below, above))
      break;
    c->node[c->n++] = at;
  }
}

/* --- going back down ------------------------------------------------------ */

static const char *
list_text(const deriver *d, const size *s, uint32_t n) {
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(list");
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&t, " %s", s[k].text);
  bs_putc(&t, ')');
  return finish(d, &t);
}

static const char *
inverse_permutation(const deriver *d, const gs_sk_node *n) {
  int64_t p[GS_MAX_RANK], inverse[GS_MAX_RANK];
  uint32_t len;
  bs_text t;
  bs_to_ints(d->ctx->values, n->attrs[0]->literal, p, GS_MAX_RANK, &len);
  for (uint32_t k = 0; k < len; k++)
    inverse[p[k]] = k;
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(list");
  for (uint32_t k = 0; k < len; k++)
    bs_putf(&t, " %lld", (long long)inverse[k]);
  bs_putc(&t, ')');
  return finish(d, &t);
}

static const char *
with_access(const deriver *d, const char *term, uint32_t *have, uint32_t want) {
  if (*have == want)
    return term;
  *have = want;
  return bs_arena_printf(d->ctx->arena, "(access %s %u)", term, want);
}

/* Undoes one view: term has the shape `above`, its split is at *cut. */
static const char *
down(const deriver *d, const gs_sk_node *n, const stage *below,
     const stage *above, const char *term, uint32_t *cut) {
  bs_arena *arena = d->ctx->arena;
  int64_t at = 0;
  switch (n->op) {
  case GS_TRANSPOSE:
    return bs_arena_printf(arena, "(transpose %s %s)", term,
                           inverse_permutation(d, n));
  case GS_SQUEEZE:
    literal_int(d, n->attrs[0], &at);
    *cut += at <= *cut;
    return bs_arena_printf(arena, "(insertAxis %s %lld)", term, (long long)at);
  case GS_INSERT_AXIS:
    literal_int(d, n->attrs[0], &at);
    *cut -= at < *cut;
    return bs_arena_printf(arena, "(squeeze %s %lld)", term, (long long)at);
  case GS_RESHAPE:
  case GS_FLATTEN:
    term = with_access(d, term, cut, above->access);
    *cut = below->access;
    return bs_arena_printf(
        arena, "(reshape %s %s %s)", term,
        list_text(d, below->dim, below->access),
        list_text(d, below->dim + below->access, below->rank - below->access));
  default:
    return term;
  }
}

static const char *
invert(const deriver *d, const gs_skeleton *s, const chain *c,
       const char *term) {
  uint32_t cut = c->stages[c->n].access;
  for (uint32_t k = c->n; k-- > 0;)
    term = down(d, &s->nodes[c->node[k]], &c->stages[k], &c->stages[k + 1],
                term, &cut);
  return with_access(d, term, &cut, c->stages[0].access);
}

/* --- the left side -------------------------------------------------------- */

/* An attribute of a pattern: what is no literal and no variable becomes a
 * variable that is tested. */
static void
put_pattern_attr(deriver *d, bs_text *out, const gs_expr *e) {
  if (e->kind == GS_X_VAR)
    d->bound[e->slot] = 1;
  if (e->kind != GS_X_CALL) {
    bs_put(out, expr_text(d, e));
    return;
  }
  bool is_operator = e->sort == GS_SORT_OP;
  if (!strcmp(gs_function_name(e->function), "list")) {
    bs_put(out, is_operator ? "(" : "(list");
    for (uint32_t k = 0; k < e->n_args; k++) {
      if (k || !is_operator)
        bs_putc(out, ' ');
      put_pattern_attr(d, out, e->args[k]);
    }
    bs_putc(out, ')');
    return;
  }
  const char *name = bs_arena_printf(d->ctx->arena, "?=%u", ++d->n_fresh);
  bs_put(out, name);
  add_conjunct(
      d, bs_arena_printf(d->ctx->arena, "(= %s %s)", name, expr_text(d, e)),
      uses_of(d, e), -1);
}

static void
put_attrs(deriver *d, bs_text *out, const gs_sk_node *n) {
  for (uint32_t k = n->op == GS_CALL; k < n->n_attrs; k++) {
    if (!n->attrs[k])
      continue;
    bs_putc(out, ' ');
    put_pattern_attr(d, out, n->attrs[k]);
  }
}

static const char *
node_text(deriver *d, const gs_sk_node *n, const char *const *texts) {
  const gs_op_info *info = &gs_op_table[n->op];
  bool first = info->attrs_first;
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  bs_putf(&t, "(%s",
          n->op == GS_CALL ? bs_as_sym(d->ctx->values, n->attrs[0]->literal)
                           : info->name);
  if (first)
    put_attrs(d, &t, n);
  for (uint32_t k = 0; k < n->n_kids; k++)
    bs_putf(&t, " %s", texts[n->kids[k]]);
  if (!first)
    put_attrs(d, &t, n);
  bs_putc(&t, ')');
  return finish(d, &t);
}

static const gs_operand *
operand_of(const deriver *d, uint32_t slot) {
  for (uint32_t k = 0; k < d->instr->n_operands; k++)
    if (d->instr->operands[k].slot == slot)
      return &d->instr->operands[k];
  return NULL;
}

static const char *
left_text(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  const char **texts = BS_NEWS(d->ctx->arena, const char *, s->n);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    if (!n->hole) {
      texts[k] = texts[k] ? texts[k] : node_text(d, n, texts);
      continue;
    }
    const gs_operand *o = operand_of(d, n->slot);
    const chain *c = &d->chains[o - d->instr->operands];
    texts[k] = bs_arena_printf(d->ctx->arena, "?%s", o->name);
    for (uint32_t up = k, j = 0; j < c->n; j++) {
      up = parent_of(s, up);
      texts[up] = texts[k];
    }
  }
  return texts[s->n - 1];
}

/* An operand that stands there twice is matched under its views when they are
 * the same both times, else as itself. */
static bool
same_views(const deriver *d, const chain *a, const chain *b) {
  const gs_skeleton *s = d->instr->semantics;
  if (a->n != b->n)
    return false;
  for (uint32_t k = 0; k < a->n; k++) {
    const gs_sk_node *x = &s->nodes[a->node[k]], *y = &s->nodes[b->node[k]];
    if (x->op != y->op || x->n_attrs != y->n_attrs)
      return false;
    for (uint32_t j = 0; j < x->n_attrs; j++)
      if (strcmp(expr_text(d, x->attrs[j]), expr_text(d, y->attrs[j])))
        return false;
  }
  return true;
}

static void
find_chains(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  uint32_t n = d->instr->n_operands;
  uint8_t *seen = BS_NEWS(d->ctx->arena, uint8_t, n + 1u);
  chain *again = BS_NEW(d->ctx->arena, chain);
  d->chains = BS_NEWS(d->ctx->arena, chain, n + 1u);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_operand *o =
        s->nodes[k].hole ? operand_of(d, s->nodes[k].slot) : NULL;
    if (!o)
      continue;
    uint32_t index = (uint32_t)(o - d->instr->operands);
    chain *c = &d->chains[index];
    climb(d, s, k, s->n - 1, o, seen[index] ? again : c);
    if (seen[index] && !same_views(d, c, again))
      c->n = 0;
    seen[index] = 1;
  }
}

/* --- the condition -------------------------------------------------------- */

static void
bind_operand(deriver *d, const gs_operand *o, const chain *c) {
  const stage *top = &c->stages[c->n];
  bs_arena *arena = d->ctx->arena;
  add_conjunct(d,
               bs_arena_printf(arena,
                               "(= (access-rank ?%s) %u) (= (rank ?%s) %u) "
                               "(= (dtype ?%s) %s)",
                               o->name, top->access, o->name, top->rank,
                               o->name, gs_dtype_table[o->dtype].name),
               NULL, -1);
  for (uint32_t k = 0; k < top->rank; k++) {
    const size *x = &top->dim[k];
    const char *dim = bs_arena_printf(arena, "(dim ?%s %u)", o->name, k);
    add_conjunct(d, bs_arena_printf(arena, "(= %s %s)", x->text, dim),
                 x->plain < 0 ? x->uses : NULL, x->plain);
    bs_last(&d->conjuncts).whole = x;
    bs_last(&d->conjuncts).dim = dim;
  }
}

static void
add_where(deriver *d, const gs_expr *e) {
  if (e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), "and"))
    for (uint32_t k = 0; k < e->n_args; k++)
      add_where(d, e->args[k]);
  else
    add_conjunct(d, expr_text(d, e), uses_of(d, e), -1);
}

static bool
are_bound(const deriver *d, const uint8_t *uses) {
  for (uint32_t k = 0; uses && k < d->scope.vars.len; k++)
    if (uses[k] && !d->bound[k])
      return false;
  return true;
}

static void
put_conjunct(deriver *d, conjunct *c, bs_text *out) {
  bs_putf(out, "\n    %s", c->text);
  c->done = true;
  if (c->defines >= 0)
    d->bound[c->defines] = 1;
}

/* The one factor that is not known, a variable; NULL when it is not so. */
static const size *
unknown_factor(const deriver *d, const size *s) {
  const size *unknown = NULL;
  for (uint32_t k = 0; k < s->n_factors; k++) {
    const size *f = &s->factors[k];
    if (are_bound(d, f->uses))
      continue;
    if (unknown || f->plain < 0)
      return NULL;
    unknown = f;
  }
  return unknown;
}

/* A product with one unknown factor tells it; that it divides is then tested
 * by the conjunct itself. */
static bool
solve(deriver *d, const conjunct *c, bs_text *out) {
  const size *f = c->whole && !c->done ? unknown_factor(d, c->whole) : NULL;
  if (!f)
    return false;
  bs_putf(out, "\n    (= %s (/ %s (*", f->text, c->dim);
  for (uint32_t k = 0; k < c->whole->n_factors; k++)
    if (&c->whole->factors[k] != f)
      bs_putf(out, " %s", c->whole->factors[k].text);
  bs_put(out, " 1)))");
  d->bound[f->plain] = 1;
  return true;
}

static bool
put_ready(deriver *d, bs_text *out) {
  bool more = false;
  for (uint32_t k = 0; k < d->conjuncts.len; k++) {
    conjunct *c = &d->conjuncts.data[k];
    if (c->done || !are_bound(d, c->uses))
      continue;
    put_conjunct(d, c, out);
    more = true;
  }
  for (uint32_t k = 0; k < d->conjuncts.len && !more; k++)
    more = solve(d, &d->conjuncts.data[k], out);
  return more;
}

/* Conjuncts in an order in which each variable is defined before it is used;
 * what cannot be put in order comes last and is reported as unbound. */
static void
put_conjuncts(deriver *d, bs_text *out) {
  while (put_ready(d, out))
    continue;
  for (uint32_t k = 0; k < d->conjuncts.len; k++)
    if (!d->conjuncts.data[k].done)
      bs_putf(out, "\n    %s", d->conjuncts.data[k].text);
}

/* --- the right side ------------------------------------------------------- */

/* The views of a layout, applied to a term. */
static const char *
apply_layout(deriver *d, const gs_skeleton *s, const char *term) {
  const char **texts = BS_NEWS(d->ctx->arena, const char *, s->n);
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_sk_node *n = &s->nodes[k];
    bs_text t;
    if (n->hole) {
      texts[k] = term;
      continue;
    }
    bs_text_init(&t, d->ctx->heap);
    bs_putf(&t, "(%s", gs_op_table[n->op].name);
    for (uint32_t j = 0; j < n->n_kids; j++)
      bs_putf(&t, " %s", texts[n->kids[j]]);
    for (uint32_t j = 0; j < n->n_attrs; j++)
      if (n->attrs[j])
        bs_putf(&t, " %s", expr_text(d, n->attrs[j]));
    bs_putc(&t, ')');
    texts[k] = finish(d, &t);
  }
  return texts[s->n - 1];
}

/* The operand in its layout: the layout's views, materialized, and undone, so
 * that the call sees the declared shape.  NULL when they cannot be undone. */
static const char *
lay_out(deriver *d, const gs_operand *o, const char *term) {
  const gs_skeleton *s = o->layout;
  uint32_t hole = 0;
  chain *c = BS_NEW(d->ctx->arena, chain);
  while (hole < s->n && !s->nodes[hole].hole)
    hole++;
  climb(d, s, hole, s->n, o, c);
  if (hole == s->n || c->n != s->n - 1) {
    bs_error(d->ctx->diags, o->span, "bad-layout",
             "the layout of '%s' has no inverse", o->name);
    bs_hint(d->ctx->diags,
            "a layout is made of transpose, access, reshape, flatten, squeeze "
            "and insertAxis");
    return NULL;
  }
  const char *view = apply_layout(d, s, term);
  return invert(d, s, c,
                bs_arena_printf(d->ctx->arena, "(materialize %s)", view));
}

static bool
put_right(deriver *d, bs_text *out) {
  const gs_instr *instr = d->instr;
  bool ok = true;
  bs_putf(out, "(%s", instr->name);
  for (uint32_t k = 0; k < instr->n_params; k++)
    bs_putf(out, " ?%s", instr->scope.vars.data[k].name);
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    const gs_operand *o = &instr->operands[k];
    const char *term = bs_arena_printf(d->ctx->arena, "?%s", o->name);
    term = invert(d, instr->semantics, &d->chains[k], term);
    if (o->layout)
      term = lay_out(d, o, term);
    ok &= term != NULL;
    bs_putf(out, " %s", term ? term : "");
  }
  bs_putc(out, ')');
  return ok;
}

/* --- the rule ------------------------------------------------------------- */

static bool
put_rule(deriver *d, bs_text *out) {
  const gs_instr *instr = d->instr;
  const char *left = left_text(d);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    bind_operand(d, &instr->operands[k], &d->chains[k]);
  if (instr->where)
    add_where(d, instr->where);
  bs_putf(out, "(rule %s :kind lowering\n  ", instr->name);
  bs_put_json_string(out, instr->intent && instr->intent[0]
                              ? instr->intent
                              : "What the instruction means.");
  bs_putf(out, "\n  %s\n  => ", left);
  bool ok = put_right(d, out);
  bs_put(out, "\n  :where (and");
  put_conjuncts(d, out);
  bs_put(out, "))\n");
  return ok;
}

/* Does the rule bind all that it takes? */
static bool
all_done(const deriver *d) {
  for (uint32_t k = 0; k < d->conjuncts.len; k++)
    if (!d->conjuncts.data[k].done)
      return false;
  for (uint32_t k = 0; k < d->instr->n_params; k++)
    if (!d->bound[k])
      return false;
  return true;
}

/* Dimensions that a view has joined cannot be told apart above it: chains over
 * them are cut below that view, which is then matched as it stands. */
static void
cut_chains(deriver *d) {
  const gs_skeleton *s = d->instr->semantics;
  for (uint32_t k = 0; k < d->instr->n_operands; k++) {
    chain *c = &d->chains[k];
    bool bound = true;
    for (uint32_t j = 0; j < c->stages[0].rank; j++)
      bound &= are_bound(d, c->stages[0].dim[j].uses);
    for (uint32_t j = 0; !bound && j < c->n; j++)
      if (s->nodes[c->node[j]].op == GS_RESHAPE ||
          s->nodes[c->node[j]].op == GS_FLATTEN)
        c->n = j;
  }
}

static void
forget(deriver *d) {
  memset(d->bound, 0, d->scope.vars.len);
  bs_clear(&d->conjuncts);
  d->n_fresh = 0;
}

/* First with all chains, then with those that can be gone back. */
static bool
put_best_rule(deriver *d, bs_text *out) {
  find_chains(d);
  bool ok = put_rule(d, out);
  if (!ok || all_done(d))
    return ok;
  cut_chains(d);
  forget(d);
  bs_text_clear(out);
  return put_rule(d, out);
}

/* Reads the text as a file of its own. */
static bool
read_rule(deriver *d, const char *text) {
  rl_rules *rules = d->rules;
  const gs_context *ctx = d->ctx;
  const char *path =
      bs_arena_printf(ctx->arena, "<the rule of %s>", d->instr->name);
  rl_file f = {.path = path};
  f.source = bs_source_add(ctx->diags, path, text, strlen(text));
  if (!f.source ||
      !bs_sexp_read(ctx->heap, ctx->values, ctx->diags, f.source, &f.sx))
    return false;
  bs_push(ctx->heap, &rules->files, f);
  uint32_t node = f.sx.roots.data[0];
  rl_form form = {.name = d->instr->name,
                  .span = d->instr->span,
                  .file = rules->files.len - 1,
                  .node = node};
  bool ok = rl_parse_rule(rules, &form);
  if (!ok)
    bs_note(ctx->diags, d->instr->span,
            "this is in the rule derived from the instruction '%s'",
            d->instr->name);
  return ok;
}

static bool
derive(rl_rules *rules, const gs_instr *instr) {
  const gs_context *ctx = &rules->ctx;
  deriver d = {.rules = rules, .ctx = ctx, .instr = instr};
  bs_text text;
  d.scope = instr->scope;
  d.scope.question_marks = true;
  d.bound = BS_NEWS(ctx->arena, uint8_t, instr->scope.vars.len + 1u);
  bs_text_init(&text, ctx->heap);
  bool ok = put_best_rule(&d, &text) && read_rule(&d, bs_text_str(&text));
  bs_text_done(&text);
  bs_vec_done(ctx->heap, &d.conjuncts);
  return ok;
}

bool
rl_derive_rules(rl_rules *rules) {
  const gs_target *t = rules->target;
  bool ok = true;
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    ok &= derive(rules, t->instrs.data[k]);
  return ok;
}
