/* SPDX-License-Identifier: MIT */
/* parse.c - the forms of a program: tensor, const, let, output; and what it
 * defines, which define.c reads.
 *
 * All names are collected first, so that a use before the definition can say
 * where the definition is; then the forms are read in order.  Every fault of
 * the file is reported; a program is returned only when there is none. */
#include "glenside/type/elsewhere.h"
#include "glenside/text/parse.h"
#include "glenside/type/sizes.h"
#include "glenside/array/tensor.h"
#include "base/file.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef enum form_kind {
  TENSOR,
  CONST,
  LET,
  OUTPUT,
  DEFINE,
  SIZE,
  FORM_COUNT
} form_kind;

static const char *const form_names[] = {"tensor", "const",  "let",
                                         "output", "define", "size"};
static const char *const form_usages[] = {
    "(tensor NAME (shape n...) DTYPE [:data \"FILE\" [OFFSET | \"KEY\"]])",
    "(const NAME (shape n...) DTYPE v...)",
    "(let NAME TERM)",
    "(output NAME)",
    "(define (NAME PARAMETER...) TERM)",
    "(size NAME LEAST MOST [MULTIPLE])",
};

static bool
find_form(const char *head, form_kind *out) {
  for (int k = 0; head && k < FORM_COUNT; k++)
    if (!strcmp(head, form_names[k])) {
      *out = (form_kind)k;
      return true;
    }
  return false;
}

/* Names ---------------------------------------------------------------------
 */

void
parse_bind(gs_parser *x, bs_value name, bs_span span) {
  assert(name.i);
  while (x->binding_of.len <= name.i)
    bs_push(x->ctx->heap, &x->binding_of, 0);
  if (x->binding_of.data[name.i])
    return;
  bs_push(x->ctx->heap, &x->bindings,
          (parse_binding){name, GS_NO_TERM, span, false});
  x->binding_of.data[name.i] = x->bindings.len;
}

/* Whether a form headed so defines a name.  An unknown form that is no term
 * is taken to define one, too, so that its uses are not complained about. */
static bool
defines(const char *head, bool known) {
  form_kind kind;
  gs_op op;
  if (find_form(head, &kind))
    return known && kind != OUTPUT && kind != DEFINE;
  return !known && head && !gs_op_find(head, &op);
}

/* The symbol that a form of a known or unknown kind defines, or 0. */
static uint32_t
defined_name(const gs_parser *x, uint32_t root, bool known) {
  if (!defines(bs_sx_head(&x->sx, x->ctx->values, root), known) ||
      parse_at(x, root)->count < 2)
    return 0;
  uint32_t name = parse_at(x, root + 1)->next;
  return parse_at(x, name)->kind == BS_SX_SYM ? name : 0;
}

static void
collect_names(gs_parser *x, bool known) {
  for (uint32_t k = 0; k < x->sx.roots.len; k++) {
    uint32_t name = defined_name(x, x->sx.roots.data[k], known);
    if (name)
      parse_bind(x, parse_at(x, name)->value, parse_at(x, name)->span);
  }
}

static bool
same_span(bs_span a, bs_span b) {
  return a.file == b.file && a.lo == b.lo;
}

/* The binding that a form defines, valid until a name is bound; NULL with a
 * diagnostic when its name is ill-formed or taken. */
static parse_binding *
define(gs_parser *x, form_kind kind, uint32_t name) {
  const bs_sx *sx = parse_at(x, name);
  bs_diags *diags = x->ctx->diags;
  if (sx->kind != BS_SX_SYM) {
    bs_error(diags, sx->span, "bad-name", "expected a name, found %s",
             parse_describe(x, name));
    bs_hint(diags, "write %s", form_usages[kind]);
    return NULL;
  }
  parse_binding *b = parse_find(x, sx->value);
  if (!same_span(b->span, sx->span)) {
    bs_error(diags, sx->span, "duplicate-name", "`%.60s` is defined twice",
             parse_symbol(x, name));
    bs_note(diags, b->span, "the first definition is here");
    return NULL;
  }
  if (!parse_is_plain_name(parse_symbol(x, name))) {
    bs_error(diags, sx->span, "bad-name", "`%.60s` cannot be a name",
             parse_symbol(x, name));
    if (parse_unquoted(parse_symbol(x, name)))
      bs_meant(diags, "`", parse_unquoted(parse_symbol(x, name)));
    else
      bs_hint(diags, "a name has at most 200 letters, digits, `_`, `-` and "
                     "`.`, and begins with a letter or `_`");
  }
  return b;
}

/* Constants -----------------------------------------------------------------
 */

/* Numbers as other languages write them. */
static void
hint_literal(gs_parser *x, bool whole, uint32_t node) {
  const char *word = parse_symbol(x, node);
  if (word && strpbrk(word, ",[]{}"))
    bs_hint(x->ctx->diags, "separate the elements by spaces only: (const NAME "
                           "(shape 3) f32 1 2 3)");
  else
    parse_hint_number(x->ctx, parse_at(x, node), whole);
}

static bool
refuse_literal(gs_parser *x, gs_dtype dtype, bool whole, uint32_t node) {
  bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-literal",
           "expected a literal of %s, found %s", gs_dtype_table[dtype].name,
           parse_describe(x, node));
  hint_literal(x, whole, node);
  return false;
}

static bool
integer_fits(gs_parser *x, gs_dtype dtype, uint32_t node) {
  assert(dtype < GS_DTYPE_COUNT);
  const gs_dtype_info *info = &gs_dtype_table[dtype];
  const bs_sx *sx = parse_at(x, node);
  if (sx->kind != BS_SX_INT)
    return refuse_literal(x, dtype, true, node);
  int64_t v = bs_as_int(x->ctx->values, sx->value);
  int64_t least = gs_dtype_least(dtype), most = gs_dtype_most(dtype);
  if (v >= least && v <= most)
    return true;
  bs_error(x->ctx->diags, sx->span, "literal-range", "%lld does not fit in %s",
           (long long)v, info->name);
  bs_hint(x->ctx->diags, "its range is %lld to %lld", (long long)least,
          (long long)most);
  return false;
}

static bool
float_fits(gs_parser *x, gs_dtype dtype, uint32_t node) {
  const bs_sx *sx = parse_at(x, node);
  if (sx->kind != BS_SX_INT && sx->kind != BS_SX_REAL)
    return refuse_literal(x, dtype, false, node);
  double v = bs_as_real(x->ctx->values, sx->value);
  if (!isfinite(v) || gs_stays_finite(dtype, v))
    return true;
  bs_error(x->ctx->diags, sx->span, "literal-range", "%g does not fit in %s", v,
           gs_dtype_table[dtype].name);
  bs_hint(x->ctx->diags, "`inf` is a literal, too");
  return false;
}

/* As many literals as the type has elements, which is a number. */
static bool
check_count(gs_parser *x, const char *name, const gs_type *type, uint32_t list,
            uint32_t first) {
  bs_span span = parse_at(x, list)->span;
  if (gs_type_is_sized(type))
    return bs_error(x->ctx->diags, span, "open-size",
                    "the dimensions of a constant are numbers");
  int64_t want = gs_elements(type),
          have = (int64_t)parse_at(x, list)->count - 4;
  if (want == have)
    return true;
  bs_error(x->ctx->diags, span, "literal-count",
           "%s has %lld elements, found %lld %s", name, (long long)want,
           BS_COUNTED((long long)have, "literal"));
  if (have == 1 && parse_symbol(x, first))
    hint_literal(x, false, first);
  else if (have == 1)
    bs_hint(x->ctx->diags, "broadcast repeats a constant with sizes of 1");
  return false;
}

static void
parse_values(gs_parser *x, parse_binding *b, const char *name,
             const gs_type *type, uint32_t list, uint32_t first) {
  gs_tensor values;
  bool fine = true;
  int64_t at = 0;
  if (!check_count(x, name, type, list, first))
    return;
  gs_tensor_init(x->ctx->heap, &values, type);
  for (uint32_t k = first; k; k = parse_at(x, k)->next, at++) {
    bool fits = gs_dtype_table[type->dtype].integer
                    ? integer_fits(x, type->dtype, k)
                    : float_fits(x, type->dtype, k);
    fine &= fits;
    if (fits)
      gs_tensor_set(&values, at,
                    bs_as_real(x->ctx->values, parse_at(x, k)->value));
  }
  if (fine)
    b->term =
        gs_add_constant(x->p, name, type, values.data, parse_at(x, list)->span);
  gs_tensor_done(x->ctx->heap, &values);
}

/* Forms ---------------------------------------------------------------------
 */

static bool
declared_type(gs_parser *x, gs_op op, uint32_t name, gs_type *out) {
  bs_value items[3] = {bs_sym(x->ctx->values, "_"), BS_NIL, BS_NIL};
  uint32_t shape = parse_at(x, name)->next, dtype = parse_at(x, shape)->next;
  uint32_t at[3] = {name, shape, dtype};
  gs_fault fault;
  bool fine = parse_attr(x, op, 1, shape, &items[1]);
  fine &= parse_attr(x, op, 2, dtype, &items[2]);
  if (!fine)
    return false;
  bs_value attr = bs_list(x->ctx->values, items, 3);
  if (gs_infer_sized(x->p->sizes, x->ctx->values, NULL, op, attr, NULL, 0, out,
                     &fault))
    return true;
  uint32_t node = at[fault.attr > 0 ? fault.attr : 1];
  return parse_fault(x, &fault, parse_at(x, node)->span);
}

static void
parse_leaf(gs_parser *x, form_kind kind, uint32_t list, uint32_t name) {
  gs_type type;
  parse_binding *b = define(x, kind, name);
  bool fine =
      declared_type(x, kind == TENSOR ? GS_TENSOR : GS_CONST, name, &type);
  if (!b)
    return;
  b->bound = true;
  if (!fine)
    return;
  const char *text = parse_symbol(x, name);
  bs_span span = parse_at(x, list)->span;
  uint32_t dtype = parse_at(x, parse_at(x, name)->next)->next;
  uint32_t rest = parse_at(x, dtype)->next;
  if (kind == TENSOR && (!rest || parse_data(x, text, rest)))
    b->term = gs_add_tensor(x->p, text, &type, span);
  if (kind == CONST)
    parse_values(x, b, text, &type, list, rest);
  parse_place(x, name, b->term);
}

static void
parse_let(gs_parser *x, uint32_t name) {
  bool defined = define(x, LET, name) != NULL;
  gs_term t = parse_term(x, parse_at(x, name)->next);
  if (!defined)
    return;
  parse_binding *b = parse_find(x, parse_at(x, name)->value);
  b->bound = true;
  b->term = t;
  parse_place(x, name, t);
  if (gs_term_ok(t))
    bs_push(x->ctx->heap, &x->p->lets,
            (gs_named){parse_symbol(x, name), t, parse_at(x, name)->span});
}

static void
parse_output(gs_parser *x, uint32_t name) {
  bs_span span = parse_at(x, name)->span;
  if (!parse_symbol(x, name)) {
    bs_error(x->ctx->diags, span, "bad-name",
             "expected the name of an output, found %s",
             parse_describe(x, name));
    parse_hint_output(x, name);
    return;
  }
  gs_term t = parse_term(x, name);
  uint32_t symbol = parse_at(x, name)->value.i;
  uint32_t first = bs_map_get(&x->output_of, symbol);
  if (first != BS_NO_ENTRY) {
    bs_error(x->ctx->diags, span, "duplicate-output",
             "`%.60s` is declared as an output twice", parse_symbol(x, name));
    bs_note(x->ctx->diags, x->p->outputs.data[first].span,
            "the first declaration is here");
    return;
  }
  if (!gs_term_ok(t))
    return;
  bs_map_put(x->ctx->heap, &x->output_of, symbol, x->p->outputs.len);
  gs_add_output(x->p, parse_symbol(x, name), t, span);
}

static const char consists[] =
    "a program consists of tensor, const, let and output forms";

static bool
no_form(gs_parser *x, uint32_t root) {
  const char *word = parse_symbol(x, root);
  bs_diags *diags = x->ctx->diags;
  bs_error(diags, parse_at(x, root)->span, "bad-form",
           "expected a form, found %s", parse_describe(x, root));
  if (!word || !gs_hint_elsewhere(diags, GS_AS_FORM, word))
    bs_hint(diags, "%s", consists);
  return false;
}

static bool
unknown_form(gs_parser *x, uint32_t root, const char *head) {
  const char *near = parse_nearest(head, form_names, FORM_COUNT);
  bs_diags *diags = x->ctx->diags;
  bs_error(diags, parse_at(x, root + 1)->span, "unknown-form",
           "unknown form `%.60s`", head);
  if (gs_hint_elsewhere(diags, GS_AS_FORM, head))
    return false;
  if (parse_heads_term(x, head))
    bs_hint(diags, "a term needs a name: (let NAME (%s ...))", head);
  else if (near)
    bs_meant(diags, "`", near);
  else
    bs_hint(diags, "%s", consists);
  return false;
}

/* n: with the head. */
static bool
may_have(form_kind kind, uint32_t n) {
  return kind == TENSOR   ? n == 4 || n == 6 || n == 7
         : kind == CONST  ? n >= 4
         : kind == LET    ? n == 3
         : kind == DEFINE ? n >= 3
         : kind == SIZE   ? n == 4 || n == 5
                          : n == 2;
}

static bool
check_form(gs_parser *x, uint32_t root, form_kind *kind) {
  const bs_sx *sx = parse_at(x, root);
  const char *head = bs_sx_head(&x->sx, x->ctx->values, root);
  if (!head)
    return no_form(x, root);
  if (!find_form(head, kind))
    return unknown_form(x, root, head);
  if (may_have(*kind, sx->count))
    return true;
  static const char *const expected[] = {
      "3, 5 or 6 arguments", "3 arguments or more", "2 arguments",
      "1 argument",          "2 arguments or more", "3 or 4 arguments"};
  bs_error(x->ctx->diags, sx->span, "bad-form", "%s takes %s, found %u", head,
           expected[*kind], sx->count - 1);
  parse_hint_form(x, root, form_usages[*kind]);
  return false;
}

/* A form that is not read still defines its name, as poison. */
static void
poison_name(gs_parser *x, uint32_t root) {
  uint32_t node = defined_name(x, root, true);
  if (!node)
    node = defined_name(x, root, false);
  if (!node)
    return;
  const bs_sx *name = parse_at(x, node);
  parse_binding *b = parse_find(x, name->value);
  if (b && same_span(b->span, name->span))
    b->bound = true;
}

static void
parse_form(gs_parser *x, uint32_t root) {
  form_kind kind;
  if (!check_form(x, root, &kind)) {
    poison_name(x, root);
    return;
  }
  uint32_t name = parse_at(x, root + 1)->next;
  if (kind == OUTPUT)
    parse_output(x, name);
  else if (kind == LET)
    parse_let(x, name);
  else if (kind == TENSOR || kind == CONST)
    parse_leaf(x, kind, root, name);
}

/* What a program defines may be used before, as it has no term of its own. */
static void
parse_definitions(gs_parser *x) {
  form_kind kind;
  for (uint32_t k = 0; k < x->sx.roots.len; k++) {
    uint32_t root = x->sx.roots.data[k];
    if (find_form(bs_sx_head(&x->sx, x->ctx->values, root), &kind) &&
        kind == DEFINE && parse_at(x, root)->count >= 3)
      parse_define(x, root, false);
  }
  parse_built_in(x);
}

/* What does not begin with a list is something else altogether: told once. */
static bool
is_program(gs_parser *x, uint32_t source) {
  bs_diags *diags = x->ctx->diags;
  if (!x->sx.roots.len || parse_at(x, x->sx.roots.data[0])->kind == BS_SX_LIST)
    return true;
  uint32_t first = x->sx.roots.data[0];
  bs_error(diags, parse_at(x, first)->span, "bad-form",
           "expected a form, found %s", parse_describe(x, first));
  const char *path = diags->sources.data[source - 1].path;
  const char *dot = strrchr(path, '.'), *word = parse_symbol(x, first);
  bool meant = word && dot && !strcmp(dot, ".glen");
  if (!meant || !gs_hint_elsewhere(diags, GS_AS_FORM, word))
    bs_hint(diags, "%s", gs_elsewhere_file(path));
  return false;
}

static void
parse_forms(gs_parser *x, uint32_t source) {
  bool output = false;
  form_kind kind;
  if (!is_program(x, source))
    return;
  collect_names(x, true);
  collect_names(x, false);
  parse_definitions(x);
  parse_sizes(x);
  for (uint32_t k = 0; k < x->sx.roots.len; k++) {
    uint32_t root = x->sx.roots.data[k];
    parse_form(x, root);
    output |= find_form(bs_sx_head(&x->sx, x->ctx->values, root), &kind) &&
              kind == OUTPUT;
  }
  if (output)
    return;
  bs_span end = {source, 0, 0};
  if (x->sx.roots.len)
    end = parse_at(x, x->sx.roots.data[x->sx.roots.len - 1])->span;
  bs_error(x->ctx->diags, end, "no-output", "the program has no output");
  if (x->sx.roots.len)
    bs_hint(x->ctx->diags, "end it with (output NAME)");
  else
    bs_hint(x->ctx->diags, "there is no form in the file; %s",
            gs_elsewhere_file(x->ctx->diags->sources.data[source - 1].path));
}

static gs_program *
parse_source(gs_parser x, uint32_t source) {
  const gs_context *ctx = x.ctx;
  if (bs_sexp_read(ctx->heap, ctx->values, ctx->diags, source, &x.sx)) {
    x.p = gs_program_new(ctx, x.target);
    parse_forms(&x, source);
  }
  bs_sexps_done(ctx->heap, &x.sx);
  parse_scratch_done(&x);
  bs_map_done(ctx->heap, &x.output_of);
  bs_vec_done(ctx->heap, &x.sizes.vars);
  bs_vec_done(ctx->heap, &x.size_values);
  parse_definitions_done(&x);
  return x.p;
}

gs_program *
gs_parse_at(const gs_context *ctx, const struct gs_target *target,
            uint32_t source, const gs_given_size *given, uint32_t n_given) {
  assert(given || !n_given);
  uint32_t before = ctx->diags->errors;
  gs_program *p = parse_source(
      (gs_parser){
          .ctx = ctx, .target = target, .given = given, .n_given = n_given},
      source);
  return ctx->diags->errors == before ? p : NULL;
}

gs_program *
gs_parse(const gs_context *ctx, const struct gs_target *target,
         uint32_t source) {
  return gs_parse_at(ctx, target, source, NULL, 0);
}

gs_program *
gs_parse_places(const gs_context *ctx, const struct gs_target *target,
                uint32_t source, gs_places *out) {
  *out = (gs_places){0};
  return parse_source((gs_parser){.ctx = ctx, .target = target, .places = out},
                      source);
}

/* A message of protocol buffers whose first field is a small number, the
 * version, and whose second is a text or the graph. */
static bool
is_model(const bs_source *source) {
  const char *text = source->text;
  return source->size > 4 && text[0] == 0x08 && text[1] > 0 && text[1] < ' ' &&
         (text[2] == 0x12 || text[2] == 0x1a || text[2] == 0x3a);
}

gs_program *
gs_parse_file_at(const gs_context *ctx, const struct gs_target *target,
                 const char *path, const gs_given_size *given,
                 uint32_t n_given) {
  bs_diags *diags = ctx->diags;
  uint32_t before = diags->sources.len;
  uint32_t source = bs_source_read(diags, path, BS_NOWHERE);
  if (diags->sources.len > before && is_model(&bs_last(&diags->sources))) {
    if (source)
      bs_error(diags, (bs_span){source, 0, 1}, "not-text", "this is not text");
    bs_hint(diags, "it looks like a model in the ONNX format: its name has to "
                   "end in .onnx");
    return NULL;
  }
  return source ? gs_parse_at(ctx, target, source, given, n_given) : NULL;
}

gs_program *
gs_parse_file(const gs_context *ctx, const struct gs_target *target,
              const char *path) {
  return gs_parse_file_at(ctx, target, path, NULL, 0);
}
