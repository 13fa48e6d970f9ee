/* SPDX-License-Identifier: MIT */
/* exact.c - the optimal DAG by branch and reduce.
 *
 * A frame holds a core and looks for its cheapest solution below a cutoff.
 * The core is reduced and bounded (bound.c); if it falls into independent
 * parts (part.c) each becomes a frame of its own, whose cutoff is what the
 * bounds of the others leave; else a decision divides it (branch.c) and each
 * way becomes a frame.  The frames on the way from the first one to the
 * current one are the stack; there is no recursion.
 *
 * Anytime: every frame keeps the best solution it knows (for parts: the best
 * known of each) and a bound that holds for all it has not looked at, so when
 * time runs out the stack is closed frame by frame without further search. */
#include "extract/core.h"
#include "extract/landmark.h"
#include <assert.h>
#include <string.h>

typedef enum frame_state { NEW, PARTS, WAYS, CLOSED } frame_state;

typedef struct frame {
  frame_state state;
  ex_core core;
  double wanted;      /* the cutoff it was given */
  double bound;       /* of solutions not looked at; base included */
  core_solution best; /* cost +inf: none known */
  uint32_t next, n_parts;
  uint32_t *part_of;
  core_solution *part; /* best known of each part */
  double *part_bound;
  core_moves ways;
  double ways_bound; /* least bound of the ways that were closed */
} frame;

typedef struct search {
  const ex_problem *problem;
  const uint32_t *tree; /* a choice for every class that has a term */
  bs_heap *heap;
  ex_watch *watch;
  ex_traces traces;
  BS_VEC(frame) stack;
  uint64_t steps;
  bool counted;
} search;

static void
solution_done(bs_heap *heap, core_solution *s) {
  bs_vec_done(heap, &s->traces);
}

/* Takes the traces over. */
static void
solution_move(bs_heap *heap, core_solution *to, core_solution *from) {
  solution_done(heap, to);
  *to = *from;
  *from = (core_solution){.cost = INFINITY};
}

static void
append(bs_heap *heap, ex_list *to, const ex_list *from) {
  for (uint32_t i = 0; i < from->len; i++)
    bs_push(heap, to, from->data[i]);
}

/* Opens a frame on a core it takes over. */
static void
push_frame(search *s, const ex_core *core) {
  frame f = {.core = *core,
             .wanted = core->cutoff,
             .bound = core->base,
             .best = {.cost = INFINITY}};
  bs_push(s->heap, &s->stack, f);
}

static void
frame_done(search *s, frame *f) {
  for (uint32_t i = 0; f->part && i < f->n_parts; i++)
    solution_done(s->heap, &f->part[i]);
  bs_free(s->heap, f->part);
  bs_free(s->heap, f->part_bound);
  bs_free(s->heap, f->part_of);
  bs_vec_done(s->heap, &f->ways);
  solution_done(s->heap, &f->best);
  core_done(&f->core);
}

/* The core again without its dead items, so that its copies share its
 * numbers. */
static void
compact(frame *f) {
  ex_core fresh;
  core_copy(&fresh, &f->core);
  core_done(&f->core);
  f->core = fresh;
}

/* A first solution and bound for each part. */
static void
look_at_part(search *s, frame *f, uint32_t i) {
  assert(f->state == PARTS && i < f->n_parts);
  ex_core part;
  core_extract_part(&f->core, f->part_of, i, &part);
  part.cutoff = INFINITY;
  f->part[i].cost = INFINITY;
  f->part_bound[i] = core_bound(&part, s->watch, true, &f->part[i]);
  if (isinf(f->part_bound[i])) /* nothing better than what was found */
    f->part_bound[i] = f->part[i].cost;
  core_done(&part);
}

static void
open_parts(search *s, frame *f) {
  f->state = PARTS;
  f->part = EX_ZERO(s->heap, core_solution, f->n_parts);
  f->part_bound = EX_ZERO(s->heap, double, f->n_parts);
  for (uint32_t i = 0; i < f->n_parts; i++)
    look_at_part(s, f, i);
}

/* The bound of all parts but `except`, and the base. */
static double
bound_of_parts(const frame *f, uint32_t except) {
  double sum = f->core.base;
  for (uint32_t i = 0; i < f->n_parts; i++)
    if (i != except)
      sum += f->part_bound[i];
  return sum;
}

static void
join_parts(search *s, frame *f) {
  double cost = f->core.base;
  for (uint32_t i = 0; i < f->n_parts; i++)
    cost += f->part[i].cost;
  f->bound = fmax(f->bound, bound_of_parts(f, EX_NONE));
  if (cost >= f->best.cost)
    return;
  f->best.cost = cost;
  bs_clear(&f->best.traces);
  append(s->heap, &f->best.traces, &f->core.fixed);
  for (uint32_t i = 0; i < f->n_parts; i++)
    append(s->heap, &f->best.traces, &f->part[i].traces);
}

/* The part where solution and bound are furthest apart, or EX_NONE. */
static uint32_t
open_part(const frame *f) {
  uint32_t found = EX_NONE;
  double widest = 0;
  for (uint32_t i = 0; i < f->n_parts; i++) {
    double gap = f->part[i].cost - f->part_bound[i];
    if (gap >= f->core.step && gap > widest) {
      widest = gap;
      found = i;
    }
  }
  return found;
}

static void
step_parts(search *s, frame *f) {
  uint32_t i = open_part(f);
  join_parts(s, f);
  f->core.cutoff = core_cutoff(&f->core, f->best.cost);
  if (i == EX_NONE || f->bound >= f->core.cutoff) {
    f->state = CLOSED;
    return;
  }
  ex_core part;
  core_extract_part(&f->core, f->part_of, i, &part);
  part.cutoff = fmin(f->core.cutoff - bound_of_parts(f, i),
                     f->part[i].cost - f->core.step);
  f->next = i;
  push_frame(s, &part);
}

static void
step_ways(search *s, frame *f) {
  while (f->next < f->ways.len && f->ways.data[f->next].bound >= f->core.cutoff)
    f->next++;
  if (f->next == f->ways.len || f->bound >= f->core.cutoff) {
    f->bound = fmax(f->bound, fmin(f->ways_bound, f->core.cutoff));
    f->state = CLOSED;
    return;
  }
  ex_core way;
  core_copy(&way, &f->core);
  core_apply(&way, f->ways.data[f->next++]);
  push_frame(s, &way);
}

static void
step_new(search *s, frame *f) {
  s->steps++;
  double bound = core_bound(&f->core, s->watch, s->stack.len == 1, &f->best);
  f->bound = fmax(f->bound, fmin(bound, f->core.cutoff));
  f->state = CLOSED;
  if (bound >= f->core.cutoff || f->core.live_classes == 0 ||
      ex_watch_over(s->watch))
    return;
  compact(f);
  f->part_of = EX_NEW(s->heap, uint32_t, f->core.n_classes);
  f->n_parts = core_parts(&f->core, f->part_of);
  if (f->n_parts > 1) {
    open_parts(s, f);
    return;
  }
  f->state = WAYS;
  f->ways_bound = INFINITY;
  core_choose_branch(&f->core, s->watch, bound, &f->ways);
}

/* A part is solved when it was searched below its own best solution, found
 * something or not.  Searched below what the other parts leave, and in vain,
 * the whole has nothing below its cutoff. */
static void
take_part(search *s, frame *f, frame *child) {
  uint32_t i = f->next;
  assert(i < f->n_parts);
  bool own = child->wanted >= f->part[i].cost - f->core.step;
  bool found = child->best.cost < f->part[i].cost;
  if (found)
    solution_move(s->heap, &f->part[i], &child->best);
  if (ex_watch_over(s->watch)) {
    f->part_bound[i] =
        fmax(f->part_bound[i], fmin(child->bound, f->part[i].cost));
  } else if (own || found) {
    f->part_bound[i] = f->part[i].cost;
  } else {
    f->bound = fmax(f->bound, f->core.cutoff);
    f->state = CLOSED;
  }
}

/* Hands a closed frame's findings to the one below it. */
static void
close_frame(search *s) {
  assert(s->stack.len > 1 && bs_last(&s->stack).state == CLOSED);
  frame child = bs_pop(&s->stack);
  frame *f = &bs_last(&s->stack);
  if (f->state == PARTS) {
    take_part(s, f, &child);
  } else {
    f->ways_bound = fmin(f->ways_bound, child.bound);
    if (child.best.cost < f->best.cost)
      solution_move(s->heap, &f->best, &child.best);
    f->core.cutoff = core_cutoff(&f->core, f->best.cost);
  }
  frame_done(s, &child);
}

/* Time is over: what is known is the answer. */
static void
cut_short(search *s, frame *f) {
  if (f->state == PARTS)
    join_parts(s, f);
  f->state = CLOSED;
}

/* A bound by counting, on the problem before reductions blur what uses what. */
static double
count_bound(search *s, double cutoff) {
  ex_core g;
  core_must m;
  ex_list goals = {0};
  uint32_t traces = s->traces.len;
  core_from_problem(&g, s->problem, &s->traces, s->tree);
  core_prune_unreached(&g);
  core_must_start(&g, s->watch, &m);
  core_must_goals(&m, &goals);
  double bound = ex_count_bound(&m.p, goals.data, goals.len, s->watch, cutoff,
                                EX_LANDMARK_VISITS / 64);
  bs_vec_done(s->heap, &goals);
  core_must_done(&m);
  core_done(&g);
  s->traces.len = traces;
  return bound;
}

/* After the first frame was looked at and is not closed. */
static void
count_at_root(search *s) {
  assert(s->stack.len);
  frame *root = &s->stack.data[0];
  s->counted = true;
  if (root->state == CLOSED || ex_watch_over(s->watch))
    return;
  root->bound = fmax(root->bound, count_bound(s, root->core.cutoff));
  if (root->bound < root->core.cutoff)
    return;
  while (s->stack.len > 1) {
    frame above = bs_pop(&s->stack);
    frame_done(s, &above);
  }
  s->stack.data[0].state = CLOSED;
}

static void
run(search *s) {
  for (;;) {
    if (s->steps > 0 && !s->counted)
      count_at_root(s);
    frame *f = &bs_last(&s->stack);
    if (f->state != CLOSED && ex_watch_over(s->watch))
      cut_short(s, f);
    if (f->state == NEW)
      step_new(s, f);
    else if (f->state == PARTS)
      step_parts(s, f);
    else if (f->state == WAYS)
      step_ways(s, f);
    else if (s->stack.len > 1)
      close_frame(s);
    else
      return;
  }
}

/* Writes the better of the search's solution and `choice` there; its cost. */
static double
take_better(search *s, const core_solution *found, double dag,
            uint32_t *choice) {
  const ex_problem *p = s->problem;
  uint32_t *class_of = ex_class_of(p);
  uint32_t *other = EX_NEW(s->heap, uint32_t, p->n_classes);
  double tree, cost;
  for (uint32_t c = 0; c < p->n_classes; c++)
    other[c] = EX_NONE;
  core_restore(s->heap, &s->traces, &found->traces, class_of, other);
  if (ex_price(p, other, &tree, &cost) && cost < dag) {
    memcpy(choice, other, p->n_classes * sizeof *choice);
    dag = cost;
  }
  bs_free(s->heap, other);
  bs_free(s->heap, class_of);
  return dag;
}

/* Searches for something cheaper than the choice in `out`. */
static void
search_below(const ex_problem *p, ex_watch *w, double dag, double step,
             ex_solution *out) {
  search s = {.problem = p, .heap = p->heap, .watch = w, .tree = out->choice};
  ex_core core;
  core_from_problem(&core, p, &s.traces, out->choice);
  core.step = step;
  core.cutoff = dag - step;
  push_frame(&s, &core);
  run(&s);
  frame *first = &s.stack.data[0];
  dag = take_better(&s, &first->best, dag, out->choice);
  out->optimal = !w->over;
  out->bound = fmin(fmax(first->bound, out->bound), dag);
  out->steps = s.steps;
  frame_done(&s, first);
  bs_vec_done(s.heap, &s.stack);
  bs_vec_done(s.heap, &s.traces);
}

bool
ex_solve_exact(const ex_problem *p, ex_watch *w, ex_solution *s) {
  double dag;
  if (!ex_heuristic(p, w, s->choice, &dag, &s->bound))
    return false;
  double step = ex_least_saving(p, dag);
  s->optimal = s->bound >= dag - step;
  if (!s->optimal)
    search_below(p, w, dag, step, s);
  return ex_restrict(p, s->choice);
}
