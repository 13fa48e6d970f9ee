/* SPDX-License-Identifier: MIT */
/* sums.c - long sums as several side by side.
 *
 * Of one vector of sums each addition waits for the one before it, several
 * cycles, in which processors could begin a dozen.  So the range of a loop that
 * is nothing but sums is cut into parts of equal length, which are added up in
 * the same iterations, each into sums of its own:
 *
 *   float acc_1 = 0, acc_2 = 0, acc_3 = 0;
 *   for (int i = 0; i < 192; i++) {
 *     acc += x[i];
 *     acc_1 += x[i + 192];
 *     ...
 *   }
 *   acc += acc_1; ...
 *
 * Parts are of whole vectors, and what is left is a loop after them.
 *
 * Where how often the loop runs is known at run time only, so is the length of
 * a part: 0 where it would be too short.
 *
 *   const int glen_part = n < 192 ? 0 : n / 32 * 8;
 *   if (glen_part) {
 *     ...
 *   }
 *   const int glen_whole = (n - 4 * glen_part) & -8;
 *   if (glen_whole >= 8)
 *     for (int i = 0; i < glen_whole; i++)
 *       acc += x[4 * glen_part + i];
 *   for (int i = 4 * glen_part + glen_whole; i < n; i++)
 *     acc += x[i];
 *
 * Of the rest, whole vectors are a loop of their own if sizes are open: where
 * gcc knows that there is one at least, and no part of another, the lanes are
 * in a register.  Otherwise they are in memory, from where they are added up
 * one by one.
 *
 * simd.c has found that the order of the sums is free; the one chosen here
 * follows from the program, its sizes and the target alone. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/pass/pass.h"
#include "codegen/build/build.h"
#include <assert.h>
#include <string.h>

/* Statements of the loop's body: each is written out for every part. */
enum { MOST_STMTS = 2 };

/* What the sums of parts are named after, and lengths that are known at run
 * time only: of a part, and of whole vectors of the rest. */
#define PART   "part"
#define LENGTH "glen_part"
#define WHOLE  "glen_whole"

typedef struct parts {
  cg_emitter *e;
  cg_node *loop;
  const char *i;
  int64_t first, trips; /* of the loop; the most that it makes if it is open */
  int64_t parts, length, lanes; /* one part: the loop is not cut in parts */
  bool open; /* how often the loop runs is known at run time only */
} parts;

/* ---- what is looked for ---- */

static const cg_reduction *
reduction_of(const cg_for *head, const cg_node *store) {
  for (uint32_t k = 0; store->kind == CG_STORE && k < head->n_reductions; k++)
    if (store->origin &&
        cg_is_name(store->store.target, head->reductions[k].name))
      return &head->reductions[k];
  return NULL;
}

/* Updates of sums, and nothing else. */
static bool
is_of_sums(const cg_node *loop) {
  uint32_t n = 0;
  for (const cg_node *at = cg_below_marks(loop->first); at; at = at->next)
    if (!reduction_of(&loop->head, at) || ++n > MOST_STMTS)
      return false;
  return n;
}

static gs_dtype
dtype_of(const parts *x, const cg_node *store) {
  const po_program *p = x->e->p;
  return p->arrays.data[p->stmts.data[store->origin->stmt].array].dtype;
}

/* Elements of vectors of some bytes, of the widest of the sums. */
static int64_t
lanes_of(const parts *x, int64_t vector) {
  int64_t bytes = 1;
  for (const cg_node *at = cg_below_marks(x->loop->first); at; at = at->next) {
    int64_t own = gs_dtype_table[dtype_of(x, at)].bytes;
    bytes = own > bytes ? own : bytes;
  }
  return vector > bytes ? vector / bytes : 1;
}

/* No array is named like a sum of a part. */
static bool
has_names(const parts *x) {
  for (const cg_node *n = cg_below_marks(x->loop->first); n; n = n->next)
    if (!cg_can_copy_name(x->e, reduction_of(&x->loop->head, n)->name, PART,
                          x->parts))
      return false;
  return true;
}

/* How often the loop runs, or at most. */
static bool
find_range(parts *x) {
  const cg_for *head = &x->loop->head;
  if (cg_fixed_range(head, &x->first, &x->trips))
    return true;
  x->open = head->first && head->last && !head->also && !head->beside;
  x->trips = x->open ? cg_range_size(x->e->p, x->loop->loop) : 0;
  return x->open;
}

/* Vectors of the loop are a loop of their own: where sizes are open, that is
 * what keeps it from being slower than with numbers. */
static bool
has_vectors(const parts *x) {
  return x->open && x->e->p->sizes.len && x->lanes > 1;
}

/* Of shorter ones nothing is to be had: the processor is at the next sum before
 * it has ended one, and at the end each part is added up by itself.  They stay
 * whole, but for the vectors of one whose length is open. */
static bool
find_parts(parts *x) {
  if (x->loop->kind != CG_FOR || x->loop->head.lanes != CG_LANES_SEEN ||
      x->loop->head.step != 1 || !is_of_sums(x->loop) || !find_range(x))
    return false;
  x->lanes = lanes_of(x, x->e->p->target->vector_bytes);
  x->parts = x->trips / (GS_SUM_PART * x->lanes);
  x->parts = x->parts < GS_SUM_PARTS ? x->parts : GS_SUM_PARTS;
  if (x->parts < 2) {
    x->parts = 1;
    return has_vectors(x);
  }
  if (!has_names(x))
    return false;
  x->length = x->trips / x->parts / x->lanes * x->lanes;
  return true;
}

/* ---- where parts begin and end ---- */

static const cg_expr *
number(const parts *x, int64_t n) {
  return cg_number(&x->e->arena, n);
}

static const cg_expr *
infix(const parts *x, cg_op op, const cg_expr *a, const cg_expr *b) {
  return cg_infix(&x->e->arena, op, a, b);
}

static const cg_expr *
name(const parts *x, const char *text) {
  return cg_name(&x->e->arena, text);
}

/* Where the part begins, behind the first value of the loop. */
static const cg_expr *
offset_of(const parts *x, int64_t part) {
  assert(part >= 0);
  if (!x->open)
    return number(x, part * x->length);
  return part == 1 ? name(x, LENGTH)
                   : infix(x, CG_OP_MULTIPLY, number(x, part), name(x, LENGTH));
}

/* The value of the loop where the part begins. */
static const cg_expr *
begin_of(const parts *x, int64_t part) {
  assert(part >= 0);
  const cg_expr *from = x->loop->head.first;
  int64_t first;
  if (!x->open)
    return number(x, x->first + part * x->length);
  if (!part || x->parts == 1)
    return from;
  bool zero = cg_is_number(from, &first) && !first;
  return zero ? offset_of(x, part)
              : infix(x, CG_OP_ADD, from, offset_of(x, part));
}

/* last - first + 1 */
static const cg_expr *
trips_of(const parts *x) {
  const cg_for *head = &x->loop->head;
  int64_t first;
  const cg_expr *n = head->last;
  if (!cg_is_number(head->first, &first) || first)
    n = infix(x, CG_OP_SUBTRACT, n, cg_paren(&x->e->arena, head->first));
  if (!head->last_excluded)
    n = infix(x, CG_OP_ADD, n, number(x, 1));
  return n->kind == CG_NAME ? n : cg_paren(&x->e->arena, n);
}

/* Of as many elements as two parts have, all parts are made, as a test for each
 * number of parts would cost more. */
static cg_node *
make_length(const parts *x) {
  bs_arena *arena = &x->e->arena;
  const cg_expr *n = trips_of(x);
  const cg_expr *least = number(x, 2 * GS_SUM_PART * x->lanes);
  const cg_expr *vectors =
      infix(x, CG_OP_DIVIDE, n, number(x, x->parts * x->lanes));
  const cg_expr *length =
      infix(x, CG_OP_MULTIPLY, vectors, number(x, x->lanes));
  return cg_make_let(
      arena, bs_arena_printf(arena, "const %s", x->e->index), LENGTH,
      cg_choice(arena, infix(x, CG_OP_LESS, n, least), number(x, 0), length));
}

/* ---- what is made ---- */

/* The operator between two parts; CG_OP_NONE: one of them is taken. */
static cg_op
joining(const cg_reduction *sum) {
  switch (sum->by) {
  case CG_JOINED_BY_SUM:
    return CG_OP_ADD;
  case CG_JOINED_BY_PRODUCT:
    return CG_OP_MULTIPLY;
  case CG_JOINED_BY_MAX:
  case CG_JOINED_BY_MIN:
    break;
  }
  return CG_OP_NONE;
}

static const cg_expr *
start_of(const parts *x, const cg_reduction *sum, gs_dtype dtype) {
  if (joining(sum) != CG_OP_NONE)
    return cg_make_literal(x->e, dtype, sum->by == CG_JOINED_BY_PRODUCT);
  return cg_name(&x->e->arena, sum->name); /* it may be taken twice */
}

/* acc += acc_1; the larger, or the smaller, of both. */
static cg_node *
make_joined(const parts *x, const cg_reduction *sum, int64_t part) {
  bs_arena *arena = &x->e->arena;
  const cg_expr *a = cg_name(arena, sum->name);
  const cg_expr *b = cg_name(arena, cg_copy_name(x->e, sum->name, PART, part));
  cg_node *n = cg_node_new(arena, CG_STORE);
  cg_op op = joining(sum);
  cg_op than = sum->by == CG_JOINED_BY_MAX ? CG_OP_GREATER : CG_OP_LESS;
  bool adds = op != CG_OP_NONE;
  n->store = (cg_store){
      .target = a,
      .op = adds ? op : CG_OP_SET,
      .value = adds ? b : cg_choice(arena, cg_infix(arena, than, b, a), b, a)};
  return n;
}

/* The statements of an iteration, of a part. */
static void
put_part(const parts *x, int64_t part, cg_list *to) {
  assert(part >= 0);
  bs_arena *arena = &x->e->arena;
  const cg_expr *at = cg_paren(
      arena, infix(x, CG_OP_ADD, cg_name(arena, x->i), offset_of(x, part)));
  cg_node *body = cg_clone(arena, cg_below_marks(x->loop->first));
  for (cg_node *n = body; n && part; n = n->next) {
    const char *sum = reduction_of(&x->loop->head, n)->name;
    const cg_expr *own = cg_name(arena, cg_copy_name(x->e, sum, PART, part));
    n->origin = NULL;
    n->store.target = own;
    n->store.value = cg_substitute(arena, n->store.value, x->i, at);
    n->store.value = cg_substitute(arena, n->store.value, sum, own);
  }
  cg_append(to, body);
}

static cg_node *
make_loop(const parts *x, const cg_expr *from, const cg_expr *condition) {
  cg_node *n =
      cg_make_for(&x->e->arena, x->e->index, x->i, from, condition, 1, NULL);
  n->loop = n->iteration = x->loop->loop;
  return n;
}

static const cg_expr *
up_to(const parts *x, cg_op op, const cg_expr *end) {
  return infix(x, op, name(x, x->i), end);
}

static cg_node *
make_parts(const parts *x) {
  const cg_expr *end =
      x->open ? up_to(x, CG_OP_LESS, begin_of(x, 1))
              : up_to(x, CG_OP_AT_MOST, number(x, x->first + x->length - 1));
  cg_node *n = make_loop(x, begin_of(x, 0), end);
  cg_list body;
  cg_list_init(&body);
  for (int64_t part = 0; part < x->parts; part++)
    put_part(x, part, &body);
  n->first = body.first;
  cg_copy_reductions(x->e, &x->loop->head, PART, x->parts, &n->head);
  n->head.lanes = CG_LANES_SEEN;
  return n;
}

/* What does not fill a vector in each part, and all of what is short. */
static cg_node *
make_rest(const parts *x) {
  int64_t rest = x->trips - x->parts * x->length;
  const cg_for *head = &x->loop->head;
  const cg_expr *condition =
      x->open ? head->condition
              : up_to(x, CG_OP_AT_MOST, number(x, x->first + x->trips - 1));
  cg_node *n = make_loop(x, begin_of(x, x->parts), condition);
  n->first = cg_clone(&x->e->arena, cg_below_marks(x->loop->first));
  if (x->open || rest >= GS_VECTOR_ITERATIONS) {
    n->head.lanes = CG_LANES_SEEN;
    n->head.is_ragged = x->open || rest % x->lanes;
    n->head.n_reductions = head->n_reductions;
    n->head.reductions = head->reductions;
  }
  return x->open || rest ? n : NULL;
}

/* Of the vectors that compilers take for loops (put_vector_width in c.c). */
static int64_t
loop_vector_bytes(const po_program *p) {
  int64_t bytes = p->target->vector_bytes;
  bool halves = bytes >= 64 && gs_has_half_vectors(p->target);
  return halves && !p->contractions.len ? bytes / 2 : bytes;
}

/* const int glen_whole = (n - 4 * glen_part) & -8; */
static cg_node *
make_whole_length(const parts *x, int64_t lanes) {
  bs_arena *arena = &x->e->arena;
  const cg_expr *n = trips_of(x);
  if (x->parts > 1)
    n = cg_paren(arena, infix(x, CG_OP_SUBTRACT, n, offset_of(x, x->parts)));
  return cg_make_let(arena, bs_arena_printf(arena, "const %s", x->e->index),
                     WHOLE, infix(x, CG_OP_BIT_AND, n, number(x, -lanes)));
}

/* Whole vectors behind the parts. */
static cg_node *
make_vectors(const parts *x, int64_t lanes) {
  bs_arena *arena = &x->e->arena;
  const cg_for *head = &x->loop->head;
  const cg_expr *from = begin_of(x, x->parts);
  cg_node *n = make_loop(x, number(x, 0), up_to(x, CG_OP_LESS, name(x, WHOLE)));
  int64_t first;
  n->first = cg_clone(arena, cg_below_marks(x->loop->first));
  const cg_expr *at = name(x, x->i);
  if (!cg_is_number(from, &first) || first)
    at = cg_paren(arena, infix(x, CG_OP_ADD, from, at));
  for (cg_node *to = n->first; to; to = to->next) {
    to->origin = NULL;
    to->store.value = cg_substitute(arena, to->store.value, x->i, at);
  }
  n->head.lanes = CG_LANES_SEEN;
  n->head.n_reductions = head->n_reductions;
  n->head.reductions = head->reductions;
  return cg_make_if(
      arena, infix(x, CG_OP_AT_LEAST, name(x, WHOLE), number(x, lanes)), n);
}

/* What is left behind the parts of a sum whose length is known at run time
 * only: whole vectors, then single elements. */
static void
put_open_rest(const parts *x, cg_list *to) {
  int64_t lanes = lanes_of(x, loop_vector_bytes(x->e->p));
  const cg_expr *from = begin_of(x, x->parts);
  int64_t first;
  from = cg_is_number(from, &first) && !first
             ? name(x, WHOLE)
             : infix(x, CG_OP_ADD, from, name(x, WHOLE));
  cg_node *n = make_loop(x, from, x->loop->head.condition);
  n->first = cg_clone(&x->e->arena, cg_below_marks(x->loop->first));
  cg_append(to, make_whole_length(x, lanes));
  cg_append(to, make_vectors(x, lanes));
  cg_append(to, n);
}

/* No statement before it adds to the same sum. */
static bool
is_first(const parts *x, const cg_node *store) {
  const cg_for *head = &x->loop->head;
  const cg_node *n = cg_below_marks(x->loop->first);
  while (n != store && reduction_of(head, n) != reduction_of(head, store))
    n = n->next;
  return n == store;
}

/* Parts, added up. */
static cg_node *
make_whole(const parts *x) {
  bs_arena *arena = &x->e->arena;
  cg_list starts, joins;
  cg_list_init(&starts);
  cg_list_init(&joins);
  for (const cg_node *n = cg_below_marks(x->loop->first); n; n = n->next)
    for (int64_t part = 1; part < x->parts && is_first(x, n); part++) {
      const cg_reduction *sum = reduction_of(&x->loop->head, n);
      gs_dtype dtype = dtype_of(x, n);
      cg_node *let = cg_make_let(arena, gs_dtype_table[dtype].c_type,
                                 cg_copy_name(x->e, sum->name, PART, part),
                                 start_of(x, sum, dtype));
      let->let.joins = part > 1;
      cg_append(&starts, let);
      cg_append(&joins, make_joined(x, sum, part));
    }
  cg_append(&starts, make_parts(x));
  cg_append(&starts, joins.first);
  return starts.first;
}

/* The parts, where there are enough elements for them. */
static void
put_open_parts(const parts *x, cg_list *to) {
  if (x->parts == 1)
    return;
  cg_append(to, make_length(x));
  cg_append(to, cg_make_if(&x->e->arena, name(x, LENGTH), make_whole(x)));
}

static cg_node *
split(const parts *x) {
  cg_list all;
  cg_list_init(&all);
  if (x->open)
    put_open_parts(x, &all);
  else
    cg_append(&all, make_whole(x));
  if (has_vectors(x))
    put_open_rest(x, &all);
  else
    cg_append(&all, make_rest(x));
  cg_node *out = cg_make_block(&x->e->arena, all.first);
  out->loop = x->loop->loop;
  return out;
}

static cg_node *
make_split(cg_emitter *e, cg_node *n) {
  parts x = {
      .e = e, .loop = n, .i = n->kind == CG_FOR ? n->head.iterator : NULL};
  return find_parts(&x) ? split(&x) : NULL;
}

void
cg_split_sums(cg_pass_state *s) {
  cg_replace_nodes(s->e, s->body, make_split);
}
