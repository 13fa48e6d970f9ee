/* SPDX-License-Identifier: MIT */
/* contraction_program.c - the contractions of a program: which groups of
 * statements run around a register-tiled kernel, and the arrays they pack. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/kernel/contraction_alike.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops_sizes.h"
#include "base/whole.h"
#include <assert.h>

static bool
is_profitable(const gs_sizes *s, const po_contraction *c) {
  const gs_numbers *over = po_over(s);
  int64_t m = gs_most_of(s, po_cdims_product(over, &c->dims[PO_DIM_M], 0));
  int64_t n = gs_most_of(s, po_cdims_product(over, &c->dims[PO_DIM_N], 0));
  int64_t k = gs_most_of(s, po_cdims_product(over, &c->dims[PO_DIM_K], 0));
  return m > 1 && n > 1 &&
         (double)m * (double)n * (double)k >= GS_KERNEL_PRODUCTS;
}

static bool
names_outer(const po_coperand *operand) {
  for (uint32_t g = 0; g < operand->n_guards; g++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (operand->guards[g].factor[PO_DIM_O][k])
        return true;
  return false;
}

/* The operand can be packed once and for all: the parts of it that outer loops
 * move to are alike. */
static bool
is_constant(const po_program *p, const po_contraction *c, bool x) {
  const po_coperand *operand = x ? &c->x : &c->y;
  const po_array *a = &p->arrays.data[operand->array];
  return (a->prepack || a->before) && !names_outer(operand);
}

/* A matrix times a vector reads each element of the matrix once, so that it
 * pays if the matrix was packed before: along vectors there is nothing to add
 * up across lanes. */
static bool
is_packed_matrix(const po_program *p, const po_contraction *c) {
  int64_t m = po_cdims_size(&c->dims[PO_DIM_M]);
  int64_t n = po_cdims_size(&c->dims[PO_DIM_N]);
  int64_t k = po_cdims_size(&c->dims[PO_DIM_K]);
  bool vector = (m == 1) != (n == 1) && !c->dims[PO_DIM_O].n;
  return vector && is_constant(p, c, n == 1) &&
         (!po_is_mixed(c) ||
          gs_multiplies(p->target, c->factor[0], c->factor[1], c->dtype) > 0) &&
         (double)m * (double)n * (double)k >= GS_KERNEL_PRODUCTS;
}

/* Elements, or bytes for an instruction, of panels of integers. */
static po_array
packed_by_numbers(const po_contraction *c, bool x) {
  int64_t width = po_panel_width(c, x);
  int64_t rows =
      bs_round_up(po_cdims_size(&c->dims[x ? PO_DIM_M : PO_DIM_N]), width);
  return (po_array){.rank = 1,
                    .dim = {c->mac.mac
                                ? rows / width * c->mac.panel[!x]
                                : po_parts_of(c, x) * rows *
                                      po_cdims_size(&c->dims[PO_DIM_K])}};
}

/* The array of an operand that is packed whole. */
static uint32_t
add_packed(po_program *p, gs_sizes *s, const po_contraction *c, bool x) {
  bool before = (x ? c->x_mode : c->y_mode) == PO_BEFORE;
  po_array packed;
  if (!s || before)
    packed = packed_by_numbers(c, x);
  else
    po_describe_packed(p, s, c, x, &packed);
  packed.name = bs_arena_printf(&p->arena, "glen_packed%u", p->arrays.len);
  packed.role = before ? PO_PREPACKED : PO_WORKSPACE;
  packed.dtype = c->mac.mac ? GS_U8 : c->dtype;
  packed.term = GS_NO_TERM;
  packed.packed = true;
  bs_push(p->ctx.heap, &p->arrays, packed);
  return p->arrays.len - 1;
}

static uint32_t
packed_of(const po_contraction *c, bool x) {
  return x ? c->packed_x : c->packed_y;
}

static bool
walks_alike(const po_cdims *a, const po_cdims *b, bool x) {
  bool same = a->n == b->n;
  for (uint32_t k = 0; same && k < a->n; k++)
    same = a->d[k].extent == b->d[k].extent &&
           (x ? a->d[k].x == b->d[k].x : a->d[k].y == b->d[k].y);
  return same;
}

/* Both pack the same elements beforehand, once, in the same order. */
static bool
pack_alike(const po_contraction *a, const po_contraction *b, bool x) {
  const po_coperand *from = x ? &a->x : &a->y, *other = x ? &b->x : &b->y;
  po_dim_role role = x ? PO_DIM_M : PO_DIM_N;
  return (x ? a->x_mode : a->y_mode) == PO_BEFORE &&
         (x ? b->x_mode : b->y_mode) == PO_BEFORE && !a->mac.mac &&
         !b->mac.mac && from->array == other->array &&
         from->base == other->base && !from->n_guards && !other->n_guards &&
         a->dtype == b->dtype && a->kc == b->kc &&
         po_panel_width(a, x) == po_panel_width(b, x) && !a->dims[PO_DIM_O].n &&
         !b->dims[PO_DIM_O].n &&
         walks_alike(&a->dims[role], &b->dims[role], x) &&
         walks_alike(&a->dims[PO_DIM_K], &b->dims[PO_DIM_K], x);
}

/* What an earlier one packs the same way, as each step of a recurrence does, is
 * packed once. */
static uint32_t
find_packed(po_program *p, gs_sizes *s, const po_contraction *c, bool x) {
  for (uint32_t k = 0; k < p->contractions.len && !s; k++)
    if (pack_alike(p->contractions.data[k], c, x))
      return packed_of(p->contractions.data[k], x);
  return add_packed(p, s, c, x);
}

bool
po_packs_first(const po_program *p, const po_contraction *c, bool x) {
  assert(p->contractions.len);
  for (uint32_t k = 0; p->contractions.data[k] != c; k++) {
    const po_contraction *before = p->contractions.data[k];
    if ((x ? before->x_mode : before->y_mode) == PO_BEFORE &&
        packed_of(before, x) == packed_of(c, x))
      return false;
  }
  return true;
}

bool
po_is_as_lowered(const po_program *p, const po_stmt *s) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  for (uint32_t k = 0; k < n; k++)
    if (p->nest.nodes.data[loops[k]].mark > PO_PARALLEL)
      return false;
  if (n != s->n_iters)
    return false;
  isl_multi_aff *identity = po_map_with_sizes(p, po_identity(p->isl, n));
  isl_multi_aff *time =
      isl_multi_aff_reset_tuple_id(isl_multi_aff_copy(s->time), isl_dim_in);
  time = isl_multi_aff_reset_tuple_id(time, isl_dim_out);
  bool same = isl_multi_aff_plain_is_equal(time, identity) == isl_bool_true;
  isl_multi_aff_free(time);
  isl_multi_aff_free(identity);
  return same;
}

/* What was found of a sum. */
typedef struct known {
  po_sum sum;
  const po_contraction *plan; /* NULL: it is no kernel */
} known;

/* Layers that are alike follow each other closely. */
enum { MOST_COMPARED = 16 };

/* What is looked for: the reason why a group is none is put into `why`, where
 * that is not NULL. */
typedef struct looking {
  po_program *p;
  gs_sizes *sizes; /* or NULL */
  const po_groups *groups;
  po_contraction *room; /* four, too large for a stack */
  bs_text *why;
  BS_VEC(known) known; /* of groups before */
} looking;

static bool
none(const looking *l, const char *reason) {
  if (l->why) {
    bs_text_clear(l->why);
    bs_put(l->why, reason);
  }
  return false;
}

uint32_t
po_formula_behind(const po_program *p, const po_groups *groups, uint32_t k) {
  assert(k < groups->list.len);
  const po_group *next = &groups->list.data[k] + 1;
  if (k + 1 == groups->list.len || next->n != 1 || next[-1].n < 2)
    return UINT32_MAX;
  uint32_t stmt = groups->stmts.data[next->first];
  return po_is_as_lowered(p, &p->stmts.data[stmt]) ? stmt : UINT32_MAX;
}

/* The statements of a group as a sum, with the formula that may be computed
 * where sums are stored. */
static bool
find_sum(const looking *l, uint32_t k, po_sum *out) {
  assert(k < l->groups->list.len);
  const po_program *p = l->p;
  const po_group *group = &l->groups->list.data[k];
  const uint32_t *stmts = l->groups->stmts.data + group->first;
  out->formula = PO_NO_STMT;
  if (!po_find_parts(p, stmts, group->n, &out->parts))
    return none(l, "its loops hold more than a sum, its start and its store");
  for (uint32_t j = 0; j < group->n; j++)
    if (!po_is_as_lowered(p, &p->stmts.data[stmts[j]]))
      return none(l, "its loops were changed by the schedule");
  uint32_t formula = po_formula_behind(p, l->groups, k);
  if (formula != PO_NO_STMT && out->parts.init != PO_NO_STMT &&
      po_may_be_formula(p, stmts[group->n - 1], formula))
    out->formula = formula;
  return true;
}

/* The sum as a contraction, with the formula if that can be. */
static bool
find_products(const looking *l, const po_sum *sum) {
  po_contraction *out = l->room;
  if (sum->formula != PO_NO_STMT &&
      po_find_contraction(l->p, l->sizes, &sum->parts, sum->formula, out))
    return true;
  return po_find_contraction(l->p, l->sizes, &sum->parts, PO_NO_STMT, out) ||
         none(l, out->refused);
}

static bool
find_in_group(const looking *l, uint32_t k) {
  po_sum sum;
  return find_sum(l, k, &sum) && find_products(l, &sum);
}

static bool
plan_found(const looking *l, const po_contract_choice *fixed) {
  po_contraction *out = l->room;
  const bool constant[2] = {is_constant(l->p, out, true),
                            is_constant(l->p, out, false)};
  bool one = !out->dims[PO_DIM_O].n; /* instructions have panels of one part */
  const bool whole[2] = {one && constant[0], one && constant[1]};
  if (l->sizes)
    return !po_is_mixed(out) && po_plan_sized(l->p, l->sizes, constant, fixed,
                                              out, l->room + 1, l->why);
  if (!(l->p->strict_fp && out->dtype != GS_I32) && !out->adds &&
      po_plan_mac(l->p->target, whole, fixed, out, l->room + 1, l->why))
    return true;
  return !po_is_mixed(out) && po_plan_contraction(l->p->target, constant, fixed,
                                                  out, l->room + 1, l->why);
}

/* What is fixed may have been said of another target: then the plan chooses. */
static bool
plan_sum(const looking *l, const po_sum *sum) {
  if (!find_products(l, sum))
    return false;
  const po_contract_choice *fixed =
      l->p->stmts.data[sum->parts.update].contract;
  if (fixed && fixed->as != PO_AS_KERNEL)
    return none(l, fixed->as == PO_AS_LOOPS ? "it runs as loops"
                                            : "it runs as tiles of windows");
  if (!fixed)
    return (is_profitable(l->sizes, l->room) ||
            (!l->sizes && is_packed_matrix(l->p, l->room))) &&
           plan_found(l, NULL);
  po_contraction *found = bs_arena_copy(&l->p->arena, l->room, sizeof *found);
  if (plan_found(l, fixed))
    return true;
  *l->room = *found;
  return plan_found(&(looking){l->p, l->sizes, l->groups, l->room, NULL, {0}},
                    NULL);
}

/* A group before it that is alike, whose plan, if it has one, is made its own;
 * NULL: there is none. */
static const known *
known_like(const looking *l, const po_sum *sum) {
  po_sum_arrays arrays;
  for (uint32_t k = l->known.len, n = 0; k-- > 0 && n < MOST_COMPARED; n++) {
    const known *other = &l->known.data[k];
    if (!po_sums_are_alike(l->p, &other->sum, sum, &arrays))
      continue;
    if (other->plan) {
      *l->room = *other->plan;
      po_plan_becomes(l->room, sum, &arrays);
    }
    return other;
  }
  return NULL;
}

/* The plan in the arena, or NULL where the sum is no kernel. */
static po_contraction *
keep(const looking *l, bool planned) {
  return planned ? bs_arena_copy(&l->p->arena, l->room, sizeof *l->room) : NULL;
}

/* Planned, unless a sum that is alike was. */
static po_contraction *
plan_anew(looking *l, const po_sum *sum) {
  const known *like = l->sizes ? NULL : known_like(l, sum);
  po_contraction *plan = keep(l, like ? like->plan != NULL : plan_sum(l, sum));
  if (!like)
    bs_push(l->p->ctx.heap, &l->known, (known){*sum, plan});
  return plan;
}

/* What a limit cut off is not remembered. */
static po_contraction *
plan_and_remember(looking *l, const po_sum *sum, const po_memo_key *key) {
  po_contraction *plan = plan_anew(l, sum);
  if (!po_is_exhausted(l->p->isl))
    po_keep_plan(l->p, key, plan);
  return plan;
}

/* The plan that is found for a group, in the arena. */
static po_contraction *
plan_group(looking *l, uint32_t k) {
  po_sum sum;
  po_memo_key key;
  bool planned;
  if (!find_sum(l, k, &sum))
    return NULL;
  if (!po_plan_key(l->p, &sum, &key))
    return plan_anew(l, &sum);
  if (po_known_plan(l->p, &sum, &key, &planned, l->room))
    return keep(l, planned);
  return plan_and_remember(l, &sum, &key);
}

#ifndef NDEBUG
/* What code is made from: statements and arrays are of the program, all numbers
 * of the plan are there, and windows of one operand at most are read. */
static bool
is_planned(const po_program *p, const po_contraction *c) {
  bool ok = c->update < p->stmts.len && c->x.array < p->arrays.len &&
            c->y.array < p->arrays.len && c->c.array < p->arrays.len;
  for (int role = 0; role < 4; role++)
    ok &= c->dims[role].n <= PO_MAX_DIMS;
  ok &= c->n_extras <= PO_MAX_EXTRAS && c->x.n_guards <= PO_MAX_GUARDS &&
        c->y.n_guards <= PO_MAX_GUARDS && !c->c.n_guards;
  return ok && c->mr >= 1 && c->nv >= 1 &&
         (c->mac.mac || (c->lanes >= 1 && c->kc >= 1)) &&
         (c->x_mode != PO_WINDOWS || c->y_mode != PO_WINDOWS);
}
#endif

void
po_plan_contractions(po_program *p, const po_groups *groups) {
  while (p->arrays.len && p->arrays.data[p->arrays.len - 1].packed)
    p->arrays.len--;
  bs_clear(&p->contractions);
  po_contraction *c = bs_calloc(p->ctx.heap, 4, sizeof *c);
  gs_sizes *sizes = po_numbers_of(p, &p->arena);
  looking l = {p, sizes, groups, c, NULL, {0}};
  for (uint32_t k = 0; k < groups->list.len && !p->plain; k++) {
    po_contraction *plan = plan_group(&l, k);
    if (!plan)
      continue;
    if (po_is_packed_whole(plan->x_mode))
      plan->packed_x = find_packed(p, sizes, plan, true);
    if (po_is_packed_whole(plan->y_mode))
      plan->packed_y = find_packed(p, sizes, plan, false);
    assert(is_planned(p, plan));
    bs_push(p->ctx.heap, &p->contractions, plan);
  }
  bs_vec_done(p->ctx.heap, &l.known);
  bs_free(p->ctx.heap, c);
}

const po_contraction *
po_contraction_of_update(const po_program *p, uint32_t update) {
  assert(update < p->stmts.len);
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (p->contractions.data[k]->update == update)
      return p->contractions.data[k];
  return NULL;
}

static bool
holds(const po_groups *groups, const po_group *group, uint32_t stmt) {
  for (uint32_t k = group->first; k < group->first + group->n; k++)
    if (groups->stmts.data[k] == stmt)
      return true;
  return false;
}

/* The group of the update is planned once more, for the reason. */
static void
explain(po_program *p, uint32_t update, bs_text *why) {
  assert(update < p->stmts.len);
  po_groups groups;
  po_find_groups(p, &groups);
  po_contraction *room = bs_calloc(p->ctx.heap, 4, sizeof *room);
  looking l = {p, po_numbers_of(p, &p->arena), &groups, room, why, {0}};
  for (uint32_t k = 0; k < groups.list.len; k++)
    if (holds(&groups, &groups.list.data[k], update) && find_in_group(&l, k) &&
        plan_found(&l, p->stmts.data[update].contract))
      none(&l, "it took too long to look at"); /* a limit stopped po_lay_out */
  bs_free(p->ctx.heap, room);
  po_groups_done(p, &groups);
}

static bool
runs_as(const po_program *p, uint32_t update, po_contract_as as) {
  const po_contraction *c = po_contraction_of_update(p, update);
  const po_slide *tiles = po_slide_of_update(p, update);
  switch (as) {
  case PO_AS_KERNEL:
    return c && c->chosen;
  case PO_AS_TILES:
    return tiles && tiles->chosen;
  case PO_AS_LOOPS:
    return !c && !tiles;
  }
  return false;
}

bool
po_runs_as_chosen(po_program *p, uint32_t update, bs_text *why) {
  assert(update < p->stmts.len);
  const po_contract_choice *fixed = p->stmts.data[update].contract;
  if (!fixed || runs_as(p, update, fixed->as))
    return true;
  if (fixed->as == PO_AS_TILES)
    bs_put(why, "it is no reduction over windows whose tiles can have so many "
                "rows and vectors");
  else
    explain(p, update, why);
  return false;
}

const po_contraction *
po_contraction_of(const po_program *p, const po_groups *groups,
                  const po_group *group) {
  uint32_t first = groups->stmts.data[group->first];
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    const po_contraction *c = p->contractions.data[k];
    if ((c->adds ? c->update : c->init) == first)
      return c;
  }
  return NULL;
}
