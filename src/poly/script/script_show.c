/* SPDX-License-Identifier: MIT */
/* script_show.c - the nest as loops with bounds and bodies, for people.
 *
 * Bounds and indices are quasi-affine functions of the loops around; isl's
 * generator of expressions words them, with the loops' names for parameters
 * and their ranges for what is known.  A statement that does not run for all
 * values of the loops around it stands under its condition.  Where isl reaches
 * its limit, `?` stands for what it could not word. */
#include "poly/schedule/loop_axes.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/infix.h"
#include "poly/loops/limit.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/constraint.h>
#include <isl/printer.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <isl/val.h>

typedef struct shower {
  const po_program *p;
  bs_text *out;
  po_pool pool;
  /* the loops around where we are, and { : all values they take together } */
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t depth;
} shower;

static void
indent(shower *s) {
  for (uint32_t k = 0; k < s->depth; k++)
    bs_put(s->out, "  ");
}

static void
put_str(shower *s, char *str) {
  uint32_t mark = po_pool_mark(&s->pool);
  str = po_keep_str(&s->pool, str);
  bs_put(s->out, str ? str : "?");
  po_pool_release(&s->pool, mark);
}

static __isl_give isl_set *
name_params(const shower *s, __isl_take isl_set *set) {
  for (uint32_t k = 0; k < s->depth; k++)
    set = isl_set_set_dim_name(set, isl_dim_param, k,
                               po_node(s->p, s->loops[k])->name);
  return set;
}

/* { [t] -> X } as { X } with the values t as parameters. */
static __isl_give isl_set *
by_params(const shower *s, __isl_take isl_map *map) {
  map = isl_map_reset_tuple_id(map, isl_dim_in);
  map = isl_map_move_dims(map, isl_dim_param, 0, isl_dim_in, 0, s->depth);
  return name_params(s, isl_map_range(map));
}

/* The values that the loops around take together. */
static __isl_give isl_set *
context(const shower *s) {
  isl_set *all =
      po_within_sizes(s->p, isl_set_universe(po_space(s->p->isl, s->depth)));
  for (uint32_t k = 0; k < s->depth; k++) {
    isl_set *one = isl_map_wrap(po_nest_range_in(s->p, s->loops[k]));
    one = isl_set_flatten(one);
    one = isl_set_add_dims(one, isl_dim_set, s->depth - k - 1);
    all = isl_set_intersect(all, one);
  }
  return all;
}

/* The values that the bounds around let through: those of `context`, where
 * there are no gaps. */
static __isl_give isl_set *
let_through(const shower *s) {
  isl_set *all =
      po_within_sizes(s->p, isl_set_universe(po_space(s->p->isl, s->depth)));
  for (uint32_t k = 0; k < s->depth; k++) {
    isl_map *range = po_without_gaps(po_nest_range_in(s->p, s->loops[k]));
    isl_set *one = isl_set_flatten(isl_map_wrap(range));
    one = isl_set_add_dims(one, isl_dim_set, s->depth - k - 1);
    all = isl_set_intersect(all, one);
  }
  return all;
}

/* Takes what is known of the loops around. */
static __isl_give isl_ast_build *
builder_in(const shower *s, __isl_take isl_set *known) {
  isl_map *map = isl_map_from_domain(known);
  return isl_ast_build_from_context(isl_set_params(by_params(s, map)));
}

static __isl_give isl_ast_build *
builder(const shower *s) {
  return builder_in(s, context(s));
}

static void
put_function(shower *s, __isl_take isl_pw_aff *f) {
  isl_ast_build *build = builder(s);
  isl_ast_expr *e = isl_ast_build_expr_from_pw_aff(build, f);
  char *str = isl_ast_expr_to_C_str(e);
  isl_ast_expr_free(e);
  isl_ast_build_free(build);
  put_str(s, str);
}

/* ---- statements ---- */

/* { [t] -> S[i] }, t the values of the loops around. */
static __isl_give isl_map *
instance_at(const po_stmt *stmt) {
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  time = isl_map_intersect_domain(time, isl_set_copy(stmt->domain));
  return isl_map_reverse(time);
}

static void
put_element(shower *s, const po_stmt *stmt, uint32_t array,
            __isl_keep isl_pw_multi_aff *index) {
  assert(array < s->p->arrays.len);
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
  map = isl_map_apply_range(instance_at(stmt), map);
  isl_pw_multi_aff *f = isl_pw_multi_aff_from_set(by_params(s, map));
  uint32_t mark = po_pool_mark(&s->pool);
  f = po_keep_pw_multi_aff(&s->pool, f);
  isl_size n = f ? isl_pw_multi_aff_dim(f, isl_dim_out) : 0;
  bs_putf(s->out, "%s[%s", s->p->arrays.data[array].name, f ? "" : "?");
  for (isl_size d = 0; d < n; d++) {
    bs_put(s->out, d ? ", " : "");
    isl_pw_aff *one = isl_pw_multi_aff_get_pw_aff(f, d);
    put_function(s, isl_pw_aff_coalesce(one));
  }
  bs_putc(s->out, ']');
  po_pool_release(&s->pool, mark);
}

/* What stands before kid k of a node; after the last one for k = n_kids. */
static void
put_between(shower *s, const po_expr *e, uint32_t k) {
  const char *sign = e->kind == PO_BINARY ? po_infix_of(e->op) : NULL;
  if (e->kind == PO_GATHER && k == 0)
    bs_putf(s->out, " moved by %lld * clamp(", (long long)e->stride);
  else if (e->kind == PO_GATHER)
    bs_putf(s->out, ", 0, %lld)", (long long)e->count - 1);
  else if (k == e->n_kids)
    bs_putc(s->out, ')');
  else if (k == 0)
    bs_putf(s->out, "%s(",
            sign                   ? ""
            : e->kind == PO_SELECT ? "select"
                                   : gs_compute_table[e->op].name);
  else if (sign)
    bs_putf(s->out, " %s ", sign);
  else
    bs_put(s->out, ", ");
}

static void
put_params(shower *s, const po_expr *e) {
  if (e->kind != PO_UNARY)
    return;
  if (e->op == GS_C_CAST)
    bs_putf(s->out, ", %s", gs_dtype_table[e->dtype].name);
  else if (e->op == GS_C_REDUCE_MEAN)
    bs_putf(s->out, e->by ? ", ..." : ", %.0f", e->literal);
  else
    for (uint32_t j = 0; e->param.i; j++) {
      bs_value param = gs_compute_param(s->p->ctx.values, e->param, j);
      if (!param.i)
        break;
      bs_put(s->out, ", ");
      bs_put_value(s->out, s->p->ctx.values, param);
    }
}

static void
put_head(shower *s, const po_stmt *stmt, const po_expr *e) {
  if (e->kind == PO_LITERAL) {
    if (isinf(e->literal))
      bs_put(s->out, e->literal < 0 ? "lowest" : "highest");
    else if (e->literal == floor(e->literal) && fabs(e->literal) < 1e15)
      bs_putf(s->out, "%.0f", e->literal);
    else
      bs_put_real(s->out, e->literal);
  } else if (e->kind == PO_READ || e->kind == PO_GATHER) {
    put_element(s, stmt, e->array, e->index);
  }
}

typedef struct visit {
  uint32_t expr, kid;
} visit;

static void
put_body(shower *s, const po_stmt *stmt) {
  BS_VEC(visit) stack = {0};
  bs_heap *heap = s->p->ctx.heap;
  bs_push(heap, &stack, (visit){stmt->n_exprs - 1, 0});
  while (stack.len) {
    visit *v = &bs_last(&stack);
    const po_expr *e = &stmt->exprs[v->expr];
    if (v->kid == 0)
      put_head(s, stmt, e);
    if (v->kid == e->n_kids) {
      put_params(s, e);
      if (e->n_kids)
        put_between(s, e, e->n_kids);
      stack.len--;
      continue;
    }
    put_between(s, e, v->kid);
    uint32_t kid = e->kids[v->kid++];
    bs_push(heap, &stack, (visit){kid, 0});
  }
  bs_vec_done(heap, &stack);
}

static void
put_operand(shower *s, const po_stmt *stmt, const po_operand *operand) {
  if (operand->base)
    put_element(s, stmt, operand->array, operand->base);
  else
    bs_putf(s->out, "%s + %lld", s->p->arrays.data[operand->array].name,
            (long long)operand->offset);
}

static void
put_call(shower *s, const po_stmt *stmt) {
  uint32_t n = stmt->instr->n_operands;
  put_operand(s, stmt, &stmt->operands[n]);
  bs_putf(s->out, " = %s(", stmt->instr->name);
  for (uint32_t k = 0; k < n; k++) {
    bs_put(s->out, k ? ", " : "");
    put_operand(s, stmt, &stmt->operands[k]);
  }
  bs_putc(s->out, ')');
}

/* isl finds some conditions always true only when it writes them. */
static bool
is_true(__isl_keep isl_ast_expr *e) {
  if (!e || isl_ast_expr_get_type(e) != isl_ast_expr_int)
    return false;
  isl_val *v = isl_ast_expr_int_get_val(e);
  bool yes = isl_val_is_one(v) == isl_bool_true;
  isl_val_free(v);
  return yes;
}

/* `if (...) ` where only some values of the loops around are meant. */
static void
put_guard(shower *s, __isl_take isl_set *own) {
  isl_set *around = let_through(s);
  own = isl_set_coalesce(isl_set_gist(own, isl_set_copy(around)));
  bool all = isl_set_plain_is_universe(own) == isl_bool_true;
  if (all) {
    isl_set_free(around);
    isl_set_free(own);
    return;
  }
  own = isl_set_params(by_params(s, isl_map_from_domain(own)));
  isl_ast_build *build = builder_in(s, around);
  isl_ast_expr *e = isl_ast_build_expr_from_set(build, own);
  if (!is_true(e)) {
    bs_put(s->out, "if (");
    put_str(s, isl_ast_expr_to_C_str(e));
    bs_put(s->out, ") ");
  }
  isl_ast_expr_free(e);
  isl_ast_build_free(build);
}

static __isl_give isl_set *
values_of(const po_stmt *stmt) {
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(stmt->time));
  return isl_set_apply(isl_set_copy(stmt->domain), time);
}

static void
put_stmt(shower *s, const po_stmt *stmt) {
  indent(s);
  put_guard(s, values_of(stmt));
  if (stmt->kind == PO_CALL) {
    put_call(s, stmt);
  } else {
    const char *sign = po_infix_of(stmt->op);
    put_element(s, stmt, stmt->array, stmt->write);
    bs_putf(s->out, " %s= ",
            stmt->kind != PO_UPDATE ? ""
            : sign                  ? sign
                                    : gs_compute_table[stmt->op].name);
    put_body(s, stmt);
  }
  bs_putc(s->out, '\n');
}

/* ---- loops ---- */

/* The bounds on one side that constraints give. */
typedef struct bounds {
  bool upper, failed;
  isl_aff *list[8];
  uint32_t n;
} bounds;

static isl_stat
add_bound(__isl_take isl_constraint *c, void *user) {
  bounds *b = user;
  bool is_one = b->upper ? isl_constraint_is_upper_bound(c, isl_dim_set, 0)
                         : isl_constraint_is_lower_bound(c, isl_dim_set, 0);
  if (is_one && b->n < 8) {
    isl_aff *aff = isl_constraint_get_bound(c, isl_dim_set, 0);
    b->list[b->n++] = b->upper ? isl_aff_floor(aff) : isl_aff_ceil(aff);
  } else if (is_one) {
    b->failed = true;
  }
  isl_constraint_free(c);
  return isl_stat_ok;
}

/* The bounds of a set with one convex piece; false for others. */
static bool
find_bounds(const shower *s, __isl_keep isl_set *values, bounds *b) {
  isl_set *known =
      isl_set_params(by_params(s, isl_map_from_domain(context(s))));
  isl_set *set = isl_set_coalesce(isl_set_copy(values));
  set = isl_set_gist_params(set, known);
  isl_basic_set_list *list = isl_set_get_basic_set_list(set);
  bool ok = isl_basic_set_list_n_basic_set(list) == 1;
  if (ok) {
    isl_basic_set *one = isl_basic_set_list_get_basic_set(list, 0);
    one = isl_basic_set_remove_redundancies(one);
    ok = isl_basic_set_dim(one, isl_dim_div) == 0 &&
         isl_basic_set_foreach_constraint(one, add_bound, b) == isl_stat_ok &&
         !b->failed && b->n > 0;
    isl_basic_set_free(one);
  }
  isl_basic_set_list_free(list);
  isl_set_free(set);
  return ok;
}

/* In the pool. */
static const char *
bound_text(shower *s, __isl_keep isl_aff *aff) {
  aff = isl_aff_project_domain_on_params(isl_aff_copy(aff));
  isl_ast_build *build = builder(s);
  isl_ast_expr *e =
      isl_ast_build_expr_from_pw_aff(build, isl_pw_aff_from_aff(aff));
  char *str = isl_ast_expr_to_C_str(e);
  isl_ast_expr_free(e);
  isl_ast_build_free(build);
  str = po_keep_str(&s->pool, str);
  return str ? str : "?";
}

static int
by_length(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  size_t n = strlen(x), m = strlen(y);
  return n != m ? (n < m ? -1 : 1) : strcmp(x, y);
}

static void
put_bound(shower *s, uint32_t loop, bool upper) {
  uint32_t mark = po_pool_mark(&s->pool);
  po_pool_reserve(&s->pool, 16);
  isl_set *values =
      po_keep_set(&s->pool, by_params(s, po_nest_range_in(s->p, loop)));
  bounds b = {.upper = upper};
  bool found = find_bounds(s, values, &b);
  for (uint32_t k = 0; k < b.n; k++)
    po_keep_aff(&s->pool, b.list[k]);
  if (found && b.n > 1)
    bs_put(s->out, upper ? "min(" : "max(");
  const char *texts[8];
  for (uint32_t k = 0; found && k < b.n; k++)
    texts[k] = bound_text(s, b.list[k]);
  if (found)
    qsort(texts, b.n, sizeof *texts, by_length);
  for (uint32_t k = 0; found && k < b.n; k++)
    bs_putf(s->out, "%s%s", k ? ", " : "", texts[k]);
  if (found && b.n > 1)
    bs_putc(s->out, ')');
  if (!found) {
    isl_set *copy = isl_set_copy(values);
    put_function(s, isl_pw_aff_coalesce(upper ? isl_set_dim_max(copy, 0)
                                              : isl_set_dim_min(copy, 0)));
  }
  po_pool_release(&s->pool, mark);
}

static void
put_bounds(shower *s, uint32_t loop) {
  int64_t min, count;
  if (po_constant_range(s->p, loop, &min, &count)) {
    if (min == 0)
      bs_putf(s->out, "<%lld", (long long)count);
    else
      bs_putf(s->out, "=%lld..%lld", (long long)min,
              (long long)(min + count - 1));
    return;
  }
  bs_putc(s->out, '=');
  put_bound(s, loop, false);
  bs_put(s->out, "..");
  put_bound(s, loop, true);
}

static void
put_loop(shower *s, uint32_t loop) {
  const po_nest_node *n = po_node(s->p, loop);
  indent(s);
  put_guard(s, isl_map_domain(po_nest_range_in(s->p, loop)));
  if (n->mark == PO_PARALLEL)
    bs_put(s->out, "parallel ");
  else if (n->mark == PO_UNROLL)
    bs_put(s->out, "unroll ");
  else if (n->mark == PO_VECTORIZE)
    bs_putf(s->out, "vectorize[%u] ", n->lanes);
  else if (n->mark == PO_BIND)
    bs_putf(s->out, "bind[%s] ", po_bind_names[n->bind]);
  bs_putf(s->out, "for %s", n->name);
  put_bounds(s, loop);
  bs_putc(s->out, '\n');
}

static void
show(shower *s) {
  const po_program *p = s->p;
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next(p, k, 0)) {
    if (po_nest_is_idle(p, k))
      continue;
    s->depth = po_nest_loops(p, k, s->loops);
    if (po_node(p, k)->kind == PO_LEAF) {
      put_stmt(s, &p->stmts.data[po_node(p, k)->stmt]);
    } else if (po_node(p, k)->kind == PO_SYNC) {
      indent(s);
      bs_put(s->out, "sync_threads\n");
    } else {
      put_loop(s, k);
    }
  }
}

/* Runs with a pool that a memory failure cannot lose. */
static void
protected_show(void *arg) {
  show(arg);
}

void
po_print_nest(const po_program *p, bs_text *out) {
  shower s = {.p = p, .out = out};
  po_pool_init(&s.pool, p->ctx.heap);
  po_limit limit = po_limit_operations(p, PO_QUESTION);
  bool ok = bs_protect(p->ctx.heap, protected_show, &s);
  po_unlimit(&limit);
  po_pool_done(&s.pool);
  if (!ok)
    bs_out_of_memory(p->ctx.heap);
}

static void
print_loops(const po_program *p, bs_text *out) {
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next(p, k, 0)) {
    const po_nest_node *n = po_node(p, k);
    int64_t min, count;
    if (n->kind != PO_LOOP)
      continue;
    bs_putf(out, "%s: %s", n->name, po_mark_names[n->mark]);
    if (n->mark == PO_VECTORIZE)
      bs_putf(out, " by %u", n->lanes);
    if (n->mark == PO_BIND)
      bs_putf(out, " to %s", po_bind_names[n->bind]);
    if (po_constant_range(p, k, &min, &count))
      bs_putf(out, ", %lld..%lld", (long long)min, (long long)(min + count));
    if (p->axes && n->axis != PO_NO_NODE)
      bs_putf(out, ", axis %u %s", n->axis,
              po_axis_at(&p->axes->table, n->axis)->name);
    bs_putc(out, '\n');
  }
}

void
po_print_dependences(po_program *p, bs_text *out) {
  const po_deps *deps = po_dependences(p);
  uint32_t mark = po_pool_mark(&p->pool);
  for (uint32_t k = 0; deps && k < PO_DEP_KINDS; k++) {
    po_pool_reserve(&p->pool, 1);
    char *str = po_keep_str(&p->pool, isl_union_map_to_str(deps->of[k]));
    bs_putf(out, "%s: %s\n", po_dep_names[k], str ? str : "?");
    po_pool_release(&p->pool, mark);
  }
}

static const char *
axis_name(const po_program *p, uint32_t axis) {
  return axis == PO_NO_AXIS ? "-" : po_axis_at(&p->axes->table, axis)->name;
}

void
po_print_loop_axes(const po_program *p, bs_text *out) {
  uint32_t axes[PO_MAX_DEPTH];
  for (uint32_t k = 0; p->axes && k < p->axes->table.list.len; k++)
    po_axis_print(po_axis_at(&p->axes->table, k), out);
  print_loops(p, out);
  for (uint32_t k = 0; p->axes && k < p->stmts.len; k++) {
    uint32_t n = po_axes_way(p, p->stmts.data[k].leaf, axes);
    bs_putf(out, "node %s [", p->stmts.data[k].name);
    for (uint32_t i = 0; i < n; i++)
      bs_putf(out, "%s%s", i ? ", " : "", axis_name(p, axes[i]));
    bs_put(out, "]\n");
  }
}
