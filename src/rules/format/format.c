/* SPDX-License-Identifier: MIT */
/* format.c - source files in their one form.
 *
 * The tokens become a tree in which comments are items; then it is laid out in
 * lines of RL_LINE characters.  A list that fits on the rest of its line
 * stands there, whatever its breaks were.  Else it is broken:
 *   a form of `forms` has its parts on lines of their own, two to the right;
 *   a term or expression is aligned under its first argument, or hangs two to
 *   the right of its parenthesis; as it was written if it was written in one
 *   of these ways, and its line breaks between arguments stay.
 * Breaks that are kept and breaks that are made look the same afterwards, so
 * formatting twice is formatting once.  The tree is walked by recursion, at
 * most RL_MAX_NESTING deep. */
#include "rules/format/format_layout.h"
#include <assert.h>
#include <string.h>

/* --- units ---------------------------------------------------------------- */

/* What is never parted by a line break: an item, or a clause and its value. */
typedef struct unit {
  uint32_t first, second; /* second: 0 or the value */
  uint32_t next, width;
} unit;

static unit
unit_at(const layout *l, uint32_t i) {
  assert(i < l->items.len);
  const item *a = &l->items.data[i];
  uint32_t value = rl_is_clause(l, i) ? a->next : 0;
  if (!value || rl_is_kind(l, value, BS_T_COMMENT) || rl_is_clause(l, value))
    return (unit){i, 0, a->next, a->width};
  const item *b = &l->items.data[value];
  uint32_t width = a->width + 1 + b->width;
  return (unit){i, value, b->next, width < WIDE ? width : WIDE};
}

static bool
fits(uint32_t column, uint32_t width, uint32_t tail) {
  return (uint64_t)column + width + tail <= RL_LINE;
}

static void put(layout *, uint32_t i, uint32_t tail, bool data);

/* `tail`: parentheses that close right behind it. */
static void
put_unit(layout *l, const unit *u, uint32_t tail) {
  if (!u->second) {
    put(l, u->first, tail, false);
    return;
  }
  rl_put_atom(l, u->first);
  rl_put_space(l);
  put(l, u->second, tail, rl_holds_data(l, u->first));
}

typedef struct filling {
  uint32_t indent, tail;
  bool each;      /* every unit on a line of its own */
  bool blanks;    /* blank lines may stay */
  bool break_now; /* before the first one */
  bool beside;    /* a broken list may follow atoms on the first line */
} filling;

static bool
breaks_before(const layout *l, const unit *u, const filling *f, uint32_t tail) {
  if (f->each || f->break_now || l->comment || rl_token_of(l, u->first)->lines)
    return true;
  if (u->width < WIDE && fits(l->column + 1, u->width, tail))
    return false;
  return !f->beside || u->second || fits(f->indent, u->width, tail);
}

static bool
had_blank(const layout *l, uint32_t i) {
  return rl_token_of(l, i)->lines > 1;
}

static void
fill(layout *l, uint32_t i, filling f) {
  for (bool start = true; i; start = false) {
    bool blank = f.blanks && !start && had_blank(l, i);
    if (rl_is_kind(l, i, BS_T_COMMENT)) {
      rl_put_comment(l, i, f.indent, blank);
      i = l->items.data[i].next;
      continue;
    }
    unit u = unit_at(l, i);
    uint32_t tail = u.next ? 0 : f.tail + 1, line = l->line;
    if (breaks_before(l, &u, &f, tail)) {
      if (blank)
        bs_putc(l->out, '\n');
      rl_newline(l, f.indent);
      f.beside = false;
    } else {
      rl_put_space(l);
    }
    line = l->line;
    put_unit(l, &u, tail);
    f.break_now = l->line != line;
    f.beside &= !rl_is_kind(l, u.first, BS_T_OPEN);
    i = u.next;
  }
}

/* --- terms and expressions ------------------------------------------------ */

typedef enum style { UNDECIDED, ALIGNED, HANGING } style;

/* How it was written: where the first argument stands that has a line of its
 * own.  Atoms behind the head come to stand beside it in any style, so they say
 * nothing. */
static style
style_written(const layout *l, uint32_t list, uint32_t head) {
  assert(head < l->items.len);
  const bs_token *open = rl_token_of(l, list);
  uint32_t first = l->items.data[head].next;
  bool beside = true;
  for (uint32_t x = first; x; x = unit_at(l, x).next) {
    const bs_token *t = rl_token_of(l, x);
    beside &=
        t->kind != BS_T_OPEN && t->kind != BS_T_COMMENT && !rl_is_clause(l, x);
    if (beside || !t->lines || t->kind == BS_T_COMMENT)
      continue;
    if (t->column == open->column + 2)
      return HANGING;
    return x != first && !rl_token_of(l, first)->lines &&
                   t->column == rl_token_of(l, first)->column
               ? ALIGNED
               : UNDECIDED;
  }
  return UNDECIDED;
}

typedef struct arguments {
  uint32_t n_lists;
  bool all_fit; /* each on a line at the column of the first */
} arguments;

static arguments
measure(const layout *l, uint32_t first, uint32_t column, uint32_t tail) {
  arguments a = {0, true};
  for (uint32_t x = first; x;) {
    unit u = unit_at(l, x);
    a.n_lists +=
        rl_is_kind(l, x, BS_T_OPEN) || rl_is_kind(l, u.second, BS_T_OPEN);
    if (!rl_is_kind(l, x, BS_T_COMMENT))
      a.all_fit &= fits(column, u.width, u.next ? 0 : tail + 1);
    x = u.next;
  }
  return a;
}

static style
choose_style(const layout *l, uint32_t list, uint32_t head, uint32_t column,
             uint32_t tail) {
  assert(head < l->items.len);
  uint32_t first = l->items.data[head].next;
  arguments a = measure(l, first, column, tail);
  bool near = a.all_fit || column <= MOST_ALIGNED;
  if (rl_is_kind(l, first, BS_T_COMMENT) || !near)
    return HANGING;
  if (rl_wants_alignment(l, head))
    return ALIGNED;
  style written =
      l->column <= MOST_ALIGNED ? style_written(l, list, head) : UNDECIDED;
  if (written != UNDECIDED)
    return written;
  return a.all_fit || (a.n_lists > 1 && column <= EASILY_ALIGNED) ? ALIGNED
                                                                  : HANGING;
}

/* Arguments that stay beside the head: atoms, then lists that stood there, and
 * what stood behind them. */
static uint32_t
put_beside_head(layout *l, uint32_t head, bool lists, uint32_t tail) {
  uint32_t x = l->items.data[head].next;
  bool list = false;
  while (x && !rl_is_kind(l, x, BS_T_COMMENT) && !rl_is_clause(l, x)) {
    const item *i = &l->items.data[x];
    list |= rl_is_kind(l, x, BS_T_OPEN);
    if ((list && (!lists || rl_token_of(l, x)->lines)) ||
        !fits(l->column + 1, i->width, i->next ? 0 : tail + 1))
      break;
    rl_put_space(l);
    put(l, x, i->next ? 0 : tail + 1, false);
    x = i->next;
  }
  return x;
}

static void
put_call(layout *l, uint32_t list, uint32_t head, uint32_t tail) {
  uint32_t open = l->column, first = l->items.data[head].next;
  uint32_t width = l->items.data[head].width;
  uint32_t aligned = open + 1 + (width < WIDE ? width : RL_LINE) + 1;
  style s = choose_style(l, list, head, aligned, tail);
  bool written = style_written(l, list, head) == HANGING;
  rl_put_word(l, "(", 1);
  rl_put_atom(l, head);
  filling f = {.indent = aligned, .tail = tail, .beside = true};
  if (s == ALIGNED && first) {
    unit u = unit_at(l, first);
    uint32_t line = l->line;
    rl_put_space(l);
    put_unit(l, &u, u.next ? 0 : tail + 1);
    f.break_now = l->line != line;
    f.beside = !rl_is_kind(l, first, BS_T_OPEN);
    first = u.next;
  } else {
    first = put_beside_head(l, head, written, tail);
    f = (filling){.indent = open + 2, .tail = tail, .break_now = true};
  }
  fill(l, first, f);
  rl_put_close(l, open + 1);
}

/* A list of data: filled, behind its parenthesis. */
static void
put_data(layout *l, uint32_t list, uint32_t tail) {
  assert(list < l->items.len);
  uint32_t open = l->column, first = l->items.data[list].first;
  filling f = {.indent = open + 1, .tail = tail};
  rl_put_word(l, "(", 1);
  if (first && !rl_is_kind(l, first, BS_T_COMMENT)) {
    unit u = unit_at(l, first);
    uint32_t line = l->line;
    put_unit(l, &u, u.next ? 0 : tail + 1);
    f.break_now = l->line != line;
    first = u.next;
  }
  fill(l, first, f);
  rl_put_close(l, open + 1);
}

/* --- forms ---------------------------------------------------------------- */

/* LEFT => RIGHT on one line where it fits, else on two.  Returns the item
 * behind it, or 0 when there is no such thing here. */
static uint32_t
put_sides(layout *l, uint32_t left, uint32_t indent, uint32_t tail) {
  assert(left < l->items.len);
  uint32_t arrow = l->items.data[left].next;
  uint32_t right = arrow ? l->items.data[arrow].next : 0;
  if ((!rl_spells(l, arrow, "=>") && !rl_spells(l, arrow, "<=>")) || !right ||
      rl_is_kind(l, right, BS_T_COMMENT))
    return 0;
  uint32_t after = l->items.data[right].next;
  const item *items = l->items.data;
  uint32_t last = after ? 0 : tail + 1;
  uint64_t width =
      (uint64_t)items[left].width + items[arrow].width + items[right].width + 2;
  rl_newline(l, indent);
  put(l, left, 0, false);
  if (width < WIDE && fits(indent, (uint32_t)width, last))
    rl_put_space(l);
  else
    rl_newline(l, indent);
  rl_put_atom(l, arrow);
  rl_put_space(l);
  put(l, right, last, false);
  return after ? after : UINT32_MAX;
}

static void
put_rule_parts(layout *l, uint32_t i, filling f) {
  while (i && i != UINT32_MAX) {
    uint32_t after =
        rl_is_kind(l, i, BS_T_COMMENT) ? 0 : put_sides(l, i, f.indent, f.tail);
    if (after) {
      i = after;
      continue;
    }
    /* One unit alone. */
    if (rl_is_kind(l, i, BS_T_COMMENT)) {
      rl_put_comment(l, i, f.indent, false);
      i = l->items.data[i].next;
      continue;
    }
    unit u = unit_at(l, i);
    rl_newline(l, f.indent);
    put_unit(l, &u, u.next ? 0 : f.tail + 1);
    i = u.next;
  }
}

/* The clauses of a rule that stand before its intent stay beside its name. */
static uint32_t
put_kept(layout *l, const form *f, uint32_t head, uint32_t tail) {
  bool rule = !strcmp(f->head, "rule");
  uint32_t i = l->items.data[head].next;
  for (uint32_t k = 0; i; k++) {
    if (rl_is_kind(l, i, BS_T_COMMENT) ||
        !(k < f->kept || (rule && rl_is_clause(l, i))))
      break;
    unit u = unit_at(l, i);
    if (!fits(l->column + 1, u.width, u.next ? 0 : tail + 1))
      break;
    rl_put_space(l);
    put_unit(l, &u, u.next ? 0 : tail + 1);
    i = u.next;
  }
  return i;
}

static void
put_form(layout *l, const form *f, uint32_t list, uint32_t tail) {
  assert(list < l->items.len);
  uint32_t open = l->column, head = l->items.data[list].first;
  filling how = {.indent = open + 2,
                 .tail = tail,
                 .each = !f->filled,
                 .blanks = true,
                 .break_now = true};
  rl_put_word(l, "(", 1);
  rl_put_atom(l, head);
  uint32_t rest = put_kept(l, f, head, tail);
  if (!strcmp(f->head, "rule"))
    put_rule_parts(l, rest, how);
  else
    fill(l, rest, how);
  rl_put_close(l, open + 1);
}

static void
put_flat(layout *l, uint32_t i) {
  if (!rl_is_kind(l, i, BS_T_OPEN)) {
    rl_put_atom(l, i);
    return;
  }
  rl_put_word(l, "(", 1);
  for (uint32_t x = l->items.data[i].first; x; x = l->items.data[x].next) {
    if (x != l->items.data[i].first)
      rl_put_space(l);
    put_flat(l, x);
  }
  rl_put_word(l, ")", 1);
}

static void
put(layout *l, uint32_t i, uint32_t tail, bool data) {
  assert(i < l->items.len);
  uint32_t head = l->items.data[i].first, width = l->items.data[i].width;
  if (!rl_is_kind(l, i, BS_T_OPEN) ||
      (width < WIDE && fits(l->column, width, tail))) {
    put_flat(l, i);
    return;
  }
  const form *f = data ? NULL : rl_form_of(l, i);
  if (f)
    put_form(l, f, i, tail);
  else if (data || !rl_is_kind(l, head, BS_T_ATOM) || rl_is_clause(l, head))
    put_data(l, i, tail);
  else
    put_call(l, i, head, tail);
}

/* --- the file ------------------------------------------------------------- */

static bool
is_block(const layout *l, uint32_t i) {
  const form *f = rl_is_kind(l, i, BS_T_OPEN) ? rl_form_of(l, i) : NULL;
  return f && f->block;
}

/* Blocks have blank lines around them, but none below their comment. */
static bool
needs_blank(const layout *l, uint32_t before, uint32_t i) {
  if (!before)
    return false;
  bool below_comment = rl_is_kind(l, before, BS_T_COMMENT);
  return had_blank(l, i) || is_block(l, before) ||
         (is_block(l, i) && !below_comment);
}

static void
put_file(layout *l) {
  uint32_t before = 0;
  for (uint32_t i = l->items.data[0].first; i; i = l->items.data[i].next) {
    bool comment = rl_is_kind(l, i, BS_T_COMMENT);
    bool behind = comment && before && !rl_token_of(l, i)->lines && !l->comment;
    bool blank = !behind && needs_blank(l, before, i);
    if (comment) {
      rl_put_comment(l, i, 0, blank);
    } else {
      if (blank)
        bs_putc(l->out, '\n');
      if (before)
        rl_newline(l, 0);
      put(l, i, 0, false);
    }
    /* What stands behind a form says nothing of the next one. */
    if (!behind)
      before = i;
  }
  if (l->out->len)
    bs_putc(l->out, '\n');
}

/* --- from outside --------------------------------------------------------- */

bool
rl_format(const gs_context *ctx, uint32_t source, bs_text *out) {
  assert(source > 0 && source <= ctx->diags->sources.len);
  layout l = {.ctx = ctx, .out = out};
  if (!bs_tokens_read(ctx->heap, ctx->diags, source, &l.tokens))
    return false;
  l.text = ctx->diags->sources.data[source - 1].text;
  bool ok = rl_build_tree(&l, source);
  if (ok)
    put_file(&l);
  bs_vec_done(ctx->heap, &l.items);
  bs_tokens_done(ctx->heap, &l.tokens);
  return ok;
}
