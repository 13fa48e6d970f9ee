/* target_check.c - tries an instruction on sizes that its condition admits.
 *
 * A declaration speaks of all sizes at once; a contradiction between operands,
 * semantics and result shows on one.  Sizes are drawn from primes (so that two
 * dimensions are rarely equal by accident), the integers that the declaration
 * mentions, and small powers of two, in a fixed order, until the condition
 * holds. */
#include "glenside/target_parse.h"
#include <string.h>

#define MAX_CANDIDATES 48
#define MAX_TRIES      40000

typedef struct sample {
  const gs_context *ctx;
  const gs_instr *instr;
  int64_t sizes[MAX_CANDIDATES];
  uint32_t n_sizes;
  uint32_t *choice; /* a candidate for each variable */
  uint32_t *slots;
  gs_type *types;
  const gs_type **kids;
  bs_value attr;
  gs_type result;
} sample;

static void
add_size(sample *s, int64_t size) {
  for (uint32_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] == size)
      return;
  if (size >= 1 && size <= 4096 && s->n_sizes < MAX_CANDIDATES)
    s->sizes[s->n_sizes++] = size;
}

/* The integers of an expression; it nests at most GS_MAX_NESTING deep. */
static void
add_literals(sample *s, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL &&
      bs_kind_of(s->ctx->values, e->literal) == BS_KIND_INT) {
    int64_t v = bs_as_int(s->ctx->values, e->literal);
    add_size(s, v);
    if (v > 0 && v < 4096) {
      add_size(s, 2 * v);
      add_size(s, v + 1);
      add_size(s, 16 * v);
    }
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    add_literals(s, e->args[k]);
}

static void
add_candidates(sample *s) {
  static const int64_t first[] = {3, 5, 7, 2}, rest[] = {1, 4, 8, 16, 32, 64};
  const gs_instr *instr = s->instr;
  for (size_t k = 0; k < sizeof first / sizeof *first; k++)
    add_size(s, first[k]);
  if (instr->where)
    add_literals(s, instr->where);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++)
      add_literals(s, instr->operands[k].dims[d]);
  for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
    add_size(s, rest[k]);
}

static bool
is_size(const sample *s, uint32_t var) {
  return s->instr->scope.vars.data[var].sort == GS_SORT_INT;
}

/* The next choice, as an odometer; false past the last. */
static bool
advance(sample *s) {
  for (uint32_t k = 0; k < s->instr->scope.vars.len; k++) {
    if (!is_size(s, k))
      continue;
    if (++s->choice[k] < s->n_sizes)
      return true;
    s->choice[k] = 0;
  }
  return false;
}

/* Variable k starts at candidate k, so that sizes differ at first. */
static int64_t
chosen(const sample *s, uint32_t var) {
  return s->sizes[(s->choice[var] + var) % s->n_sizes];
}

/* The operand types under the choice; false when a dimension is none. */
static bool
make_types(sample *s) {
  bs_values *values = s->ctx->values;
  const gs_instr *instr = s->instr;
  for (uint32_t k = 0; k < instr->scope.vars.len; k++)
    s->slots[k] = is_size(s, k) ? bs_int(values, chosen(s, k)).i : UINT32_MAX;
  gs_env env = {
      .values = values, .slots = s->slots, .n_slots = instr->scope.vars.len};
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    const gs_operand *o = &instr->operands[k];
    s->types[k] = (gs_type){o->access, o->rank, o->dtype, {0}};
    for (uint32_t d = 0; d < o->rank; d++) {
      bs_value v;
      if (!gs_expr_eval(o->dims[d], &env, &v) || bs_as_int(values, v) < 1 ||
          bs_as_int(values, v) > 1 << 20)
        return false;
      s->types[k].dim[d] = bs_as_int(values, v);
    }
  }
  return true;
}

static bool
holds(sample *s) {
  bs_value items[1 + GS_MAX_INSTR_VARS];
  gs_fault fault;
  if (!make_types(s))
    return false;
  items[0] = bs_sym(s->ctx->values, s->instr->name);
  for (uint32_t k = 0; k < s->instr->n_params; k++)
    items[k + 1] = (bs_value){s->slots[k]};
  s->attr = bs_list(s->ctx->values, items, s->instr->n_params + 1);
  return gs_instr_bind(s->ctx->values, s->instr, s->attr, s->kids,
                       s->instr->n_operands, s->slots, &s->result, &fault);
}

static bool
find_sample(sample *s) {
  for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
    if (holds(s))
      return true;
    if (!advance(s))
      return false;
  }
  return false;
}

/* The sizes tried, for a message: "r = 3, c = 5". */
static const char *
sizes_text(const sample *s) {
  bs_text text;
  bs_text_init(&text, s->ctx->heap);
  for (uint32_t k = 0; k < s->instr->scope.vars.len; k++)
    if (is_size(s, k))
      bs_putf(&text, "%s%s = %lld", text.len ? ", " : "",
              s->instr->scope.vars.data[k].name, (long long)chosen(s, k));
  const char *copy = bs_arena_strdup(s->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return copy;
}

/* The type of the semantics over tensors of the sample's types. */
static bool
check_semantics(const sample *s, gs_program *p, const gs_term *operands) {
  gs_fault fault = {0};
  const gs_sk_node *root =
      &s->instr->semantics->nodes[s->instr->semantics->n - 1];
  if (gs_term_ok(gs_instr_expand(s->instr, p, s->attr, operands, &fault)))
    return true;
  bs_error(s->ctx->diags, root->span, "bad-semantics", "%s", fault.message);
  bs_hint(s->ctx->diags, "tried with %s", sizes_text(s));
  return false;
}

/* Notes the rank of the view, which the template speaks of. */
static bool
check_layout(const sample *s, gs_program *p, gs_operand *o,
             const gs_term *holes) {
  gs_env env = {.values = s->ctx->values,
                .slots = s->slots,
                .n_slots = s->instr->scope.vars.len};
  gs_fault fault = {0};
  gs_type type;
  if (!o->layout)
    return true;
  gs_term view = gs_skeleton_build(o->layout, p, &env, holes, &fault);
  if (gs_term_ok(view)) {
    gs_type_at(p, view, &type);
    o->layout_rank = type.rank;
    return true;
  }
  bs_error(s->ctx->diags, o->layout->nodes[o->layout->n - 1].span, "bad-layout",
           "%s", fault.message);
  bs_hint(s->ctx->diags, "tried with %s", sizes_text(s));
  return false;
}

static bool
check_types(const sample *s) {
  const gs_instr *instr = s->instr;
  gs_program *p = gs_program_new(s->ctx, NULL);
  gs_term *holes = BS_NEWS(s->ctx->arena, gs_term, instr->scope.vars.len + 1);
  gs_term *operands = BS_NEWS(s->ctx->arena, gs_term, instr->n_operands + 1);
  bool ok = true;
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    const gs_operand *o = &instr->operands[k];
    gs_type flat = s->types[k];
    gs_fault fault;
    flat.access = flat.rank;
    gs_term tensor = gs_add_tensor(p, o->name, &flat, o->span);
    bs_value split = bs_int(s->ctx->values, s->types[k].access);
    operands[k] = gs_add(p, GS_ACCESS, bs_list(s->ctx->values, &split, 1),
                         &tensor, 1, o->span, &fault);
    holes[o->slot] = operands[k];
  }
  ok = check_semantics(s, p, operands);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    ok &= check_layout(s, p, (gs_operand *)&instr->operands[k], holes);
  return ok;
}

bool
target_check_instr(const gs_context *ctx, gs_instr *instr) {
  bs_arena *arena = ctx->arena;
  uint32_t vars = instr->scope.vars.len;
  sample s = {.ctx = ctx, .instr = instr};
  s.choice = BS_NEWS(arena, uint32_t, vars + 1);
  s.slots = BS_NEWS(arena, uint32_t, vars + 1);
  s.types = BS_NEWS(arena, gs_type, instr->n_operands + 1);
  s.kids = BS_NEWS(arena, const gs_type *, instr->n_operands + 1);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    s.kids[k] = &s.types[k];
  add_candidates(&s);
  if (find_sample(&s))
    return check_types(&s);
  bs_warning(ctx->diags, instr->span, "untried",
             "no small sizes were found that '%s' admits; its semantics were "
             "not checked",
             instr->name);
  return true;
}
