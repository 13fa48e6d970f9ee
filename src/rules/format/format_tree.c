/* SPDX-License-Identifier: MIT */
/* format_tree.c - the tree of a source file: its forms, and what stands on one
 * line. */
#include "rules/format/format_layout.h"
#include "base/utf8.h"
#include "glenside/expr/expr.h"
#include <assert.h>
#include <string.h>

/* --- the forms ------------------------------------------------------------ */

static const form forms[] = {
    {"rule", 1, true, false},       {"test", 1, true, false},
    {"instr", 1, true, false},      {"target", 1, true, false},
    {"program", 0, true, false},    {"ruleset", 1, false, true},
    {"strategy", 1, false, false},  {"run", 0, false, false},
    {"seq", 0, false, false},       {"repeat", 1, false, false},
    {"saturate", 0, false, false},  {"let", 1, false, false},
    {"param", 2, false, false},     {"emit", 0, false, false},
    {"semantics", 0, false, false},
};

/* Heads that are always aligned, as the functions of expressions are. */
static const char *const aligned_heads[] = {"finds",    "never", "equal",
                                            "distinct", "where", "cost"};
static const char *const data_clauses[] = {":rules", ":params", ":limits"};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

const bs_token *
rl_token_of(const layout *l, uint32_t i) {
  assert(i < l->items.len);
  return &l->tokens.list.data[l->items.data[i].token];
}

bool
rl_is_kind(const layout *l, uint32_t i, bs_token_kind kind) {
  assert(i < l->items.len);
  return i && rl_token_of(l, i)->kind == kind;
}

bool
rl_spells(const layout *l, uint32_t i, const char *word) {
  if (!rl_is_kind(l, i, BS_T_ATOM))
    return false;
  const bs_token *t = rl_token_of(l, i);
  return t->hi - t->lo == strlen(word) &&
         !memcmp(l->text + t->lo, word, t->hi - t->lo);
}

static bool
spells_one_of(const layout *l, uint32_t i, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (rl_spells(l, i, words[k]))
      return true;
  return false;
}

const form *
rl_form_of(const layout *l, uint32_t list) {
  assert(list < l->items.len);
  uint32_t head = l->items.data[list].first;
  for (size_t k = 0; k < COUNT(forms); k++)
    if (rl_spells(l, head, forms[k].head))
      return &forms[k];
  return NULL;
}

static bool
starts_with(const layout *l, uint32_t i, char c) {
  return rl_is_kind(l, i, BS_T_ATOM) && l->text[rl_token_of(l, i)->lo] == c;
}

bool
rl_is_clause(const layout *l, uint32_t i) {
  return starts_with(l, i, ':') &&
         rl_token_of(l, i)->hi - rl_token_of(l, i)->lo > 1;
}

bool
rl_holds_data(const layout *l, uint32_t i) {
  return spells_one_of(l, i, data_clauses, COUNT(data_clauses));
}

bool
rl_wants_alignment(const layout *l, uint32_t head) {
  assert(head > 0 && head < l->items.len);
  char name[32];
  const bs_token *t = rl_token_of(l, head);
  uint32_t n = t->hi - t->lo;
  if (starts_with(l, head, '?') ||
      spells_one_of(l, head, aligned_heads, COUNT(aligned_heads)))
    return true;
  if (n >= sizeof name)
    return false;
  memcpy(name, l->text + t->lo, n);
  name[n] = '\0';
  return gs_function_find(name) >= 0;
}

/* --- the tree ------------------------------------------------------------- */

static uint32_t
width_of_token(const layout *l, const bs_token *t) {
  const char *s = l->text + t->lo;
  size_t n = t->hi - t->lo;
  if (t->kind == BS_T_COMMENT || memchr(s, '\n', n))
    return WIDE;
  size_t width = bs_utf8_count(s, n);
  return width < WIDE ? (uint32_t)width : WIDE;
}

/* Lists get their width when they are closed. */
static void
close_item(layout *l, uint32_t list) {
  uint64_t width = 1;
  uint32_t n = 0;
  for (uint32_t x = l->items.data[list].first; x; x = l->items.data[x].next) {
    width += (uint64_t)l->items.data[x].width + 1;
    n++;
  }
  const form *f = rl_form_of(l, list);
  if (f && f->block && n > f->kept + 1u)
    width = WIDE;
  if (!n)
    width = 2;
  l->items.data[list].width = width < WIDE ? (uint32_t)width : WIDE;
}

static bool
too_deep(const layout *l, uint32_t source, const bs_token *t) {
  return bs_error(l->ctx->diags, (bs_span){source, t->lo, t->hi}, "too-deep",
                  "lists are nested more than %d deep", RL_MAX_NESTING);
}

bool
rl_build_tree(layout *l, uint32_t source) {
  bs_heap *heap = l->ctx->heap;
  uint32_t open[RL_MAX_NESTING + 1] = {0}, last[RL_MAX_NESTING + 1] = {0};
  uint32_t depth = 0;
  bs_push(heap, &l->items, (item){0});
  for (uint32_t k = 0; k < l->tokens.list.len; k++) {
    const bs_token *t = &l->tokens.list.data[k];
    if (t->kind == BS_T_CLOSE) {
      close_item(l, open[depth--]);
      continue;
    }
    uint32_t i = l->items.len;
    bs_push(heap, &l->items, (item){.token = k, .width = width_of_token(l, t)});
    if (last[depth])
      l->items.data[last[depth]].next = i;
    else
      l->items.data[open[depth]].first = i;
    last[depth] = i;
    if (t->kind != BS_T_OPEN)
      continue;
    if (depth == RL_MAX_NESTING)
      return too_deep(l, source, t);
    open[++depth] = i;
    last[depth] = 0;
  }
  return true;
}
