/* SPDX-License-Identifier: MIT */
/* enclose.c - loops around a node by functions of what runs in it: enclose;
 * a loop that leans on one around it: skew.
 *
 *   for t { A  for i { B } }
 *   for T { for I { for t { A  for i { B } } } }
 *
 * The functions say in which iterations of the new loops an instance runs; in
 * each of them its instances keep the order that they had.  So tiles of any
 * shape are cut out of loops that are not nested perfectly, and of functions
 * such as t + i: slanted ones.  That no instance runs before what it needs is
 * asked by the gate afterwards.
 *
 * A skew changes what a loop counts, not the order: it makes loops that may be
 * tiled or exchanged of some that may not. */
#include "poly/loops/affine.h"
#include "poly/schedule/change.h"
#include "poly/schedule/schedule_layout.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

enum { LONGEST_NAME = 200, MOST_SKEW = 1 << 20, MOST_FAR = 1 << 30 };

/* Iterations are counted in numbers that stay small when scaled. */
static bool
stays_near(const po_program *p, const po_step_call *call, uint32_t loop) {
  int64_t min, count;
  if (po_value_range(p, loop, &min, &count) && min >= -MOST_FAR &&
      min <= MOST_FAR && count <= 2 * (int64_t)MOST_FAR)
    return true;
  return po_refuse(p, call, "extent",
                   "the values of loop %s are not within 2^30 of 0",
                   po_node(p, loop)->name);
}

/* The longest way down from a node has room for so many loops more. */
static bool
has_room(const po_program *p, const po_step_call *call, uint32_t node,
         uint32_t n) {
  for (uint32_t k = po_nest_first_leaf(p, node); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, node))
    if (po_nest_depth(p, k) + n > PO_MAX_DEPTH / 2)
      return po_refuse(p, call, "too-deep", "more than %d loops around %s",
                       PO_MAX_DEPTH / 2,
                       p->stmts.data[po_node(p, k)->stmt].name);
  return true;
}

/* ---- enclose: what is asked for ---- */

/* Functions by statement; NULL: none was given. */
typedef struct around {
  isl_multi_aff **of; /* in the pool */
  uint32_t n;         /* loops */
  uint32_t node;
} around;

static bool
refuse_text(const po_program *p, const po_step_call *call, const char *what,
            const char *lo, size_t n) {
  po_refuse(p, call, "map", "\"%.*s\" %s", n < 60 ? (int)n : 60, lo, what);
  bs_hint(p->ctx.diags,
          "like \"S[t, i] -> [floor(t / 8), floor((t + i) / 64)]\", one for "
          "each statement, with `;` between them");
  return false;
}

/* "S[i, j] -> [...]": the statement, and where its indices begin. */
static bool
read_stmt(const po_program *p, const po_step_call *call, const char *lo,
          size_t n, uint32_t *stmt, size_t *begin) {
  size_t name = 0;
  *begin = strspn(lo, " \t\n");
  while (*begin + name < n && !strchr(" \t\n[", lo[*begin + name]))
    name++;
  if (!name || name > LONGEST_NAME)
    return refuse_text(p, call, "names no statement", lo, n);
  char text[LONGEST_NAME + 1];
  memcpy(text, lo + *begin, name);
  text[name] = 0;
  *begin += name;
  *stmt = po_stmt_named(p, text);
  return *stmt < p->stmts.len ||
         refuse_text(p, call, "names no statement", lo, n);
}

/* All coefficients but those within quotients are integers. */
static bool
is_of_integers(__isl_keep isl_multi_aff *f) {
  isl_size n = isl_multi_aff_dim(f, isl_dim_out);
  bool whole = n > 0;
  for (isl_size d = 0; whole && d < n; d++) {
    isl_aff *aff = isl_multi_aff_get_aff(f, d);
    isl_val *below = isl_aff_get_denominator_val(aff);
    whole = isl_val_is_one(below) == isl_bool_true;
    isl_val_free(below);
    isl_aff_free(aff);
  }
  return whole;
}

static bool
read_function(po_program *p, const po_step_call *call, const char *lo, size_t n,
              around *a) {
  uint32_t stmt;
  size_t begin;
  if (!read_stmt(p, call, lo, n, &stmt, &begin))
    return false;
  const po_stmt *s = &p->stmts.data[stmt];
  isl_multi_aff *f = po_read_map(p, lo + begin, n - begin);
  isl_size in = f ? isl_multi_aff_dim(f, isl_dim_in) : -1;
  isl_size out = f ? isl_multi_aff_dim(f, isl_dim_out) : -1;
  bool ok = in == (isl_size)s->n_iters && out > 0 && out <= PO_MAX_RESULTS &&
            !isl_multi_aff_dim(f, isl_dim_param) && is_of_integers(f);
  if (ok) {
    f = isl_multi_aff_reset_tuple_id(f, isl_dim_out);
    f = isl_multi_aff_set_tuple_id(f, isl_dim_in,
                                   isl_set_get_tuple_id(s->domain));
  }
  po_pool_reserve(&p->pool, 1);
  f = po_keep_multi_aff(&p->pool, f);
  if (!ok)
    return refuse_text(p, call, "is not a function of the statement's indices",
                       lo, n);
  if (a->n && a->n != (uint32_t)out)
    return refuse_text(p, call, "has another number of loops", lo, n);
  if (a->of[stmt])
    return refuse_text(p, call, "names a statement again", lo, n);
  a->n = (uint32_t)out;
  a->of[stmt] = f;
  return true;
}

static bool
read_functions(po_program *p, const po_step_call *call, around *a) {
  const char *lo = call->args[1].word;
  for (;;) {
    size_t n = strcspn(lo, ";");
    if (!read_function(p, call, lo, n, a))
      return false;
    if (!lo[n])
      return true;
    lo += n + 1;
  }
}

/* Statements below the node have functions, and no others. */
static bool
check_statements(const po_program *p, const po_step_call *call,
                 const around *a) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    bool below = s->leaf != PO_NO_NODE && po_nest_is_below(p, s->leaf, a->node);
    if (below && !a->of[k])
      return po_refuse(p, call, "map", "the map says nothing about %s",
                       s->name);
    if (!below && a->of[k])
      return po_refuse(p, call, "map", "%s does not run there", s->name);
  }
  return true;
}

/* ---- enclose: what is done ---- */

/* The functions between those of the loops around the node and those below. */
static void
put_between(po_program *p, uint32_t stmt, uint32_t depth, isl_multi_aff *f) {
  assert(stmt < p->stmts.len);
  po_stmt *s = &p->stmts.data[stmt];
  isl_multi_aff *inner = isl_multi_aff_copy(s->time);
  inner = isl_multi_aff_drop_dims(inner, isl_dim_out, 0, depth);
  f = isl_multi_aff_flat_range_product(po_outer_time(s, depth),
                                       isl_multi_aff_copy(f));
  f = isl_multi_aff_flat_range_product(f, inner);
  po_pool_reserve(&p->pool, 1);
  s->time = po_keep_multi_aff(&p->pool, f);
}

static void
enclose(po_program *p, po_step_call *call, const around *a,
        const char *const *names) {
  uint32_t depth = po_nest_depth(p, a->node);
  uint32_t parent = po_node(p, a->node)->parent;
  uint32_t before = po_node(p, a->node)->next;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (a->of[k])
      put_between(p, k, depth, a->of[k]);
  po_nest_detach(p, a->node);
  for (uint32_t k = 0; k < a->n; k++) {
    parent = po_nest_add_loop(p, parent, before, names[k]);
    before = PO_NO_NODE;
    po_made(call, parent);
  }
  po_nest_attach(p, a->node, parent, PO_NO_NODE);
}

bool
po_apply_enclose(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_NODE);
  assert(call->args[1].kind == PO_ARG_TEXT);
  const char *names[PO_MAX_RESULTS];
  around a = {.node = call->args[0].node};
  a.of = BS_NEWS(&p->arena, isl_multi_aff *, p->stmts.len + 1);
  if (!read_functions(p, call, &a) || !check_statements(p, call, &a) ||
      !has_room(p, call, a.node, a.n) ||
      !po_result_names(p, call, a.n, "c", names))
    return false;
  enclose(p, call, &a, names);
  for (uint32_t k = 0; k < a.n; k++)
    if (!stays_near(p, call, call->made[k]))
      return false;
  return true;
}

/* ---- skew ---- */

/* { [t0, ..., td] -> [t0, ..., td + by * to] } */
static __isl_give isl_multi_aff *
leaning(isl_ctx *isl, uint32_t depth, uint32_t on, int64_t by) {
  isl_multi_aff *map = po_identity(isl, depth + 1);
  isl_aff *aff = isl_multi_aff_get_aff(map, (int)depth);
  aff = isl_aff_add(aff, po_index(isl, depth + 1, on, by, 0));
  return isl_multi_aff_set_aff(map, (int)depth, aff);
}

static bool
name_skewed(po_program *p, po_step_call *call, uint32_t loop) {
  const char *name = po_node(p, loop)->name;
  po_give_up_name(p, loop);
  name = po_result_name(p, call, 0, name);
  if (!name)
    return false;
  po_name_loop(p, loop, name);
  po_made(call, loop);
  return true;
}

bool
po_apply_skew(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[0].node, outer = call->args[1].node;
  int64_t by = call->args[2].number;
  if (loop == outer || !po_nest_is_below(p, loop, outer))
    return po_refuse(p, call, "not-nested", "loop %s is not inside loop %s",
                     po_node(p, loop)->name, po_node(p, outer)->name);
  if (by < -MOST_SKEW || by > MOST_SKEW)
    return po_refuse(p, call, "distance", "skews are at most 2^20 iterations");
  if (po_node(p, loop)->mark != PO_PARALLEL && !po_needs_serial(p, call, loop))
    return false;
  uint32_t depth = po_nest_depth(p, loop);
  po_nest_retime(p, loop, 0, depth + 1,
                 leaning(p->isl, depth, po_nest_depth(p, outer), by));
  po_node(p, loop)->axis = PO_NO_NODE;
  po_node(p, loop)->no_axis = false;
  return name_skewed(p, call, loop) && stays_near(p, call, loop);
}
