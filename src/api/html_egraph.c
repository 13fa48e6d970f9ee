/* SPDX-License-Identifier: MIT */
/* html_egraph.c - the part of an e-graph that a page can hold.
 *
 * First the classes of the chosen program, then those around them, breadth
 * first from the outputs, up to MAX_CLASSES; of a class at most MAX_NODES
 * nodes, the chosen one before the others.  What is left out is counted. */
#include "api/html.h"
#include "extract/extract_egraph.h"
#include "rules/explain/naming.h"
#include <math.h>
#include <string.h>

enum { MAX_CLASSES = 600, MAX_NODES = 40 };

typedef struct picker {
  const glen_result *result;
  const eg_graph *graph;
  bs_heap *heap;
  uint8_t *state; /* by class id: PICKED, CHOSEN */
  BS_VEC(eg_class) classes;
} picker;

enum { PICKED = 1, CHOSEN = 2 };

static eg_node
choice_of(const picker *p, eg_class c) {
  return c.i < p->result->n_choice ? p->result->choice[c.i] : EG_NO_NODE;
}

static void
pick(picker *p, eg_class c, uint8_t how) {
  c = eg_find(p->graph, c);
  if (p->state[c.i] || p->classes.len >= MAX_CLASSES)
    return;
  p->state[c.i] = how;
  bs_push(p->heap, &p->classes, c);
}

/* The list grows while it is walked: breadth first. */
static void
pick_chosen(picker *p) {
  for (uint32_t k = 0; k < p->result->run.n_outputs; k++)
    pick(p, p->result->run.outputs[k], PICKED | CHOSEN);
  for (uint32_t i = 0; i < p->classes.len; i++) {
    eg_node n = choice_of(p, p->classes.data[i]);
    uint32_t n_kids = 0;
    const eg_class *kids =
        n.i != UINT32_MAX ? eg_kids(p->graph, n, &n_kids) : NULL;
    for (uint32_t k = 0; k < n_kids; k++)
      pick(p, kids[k], PICKED | CHOSEN);
  }
}

static void
pick_around(picker *p) {
  for (uint32_t i = 0; i < p->classes.len; i++) {
    uint32_t n, n_kids;
    const eg_node *nodes = eg_class_nodes(p->graph, p->classes.data[i], &n);
    for (uint32_t k = 0; k < n && k < MAX_NODES; k++) {
      const eg_class *kids = eg_kids(p->graph, nodes[k], &n_kids);
      for (uint32_t c = 0; c < n_kids; c++)
        pick(p, kids[c], PICKED);
    }
  }
}

/* --- writing -------------------------------------------------------------- */

typedef struct writer {
  const picker *picker;
  bs_json *j;
  eg_naming naming;
  ex_pricer pricer;
  bs_text text;
} writer;

static bs_value
type_of(void *ctx, const eg_graph *g, eg_class c) {
  (void)ctx;
  return rl_facts_of(g, c)->type;
}

static void
json_node(writer *w, eg_node n) {
  const eg_graph *g = w->picker->graph;
  const glen_result *r = w->picker->result;
  uint32_t n_kids;
  const eg_class *kids = eg_kids(g, n, &n_kids);
  uint32_t rule = eg_origin_of(g, n).rule;
  bs_text_clear(&w->text);
  w->naming.put_node(w->naming.ctx, &w->text, eg_op(g, n), eg_attr(g, n));
  bs_json_object(w->j, NULL);
  bs_json_string(w->j, "label", bs_text_str(&w->text));
  if (n_kids) {
    bs_json_array(w->j, "kids");
    for (uint32_t k = 0; k < n_kids; k++)
      bs_json_int(w->j, NULL, eg_find(g, kids[k]).i);
    bs_json_end(w->j);
  }
  bs_json_real(w->j, "cost", ex_price_enode(&w->pricer, g, n));
  if (rule < r->run.n_rules)
    bs_json_string(w->j, "rule", rl_at(r->run.rules, rule)->name);
  bs_json_end(w->j);
}

static void
json_nodes(writer *w, eg_class c, bool chosen) {
  uint32_t n, shown = 0;
  const eg_node *nodes = eg_class_nodes(w->picker->graph, c, &n);
  eg_node first = chosen ? choice_of(w->picker, c) : EG_NO_NODE;
  bs_json_array(w->j, "nodes");
  if (first.i != UINT32_MAX) {
    json_node(w, first);
    shown++;
  }
  for (uint32_t k = 0; k < n && shown < MAX_NODES; k++)
    if (nodes[k].i != first.i) {
      json_node(w, nodes[k]);
      shown++;
    }
  bs_json_end(w->j);
  bs_json_int(w->j, "size", n);
}

static void
json_class(writer *w, eg_class c) {
  const eg_graph *g = w->picker->graph;
  bool chosen = w->picker->state[c.i] & CHOSEN;
  const rl_facts *facts = rl_facts_of(g, c);
  bs_text_clear(&w->text);
  w->naming.put_class(w->naming.ctx, &w->text, g, c);
  bs_json_object(w->j, NULL);
  bs_json_int(w->j, "id", c.i);
  bs_json_string(w->j, "type", bs_text_str(&w->text));
  if (facts->constant.i) {
    bs_text_clear(&w->text);
    bs_put_value(&w->text, w->picker->result->gs.values, facts->constant);
    bs_json_string(w->j, "constant", bs_text_str(&w->text));
  }
  if (chosen)
    bs_json_bool(w->j, "chosen", true);
  json_nodes(w, c, chosen);
  bs_json_end(w->j);
}

static void
write_graph(writer *w) {
  const picker *p = w->picker;
  const glen_result *r = p->result;
  bs_json_object(w->j, "egraph");
  bs_json_int(w->j, "classes_in_all", eg_count_classes(p->graph));
  bs_json_int(w->j, "nodes_in_all", eg_count_nodes(p->graph));
  bs_json_int(w->j, "most_nodes", MAX_NODES);
  bs_json_array(w->j, "roots");
  for (uint32_t k = 0; k < r->run.n_outputs; k++)
    bs_json_int(w->j, NULL, eg_find(p->graph, r->run.outputs[k]).i);
  bs_json_end(w->j);
  bs_json_array(w->j, "classes");
  for (uint32_t k = 0; k < p->classes.len; k++)
    json_class(w, p->classes.data[k]);
  bs_json_end(w->j);
  bs_json_end(w->j);
}

void
api_html_egraph(const glen_result *r, bs_json *j) {
  bs_heap *heap = j->out->heap;
  picker p = {.result = r, .graph = r->run.graph, .heap = heap};
  uint32_t ids = 0;
  for (eg_class c = eg_first_class(p.graph); c.i != UINT32_MAX;
       c = eg_next_class(p.graph, c))
    ids = c.i + 1;
  p.state = bs_calloc(heap, ids + (size_t)1, 1);
  pick_chosen(&p);
  pick_around(&p);
  writer w = {.picker = &p,
              .j = j,
              .pricer = {.target = r->target,
                         .limit = r->limit,
                         .once = r->once,
                         .kept = r->kept,
                         .values = r->gs.values,
                         .type_of = type_of}};
  rl_naming(&r->gs, &w.naming);
  bs_text_init(&w.text, heap);
  write_graph(&w);
  bs_text_done(&w.text);
  bs_vec_done(heap, &p.classes);
  bs_free(heap, p.state);
}
