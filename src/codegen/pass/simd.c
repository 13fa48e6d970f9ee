/* SPDX-License-Identifier: MIT */
/* simd.c - loops whose iterations may run in the lanes of a vector.
 *
 * Compilers see most of them by themselves, but not at every level of
 * optimization, and not how many lanes a schedule asks for.  What is looked at
 * here is the code of one loop: statements only, each of which reads elements
 * that follow the loop through memory or are the same for all iterations, and
 * writes elements that follow it, or variables of one iteration.  What goes by
 * k elements follows it where k accesses do.  No two iterations touch the same
 * element then: another access of an array that is written has the same
 * address, or isl knows that it is of other elements, as of another row.
 * Arrays are distinct, and no formula needs a branch or a call.
 *
 * A sum, or a largest value, that all iterations update is kept in lanes, too,
 * where the order of its terms is free: OpenMP's reduction.  gcc would not find
 * it where threads share the loop around: what they run is a function of its
 * own, whose pointers are not `restrict` any more. */
#include "glenside/target/tuned.h"
#include "codegen/pass/pass.h"
#include "codegen/build/build.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include <assert.h>

/* Statements of a body that is looked at. */
enum { MOST_STMTS = 256 };

/* Pairs of accesses of one body that isl is asked about, and its operations for
 * one of them. */
enum { MOST_ASKED = 32, OPERATIONS = 200000 };

/* A write of one statement and an access of another: its expression k. */
typedef struct pair {
  uint32_t write, other, k;
} pair;

/* A variable that iterations only add to, only multiply, or of which they keep
 * the largest or the smallest. */
typedef struct sum {
  uint32_t array, reorder_class;
} sum;

/* Accesses of an array that go by `step` elements each. */
typedef struct group {
  uint32_t array, n;
  int64_t step;
} group;

/* Groups of one body. */
enum { MOST_GROUPS = 8 };

typedef struct lanes {
  cg_emitter *e;
  const cg_node *loop;
  const char *why; /* not; NULL so far */
  uint32_t n;
  const cg_origin *note[MOST_STMTS];
  uint32_t n_groups;
  group groups[MOST_GROUPS];
  uint32_t n_apart;
  pair apart[MOST_ASKED]; /* that do not meet */
  bool sums_serve;        /* where not, a sum is a shared result */
  uint32_t n_sums;
  sum sums[GS_SUMS_OF_LOOP];
} lanes;

/* ---- accesses ---- */

/* A variable, or an array, of one iteration. */
static bool
is_private(const lanes *l, uint32_t array) {
  assert(array < l->e->p->arrays.len);
  return l->e->p->arrays.data[array].role == PO_LOCAL &&
         l->e->local_node[array] == l->loop->loop;
}

static const sum *
sum_of(const lanes *l, uint32_t array) {
  for (uint32_t k = 0; k < l->n_sums; k++)
    if (l->sums[k].array == array)
      return &l->sums[k];
  return NULL;
}

/* The statement updates a variable around the loop. Integers
 * are left to the compiler: it may reorder them, and OpenMP's sum of the lanes
 * may not wrap around. */
static bool
takes_as_sum(lanes *l, const po_stmt *stmt) {
  const cg_emitter *e = l->e;
  uint32_t order = po_reorder_class(e->p, stmt);
  gs_dtype dtype = e->p->arrays.data[stmt->array].dtype;
  if (!l->sums_serve || gs_dtype_table[dtype].integer ||
      cg_is_indexed(e, stmt->array) || is_private(l, stmt->array) || !order)
    return false;
  const sum *known = sum_of(l, stmt->array);
  if (known || l->n_sums == GS_SUMS_OF_LOOP)
    return known && known->reorder_class == order;
  l->sums[l->n_sums++] = (sum){stmt->array, order};
  return true;
}

static const char scattered[] = "an access does not follow it through memory";

static void
join_group(lanes *l, uint32_t array, int64_t step) {
  uint32_t k = 0;
  while (k < l->n_groups &&
         (l->groups[k].array != array || l->groups[k].step != step))
    k++;
  if (k == MOST_GROUPS) {
    l->why = scattered;
    return;
  }
  if (k == l->n_groups)
    l->groups[l->n_groups++] = (group){.array = array, .step = step};
  l->groups[k].n++;
}

/* As many accesses as elements between two iterations are one row, which is
 * turned over in registers. */
static void
check_groups(lanes *l) {
  for (uint32_t k = 0; k < l->n_groups; k++)
    if (l->groups[k].n < l->groups[k].step)
      l->why = scattered;
}

static void
check_access(lanes *l, const cg_origin *note, uint32_t array, uint32_t k,
             bool written) {
  int64_t step = 0;
  if (is_private(l, array))
    return;
  const cg_expr *index = note->index[k];
  if (index && !cg_coefficient(index, l->loop->head.iterator, &step))
    step = -1;
  if (written && !step)
    l->why = "its iterations share a result";
  else if (step > 1 && step <= GS_GROUP_MOST)
    join_group(l, array, step);
  else if (step != 0 && step != 1)
    l->why = scattered;
}

/* { S[i] -> A[x] } of an access, x as it is kept. */
static __isl_give isl_union_map *
places_of(const po_program *p, const po_stmt *s, isl_pw_multi_aff *index,
          uint32_t array) {
  isl_map *access = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
  access = isl_map_intersect_domain(access, isl_set_copy(s->domain));
  return po_to_places(p, array, isl_union_map_from_map(access));
}

/* Iterations of a loop at this depth, those around it the same ones. */
static __isl_give isl_map *
different_iterations(isl_ctx *isl, uint32_t depth) {
  isl_map *all =
      isl_map_universe(isl_space_map_from_set(po_space(isl, depth + 1)));
  for (uint32_t k = 0; k < depth; k++)
    all = isl_map_equate(all, isl_dim_in, (int)k, isl_dim_out, (int)k);
  int d = (int)depth;
  isl_map *before =
      isl_map_order_lt(isl_map_copy(all), isl_dim_in, d, isl_dim_out, d);
  return isl_map_union(before,
                       isl_map_order_gt(all, isl_dim_in, d, isl_dim_out, d));
}

/* No iteration's write is of what the access of another one is of. */
static bool
are_apart(const lanes *l, const pair *x) {
  const po_program *p = l->e->p;
  const po_stmt *s = &p->stmts.data[x->write], *t = &p->stmts.data[x->other];
  isl_pw_multi_aff *index =
      x->k == t->n_exprs ? t->write : t->exprs[x->k].index;
  if (!index || !s->write)
    return false;
  uint32_t depth = po_nest_depth(p, l->loop->loop);
  cg_limit(l->e, OPERATIONS);
  isl_union_map *met = isl_union_map_apply_range(
      places_of(p, s, s->write, s->array),
      isl_union_map_reverse(places_of(p, t, index, s->array)));
  met = isl_union_map_intersect(
      met, isl_union_map_from_map(po_related(
               s, t, depth + 1, different_iterations(p->isl, depth))));
  bool apart = isl_union_map_is_empty(met) == isl_bool_true;
  isl_union_map_free(met);
  isl_ctx_reset_error(p->isl);
  cg_limit(l->e, CG_OPERATIONS);
  return apart;
}

/* Each pair is asked about once. */
static bool
are_known_apart(lanes *l, pair x) {
  for (uint32_t k = 0; k < l->n_apart; k++)
    if (l->apart[k].write == x.write && l->apart[k].other == x.other &&
        l->apart[k].k == x.k)
      return true;
  if (l->n_apart == MOST_ASKED || !are_apart(l, &x))
    return false;
  l->apart[l->n_apart++] = x;
  return true;
}

/* An access of an array that the loop writes is of the element written, or of
 * none that another iteration writes. */
static void
check_pair(lanes *l, const cg_origin *write, const cg_origin *other) {
  const po_stmt *stmt = &l->e->p->stmts.data[other->stmt];
  uint32_t array = l->e->p->stmts.data[write->stmt].array;
  if (is_private(l, array))
    return;
  for (uint32_t k = 0; k <= stmt->n_exprs && !l->why; k++) {
    bool is_target = k == stmt->n_exprs;
    if (array != (is_target ? stmt->array : stmt->exprs[k].array) ||
        (!is_target && stmt->exprs[k].kind != PO_READ) ||
        (is_target && sum_of(l, array)))
      continue;
    const cg_expr *a = write->index[write->n - 1], *b = other->index[k];
    if ((!a || !b || !cg_equal(a, b)) &&
        !are_known_apart(l, (pair){write->stmt, other->stmt, k}))
      l->why = "another iteration may need what one writes";
  }
}

static void
check_stmt(lanes *l, const cg_origin *note) {
  const po_stmt *stmt = &l->e->p->stmts.data[note->stmt];
  if (stmt->kind == PO_CALL) {
    l->why = "an instruction is called";
    return;
  }
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    if (cg_has_branch_or_call(l->e, stmt, &stmt->exprs[k]))
      l->why = "a formula needs a branch or a call";
    if (stmt->exprs[k].kind == PO_READ)
      check_access(l, note, stmt->exprs[k].array, k, false);
  }
  if (gs_is_half(l->e->p->arrays.data[stmt->array].dtype))
    l->why = "a formula needs a branch or a call";
  if (!takes_as_sum(l, stmt))
    check_access(l, note, stmt->array, note->n - 1, true);
}

/* ---- bodies ---- */

static void
collect_stmt(lanes *l, const cg_origin *note) {
  check_stmt(l, note);
  if (l->n == MOST_STMTS)
    l->why = "its body is long";
  else
    l->note[l->n++] = note;
}

/* The statements of an iteration, those of loops written out as well. */
static void
collect(lanes *l, const cg_node *chain) {
  for (const cg_node *n = chain; n && !l->why; n = n->next)
    switch (n->kind) {
    case CG_STORE:
    case CG_TEMPLATE:
      collect_stmt(l, n->origin);
      break;
    case CG_MARK:
      collect(l, n->first);
      break;
    case CG_IF:
      l->why = "there is a test in it";
      break;
    case CG_COMMENT:
    case CG_NOTHING:
      break;
    case CG_FOR:
    case CG_BLOCK:
    case CG_LET:
    case CG_DO:
    case CG_BARRIER:
    case CG_LAUNCH:
    case CG_RETURN:
    case CG_SWITCH:
    case CG_CASE:
    case CG_WHEN:
    case CG_CONTINUE:
    case CG_ERROR:
      l->why = "there is a loop in it";
    }
}

static void
look(lanes *l) {
  const cg_node *loop = l->loop;
  if (loop->loop == CG_NO_LOOP || loop->head.step != 1 || !loop->head.last) {
    l->why = "it does not advance by one";
    return;
  }
  collect(l, loop->first);
  check_groups(l);
  for (uint32_t k = 0; k < l->n && !l->why; k++)
    for (uint32_t j = 0; j < l->n && !l->why; j++)
      check_pair(l, l->note[k], l->note[j]);
}

const char *
cg_why_not_simd(cg_emitter *e, const cg_node *loop) {
  assert(loop->kind == CG_FOR);
  lanes l = {.e = e, .loop = loop};
  look(&l);
  return l.why;
}

/* ---- what is found ---- */

bool
cg_explain_lanes(cg_emitter *e, const cg_node *loop) {
  assert(loop->loop < e->p->nest.nodes.len);
  const char *why = cg_why_not_simd(e, loop);
  if (why)
    bs_note(e->p->ctx.diags, BS_NOWHERE,
            "the compiler may not use vectors for loop %s: %s",
            e->p->nest.nodes.data[loop->loop].name, why);
  return !why;
}

/* Clauses of one kind stand side by side. */
static void
note_reductions(const lanes *l, cg_for *head) {
  static const struct {
    uint32_t order;
    cg_joined_by by;
  } kinds[] = {{PO_ORDER_SUM, CG_JOINED_BY_SUM},
               {PO_ORDER_PRODUCT, CG_JOINED_BY_PRODUCT},
               {PO_ORDER_MAX, CG_JOINED_BY_MAX},
               {PO_ORDER_MIN, CG_JOINED_BY_MIN}};
  cg_reduction *out = BS_NEWS(&l->e->arena, cg_reduction, l->n_sums);
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for (uint32_t k = 0; k < l->n_sums; k++)
      if (l->sums[k].reorder_class == kinds[kind].order)
        out[head->n_reductions++] = (cg_reduction){
            kinds[kind].by, l->e->p->arrays.data[l->sums[k].array].name};
  head->reductions = out;
}

/* Whether a vector of sums of four bytes ends behind the loop, or may; of wider
 * ones it is said too often, which costs nothing. */
static bool
is_ragged(const cg_emitter *e, const cg_for *head, int64_t trips) {
  int64_t fours = e->p->target->vector_bytes / 4;
  return head->n_reductions && fours > 1 && (!head->trips || trips % fours);
}

/* Elements of a row that an iteration reads or writes. */
static int64_t
longest_group(const lanes *l) {
  int64_t most = 1;
  for (uint32_t k = 0; k < l->n_groups; k++)
    if (l->groups[k].step > most)
      most = l->groups[k].step;
  return most;
}

/* A loop whose iterations are not shared out, and whose order is left to the
 * compiler. */
static void
find(cg_emitter *e, cg_node *n) {
  cg_for *head = &n->head;
  if (!e->options->openmp || !cg_is_loop(n) || n->iteration == CG_NO_LOOP ||
      head->is_team || e->p->nest.nodes.data[n->loop].mark != PO_SERIAL)
    return;
  int64_t trips = head->trips ? head->trips : cg_range_size(e->p, n->loop);
  lanes l = {.e = e, .loop = n, .sums_serve = true};
  if (trips && trips < GS_VECTOR_ITERATIONS / GS_GROUP_MOST)
    return;
  look(&l);
  if (l.why || (trips && trips < GS_VECTOR_ITERATIONS / longest_group(&l)))
    return;
  head->lanes = CG_LANES_SEEN;
  note_reductions(&l, head);
  head->is_ragged = is_ragged(e, head, trips);
}

static void
visit(cg_emitter *e, cg_node *body) {
  for (cg_node *n = body; n; n = n->next) {
    if (n->kind == CG_FOR)
      find(e, n);
    visit(e, n->first);
    if (n->kind == CG_IF)
      visit(e, n->test.otherwise);
  }
}

void
cg_find_lanes(cg_pass_state *s) {
  visit(s->e, *s->body);
}
