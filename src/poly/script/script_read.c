/* SPDX-License-Identifier: MIT */
/* script_read.c - the items of a script: commands, assertions, blocks.
 *
 * Blocks become jumps, so that neither reading nor running recurses; that a
 * command exists is seen here, before anything is run. */
#include "poly/script/script.h"
#include <assert.h>

static bool
open_block(po_script_run *s, uint32_t *k, bool is_else) {
  if (s->depth == PO_DEEPEST)
    return po_script_fault(s, *k, "blocks are nested too deeply");
  if (!po_is_mark(po_tok(s, *k), "{"))
    return po_script_fault(s, *k, "{ is expected here");
  ++*k;
  s->blocks[s->depth++] =
      (po_script_block){.item = s->items.len - 1, .is_else = is_else};
  return true;
}

/* The token behind line ends. */
static uint32_t
skip_ends(const po_script_run *s, uint32_t k) {
  while (k < s->tokens.list.len && po_tok(s, k)->kind == PO_ST_END)
    k++;
  return k;
}

static bool
close_block(po_script_run *s, uint32_t *k) {
  if (s->depth == 0)
    return po_script_fault(s, *k, "this } closes nothing");
  po_script_block b = s->blocks[--s->depth];
  uint32_t next = skip_ends(s, ++*k);
  if (!b.is_else && next < s->tokens.list.len &&
      po_is_name(po_tok(s, next), "else")) {
    bs_push(s->heap, &s->items, (po_item){PO_I_ELSE, next, next, 0});
    s->items.data[b.item].jump = s->items.len;
    *k = skip_ends(s, next + 1);
    if (*k == s->tokens.list.len)
      return po_script_fault(s, next, "else has no block");
    return open_block(s, k, true);
  }
  bs_push(s->heap, &s->items, (po_item){PO_I_DONE, *k, *k, 0});
  s->items.data[b.item].jump = b.is_else ? s->items.len - 1 : s->items.len;
  if (!b.is_else)
    s->items.data[s->items.len - 1].jump = 1; /* ends the try itself */
  return true;
}

/* Behind the last token of a command; braces end it too. */
static uint32_t
end_of(const po_script_run *s, uint32_t k) {
  while (po_tok(s, k)->kind != PO_ST_END && !po_is_mark(po_tok(s, k), "}") &&
         !po_is_mark(po_tok(s, k), "{"))
    k++;
  return k;
}

/* Behind `a, b =`; lo where no names stand in front. */
uint32_t
po_behind_names(const po_script_run *s, uint32_t lo, uint32_t hi) {
  assert(lo <= hi && hi <= s->tokens.list.len);
  for (uint32_t k = lo; k + 1 < hi && po_tok(s, k)->kind == PO_ST_WORD;
       k += 2) {
    if (po_is_mark(po_tok(s, k + 1), "="))
      return k + 2;
    if (!po_is_mark(po_tok(s, k + 1), ","))
      break;
  }
  return lo;
}

static bool
check_command(po_script_run *s, uint32_t lo, uint32_t hi) {
  uint32_t k = po_behind_names(s, lo, hi);
  if (k == hi)
    return po_script_fault(s, hi - 1, "a command is expected after this");
  if (k + 1 < hi &&
      (po_is_mark(po_tok(s, k + 1), ",") || po_is_mark(po_tok(s, k + 1), "=")))
    return po_script_fault(s, k, "names and commas are expected before =");
  for (uint32_t j = lo; j < k; j += 2)
    if (strchr(po_tok(s, j)->word, '.'))
      return po_script_fault(s, j, "a new name has no dots");
  if (po_tok(s, k)->kind == PO_ST_WORD && po_primitive_find(po_tok(s, k)->word))
    return true;
  const char *all[64];
  uint32_t n = 0;
  for (; n < po_n_primitives && n < 64; n++)
    all[n] = po_primitives[n].name;
  bs_error(s->diags, po_tok(s, k)->span, "unknown-command",
           "there is no command %s", po_tok(s, k)->word);
  const char *near = bs_nearest(po_tok(s, k)->word, all, n);
  if (near)
    bs_meant(s->diags, "", near);
  else if (k + 2 < hi && po_is_mark(po_tok(s, k + 2), "="))
    bs_hint(s->diags, "commas stand between new names: %.40s, %.40s = ...",
            po_tok(s, k)->word, po_tok(s, k + 1)->word);
  else
    bs_hint(s->diags, "`glen schedule --list` shows all commands");
  return false;
}

static bool
read_item(po_script_run *s, uint32_t *k) {
  const po_sched_token *t = po_tok(s, *k);
  if (po_is_mark(t, "}"))
    return close_block(s, k);
  if (po_is_name(t, "try")) {
    bs_push(s->heap, &s->items, (po_item){PO_I_TRY, *k, *k, 0});
    *k = skip_ends(s, *k + 1);
    if (*k == s->tokens.list.len)
      return po_script_fault(s, *k - 1, "try has no block");
    return open_block(s, k, false);
  }
  if (po_is_name(t, "else"))
    return po_script_fault(s, *k, "else without a try block before it");
  if (t->kind != PO_ST_WORD) {
    po_script_fault(s, *k, "a command is expected here");
    bs_hint(s->diags, "it begins with its name, such as parallel i0");
    return false;
  }
  po_item i = {PO_I_COMMAND, *k, end_of(s, *k), 0};
  if (po_is_name(t, "assert") || po_is_name(t, "print"))
    i.kind = po_is_name(t, "assert") ? PO_I_ASSERT : PO_I_PRINT;
  else if (!check_command(s, i.lo, i.hi))
    return false;
  bs_push(s->heap, &s->items, i);
  *k = i.hi;
  return true;
}

bool
po_read_items(po_script_run *s) {
  uint32_t n = s->tokens.list.len;
  for (uint32_t k = 0; k < n;) {
    if (po_tok(s, k)->kind == PO_ST_END)
      k++;
    else if (!read_item(s, &k))
      return false;
  }
  return s->depth == 0 || po_script_fault(s, n - 1, "a block is not closed");
}
