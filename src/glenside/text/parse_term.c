/* SPDX-License-Identifier: MIT */
/* parse_term.c - terms, bottom-up over an explicit stack.
 *
 * A frame is a list whose children are not all parsed; the children's terms
 * wait on a second stack.  A frame that is itself ill-formed still has its
 * sub-terms parsed, so that their faults are reported in the same run.  Sugar
 * is removed here: instruction names as heads, compute operators as heads,
 * concat of many parts (nested to the right), windows without a dilation.  What
 * is defined is removed in define_use.c. */
#include "glenside/type/elsewhere.h"
#include "glenside/text/parse.h"
#include "glenside/type/sizes.h"
#include "glenside/target/target.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

bool
parse_fault(gs_parser *x, const gs_fault *fault, bs_span span) {
  assert(fault->code && fault->message[0]);
  bs_error(x->ctx->diags, span, fault->code, "%s", fault->message);
  if (fault->hint[0])
    bs_hint(x->ctx->diags, "%s", fault->hint);
  return false;
}

/* Of a term, which may stand in the body of a definition. */
static bool
parse_term_fault(gs_parser *x, const gs_fault *fault, bs_span span) {
  if (!x->env)
    return parse_fault(x, fault, span);
  parse_blame_hint(x, fault->code, fault->message, fault->hint, span);
  return false;
}

parse_binding *
parse_find(gs_parser *x, bs_value name) {
  uint32_t at = name.i < x->binding_of.len ? x->binding_of.data[name.i] : 0;
  return at ? &x->bindings.data[at - 1] : NULL;
}

void
parse_place(gs_parser *x, uint32_t node, gs_term t) {
  if (x->places && !x->env && gs_term_ok(t))
    bs_push(x->ctx->heap, &x->places->list,
            (gs_place){parse_at(x, node)->span, t});
}

/* The n-th sibling after a node. */
static uint32_t
skip(const gs_parser *x, uint32_t node, uint32_t n) {
  while (n-- > 0 && node)
    node = parse_at(x, node)->next;
  return node;
}

/* Opening a list ------------------------------------------------------------
 */

static const gs_instr *
instr_of(const gs_parser *x, const char *name) {
  return x->target ? gs_find_instr(x->target, name) : NULL;
}

static bool
declares_any(const gs_parser *x) {
  return x->target && x->target->instrs.len;
}

static bool
is_list_head(const char *name) {
  for (int op = 0; op < GS_OP_COUNT; op++)
    for (uint32_t k = 0; k < 3; k++)
      if (gs_list_head((gs_op)op, k) &&
          !strcmp(gs_list_head((gs_op)op, k), name))
        return true;
  return false;
}

/* What may stand first in parentheses: all operators, and some instructions and
 * definitions. */
static const char *
nearest_operator(const gs_parser *x, const char *name) {
  const char *names[GS_OP_COUNT + GS_COMPUTE_COUNT + 192];
  uint32_t n = 0;
  for (int k = 0; k < GS_OP_COUNT; k++)
    names[n++] = gs_op_table[k].name;
  for (int k = 0; k < GS_COMPUTE_COUNT; k++)
    names[n++] = gs_compute_table[k].name;
  for (uint32_t k = 0; x->target && k < x->target->instrs.len && k < 64; k++)
    names[n++] = x->target->instrs.data[k]->name;
  for (uint32_t k = 0; k < x->definitions.len && k < 128; k++)
    names[n++] = bs_as_sym(x->ctx->values, x->definitions.data[k].name);
  return parse_nearest(name, names, n);
}

static void
hint_no_operator(const gs_parser *x) {
  if (declares_any(x))
    bs_hint(x->ctx->diags, "neither an operator nor an instruction of the "
                           "target");
  else
    bs_hint(x->ctx->diags,
            "docs/LANGUAGE.md lists operators and definitions; an instruction "
            "needs a target that declares it");
}

static void
unknown_operator(gs_parser *x, uint32_t head) {
  const char *name = parse_symbol(x, head), *near = nearest_operator(x, name);
  gs_compute compute;
  bs_error(x->ctx->diags, parse_at(x, head)->span, "unknown-operator",
           "unknown operator `%.60s`", name);
  if (is_list_head(name))
    bs_hint(x->ctx->diags, "(%s ...) is an attribute, not a term", name);
  else if (gs_compute_find(name, &compute))
    bs_hint(x->ctx->diags, "it is a compute operator: (compute %s %s)", name,
            gs_compute_table[compute].kind == GS_FOLD ? "(pair a b)" : "a");
  else if (parse_find(x, parse_at(x, head)->value))
    bs_hint(x->ctx->diags,
            "`%.60s` is the name of a term; the first word in parentheses is "
            "an operator",
            name);
  else if (gs_hint_elsewhere(x->ctx->diags, GS_AS_TERM, name))
    return;
  else if (near)
    bs_meant(x->ctx->diags, "`", near);
  else
    hint_no_operator(x);
}

/* (relu x) is (compute relu x), and (clip x 0 6) is (compute (clip 0 6) x). */
static bool
shape_applied(gs_parser *x, parse_frame *f, gs_compute compute) {
  assert(compute < GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[compute];
  uint32_t want = 1 + (uint32_t)strlen(info->params);
  uint32_t n = parse_at(x, f->list)->count - 1;
  if (n != want) {
    bs_error(x->ctx->diags, parse_at(x, f->list)->span, "wrong-arity",
             "%s takes %u %s here, found %u", info->name,
             BS_COUNTED(want, "argument"), n);
    if (gs_hint_elsewhere(x->ctx->diags, GS_AS_ARITY, info->name))
      return false;
    bs_hint(x->ctx->diags, "write (%s a%s)", info->name,
            want == 1                   ? ""
            : compute == GS_C_CAST      ? " f32"
            : strlen(info->params) == 2 ? " lo hi"
                                        : " x");
    return false;
  }
  f->op = GS_COMPUTE;
  f->applied = true;
  f->n_kids = 1;
  f->first_kid = parse_at(x, f->list + 1)->next;
  f->n_attrs = want - 1;
  f->first_attr = parse_at(x, f->first_kid)->next;
  return true;
}

/* `least` to `most` arguments were expected. */
static bool
wrong_arity(gs_parser *x, gs_op op, uint32_t list, uint32_t least,
            uint32_t most) {
  char more[24] = "";
  if (most == UINT32_MAX)
    snprintf(more, sizeof more, " or more");
  else if (most > least)
    snprintf(more, sizeof more, " or %u", most);
  bs_error(x->ctx->diags, parse_at(x, list)->span, "wrong-arity",
           "%s takes %u%s argument%s, found %u", gs_op_table[op].name, least,
           more, least == 1 && !*more ? "" : "s", parse_at(x, list)->count - 1);
  if (gs_hint_elsewhere(x->ctx->diags, GS_AS_ARITY, gs_op_table[op].name))
    return false;
  bs_hint(x->ctx->diags,
          op == GS_COMPUTE && parse_at(x, list)->count > 3
              ? "several operands go into a pair: (compute OP (pair a b))"
              : "write %s",
          gs_op_usage(op));
  return false;
}

static void
note_declaration(gs_parser *x, const gs_instr *instr) {
  if (instr && instr->span.file)
    bs_note(x->ctx->diags, instr->span, "%s is declared here", instr->name);
}

/* `head`: the instruction's name; `n` arguments follow it. */
static bool
shape_call(gs_parser *x, parse_frame *f, const gs_instr *instr, uint32_t head,
           uint32_t n) {
  uint32_t want = instr->n_params + instr->n_operands;
  uint32_t over = skip(x, head, 1 + instr->n_params);
  const char *list = over ? bs_sx_head(&x->sx, x->ctx->values, over) : NULL;
  bool iterated = list && !strcmp(list, "over");
  if (n != want + iterated) {
    bs_error(x->ctx->diags, parse_at(x, f->list)->span, "wrong-arity",
             "%s takes %u %s and %u %s, found %u %s", instr->name,
             BS_COUNTED(instr->n_params, "attribute"),
             BS_COUNTED(instr->n_operands, "operand"),
             BS_COUNTED(n, "argument"));
    note_declaration(x, instr);
    return false;
  }
  f->op = GS_CALL;
  f->first_attr = head;
  f->n_attrs = 1 + instr->n_params + iterated;
  f->first_kid = skip(x, head, f->n_attrs);
  f->n_kids = instr->n_operands;
  for (uint32_t k = 0; k < instr->n_params; k++)
    if (instr->scope.vars.data[k].sort == GS_SORT_REAL)
      f->numbers |= (uint64_t)1 << (k + 1);
  return true;
}

static bool
shape_named_call(gs_parser *x, parse_frame *f, uint32_t head) {
  uint32_t count = parse_at(x, f->list)->count;
  if (count < 2)
    return wrong_arity(x, GS_CALL, f->list, 1, UINT32_MAX);
  uint32_t name = parse_at(x, head)->next;
  if (!parse_symbol(x, name))
    return bs_error(x->ctx->diags, parse_at(x, name)->span, "bad-attribute",
                    "expected the name of an instruction, found %s",
                    parse_describe(x, name));
  const gs_instr *instr = instr_of(x, parse_symbol(x, name));
  if (instr)
    return shape_call(x, f, instr, name, count - 2);
  bs_error(x->ctx->diags, parse_at(x, name)->span, "unknown-instruction",
           "no target declares the instruction `%.60s`", parse_symbol(x, name));
  if (!declares_any(x))
    bs_hint(x->ctx->diags, "an instruction needs a target that declares it");
  return false;
}

/* Splits the arguments into children and attributes by op.h. */
static bool
shape_operator(gs_parser *x, parse_frame *f, uint32_t head) {
  const gs_op_info *info = &gs_op_table[f->op];
  uint32_t n = parse_at(x, f->list)->count - 1;
  uint32_t attrs = (uint32_t)strlen(info->attrs), kids = (uint32_t)info->kids;
  uint32_t least = kids + attrs - (f->op == GS_WINDOWS); /* no dilation */
  uint32_t most = f->op == GS_CONCAT ? UINT32_MAX : kids + attrs;
  if (n < least || n > most)
    return wrong_arity(x, f->op, f->list, least, most);
  if (f->op == GS_WINDOWS)
    attrs = n - kids;
  else
    kids = n - attrs;
  uint32_t first = parse_at(x, head)->next;
  f->n_kids = kids;
  f->n_attrs = attrs;
  f->first_kid = info->attrs_first ? skip(x, first, attrs) : first;
  f->first_attr = info->attrs_first ? first : skip(x, first, kids);
  return true;
}

/* The step stands last. */
static bool
shape_scan(gs_parser *x, parse_frame *f, uint32_t head) {
  uint32_t n = parse_at(x, f->list)->count - 1;
  if (n < 3)
    return wrong_arity(x, GS_SCAN, f->list, 3, UINT32_MAX);
  f->n_kids = n - 1;
  f->n_attrs = 1;
  f->first_kid = parse_at(x, head)->next;
  f->first_attr = skip(x, f->first_kid, n - 1);
  return true;
}

static bool
shape_frame(gs_parser *x, parse_frame *f) {
  const bs_sx *list = parse_at(x, f->list);
  uint32_t head = f->list + 1;
  if (!list->count || !parse_symbol(x, head)) {
    bs_error(x->ctx->diags, list->span, "bad-term", "expected a term, found %s",
             parse_describe(x, f->list));
    bs_hint(x->ctx->diags, "the first word in parentheses is an operator: "
                           "(relu a)");
    return false;
  }
  const char *name = parse_symbol(x, head);
  if (!gs_op_find(name, &f->op)) {
    const gs_instr *instr = instr_of(x, name);
    gs_compute compute;
    if (instr)
      return shape_call(x, f, instr, head, list->count - 1);
    if (gs_compute_find(name, &compute) &&
        gs_compute_table[compute].kind != GS_FOLD)
      return shape_applied(x, f, compute);
    unknown_operator(x, head);
    return false;
  }
  if (f->op == GS_CALL)
    return shape_named_call(x, f, head);
  if (f->op == GS_SCAN)
    return shape_scan(x, f, head);
  if (gs_op_table[f->op].kids)
    return shape_operator(x, f, head);
  bs_error(x->ctx->diags, list->span, "bad-term",
           "%s is a declaration, not a term", name);
  bs_hint(x->ctx->diags, "declare it on its own and use its name here");
  return false;
}

static bool
is_term_like(const gs_parser *x, uint32_t node) {
  const char *head = bs_sx_head(&x->sx, x->ctx->values, node);
  gs_compute compute;
  gs_op op;
  return head && ((gs_op_find(head, &op) && gs_op_table[op].kids) ||
                  instr_of(x, head) || parse_find_definition(x, head) ||
                  (node != x->frames.data[x->frames.len - 1].first_attr &&
                   gs_compute_find(head, &compute)));
}

/* The operator that is the head, with the parameters behind its term. */
static bool
applied_operator(gs_parser *x, const parse_frame *f, bs_value *out) {
  const bs_sx *head = parse_at(x, f->list + 1);
  const char *letters = "";
  bs_value items[8] = {head->value};
  gs_compute op;
  bool fine = true;
  if (gs_compute_find(parse_symbol(x, f->list + 1), &op))
    letters = gs_compute_table[op].params;
  for (uint32_t k = 0, at = f->first_attr; k < f->n_attrs;
       k++, at = parse_at(x, at)->next)
    fine &= parse_parameter(x, letters[k], at, &items[k + 1]);
  if (f->n_attrs)
    items[0] = bs_list(x->ctx->values, items, f->n_attrs + 1);
  *out = bs_list(x->ctx->values, items, 1);
  return fine;
}

static bool
read_attrs(gs_parser *x, const parse_frame *f, bs_value *out) {
  bs_value few[8], *items = few;
  bool fine = true;
  if (f->applied)
    return applied_operator(x, f, out);
  uint32_t at = f->first_attr, n = f->n_attrs;
  if (n + 1 > 8)
    items = bs_alloc(x->ctx->heap, n * sizeof *items);
  for (uint32_t k = 0; k < n; k++, at = parse_at(x, at)->next)
    fine &= f->numbers >> k & 1 ? parse_parameter(x, 'f', at, &items[k])
                                : parse_attr(x, f->op, k, at, &items[k]);
  if (fine && f->op == GS_WINDOWS && n == 2) {
    int64_t ones[GS_MAX_RANK];
    uint32_t rank = bs_len(x->ctx->values, items[0]);
    for (uint32_t k = 0; k < GS_MAX_RANK; k++)
      ones[k] = 1;
    items[n++] =
        bs_ints(x->ctx->values, ones, rank < GS_MAX_RANK ? rank : GS_MAX_RANK);
  }
  if (fine)
    *out = bs_list(x->ctx->values, items, n);
  if (items != few)
    bs_free(x->ctx->heap, items);
  return fine;
}

static void
open_list(gs_parser *x, uint32_t node) {
  parse_frame f = {.list = node, .base = x->results.len, .env = x->env};
  if (parse_open_use(x, node))
    return;
  if (shape_frame(x, &f)) {
    f.next = f.first_kid;
    f.left = f.n_kids;
    if (gs_op_table[f.op].attrs_first)
      f.broken = !read_attrs(x, &f, &f.attr);
  } else {
    f.broken = true;
    f.next = bs_sx_first(&x->sx, node);
    f.left = parse_at(x, node)->count;
  }
  bs_push(x->ctx->heap, &x->frames, f);
}

static gs_term
reference(gs_parser *x, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  if (x->env)
    return parse_variable(x, node);
  parse_binding *b = parse_find(x, sx->value);
  const char *name = parse_symbol(x, node);
  if (parse_is_size(x, name)) {
    bs_error(x->ctx->diags, sx->span, "sort-mismatch",
             "expected a term, but `%.60s` is a size", name);
    return GS_NO_TERM;
  }
  if (b && b->bound)
    return b->term;
  if (b) {
    bs_error(x->ctx->diags, sx->span, "used-before-definition",
             "`%.60s` is used before its definition", name);
    bs_note(x->ctx->diags, b->span, "it is defined here");
    b->bound = true; /* once a name is enough */
    return GS_NO_TERM;
  }
  bs_error(x->ctx->diags, sx->span, "unknown-name", "unknown name `%.60s`",
           name);
  uint32_t n = x->bindings.len < 1000 ? x->bindings.len : 1000;
  const char **names = bs_alloc(x->ctx->heap, n * sizeof *names);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_as_sym(x->ctx->values, x->bindings.data[k].name);
  const char *near = parse_nearest(name, names, n);
  if (near)
    bs_meant(x->ctx->diags, "`", near);
  else
    parse_hint_unknown(x, name);
  bs_free(x->ctx->heap, names);
  parse_bind(x, sx->value, sx->span);
  parse_find(x, sx->value)->bound = true;
  return GS_NO_TERM;
}

/* Numbers stand where an operator has a parameter, not among its terms. */
static void
not_a_term(gs_parser *x, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  bs_error(x->ctx->diags, sx->span, "bad-term", "expected a term, found %s",
           parse_describe(x, node));
  if (sx->kind == BS_SX_INT || sx->kind == BS_SX_REAL)
    bs_hint(x->ctx->diags, "a number is added by (offset x 1) and multiplied "
                           "by (scale x 2); (const NAME (shape) f32 1) makes "
                           "it an array");
}

void
parse_open_node(gs_parser *x, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  if (sx->kind == BS_SX_LIST) {
    open_list(x, node);
    return;
  }
  gs_term t = GS_NO_TERM;
  if (sx->kind == BS_SX_SYM)
    t = reference(x, node);
  else
    not_a_term(x, node);
  parse_place(x, node, t);
  bs_push(x->ctx->heap, &x->results, t);
}

/* Closing a list ------------------------------------------------------------
 */

/* The place a fault is about: a child, an attribute, or the whole. */
static bs_span
fault_span(const gs_parser *x, const parse_frame *f, const gs_fault *fault,
           uint32_t kid_offset) {
  uint32_t node = f->list;
  if (fault->child >= 0)
    node = skip(x, f->first_kid, (uint32_t)fault->child + kid_offset);
  else if (fault->attr >= 0 && (uint32_t)fault->attr < f->n_attrs)
    node = skip(x, f->first_attr, (uint32_t)fault->attr);
  return parse_at(x, node ? node : f->list)->span;
}

static gs_term
add_term(gs_parser *x, const parse_frame *f, bs_value attr, const gs_term *kids,
         uint32_t n, uint32_t kid_offset) {
  gs_fault fault;
  uint32_t written = x->env ? parse_outermost(x)->list : f->list;
  bs_span span = parse_at(x, written)->span;
  gs_term t = gs_add(x->p, f->op, attr, kids, n, span, &fault);
  if (gs_term_ok(t))
    return t;
  parse_term_fault(x, &fault, fault_span(x, f, &fault, kid_offset));
  if (f->op == GS_CALL)
    note_declaration(x, instr_of(x, parse_symbol(x, f->first_attr)));
  return t;
}

/* Neighbours fit together; asked from the left, so that the first part that
 * does not fit is blamed. */
static bool
neighbours_fit(gs_parser *x, const parse_frame *f, bs_value attr,
               const gs_term *kids, uint32_t n) {
  gs_type a, b, out;
  const gs_type *two[2] = {&a, &b};
  gs_fault fault;
  for (uint32_t k = 0; k + 1 < n; k++) {
    gs_type_at(x->p, kids[k], &a);
    gs_type_at(x->p, kids[k + 1], &b);
    if (!gs_infer_sized(x->p->sizes, x->ctx->values, NULL, GS_CONCAT, attr, two,
                        2, &out, &fault))
      return parse_term_fault(x, &fault, fault_span(x, f, &fault, k));
  }
  return true;
}

/* (concat a b c d) is (concat a (concat b c d) d). */
static gs_term
add_concat(gs_parser *x, const parse_frame *f, bs_value attr,
           const gs_term *kids, uint32_t n) {
  if (!neighbours_fit(x, f, attr, kids, n))
    return GS_NO_TERM;
  gs_term t = kids[n - 1];
  for (uint32_t k = n - 1; k-- > 0 && gs_term_ok(t);) {
    gs_term two[2] = {kids[k], t};
    t = add_term(x, f, attr, two, 2, k);
  }
  return t;
}

static bool
some_is_sized(const gs_parser *x, const gs_term *kids, uint32_t n) {
  gs_type type;
  for (uint32_t k = 0; k < n; k++) {
    gs_type_at(x->p, kids[k], &type);
    if (gs_type_is_sized(&type))
      return true;
  }
  return false;
}

static gs_term
close_frame(gs_parser *x, const parse_frame *f) {
  uint32_t n = x->results.len - f->base;
  const gs_term *kids = n ? x->results.data + f->base : NULL;
  bs_value attr = f->attr;
  bool reads = !gs_op_table[f->op].attrs_first && f->op != GS_SCAN;
  if (f->broken || (reads && !read_attrs(x, f, &attr)))
    return GS_NO_TERM;
  for (uint32_t k = 0; k < n; k++)
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  /* A scan over open sizes is refused as a term, whatever its step is. */
  if (f->op == GS_SCAN && !some_is_sized(x, kids, n) &&
      !parse_step(x, f->first_attr, kids, n, &attr))
    return GS_NO_TERM;
  return f->op == GS_CONCAT ? add_concat(x, f, attr, kids, n)
                            : add_term(x, f, attr, kids, n, 0);
}

gs_term
parse_term(gs_parser *x, uint32_t root) {
  assert(!x->frames.len);
  parse_open_node(x, root);
  while (x->frames.len) {
    parse_frame *f = &bs_last(&x->frames);
    if (f->is_use && parse_step_use(x))
      continue;
    if (f->left) {
      uint32_t node = f->next;
      x->env = f->env;
      f->next = parse_at(x, node)->next;
      f->left--;
      if (!f->broken || f->n_kids || is_term_like(x, node))
        parse_open_node(x, node);
      continue;
    }
    parse_frame done = bs_pop(&x->frames);
    x->env = done.env;
    gs_term t =
        done.is_use ? parse_close_use(x, done.base) : close_frame(x, &done);
    parse_place(x, done.list, t);
    x->results.len = done.base;
    bs_push(x->ctx->heap, &x->results, t);
  }
  return bs_pop(&x->results);
}

void
parse_scratch_done(gs_parser *x) {
  bs_heap *heap = x->ctx->heap;
  bs_vec_done(heap, &x->bindings);
  bs_vec_done(heap, &x->binding_of);
  bs_vec_done(heap, &x->frames);
  bs_vec_done(heap, &x->results);
  bs_vec_done(heap, &x->items);
  bs_vec_done(heap, &x->uses);
  bs_vec_done(heap, &x->slots);
}
