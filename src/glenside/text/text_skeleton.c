/* SPDX-License-Identifier: MIT */
/* text_skeleton.c - terms with holes, parsed; skeleton_use.c has the rest.
 *
 * The surface of a term comes from the operator table (op.h): children, then
 * attributes, or attributes first where the table says so.  Nodes are kept in
 * post-order, so whoever builds or compiles a skeleton loops over an array.
 * Parsing recurses at most GS_MAX_NESTING deep; sugar that makes a term deeper
 * (concat of many parts) counts towards it. */
#include "glenside/text/define.h"
#include "glenside/type/elsewhere.h"
#include "glenside/program/skeleton.h"
#include "glenside/target/target.h"
#include <assert.h>
#include <string.h>

#define NO_NODE UINT32_MAX

typedef struct parser {
  const gs_context *ctx;
  const gs_target *target;
  const bs_sexps *sexps;
  gs_scope *scope;
  BS_VEC(gs_sk_node) nodes;
  uint32_t *let_nodes; /* by let: its root, NO_NODE before its first use */
  uint32_t n_lets;     /* that may be used here */
} parser;

static uint32_t parse_term(parser *, uint32_t node, int depth);

static const bs_sx *
at(const parser *p, uint32_t node) {
  assert(node < p->sexps->nodes.len);
  return &p->sexps->nodes.data[node];
}

static uint32_t
next(const parser *p, uint32_t node) {
  return at(p, node)->next;
}

static uint32_t
skip(const parser *p, uint32_t x, uint32_t n) {
  while (n-- > 0)
    x = next(p, x);
  return x;
}

static uint32_t
push(parser *p, gs_sk_node n) {
  bs_push(p->ctx->heap, &p->nodes, n);
  return p->nodes.len - 1;
}

/* --- names of terms ------------------------------------------------------- */

/* The index of the let, or NO_NODE. */
static uint32_t
find_let(const parser *p, const char *name) {
  for (uint32_t k = 0; k < p->n_lets; k++)
    if (!strcmp(p->scope->lets[k].name, name))
      return k;
  return NO_NODE;
}

/* The term stands where it is used first, so that nodes stay in post-order. */
static uint32_t
parse_let(parser *p, uint32_t let, int depth) {
  uint32_t visible = p->n_lets;
  if (p->let_nodes[let] != NO_NODE)
    return p->let_nodes[let];
  p->n_lets = let;
  p->let_nodes[let] = parse_term(p, p->scope->lets[let].node, depth);
  p->n_lets = visible;
  return p->let_nodes[let];
}

/* --- holes ---------------------------------------------------------------- */

static uint32_t
hole(parser *p, int slot, bs_span span) {
  gs_var *var = &p->scope->vars.data[slot];
  if (var->sort == GS_SORT_ANY)
    var->sort = GS_SORT_CLASS;
  if (var->sort == GS_SORT_CLASS)
    return push(
        p, (gs_sk_node){.hole = true, .slot = (uint32_t)slot, .span = span});
  bs_error(p->ctx->diags, span, "sort-mismatch",
           "expected a term, but '%s%s' is a value of sort %s",
           p->scope->question_marks ? "?" : "", var->name,
           gs_sort_name(var->sort));
  return NO_NODE;
}

static uint32_t
unknown_name(parser *p, const char *name, bs_span span) {
  gs_op op;
  bool is_op = gs_op_find(name, &op);
  bs_error(p->ctx->diags, span, "unknown-name", "'%s' names no term here",
           name);
  if (is_op)
    bs_hint(p->ctx->diags, "an operator is written (%s ...)", name);
  else if (p->scope->question_marks && name[0] != '?')
    gs_hint_variable(p->ctx->diags, name);
  return NO_NODE;
}

static uint32_t
parse_hole(parser *p, uint32_t node) {
  const char *name = bs_as_sym(p->ctx->values, at(p, node)->value);
  bs_span span = at(p, node)->span;
  gs_scope *scope = p->scope;
  bool marked = !scope->question_marks || (name[0] == '?' && name[1]);
  int slot = -1;
  if (marked)
    slot = gs_scope_find(scope, name);
  else if (scope->named)
    slot = scope->named(scope->ctx, name);
  if (slot < 0 && marked && scope->open)
    slot = gs_scope_add(p->ctx, scope, name, GS_SORT_CLASS, span);
  return slot >= 0 ? hole(p, slot, span) : unknown_name(p, name, span);
}

/* --- operators ------------------------------------------------------------ */

/* What a list's items are: the operator's row, or an instruction's. */
typedef struct form {
  gs_op op;
  const char *name;
  uint32_t n_kids, n_attrs; /* as written */
  bool attrs_first;
  const gs_instr *instr;
  bool over; /* a call over further dimensions: the last attribute */
} form;

static gs_sort
attr_sort(char letter) {
  if (gs_letter_is_list(letter))
    return GS_SORT_LIST;
  switch (letter) {
  case 'k':
  case 's':
    return GS_SORT_SYM;
  case 'o':
    return GS_SORT_OP;
  case 't':
    return GS_SORT_DTYPE;
  default:
    return GS_SORT_INT;
  }
}

static gs_sort
param_sort(const gs_instr *instr, uint32_t k) {
  return k < instr->n_params ? instr->scope.vars.data[k].sort : GS_SORT_INT;
}

/* How a call of the instruction is written, for a hint. */
static void
put_usage(bs_text *out, const gs_instr *instr) {
  bs_putf(out, "(%s", instr->name);
  for (uint32_t k = 0; k < instr->n_params; k++)
    bs_putf(out, " %s", instr->scope.vars.data[k].name);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    bs_putf(out, " %s", instr->operands[k].name);
  bs_putc(out, ')');
}

static bool
wrong_arity(const parser *p, uint32_t node, const form *f, uint32_t found) {
  bs_text usage;
  bs_text_init(&usage, p->ctx->heap);
  if (f->instr)
    put_usage(&usage, f->instr);
  else
    bs_put(&usage, gs_op_usage(f->op));
  bs_error(p->ctx->diags, at(p, node)->span, "wrong-arity",
           "'%s' takes %u %s, found %u", f->name,
           BS_COUNTED(f->n_kids + f->n_attrs, "item"), found);
  bs_hint(p->ctx->diags, "%s", bs_text_str(&usage));
  bs_text_done(&usage);
  return false;
}

/* Fits the counts of the form to `items` items behind the head. */
static bool
find_arity(const parser *p, uint32_t node, form *f, uint32_t items) {
  uint32_t letters = (uint32_t)strlen(gs_op_table[f->op].attrs);
  if (f->op == GS_CONCAT && items > 3)
    f->n_kids = items - 1;
  if (f->op == GS_WINDOWS && items == 3)
    f->n_attrs = letters - 1;
  if (items == f->n_kids + f->n_attrs)
    return true;
  return wrong_arity(p, node, f, items);
}

/* Of what is no compute operator. */
static void
hint_operator(const parser *p, const char *head, const char *near) {
  bs_diags *diags = p->ctx->diags;
  if (gs_hint_elsewhere(diags, GS_AS_RULE_TERM, head))
    return;
  if (gs_is_defined(p->ctx, head))
    bs_hint(diags,
            "'%s' is a definition for programs; rules are written in "
            "operators: glen fmt --expand prints what a use stands for",
            head);
  else if (near)
    bs_meant(diags, "'", near);
}

/* Rules have no short forms of computations. */
static void
hint_compute(const parser *p, gs_compute op) {
  const gs_compute_info *info = &gs_compute_table[op];
  bool pairs = info->kind == GS_FOLD;
  if (*info->params)
    bs_hint(p->ctx->diags, "write (compute (%s ...) a)", info->name);
  else
    bs_hint(p->ctx->diags, "write (compute %s %s)", info->name,
            pairs ? "(pair a b)" : "a");
}

static bool
unknown_operator(const parser *p, uint32_t node, const char *head) {
  const gs_target *t = p->target;
  uint32_t instrs = t ? t->instrs.len : 0;
  const char **names =
      BS_NEWS(p->ctx->arena, const char *, GS_OP_COUNT + (size_t)instrs);
  for (int k = 0; k < GS_OP_COUNT; k++)
    names[k] = gs_op_table[k].name;
  for (uint32_t k = 0; k < instrs; k++)
    names[GS_OP_COUNT + k] = t->instrs.data[k]->name;
  const char *near = bs_nearest(head, names, GS_OP_COUNT + (size_t)instrs);
  gs_compute op;
  bool compute = gs_compute_find(head, &op);
  bs_error(p->ctx->diags, at(p, node + 1)->span, "unknown-operator",
           "there is no operator or instruction '%s'", head);
  if (compute)
    hint_compute(p, op);
  else
    hint_operator(p, head, near);
  return false;
}

static void
instr_form(const gs_instr *instr, form *f) {
  *f = (form){.op = GS_CALL,
              .name = instr->name,
              .instr = instr,
              .n_kids = instr->n_operands,
              .n_attrs = instr->n_params,
              .attrs_first = true};
}

/* (call NAME ...): `node` moves on to the name. */
static bool
call_form(const parser *p, uint32_t list, uint32_t *head, form *f) {
  uint32_t item = at(p, list)->count > 1 ? next(p, *head) : 0;
  if (!item || at(p, item)->kind != BS_SX_SYM)
    return bs_error(p->ctx->diags, at(p, list)->span, "wrong-arity",
                    "the name of an instruction is expected after 'call'");
  const char *name = bs_as_sym(p->ctx->values, at(p, item)->value);
  const gs_instr *instr = p->target ? gs_find_instr(p->target, name) : NULL;
  if (!instr)
    return bs_error(p->ctx->diags, at(p, item)->span, "unknown-instruction",
                    "the target declares no instruction '%s'", name);
  instr_form(instr, f);
  *head = item;
  return true;
}

/* The form that a list is written in; *head ends on the last name of it. */
static bool
find_form(const parser *p, uint32_t node, uint32_t *head, form *f) {
  const char *name = bs_sx_head(p->sexps, p->ctx->values, node);
  const gs_instr *instr;
  gs_op op;
  *head = node + 1;
  if (!name)
    return bs_error(p->ctx->diags, at(p, node)->span, "not-a-term",
                    "an operator's name is expected after '('");
  if (!gs_op_find(name, &op)) {
    instr = p->target ? gs_find_instr(p->target, name) : NULL;
    if (!instr)
      return unknown_operator(p, node, name);
    instr_form(instr, f);
    return true;
  }
  if (op == GS_CALL)
    return call_form(p, node, head, f);
  if (op == GS_SCAN)
    return bs_error(p->ctx->diags, at(p, node + 1)->span, "bad-term",
                    "a scan is allowed in programs only");
  const gs_op_info *info = &gs_op_table[op];
  *f = (form){.op = op,
              .name = info->name,
              .n_kids = (uint32_t)info->kids,
              .n_attrs = (uint32_t)strlen(info->attrs),
              .attrs_first = info->attrs_first};
  return true;
}

/* --- terms ---------------------------------------------------------------- */

/* --- the iteration space of a call ---------------------------------------- */

static bool
is_over(const parser *p, uint32_t x) {
  const char *head = x && at(p, x)->kind == BS_SX_LIST
                         ? bs_sx_head(p->sexps, p->ctx->values, x)
                         : NULL;
  return head && !strcmp(head, "over");
}

static bool
too_many_items(const parser *p, uint32_t node) {
  return at(p, node)->count > GS_MAX_ARGUMENTS &&
         !bs_error(p->ctx->diags, at(p, node)->span, "wrong-arity",
                   "at most %d items are allowed here", GS_MAX_ARGUMENTS);
}

/* (each SIZE OPERAND...): words are themselves, the rest is computed. */
static const gs_expr *
over_item(parser *p, uint32_t node) {
  const gs_expr *args[GS_MAX_ARGUMENTS];
  uint32_t n = 0;
  if (at(p, node)->kind != BS_SX_LIST || !at(p, node)->count) {
    bs_error(p->ctx->diags, at(p, node)->span, "bad-attribute",
             "expected (each SIZE OPERAND...), (sum SIZE OPERAND...) or (into "
             "INSTR)");
    return NULL;
  }
  if (too_many_items(p, node))
    return NULL;
  for (uint32_t x = node + 1; x; x = next(p, x)) {
    const char *word = at(p, x)->kind == BS_SX_SYM
                           ? bs_as_sym(p->ctx->values, at(p, x)->value)
                           : NULL;
    bool own = word && word[0] != '?' && word[0] != '$';
    args[n] =
        own ? gs_expr_literal(p->ctx, at(p, x)->value, GS_SORT_SYM,
                              at(p, x)->span)
            : gs_expr_parse_as(p->ctx, p->sexps, x, p->scope, GS_SORT_INT);
    if (!args[n++])
      return NULL;
  }
  return gs_expr_call(p->ctx, "list", GS_SORT_LIST, args, n, at(p, node)->span);
}

static const gs_expr *
parse_over(parser *p, uint32_t node) {
  const gs_expr *args[GS_MAX_ARGUMENTS];
  uint32_t n = 0;
  if (too_many_items(p, node))
    return NULL;
  for (uint32_t x = next(p, node + 1); x; x = next(p, x))
    if (!(args[n++] = over_item(p, x)))
      return NULL;
  return gs_expr_call(p->ctx, "list", GS_SORT_LIST, args, n, at(p, node)->span);
}

/* The attribute expressions from item `x` on; a call's begin with its name. */
static bool
parse_attrs(parser *p, const form *f, uint32_t x, bs_span span,
            gs_sk_node *out) {
  const char *letters = gs_op_table[f->op].attrs;
  uint32_t names = f->instr != NULL, k;
  uint32_t total = f->instr ? f->n_attrs + 1 : (uint32_t)strlen(letters);
  const gs_expr **attrs = BS_NEWS(p->ctx->arena, const gs_expr *, total + 1);
  bool ok = true;
  if (f->instr)
    attrs[0] = gs_expr_literal(p->ctx, bs_sym(p->ctx->values, f->name),
                               GS_SORT_SYM, span);
  for (k = 0; k < f->n_attrs; k++, x = next(p, x)) {
    gs_sort sort = f->instr ? param_sort(f->instr, k) : attr_sort(letters[k]);
    if (f->over && k + 1 == f->n_attrs)
      attrs[k + names] = parse_over(p, x);
    else
      attrs[k + names] = gs_expr_parse_as(p->ctx, p->sexps, x, p->scope, sort);
    ok &= attrs[k + names] != NULL;
  }
  out->attrs = attrs;
  out->n_attrs = total;
  return ok;
}

static bool
parse_kids(parser *p, const form *f, uint32_t x, int depth, uint32_t *kids) {
  bool ok = true;
  for (uint32_t k = 0; k < f->n_kids; k++, x = next(p, x)) {
    kids[k] = parse_term(p, x, depth + 1);
    ok &= kids[k] != NO_NODE;
  }
  return ok;
}

/* More than two parts: (concat a (concat b c d) d) */
static uint32_t
nest_concat(parser *p, gs_sk_node n, const uint32_t *parts, uint32_t count) {
  uint32_t rest = parts[count - 1];
  for (uint32_t k = count - 1; k-- > 0;) {
    uint32_t *kids = BS_NEWS(p->ctx->arena, uint32_t, 2);
    kids[0] = parts[k];
    kids[1] = rest;
    n.kids = kids;
    n.n_kids = 2;
    rest = push(p, n);
  }
  return rest;
}

static uint32_t
parse_operator(parser *p, uint32_t node, int depth) {
  form f = {0};
  uint32_t head;
  if (!find_form(p, node, &head, &f))
    return NO_NODE;
  uint32_t items = at(p, node)->count - (head == node + 1 ? 1 : 2);
  uint32_t first = items ? next(p, head) : 0;
  if (f.instr && items > f.n_attrs && is_over(p, skip(p, first, f.n_attrs))) {
    f.over = true;
    f.n_attrs++;
  }
  if (!find_arity(p, node, &f, items))
    return NO_NODE;
  int below = f.op == GS_CONCAT ? (int)f.n_kids - 2 : 0;
  if (f.n_kids > GS_MAX_NESTING || depth + below >= GS_MAX_NESTING) {
    bs_error(p->ctx->diags, at(p, node)->span, "too-deep",
             "the term is nested more than %d deep", GS_MAX_NESTING);
    return NO_NODE;
  }
  uint32_t attrs = f.attrs_first ? first : skip(p, first, f.n_kids);
  uint32_t kids = f.attrs_first ? skip(p, first, f.n_attrs) : first;
  uint32_t *built = BS_NEWS(p->ctx->arena, uint32_t, f.n_kids + 1);
  gs_sk_node n = {
      .op = f.op, .span = at(p, node)->span, .kids = built, .n_kids = f.n_kids};
  bool ok = f.attrs_first || parse_kids(p, &f, kids, depth + below, built);
  ok &= parse_attrs(p, &f, attrs, at(p, head)->span, &n);
  if (f.attrs_first)
    ok &= parse_kids(p, &f, kids, depth + below, built);
  if (!ok)
    return NO_NODE;
  if (f.op == GS_CONCAT)
    return nest_concat(p, n, built, f.n_kids);
  return push(p, n);
}

static uint32_t
parse_term(parser *p, uint32_t node, int depth) {
  const bs_sx *x = at(p, node);
  if (x->kind == BS_SX_SYM) {
    uint32_t let = find_let(p, bs_as_sym(p->ctx->values, x->value));
    return let == NO_NODE ? parse_hole(p, node) : parse_let(p, let, depth);
  }
  if (x->kind == BS_SX_LIST)
    return parse_operator(p, node, depth);
  bs_error(p->ctx->diags, x->span, "not-a-term", "a term is expected here");
  if (x->kind == BS_SX_INT || x->kind == BS_SX_REAL)
    bs_hint(p->ctx->diags, "numbers are parameters of operators: x + 1 is "
                           "(compute (offset 1) ?x), and x * 2 is (compute "
                           "(scale 2) ?x)");
  return NO_NODE;
}

const gs_skeleton *
gs_skeleton_parse(const gs_context *ctx, const gs_target *target,
                  const bs_sexps *sexps, uint32_t node, gs_scope *scope) {
  assert(node < sexps->nodes.len);
  parser p = {.ctx = ctx, .target = target, .sexps = sexps, .scope = scope};
  gs_skeleton *s = NULL;
  p.n_lets = scope->n_lets;
  p.let_nodes = BS_NEWS(ctx->arena, uint32_t, p.n_lets + (size_t)1);
  for (uint32_t k = 0; k < p.n_lets; k++)
    p.let_nodes[k] = NO_NODE;
  if (parse_term(&p, node, 0) != NO_NODE) {
    s = BS_NEW(ctx->arena, gs_skeleton);
    s->n = p.nodes.len;
    s->nodes = bs_arena_copy(ctx->arena, p.nodes.data,
                             p.nodes.len * sizeof *p.nodes.data);
  }
  bs_vec_done(ctx->heap, &p.nodes);
  return s;
}
