/* SPDX-License-Identifier: MIT */
/* parse_step.c - the step of a scan.
 *
 *   (step STATE (each NAME...) (with NAME...) (let NAME TERM)... TERM)
 *
 * It is read as a program of its own, whose inputs are its parameters: their
 * types are those of the operands.  It sees no other names. */
#include "glenside/text/parse.h"
#include "glenside/program/scan.h"
#include <assert.h>
#include <string.h>

typedef struct reading {
  gs_parser *x; /* of the step */
  const gs_program *around;
  const gs_term *operands;
  uint32_t n; /* of the operands */
  gs_step step;
} reading;

static bool
ill_formed(gs_parser *x, uint32_t node) {
  bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-attribute",
           "expected a step, found %s", parse_describe(x, node));
  bs_hint(x->ctx->diags,
          "write (step STATE (each NAME...) (with NAME...) TERM)");
  return false;
}

/* `first` and its siblings as parameters, up to n; 0: all of the list. */
static bool
read_params(reading *r, uint32_t first, uint32_t n) {
  gs_parser *x = r->x;
  for (uint32_t node = first; node && n; node = parse_at(x, node)->next, n--) {
    uint32_t k = x->p->inputs.len;
    gs_type operand, type;
    if (!parse_symbol(x, node))
      return bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-name",
                      "expected a name, found %s", parse_describe(x, node));
    if (k >= r->n)
      return bs_error(x->ctx->diags, parse_at(x, node)->span, "wrong-arity",
                      "the step has more parameters than scan has terms, which "
                      "are %u",
                      r->n);
    if (parse_find(x, parse_at(x, node)->value))
      return bs_error(x->ctx->diags, parse_at(x, node)->span, "duplicate-name",
                      "`%.60s` is defined twice", parse_symbol(x, node));
    gs_type_at(r->around, r->operands[k], &operand);
    if (!gs_step_param(&r->step, k, &operand, &type))
      return bs_error(x->ctx->diags, parse_at(x, node)->span, "type-mismatch",
                      "`%.60s` is an item of a sequence, and its term has no "
                      "dimension",
                      parse_symbol(x, node));
    parse_bind(x, parse_at(x, node)->value, parse_at(x, node)->span);
    parse_binding *b = parse_find(x, parse_at(x, node)->value);
    b->bound = true;
    b->term = gs_add_tensor(x->p, parse_symbol(x, node), &type,
                            parse_at(x, node)->span);
  }
  return true;
}

static bool
is_headed(const gs_parser *x, uint32_t node, const char *word) {
  const char *head = node ? bs_sx_head(&x->sx, x->ctx->values, node) : NULL;
  return head && !strcmp(head, word);
}

/* (each NAME...): NULL where it is left out. */
static bool
read_list(reading *r, const char *word, uint32_t *node, uint32_t *n) {
  if (!is_headed(r->x, *node, word))
    return true;
  *n = parse_at(r->x, *node)->count - 1;
  uint32_t first = parse_at(r->x, *node + 1)->next;
  *node = parse_at(r->x, *node)->next;
  return !*n || read_params(r, first, *n);
}

static bool
read_let(gs_parser *x, uint32_t list) {
  if (parse_at(x, list)->count != 3)
    return bs_error(x->ctx->diags, parse_at(x, list)->span, "bad-form",
                    "let takes 2 arguments, found %u",
                    parse_at(x, list)->count - 1);
  uint32_t name = parse_at(x, list + 1)->next;
  if (!parse_symbol(x, name))
    return bs_error(x->ctx->diags, parse_at(x, name)->span, "bad-name",
                    "expected a name, found %s", parse_describe(x, name));
  if (parse_find(x, parse_at(x, name)->value))
    return bs_error(x->ctx->diags, parse_at(x, name)->span, "duplicate-name",
                    "`%.60s` is defined twice", parse_symbol(x, name));
  gs_term t = parse_term(x, parse_at(x, name)->next);
  parse_bind(x, parse_at(x, name)->value, parse_at(x, name)->span);
  parse_binding *b = parse_find(x, parse_at(x, name)->value);
  b->bound = true;
  b->term = t;
  return true;
}

static bool
read_body(reading *r, uint32_t node, bs_value *attr) {
  gs_parser *x = r->x;
  gs_fault fault = {0};
  for (; parse_at(x, node)->next; node = parse_at(x, node)->next) {
    if (!is_headed(x, node, "let")) {
      bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-form",
               "expected (let NAME TERM), found %s", parse_describe(x, node));
      return false;
    }
    if (!read_let(x, node))
      return false;
  }
  gs_term result = parse_term(x, node);
  if (!gs_term_ok(result))
    return false;
  return gs_step_encode(x->p, result, r->step.n_each, attr, &fault) ||
         parse_fault(x, &fault, parse_at(x, node)->span);
}

static bool
read_step(reading *r, uint32_t list, bs_value *attr) {
  gs_parser *x = r->x;
  uint32_t state = parse_at(x, list + 1)->next, next;
  r->step.n_each = 0;
  if (!read_params(r, state, 1))
    return false;
  next = parse_at(x, state)->next;
  /* Items have a dimension less, so that it is known first how many. */
  if (is_headed(x, next, "each"))
    r->step.n_each = parse_at(x, next)->count - 1;
  uint32_t n = 0;
  if (!read_list(r, "each", &next, &n) || !read_list(r, "with", &next, &n))
    return false;
  if (!next)
    return ill_formed(x, list);
  if (x->p->inputs.len != r->n)
    return bs_error(x->ctx->diags, parse_at(x, list)->span, "wrong-arity",
                    "the step has %u %s, scan has %u %s",
                    BS_COUNTED(x->p->inputs.len, "parameter"),
                    BS_COUNTED(r->n, "term"));
  return read_body(r, next, attr);
}

bool
parse_step(gs_parser *x, uint32_t node, const gs_term *operands, uint32_t n,
           bs_value *attr) {
  assert(operands || !n);
  if (!is_headed(x, node, "step") || parse_at(x, node)->count < 3)
    return ill_formed(x, node);
  if (x->in_step) /* also by a definition that uses itself */
    return bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-step",
                    "a step must not contain a scan");
  gs_parser own = {.ctx = x->ctx,
                   .p = gs_program_new(x->ctx, NULL),
                   .sx = x->sx,
                   .n_uses = x->n_uses,
                   .in_step = true};
  own.definitions.data = x->definitions.data;
  own.definitions.len = x->definitions.len;
  reading r = {.x = &own, .around = x->p, .operands = operands, .n = n};
  bool fine = read_step(&r, node, attr);
  x->n_uses = own.n_uses;
  parse_scratch_done(&own);
  return fine;
}
