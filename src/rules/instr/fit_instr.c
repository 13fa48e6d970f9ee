/* SPDX-License-Identifier: MIT */
/* fit_instr.c - what an instruction means, as a tree and rows of digits.
 *
 * The semantics are written out as a term for two choices of all sizes that the
 * declaration leaves open, and walked from the result down.  Digits that have
 * the same size both times have it in each call; the others may have any. */
#include "rules/instr/derive.h"
#include "rules/instr/fit.h"
#include <assert.h>
#include <string.h>

enum { MOST_TERMS = 512 };

typedef struct todo {
  gs_term term;
  uint32_t node; /* of which it is a child; UINT32_MAX: the root */
  rl_index x;
} todo;

typedef struct reading {
  const gs_context *ctx;
  const gs_instr *instr;
  gs_program *p;
  const gs_sk_node **of_term; /* by term: where it stands in the semantics */
  fit_instr *out;
  rl_digits digits;
  rl_index operand[FIT_OPERANDS], result;
  bool has[FIT_OPERANDS];
  uint32_t groups;
  BS_VEC(todo) stack;
  bool failed;
} reading;

/* ---- a term of some sizes ---- */

/* Open sizes are 48 or 96, which most divisions in declarations divide. */
static int64_t
sample_size(const reading *r, uint32_t slot, uint32_t which) {
  int64_t fixed;
  if (gs_expr_fixes(r->ctx->values, r->instr->where, slot, &fixed))
    return fixed;
  return which ? 96 : 48;
}

static bool
operand_type(const gs_operand *o, const gs_env *env, gs_type *out) {
  *out = (gs_type){.access = o->rank, .rank = o->rank, .dtype = o->dtype};
  for (uint32_t d = 0; d < o->rank; d++) {
    bs_value v;
    if (!gs_expr_eval(o->dims[d], env, &v) || bs_as_int(env->values, v) < 1)
      return false;
    out->dim[d] = bs_as_int(env->values, v);
  }
  return true;
}

static bool
declare_operand(reading *r, const gs_operand *o, const gs_env *env,
                gs_term *hole) {
  gs_type type;
  gs_fault fault;
  if (!operand_type(o, env, &type))
    return false;
  bs_value split = bs_int(r->ctx->values, o->access);
  gs_term t = gs_add_tensor(r->p, o->name, &type, BS_NOWHERE);
  *hole = gs_add(r->p, GS_ACCESS, bs_list(r->ctx->values, &split, 1), &t, 1,
                 BS_NOWHERE, &fault);
  return gs_term_ok(*hole);
}

static gs_term
write_out(reading *r, uint32_t which) {
  const gs_instr *instr = r->instr;
  uint32_t n = instr->scope.vars.len;
  uint32_t *slots = BS_NEWS(r->ctx->arena, uint32_t, n + 1);
  gs_term *holes = BS_NEWS(r->ctx->arena, gs_term, n + 1);
  gs_env env = {.values = r->ctx->values, .slots = slots, .n_slots = n};
  gs_fault fault;
  r->p = gs_program_new(r->ctx, NULL);
  for (uint32_t k = 0; k < n; k++) {
    gs_sort sort = instr->scope.vars.data[k].sort;
    slots[k] = sort == GS_SORT_INT || sort == GS_SORT_REAL
                   ? bs_int(r->ctx->values, sample_size(r, k, which)).i
                   : UINT32_MAX;
  }
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (!declare_operand(r, &instr->operands[k], &env,
                         &holes[instr->operands[k].slot]))
      return GS_NO_TERM;
  return gs_skeleton_build(instr->semantics, r->p, &env, holes, &fault);
}

/* ---- the tree ---- */

static fit_node *
new_node(reading *r, uint32_t parent) {
  assert(parent == UINT32_MAX || parent < r->out->n_nodes);
  fit_instr *f = r->out;
  if (f->n_nodes == FIT_NODES ||
      (parent != UINT32_MAX && f->node[parent].n_kids == FIT_KIDS)) {
    r->failed = true;
    return NULL;
  }
  if (parent != UINT32_MAX)
    f->node[parent].kid[f->node[parent].n_kids++] = f->n_nodes;
  f->node[f->n_nodes] = (fit_node){.swap = -1};
  return &f->node[f->n_nodes++];
}

static void
later(reading *r, gs_term t, uint32_t node, const rl_index *x) {
  bs_push(r->ctx->heap, &r->stack, (todo){t, node, *x});
}

/* Items are put on the stack so that the first is taken first. */
static void
read_items(reading *r, gs_term tuple, uint32_t node, const gs_type *type,
           const rl_index *x) {
  assert(type->access < type->rank);
  for (int64_t k = type->dim[type->access]; k-- > 0 && !r->failed;) {
    rl_index y = *x;
    rl_row item = {.item = k};
    rl_index_insert(&y, type->access, &item);
    later(r, tuple, node, &y);
  }
}

static bool
commutes(gs_compute op) {
  return op == GS_C_MUL || op == GS_C_ADD || op == GS_C_MAX || op == GS_C_MIN;
}

static void
note_swap(reading *r, fit_node *n, int64_t items) {
  if (commutes(n->op) && items == 2 && r->out->n_swaps < FIT_SWAPS)
    n->swap = (int)r->out->n_swaps++;
}

static void
read_dot(reading *r, gs_term kid, const gs_type *type, gs_dtype dtype,
         const todo *t) {
  uint32_t at = r->out->n_nodes;
  rl_index x = t->x;
  fit_node *n = new_node(r, t->node), *products = n ? new_node(r, at) : NULL;
  if (!products)
    return;
  *n = (fit_node){.reduces = true,
                  .op = GS_C_REDUCE_SUM,
                  .dtype = dtype,
                  .group = ++r->groups,
                  .n_kids = 1,
                  .kid = {at + 1},
                  .swap = -1};
  *products =
      (fit_node){.of_dot = true, .op = GS_C_MUL, .dtype = dtype, .swap = -1};
  note_swap(r, products, type->dim[type->access]);
  rl_digits_push(&r->digits, type, type->access + 1u, type->rank, n->group, &x);
  read_items(r, kid, at + 1, type, &x);
}

/* A sum of sums is one sum. */
static bool
goes_on(const reading *r, uint32_t parent, gs_compute op, gs_dtype dtype) {
  const fit_node *n = parent == UINT32_MAX ? NULL : &r->out->node[parent];
  return n && n->reduces && n->op == op && n->dtype == dtype &&
         gs_compute_table[op].is_associative;
}

static void
read_reduction(reading *r, gs_term kid, const gs_type *type, gs_compute op,
               gs_dtype dtype, const todo *t) {
  uint32_t at = t->node;
  rl_index x = t->x;
  if (!goes_on(r, t->node, op, dtype)) {
    at = r->out->n_nodes;
    fit_node *n = new_node(r, t->node);
    if (!n)
      return;
    n->reduces = true;
    n->op = op;
    n->dtype = dtype;
    n->group = ++r->groups;
  }
  rl_digits_push(&r->digits, type, type->access, type->rank,
                 r->out->node[at].group, &x);
  later(r, kid, at, &x);
}

static void
read_compute(reading *r, const todo *t) {
  const gs_node *n = gs_at(r->p, t->term);
  gs_compute op;
  gs_type type, own;
  gs_compute_of(r->ctx->values, bs_item(r->ctx->values, n->attr, 0), &op);
  gs_compute_kind kind = gs_compute_table[op].kind;
  gs_type_at(r->p, n->kids[0], &type);
  gs_type_at(r->p, t->term, &own);
  if (kind == GS_DOT) {
    read_dot(r, n->kids[0], &type, own.dtype, t);
  } else if (kind == GS_REDUCE) {
    read_reduction(r, n->kids[0], &type, op, own.dtype, t);
  } else if (kind == GS_FOLD || kind == GS_SELECT || kind == GS_ELEMENTWISE ||
             kind == GS_CAST) {
    uint32_t at = r->out->n_nodes;
    fit_node *made = new_node(r, t->node);
    if (!made)
      return;
    made->op = op;
    made->dtype = own.dtype;
    made->spec = r->of_term[t->term.i]->attrs[0];
    if (kind == GS_FOLD || kind == GS_SELECT) {
      note_swap(r, made, type.dim[type.access]);
      read_items(r, n->kids[0], at, &type, &t->x);
    } else {
      later(r, n->kids[0], at, &t->x);
    }
  } else {
    r->failed = true;
  }
}

static void
read_operand(reading *r, const todo *t) {
  uint32_t k = 0;
  while (r->p->inputs.data[k].term.i != t->term.i)
    k++;
  uint32_t at = r->has[k] ? r->out->n_seen : k;
  fit_node *n = new_node(r, t->node);
  if (!n || at == FIT_OPERANDS) {
    r->failed = true;
    return;
  }
  n->is_operand = true;
  n->operand = at;
  n->dtype = r->instr->operands[k].dtype;
  r->operand[at] = t->x;
  r->out->seen_as[at] = (uint8_t)k;
  r->out->n_seen += r->has[k];
  r->has[k] = true;
}

static void
read_term(reading *r, todo t) {
  while (!r->failed) {
    const gs_node *n = gs_at(r->p, t.term);
    gs_type type, kid[2];
    const gs_type *kids[2] = {&kid[0], &kid[1]};
    uint32_t which;
    if (n->op == GS_TENSOR) {
      read_operand(r, &t);
      return;
    }
    if (n->op == GS_COMPUTE) {
      read_compute(r, &t);
      return;
    }
    gs_type_at(r->p, t.term, &type);
    for (uint32_t k = 0; k < n->n_kids && k < 2; k++)
      gs_type_at(r->p, n->kids[k], &kid[k]);
    if (n->op == GS_CALL || n->op == GS_CONST ||
        !rl_digits_down(&r->digits, r->ctx->values, n->op, n->attr, &type, kids,
                        &t.x, &which)) {
      r->failed = true;
      return;
    }
    t.term = n->kids[which];
  }
}

static bool
same_node(const gs_sk_node *a, const gs_sk_node *b, const uint32_t *first) {
  bool same = a->hole == b->hole && a->slot == b->slot && a->op == b->op &&
              a->n_kids == b->n_kids && a->n_attrs == b->n_attrs;
  for (uint32_t k = 0; same && k < a->n_kids; k++)
    same = first[a->kids[k]] == first[b->kids[k]];
  for (uint32_t k = 0; same && k < a->n_attrs; k++)
    same = gs_expr_same(a->attrs[k], b->attrs[k]);
  return same;
}

/* The first node that is the same as node k. */
static uint32_t
first_like(const gs_skeleton *sk, uint32_t k, const uint32_t *first) {
  uint32_t j = 0;
  while (j < k && !same_node(&sk->nodes[j], &sk->nodes[k], first))
    j++;
  return j;
}

/* Where each compute term stands in the semantics: terms are made in the order
 * of the nodes, and equal ones once. */
static void
find_places(reading *r, gs_term root) {
  const gs_skeleton *sk = r->instr->semantics;
  uint32_t *first = BS_NEWS(r->ctx->arena, uint32_t, sk->n), t = 0;
  r->of_term = BS_NEWS(r->ctx->arena, const gs_sk_node *, root.i + (size_t)1);
  for (uint32_t k = 0; k < sk->n; k++) {
    first[k] = first_like(sk, k, first);
    if (first[k] < k || sk->nodes[k].hole || sk->nodes[k].op != GS_COMPUTE)
      continue;
    while (t <= root.i && gs_at(r->p, (gs_term){t})->op != GS_COMPUTE)
      t++;
    if (t <= root.i)
      r->of_term[t++] = &sk->nodes[k];
  }
}

static bool
read_all(reading *r, uint32_t which) {
  gs_term root = write_out(r, which);
  gs_type type;
  if (!gs_term_ok(root))
    return false;
  find_places(r, root);
  gs_type_at(r->p, root, &type);
  rl_digits_clear(&r->digits);
  rl_digits_push(&r->digits, &type, 0, type.rank, 0, &r->result);
  later(r, root, UINT32_MAX, &r->result);
  while (r->stack.len && !r->failed) {
    todo t = bs_pop(&r->stack);
    read_term(r, t);
  }
  bs_vec_done(r->ctx->heap, &r->stack);
  for (uint32_t k = 0; k < r->instr->n_operands; k++)
    r->failed |= !r->has[k];
  for (uint32_t k = 0; k < r->out->n_seen; k++)
    rl_index_normalise(&r->digits, &r->operand[k]);
  rl_index_normalise(&r->digits, &r->result);
  return !r->failed && !r->digits.failed;
}

/* ---- what both have ---- */

static bool
put_shape(const rl_index *x, const uint8_t *id_of, fit_shape *out) {
  out->rank = x->rank;
  for (uint32_t d = 0; d < x->rank; d++) {
    out->n[d] = 0;
    for (uint32_t k = 0; k < x->at[d].n; k++) {
      if (out->n[d] == FIT_IDS)
        return false;
      out->id[d][out->n[d]++] = id_of[x->at[d].digit[k]];
    }
  }
  return true;
}

static bool
same_rows(const rl_index *a, const rl_index *b) {
  if (a->rank != b->rank)
    return false;
  for (uint32_t d = 0; d < a->rank; d++)
    if (a->at[d].n != b->at[d].n ||
        memcmp(a->at[d].digit, b->at[d].digit,
               a->at[d].n * sizeof a->at[d].digit[0]))
      return false;
  return true;
}

/* Digits have the same numbers where both are walked alike. */
static bool
number_digits(const reading *a, const reading *b, uint8_t *id_of) {
  fit_instr *f = a->out;
  if (a->digits.n != b->digits.n || !same_rows(&a->result, &b->result))
    return false;
  for (uint32_t k = 0; k < f->n_seen; k++)
    if (!same_rows(&a->operand[k], &b->operand[k]))
      return false;
  for (uint32_t k = 1; k < a->digits.n; k++) {
    const rl_digit *x = &a->digits.digit[k], *y = &b->digits.digit[k];
    if (x->low)
      continue;
    if (f->n_ids == FIT_IDS)
      return false;
    id_of[k] = (uint8_t)f->n_ids;
    f->id[f->n_ids++] =
        (fit_id){.fixed = x->size == y->size ? x->size : 0, .group = x->group};
  }
  return true;
}

static void
note_operands(fit_instr *f) {
  for (uint32_t k = 0; k < f->n_seen; k++)
    for (uint32_t d = 0; d < f->operand[k].rank; d++)
      for (uint32_t i = 0; i < f->operand[k].n[d]; i++)
        f->id[f->operand[k].id[d][i]].operands |= 1u << k;
}

/* Of a digit that is a whole dimension with a name, what `where` says. */
static void
note_bounds(const reading *r) {
  fit_instr *f = r->out;
  for (uint32_t k = 0; k < f->instr->n_operands; k++)
    for (uint32_t d = 0; d < f->operand[k].rank; d++) {
      const gs_expr *e = f->instr->operands[k].dims[d];
      fit_id *id = &f->id[f->operand[k].id[d][0]];
      if (f->operand[k].n[d] != 1 || e->kind != GS_X_VAR || id->fixed)
        continue;
      id->named = true;
      id->slot = e->slot;
      gs_expr_bounds(r->ctx->values, f->instr->where, e->slot, &id->most);
    }
}

/* A sum that is added to an operand, by the root. */
static uint32_t
sum_begun(const fit_instr *f) {
  const fit_node *root = &f->node[0];
  for (uint32_t k = 0; k < 2 && root->op == GS_C_ADD && root->n_kids == 2;
       k++) {
    const fit_node *sum = &f->node[root->kid[k]];
    if (sum->reduces && sum->op == GS_C_REDUCE_SUM &&
        f->node[root->kid[1 - k]].is_operand && sum->dtype == root->dtype &&
        gs_sum_dtype(root->dtype) == root->dtype)
      return sum->group;
  }
  return 0;
}

/* Whether an instruction of the target adds what this one sums. */
static bool
is_gone_on_with(const gs_context *ctx, const gs_target *t,
                const gs_instr *instr) {
  gs_accumulation by;
  for (uint32_t k = 0; k < t->instrs.len; k++)
    if (gs_accumulates(ctx->values, instr, t->instrs.data[k], &by))
      return true;
  return false;
}

/* A sum outside of memories is added up where its calls are lowered. */
static uint32_t
staged_group(const gs_context *ctx, const gs_target *t, const fit_instr *f) {
  const fit_node *root = &f->node[0];
  bool exact = root->op == GS_C_REDUCE_MAX || root->op == GS_C_REDUCE_MIN ||
               gs_sum_dtype(root->dtype) == root->dtype;
  bool found = root->reduces && exact &&
               gs_compute_table[root->op].is_associative &&
               (f->in_memory || !f->sum) && !is_gone_on_with(ctx, t, f->instr);
  return found ? root->group : 0;
}

static bool
finish(const reading *a, const reading *b) {
  uint8_t id_of[RL_DIGITS] = {0};
  fit_instr *f = a->out;
  const fit_node *root = &f->node[0];
  if (f->n_nodes != b->out->n_nodes || f->n_seen != b->out->n_seen ||
      root->is_operand || !number_digits(a, b, id_of) ||
      !put_shape(&a->result, id_of, &f->result))
    return false;
  for (uint32_t k = 0; k < f->n_seen; k++)
    if (!put_shape(&a->operand[k], id_of, &f->operand[k]))
      return false;
  note_operands(f);
  note_bounds(a);
  fit_find_room(a->ctx, f);
  f->in_memory = f->instr->result.memory != 0;
  for (uint32_t k = 0; k < f->instr->n_operands; k++)
    f->in_memory |= f->instr->operands[k].memory != 0;
  for (uint32_t k = 0; k < f->n_nodes; k++)
    f->goes_on |= f->node[k].reduces &&
                  gs_compute_table[f->node[k].op].is_associative &&
                  f->node[f->node[k].kid[0]].is_operand;
  if (root->reduces && root->op == GS_C_REDUCE_SUM &&
      gs_sum_dtype(root->dtype) == root->dtype)
    f->sum = root->group;
  f->begun = sum_begun(f);
  return true;
}

static bool
can_be_read(const gs_instr *instr) {
  if (!instr->n_operands || instr->n_operands > FIT_OPERANDS ||
      instr->semantics->n > MOST_TERMS)
    return false;
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (instr->operands[k].layout)
      return false;
  return true;
}

const fit_instr *
fit_instr_new(const gs_context *ctx, const gs_target *target,
              const gs_instr *instr) {
  reading *r[2];
  if (!can_be_read(instr))
    return NULL;
  for (uint32_t k = 0; k < 2; k++) {
    r[k] = bs_arena_calloc(ctx->arena, 1, sizeof *r[k]);
    r[k]->ctx = ctx;
    r[k]->instr = instr;
    r[k]->out = bs_arena_calloc(ctx->arena, 1, sizeof *r[k]->out);
    r[k]->out->instr = instr;
    r[k]->out->n_seen = instr->n_operands;
    if (!read_all(r[k], k))
      return NULL;
  }
  if (!finish(r[0], r[1]))
    return NULL;
  r[0]->out->staged = staged_group(ctx, target, r[0]->out);
  return r[0]->out;
}
