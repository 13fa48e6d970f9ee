/* SPDX-License-Identifier: MIT */
/* read_body.c - accesses and the expressions of bodies.
 *
 *   sum  = term { (+ | -) term }         term = atom { (* | /) atom }
 *   atom = NUMBER | - NUMBER | lowest | highest | ARRAY [ ... ]
 *        | FUNCTION ( sum, ... ) | ( sum [: DTYPE] )
 *
 * Dtypes are found when the whole expression is there: the root has that of
 * the array written, a read that of its array, a cast its own, any other one
 * that of what is around it, or the one in its parentheses. */
#include "poly/text/text_read.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Expressions of one statement. */
#define MAX_EXPRS 4096

typedef struct reading {
  po_reader *r;
  po_read_expr *out;
  uint8_t height[MAX_EXPRS]; /* levels below; at most PO_MAX_NESTING */
} reading;

static bool read_sum(reading *, uint32_t *root);

/* ---- nodes ---- */

static bool
add(reading *x, const po_expr *e, isl_multi_aff *map, uint32_t *at) {
  bs_heap *heap = x->r->ctx.heap;
  uint32_t k = x->out->exprs.len, height = 1;
  for (uint32_t j = 0; j < e->n_kids; j++)
    if (x->height[e->kids[j]] + 1u > height)
      height = x->height[e->kids[j]] + 1u;
  if (k == MAX_EXPRS || height > PO_MAX_NESTING)
    return bs_error(x->r->ctx.diags, po_span_here(x->r), "too-large",
                    "the expression is too large");
  bs_push(heap, &x->out->exprs, *e);
  bs_push(heap, &x->out->maps, map);
  bs_push(heap, &x->out->told, 0);
  x->height[k] = (uint8_t)height;
  *at = k;
  return true;
}

static bool
add_literal(reading *x, double value, uint32_t *at) {
  return po_next_token(x->r) &&
         add(x, &(po_expr){.kind = PO_LITERAL, .literal = value}, NULL, at);
}

/* ---- accesses ---- */

/* E, E, ... ] after the bracket */
static bool
read_indices(po_reader *r, uint32_t rank, isl_multi_aff **map, uint32_t *n) {
  for (bool more = !po_is_symbol(r, "]"); more; ++*n) {
    isl_aff *aff;
    if (!po_read_aff(r, &aff) || !po_take_symbol(r, ",", &more))
      return false;
    po_pool_reserve(&r->pool, 1);
    if (*n < rank)
      *map = po_keep_multi_aff(
          &r->pool, isl_multi_aff_set_aff(isl_multi_aff_copy(*map), (int)*n,
                                          isl_aff_copy(aff)));
  }
  return po_need_symbol(r, "]");
}

bool
po_read_index(po_reader *r, uint32_t array, isl_multi_aff **out) {
  assert(array < r->p->arrays.len);
  uint32_t rank = r->p->arrays.data[array].rank, n = 0, from = r->now.lo;
  po_pool_reserve(&r->pool, 1);
  *out = po_keep_multi_aff(
      &r->pool, isl_multi_aff_zero(po_space_with_sizes(
                    r->p, po_map_space(r->p->isl, r->n_names, rank))));
  do {
    if (!po_need_symbol(r, "[") || !read_indices(r, rank, out, &n))
      return false;
  } while (po_is_symbol(r, "["));
  return n == rank ||
         bs_error(r->ctx.diags, po_span_from(r, from), "rank",
                  "%s has %u %s, not %u", r->p->arrays.data[array].name,
                  BS_COUNTED(rank, "dimension"), n);
}

static bool
read_access(reading *x, uint32_t *at) {
  uint32_t array;
  isl_multi_aff *map;
  return po_need_array(x->r, &array) && po_read_index(x->r, array, &map) &&
         add(x, &(po_expr){.kind = PO_READ, .array = array}, map, at);
}

/* ---- functions ---- */

static bool
read_argument(reading *x, po_expr *e) {
  return read_sum(x, &e->kids[e->n_kids]) && ++e->n_kids;
}

/* , NUMBER as the value that the operator's list has */
static bool
read_parameter(reading *x, bs_value *out) {
  po_reader *r = x->r;
  bool minus;
  if (!po_need_symbol(r, ",") || !po_take_symbol(r, "-", &minus))
    return false;
  if (r->now.kind != PO_T_INT && r->now.kind != PO_T_REAL)
    return po_syntax(r, "a number");
  double value = minus ? -r->now.real : r->now.real;
  if (value == floor(value) && fabs(value) < 1e15)
    *out = bs_int(r->ctx.values, (int64_t)value);
  else
    *out = bs_real(r->ctx.values, value);
  return po_next_token(r);
}

/* relu as it stands, (clip 0 6) with its parameters */
static bool
read_parameters(reading *x, po_expr *e) {
  po_reader *r = x->r;
  const gs_compute_info *info = &gs_compute_table[e->op];
  bs_value items[4] = {bs_sym(r->ctx.values, info->name)};
  uint32_t n = 1;
  for (const char *at = info->params; *at && n < 4; at++, n++) {
    if (*at == 't') {
      if (!po_need_symbol(r, ",") || !po_need_dtype(r, &e->dtype))
        return false;
      items[n] = bs_sym(r->ctx.values, gs_dtype_table[e->dtype].name);
    } else if (!read_parameter(x, &items[n])) {
      return false;
    }
  }
  e->param = n == 1 ? items[0] : bs_list(r->ctx.values, items, n);
  return true;
}

/* The count: a number, or a function of sizes. */
static bool
read_mean(reading *x, po_expr *e) {
  po_array count = {.rank = 1};
  po_reader *r = x->r;
  uint32_t names = r->n_names, nesting = r->nesting;
  if (!po_need_symbol(r, ","))
    return false;
  bool read = r->n_numbers ? po_read_extent(r, &count, 0)
                           : po_need_int(r, 1, GS_MAX_ELEMENTS, &count.dim[0]);
  r->n_names = names;
  r->nesting = nesting;
  e->by = count.extent[0];
  e->literal = e->by ? 0 : (double)count.dim[0];
  return read;
}

/* gather(ARRAY[...], stride, count, index) */
static bool
read_gather(reading *x, uint32_t *at) {
  po_reader *r = x->r;
  po_expr e = {.kind = PO_GATHER};
  isl_multi_aff *map;
  return po_need_array(r, &e.array) && po_read_index(r, e.array, &map) &&
         po_need_symbol(r, ",") &&
         po_need_int(r, 0, GS_MAX_ELEMENTS, &e.stride) &&
         po_need_symbol(r, ",") &&
         po_need_int(r, 1, GS_MAX_ELEMENTS, &e.count) &&
         po_need_symbol(r, ",") && read_argument(x, &e) &&
         po_need_symbol(r, ")") && add(x, &e, map, at);
}

static bool
read_arguments(reading *x, po_expr *e, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if ((k && !po_need_symbol(x->r, ",")) || !read_argument(x, e))
      return false;
  return true;
}

static bool
read_function(reading *x, gs_compute op, uint32_t *at) {
  assert(op < GS_COMPUTE_COUNT);
  po_reader *r = x->r;
  po_expr e = {.op = op};
  bool ok;
  if (!po_next_token(r) || !po_need_symbol(r, "("))
    return false;
  switch (gs_compute_table[op].kind) {
  case GS_FOLD:
    e.kind = PO_BINARY;
    ok = read_arguments(x, &e, 2);
    break;
  case GS_SELECT:
    e.kind = PO_SELECT;
    ok = read_arguments(x, &e, 3);
    break;
  case GS_GATHER:
    return read_gather(x, at);
  case GS_REDUCE:
  case GS_DOT:
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SOFTMAX:
  case GS_LOOKUP:
  default:
    e.kind = PO_UNARY;
    ok = read_arguments(x, &e, 1) &&
         (op == GS_C_REDUCE_MEAN ? read_mean(x, &e) : read_parameters(x, &e));
  }
  return ok && po_need_symbol(r, ")") && add(x, &e, NULL, at);
}

static bool
find_function(const po_reader *r, gs_compute *op) {
  char name[32];
  uint32_t n = r->now.hi - r->now.lo;
  if (n >= sizeof name)
    return false;
  memcpy(name, r->text + r->now.lo, n);
  name[n] = '\0';
  if (!gs_compute_find(name, op))
    return false;
  switch (gs_compute_table[*op].kind) {
  case GS_REDUCE:
    return *op == GS_C_REDUCE_MEAN;
  case GS_DOT:
  case GS_SOFTMAX:
  case GS_LOOKUP:
    return false;
  case GS_FOLD:
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SELECT:
  case GS_GATHER:
  default:
    return true;
  }
}

/* ---- the grammar ---- */

/* The next token after the one here is this. */
static bool
is_before(const po_reader *r, char c) {
  uint32_t at = r->now.hi;
  while (at < r->size && strchr(" \t\r\n", r->text[at]))
    at++;
  return at < r->size && r->text[at] == c;
}

static bool
read_named(reading *x, uint32_t *at) {
  po_reader *r = x->r;
  gs_compute op;
  if (!is_before(r, '[') && is_before(r, '(')) {
    if (find_function(r, &op))
      return read_function(x, op, at);
    bs_error(r->ctx.diags, po_span_here(r), "unknown-name",
             "no function is named `%.*s`", (int)(r->now.hi - r->now.lo),
             r->text + r->now.lo);
    return po_hint_function(r);
  }
  if (!is_before(r, '[')) {
    if (po_is_word(r, "lowest") || po_is_word(r, "highest"))
      return add_literal(x, po_is_word(r, "lowest") ? -INFINITY : INFINITY, at);
    if (po_is_word(r, "nan"))
      return add_literal(x, NAN, at);
  }
  return read_access(x, at);
}

static bool
read_parens(reading *x, uint32_t *at) {
  bool told;
  if (!po_next_token(x->r) || !read_sum(x, at) ||
      !po_take_symbol(x->r, ":", &told))
    return false;
  if (told) {
    if (!po_need_dtype(x->r, &x->out->exprs.data[*at].dtype))
      return false;
    x->out->told.data[*at] = 1;
  }
  return po_need_symbol(x->r, ")");
}

static bool
read_atom(reading *x, uint32_t *at) {
  po_reader *r = x->r;
  bool minus, ok;
  if (!po_go_deeper(r))
    return false;
  if (r->now.kind == PO_T_NAME) {
    ok = read_named(x, at);
  } else if (po_is_symbol(r, "(")) {
    ok = read_parens(x, at);
  } else {
    if (!po_take_symbol(r, "-", &minus))
      return false;
    if (r->now.kind != PO_T_INT && r->now.kind != PO_T_REAL)
      return po_syntax(r, minus ? "a number" : "an expression");
    ok = add_literal(x, minus ? -r->now.real : r->now.real, at);
  }
  r->nesting--;
  return ok;
}

/* The infix operator here, of this level. */
static bool
infix_here(const po_reader *r, int binds, gs_compute *op) {
  for (int k = 0; k < GS_FOLD_COUNT; k++)
    if (gs_fold_table[k].infix && gs_fold_table[k].binds == binds &&
        po_is_symbol(r, gs_fold_table[k].infix)) {
      *op = gs_fold_operator((gs_fold)k);
      return true;
    }
  return false;
}

static bool
read_chain(reading *x, bool products, uint32_t *root) {
  gs_compute op;
  if (!(products ? read_atom(x, root) : read_chain(x, true, root)))
    return false;
  while (infix_here(x->r, 1 + products, &op)) {
    po_expr e = {.kind = PO_BINARY, .op = op, .n_kids = 2, .kids = {*root}};
    if (!po_next_token(x->r) ||
        !(products ? read_atom(x, &e.kids[1])
                   : read_chain(x, true, &e.kids[1])) ||
        !add(x, &e, NULL, root))
      return false;
  }
  return true;
}

static bool
read_sum(reading *x, uint32_t *root) {
  return read_chain(x, false, root);
}

/* ---- dtypes ---- */

/* A value of one is exactly one of the other. */
static bool
fits(gs_dtype from, gs_dtype to) {
  return from == to || (!gs_is_half(to) && gs_dtype_holds(to, from));
}

static bool
check_kid(reading *x, const po_expr *e, uint32_t kid) {
  assert(kid < x->out->exprs.len);
  gs_dtype from = x->out->exprs.data[kid].dtype;
  bool any = (e->kind == PO_UNARY && e->op == GS_C_CAST) ||
             e->kind == PO_GATHER || x->out->exprs.data[kid].kind == PO_LITERAL;
  return any || fits(from, e->dtype) ||
         (gs_is_half(e->dtype) && from == GS_F32) ||
         bs_error(x->r->ctx.diags, po_span_here(x->r), "type-mismatch",
                  "%s does not become %s without a cast",
                  gs_dtype_table[from].name, gs_dtype_table[e->dtype].name);
}

static bool
check_operator(reading *x, const po_expr *e) {
  bool op = e->kind == PO_UNARY || e->kind == PO_BINARY;
  return !op || e->op == GS_C_CAST || gs_compute_takes(e->op, e->dtype) ||
         bs_error(x->r->ctx.diags, po_span_here(x->r), "type-mismatch",
                  "%s is not defined on %s", gs_compute_table[e->op].name,
                  gs_dtype_table[e->dtype].name);
}

/* From the root down: kids stand before what they are kids of. */
static bool
find_dtypes(reading *x, gs_dtype root) {
  assert(root < GS_DTYPE_COUNT);
  uint32_t n = x->out->exprs.len;
  po_expr *exprs = x->out->exprs.data;
  for (uint32_t k = n; k-- > 0;) {
    po_expr *e = &exprs[k];
    bool own =
        (e->kind == PO_UNARY && e->op == GS_C_CAST) || x->out->told.data[k];
    if (e->kind == PO_READ && !own)
      e->dtype = x->r->p->arrays.data[e->array].dtype;
    else if (k == n - 1 && !own)
      e->dtype = root;
    for (uint32_t j = 0; j < e->n_kids; j++)
      if (!x->out->told.data[e->kids[j]] &&
          !(exprs[e->kids[j]].kind == PO_UNARY &&
            exprs[e->kids[j]].op == GS_C_CAST))
        exprs[e->kids[j]].dtype = e->dtype;
  }
  for (uint32_t k = 0; k < n; k++) {
    if (!check_operator(x, &exprs[k]))
      return false;
    for (uint32_t j = 0; j < exprs[k].n_kids; j++)
      if (!check_kid(x, &exprs[k], exprs[k].kids[j]))
        return false;
  }
  gs_dtype made = exprs[n - 1].dtype;
  return fits(made, root) || (gs_is_half(root) && made == GS_F32) ||
         exprs[n - 1].kind == PO_LITERAL ||
         bs_error(x->r->ctx.diags, po_span_here(x->r), "type-mismatch",
                  "%s is stored where %s is kept", gs_dtype_table[made].name,
                  gs_dtype_table[root].name);
}

bool
po_read_expression(po_reader *r, gs_dtype root, po_read_expr *out) {
  assert(root < GS_DTYPE_COUNT);
  reading *x = BS_NEW(&r->arena, reading);
  uint32_t at;
  x->r = r;
  x->out = out;
  r->nesting = 0;
  return read_sum(x, &at) && find_dtypes(x, root);
}
