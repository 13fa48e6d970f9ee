/* SPDX-License-Identifier: MIT */
/* fit_lies.c - how far apart the elements of operands and results lie.
 *
 * A call may be given a part of an array where it lies if neighbours along each
 * of its dimensions are one distance apart.  What does not lie so is copied by
 * the host before, or behind, all calls; an assignment without such copies is
 * worth much.  So the views below an operand are followed to the array that
 * they show, and those of the program above a result to what is stored. */
#include "rules/instr/fit.h"
#include "glenside/type/view.h"
#include <string.h>

enum { MOST_VIEWS = FIT_VIEWS };

void
fit_lie_with(const gs_type *t, uint32_t last, fit_lie *out) {
  int64_t n = 1;
  *out = (fit_lie){.known = true, .shape = *t};
  for (uint32_t k = 0; k < t->rank; k++) {
    uint32_t d = !k ? last : t->rank - k - (t->rank - k <= last);
    out->stride[d] = n;
    n *= t->dim[d];
  }
}

void
fit_lie_dense(const gs_type *t, fit_lie *out) {
  fit_lie_with(t, t->rank ? t->rank - 1u : 0, out);
}

/* The dimensions, from the last one on, that are one row of elements at one
 * distance: from, how many elements of the array's order lie below it. */
typedef struct run {
  int64_t below, size, stride;
} run;

static bool
next_run(const fit_lie *lie, uint32_t *d, run *r) {
  r->below *= r->size;
  r->size = 1;
  for (; *d > 0; --*d) {
    int64_t dim = lie->shape.dim[*d - 1], stride = lie->stride[*d - 1];
    if (dim == 1)
      continue;
    if (r->size > 1 && stride != r->stride * r->size)
      break;
    r->stride = r->size > 1 ? r->stride : stride;
    r->size *= dim;
  }
  return r->size > 1;
}

int64_t
fit_flat_stride(const fit_lie *lie, int64_t low, int64_t size) {
  run r = {.below = 1, .size = 1};
  uint32_t d = lie->known ? lie->shape.rank : 0;
  while (next_run(lie, &d, &r))
    if (r.below * r.size > low)
      return low % r.below == 0 && r.below * r.size % (low * size) == 0
                 ? r.stride * (low / r.below)
                 : 0;
  return 0;
}

/* ---- below an operand ---- */

bool
fit_find_chain(const fit_match *m, uint32_t operand, fit_chain *out) {
  eg_class c = m->leaf[operand];
  *out = m->uncast[operand];
  if (out->n)
    c = out->cls[out->n];
  for (;; out->n++) {
    uint32_t n_kids;
    fit_ways ways;
    c = eg_find(m->graph, c);
    out->cls[out->n] = c;
    if (fit_is_array(m, c))
      return true;
    fit_find_ways(m, c, &ways);
    if (!ways.n || eg_op(m->graph, ways.node[0]) == GS_MATERIALIZE)
      return ways.n;
    if (out->n == MOST_VIEWS)
      return false;
    out->node[out->n] = ways.node[0];
    const eg_class *kids = eg_kids(m->graph, ways.node[0], &n_kids);
    if (n_kids != 1)
      return false;
    c = kids[0];
  }
}

/* Other shapes of the same elements in their order. */
static void
reshaped(const gs_type *to, fit_lie *lie) {
  fit_lie was = *lie;
  int64_t low = 1;
  for (uint32_t d = to->rank; d-- > 0; low *= to->dim[d]) {
    lie->stride[d] =
        to->dim[d] == 1 ? 1 : fit_flat_stride(&was, low, to->dim[d]);
    lie->known &= lie->stride[d] != 0;
  }
  lie->shape = *to;
}

static void
through(const fit_match *m, eg_node node, const gs_type *kid,
        const gs_type *type, fit_lie *lie) {
  gs_viewed of = {.values = m->session->ctx.values,
                  .op = (gs_op)eg_op(m->graph, node),
                  .attr = eg_attr(m->graph, node),
                  .kids = &kid,
                  .type = type};
  fit_lie was = *lie;
  gs_view view;
  gs_view_of(&of, &view);
  if (view.keeps_order) {
    reshaped(type, lie);
    return;
  }
  lie->shape = *type;
  memset(lie->stride, 0, sizeof lie->stride);
  lie->known &= view.n == 1 && view.part[0].source == GS_VIEW_CHILD;
  for (uint32_t k = 0; k < kid->rank && lie->known; k++) {
    const gs_view_row *row = &view.part[0].row[k];
    lie->known = !row->divided || kid->dim[k] == 1;
    for (uint32_t i = 0; i < row->n; i++)
      lie->stride[row->term[i].of] += row->term[i].times * was.stride[k];
  }
}

void
fit_lie_up(const fit_match *m, const fit_chain *k, uint32_t level,
           fit_lie *lie) {
  for (; lie->known && level > 0; level--)
    through(m, k->node[level - 1], fit_class_type(m, k->cls[level]),
            fit_class_type(m, k->cls[level - 1]), lie);
}

void
fit_lie_below(const fit_match *m, uint32_t operand, fit_lie *out) {
  fit_chain k;
  *out = (fit_lie){0};
  if (!fit_find_chain(m, operand, &k))
    return;
  fit_lie_dense(fit_class_type(m, k.cls[k.n]), out);
  fit_lie_up(m, &k, k.n, out);
}

/* ---- above a result ---- */

/* Views of the e-graph below a term of the program, down to the root: rules
 * made it, and what is stored is the term. */
typedef struct path {
  uint32_t n;
  eg_class cls[MOST_VIEWS]; /* above the view */
  eg_node node[MOST_VIEWS];
} path;

typedef struct visited {
  uint32_t n;
  eg_class cls[MOST_VIEWS];
  eg_node node[MOST_VIEWS]; /* that leads there, from `from` */
  uint32_t from[MOST_VIEWS];
} visited;

static void
visit(visited *v, eg_class c, eg_node node, uint32_t from) {
  for (uint32_t k = 0; k < v->n; k++)
    if (v->cls[k].i == c.i)
      return;
  if (v->n == MOST_VIEWS)
    return;
  v->cls[v->n] = c;
  v->node[v->n] = node;
  v->from[v->n++] = from;
}

static void
visit_below(const fit_match *m, visited *v, uint32_t at) {
  uint32_t n, n_kids;
  const eg_node *nodes = eg_class_nodes(m->graph, v->cls[at], &n);
  for (uint32_t k = 0; k < n; k++) {
    const eg_class *kids = eg_kids(m->graph, nodes[k], &n_kids);
    if (n_kids == 1 && gs_op_table[eg_op(m->graph, nodes[k])].view)
      visit(v, eg_find(m->graph, kids[0]), nodes[k], at);
  }
}

static bool
find_path(const fit_match *m, eg_class top, path *out) {
  visited v = {0};
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

/* The term of the program that is the root, or that views show it as; their
 * number where there is none. */
static uint32_t
root_term(const fit_match *m, path *below) {
  const rl_session *s = m->session;
  uint32_t n = s->program ? s->program->nodes.len : 0, t = 0;
  below->n = 0;
  while (t < n && (s->class_of[t].i == UINT32_MAX ||
                   eg_find(m->graph, s->class_of[t]).i != m->root.i))
    t++;
  if (t < n)
    return t;
  for (t = 0; t < n; t++)
    if (s->program->nodes.data[t].op == GS_COMPUTE &&
        s->class_of[t].i != UINT32_MAX && find_path(m, s->class_of[t], below))
      break;
  return t;
}

/* The one view of the term, if nothing else reads it. */
static uint32_t
view_of(const gs_program *p, uint32_t term) {
  uint32_t found = p->nodes.len;
  for (uint32_t k = 0; k < p->outputs.len; k++)
    if (p->outputs.data[k].term.i == term)
      return p->nodes.len;
  for (uint32_t t = term + 1; t < p->nodes.len; t++)
    for (uint32_t k = 0; k < p->nodes.data[t].n_kids; k++)
      if (p->nodes.data[t].kids[k].i == term) {
        if (found != p->nodes.len || !gs_op_table[p->nodes.data[t].op].view)
          return p->nodes.len;
        found = t;
      }
  return found;
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
go_down(const fit_match *m, const uint32_t *views, uint32_t n, rl_digits *d,
        rl_index *x) {
  const gs_program *p = m->session->program;
  for (uint32_t k = n; k-- > 0;) {
    const gs_node *node = gs_at(p, (gs_term){views[k]});
    gs_type type, kid;
    const gs_type *kids[1] = {&kid};
    uint32_t which;
    gs_type_at(p, (gs_term){views[k]}, &type);
    gs_type_at(p, node->kids[0], &kid);
    if (node->n_kids != 1 ||
        !rl_digits_down(d, m->session->ctx.values, node->op, node->attr, &type,
                        kids, x, &which))
      return false;
  }
  return true;
}

static bool
go_down_path(const fit_match *m, const path *below, rl_digits *d, rl_index *x) {
  for (uint32_t k = below->n; k-- > 0;) {
    eg_node node = below->node[k];
    uint32_t n_kids, which;
    const gs_type *kid = fit_class_type(m, eg_kids(m->graph, node, &n_kids)[0]);
    if (!rl_digits_down(d, m->session->ctx.values, (gs_op)eg_op(m->graph, node),
                        eg_attr(m->graph, node),
                        fit_class_type(m, below->cls[k]), &kid, x, &which))
      return false;
  }
  return true;
}

/* Distances of the dimensions of the root below the term and views above it, in
 * the array that the topmost is stored in. */
static bool
lie_under(const fit_match *m, uint32_t term, const uint32_t *views, uint32_t n,
          const path *below, fit_lie *out) {
  rl_digits *d = bs_calloc(m->session->ctx.heap, 1, sizeof *d);
  int64_t stride[RL_DIGITS] = {0};
  gs_type type;
  rl_index x;
  gs_type_at(m->session->program, (gs_term){n ? views[n - 1] : term}, &type);
  digits_of(d, &type, &x);
  bool ok = go_down(m, views, n, d, &x) && go_down_path(m, below, d, &x) &&
            x.rank == fit_class_type(m, m->root)->rank;
  strides_of_digits(d, &type, stride);
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
  uint32_t views[MOST_VIEWS], n = 0, term = root_term(m, &below), up = term;
  fit_lie above;
  fit_lie_dense(fit_class_type(m, m->root), out);
  while (p && up < p->nodes.len && n < MOST_VIEWS) {
    up = view_of(p, up);
    if (up < p->nodes.len)
      views[n++] = up;
  }
  if (n + below.n && lie_under(m, term, views, n, &below, &above))
    *out = above;
}
