/* SPDX-License-Identifier: MIT */
/* fit_above.c - how far apart the elements of a result lie.
 *
 * The program says what becomes of a result: views of it, and operators that
 * work element by element, as long as nothing else reads it.  The topmost of
 * these terms is what is stored.  What leads from there down to the result is
 * looked for among all terms that are equal, so that it does not depend on how
 * the program was spelled. */
#include "rules/instr/fit.h"
#include "glenside/type/view.h"
#include <assert.h>
#include <string.h>

enum { MOST_VISITED = 256 };

/* From a class down to the root: the views, and the operators between. */
typedef struct path {
  uint32_t n;
  eg_class cls[MOST_VISITED]; /* above the node */
  eg_node node[MOST_VISITED];
} path;

typedef struct visited {
  uint32_t n, most;
  bool through; /* operators that work element by element, too */
  eg_class cls[MOST_VISITED];
  eg_node node[MOST_VISITED]; /* that leads there, from `from` */
  uint32_t from[MOST_VISITED];
} visited;

static void
visit(visited *v, eg_class c, eg_node node, uint32_t from) {
  for (uint32_t k = 0; k < v->n; k++)
    if (v->cls[k].i == c.i)
      return;
  if (v->n == v->most)
    return;
  v->cls[v->n] = c;
  v->node[v->n] = node;
  v->from[v->n++] = from;
}

/* The items of tuples of which the node makes one element each. */
static void
visit_items(const fit_match *m, visited *v, uint32_t at, eg_node fold,
            eg_class tuple) {
  uint32_t n, n_kids;
  const eg_node *nodes = eg_class_nodes(m->graph, tuple, &n);
  for (uint32_t k = 0; k < n; k++) {
    const eg_class *kids = eg_kids(m->graph, nodes[k], &n_kids);
    for (uint32_t j = 0; eg_op(m->graph, nodes[k]) == GS_PAIR && j < n_kids;
         j++)
      visit(v, eg_find(m->graph, kids[j]), fold, at);
  }
}

static bool
kind_of(const fit_match *m, uint32_t op, bs_value attr, gs_compute_kind *out) {
  const bs_values *values = m->session->ctx.values;
  gs_compute compute;
  if (op != GS_COMPUTE ||
      !gs_compute_of(values, bs_item(values, attr, 0), &compute))
    return false;
  *out = gs_compute_table[compute].kind;
  return true;
}

static void
visit_below(const fit_match *m, visited *v, uint32_t at) {
  uint32_t n, n_kids;
  const eg_node *nodes = eg_class_nodes(m->graph, v->cls[at], &n);
  for (uint32_t k = 0; k < n; k++) {
    gs_compute_kind kind;
    const eg_class *kids = eg_kids(m->graph, nodes[k], &n_kids);
    if (n_kids != 1)
      continue;
    eg_class kid = eg_find(m->graph, kids[0]);
    uint32_t op = eg_op(m->graph, nodes[k]);
    if (gs_op_table[op].view)
      visit(v, kid, nodes[k], at);
    else if (!v->through || !kind_of(m, op, eg_attr(m->graph, nodes[k]), &kind))
      continue;
    else if (kind == GS_ELEMENTWISE || kind == GS_CAST)
      visit(v, kid, nodes[k], at);
    else if (kind == GS_FOLD)
      visit_items(m, v, at, nodes[k], kid);
  }
}

/* The shortest one. */
static bool
find_path(const fit_match *m, eg_class top, uint32_t most, bool through,
          path *out) {
  visited v = {.most = most, .through = through};
  uint32_t at = 0;
  visit(&v, eg_find(m->graph, top), (eg_node){0}, 0);
  while (at < v.n && v.cls[at].i != m->root.i)
    visit_below(m, &v, at++);
  out->n = 0;
  for (uint32_t k = at; at < v.n && k > 0; k = v.from[k]) {
    out->cls[out->n] = v.cls[v.from[k]];
    out->node[out->n++] = v.node[k];
  }
  return at < v.n;
}

/* The term of the program that is the root, or that views show it as, which
 * rules made; their number where there is none. */
static uint32_t
root_term(const fit_match *m) {
  const rl_session *s = m->session;
  uint32_t n = s->program ? s->program->nodes.len : 0;
  path below;
  for (uint32_t t = 0; t < n; t++)
    if (s->class_of[t].i != UINT32_MAX &&
        eg_find(m->graph, s->class_of[t]).i == m->root.i)
      return t;
  for (uint32_t t = 0; t < n; t++)
    if (s->program->nodes.data[t].op == GS_COMPUTE &&
        s->class_of[t].i != UINT32_MAX &&
        find_path(m, s->class_of[t], FIT_VIEWS, false, &below))
      return t;
  return n;
}

/* A view, or an operator that works element by element. */
static bool
passes_on(const fit_match *m, const gs_node *node) {
  gs_compute_kind kind;
  return gs_op_table[node->op].view ||
         (kind_of(m, node->op, node->attr, &kind) &&
          (kind == GS_ELEMENTWISE || kind == GS_CAST || kind == GS_FOLD));
}

/* By term of the program: the one term that passes it on, if nothing else reads
 * it; else their number. */
static uint32_t *
find_readers(const fit_match *m) {
  const uint32_t nobody = UINT32_MAX;
  const gs_program *p = m->session->program;
  uint32_t n = p->nodes.len;
  uint32_t *reader = bs_alloc(m->session->ctx.heap, (n + (size_t)1) * 4);
  memset(reader, 0xff, (n + (size_t)1) * sizeof *reader); /* nobody */
  for (uint32_t k = 0; k < p->outputs.len; k++)
    reader[p->outputs.data[k].term.i] = n;
  for (uint32_t t = 0; t < n; t++) {
    const gs_node *node = &p->nodes.data[t];
    uint32_t by = passes_on(m, node) ? t : n;
    for (uint32_t k = 0; k < node->n_kids; k++) {
      uint32_t *of = &reader[node->kids[k].i];
      *of = *of == nobody ? by : n;
    }
  }
  for (uint32_t t = 0; t < n; t++)
    reader[t] = reader[t] == nobody ? n : reader[t];
  return reader;
}

/* They are found once a run: each match asks for some. */
static uint32_t
reader_of(const fit_match *m, uint32_t term) {
  assert(term < m->session->program->nodes.len);
  if (!m->session->reader)
    m->session->reader = find_readers(m);
  return m->session->reader[term];
}

/* The digits of the topmost term, and how far apart each one's values lie. */
static void
digits_of(rl_digits *d, const gs_type *t, rl_index *x) {
  rl_digits_clear(d);
  *x = (rl_index){0};
  rl_digits_push(d, t, 0, t->rank, 0, x);
}

static void
strides_of_digits(const rl_digits *d, const gs_type *t, int64_t *out) {
  fit_lie top;
  uint32_t n = 1;
  fit_lie_dense(t, &top);
  for (uint32_t k = 0; k < t->rank; k++)
    if (t->dim[k] > 1)
      out[n++] = top.stride[k];
  for (uint32_t k = 1; k < d->n; k++)
    if (d->digit[k].low) {
      out[d->digit[k].low] = out[k];
      out[d->digit[k].high] = out[k] * d->digit[d->digit[k].low].size;
    }
}

/* Each digit is a dimension of the shape; false: there are too many. */
static bool
put_row(rl_digits *d, rl_row *row, const int64_t *of, fit_lie *out) {
  rl_row_normalise(d, row);
  if (row->item || out->shape.rank + row->n > GS_MAX_RANK)
    return false;
  for (uint32_t k = 0; k < row->n; k++) {
    out->stride[out->shape.rank] = of[row->digit[k]];
    out->shape.dim[out->shape.rank++] = d->digit[row->digit[k]].size;
  }
  return true;
}

static bool
go_down(const fit_match *m, const path *below, rl_digits *d, rl_index *x) {
  for (uint32_t k = below->n; k-- > 0;) {
    eg_node node = below->node[k];
    uint32_t n_kids, which;
    if (eg_op(m->graph, node) == GS_COMPUTE)
      continue; /* each element of one */
    const gs_type *kid = fit_class_type(m, eg_kids(m->graph, node, &n_kids)[0]);
    if (!rl_digits_down(d, m->session->ctx.values, (gs_op)eg_op(m->graph, node),
                        eg_attr(m->graph, node),
                        fit_class_type(m, below->cls[k]), &kid, x, &which))
      return false;
  }
  return true;
}

/* Distances of the dimensions of the root below the path, in the array that the
 * topmost is stored in. */
static bool
lie_under(const fit_match *m, eg_class top, const path *below, fit_lie *out) {
  rl_digits *d = bs_calloc(m->session->ctx.heap, 1, sizeof *d);
  int64_t stride[RL_DIGITS] = {0};
  const gs_type *type = fit_class_type(m, eg_find(m->graph, top));
  rl_index x;
  digits_of(d, type, &x);
  bool ok =
      go_down(m, below, d, &x) && x.rank == fit_class_type(m, m->root)->rank;
  strides_of_digits(d, type, stride);
  *out = (fit_lie){.known = true};
  for (uint32_t k = 0; k < x.rank && ok; k++)
    ok = put_row(d, &x.at[k], stride, out);
  ok &= !d->failed;
  bs_free(m->session->ctx.heap, d);
  return ok;
}

void
fit_lie_above(const fit_match *m, fit_lie *out) {
  const gs_program *p = m->session->program;
  path below;
  uint32_t top = root_term(m), up = top;
  fit_lie above;
  fit_lie_dense(fit_class_type(m, m->root), out);
  while (p && up < p->nodes.len) {
    top = up;
    up = reader_of(m, up);
  }
  if (p && top < p->nodes.len && m->session->class_of[top].i != UINT32_MAX &&
      find_path(m, m->session->class_of[top], MOST_VISITED, true, &below) &&
      below.n && lie_under(m, m->session->class_of[top], &below, &above))
    *out = above;
}
