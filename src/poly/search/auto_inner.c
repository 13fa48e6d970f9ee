/* SPDX-License-Identifier: MIT */
/* auto_inner.c - the loops around statements, last of all.
 *
 * From a statement outwards: loops of few iterations are written out while
 * their product is small; the first long loop is the one that runs along a
 * vector.  Where loops below it are shorter at its ends than between them, its
 * full part gets code of its own, and so does that of the loops of the same
 * nest around it; tile loops, and those over threads, stay one.  Rows of what
 * is kept on the way are padded to whole vectors. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include "poly/loops/mask.h"
#include "poly/loops/storage.h"
#include <assert.h>

static void
mark(po_chooser *c, const char *how, uint32_t loop) {
  po_step_call call = po_step(how);
  call.args[0] = po_loop_arg(loop);
  po_attempt(c, &call, NULL);
}

/* A loop that is written out below it runs over fewer values in some of its
 * iterations. */
static bool
is_uneven(const po_program *p, uint32_t loop) {
  int64_t min, count;
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE;
       k = po_nest_next(p, k, loop))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == PO_UNROLL &&
        !po_constant_range(p, k, &min, &count))
      return true;
  return false;
}

/* From a loop outwards, as long as it is the nest's own: what stands beside it
 * shares the loops around. */
static void
separate_points(po_chooser *c, uint32_t loop) {
  uint32_t up;
  for (; loop != PO_NO_NODE && loop != 0; loop = up) {
    const po_nest_node *n = po_node(po_now(c), loop);
    up = n->prev == PO_NO_NODE && n->next == PO_NO_NODE ? n->parent : 0;
    if (n->kind == PO_LOOP && n->mark == PO_SERIAL && !n->separate &&
        is_uneven(po_now(c), loop))
      mark(c, "separate", loop);
  }
}

/* Rows at borders, of which some windows lack a part, apart from the others:
 * what stands side by side in the loop is one nest. */
static void
separate_rows(po_chooser *c) {
  for (uint32_t k = 0; k < c->n_rows && !c->stopped; k++)
    if (is_uneven(po_now(c), c->rows[k]))
      mark(c, "separate", c->rows[k]);
}

/* A long loop that ends early at times: every iteration written out would be
 * a test. */
static bool
is_part(const po_program *p, uint32_t loop, int64_t most) {
  int64_t min, count;
  return most > GS_VECTOR_ITERATIONS &&
         !po_constant_range(p, loop, &min, &count);
}

bool
po_is_summed_over(const po_program *p, uint32_t leaf, uint32_t loop) {
  assert(po_node(p, leaf)->kind == PO_LEAF);
  const po_stmt *stmt = &p->stmts.data[po_node(p, leaf)->stmt];
  isl_aff *aff = isl_multi_aff_get_aff(stmt->time, (int)po_nest_depth(p, loop));
  bool is =
      isl_aff_involves_dims(aff, isl_dim_in, stmt->n_outer,
                            stmt->n_iters - stmt->n_outer) == isl_bool_true;
  isl_aff_free(aff);
  return is;
}

/* Statements in one iteration of the loop with what is written out below it
 * written out; those beyond GS_UNROLL_STATEMENTS are not counted. */
static int64_t
statements_in(const po_program *p, uint32_t loop) {
  int64_t sum = 0;
  for (uint32_t leaf = po_nest_first_leaf(p, loop);
       leaf != PO_NO_NODE && sum <= GS_UNROLL_STATEMENTS;
       leaf = po_nest_next_leaf(p, leaf, loop)) {
    int64_t product = 1;
    for (uint32_t k = po_node(p, leaf)->parent;
         k != loop && product <= GS_UNROLL_STATEMENTS;
         k = po_node(p, k)->parent)
      if (po_node(p, k)->mark == PO_UNROLL)
        product *= po_most_iterations(p, k);
    sum += product;
  }
  return sum;
}

/* What the statement reads lies along the loop, and far less so along the one
 * around it, which is innermost once this one is written out. */
static bool
runs_along_memory(const po_program *p, uint32_t leaf, uint32_t loop) {
  const po_stmt *s = &p->stmts.data[po_node(p, leaf)->stmt];
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, leaf, loops);
  uint32_t d = po_nest_depth(p, loop);
  double own = 0, around = 0;
  for (uint32_t k = 0; k < s->n_exprs && d; k++) {
    double lines[PO_MAX_DEPTH];
    if (s->exprs[k].kind == PO_READ &&
        p->arrays.data[s->exprs[k].array].role != PO_LOCAL &&
        po_access_lines(p, s, k, n, lines)) {
      own += lines[d];
      around += lines[d - 1];
    }
  }
  return 2 * own < around;
}

/* The statement's reads go on at the end of the loop as within it, where they
 * go by `step` or stay: the rows of the loop above follow one another. */
static bool
is_followed(const po_program *p, uint32_t leaf, uint32_t loop, int64_t step) {
  const po_stmt *s = &p->stmts.data[po_node(p, leaf)->stmt];
  int64_t next, stride[PO_MAX_DEPTH], n = po_most_iterations(p, loop);
  uint32_t d = po_nest_depth(p, loop);
  bool ok = d && n > 0 && !__builtin_mul_overflow(n, step, &next);
  for (uint32_t k = 0; k < s->n_exprs && ok; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind == PO_READ)
      ok = po_strides_of(p, s, e->index, e->array, stride) &&
           ((stride[d] == step && stride[d - 1] == next) ||
            (!stride[d] && !stride[d - 1]));
  }
  return ok;
}

/* What is added up lies in rows that follow one another and are worth vectors
 * together: codegen/pass/pass_join.c makes one loop of them. */
static bool
is_in_long_row(const po_program *p, uint32_t leaf, uint32_t loop) {
  int64_t n = po_most_iterations(p, loop), step = 1;
  for (uint32_t up = po_node(p, loop)->parent;
       n > 0 && n < GS_SUM_ROWS && up && po_is_summed_over(p, leaf, up) &&
       is_followed(p, leaf, loop, step);
       loop = up, up = po_node(p, loop)->parent) {
    step = n;
    if (__builtin_mul_overflow(n, po_most_iterations(p, up), &n))
      return false;
  }
  return n >= GS_SUM_ROWS;
}

/* Of what is normalised, elements are results that the sum's loop makes. */
static bool
adds_up(const po_program *p, uint32_t leaf) {
  return p->stmts.data[po_node(p, leaf)->stmt].kind == PO_UPDATE;
}

/* A loop that ends where data says stays one. */
static bool
is_written_out(const po_program *p, uint32_t leaf, uint32_t loop, int64_t n,
               int64_t product, int64_t *results) {
  po_mask mask;
  if (n < 1 || product > GS_UNROLL_WHOLE / n || is_part(p, loop, n) ||
      po_mask_of(p, &p->stmts.data[po_node(p, leaf)->stmt], &mask) ||
      (n >= GS_VECTOR_ITERATIONS && runs_along_memory(p, leaf, loop)))
    return false;
  if (adds_up(p, leaf) && po_is_summed_over(p, leaf, loop))
    return n >= GS_SUM_ROWS || !is_in_long_row(p, leaf, loop);
  *results *= n;
  return n <= GS_UNROLL_ROW && *results <= GS_UNROLL_RESULTS &&
         statements_in(p, loop) <= GS_UNROLL_STATEMENTS / n;
}

/* By statement: it does little of what is added to its array, being a piece
 * for a border, whose code is not worth its length. The caller's to free. */
static bool *
find_rare(const po_program *p) {
  bs_heap *heap = p->ctx.heap;
  bool *rare = bs_calloc(heap, p->stmts.len, sizeof *rare);
  double *count = bs_calloc(heap, p->stmts.len, sizeof *count);
  double *most = bs_calloc(heap, p->arrays.len, sizeof *most);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (s->kind != PO_UPDATE)
      continue;
    count[k] = po_estimate_instances(p, k);
    if (count[k] > most[s->array])
      most[s->array] = count[k];
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    rare[k] = p->stmts.data[k].kind == PO_UPDATE &&
              count[k] < most[p->stmts.data[k].array] / 4;
  bs_free(heap, count);
  bs_free(heap, most);
  return rare;
}

/* Around a statement, from the inside out; the first loop that is not written
 * out.  sums: only loops over what is reduced. */
static uint32_t
write_out(po_chooser *c, uint32_t leaf, bool sums) {
  int64_t product = 1, results = 1;
  uint32_t loop = po_node(po_now(c), leaf)->parent;
  for (; loop != 0 && po_node(po_now(c), loop)->kind == PO_LOOP;
       loop = po_node(po_now(c), loop)->parent) {
    if (sums && !po_is_summed_over(po_now(c), leaf, loop))
      break;
    int64_t n = po_most_iterations(po_now(c), loop);
    if (!is_written_out(po_now(c), leaf, loop, n, product, &results))
      break;
    product *= n;
    if (po_node(po_now(c), loop)->mark == PO_SERIAL)
      mark(c, "unroll", loop);
    if (po_node(po_now(c), loop)->mark != PO_UNROLL)
      return 0;
  }
  return loop;
}

/* Sums first: how long they are decides on the loops around them. */
static void
finish_nest(po_chooser *c, uint32_t root, const bool *rare) {
  uint32_t next;
  for (int sums = 1; sums >= 0; sums--)
    for (uint32_t k = po_nest_first_leaf(po_now(c), root);
         k != PO_NO_NODE && !c->stopped; k = next) {
      next = po_nest_next_leaf(po_now(c), k, root);
      uint32_t stmt = po_node(po_now(c), k)->stmt;
      uint32_t loop = rare[stmt] ? 0 : write_out(c, k, sums);
      if (!sums)
        separate_points(c, loop);
    }
}

/* Rows of a vector's size begin where a vector may: a store that crosses lines
 * of the cache is two.  Short rows would grow too much. */
static void
align_rows(po_chooser *c) {
  const gs_target *t = po_now(c)->target;
  for (uint32_t k = 0; k < po_now(c)->arrays.len && !c->stopped; k++) {
    const po_array *a = &po_now(c)->arrays.data[k];
    int64_t place[GS_MAX_RANK];
    int64_t lanes = gs_vector_lanes(t, gs_dtype_table[a->dtype].bytes);
    if (a->role != PO_LOCAL || a->scope == PO_REGISTER || a->rank < 2)
      continue;
    po_places(a, place);
    int64_t row = place[a->rank - 1];
    if (row < GS_ALIGN_VECTORS * lanes || row % lanes == 0 ||
        place[a->rank - 2] < 2)
      continue;
    po_step_call call = po_step("storage_align");
    call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = k};
    call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = a->rank - 2};
    call.args[2] = (po_arg){.kind = PO_ARG_INT, .number = lanes};
    po_attempt(c, &call, NULL);
  }
}

void
po_finish_inner_loops(po_chooser *c) {
  uint32_t next;
  bool *rare = find_rare(po_now(c));
  for (uint32_t k = po_node(po_now(c), 0)->first;
       k != PO_NO_NODE && !c->stopped; k = next) {
    next = po_node(po_now(c), k)->next;
    if (po_node(po_now(c), k)->kind == PO_LOOP && po_may_change(po_now(c), k))
      finish_nest(c, k, rare);
  }
  bs_free(po_now(c)->ctx.heap, rare);
  separate_rows(c);
  align_rows(c);
}
