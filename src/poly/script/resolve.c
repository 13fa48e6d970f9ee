/* SPDX-License-Identifier: MIT */
/* resolve.c - names in scripts.
 *
 * A loop is named by its name, or as STMT.NAME: the loop around that statement
 * (or any that computes that array) which has this name, or had it before it
 * was numbered to be unique.  What is not found or not unique is answered with
 * the list of what could have been meant. */
#include "poly/schedule/change.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { MOST_CANDIDATES = 12, LONGEST = 128 };

/* ---- candidates ---- */

typedef struct names {
  const char *list[256];
  uint32_t n;
} names;

static void
add_name(names *all, const char *name) {
  for (uint32_t k = 0; k < all->n; k++)
    if (!strcmp(all->list[k], name))
      return;
  if (all->n < sizeof all->list / sizeof *all->list)
    all->list[all->n++] = name;
}

static bool
refuse_name(const po_program *p, bs_span span, const char *what,
            const char *name, const char *why, const names *all) {
  bs_text text;
  bs_text_init(&text, p->ctx.heap);
  for (uint32_t k = 0; k < all->n && k < MOST_CANDIDATES; k++)
    bs_putf(&text, "%s%s", k ? ", " : "", all->list[k]);
  if (all->n > MOST_CANDIDATES)
    bs_putf(&text, " and %u more", all->n - MOST_CANDIDATES);
  bs_error(p->ctx.diags, span, "unknown-name", "%s %s%s%s", what, name, why,
           all->n ? "" : ": there are none");
  const char *near = bs_nearest(name, all->list, all->n);
  if (near) {
    bs_hint(p->ctx.diags, "did you mean %s? there are %s", near,
            bs_text_str(&text));
    bs_fix(p->ctx.diags, near);
  } else if (all->n)
    bs_hint(p->ctx.diags, "there are %s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

/* ---- arrays and statements ---- */

static uint32_t
array_named(const po_program *p, const char *name) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (!strcmp(p->arrays.data[k].name, name))
      return k;
  return PO_NO_NODE;
}

bool
po_find_array(const po_program *p, const char *name, bs_span span,
              uint32_t *out) {
  *out = array_named(p, name);
  assert(*out == PO_NO_NODE || *out < p->arrays.len);
  if (*out != PO_NO_NODE)
    return true;
  names all = {.n = 0};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    add_name(&all, p->arrays.data[k].name);
  return refuse_name(p, span, "no array is named", name, "", &all);
}

static uint32_t
first_writer(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; array != PO_NO_NODE && k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array)
      return k;
  return PO_NO_NODE;
}

/* A statement, or the array of some; false where there is none. */
static bool
find_stmt(const po_program *p, const char *name, po_arg *out) {
  uint32_t k = po_stmt_named(p, name);
  out->stmt = k;
  out->array = PO_NO_NODE;
  if (k < p->stmts.len)
    return true;
  out->array = array_named(p, name);
  out->stmt = first_writer(p, out->array);
  return out->stmt != PO_NO_NODE;
}

static void
add_stmts(const po_program *p, names *all) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    add_name(all, p->stmts.data[k].name);
    add_name(all, p->arrays.data[p->stmts.data[k].array].name);
  }
}

bool
po_find_stmt(const po_program *p, const char *name, bs_span span, po_arg *out) {
  if (find_stmt(p, name, out))
    return true;
  names all = {.n = 0};
  add_stmts(p, &all);
  return refuse_name(p, span, "no statement is named or computes", name, "",
                     &all);
}

/* ---- loops ---- */

/* `name` is `wish`, or that with _1, _2, _1_0, ... */
static bool
is_numbered(const char *name, const char *wish) {
  size_t n = strlen(wish);
  if (strncmp(name, wish, n) != 0)
    return false;
  if (!name[n])
    return true;
  for (name += n; *name;) {
    if (*name++ != '_' || !isdigit((unsigned char)*name))
      return false;
    while (isdigit((unsigned char)*name))
      name++;
  }
  return true;
}

static bool
is_around(const po_program *p, uint32_t loop, const po_arg *stmt) {
  if (stmt->array == PO_NO_NODE)
    return po_nest_is_below(p, p->stmts.data[stmt->stmt].leaf, loop);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == stmt->array &&
        po_nest_is_below(p, p->stmts.data[k].leaf, loop))
      return true;
  return false;
}

static uint32_t
loops_around(const po_program *p, const po_arg *stmt, const char *name,
             bool numbered, names *all, uint32_t *found) {
  uint32_t n = 0;
  for (uint32_t k = 1; k < p->nest.nodes.len; k++) {
    const po_nest_node *node = po_node(p, k);
    if (node->kind != PO_LOOP || !is_around(p, k, stmt))
      continue;
    if (numbered ? !is_numbered(node->name, name) : strcmp(node->name, name))
      continue;
    *found = k;
    add_name(all, node->name);
    n++;
  }
  return n;
}

static void
add_loops(const po_program *p, const po_arg *stmt, names *all) {
  for (uint32_t k = 1; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP && (!stmt || is_around(p, k, stmt)))
      add_name(all, po_node(p, k)->name);
}

static bool
find_around(const po_program *p, const char *name, const char *dot,
            bs_span span, uint32_t *out) {
  char stmt_name[LONGEST];
  po_arg stmt;
  names all = {.n = 0};
  if (dot - name >= LONGEST)
    return bs_error(p->ctx.diags, span, "unknown-name", "the name is too long");
  memcpy(stmt_name, name, (size_t)(dot - name));
  stmt_name[dot - name] = '\0';
  if (!po_find_stmt(p, stmt_name, span, &stmt))
    return false;
  if (loops_around(p, &stmt, dot + 1, false, &all, out) == 1)
    return true;
  all.n = 0;
  uint32_t n = loops_around(p, &stmt, dot + 1, true, &all, out);
  if (n == 1)
    return true;
  if (n > 1)
    return refuse_name(p, span, "the loop", name, " is ambiguous", &all);
  all.n = 0;
  add_loops(p, &stmt, &all);
  return refuse_name(p, span, "no loop is named", name, "", &all);
}

bool
po_find_loop(const po_program *p, const char *name, bs_span span,
             uint32_t *out) {
  *out = *name ? po_nest_find(p, name) : PO_NO_NODE;
  if (*out != PO_NO_NODE)
    return true;
  const char *dot = strrchr(name, '.');
  if (dot)
    return find_around(p, name, dot, span, out);
  names all = {.n = 0};
  add_loops(p, NULL, &all);
  return refuse_name(p, span, "no loop is named", name, "", &all);
}

bool
po_find_node(const po_program *p, const char *name, bs_span span, po_arg *out) {
  out->stmt = po_stmt_named(p, name);
  uint32_t loop = *name ? po_nest_find(p, name) : PO_NO_NODE;
  if (out->stmt < p->stmts.len && loop != PO_NO_NODE) {
    names both = {.n = 0};
    add_name(&both, name);
    return refuse_name(p, span, "the name", name,
                       " is that of a loop and of a statement", &both);
  }
  if (out->stmt < p->stmts.len) {
    out->node = p->stmts.data[out->stmt].leaf;
    return true;
  }
  if (loop == PO_NO_NODE && find_stmt(p, name, out)) {
    out->node = p->stmts.data[out->stmt].leaf;
    return true;
  }
  return po_find_loop(p, name, span, &out->node);
}
