/* SPDX-License-Identifier: MIT */
/* region_cut.c - which region each term of a program belongs to.
 *
 * Upwards from the inputs, a sum of products begins a region, and what computes
 * joins the last region that it reads: numbers only rise on the way from
 * inputs to outputs, so that no region waits for itself.  What reads inputs
 * alone floats; downwards from the outputs it sinks into the one region that
 * reads it, or is one of its own where several do. */
#include "region/region.h"
#include "glenside/type/op.h"
#include <assert.h>

#include <string.h>

/* Terms that compute in a region: what is longer is cut, wherever. */
enum { MOST_WORKS = 32 };

#define MANY (UINT32_MAX - 1) /* regions read it */

typedef struct cutter {
  rg_cut *out;
  const gs_program *p;
  uint8_t *live;
  uint32_t *deepest; /* by term: the last region below it, or RG_NONE */
  uint32_t *reader;  /* by term: the region above it; MANY, RG_NONE */
  uint32_t *readers; /* by term: how many terms and outputs read it */
  uint32_t *by;      /* by term: one of these terms */
} cutter;

static bool
works(const gs_node *n) {
  return n->op == GS_COMPUTE || n->op == GS_CALL || n->op == GS_SCAN ||
         n->op == GS_MATERIALIZE;
}

static bool
begins_region(const gs_program *p, const gs_node *n) {
  gs_compute c;
  if (n->op != GS_COMPUTE)
    return n->op == GS_CALL || n->op == GS_SCAN;
  return gs_compute_of(p->ctx.values, bs_item(p->ctx.values, n->attr, 0), &c) &&
         gs_compute_table[c].kind == GS_DOT;
}

static uint32_t
new_region(cutter *c) {
  bs_push(c->out->heap, &c->out->works, 0);
  return c->out->n++;
}

/* ---- upwards ---- */

static uint32_t
last_below(const cutter *c, const gs_node *n) {
  uint32_t last = RG_NONE;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    uint32_t below = c->deepest[n->kids[k].i];
    if (below != RG_NONE && (last == RG_NONE || below > last))
      last = below;
  }
  return last;
}

static void
place(cutter *c, uint32_t t) {
  assert(t < c->p->nodes.len);
  const gs_node *n = &c->p->nodes.data[t];
  uint32_t at = last_below(c, n);
  if (!works(n)) {
    c->deepest[t] = at;
    return;
  }
  if (begins_region(c->p, n) ||
      (at != RG_NONE && c->out->works.data[at] >= MOST_WORKS))
    at = new_region(c);
  if (at != RG_NONE)
    c->out->works.data[at]++;
  c->deepest[t] = c->out->of[t] = at;
}

/* ---- seams ---- */

static void
count_readers(cutter *c) {
  for (uint32_t t = 0; t < c->p->nodes.len; t++) {
    const gs_node *n = &c->p->nodes.data[t];
    for (uint32_t k = 0; c->live[t] && k < n->n_kids; k++) {
      c->readers[n->kids[k].i]++;
      c->by[n->kids[k].i] = t;
    }
  }
  for (uint32_t k = 0; k < c->p->outputs.len; k++)
    c->readers[c->p->outputs.data[k].term.i]++;
}

/* Where a result is read through views that leave elements out, and not
 * otherwise, these belong to who computes it, so that less is computed. */
static void
move_seam(cutter *c, uint32_t t) {
  uint32_t best = t, at = t;
  int64_t least = gs_elements_at(c->p, (gs_term){t});
  while (c->readers[at] == 1 && c->by[at] != RG_NONE) {
    at = c->by[at];
    const gs_node *n = &c->p->nodes.data[at];
    if (works(n) || n->n_kids != 1)
      break;
    int64_t elements = gs_elements_at(c->p, (gs_term){at});
    if (elements < least) {
      least = elements;
      best = at;
    }
  }
  if (best == t)
    return;
  c->out->of[best] = c->out->of[t];
  c->deepest[best] = c->out->of[t];
}

static void
place_outputs(cutter *c) {
  for (uint32_t k = 0; k < c->p->outputs.len; k++) {
    uint32_t t = c->p->outputs.data[k].term.i;
    if (c->out->of[t] == RG_NONE)
      c->out->of[t] = c->deepest[t];
    c->out->seam[t] = c->out->of[t] != RG_NONE;
    c->reader[t] = MANY;
  }
}

/* ---- downwards ---- */

static void
read_by(cutter *c, uint32_t t, uint32_t region) {
  uint32_t *reader = &c->reader[t];
  *reader = *reader == RG_NONE || *reader == region ? region : MANY;
}

static void
sink(cutter *c, uint32_t t) {
  assert(t < c->p->nodes.len);
  rg_cut *out = c->out;
  const gs_node *n = &c->p->nodes.data[t];
  if (works(n) && out->of[t] == RG_NONE) {
    bool apart =
        c->reader[t] == MANY || out->works.data[c->reader[t]] >= 2 * MOST_WORKS;
    out->of[t] = apart ? new_region(c) : c->reader[t];
    out->works.data[out->of[t]]++;
  }
  /* What is of a region and read by others, or by several, is a seam. */
  if (out->of[t] != RG_NONE && !rg_is_leaf(n) && c->reader[t] != out->of[t])
    out->seam[t] = 1;
  uint32_t above = out->of[t] != RG_NONE ? out->of[t] : c->reader[t];
  for (uint32_t k = 0; k < n->n_kids; k++)
    read_by(c, n->kids[k].i, above);
}

static uint32_t *
by_term(bs_heap *heap, uint32_t n, int fill) {
  uint32_t *out = bs_alloc(heap, (n + (size_t)1) * sizeof *out);
  memset(out, fill, (n + (size_t)1) * sizeof *out);
  return out;
}

void
rg_cut_program(bs_heap *heap, const gs_program *p, rg_cut *out) {
  uint32_t n = p->nodes.len;
  cutter c = {.out = out, .p = p};
  *out = (rg_cut){.heap = heap, .p = p};
  out->of = by_term(heap, n, 0xff);
  out->seam = bs_calloc(heap, n + (size_t)1, 1);
  c.live = bs_calloc(heap, n + (size_t)1, 1);
  c.deepest = by_term(heap, n, 0xff);
  c.reader = by_term(heap, n, 0xff);
  c.readers = by_term(heap, n, 0);
  c.by = by_term(heap, n, 0xff);
  gs_mark_live(p, c.live);
  count_readers(&c);
  for (uint32_t t = 0; t < n; t++)
    if (c.live[t])
      place(&c, t);
  for (uint32_t t = 0; t < n; t++)
    if (c.live[t] && works(&p->nodes.data[t]) && out->of[t] != RG_NONE)
      move_seam(&c, t);
  place_outputs(&c);
  for (uint32_t t = n; t-- > 0;)
    if (c.live[t])
      sink(&c, t);
  bs_free(heap, c.by);
  bs_free(heap, c.readers);
  bs_free(heap, c.reader);
  bs_free(heap, c.deepest);
  bs_free(heap, c.live);
}

void
rg_cut_done(rg_cut *c) {
  bs_vec_done(c->heap, &c->works);
  bs_free(c->heap, c->seam);
  bs_free(c->heap, c->of);
}
