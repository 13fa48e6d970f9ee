/* SPDX-License-Identifier: MIT */
/* schedule_tree.c - edits of the nest that several primitives are made of. */
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>
#include <isl/val.h>

uint32_t
po_only_child(const po_program *p, uint32_t node) {
  assert(node < p->nest.nodes.len);
  uint32_t first = po_node(p, node)->first;
  return first == po_node(p, node)->last ? first : PO_NO_NODE;
}

void
po_move_children(po_program *p, uint32_t from, uint32_t to, uint32_t before) {
  assert(!po_nest_is_below(p, to, from));
  uint32_t kid;
  while ((kid = po_node(p, from)->first) != PO_NO_NODE) {
    po_nest_detach(p, kid);
    po_nest_attach(p, kid, to, before);
  }
}

uint32_t
po_insert_loop(po_program *p, uint32_t loop, const char *name) {
  assert(po_node(p, loop)->kind == PO_LOOP && name);
  uint32_t inner = po_nest_add_loop(p, loop, po_node(p, loop)->first, name);
  uint32_t kid;
  while ((kid = po_node(p, inner)->next) != PO_NO_NODE) {
    po_nest_detach(p, kid);
    po_nest_attach(p, kid, inner, PO_NO_NODE);
  }
  return inner;
}

/* A loop like this one, without children, before `before` (its siblings). */
static uint32_t
add_like(po_program *p, uint32_t loop, uint32_t before) {
  const char *name = po_nest_fresh(p, po_node(p, loop)->name);
  uint32_t copy = po_nest_add_loop(p, po_node(p, loop)->parent, before, name);
  po_run_as(po_node(p, copy), po_node(p, loop));
  return copy;
}

/* One level: the parent of `node` keeps it alone. */
static void
part_siblings(po_program *p, uint32_t node) {
  uint32_t parent = po_node(p, node)->parent, kid;
  if (po_node(p, parent)->first != node) {
    uint32_t before = add_like(p, parent, parent);
    while ((kid = po_node(p, parent)->first) != node) {
      po_nest_detach(p, kid);
      po_nest_attach(p, kid, before, PO_NO_NODE);
    }
  }
  if (po_node(p, node)->next != PO_NO_NODE) {
    uint32_t after = add_like(p, parent, po_node(p, parent)->next);
    while ((kid = po_node(p, node)->next) != PO_NO_NODE) {
      po_nest_detach(p, kid);
      po_nest_attach(p, kid, after, PO_NO_NODE);
    }
  }
}

void
po_isolate(po_program *p, uint32_t node, uint32_t top) {
  assert(po_nest_is_below(p, node, top));
  while (node != top) {
    uint32_t parent = po_node(p, node)->parent;
    part_siblings(p, node);
    node = parent;
  }
}

/* ---- names ---- */

void
po_give_up_name(po_program *p, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  po_node(p, loop)->name = "";
}

void
po_name_loop(po_program *p, uint32_t loop, const char *name) {
  assert(po_node(p, loop)->kind == PO_LOOP && name && *name);
  po_node(p, loop)->name = bs_arena_strdup(&p->arena, name);
}

const char *
po_result_name(po_program *p, const po_step_call *call, uint32_t k,
               const char *wish) {
  const char *asked = k < call->n_results ? call->results[k] : "";
  if (!*asked || !strcmp(asked, "_"))
    return po_nest_fresh(p, wish);
  if (po_nest_find(p, asked) == PO_NO_NODE)
    return asked;
  po_refuse(p, call, "name-taken", "there is a loop %s already", asked);
  return NULL;
}

bool
po_result_names(po_program *p, const po_step_call *call, uint32_t n,
                const char *stem, const char **names) {
  for (uint32_t k = 0; k < n; k++) {
    const char *wish = bs_arena_printf(&p->arena, "%s%u", stem, k);
    names[k] = po_result_name(p, call, k, wish);
    if (!names[k])
      return false;
    for (uint32_t j = 0; j < k; j++)
      if (!strcmp(names[j], names[k]))
        return po_refuse(p, call, "name-taken", "%s is named twice", names[k]);
  }
  return true;
}

void
po_made(po_step_call *call, uint32_t node) {
  assert(node == PO_NO_NODE || call->n_made <= PO_MAX_RESULTS);
  if (call->n_made < PO_MAX_RESULTS)
    call->made[call->n_made++] = node;
}

/* ---- blocks ---- */

bool
po_block_of(const po_program *p, const po_step_call *call, const po_arg *arg,
            po_block *out) {
  out->n = 0;
  if (arg->array == PO_NO_NODE) {
    out->stmts[out->n++] = arg->stmt;
    return true;
  }
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (p->stmts.data[k].array != arg->array)
      continue;
    if (out->n == sizeof out->stmts / sizeof *out->stmts)
      return po_refuse(p, call, "too-large",
                       "%s is written by more than %u statements",
                       p->arrays.data[arg->array].name, out->n);
    out->stmts[out->n++] = k;
  }
  return out->n ||
         po_refuse(p, call, "not-computed", "no statement computes %s",
                   p->arrays.data[arg->array].name);
}

bool
po_in_block(const po_block *b, uint32_t stmt) {
  assert(b->n <= 64);
  for (uint32_t k = 0; k < b->n; k++)
    if (b->stmts[k] == stmt)
      return true;
  return false;
}

uint32_t
po_block_node(const po_program *p, const po_block *b) {
  assert(b->n);
  uint32_t node = p->stmts.data[b->stmts[0]].leaf;
  for (uint32_t k = 1; k < b->n; k++)
    node = po_nest_common(p, node, p->stmts.data[b->stmts[k]].leaf);
  return node;
}

uint32_t
po_foreign(const po_program *p, const po_block *b, uint32_t top) {
  assert(top < p->nest.nodes.len);
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
    if (po_node(p, k)->kind == PO_LEAF && !po_in_block(b, po_node(p, k)->stmt))
      return po_node(p, k)->stmt;
  return PO_NO_NODE;
}

/* ---- ranges ---- */

static bool
dim_bounds(__isl_keep isl_set *set, int64_t *lo, int64_t *hi) {
  bool ok = po_int(isl_set_dim_min_val(isl_set_copy(set), 0), lo);
  return po_int(isl_set_dim_max_val(isl_set_copy(set), 0), hi) && ok;
}

static bool
constant_range(isl_ctx *isl, __isl_take isl_map *in, int64_t *min,
               int64_t *count) {
  isl_set *all = isl_map_range(isl_map_copy(in));
  int64_t lo = 0, hi = 0;
  bool ok = dim_bounds(all, &lo, &hi);
  /* the first and the last value are taken whatever the outer loops are */
  isl_set *outer = isl_map_domain(isl_map_copy(in));
  for (int end = 0; ok && end < 2; end++) {
    isl_map *at = isl_map_copy(in);
    at = isl_map_fix_val(at, isl_dim_out, 0,
                         isl_val_int_from_si(isl, end ? hi : lo));
    isl_set *where = isl_map_domain(at);
    ok = isl_set_is_subset(outer, where) == isl_bool_true;
    isl_set_free(where);
  }
  isl_set_free(outer);
  isl_set_free(all);
  isl_map_free(in);
  *min = lo;
  *count = hi - lo + 1;
  return ok;
}

bool
po_constant_range(const po_program *p, uint32_t loop, int64_t *min,
                  int64_t *count) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  return constant_range(p->isl, po_nest_range_in(p, loop), min, count);
}

bool
po_likely_range(const po_program *p, uint32_t loop, int64_t *min,
                int64_t *count) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  isl_set *in = isl_map_wrap(po_nest_range_in(p, loop));
  return constant_range(p->isl, isl_set_unwrap(po_at_greatest(p, in)), min,
                        count);
}

bool
po_value_range(const po_program *p, uint32_t loop, int64_t *min,
               int64_t *count) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  assert(min && count);
  isl_set *all = po_nest_range(p, loop);
  int64_t hi = 0;
  bool ok = dim_bounds(all, min, &hi);
  isl_set_free(all);
  *count = hi - *min + 1;
  return ok;
}

int64_t
po_most_iterations(const po_program *p, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  isl_map *in = po_nest_range_in(p, loop);
  isl_map *pairs = isl_map_apply_range(isl_map_reverse(isl_map_copy(in)), in);
  isl_set *deltas = isl_map_deltas(pairs);
  int64_t lo, hi;
  bool ok = dim_bounds(deltas, &lo, &hi);
  isl_set_free(deltas);
  return ok ? hi + 1 : -1;
}

/* ---- marks ---- */

const char *const po_mark_names[] = {[PO_SERIAL] = "serial",
                                     [PO_PARALLEL] = "parallel",
                                     [PO_VECTORIZE] = "vectorized",
                                     [PO_UNROLL] = "unrolled",
                                     [PO_BIND] = "bound"};

const char *const po_bind_names[] = {
    [PO_BLOCK_X] = "blockIdx.x",   [PO_BLOCK_Y] = "blockIdx.y",
    [PO_BLOCK_Z] = "blockIdx.z",   [PO_THREAD_X] = "threadIdx.x",
    [PO_THREAD_Y] = "threadIdx.y", [PO_THREAD_Z] = "threadIdx.z"};

bool
po_needs_serial(const po_program *p, const po_step_call *call, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  const po_nest_node *n = po_node(p, loop);
  if (n->mark == PO_SERIAL)
    return true;
  po_refuse(p, call, "not-serial", "loop %s is %s, not serial", n->name,
            po_mark_names[n->mark]);
  bs_hint(p->ctx.diags, "`serial %s` removes the mark", n->name);
  return false;
}
