/* SPDX-License-Identifier: MIT */
/* nest.c - the tree of loops and statements; see nest.h.
 *
 * Nodes are entries of one list that link to each other by number, so that a
 * number stays the name of a node while the tree changes; nodes that are taken
 * out are not given out again.  Walks follow the links: nothing here recurses,
 * whatever the depth.
 *
 * Invariants: 1. a node's `parent` has it among its children, and siblings
 * link both ways; 2. a leaf is `leaf` of its statement; 3. a statement's time
 * has one function for each loop around its leaf, unless a caller is in the
 * middle of changing both. */
#include "poly/loops/nest.h"
#include "poly/loops/loops.h"
#include <assert.h>
#include <string.h>

static uint32_t
new_node(po_program *p, po_node_kind kind) {
  po_nest_node node = {.kind = kind,
                       .parent = PO_NO_NODE,
                       .first = PO_NO_NODE,
                       .last = PO_NO_NODE,
                       .next = PO_NO_NODE,
                       .prev = PO_NO_NODE,
                       .axis = PO_NO_NODE,
                       .stmt = PO_NO_NODE};
  bs_push(p->ctx.heap, &p->nest.nodes, node);
  return p->nest.nodes.len - 1;
}

void
po_nest_init(po_program *p) {
  bs_clear(&p->nest.nodes);
  new_node(p, PO_ROOT);
}

/* ---- links ---- */

void
po_nest_attach(po_program *p, uint32_t node, uint32_t parent, uint32_t before) {
  po_nest_node *n = po_node(p, node), *up = po_node(p, parent);
  uint32_t prev = before == PO_NO_NODE ? up->last : po_node(p, before)->prev;
  assert(n->parent == PO_NO_NODE && n->kind != PO_ROOT);
  assert(up->kind == PO_ROOT || up->kind == PO_LOOP);
  assert(before == PO_NO_NODE || po_node(p, before)->parent == parent);
  n->parent = parent;
  n->next = before;
  n->prev = prev;
  *(prev == PO_NO_NODE ? &up->first : &po_node(p, prev)->next) = node;
  *(before == PO_NO_NODE ? &up->last : &po_node(p, before)->prev) = node;
}

void
po_nest_detach(po_program *p, uint32_t node) {
  po_nest_node *n = po_node(p, node);
  if (n->parent == PO_NO_NODE)
    return;
  assert(n->kind != PO_ROOT);
  po_nest_node *up = po_node(p, n->parent);
  assert(n->prev != PO_NO_NODE || up->first == node);
  assert(n->next != PO_NO_NODE || up->last == node);
  *(n->prev == PO_NO_NODE ? &up->first : &po_node(p, n->prev)->next) = n->next;
  *(n->next == PO_NO_NODE ? &up->last : &po_node(p, n->next)->prev) = n->prev;
  n->parent = n->next = n->prev = PO_NO_NODE;
}

uint32_t
po_nest_add_loop(po_program *p, uint32_t parent, uint32_t before,
                 const char *name) {
  assert(name && *name);
  uint32_t node = new_node(p, PO_LOOP);
  po_node(p, node)->name = bs_arena_strdup(&p->arena, name);
  po_nest_attach(p, node, parent, before);
  return node;
}

uint32_t
po_nest_add_leaf(po_program *p, uint32_t parent, uint32_t before,
                 uint32_t stmt) {
  assert(stmt < p->stmts.len);
  uint32_t node = new_node(p, PO_LEAF);
  po_node(p, node)->stmt = stmt;
  p->stmts.data[stmt].leaf = node;
  po_nest_attach(p, node, parent, before);
  return node;
}

uint32_t
po_nest_add_sync(po_program *p, uint32_t parent, uint32_t before) {
  uint32_t node = new_node(p, PO_SYNC);
  po_nest_attach(p, node, parent, before);
  return node;
}

/* Children before parents: a freed node has lost its links. */
void
po_nest_remove(po_program *p, uint32_t node) {
  /* The root stays. */
  assert(node != 0);
  po_nest_detach(p, node);
  uint32_t now = node;
  for (;;) {
    po_nest_node *n = po_node(p, now);
    if (n->first != PO_NO_NODE) {
      now = n->first;
      continue;
    }
    uint32_t up = n->parent;
    po_nest_detach(p, now);
    n->kind = PO_FREE;
    if (now == node)
      return;
    now = up;
  }
}

void
po_nest_prune(po_program *p, uint32_t node) {
  assert(node < p->nest.nodes.len);
  while (po_node(p, node)->kind == PO_LOOP &&
         po_node(p, node)->first == PO_NO_NODE) {
    uint32_t up = po_node(p, node)->parent;
    po_nest_remove(p, node);
    if (up == PO_NO_NODE)
      return;
    node = up;
  }
}

/* ---- ways up and down ---- */

uint32_t
po_nest_depth(const po_program *p, uint32_t node) {
  assert(node < p->nest.nodes.len);
  uint32_t depth = 0;
  for (uint32_t up = po_node(p, node)->parent; up != PO_NO_NODE;
       up = po_node(p, up)->parent)
    depth += po_node(p, up)->kind == PO_LOOP;
  return depth;
}

uint32_t
po_nest_loops(const po_program *p, uint32_t node,
              uint32_t loops[PO_MAX_DEPTH]) {
  assert(node < p->nest.nodes.len);
  uint32_t depth = po_nest_depth(p, node), k = depth;
  for (uint32_t up = po_node(p, node)->parent; up != PO_NO_NODE;
       up = po_node(p, up)->parent)
    if (po_node(p, up)->kind == PO_LOOP && --k < PO_MAX_DEPTH)
      loops[k] = up;
  return depth < PO_MAX_DEPTH ? depth : PO_MAX_DEPTH;
}

/* Nodes above, the root included. */
static uint32_t
level(const po_program *p, uint32_t node) {
  uint32_t n = 0;
  while ((node = po_node(p, node)->parent) != PO_NO_NODE)
    n++;
  return n;
}

uint32_t
po_nest_common(const po_program *p, uint32_t a, uint32_t b) {
  assert(a < p->nest.nodes.len && b < p->nest.nodes.len);
  uint32_t i = level(p, a), j = level(p, b);
  for (; i > j; i--)
    a = po_node(p, a)->parent;
  for (; j > i; j--)
    b = po_node(p, b)->parent;
  while (a != b) {
    a = po_node(p, a)->parent;
    b = po_node(p, b)->parent;
  }
  return a;
}

bool
po_nest_is_below(const po_program *p, uint32_t node, uint32_t above) {
  assert(above < p->nest.nodes.len);
  while (node != PO_NO_NODE && node != above)
    node = po_node(p, node)->parent;
  return node == above;
}

uint32_t
po_nest_next(const po_program *p, uint32_t node, uint32_t top) {
  assert(po_nest_is_below(p, node, top));
  if (po_node(p, node)->first != PO_NO_NODE)
    return po_node(p, node)->first;
  while (node != top && po_node(p, node)->next == PO_NO_NODE)
    node = po_node(p, node)->parent;
  return node == top ? PO_NO_NODE : po_node(p, node)->next;
}

uint32_t
po_nest_next_leaf(const po_program *p, uint32_t node, uint32_t top) {
  do
    node = po_nest_next(p, node, top);
  while (node != PO_NO_NODE && po_node(p, node)->kind != PO_LEAF);
  return node;
}

uint32_t
po_nest_first_leaf(const po_program *p, uint32_t top) {
  return po_node(p, top)->kind == PO_LEAF ? top
                                          : po_nest_next_leaf(p, top, top);
}

uint32_t
po_nest_root(const po_program *p, uint32_t node) {
  while (node != PO_NO_NODE && node != 0 && po_node(p, node)->parent != 0)
    node = po_node(p, node)->parent;
  return node == 0 ? PO_NO_NODE : node;
}

/* ---- names ---- */

uint32_t
po_nest_find(const po_program *p, const char *name) {
  assert(name);
  for (uint32_t k = 1; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP && !strcmp(po_node(p, k)->name, name))
      return k;
  return PO_NO_NODE;
}

const char *
po_nest_fresh(po_program *p, const char *wish) {
  if (po_nest_find(p, wish) == PO_NO_NODE)
    return wish;
  const char *name = wish;
  for (uint32_t k = 1; po_nest_find(p, name) != PO_NO_NODE; k++)
    name = bs_arena_printf(&p->arena, "%s_%u", wish, k);
  assert(po_nest_find(p, name) == PO_NO_NODE);
  return name;
}

/* ---- times ---- */

/* Functions [from, from + n) of a time. */
static __isl_give isl_multi_aff *
part(__isl_keep isl_multi_aff *time, uint32_t from, uint32_t n) {
  isl_multi_aff *some = isl_multi_aff_copy(time);
  isl_size all = isl_multi_aff_dim(time, isl_dim_out);
  if (all < 0)
    return isl_multi_aff_free(some);
  assert(from + n <= (uint32_t)isl_multi_aff_dim(time, isl_dim_out));
  some = isl_multi_aff_drop_dims(some, isl_dim_out, from + n,
                                 (unsigned)all - from - n);
  return isl_multi_aff_drop_dims(some, isl_dim_out, 0, from);
}

static __isl_give isl_multi_aff *
retimed(__isl_keep isl_multi_aff *time, uint32_t from, uint32_t n_old,
        __isl_keep isl_multi_aff *made) {
  isl_size all = isl_multi_aff_dim(time, isl_dim_out);
  if (all < (isl_size)(from + n_old))
    return NULL;
  uint32_t end = from + n_old;
  isl_multi_aff *middle = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(made), part(time, from, n_old));
  isl_multi_aff *out = isl_multi_aff_flat_range_product(
      part(time, 0, from), isl_multi_aff_reset_tuple_id(middle, isl_dim_out));
  return isl_multi_aff_flat_range_product(out,
                                          part(time, end, (uint32_t)all - end));
}

void
po_nest_retime(po_program *p, uint32_t below, uint32_t from, uint32_t n_old,
               isl_multi_aff *made) {
  assert(below < p->nest.nodes.len);
  uint32_t count = 1;
  for (uint32_t k = below; k != PO_NO_NODE; k = po_nest_next(p, k, below))
    count += po_node(p, k)->kind == PO_LEAF;
  made = po_keep_multi_aff(&p->pool, made);
  po_pool_reserve(&p->pool, count);
  for (uint32_t k = below; k != PO_NO_NODE; k = po_nest_next(p, k, below)) {
    if (po_node(p, k)->kind != PO_LEAF)
      continue;
    po_stmt *stmt = &p->stmts.data[po_node(p, k)->stmt];
    stmt->time =
        po_keep_multi_aff(&p->pool, retimed(stmt->time, from, n_old, made));
  }
}
