/* SPDX-License-Identifier: MIT */
/* write.c - statements of quotes, and the lists that they go to. */
#include "codegen/quote/reader.h"
#include <assert.h>
#include <string.h>

/* ---- what is open ---- */

static void
open_frame(cg_writer *w, cg_node *node, bool bare) {
  cg_frame *f = BS_NEW(w->arena, cg_frame);
  *f = (cg_frame){
      .node = node, .bare = bare, .opened = w->n_quotes, .around = w->top};
  cg_list_init(&f->list);
  w->top = f;
}

/* Puts the list of the frame where it belongs. */
static void
place_list(cg_frame *f) {
  if (f->second)
    *cg_otherwise(f->node) = f->list.first;
  else
    f->node->first = f->list.first;
}

static void
wrong(cg_writer *w, const char *what) {
  if (!w->why)
    w->why = what;
}

static void
add(cg_writer *w, cg_node *chain) {
  cg_append(&w->top->list, chain);
  while (w->top->bare) {
    cg_frame *f = w->top;
    f->node->bare = true;
    place_list(f);
    w->top = f->around;
    cg_append(&w->top->list, f->node);
  }
}

static void
close_frame(cg_writer *w) {
  cg_frame *f = w->top;
  place_list(f);
  w->top = f->around;
  add(w, f->node);
}

static bool
is_open(const cg_writer *w, cg_kind kind) {
  return w->top->node && w->top->node->kind == kind;
}

static bool
is_around(const cg_writer *w, cg_kind kind) {
  const cg_node *n = w->top->around ? w->top->around->node : NULL;
  return n && n->kind == kind;
}

/* What is done otherwise. */
static void
turn(cg_writer *w) {
  place_list(w->top);
  w->top->second = true;
  cg_list_init(&w->top->list);
}

/* ---- statements ---- */

/* A head is read: its body in braces, or the next statement. */
static void
open_body(cg_writer *w, cg_reader *r, cg_node *node) {
  const char *from = r->at, *to = cg_read_space(r);
  bool bare = !cg_take(r, "{");
  node->brace_below = !bare && memchr(from, '\n', (size_t)(to - from));
  open_frame(w, node, bare);
}

/* Which of the loops that threads share it is, and how it runs. */
static void
mark_loop(cg_writer *w, cg_for *head) {
  if (w->simd)
    head->lanes = CG_LANES_SEEN;
  w->simd = false;
  head->unrolled = w->unrolled;
  w->unrolled = 0;
  if (!w->team)
    return;
  head->is_team = true;
  if (w->team == w->shared) {
    head->collapse = w->shared;
    head->pays = w->pays;
  }
  w->team--;
}

static void
read_loop(cg_writer *w, cg_reader *r) {
  cg_node *n = cg_read_for(r);
  mark_loop(w, &n->head);
  open_body(w, r, n);
}

static void
read_if(cg_writer *w, cg_reader *r) {
  cg_expect(r, "(");
  const cg_expr *condition = cg_read_expr(r);
  cg_expect(r, ")");
  open_body(w, r, cg_make_if(r->arena, condition, NULL));
}

static void
read_switch(cg_writer *w, cg_reader *r) {
  cg_node *n = cg_node_new(r->arena, CG_SWITCH);
  cg_expect(r, "(");
  n->effect = cg_read_expr(r);
  cg_expect(r, ")");
  cg_expect(r, "{");
  open_frame(w, n, false);
}

static void
read_case(cg_writer *w, cg_reader *r) {
  cg_node *n = cg_node_new(r->arena, CG_CASE);
  if (is_open(w, CG_CASE))
    close_frame(w);
  if (!cg_is_number(cg_read_expr(r), &n->label))
    wrong(w, "a case that is no number");
  cg_expect(r, ":");
  open_frame(w, n, false);
}

static void
read_default(cg_writer *w, cg_reader *r) {
  cg_node *n = cg_node_new(r->arena, CG_CASE);
  if (is_open(w, CG_CASE))
    close_frame(w);
  n->is_default = true;
  cg_expect(r, ":");
  open_frame(w, n, false);
}

static void
read_return(cg_writer *w, cg_reader *r) {
  const cg_expr *x = NULL;
  if (!cg_take(r, ";")) {
    x = cg_read_expr(r);
    cg_expect(r, ";");
  }
  add(w, cg_make_return(r->arena, x));
}

static void
read_continue(cg_writer *w, cg_reader *r) {
  cg_expect(r, ";");
  add(w, cg_node_new(r->arena, CG_CONTINUE));
}

/* The block, test or loop ends. */
static void
read_end(cg_writer *w, cg_reader *r) {
  if (is_open(w, CG_CASE))
    close_frame(w);
  if (!w->top->node || w->top->node->kind == CG_WHEN) {
    wrong(w, "a brace that nothing opened");
  } else if (is_open(w, CG_IF) && cg_take_word(r, "else")) {
    cg_expect(r, "{");
    turn(w);
  } else {
    cg_node *n = w->top->node;
    n->one_line = n->kind == CG_BLOCK && w->top->opened == w->n_quotes;
    close_frame(w);
  }
}

/* a = b = c; the last of them is the value of the store. */
static const cg_expr *
read_assigned(cg_reader *r) {
  const cg_expr *x = cg_read_expr(r);
  return cg_take(r, "=") ? cg_infix(r->arena, CG_OP_SET, x, read_assigned(r))
                         : x;
}

static cg_node *
read_store(cg_reader *r, const cg_expr *target, cg_op op) {
  cg_node *n = cg_node_new(r->arena, CG_STORE);
  n->store = (cg_store){target, read_assigned(r), op};
  return n;
}

static void
read_effect(cg_writer *w, cg_reader *r) {
  static const cg_op ops[] = {CG_OP_ADD, CG_OP_SUBTRACT, CG_OP_MULTIPLY,
                              CG_OP_DIVIDE};
  const cg_expr *x = cg_read_expr(r);
  cg_node *n = NULL;
  for (size_t k = 0; k < sizeof ops / sizeof *ops && !n; k++)
    if (cg_take(r, bs_arena_printf(r->arena, "%s=", cg_sign(ops[k]))))
      n = read_store(r, x, ops[k]);
  if (!n && cg_take(r, "="))
    n = read_store(r, x, CG_OP_SET);
  while (!n && cg_take(r, ","))
    x = cg_infix(r->arena, CG_OP_COMMA, x, cg_read_expr(r));
  cg_expect(r, ";");
  add(w, n ? n : cg_make_do(r->arena, x));
}

/* A macro in the place of a statement: a word that is all of a quote. */
static bool
read_macro(cg_writer *w, cg_reader *r) {
  size_t n = cg_word_length(r->at);
  if (!n || r->at[n])
    return false;
  const cg_expr **part = BS_NEWS(r->arena, const cg_expr *, 1);
  *part = cg_name(r->arena, cg_read_word(r));
  cg_node *node = cg_node_new(r->arena, CG_TEMPLATE);
  node->text = (cg_template){.n = 1, .parts = part};
  add(w, node);
  return true;
}

/* ---- lines of the preprocessor ---- */

static void
open_when(cg_writer *w, const char *condition, bool joins) {
  cg_node *n = cg_node_new(w->arena, CG_WHEN);
  n->when.condition = condition;
  n->when.joins = joins;
  open_frame(w, n, false);
}

/* With what is joined to it. */
static void
close_when(cg_writer *w) {
  bool joins = true;
  while (joins && is_open(w, CG_WHEN)) {
    joins = w->top->node->when.joins;
    close_frame(w);
  }
  if (joins)
    wrong(w, "#endif of nothing");
}

static void
read_line(cg_writer *w, cg_reader *r) {
  const char *rest = r->at;
  r->at += strlen(r->at);
  if (!strncmp(rest, "#if", 3)) {
    open_when(w, rest + 1, false);
    return;
  }
  if (!strncmp(rest, "#error ", 7)) {
    cg_node *n = cg_node_new(w->arena, CG_ERROR);
    n->comment = rest + 7;
    add(w, n);
    return;
  }
  if (is_open(w, CG_CASE) && is_around(w, CG_WHEN))
    close_frame(w);
  if (!is_open(w, CG_WHEN)) {
    wrong(w, "a line of the preprocessor that nothing opened");
  } else if (!strncmp(rest, "#elif ", 6)) {
    turn(w);
    open_when(w, rest + 1, true);
  } else if (!strcmp(rest, "#else")) {
    turn(w);
  } else {
    close_when(w);
  }
}

/* ---- quotes ---- */

static const struct word {
  const char *word;
  void (*read)(cg_writer *, cg_reader *);
} words[] = {{"for", read_loop},         {"if", read_if},
             {"switch", read_switch},    {"case", read_case},
             {"default", read_default},  {"return", read_return},
             {"continue", read_continue}};

static bool
read_word(cg_writer *w, cg_reader *r) {
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (cg_take_word(r, words[k].word)) {
      words[k].read(w, r);
      return true;
    }
  return false;
}

static void
read_statement(cg_writer *w, cg_reader *r) {
  if (*r->at == '#')
    read_line(w, r);
  else if (cg_take(r, "{"))
    open_frame(w, cg_node_new(r->arena, CG_BLOCK), false);
  else if (cg_take(r, "}"))
    read_end(w, r);
  else if (!read_word(w, r) && !read_macro(w, r)) {
    if (cg_begins_declaration(r->at))
      add(w, cg_read_declaration(r));
    else
      read_effect(w, r);
  }
}

static void
go_on(cg_writer *w, const char *format, va_list args) {
  const char *text = bs_arena_vprintf(w->arena, format, args);
  w->begun =
      w->begun ? bs_arena_printf(w->arena, "%s%s", w->begun, text) : text;
}

void
cg_add(cg_writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  go_on(w, format, args);
  va_end(args);
}

void
cg_write(cg_writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  go_on(w, format, args);
  va_end(args);
  cg_reader r = {.arena = w->arena, .all = w->begun, .at = w->begun};
  w->begun = NULL;
  w->n_quotes++;
  if (!w->top) {
    cg_read_function(w, &r);
    cg_open_body(w);
  }
  while (*cg_read_space(&r) && !r.why && !w->why)
    read_statement(w, &r);
  if (r.why)
    wrong(w, r.why);
}

void
cg_write_nodes(cg_writer *w, cg_node *chain) {
  if (chain && !w->why)
    add(w, chain);
}

static const cg_expr *
operand(cg_writer *w, const char *text) {
  const cg_expr *x = cg_quote(w->arena, "%s", text);
  if (!x)
    wrong(w, "an operand that cannot be read");
  return x;
}

void
cg_write_store(cg_writer *w, const char *target, const cg_expr *value) {
  cg_node *n = cg_node_new(w->arena, CG_STORE);
  n->store = (cg_store){operand(w, target), value, CG_OP_SET};
  add(w, n);
}

void
cg_write_if(cg_writer *w, const cg_expr *condition) {
  assert(condition);
  open_frame(w, cg_make_if(w->arena, condition, NULL), false);
}

void
cg_write_team(cg_writer *w, uint32_t loops, const char *pays) {
  /* Of a loop that follows. */
  assert(loops >= 1);
  w->team = w->shared = loops;
  w->pays = pays ? operand(w, pays) : NULL;
}

void
cg_write_unrolled(cg_writer *w, uint32_t iterations) {
  w->unrolled = iterations;
}

/* ---- bodies ---- */

void
cg_start(cg_writer *w, bs_arena *arena) {
  *w = (cg_writer){.arena = arena};
}

void
cg_open_body(cg_writer *w) {
  open_frame(w, NULL, false);
}

void
cg_open_function(cg_writer *w, const cg_function *f) {
  assert(f->name && *f->name);
  w->function = *f;
  cg_open_body(w);
}

cg_node *
cg_end(cg_writer *w) {
  if (!w->top || w->top->node || w->begun)
    wrong(w, "something is left open");
  return w->why ? NULL : w->top->list.first;
}
