/* SPDX-License-Identifier: MIT */
/* model.c - what a program reads, for the costs of layouts.
 *
 * A statement is a definition: its loops are those around it, and its reads
 * are functions of their values, which its time gives where it is injective.
 * Arrays that a call or a look-up uses as a whole are not movable. */
#include "glenside/target/machine.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/kernel/contraction.h"
#include "poly/datalayout/datalayout.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>
#include <isl/val.h>

void
po_layout_model_init(po_layout_model *m, bs_heap *heap, isl_ctx *isl) {
  *m = (po_layout_model){.heap = heap, .isl = isl, .cache = {64, 64, 8}};
  po_pool_init(&m->pool, heap);
  bs_arena_init(&m->arena, heap);
}

void
po_layout_model_done(po_layout_model *m) {
  for (uint32_t k = 0; k < m->definitions.len; k++)
    bs_vec_done(m->heap, &m->definitions.data[k].reads);
  bs_vec_done(m->heap, &m->definitions);
  bs_vec_done(m->heap, &m->arrays);
  po_pool_done(&m->pool);
  bs_arena_done(&m->arena);
}

uint32_t
po_layout_add_array(po_layout_model *m, const char *name, uint32_t rank,
                    const int64_t *dim, int64_t bytes) {
  assert(rank <= GS_MAX_RANK && bytes > 0);
  po_layout_array a = {
      .name = bs_arena_strdup(&m->arena, name), .rank = rank, .bytes = bytes};
  a.movable = rank >= 2;
  a.copies = 1;
  memcpy(a.dim, dim, rank * sizeof *dim);
  bs_push(m->heap, &m->arrays, a);
  return m->arrays.len - 1;
}

uint32_t
po_layout_add_definition(po_layout_model *m, const char *name, uint32_t n_loops,
                         const int64_t *extent) {
  assert(n_loops <= PO_MAX_DEPTH);
  po_definition d = {.name = bs_arena_strdup(&m->arena, name),
                     .n_loops = n_loops};
  memcpy(d.extent, extent, n_loops * sizeof *extent);
  bs_push(m->heap, &m->definitions, d);
  return m->definitions.len - 1;
}

static void
add_access(po_layout_model *m, uint32_t definition, uint32_t array,
           __isl_take isl_map *index, bool written) {
  po_layout_read r = {.array = array,
                      .index = po_keep_map(&m->pool, index),
                      .written = written};
  bs_push(m->heap, &m->definitions.data[definition].reads, r);
}

void
po_layout_add_read(po_layout_model *m, uint32_t definition, uint32_t array,
                   __isl_take isl_map *index) {
  assert(definition < m->definitions.len && array < m->arrays.len);
  add_access(m, definition, array, index, false);
}

void
po_layout_add_write(po_layout_model *m, uint32_t definition, uint32_t array,
                    __isl_take isl_map *index) {
  assert(definition < m->definitions.len && array < m->arrays.len);
  add_access(m, definition, array, index, true);
}

/* { S[i] -> [values of the loops around] } */
static isl_map *
time_of(const po_stmt *stmt) {
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  time = isl_map_intersect_domain(time, isl_set_copy(stmt->domain));
  return isl_map_reset_tuple_id(time, isl_dim_out);
}

static bool
find_extents(__isl_take isl_map *time, int64_t *extent, uint32_t *n) {
  isl_set *values = isl_map_range(time);
  isl_size dims = isl_set_dim(values, isl_dim_set);
  bool ok = dims >= 0 && dims <= PO_MAX_DEPTH &&
            isl_set_is_empty(values) == isl_bool_false;
  *n = ok ? (uint32_t)dims : 0;
  for (uint32_t d = 0; ok && d < *n; d++) {
    isl_val *lo = isl_set_dim_min_val(isl_set_copy(values), (int)d);
    isl_val *hi = isl_set_dim_max_val(isl_set_copy(values), (int)d);
    isl_val *size = isl_val_add_ui(isl_val_sub(hi, lo), 1);
    ok = isl_val_is_int(size) == isl_bool_true &&
         isl_val_cmp_si(size, INT32_MAX) < 0;
    extent[d] = ok ? isl_val_get_num_si(size) : 0;
    isl_val_free(size);
  }
  isl_set_free(values);
  return ok;
}

static void
pin_operands(const po_stmt *stmt, const uint32_t *number, po_layout_model *m) {
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    if (stmt->exprs[k].kind == PO_GATHER &&
        number[stmt->exprs[k].array] != UINT32_MAX)
      m->arrays.data[number[stmt->exprs[k].array]].movable = false;
  for (uint32_t k = 0; stmt->kind == PO_CALL && k <= stmt->instr->n_operands;
       k++)
    if (number[stmt->operands[k].array] != UINT32_MAX)
      m->arrays.data[number[stmt->operands[k].array]].movable = false;
}

static bool
uses_any(const po_stmt *stmt, const uint32_t *number) {
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    if (stmt->exprs[k].kind == PO_READ &&
        number[stmt->exprs[k].array] != UINT32_MAX)
      return true;
  return stmt->kind != PO_CALL && number[stmt->array] != UINT32_MAX;
}

/* { [values of the loops] -> [element] } */
static isl_map *
index_of(const po_stmt *stmt, __isl_keep isl_pw_multi_aff *at) {
  isl_map *index = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(at));
  index = isl_map_reset_tuple_id(index, isl_dim_out);
  return isl_map_apply_domain(index, time_of(stmt));
}

/* Another statement of the same nest writes the array, too, further in: a
 * reduction's start brings in what its updates use. */
static bool
is_written_further_in(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  const po_stmt *s = &p->stmts.data[stmt];
  uint32_t loops[PO_MAX_DEPTH], others[PO_MAX_DEPTH];
  uint32_t n = po_nest_loops(p, s->leaf, loops);
  for (uint32_t k = 0; n && k < p->stmts.len; k++) {
    const po_stmt *other = &p->stmts.data[k];
    if (k == stmt || other->kind == PO_CALL || other->array != s->array)
      continue;
    uint32_t m = po_nest_loops(p, other->leaf, others);
    if (m && others[0] == loops[0] && (m > n || (m == n && k > stmt)))
      return true;
  }
  return false;
}

static bool
is_contracted(const po_program *p, uint32_t stmt) {
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    const po_contraction *c = p->contractions.data[k];
    if (c->init == stmt || c->update == stmt || c->store == stmt)
      return true;
  }
  return false;
}

static bool
add_statement(const po_program *p, uint32_t s, const uint32_t *number,
              po_layout_model *m) {
  assert(s < p->stmts.len);
  const po_stmt *stmt = &p->stmts.data[s];
  int64_t extent[PO_MAX_DEPTH];
  uint32_t n;
  if (!find_extents(time_of(stmt), extent, &n))
    return false;
  uint32_t d = po_layout_add_definition(m, stmt->name, n, extent);
  m->definitions.data[d].packs = is_contracted(p, s);
  po_pool_reserve(&m->pool, stmt->n_exprs + 1);
  if (stmt->kind != PO_CALL && number[stmt->array] != UINT32_MAX &&
      !is_written_further_in(p, s))
    po_layout_add_write(m, d, number[stmt->array], index_of(stmt, stmt->write));
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if (e->kind != PO_READ || number[e->array] == UINT32_MAX)
      continue;
    po_layout_add_read(m, d, number[e->array], index_of(stmt, e->index));
  }
  return true;
}

static void
set_cache(const gs_target *t, po_layout_model *m) {
  gs_cache c = gs_first_cache(t);
  int64_t sets = c.bytes / c.line / c.ways;
  m->cache = (po_layout_cache){c.line, sets > 0 ? sets : 1, c.ways};
}

/* A kernel packs what it reads, faster than its loops would run on a copy in
 * any layout: it would be left for them. */
static void
pin_packed(po_layout_model *m) {
  for (uint32_t k = 0; k < m->definitions.len; k++) {
    const po_definition *d = &m->definitions.data[k];
    for (uint32_t j = 0; d->packs && j < d->reads.len; j++)
      m->arrays.data[d->reads.data[j].array].movable = false;
  }
}

/* A statement reads the array: seen once, however often it does. */
static void
count_copy(const po_program *p, po_layout_model *m, const uint32_t *number,
           uint32_t *seen, uint32_t array, uint32_t stmt) {
  if (array >= p->arrays.len || number[array] == UINT32_MAX ||
      seen[array] == stmt)
    return;
  seen[array] = stmt;
  m->arrays.data[number[array]].copies++;
}

/* Of each array, the statements that read it. */
static void
count_copies(const po_program *p, po_layout_model *m, const uint32_t *number) {
  uint32_t *seen = BS_NEWS(&m->arena, uint32_t, p->arrays.len);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    seen[k] = UINT32_MAX;
  for (uint32_t j = 0; j < p->stmts.len; j++) {
    const po_stmt *s = &p->stmts.data[j];
    for (uint32_t k = 0; k < s->n_exprs; k++)
      if (s->exprs[k].kind == PO_READ || s->exprs[k].kind == PO_GATHER)
        count_copy(p, m, number, seen, s->exprs[k].array, j);
    for (uint32_t k = 0; s->instr && k < s->instr->n_operands; k++)
      count_copy(p, m, number, seen, s->operands[k].array, j);
  }
}

bool
po_layout_model_of(const po_program *p, po_layout_model *m) {
  set_cache(p->target, m);
  uint32_t *number = BS_NEWS(&m->arena, uint32_t, p->arrays.len);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    number[k] = UINT32_MAX;
    if (a->role == PO_LOCAL || a->packed)
      continue;
    number[k] = po_layout_add_array(m, a->name, a->rank, a->dim,
                                    gs_dtype_table[a->dtype].bytes);
    po_layout_array *made = &m->arrays.data[number[k]];
    made->program = k;
    made->own = a->role == PO_WORKSPACE || a->role == PO_CONSTANT;
    made->copies = 0;
    if (a->role == PO_OUTPUT)
      made->movable = false;
  }
  count_copies(p, m, number);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    pin_operands(stmt, number, m);
    if (uses_any(stmt, number) && !add_statement(p, k, number, m))
      return false;
  }
  pin_packed(m);
  return !m->pool.failed;
}
