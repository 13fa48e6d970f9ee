/* SPDX-License-Identifier: MIT */
/* script_args.c - the arguments of a command, as the table of primitives says.
 */
#include "poly/script/script.h"
#include <assert.h>

typedef struct arguments {
  po_script_run *s;
  uint32_t at, hi;
  po_step_call *call;
} arguments;

static bool
wants(arguments *a, const char *what) {
  uint32_t k = a->at < a->hi ? a->at : a->hi - 1;
  bs_error(a->s->diags, po_tok(a->s, k)->span, "usage", "%s: %s is expected %s",
           a->call->primitive->name, what,
           a->at < a->hi ? "here" : "after this");
  bs_hint(a->s->diags, "usage: %s", a->call->primitive->usage);
  return false;
}

static const po_sched_token *
next_if(arguments *a, po_sched_token_kind kind) {
  if (a->at >= a->hi || po_tok(a->s, a->at)->kind != kind)
    return NULL;
  return po_tok(a->s, a->at++);
}

static bool
next_mark(arguments *a, const char *mark) {
  if (a->at >= a->hi || !po_is_mark(po_tok(a->s, a->at), mark))
    return false;
  a->at++;
  return true;
}

static bool
one_loop(arguments *a, const char *of, uint32_t *out) {
  const po_sched_token *t = next_if(a, PO_ST_WORD);
  if (!t)
    return wants(a, "a loop");
  const po_program *p = *a->s->program;
  if (!of || strchr(t->word, '.') || po_nest_find(p, t->word) != PO_NO_NODE)
    return po_find_loop(p, t->word, t->span, out);
  const char *name = bs_arena_printf(a->s->arena, "%s.%s", of, t->word);
  return po_find_loop(p, name, t->span, out);
}

static bool
list_item(arguments *a, po_arg_kind kind, const char *of, uint32_t *node,
          int64_t *number) {
  if (kind == PO_ARG_LOOPS)
    return one_loop(a, of, node);
  const po_sched_token *t =
      next_if(a, kind == PO_ARG_INTS ? PO_ST_NUMBER : PO_ST_WORD);
  if (!t)
    return wants(a, kind == PO_ARG_INTS ? "an integer" : "a statement");
  *number = t->number;
  po_arg stmt = {0};
  if (kind == PO_ARG_STMTS) {
    if (!po_find_stmt(*a->s->program, t->word, t->span, &stmt))
      return false;
    *node = stmt.stmt;
  }
  return true;
}

static bool
read_list(arguments *a, po_arg *arg) {
  const po_sched_token *of = NULL;
  if (arg->kind == PO_ARG_LOOPS)
    of = next_if(a, PO_ST_WORD);
  if (!next_mark(a, "["))
    return wants(a, "[");
  uint32_t most = a->hi - a->at + 1;
  uint32_t *nodes = BS_NEWS(a->s->arena, uint32_t, most);
  int64_t *numbers = BS_NEWS(a->s->arena, int64_t, most);
  arg->nodes = nodes;
  arg->numbers = numbers;
  while (!next_mark(a, "]")) {
    if (arg->n && !next_mark(a, ","))
      return wants(a, ", or ]");
    if (!list_item(a, arg->kind, of ? of->word : NULL, &nodes[arg->n],
                   &numbers[arg->n]))
      return false;
    arg->n++;
  }
  return true;
}

static bool
read_word(arguments *a, po_arg *arg, po_sched_token_kind kind,
          const char *what) {
  const po_sched_token *t = next_if(a, kind);
  if (!t)
    return wants(a, what);
  arg->word = t->word;
  arg->number = t->number;
  return true;
}

static bool
read_arg(arguments *a, po_arg *arg) {
  const po_program *p = *a->s->program;
  const po_sched_token *t = a->at < a->hi ? po_tok(a->s, a->at) : NULL;
  arg->array = PO_NO_NODE;
  switch (arg->kind) {
  case PO_ARG_LOOP:
    return one_loop(a, NULL, &arg->node);
  case PO_ARG_AT:
    if (!t || !po_is_name(t, "at"))
      return wants(a, "at LOOP");
    a->at++;
    return one_loop(a, NULL, &arg->node);
  case PO_ARG_LOOPS:
  case PO_ARG_STMTS:
  case PO_ARG_INTS:
    return read_list(a, arg);
  case PO_ARG_NODE:
    return read_word(a, arg, PO_ST_WORD, "a loop or statement") &&
           po_find_node(p, arg->word, t->span, arg);
  case PO_ARG_STMT:
    return read_word(a, arg, PO_ST_WORD, "a statement") &&
           po_find_stmt(p, arg->word, t->span, arg);
  case PO_ARG_ARRAY:
    return read_word(a, arg, PO_ST_WORD, "an array") &&
           po_find_array(p, arg->word, t->span, &arg->array);
  case PO_ARG_INT:
    return read_word(a, arg, PO_ST_NUMBER, "an integer");
  case PO_ARG_WORD:
    return read_word(a, arg, PO_ST_WORD, "a word");
  case PO_ARG_TEXT:
    return read_word(a, arg, PO_ST_TEXT, "a text in quotes");
  case PO_ARG_END:
    break;
  }
  return true;
}

/* Whether the next tokens are NAME=, an option. */
static bool
at_option(const arguments *a) {
  return a->at + 1 < a->hi && po_tok(a->s, a->at)->kind == PO_ST_WORD &&
         po_is_mark(po_tok(a->s, a->at + 1), "=");
}

static bool
read_option(arguments *a) {
  const po_primitive *what = a->call->primitive;
  const po_sched_token *name = po_tok(a->s, a->at);
  uint32_t k = 0;
  while (k < PO_MAX_OPTIONS && what->options[k] &&
         strcmp(what->options[k], name->word) != 0)
    k++;
  if (k == PO_MAX_OPTIONS || !what->options[k]) {
    bs_error(a->s->diags, name->span, "usage", "%s: there is no option %s",
             what->name, name->word);
    bs_hint(a->s->diags, "usage: %s", what->usage);
    return false;
  }
  a->at += 2;
  const po_sched_token *value = next_if(a, PO_ST_WORD);
  if (!value)
    value = next_if(a, PO_ST_NUMBER);
  if (!value)
    return wants(a, "a word or an integer");
  a->call->options[k] = value->word;
  return true;
}

/* Whether an argument that may be left out stands here. */
static bool
is_there(const arguments *a, po_arg_kind kind) {
  if (a->at >= a->hi || at_option(a))
    return false;
  const po_sched_token *t = po_tok(a->s, a->at);
  switch (kind) {
  case PO_ARG_AT:
    return po_is_name(t, "at");
  case PO_ARG_INT:
    return t->kind == PO_ST_NUMBER;
  case PO_ARG_TEXT:
    return t->kind == PO_ST_TEXT;
  case PO_ARG_INTS:
  case PO_ARG_STMTS:
    return po_is_mark(t, "[");
  case PO_ARG_END:
  case PO_ARG_LOOP:
  case PO_ARG_LOOPS:
  case PO_ARG_NODE:
  case PO_ARG_STMT:
  case PO_ARG_ARRAY:
  case PO_ARG_WORD:
  default:
    return t->kind == PO_ST_WORD && !po_is_name(t, "at");
  }
}

static bool
read_args(arguments *a) {
  const po_primitive *what = a->call->primitive;
  for (uint32_t k = 0; k < PO_MAX_ARGS && what->args[k] != PO_ARG_END; k++) {
    po_arg *arg = &a->call->args[k];
    if (k >= what->n_needed && !is_there(a, what->args[k]))
      continue;
    uint32_t lo = a->at;
    arg->kind = what->args[k];
    if (!read_arg(a, arg))
      return false;
    arg->span = po_tok(a->s, lo)->span;
    arg->span.hi = po_tok(a->s, a->at - 1)->span.hi;
  }
  while (at_option(a))
    if (!read_option(a))
      return false;
  if (a->at == a->hi)
    return true;
  bs_error(a->s->diags, po_tok(a->s, a->at)->span, "usage",
           "%s: nothing more is expected here", what->name);
  bs_hint(a->s->diags, "usage: %s", what->usage);
  return false;
}

bool
po_read_args(po_script_run *s, uint32_t lo, uint32_t hi, po_step_call *call) {
  assert(lo <= hi && hi <= s->tokens.list.len);
  arguments a = {s, lo, hi, call};
  return read_args(&a);
}
