/* SPDX-License-Identifier: MIT */
/* untouched.c - what a step left alone: statements, and all accesses of an
 * array.
 *
 * A step changes a few statements of what may be hundreds, and each is asked
 * which: so both programs are walked once, and not once for each array. */
#include "poly/loops/access.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <string.h>

/* ---- statements ---- */

/* Of calls of one instruction; other statements have none. */
static bool
has_same_operands(const po_stmt *a, const po_stmt *b) {
  for (uint32_t k = 0; a->instr && k <= a->instr->n_operands; k++)
    if (a->operands[k].array != b->operands[k].array ||
        a->operands[k].base != b->operands[k].base)
      return false;
  return true;
}

static bool
is_same_stmt(const po_stmt *a, const po_stmt *b) {
  /* Copies of isl objects are the objects themselves. */
  if (a->domain != b->domain || a->time != b->time || a->write != b->write ||
      a->array != b->array || a->kind != b->kind || a->op != b->op ||
      a->n_exprs != b->n_exprs || a->instr != b->instr)
    return false;
  for (uint32_t k = 0; k < a->n_exprs; k++)
    if (a->exprs[k].kind != b->exprs[k].kind ||
        a->exprs[k].array != b->exprs[k].array ||
        a->exprs[k].index != b->exprs[k].index)
      return false;
  return has_same_operands(a, b);
}

static bool
is_same_array(const po_array *a, const po_array *b) {
  bool same = a->role == b->role && a->scope == b->scope && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++)
    same = a->dim[d] == b->dim[d] && a->fold[d] == b->fold[d];
  return same;
}

static bool
is_named(const po_program *p, uint32_t stmt, const char *name) {
  return stmt < p->stmts.len && !strcmp(p->stmts.data[stmt].name, name);
}

/* A statement's number in the program as it was, which is the same one or near
 * it; or the number of statements. */
static uint32_t
number_before(const po_program *before, const char *name, uint32_t now) {
  for (uint32_t d = 0; d <= now || now + d < before->stmts.len; d++) {
    if (d <= now && is_named(before, now - d, name))
      return now - d;
    if (is_named(before, now + d, name))
      return now + d;
  }
  return before->stmts.len;
}

bool
po_is_untouched(const po_program *before, const po_program *after,
                uint32_t stmt) {
  assert(stmt < after->stmts.len);
  const po_stmt *s = &after->stmts.data[stmt];
  uint32_t was = number_before(before, s->name, stmt);
  return was < before->stmts.len && is_same_stmt(&before->stmts.data[was], s);
}

static uint32_t
placed_as(const po_program *before, const po_program *after, uint32_t stmt) {
  assert(stmt < after->stmts.len);
  const po_stmt *s = &after->stmts.data[stmt];
  uint32_t k = number_before(before, s->name, stmt);
  const po_stmt *was = k < before->stmts.len ? &before->stmts.data[k] : NULL;
  return was && was->domain == s->domain && was->time == s->time ? k
                                                                 : PO_NO_NODE;
}

/* ---- who accesses an array ---- */

/* The k-th array that a statement accesses, of 1 + n_exprs and its operands;
 * PO_NO_NODE: that expression reads none. */
static uint32_t
array_of(const po_stmt *s, uint32_t k) {
  if (k == 0)
    return s->array;
  if (k > s->n_exprs)
    return s->operands[k - 1 - s->n_exprs].array;
  const po_expr *e = &s->exprs[k - 1];
  return e->kind == PO_READ || e->kind == PO_GATHER ? e->array : PO_NO_NODE;
}

static uint32_t
n_accesses(const po_stmt *s) {
  return 1 + s->n_exprs + (s->instr ? s->instr->n_operands : 0);
}

/* Calls visit once for each statement, in the order of the tree, and each of
 * the n arrays that it accesses. */
static void
visit_users(const po_program *p, uint32_t n, uint32_t *last, po_users *users,
            void (*visit)(po_users *, uint32_t array, uint32_t stmt)) {
  for (uint32_t a = 0; a < n; a++)
    last[a] = PO_NO_NODE;
  for (uint32_t leaf = po_nest_first_leaf(p, 0); leaf != PO_NO_NODE;
       leaf = po_nest_next_leaf(p, leaf, 0)) {
    uint32_t stmt = p->nest.nodes.data[leaf].stmt;
    const po_stmt *s = &p->stmts.data[stmt];
    for (uint32_t k = 0; k < n_accesses(s); k++) {
      uint32_t a = array_of(s, k);
      if (a >= n || last[a] == stmt)
        continue;
      last[a] = stmt;
      visit(users, a, stmt);
    }
  }
}

static void
count_user(po_users *users, uint32_t array, uint32_t stmt) {
  (void)stmt;
  users->first[array + 1]++;
}

static void
put_user(po_users *users, uint32_t array, uint32_t stmt) {
  users->stmts[users->first[array + 1]++] = stmt;
}

/* Counted into the place after its own, an array's users begin where those of
 * the one before it end; when all are put, they end there. */
static po_users
users_of(const po_program *p, bs_arena *arena) {
  uint32_t n = p->arrays.len;
  uint32_t *last = BS_NEWS(arena, uint32_t, n + 1);
  po_users users = {.first = BS_NEWS(arena, uint32_t, n + 2)};
  memset(users.first, 0, (n + 2) * sizeof *users.first);
  visit_users(p, n, last, &users, count_user);
  uint32_t sum = 0;
  for (uint32_t a = 1; a <= n; a++) {
    uint32_t own = users.first[a];
    users.first[a] = sum;
    sum += own;
  }
  users.stmts = BS_NEWS(arena, uint32_t, sum + 1);
  visit_users(p, n, last, &users, put_user);
  return users;
}

/* ---- arrays ---- */

/* The next expression from k on that looks at the array; n_exprs. */
static uint32_t
next_read(const po_stmt *s, uint32_t array, uint32_t k) {
  while (k < s->n_exprs &&
         ((s->exprs[k].kind != PO_READ && s->exprs[k].kind != PO_GATHER) ||
          s->exprs[k].array != array))
    k++;
  return k;
}

static bool
reads_alike(const po_stmt *a, const po_stmt *b, uint32_t array) {
  uint32_t i = next_read(a, array, 0), j = next_read(b, array, 0);
  for (; i < a->n_exprs && j < b->n_exprs;
       i = next_read(a, array, i + 1), j = next_read(b, array, j + 1))
    if (a->exprs[i].kind != b->exprs[j].kind ||
        a->exprs[i].index != b->exprs[j].index)
      return false;
  return i == a->n_exprs && j == b->n_exprs;
}

/* Two statements of the same instances, at the same times, do the same to an
 * array, whatever they do to others. */
static bool
accesses_alike(const po_stmt *a, const po_stmt *b, uint32_t array) {
  if (a->instr != b->instr || (a->array == array) != (b->array == array) ||
      (a->array == array &&
       (a->write != b->write || a->kind != b->kind || a->op != b->op)))
    return false;
  return has_same_operands(a, b) && reads_alike(a, b, array);
}

const po_untouched *
po_find_untouched(const po_program *before, po_program *after) {
  po_untouched *u = BS_NEW(&after->arena, po_untouched);
  *u = (po_untouched){
      .before = before,
      .after = after,
      .placed = BS_NEWS(&after->arena, uint32_t, after->stmts.len + 1),
      .was = users_of(before, &after->arena),
      .is = users_of(after, &after->arena)};
  for (uint32_t k = 0; k < after->stmts.len; k++)
    u->placed[k] = placed_as(before, after, k);
  return u;
}

static uint32_t
n_users(const po_users *users, uint32_t array) {
  return users->first[array + 1] - users->first[array];
}

bool
po_array_is_untouched(const po_untouched *u, uint32_t array) {
  assert(u->before && u->after);
  const po_program *before = u->before, *after = u->after;
  if (array >= before->arrays.len || array >= after->arrays.len ||
      strcmp(before->arrays.data[array].name, after->arrays.data[array].name) ||
      !is_same_array(&before->arrays.data[array], &after->arrays.data[array]) ||
      n_users(&u->was, array) != n_users(&u->is, array))
    return false;
  for (uint32_t k = u->is.first[array]; k < u->is.first[array + 1]; k++) {
    uint32_t stmt = u->is.stmts[k], was = u->placed[stmt];
    if (was == PO_NO_NODE || !accesses_alike(&before->stmts.data[was],
                                             &after->stmts.data[stmt], array))
      return false;
  }
  return true;
}
