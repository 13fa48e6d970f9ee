/* SPDX-License-Identifier: MIT */
/* inline.c - compute_inline and reverse_compute_inline: a statement's body put
 * where its value is used, or used in the statement that makes the value.
 *
 * Indices are composed through the inverse of a write, which must be one
 * quasi-affine function.  That inputs still hold the same values where they
 * are read now is checked on the flow of values. */
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>

/* ---- bodies ---- */

typedef struct body {
  BS_VEC(po_expr) exprs;
} body;

/* Appends the expressions of a statement with indices pulled back along
 * `back` (NULL: as they are); reads of `array` are replaced by expression
 * `with` of what is there already (UINT32_MAX: none are). */
static void
append(po_program *p, body *b, const po_stmt *stmt,
       __isl_keep isl_multi_aff *back, uint32_t array, uint32_t with) {
  uint32_t *place = bs_arena_calloc(&p->arena, stmt->n_exprs, sizeof *place);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    po_expr e = stmt->exprs[k];
    if (with != UINT32_MAX && e.kind == PO_READ && e.array == array) {
      place[k] = with;
      continue;
    }
    for (uint32_t j = 0; j < e.n_kids; j++)
      e.kids[j] = place[e.kids[j]];
    if (e.index && back)
      e.index = po_keep_pw_multi_aff(
          &p->pool,
          isl_pw_multi_aff_pullback_multi_aff(isl_pw_multi_aff_copy(e.index),
                                              isl_multi_aff_copy(back)));
    place[k] = b->exprs.len;
    bs_push(p->ctx.heap, &b->exprs, e);
  }
}

/* The value as the array would have kept it. */
static uint32_t
as_kept(po_program *p, body *b, uint32_t array) {
  assert(array < p->arrays.len);
  gs_dtype dtype = p->arrays.data[array].dtype;
  uint32_t last = b->exprs.len - 1;
  if (b->exprs.data[last].dtype == dtype && !gs_is_half(dtype))
    return last;
  bs_push(p->ctx.heap, &b->exprs,
          (po_expr){.kind = PO_UNARY,
                    .op = GS_C_CAST,
                    .dtype = dtype,
                    .n_kids = 1,
                    .kids = {last}});
  return last + 1;
}

/* The body becomes the statement's; its root is the last expression. */
static void
set_body(po_program *p, po_stmt *stmt, body *b) {
  stmt->n_exprs = b->exprs.len;
  stmt->exprs = bs_arena_copy(&p->arena, b->exprs.data,
                              b->exprs.len * sizeof *b->exprs.data);
  bs_vec_done(p->ctx.heap, &b->exprs);
}

/* ---- compute_inline ---- */

/* The one statement that computes an array by plain assignment. */
static bool
only_writer(const po_program *p, const po_step_call *call, uint32_t array,
            uint32_t *writer) {
  assert(array < p->arrays.len);
  const char *name = p->arrays.data[array].name;
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (p->stmts.data[k].array != array)
      continue;
    *writer = k;
    n++;
  }
  if (n != 1)
    return po_refuse(p, call, "several-writers",
                     "%s is computed by %u statements, not one", name, n);
  const po_stmt *stmt = &p->stmts.data[*writer];
  if (stmt->kind != PO_ASSIGN)
    return po_refuse(p, call, "not-plain", "%s computes %s by a %s", stmt->name,
                     name, stmt->kind == PO_CALL ? "call" : "reduction");
  return !po_stmt_reads(stmt, array) ||
         po_refuse(p, call, "reads-itself", "%s reads %s itself", stmt->name,
                   name);
}

static bool
check_inlined(const po_program *p, const po_step_call *call, uint32_t array) {
  const char *name = p->arrays.data[array].name;
  return !po_is_rigid(p, array) ||
         po_refuse(p, call, "rigid",
                   "%s is used by a call or a look-up, which need it whole",
                   name);
}

/* { A[x] -> S[i] } */
static __isl_give isl_map *
writing(const po_stmt *stmt) {
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  map = isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
  return isl_map_reverse(map);
}

/* A read of the array replaced by the writer's body. */
static bool
inline_read(po_program *p, const po_step_call *call, body *b, uint32_t reader,
            const po_expr *e, uint32_t writer, uint32_t *root) {
  assert(reader < p->stmts.len && writer < p->stmts.len);
  const po_stmt *to = &p->stmts.data[reader], *from = &p->stmts.data[writer];
  po_pool_reserve(&p->pool, from->n_exprs + 2);
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(e->index));
  map = isl_map_intersect_domain(map, isl_set_copy(to->domain));
  map = isl_map_apply_range(map, writing(from));
  isl_multi_aff *back = po_one_piece(map, to->domain);
  if (!back)
    return po_refuse(p, call, "no-inverse",
                     "which instance of %s computes what %s reads is not one "
                     "quasi-affine function",
                     from->name, to->name);
  back = po_keep_multi_aff(&p->pool, back);
  append(p, b, from, back, 0, UINT32_MAX);
  *root = as_kept(p, b, from->array);
  return true;
}

static bool
inline_into(po_program *p, const po_step_call *call, uint32_t reader,
            uint32_t writer) {
  assert(reader < p->stmts.len && writer < p->stmts.len);
  po_stmt *to = &p->stmts.data[reader];
  uint32_t array = p->stmts.data[writer].array;
  uint32_t *place = bs_arena_calloc(&p->arena, to->n_exprs, sizeof *place);
  body b = {0};
  for (uint32_t k = 0; k < to->n_exprs; k++) {
    po_expr e = to->exprs[k];
    if (b.exprs.len > 100000) {
      bs_vec_done(p->ctx.heap, &b.exprs);
      return po_refuse(p, call, "too-large",
                       "the body of %s would be too "
                       "large",
                       to->name);
    }
    if (e.kind == PO_READ && e.array == array) {
      if (!inline_read(p, call, &b, reader, &e, writer, &place[k])) {
        bs_vec_done(p->ctx.heap, &b.exprs);
        return false;
      }
      continue;
    }
    for (uint32_t j = 0; j < e.n_kids; j++)
      e.kids[j] = place[e.kids[j]];
    place[k] = b.exprs.len;
    bs_push(p->ctx.heap, &b.exprs, e);
  }
  set_body(p, to, &b);
  return true;
}

static isl_union_map *
no_origin(const po_program *p) {
  return isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
}

bool
po_apply_compute_inline(po_program *p, po_step_call *call) {
  uint32_t array = p->stmts.data[call->args[0].stmt].array, writer = 0, n = 0;
  if (!check_inlined(p, call, array) || !only_writer(p, call, array, &writer))
    return false;
  po_program *before = po_copy(p);
  bool ok = true;
  for (uint32_t k = 0; ok && k < p->stmts.len; k++) {
    if (k == writer || !po_stmt_reads(&p->stmts.data[k], array))
      continue;
    ok = inline_into(p, call, k, writer);
    n++;
  }
  if (ok && !n)
    ok = po_refuse(p, call, "no-consumer", "nothing reads %s",
                   p->arrays.data[array].name);
  const char *name = p->stmts.data[writer].name;
  if (ok) {
    /* An output's statement stays: both programs are looked at through it. */
    bool stays = p->arrays.data[array].role == PO_OUTPUT;
    if (!stays)
      po_remove_stmt(p, writer);
    po_forget_dependences(p);
    po_change change = {.origin = no_origin(p),
                        .gone = &name,
                        .n_gone = 1,
                        .copies = {name},
                        .n_copies = stays};
    ok = po_values_are_preserved(before, p, call, &change);
  }
  po_free(before);
  return ok;
}

/* ---- reverse_compute_inline ---- */

/* The array that a statement reads, of all those computed by one statement:
 * the one read once and by nobody else. */
static bool
find_producer(const po_program *p, const po_step_call *call, uint32_t consumer,
              uint32_t *array, uint32_t *read) {
  assert(consumer < p->stmts.len);
  const po_stmt *stmt = &p->stmts.data[consumer];
  uint32_t found = 0;
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if (e->kind != PO_READ || p->arrays.data[e->array].role == PO_INPUT ||
        p->arrays.data[e->array].role == PO_CONSTANT)
      continue;
    if (found && e->array != *array)
      return po_refuse(p, call, "several-producers",
                       "%s reads both %s and %s, which are computed",
                       stmt->name, p->arrays.data[*array].name,
                       p->arrays.data[e->array].name);
    *array = e->array;
    *read = k;
    found++;
  }
  if (found == 1)
    return true;
  return po_refuse(p, call, "reads",
                   found ? "%s reads what is computed %u times, not once"
                         : "%s reads nothing that is computed (%u reads)",
                   stmt->name, found);
}

static bool
check_only_reader(const po_program *p, const po_step_call *call,
                  uint32_t consumer, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (k != consumer && po_stmt_reads(&p->stmts.data[k], array))
      return po_refuse(p, call, "several-readers", "%s reads %s, too",
                       p->stmts.data[k].name, p->arrays.data[array].name);
  return true;
}

/* All statements that compute an array, plain assignments that do not read
 * it; their number, 0 where one is not such. */
static uint32_t
plain_writers(const po_program *p, const po_step_call *call, uint32_t array,
              uint32_t *writers) {
  const char *name = p->arrays.data[array].name;
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (stmt->array != array)
      continue;
    if (stmt->kind != PO_ASSIGN) {
      po_refuse(p, call, "not-plain", "%s computes %s by a %s", stmt->name,
                name, stmt->kind == PO_CALL ? "call" : "reduction");
      return 0;
    }
    if (po_stmt_reads(stmt, array)) {
      po_refuse(p, call, "reads-itself", "%s reads %s itself", stmt->name,
                name);
      return 0;
    }
    writers[n++] = k;
  }
  return n;
}

/* Of the flow of values { P[j] -> C[i] }: what is written over before it is
 * read, or written after that, is not used. */
static __isl_give isl_map *
flow_between(__isl_keep isl_union_map *flow, const po_stmt *from,
             const po_stmt *user) {
  isl_space *space = isl_space_map_from_domain_and_range(
      isl_set_get_space(from->domain), isl_set_get_space(user->domain));
  return isl_union_map_extract_map(flow, space);
}

/* { P[j] -> C[i] }: the one instance that reads what each one computes, kept
 * by the program: the domain and the function. */
static bool
used_by(po_program *p, const po_step_call *call, const po_stmt *from,
        const po_stmt *user, __isl_keep isl_union_map *flow, isl_set **domain,
        isl_multi_aff **to) {
  po_pool_reserve(&p->pool, 2);
  isl_map *map = flow_between(flow, from, user);
  *domain = po_keep_set(&p->pool, isl_map_domain(isl_map_copy(map)));
  *to = NULL;
  if (isl_set_is_empty(*domain) == isl_bool_true) {
    isl_map_free(map);
    return true; /* nothing is read of it */
  }
  *to = po_one_piece(map, *domain);
  if (*to)
    *to = po_keep_multi_aff(&p->pool, *to);
  return *to ||
         po_refuse(p, call, "not-covered",
                   "which instance of %s reads what %s computes is not one "
                   "quasi-affine function",
                   user->name, from->name);
}

/* A statement that computes what the consumer reads, and what becomes of it. */
typedef struct maker {
  isl_set *domain;   /* what is read of it */
  isl_multi_aff *to; /* the consumer's instances; NULL: nothing is read */
} maker;

static bool
find_makers(po_program *p, const po_step_call *call, uint32_t consumer,
            uint32_t read, const uint32_t *writers, uint32_t n, maker *makers) {
  assert(consumer < p->stmts.len);
  const po_stmt *user = &p->stmts.data[consumer];
  po_pool_reserve(&p->pool, 1);
  po_flow flow = po_flow_of_values(p, user->exprs[read].array);
  isl_union_map_free(flow.unwritten);
  flow.from = po_keep_union_map(&p->pool, flow.from);
  isl_set *left = isl_set_copy(user->domain);
  bool ok = flow.from || po_refuse(p, call, "too-complex",
                                   "where %s gets its values from could not be "
                                   "found",
                                   user->name);
  for (uint32_t k = 0; ok && k < n; k++) {
    const po_stmt *from = &p->stmts.data[writers[k]];
    ok = used_by(p, call, from, user, flow.from, &makers[k].domain,
                 &makers[k].to);
    if (ok && makers[k].to)
      left = isl_set_subtract(
          left, isl_set_apply(
                    isl_set_copy(makers[k].domain),
                    isl_map_from_multi_aff(isl_multi_aff_copy(makers[k].to))));
  }
  bool all = isl_set_is_empty(left) == isl_bool_true;
  isl_set_free(left);
  if (ok && !all)
    ok = po_refuse(p, call, "not-covered", "%s reads more than %s computes",
                   user->name, p->stmts.data[writers[0]].name);
  return ok;
}

/* The consumer's body behind that of the statement that makes what it reads;
 * takes the relation of new instances to the consumer's. */
static isl_union_map *
put_behind(po_program *p, const po_stmt *user, uint32_t array, po_stmt *stmt,
           const maker *m) {
  body b = {0};
  po_pool_reserve(&p->pool, user->n_exprs + 2);
  append(p, &b, stmt, NULL, 0, UINT32_MAX);
  uint32_t root = as_kept(p, &b, array);
  append(p, &b, user, m->to, array, root);
  set_body(p, stmt, &b);
  stmt->domain = m->domain;
  stmt->array = user->array;
  stmt->write = po_keep_pw_multi_aff(
      &p->pool,
      isl_pw_multi_aff_pullback_multi_aff(isl_pw_multi_aff_copy(user->write),
                                          isl_multi_aff_copy(m->to)));
  stmt->term = user->term;
  stmt->span = user->span;
  isl_map *origin = isl_map_from_multi_aff(isl_multi_aff_copy(m->to));
  return isl_union_map_from_map(
      isl_map_intersect_domain(origin, isl_set_copy(m->domain)));
}

/* Removes the writers of which nothing is read, the last first; then the
 * consumer. */
static void
remove_unused(po_program *p, uint32_t consumer, const uint32_t *writers,
              const maker *makers, uint32_t n) {
  bool done = false;
  for (uint32_t k = n; k-- > 0;) {
    if (!done && consumer > writers[k]) {
      po_remove_stmt(p, consumer);
      done = true;
    }
    if (!makers[k].to)
      po_remove_stmt(p, writers[k]);
  }
  if (!done)
    po_remove_stmt(p, consumer);
}

bool
po_apply_reverse_compute_inline(po_program *p, po_step_call *call) {
  uint32_t consumer = call->args[0].stmt, array = 0, read = 0;
  const po_stmt *user = &p->stmts.data[consumer];
  if (user->kind != PO_ASSIGN)
    return po_refuse(p, call, "not-plain", "%s is not a plain assignment",
                     user->name);
  if (!find_producer(p, call, consumer, &array, &read))
    return false;
  if (p->arrays.data[array].role == PO_OUTPUT)
    return po_refuse(p, call, "output", "%s is an output",
                     p->arrays.data[array].name);
  if (!check_inlined(p, call, array) ||
      !check_only_reader(p, call, consumer, array))
    return false;
  uint32_t *writers = BS_NEWS(&p->arena, uint32_t, p->stmts.len);
  uint32_t n = plain_writers(p, call, array, writers);
  maker *makers = BS_NEWS(&p->arena, maker, n + 1);
  const char **gone = BS_NEWS(&p->arena, const char *, n + 1);
  if (!n || !find_makers(p, call, consumer, read, writers, n, makers))
    return false;
  po_program *before = po_copy(p);
  isl_union_map *origin = no_origin(p);
  for (uint32_t k = 0; k < n; k++) {
    gone[k] = p->stmts.data[writers[k]].name;
    if (!makers[k].to)
      continue;
    origin = isl_union_map_union(
        origin,
        put_behind(p, user, array, &p->stmts.data[writers[k]], &makers[k]));
  }
  remove_unused(p, consumer, writers, makers, n);
  po_forget_dependences(p);
  po_change change = {.origin = origin, .gone = gone, .n_gone = n};
  bool ok = po_values_are_preserved(before, p, call, &change);
  po_free(before);
  return ok;
}
