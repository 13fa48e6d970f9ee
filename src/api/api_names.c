/* SPDX-License-Identifier: MIT */
/* api_names.c - what the input gave a name keeps it in the extracted program,
 * where a term of its class stands. */
#include "api/api.h"
#include "base/map.h"

typedef struct keeping {
  const glen_result *r;
  gs_program *to;
  bs_map taken;      /* symbols of names */
  gs_term *of_class; /* of the extracted program */
  uint32_t n_classes;
  uint8_t *named; /* by term of the extracted program */
} keeping;

static void
take_name(keeping *k, const char *name) {
  bs_map_put_first(k->to->ctx.heap, &k->taken,
                   bs_sym(k->to->ctx.values, name).i, 0);
}

static void
take_names(keeping *k) {
  const gs_program *p = k->to;
  for (uint32_t i = 0; i < p->nodes.len; i++)
    k->named[i] =
        p->nodes.data[i].op == GS_TENSOR || p->nodes.data[i].op == GS_CONST;
  for (uint32_t i = 0; i < p->inputs.len; i++)
    take_name(k, p->inputs.data[i].name);
  for (uint32_t i = 0; i < p->constants.len; i++)
    take_name(k, p->constants.data[i].name);
  for (uint32_t i = 0; i < p->lets.len; i++) {
    take_name(k, p->lets.data[i].name);
    k->named[p->lets.data[i].term.i] = 1;
  }
}

static void
keep_name(keeping *k, const gs_named *let, eg_class c) {
  gs_term t = c.i < k->n_classes ? k->of_class[c.i] : GS_NO_TERM;
  uint32_t name = bs_sym(k->to->ctx.values, let->name).i;
  if (!gs_term_ok(t) || bs_map_get(&k->taken, name) != BS_NO_ENTRY ||
      k->named[t.i])
    return;
  take_name(k, let->name);
  k->named[t.i] = 1;
  bs_push(k->to->ctx.heap, &k->to->lets, (gs_named){let->name, t, let->span});
}

static void
find_terms(keeping *k, eg_class *classes, bs_heap *heap) {
  const eg_graph *g = k->r->run.graph;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c))
    k->n_classes = c.i + 1;
  k->of_class = bs_alloc(heap, (k->n_classes + (size_t)1) * sizeof(gs_term));
  for (uint32_t c = 0; c < k->n_classes; c++)
    k->of_class[c] = GS_NO_TERM;
  rl_classes_of(&k->r->run, k->to, classes);
  for (uint32_t t = 0; t < k->to->nodes.len; t++)
    if (classes[t].i < k->n_classes)
      k->of_class[classes[t].i] = (gs_term){t};
}

void
api_keep_names(glen_result *r) {
  keeping k = {.r = r, .to = r->extracted};
  const gs_program *from = r->input;
  bs_heap *heap = &r->heap;
  uint32_t n =
      from->nodes.len > k.to->nodes.len ? from->nodes.len : k.to->nodes.len;
  eg_class *classes = bs_alloc(heap, (n + (size_t)1) * sizeof *classes);
  k.named = bs_calloc(heap, k.to->nodes.len + (size_t)1, 1);
  take_names(&k);
  find_terms(&k, classes, heap);
  rl_classes_of(&r->run, from, classes);
  for (uint32_t i = 0; i < from->lets.len; i++)
    keep_name(&k, &from->lets.data[i], classes[from->lets.data[i].term.i]);
  bs_map_done(heap, &k.taken);
  bs_free(heap, k.named);
  bs_free(heap, k.of_class);
  bs_free(heap, classes);
}
