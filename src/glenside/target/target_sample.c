/* SPDX-License-Identifier: MIT */
/* target_sample.c - see target_sample.h. */
#include "glenside/target/target_sample.h"
#include "glenside/expr/expr_functions.h"
#include <assert.h>

static void
add_size(gs_sizing *s, int64_t size) {
  for (uint32_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] == size)
      return;
  if (size >= 1 && size <= 4096 && s->n_sizes < GS_MAX_SIZES)
    s->sizes[s->n_sizes++] = size;
}

/* The integers of an expression; it nests at most GS_MAX_NESTING deep. */
static void
add_literals(gs_sizing *s, const gs_expr *e) {
  int64_t v;
  if (gs_expr_is_int(s->ctx->values, e, &v)) {
    add_size(s, v);
    if (v > 0 && v < 4096) {
      add_size(s, 2 * v);
      add_size(s, 3 * v);
      add_size(s, v + 1);
      add_size(s, 16 * v);
    }
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    add_literals(s, e->args[k]);
}

static void
add_candidates(gs_sizing *s) {
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
is_dimension(const gs_instr *instr, uint32_t var) {
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++)
      if (instr->operands[k].dims[d]->kind == GS_X_VAR &&
          instr->operands[k].dims[d]->slot == var)
        return true;
  return false;
}

static bool
is_free(const gs_sizing *s, uint32_t var) {
  return var < s->instr->n_params && !is_dimension(s->instr, var);
}

/* What parameters that may be any number take: halves and fractions, whole
 * numbers, and both signs. */
static const double numbers[] = {0.5, -1.25,  3,   0, 0.0078125,
                                 1,   -0.125, 3.5, 2, -7};

uint32_t
gs_sizing_choices(const gs_sizing *s, uint32_t var) {
  assert(var < s->instr->scope.vars.len);
  gs_sort sort = s->instr->scope.vars.data[var].sort;
  return sort == GS_SORT_INT    ? s->n_sizes
         : sort == GS_SORT_REAL ? sizeof numbers / sizeof *numbers
                                : 0;
}

/* The next choice among the variables that are free, or among the others. */
static bool
advance(gs_sizing *s, bool free) {
  for (uint32_t k = 0; k < s->instr->scope.vars.len; k++) {
    if (is_free(s, k) != free)
      continue;
    if (++s->choice[k] < gs_sizing_choices(s, k))
      return true;
    s->choice[k] = 0;
  }
  return false;
}

bool
gs_sizing_advance_free(gs_sizing *s) {
  return advance(s, true);
}

bool
gs_sizing_advance(gs_sizing *s) {
  return advance(s, false) || advance(s, true);
}

/* Of a variable with choices.  Variable k starts at candidate k, so that sizes
 * differ at first. */
static bs_value
chosen(const gs_sizing *s, uint32_t var) {
  uint32_t at = (s->choice[var] + var) % gs_sizing_choices(s, var);
  bs_value v;
  if (s->instr->scope.vars.data[var].sort == GS_SORT_INT)
    return bs_int(s->ctx->values, s->sizes[at]);
  gs_datum number = {GS_D_REAL, {.r = numbers[at]}};
  return gs_datum_value(s->ctx->values, &number, &v) ? v : BS_NIL;
}

/* The operand types under the choice; false when a dimension is none. */
static bool
make_types(gs_sizing *s) {
  bs_values *values = s->ctx->values;
  const gs_instr *instr = s->instr;
  for (uint32_t k = 0; k < instr->scope.vars.len; k++)
    s->slots[k] = gs_sizing_choices(s, k) ? chosen(s, k).i : UINT32_MAX;
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

bool
gs_sizing_holds(gs_sizing *s) {
  bs_value items[1 + GS_MAX_INSTR_VARS];
  gs_fault fault;
  assert(s->n_sizes <= GS_MAX_SIZES);
  if (!make_types(s))
    return false;
  items[0] = bs_sym(s->ctx->values, s->instr->name);
  for (uint32_t k = 0; k < s->instr->n_params; k++)
    items[k + 1] = (bs_value){s->slots[k]};
  s->attr = bs_list(s->ctx->values, items, s->instr->n_params + 1);
  return gs_instr_bind(s->ctx->values, s->instr, s->attr, s->kids,
                       s->instr->n_operands, s->slots, &s->result, &fault);
}

void
gs_sizing_declare(const gs_sizing *s, gs_program *p, gs_term *operands) {
  assert(s->result.rank <= GS_MAX_RANK);
  for (uint32_t k = 0; k < s->instr->n_operands; k++) {
    const gs_operand *o = &s->instr->operands[k];
    gs_type flat = s->types[k];
    gs_fault fault;
    flat.access = flat.rank;
    gs_term tensor = gs_add_tensor(p, o->name, &flat, o->span);
    bs_value split = bs_int(s->ctx->values, s->types[k].access);
    operands[k] = gs_add(p, GS_ACCESS, bs_list(s->ctx->values, &split, 1),
                         &tensor, 1, o->span, &fault);
  }
}

const char *
gs_sizing_text(const gs_sizing *s) {
  bs_text text;
  bs_text_init(&text, s->ctx->heap);
  for (uint32_t k = 0; k < s->instr->scope.vars.len; k++) {
    if (!gs_sizing_choices(s, k))
      continue;
    bs_putf(&text, "%s%s = ", text.len ? ", " : "",
            s->instr->scope.vars.data[k].name);
    bs_put_value(&text, s->ctx->values, chosen(s, k));
  }
  const char *copy = bs_arena_strdup(s->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return copy;
}

void
gs_sizing_init(gs_sizing *s, const gs_context *ctx, const gs_instr *instr) {
  assert(instr->scope.vars.len <= GS_MAX_INSTR_VARS);
  bs_arena *arena = ctx->arena;
  uint32_t vars = instr->scope.vars.len;
  *s = (gs_sizing){.ctx = ctx, .instr = instr};
  s->choice = BS_NEWS(arena, uint32_t, vars + 1);
  s->slots = BS_NEWS(arena, uint32_t, vars + 1);
  s->types = BS_NEWS(arena, gs_type, instr->n_operands + 1);
  s->kids = BS_NEWS(arena, const gs_type *, instr->n_operands + 1);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    s->kids[k] = &s->types[k];
  add_candidates(s);
}
