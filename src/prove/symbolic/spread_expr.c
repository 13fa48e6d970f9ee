/* SPDX-License-Identifier: MIT */
/* spread_expr.c - expressions of a rule as sums of ranks, axes and lengths. */
#include "prove/symbolic/spread.h"

/* --- expressions ---------------------------------------------------------- */

static void
note_item(sp_walk *x, const sp_places *a) {
  if (x->lists)
    sp_note(x, a, 1, 0);
}

static const sp_places *
opaque(sp_walk *x) {
  x->factor = x->opaque == SP_OPAQUES ? SP_LARGE : x->factor;
  return sp_lone(x, SP_OPAQUE + (x->opaque == SP_OPAQUES ? 0 : x->opaque++));
}

static const sp_places *
rank_of(sp_walk *x, const gs_expr *e, uint32_t which) {
  return sp_lone(x, 3 * e->slot + which);
}

/* How a function's result follows from its arguments. */
enum {
  OF_SIZES, /* a size, or the truth: what is compared in it is all */
  OF_TERM,  /* the dimensions of a term, of its S, of its C */
  OF_TERM_ACCESS,
  OF_TERM_COMPUTE,
  OF_DIM, /* a size; an axis */
  FIRST,  /* as many as the first; the second; one more; one less */
  SECOND,
  MORE_THAN_FIRST,
  MORE_THAN_SECOND,
  LESS_THAN_FIRST,
  TAKEN,
  DROPPED,
  BETWEEN, /* the last two, differing */
  ADDED,
  SUBTRACTED,
  ANY, /* any of them */
  ANY_BUT_FIRST,
  COUNTED, /* as many as there are */
  COMPARED,
  COMPARED_STRICTLY,
  AN_ITEM
};

static const struct {
  gs_function_id id;
  int how;
} functions[] = {
    {GS_F_RANK, OF_TERM},
    {GS_F_AXES, OF_TERM},
    {GS_F_SHAPE, OF_TERM},
    {GS_F_LEN, FIRST},
    {GS_F_ACCESS_RANK, OF_TERM_ACCESS},
    {GS_F_ACCESS_SHAPE, OF_TERM_ACCESS},
    {GS_F_COMPUTE_RANK, OF_TERM_COMPUTE},
    {GS_F_COMPUTE_SHAPE, OF_TERM_COMPUTE},
    {GS_F_DIM, OF_DIM},
    {GS_F_IS_ZERO, OF_DIM},
    {GS_F_ADD, ADDED},
    {GS_F_APPEND, ADDED},
    {GS_F_SUB, SUBTRACTED},
    {GS_F_MIN, ANY},
    {GS_F_MAX, ANY},
    {GS_F_ABS, FIRST},
    {GS_F_IF, ANY_BUT_FIRST},
    {GS_F_LIST, COUNTED},
    {GS_F_CONS, MORE_THAN_SECOND},
    {GS_F_INSERT_NTH, MORE_THAN_FIRST},
    {GS_F_REMOVE_NTH, LESS_THAN_FIRST},
    {GS_F_SET_NTH, FIRST},
    {GS_F_REVERSE, FIRST},
    {GS_F_INVERT, FIRST},
    {GS_F_COMPOSE, SECOND},
    {GS_F_PERMUTE, SECOND},
    {GS_F_ADD_LISTS, FIRST},
    {GS_F_SUB_LISTS, FIRST},
    {GS_F_MUL_LISTS, FIRST},
    {GS_F_DIV_LISTS, FIRST},
    {GS_F_MOD_LISTS, FIRST},
    {GS_F_IOTA, FIRST},
    {GS_F_FILL, FIRST},
    {GS_F_RANGE, BETWEEN},
    {GS_F_SLICE_LIST, BETWEEN},
    {GS_F_TAKE, TAKEN},
    {GS_F_DROP, DROPPED},
    {GS_F_HALVINGS, COUNTED},
    {GS_F_CUTS, COUNTED},
    {GS_F_NTH, AN_ITEM},
    {GS_F_LAST, AN_ITEM},
    {GS_F_INDEX_OF, AN_ITEM},
    {GS_F_EQ, COMPARED},
    {GS_F_NE, COMPARED_STRICTLY},
    {GS_F_LT, COMPARED_STRICTLY},
    {GS_F_LE, COMPARED},
    {GS_F_GT, COMPARED_STRICTLY},
    {GS_F_GE, COMPARED},
    {GS_F_MEMBER, COMPARED},
    {GS_F_ALL_EQUAL, COMPARED},
};

static int
how_of(const gs_expr *e) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (functions[k].id == (gs_function_id)e->function)
      return functions[k].how;
  return OF_SIZES;
}

enum { ARGS = 4 }; /* that are told apart; sums and lists may have more */

/* Items that a list is made of, and indices into one. */
static void
note_parts(sp_walk *x, const gs_expr *e, const sp_places *const *a) {
  switch ((int)e->function) {
  case GS_F_CONS:
  case GS_F_IOTA:
    note_item(x, a[0]);
    return;
  case GS_F_FILL:
  case GS_F_RANGE:
    note_item(x, a[1]);
    return;
  case GS_F_SET_NTH:
  case GS_F_INSERT_NTH:
    note_item(x, a[2]);
    sp_compare(x, a[0], a[1], 0);
    return;
  case GS_F_NTH:
  case GS_F_REMOVE_NTH:
  case GS_F_TAKE:
  case GS_F_DROP:
    sp_compare(x, a[0], a[1], 0);
    return;
  case GS_F_SLICE_LIST:
    sp_compare(x, a[0], a[2], 0);
    return;
  }
}

static const sp_places *
sum_of(sp_walk *x, const gs_expr *e, int64_t sign) {
  const sp_places *out = sp_read(x, e->args[0]);
  if (e->n_args == 1 && sign < 0)
    return sp_plus(x, &sp_none, -1, out);
  for (uint32_t k = 1; k < e->n_args; k++) {
    const sp_places *one = sp_read(x, e->args[k]);
    out = sp_plus(x, out, sign, one);
  }
  return out;
}

static const sp_places *
any_of(sp_walk *x, const gs_expr *e, uint32_t from) {
  const sp_places *out = sp_read(x, e->args[from]);
  for (uint32_t k = from + 1; k < e->n_args; k++) {
    const sp_places *one = sp_read(x, e->args[k]);
    out = sp_either(x, out, one);
  }
  return out;
}

static const sp_places *
compared(sp_walk *x, const gs_expr *e, uint64_t strict) {
  const sp_places *last = sp_read(x, e->args[0]);
  for (uint32_t k = 1; k < e->n_args; k++) {
    const sp_places *one = sp_read(x, e->args[k]);
    sp_compare(x, last, one, strict);
    last = one;
  }
  return &sp_size;
}

/* Of a fixed number of arguments. */
static const sp_places *
read_fixed(sp_walk *x, const gs_expr *e, int of) {
  const sp_places *a[ARGS] = {&sp_none, &sp_none, &sp_none, &sp_none};
  for (uint32_t k = 0; k < e->n_args && k < ARGS; k++)
    if (!sp_is_class(e->args[k]))
      a[k] = sp_read(x, e->args[k]);
  note_parts(x, e, a);
  switch (of) {
  case SECOND:
    return a[1];
  case MORE_THAN_FIRST:
    return sp_shifted(x, a[0], 1);
  case MORE_THAN_SECOND:
    return sp_shifted(x, a[1], 1);
  case LESS_THAN_FIRST:
    return sp_shifted(x, a[0], -1);
  case TAKEN:
    return a[1];
  case DROPPED:
    return sp_plus(x, a[0], -1, a[1]);
  case BETWEEN:
    return e->n_args == 3 && (gs_function_id)e->function == GS_F_SLICE_LIST
               ? sp_plus(x, a[2], -1, a[1])
               : sp_plus(x, a[1], -1, a[0]);
  case OF_DIM: {
    const sp_places *rank = rank_of(x, e->args[0], SP_RANK);
    if (e->n_args > 1 && a[1]->n > 1) /* one axis alone asks for that rank */
      sp_compare(x, rank, a[1], 0);
    return &sp_size;
  }
  case AN_ITEM:
    return (gs_function_id)e->function != GS_F_INDEX_OF &&
                   pv_holds_sizes(x->is_size, e->args[0])
               ? &sp_size
               : opaque(x);
  default:
    return a[0];
  }
}

static const sp_places *
read_call(sp_walk *x, const gs_expr *e) {
  int of = how_of(e);
  bool term = e->n_args && sp_is_class(e->args[0]);
  switch (of) {
  case OF_TERM:
  case OF_TERM_ACCESS:
  case OF_TERM_COMPUTE:
    return !term ? sp_read(x, e->args[0])
                 : rank_of(x, e->args[0],
                           of == OF_TERM          ? SP_RANK
                           : of == OF_TERM_ACCESS ? SP_ACCESS
                                                  : SP_COMPUTE);
  case ADDED:
    return sum_of(x, e, 1);
  case SUBTRACTED:
    return sum_of(x, e, -1);
  case ANY:
    return any_of(x, e, 0);
  case ANY_BUT_FIRST:
    sp_read(x, e->args[0]);
    return any_of(x, e, 1);
  case COMPARED:
    return compared(x, e, 0);
  case COMPARED_STRICTLY:
    return compared(x, e, 1);
  case COUNTED:
  case OF_SIZES:
    for (uint32_t k = 0; k < e->n_args; k++) {
      const sp_places *item =
          sp_is_class(e->args[k]) ? &sp_size : sp_read(x, e->args[k]);
      if ((gs_function_id)e->function == GS_F_LIST)
        note_item(x, item);
    }
    return of == COUNTED ? sp_number(x, e->n_args) : &sp_size;
  default:
    return read_fixed(x, e, of);
  }
}

/* Lists in lists are nested no deeper than GS_MAX_NESTING. */
static void
note_items(sp_walk *x, bs_value list) {
  for (uint32_t k = 0; k < bs_len(x->values, list); k++) {
    bs_value v = bs_item(x->values, list, k);
    int64_t n = bs_as_int(x->values, v);
    uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (bs_kind_of(x->values, v) == BS_KIND_LIST)
      note_items(x, v);
    else if (x->items < SP_LARGE)
      x->items += size < SP_LARGE ? size : SP_LARGE;
  }
}

static const sp_places *
read_literal(sp_walk *x, bs_value v) {
  if (bs_kind_of(x->values, v) == BS_KIND_LIST) {
    if (x->lists && x->counts)
      note_items(x, v);
    return sp_number(x, bs_len(x->values, v));
  }
  return bs_kind_of(x->values, v) == BS_KIND_INT
             ? sp_number(x, bs_as_int(x->values, v))
             : &sp_size;
}

/* Expressions nest no deeper than GS_MAX_NESTING. */
const sp_places *
sp_read(sp_walk *x, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return read_literal(x, e->literal);
  if (e->kind == GS_X_CALL)
    return read_call(x, e);
  if (e->slot >= SP_SLOTS)
    return &sp_size;
  if (x->defined >> e->slot & 1)
    return x->of[e->slot];
  if (e->sort == GS_SORT_LIST)
    return sp_lone(x, SP_LENGTH + e->slot);
  return e->sort == GS_SORT_INT && !x->is_size[e->slot]
             ? sp_lone(x, SP_VALUE + e->slot)
             : &sp_size;
}
