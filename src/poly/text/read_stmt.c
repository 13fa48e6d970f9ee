/* SPDX-License-Identifier: MIT */
/* read_stmt.c - statements: instances, what they do, and when.
 *
 *   NAME [ [INDEX, ...] ] : ARRAY[...] OP EXPRESSION
 *        [where CONDITIONS] [at TIME, ...]
 *
 * Without indices of its own a statement has those of the loops around it.  Its
 * instances are those that the conditions and the bounds of the loops allow;
 * they must be finitely many, and every element that they name must be
 * there. */
#include "poly/loops/bounds.h"
#include "poly/loops/operand.h"
#include "poly/text/text_read.h"
#include <assert.h>
#include <string.h>

#define MAX_STMTS 200000

static bool
too_complex(po_reader *r) {
  return bs_error(r->ctx.diags, po_span_here(r), "too-complex",
                  "the statement is too complex");
}

/* ---- names and indices ---- */

static bool
read_name(po_reader *r, po_stmt *stmt) {
  uint32_t from = r->now.lo;
  if (!po_need_name(r, "a statement", &stmt->name))
    return false;
  size_t n = strlen(stmt->name);
  if (po_find_entry(r, PO_E_STMT, stmt->name, n) != UINT32_MAX)
    return bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                    "a statement is named `%s` already", stmt->name);
  bool ends = !strcmp(stmt->name, "where") || !strcmp(stmt->name, "at");
  return !ends || bs_error(r->ctx.diags, po_span_from(r, from), "reserved-name",
                           "`%s` does not name a statement", stmt->name);
}

/* The names of the loops, where it has no own ones. */
static bool
read_iters(po_reader *r, po_stmt *stmt, bool *own) {
  const char *names[PO_MAX_LOOPS];
  if (!po_take_symbol(r, "[", own))
    return false;
  r->n_names = r->n_loops;
  for (uint32_t k = 0; k < r->n_loops; k++)
    r->names[k] = r->p->nest.nodes.data[r->loops[k]].name;
  uint32_t n = 0;
  for (bool more = *own && !po_is_symbol(r, "]"); more; n++) {
    if (n == PO_MAX_LOOPS)
      return bs_error(r->ctx.diags, po_span_here(r), "too-large",
                      "statements have at most %d indices", PO_MAX_LOOPS);
    uint32_t from = r->now.lo;
    if (!po_need_name(r, "an index", &names[n]))
      return false;
    if (!po_is_no_size(r, names[n], from))
      return false;
    for (uint32_t k = 0; k < n; k++)
      if (!strcmp(names[k], names[n]))
        return bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                        "`%s` is listed twice", names[n]);
    if (!po_take_symbol(r, ",", &more))
      return false;
  }
  if (*own) {
    if (!po_need_symbol(r, "]"))
      return false;
    memcpy(r->names, names, n * sizeof *names);
    r->n_names = n;
  }
  stmt->n_iters = r->n_names;
  stmt->iters =
      bs_arena_copy(&r->p->arena, r->names, r->n_names * sizeof *r->names);
  return true;
}

/* ---- what it does ---- */

static bool
read_operator(po_reader *r, po_stmt *stmt) {
  char symbol[8];
  for (int k = 0; k < GS_FOLD_COUNT; k++) {
    const char *infix = gs_fold_table[k].infix;
    snprintf(symbol, sizeof symbol, "%s=", infix ? infix : "");
    if (infix && po_is_symbol(r, symbol)) {
      stmt->kind = PO_UPDATE;
      stmt->op = gs_fold_operator((gs_fold)k);
      return po_next_token(r);
    }
  }
  if (po_is_word(r, "max") || po_is_word(r, "min")) {
    stmt->kind = PO_UPDATE;
    stmt->op = po_is_word(r, "max") ? GS_C_MAX : GS_C_MIN;
    return po_next_token(r) && po_need_symbol(r, "=");
  }
  stmt->kind = PO_ASSIGN;
  return po_need_symbol(r, "=");
}

isl_pw_multi_aff *
po_named_access(po_reader *r, const po_stmt *stmt, uint32_t array,
                isl_multi_aff *map) {
  assert(array < r->p->arrays.len);
  isl_ctx *isl = r->p->isl;
  po_pool_reserve(&r->p->pool, 1);
  map = isl_multi_aff_set_tuple_id(isl_multi_aff_copy(map), isl_dim_in,
                                   isl_id_alloc(isl, stmt->name, NULL));
  map = isl_multi_aff_set_tuple_id(
      map, isl_dim_out, isl_id_alloc(isl, r->p->arrays.data[array].name, NULL));
  return po_keep_pw_multi_aff(&r->p->pool,
                              isl_pw_multi_aff_from_multi_aff(map));
}

static bool
is_written(po_reader *r, const po_stmt *stmt, uint32_t from) {
  po_role role = r->p->arrays.data[stmt->array].role;
  return (role != PO_INPUT && role != PO_CONSTANT) ||
         bs_error(r->ctx.diags, po_span_from(r, from), "read-only",
                  "%s is not written", r->p->arrays.data[stmt->array].name);
}

static void
free_expression(po_reader *r, po_read_expr *body) {
  bs_vec_done(r->ctx.heap, &body->exprs);
  bs_vec_done(r->ctx.heap, &body->maps);
  bs_vec_done(r->ctx.heap, &body->told);
}

static bool
read_assignment(po_reader *r, po_stmt *stmt) {
  isl_multi_aff *write;
  po_read_expr body = {0};
  if (!po_read_index(r, stmt->array, &write))
    return false;
  if (po_is_word(r, "over"))
    return po_read_call(r, stmt->array, write, stmt);
  if (!read_operator(r, stmt))
    return false;
  gs_dtype root = r->p->arrays.data[stmt->array].dtype;
  if (!po_read_expression(r, root, &body)) {
    free_expression(r, &body);
    return false;
  }
  stmt->write = po_named_access(r, stmt, stmt->array, write);
  for (uint32_t k = 0; k < body.exprs.len; k++)
    if (body.maps.data[k])
      body.exprs.data[k].index =
          po_named_access(r, stmt, body.exprs.data[k].array, body.maps.data[k]);
  stmt->exprs = bs_arena_copy(&r->p->arena, body.exprs.data,
                              body.exprs.len * sizeof *body.exprs.data);
  stmt->n_exprs = body.exprs.len;
  free_expression(r, &body);
  return true;
}

static bool
read_effect(po_reader *r, po_stmt *stmt) {
  uint32_t from = r->now.lo;
  if (!po_need_array(r, &stmt->array) || !is_written(r, stmt, from))
    return false;
  return po_is_symbol(r, "+") ? po_read_call(r, stmt->array, NULL, stmt)
                              : read_assignment(r, stmt);
}

/* ---- when ---- */

static isl_multi_aff *
identity(po_reader *r) {
  po_pool_reserve(&r->pool, 1);
  return po_keep_multi_aff(
      &r->pool, po_map_with_sizes(r->p, po_identity(r->p->isl, r->n_names)));
}

static bool
read_time(po_reader *r, bool own, isl_multi_aff **out) {
  bool at;
  if (!po_take_word(r, "at", &at))
    return false;
  if (!at && own && r->n_names != r->n_loops)
    return bs_error(r->ctx.diags, po_span_here(r), "no-time",
                    "%u %s under %u %s: `at` says when they run",
                    BS_COUNTED_AS(r->n_names, "index", "indices"),
                    BS_COUNTED(r->n_loops, "loop"));
  if (!at) {
    *out = identity(r);
    return true;
  }
  po_pool_reserve(&r->pool, 1);
  *out = po_keep_multi_aff(
      &r->pool, isl_multi_aff_zero(po_space_with_sizes(
                    r->p, po_map_space(r->p->isl, r->n_names, r->n_loops))));
  for (uint32_t k = 0; k < r->n_loops; k++) {
    isl_aff *aff;
    if ((k && !po_need_symbol(r, ",")) || !po_read_aff(r, &aff))
      return false;
    po_pool_reserve(&r->pool, 1);
    *out = po_keep_multi_aff(&r->pool,
                             isl_multi_aff_set_aff(isl_multi_aff_copy(*out),
                                                   (int)k, isl_aff_copy(aff)));
  }
  return true;
}

/* Instances that the conditions and the loops allow. */
static bool
find_domain(po_reader *r, po_stmt *stmt, __isl_keep isl_set *where,
            __isl_keep isl_multi_aff *time) {
  isl_id *id = isl_id_alloc(r->p->isl, stmt->name, NULL);
  po_pool_reserve(&r->p->pool, 2);
  isl_set *set = isl_set_copy(where);
  if (r->n_loops)
    set = isl_set_intersect(
        set, isl_set_preimage_multi_aff(isl_set_copy(r->bounds[r->n_loops - 1]),
                                        isl_multi_aff_copy(time)));
  set = isl_set_coalesce(po_within_sizes(r->p, set));
  stmt->domain =
      po_keep_set(&r->p->pool, isl_set_set_tuple_id(set, isl_id_copy(id)));
  stmt->time = po_keep_multi_aff(
      &r->p->pool,
      isl_multi_aff_set_tuple_id(isl_multi_aff_copy(time), isl_dim_in, id));
  return (stmt->domain && stmt->time) || too_complex(r);
}

/* ---- checks ---- */

/* Takes what is reached of the array, and its elements. */
static void
refuse_access(po_reader *r, const po_array *a, isl_set *reached, isl_set *box,
              uint32_t from) {
  bs_text at;
  isl_set *beyond = isl_set_subtract(reached, box);
  bs_text_init(&at, r->ctx.heap);
  po_put_sizes_of(r->p, beyond, &at);
  bs_error(r->ctx.diags, po_span_from(r, from), "out-of-bounds",
           "%s is accessed outside of its bounds%s", a->name, bs_text_str(&at));
  po_hint_element(r, a, beyond);
  bs_text_done(&at);
}

static bool
check_access(po_reader *r, const po_stmt *stmt, uint32_t array,
             __isl_keep isl_pw_multi_aff *index, uint32_t from) {
  assert(array < r->p->arrays.len);
  const po_array *a = &r->p->arrays.data[array];
  isl_set *reached =
      isl_set_apply(isl_set_copy(stmt->domain),
                    isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index)));
  isl_set *box = po_elements_of(r->p, a);
  box = isl_set_set_tuple_id(box, isl_id_alloc(r->p->isl, a->name, NULL));
  isl_bool inside = isl_set_is_subset(reached, box);
  if (inside == isl_bool_false)
    refuse_access(r, a, isl_set_copy(reached), isl_set_copy(box), from);
  isl_set_free(reached);
  isl_set_free(box);
  return inside == isl_bool_error ? too_complex(r) : inside == isl_bool_true;
}

/* The elements that a look-up may move to lie in the array. */
static bool
check_gather(po_reader *r, const po_stmt *stmt, const po_expr *e,
             uint32_t from) {
  const po_array *a = &r->p->arrays.data[e->array];
  bool plain = true;
  int64_t first, last, reach;
  for (uint32_t d = 0; d < a->rank; d++)
    plain = plain && !a->fold[d] && !a->pad[d];
  if (!plain)
    return bs_error(r->ctx.diags, po_span_from(r, from), "storage",
                    "a table is neither folded nor padded");
  if (po_is_sized(a))
    return bs_error(r->ctx.diags, po_span_from(r, from), "storage",
                    "the dimensions of a table are numbers");
  isl_pw_aff *address = po_linear_pw(e->index, a->dim);
  address = isl_pw_aff_intersect_domain(address, isl_set_copy(stmt->domain));
  bool fits = !po_bounds_of_values(address, &first, &last) ||
              (!__builtin_mul_overflow(e->stride, e->count - 1, &reach) &&
               last + reach < gs_prod(a->dim, a->rank));
  return fits || bs_error(r->ctx.diags, po_span_from(r, from), "out-of-bounds",
                          "the table ends before that");
}

/* Operands with an offset were checked when they were read. */
static bool
check_operands(po_reader *r, const po_stmt *stmt, uint32_t from) {
  for (uint32_t k = 0; k <= stmt->instr->n_operands; k++) {
    const po_operand *o = &stmt->operands[k];
    if (po_is_sized(&r->p->arrays.data[o->array]))
      return bs_error(r->ctx.diags, po_span_from(r, from), "storage",
                      "operand %u of %s: the dimensions of %s are not numbers",
                      k, stmt->instr->name, r->p->arrays.data[o->array].name);
    if (o->base && (!check_access(r, stmt, o->array, o->base, from) ||
                    !po_operand_is_inside(r->p, stmt, o)))
      return bs_error(r->ctx.diags, po_span_from(r, from), "out-of-bounds",
                      "operand %u of %s reaches beyond %s", k,
                      stmt->instr->name, r->p->arrays.data[o->array].name);
  }
  return true;
}

static bool
check(po_reader *r, const po_stmt *stmt, uint32_t from) {
  isl_bool bounded = isl_set_is_bounded(stmt->domain);
  if (bounded != isl_bool_true)
    return bs_error(r->ctx.diags, po_span_from(r, from), "unbounded",
                    "the statement has infinitely many instances");
  if (stmt->kind == PO_CALL)
    return check_operands(r, stmt, from);
  if (!check_access(r, stmt, stmt->array, stmt->write, from))
    return false;
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if (e->index && !check_access(r, stmt, e->array, e->index, from))
      return false;
    if (e->kind == PO_GATHER && !check_gather(r, stmt, e, from))
      return false;
  }
  return true;
}

/* The indices that the element written does not depend on, from the last one
 * on, are reduced over. */
static uint32_t
count_outer(const po_stmt *stmt) {
  uint32_t n = stmt->n_iters;
  while (stmt->kind == PO_UPDATE && n &&
         isl_pw_multi_aff_involves_dims(stmt->write, isl_dim_in, n - 1, 1) ==
             isl_bool_false)
    n--;
  return n;
}

static void
append(po_reader *r, const po_stmt *stmt) {
  po_program *p = r->p;
  bs_push(r->ctx.heap, &p->stmts, *stmt);
  uint32_t parent = r->n_loops ? r->loops[r->n_loops - 1] : 0;
  po_nest_add_leaf(p, parent, PO_NO_NODE, p->stmts.len - 1);
  po_add_entry(r, PO_E_STMT, p->stmts.len - 1);
}

bool
po_read_stmt(po_reader *r) {
  po_stmt stmt = {.term = GS_NO_TERM};
  uint32_t from = r->now.lo, mark = po_pool_mark(&r->pool);
  bool own, has_where;
  isl_set *where;
  isl_multi_aff *time = NULL;
  if (r->p->stmts.len == MAX_STMTS)
    return bs_error(r->ctx.diags, po_span_here(r), "too-large",
                    "more than %d statements", MAX_STMTS);
  if (!read_name(r, &stmt) || !read_iters(r, &stmt, &own) ||
      !po_need_symbol(r, ":") || !read_effect(r, &stmt) ||
      !po_take_word(r, "where", &has_where))
    return false;
  r->nesting = 0;
  po_pool_reserve(&r->pool, 1);
  where =
      po_keep_set(&r->pool, isl_set_universe(po_space(r->p->isl, r->n_names)));
  if ((has_where && !po_read_conditions(r, &where)) ||
      !read_time(r, own, &time) || !find_domain(r, &stmt, where, time) ||
      !check(r, &stmt, from))
    return false;
  stmt.n_outer = count_outer(&stmt);
  stmt.span = po_span_from(r, from);
  append(r, &stmt);
  po_pool_release(&r->pool, mark);
  return true;
}
