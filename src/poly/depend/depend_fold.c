/* SPDX-License-Identifier: MIT */
/* depend_fold.c - elements of an array that share a place; see depend.h.
 *
 * The common case is decided without flow: where the folded indices follow from
 * the values of the outermost loops around all accesses and these from them,
 * elements that share a place are used in different iterations of these loops,
 * and a value that is read in the iteration in which it was written cannot meet
 * another. */
#include "poly/depend/depend.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>

/* ---- folded by loops ---- */

typedef struct folds {
  const po_program *p;
  const po_array *array;
  uint32_t n_loops, n_folded; /* around all accesses; dimensions */
  isl_map *map; /* { [folded indices] -> [values of the first loops] } */
} folds;

/* Elements share places along dimension d. */
static bool
is_shared_along(const po_array *a, uint32_t d) {
  assert(d < a->rank);
  return a->fold[d] && (a->fold[d] == 1 || a->fold[d] < a->dim[d]);
}

static bool
uses_whole(const po_stmt *stmt, uint32_t array) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_GATHER && stmt->exprs[j].array == array)
      return true;
  for (uint32_t j = 0; stmt->instr && j <= stmt->instr->n_operands; j++)
    if (stmt->operands[j].array == array)
      return true;
  return false;
}

/* The loops around all accesses; false where a call or a look-up has one. */
static bool
find_loops(folds *f, uint32_t array) {
  assert(array < f->p->arrays.len);
  const po_program *p = f->p;
  uint32_t top = PO_NO_NODE, loops[PO_MAX_DEPTH];
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (uses_whole(s, array))
      return false;
    if (po_stmt_accesses(s, array))
      top = top == PO_NO_NODE ? p->nest.nodes.data[s->leaf].parent
                              : po_nest_common(p, top, s->leaf);
  }
  if (top == PO_NO_NODE)
    return false;
  f->n_loops =
      po_nest_loops(p, top, loops) + (p->nest.nodes.data[top].kind == PO_LOOP);
  for (uint32_t d = 0; d < f->array->rank; d++) {
    bool shared = is_shared_along(f->array, d);
    f->n_folded += shared;
    if (shared && f->array->fold[d] > 1)
      return false;
  }
  return true;
}

/* { S[i] -> [folded indices] } of an access. */
static __isl_give isl_pw_multi_aff *
folded_indices(const folds *f, __isl_keep isl_pw_multi_aff *index) {
  index = isl_pw_multi_aff_reset_tuple_id(isl_pw_multi_aff_copy(index),
                                          isl_dim_out);
  for (uint32_t d = f->array->rank; d-- > 0;)
    if (!is_shared_along(f->array, d))
      index = isl_pw_multi_aff_drop_dims(index, isl_dim_out, d, 1);
  return index;
}

static void
relate(folds *f, const po_stmt *stmt, __isl_take isl_pw_multi_aff *indices) {
  isl_map *to = isl_map_from_pw_multi_aff(indices);
  to = isl_map_intersect_domain(to, isl_set_copy(stmt->domain));
  isl_multi_aff *time = po_outer_time(stmt, f->n_loops);
  to = isl_map_apply_domain(to, isl_map_from_multi_aff(time));
  to = isl_map_reverse(to);
  f->map = f->map ? isl_map_union(f->map, to) : to;
}

/* All accesses of a statement; those alike are one. */
static void
relate_stmt(folds *f, const po_stmt *stmt, uint32_t array) {
  isl_pw_multi_aff *last = NULL;
  for (uint32_t j = 0; j <= stmt->n_exprs; j++) {
    bool write = j == stmt->n_exprs;
    if (write ? stmt->array != array
              : stmt->exprs[j].kind != PO_READ || stmt->exprs[j].array != array)
      continue;
    isl_pw_multi_aff *one =
        folded_indices(f, write ? stmt->write : stmt->exprs[j].index);
    if (last && isl_pw_multi_aff_plain_is_equal(last, one) == isl_bool_true) {
      isl_pw_multi_aff_free(one);
      continue;
    }
    isl_pw_multi_aff_free(last);
    last = isl_pw_multi_aff_copy(one);
    relate(f, stmt, one);
  }
  isl_pw_multi_aff_free(last);
}

/* Whether the folded indices and the values of the outermost loops, of some
 * number, say each other: then all uses of an element are in one iteration of
 * these, and no other element of its place is used in it. */
static bool
say_each_other(folds *f) {
  bool found = false;
  for (f->map = isl_map_coalesce(f->map); !found; f->n_loops--) {
    found = isl_map_is_injective(f->map) == isl_bool_true &&
            isl_map_is_single_valued(f->map) == isl_bool_true;
    if (f->n_loops == 0)
      break;
    f->map = isl_map_coalesce(
        isl_map_project_out(f->map, isl_dim_out, f->n_loops - 1, 1));
  }
  return found;
}

static bool
is_folded_by_loops(const po_program *p, uint32_t array) {
  folds f = {.p = p, .array = &p->arrays.data[array]};
  bool ok = f.array->role == PO_LOCAL && find_loops(&f, array);
  for (uint32_t k = 0; ok && k < p->stmts.len; k++)
    relate_stmt(&f, &p->stmts.data[k], array);
  ok = ok && f.map && say_each_other(&f);
  isl_map_free(f.map);
  if (!ok)
    return false;
  po_flow apart = po_flow_of_values(p, array);
  ok = isl_union_map_is_empty(apart.unwritten) == isl_bool_true;
  po_flow_free(&apart);
  return ok;
}

/* ---- by flow ---- */

/* With elements that share a place taken for one, every read must get its
 * value from the same writes as with all of them apart. */
bool
po_folds_are_legal(po_program *p, uint32_t array, po_violation *out) {
  assert(array < p->arrays.len && out);
  *out = (po_violation){.pairs = -1, .violated = -1};
  if (!po_is_folded(&p->arrays.data[array]) || is_folded_by_loops(p, array))
    return true;
  po_limit limit = po_limit_operations(p, PO_QUESTION);
  po_flow apart = po_flow_through(p, array, false);
  po_flow folded = po_flow_through(p, array, true);
  isl_union_map *wrong = isl_union_map_subtract(isl_union_map_copy(folded.from),
                                                isl_union_map_copy(apart.from));
  isl_bool same = isl_union_map_is_empty(wrong);
  if (same == isl_bool_true) {
    isl_union_map_free(wrong);
    wrong = isl_union_map_subtract(isl_union_map_copy(apart.from),
                                   isl_union_map_copy(folded.from));
    same = isl_union_map_is_empty(wrong);
  }
  bool ok = po_unlimit(&limit) && same != isl_bool_error;
  isl_union_map *all = isl_union_map_copy(folded.from);
  po_flow_free(&apart);
  po_flow_free(&folded);
  if (ok && same == isl_bool_false) {
    po_describe(p, PO_FLOW, wrong, all, out);
    out->array = p->arrays.data[array].name;
    out->fold = true;
    return false;
  }
  isl_union_map_free(wrong);
  isl_union_map_free(all);
  return ok || bs_error(p->ctx.diags, BS_NOWHERE, "too-complex",
                        "folds of %s: the integer set library gave up",
                        p->arrays.data[array].name);
}
