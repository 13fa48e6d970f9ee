/* SPDX-License-Identifier: MIT */
/* target_memory.c - memories of an accelerator, and what lies in them.
 *
 * An operand lies in dram unless its declaration says `(in NAME)`. */
#include "base/whole.h"
#include "glenside/target/target_parse.h"
#include <assert.h>
#include <string.h>

#define LETTERS         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_CHARACTERS LETTERS "0123456789_"

/* ---- memories ---- */

const gs_memory *
gs_memory_at(const gs_target *t, uint32_t memory) {
  assert(memory <= t->memories.len);
  return memory ? &t->memories.data[memory - 1] : NULL;
}

uint32_t
gs_find_memory(const gs_target *t, const char *name) {
  for (uint32_t k = 0; k < t->memories.len; k++)
    if (!strcmp(t->memories.data[k].name, name))
      return k + 1;
  return 0;
}

const char *
gs_memory_name(const gs_target *t, uint32_t memory) {
  assert(memory <= t->memories.len);
  return memory ? t->memories.data[memory - 1].name : "dram";
}

int64_t
gs_memory_pitch(const gs_memory *m, gs_dtype dtype, int64_t last) {
  assert(m->row > 0 && last >= 0);
  int64_t bytes = gs_dtype_table[dtype].bytes;
  return m->row % bytes ? last : bs_round_up(last * bytes, m->row) / bytes;
}

int64_t
gs_memory_unit(const gs_memory *m) {
  assert(m->row > 0 && m->align > 0);
  int64_t unit = m->row;
  while (unit % m->align)
    unit += m->row;
  return unit;
}

int64_t
gs_memory_bytes(const gs_memory *m, gs_dtype dtype, const int64_t *dim,
                uint32_t rank) {
  assert(m->row > 0 && m->align > 0 && rank <= GS_MAX_RANK);
  int64_t n = gs_memory_pitch(m, dtype, rank ? dim[rank - 1] : 1);
  n *= gs_dtype_table[dtype].bytes;
  for (uint32_t d = 0; d + 1 < rank; d++)
    if (__builtin_mul_overflow(n, dim[d], &n) || n > INT64_MAX / 2)
      return INT64_MAX / 2;
  return bs_round_up(n, m->align);
}

static bool
check_memory(const target_parser *p, const gs_memory *m) {
  if (!m->bytes)
    return bs_error(p->ctx->diags, m->span, "missing-part",
                    "the memory '%s' needs (bytes N)", m->name);
  if (m->name[strspn(m->name, NAME_CHARACTERS)] || !strchr(LETTERS, *m->name))
    return bs_error(p->ctx->diags, m->span, "bad-name",
                    "'%s' is not a name of a memory: a letter, then letters, "
                    "digits and _",
                    m->name);
  if (!strcmp(m->name, "dram"))
    return bs_error(
        p->ctx->diags, m->span, "bad-name",
        "'dram' cannot be the name of a memory: it stands for what is in none");
  if (m->bytes % m->row || m->bytes % m->banks || m->bytes / m->banks % m->row)
    return bs_error(p->ctx->diags, m->span, "bad-value",
                    "the %lld bytes of '%s' are not a whole number of rows and "
                    "banks",
                    (long long)m->bytes, m->name);
  return true;
}

bool
target_add_memory(target_parser *p, const gs_memory *m) {
  uint32_t old = gs_find_memory(p->target, m->name);
  if (!check_memory(p, m))
    return false;
  if (old)
    p->target->memories.data[old - 1] = *m;
  else if (p->target->memories.len == MAX_MEMORIES)
    return bs_error(p->ctx->diags, m->span, "too-large",
                    "a target has at most %d memories", MAX_MEMORIES);
  else
    bs_push(p->ctx->heap, &p->target->memories, *m);
  return true;
}

/* ---- where operands lie ---- */

static bool
unknown_memory(const target_parser *p, uint32_t node, const char *name) {
  const char *names[MAX_MEMORIES + 1] = {"dram"};
  uint32_t n = 1;
  for (uint32_t k = 0; k < p->target->memories.len; k++)
    names[n++] = p->target->memories.data[k].name;
  bs_error(p->ctx->diags, target_at(p, node)->span, "unknown-memory",
           "no memory is named '%s'", name);
  const char *near = bs_nearest(name, names, n);
  if (near)
    bs_meant(p->ctx->diags, "'", near);
  else
    bs_hint(p->ctx->diags, "declare it first: (memory %s (bytes N))", name);
  return false;
}

static bool
is_given_twice(const target_parser *p, uint32_t node, const char *head) {
  return bs_error(p->ctx->diags, target_at(p, node)->span, "duplicate-name",
                  "'%s' is given twice", head);
}

static bool
read_in(const target_parser *p, uint32_t node, gs_operand *out) {
  const char *name = target_sym(p, node);
  if (out->memory)
    return is_given_twice(p, node, "in");
  out->memory = gs_find_memory(p->target, name);
  return out->memory || !strcmp(name, "dram") || unknown_memory(p, node, name);
}

static bool
read_onto(const target_parser *p, uint32_t node, const gs_instr *instr,
          uint32_t *onto) {
  const char *name = target_sym(p, node);
  if (*onto)
    return is_given_twice(p, node, "onto");
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (!strcmp(instr->operands[k].name, name))
      *onto = k + 1;
  return *onto || bs_error(p->ctx->diags, target_at(p, node)->span,
                           "unknown-name", "there is no operand '%s'", name);
}

/* A result in the place of an operand lies where that does, unless it says that
 * it lies elsewhere, which is an error later. */
bool
target_read_place(target_parser *p, uint32_t x, const gs_instr *instr,
                  gs_operand *out, uint32_t *onto) {
  bool ok = true, said = false;
  for (; x; x = target_next(p, x)) {
    const char *head = target_head(p, x);
    uint32_t name =
        head && target_at(p, x)->count == 2 ? target_next(p, x + 1) : 0;
    bool symbol = name && target_at(p, name)->kind == BS_SX_SYM;
    said |= symbol && !strcmp(head, "in");
    if (symbol && !strcmp(head, "in"))
      ok &= read_in(p, name, out);
    else if (symbol && onto && !strcmp(head, "onto"))
      ok &= read_onto(p, name, instr, onto);
    else
      ok = bs_error(p->ctx->diags, target_at(p, x)->span, "bad-value",
                    onto ? "only (in MEMORY) and (onto OPERAND) can follow "
                           "the type of a result"
                         : "only (in MEMORY) can follow the type of an "
                           "operand");
  }
  if (ok && !said && onto && *onto)
    out->memory = instr->operands[*onto - 1].memory;
  return ok;
}

/* ---- moves ---- */

/* One view around the operand; false where it is no transposition, and does not
 * repeat it. */
static bool
apply_view(const gs_context *ctx, const gs_sk_node *n, gs_instr *instr) {
  gs_env env = {.values = ctx->values};
  uint8_t before[GS_MAX_RANK];
  bs_value attr;
  if (n->op == GS_ACCESS || n->op == GS_BROADCAST)
    return true;
  if (n->op != GS_TRANSPOSE || !gs_skeleton_attr(n, &env, &attr))
    return false;
  bs_value list = bs_item(ctx->values, attr, 0);
  memcpy(before, instr->from, sizeof before);
  for (uint32_t d = 0; d < instr->result.rank; d++) {
    int64_t of = bs_as_int(ctx->values, bs_item(ctx->values, list, d));
    if (of < 0 || of >= instr->result.rank)
      return false;
    instr->from[d] = before[of];
  }
  return true;
}

static bool
is_one(const gs_context *ctx, const gs_expr *e) {
  int64_t n;
  return gs_expr_is_int(ctx->values, e, &n) && n == 1;
}

/* Where the operand has one of what the result has more of. */
static void
find_repeats(const gs_context *ctx, gs_instr *instr) {
  const gs_operand *from = &instr->operands[0], *to = &instr->result;
  instr->repeats = 0;
  for (uint32_t d = 0; d < to->rank && from->rank == to->rank; d++)
    if (is_one(ctx, from->dims[instr->from[d]]) && !is_one(ctx, to->dims[d]))
      instr->repeats |= 1u << d;
}

/* Along a dimension of the result that is the parameter; its rank: none. */
static uint32_t
repeated_by(const gs_instr *instr, uint32_t param) {
  uint32_t d = 0;
  for (; d < instr->result.rank; d++)
    if (instr->repeats >> d & 1 && instr->result.dims[d]->kind == GS_X_VAR &&
        instr->result.dims[d]->slot == param)
      break;
  return d;
}

/* What repeats reads dram, and its parameters say no more than how often. */
static bool
repeats_well(const gs_instr *instr) {
  bool well =
      !instr->repeats || (!instr->operands[0].memory && instr->result.memory);
  for (uint32_t k = 0; k < instr->n_params && well; k++)
    well = repeated_by(instr, k) < instr->result.rank;
  return well;
}

uint32_t
gs_move_dim(const gs_instr *i, bool result, uint32_t d) {
  assert(i->n_operands && d < i->result.rank);
  bool stores = i->operands[0].memory && !i->result.memory;
  uint32_t at = 0;
  if (result != stores)
    return d;
  if (!stores)
    return i->from[d];
  while (i->from[at] != d)
    at++;
  return at;
}

bool
gs_bind_piece(bs_values *values, const gs_instr *i, gs_dtype dtype,
              const int64_t *dim, const uint32_t *like, uint32_t *slots) {
  assert(i->n_operands && i->operands[0].rank <= GS_MAX_RANK);
  gs_type type = {.access = i->operands[0].access,
                  .rank = i->operands[0].rank,
                  .dtype = dtype};
  const gs_type *kid = &type;
  gs_type result;
  gs_fault fault;
  bs_value attr[GS_MAX_INSTR_VARS + 1] = {bs_sym(values, i->name)};
  for (uint32_t d = 0; d < i->result.rank; d++)
    type.dim[i->from[d]] = i->repeats >> d & 1 ? 1 : dim[d];
  for (uint32_t k = 0; k < i->n_params; k++)
    if (i->moves)
      attr[k + 1] = bs_int(values, dim[repeated_by(i, k)]);
    else if (like)
      attr[k + 1] = (bs_value){like[k]};
  return gs_instr_bind(values, i, bs_list(values, attr, 1 + i->n_params), &kid,
                       1, slots, &result, &fault) &&
         !memcmp(result.dim, dim, i->result.rank * sizeof *dim);
}

bool
gs_next_piece(const int64_t *dim, uint32_t rank, int64_t *piece) {
  assert(rank <= GS_MAX_RANK);
  for (uint32_t d = 0; d < rank; d++) {
    if (piece[d] > 1) {
      for (piece[d]--; dim[d] % piece[d];)
        piece[d]--;
      return true;
    }
    piece[d] = dim[d];
  }
  return false;
}

bool
gs_takes_tile(bs_values *values, const gs_instr *i, gs_dtype dtype,
              const int64_t *dim, uint32_t rank) {
  int64_t piece[GS_MAX_RANK], at[GS_MAX_RANK];
  uint32_t slots[GS_MAX_INSTR_VARS], n = i->result.rank;
  assert(rank <= GS_MAX_RANK && n <= GS_MAX_RANK);
  memcpy(piece, dim, rank * sizeof *piece);
  do {
    for (uint32_t d = 0; d < n; d++)
      at[d] = d + rank >= n ? piece[d + rank - n] : 1;
    if (gs_bind_piece(values, i, dtype, at, NULL, slots))
      return true;
  } while (gs_next_piece(dim, rank, piece));
  return false;
}

static void
move_straight(gs_instr *instr) {
  for (uint32_t d = 0; d < GS_MAX_RANK; d++)
    instr->from[d] = (uint8_t)d;
}

void
target_find_moves(const gs_context *ctx, gs_instr *instr) {
  assert(instr->semantics && instr->semantics->n);
  const gs_skeleton *s = instr->semantics;
  instr->moves = instr->n_operands == 1 && s->nodes[0].hole;
  move_straight(instr);
  for (uint32_t k = 1; k < s->n && instr->moves; k++)
    instr->moves = !s->nodes[k].hole && apply_view(ctx, &s->nodes[k], instr);
  if (instr->moves)
    find_repeats(ctx, instr);
  instr->moves = instr->moves && repeats_well(instr);
  instr->repeats = instr->moves ? instr->repeats : 0;
  if (!instr->moves)
    move_straight(instr);
}

/* ---- conversions ---- */

static bool
is_pointwise(const gs_context *ctx, const gs_sk_node *n) {
  gs_compute op;
  if (n->op == GS_ACCESS)
    return true;
  if (n->hole || n->op != GS_COMPUTE)
    return false;
  const gs_expr *e = n->attrs[0];
  if (e->kind == GS_X_CALL && e->n_args)
    e = e->args[0];
  if (e->kind != GS_X_LITERAL || !gs_compute_of(ctx->values, e->literal, &op))
    return false;
  return gs_compute_table[op].kind == GS_ELEMENTWISE ||
         gs_compute_table[op].kind == GS_CAST;
}

static bool
same_size(const gs_expr *a, const gs_expr *b) {
  if (a->kind != b->kind)
    return false;
  return a->kind == GS_X_VAR
             ? a->slot == b->slot
             : a->kind == GS_X_LITERAL && bs_same(a->literal, b->literal);
}

void
target_find_conversion(const gs_context *ctx, gs_instr *instr) {
  assert(instr->semantics && instr->semantics->n);
  const gs_skeleton *s = instr->semantics;
  const gs_operand *from = instr->operands, *to = &instr->result;
  bool fine = !instr->moves && instr->n_operands == 1 && from->memory &&
              from->rank == to->rank && s->nodes[0].hole;
  for (uint32_t k = 1; k < s->n && fine; k++)
    fine = is_pointwise(ctx, &s->nodes[k]);
  for (uint32_t d = 0; d < to->rank && fine; d++)
    fine = same_size(from->dims[d], to->dims[d]);
  instr->pointwise = fine;
  instr->converts = fine && !to->memory;
}
