/* SPDX-License-Identifier: MIT */
/* operands.c - expressions of quotes.
 *
 * By precedence; what binds equally tight is read from the left, and operands
 * of one operator become one node.  Quotes are the generators' own and shallow:
 * functions here recurse. */
#include "codegen/quote/reader.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cg_expr *read_unary(cg_reader *r);

/* ---- words and signs ---- */

const char *
cg_read_space(cg_reader *r) {
  while (*r->at == ' ' || *r->at == '\n')
    r->at++;
  return r->at;
}

/* Whether a line ends before what is next. */
static bool
breaks(cg_reader *r) {
  const char *from = r->at, *to = cg_read_space(r);
  return memchr(from, '\n', (size_t)(to - from)) != NULL;
}

bool
cg_take(cg_reader *r, const char *sign) {
  assert(*sign);
  size_t n = strlen(sign);
  if (strncmp(cg_read_space(r), sign, n) != 0)
    return false;
  r->at += n;
  return true;
}

static void
fail(cg_reader *r, const char *what) {
  if (!r->why)
    r->why = bs_arena_printf(r->arena, "%s before '%s' in '%s'", what, r->at,
                             r->all);
}

void
cg_expect(cg_reader *r, const char *sign) {
  if (!cg_take(r, sign))
    fail(r, bs_arena_printf(r->arena, "no '%s'", sign));
}

static const char *
text_of(cg_reader *r, const char *from, size_t n) {
  return bs_arena_printf(r->arena, "%.*s", (int)n, from);
}

size_t
cg_word_length(const char *at) {
  size_t n = 0;
  while (isalpha((unsigned char)at[n]) || at[n] == '_' ||
         (n && isdigit((unsigned char)at[n])))
    n++;
  return n;
}

bool
cg_take_word(cg_reader *r, const char *word) {
  size_t n = cg_word_length(cg_read_space(r));
  if (n != strlen(word) || strncmp(r->at, word, n) != 0)
    return false;
  r->at += n;
  return true;
}

const char *
cg_read_word(cg_reader *r) {
  size_t n = cg_word_length(cg_read_space(r));
  if (!n)
    fail(r, "no name");
  r->at += n;
  return text_of(r, r->at - n, n);
}

/* ---- types ---- */

static bool
ends(const char *word, size_t n, const char *with) {
  size_t m = strlen(with);
  return n > m && !strncmp(word + n - m, with, m);
}

/* Types of vectors and of their lanes' numbers end so. */
static bool
is_of_vectors(const char *word, size_t n) {
  return ends(word, n, "_v") || ends(word, n, "_i");
}

bool
cg_begins_type(const char *at) {
  static const char *const words[] = {"static",   "const", "void",   "int",
                                      "unsigned", "float", "double", "union"};
  size_t n = cg_word_length(at);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (n == strlen(words[k]) && !strncmp(at, words[k], n))
      return true;
  return ends(at, n, "_t") || is_of_vectors(at, n);
}

bool
cg_begins_declaration(const char *at) {
  size_t n = cg_word_length(at);
  if (!n || cg_begins_type(at))
    return n;
  at += n;
  size_t gap = strspn(at, " *"), name = cg_word_length(at + gap);
  const char *behind = at + gap + name;
  return *at == ' ' && (at[gap - 1] == '*' || gap == strspn(at, " ")) && name &&
         !cg_word_length(behind + strspn(behind, " "));
}

/* The type that stands in parentheses there; NULL: something else does. */
static const char *
take_type(cg_reader *r) {
  const char *from = cg_read_space(r) + 1, *to = from;
  if (*r->at != '(' || !cg_begins_type(from))
    return NULL;
  while (*to == ' ' || *to == '*' || cg_word_length(to))
    to += cg_word_length(to) ? cg_word_length(to) : 1;
  if (*to != ')')
    return NULL;
  r->at = to + 1;
  return text_of(r, from, (size_t)(to - from));
}

/* ---- what is one operand ---- */

static const cg_expr *
read_number(cg_reader *r) {
  const char *from = r->at;
  char *end;
  errno = 0;
  long long number = strtoll(from, &end, 10);
  bool plain = !errno && !isalnum((unsigned char)*end) && *end != '.';
  while (isalnum((unsigned char)*r->at) || *r->at == '.' ||
         ((*r->at == '-' || *r->at == '+') && r->at[-1] == 'e'))
    r->at++;
  return plain ? cg_number(r->arena, number)
               : cg_literal(r->arena, text_of(r, from, (size_t)(r->at - from)));
}

/* Up to the sign, in a list of which commas are between the items. */
static void
read_items(cg_reader *r, const char *end, uint32_t *n, const cg_expr ***out) {
  uint32_t room = 0;
  *n = 0;
  *out = NULL;
  if (cg_take(r, end))
    return;
  do {
    if (*n == room) {
      room = room ? 2 * room : 8;
      const cg_expr **more = BS_NEWS(r->arena, const cg_expr *, room);
      for (uint32_t k = 0; k < *n; k++)
        more[k] = (*out)[k];
      *out = more;
    }
    (*out)[(*n)++] = cg_read_expr(r);
  } while (!r->why && cg_take(r, ","));
  cg_expect(r, end);
}

static const cg_expr *
read_braces(cg_reader *r, const char *type) {
  uint32_t n;
  const cg_expr **items;
  cg_expect(r, "{");
  read_items(r, "}", &n, &items);
  return cg_braces(r->arena, type, n, items);
}

/* A name, with that of a member behind it, or a call. */
static const cg_expr *
read_named(cg_reader *r) {
  const char *from = cg_read_space(r);
  size_t n = cg_word_length(from);
  while (from[n] == '.')
    n += 1 + cg_word_length(from + n + 1);
  const char *name = text_of(r, from, n);
  r->at += n;
  if (*r->at == '(') {
    uint32_t count;
    const cg_expr **args;
    r->at++;
    read_items(r, ")", &count, &args);
    return cg_called(r->arena, name, count, args);
  }
  return is_of_vectors(name, n) || !strcmp(name, "NULL")
             ? cg_literal(r->arena, name)
             : cg_name(r->arena, name);
}

/* A string without escapes. */
static const cg_expr *
read_string(cg_reader *r) {
  const char *from = r->at, *end = strchr(from + 1, '"');
  if (!end) {
    fail(r, "no '\"'");
    return cg_number(r->arena, 0);
  }
  r->at = end + 1;
  return cg_literal(r->arena, text_of(r, from, (size_t)(r->at - from)));
}

static const cg_expr *
read_primary(cg_reader *r) {
  const char *at = cg_read_space(r);
  if (isdigit((unsigned char)*at))
    return read_number(r);
  if (cg_word_length(at))
    return read_named(r);
  if (*at == '{')
    return read_braces(r, NULL);
  if (*at == '"')
    return read_string(r);
  if (cg_take(r, "(")) {
    const cg_expr *x = cg_read_expr(r);
    cg_expect(r, ")");
    return cg_paren(r->arena, x);
  }
  fail(r, "no operand");
  return cg_number(r->arena, 0);
}

static const cg_expr *
read_postfix(cg_reader *r) {
  const cg_expr *x = read_primary(r);
  for (;;)
    if (*r->at == '[') {
      r->at++;
      x = cg_element(r->arena, x, cg_read_expr(r));
      cg_expect(r, "]");
    } else if (!strncmp(r->at, "++", 2)) {
      r->at += 2;
      x = cg_postfix(r->arena, CG_OP_INCREMENT, x);
    } else {
      return x;
    }
}

static const cg_expr *
read_prefixed(cg_reader *r) {
  const char *type = take_type(r);
  if (type)
    return *cg_read_space(r) == '{' ? read_braces(r, type)
                                    : cg_cast(r->arena, type, read_unary(r));
  if (*r->at == '-' && isdigit((unsigned char)r->at[1])) {
    const cg_expr *x;
    r->at++;
    x = read_number(r);
    return x->kind == CG_NUMBER ? cg_number(r->arena, -x->number)
                                : cg_prefix(r->arena, CG_OP_NEGATE, x);
  }
  for (cg_op op = CG_OP_NEGATE; op <= CG_OP_NOT; op++)
    if (cg_take(r, cg_sign(op)))
      return cg_prefix(r->arena, op, read_unary(r));
  if (cg_take_word(r, "sizeof"))
    return cg_prefix(r->arena, CG_OP_SIZEOF, read_unary(r));
  return read_postfix(r);
}

static const cg_expr *
read_unary(cg_reader *r) {
  bool broken = breaks(r);
  const cg_expr *x = read_prefixed(r);
  return broken ? cg_broken(r->arena, x) : x;
}

/* ---- operators ---- */

/* The one that stands there, which is the longest; CG_OP_NONE: none, or an
 * assignment. */
static cg_op
next_operator(const cg_reader *r) {
  const char *at = r->at + strspn(r->at, " \n");
  cg_op found = CG_OP_NONE;
  size_t length = 0;
  for (cg_op op = CG_OP_OR; cg_is_infix(op); op++) {
    size_t n = strlen(cg_sign(op));
    if (n > length && !strncmp(at, cg_sign(op), n)) {
      found = op;
      length = n;
    }
  }
  return length == 1 && at[1] == '=' ? CG_OP_NONE : found;
}

/* One more operand of the node where it is of the same operator. */
static const cg_expr *
join(cg_reader *r, cg_op op, const cg_expr *a, const cg_expr *b) {
  if (a->op != op)
    return cg_infix(r->arena, op, a, b);
  const cg_expr **args = BS_NEWS(r->arena, const cg_expr *, a->n + 1);
  for (uint32_t k = 0; k < a->n; k++)
    args[k] = a->args[k];
  args[a->n] = b;
  return cg_infix_of(r->arena, op, a->n + 1, args);
}

static const cg_expr *
read_infix(cg_reader *r, int least) {
  const cg_expr *x = read_unary(r);
  while (!r->why) {
    cg_op op = next_operator(r);
    if (op == CG_OP_NONE || cg_level_of_operator(op) < least)
      break;
    cg_take(r, cg_sign(op));
    x = join(r, op, x, read_infix(r, cg_level_of_operator(op) + 1));
  }
  return x;
}

/* A branch of a choice, where its sign is next; a line may begin with that. */
static const cg_expr *
read_branch(cg_reader *r, char sign) {
  const char *from = r->at, *at = from + strspn(from, " \n");
  if (*at != sign)
    return NULL;
  bool broken = breaks(r);
  r->at++;
  const cg_expr *x = cg_read_expr(r);
  return broken ? cg_broken(r->arena, x) : x;
}

const cg_expr *
cg_read_expr(cg_reader *r) {
  const cg_expr *x = read_infix(r, CG_LEVEL_OR);
  assert(x || r->why);
  const cg_expr *then = read_branch(r, '?');
  const cg_expr *otherwise = then ? read_branch(r, ':') : NULL;
  if (then && !otherwise)
    fail(r, "no ':'");
  return otherwise ? cg_choice(r->arena, x, then, otherwise) : x;
}

const cg_expr *
cg_quote(bs_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  cg_reader r = {.arena = arena, .all = bs_arena_vprintf(arena, format, args)};
  va_end(args);
  r.at = r.all;
  const cg_expr *x = cg_read_expr(&r);
  if (*cg_read_space(&r))
    fail(&r, "something");
  return r.why ? NULL : x;
}
