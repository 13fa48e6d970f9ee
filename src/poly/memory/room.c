/* SPDX-License-Identifier: MIT */
/* room.c - addresses of the values of a plan, lowest first.
 *
 * All values of a part hold something at the same time.  A place begins at a
 * multiple of the memory's alignment and of its rows, lies within one bank,
 * and, where there are several banks, in another one than what the same call
 * reads besides. */
#include "base/whole.h"
#include "poly/memory/memory_part.h"
#include <assert.h>
#include <string.h>

typedef struct place {
  uint32_t memory, value;
  int64_t at, bytes;
} place;

typedef struct packing {
  const po_calls *x;
  const po_plan *plan;
  place made[3 * PO_MOST_VALUES];
  uint32_t n;
  bool meets[PO_MOST_VALUES][PO_MOST_VALUES]; /* read by one call */
} packing;

static void
find_meetings(packing *k) {
  const po_calls *x = k->x;
  for (uint32_t i = 0; i < x->n_refs; i++)
    for (uint32_t j = 0; j < x->n_refs; j++) {
      const po_ref *a = &x->refs[i], *b = &x->refs[j];
      uint32_t n = x->p->stmts.data[a->stmt].instr->n_operands;
      if (a->stmt == b->stmt && a->operand < n && b->operand < n)
        k->meets[a->value][b->value] = true;
    }
}

/* The first address from `at` on that begins a row within one bank. */
static int64_t
fitted(const gs_memory *m, int64_t at, int64_t bytes) {
  assert(m->banks > 0 && bytes <= m->bytes / m->banks);
  int64_t bank = m->bytes / m->banks, unit = gs_memory_unit(m);
  at = bs_round_up(at, unit);
  while (at + bytes <= m->bytes && at / bank != (at + bytes - 1) / bank)
    at = bs_round_up((at / bank + 1) * bank, unit);
  return at;
}

/* The place in the way, or NULL. */
static const place *
in_the_way(const packing *k, const gs_memory *m, const place *p) {
  int64_t bank = m->bytes / m->banks;
  for (uint32_t j = 0; j < k->n; j++) {
    const place *q = &k->made[j];
    if (q->memory != p->memory)
      continue;
    if (p->at < q->at + q->bytes && q->at < p->at + p->bytes)
      return q;
    if (m->banks > 1 && p->value != q->value && k->meets[p->value][q->value] &&
        p->at / bank == q->at / bank)
      return q;
  }
  return NULL;
}

/* The next address to look at when that place is in the way. */
static int64_t
behind(const gs_memory *m, const place *p, const place *q) {
  int64_t bank = m->bytes / m->banks;
  bool covers = p->at < q->at + q->bytes && q->at < p->at + p->bytes;
  return covers ? q->at + q->bytes : (p->at / bank + 1) * bank;
}

static bool
put(packing *k, uint32_t memory, uint32_t value, int64_t bytes, int64_t *at) {
  const gs_memory *m = gs_memory_at(k->x->p->target, memory);
  place p = {memory, value, 0, bytes};
  const place *q;
  if (bytes > m->bytes / m->banks)
    return false;
  p.at = fitted(m, 0, bytes);
  while (p.at + bytes <= m->bytes && (q = in_the_way(k, m, &p)))
    p.at = fitted(m, behind(m, &p, q), bytes);
  if (p.at + bytes > m->bytes)
    return false;
  assert(k->n < 3 * PO_MOST_VALUES && p.at >= 0);
  k->made[k->n++] = p;
  *at = p.at;
  return true;
}

static int64_t
bytes_of(const packing *k, uint32_t memory, const po_tile *t, int64_t places) {
  const gs_memory *m = gs_memory_at(k->x->p->target, memory);
  int64_t dim[GS_MAX_RANK + 1] = {places};
  memcpy(dim + 1, t->dim, t->rank * sizeof *dim);
  return gs_memory_bytes(m, t->dtype, dim, t->rank + 1);
}

/* The array has a dimension for each index of its places. */
static bool
is_array(const packing *k, uint32_t v) {
  assert(v < k->x->n_values);
  uint32_t n = 1 + k->x->value[v].tile.rank;
  for (uint32_t j = k->plan->level[v]; j < k->plan->n_loops; j++)
    n += k->x->value[v].has[k->plan->loop[j].dim];
  return n <= GS_MAX_RANK;
}

/* Of tiles side by side each one is to begin where the alignment wants it. */
static bool
is_aligned(const packing *k, uint32_t memory, const po_tile *t) {
  gs_memory m = *gs_memory_at(k->x->p->target, memory);
  int64_t align = m.align;
  m.align = 1;
  return gs_memory_bytes(&m, t->dtype, t->dim, t->rank) % align == 0;
}

static bool
put_value(packing *k, uint32_t v, po_room *out) {
  assert(v < k->x->n_values);
  const po_value *value = &k->x->value[v];
  int64_t places = po_value_places(k->x, k->plan, v);
  if (!value->memory)
    return true;
  if (!is_array(k, v))
    return false;
  places *= k->plan->twice[v] ? 2 : 1;
  if (places > 1 && !is_aligned(k, value->memory, &value->tile))
    return false;
  out->bytes[v] = bytes_of(k, value->memory, &value->tile, places);
  out->full = value->memory;
  return put(k, value->memory, v, out->bytes[v], &out->address[v]);
}

/* A tile on its way through another memory. */
static bool
put_stage(packing *k, uint32_t v, const po_route *r, int64_t *at,
          po_room *out) {
  assert(v < k->x->n_values);
  if (r->n < 2)
    return true;
  out->full = r->memory[1];
  return put(k, r->memory[1], v,
             bytes_of(k, r->memory[1], &k->x->value[v].tile, 1), at);
}

static void
add_up(const packing *k, po_room *out) {
  for (uint32_t v = 0; v < k->x->n_values; v++)
    if (k->x->value[v].memory == out->full)
      out->needed += bytes_of(k, out->full, &k->x->value[v].tile,
                              po_value_places(k->x, k->plan, v));
}

bool
po_find_room(const po_calls *x, const po_plan *plan, po_room *out) {
  packing k = {.x = x, .plan = plan};
  bool ok = true;
  *out = (po_room){0};
  find_meetings(&k);
  for (uint32_t v = 0; ok && v < x->n_values; v++)
    ok = put_value(&k, v, out) &&
         put_stage(&k, v, &x->value[v].in, &out->stage_in[v], out) &&
         put_stage(&k, v, &x->value[v].out, &out->stage_out[v], out);
  if (!ok)
    add_up(&k, out);
  return ok;
}
