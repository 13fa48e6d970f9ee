/* SPDX-License-Identifier: MIT */
/* fused_tree.c - the schedule tree of a program whose producers were fused into
 * tiles, as Zhao and Di print it (figure 5 of the paper that auto.h names).
 *
 * Made from the program before and after the schedule was chosen, by names of
 * statements.  A statement that has more indices than before was moved below
 * loops of others, whose indices stand in front of its own.  Where its own say
 * what these are, it simply runs there; else it is introduced there by an
 * extension node, { [values of the loops around] -> S[j] }, and where it was
 * the subtree is marked `skipped`.  Functions that call themselves do so once
 * for a level of loops, at most PO_MAX_DEPTH times. */
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/search/auto.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <isl/printer.h>
#include <isl/schedule_node.h>

/* Which statements a part of the tree is made for. */
typedef enum share {
  OWN,    /* that stayed, or joined others one to one, in the loops of after */
  MOVED,  /* that were moved, in those of after */
  SKIPPED /* that were moved, in those of before */
} share;

typedef struct fused {
  po_program *before, *after;
  uint32_t *outer; /* by statement of after: indices of others' loops */
  bool *moved;     /* and these do not follow from its own */
} fused;

static po_program *
program_of(const fused *f, share part) {
  return part == SKIPPED ? f->before : f->after;
}

/* The statement of after; their number where it is gone. */
static bool
is_in(const fused *f, share part, uint32_t stmt) {
  assert(stmt < program_of(f, part)->stmts.len);
  if (part == SKIPPED)
    stmt = po_stmt_named(f->after, f->before->stmts.data[stmt].name);
  return stmt < f->after->stmts.len && (part == OWN) != f->moved[stmt];
}

static bool
has_any(const fused *f, share part, uint32_t top) {
  const po_program *p = program_of(f, part);
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top))
    if (is_in(f, part, po_node(p, k)->stmt))
      return true;
  return false;
}

/* A child of a loop that has statements of its own, which only holds others. */
static bool
is_grafted(const fused *f, share part, uint32_t child) {
  return part == OWN && has_any(f, MOVED, child) && !has_any(f, OWN, child);
}

static bool
has_grafts(const fused *f, share part, uint32_t loop) {
  const po_program *p = program_of(f, part);
  for (uint32_t k = po_node(p, loop)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next)
    if (is_grafted(f, part, k))
      return true;
  return false;
}

/* Children with statements of the part: their number, and the first. */
static uint32_t
children_of(const fused *f, share part, uint32_t node, uint32_t *first) {
  const po_program *p = program_of(f, part);
  uint32_t n = 0;
  *first = PO_NO_NODE;
  for (uint32_t k = po_node(p, node)->last; k != PO_NO_NODE;
       k = po_node(p, k)->prev)
    if (has_any(f, part, k)) {
      *first = k;
      n++;
    }
  return n;
}

/* ---- sets ---- */

/* { S[i, j] -> S[j] }: without the first n indices */
static __isl_give isl_map *
without_outer(const po_stmt *stmt, uint32_t n) {
  assert(n <= stmt->n_iters);
  isl_ctx *isl = isl_set_get_ctx(stmt->domain);
  uint32_t own = stmt->n_iters - n;
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(isl, stmt->n_iters, own));
  for (uint32_t d = 0; d < own; d++)
    map = isl_multi_aff_set_aff(map, (int)d,
                                po_index(isl, stmt->n_iters, n + d, 1, 0));
  isl_id *id = isl_set_get_tuple_id(stmt->domain);
  map = isl_multi_aff_set_tuple_id(map, isl_dim_in, isl_id_copy(id));
  map = isl_multi_aff_set_tuple_id(map, isl_dim_out, id);
  return isl_map_intersect_domain(isl_map_from_multi_aff(map),
                                  isl_set_copy(stmt->domain));
}

/* { [values of the first n loops] -> S[j] } of what is below a node. */
static __isl_give isl_union_map *
extension_of(const fused *f, uint32_t top, uint32_t n) {
  const po_program *p = f->after;
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top)) {
    uint32_t s = po_node(p, k)->stmt;
    const po_stmt *stmt = &p->stmts.data[s];
    isl_map *one = isl_map_from_multi_aff(po_outer_time(stmt, n));
    one = isl_map_apply_range(isl_map_reverse(one),
                              without_outer(stmt, f->outer[s]));
    all = isl_union_map_add_map(all, isl_map_coalesce(one));
  }
  return all;
}

/* { S[j] } of the part, below a node; whole: the instances, else any. */
static __isl_give isl_union_set *
statements_below(const fused *f, share part, uint32_t top, bool whole) {
  const po_program *p = program_of(f, part);
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top)) {
    uint32_t s = po_node(p, k)->stmt;
    if (!is_in(f, part, s))
      continue;
    isl_set *set = isl_set_copy(p->stmts.data[s].domain);
    if (part != SKIPPED && f->outer[s]) {
      isl_set_free(set);
      set = isl_map_range(without_outer(&p->stmts.data[s], f->outer[s]));
    }
    if (!whole) {
      isl_space *space = isl_set_get_space(set);
      isl_set_free(set);
      set = isl_set_universe(space);
    }
    all = isl_union_set_add_set(all, set);
  }
  return all;
}

/* ---- bands ---- */

/* { S[j] -> [t, ...] }, n loops from `depth` down, of a moved statement.  What
 * others' loops add is the same for all j and left out; NULL where they do more
 * than add. */
static __isl_give isl_multi_aff *
without_offsets(__isl_take isl_multi_aff *time, __isl_take isl_id *id,
                uint32_t outer) {
  isl_size n = isl_multi_aff_dim(time, isl_dim_out);
  for (isl_size k = 0; k < n; k++) {
    isl_aff *aff = isl_multi_aff_get_aff(time, k);
    for (uint32_t d = 0; d < outer; d++)
      aff = isl_aff_set_coefficient_si(aff, isl_dim_in, (int)d, 0);
    time = isl_multi_aff_set_aff(time, k, aff);
  }
  if (isl_multi_aff_involves_dims(time, isl_dim_in, 0, outer) != isl_bool_false)
    time = isl_multi_aff_free(time);
  time = isl_multi_aff_drop_dims(time, isl_dim_in, 0, outer);
  return isl_multi_aff_set_tuple_id(time, isl_dim_in, id);
}

static __isl_give isl_pw_multi_aff *
members_of(const fused *f, share part, uint32_t s, uint32_t depth, uint32_t n) {
  assert(s < program_of(f, part)->stmts.len && n);
  const po_stmt *stmt = &program_of(f, part)->stmts.data[s];
  isl_multi_aff *time = po_outer_time(stmt, depth + n);
  time = isl_multi_aff_drop_dims(time, isl_dim_out, 0, depth);
  if (part == SKIPPED || !f->outer[s])
    return isl_pw_multi_aff_from_multi_aff(time);
  if (part == MOVED)
    return isl_pw_multi_aff_from_multi_aff(
        without_offsets(time, isl_set_get_tuple_id(stmt->domain), f->outer[s]));
  isl_map *to = isl_map_reverse(without_outer(stmt, f->outer[s]));
  to = isl_map_apply_range(to, isl_map_from_multi_aff(time));
  isl_pw_multi_aff *all = isl_pw_multi_aff_from_map(isl_map_coalesce(to));
  isl_set *domain = isl_pw_multi_aff_domain(isl_pw_multi_aff_copy(all));
  return isl_pw_multi_aff_gist(all, domain);
}

/* The band of n loops below each other from `loop` down; NULL. */
static __isl_give isl_multi_union_pw_aff *
band_of(const fused *f, share part, uint32_t loop, uint32_t n) {
  const po_program *p = program_of(f, part);
  uint32_t depth = po_nest_depth(p, loop);
  isl_union_pw_multi_aff *all =
      isl_union_pw_multi_aff_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop))
    if (is_in(f, part, po_node(p, k)->stmt))
      all = isl_union_pw_multi_aff_add_pw_multi_aff(
          all, members_of(f, part, po_node(p, k)->stmt, depth, n));
  return isl_multi_union_pw_aff_from_union_pw_multi_aff(all);
}

/* Loops whose iterations do not depend on each other are coincident; a band
 * all of whose members are is permutable. */
static __isl_give isl_schedule_node *
insert_band(fused *f, share part, __isl_take isl_schedule_node *node,
            __isl_take isl_multi_union_pw_aff *band, const uint32_t *loops,
            uint32_t n) {
  assert(n && n <= PO_MAX_DEPTH);
  bool all = true;
  node = isl_schedule_node_insert_partial_schedule(node, band);
  for (uint32_t k = 0; k < n; k++) {
    bool free_order =
        po_loop_is_parallel(program_of(f, part), loops[k], true, NULL);
    all = all && free_order;
    node =
        isl_schedule_node_band_member_set_coincident(node, (int)k, free_order);
  }
  return isl_schedule_node_band_set_permutable(node, all);
}

/* ---- the tree ---- */

/* Loops from `top` down while each is all that is in the one around it. */
static uint32_t
chain_of(const fused *f, share part, uint32_t top, uint32_t *loops) {
  const po_program *p = program_of(f, part);
  uint32_t n = 0, next = top;
  while (po_node(p, next)->kind == PO_LOOP && n < PO_MAX_DEPTH) {
    loops[n++] = next;
    if (has_grafts(f, part, next) || children_of(f, part, next, &next) != 1)
      break;
  }
  return n;
}

static __isl_give isl_schedule_node *
put_nest(fused *, share, __isl_take isl_schedule_node *, uint32_t top);

/* Below filter k of a sequence. */
static __isl_give isl_schedule_node *
below_filter(__isl_take isl_schedule_node *sequence, int k) {
  return isl_schedule_node_child(isl_schedule_node_child(sequence, k), 0);
}

/* What is below a loop: nothing to be said of one statement. */
static __isl_give isl_schedule_node *
put_children(fused *f, share part, __isl_take isl_schedule_node *node,
             uint32_t loop) {
  const po_program *p = program_of(f, part);
  uint32_t first, n = children_of(f, part, loop, &first);
  if (n < 2)
    return n ? put_nest(f, part, node, first) : node;
  isl_union_set_list *filters = isl_union_set_list_alloc(p->isl, (int)n);
  for (uint32_t k = first; k != PO_NO_NODE; k = po_node(p, k)->next)
    if (has_any(f, part, k))
      filters =
          isl_union_set_list_add(filters, statements_below(f, part, k, false));
  node = isl_schedule_node_insert_sequence(node, filters);
  int at = 0;
  for (uint32_t k = first; k != PO_NO_NODE; k = po_node(p, k)->next)
    if (has_any(f, part, k)) {
      node = below_filter(node, at++);
      node = put_nest(f, part, node, k);
      node = isl_schedule_node_ancestor(node, 2);
    }
  return node;
}

/* Before the node: what tiles need of statements moved here. */
static __isl_give isl_schedule_node *
put_grafts(fused *f, __isl_take isl_schedule_node *node, uint32_t loop) {
  const po_program *p = f->after;
  isl_size depth = isl_schedule_node_get_tree_depth(node);
  for (uint32_t k = po_node(p, loop)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next) {
    if (!is_grafted(f, OWN, k))
      continue;
    isl_schedule_node *graft = isl_schedule_node_from_extension(
        extension_of(f, k, po_nest_depth(p, loop) + 1));
    graft = put_nest(f, MOVED, isl_schedule_node_child(graft, 0), k);
    node = isl_schedule_node_graft_before(node, isl_schedule_node_root(graft));
  }
  isl_size now = isl_schedule_node_get_tree_depth(node);
  return isl_schedule_node_ancestor(node, (int)(now - depth));
}

/* The node stays where it was, above what is put there. */
static __isl_give isl_schedule_node *
put_nest(fused *f, share part, __isl_take isl_schedule_node *node,
         uint32_t top) {
  uint32_t loops[PO_MAX_DEPTH], n = chain_of(f, part, top, loops);
  if (!n)
    return node;
  isl_multi_union_pw_aff *band = band_of(f, part, top, n);
  bool said = band != NULL;
  if (said) {
    node = insert_band(f, part, node, band, loops, n);
    node = isl_schedule_node_child(node, 0);
  }
  node = put_children(f, part, node, loops[n - 1]);
  if (part == OWN)
    node = put_grafts(f, node, loops[n - 1]);
  return said ? isl_schedule_node_parent(node) : node;
}

/* ---- all of it ---- */

typedef struct entry {
  share part;
  uint32_t top;
} entry;

/* Where statements of a nest of before went. */
static bool
goes_to(const fused *f, uint32_t from, uint32_t root) {
  const po_program *p = f->before;
  for (uint32_t k = po_nest_first_leaf(p, from); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, from)) {
    uint32_t s =
        po_stmt_named(f->after, p->stmts.data[po_node(p, k)->stmt].name);
    if (is_in(f, SKIPPED, po_node(p, k)->stmt) &&
        po_nest_root(f->after, f->after->stmts.data[s].leaf) == root)
      return true;
  }
  return false;
}

/* The nests in order, each after those whose statements it took. */
static uint32_t
find_entries(const fused *f, entry *out) {
  uint32_t n = 0;
  const po_program *p = f->after, *was = f->before;
  bool *taken = bs_calloc(p->ctx.heap, was->nest.nodes.len, sizeof *taken);
  for (uint32_t r = po_node(p, 0)->first; r != PO_NO_NODE;
       r = po_node(p, r)->next) {
    for (uint32_t b = po_node(was, 0)->first; b != PO_NO_NODE;
         b = po_node(was, b)->next)
      if (!taken[b] && goes_to(f, b, r)) {
        out[n++] = (entry){SKIPPED, b};
        taken[b] = true;
      }
    if (has_any(f, OWN, r))
      out[n++] = (entry){OWN, r};
  }
  bs_free(p->ctx.heap, taken);
  return n;
}

static __isl_give isl_schedule_node *
put_entry(fused *f, __isl_take isl_schedule_node *node, const entry *e) {
  if (e->part != SKIPPED)
    return put_nest(f, e->part, node, e->top);
  node = isl_schedule_node_insert_mark(
      node, isl_id_alloc(f->before->isl, "skipped", NULL));
  node = put_nest(f, SKIPPED, isl_schedule_node_child(node, 0), e->top);
  return isl_schedule_node_parent(node);
}

static __isl_give isl_schedule *
schedule_of(fused *f, const entry *entries, uint32_t n) {
  assert(n);
  isl_ctx *isl = f->after->isl;
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(isl, 0));
  isl_union_set_list *filters = isl_union_set_list_alloc(isl, (int)n);
  for (uint32_t k = 0; k < n; k++) {
    const entry *e = &entries[k];
    all = isl_union_set_union(all, statements_below(f, e->part, e->top, true));
    filters = isl_union_set_list_add(
        filters, statements_below(f, e->part, e->top, false));
  }
  isl_schedule *schedule = isl_schedule_from_domain(all);
  isl_schedule_node *node =
      isl_schedule_node_child(isl_schedule_get_root(schedule), 0);
  isl_schedule_free(schedule);
  if (n > 1)
    node = isl_schedule_node_insert_sequence(node, filters);
  else
    isl_union_set_list_free(filters);
  for (uint32_t k = 0; k < n; k++) {
    if (n > 1)
      node = below_filter(node, (int)k);
    node = put_entry(f, node, &entries[k]);
    if (n > 1)
      node = isl_schedule_node_ancestor(node, 2);
  }
  schedule = isl_schedule_node_get_schedule(node);
  isl_schedule_node_free(node);
  return schedule;
}

static __isl_give char *
text_of(__isl_take isl_schedule *schedule) {
  isl_printer *printer = isl_printer_to_str(isl_schedule_get_ctx(schedule));
  printer = isl_printer_set_yaml_style(printer, ISL_YAML_STYLE_BLOCK);
  printer = isl_printer_print_schedule(printer, schedule);
  char *text = isl_printer_get_str(printer);
  isl_printer_free(printer);
  isl_schedule_free(schedule);
  return text;
}

/* Whether the indices of others' loops follow from the statement's own. */
static bool
is_one_to_one(const po_stmt *stmt, uint32_t outer) {
  isl_map *map = without_outer(stmt, outer);
  bool is = isl_map_is_injective(map) == isl_bool_true;
  isl_map_free(map);
  return is;
}

static void
find_moved(fused *f) {
  for (uint32_t k = 0; k < f->after->stmts.len; k++) {
    const po_stmt *s = &f->after->stmts.data[k];
    uint32_t was = po_stmt_named(f->before, s->name);
    if (was == f->before->stmts.len ||
        s->n_iters <= f->before->stmts.data[was].n_iters)
      continue;
    f->outer[k] = s->n_iters - f->before->stmts.data[was].n_iters;
    f->moved[k] = !is_one_to_one(s, f->outer[k]);
  }
}

bool
po_print_fused(const po_program *before, const po_program *after,
               bs_text *out) {
  bs_heap *heap = after->ctx.heap;
  fused f = {po_copy(before), po_copy(after), NULL, NULL};
  f.outer = bs_calloc(heap, after->stmts.len, sizeof *f.outer);
  f.moved = bs_calloc(heap, after->stmts.len, sizeof *f.moved);
  find_moved(&f);
  uint32_t most = before->nest.nodes.len + after->nest.nodes.len;
  entry *entries = bs_calloc(heap, most, sizeof *entries);
  uint32_t n = find_entries(&f, entries);
  po_pool_reserve(&f.after->pool, 1);
  const char *text = NULL;
  if (n)
    text = po_keep_str(&f.after->pool, text_of(schedule_of(&f, entries, n)));
  if (text)
    bs_put(out, text);
  bool ok = !n || text;
  bs_free(heap, entries);
  bs_free(heap, f.outer);
  bs_free(heap, f.moved);
  po_free(f.after);
  po_free(f.before);
  return ok || bs_error(after->ctx.diags, BS_NOWHERE, "too-complex",
                        "the tree: the integer set library gave up");
}
