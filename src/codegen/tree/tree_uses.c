/* SPDX-License-Identifier: MIT */
/* tree_uses.c - what a list of nodes uses: the questions of passes and
 * printers. */
#include "codegen/tree/tree.h"
#include <string.h>

/* ---- every expression ---- */

typedef void see_expr(const cg_expr *, bool target, void *arg);

static void
see_all(const cg_expr *x, bool target, see_expr *see, void *arg) {
  if (!x)
    return;
  see(x, target, arg);
  for (uint32_t k = 0; k < x->n; k++)
    see_all(x->args[k], target && !k && x->kind == CG_ELEMENT, see, arg);
}

static void
see_node(const cg_node *n, see_expr *see, void *arg) {
  switch (n->kind) {
  case CG_FOR:
    see_all(n->head.first, false, see, arg);
    see_all(n->head.condition, false, see, arg);
    see_all(n->head.by, false, see, arg);
    break;
  case CG_IF:
    see_all(n->test.condition, false, see, arg);
    break;
  case CG_LET:
    see_all(n->let.value, false, see, arg);
    break;
  case CG_STORE:
    see_all(n->store.target, n->store.op == CG_OP_SET, see, arg);
    see_all(n->store.value, false, see, arg);
    break;
  case CG_DO:
  case CG_SWITCH:
    see_all(n->effect, false, see, arg);
    break;
  case CG_TEMPLATE:
    for (uint32_t k = 0; k < n->text.n; k++)
      see_all(n->text.parts[k], false, see, arg);
    break;
  case CG_LAUNCH:
    see_all(n->launched.call, false, see, arg);
    break;
  case CG_RETURN:
    see_all(n->result, false, see, arg);
    break;
  case CG_BLOCK:
  case CG_CASE:
  case CG_WHEN:
  case CG_CONTINUE:
  case CG_ERROR:
  case CG_COMMENT:
  case CG_BARRIER:
  case CG_MARK:
  case CG_NOTHING:
    break;
  }
}

void
cg_each_expr(const cg_node *chain, see_expr *see, void *arg) {
  for (const cg_node *n = chain; n; n = n->next) {
    see_node(n, see, arg);
    cg_each_expr(n->first, see, arg);
    cg_each_expr(cg_other_branch(n), see, arg);
  }
}

/* ---- one name ---- */

typedef struct question {
  const char *name;
  bool reads; /* assignments do not count */
  bool found;
} question;

static void
ask(const cg_expr *x, bool target, void *arg) {
  question *q = arg;
  q->found |= cg_is_name(x, q->name) && !(target && q->reads);
}

static bool
declares(const cg_node *n, const char *name) {
  return (n->kind == CG_LET && !strcmp(n->let.name, name)) ||
         (n->kind == CG_FOR && n->head.type && !strcmp(n->head.iterator, name));
}

/* The loop adds to a variable that was declared before it. */
static bool
goes_on(const cg_for *loop, const char *name) {
  return (!loop->type && !strcmp(loop->iterator, name)) ||
         (loop->also && !strcmp(loop->also, name));
}

/* From where a name is declared anew it is another variable's. */
static void
look(const cg_node *chain, question *q) {
  for (const cg_node *n = chain; n && !q->found; n = n->next) {
    see_node(n, ask, q);
    q->found |= n->kind == CG_FOR && goes_on(&n->head, q->name);
    if (declares(n, q->name)) {
      if (n->kind == CG_LET)
        return;
      continue;
    }
    look(n->first, q);
    look(cg_other_branch(n), q);
  }
}

bool
cg_mentions(const cg_node *chain, const char *name) {
  question q = {.name = name};
  look(chain, &q);
  return q.found;
}

bool
cg_reads(const cg_node *chain, const char *name) {
  question q = {.name = name, .reads = true};
  look(chain, &q);
  return q.found;
}
