/* SPDX-License-Identifier: MIT */
/* export.c - an e-graph as egraph-serialize JSON and as DOT.
 *
 * A node is named CLASS.K, K counting within its class; a child is named by the
 * first node of its class, as that format asks. */
#include "egraph/export.h"
#include "base/json.h"
#include "base/vec.h"
#include <assert.h>
#include <string.h>

static void
put_label(const eg_graph *g, const eg_naming *how, eg_node n, bs_text *out) {
  how->put_node(how->ctx, out, eg_op(g, n), eg_attr(g, n));
}

static void
put_number(bs_text *t, eg_class c) {
  bs_text_clear(t);
  bs_putf(t, "%u", c.i);
}

static void
put_node_json(bs_json *j, const eg_graph *g, const eg_naming *how, eg_node n,
              bs_text *t) {
  bs_json_object(j, bs_text_str(t));
  bs_text_clear(t);
  put_label(g, how, n, t);
  bs_json_string(j, "op", bs_text_str(t));
  uint32_t n_kids;
  const eg_class *kids = eg_kids(g, n, &n_kids);
  bs_json_array(j, "children");
  for (uint32_t i = 0; i < n_kids; i++) {
    bs_text_clear(t);
    bs_putf(t, "%u.0", eg_find(g, kids[i]).i);
    bs_json_string(j, NULL, bs_text_str(t));
  }
  bs_json_end(j);
  put_number(t, eg_class_of(g, n));
  bs_json_string(j, "eclass", bs_text_str(t));
  bs_json_real(j, "cost", how->cost ? how->cost(how->ctx, g, n) : 1);
  bs_json_end(j);
}

static void
put_nodes_json(bs_json *j, const eg_graph *g, const eg_naming *how,
               bs_text *t) {
  bs_json_object(j, "nodes");
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    uint32_t n;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t i = 0; i < n; i++) {
      bs_text_clear(t);
      bs_putf(t, "%u.%u", c.i, i);
      put_node_json(j, g, how, nodes[i], t);
    }
  }
  bs_json_end(j);
}

static void
put_classes_json(bs_json *j, const eg_graph *g, const eg_naming *how,
                 bs_text *t) {
  if (!how->put_class)
    return;
  bs_json_object(j, "class_data");
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    put_number(t, c);
    bs_json_object(j, bs_text_str(t));
    bs_text_clear(t);
    how->put_class(how->ctx, t, g, c);
    bs_json_string(j, "type", bs_text_str(t));
    bs_json_end(j);
  }
  bs_json_end(j);
}

void
eg_put_json(const eg_graph *g, const eg_naming *how, const eg_class *roots,
            uint32_t n_roots, bs_text *out) {
  assert(roots || !n_roots);
  bs_json j;
  bs_text t;
  bs_text_init(&t, out->heap);
  bs_json_init(&j, out, 1);
  bs_json_object(&j, NULL);
  put_nodes_json(&j, g, how, &t);
  put_classes_json(&j, g, how, &t);
  bs_json_array(&j, "root_eclasses");
  for (uint32_t i = 0; i < n_roots; i++) {
    put_number(&t, eg_find(g, roots[i]));
    bs_json_string(&j, NULL, bs_text_str(&t));
  }
  bs_json_end(&j);
  bs_json_end(&j);
  bs_text_done(&t);
}

/* --- DOT --------------------------------------------------------------- */

typedef struct eg_near {
  bs_heap *heap;
  uint32_t max;
  uint8_t *chosen; /* by class id */
  BS_VEC(eg_class) classes;
} eg_near;

static void
choose(eg_near *near, const eg_graph *g, eg_class c) {
  c = eg_find(g, c);
  if (near->classes.len >= near->max || near->chosen[c.i])
    return;
  near->chosen[c.i] = 1;
  bs_push(near->heap, &near->classes, c);
}

/* Breadth first from the roots. */
static void
choose_nearest(eg_near *near, const eg_graph *g, const eg_class *roots,
               uint32_t n_roots) {
  for (uint32_t i = 0; i < n_roots; i++)
    choose(near, g, roots[i]);
  for (uint32_t at = 0; at < near->classes.len; at++) {
    uint32_t n, n_kids;
    const eg_node *nodes = eg_class_nodes(g, near->classes.data[at], &n);
    for (uint32_t i = 0; i < n; i++) {
      const eg_class *kids = eg_kids(g, nodes[i], &n_kids);
      for (uint32_t k = 0; k < n_kids; k++)
        choose(near, g, kids[k]);
    }
  }
}

static void
put_dot_text(bs_text *out, const char *s) {
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      bs_putc(out, '\\');
    if (*s == '\n')
      bs_put(out, "\\n");
    else
      bs_putc(out, *s);
  }
}

static void
put_dot_class(const eg_graph *g, const eg_naming *how, eg_class c, bs_text *t,
              bs_text *out) {
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(g, c, &n);
  bs_text_clear(t);
  if (how->put_class)
    how->put_class(how->ctx, t, g, c);
  bs_putf(out, "  subgraph cluster_%u {\n    label=\"%u", c.i, c.i);
  if (t->len)
    bs_put(out, ": ");
  put_dot_text(out, bs_text_str(t));
  bs_put(out, "\"\n");
  for (uint32_t i = 0; i < n; i++) {
    bs_text_clear(t);
    put_label(g, how, nodes[i], t);
    bs_putf(out, "    \"%u.%u\" [label=\"", c.i, i);
    put_dot_text(out, bs_text_str(t));
    bs_put(out, "\"]\n");
  }
  bs_put(out, "  }\n");
}

/* An edge ends at the border of the child's cluster; children that were not
 * chosen are shown as a point. */
static void
put_dot_edges(const eg_graph *g, const eg_near *near, eg_class c,
              bs_text *out) {
  uint32_t n, n_kids;
  const eg_node *nodes = eg_class_nodes(g, c, &n);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0;; k++) {
      const eg_class *kids = eg_kids(g, nodes[i], &n_kids);
      if (k >= n_kids)
        break;
      eg_class to = eg_find(g, kids[k]);
      bs_putf(out, "  \"%u.%u\" -> ", c.i, i);
      if (near->chosen[to.i])
        bs_putf(out, "\"%u.0\" [lhead=cluster_%u, taillabel=\"%u\"]\n", to.i,
                to.i, k);
      else
        bs_putf(out, "\"%u\" [taillabel=\"%u\"]\n", to.i, k);
    }
  }
}

void
eg_put_dot(const eg_graph *g, const eg_naming *how, const eg_class *roots,
           uint32_t n_roots, uint32_t max_classes, bs_text *out) {
  assert(roots || !n_roots);
  eg_near near = {.heap = out->heap, .max = max_classes};
  bs_text t;
  bs_text_init(&t, out->heap);
  near.chosen = bs_calloc(out->heap, (size_t)eg_class_ids(g) + 1, 1);
  choose_nearest(&near, g, roots, n_roots);
  bs_put(out, "digraph egraph {\n  compound=true\n  node [shape=box]\n");
  for (uint32_t i = 0; i < near.classes.len; i++)
    put_dot_class(g, how, near.classes.data[i], &t, out);
  for (uint32_t i = 0; i < near.classes.len; i++)
    put_dot_edges(g, &near, near.classes.data[i], out);
  bs_put(out, "}\n");
  bs_free(out->heap, near.chosen);
  bs_vec_done(out->heap, &near.classes);
  bs_text_done(&t);
}
