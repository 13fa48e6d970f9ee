/* SPDX-License-Identifier: MIT */
/* buffers.c - places of buffers, and which of them are double.
 *
 * Buffers get the lowest place that no other one has while they are needed, in
 * the order of their first use.  A temporary one is needed from the first node
 * that uses it to the last, if it lives within the loops of all of them; the
 * others are needed all the time, as what comes next is loaded and what was
 * made is stored beside the calls.  Then queues become double, those that move
 * the most first, as long as all of them still fit. */
#include "poly/implgraph/buffers.h"
#include <assert.h>

#include <inttypes.h>
#include <string.h>

static const char *const kind_names[3] = {
    [PO_QUEUE_IN] = "in", [PO_QUEUE_OUT] = "out", [PO_TEMPORARY] = "temporary"};

static po_buffer *
find_buffer(const po_buffers *b, const po_tensor *t) {
  for (uint32_t k = 0; k < b->list.len; k++)
    if (!strcmp(b->list.data[k].name, t->name) &&
        b->list.data[k].bytes == t->bytes)
      return &b->list.data[k];
  return NULL;
}

static void
add_use(bs_heap *heap, po_buffers *b, const po_graph *g, uint32_t node,
        uint32_t number) {
  assert(node < g->nodes.len);
  const po_tensor *t = &g->nodes.data[node].tensors.data[number];
  po_buffer *known = find_buffer(b, t);
  if (!t->bytes)
    return;
  if (known) {
    known->last = node;
    if (t->output && !t->local)
      known->kind = PO_QUEUE_OUT;
    return;
  }
  po_buffer made = {.name = t->name,
                    .kind = t->local    ? PO_TEMPORARY
                            : t->output ? PO_QUEUE_OUT
                                        : PO_QUEUE_IN,
                    .depth = 1,
                    .bytes = t->bytes,
                    .first = node,
                    .last = node,
                    .fills = po_graph_transfers(g, node, number) /
                             (double)po_graph_blocks(g, node)};
  bs_push(heap, &b->list, made);
}

static bool
meet(const po_buffer *a, const po_buffer *b) {
  return a->kind != PO_TEMPORARY || b->kind != PO_TEMPORARY ||
         (a->first <= b->last && b->first <= a->last);
}

static int64_t
end_of(const po_buffer *b) {
  int64_t size, end;
  if (__builtin_mul_overflow(b->bytes, (int64_t)b->depth, &size) ||
      __builtin_add_overflow(b->offset, size, &end))
    return INT64_MAX;
  return end;
}

/* The lowest place of a buffer among those before it in the list. */
static void
place(po_buffers *b, uint32_t number) {
  assert(number < b->list.len);
  po_buffer *one = &b->list.data[number];
  bool moved = true;
  one->offset = 0;
  while (moved) {
    moved = false;
    for (uint32_t k = 0; k < number; k++) {
      const po_buffer *other = &b->list.data[k];
      if (meet(one, other) && one->offset < end_of(other) &&
          other->offset < end_of(one)) {
        one->offset = end_of(other);
        moved = true;
      }
    }
  }
}

static void
place_all(po_buffers *b) {
  b->bytes = 0;
  for (uint32_t k = 0; k < b->list.len; k++) {
    place(b, k);
    if (end_of(&b->list.data[k]) > b->bytes)
      b->bytes = end_of(&b->list.data[k]);
  }
}

/* The queue that moves the most of those that are tried no more; list.len. */
static uint32_t
busiest(const po_buffers *b, const bool *tried) {
  uint32_t best = b->list.len;
  for (uint32_t k = 0; k < b->list.len; k++) {
    const po_buffer *q = &b->list.data[k];
    double moves = q->fills * (double)q->bytes;
    if (!tried[k] && q->kind != PO_TEMPORARY && q->fills > 1 &&
        (best == b->list.len ||
         moves > b->list.data[best].fills * (double)b->list.data[best].bytes))
      best = k;
  }
  return best;
}

static void
make_double(po_buffers *b, const po_graph_machine *m, bool *tried) {
  for (uint32_t k; (k = busiest(b, tried)) < b->list.len;) {
    tried[k] = true;
    b->list.data[k].depth = 2;
    place_all(b);
    if (b->bytes > m->buffer_bytes)
      b->list.data[k].depth = 1;
  }
}

void
po_place_buffers(const po_graph *g, const po_graph_machine *m,
                 po_buffers *out) {
  bs_arena *arena = g->arena;
  *out = (po_buffers){0};
  for (uint32_t k = 0; k < g->nodes.len; k++)
    for (uint32_t i = 0; i < g->nodes.data[k].tensors.len; i++)
      add_use(arena->heap, out, g, k, i);
  bool *tried = BS_NEWS(arena, bool, out->list.len + 1);
  memset(tried, 0, out->list.len + 1);
  make_double(out, m, tried);
  place_all(out);
}

void
po_buffers_done(bs_heap *heap, po_buffers *b) {
  bs_vec_done(heap, &b->list);
}

/*   buffer ARRAY in|out|temporary DEPTH BYTES OFFSET */
void
po_print_buffers(const po_buffers *b, bs_text *out) {
  for (uint32_t k = 0; k < b->list.len; k++) {
    const po_buffer *one = &b->list.data[k];
    bs_putf(out, "  buffer %s %s %" PRIu32 " %" PRId64 " %" PRId64 "\n",
            one->name, kind_names[one->kind], one->depth, one->bytes,
            one->offset);
  }
}

void
po_json_buffers(const po_buffers *b, bs_json *j) {
  bs_json_array(j, "buffers");
  for (uint32_t k = 0; k < b->list.len; k++) {
    const po_buffer *one = &b->list.data[k];
    bs_json_object(j, NULL);
    bs_json_string(j, "array", one->name);
    bs_json_string(j, "kind", kind_names[one->kind]);
    bs_json_int(j, "depth", one->depth);
    bs_json_int(j, "bytes", one->bytes);
    bs_json_int(j, "offset", one->offset);
    bs_json_end(j);
  }
  bs_json_end(j);
}
