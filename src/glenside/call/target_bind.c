/* SPDX-License-Identifier: MIT */
/* target_bind.c - calls of instructions: found, bound, expanded, priced.
 *
 * A call is given by its attribute (name, parameters) and its operands' types.
 * Dimensions are bound in the order of the declaration: a plain name that has
 * no value yet takes the size found, everything else must equal it. */
#include "glenside/call/over.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

const gs_instr *
gs_find_instr(const gs_target *t, const char *name) {
  for (uint32_t k = 0; k < t->instrs.len; k++)
    if (!strcmp(t->instrs.data[k]->name, name))
      return t->instrs.data[k];
  return NULL;
}

/* The environment of a declaration: operand k stands in its slot as "class" k,
 * whose type is that of the call's operand k. */
typedef struct operand_types {
  bs_values *values;
  const gs_type *const *kids;
  uint32_t n;
} operand_types;

static bs_value
type_of_operand(void *facts, uint32_t k) {
  const operand_types *t = facts;
  return k < t->n ? gs_type_intern(t->values, t->kids[k]) : BS_NIL;
}

static gs_env
env_of(const gs_instr *instr, operand_types *types, const uint32_t *slots) {
  return (gs_env){.values = types->values,
                  .slots = slots,
                  .n_slots = instr->scope.vars.len,
                  .facts = types,
                  .type_of = type_of_operand};
}

static bool
wrong_call(const gs_instr *instr, gs_fault *fault, uint32_t params,
           uint32_t operands) {
  return gs_fail(fault, "wrong-arity", -1, -1,
                 "%s takes %u %s and %u %s, found %u and %u", instr->name,
                 BS_COUNTED(instr->n_params, "parameter"),
                 BS_COUNTED(instr->n_operands, "operand"), params, operands);
}

static bool
bind_params(bs_values *values, const gs_instr *instr, bs_value attr,
            uint32_t *slots, gs_fault *fault) {
  for (uint32_t k = 0; k < instr->n_params; k++) {
    bs_value v = bs_item(values, attr, k + 1);
    const gs_var *param = &instr->scope.vars.data[k];
    bool real = param->sort == GS_SORT_REAL;
    if (bs_kind_of(values, v) != BS_KIND_INT &&
        !(real && bs_kind_of(values, v) == BS_KIND_REAL))
      return gs_fail(fault, "bad-attribute", -1, (int)k + 1,
                     "the parameter %s of %s is %s", param->name, instr->name,
                     real ? "a number" : "an integer");
    slots[k] = v.i;
  }
  return true;
}

static bool
bind_dim(const gs_instr *instr, const gs_env *env, uint32_t *slots,
         uint32_t operand, uint32_t d, int64_t size, gs_fault *fault) {
  const gs_operand *o = &instr->operands[operand];
  const gs_expr *e = o->dims[d];
  bs_value v;
  if (e->kind == GS_X_VAR && slots[e->slot] == UINT32_MAX) {
    slots[e->slot] = bs_int(env->values, size).i;
    return true;
  }
  if (!gs_expr_eval(e, env, &v))
    return gs_fail(fault, "undefined", (int)operand, -1,
                   "dimension %u of operand %s of %s is undefined", d, o->name,
                   instr->name);
  int64_t wanted = bs_as_int(env->values, v);
  return wanted == size ||
         gs_fail(fault, "type-mismatch", (int)operand, -1,
                 "dimension %u of operand %s of %s must be %lld, found %lld", d,
                 o->name, instr->name, (long long)wanted, (long long)size);
}

static bool
bind_operand(const gs_instr *instr, const gs_env *env, uint32_t *slots,
             uint32_t k, const gs_type *t, gs_fault *fault) {
  const gs_operand *o = &instr->operands[k];
  if (t->dtype != o->dtype)
    return gs_fail(fault, "type-mismatch", (int)k, -1,
                   "operand %s of %s is of dtype %s, found %s", o->name,
                   instr->name, gs_dtype_table[o->dtype].name,
                   gs_dtype_table[t->dtype].name);
  if (t->access != o->access || t->rank != o->rank)
    return gs_fail(fault, "type-mismatch", (int)k, -1,
                   "operand %s of %s has %u iterated and %u compute "
                   "dimensions, found %u and %u",
                   o->name, instr->name, o->access, o->rank - o->access,
                   t->access, t->rank - t->access);
  for (uint32_t d = 0; d < o->rank; d++)
    if (!bind_dim(instr, env, slots, k, d, t->dim[d], fault))
      return false;
  return true;
}

static bool
bind_result(const gs_instr *instr, const gs_env *env, gs_type *out,
            gs_fault *fault) {
  const gs_operand *o = &instr->result;
  *out = (gs_type){.access = o->access, .rank = o->rank, .dtype = o->dtype};
  for (uint32_t d = 0; d < o->rank; d++) {
    bs_value v;
    if (!gs_expr_eval(o->dims[d], env, &v) || bs_as_int(env->values, v) < 1)
      return gs_fail(fault, "undefined", -1, -1,
                     "dimension %u of the result of %s is undefined or below "
                     "1",
                     d, instr->name);
    out->dim[d] = bs_as_int(env->values, v);
  }
  return true;
}

/* Its operands and its result fit into their memories. */
static bool
has_room(const gs_instr *instr, const gs_env *env, gs_fault *fault) {
  for (uint32_t k = 0; k < instr->n_rooms; k++) {
    const gs_room *r = &instr->rooms[k];
    bs_value bytes;
    if (gs_expr_test(r->fits, env))
      continue;
    if (!gs_expr_eval(r->bytes, env, &bytes))
      return gs_fail(fault, "too-small", -1, -1,
                     "what one call of %s needs of '%s' is undefined",
                     instr->name, r->memory);
    return gs_fail(fault, "too-small", -1, -1,
                   "%s of %s needs %lld bytes of %s'%s', which has %lld",
                   r->what ? r->what : "one call", instr->name,
                   (long long)bs_as_int(env->values, bytes),
                   r->what ? "a bank of " : "", r->memory, (long long)r->most);
  }
  return true;
}

/* One call, whose parameters begin the attribute. */
static bool
bind_one(bs_values *values, const gs_instr *instr, bs_value attr,
         const gs_type *const *kids, uint32_t n_kids, uint32_t *slots,
         gs_type *result, gs_fault *fault) {
  operand_types types = {values, kids, n_kids};
  gs_env env = env_of(instr, &types, slots);
  for (uint32_t k = 0; k < instr->scope.vars.len; k++)
    slots[k] = UINT32_MAX;
  if (!bind_params(values, instr, attr, slots, fault))
    return false;
  for (uint32_t k = 0; k < n_kids; k++)
    slots[instr->operands[k].slot] = k;
  for (uint32_t k = 0; k < n_kids; k++)
    if (!bind_operand(instr, &env, slots, k, kids[k], fault))
      return false;
  if (instr->where && !gs_expr_test(instr->where, &env))
    return gs_fail(fault, "refused-by-where", -1, -1,
                   "the condition of %s does not hold for this call",
                   instr->name);
  return has_room(instr, &env, fault) &&
         bind_result(instr, &env, result, fault);
}

static bool
bind_over(bs_values *values, const gs_instr *instr, bs_value attr,
          const gs_over *over, const gs_type *const *kids, uint32_t n_kids,
          uint32_t *slots, gs_type *result, gs_fault *fault) {
  gs_type tiles[GS_MAX_INSTR_VARS], one;
  const gs_type *at[GS_MAX_INSTR_VARS];
  for (uint32_t k = 0; k < n_kids; k++) {
    if (!gs_over_tile(over, k, kids[k], &tiles[k], fault))
      return false;
    at[k] = &tiles[k];
  }
  return bind_one(values, instr, attr, at, n_kids, slots, &one, fault) &&
         gs_over_whole(over, &one, result, fault);
}

bool
gs_instr_bind(bs_values *values, const gs_instr *instr, bs_value attr,
              const gs_type *const *kids, uint32_t n_kids, uint32_t *slots,
              gs_type *result, gs_fault *fault) {
  gs_over over;
  uint32_t params = bs_len(values, attr) ? bs_len(values, attr) - 1 : 0;
  params -= gs_over_item(values, attr).i != 0;
  if (params != instr->n_params || n_kids != instr->n_operands)
    return wrong_call(instr, fault, params, n_kids);
  if (!gs_over_read(values, instr, attr, &over, fault))
    return false;
  return over.n ? bind_over(values, instr, attr, &over, kids, n_kids, slots,
                            result, fault)
                : bind_one(values, instr, attr, kids, n_kids, slots, result,
                           fault);
}

/* The semantics, or a part of them, over operands of one call. */
static gs_term
expand_one(const gs_instr *instr, const gs_skeleton *meaning, gs_program *p,
           bs_value attr, const gs_term *operands, gs_fault *fault) {
  uint32_t n = instr->n_operands, vars = instr->scope.vars.len;
  bs_arena *arena = p->ctx.arena;
  gs_type *types = BS_NEWS(arena, gs_type, n + 1), result;
  const gs_type **kids = BS_NEWS(arena, const gs_type *, n + 1);
  uint32_t *slots = BS_NEWS(arena, uint32_t, vars + 1);
  gs_term *holes = BS_NEWS(arena, gs_term, vars + 1);
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(p, operands[k], &types[k]);
    kids[k] = &types[k];
    holes[instr->operands[k].slot] = operands[k];
  }
  if (!bind_one(p->ctx.values, instr, attr, kids, n, slots, &result, fault))
    return GS_NO_TERM;
  operand_types facts = {p->ctx.values, kids, n};
  gs_env env = env_of(instr, &facts, slots);
  return gs_skeleton_build(meaning, p, &env, holes, fault);
}

/* An operand of one call, as a tensor of a program of its own. */
static gs_term
declare_tile(gs_program *q, const char *name, const gs_type *tile,
             gs_fault *fault) {
  gs_type whole = *tile;
  bs_value split = bs_int(q->ctx.values, tile->access);
  whole.access = whole.rank;
  gs_term t = gs_add_tensor(q, name, &whole, BS_NOWHERE);
  return gs_add(q, GS_ACCESS, bs_list(q->ctx.values, &split, 1), &t, 1,
                BS_NOWHERE, fault);
}

/* What the calls compute, summed. */
static gs_term
expand_sums(const gs_instr *instr, const gs_skeleton *meaning, gs_program *p,
            bs_value attr, const gs_over *over, const gs_term *operands,
            gs_fault *fault) {
  uint32_t n = instr->n_operands;
  gs_program *q = gs_program_new(&p->ctx, NULL);
  gs_term *tiles = BS_NEWS(p->ctx.arena, gs_term, n + 1);
  gs_term *inputs = BS_NEWS(p->ctx.arena, gs_term, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    gs_type whole, tile;
    gs_type_at(p, operands[k], &whole);
    if (!gs_over_tile(over, k, &whole, &tile, fault))
      return GS_NO_TERM;
    tiles[k] = declare_tile(q, instr->operands[k].name, &tile, fault);
    inputs[k] = gs_over_spread(over, k, p, operands[k], fault);
    if (!gs_term_ok(tiles[k]) || !gs_term_ok(inputs[k]))
      return GS_NO_TERM;
  }
  gs_term one = expand_one(instr, meaning, q, attr, tiles, fault);
  gs_term all = gs_term_ok(one)
                    ? gs_lift(q, one, over->size, over->n, p, inputs, fault)
                    : GS_NO_TERM;
  return gs_term_ok(all) ? gs_over_reduce(over, p, all, fault) : GS_NO_TERM;
}

/* Sums that the instruction itself goes on with: what is added, and then once
 * what it is added to. */
static gs_term
expand_begun(const gs_instr *instr, const gs_accumulation *a, gs_program *p,
             bs_value attr, const gs_over *over, const gs_term *operands,
             gs_fault *fault) {
  const gs_skeleton added = {instr->semantics->nodes, a->added + 1};
  bs_value add = bs_sym(p->ctx.values, gs_compute_table[GS_C_ADD].name);
  gs_over each = {0};
  gs_term pair[2];
  for (uint32_t d = 0; d < over->n; d++)
    if (!over->sum[d]) {
      each.size[each.n] = over->size[d];
      each.has[each.n++] = over->has[d];
    }
  pair[a->side] = gs_over_spread(&each, a->onto, p, operands[a->onto], fault);
  pair[1 - a->side] =
      expand_sums(instr, &added, p, attr, over, operands, fault);
  if (!gs_term_ok(pair[0]) || !gs_term_ok(pair[1]))
    return GS_NO_TERM;
  gs_term both = gs_add(p, GS_PAIR, bs_list(p->ctx.values, NULL, 0), pair, 2,
                        BS_NOWHERE, fault);
  return gs_term_ok(both)
             ? gs_add(p, GS_COMPUTE, bs_list(p->ctx.values, &add, 1), &both, 1,
                      BS_NOWHERE, fault)
             : GS_NO_TERM;
}

static gs_term
expand_over(const gs_instr *instr, gs_program *p, bs_value attr,
            const gs_over *over, const gs_term *operands, gs_fault *fault) {
  gs_accumulation itself;
  if (over->into && !strcmp(over->into, instr->name) &&
      gs_accumulates(p->ctx.values, instr, instr, &itself))
    return expand_begun(instr, &itself, p, attr, over, operands, fault);
  return expand_sums(instr, instr->semantics, p, attr, over, operands, fault);
}

/* The type that the declaration gives the call. */
static bool
declared_type(const gs_instr *instr, const gs_program *p, bs_value attr,
              const gs_term *operands, gs_type *out, gs_fault *fault) {
  uint32_t n = instr->n_operands;
  gs_type *types = BS_NEWS(p->ctx.arena, gs_type, n + 1);
  const gs_type **kids = BS_NEWS(p->ctx.arena, const gs_type *, n + 1);
  uint32_t *slots = BS_NEWS(p->ctx.arena, uint32_t, instr->scope.vars.len + 1u);
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(p, operands[k], &types[k]);
    kids[k] = &types[k];
  }
  return gs_instr_bind(p->ctx.values, instr, attr, kids, n, slots, out, fault);
}

gs_term
gs_instr_expand(const gs_instr *instr, gs_program *p, bs_value attr,
                const gs_term *operands, gs_fault *fault) {
  assert(instr->semantics && instr->semantics->n);
  gs_type declared, found;
  gs_over over;
  if (!declared_type(instr, p, attr, operands, &declared, fault) ||
      !gs_over_read(p->ctx.values, instr, attr, &over, fault))
    return GS_NO_TERM;
  gs_term term =
      over.n ? expand_over(instr, p, attr, &over, operands, fault)
             : expand_one(instr, instr->semantics, p, attr, operands, fault);
  if (!gs_term_ok(term))
    return GS_NO_TERM;
  gs_type_at(p, term, &found);
  if (gs_type_equal(&declared, &found))
    return term;
  bs_text texts[2];
  for (int k = 0; k < 2; k++) {
    bs_text_init(&texts[k], p->ctx.heap);
    gs_put_type(&texts[k], k ? &declared : &found);
  }
  gs_fail(fault, GS_UNDECLARED_TYPE, -1, -1,
          "the semantics of %s have the type %s, and %s is declared",
          instr->name, bs_text_str(&texts[0]), bs_text_str(&texts[1]));
  bs_text_done(&texts[0]);
  bs_text_done(&texts[1]);
  return GS_NO_TERM;
}

double
gs_instr_cost(const gs_instr *instr, bs_values *values, const uint32_t *slots,
              const char *name, double otherwise) {
  assert(name && instr->scope.vars.len <= GS_MAX_INSTR_VARS);
  gs_env env = {
      .values = values, .slots = slots, .n_slots = instr->scope.vars.len};
  for (uint32_t k = 0; k < instr->n_costs; k++) {
    bs_value v;
    if (strcmp(instr->costs[k].name, name))
      continue;
    if (!gs_expr_eval(instr->costs[k].value, &env, &v))
      return otherwise;
    bs_kind kind = bs_kind_of(values, v);
    return kind == BS_KIND_INT || kind == BS_KIND_REAL ? bs_as_real(values, v)
                                                       : otherwise;
  }
  return otherwise;
}

/* --- the C template ------------------------------------------------------- */

/* The length of a `{name}` at s, or 0 when the brace stands for itself. */
static size_t
placeholder_length(const char *s) {
  size_t n = 1;
  if (s[0] != '{' || (!isalpha((unsigned char)s[1]) && s[1] != '_'))
    return 0;
  while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_-.", s[n])))
    n++;
  return s[n] == '}' ? n + 1 : 0;
}

static bool
named(const char *name, const char *s, size_t n) {
  return strlen(name) == n && !memcmp(name, s, n);
}

/* The operand of this name; n_operands for the result, more for none. */
static uint32_t
find_operand(const gs_instr *instr, const char *s, size_t n) {
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (named(instr->operands[k].name, s, n))
      return k;
  return instr->n_operands + !named("result", s, n);
}

/* As the template sees the operand. */
static uint32_t
dimensions(const gs_operand *o) {
  if (!o->layout)
    return o->rank;
  return o->layout_rank ? o->layout_rank : GS_MAX_RANK;
}

/* `.stride.K` and `.dim.K` behind an operand's name */
static void
read_selector(const gs_instr *instr, const char *s, size_t n,
              gs_emit_piece *out) {
  const gs_operand *o = out->operand < instr->n_operands
                            ? &instr->operands[out->operand]
                            : &instr->result;
  bool stride = n > 8 && !memcmp(s, ".stride.", 8);
  bool dim = n > 5 && !memcmp(s, ".dim.", 5);
  size_t digits = stride ? 8 : 5;
  uint32_t k = 0;
  if (o->memory && named(".address", s, n))
    out->kind = GS_EMIT_ADDRESS;
  if (o->memory && named(".row", s, n))
    out->kind = GS_EMIT_ROW;
  if (!stride && !dim)
    return;
  for (size_t j = digits; j < n; j++) {
    if (!isdigit((unsigned char)s[j]) || k > GS_MAX_RANK)
      return;
    k = 10 * k + (uint32_t)(s[j] - '0');
  }
  out->dim = k;
  if (k < dimensions(o))
    out->kind = stride ? GS_EMIT_STRIDE : GS_EMIT_DIM;
}

/* What the name between the braces stands for. */
static void
read_placeholder(const gs_instr *instr, gs_emit_piece *out) {
  const char *name = out->text + 1, *end = out->text + out->len - 1;
  const char *dot = memchr(name, '.', (size_t)(end - name));
  size_t n = (size_t)((dot ? dot : end) - name);
  out->kind = GS_EMIT_BAD;
  out->operand = find_operand(instr, name, n);
  if (out->operand <= instr->n_operands) {
    if (dot)
      read_selector(instr, dot, (size_t)(end - dot), out);
    else
      out->kind = GS_EMIT_POINTER;
    return;
  }
  for (uint32_t k = 0; !dot && k < instr->scope.vars.len; k++)
    if (named(instr->scope.vars.data[k].name, name, n)) {
      out->kind = GS_EMIT_VALUE;
      out->slot = k;
    }
}

bool
gs_emit_next(const gs_instr *instr, const char **at, gs_emit_piece *out) {
  assert(*at);
  const char *s = *at;
  size_t n = placeholder_length(s);
  *out = (gs_emit_piece){.kind = GS_EMIT_TEXT, .text = s, .len = n};
  if (n) {
    read_placeholder(instr, out);
  } else {
    while (s[n] && (!n || !placeholder_length(s + n)))
      n++;
    out->len = n;
  }
  *at = s + n;
  return n > 0;
}
