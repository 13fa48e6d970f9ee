/* SPDX-License-Identifier: MIT */
/* declare.c - declarations and parameters of quotes. */
#include "codegen/quote/reader.h"
#include <string.h>

/* Up to the name that is declared: the last word before what follows it. */
static const char *
read_type(cg_reader *r) {
  const char *from = cg_read_space(r), *to = from, *next = from;
  for (;;) {
    const char *word = next;
    next += cg_word_length(next);
    while (*next == ' ' || *next == '*')
      next++;
    if (!cg_word_length(next) || !strncmp(next, "__attribute__", 13)) {
      r->at = word;
      break;
    }
    to = next;
  }
  while (to > from && to[-1] == ' ')
    to--;
  if (to == from)
    cg_expect(r, "a type");
  return bs_arena_printf(r->arena, "%.*s", (int)(to - from), from);
}

/* __attribute__((..)), up to the parenthesis that closes it. */
static const char *
read_attribute(cg_reader *r) {
  const char *from = cg_read_space(r);
  int depth = 0;
  if (!cg_take_word(r, "__attribute__"))
    return NULL;
  do {
    depth += (*r->at == '(') - (*r->at == ')');
    r->at += *r->at != 0;
  } while (depth && *r->at);
  return bs_arena_printf(r->arena, "%.*s", (int)(r->at - from), from);
}

static cg_node *
read_variable(cg_reader *r, const char *type, bool joins) {
  int64_t elements = 0;
  cg_node *n = cg_make_let(r->arena, type, cg_read_word(r), NULL);
  n->let.joins = joins;
  if (*r->at == '[') {
    r->at++;
    if (!cg_is_number(cg_read_expr(r), &elements))
      cg_expect(r, "a number");
    cg_expect(r, "]");
  }
  n->let.elements = elements;
  n->let.attribute = read_attribute(r);
  if (cg_take(r, "="))
    n->let.value = cg_read_expr(r);
  return n;
}

cg_node *
cg_read_declaration(cg_reader *r) {
  const char *type = read_type(r);
  cg_node *first = read_variable(r, type, false), **end = &first->next;
  while (!r->why && cg_take(r, ",")) {
    *end = read_variable(r, type, true);
    end = &(*end)->next;
  }
  cg_expect(r, ";");
  return first;
}

/* ---- functions ---- */

static void
add_parameter(cg_writer *w, cg_parameter parameter) {
  cg_function *f = &w->function;
  if (f->n_parameters == w->room) {
    w->room = w->room ? 2 * w->room : 16;
    cg_parameter *more = BS_NEWS(w->arena, cg_parameter, w->room);
    for (uint32_t k = 0; k < f->n_parameters; k++)
      more[k] = w->parameters[k];
    f->parameters = w->parameters = more;
  }
  w->parameters[f->n_parameters++] = parameter;
}

static void
read_parameters(cg_writer *w, cg_reader *r) {
  do {
    bool breaks = r->at[strspn(r->at, " ")] == '\n';
    const char *type = read_type(r);
    add_parameter(w, (cg_parameter){type, cg_read_word(r), breaks});
  } while (!r->why && cg_take(r, ","));
}

void
cg_read_function(cg_writer *w, cg_reader *r) {
  size_t n = strcspn(r->at, "\n");
  w->function =
      (cg_function){.head = bs_arena_printf(r->arena, "%.*s", (int)n, r->at),
                    .by_hand = true};
  r->at += n;
  w->function.name = cg_read_word(r);
  cg_expect(r, "(");
  if (!cg_take(r, "void)")) {
    read_parameters(w, r);
    cg_expect(r, ")");
  }
  cg_expect(r, "{");
}
