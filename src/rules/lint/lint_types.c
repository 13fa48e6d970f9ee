/* SPDX-License-Identifier: MIT */
/* lint_types.c - do right sides have a type, and that of the left?
 *
 * Types alone are made: a hole gets a small type at random, an attribute that
 * the pattern leaves open a likely value; the left side is typed, the condition
 * asked, the right sides typed.  Where nothing applied so, left sides are grown
 * so that their parts fit.  When a test wants a variable to equal an
 * expression the attempt is made once more with that value.  Of the attempts
 * that show a fault the one with the smallest shapes is told.  Facts about
 * values are taken as the condition wants them: all zeros, or nothing known.
 *
 * The attempts are the same in each run. */
#include "glenside/expr/expr_functions.h"
#include "rules/lint/lint_internal.h"
#include "rules/test/test_sample.h"
#include <string.h>

enum {
  ATTEMPTS = 120,    /* at one direction under one variant */
  GROWN = 60,        /* further ones, when nothing has applied */
  ENOUGH = 10,       /* applications that are well-typed */
  AFTER_FAULT = 30,  /* attempts at a smaller one */
  REPAIRS = 3,       /* attempts with a value that a test wants */
  ALTERNATIVES = 16, /* of one match that are looked at */
  LEFT_SIDES = 4000, /* of a rule whose left side had no type yet */
  GROWN_SIDES = 300, /* of these, before the others */
  NO_SHAPES = 1000,  /* rules of no shape that are looked for: so many remarks
                        are more than anybody reads */
  OPERATORS = 100,   /* until it is the one that is wanted */
  MAX_NODES = 256    /* of a side */
};

typedef struct fault_found {
  bool found, no_type;
  uint64_t weight;
  bs_span span;
  const char *bindings, *what;
} fault_found;

typedef struct trial {
  const rl_linter *l;
  const rl_rules *rules;
  const rl_compiled *rule;
  bs_values *values;
  rl_sample sample;
  rl_named_sizes named;
  rl_grown grown;
  bool grows;      /* left sides are grown */
  bool zeros;      /* everything is zero */
  uint32_t *slots; /* a class is its own slot; UINT32_MAX: free */
  gs_type *types;  /* by slot */
  bs_value *wanted;
  rl_steps steps; /* of the condition */
  gs_type made[MAX_NODES];
  uint32_t applied, typed; /* the latter: left sides */
  uint32_t no_shapes;      /* rules whose left side had no type */
  fault_found fault;
} trial;

/* --- types at random ------------------------------------------------------ */

/* A size that the rule names, one more, or what lies between two of them. */
static int64_t
near_named(trial *t) {
  const rl_named_sizes *named = &t->named;
  int64_t a = named->size[rl_random_below(&t->sample, named->n)];
  int64_t b = named->size[rl_random_below(&t->sample, named->n)];
  uint32_t way = (uint32_t)rl_random_below(&t->sample, 4);
  if (way == 0 && a > b)
    return a - b;
  return way == 1 && a < INT64_MAX ? a + 1 : a;
}

static int64_t
random_size(trial *t) {
  static const int64_t sizes[] = {1, 1, 2, 2, 2, 3, 3, 4, 6};
  if (t->named.n && rl_chance(&t->sample, 40))
    return near_named(t);
  return sizes[rl_random_below(&t->sample, sizeof sizes / sizeof *sizes)];
}

static gs_dtype
random_dtype(trial *t) {
  static const gs_dtype dtypes[] = {GS_F32, GS_F32, GS_F32, GS_F32,
                                    GS_I32, GS_F64, GS_I8,  GS_BF16};
  return dtypes[rl_random_below(&t->sample, sizeof dtypes / sizeof *dtypes)];
}

static void
random_type(trial *t, gs_type *out) {
  *out = (gs_type){.dtype = random_dtype(t)};
  out->access = (uint8_t)rl_random_below(&t->sample, 3);
  out->rank = (uint8_t)(out->access + rl_random_below(&t->sample, 4));
  for (uint32_t d = 0; d < out->rank; d++)
    out->dim[d] = random_size(t);
}

/* Keeps the access shape and takes the items of another type. */
static void
take_items(gs_type *to, const gs_type *from) {
  uint32_t n = (uint32_t)from->rank - from->access;
  memmove(to->dim + to->access, from->dim + from->access, n * sizeof *to->dim);
  to->rank = (uint8_t)(to->access + n);
}

static void
hole_type(trial *t, gs_type *out) {
  rl_sample *s = &t->sample;
  random_type(t, out);
  if (s->types.len && rl_chance(s, 75)) {
    const gs_type *like = &s->types.data[rl_random_below(s, s->types.len)];
    uint32_t how = (uint32_t)rl_random_below(s, 100);
    if (how < 30)
      take_items(out, like);
    else
      *out = *like;
    if (how >= 80 && out->rank) {
      int64_t d = rl_random_below(s, out->rank);
      out->dim[d] = random_size(t);
    }
    out->dtype = rl_chance(s, 95) ? like->dtype : random_dtype(t);
  }
  bs_push(s->ctx->heap, &s->types, *out);
}

/* --- the left side -------------------------------------------------------- */

/* What a pattern takes of a proposal; BS_NIL when it cannot. */
static bs_value
resolve(trial *t, const eg_attr_pattern *a, bs_value proposed) {
  bs_value items[GS_MAX_NESTING];
  switch (a->kind) {
  case EG_ATTR_VALUE:
    return a->value;
  case EG_ATTR_SLOT:
    if (t->slots[a->slot] == UINT32_MAX)
      t->slots[a->slot] =
          t->wanted[a->slot].i ? t->wanted[a->slot].i : proposed.i;
    return (bs_value){t->slots[a->slot]};
  case EG_ATTR_LIST:
    if (a->n > GS_MAX_NESTING)
      return BS_NIL;
    for (uint32_t k = 0; k < a->n; k++) {
      items[k] = resolve(t, &a->items[k], bs_item(t->values, proposed, k));
      if (!items[k].i)
        return BS_NIL;
    }
    return bs_list(t->values, items, a->n);
  case EG_ATTR_ANY:
  default:
    return proposed;
  }
}

static bs_value
leaf_attr(trial *t) {
  gs_type type;
  random_type(t, &type);
  bs_value items[] = {bs_sym(t->values, "t"),
                      bs_ints(t->values, type.dim, type.rank),
                      bs_sym(t->values, gs_dtype_table[type.dtype].name)};
  return bs_list(t->values, items, 3);
}

/* Of an instruction: its name is in the pattern, the rest are sizes. */
static bs_value
call_attr(trial *t, const eg_attr_pattern *a) {
  bs_value items[GS_MAX_NESTING];
  uint32_t n = a->kind == EG_ATTR_LIST ? a->n : 0;
  for (uint32_t k = 0; k < n && k < GS_MAX_NESTING; k++)
    items[k] = bs_int(t->values, random_size(t));
  return n <= GS_MAX_NESTING ? bs_list(t->values, items, n) : BS_NIL;
}

/* The operator that a pattern with parameters wants; BS_NIL: any. */
static bs_value
wanted_operator(const eg_attr_pattern *a) {
  const eg_attr_pattern *op =
      a->kind == EG_ATTR_LIST && a->n == 1 ? &a->items[0] : a;
  bool named = op->kind == EG_ATTR_LIST && op->n > 0 &&
               op->items[0].kind == EG_ATTR_VALUE;
  return named ? op->items[0].value : BS_NIL;
}

/* Operators with parameters are many: one at random is seldom the one. */
static bs_value
compute_attr(trial *t, const eg_attr_pattern *a, const gs_type *const *kids) {
  bs_value op = wanted_operator(a), v = BS_NIL;
  for (int k = 0; k < OPERATORS; k++) {
    v = rl_random_attr(&t->sample, GS_COMPUTE, kids, 1);
    bs_value head = v.i ? bs_item(t->values, v, 0) : BS_NIL;
    if (!op.i || (head.i && bs_kind_of(t->values, head) == BS_KIND_LIST &&
                  bs_same(bs_item(t->values, head, 0), op)))
      break;
  }
  return v;
}

static bs_value
propose(trial *t, const eg_term_node *n, const gs_type *const *kids) {
  if (n->op == GS_TENSOR || n->op == GS_CONST)
    return leaf_attr(t);
  if (n->op == GS_CALL)
    return call_attr(t, &n->attr);
  if (n->op == GS_COMPUTE)
    return compute_attr(t, &n->attr, kids);
  return rl_random_attr(&t->sample, (gs_op)n->op, kids, n->n_kids);
}

static bool
type_node(trial *t, const eg_term_node *n, const bs_value *attr, gs_type *out,
          gs_fault *fault) {
  const gs_type *kids[GS_MAX_NESTING];
  if (n->is_slot) {
    *out = t->types[n->slot];
    return true;
  }
  if (n->n_kids > GS_MAX_NESTING)
    return false;
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = &t->made[n->kids[k]];
  bs_value v = attr ? *attr : resolve(t, &n->attr, propose(t, n, kids));
  return v.i && gs_infer(t->values, t->rules->target, (gs_op)n->op, v, kids,
                         n->n_kids, out, fault);
}

/* The dimension counts of a proposal need a dimension to count. */
static bool
has_dimensions(const trial *t, const eg_term_node *n) {
  bool needs = !n->is_slot && strchr(gs_op_table[n->op].attrs, 'd');
  return !needs || t->made[n->kids[0]].rank > 0;
}

static bool
make_pattern(trial *t, const eg_term *p, gs_type *out) {
  if (p->n > MAX_NODES)
    return false;
  for (uint32_t k = 0; k < p->n; k++) {
    const eg_term_node *n = &p->nodes[k];
    if (n->is_slot && t->slots[n->slot] == UINT32_MAX) {
      hole_type(t, &t->types[n->slot]);
      t->slots[n->slot] = n->slot;
    }
    if (!has_dimensions(t, n) || !type_node(t, n, NULL, &t->made[k], NULL))
      return false;
  }
  *out = t->made[p->n - 1];
  return true;
}

/* The :with patterns first: the class that one is asked of is then typed. */
static bool
make_left(trial *t, gs_type *root) {
  const rl_compiled *c = t->rule;
  memset(t->slots, 0xff, c->n_slots * sizeof *t->slots);
  bs_clear(&t->sample.types);
  if (t->grows)
    return rl_lint_grow(&t->grown, &t->sample.state, random_dtype(t), root);
  for (uint32_t k = 1; k < c->n_parts; k++) {
    uint32_t slot = c->part_roots[k];
    gs_type type;
    if (!make_pattern(t, &c->parts[k], &type) ||
        (t->slots[slot] != UINT32_MAX &&
         !gs_type_equal(&t->types[slot], &type)))
      return false;
    t->slots[slot] = slot;
    t->types[slot] = type;
  }
  return make_pattern(t, &c->parts[0], root);
}

/* --- the condition -------------------------------------------------------- */

static bs_value
type_fact(void *facts, uint32_t slot) {
  trial *t = facts;
  return gs_type_intern(t->values, &t->types[slot]);
}

static bs_value
zeros_fact(void *facts, uint32_t slot) {
  trial *t = facts;
  return t->zeros ? rl_zeros_all(t->values, &t->types[slot])
                  : bs_list(t->values, NULL, 0);
}

static bs_value
constant_fact(void *facts, uint32_t slot) {
  trial *t = facts;
  (void)slot;
  return t->zeros ? bs_int(t->values, 0) : BS_NIL;
}

static gs_env
env_of(trial *t) {
  return (gs_env){.values = t->values,
                  .slots = t->slots,
                  .n_slots = t->rule->n_slots,
                  .facts = t,
                  .type_of = type_fact,
                  .zeros_of = zeros_fact,
                  .constant_of = constant_fact};
}

static bool
is_open_attribute(const trial *t, const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort != GS_SORT_CLASS &&
         e->slot < t->rule->n_bound && !t->wanted[e->slot].i;
}

/* (= ?attribute EXPR) that failed: what it wants.  True when that is news. */
static bool
note_wanted(trial *t, const gs_expr *e, const gs_env *env) {
  bs_value v;
  if (e->kind != GS_X_CALL || e->function != GS_F_EQ || e->n_args != 2)
    return false;
  for (int k = 0; k < 2; k++) {
    const gs_expr *var = e->args[k], *value = e->args[1 - k];
    if (is_open_attribute(t, var) && gs_expr_eval(value, env, &v)) {
      t->wanted[var->slot] = v;
      return true;
    }
  }
  return false;
}

/* A step; the wish of a test that failed is noted. */
static bool
take_step(trial *t, const gs_env *env, uint32_t k, bool *news) {
  const rl_step *s = &t->rule->condition->steps[k];
  if (rl_steps_take(&t->steps, env, k))
    return true;
  if (s->kind == RL_TEST)
    *news |= note_wanted(t, s->expr, env);
  return false;
}

/* The next way in which the condition holds. */
static bool
next_alternative(trial *t, bool first, bool *news) {
  const rl_condition *c = t->rule->condition;
  gs_env env = env_of(t);
  uint32_t n = c ? c->n : 0, k = first ? 0 : n;
  if (!first && !rl_steps_back(&t->steps, &k))
    return false;
  while (k < n) {
    if (take_step(t, &env, k, news))
      k++;
    else if (!rl_steps_back(&t->steps, &k))
      return false;
  }
  return true;
}

/* --- the right side ------------------------------------------------------- */

static uint64_t
weight_of(const trial *t) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < t->rule->n_bound; k++) {
    if (t->slots[k] != k ||
        t->rule->rule.scope.vars.data[k].sort != GS_SORT_CLASS)
      continue;
    sum += 4u * t->types[k].rank;
    for (uint32_t d = 0; d < t->types[k].rank; d++)
      sum += (uint64_t)t->types[k].dim[d];
  }
  return sum;
}

/* ?a : ((2), (3)) f32, ?d = 1 */
static const char *
describe(const trial *t) {
  bs_text text;
  const gs_scope *scope = &t->rule->rule.scope;
  bs_text_init(&text, t->l->ctx->heap);
  for (uint32_t k = 0; k < t->rule->n_slots && k < scope->vars.len; k++) {
    const gs_var *v = &scope->vars.data[k];
    if (v->name[0] == '(' || v->name[0] == '_' || t->slots[k] == UINT32_MAX)
      continue;
    bs_putf(&text, "%s?%s %s ", text.len ? ", " : "", v->name,
            v->sort == GS_SORT_CLASS ? ":" : "=");
    if (v->sort == GS_SORT_CLASS)
      gs_put_type(&text, &t->types[k]);
    else
      bs_put_value(&text, t->values, (bs_value){t->slots[k]});
  }
  const char *out = bs_arena_strdup(t->l->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

static void
note_fault(trial *t, bs_span span, bool no_type, const char *what) {
  uint64_t weight = weight_of(t);
  if (t->fault.found && t->fault.weight <= weight)
    return;
  t->fault = (fault_found){true, no_type, weight, span, describe(t), what};
}

static const char *
type_text(const trial *t, const gs_type *type) {
  bs_text text;
  bs_text_init(&text, t->l->ctx->heap);
  gs_put_type(&text, type);
  const char *out = bs_arena_strdup(t->l->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* False when a limit of the language is passed: the rule does not apply. */
static bool
check_right(trial *t, const rl_template *right, const gs_type *root,
            bool *faulty) {
  const eg_term *term = &right->term;
  const gs_type *want =
      right->target == UINT32_MAX ? root : &t->types[right->target];
  gs_fault fault = {0};
  for (uint32_t k = 0; k < term->n && term->n <= MAX_NODES; k++) {
    const eg_term_node *n = &term->nodes[k];
    bs_value attr =
        n->is_slot ? BS_NIL : eg_attr_build(t->values, &n->attr, t->slots);
    if (type_node(t, n, &attr, &t->made[k], &fault))
      continue;
    if (!fault.code || rl_is_limit(&fault))
      return false;
    *faulty = true;
    note_fault(t, right->skeleton->nodes[k].span, true,
               bs_arena_strdup(t->l->ctx->arena, fault.message));
    return true;
  }
  if (term->n > MAX_NODES || gs_type_equal(&t->made[term->n - 1], want))
    return true;
  *faulty = true;
  note_fault(t, right->skeleton->nodes[term->n - 1].span, false,
             bs_arena_printf(t->l->ctx->arena, "%s is not %s",
                             type_text(t, &t->made[term->n - 1]),
                             type_text(t, want)));
  return true;
}

static void
check_rights(trial *t, const gs_type *root) {
  bool faulty = false;
  for (uint32_t k = 0; k < t->rule->rule.n_right && !faulty; k++)
    if (!check_right(t, &t->rule->right[k], root, &faulty))
      return;
  t->applied++;
}

/* --- attempts ------------------------------------------------------------- */

/* True when the attempt should be made once more, with what is wanted now. */
static bool
attempt(trial *t) {
  gs_type root;
  bool news = false, first = true;
  if (!make_left(t, &root))
    return false;
  t->typed++;
  uint32_t before = t->applied;
  for (uint32_t k = 0; k < ALTERNATIVES && next_alternative(t, first, &news);
       k++, first = false)
    check_rights(t, &root);
  return news && t->applied == before;
}

static void
try_shapes(trial *t, uint32_t left) {
  uint32_t applied = t->applied;
  size_t size = (t->rule->n_slots + (size_t)1) * sizeof *t->wanted;
  while (left-- && t->applied - applied < ENOUGH) {
    bool found = t->fault.found;
    uint64_t state = t->sample.state;
    t->zeros = rl_chance(&t->sample, 50);
    uint64_t after = t->sample.state;
    memset(t->wanted, 0, size);
    for (int k = 0; k < REPAIRS && attempt(t); k++)
      t->sample.state = after;
    if (t->sample.state == state)
      t->sample.state++;
    if (!found && t->fault.found && left > AFTER_FAULT) {
      left = AFTER_FAULT;
      applied = t->applied;
    }
  }
}

static void
try_rule(trial *t) {
  uint32_t before = t->applied;
  t->grows = false;
  try_shapes(t, ATTEMPTS);
  t->grows = t->applied == before;
  if (t->grows)
    try_shapes(t, GROWN);
}

/* Left sides alone, until one has a type. */
static void
try_left(trial *t) {
  gs_type root;
  memset(t->wanted, 0, (t->rule->n_slots + (size_t)1) * sizeof *t->wanted);
  for (int k = 0; k < LEFT_SIDES && !t->typed; k++) {
    t->grows = k < GROWN_SIDES;
    t->sample.state++;
    t->typed += make_left(t, &root);
  }
}

static void
prepare(trial *t, const rl_compiled *c, void (*try)(trial *)) {
  bs_heap *heap = t->l->ctx->heap;
  size_t n = c->n_slots + (size_t)1;
  t->rule = c;
  rl_lint_sizes(t->values, c, &t->named);
  t->slots = bs_calloc(heap, n, sizeof *t->slots);
  t->types = bs_calloc(heap, n, sizeof *t->types);
  t->wanted = bs_calloc(heap, n, sizeof *t->wanted);
  rl_lint_grow_init(t->l->ctx, t->rules, c, t->slots, t->types, &t->grown);
  rl_steps_init(&t->steps, heap, t->values, c->condition, t->slots);
  try(t);
  rl_steps_done(&t->steps, heap);
  bs_free(heap, t->wanted);
  bs_free(heap, t->types);
  bs_free(heap, t->slots);
}

static void
report(const rl_linter *l, const rl_compiled *c, const fault_found *f) {
  bs_diags *d = l->ctx->diags;
  bs_span span = f->span.file ? f->span : c->rule.span;
  if (f->no_type)
    bs_error(d, span, "ill-typed-right",
             "'%s' builds an ill-typed term when %s", c->rule.name,
             f->bindings);
  else
    bs_error(d, span, "changes-type", "'%s' changes the type when %s",
             c->rule.name, f->bindings);
  bs_hint(d, "%s", f->what);
}

/* Where nothing applied: is it the condition, or has the left side no type? */
static void
report_not_tried(const rl_linter *l, const rl_written *w, int way, trial *t) {
  const rl_compiled *c = w->compiled[way];
  t->rules = l->variants[0];
  if (!t->typed && t->no_shapes < NO_SHAPES)
    prepare(t, c, try_left);
  if (t->typed || t->no_shapes == NO_SHAPES) {
    rl_remark(l, w->form->span, "not-tried",
              "no generated shapes made '%s' apply", c->rule.name);
    return;
  }
  t->no_shapes++;
  bs_warning(l->ctx->diags, w->form->span, "no-shape",
             "the left side of '%s' has no type for any of %d shapes",
             c->rule.name, LEFT_SIDES);
  bs_hint(l->ctx->diags,
          "do the ranks, sizes and dtypes of its parts fit together?");
}

static void
check_direction(rl_linter *l, const rl_written *w, int way, trial *t) {
  uint32_t before = t->applied;
  t->fault = (fault_found){0};
  t->typed = 0;
  t->sample.state = w->form->node * 2u + (unsigned)way;
  for (int k = 0; k < RL_VARIANTS && !t->fault.found; k++) {
    const rl_compiled *c = rl_variant_of(l, w, k, way);
    t->rules = l->variants[k];
    if (c)
      prepare(t, c, try_rule);
  }
  if (t->applied > before)
    l->counts.tried++;
  else
    report_not_tried(l, w, way, t);
  if (t->fault.found)
    report(l, w->compiled[way], &t->fault);
}

void
rl_lint_types(rl_linter *l) {
  bs_heap *heap = l->ctx->heap;
  trial *t = bs_calloc(heap, 1, sizeof *t);
  t->l = l;
  t->values = l->ctx->values;
  t->sample.ctx = l->ctx;
  for (uint32_t k = 0; k < l->list.len; k++)
    for (int way = 0; way < 2; way++)
      if (l->list.data[k].compiled[way])
        check_direction(l, &l->list.data[k], way, t);
  bs_vec_done(heap, &t->sample.types);
  bs_free(heap, t);
}
