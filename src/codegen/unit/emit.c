/* SPDX-License-Identifier: MIT */
/* emit.c - one emission, from its first allocation to its last fault.
 *
 * What writes a file runs protected: isl objects live in a pool that is
 * emptied whatever happens, memory that runs out unwinds to here. */
#include "codegen/unit/emit.h"
#include "poly/loops/limit.h"
#include "poly/loops/quasi.h"

/* Elements up to which an index fits in an int with room for arithmetic. */
#define MAX_INT_ELEMENTS ((int64_t)1 << 28)

typedef struct emission {
  cg_emitter e;
  bool (*write)(cg_emitter *, void *);
  void *arg;
  bool ok;
} emission;

/* What a row of an extent is made of never passes this; INT64_MAX: it may pass
 * all numbers. most: of the sizes, then of the quotients before it. */
static int64_t
most_of_row(const po_quasi *q, const int64_t *row, const int64_t *most) {
  int64_t sum = row[0] < 0 ? -row[0] : row[0];
  for (uint32_t k = 1; k < po_quasi_width(q); k++) {
    int64_t factor = row[k] < 0 ? -row[k] : row[k], term;
    if (factor && (__builtin_mul_overflow(factor, most[k - 1], &term) ||
                   __builtin_add_overflow(sum, term, &sum)))
      return INT64_MAX;
  }
  return sum;
}

/* All that is computed on the way to an extent fits in an int. */
static bool
is_of_ints(const po_program *p, __isl_keep isl_aff *extent) {
  po_quasi q;
  if (!po_quasi_make(p->ctx.arena, extent, &q))
    return false;
  int64_t *most = BS_NEWS(p->ctx.arena, int64_t, po_quasi_width(&q));
  for (uint32_t k = 0; k < q.n_sizes; k++)
    most[k] = p->sizes.data[k].most;
  for (uint32_t k = 0; k <= q.m; k++) {
    int64_t row = most_of_row(&q, po_quasi_row(&q, k), most);
    if (row > MAX_INT_ELEMENTS)
      return false;
    most[q.n + k] = row;
  }
  return true;
}

/* Sizes, and extents that are made of them. */
static bool
has_sizes_of_ints(const po_program *p) {
  for (uint32_t k = 0; k < p->sizes.len; k++)
    if (p->sizes.data[k].most > MAX_INT_ELEMENTS)
      return false;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    for (uint32_t d = 0; d < p->arrays.data[k].rank; d++)
      if (p->arrays.data[k].extent[d] &&
          !is_of_ints(p, p->arrays.data[k].extent[d]))
        return false;
  return true;
}

/* The C type of indices. */
static const char *
type_of_indices(const po_program *p) {
  if (!has_sizes_of_ints(p))
    return "int64_t";
  for (uint32_t k = 0; k < p->source->nodes.len; k++)
    if (gs_elements_at(p->source, (gs_term){k}) > MAX_INT_ELEMENTS)
      return "int64_t";
  return "int";
}

static void
begin(emission *x, const po_program *p, const cg_options *options) {
  x->e = (cg_emitter){.p = p,
                      .options = options,
                      .heap = p->ctx.heap,
                      .index = type_of_indices(p)};
  po_pool_init(&x->e.pool, p->ctx.heap);
  bs_arena_init(&x->e.arena, p->ctx.heap);
  bs_text_init(&x->e.body, p->ctx.heap);
  x->e.weight = po_weight_of(p);
  isl_ctx_reset_error(p->isl);
  cg_limit(&x->e, CG_OPERATIONS);
}

void
cg_limit(const cg_emitter *e, unsigned long most) {
  po_bind_isl(e->p->isl, e->heap, most ? most / e->weight + 1 : 0);
}

static void
body(void *arg) {
  emission *x = arg;
  cg_emitter *e = &x->e;
  po_find_groups(e->p, &e->groups);
  e->local_node = bs_calloc(e->heap, e->p->arrays.len, sizeof *e->local_node);
  po_find_local_nodes(e->p, e->local_node);
  cg_find_elements(e);
  x->ok = x->write(e, x->arg);
}

static void
done(cg_emitter *e) {
  po_pool_done(&e->pool);
  bs_text_done(&e->body);
  bs_vec_done(e->heap, &e->kernels);
  bs_free(e->heap, e->uses);
  bs_free(e->heap, e->local_node);
  bs_free(e->heap, e->elements);
  bs_free(e->heap, e->streamed);
  bs_free(e->heap, e->fetched);
  bs_free(e->heap, e->mentioned);
  po_groups_done(e->p, &e->groups);
  bs_arena_done(&e->arena);
}

/* stmt: the first of the loops that code was being made of, or NULL. */
static bool
report(const po_program *p, const po_stmt *stmt) {
  bs_error(p->ctx.diags, stmt ? stmt->span : BS_NOWHERE, "too-complex",
           "loops could not be generated: the accesses are too complex");
  const char *message = isl_ctx_last_error_msg(p->isl);
  bs_hint(p->ctx.diags, "loops in another order, or cut less often, may do%s%s",
          message ? "; isl says: " : "", message ? message : "");
  return false;
}

static const po_stmt *
about(const cg_emitter *e) {
  bool known = e->about && (e->failed || e->pool.failed);
  return known ? cg_stmt(e, e->about, 0) : NULL;
}

bool
cg_emit(const po_program *p, const cg_options *options,
        bool (*write)(cg_emitter *, void *), void *arg) {
  emission x = {.write = write, .arg = arg};
  begin(&x, p, options);
  bool memory = bs_protect(p->ctx.heap, body, &x);
  bool failed = x.e.failed || x.e.pool.failed ||
                isl_ctx_last_error(p->isl) != isl_error_none;
  const po_stmt *stmt = about(&x.e);
  cg_limit(&x.e, 0);
  if (!memory) {
    po_pool_done(&x.e.pool);
    bs_out_of_memory(p->ctx.heap);
    return false;
  }
  done(&x.e);
  if (x.ok && failed)
    return report(p, stmt);
  return x.ok;
}
