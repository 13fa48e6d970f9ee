/* SPDX-License-Identifier: MIT */
/* tree_check.c - see tree_check.h. */
#include "codegen/tree/tree_check.h"
#include "base/hash.h"
#include <string.h>

enum { BUCKETS = 256 };

/* A name that is declared, the one that was declared before it, and another one
 * of its bucket. */
typedef struct name {
  const char *text;
  uint32_t level; /* of the list that it is declared in */
  uint32_t bucket;
  const struct name *before, *beside;
} name;

typedef struct checker {
  const cg_asked *asked;
  const name *names;
  const name *declared[BUCKETS];
  const name *known[BUCKETS]; /* what the file has, as far as it was asked */
  uint32_t level;
  const char *why;
} checker;

static void check_chain(checker *, const cg_node *);

static void fault(checker *, const char *format, const char *what);

static void
fault(checker *c, const char *format, const char *what) {
  if (!c->why)
    c->why =
        bs_arena_printf(c->asked->arena, "%s: %s", what ? what : "?", format);
}

/* ---- names ---- */

static uint32_t
bucket_of(const char *text, size_t length) {
  return (uint32_t)(bs_hash(text, length) % BUCKETS);
}

static const name *
find_name(const name *bucket, const char *text, size_t length) {
  while (bucket &&
         (strncmp(bucket->text, text, length) != 0 || bucket->text[length]))
    bucket = bucket->beside;
  return bucket;
}

static const name *
add_name(checker *c, const char *text, uint32_t bucket, const name **to) {
  name *n = BS_NEW(c->asked->arena, name);
  *n = (name){text, c->level, bucket, c->names, *to};
  *to = n;
  return n;
}

/* Of `lanes.v` the variable is what is declared. */
static bool
is_declared(checker *c, const char *text) {
  size_t length = strcspn(text, "."), all = strlen(text);
  if (find_name(c->declared[bucket_of(text, length)], text, length))
    return true;
  uint32_t bucket = bucket_of(text, all);
  if (find_name(c->known[bucket], text, all))
    return true;
  if (!c->asked->is_known || !c->asked->is_known(text, c->asked->arg))
    return false;
  add_name(c, text, bucket, &c->known[bucket]);
  return true;
}

static void
check_name(checker *c, const char *text) {
  if (c->asked->complete && !is_declared(c, text))
    fault(c, "used, and not declared", text);
}

/* The newest of a name stands first in its bucket. */
static void
declare(checker *c, const char *text) {
  uint32_t bucket = bucket_of(text, strlen(text));
  const name *other = find_name(c->declared[bucket], text, strlen(text));
  if (other && other->level == c->level)
    fault(c, "declared twice", text);
  c->names = add_name(c, text, bucket, &c->declared[bucket]);
}

/* At the end of a list. */
static void
forget_names(checker *c, const name *before) {
  for (; c->names != before; c->names = c->names->before)
    c->declared[c->names->bucket] = c->names->beside;
}

/* ---- expressions ---- */

static bool
has_operands(const cg_expr *x) {
  switch (x->kind) {
  case CG_NUMBER:
    return !x->n;
  case CG_LITERAL:
  case CG_NAME:
    return !x->n && x->text;
  case CG_INFIX:
    return x->n >= 2 && cg_is_infix(x->op);
  case CG_PREFIX:
    return x->n == 1 && cg_is_prefix(x->op);
  case CG_POSTFIX:
    return x->n == 1 && x->op == CG_OP_INCREMENT;
  case CG_BRACES:
    return x->n;
  case CG_CAST:
    return x->n == 1 && x->text;
  case CG_CALLED:
    return x->text && *x->text;
  case CG_ELEMENT:
    return x->n == 2;
  case CG_CHOICE:
    return x->n == 3;
  case CG_PAREN:
  case CG_BROKEN:
    return x->n == 1;
  }
  return false;
}

/* The level that operand k has to have at least. */
static int
level_asked(const cg_expr *x, uint32_t k) {
  switch (x->kind) {
  case CG_INFIX:
    return cg_level_of_operator(x->op) + (k > 0);
  case CG_PREFIX:
  case CG_CAST:
    return CG_LEVEL_UNARY;
  case CG_ELEMENT:
    return k ? CG_LEVEL_CHOICE : CG_LEVEL_PRIMARY;
  case CG_CHOICE:
    return k ? CG_LEVEL_CHOICE : CG_LEVEL_OR;
  case CG_POSTFIX:
    return CG_LEVEL_PRIMARY;
  case CG_BROKEN:
    return CG_LEVEL_COMMA;
  case CG_BRACES:
  case CG_CALLED:
  case CG_PAREN:
  case CG_NUMBER:
  case CG_LITERAL:
  case CG_NAME:
    break;
  }
  return CG_LEVEL_CHOICE;
}

/* What messages call an expression. */
static const char *
name_of(const cg_expr *x) {
  return x->op != CG_OP_NONE ? cg_sign(x->op) : x->text;
}

static void
check_expr(checker *c, const cg_expr *x) {
  if (!x || !has_operands(x)) {
    fault(c, "an expression without what its kind needs",
          x ? name_of(x) : NULL);
    return;
  }
  if (x->kind == CG_NAME)
    check_name(c, x->text);
  for (uint32_t k = 0; k < x->n && !c->why; k++) {
    check_expr(c, x->args[k]);
    if (!c->why && cg_level(x->args[k]) < level_asked(x, k))
      fault(c, "an operand binds looser than its operator", name_of(x));
  }
}

/* ---- loops ---- */

/* The loops that a team shares stand one right in the other. */
static void
check_team(checker *c, const cg_node *loop) {
  const cg_node *at = loop;
  for (uint32_t k = 1; k < loop->head.collapse; k++) {
    at = at->first;
    while (cg_is_one(at) && at->kind == CG_MARK)
      at = at->first;
    if (!cg_is_one(at) || at->kind != CG_FOR || at->head.once ||
        !at->head.is_team) {
      fault(c, "a team shares what is not a loop", loop->head.iterator);
      return;
    }
  }
}

static void
check_lanes(checker *c, const cg_for *head) {
  if (head->lanes != CG_LANES_NONE && head->step != 1)
    fault(c, "its lanes are not next to each other", head->iterator);
  if (head->lanes == CG_LANES_NONE && head->n_reductions)
    fault(c, "reduces without lanes", head->iterator);
  for (uint32_t k = 0; k < head->n_reductions; k++)
    check_name(c, head->reductions[k].name);
}

static void
check_head(checker *c, const cg_node *n) {
  const cg_for *head = &n->head;
  if (!head->iterator || (head->type && !head->first)) {
    fault(c, "a loop declares its iterator, or has no first value",
          head->iterator);
    return;
  }
  if (head->first)
    check_expr(c, head->first);
  if (!head->type)
    check_name(c, head->iterator);
  if (head->also)
    check_name(c, head->also);
  check_lanes(c, head);
  check_team(c, n);
}

static void
note_target(const cg_expr *x, bool target, void *arg) {
  (void)target;
  const char **wanted = arg;
  if (*wanted && cg_is_name(x, *wanted))
    *wanted = NULL;
}

/* The body gives the variable another value. */
static bool
assigns(const cg_node *chain, const char *variable) {
  for (const cg_node *n = chain; n && variable; n = n->next)
    if (n->kind == CG_STORE) {
      cg_node target = {.kind = CG_DO, .effect = n->store.target};
      cg_each_expr(&target, note_target, &variable);
    }
  return !variable;
}

static void
check_for(checker *c, const cg_node *n) {
  const cg_for *head = &n->head;
  const name *before = c->names;
  check_head(c, n);
  c->level++;
  if (!c->why && head->type)
    declare(c, head->iterator);
  if (!c->why && head->beside)
    declare(c, head->beside);
  if (!c->why && !head->once) {
    check_expr(c, head->condition);
    if (!c->why && !cg_names(head->condition, head->iterator))
      fault(c, "its condition does not name it", head->iterator);
    if (head->step < 0 || (head->by && head->step) ||
        (!head->step && !head->by && !assigns(n->first, head->iterator)))
      fault(c, "it does not go up", head->iterator);
    if (head->by)
      check_expr(c, head->by);
  }
  if (!c->why)
    check_chain(c, n->first);
  c->level--;
  forget_names(c, before);
}

/* ---- the others ---- */

static void
check_let(checker *c, const cg_node *n, const cg_node *before) {
  const cg_let *let = &n->let;
  if (!let->type || !let->name || let->elements < 0 ||
      (let->elements && let->value && let->value->kind != CG_BRACES)) {
    fault(c, "a declaration without what it needs", let->name);
    return;
  }
  if (let->joins && (!before || before->kind != CG_LET ||
                     strcmp(before->let.type, let->type)))
    fault(c, "joins no declaration of its type", let->name);
  if (let->value)
    check_expr(c, let->value);
  declare(c, let->name);
}

static void
check_store(checker *c, const cg_store *store) {
  if (store->op != CG_OP_SET && store->op != CG_OP_ADD &&
      store->op != CG_OP_SUBTRACT && store->op != CG_OP_MULTIPLY &&
      store->op != CG_OP_DIVIDE)
    fault(c, "no assignment", cg_sign(store->op));
  check_expr(c, store->target);
  check_expr(c, store->value);
  if (!c->why && store->target->kind != CG_NAME &&
      store->target->kind != CG_ELEMENT && store->target->kind != CG_PREFIX)
    fault(c, "nothing can be stored there", name_of(store->target));
}

static bool
has_effect(const cg_expr *x) {
  bool all = true;
  for (uint32_t k = 0; x->kind == CG_INFIX && k < x->n; k++)
    all &= has_effect(x->args[k]);
  return x->kind == CG_CALLED || x->kind == CG_POSTFIX ||
         (x->kind == CG_CAST && !strcmp(x->text, "void")) ||
         (x->op == CG_OP_COMMA && all);
}

static void
check_effect(checker *c, const cg_expr *x) {
  check_expr(c, x);
  if (!c->why && !has_effect(x))
    fault(c, "a statement without effect", name_of(x));
}

static void
check_template(checker *c, const cg_template *text) {
  for (uint32_t k = 0; k < text->n && !c->why; k++)
    check_expr(c, text->parts[k]);
}

static void
check_launch(checker *c, const cg_launched *launched) {
  const cg_expr *parts[] = {launched->call, launched->blocks,
                            launched->threads};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    check_expr(c, parts[k]);
    if (!c->why && parts[k]->kind != CG_CALLED)
      fault(c, "is no call", "a part of a launch");
  }
}

static void
check_list(checker *c, const cg_node *chain) {
  const name *before = c->names;
  c->level++;
  check_chain(c, chain);
  c->level--;
  forget_names(c, before);
}

static void
check_if(checker *c, const cg_node *n) {
  check_expr(c, n->test.condition);
  if (n->bare && n->test.otherwise)
    fault(c, "a bare branch with another one", "if");
  check_list(c, n->first);
  check_list(c, n->test.otherwise);
}

/* A case is found in any of the lists. */
static void
check_cases(checker *c, const cg_node *chain) {
  for (const cg_node *k = chain; k && !c->why; k = k->next)
    if (k->kind == CG_WHEN) {
      check_cases(c, k->first);
      check_cases(c, k->when.otherwise);
    } else if (k->kind != CG_CASE) {
      fault(c, "something that is no case", "a switch");
    }
}

static void
check_switch(checker *c, const cg_node *n) {
  check_expr(c, n->effect);
  check_cases(c, n->first);
  check_list(c, n->first);
}

static void
check_when(checker *c, const cg_node *n) {
  const cg_node *other = n->when.otherwise;
  if (!n->when.condition)
    fault(c, "no condition", "what is compiled on one");
  if (other && other->kind == CG_WHEN && other->when.joins && other->next)
    fault(c, "something stands behind what is joined", other->when.condition);
  check_list(c, n->first);
  check_list(c, other);
}

/* Its body is one statement, which may stand without braces. */
static bool
may_be_bare(const cg_node *n) {
  return (n->kind == CG_FOR || n->kind == CG_IF) && cg_is_one(n->first) &&
         n->first->kind != CG_LET && n->first->kind != CG_COMMENT &&
         n->first->kind != CG_NOTHING;
}

static void
check_node(checker *c, const cg_node *n, const cg_node *before) {
  if (n->bare && !may_be_bare(n)) {
    fault(c, "a body without braces that is not one statement",
          n->kind == CG_FOR ? n->head.iterator : "if");
    return;
  }
  switch (n->kind) {
  case CG_FOR:
    check_for(c, n);
    break;
  case CG_IF:
    check_if(c, n);
    break;
  case CG_BLOCK:
  case CG_CASE:
    check_list(c, n->first);
    break;
  case CG_SWITCH:
    check_switch(c, n);
    break;
  case CG_WHEN:
    check_when(c, n);
    break;
  case CG_LET:
    check_let(c, n, before);
    break;
  case CG_STORE:
    check_store(c, &n->store);
    break;
  case CG_DO:
    check_effect(c, n->effect);
    break;
  case CG_TEMPLATE:
    check_template(c, &n->text);
    break;
  case CG_LAUNCH:
    check_launch(c, &n->launched);
    break;
  case CG_MARK:
    if (c->asked->complete)
      fault(c, "is left in a complete tree", "a mark");
    check_chain(c, n->first);
    break;
  case CG_RETURN:
    if (n->result)
      check_expr(c, n->result);
    break;
  case CG_COMMENT:
  case CG_ERROR:
    if (!n->comment)
      fault(c, "has no text", "a comment");
    break;
  case CG_CONTINUE:
  case CG_BARRIER:
  case CG_NOTHING:
    if (n->first)
      fault(c, "has a body", "what is one statement");
    break;
  }
}

static void
check_chain(checker *c, const cg_node *chain) {
  const cg_node *before = NULL;
  for (const cg_node *n = chain; n && !c->why; before = n, n = n->next)
    check_node(c, n, before);
}

const char *
cg_check_tree(const cg_asked *asked, const cg_node *body) {
  checker c = {.asked = asked};
  check_chain(&c, body);
  return c.why;
}
