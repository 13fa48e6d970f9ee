/* SPDX-License-Identifier: MIT */
/* target_instr.c - reads one (instr ...) declaration.
 *
 * Its parts may stand in any order; they are read in the order in which names
 * are bound: parameters, operands with their dimensions, then everything that
 * uses these.  A dimension that is a plain new name binds it; any other
 * dimension is an expression over what is bound already.
 *
 * Checked here: names are new and bound, every operand and parameter follows
 * from the semantics, every placeholder of the template exists.  That the
 * semantics have the declared type is tried in target_check.c. */
#include "glenside/target/target_parse.h"
#include "glenside/type/elsewhere.h"
#include <ctype.h>
#include <string.h>

typedef enum part {
  PARAMS,
  OPERANDS,
  RESULT,
  SEMANTICS,
  WHERE,
  COST,
  EMIT,
  LAYOUT,
  QUEUE,
  PART_COUNT
} part;

static const struct {
  const char *name;
  bool required, many;
} part_table[PART_COUNT] = {
    [PARAMS] = {"params", false, false},
    [OPERANDS] = {"operands", true, false},
    [RESULT] = {"result", true, false},
    [SEMANTICS] = {"semantics", true, false},
    [WHERE] = {"where", false, false},
    [COST] = {"cost", false, false},
    [EMIT] = {"emit", true, false},
    [LAYOUT] = {"layout", false, true},
    [QUEUE] = {"queue", false, false},
};

typedef struct reader {
  target_parser *p;
  gs_instr *instr;
  uint32_t form;
  uint32_t parts[PART_COUNT]; /* the part's form, 0 = absent; LAYOUT: first */
} reader;

static const bs_sx *
at(const reader *r, uint32_t node) {
  return target_at(r->p, node);
}

static uint32_t
next(const reader *r, uint32_t node) {
  return target_next(r->p, node);
}

/* The first item behind a part's head, or 0. */
static uint32_t
items_of(const reader *r, uint32_t form) {
  return form && at(r, form)->count > 1 ? next(r, form + 1) : 0;
}

__attribute__((format(printf, 4, 5))) static bool
fail(const reader *r, uint32_t node, const char *code, const char *format,
     ...) {
  bs_text text;
  va_list args;
  va_start(args, format);
  bs_text_init(&text, r->p->ctx->heap);
  bs_putv(&text, format, args);
  va_end(args);
  bs_error(r->p->ctx->diags, at(r, node)->span, code, "%s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

/* --- names ---------------------------------------------------------------- */

static bool
is_identifier(const char *s) {
  if (!isalpha((unsigned char)*s) && *s != '_')
    return false;
  while (isalnum((unsigned char)*s) || *s == '_' || *s == '-')
    s++;
  return !*s;
}

/* What a name means already in the language, or NULL. */
static const char *
meaning_of(const char *name) {
  gs_op op;
  if (gs_op_find(name, &op) || gs_is_reserved(name))
    return "a word of the language";
  return !strcmp(name, "result") ? "what the template calls the result" : NULL;
}

/* Adds a parameter, operand or dimension; its slot, or -1. */
static int
add_named(reader *r, uint32_t node, const char *name, gs_sort sort) {
  gs_scope *scope = &r->instr->scope;
  const char *meaning = meaning_of(name);
  if (!is_identifier(name))
    return target_bad_name(r->p, node), -1;
  if (meaning)
    return fail(r, node, "bad-name", "'%s' is %s already", name, meaning), -1;
  if (gs_scope_find(scope, name) >= 0)
    return fail(r, node, "duplicate-name", "'%s' is declared twice", name), -1;
  if (scope->vars.len == GS_MAX_INSTR_VARS)
    return fail(r, node, "too-large", "an instruction has more than %d names",
                GS_MAX_INSTR_VARS),
           -1;
  return gs_scope_add(r->p->ctx, scope, name, sort, at(r, node)->span);
}

static int
add_name(reader *r, uint32_t node, gs_sort sort) {
  if (at(r, node)->kind != BS_SX_SYM)
    return fail(r, node, "bad-value", "a name is expected here"), -1;
  return add_named(r, node, target_sym(r->p, node), sort);
}

/* NAME, which is an integer, or NAME:number. */
static bool
add_param(reader *r, uint32_t node) {
  const char *text =
      at(r, node)->kind == BS_SX_SYM ? target_sym(r->p, node) : "";
  const char *colon = strchr(text, ':');
  if (!colon)
    return add_name(r, node, GS_SORT_INT) >= 0;
  const char *name =
      bs_arena_printf(r->p->ctx->arena, "%.*s", (int)(colon - text), text);
  bool real = !strcmp(colon, ":number");
  if (!real && strcmp(colon, ":int"))
    return fail(r, node, "bad-value",
                "a parameter is an int or a number: %s:int, %s:number", name,
                name);
  return add_named(r, node, name, real ? GS_SORT_REAL : GS_SORT_INT) >= 0;
}

static bool
read_params(reader *r) {
  bool ok = true;
  for (uint32_t x = items_of(r, r->parts[PARAMS]); x; x = next(r, x)) {
    ok &= add_param(r, x);
    r->instr->n_params++;
  }
  return ok;
}

/* --- types ---------------------------------------------------------------- */

static const gs_expr *
read_dim(reader *r, uint32_t node, bool binds) {
  gs_scope *scope = &r->instr->scope;
  bool plain =
      at(r, node)->kind == BS_SX_SYM && target_sym(r->p, node)[0] != '$';
  bool fresh = plain && gs_scope_find(scope, target_sym(r->p, node)) < 0;
  if (binds && fresh && add_name(r, node, GS_SORT_INT) < 0)
    return NULL;
  return gs_expr_parse_as(r->p->ctx, r->p->sexps, node, scope, GS_SORT_INT);
}

/* The dimensions of one side, `(b r)`, put at `dims`. */
static bool
read_side(reader *r, uint32_t side, bool binds, const gs_expr **dims,
          uint8_t *rank) {
  bool ok = true;
  if (at(r, side)->kind != BS_SX_LIST)
    return fail(r, side, "bad-value", "expected dimensions: ((16) ())");
  for (uint32_t x = bs_sx_first(r->p->sexps, side); x; x = next(r, x)) {
    if (*rank == GS_MAX_RANK)
      return fail(r, x, "too-large", "more than %d dimensions", GS_MAX_RANK);
    dims[*rank] = read_dim(r, x, binds);
    ok &= dims[(*rank)++] != NULL;
  }
  return ok;
}

/* `((S...) (C...)) DTYPE (in MEMORY)` from item `x` on */
static bool
read_type(reader *r, uint32_t form, uint32_t x, bool binds, gs_operand *out) {
  uint32_t dtype = x ? next(r, x) : 0;
  if (!dtype || at(r, x)->kind != BS_SX_LIST || at(r, x)->count != 2)
    return fail(r, form, "bad-value",
                "a type is written ((S...) (C...)) DTYPE");
  if (!target_read_place(r->p, next(r, dtype), r->instr, out,
                         binds ? NULL : &r->instr->onto))
    return false;
  if (at(r, dtype)->kind != BS_SX_SYM ||
      !gs_dtype_find(target_sym(r->p, dtype), &out->dtype)) {
    fail(r, dtype, "unknown-dtype", "a dtype is expected here");
    target_hint_dtype(r->p, dtype);
    return false;
  }
  const gs_expr **dims =
      BS_NEWS(r->p->ctx->arena, const gs_expr *, GS_MAX_RANK);
  uint32_t s = x + 1;
  out->dims = dims;
  if (!read_side(r, s, binds, dims, &out->rank))
    return false;
  out->access = out->rank;
  return read_side(r, next(r, s), binds, dims, &out->rank);
}

static bool
read_operands(reader *r) {
  uint32_t form = r->parts[OPERANDS], n = at(r, form)->count - 1, k = 0;
  gs_operand *operands = BS_NEWS(r->p->ctx->arena, gs_operand, n + 1);
  bool ok = true;
  for (uint32_t x = items_of(r, form); x; x = next(r, x), k++) {
    if (at(r, x)->kind != BS_SX_LIST || !at(r, x)->count)
      return fail(r, x, "bad-value",
                  "an operand is written (NAME ((S...) (C...)) DTYPE)");
    int slot = add_name(r, x + 1, GS_SORT_CLASS);
    if (slot < 0)
      return false;
    operands[k].name = r->instr->scope.vars.data[slot].name;
    operands[k].slot = (uint32_t)slot;
    operands[k].span = at(r, x)->span;
  }
  k = 0;
  for (uint32_t x = items_of(r, form); x; x = next(r, x), k++)
    ok &= read_type(r, x, next(r, x + 1), true, &operands[k]);
  r->instr->operands = operands;
  r->instr->n_operands = n;
  return ok;
}

static bool
read_result(reader *r) {
  uint32_t form = r->parts[RESULT];
  r->instr->result.name = "result";
  r->instr->result.span = at(r, form)->span;
  return read_type(r, form, items_of(r, form), false, &r->instr->result);
}

/* --- meaning -------------------------------------------------------------- */

/* The only item of a part, or 0 with a diagnostic. */
static uint32_t
only_item(const reader *r, uint32_t form) {
  uint32_t x = items_of(r, form);
  if (x && !next(r, x))
    return x;
  fail(r, form, "wrong-arity", "'%s' takes one item", target_head(r->p, form));
  return 0;
}

/* The semantics speak of the operands and of nothing else. */
static bool
check_pure(const reader *r, uint32_t node) {
  for (uint32_t k = 0; k < r->instr->semantics->n; k++) {
    const gs_sk_node *n = &r->instr->semantics->nodes[k];
    if (!n->hole && (n->op == GS_TENSOR || n->op == GS_CONST))
      return fail(r, node, "bad-semantics",
                  "the semantics may use only the operands");
  }
  return true;
}

static bool
read_semantics(reader *r) {
  uint32_t x = only_item(r, r->parts[SEMANTICS]);
  if (x)
    r->instr->semantics =
        gs_skeleton_parse(r->p->ctx, NULL, r->p->sexps, x, &r->instr->scope);
  if (!r->instr->semantics || !check_pure(r, x))
    return false;
  target_find_moves(r->p->ctx, r->instr);
  target_find_conversion(r->p->ctx, r->instr);
  return true;
}

static bool
read_queue(reader *r) {
  uint32_t x = r->parts[QUEUE] ? only_item(r, r->parts[QUEUE]) : 0;
  if (!r->parts[QUEUE])
    return true;
  if (x && at(r, x)->kind != BS_SX_SYM)
    return fail(r, x, "bad-value", "a name is expected here");
  r->instr->queue = x ? target_sym(r->p, x) : NULL;
  return x &&
         (strcmp(r->instr->queue, "host") != 0 ||
          fail(r, x, "bad-name", "'host' is the queue of the host's own work"));
}

static bool
read_where(reader *r) {
  if (!r->parts[WHERE])
    return true;
  uint32_t x = only_item(r, r->parts[WHERE]);
  if (x)
    r->instr->where = gs_expr_parse_as(r->p->ctx, r->p->sexps, x,
                                       &r->instr->scope, GS_SORT_BOOL);
  return r->instr->where != NULL;
}

typedef struct operand_use {
  const gs_scope *scope;
  bool found;
} operand_use;

static void
note_operand(void *arg, uint32_t slot, bs_span span) {
  operand_use *use = arg;
  (void)span;
  use->found |= use->scope->vars.data[slot].sort == GS_SORT_CLASS;
}

/* A cost is a number over parameters and dimensions. */
static const gs_expr *
read_cost_value(reader *r, uint32_t node) {
  const gs_expr *e =
      gs_expr_parse(r->p->ctx, r->p->sexps, node, &r->instr->scope);
  operand_use use = {&r->instr->scope, false};
  if (!e)
    return NULL;
  gs_expr_vars(e, note_operand, &use);
  bool number = e->sort == GS_SORT_INT || e->sort == GS_SORT_REAL ||
                e->sort == GS_SORT_ANY;
  if (number && !use.found)
    return e;
  fail(r, node, "sort-mismatch",
       "a cost is a number over parameters and dimensions");
  return NULL;
}

static bool
read_costs(reader *r) {
  uint32_t form = r->parts[COST], k = 0;
  bool ok = true;
  if (!form)
    return true;
  gs_cost_item *costs =
      BS_NEWS(r->p->ctx->arena, gs_cost_item, at(r, form)->count);
  for (uint32_t x = items_of(r, form); x; x = next(r, x), k++) {
    const char *name = target_head(r->p, x);
    if (!name || at(r, x)->count != 2) {
      fail(r, x, "bad-value", "a cost is written (NAME EXPRESSION)");
      target_hint_part(r->p, "cost");
      return false;
    }
    costs[k].name = name;
    costs[k].value = read_cost_value(r, next(r, x + 1));
    ok &= costs[k].value != NULL;
  }
  r->instr->costs = costs;
  r->instr->n_costs = k;
  return ok;
}

/* Views and materialize of this one operand. */
static bool
check_layout(const reader *r, uint32_t node, const gs_operand *operand) {
  for (uint32_t k = 0; k < operand->layout->n; k++) {
    const gs_sk_node *n = &operand->layout->nodes[k];
    bool fine = n->hole ? n->slot == operand->slot
                        : gs_op_table[n->op].view || n->op == GS_MATERIALIZE;
    if (!fine)
      return fail(r, node, "bad-layout",
                  "a layout is made of views of '%s' alone", operand->name);
  }
  return true;
}

static bool
read_layout(reader *r, uint32_t form) {
  uint32_t name = items_of(r, form), term = name ? next(r, name) : 0;
  gs_operand *operands = r->instr->operands;
  if (!term || next(r, term) || at(r, name)->kind != BS_SX_SYM)
    return fail(r, form, "wrong-arity", "write (layout OPERAND TERM)");
  for (uint32_t k = 0; k < r->instr->n_operands; k++) {
    if (strcmp(operands[k].name, target_sym(r->p, name)))
      continue;
    if (operands[k].layout)
      return fail(r, form, "duplicate-name",
                  "the layout of '%s' is given twice", operands[k].name);
    operands[k].layout =
        gs_skeleton_parse(r->p->ctx, NULL, r->p->sexps, term, &r->instr->scope);
    return operands[k].layout && check_layout(r, term, &operands[k]);
  }
  return fail(r, name, "unknown-name", "there is no operand '%s'",
              target_sym(r->p, name));
}

static bool
read_layouts(reader *r) {
  bool ok = true;
  for (uint32_t x = items_of(r, r->form); x; x = next(r, x)) {
    const char *head = target_head(r->p, x);
    if (head && !strcmp(head, part_table[LAYOUT].name))
      ok &= read_layout(r, x);
  }
  return ok;
}

/* --- the template --------------------------------------------------------- */

/* What lies in a memory has an address there, and no pointer. */
static bool
check_pointer(const reader *r, const gs_emit_piece *piece) {
  const gs_instr *i = r->instr;
  const gs_operand *o = piece->operand < i->n_operands
                            ? &i->operands[piece->operand]
                            : &i->result;
  if (piece->kind != GS_EMIT_POINTER || !o->memory)
    return true;
  fail(r, r->parts[EMIT], "bad-emit", "'%s' is in %s and has no pointer",
       o->name, gs_memory_name(r->p->target, o->memory));
  bs_hint(r->p->ctx->diags, "{%s.address} is where it begins, in bytes",
          o->name);
  return false;
}

static bool
check_emit(const reader *r) {
  const char *text = r->instr->emit;
  gs_emit_piece piece;
  bool ok = true;
  while (gs_emit_next(r->instr, &text, &piece)) {
    ok &= check_pointer(r, &piece);
    if (piece.kind == GS_EMIT_BAD) {
      ok = fail(r, r->parts[EMIT], "bad-emit",
                "'%.*s' is not a parameter, dimension or operand",
                (int)(piece.len < 60 ? piece.len : 60), piece.text);
      bs_hint(r->p->ctx->diags, "{NAME}, {OPERAND.stride.K}, {OPERAND.dim.K}, "
                                "{result}");
    }
  }
  return ok;
}

static bool
read_emit(reader *r) {
  bs_text text;
  bs_text_init(&text, r->p->ctx->heap);
  for (uint32_t x = items_of(r, r->parts[EMIT]); x; x = next(r, x)) {
    if (at(r, x)->kind != BS_SX_STRING)
      return fail(r, x, "bad-value", "the template is given in strings");
    if (text.len)
      bs_putc(&text, '\n');
    bs_put(&text, target_sym(r->p, x));
  }
  r->instr->emit = bs_arena_strdup(r->p->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return r->instr->emit[0] ||
         fail(r, r->parts[EMIT], "bad-value", "the template is empty");
}

/* --- is everything determined? -------------------------------------------- */

/* Marks the plain variables of an attribute and of lists in it. */
static void
mark_plain(const gs_expr *e, bool *marks) {
  if (e->kind == GS_X_VAR)
    marks[e->slot] = true;
  if (gs_expr_is_call(e, "list"))
    for (uint32_t k = 0; k < e->n_args; k++)
      mark_plain(e->args[k], marks);
}

static void
mark_determined(const gs_instr *instr, bool *marks) {
  for (uint32_t k = 0; k < instr->n_operands; k++)
    for (uint32_t d = 0; d < instr->operands[k].rank; d++)
      mark_plain(instr->operands[k].dims[d], marks);
  for (uint32_t k = 0; k < instr->semantics->n; k++) {
    const gs_sk_node *n = &instr->semantics->nodes[k];
    if (n->hole)
      marks[n->slot] = true;
    for (uint32_t a = 0; a < n->n_attrs; a++)
      if (n->attrs[a])
        mark_plain(n->attrs[a], marks);
  }
}

/* A call is found by matching the semantics, so they must tell each operand
 * and each parameter. */
static bool
check_determined(const reader *r) {
  const gs_instr *instr = r->instr;
  uint32_t n = instr->scope.vars.len;
  bool *marks = BS_NEWS(r->p->ctx->arena, bool, n + 1), ok = true;
  mark_determined(instr, marks);
  for (uint32_t k = 0; k < instr->n_params + instr->n_operands; k++) {
    const gs_var *var = &instr->scope.vars.data[k];
    if (marks[k])
      continue;
    ok = bs_error(r->p->ctx->diags, var->span, "undetermined",
                  k < instr->n_params
                      ? "the parameter '%s' cannot be derived from a call"
                      : "the semantics do not use the operand '%s'",
                  var->name);
    if (k < instr->n_params)
      bs_hint(r->p->ctx->diags, "make it a dimension of an operand, or an "
                                "attribute in the semantics");
  }
  return ok;
}

/* --- the declaration ------------------------------------------------------ */

static int
find_part(const char *head) {
  for (int k = 0; head && k < PART_COUNT; k++)
    if (!strcmp(part_table[k].name, head))
      return k;
  return -1;
}

static bool
find_parts(reader *r, uint32_t first) {
  const char *names[PART_COUNT];
  bool ok = true;
  for (int k = 0; k < PART_COUNT; k++)
    names[k] = part_table[k].name;
  for (uint32_t x = first; x; x = next(r, x)) {
    const char *head = target_head(r->p, x);
    int k = find_part(head);
    if (k < 0) {
      const char *near = head ? bs_nearest(head, names, PART_COUNT) : NULL;
      ok = fail(r, x, "unknown-item", "'%s' is not a part of an instruction",
                head ? head : "(...)");
      if (!gs_hint_elsewhere(r->p->ctx->diags, GS_AS_INSTR_PART, head) && near)
        bs_meant(r->p->ctx->diags, "'", near);
    } else if (r->parts[k] && !part_table[k].many)
      ok = fail(r, x, "duplicate-name", "'%s' is given twice", head);
    else
      r->parts[k] = x;
  }
  for (int k = 0; k < PART_COUNT; k++)
    if (part_table[k].required && !r->parts[k]) {
      ok = fail(r, r->form, "missing-part", "the instruction has no (%s ...)",
                part_table[k].name);
      target_hint_part(r->p, part_table[k].name);
    }
  return ok;
}

static bool
check_name(reader *r, uint32_t node) {
  if (!node || at(r, node)->kind != BS_SX_SYM)
    return fail(r, r->form, "missing-part",
                "an instruction needs a name: (instr NAME ...)");
  const char *name = target_sym(r->p, node);
  const char *meaning = meaning_of(name);
  r->instr->name = name;
  r->instr->span = at(r, node)->span;
  if (!is_identifier(name))
    return target_bad_name(r->p, node);
  if (meaning)
    return fail(r, node, "bad-name", "'%s' is %s already", name, meaning);
  if (gs_find_instr(r->p->target, name))
    return fail(r, node, "duplicate-name",
                "the instruction '%s' is declared twice", name);
  return true;
}

/* What is said over the names; all of its faults are reported. */
static bool
read_meaning(reader *r) {
  bool ok = read_semantics(r);
  ok &= read_where(r);
  ok &= read_costs(r);
  ok &= read_layouts(r);
  ok &= read_queue(r);
  ok &= read_emit(r);
  return ok;
}

static bool
read_parts(reader *r) {
  return read_params(r) && read_operands(r) && read_result(r) &&
         read_meaning(r) && check_determined(r) &&
         target_check_instr(r->p->ctx, r->p->target, r->instr) && check_emit(r);
}

bool
target_parse_instr(target_parser *p, uint32_t form) {
  reader r = {.p = p, .instr = BS_NEW(p->ctx->arena, gs_instr), .form = form};
  uint32_t name = items_of(&r, form);
  r.instr->scope.param = target_setting;
  r.instr->scope.ctx = p->target;
  if (!check_name(&r, name))
    return false;
  uint32_t first = next(&r, name);
  if (first && at(&r, first)->kind == BS_SX_STRING) {
    r.instr->intent = target_sym(p, first);
    first = next(&r, first);
  }
  if (!find_parts(&r, first) || !read_parts(&r))
    return false;
  bs_push(p->ctx->heap, &p->target->instrs, r.instr);
  return true;
}
