/* SPDX-License-Identifier: MIT */
/* auto_inline.c - formulas in the place of arrays.
 *
 * What is computed point by point and read once a point needs no array.  Where
 * a value is read more often, computing it again may cost less than keeping it:
 * little arithmetic, against memory. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include "poly/loops/functions.h"
#include "poly/loops/storage.h"
#include <assert.h>

/* The statement reads this element before expression j, too. */
static bool
is_read_before(const po_stmt *stmt, uint32_t j) {
  assert(j < stmt->n_exprs);
  const po_expr *e = &stmt->exprs[j];
  for (uint32_t k = 0; k < j; k++) {
    const po_expr *other = &stmt->exprs[k];
    if (other->kind == PO_READ && other->array == e->array &&
        isl_pw_multi_aff_plain_is_equal(other->index, e->index) ==
            isl_bool_true)
      return true;
  }
  return false;
}

/* Reads of an array, each point counted, or, as loads, once where a statement
 * reads an element twice; -1 where not known. */
static int64_t
reads_of(const po_program *p, uint32_t array, bool loads) {
  assert(array < p->arrays.len);
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    for (uint32_t j = 0; j < s->n_exprs; j++) {
      if (s->exprs[j].kind == PO_GATHER && s->exprs[j].array == array)
        return -1;
      if (s->exprs[j].kind != PO_READ || s->exprs[j].array != array ||
          (loads && is_read_before(s, j)))
        continue;
      int64_t n = po_likely_instances(p, k);
      if (n < 0 || __builtin_add_overflow(sum, n, &sum))
        return -1;
    }
    for (uint32_t j = 0; s->instr && j < s->instr->n_operands; j++)
      if (s->operands[j].array == array)
        return -1;
  }
  return sum;
}

/* The only statement that writes an array, when that is a plain assignment. */
static uint32_t
assignment_of(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  uint32_t found = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array) {
      if (found != PO_NO_NODE || p->stmts.data[k].kind != PO_ASSIGN ||
          p->stmts.data[k].n_iters != p->stmts.data[k].n_outer)
        return PO_NO_NODE;
      found = k;
    }
  return found;
}

/* Contractions must keep reading arrays. */
static bool
is_read_by_fixed(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (po_stmt_reads(&p->stmts.data[k], array) &&
        !po_may_inline(p, po_root_of(p, k)))
      return true;
  return false;
}

static bool
is_slow(const po_expr *e) {
  return (e->kind == PO_BINARY || e->kind == PO_UNARY) &&
         gs_compute_table[e->op].work >= GS_INLINE_SLOW;
}

bool
po_calls(const po_stmt *s, bool vectors) {
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    const po_expr *e = &s->exprs[j];
    const char *f = e->kind == PO_UNARY ? po_function_of(e->op) : NULL;
    if (f && vectors == (po_is_own_function(f) && e->dtype == GS_F32))
      return true;
  }
  return false;
}

static bool
are_mixed(const po_stmt *a, const po_stmt *b) {
  return (po_calls(a, false) && po_calls(b, true)) ||
         (po_calls(a, true) && po_calls(b, false));
}

bool
po_takes_vectors(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0; p->stmts.data[k].array == array && j < p->stmts.len;
         j++)
      if (j != k && po_stmt_reads(&p->stmts.data[j], array) &&
          are_mixed(&p->stmts.data[k], &p->stmts.data[j]))
        return true;
  return false;
}

/* Operations of a formula; a copy of what a reduction left in a local is
 * none: -1. */
static int64_t
operations_of(const po_program *p, const po_stmt *stmt) {
  int64_t n = 0;
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *e = &stmt->exprs[j];
    if ((e->kind == PO_READ || e->kind == PO_GATHER) &&
        p->arrays.data[e->array].role == PO_LOCAL)
      return -1;
    n += e->kind != PO_READ && e->kind != PO_LITERAL;
    n += is_slow(e) ? (int64_t)gs_compute_table[e->op].work : 0;
    if (e->kind == PO_GATHER || e->kind == PO_SELECT)
      n += GS_INLINE_OPERATIONS;
  }
  return n;
}

/* Loads in place of one of a vector: as many as it has lanes where a read does
 * not go along the elements in the innermost loop. */
static int64_t
loads_in_vectors(const po_program *p, const po_stmt *stmt, uint32_t j) {
  assert(j < stmt->n_exprs);
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, stmt->leaf, loops);
  double lines[PO_MAX_DEPTH];
  int64_t bytes =
      gs_dtype_table[p->arrays.data[stmt->exprs[j].array].dtype].bytes;
  double along = (double)bytes / (double)gs_first_cache(p->target).line;
  bool scattered =
      n && po_access_lines(p, stmt, j, n, lines) && lines[n - 1] > along;
  return scattered ? gs_vector_lanes(p->target, bytes) : 1;
}

/* Loads that a formula takes for each point, and those that it would take if
 * all went along vectors: what is the same along its innermost loop stays in a
 * register. */
typedef struct loads {
  int64_t taken, at_best;
} loads;

static loads
loads_of(const po_program *p, const po_stmt *stmt) {
  loads n = {0, 0};
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *e = &stmt->exprs[j];
    if (e->kind == PO_READ && !is_read_before(stmt, j) && stmt->n_iters &&
        isl_pw_multi_aff_involves_dims(e->index, isl_dim_in, stmt->n_iters - 1,
                                       1) != isl_bool_false) {
      n.taken += loads_in_vectors(p, stmt, j);
      n.at_best++;
    }
  }
  return n;
}

/* What stays in the second cache is kept for a store and a load of each read,
 * in place of which a formula loads each element that it reads. */
static bool
is_cheap_near(const po_program *p, uint32_t array, uint32_t stmt,
              int64_t cost) {
  assert(stmt < p->stmts.len);
  const po_stmt *s = &p->stmts.data[stmt];
  double formula = (double)(cost + loads_of(p, s).taken);
  double made = (double)po_likely_instances(p, stmt);
  double reads = (double)reads_of(p, array, true);
  return reads * formula < made * (formula + 1) + reads;
}

/* What it takes to compute a value again for each use is no more than to keep
 * it, where arrays would be kept by tiles: its operations, or a move, and the
 * loads that a scattered read takes above that of a vector. */
static bool
is_cheap_in_tiles(const po_program *p, uint32_t stmt, int64_t reads,
                  int64_t made, int64_t cost) {
  loads own = loads_of(p, &p->stmts.data[stmt]);
  double scattered = (double)(own.taken - own.at_best);
  double again = (double)(cost ? cost : 1) + scattered;
  return (double)reads * again <= (double)GS_INLINE_OPERATIONS * (double)made;
}

static bool
is_cheap_again(const po_chooser *c, uint32_t array, uint32_t stmt) {
  const po_program *p = po_now(c);
  int64_t reads = reads_of(p, array, false),
          made = po_likely_instances(p, stmt);
  int64_t cost = operations_of(p, &p->stmts.data[stmt]);
  if (reads <= 0 || made <= 0 || cost < 0)
    return false;
  bool again =
      c->options->fuse == PO_FUSE_POST_TILE || c->options->fuse == PO_FUSE_MAX;
  if (c->options->unasked &&
      po_bytes(&p->arrays.data[array]) <= po_bytes_of_cache(p, 2))
    return reads <= made || is_cheap_near(p, array, stmt, cost);
  return reads <= made ||
         (again && is_cheap_in_tiles(p, stmt, reads, made, cost));
}

/* What a kernel makes of its sums where it stores them costs nothing to keep,
 * and a reduction of an array may be a kernel, too. */
static bool
is_better_kept(const po_program *p, uint32_t array, uint32_t stmt) {
  bool reduced = false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    reduced |= p->stmts.data[k].kind == PO_UPDATE &&
               po_stmt_reads(&p->stmts.data[k], array);
  return reduced && po_is_formula(p, po_root_of(p, stmt));
}

static bool
inlining_is_profitable(const po_chooser *c, uint32_t array) {
  const po_program *p = po_now(c);
  uint32_t stmt = assignment_of(p, array);
  if (p->arrays.data[array].role != PO_WORKSPACE || stmt == PO_NO_NODE ||
      !po_may_inline(p, po_root_of(p, stmt)) || is_read_by_fixed(p, array) ||
      po_takes_vectors(p, array) || is_better_kept(p, array, stmt))
    return false;
  return is_cheap_again(c, array, stmt);
}

/* Formulas of what others read before those of the others, whose operations
 * then are all that it takes to make a value again. */
void
po_inline_points(po_chooser *c) {
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped;) {
    uint32_t array = po_now(c)->stmts.data[k].array, n = po_now(c)->stmts.len;
    if (inlining_is_profitable(c, array)) {
      po_step_call call = po_step("compute_inline");
      call.args[0] = po_writers_arg(po_now(c), array);
      if (po_attempt(c, &call, NULL))
        po_lay_out_now(c);
    }
    k += po_now(c)->stmts.len == n;
  }
}

/* ---- outputs ---- */

/* All that a statement reads are inputs or constants, no more of them in bytes
 * than the array that it computes and what is kept near. */
static bool
reads_no_more(const po_program *p, const po_stmt *s, int64_t near) {
  int64_t large = 0;
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    const po_expr *e = &s->exprs[j];
    if (e->kind != PO_READ)
      continue;
    const po_array *a = &p->arrays.data[e->array];
    if (a->role != PO_INPUT && a->role != PO_CONSTANT)
      return false;
    int64_t bytes = po_bytes(a);
    bool seen = false;
    for (uint32_t i = 0; i < j; i++)
      seen |= s->exprs[i].kind == PO_READ && s->exprs[i].array == e->array;
    if (!seen && bytes > near / 8 &&
        __builtin_add_overflow(large, bytes, &large))
      return false;
  }
  return large <= po_bytes(&p->arrays.data[s->array]);
}

static uint32_t
readers_of(const po_program *p, uint32_t array) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    n += po_stmt_reads(&p->stmts.data[k], array);
  return n;
}

bool
po_is_made_again(const po_chooser *c, uint32_t array) {
  assert(array < po_now(c)->arrays.len);
  const po_program *p = po_now(c);
  uint32_t stmt = assignment_of(p, array);
  int64_t near = gs_private_bytes(p->target);
  return (c->options->fuse == PO_FUSE_POST_TILE ||
          c->options->fuse == PO_FUSE_MAX) &&
         p->arrays.data[array].role == PO_OUTPUT && stmt != PO_NO_NODE &&
         po_may_inline(p, po_root_of(p, stmt)) && !is_read_by_fixed(p, array) &&
         readers_of(p, array) > 1 && po_bytes(&p->arrays.data[array]) > near &&
         is_cheap_again(c, array, stmt) &&
         reads_no_more(p, &p->stmts.data[stmt], near);
}
