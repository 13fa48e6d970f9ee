/* SPDX-License-Identifier: MIT */
/* memory_build.c - a part's nest, made anew as its plan says.
 *
 * Calls keep their indices: what changes are their times, which are made of
 * blocks and places within them, and where their operands lie.  Loads and
 * stores are calls of their own below loops of their own, at the level of
 * their value:
 *
 *   for o { load v: for ... { for pieces { move } }; for k { calls }; store v
 * } */
#include "poly/memory/memory_part.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

typedef struct builder {
  const po_calls *x;
  const po_plan *plan;
  const po_room *room;
  po_program *p;
  uint32_t loop[PO_MOST_LOOPS];   /* nodes */
  uint32_t array[PO_MOST_VALUES]; /* in memories */
  uint32_t before;                /* what stood behind the old nest */
} builder;

/* Where one end of a move lies. */
typedef struct end {
  uint32_t array;
  isl_multi_aff *at; /* over the indices of the move */
  int64_t stride[GS_MAX_RANK];
} end;

/* The indices of a move: the loops around, those of the places of its value,
 * those of its pieces. */
typedef struct moving {
  builder *b;
  uint32_t value, hop;
  const po_route *route;
  uint32_t n_around, n, n_places;
  uint32_t place[PO_MOST_LOOPS]; /* loops of the plan */
  uint32_t piece[GS_MAX_RANK];   /* index, by dimension of the tile */
  int64_t extent[PO_MOST_LOOPS + GS_MAX_RANK];
} moving;

static isl_multi_aff *
keep(builder *b, __isl_take isl_multi_aff *map) {
  po_pool_reserve(&b->p->pool, 1);
  return po_keep_multi_aff(&b->p->pool, map);
}

/* ---- arrays in memories ---- */

static const po_tile *
tile_of(const po_value *v) {
  return &v->tile;
}

/* `pad_3`: no array of lowering and none of the user may have it. */
static const char *
fresh_name(const builder *b, const char *memory) {
  po_program *p = b->p;
  const char *name = bs_arena_printf(&p->arena, "%s_%u", memory, p->arrays.len);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (!strcmp(p->arrays.data[k].name, name)) {
      name = bs_arena_printf(&p->arena, "%s_", name);
      k = UINT32_MAX; /* from the first one on again */
    }
  return name;
}

static uint32_t
new_array(builder *b, uint32_t memory, const po_tile *t, const int64_t *lead,
          uint32_t n_lead, int64_t address) {
  po_program *p = b->p;
  const gs_memory *m = gs_memory_at(p->target, memory);
  po_array a = {.role = PO_MEMORY,
                .dtype = t->dtype,
                .rank = n_lead + t->rank,
                .memory = memory,
                .term = GS_NO_TERM,
                .offset = address};
  a.name = fresh_name(b, m->name);
  for (uint32_t k = 0; k < a.rank; k++)
    a.dim[k] = k < n_lead ? lead[k] : t->dim[k - n_lead];
  if (t->rank)
    a.pad[a.rank - 1] =
        gs_memory_pitch(m, t->dtype, a.dim[a.rank - 1]) - a.dim[a.rank - 1];
  bs_push(p->ctx.heap, &p->arrays, a);
  return p->arrays.len - 1;
}

/* The turn, where there are two; then an index for each loop below the level
 * that the value depends on. */
static uint32_t
place_loops(const builder *b, uint32_t v, uint32_t *loops) {
  assert(v < b->x->n_values);
  uint32_t n = 0;
  for (uint32_t k = b->plan->level[v]; k < b->plan->n_loops; k++)
    if (b->x->value[v].has[b->plan->loop[k].dim])
      loops[n++] = k;
  return n;
}

static void
make_array(builder *b, uint32_t v) {
  assert(v < b->x->n_values);
  uint32_t loops[PO_MOST_LOOPS], n = place_loops(b, v, loops), turns = 0;
  int64_t lead[PO_MOST_LOOPS + 1];
  if (b->plan->twice[v])
    lead[turns++] = 2;
  for (uint32_t k = 0; k < n; k++)
    lead[turns + k] = b->plan->loop[loops[k]].extent;
  b->array[v] = new_array(b, b->x->value[v].memory, tile_of(&b->x->value[v]),
                          lead, turns + n, b->room->address[v]);
}

static void
array_strides(const po_array *a, uint32_t rank, int64_t *out) {
  assert(rank <= a->rank);
  int64_t place[GS_MAX_RANK], stride[GS_MAX_RANK];
  po_places(a, place);
  po_strides(place, a->rank, stride);
  memcpy(out, stride + a->rank - rank, rank * sizeof *out);
}

/* ---- calls ---- */

/* The value of a loop for an instance of a call. */
static __isl_give isl_aff *
loop_value(const builder *b, uint32_t k) {
  assert(k < b->plan->n_loops);
  const po_calls *x = b->x;
  const po_loop *l = &b->plan->loop[k];
  isl_ctx *isl = b->p->isl;
  isl_aff *aff = po_index(isl, x->n, l->dim, 1, 0);
  int64_t block = b->plan->block[l->dim];
  if (l->within && block < x->size[l->dim])
    return isl_aff_mod_val(aff, isl_val_int_from_si(isl, block));
  if (l->within || block == 1)
    return aff;
  aff = isl_aff_scale_down_val(aff, isl_val_int_from_si(isl, block));
  return isl_aff_floor(aff);
}

/* Of two places, the one whose turn it is: another one each time that the value
 * is filled.  A loop of an odd number of iterations ends with the turn that it
 * begins with, so the one around it counts, too. */
static uint32_t
first_that_counts(const builder *b, uint32_t v) {
  assert(b->plan->level[v] > 0);
  uint32_t k = b->plan->level[v] - 1;
  while (k > 0 && b->plan->loop[k].extent % 2)
    k--;
  return k;
}

static __isl_give isl_aff *
turn_of(const builder *b, __isl_take isl_aff *loops) {
  return isl_aff_mod_val(loops, isl_val_int_from_si(b->p->isl, 2));
}

static __isl_give isl_aff *
turn_in_call(const builder *b, uint32_t v) {
  assert(b->plan->level[v] > 0);
  uint32_t last = b->plan->level[v] - 1;
  isl_aff *sum = loop_value(b, last);
  for (uint32_t k = first_that_counts(b, v); k < last; k++)
    sum = isl_aff_add(sum, loop_value(b, k));
  return turn_of(b, sum);
}

/* { [i] -> value's array }, its first element. */
static __isl_give isl_multi_aff *
place_in_call(const builder *b, uint32_t v) {
  const po_array *a = &b->p->arrays.data[b->array[v]];
  uint32_t loops[PO_MOST_LOOPS], n = place_loops(b, v, loops), at = 0;
  isl_multi_aff *map =
      isl_multi_aff_zero(po_map_space(b->p->isl, b->x->n, a->rank));
  if (b->plan->twice[v])
    map = isl_multi_aff_set_aff(map, (int)at++, turn_in_call(b, v));
  for (uint32_t k = 0; k < n; k++)
    map = isl_multi_aff_set_aff(map, (int)at++, loop_value(b, loops[k]));
  return map;
}

static isl_pw_multi_aff *
named(builder *b, const char *stmt, uint32_t array,
      __isl_take isl_multi_aff *map) {
  assert(array < b->p->arrays.len);
  isl_ctx *isl = b->p->isl;
  map = isl_multi_aff_set_tuple_id(map, isl_dim_in,
                                   isl_id_alloc(isl, stmt, NULL));
  map = isl_multi_aff_set_tuple_id(
      map, isl_dim_out, isl_id_alloc(isl, b->p->arrays.data[array].name, NULL));
  po_pool_reserve(&b->p->pool, 1);
  return po_keep_pw_multi_aff(&b->p->pool,
                              isl_pw_multi_aff_from_multi_aff(map));
}

static void
point_to_values(builder *b, uint32_t stmt) {
  assert(stmt < b->p->stmts.len);
  po_program *p = b->p;
  po_stmt *s = &p->stmts.data[stmt];
  po_operand *operands = bs_arena_copy(
      &p->arena, s->operands, (s->instr->n_operands + 1) * sizeof *operands);
  for (uint32_t k = 0; k < b->x->n_refs; k++) {
    const po_ref *r = &b->x->refs[k];
    po_operand *o = &operands[r->operand];
    if (r->stmt != stmt || !b->x->value[r->value].memory)
      continue;
    o->array = b->array[r->value];
    o->offset = 0;
    o->base = named(b, s->name, o->array, place_in_call(b, r->value));
    array_strides(&p->arrays.data[o->array], o->rank, o->stride);
  }
  s->operands = operands;
  s->array = operands[s->instr->n_operands].array;
}

static void
retime(builder *b, uint32_t stmt) {
  assert(stmt < b->p->stmts.len);
  po_program *p = b->p;
  po_stmt *s = &p->stmts.data[stmt];
  uint32_t n = b->plan->n_loops;
  isl_multi_aff *time = isl_multi_aff_zero(po_map_space(p->isl, b->x->n, n));
  for (uint32_t k = 0; k < n; k++)
    time = isl_multi_aff_set_aff(time, (int)k, loop_value(b, k));
  time = isl_multi_aff_set_tuple_id(time, isl_dim_in,
                                    isl_set_get_tuple_id(s->domain));
  s->time = keep(b, time);
}

/* ---- moves ---- */

/* Index k of the move, if any, that says which iteration of a loop it is. */
static uint32_t
index_of_loop(const moving *m, uint32_t loop) {
  if (loop < m->n_around)
    return loop;
  for (uint32_t k = 0; k < m->n_places; k++)
    if (m->place[k] == loop)
      return m->n_around + k;
  return m->n; /* it does not depend on it */
}

/* { [move] -> [dimensions of the part] } */
static __isl_give isl_multi_aff *
dimensions_of(const moving *m) {
  const builder *b = m->b;
  isl_ctx *isl = b->p->isl;
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, m->n, b->x->n));
  for (uint32_t k = 0; k < b->plan->n_loops; k++) {
    const po_loop *l = &b->plan->loop[k];
    uint32_t index = index_of_loop(m, k);
    int64_t step = l->within ? 1 : b->plan->block[l->dim];
    isl_aff *aff = isl_multi_aff_get_aff(map, (int)l->dim);
    if (index < m->n)
      aff = isl_aff_add(aff, po_index(isl, m->n, index, step, 0));
    map = isl_multi_aff_set_aff(map, (int)l->dim, aff);
  }
  return map;
}

/* Moves by so many elements, as far as they are whole steps of the array. */
static __isl_give isl_multi_aff *
moved_by(const moving *m, __isl_take isl_multi_aff *at, const po_array *a,
         uint32_t index, int64_t elements) {
  int64_t place[GS_MAX_RANK], stride[GS_MAX_RANK];
  po_places(a, place);
  po_strides(place, a->rank, stride);
  for (uint32_t r = 0; r < a->rank; r++) {
    int64_t by = place[r] > 1 ? elements / stride[r] : 0;
    isl_aff *aff = isl_multi_aff_get_aff(at, (int)r);
    aff = isl_aff_add(aff, po_index(m->b->p->isl, m->n, index, by, 0));
    at = isl_multi_aff_set_aff(at, (int)r, aff);
    elements -= by * stride[r];
  }
  return at;
}

/* Behind the first element, where the piece begins. */
static __isl_give isl_multi_aff *
at_piece(const moving *m, __isl_take isl_multi_aff *at, const po_array *a,
         const int64_t *stride) {
  const po_tile *t = tile_of(&m->b->x->value[m->value]);
  const po_move *move = &m->route->move[m->hop];
  for (uint32_t d = 0; d < t->rank; d++)
    if (m->piece[d] < m->n)
      at = moved_by(m, at, a, m->piece[d], stride[d] * move->piece[d]);
  return at;
}

static end
dram_end(const moving *m, bool in) {
  builder *b = m->b;
  const po_value *v = &b->x->value[m->value];
  end e = {.array = in ? v->array : v->to};
  const po_tile *t = in ? &v->tile : &v->to_tile;
  isl_multi_aff *at = isl_pw_multi_aff_as_multi_aff(
      isl_pw_multi_aff_copy(in ? v->base : v->to_base));
  at = isl_multi_aff_reset_tuple_id(at, isl_dim_out);
  at = isl_multi_aff_pullback_multi_aff(at, dimensions_of(m));
  memcpy(e.stride, t->stride, sizeof e.stride);
  e.at = at_piece(m, at, &b->p->arrays.data[e.array], e.stride);
  return e;
}

/* Indices of a move begin with the loops around. */
static __isl_give isl_aff *
turn_of_move(const moving *m) {
  const builder *b = m->b;
  uint32_t last = b->plan->level[m->value] - 1;
  isl_aff *sum = po_index(b->p->isl, m->n, last, 1, 0);
  for (uint32_t k = first_that_counts(b, m->value); k < last; k++)
    sum = isl_aff_add(sum, po_index(b->p->isl, m->n, k, 1, 0));
  return turn_of(b, sum);
}

static end
value_end(const moving *m) {
  builder *b = m->b;
  const po_plan *plan = b->plan;
  const po_tile *t = tile_of(&b->x->value[m->value]);
  end e = {.array = b->array[m->value]};
  const po_array *a = &b->p->arrays.data[e.array];
  isl_ctx *isl = b->p->isl;
  uint32_t at = 0;
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, m->n, a->rank));
  if (plan->twice[m->value])
    map = isl_multi_aff_set_aff(map, (int)at++, turn_of_move(m));
  for (uint32_t k = 0; k < m->n_places; k++)
    map = isl_multi_aff_set_aff(map, (int)at++,
                                po_index(isl, m->n, m->n_around + k, 1, 0));
  array_strides(a, t->rank, e.stride);
  e.at = at_piece(m, map, a, e.stride);
  return e;
}

static end
stage_end(const moving *m, uint32_t stage) {
  builder *b = m->b;
  const po_array *a = &b->p->arrays.data[stage];
  const po_tile *t = tile_of(&b->x->value[m->value]);
  end e = {.array = stage};
  array_strides(a, t->rank, e.stride);
  e.at = at_piece(m, isl_multi_aff_zero(po_map_space(b->p->isl, m->n, a->rank)),
                  a, e.stride);
  return e;
}

/* What the instruction reads or, result, writes of the tile. */
static po_operand
operand_at(moving *m, const char *stmt, const end *e, bool result) {
  const po_move *move = &m->route->move[m->hop];
  const gs_instr *i = move->instr;
  const po_tile *t = tile_of(&m->b->x->value[m->value]);
  uint32_t rank = i->result.rank;
  uint32_t missing = rank > t->rank ? rank - t->rank : 0;
  uint32_t skipped = rank > t->rank ? 0 : t->rank - rank;
  po_operand o = {.array = e->array, .rank = rank};
  for (uint32_t d = 0; d < rank; d++) {
    uint32_t at = gs_move_dim(i, result, d);
    o.dim[at] = d < missing || (!result && i->repeats >> d & 1)
                    ? 1
                    : move->piece[d - missing + skipped];
    o.stride[at] = d < missing ? 1 : e->stride[d - missing + skipped];
  }
  o.base = named(m->b, stmt, e->array, e->at);
  return o;
}

static const char *const *
index_names(builder *b, uint32_t n) {
  const char **names = BS_NEWS(&b->p->arena, const char *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_arena_printf(&b->p->arena, "i%u", k);
  return names;
}

static uint32_t
add_move(moving *m, const end *from, const end *to) {
  builder *b = m->b;
  po_program *p = b->p;
  const po_move *move = &m->route->move[m->hop];
  const po_stmt *like = &p->stmts.data[b->x->stmts[0]];
  po_stmt s = {.kind = PO_CALL,
               .instr = move->instr,
               .slots = move->slots,
               .array = to->array,
               .n_iters = m->n,
               .n_outer = m->n,
               .iters = index_names(b, m->n),
               .term = like->term,
               .span = like->span};
  s.name = bs_arena_printf(&p->arena, "S%u", p->stmts.len);
  po_operand *operands = BS_NEWS(&p->arena, po_operand, 2);
  operands[0] = operand_at(m, s.name, from, false);
  operands[1] = operand_at(m, s.name, to, true);
  s.operands = operands;
  po_pool_reserve(&p->pool, 2);
  isl_set *domain = po_box(p->isl, m->extent, m->n);
  s.domain = po_keep_set(
      &p->pool,
      isl_set_set_tuple_id(domain, isl_id_alloc(p->isl, s.name, NULL)));
  isl_multi_aff *time = po_identity(p->isl, m->n);
  s.time = po_keep_multi_aff(
      &p->pool, isl_multi_aff_set_tuple_id(time, isl_dim_in,
                                           isl_set_get_tuple_id(s.domain)));
  bs_push(p->ctx.heap, &p->stmts, s);
  return p->stmts.len - 1;
}

/* Loops for indices from .. to - 1 below a node. */
static uint32_t
add_loops(builder *b, uint32_t parent, uint32_t *before, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    parent = po_nest_add_loop(b->p, parent, *before, po_nest_fresh(b->p, "m"));
    *before = PO_NO_NODE;
  }
  return parent;
}

static void
find_indices(moving *m) {
  const builder *b = m->b;
  m->n_around = b->plan->level[m->value];
  m->n_places = place_loops(b, m->value, m->place);
  for (uint32_t k = 0; k < m->n_around; k++)
    m->extent[k] = b->plan->loop[k].extent;
  for (uint32_t k = 0; k < m->n_places; k++)
    m->extent[m->n_around + k] = b->plan->loop[m->place[k]].extent;
}

/* The pieces of one hop, behind the other indices. */
static void
find_pieces(moving *m) {
  const po_tile *t = tile_of(&m->b->x->value[m->value]);
  const po_move *move = &m->route->move[m->hop];
  m->n = m->n_around + m->n_places;
  for (uint32_t d = 0; d < t->rank; d++) {
    m->piece[d] = UINT32_MAX;
    if (t->dim[d] == move->piece[d])
      continue;
    m->extent[m->n] = t->dim[d] / move->piece[d];
    m->piece[d] = m->n++;
  }
}

static end
end_of(const moving *m, bool in, uint32_t hop, uint32_t stage) {
  if (hop > 0 && hop < m->route->n)
    return stage_end(m, stage);
  return (hop == 0) == in ? dram_end(m, in) : value_end(m);
}

/* All places of the value, tile by tile, each over all hops. */
static void
add_moves(builder *b, uint32_t v, const po_route *route, bool in,
          uint32_t parent, uint32_t before) {
  assert(v < b->x->n_values);
  moving m = {.b = b, .value = v, .route = route};
  const po_value *value = &b->x->value[v];
  uint32_t stage = PO_NO_NODE;
  if (route->n > 1)
    stage = new_array(b, route->memory[1], tile_of(value), NULL, 0,
                      in ? b->room->stage_in[v] : b->room->stage_out[v]);
  find_indices(&m);
  parent = add_loops(b, parent, &before, m.n_places);
  for (m.hop = 0; m.hop < route->n; m.hop++) {
    uint32_t at = before;
    find_pieces(&m);
    end from = end_of(&m, in, m.hop, stage);
    end to = end_of(&m, in, m.hop + 1, stage);
    uint32_t inner = add_loops(b, parent, &at, m.n - m.n_around - m.n_places);
    po_nest_add_leaf(b->p, inner, at, add_move(&m, &from, &to));
  }
}

/* ---- the nest ---- */

static void
take_down(builder *b) {
  po_program *p = b->p;
  b->before = p->nest.nodes.data[b->x->top].next;
  po_nest_detach(p, b->x->top);
  po_nest_remove(p, b->x->top);
}

static void
put_up(builder *b) {
  uint32_t parent = 0, before = b->before;
  for (uint32_t k = 0; k < b->plan->n_loops; k++) {
    const po_loop *l = &b->plan->loop[k];
    const char *wish =
        bs_arena_printf(&b->p->arena, l->within ? "i%u" : "o%u", l->dim);
    parent = po_nest_add_loop(b->p, parent, before, po_nest_fresh(b->p, wish));
    b->loop[k] = parent;
    before = PO_NO_NODE;
  }
  for (uint32_t k = 0; k < b->x->n_stmts; k++) {
    po_nest_add_leaf(b->p, parent, before, b->x->stmts[k]);
    retime(b, b->x->stmts[k]);
  }
}

/* What of the nest stands right below the loops of a level. */
static uint32_t
node_at(const builder *b, uint32_t level) {
  assert(level <= b->plan->n_loops);
  return level < b->plan->n_loops ? b->loop[level]
                                  : b->p->stmts.data[b->x->stmts[0]].leaf;
}

static void
put_moves(builder *b, uint32_t v) {
  assert(v < b->x->n_values);
  const po_value *value = &b->x->value[v];
  uint32_t level = b->plan->level[v];
  uint32_t parent = level ? b->loop[level - 1] : 0;
  if (value->loaded)
    add_moves(b, v, &value->in, true, parent, node_at(b, level));
  if (value->stored)
    add_moves(b, v, &value->out, false, parent, level ? PO_NO_NODE : b->before);
}

void
po_build_calls(const po_calls *x, const po_plan *plan, const po_room *room) {
  builder b = {.x = x, .plan = plan, .room = room, .p = x->p};
  take_down(&b);
  put_up(&b);
  for (uint32_t v = 0; v < x->n_values; v++)
    if (x->value[v].memory)
      make_array(&b, v);
  for (uint32_t k = 0; k < x->n_stmts; k++)
    point_to_values(&b, x->stmts[k]);
  for (uint32_t v = 0; v < x->n_values; v++)
    if (x->value[v].memory)
      put_moves(&b, v);
}
