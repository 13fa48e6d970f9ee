/* SPDX-License-Identifier: MIT */
/* build_pattern.c - an operator's text in the table of operators as an
 * expression.
 *
 *   sum = product ((+ | -) product)*, product = operand ((* | /) operand)*,
 *   operand = - operand | digit | $ | @function(sum) | (sum)
 *
 * `$` is the operand, in parentheses of its own but where it is all that is in
 * those of a call. The texts are the project's own, so that what is none is a
 * fault of the table. */
#include "codegen/build/body.h"
#include "poly/loops/functions.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

typedef struct pattern {
  const cg_body *b;
  const char *at;
  gs_dtype dtype;
  uint32_t kid;
} pattern;

static const cg_expr *sum(pattern *);

static void
skip(pattern *p) {
  while (*p->at == ' ')
    p->at++;
}

static void
expect(pattern *p, char c) {
  assert(*p->at == c);
  p->at += *p->at == c;
}

/* Functions that are written in C of their own, of which C compilers make
 * vectors. */
static const struct {
  const char *name;
  cg_helper helper;
} written[] = {
#define WRITTEN(id, name) {name, CG_##id##_F32},
    PO_OWN_FUNCTIONS(WRITTEN)
#undef WRITTEN
};

bool
cg_is_written(const cg_emitter *e, const char *name, gs_dtype dtype,
              cg_helper *helper) {
  assert(dtype < GS_DTYPE_COUNT);
  size_t n = strcspn(name, "(");
  if (e->p->strict_fp || cg_is_double(dtype))
    return false;
  for (size_t k = 0; k < sizeof written / sizeof *written; k++)
    if (strlen(written[k].name) == n && !strncmp(written[k].name, name, n)) {
      *helper = written[k].helper;
      return true;
    }
  return false;
}

/* Its name in C. */
static const char *
function_name(const pattern *p, int n) {
  cg_emitter *e = p->b->e;
  cg_helper helper;
  return cg_is_written(e, p->at, p->dtype, &helper)
             ? cg_helper_used(e, helper)
             : bs_arena_printf(&e->arena, "%.*s%s", n, p->at,
                               cg_is_double(p->dtype) ? "" : "f");
}

static const cg_expr *
function(pattern *p) {
  bs_arena *arena = &p->b->e->arena;
  int n = (int)strcspn(p->at, "(");
  const char *name = function_name(p, n);
  p->at += n;
  expect(p, '(');
  bool alone = *p->at == '$' && p->at[1] == ')';
  const cg_expr *arg = alone ? cg_make_value(p->b, p->kid) : NULL;
  p->at += alone;
  arg = arg ? arg : sum(p);
  expect(p, ')');
  return cg_called(arena, name, 1, &arg);
}

static const cg_expr *
operand(pattern *p) {
  bs_arena *arena = &p->b->e->arena;
  skip(p);
  char c = *p->at++;
  if (c == '-')
    return cg_prefix(arena, CG_OP_NEGATE, operand(p));
  if (c == '@')
    return function(p);
  if (c == '$')
    return cg_make_kid(p->b, p->kid);
  if (isdigit((unsigned char)c))
    return cg_make_literal(p->b->e, p->dtype, c - '0');
  assert(c == '(');
  const cg_expr *inner = sum(p);
  expect(p, ')');
  return cg_paren(arena, inner);
}

static const cg_expr *
chain(pattern *p, cg_op one, cg_op other, const cg_expr *(*part)(pattern *)) {
  const cg_expr *out = part(p);
  for (skip(p); *p->at == *cg_sign(one) || *p->at == *cg_sign(other); skip(p)) {
    cg_op op = *p->at++ == *cg_sign(one) ? one : other;
    out = cg_infix(&p->b->e->arena, op, out, part(p));
  }
  return out;
}

static const cg_expr *
product(pattern *p) {
  return chain(p, CG_OP_MULTIPLY, CG_OP_DIVIDE, operand);
}

static const cg_expr *
sum(pattern *p) {
  return chain(p, CG_OP_ADD, CG_OP_SUBTRACT, product);
}

const cg_expr *
cg_make_pattern(const cg_body *b, const char *text, gs_dtype dtype,
                uint32_t kid) {
  pattern p = {b, text, dtype, kid};
  const cg_expr *out = sum(&p);
  assert(!*p.at);
  return out;
}
