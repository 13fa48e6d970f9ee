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
#include "rules/format.h"
#include "base/tokens.h"
#include "base/utf8.h"
#include "glenside/expr.h"
#include <string.h>

enum {
  WIDE = 1 << 20,     /* the width of what does not stand on one line */
  MOST_INDENT = 100,  /* deeper lists are indented no further */
  MOST_ALIGNED = 56,  /* the last column to align what must be broken */
  EASILY_ALIGNED = 40 /* ... where nothing was written in lines before */
};

typedef struct item {
  uint32_t token;
  uint32_t first, next; /* items; 0: none */
  uint32_t width;       /* on one line */
} item;

typedef struct layout {
  const gs_context *ctx;
  const char *text;
  bs_tokens tokens;
  BS_VEC(item) items; /* items.data[0] is the file */
  bs_text *out;
  uint32_t column, line;
  bool comment; /* what comes next needs a line of its own */
} layout;

/* --- the forms ------------------------------------------------------------ */

/* A form whose parts stand on lines of their own, but for the first `kept`. */
typedef struct form {
  const char *head;
  uint8_t kept;
  bool block;  /* never on one line; blank lines around it */
  bool filled; /* the parts share lines */
} form;

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
/* Clauses whose value is a list of data, not a term. */
static const char *const data_clauses[] = {":rules", ":params", ":limits"};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const bs_token *
token_of(const layout *l, uint32_t i) {
  return &l->tokens.list.data[l->items.data[i].token];
}

static bool
is_kind(const layout *l, uint32_t i, bs_token_kind kind) {
  return i && token_of(l, i)->kind == kind;
}

static bool
spells(const layout *l, uint32_t i, const char *word) {
  if (!is_kind(l, i, BS_T_ATOM))
    return false;
  const bs_token *t = token_of(l, i);
  return t->hi - t->lo == strlen(word) &&
         !memcmp(l->text + t->lo, word, t->hi - t->lo);
}

static bool
spells_one_of(const layout *l, uint32_t i, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (spells(l, i, words[k]))
      return true;
  return false;
}

static const form *
form_of(const layout *l, uint32_t list) {
  uint32_t head = l->items.data[list].first;
  for (size_t k = 0; k < COUNT(forms); k++)
    if (spells(l, head, forms[k].head))
      return &forms[k];
  return NULL;
}

static bool
starts_with(const layout *l, uint32_t i, char c) {
  return is_kind(l, i, BS_T_ATOM) && l->text[token_of(l, i)->lo] == c;
}

static bool
is_clause(const layout *l, uint32_t i) {
  return starts_with(l, i, ':') && token_of(l, i)->hi - token_of(l, i)->lo > 1;
}

/* A list headed by a function of expressions, by a variable, or the like. */
static bool
wants_alignment(const layout *l, uint32_t head) {
  char name[32];
  const bs_token *t = token_of(l, head);
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
  const form *f = form_of(l, list);
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

static bool
build_tree(layout *l, uint32_t source) {
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

/* --- writing -------------------------------------------------------------- */

static void
newline(layout *l, uint32_t indent) {
  if (indent > MOST_INDENT)
    indent = MOST_INDENT;
  bs_putc(l->out, '\n');
  for (uint32_t k = 0; k < indent; k++)
    bs_putc(l->out, ' ');
  l->column = indent;
  l->line++;
  l->comment = false;
}

static void
put_word(layout *l, const char *s, uint32_t n) {
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

static void
put_atom(layout *l, uint32_t i) {
  const bs_token *t = token_of(l, i);
  put_word(l, l->text + t->lo, t->hi - t->lo);
}

static void
space(layout *l) {
  put_word(l, " ", 1);
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

static void
put_comment(layout *l, uint32_t i, uint32_t indent, bool blank) {
  const bs_token *t = token_of(l, i);
  uint32_t width = (uint32_t)bs_utf8_count(l->text + t->lo, t->hi - t->lo);
  if (t->lines || l->comment || !l->out->len) {
    if (blank)
      bs_putc(l->out, '\n');
    if (l->out->len)
      newline(l, indent);
  } else {
    for (uint32_t to = comment_column(l, t, width); l->column < to;)
      space(l);
  }
  put_atom(l, i);
  l->comment = true;
}

static void
put_close(layout *l, uint32_t indent) {
  if (l->comment)
    newline(l, indent);
  put_word(l, ")", 1);
}

/* --- units ---------------------------------------------------------------- */

/* What is never parted by a line break: an item, or a clause and its value. */
typedef struct unit {
  uint32_t first, second; /* second: 0 or the value */
  uint32_t next, width;
} unit;

static unit
unit_at(const layout *l, uint32_t i) {
  const item *a = &l->items.data[i];
  uint32_t value = is_clause(l, i) ? a->next : 0;
  if (!value || is_kind(l, value, BS_T_COMMENT) || is_clause(l, value))
    return (unit){i, 0, a->next, a->width};
  const item *b = &l->items.data[value];
  uint32_t width = a->width + 1 + b->width;
  return (unit){i, value, b->next, width < WIDE ? width : WIDE};
}

static bool
fits(uint32_t column, uint32_t width, uint32_t tail) {
  return (uint64_t)column + width + tail <= RL_LINE;
}

static void lay(layout *, uint32_t i, uint32_t tail, bool data);

/* `tail`: parentheses that close right behind it. */
static void
put_unit(layout *l, const unit *u, uint32_t tail) {
  if (!u->second) {
    lay(l, u->first, tail, false);
    return;
  }
  put_atom(l, u->first);
  space(l);
  lay(l, u->second, tail,
      spells_one_of(l, u->first, data_clauses, COUNT(data_clauses)));
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
  if (f->each || f->break_now || l->comment || token_of(l, u->first)->lines)
    return true;
  if (u->width < WIDE && fits(l->column + 1, u->width, tail))
    return false;
  return !f->beside || u->second || fits(f->indent, u->width, tail);
}

static bool
had_blank(const layout *l, uint32_t i) {
  return token_of(l, i)->lines > 1;
}

static void
fill(layout *l, uint32_t i, filling f) {
  for (bool start = true; i; start = false) {
    bool blank = f.blanks && !start && had_blank(l, i);
    if (is_kind(l, i, BS_T_COMMENT)) {
      put_comment(l, i, f.indent, blank);
      i = l->items.data[i].next;
      continue;
    }
    unit u = unit_at(l, i);
    uint32_t tail = u.next ? 0 : f.tail + 1, line = l->line;
    if (breaks_before(l, &u, &f, tail)) {
      if (blank)
        bs_putc(l->out, '\n');
      newline(l, f.indent);
      f.beside = false;
    } else {
      space(l);
    }
    line = l->line;
    put_unit(l, &u, tail);
    f.break_now = l->line != line;
    f.beside &= !is_kind(l, u.first, BS_T_OPEN);
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
  const bs_token *open = token_of(l, list);
  uint32_t first = l->items.data[head].next;
  bool beside = true;
  for (uint32_t x = first; x; x = unit_at(l, x).next) {
    const bs_token *t = token_of(l, x);
    beside &=
        t->kind != BS_T_OPEN && t->kind != BS_T_COMMENT && !is_clause(l, x);
    if (beside || !t->lines || t->kind == BS_T_COMMENT)
      continue;
    if (t->column == open->column + 2)
      return HANGING;
    return x != first && !token_of(l, first)->lines &&
                   t->column == token_of(l, first)->column
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
    a.n_lists += is_kind(l, x, BS_T_OPEN) || is_kind(l, u.second, BS_T_OPEN);
    if (!is_kind(l, x, BS_T_COMMENT))
      a.all_fit &= fits(column, u.width, u.next ? 0 : tail + 1);
    x = u.next;
  }
  return a;
}

static style
choose_style(const layout *l, uint32_t list, uint32_t head, uint32_t column,
             uint32_t tail) {
  uint32_t first = l->items.data[head].next;
  arguments a = measure(l, first, column, tail);
  bool near = a.all_fit || column <= MOST_ALIGNED;
  if (is_kind(l, first, BS_T_COMMENT) || !near)
    return HANGING;
  if (wants_alignment(l, head))
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
  while (x && !is_kind(l, x, BS_T_COMMENT) && !is_clause(l, x)) {
    const item *i = &l->items.data[x];
    list |= is_kind(l, x, BS_T_OPEN);
    if ((list && (!lists || token_of(l, x)->lines)) ||
        !fits(l->column + 1, i->width, i->next ? 0 : tail + 1))
      break;
    space(l);
    lay(l, x, i->next ? 0 : tail + 1, false);
    x = i->next;
  }
  return x;
}

static void
lay_call(layout *l, uint32_t list, uint32_t head, uint32_t tail) {
  uint32_t open = l->column, first = l->items.data[head].next;
  uint32_t width = l->items.data[head].width;
  uint32_t aligned = open + 1 + (width < WIDE ? width : RL_LINE) + 1;
  style s = choose_style(l, list, head, aligned, tail);
  bool written = style_written(l, list, head) == HANGING;
  put_word(l, "(", 1);
  put_atom(l, head);
  filling f = {.indent = aligned, .tail = tail, .beside = true};
  if (s == ALIGNED && first) {
    unit u = unit_at(l, first);
    uint32_t line = l->line;
    space(l);
    put_unit(l, &u, u.next ? 0 : tail + 1);
    f.break_now = l->line != line;
    f.beside = !is_kind(l, first, BS_T_OPEN);
    first = u.next;
  } else {
    first = put_beside_head(l, head, written, tail);
    f = (filling){.indent = open + 2, .tail = tail, .break_now = true};
  }
  fill(l, first, f);
  put_close(l, open + 1);
}

/* A list of data: filled, behind its parenthesis. */
static void
lay_data(layout *l, uint32_t list, uint32_t tail) {
  uint32_t open = l->column, first = l->items.data[list].first;
  filling f = {.indent = open + 1, .tail = tail};
  put_word(l, "(", 1);
  if (first && !is_kind(l, first, BS_T_COMMENT)) {
    unit u = unit_at(l, first);
    uint32_t line = l->line;
    put_unit(l, &u, u.next ? 0 : tail + 1);
    f.break_now = l->line != line;
    first = u.next;
  }
  fill(l, first, f);
  put_close(l, open + 1);
}

/* --- forms ---------------------------------------------------------------- */

/* LEFT => RIGHT on one line where it fits, else on two.  Returns the item
 * behind it, or 0 when there is no such thing here. */
static uint32_t
put_sides(layout *l, uint32_t left, uint32_t indent, uint32_t tail) {
  uint32_t arrow = l->items.data[left].next;
  uint32_t right = arrow ? l->items.data[arrow].next : 0;
  if ((!spells(l, arrow, "=>") && !spells(l, arrow, "<=>")) || !right ||
      is_kind(l, right, BS_T_COMMENT))
    return 0;
  uint32_t after = l->items.data[right].next;
  const item *items = l->items.data;
  uint32_t last = after ? 0 : tail + 1;
  uint64_t width =
      (uint64_t)items[left].width + items[arrow].width + items[right].width + 2;
  newline(l, indent);
  lay(l, left, 0, false);
  if (width < WIDE && fits(indent, (uint32_t)width, last))
    space(l);
  else
    newline(l, indent);
  put_atom(l, arrow);
  space(l);
  lay(l, right, last, false);
  return after ? after : UINT32_MAX;
}

static void
lay_rule_parts(layout *l, uint32_t i, filling f) {
  while (i && i != UINT32_MAX) {
    uint32_t after =
        is_kind(l, i, BS_T_COMMENT) ? 0 : put_sides(l, i, f.indent, f.tail);
    if (after) {
      i = after;
      continue;
    }
    /* One unit alone. */
    if (is_kind(l, i, BS_T_COMMENT)) {
      put_comment(l, i, f.indent, false);
      i = l->items.data[i].next;
      continue;
    }
    unit u = unit_at(l, i);
    newline(l, f.indent);
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
    if (is_kind(l, i, BS_T_COMMENT) ||
        !(k < f->kept || (rule && is_clause(l, i))))
      break;
    unit u = unit_at(l, i);
    if (!fits(l->column + 1, u.width, u.next ? 0 : tail + 1))
      break;
    space(l);
    put_unit(l, &u, u.next ? 0 : tail + 1);
    i = u.next;
  }
  return i;
}

static void
lay_form(layout *l, const form *form, uint32_t list, uint32_t tail) {
  uint32_t open = l->column, head = l->items.data[list].first;
  filling f = {.indent = open + 2,
               .tail = tail,
               .each = !form->filled,
               .blanks = true,
               .break_now = true};
  put_word(l, "(", 1);
  put_atom(l, head);
  uint32_t rest = put_kept(l, form, head, tail);
  if (!strcmp(form->head, "rule"))
    lay_rule_parts(l, rest, f);
  else
    fill(l, rest, f);
  put_close(l, open + 1);
}

static void
lay_flat(layout *l, uint32_t i) {
  if (!is_kind(l, i, BS_T_OPEN)) {
    put_atom(l, i);
    return;
  }
  put_word(l, "(", 1);
  for (uint32_t x = l->items.data[i].first; x; x = l->items.data[x].next) {
    if (x != l->items.data[i].first)
      space(l);
    lay_flat(l, x);
  }
  put_word(l, ")", 1);
}

static void
lay(layout *l, uint32_t i, uint32_t tail, bool data) {
  uint32_t head = l->items.data[i].first, width = l->items.data[i].width;
  if (!is_kind(l, i, BS_T_OPEN) ||
      (width < WIDE && fits(l->column, width, tail))) {
    lay_flat(l, i);
    return;
  }
  const form *f = data ? NULL : form_of(l, i);
  if (f)
    lay_form(l, f, i, tail);
  else if (data || !is_kind(l, head, BS_T_ATOM) || is_clause(l, head))
    lay_data(l, i, tail);
  else
    lay_call(l, i, head, tail);
}

/* --- the file ------------------------------------------------------------- */

static bool
is_block(const layout *l, uint32_t i) {
  const form *f = is_kind(l, i, BS_T_OPEN) ? form_of(l, i) : NULL;
  return f && f->block;
}

/* Blocks have blank lines around them, but none below their comment. */
static bool
needs_blank(const layout *l, uint32_t before, uint32_t i) {
  if (!before)
    return false;
  bool below_comment = is_kind(l, before, BS_T_COMMENT);
  return had_blank(l, i) || is_block(l, before) ||
         (is_block(l, i) && !below_comment);
}

static void
lay_file(layout *l) {
  uint32_t before = 0;
  for (uint32_t i = l->items.data[0].first; i; i = l->items.data[i].next) {
    bool comment = is_kind(l, i, BS_T_COMMENT);
    bool behind = comment && before && !token_of(l, i)->lines && !l->comment;
    bool blank = !behind && needs_blank(l, before, i);
    if (comment) {
      put_comment(l, i, 0, blank);
    } else {
      if (blank)
        bs_putc(l->out, '\n');
      if (before)
        newline(l, 0);
      lay(l, i, 0, false);
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
  layout l = {.ctx = ctx, .out = out};
  if (!bs_tokens_read(ctx->heap, ctx->diags, source, &l.tokens))
    return false;
  l.text = ctx->diags->sources.data[source - 1].text;
  bool ok = build_tree(&l, source);
  if (ok)
    lay_file(&l);
  bs_vec_done(ctx->heap, &l.items);
  bs_tokens_done(ctx->heap, &l.tokens);
  return ok;
}
