/* SPDX-License-Identifier: MIT */
/* command.c - commands as text, in the one form that scripts are dumped in.
 *
 * Everything a step named is written out: what it was given by the names of
 * that moment, what it made by the names that it got, so that no name is left
 * to be found again when the dump is replayed. */
#include "poly/schedule/change.h"
#include <assert.h>

static void
put_stmt(const po_program *p, const po_arg *arg, bs_text *out) {
  if (arg->array != PO_NO_NODE)
    bs_put(out, p->arrays.data[arg->array].name);
  else
    bs_put(out, p->stmts.data[arg->stmt].name);
}

static void
put_node(const po_program *p, uint32_t node, bs_text *out) {
  const po_nest_node *n = po_node(p, node);
  bs_put(out, n->kind == PO_LEAF ? p->stmts.data[n->stmt].name : n->name);
}

static void
put_arg(const po_program *p, const po_arg *arg, bs_text *out) {
  switch (arg->kind) {
  case PO_ARG_END:
    break;
  case PO_ARG_LOOP:
  case PO_ARG_NODE:
    put_node(p, arg->node, out);
    break;
  case PO_ARG_AT:
    bs_put(out, "at ");
    put_node(p, arg->node, out);
    break;
  case PO_ARG_LOOPS:
  case PO_ARG_STMTS:
  case PO_ARG_INTS:
    bs_putc(out, '[');
    for (uint32_t k = 0; k < arg->n; k++) {
      bs_put(out, k ? ", " : "");
      if (arg->kind == PO_ARG_INTS)
        bs_putf(out, "%lld", (long long)arg->numbers[k]);
      else if (arg->kind == PO_ARG_LOOPS)
        put_node(p, arg->nodes[k], out);
      else
        bs_put(out, p->stmts.data[arg->nodes[k]].name);
    }
    bs_putc(out, ']');
    break;
  case PO_ARG_STMT:
    put_stmt(p, arg, out);
    break;
  case PO_ARG_ARRAY:
    bs_put(out, p->arrays.data[arg->array].name);
    break;
  case PO_ARG_INT:
    bs_putf(out, "%lld", (long long)arg->number);
    break;
  case PO_ARG_WORD:
    bs_put(out, arg->word);
    break;
  case PO_ARG_TEXT:
    bs_putf(out, "\"%s\"", arg->word);
    break;
  }
}

void
po_put_command(const po_program *before, const po_step_call *call,
               bs_text *out) {
  assert(call->primitive);
  const po_primitive *what = call->primitive;
  bs_put(out, what->name);
  for (uint32_t k = 0; k < PO_MAX_ARGS; k++) {
    if (call->args[k].kind == PO_ARG_END)
      continue;
    bs_putc(out, ' ');
    put_arg(before, &call->args[k], out);
  }
  for (uint32_t k = 0; k < PO_MAX_OPTIONS; k++)
    if (call->options[k])
      bs_putf(out, " %s=%s", what->options[k], call->options[k]);
}

void
po_log_command(po_program *after, const po_step_call *call, const char *right) {
  assert(call->n_made <= PO_MAX_RESULTS);
  bs_text line;
  bs_text_init(&line, after->ctx.heap);
  for (uint32_t k = 0; k < call->n_made; k++) {
    bs_put(&line, k ? ", " : "");
    put_node(after, call->made[k], &line);
  }
  bs_putf(&line, "%s%s", call->n_made ? " = " : "", right);
  bs_push(after->ctx.heap, &after->script,
          bs_arena_strdup(&after->arena, bs_text_str(&line)));
  bs_text_done(&line);
}

void
po_print_script(po_program *p, bs_text *out) {
  for (uint32_t k = 0; k < p->script.len; k++)
    bs_putf(out, "%s\n", p->script.data[k]);
  po_print_contracts(p, out);
}
