/* SPDX-License-Identifier: MIT */
/* define_use.c - uses of definitions, replaced by the terms they stand for.
 *
 * A use is a frame of the parser like an operator's.  Its operands are terms
 * and values of the place where it stands, so what is asked of their types in
 * the body is known; the body's terms are added as if they were written there.
 * Nothing is recursive: a definition may use itself, and what would go on for
 * ever ends at a limit. */
#include "glenside/text/parse.h"
#include "glenside/target/target.h"
#include <assert.h>
#include <string.h>

enum { MOST_USES = 1 << 18, MOST_NESTED = 4000, MOST_OPTIONS = 32 };

static parse_use *
innermost(gs_parser *x) {
  return &bs_last(&x->uses);
}

static const parse_definition *
definition_of(const gs_parser *x, const parse_use *u) {
  return &x->definitions.data[u->definition];
}

static bool
is_option(const gs_parser *x, uint32_t node) {
  const char *name = parse_symbol(x, node);
  return name && name[0] == ':' && name[1];
}

/* --- what is written ------------------------------------------------------ */

/* The S-expression that a use gives for a parameter, or 0. */
static uint32_t
argument_of(const gs_parser *x, const parse_definition *d, uint32_t list,
            uint32_t param) {
  uint32_t place = 0;
  for (uint32_t k = parse_at(x, list + 1)->next; k; k = parse_at(x, k)->next) {
    if (!is_option(x, k)) {
      if (place++ == param)
        return k;
      continue;
    }
    uint32_t value = parse_at(x, k)->next;
    if (!strcmp(parse_symbol(x, k) + 1, d->scope.vars.data[param].name) &&
        param >= d->n_places)
      return value;
    k = value ? value : k;
  }
  return 0;
}

/* How many arguments stand in their place. */
static uint32_t
count_places(const gs_parser *x, uint32_t list) {
  uint32_t n = 0;
  for (uint32_t k = parse_at(x, list + 1)->next; k; k = parse_at(x, k)->next) {
    n += !is_option(x, k);
    if (is_option(x, k) && parse_at(x, k)->next)
      k = parse_at(x, k)->next;
  }
  return n;
}

static void
hint_usage(gs_parser *x, const parse_definition *d) {
  bs_text usage;
  bs_text_init(&usage, x->ctx->heap);
  parse_put_call(&usage, d);
  bs_hint(x->ctx->diags, "write (%s%s", bs_as_sym(x->ctx->values, d->name),
          bs_text_str(&usage));
  bs_text_done(&usage);
}

/* The optional parameter that was perhaps meant by `:NAME`. */
static bool
hint_option(gs_parser *x, const parse_definition *d, const char *name) {
  const char *names[MOST_OPTIONS];
  uint32_t n = 0;
  for (uint32_t k = d->n_places; k < d->n_params && n < MOST_OPTIONS; k++)
    names[n++] =
        bs_arena_printf(x->ctx->arena, ":%s", d->scope.vars.data[k].name);
  const char *near = parse_nearest(name, names, n);
  if (near)
    bs_meant(x->ctx->diags, "`", near);
  return near != NULL;
}

static bool
check_option(gs_parser *x, const parse_definition *d, uint32_t node) {
  const char *name = parse_symbol(x, node);
  int slot = gs_scope_find(&d->scope, name + 1);
  const char *own = bs_as_sym(x->ctx->values, d->name);
  if (slot < (int)d->n_places || slot >= (int)d->n_params) {
    bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-attribute",
             "%s has no parameter `%.60s`", own, name);
    if (hint_option(x, d, name))
      return false;
  } else if (!parse_at(x, node)->next)
    bs_error(x->ctx->diags, parse_at(x, node)->span, "wrong-arity",
             "a value is missing after `%.60s`", name);
  else
    return true;
  hint_usage(x, d);
  return false;
}

static bool
check_arguments(gs_parser *x, const parse_definition *d, uint32_t list) {
  uint32_t n = count_places(x, list);
  if (n != d->n_places) {
    bs_error(x->ctx->diags, parse_at(x, list)->span, "wrong-arity",
             "%s takes %u %s, found %u", bs_as_sym(x->ctx->values, d->name),
             BS_COUNTED(d->n_places, "argument"), n);
    hint_usage(x, d);
    return false;
  }
  for (uint32_t k = parse_at(x, list + 1)->next; k; k = parse_at(x, k)->next) {
    if (!is_option(x, k))
      continue;
    if (!check_option(x, d, k))
      return false;
    k = parse_at(x, k)->next;
  }
  return true;
}

/* --- opening -------------------------------------------------------------- */

/* (softmax x) has the arguments of the operator, not of the definition. */
static bool
is_meant(const gs_parser *x, const parse_definition *d, uint32_t list) {
  const char *name = bs_as_sym(x->ctx->values, d->name);
  uint32_t n = count_places(x, list);
  gs_compute op;
  return n == d->n_places || !gs_compute_find(name, &op) ||
         gs_compute_table[op].kind == GS_FOLD ||
         n != 1 + strlen(gs_compute_table[op].params);
}

static bool
check_depth(gs_parser *x, uint32_t list) {
  bs_span span = parse_at(x, x->env ? parse_outermost(x)->list : list)->span;
  if (x->n_uses > MOST_USES)
    return false;
  if (x->n_uses == MOST_USES || x->uses.len >= MOST_NESTED) {
    bs_error(x->ctx->diags, span, "too-deep",
             "this definition does not end: more than %d uses, or %d inside "
             "each other",
             MOST_USES, MOST_NESTED);
    x->n_uses = MOST_USES + 1;
  }
  return x->n_uses < MOST_USES;
}

static void
open_use(gs_parser *x, const parse_definition *d, uint32_t list) {
  parse_use u = {.definition = (uint32_t)(d - x->definitions.data),
                 .list = list,
                 .env = x->env,
                 .slots = x->slots.len,
                 .item = parse_at(x, d->header)->next,
                 .broken =
                     !check_depth(x, list) || !check_arguments(x, d, list)};
  x->n_uses += x->n_uses < MOST_USES;
  for (uint32_t k = 0; k < d->scope.vars.len; k++)
    bs_push(x->ctx->heap, &x->slots, UINT32_MAX);
  bs_push(x->ctx->heap, &x->uses, u);
  bs_push(
      x->ctx->heap, &x->frames,
      (parse_frame){
          .list = list, .base = x->results.len, .env = x->env, .is_use = true});
}

bool
parse_open_use(gs_parser *x, uint32_t list) {
  assert(parse_at(x, list)->kind == BS_SX_LIST);
  const char *head = bs_sx_head(&x->sx, x->ctx->values, list);
  gs_op op;
  if (!head || gs_op_find(head, &op) ||
      (x->target && gs_find_instr(x->target, head)))
    return false;
  const parse_definition *d = parse_find_definition(x, head);
  if (!d || !is_meant(x, d, list))
    return false;
  open_use(x, d, list);
  return true;
}

/* --- values of parameters ------------------------------------------------- */

static void
set(gs_parser *x, uint32_t slot, uint32_t value) {
  x->slots.data[innermost(x)->slots + slot] = value;
}

/* Asks for a term, which the next step finds among the results. */
static bool
ask(gs_parser *x, uint32_t env, uint32_t node, uint32_t slot) {
  innermost(x)->waiting = slot;
  x->env = env;
  parse_open_node(x, node);
  return true;
}

/* A parameter that was not given is not given to what the body uses, either. */
static bool
is_unset(const gs_parser *x, uint32_t env, uint32_t node) {
  const char *name = parse_symbol(x, node);
  if (!env || !name)
    return false;
  const parse_use *u = &x->uses.data[env - 1];
  int slot = gs_scope_find(&definition_of(x, u)->scope, name);
  return slot >= 0 && x->slots.data[u->slots + (uint32_t)slot] == UINT32_MAX;
}

/* Gives the next parameter its value; true where a term was asked for. */
static bool
next_parameter(gs_parser *x) {
  parse_use *u = innermost(x);
  const parse_definition *d = definition_of(x, u);
  uint32_t k = u->param++, env = u->env;
  uint32_t node = argument_of(x, d, u->list, k);
  gs_sort sort = d->scope.vars.data[k].sort;
  if (!node) {
    env = x->uses.len;
    node = d->defaults[k];
  }
  if (!node || (k >= d->n_places && is_unset(x, env, node)))
    return false;
  if (sort == GS_SORT_CLASS)
    return ask(x, env, node, k);
  bs_value v;
  x->env = env;
  if (parse_value(x, sort, node, &v))
    set(x, k, v.i);
  else
    u->broken = true;
  return false;
}

/* --- items ---------------------------------------------------------------- */

static bool
step_let(gs_parser *x, uint32_t second, uint32_t third) {
  parse_use *u = innermost(x);
  const gs_scope *scope = &definition_of(x, u)->scope;
  const char *text = parse_symbol(x, second);
  char name[208];
  size_t n = strcspn(text, ":");
  memcpy(name, text, n < 200 ? n : 200);
  name[n < 200 ? n : 200] = '\0';
  int slot = gs_scope_find(scope, name);
  gs_sort sort = scope->vars.data[slot].sort;
  if (sort == GS_SORT_CLASS)
    return ask(x, x->uses.len, third, (uint32_t)slot);
  bs_value v;
  if (parse_value(x, sort, third, &v))
    set(x, (uint32_t)slot, v.i);
  else
    u->broken = true;
  return false;
}

static bool
step_condition(gs_parser *x, bool is_case, uint32_t second, uint32_t third) {
  /* A case of what comes with the language is shorter, not different. */
  bool needed = !is_case || !definition_of(x, innermost(x))->built_in;
  bool holds;
  if (!parse_holds(x, second, needed, &holds)) {
    innermost(x)->broken = true;
    return false;
  }
  if (is_case && holds) {
    innermost(x)->last = true;
    return ask(x, x->uses.len, third, 0);
  }
  if (is_case || holds)
    return false;
  innermost(x)->broken = true;
  parse_blame(x, "not-met",
              bs_as_sym(x->ctx->values, parse_at(x, third)->value),
              parse_at(x, second)->span);
  return false;
}

/* Goes through the next item; true where a term was asked for. */
static bool
next_item(gs_parser *x) {
  parse_use *u = innermost(x);
  uint32_t node = u->item;
  u->item = parse_at(x, node)->next;
  x->env = x->uses.len;
  if (!u->item) {
    u->last = true;
    return ask(x, x->env, node, 0);
  }
  if (parse_at(x, node)->kind == BS_SX_STRING)
    return false;
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  uint32_t second = parse_at(x, node + 1)->next;
  uint32_t third = parse_at(x, second)->next;
  if (!strcmp(head, "let"))
    return step_let(x, second, third);
  return step_condition(x, !strcmp(head, "case"), second, third);
}

/* --- the steps of a use --------------------------------------------------- */

/* What was asked for last has come: it is the value of a variable. */
static void
take_answer(gs_parser *x, uint32_t base) {
  if (x->results.len == base || innermost(x)->last)
    return;
  gs_term t = bs_pop(&x->results);
  set(x, innermost(x)->waiting, t.i);
  innermost(x)->broken |= !gs_term_ok(t);
}

/* Operands are read even after a fault, so that theirs are told, too. */
static bool
more_parameters(const gs_parser *x) {
  const parse_use *u = &bs_last(&x->uses);
  return u->param < definition_of(x, u)->n_params;
}

bool
parse_step_use(gs_parser *x) {
  assert(x->uses.len && x->frames.len);
  take_answer(x, bs_last(&x->frames).base);
  while (more_parameters(x))
    if (next_parameter(x))
      return true;
  while (!innermost(x)->broken && !innermost(x)->last)
    if (next_item(x))
      return true;
  return false;
}

gs_term
parse_close_use(gs_parser *x, uint32_t base) {
  assert(x->uses.len && base <= x->results.len);
  parse_use u = bs_pop(&x->uses);
  gs_term t = x->results.len > base ? bs_last(&x->results) : GS_NO_TERM;
  x->slots.len = u.slots;
  x->env = u.env;
  return u.broken ? GS_NO_TERM : t;
}
