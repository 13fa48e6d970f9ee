/* SPDX-License-Identifier: MIT */
/* script.c - .sched scripts, run item by item.
 *
 * A command that fails inside `try` takes the program, what was printed and
 * diagnostics back to the beginning of the block and goes on with `else`. */
#include "poly/script/script.h"
#include "poly/schedule/loop_axes.h"
#include <assert.h>

static bool explain_command(po_script_run *, po_step_call *);

static bool
run_command(po_script_run *s, const po_item *i) {
  po_step_call call = {.span = po_tok(s, i->lo)->span};
  uint32_t k = i->lo;
  call.span.hi = po_tok(s, i->hi - 1)->span.hi;
  uint32_t command = po_behind_names(s, i->lo, i->hi);
  for (; k < command; k += 2) {
    if (call.n_results == PO_MAX_RESULTS)
      return po_script_fault(s, k, "too many names before =");
    call.results[call.n_results++] = po_tok(s, k)->word;
  }
  call.primitive = po_primitive_find(po_tok(s, k)->word);
  uint32_t errors = s->diags->errors;
  if (!po_read_args(s, k + 1, i->hi, &call))
    return false;
  if (!(s->explain ? explain_command(s, &call)
                   : po_apply(s->program, &call, NULL))) {
    if (s->diags->errors == errors)
      po_script_fault(s, i->lo, "the command failed");
    return false;
  }
  return true;
}

static bool
compare(const char *how, int64_t a, int64_t b) {
  return !strcmp(how, "==")   ? a == b
         : !strcmp(how, "!=") ? a != b
         : !strcmp(how, "<=") ? a <= b
         : !strcmp(how, ">=") ? a >= b
         : !strcmp(how, "<")  ? a < b
                              : a > b;
}

/* Instances of a statement, or of all that compute an array. */
static int64_t
instances(const po_program *p, const po_arg *what) {
  if (what->array == PO_NO_NODE)
    return po_count_instances(p, what->stmt);
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->stmts.len && sum >= 0; k++) {
    if (p->stmts.data[k].array != what->array)
      continue;
    int64_t n = po_count_instances(p, k);
    sum = n < 0 ? -1 : sum + n;
  }
  return sum;
}

/* NAME ( X ) COMPARISON NUMBER; value: of X. */
static bool
measure(po_script_run *s, const po_item *i, int64_t *value) {
  const po_sched_token *name = po_tok(s, i->lo + 1), *x = po_tok(s, i->lo + 3);
  if (po_is_name(name, "instances")) {
    po_arg what;
    if (!po_find_stmt(*s->program, x->word, x->span, &what))
      return false;
    *value = instances(*s->program, &what);
    return true;
  }
  uint32_t loop;
  if (!po_is_name(name, "extent"))
    return po_script_fault(
        s, i->lo + 1,
        "legal, instances(STMT) or extent(LOOP) is expected here");
  if (!po_find_loop(*s->program, x->word, x->span, &loop))
    return false;
  *value = po_nest_extent(*s->program, loop);
  return true;
}

static bool
run_assert(po_script_run *s, const po_item *i) {
  bs_span span = po_tok(s, i->lo)->span;
  span.hi = po_tok(s, i->hi - 1)->span.hi;
  if (i->hi == i->lo + 2 && po_is_name(po_tok(s, i->lo + 1), "legal")) {
    po_violation v;
    return po_program_is_legal(*s->program, &v) ||
           bs_error(s->diags, span, "assertion", "the program is not legal");
  }
  if (i->hi != i->lo + 7 || !po_is_mark(po_tok(s, i->lo + 2), "(") ||
      po_tok(s, i->lo + 3)->kind != PO_ST_WORD ||
      !po_is_mark(po_tok(s, i->lo + 4), ")") ||
      po_tok(s, i->lo + 5)->kind != PO_ST_MARK ||
      !strpbrk(po_tok(s, i->lo + 5)->word, "<>=") ||
      !strcmp(po_tok(s, i->lo + 5)->word, "=") ||
      po_tok(s, i->lo + 6)->kind != PO_ST_NUMBER)
    return bs_error(s->diags, span, "syntax",
                    "an assertion is `legal`, or `instances(STMT) == N`, or "
                    "`extent(LOOP) == N`");
  int64_t value = 0, limit = po_tok(s, i->lo + 6)->number;
  if (!measure(s, i, &value))
    return false;
  if (compare(po_tok(s, i->lo + 5)->word, value, limit))
    return true;
  return bs_error(s->diags, span, "assertion", "%s(%s) is %lld, not %s %lld",
                  po_tok(s, i->lo + 1)->word, po_tok(s, i->lo + 3)->word,
                  (long long)value, po_tok(s, i->lo + 5)->word,
                  (long long)limit);
}

bool
po_print_named(po_program *p, const char *what, bs_text *out) {
  if (!strcmp(what, "loops"))
    po_print_nest(p, out);
  else if (!strcmp(what, "program"))
    po_print(p, out);
  else if (!strcmp(what, "tree"))
    po_print_schedule_tree(p, out);
  else if (!strcmp(what, "axes"))
    po_print_loop_axes(p, out);
  else if (!strcmp(what, "deps"))
    po_print_dependences(p, out);
  else if (!strcmp(what, "script"))
    po_print_script(p, out);
  else
    return false;
  return true;
}

static bool
run_print(po_script_run *s, const po_item *i) {
  const char *what = i->hi == i->lo + 2 ? po_tok(s, i->lo + 1)->word : "";
  return po_print_named(*s->program, what, s->out) ||
         po_script_fault(
             s, i->lo,
             "loops, program, tree, axes, deps or script can be printed");
}

/* Arrays of which other numbers of instances are computed now. */
static void
put_instances(const po_program *was, const po_program *is, bs_text *out) {
  for (uint32_t k = 0; k < is->arrays.len; k++) {
    po_arg arg = {.array = k};
    int64_t old = k < was->arrays.len ? instances(was, &arg) : 0;
    int64_t now = instances(is, &arg);
    if (old != now)
      bs_putf(out, "  # %s: %lld -> %lld instances", is->arrays.data[k].name,
              (long long)old, (long long)now);
  }
}

static bool
explain_command(po_script_run *s, po_step_call *call) {
  po_program *before = NULL;
  if (!po_apply(s->program, call, &before))
    return false;
  po_program *after = *s->program;
  bs_put(s->out, bs_last(&after->script));
  put_instances(before, after, s->out);
  bs_putc(s->out, '\n');
  po_free(before);
  return true;
}

static void
enter(po_script_run *s, uint32_t at) {
  const bs_diags *d = s->diags;
  s->blocks[s->depth++] = (po_script_block){.item = at,
                                            .before = po_copy(*s->program),
                                            .printed = s->out->len,
                                            .diags = d->list.len,
                                            .errors = d->errors,
                                            .warnings = d->warnings,
                                            .dropped = d->dropped};
}

/* Back to the beginning of the innermost block; what to go on with. */
static uint32_t
back(po_script_run *s) {
  po_script_block b = s->blocks[--s->depth];
  bs_diags *d = s->diags;
  po_free(*s->program);
  *s->program = b.before;
  if (s->out->len > b.printed)
    s->out->data[s->out->len = b.printed] = '\0';
  d->list.len = b.diags;
  d->errors = b.errors;
  d->warnings = b.warnings;
  d->dropped = b.dropped;
  return s->items.data[b.item].jump;
}

static void
leave(po_script_run *s) {
  po_free(s->blocks[--s->depth].before);
}

static bool
run_item(po_script_run *s, uint32_t *at) {
  const po_item *i = &s->items.data[*at];
  bool ok = true;
  switch (i->kind) {
  case PO_I_COMMAND:
    ok = run_command(s, i);
    break;
  case PO_I_ASSERT:
    ok = run_assert(s, i);
    break;
  case PO_I_PRINT:
    ok = run_print(s, i);
    break;
  case PO_I_TRY:
    enter(s, *at);
    break;
  case PO_I_ELSE:
    leave(s);
    *at = i->jump;
    return true;
  case PO_I_DONE:
    if (i->jump)
      leave(s);
    break;
  }
  if (!ok && s->depth == 0)
    return false;
  *at = ok ? *at + 1 : back(s);
  return true;
}

static void
run(void *arg) {
  po_script_run *s = arg;
  s->ok = po_read_tokens(s->heap, s->arena, s->diags, s->source, &s->tokens) &&
          po_read_items(s);
  s->depth = 0;
  for (uint32_t k = 0; s->ok && k < s->items.len;)
    s->ok = run_item(s, &k);
}

static bool
run_source(po_program **program, uint32_t source, bs_text *out, bool explain) {
  bs_heap *heap = (*program)->ctx.heap;
  bs_arena arena;
  bs_arena_init(&arena, heap);
  po_script_run s = {.program = program,
                     .heap = heap,
                     .arena = &arena,
                     .diags = (*program)->ctx.diags,
                     .source = source,
                     .out = out,
                     .explain = explain};
  run(&s);
  po_sched_tokens_done(heap, &s.tokens);
  bs_vec_done(heap, &s.items);
  bs_arena_done(&arena);
  return s.ok;
}

bool
po_run_script(po_program **program, uint32_t source, bs_text *out) {
  assert(source <= (*program)->ctx.diags->sources.len);
  return run_source(program, source, out, false);
}

bool
po_explain_script(po_program **program, uint32_t source, bs_text *out) {
  assert(source <= (*program)->ctx.diags->sources.len);
  return run_source(program, source, out, true);
}
