/* SPDX-License-Identifier: MIT */
/* format_write.c - atoms, comments and line breaks of a formatted file. */
#include "rules/format/format_layout.h"
#include "base/utf8.h"
#include <assert.h>

void
rl_newline(layout *l, uint32_t indent) {
  if (indent > MOST_INDENT)
    indent = MOST_INDENT;
  bs_putc(l->out, '\n');
  for (uint32_t k = 0; k < indent; k++)
    bs_putc(l->out, ' ');
  l->column = indent;
  l->line++;
  l->comment = false;
}

void
rl_put_word(layout *l, const char *s, uint32_t n) {
  const char *line = s + n;
  bs_putn(l->out, s, n);
  while (line > s && line[-1] != '\n')
    line--;
  if (line > s) {
    l->line++;
    l->column = 0;
  }
  l->column += (uint32_t)bs_utf8_count(line, n - (size_t)(line - s));
}

void
rl_put_atom(layout *l, uint32_t i) {
  assert(i > 0 && i < l->items.len);
  const bs_token *t = rl_token_of(l, i);
  rl_put_word(l, l->text + t->lo, t->hi - t->lo);
}

void
rl_put_space(layout *l) {
  rl_put_word(l, " ", 1);
}

/* The column behind the token before this one. */
static uint32_t
end_before(const layout *l, const bs_token *t) {
  const bs_token *before = t - 1;
  const char *s = l->text + before->lo, *end = l->text + before->hi;
  const char *line = end;
  while (line > s && line[-1] != '\n')
    line--;
  return (line > s ? 0 : before->column) +
         (uint32_t)bs_utf8_count(line, (size_t)(end - line));
}

/* A comment behind something keeps its distance where it can. */
static uint32_t
comment_column(const layout *l, const bs_token *t, uint32_t width) {
  uint32_t end = end_before(l, t), gap = t->column - end;
  uint64_t column = (uint64_t)l->column + (gap ? gap : 1);
  if (column + width > RL_LINE)
    column = (uint64_t)l->column + 2 + width > RL_LINE ? l->column + 1
                                                       : l->column + 2;
  return (uint32_t)column;
}

void
rl_put_comment(layout *l, uint32_t i, uint32_t indent, bool blank) {
  assert(rl_is_kind(l, i, BS_T_COMMENT));
  const bs_token *t = rl_token_of(l, i);
  uint32_t width = (uint32_t)bs_utf8_count(l->text + t->lo, t->hi - t->lo);
  if (t->lines || l->comment || !l->out->len) {
    if (blank)
      bs_putc(l->out, '\n');
    if (l->out->len)
      rl_newline(l, indent);
  } else {
    for (uint32_t to = comment_column(l, t, width); l->column < to;)
      rl_put_space(l);
  }
  rl_put_atom(l, i);
  l->comment = true;
}

void
rl_put_close(layout *l, uint32_t indent) {
  if (l->comment)
    rl_newline(l, indent);
  rl_put_word(l, ")", 1);
}
