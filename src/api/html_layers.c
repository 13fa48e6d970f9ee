/* SPDX-License-Identifier: MIT */
/* html_layers.c - the layers of the chosen program as rows of a table: what
 * each became, its type, and what it costs. */
#include "api/html.h"
#include <assert.h>

#include <string.h>

enum { MAX_LAYERS = 2000, MAX_KINDS = 6 };

/* What terms of a layer are: an instruction or an operator, and how often. */
typedef struct kind {
  const char *name;
  uint32_t count;
  bool call;
} kind;

typedef struct layer {
  double cost;
  uint32_t n_kinds, more; /* kinds that have no room */
  kind kinds[MAX_KINDS];
} layer;

typedef struct table {
  const gs_program *p;
  layer *rows;   /* by let */
  uint32_t *own; /* by term: one more than the number of its let, or 0 */
  bs_arena *arena;
  bs_text text;
} table;

static void
count_kind(layer *l, const char *name, bool call) {
  uint32_t k = 0;
  while (k < l->n_kinds &&
         (l->kinds[k].call != call || strcmp(l->kinds[k].name, name) != 0))
    k++;
  if (k == MAX_KINDS) {
    l->more++;
    return;
  }
  if (k == l->n_kinds)
    l->kinds[l->n_kinds++] = (kind){name, 0, call};
  l->kinds[k].count++;
}

/* Views are no work. */
static void
add_line(table *t, const ex_line *line, const uint32_t *layers) {
  const gs_node *node = gs_at(t->p, line->term);
  const bs_values *values = t->p->ctx.values;
  uint32_t let = layers[line->term.i];
  bool call = node->op == GS_CALL;
  if (!let || (!call && node->op != GS_COMPUTE && node->op != GS_MATERIALIZE))
    return;
  layer *l = &t->rows[let - 1];
  l->cost += ex_cost_total(&line->cost);
  bs_text_clear(&t->text);
  if (node->op == GS_MATERIALIZE)
    bs_put(&t->text, gs_op_table[node->op].name);
  else
    bs_put_value(&t->text, values, bs_item(values, node->attr, 0));
  count_kind(l, bs_arena_strdup(t->arena, bs_text_str(&t->text)), call);
}

static void
json_kinds(bs_json *j, const char *key, const layer *l, bool call) {
  bs_json_array(j, key);
  for (uint32_t k = 0; k < l->n_kinds; k++) {
    if (l->kinds[k].call != call)
      continue;
    bs_json_object(j, NULL);
    bs_json_string(j, "name", l->kinds[k].name);
    bs_json_int(j, "count", l->kinds[k].count);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
json_layer(bs_json *j, const table *t, uint32_t let) {
  assert(let < t->p->lets.len);
  bs_text text;
  gs_type type;
  gs_type_at(t->p, t->p->lets.data[let].term, &type);
  bs_text_init(&text, j->out->heap);
  gs_put_type(&text, &type);
  bs_json_object(j, NULL);
  bs_json_string(j, "name", t->p->lets.data[let].name);
  bs_json_string(j, "type", bs_text_str(&text));
  bs_json_real(j, "cost", t->rows[let].cost);
  json_kinds(j, "calls", &t->rows[let], true);
  json_kinds(j, "host", &t->rows[let], false);
  bs_json_int(j, "more", t->rows[let].more);
  bs_json_end(j);
  bs_text_done(&text);
}

/* Layers in which something is computed, each behind what it needs. */
static void
json_rows(bs_json *j, const table *t) {
  uint32_t shown = 0, left = 0;
  bs_json_array(j, "layers");
  for (uint32_t i = 0; i < t->p->nodes.len; i++) {
    uint32_t let = t->own[i];
    if (!let || !t->rows[let - 1].n_kinds)
      continue;
    left += shown == MAX_LAYERS;
    if (shown == MAX_LAYERS)
      continue;
    json_layer(j, t, let - 1);
    shown++;
  }
  bs_json_end(j);
  bs_json_int(j, "layers_left", left);
}

void
api_html_layers(const glen_result *r, bs_json *j) {
  const gs_program *p = r->program.program;
  bs_heap *heap = j->out->heap;
  bs_arena arena;
  double total;
  bs_arena_init(&arena, heap);
  table t = {.p = p,
             .rows = BS_NEWS(&arena, layer, p->lets.len + 1u),
             .arena = &arena};
  bs_text_init(&t.text, heap);
  t.own = BS_NEWS(&arena, uint32_t, p->nodes.len + 1u);
  for (uint32_t k = p->lets.len; k-- > 0;)
    t.own[p->lets.data[k].term.i] = k + 1;
  ex_line *lines = BS_NEWS(&arena, ex_line, p->nodes.len + 1u);
  const uint32_t *layers = gs_layers(p, &arena);
  uint32_t n =
      ex_breakdown(p, r->target, r->limit, &r->prepacked, lines, &total);
  for (uint32_t k = 0; k < n; k++)
    add_line(&t, &lines[k], layers);
  json_rows(j, &t);
  bs_text_done(&t.text);
  bs_arena_done(&arena);
}
