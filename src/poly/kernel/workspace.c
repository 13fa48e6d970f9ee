/* SPDX-License-Identifier: MIT */
/* workspace.c - where workspace arrays lie: first fit over live intervals.
 *
 * An array lives from the first group that names it to the last, whatever the
 * order of instances within a group.  Arrays are placed in the order of their
 * first use, at the lowest offset that no array living then covers; offsets
 * are multiples of 64.  What a contraction makes of its sums and of an array
 * that is not needed any more takes the place of that array, which is in the
 * caches.  Large locals lie here too, one for each thread of the
 * team that a parallel loop around them has. */
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/limit.h"
#include "poly/loops/loops_number.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include "poly/loops/uses.h"
#include <assert.h>

/* isl operations that looking for contractions may take; beyond them there are
 * none, and loops run as the nest says. */
#define LOOKING 4000000ul

typedef struct extent {
  int64_t offset, bytes;
  uint32_t last; /* group */
} extent;

typedef struct layout {
  po_program *program;
  const po_groups *groups;
  bool before;         /* of what NAME_prepack makes on the way */
  int64_t floor, *top; /* bytes: where the first lies, the last ends */
  int64_t most;        /* bytes that live at a time */
  uint32_t *last;      /* by array: group */
  uint32_t *node;      /* by array: see po_find_local_nodes */
  /* The contraction of the group that is visited, or NULL. */
  const po_contraction *contraction;
  BS_VEC(extent) live; /* by offset */
} layout;

/* Whole lines, for all threads; 0 where it has no place in the workspace. */
static int64_t
lines_of(const po_program *p, const uint32_t *node, uint32_t k) {
  assert(k < p->arrays.len);
  const po_array *array = &p->arrays.data[k];
  if (array->role != PO_WORKSPACE && !po_is_large(array))
    return 0;
  int64_t bytes = (po_bytes(array) + 63) / 64 * 64;
  bool team = array->role == PO_LOCAL && po_is_in_parallel(p, node[k]);
  return team ? bytes * PO_MAX_TEAM : bytes;
}

static int64_t
bytes_of(const layout *l, uint32_t k) {
  assert(k < l->program->arrays.len);
  return l->program->arrays.data[k].before == l->before
             ? lines_of(l->program, l->node, k)
             : 0;
}

/* Where places lie depends on sizes: not of what is made before any call. */
static bool
has_open_places(const layout *l) {
  return po_has_sizes(l->program) && !l->before;
}

static void
expire(layout *l, uint32_t now) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < l->live.len; k++)
    if (l->live.data[k].last >= now)
      l->live.data[n++] = l->live.data[k];
  l->live.len = n;
}

/* With sizes a place is a number: arrays that live one after the other share
 * it, and where it begins is computed when the function is called.  `live`
 * holds all places, `last` the group after which one is free. */
static void
place_by_number(layout *l, po_array *array, int64_t bytes, uint32_t last,
                uint32_t now) {
  assert(last >= now);
  uint32_t k = 0;
  while (k < l->live.len && l->live.data[k].last >= now)
    k++;
  if (k == l->live.len)
    bs_push(l->program->ctx.heap, &l->live, (extent){k, 0, 0});
  extent *e = &l->live.data[k];
  *l->top += bytes > e->bytes ? bytes - e->bytes : 0;
  e->bytes = bytes > e->bytes ? bytes : e->bytes;
  e->last = last;
  array->offset = k;
}

static void
place(layout *l, po_array *array, int64_t bytes, uint32_t last) {
  extent e = {l->floor, bytes, last};
  uint32_t at = 0;
  for (; at < l->live.len; at++) {
    if (e.offset + e.bytes <= l->live.data[at].offset)
      break;
    e.offset = l->live.data[at].offset + l->live.data[at].bytes;
  }
  bs_push(l->program->ctx.heap, &l->live, e);
  for (uint32_t k = l->live.len - 1; k > at; k--)
    l->live.data[k] = l->live.data[k - 1];
  l->live.data[at] = e;
  array->offset = e.offset;
  if (e.offset + e.bytes > *l->top)
    *l->top = e.offset + e.bytes;
}

/* No placement can do with less than what lives at a time. */
static void
note_most(layout *l) {
  int64_t bytes = 0;
  for (uint32_t k = 0; k < l->live.len; k++)
    bytes += l->live.data[k].bytes;
  l->most = bytes > l->most ? bytes : l->most;
}

typedef void visit(layout *, uint32_t array, uint32_t group);

static void
visit_arrays(layout *l, const po_stmt *stmt, uint32_t group, visit *f) {
  f(l, stmt->array, group);
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
      f(l, stmt->exprs[j].array, group);
  for (uint32_t j = 0; stmt->instr && j < stmt->instr->n_operands; j++)
    f(l, stmt->operands[j].array, group);
}

static void
note_last(layout *l, uint32_t array, uint32_t group) {
  assert(array < l->program->arrays.len);
  l->last[array] = group;
}

/* The array takes the place of one that ends with the group. */
static bool
place_over(layout *l, uint32_t k, uint32_t group) {
  const po_contraction *c = l->contraction;
  po_array *arrays = l->program->arrays.data;
  uint32_t over =
      c && c->c.array == k ? po_may_lie_over(l->program, c) : UINT32_MAX;
  if (over == UINT32_MAX || l->last[over] != group || arrays[over].offset < 0)
    return false;
  for (uint32_t j = 0; j < l->live.len; j++)
    if (l->live.data[j].offset == arrays[over].offset) {
      l->live.data[j].last = l->last[k];
      arrays[k].offset = arrays[over].offset;
    }
  return arrays[k].offset >= 0;
}

/* NAME_prepack runs its groups, and then packs what contractions read of them:
 * that is needed up to the end. */
static uint32_t
last_of(const layout *l, uint32_t k) {
  const po_group *last = &l->groups->list.data[l->last[k]];
  bool packed = l->before && !po_is_before(l->program, l->groups, last);
  return packed ? UINT32_MAX : l->last[k];
}

static void
place_new(layout *l, uint32_t k, uint32_t group) {
  assert(k < l->program->arrays.len);
  po_array *array = &l->program->arrays.data[k];
  int64_t bytes = array->offset < 0 ? bytes_of(l, k) : 0;
  if (bytes && place_over(l, k, group))
    return;
  if (bytes && has_open_places(l))
    place_by_number(l, array, bytes, last_of(l, k), group);
  else if (bytes)
    place(l, array, bytes, last_of(l, k));
}

static void
visit_group(layout *l, const po_groups *groups, uint32_t g, visit *f) {
  assert(g < groups->list.len);
  const po_group *group = &groups->list.data[g];
  const po_contraction *c = po_contraction_of(l->program, groups, group);
  l->contraction = c;
  for (uint32_t k = group->first; k < group->first + group->n; k++)
    visit_arrays(l, &l->program->stmts.data[groups->stmts.data[k]], g, f);
  if (c && c->x_mode == PO_WHOLE)
    f(l, c->packed_x, g);
  if (c && c->y_mode == PO_WHOLE)
    f(l, c->packed_y, g);
}

/* The arrays without a place that groups use, of NAME_prepack or of the
 * program. */
static void
place_arrays(layout *l, const po_groups *groups, bool before, int64_t floor,
             int64_t *top) {
  l->before = before;
  l->floor = floor;
  l->top = top;
  l->most = 0;
  bs_clear(&l->live);
  for (uint32_t g = 0; g < groups->list.len; g++) {
    if (!has_open_places(l))
      expire(l, g);
    visit_group(l, groups, g, place_new);
    note_most(l);
  }
}

static void
plan(po_program *p, po_groups *groups) {
  bs_clear(&p->contractions);
  bs_clear(&p->slides);
  po_limit limit = po_limit_operations(p, LOOKING);
  po_find_groups(p, groups);
  po_uses uses;
  po_find_uses(p, &uses);
  p->uses = &uses;
  po_plan_contractions(p, groups);
  if (!po_has_sizes(p)) /* tiles of windows are made for numbers */
    po_plan_slides(p, groups);
  p->uses = NULL;
  po_uses_done(p, &uses);
  if (!po_unlimit(&limit)) {
    bs_clear(&p->contractions);
    bs_clear(&p->slides);
  }
  po_groups_done(p, groups); /* formulas have joined contractions */
  po_find_groups(p, groups);
}

/* ---- at given sizes ---- */

static int64_t
bytes_at(const po_program *p, gs_sizes *sizes, uint32_t k, int64_t most,
         const int64_t *at) {
  assert(k < p->arrays.len);
  const po_array *array = &p->arrays.data[k];
  int64_t bytes = gs_dtype_table[array->dtype].bytes;
  if (!po_lies_by_sizes(array))
    return most;
  for (uint32_t d = 0; d < array->rank; d++) {
    gs_number size = 0;
    if (!po_extent_number(p, sizes, array, d, &size))
      return most;
    bytes *= gs_number_at(sizes, size, at);
  }
  return bytes;
}

int64_t
po_workspace_at(const po_program *p, const int64_t *at) {
  bs_arena arena;
  int64_t *most = bs_calloc(p->ctx.heap, p->arrays.len + 1, sizeof *most);
  uint32_t *node = bs_calloc(p->ctx.heap, p->arrays.len, sizeof *node);
  int64_t sum = 0;
  bs_arena_init(&arena, p->ctx.heap);
  po_find_local_nodes(p, node);
  gs_sizes *sizes = po_numbers_of(p, &arena);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    int64_t bytes = array->before ? 0 : lines_of(p, node, k);
    if (array->offset < 0 || !bytes)
      continue;
    bytes = bytes_at(p, sizes, k, bytes, at);
    most[array->offset] =
        bytes > most[array->offset] ? bytes : most[array->offset];
  }
  for (uint32_t k = 0; k < p->arrays.len; k++)
    sum += (most[k] + 63) / 64 * 64;
  bs_free(p->ctx.heap, most);
  bs_free(p->ctx.heap, node);
  bs_arena_done(&arena);
  return sum;
}

/* ---- */

void
po_lay_out(po_program *p) {
  po_groups groups;
  layout l = {.program = p, .groups = &groups};
  plan(p, &groups);
  if (po_find_before(p, &groups)) { /* contractions have constant operands */
    po_groups_done(p, &groups);
    plan(p, &groups);
  }
  l.last = bs_calloc(p->ctx.heap, p->arrays.len, sizeof *l.last);
  l.node = bs_calloc(p->ctx.heap, p->arrays.len, sizeof *l.node);
  po_find_local_nodes(p, l.node);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role != PO_MEMORY)
      p->arrays.data[k].offset = -1;
  p->workspace_bytes = 0;
  for (uint32_t g = 0; g < groups.list.len; g++)
    visit_group(&l, &groups, g, note_last);
  place_arrays(&l, &groups, false, 0, &p->workspace_bytes);
  p->workspace_least = l.most;
  po_lay_out_prepacked(p, &groups);
  place_arrays(&l, &groups, true, p->prepacked_bytes, &p->prepacked_bytes);
  po_groups_done(p, &groups);
  bs_free(p->ctx.heap, l.last);
  bs_free(p->ctx.heap, l.node);
  bs_vec_done(p->ctx.heap, &l.live);
}
