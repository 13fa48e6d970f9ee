/* SPDX-License-Identifier: MIT */
/* vector.c - loops that are marked for vectors.
 *
 * Vectors begin at multiples of their length, as their legality was asked: what
 * comes before the first one is done one by one, and what does not fill one at
 * the end, too, or under a mask.  Where bounds are numbers the parts are plain
 * loops between numbers.  Where they are not, it still matters how many vectors
 * there can be: gcc follows an array's size to how often a loop may run, and
 * what it makes of a vector that never runs it takes for a fault
 * (-Waggressive-loop-optimizations).  So there is no loop over vectors where
 * at most one fits, and none at all where none does. */
#include "codegen/pass/pass.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/val.h>

/* Of isl, for a question. */
enum { OPERATIONS = 200000 };

typedef struct vectors {
  cg_emitter *e;
  cg_node *loop;
  const po_nest_node *n;
  const char *i;
  int64_t lanes;
  bool first_known, last_known;
  int64_t first, last; /* where known */
  int64_t start;       /* of the first vector, where `first` is known */
  int64_t most;        /* whole vectors that there can be */
} vectors;

/* ---- how many ---- */

static int64_t
multiple_from(int64_t value, int64_t of) {
  int64_t rest = value % of;
  return rest > 0 ? value + of - rest : value - rest;
}

/* Whole vectors from a value to another one. */
static int64_t
vectors_in(int64_t first, int64_t last, int64_t lanes) {
  assert(lanes > 0);
  int64_t room = last + 1 - multiple_from(first, lanes);
  return room > 0 ? room / lanes : 0;
}

static bool
known_index(const cg_expr *expr, int64_t *out) {
  return cg_is_number(expr, out) && *out > INT32_MIN && *out < INT32_MAX;
}

/* In no iteration of the loops around there are so many whole vectors, isl
 * says, of which no more is asked than of two accesses (simd.c). */
static bool
are_never(const cg_emitter *e, const vectors *v, int64_t many) {
  isl_ctx *isl = e->p->isl;
  assert(v->lanes > 0 && many > 0);
  cg_limit(e, OPERATIONS);
  isl_aff *lane = isl_aff_mod_val(po_index(isl, 1, 0, 1, 0),
                                  isl_val_int_from_si(isl, (long)v->lanes));
  isl_map *to_last = isl_map_from_aff(
      po_index(isl, 1, 0, 1, many * v->lanes - 1)); /* from the first lane */
  to_last = isl_map_intersect_domain(
      to_last, isl_set_from_basic_set(isl_aff_zero_basic_set(lane)));
  isl_map *all = po_without_gaps(po_nest_range_in(e->p, v->loop->loop));
  isl_map *last = isl_map_apply_range(isl_map_copy(all), to_last);
  last = isl_map_intersect(last, all);
  bool never = isl_map_is_empty(last) == isl_bool_true;
  isl_map_free(last);
  isl_ctx_reset_error(isl);
  cg_limit(e, CG_OPERATIONS);
  return never;
}

/* What is not known of a bound follows from all values of the loop. */
static void
count_vectors(const cg_emitter *e, vectors *v) {
  int64_t lo, hi;
  bool bounded = cg_range(e->p, v->loop->loop, &lo, &hi);
  v->first_known = known_index(v->loop->head.first, &v->first);
  v->last_known = known_index(v->loop->head.last, &v->last);
  v->last -= v->loop->head.last_excluded;
  v->start = v->first_known ? multiple_from(v->first, v->lanes) : 0;
  v->most = INT64_MAX;
  if ((v->first_known || bounded) && (v->last_known || bounded))
    v->most = vectors_in(v->first_known ? v->first : lo,
                         v->last_known ? v->last : hi, v->lanes);
  if (v->first_known && v->last_known)
    return;
  if (v->most > 1 && are_never(e, v, 2))
    v->most = 1;
  if (v->most == 1 && are_never(e, v, 1))
    v->most = 0;
}

/* ---- parts ---- */

/* Nothing but statements is below. */
static bool
has_no_loops(const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next)
    if (n->kind != CG_STORE && n->kind != CG_TEMPLATE && n->kind != CG_NOTHING)
      return false;
  return true;
}

static const cg_expr *
name_of(const vectors *v, const char *name) {
  return cg_name(&v->e->arena, name);
}

static const cg_expr *
plus(const vectors *v, const char *name, int64_t n) {
  return cg_infix(&v->e->arena, CG_OP_ADD, name_of(v, name),
                  cg_number(&v->e->arena, n));
}

/* What comes no later than the loop's last iteration. */
static const cg_expr *
until_last(const vectors *v, const cg_expr *what) {
  const cg_for *head = &v->loop->head;
  return cg_infix(&v->e->arena,
                  head->last_excluded ? CG_OP_LESS : CG_OP_AT_MOST, what,
                  head->last);
}

static cg_node *
make_for(const vectors *v, const char *iterator, const cg_expr *first,
         const cg_expr *condition, int64_t step) {
  cg_node *n = cg_make_for(&v->e->arena, v->e->index, iterator, first,
                           condition, step, NULL);
  n->loop = v->loop->loop;
  return n;
}

/* A loop over iterations, one by one. */
static cg_node *
make_iterations(const vectors *v, const cg_expr *first,
                const cg_expr *condition) {
  cg_node *n = make_for(v, v->i, first, condition, 1);
  n->iteration = v->loop->loop;
  n->first = cg_clone(&v->e->arena, v->loop->first);
  return n;
}

/* One by one between numbers. */
static cg_node *
make_numbers(const vectors *v, int64_t from, int64_t last) {
  bs_arena *arena = &v->e->arena;
  return make_iterations(
      v, cg_number(arena, from),
      cg_infix(arena, CG_OP_AT_MOST, name_of(v, v->i), cg_number(arena, last)));
}

static void
ask_for_lanes(const vectors *v, cg_node *lanes) {
  bool seen = cg_explain_lanes(v->e, v->loop);
  if (v->e->options->openmp &&
      (seen || has_no_loops(cg_below_marks(v->loop->first))))
    lanes->head.lanes = CG_LANES_ASKED;
}

/* One iteration for each lane of a vector. */
static cg_node *
make_lanes(const vectors *v, const char *at, bool masked) {
  bs_arena *arena = &v->e->arena;
  cg_node *n = make_iterations(
      v, name_of(v, at),
      cg_infix(arena, CG_OP_LESS, name_of(v, v->i), plus(v, at, v->lanes)));
  ask_for_lanes(v, n);
  if (masked) {
    n->first = cg_make_if(arena, until_last(v, name_of(v, v->i)), n->first);
    n->first->iteration = n->iteration;
    n->iteration = CG_NO_LOOP;
  }
  return n;
}

/* ---- bounds that are numbers ---- */

static cg_node *
make_known(const vectors *v) {
  int64_t end = v->start + v->most * v->lanes;
  bs_arena *arena = &v->e->arena;
  const char *at = bs_arena_printf(arena, "glen_%s", v->i);
  cg_list list;
  cg_list_init(&list);
  if (v->start > v->first)
    cg_append(&list, make_numbers(v, v->first, v->start - 1));
  if (v->most == 1) {
    cg_node *one = make_numbers(v, v->start, end - 1);
    ask_for_lanes(v, one);
    cg_append(&list, one);
  } else {
    cg_node *all = make_for(
        v, at, cg_number(arena, v->start),
        cg_infix(arena, CG_OP_LESS, name_of(v, at), cg_number(arena, end)),
        v->lanes);
    all->bare = true;
    all->first = make_lanes(v, at, false);
    cg_append(&list, all);
  }
  if (end <= v->last)
    cg_append(&list, make_numbers(v, end, v->last));
  return cg_is_one(list.first) ? list.first : cg_make_block(arena, list.first);
}

/* ---- others ---- */

/* What comes before the first vector; NULL: nothing. */
static cg_node *
make_head(const vectors *v, const char *at) {
  bs_arena *arena = &v->e->arena;
  const cg_expr *i = name_of(v, v->i);
  if (v->first_known && v->start == v->first)
    return NULL;
  if (v->first_known)
    return make_iterations(
        v, cg_number(arena, v->first),
        cg_infix(arena, CG_OP_AND,
                 cg_infix(arena, CG_OP_LESS, i, cg_number(arena, v->start)),
                 until_last(v, i)));
  cg_node *n = make_iterations(v, name_of(v, at),
                               cg_infix(arena, CG_OP_AND, until_last(v, i),
                                        cg_infix(arena, CG_OP_REMAINDER, i,
                                                 cg_number(arena, v->lanes))));
  n->head.also = at;
  return n;
}

/* The only vector that may be whole. */
static cg_node *
make_one(const vectors *v, const char *at) {
  bs_arena *arena = &v->e->arena;
  cg_node *step = cg_node_new(arena, CG_STORE);
  step->store = (cg_store){.target = name_of(v, at),
                           .op = CG_OP_ADD,
                           .value = cg_number(arena, v->lanes)};
  cg_node *lanes = make_lanes(v, at, false);
  lanes->next = step;
  return cg_make_if(arena, until_last(v, plus(v, at, v->lanes - 1)), lanes);
}

/* Whole vectors, or with a mask all of them. */
static cg_node *
make_some(const vectors *v, const char *at, bool masked) {
  const cg_expr *end = masked ? name_of(v, at) : plus(v, at, v->lanes - 1);
  cg_node *n = make_for(v, at, NULL, until_last(v, end), v->lanes);
  n->head.type = NULL;
  n->bare = true;
  n->first = make_lanes(v, at, masked);
  return n;
}

/* glen_I is where the next vector begins. */
static cg_node *
make_unknown(const vectors *v) {
  bool masked = v->n->tail == PO_TAIL_MASK;
  bs_arena *arena = &v->e->arena;
  const char *at = bs_arena_printf(arena, "glen_%s", v->i);
  const cg_expr *start =
      v->first_known ? cg_number(arena, v->start) : v->loop->head.first;
  cg_list list;
  cg_list_init(&list);
  cg_append(&list, cg_make_let(arena, v->e->index, at, start));
  cg_append(&list, make_head(v, at));
  if (masked || v->most > 1)
    cg_append(&list, make_some(v, at, masked));
  else
    cg_append(&list, make_one(v, at));
  if (!masked)
    cg_append(&list, make_iterations(v, name_of(v, at),
                                     until_last(v, name_of(v, v->i))));
  return cg_make_block(arena, list.first);
}

/* No vector is ever whole; of a part of a loop that says nothing to anybody. */
static cg_node *
make_none(const vectors *v) {
  if (are_never(v->e, v, 1))
    bs_note(v->e->p->ctx.diags, BS_NOWHERE,
            "loop %s never has the %lld iterations of a vector", v->n->name,
            (long long)v->lanes);
  return make_iterations(v, v->loop->head.first,
                         until_last(v, name_of(v, v->i)));
}

static cg_node *
split(cg_emitter *e, cg_node *loop) {
  vectors v = {.e = e,
               .loop = loop,
               .n = &e->p->nest.nodes.data[loop->loop],
               .i = loop->head.iterator};
  v.lanes = v.n->lanes;
  count_vectors(e, &v);
  bool known = v.first_known && v.last_known;
  bool exact =
      known && v.start == v.first && (v.last + 1 - v.start) % v.lanes == 0;
  cg_node *out = v.n->tail == PO_TAIL_PEEL && !v.most ? make_none(&v)
                 : known && (v.n->tail == PO_TAIL_PEEL || exact) && v.most
                     ? make_known(&v)
                     : make_unknown(&v);
  out->loop = loop->loop;
  return out;
}

/* Loops over parts have no bounds of the loop's own, and are not split again;
 * those in their bodies are. */
static void
visit(cg_emitter *e, cg_node **body) {
  for (; *body; body = &(*body)->next) {
    cg_node *n = *body, *next = n->next;
    if (cg_is_for_vectors(e, n)) {
      n = split(e, n);
      n->next = next;
      *body = n;
    }
    visit(e, &n->first);
    if (n->kind == CG_IF)
      visit(e, &n->test.otherwise);
  }
}

void
cg_split_vectors(cg_pass_state *s) {
  visit(s->e, s->body);
}
