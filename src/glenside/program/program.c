/* SPDX-License-Identifier: MIT */
/* program.c - the hash-consed term DAG.
 *
 * Terms are found by (operator, attribute, children) in an open-addressing
 * table of indices with linear probing, at most half full.  A term is added
 * only after its children, so index order is a topological order; terms are
 * never removed. */
#include "glenside/program/program.h"
#include "base/hash.h"
#include "base/map.h"
#include "glenside/type/sizes.h"
#include "glenside/type/view.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct gs_term_table {
  uint32_t *slots;         /* term index + 1; 0 = free */
  uint32_t size;           /* a power of two */
  BS_VEC(uint64_t) hashes; /* by term */
  bs_map lets;             /* name and term: that there is such a let */
  uint32_t n_lets;         /* so many of the program's are in `lets` */
  bs_map constants;        /* by hash of the name: the first of them */
  bs_map data;             /* by hash of the input's name: the first of them */
  bs_map kept_at;          /* by term: index of what is kept of it */
  BS_VEC(const gs_program *) kept;
} gs_term_table;

gs_program *
gs_program_new(const gs_context *ctx, const struct gs_target *target) {
  assert(ctx->heap && ctx->arena && ctx->values && ctx->diags);
  gs_program *p = BS_NEW(ctx->arena, gs_program);
  p->ctx = *ctx;
  p->target = target;
  p->table = BS_NEW(ctx->arena, gs_term_table);
  p->table->size = 64;
  p->table->slots = bs_calloc(ctx->heap, 64, sizeof(uint32_t));
  return p;
}

/* Attributes -------------------------------------------------------------- */

/* 2.0 is held as 2; -0.0 and what is not whole stay real. */
static bs_value
canonical_number(bs_values *values, bs_value v) {
  if (bs_kind_of(values, v) != BS_KIND_REAL)
    return v;
  double x = bs_as_real(values, v);
  bool whole = fabs(x) < 0x1p53 && x == floor(x) && !(x == 0 && signbit(x));
  return whole ? bs_int(values, (int64_t)x) : v;
}

/* A compute operator without parameters is a symbol; numbers are canonical. */
static bs_value
canonical_operator(bs_values *values, bs_value o) {
  bs_value items[8];
  uint32_t n = bs_kind_of(values, o) == BS_KIND_LIST ? bs_len(values, o) : 0;
  if (n == 0 || n > 8)
    return o;
  for (uint32_t k = 0; k < n; k++)
    items[k] = canonical_number(values, bs_item(values, o, k));
  return n == 1 ? items[0] : bs_list(values, items, n);
}

bs_value
gs_canonical_attr(bs_values *values, gs_op op, bs_value attr) {
  assert(op < GS_OP_COUNT);
  if (bs_kind_of(values, attr) == BS_KIND_NIL)
    return bs_list(values, NULL, 0);
  if (op != GS_COMPUTE || bs_kind_of(values, attr) != BS_KIND_LIST ||
      bs_len(values, attr) != 1)
    return attr;
  bs_value o = canonical_operator(values, bs_item(values, attr, 0));
  return bs_list(values, &o, 1);
}

/* The table --------------------------------------------------------------- */

static uint64_t
hash_of(gs_op op, bs_value attr, const gs_term *kids, uint32_t n) {
  uint64_t h[3] = {op, attr.i, n ? bs_hash(kids, n * sizeof *kids) : 0};
  return bs_hash(h, sizeof h);
}

static bool
is_node(const gs_node *node, gs_op op, bs_value attr, const gs_term *kids,
        uint32_t n) {
  return node->op == op && bs_same(node->attr, attr) && node->n_kids == n &&
         (!n || !memcmp(node->kids, kids, n * sizeof *kids));
}

/* The slot of the node, or the free one where it belongs. */
static uint32_t *
find_slot(const gs_program *p, uint64_t hash, gs_op op, bs_value attr,
          const gs_term *kids, uint32_t n) {
  const gs_term_table *table = p->table;
  uint32_t mask = table->size - 1;
  for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
    uint32_t *slot = &table->slots[at];
    if (!*slot || (table->hashes.data[*slot - 1] == hash &&
                   is_node(&p->nodes.data[*slot - 1], op, attr, kids, n)))
      return slot;
  }
}

static void
grow(gs_program *p) {
  gs_term_table *table = p->table;
  uint32_t size = table->size * 2;
  uint32_t *slots = bs_calloc(p->ctx.heap, size, sizeof *slots);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    uint32_t at = (uint32_t)table->hashes.data[k] & (size - 1);
    while (slots[at])
      at = (at + 1) & (size - 1);
    slots[at] = k + 1;
  }
  bs_free(p->ctx.heap, table->slots);
  table->slots = slots;
  table->size = size;
}

/* Adding ------------------------------------------------------------------ */

int64_t
gs_open_size(gs_program *p, const gs_size *size) {
  if (!p->sizes) {
    p->sizes = BS_NEW(p->ctx.arena, gs_sizes);
    gs_sizes_init(p->sizes, p->ctx.heap, p->ctx.values);
  }
  return gs_add_size(p->sizes, size);
}

void
gs_type_at(const gs_program *p, gs_term t, gs_type *out) {
  assert(t.i < p->nodes.len);
  gs_type_read(p->ctx.values, gs_at(p, t)->type, out);
}

void
gs_view_at(const gs_program *p, gs_term t, gs_view *out) {
  assert(gs_op_table[gs_at(p, t)->op].view);
  const gs_node *n = gs_at(p, t);
  assert(n->n_kids >= 1 && n->n_kids <= 2);
  gs_type type, kids[2];
  gs_type_at(p, t, &type);
  for (uint32_t k = 0; k < n->n_kids; k++)
    gs_type_at(p, n->kids[k], &kids[k]);
  if (p->sizes)
    p->sizes->attr = n->attr;
  gs_view_of(&(gs_viewed){.over = p->sizes ? &p->sizes->over : NULL,
                          .values = p->ctx.values,
                          .op = n->op,
                          .attr = n->attr,
                          .kids = (const gs_type *[]){&kids[0], &kids[1]},
                          .type = &type},
             out);
}

int64_t
gs_elements_at(const gs_program *p, gs_term t) {
  assert(gs_term_ok(t));
  gs_type type;
  gs_type_at(p, t, &type);
  for (uint32_t k = 0; p->sizes && k < type.rank; k++)
    type.dim[k] = gs_most_of(p->sizes, type.dim[k]);
  return gs_elements(&type);
}

/* The children's types; most terms have at most two. */
static bool
infer_node(gs_program *p, gs_op op, bs_value attr, const gs_term *kids,
           uint32_t n, gs_type *out, gs_fault *fault) {
  gs_type few[2], *types = few;
  const gs_type *few_at[2], **at = few_at;
  if (n > 2) {
    types = bs_alloc(p->ctx.heap, n * sizeof *types);
    at = bs_alloc(p->ctx.heap, n * sizeof *at);
  }
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(p, kids[k], &types[k]);
    at[k] = &types[k];
  }
  bool fine = gs_infer_sized(p->sizes, p->ctx.values, p->target, op, attr, at,
                             n, out, fault);
  if (n > 2) {
    bs_free(p->ctx.heap, types);
    bs_free(p->ctx.heap, at);
  }
  return fine;
}

gs_term
gs_add(gs_program *p, gs_op op, bs_value attr, const gs_term *kids, uint32_t n,
       bs_span span, gs_fault *fault) {
  assert(op < GS_OP_COUNT && (kids || !n));
  gs_type type;
  attr = gs_canonical_attr(p->ctx.values, op, attr);
  uint64_t hash = hash_of(op, attr, kids, n);
  uint32_t *slot = find_slot(p, hash, op, attr, kids, n);
  if (*slot)
    return (gs_term){*slot - 1};
  if (!infer_node(p, op, attr, kids, n, &type, fault))
    return GS_NO_TERM;
  gs_node node = {.op = op,
                  .n_kids = n,
                  .attr = attr,
                  .type = gs_type_intern(p->ctx.values, &type),
                  .kids = bs_arena_copy(p->ctx.arena, kids, n * sizeof *kids),
                  .span = span};
  bs_reserve(p->ctx.heap, &p->nodes, (uint64_t)p->nodes.len + 1);
  bs_push(p->ctx.heap, &p->table->hashes, hash);
  bs_push(p->ctx.heap, &p->nodes, node);
  *slot = p->nodes.len;
  if (p->nodes.len >= p->table->size / 2)
    grow(p);
  return (gs_term){p->nodes.len - 1};
}

gs_term
gs_add_like(gs_program *p, const gs_node *n, const gs_term *map) {
  gs_term few[8], *kids = few, made = GS_NO_TERM;
  bool ok = true;
  if (n->n_kids > 8)
    kids = bs_alloc(p->ctx.heap, n->n_kids * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids && ok; k++) {
    kids[k] = map[n->kids[k].i];
    ok = gs_term_ok(kids[k]);
  }
  if (ok)
    made = gs_add(p, n->op, n->attr, kids, n->n_kids, n->span, NULL);
  if (kids != few)
    bs_free(p->ctx.heap, kids);
  return made;
}

static gs_term
add_leaf(gs_program *p, gs_op op, const char *name, const gs_type *type,
         bs_span span) {
  bs_values *values = p->ctx.values;
  bs_value items[3] = {bs_sym(values, name),
                       bs_ints(values, type->dim, type->rank),
                       bs_sym(values, gs_dtype_table[type->dtype].name)};
  return gs_add(p, op, bs_list(values, items, 3), NULL, 0, span, NULL);
}

static gs_named
named(gs_program *p, const char *name, gs_term t, bs_span span) {
  return (gs_named){bs_arena_strdup(p->ctx.arena, name), t, span};
}

gs_term
gs_add_tensor(gs_program *p, const char *name, const gs_type *type,
              bs_span span) {
  assert(name && type->access <= type->rank);
  assert(gs_is_type(type));
  gs_term t = add_leaf(p, GS_TENSOR, name, type, span);
  if (gs_term_ok(t))
    bs_push(p->ctx.heap, &p->inputs, named(p, name, t, span));
  return t;
}

/* By the hash of a name. One that two names share is that of the first, from
 * which on a name is looked for. */
static void
put_first(const gs_program *p, bs_map *map, const char *name, uint32_t number) {
  bs_map_put_first(p->ctx.heap, map, bs_hash(name, strlen(name)), number);
}

static uint32_t
first_of(const bs_map *map, const char *name) {
  return bs_map_get(map, bs_hash(name, strlen(name)));
}

gs_term
gs_add_constant(gs_program *p, const char *name, const gs_type *type,
                const void *data, bs_span span) {
  assert(name && data);
  assert(gs_is_type(type) && type->access == type->rank);
  gs_term t = add_leaf(p, GS_CONST, name, type, span);
  if (!gs_term_ok(t))
    return t;
  size_t bytes = (size_t)gs_elements(type) * gs_dtype_table[type->dtype].bytes;
  gs_constant c = {.name = bs_arena_strdup(p->ctx.arena, name),
                   .type = *type,
                   .data = bs_arena_copy(p->ctx.arena, data, bytes)};
  c.type.access = c.type.rank;
  put_first(p, &p->table->constants, name, p->constants.len);
  bs_push(p->ctx.heap, &p->constants, c);
  return t;
}

static uint64_t
let_key(const gs_program *p, const char *name, gs_term t) {
  return (uint64_t)bs_sym(p->ctx.values, name).i << 32 | t.i;
}

/* Lets are only ever added, by the parser and here. */
static void
index_lets(gs_program *p) {
  gs_term_table *table = p->table;
  for (; table->n_lets < p->lets.len; table->n_lets++) {
    const gs_named *let = &p->lets.data[table->n_lets];
    bs_map_put_first(p->ctx.heap, &table->lets,
                     let_key(p, let->name, let->term), table->n_lets);
  }
}

/* A tensor, constant or let of this name stands for the term. */
static bool
names_term(gs_program *p, const char *name, gs_term t) {
  const gs_node *node = gs_at(p, t);
  if (node->op == GS_TENSOR || node->op == GS_CONST) {
    bs_value own = bs_item(p->ctx.values, node->attr, 0);
    if (!strcmp(bs_as_sym(p->ctx.values, own), name))
      return true;
  }
  index_lets(p);
  return bs_map_get(&p->table->lets, let_key(p, name, t)) != BS_NO_ENTRY;
}

void
gs_add_output(gs_program *p, const char *name, gs_term t, bs_span span) {
  assert(gs_term_ok(t));
  assert(name && t.i < p->nodes.len);
  if (!names_term(p, name, t))
    bs_push(p->ctx.heap, &p->lets, named(p, name, t, span));
  bs_push(p->ctx.heap, &p->outputs, named(p, name, t, span));
}

const gs_program **
gs_derived(const gs_program *p, uint32_t of) {
  gs_term_table *table = p->table;
  uint32_t at = bs_map_get(&table->kept_at, of);
  if (at != BS_NO_ENTRY)
    return &table->kept.data[at];
  assert(of == GS_WITHOUT_SCANS || of < p->nodes.len);
  bs_push(p->ctx.heap, &table->kept, NULL);
  bs_map_put(p->ctx.heap, &table->kept_at, of, table->kept.len - 1);
  return &bs_last(&table->kept);
}

const gs_constant *
gs_find_constant(const gs_program *p, const char *name) {
  for (uint32_t k = first_of(&p->table->constants, name); k < p->constants.len;
       k++)
    if (!strcmp(p->constants.data[k].name, name))
      return &p->constants.data[k];
  return NULL;
}

void
gs_add_data(gs_program *p, const gs_data *data) {
  assert(data->name && data->file && data->beside);
  bs_arena *arena = p->ctx.arena;
  gs_data copy = *data;
  copy.name = bs_arena_strdup(arena, data->name);
  copy.file = bs_arena_strdup(arena, data->file);
  copy.beside = bs_arena_strdup(arena, data->beside);
  copy.key = data->key ? bs_arena_strdup(arena, data->key) : NULL;
  copy.site = BS_NEW(arena, gs_data_site);
  *copy.site = data->site ? *data->site : (gs_data_site){0};
  put_first(p, &p->table->data, data->name, p->data.len);
  bs_push(p->ctx.heap, &p->data, copy);
}

const gs_data *
gs_find_data(const gs_program *p, const char *name) {
  for (uint32_t k = first_of(&p->table->data, name); k < p->data.len; k++)
    if (!strcmp(p->data.data[k].name, name))
      return &p->data.data[k];
  return NULL;
}

void
gs_copy_data(const gs_program *from, gs_program *to) {
  for (uint32_t k = 0; k < from->data.len; k++)
    gs_add_data(to, &from->data.data[k]);
}

const gs_constant *
gs_constant_of(const gs_program *p, bs_value attr) {
  assert(bs_len(p->ctx.values, attr) >= 1);
  const bs_values *values = p->ctx.values;
  return gs_find_constant(p, bs_as_sym(values, bs_item(values, attr, 0)));
}

gs_term
gs_copy_constant(const gs_program *from, bs_value attr, gs_program *to,
                 bs_span span) {
  const gs_constant *c = gs_constant_of(from, attr);
  return c ? gs_add_constant(to, c->name, &c->type, c->data, span) : GS_NO_TERM;
}

void
gs_mark_live(const gs_program *p, uint8_t *live) {
  if (p->nodes.len)
    memset(live, 0, p->nodes.len);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    live[p->outputs.data[k].term.i] = 1;
  for (uint32_t i = p->nodes.len; i-- > 0;)
    if (live[i])
      for (uint32_t k = 0; k < p->nodes.data[i].n_kids; k++)
        live[p->nodes.data[i].kids[k].i] = 1;
}
