/* SPDX-License-Identifier: MIT */
/* region_part.c - a region of a cut program as a program of its own, and its
 * key.
 *
 * Its terms are listed from its seams downwards, children first, so that equal
 * regions are listed alike wherever they stand; a term's number is its place in
 * that list.  A part may go back over several regions where what is looked for
 * spans them. */
#include "region/region.h"
#include "base/hash.h"
#include "glenside/type/op.h"

#include <assert.h>
#include <string.h>

enum { MOST_TERMS = 512 }; /* of a part that goes back over others */

/* ---- names and constants ---- */

static bs_value
name_of(const gs_program *p, uint32_t t) {
  assert(t < p->nodes.len);
  return bs_item(p->ctx.values, p->nodes.data[t].attr, 0);
}

static bool
starts(const char *name, const char *start) {
  return !strncmp(name, start, strlen(start));
}

/* Does a name of the program begin so? */
static bool
is_taken(const gs_program *p, const char *start) {
  bool any = false;
  for (uint32_t k = 0; k < p->lets.len; k++)
    any |= starts(p->lets.data[k].name, start);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    any |= starts(p->inputs.data[k].name, start);
  for (uint32_t k = 0; k < p->constants.len; k++)
    any |= starts(p->constants.data[k].name, start);
  return any;
}

static void
give_names(rg_parts *parts, bs_arena *arena) {
  const gs_program *p = parts->cut->p;
  uint32_t k = 0;
  for (uint32_t i = 0; i < p->lets.len; i++)
    bs_map_put_first(parts->cut->heap, &parts->named, p->lets.data[i].term.i,
                     i);
  parts->start = "seam.";
  while (is_taken(p, parts->start))
    parts->start = bs_arena_printf(arena, "seam%u.", ++k);
}

static size_t
bytes_of(const gs_constant *c) {
  return (size_t)gs_elements(&c->type) * gs_dtype_table[c->type.dtype].bytes;
}

static bool
same_elements(const gs_constant *a, const gs_constant *b) {
  return gs_type_equal(&a->type, &b->type) &&
         !memcmp(a->data, b->data, bytes_of(a));
}

/* Constants of equal elements are known by the first of them. */
static void
compare_constants(rg_parts *parts) {
  const gs_program *p = parts->cut->p;
  bs_heap *heap = parts->cut->heap;
  bs_map first = {0};
  parts->content =
      bs_alloc(heap, (p->constants.len + (size_t)1) * sizeof *parts->content);
  for (uint32_t k = 0; k < p->constants.len; k++) {
    const gs_constant *c = &p->constants.data[k];
    uint64_t hash = bs_hash(c->data, bytes_of(c));
    uint32_t at = bs_map_get(&first, hash);
    bool same = at != BS_NO_ENTRY && same_elements(&p->constants.data[at], c);
    parts->content[k] = same ? at : k;
    bs_map_put_first(heap, &first, hash, k);
    bs_map_put_first(heap, &parts->constants, bs_sym(p->ctx.values, c->name).i,
                     k);
  }
  bs_map_done(heap, &first);
}

/* ---- the seams of each region ---- */

static void
sort_seams(rg_parts *parts) {
  const rg_cut *cut = parts->cut;
  bs_heap *heap = cut->heap;
  uint32_t n = cut->p->nodes.len;
  parts->first = bs_calloc(heap, cut->n + (size_t)2, sizeof *parts->first);
  parts->seams = bs_alloc(heap, (n + (size_t)1) * sizeof *parts->seams);
  for (uint32_t t = 0; t < n; t++)
    if (cut->seam[t])
      parts->first[cut->of[t] + 2]++;
  for (uint32_t r = 2; r < cut->n + 2; r++)
    parts->first[r] += parts->first[r - 1];
  for (uint32_t t = 0; t < n; t++)
    if (cut->seam[t])
      parts->seams[parts->first[cut->of[t] + 1]++] = t;
}

void
rg_parts_init(rg_parts *parts, const rg_cut *cut, bs_arena *arena,
              const uint8_t *once, uint32_t reach) {
  assert(cut->p && cut->heap);
  uint32_t n = cut->p->nodes.len;
  bs_heap *heap = cut->heap;
  *parts = (rg_parts){.cut = cut, .once = once, .reach = reach};
  parts->number = bs_alloc(heap, (n + (size_t)1) * sizeof *parts->number);
  memset(parts->number, 0xff, (n + (size_t)1) * sizeof *parts->number);
  parts->within = bs_calloc(heap, n + (size_t)1, sizeof *parts->within);
  parts->uses = bs_calloc(heap, n + (size_t)1, sizeof *parts->uses);
  sort_seams(parts);
  give_names(parts, arena);
  compare_constants(parts);
}

void
rg_parts_done(rg_parts *parts) {
  bs_heap *heap = parts->cut->heap;
  bs_vec_done(heap, &parts->next);
  bs_vec_done(heap, &parts->todo);
  bs_vec_done(heap, &parts->order);
  bs_vec_done(heap, &parts->inner);
  bs_map_done(heap, &parts->named);
  bs_map_done(heap, &parts->constants);
  bs_free(heap, parts->content);
  bs_free(heap, parts->uses);
  bs_free(heap, parts->seams);
  bs_free(heap, parts->first);
  bs_free(heap, parts->within);
  bs_free(heap, parts->number);
}

void
rg_ends_done(bs_heap *heap, rg_ends *ends) {
  bs_vec_done(heap, &ends->inputs);
  bs_vec_done(heap, &ends->constants);
  bs_vec_done(heap, &ends->outputs);
  bs_vec_done(heap, &ends->all);
}

/* ---- what is in a part ---- */

static void
enter(rg_parts *parts, uint32_t t, uint32_t r, uint32_t left) {
  const rg_cut *cut = parts->cut;
  const gs_node *n = &cut->p->nodes.data[t];
  parts->within[t] = left;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    uint32_t kid = n->kids[k].i;
    bool beyond = cut->seam[kid] && cut->of[kid] != r;
    if (rg_is_leaf(&cut->p->nodes.data[kid]) || parts->within[kid])
      continue;
    if (beyond)
      bs_push(cut->heap, &parts->next, kid);
    else
      bs_push(cut->heap, &parts->todo, kid);
  }
}

/* Marks what is within reach, those that may still go furthest first. */
static void
mark(rg_parts *parts, uint32_t r, uint32_t reach) {
  const rg_cut *cut = parts->cut;
  bs_clear(&parts->next);
  for (uint32_t k = parts->first[r]; k < parts->first[r + 1]; k++)
    bs_push(cut->heap, &parts->next, parts->seams[k]);
  for (uint32_t left = reach; left; left--) {
    bs_clear(&parts->todo);
    for (uint32_t k = 0; k < parts->next.len; k++)
      bs_push(cut->heap, &parts->todo, parts->next.data[k]);
    bs_clear(&parts->next);
    while (parts->todo.len) {
      uint32_t t = bs_pop(&parts->todo);
      if (parts->within[t])
        continue;
      enter(parts, t, r, left);
      bs_push(cut->heap, &parts->inner, t);
    }
  }
}

/* ---- slices of inputs ---- */

static void
count_uses(rg_parts *parts, uint32_t by) {
  const gs_program *p = parts->cut->p;
  for (uint32_t i = 0; i < parts->inner.len; i++) {
    const gs_node *n = &p->nodes.data[parts->inner.data[i]];
    for (uint32_t k = 0; k < n->n_kids; k++)
      parts->uses[n->kids[k].i] += by;
  }
}

static bool
is_alone(const rg_parts *parts, uint32_t t, uint32_t r) {
  assert(t < parts->cut->p->nodes.len);
  const gs_node *n = &parts->cut->p->nodes.data[t];
  return n->op == GS_SLICE && parts->within[t] &&
         !parts->within[n->kids[0].i] && parts->uses[n->kids[0].i] == 1 &&
         !(parts->cut->seam[t] && parts->cut->of[t] == r);
}

/* A slice of what nobody else in the part reads is the input itself: so the
 * heads of an attention are alike, each of which has a slice of its own.
 * Inner terms stand in the order they were met in, mostly parents first. */
static void
take_slices(rg_parts *parts, uint32_t r) {
  enum { MOST_PASSES = 8 };
  bool more = true;
  count_uses(parts, 1);
  for (int pass = 0; pass < MOST_PASSES && more; pass++) {
    more = false;
    for (uint32_t i = parts->inner.len; i-- > 0;)
      if (is_alone(parts, parts->inner.data[i], r)) {
        parts->within[parts->inner.data[i]] = 0;
        more = true;
      }
  }
  count_uses(parts, UINT32_MAX);
}

static void
forget(rg_parts *parts) {
  for (uint32_t k = 0; k < parts->order.len; k++)
    parts->number[parts->order.data[k]] = RG_NONE;
  for (uint32_t k = 0; k < parts->inner.len; k++)
    parts->within[parts->inner.data[k]] = 0;
  bs_clear(&parts->order);
  bs_clear(&parts->inner);
}

/* Lists the terms below one of the part, children first. */
static void
list_below(rg_parts *parts, uint32_t root) {
  const gs_program *p = parts->cut->p;
  bs_heap *heap = parts->cut->heap;
  bs_push(heap, &parts->todo, root);
  while (parts->todo.len) {
    uint32_t t = bs_last(&parts->todo), before = parts->todo.len;
    const gs_node *n = &p->nodes.data[t];
    for (uint32_t k = n->n_kids; parts->within[t] && k-- > 0;)
      if (parts->number[n->kids[k].i] == RG_NONE)
        bs_push(heap, &parts->todo, n->kids[k].i);
    if (parts->todo.len > before)
      continue;
    parts->todo.len--;
    if (parts->number[t] != RG_NONE)
      continue;
    parts->number[t] = parts->order.len;
    bs_push(heap, &parts->order, t);
  }
}

static void
list(rg_parts *parts, uint32_t r) {
  bs_clear(&parts->todo);
  for (uint32_t k = parts->first[r]; k < parts->first[r + 1]; k++)
    list_below(parts, parts->seams[k]);
}

/* ---- its key and its ends ---- */

/* An input of the part, where it is no constant. */
static bool
is_end(const rg_parts *parts, uint32_t t) {
  return !parts->within[t];
}

static uint32_t
constant_of(const rg_parts *parts, uint32_t t) {
  return bs_map_get(&parts->constants, name_of(parts->cut->p, t).i);
}

static void
put_words(rg_parts *parts, uint32_t t, bs_key *key) {
  assert(t < parts->cut->p->nodes.len);
  bs_heap *heap = parts->cut->heap;
  const gs_node *n = &parts->cut->p->nodes.data[t];
  if (n->op == GS_CONST) {
    bs_push(heap, &key->words, GS_CONST);
    bs_push(heap, &key->words, parts->content[constant_of(parts, t)]);
  } else if (is_end(parts, t)) {
    bs_push(heap, &key->words, GS_TENSOR);
    bs_push(heap, &key->words, n->type.i);
    bs_push(heap, &key->words, parts->once && parts->once[t]);
  } else {
    bs_push(heap, &key->words, n->op);
    bs_push(heap, &key->words, n->attr.i);
    bs_push(heap, &key->words, n->n_kids);
    for (uint32_t k = 0; k < n->n_kids; k++)
      bs_push(heap, &key->words, parts->number[n->kids[k].i]);
  }
}

static void
note_ends(rg_parts *parts, uint32_t r, rg_ends *ends) {
  bs_heap *heap = parts->cut->heap;
  for (uint32_t k = 0; k < parts->order.len; k++) {
    uint32_t t = parts->order.data[k];
    bs_push(heap, &ends->all, ((gs_term){t}));
    if (parts->cut->p->nodes.data[t].op == GS_CONST)
      bs_push(heap, &ends->constants, ((gs_term){t}));
    else if (is_end(parts, t))
      bs_push(heap, &ends->inputs, ((gs_term){t}));
  }
  for (uint32_t k = parts->first[r]; k < parts->first[r + 1]; k++)
    bs_push(heap, &ends->outputs, ((gs_term){parts->seams[k]}));
}

void
rg_list(rg_parts *parts, uint32_t r, bs_key *key, rg_ends *ends) {
  bs_heap *heap = parts->cut->heap;
  forget(parts);
  mark(parts, r, parts->reach);
  if (parts->inner.len > MOST_TERMS && parts->reach > 1) {
    forget(parts);
    mark(parts, r, 1);
  }
  take_slices(parts, r);
  list(parts, r);
  for (uint32_t k = 0; k < parts->order.len; k++)
    put_words(parts, parts->order.data[k], key);
  bs_push(heap, &key->words, UINT32_MAX);
  for (uint32_t k = parts->first[r]; k < parts->first[r + 1]; k++)
    bs_push(heap, &key->words, parts->number[parts->seams[k]]);
  note_ends(parts, r, ends);
}

/* ---- as a program ---- */

static const char *
let_of(const rg_parts *parts, uint32_t t) {
  uint32_t let = bs_map_get(&parts->named, t);
  return let == BS_NO_ENTRY ? NULL : parts->cut->p->lets.data[let].name;
}

static const char *
seam_name(const rg_parts *parts, bs_arena *arena, uint32_t t) {
  const char *own = let_of(parts, t);
  return own ? own : bs_arena_printf(arena, "%s%u", parts->start, t);
}

/* A seam's dimensions are cut into items by a view. */
static gs_term
make_input(const rg_parts *parts, gs_program *out, uint32_t t) {
  const gs_node *n = &parts->cut->p->nodes.data[t];
  bs_values *values = out->ctx.values;
  gs_type type;
  gs_fault fault;
  gs_type_read(values, n->type, &type);
  uint32_t access = type.access;
  const char *name = n->op == GS_TENSOR
                         ? bs_as_sym(values, name_of(parts->cut->p, t))
                         : seam_name(parts, out->ctx.arena, t);
  type.access = type.rank;
  gs_term tensor = gs_add_tensor(out, name, &type, n->span);
  if (access == type.rank || !gs_term_ok(tensor))
    return tensor;
  bs_value attr = bs_int(values, access);
  return gs_add(out, GS_ACCESS, bs_list(values, &attr, 1), &tensor, 1, n->span,
                &fault);
}

static gs_term
make_constant(const rg_parts *parts, gs_program *out, uint32_t t) {
  const gs_constant *c = &parts->cut->p->constants.data[constant_of(parts, t)];
  return gs_add_constant(out, c->name, &c->type, c->data,
                         parts->cut->p->nodes.data[t].span);
}

static gs_term
make_node(const rg_parts *parts, gs_program *out, uint32_t t,
          const gs_term *made) {
  const gs_node *n = &parts->cut->p->nodes.data[t];
  gs_term few[8] = {{0}}, *kids = few;
  gs_fault fault;
  if (n->n_kids > 8)
    kids = bs_alloc(out->ctx.heap, n->n_kids * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = made[parts->number[n->kids[k].i]];
  gs_term term = gs_add(out, n->op, n->attr, kids, n->n_kids, n->span, &fault);
  if (kids != few)
    bs_free(out->ctx.heap, kids);
  return term;
}

static gs_term
make_term(const rg_parts *parts, rg_part *part, uint32_t t,
          const gs_term *made) {
  gs_program *out = part->program;
  if (parts->cut->p->nodes.data[t].op == GS_CONST)
    return make_constant(parts, out, t);
  if (!is_end(parts, t))
    return make_node(parts, out, t, made);
  gs_term term = make_input(parts, out, t);
  if (gs_term_ok(term) && parts->once && parts->once[t])
    part->same[part->n_same++] = bs_last(&out->inputs).name;
  return term;
}

bool
rg_make(const rg_parts *parts, uint32_t r, const gs_context *ctx,
        rg_part *part) {
  uint32_t n = parts->order.len;
  gs_term *made = bs_alloc(ctx->heap, (n + (size_t)1) * sizeof *made);
  bool ok = true;
  *part = (rg_part){.program = gs_program_new(ctx, parts->cut->p->target)};
  part->same = BS_NEWS(ctx->arena, const char *, n + (size_t)1);
  for (uint32_t k = 0; k < n && ok; k++) {
    made[k] = make_term(parts, part, parts->order.data[k], made);
    ok = gs_term_ok(made[k]);
  }
  for (uint32_t k = parts->first[r]; k < parts->first[r + 1] && ok; k++) {
    uint32_t t = parts->seams[k];
    gs_add_output(part->program, seam_name(parts, ctx->arena, t),
                  made[parts->number[t]], parts->cut->p->nodes.data[t].span);
  }
  bs_free(ctx->heap, made);
  return ok;
}
