/* SPDX-License-Identifier: MIT */
/* fit_build.c - an assignment as a term: each operand cut into parts and put in
 * the order in which the calls take them, the call, and its result put together
 * again.
 *
 * A part is what a digit of the instruction takes of a digit of the
 * computation, or what is iterated of it; sizes of 1 are none. */
#include "rules/instr/fit_build.h"
#include <assert.h>
#include <string.h>

/* ---- nodes ---- */

void
fit_add_node(building *b, gs_op op, bs_value attr, const eg_class *kids,
             const gs_type *const *types, uint32_t n) {
  assert(op < GS_OP_COUNT && (kids || !n));
  rl_session *s = b->m->session;
  gs_fault fault;
  if (b->failed)
    return;
  b->failed =
      !gs_infer(s->ctx.values, s->target, op, attr, types, n, &b->type, &fault);
  if (b->failed)
    return;
  if (b->mode == FIT_PRICE)
    return;
  b->cls = b->mode == FIT_ADD ? eg_add(b->m->graph, op, attr, kids, n)
                              : eg_lookup(b->m->graph, op, attr, kids, n);
  b->failed = b->cls.i == UINT32_MAX;
}

void
fit_add_view(building *b, gs_op op, const bs_value *items, uint32_t n) {
  gs_type type = b->type;
  const gs_type *types[1] = {&type};
  eg_class kid = b->cls;
  fit_add_node(b, op, bs_list(b->m->session->ctx.values, items, n), &kid, types,
               1);
}

static void
set_access(building *b, uint32_t n) {
  assert(n <= b->type.rank);
  bs_value item = bs_int(b->m->session->ctx.values, n);
  if (!b->failed && b->type.access != n)
    fit_add_view(b, GS_ACCESS, &item, 1);
}

/* How many of the leading dimensions have `want` elements; UINT32_MAX: none. */
static uint32_t
leading(const gs_type *type, int64_t want) {
  int64_t have = 1;
  uint32_t n = 0;
  while (have < want && n < type->rank)
    have *= type->dim[n++];
  return have == want ? n : UINT32_MAX;
}

static bool
has_dims(const gs_type *type, const int64_t *dim, uint32_t n) {
  return type->rank == n && (!n || !memcmp(type->dim, dim, n * sizeof *dim));
}

/* The term's elements in dimensions of other sizes, `access` of them in S.  Its
 * own division into S and C is kept where S has as many elements. */
void
fit_reshape(building *b, const int64_t *dim, uint32_t n, uint32_t access) {
  assert(access <= n && n <= GS_MAX_RANK);
  bs_values *values = b->m->session->ctx.values;
  if (b->failed)
    return;
  if (!has_dims(&b->type, dim, n)) {
    uint32_t from = leading(&b->type, gs_prod(dim, access)), to = access;
    if (from == UINT32_MAX) {
      from = b->type.rank;
      to = n;
    }
    set_access(b, from);
    bs_value items[2] = {bs_ints(values, dim, to),
                         bs_ints(values, dim + to, n - to)};
    fit_add_view(b, GS_RESHAPE, items, 2);
  }
  set_access(b, access);
}

static void
transpose(building *b, const int64_t *order, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  bool same = true;
  for (uint32_t k = 0; k < n; k++)
    same &= order[k] == k;
  bs_value item = bs_ints(b->m->session->ctx.values, order, n);
  if (!same)
    fit_add_view(b, GS_TRANSPOSE, &item, 1);
}

/* ---- parts ---- */

static void
put_part(parts *p, uint32_t atom, uint32_t id, int64_t size) {
  assert(size >= 1 && p->n <= MOST_PARTS);
  if (size == 1)
    return;
  if (p->n == MOST_PARTS) {
    p->failed = true;
    return;
  }
  p->at[p->n++] = (fit_part){(uint8_t)atom, (uint8_t)id, size};
}

void
fit_end_dim(parts *p, int64_t size) {
  assert(size >= 1 && p->n_dims <= MOST_PARTS);
  if (p->n_dims == MOST_PARTS)
    p->failed = true;
  else
    p->dim[p->n_dims++] = size;
}

/* All of an atom: what is iterated is the highest part. */
static void
put_atom(const building *b, uint32_t atom, parts *p) {
  put_part(p, atom, REST, b->a->rest[atom]);
  for (uint32_t j = 0; j < b->m->f->n_ids; j++)
    put_part(p, atom, j, b->a->part[atom][j]);
}

void
fit_list_of_atoms(const building *b, const fit_list *list, parts *out) {
  *out = (parts){0};
  for (uint32_t k = 0; k < list->n; k++)
    put_atom(b, list->atom[k], out);
}

void
fit_put_rest(const building *b, uint32_t atom, parts *p) {
  assert(atom < b->s->n);
  put_part(p, atom, REST, b->a->rest[atom]);
}

/* What all atoms give a digit of the instruction. */
static int64_t
put_id(const building *b, uint32_t id, parts *p) {
  assert(id < b->m->f->n_ids);
  int64_t all = 1;
  for (uint32_t i = 0; i < b->s->n; i++) {
    put_part(p, i, id, b->a->part[i][id]);
    all *= b->a->part[i][id];
  }
  return all;
}

/* As a call has it: dimensions of `over`, then those of the instruction. */
void
fit_list_of_call(const building *b, const fit_shape *shape, uint32_t bit,
                 parts *out) {
  assert(shape->rank <= GS_MAX_RANK);
  *out = (parts){0};
  for (uint32_t d = 0; d < b->over.n; d++) {
    bool has = bit == UINT32_MAX ? !b->over.sum[d] : b->over.has[d] >> bit & 1;
    if (!has)
      continue;
    put_part(out, b->of_over[d], REST, b->over.size[d]);
    fit_end_dim(out, b->over.size[d]);
  }
  for (uint32_t d = 0; d < shape->rank; d++) {
    int64_t size = 1;
    for (uint32_t k = 0; k < shape->n[d]; k++)
      size *= put_id(b, shape->id[d][k], out);
    fit_end_dim(out, size);
  }
}

static uint32_t
find_part(const parts *p, const fit_part *x) {
  uint32_t k = 0;
  while (k < p->n && (p->at[k].atom != x->atom || p->at[k].id != x->id))
    k++;
  return k;
}

/* Parts that are not there are repeated. */
static void
repeat_missing(building *b, const parts *from, const parts *to) {
  int64_t ones[MOST_PARTS], all[MOST_PARTS];
  bool missing = false;
  for (uint32_t k = 0; k < to->n; k++) {
    bool has = find_part(from, &to->at[k]) < from->n;
    all[k] = to->at[k].size;
    ones[k] = has ? all[k] : 1;
    missing |= !has;
  }
  if (!missing)
    return;
  fit_reshape(b, ones, to->n, to->n);
  bs_value item = bs_ints(b->m->session->ctx.values, all, to->n);
  fit_add_view(b, GS_BROADCAST, &item, 1);
}

/* The term, whose elements stand in the order of the parts `from`, in that of
 * `to`, `access` of its dimensions in S. */
void
fit_rearrange(building *b, const parts *from, const parts *to,
              uint32_t access) {
  assert(access <= to->n_dims);
  int64_t sizes[MOST_PARTS], order[MOST_PARTS];
  uint32_t n = 0;
  b->failed |= from->failed || to->failed;
  for (uint32_t k = 0; k < from->n; k++)
    sizes[k] = from->at[k].size;
  for (uint32_t k = 0; k < to->n; k++) {
    uint32_t at = find_part(from, &to->at[k]);
    if (at < from->n)
      order[n++] = at;
  }
  b->failed |= n != from->n;
  if (b->failed)
    return;
  gs_type cut = {.rank = (uint8_t)n};
  memcpy(cut.dim, sizes, n * sizeof *sizes);
  uint32_t at = leading(&cut, gs_prod(b->type.dim, b->type.access));
  fit_reshape(b, sizes, n, at == UINT32_MAX ? n : at);
  transpose(b, order, n);
  repeat_missing(b, from, to);
  fit_reshape(b, to->dim, to->n_dims, access);
}

/* ---- a slice ---- */

/* Which of the cuts is the digit's; FIT_SLICED: none. */
uint32_t
fit_cut_of(const building *b, uint32_t atom) {
  assert(atom < b->s->n);
  for (uint32_t k = 0; b->slice && k < b->slice->n; k++)
    if (b->slice->of[k].atom == atom)
      return k;
  return FIT_SLICED;
}

/* Of the whole that there is a slice of. */
int64_t
fit_whole_size(const building *b, uint32_t atom) {
  assert(atom < b->s->n);
  return b->s->atom[atom].size;
}

static bool
is_padded(const building *b, uint32_t atom) {
  uint32_t k = fit_cut_of(b, atom);
  return k < FIT_SLICED && b->slice->of[k].size > fit_whole_size(b, atom);
}

static void
slice_dim(building *b, uint32_t d, uint32_t cut) {
  assert(cut < b->slice->n);
  bs_values *values = b->m->session->ctx.values;
  int64_t from = b->slice->of[cut].from, size = b->slice->of[cut].size;
  int64_t whole = fit_whole_size(b, b->slice->of[cut].atom);
  bs_value slice[3] = {bs_int(values, d), bs_int(values, from),
                       bs_int(values, from + size)};
  bs_value pad[4] = {bs_sym(values, "zero"), bs_int(values, d),
                     bs_int(values, 0), bs_int(values, size - whole)};
  if (size > whole)
    fit_add_view(b, GS_PAD, pad, 4);
  else
    fit_add_view(b, GS_SLICE, slice, 3);
}

/* An operand that has such digits, sliced. */
static void
slice_operand(building *b, const fit_list *list) {
  gs_type whole = {.rank = (uint8_t)list->n};
  bool any = false;
  for (uint32_t k = 0; k < list->n; k++) {
    whole.dim[k] = fit_whole_size(b, list->atom[k]);
    any |= fit_cut_of(b, list->atom[k]) < FIT_SLICED;
  }
  if (!any || b->failed)
    return;
  uint32_t access = leading(&whole, gs_prod(b->type.dim, b->type.access));
  fit_reshape(b, whole.dim, list->n, access == UINT32_MAX ? list->n : access);
  for (uint32_t k = 0; k < list->n; k++)
    if (fit_cut_of(b, list->atom[k]) < FIT_SLICED)
      slice_dim(b, k, fit_cut_of(b, list->atom[k]));
}

/* ---- where elements lie ---- */

/* The distance of each part's values, of an array that is a row of atoms; 0:
 * there is no single one. */
static void
strides_of(const building *b, const fit_list *list, const parts *p,
           const fit_lie *lie, int64_t *stride) {
  int64_t low = 1;
  uint32_t k = p->n;
  for (uint32_t i = list->n; i-- > 0;) {
    int64_t whole = fit_whole_size(b, list->atom[i]), inside = 1;
    for (; k > 0 && p->at[k - 1].atom == list->atom[i]; k--) {
      int64_t size = p->at[k - 1].size;
      stride[k - 1] = fit_cut_of(b, list->atom[i]) < FIT_SLICED
                          ? fit_flat_stride(lie, low, whole) * inside
                          : fit_flat_stride(lie, low * inside, size);
      inside *= size;
    }
    low *= whole;
  }
}

static const fit_list *
atoms_of(const building *b, uint32_t k) {
  assert(k <= b->m->f->instr->n_operands);
  return k < b->m->f->instr->n_operands ? &b->s->operand[k] : &b->s->result;
}

/* Of dimension d of what a call sees its distance, -1: none; *size: its size.
 * What the array lacks is the same all along it. */
static int64_t
stride_of_dim(const building *b, const fit_shape *shape, uint32_t d,
              const parts *p, const int64_t *stride, int64_t *size) {
  parts own = {0};
  int64_t all = 0;
  uint32_t missing = 0;
  *size = 1;
  for (uint32_t k = 0; k < shape->n[d]; k++)
    put_id(b, shape->id[d][k], &own);
  for (uint32_t k = own.n; k-- > 0; *size *= own.at[k].size) {
    uint32_t at = find_part(p, &own.at[k]);
    int64_t here = at < p->n ? stride[at] : 0;
    missing += at == p->n;
    if (at < p->n && (!here || (all && here != all * *size)))
      return -1;
    all = all ? all : here;
  }
  return !own.n ? 1 : missing && missing < own.n ? -1 : all;
}

/* Other calls leave such tiles of the operand in its memory. */
static bool
is_left(const building *b, uint32_t k, const int64_t *dim, const int64_t *step,
        uint32_t rank) {
  const fit_left *left = &b->m->left;
  bool found = false;
  for (uint32_t i = 0; k == 0 && i < left->n && !found; i++) {
    const fit_tile *tile = &left->tile[i];
    found = tile->rank == rank;
    for (uint32_t d = 0; d < rank && found; d++)
      found = dim[d] == 1 || tile->size[d] == 1 || step[d] == tile->step[d];
  }
  return found;
}

/* Whether parts in the order `p` can be brought as operand k, or as the result,
 * without a copy by the host. */
bool
fit_lies_well(const building *b, const fit_shape *shape, uint32_t k,
              const parts *p, const fit_lie *lie) {
  int64_t stride[MOST_PARTS], dim[GS_MAX_RANK], step[GS_MAX_RANK];
  const fit_list *list = atoms_of(b, k);
  for (uint32_t i = 0; i < list->n; i++)
    if (is_padded(b, list->atom[i]))
      return false;
  strides_of(b, list, p, lie, stride);
  for (uint32_t i = 0; i < p->n; i++)
    if (p->at[i].id == REST && !stride[i])
      return false;
  for (uint32_t d = 0; d < shape->rank; d++) {
    step[d] = stride_of_dim(b, shape, d, p, stride, &dim[d]);
    if (step[d] < 0)
      return false;
  }
  return is_left(b, k, dim, step, shape->rank) ||
         fit_can_bring(b->m->session->target, b->m->f->instr, k, dim, step,
                       shape->rank);
}

/* The array that the host makes of a term. */
void
fit_copy(building *b) {
  gs_type type = b->type;
  const gs_type *types[1] = {&type};
  eg_class kid = b->cls;
  fit_add_node(b, GS_MATERIALIZE, bs_list(b->m->session->ctx.values, NULL, 0),
               &kid, types, 1);
  b->copied += (double)gs_elements(&type);
}

/* ---- the iteration space ---- */

static void
put_over(building *b, uint32_t atom) {
  assert(atom < b->s->n);
  gs_over *o = &b->over;
  if (b->a->rest[atom] == 1)
    return;
  if (o->n == GS_MAX_RANK) {
    b->failed = true;
    return;
  }
  b->of_over[o->n] = (uint8_t)atom;
  o->size[o->n] = b->a->rest[atom];
  o->sum[o->n] =
      b->s->atom[atom].group && !fit_is_staged(b->m->f, &b->s->atom[atom]);
  o->has[o->n++] = b->s->atom[atom].operands;
}

/* In the order of the result, then what is added over.  What no operand has is
 * repeated when all calls are done. */
void
fit_find_over(building *b) {
  for (uint32_t k = 0; k < b->s->result.n; k++)
    if (b->s->atom[b->s->result.atom[k]].operands)
      put_over(b, b->s->result.atom[k]);
  for (uint32_t i = 0; i < b->s->n; i++)
    if (b->s->atom[i].group)
      put_over(b, i);
}

/* ---- the call ---- */

/* Dimensions that are plain names tell these. */
static void
bind_sizes(const building *b, uint32_t *slots) {
  const gs_instr *instr = b->m->f->instr;
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++) {
      const gs_expr *e = instr->operands[k].dims[d];
      parts p = {0};
      int64_t size = 1;
      for (uint32_t i = 0; i < b->m->f->operand[k].n[d]; i++)
        size *= put_id(b, b->m->f->operand[k].id[d][i], &p);
      if (e->kind == GS_X_VAR && slots[e->slot] == UINT32_MAX)
        slots[e->slot] = bs_int(b->m->session->ctx.values, size).i;
    }
}

bs_value
fit_call_attr(building *b, const gs_instr *instr, const uint32_t *slot_of,
              const gs_over *over, const gs_instr *into) {
  bs_values *values = b->m->session->ctx.values;
  bs_value items[GS_MAX_INSTR_VARS + 2];
  uint32_t slots[GS_MAX_INSTR_VARS], n = 0;
  memcpy(slots, b->m->slots, sizeof slots);
  bind_sizes(b, slots);
  items[n++] = bs_sym(values, instr->name);
  for (uint32_t k = 0; k < instr->n_params && !b->failed; k++) {
    uint32_t slot = slot_of ? slot_of[k] : k;
    b->failed = slot == UINT32_MAX || slots[slot] == UINT32_MAX;
    items[n++] = b->failed ? BS_NIL : (bs_value){slots[slot]};
  }
  if (over->n)
    items[n++] = fit_over_value(values, instr, over, into);
  return b->failed ? BS_NIL : bs_list(values, items, n);
}

/* The parts of an operand as one place sees it, and the order in which a call
 * takes them. */
static void
list_of_place(const building *b, uint32_t k, parts *from, parts *to) {
  fit_list_of_atoms(b, &b->s->operand[k], from);
  fit_list_of_call(b, &b->m->f->operand[k], k, to);
}

/* Whether all places that see one operand ask for the same term. */
static bool
are_alike(const building *b, uint32_t k, uint32_t other) {
  parts from[2], to[2];
  list_of_place(b, k, &from[0], &to[0]);
  list_of_place(b, other, &from[1], &to[1]);
  bool alike = from[0].n == from[1].n && to[0].n == to[1].n &&
               to[0].n_dims == to[1].n_dims &&
               !memcmp(to[0].dim, to[1].dim, to[0].n_dims * sizeof *to[0].dim);
  for (uint32_t i = 0; alike && i < from[0].n; i++)
    alike = from[0].at[i].size == from[1].at[i].size;
  for (uint32_t i = 0; alike && i < to[0].n; i++)
    alike =
        to[0].at[i].size == to[1].at[i].size &&
        find_part(&from[0], &to[0].at[i]) == find_part(&from[1], &to[1].at[i]);
  return alike;
}

void
fit_build_operand(building *b, uint32_t k) {
  assert(k < b->m->f->instr->n_operands);
  const fit_match *m = b->m;
  parts from, to;
  uint32_t leads = 0;
  const fit_wide *wide = b->slice ? b->slice->wide : NULL;
  b->cls = wide ? wide->cls : m->leaf[k];
  b->type = wide ? wide->type
                 : *rl_type_of(m->session, rl_facts_of(m->graph, b->cls)->type);
  for (uint32_t d = 0; d < b->over.n; d++)
    leads += b->over.has[d] >> k & 1;
  list_of_place(b, k, &from, &to);
  b->failed |= !wide && !to.failed &&
               !fit_can_come(m, &m->f->instr->operands[k], to.dim + leads);
  bool asked = !wide && (m->f->in_memory || m->f->staged);
  bool lies =
      !asked || fit_lies_well(b, &m->f->operand[k], k, &from, &m->lie[k]);
  bool well = lies || !m->f->in_memory || fit_turn(b, k, &from, &to);
  if (!wide)
    slice_operand(b, &b->s->operand[k]);
  fit_rearrange(b, &from, &to, leads + m->f->instr->operands[k].access);
  if (!b->failed && !well)
    fit_copy(b);
  if (!b->failed && !lies && !m->f->in_memory)
    b->copied += (double)gs_elements(&b->type); /* lowering packs it */
}

/* What the calls take, so that assignments can be held against each other. */
double
fit_price_call(building *b, const gs_instr *instr, bs_value attr,
               const gs_type *const *types) {
  bs_values *values = b->m->session->ctx.values;
  uint32_t slots[GS_MAX_INSTR_VARS];
  gs_type result;
  gs_fault fault;
  double moved = 0;
  if (!gs_instr_bind(values, instr, attr, types, instr->n_operands, slots,
                     &result, &fault)) {
    b->failed = true;
    return 0;
  }
  for (uint32_t k = 0; k < instr->n_operands; k++)
    moved += (double)gs_elements(types[k]);
  double calls = gs_over_calls(&b->over);
  return calls * gs_instr_cost(instr, values, slots, "cycles", moved / calls);
}

bool
fit_has_sums(const gs_over *over) {
  bool sums = false;
  for (uint32_t d = 0; d < over->n; d++)
    sums |= over->sum[d];
  return sums;
}

/* Partial sums that the host adds would have to leave the memory one by one:
 * lowering finds no places for them. */
static bool
adds_on_host(const building *b, const gs_instr *into) {
  return fit_has_sums(&b->over) && !into && b->m->f->in_memory;
}

void
fit_build_call(building *b, const gs_instr *into, rl_fit *calls) {
  eg_class kids[FIT_OPERANDS];
  gs_type types[FIT_OPERANDS];
  const gs_type *at[FIT_OPERANDS];
  uint32_t n = b->m->f->instr->n_operands;
  bs_value attr = fit_call_attr(b, b->m->f->instr, NULL, &b->over, into);
  b->failed |= adds_on_host(b, into);
  for (uint32_t k = n; k < b->m->f->n_seen; k++)
    b->failed |= !are_alike(b, b->m->f->seen_as[k], k);
  for (uint32_t k = 0; k < n && !b->failed; k++) {
    fit_build_operand(b, k);
    kids[k] = b->cls;
    types[k] = b->type;
    at[k] = &types[k];
  }
  if (b->failed)
    return;
  *calls = (rl_fit){.attr = attr,
                    .cycles = fit_price_call(b, b->m->f->instr, attr, at)};
  fit_add_node(b, GS_CALL, attr, kids, at, n);
}
