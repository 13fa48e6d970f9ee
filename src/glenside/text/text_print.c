/* SPDX-License-Identifier: MIT */
/* text_print.c - programs as text, such that parsing gives them back.
 *
 * Terms are visited in index order and printed over an explicit stack.  A term
 * with a name, and a term used more than once (it gets a name t0, t1, ...), is
 * printed where it is defined and named everywhere else, so the text is linear
 * in the number of terms.  A term goes on one line when it fits, else its
 * children go on lines of their own; the indentation stops growing at a bound,
 * so that deep terms stay linear, too.  A chain of concats to the right is
 * printed as one. */
#include "glenside/text/text_print.h"
#include "glenside/type/sizes.h"
#include <assert.h>
#include <string.h>

#define MAX_INDENT  40
#define TYPE_COLUMN 48   /* where the comments with the types begin */
#define TERM_LIMIT  1000 /* nodes of gs_print_term */

typedef struct frame {
  gs_term term;
  uint32_t kid;
  uint32_t indent;
  uint32_t tail; /* closing parentheses that follow */
  bool flat;
} frame;

typedef struct printer {
  const gs_program *p;
  const bs_values *values;
  print_out out;
  bool types;
  const char **names; /* by term; NULL = printed in place */
  uint32_t *widths;   /* by term: bytes of its text on one line; saturates */
  gs_term line_term;  /* the first term on this line, for its type */
  uint32_t budget;    /* nodes left, for gs_print_term */
  bs_text scratch;
  BS_VEC(frame) frames;
} printer;

#define WIDE ((uint32_t)1 << 20)

/* Names
 * --------------------------------------------------------------------- */

static const char *
leaf_name(const printer *x, const gs_node *node) {
  return bs_as_sym(x->values, bs_item(x->values, node->attr, 0));
}

static void
take_names(printer *x) {
  const gs_program *p = x->p;
  x->names = bs_calloc(p->ctx.heap, p->nodes.len, sizeof *x->names);
  for (uint32_t i = 0; i < p->nodes.len; i++)
    if (p->nodes.data[i].op == GS_TENSOR || p->nodes.data[i].op == GS_CONST)
      x->names[i] = leaf_name(x, &p->nodes.data[i]);
  for (uint32_t k = 0; k < p->lets.len; k++)
    if (!x->names[p->lets.data[k].term.i])
      x->names[p->lets.data[k].term.i] = p->lets.data[k].name;
}

/* uses[i]: 0 when nothing printed needs it, 2 when two or more do. */
static uint8_t *
count_uses(const printer *x) {
  const gs_program *p = x->p;
  uint8_t *uses = bs_calloc(p->ctx.heap, p->nodes.len, 1);
  for (uint32_t k = 0; k < p->lets.len; k++)
    uses[p->lets.data[k].term.i] = 1;
  for (uint32_t k = 0; k < p->outputs.len; k++)
    uses[p->outputs.data[k].term.i] = 1;
  for (uint32_t i = p->nodes.len; i-- > 0;)
    for (uint32_t k = 0; uses[i] && k < p->nodes.data[i].n_kids; k++)
      if (uses[p->nodes.data[i].kids[k].i] < 2)
        uses[p->nodes.data[i].kids[k].i]++;
  return uses;
}

/* Marks by symbol id the names that a fresh one must not take. */
static uint8_t *
taken_names(const printer *x, uint32_t *n) {
  const gs_program *p = x->p;
  bs_values *values = p->ctx.values;
  for (uint32_t k = 0; k < p->lets.len; k++)
    bs_sym(values, p->lets.data[k].name);
  *n = bs_values_count(values) + 1;
  uint8_t *taken = bs_calloc(p->ctx.heap, *n, 1);
  for (uint32_t k = 0; k < p->lets.len; k++)
    taken[bs_sym(values, p->lets.data[k].name).i] = 1;
  for (uint32_t i = 0; i < p->nodes.len; i++) {
    const gs_node *node = &p->nodes.data[i];
    if (node->op == GS_TENSOR || node->op == GS_CONST)
      taken[bs_item(values, node->attr, 0).i] = 1;
  }
  return taken;
}

/* Names for unnamed terms that are used more than once. */
static void
name_shared(printer *x, const uint8_t *uses) {
  const gs_context *ctx = &x->p->ctx;
  uint32_t n_taken, next = 0;
  uint8_t *taken = taken_names(x, &n_taken);
  for (uint32_t i = 0; i < x->p->nodes.len; i++) {
    if (uses[i] < 2 || x->names[i])
      continue;
    bs_value name;
    do {
      bs_text_clear(&x->scratch);
      bs_putf(&x->scratch, "t%u", next++);
      name = bs_sym(ctx->values, bs_text_str(&x->scratch));
    } while (name.i < n_taken && taken[name.i]);
    x->names[i] = bs_as_sym(ctx->values, name);
  }
  bs_free(ctx->heap, taken);
}

/* Widths
 * -------------------------------------------------------------------- */

static const char *
attrs_of(printer *x, const gs_node *node) {
  bs_text_clear(&x->scratch);
  print_attrs(x->values, x->p->sizes, node->op, node->attr, &x->scratch);
  return bs_text_str(&x->scratch);
}

/* The second part of a concat that goes on in the same parentheses. */
static bool
concat_goes_on(const printer *x, const gs_node *node, uint32_t kid) {
  if (node->op != GS_CONCAT || kid != 1 || x->names[node->kids[1].i])
    return false;
  const gs_node *rest = gs_at(x->p, node->kids[1]);
  return rest->op == GS_CONCAT && bs_same(rest->attr, node->attr);
}

static uint32_t
width_of(printer *x, uint32_t i) {
  assert(i < x->p->nodes.len);
  const gs_node *node = &x->p->nodes.data[i];
  size_t attrs = strlen(attrs_of(x, node));
  size_t head = strlen(print_head(x->values, node->op, node->attr));
  uint64_t width = 1 + head + attrs + 1;
  for (uint32_t k = 0; k < node->n_kids; k++) {
    uint32_t kid = node->kids[k].i;
    width += 1 + (x->names[kid] ? strlen(x->names[kid]) : x->widths[kid]);
    if (concat_goes_on(x, node, k))
      width -= head + attrs + 3; /* one space, head, parentheses */
  }
  return width < WIDE ? (uint32_t)width : WIDE;
}

static void
measure(printer *x) {
  uint32_t n = x->p->nodes.len;
  x->widths = bs_calloc(x->p->ctx.heap, n, sizeof *x->widths);
  for (uint32_t i = 0; i < n; i++)
    x->widths[i] = width_of(x, i);
}

/* Terms
 * --------------------------------------------------------------------- */

/* Ends a line: with the type of the first term on it when types are wanted. */
static void
end_line(printer *x) {
  if (x->types && gs_term_ok(x->line_term)) {
    gs_type type;
    gs_type_at(x->p, x->line_term, &type);
    do
      bs_putc(x->out.text, ' ');
    while (print_column(&x->out) < TYPE_COLUMN);
    bs_put(x->out.text, "; ");
    gs_put_type_of(x->out.text, x->p->sizes, &type);
  }
  x->line_term = GS_NO_TERM;
}

static void
next_line(printer *x, uint32_t indent) {
  end_line(x);
  print_newline(&x->out, indent);
}

/* The parts of a chain of concats count as its children. */
static bool
kids_are_names(const printer *x, const gs_node *node) {
  for (uint32_t k = 0; k < node->n_kids; k++)
    if (concat_goes_on(x, node, k)) {
      node = gs_at(x->p, node->kids[k]);
      k = UINT32_MAX; /* on with its first part */
    } else if (!x->names[node->kids[k].i])
      return false;
  return true;
}

/* Whether the term goes on this line; with types, one operator a line. */
static bool
fits(const printer *x, gs_term t, uint32_t tail) {
  if (x->types && !kids_are_names(x, gs_at(x->p, t)))
    return false;
  return print_column(&x->out) + x->widths[t.i] + tail <= PRINT_WIDTH;
}

static void
open_term(printer *x, gs_term t, uint32_t tail, bool flat) {
  const gs_node *node = gs_at(x->p, t);
  uint32_t column = (uint32_t)print_column(&x->out);
  uint32_t indent = column + 2 < MAX_INDENT ? column + 2 : MAX_INDENT;
  flat = flat || fits(x, t, tail);
  if (!gs_term_ok(x->line_term))
    x->line_term = t;
  bs_putc(x->out.text, '(');
  bs_put(x->out.text, print_head(x->values, node->op, node->attr));
  if (print_attrs_first(node->op)) {
    if (flat)
      bs_put(x->out.text, attrs_of(x, node));
    else
      print_words(&x->out, attrs_of(x, node), indent + 2, 0);
  }
  bs_push(x->p->ctx.heap, &x->frames, (frame){t, 0, indent, tail, flat});
}

static void
put_kid(printer *x, const frame *f, gs_term kid, uint32_t tail) {
  if (f->flat)
    bs_putc(x->out.text, ' ');
  else
    next_line(x, f->indent);
  if (x->names[kid.i])
    bs_put(x->out.text, x->names[kid.i]);
  else if (x->budget == 0)
    bs_put(x->out.text, "...");
  else {
    x->budget--;
    open_term(x, kid, tail, f->flat);
  }
}

static void
close_term(printer *x, const frame *f) {
  const gs_node *node = gs_at(x->p, f->term);
  const char *attrs = print_attrs_first(node->op) ? "" : attrs_of(x, node);
  if (f->flat)
    bs_put(x->out.text, attrs);
  else if (*attrs) {
    next_line(x, f->indent);
    print_words(&x->out, attrs, f->indent, f->tail + 1);
  }
  bs_putc(x->out.text, ')');
}

/* The last child is the last thing inside the parentheses. */
static bool
nothing_follows(gs_op op) {
  return print_attrs_first(op) || !*gs_op_table[op].attrs;
}

static void
put_term(printer *x, gs_term root, uint32_t tail, bool flat) {
  open_term(x, root, tail, flat);
  while (x->frames.len) {
    frame *f = &bs_last(&x->frames);
    const gs_node *node = gs_at(x->p, f->term);
    if (f->kid < node->n_kids) {
      uint32_t k = f->kid++;
      if (concat_goes_on(x, node, k)) {
        f->term = node->kids[k];
        f->kid = 0;
        continue;
      }
      bool last = k + 1 == node->n_kids && nothing_follows(node->op);
      frame copy = *f;
      put_kid(x, &copy, node->kids[k], last ? f->tail + 1 : 0);
      continue;
    }
    frame done = bs_pop(&x->frames);
    close_term(x, &done);
  }
}

/* Forms
 * --------------------------------------------------------------------- */

static void
put_declaration(printer *x, gs_term t) {
  const gs_node *node = gs_at(x->p, t);
  bs_putf(x->out.text, "(%s", gs_op_table[node->op].name);
  print_words(&x->out, attrs_of(x, node), 2, 1);
}

/* A symbol of any text, as the reader takes it. */
static void
put_string(bs_text *out, const char *s) {
  bs_putc(out, '"');
  for (; *s; s++)
    if (*s == '"' || *s == '\\')
      bs_putf(out, "\\%c", *s);
    else if ((unsigned char)*s < ' ')
      bs_putf(out, "\\x%02x", (unsigned)*s);
    else
      bs_putc(out, *s);
  bs_putc(out, '"');
}

/* Together on a line: a name may hold blanks. */
static void
put_data(printer *x, const gs_data *data) {
  bs_text *text = &x->scratch;
  bs_text_clear(text);
  bs_put(text, ":data ");
  put_string(text, data->file);
  if (data->form == GS_DATA_RAW)
    bs_putf(text, " %lld", (long long)data->offset);
  if (data->form == GS_DATA_SAFETENSORS) {
    bs_putc(text, ' ');
    put_string(text, data->key);
  }
  if (print_column(&x->out) + 2 + text->len > PRINT_WIDTH)
    print_newline(&x->out, 2);
  else
    bs_putc(x->out.text, ' ');
  bs_putn(x->out.text, text->data, text->len);
}

static void
put_sizes(printer *x) {
  const gs_sizes *s = x->p->sizes;
  for (uint32_t k = 0; s && k < s->n; k++) {
    const gs_size *size = &s->list[k];
    bs_putf(x->out.text, "(size %s %lld %lld", size->name,
            (long long)size->least, (long long)size->most);
    if (size->multiple > 1)
      bs_putf(x->out.text, " %lld", (long long)size->multiple);
    bs_putc(x->out.text, ')');
    next_line(x, 0);
  }
}

static void
put_tensor(printer *x, gs_term t) {
  const gs_data *data = gs_find_data(x->p, leaf_name(x, gs_at(x->p, t)));
  put_declaration(x, t);
  if (data)
    put_data(x, data);
  bs_putc(x->out.text, ')');
  next_line(x, 0);
}

static void
put_constant(printer *x, gs_term t) {
  const gs_constant *c = gs_find_constant(x->p, leaf_name(x, gs_at(x->p, t)));
  int64_t n = c ? gs_elements(&c->type) : 0;
  put_declaration(x, t);
  for (int64_t k = 0; k < n; k++) {
    bs_text_clear(&x->scratch);
    print_literal(c, k, &x->scratch);
    print_words(&x->out, bs_text_str(&x->scratch), 2, k + 1 == n);
  }
  bs_putc(x->out.text, ')');
  next_line(x, 0);
}

static void
put_let(printer *x, const char *name, gs_term t) {
  size_t head = strlen("(let  ") + strlen(name);
  bs_putf(x->out.text, "(let %s", name);
  bool plain = !x->types || kids_are_names(x, gs_at(x->p, t));
  if (plain && head + x->widths[t.i] + 1 <= PRINT_WIDTH)
    bs_putc(x->out.text, ' ');
  else
    next_line(x, 2);
  put_term(x, t, 1, false);
  bs_putc(x->out.text, ')');
  next_line(x, 0);
}

static void
put_alias(printer *x, const char *name, gs_term t) {
  bs_putf(x->out.text, "(let %s %s)", name, x->names[t.i]);
  next_line(x, 0);
}

/* The lets of each term as lists: first[term], next[let]; UINT32_MAX ends. */
static void
put_lets(printer *x, const uint8_t *uses) {
  const gs_program *p = x->p;
  bs_heap *heap = p->ctx.heap;
  uint32_t *first = bs_alloc(heap, p->nodes.len * sizeof *first);
  uint32_t *next = bs_alloc(heap, p->lets.len * sizeof *next);
  for (uint32_t i = 0; i < p->nodes.len; i++)
    first[i] = UINT32_MAX;
  for (uint32_t k = p->lets.len; k-- > 0;) {
    next[k] = first[p->lets.data[k].term.i];
    first[p->lets.data[k].term.i] = k;
  }
  for (uint32_t i = 0; i < p->nodes.len; i++) {
    const gs_node *node = &p->nodes.data[i];
    uint32_t k = first[i];
    if (!uses[i] || !x->names[i])
      continue;
    if (node->op != GS_TENSOR && node->op != GS_CONST) {
      put_let(x, x->names[i], (gs_term){i});
      k = k == UINT32_MAX ? k : next[k];
    }
    for (; k != UINT32_MAX; k = next[k])
      put_alias(x, p->lets.data[k].name, (gs_term){i});
  }
  bs_free(heap, first);
  bs_free(heap, next);
}

static void
start(printer *x, const gs_program *p, bs_text *out) {
  *x = (printer){.p = p,
                 .values = p->ctx.values,
                 .out = {out, out->len},
                 .line_term = GS_NO_TERM,
                 .budget = UINT32_MAX};
  bs_text_init(&x->scratch, p->ctx.heap);
  take_names(x);
}

static void
finish(printer *x) {
  bs_heap *heap = x->p->ctx.heap;
  bs_free(heap, x->names);
  bs_free(heap, x->widths);
  bs_vec_done(heap, &x->frames);
  bs_text_done(&x->scratch);
}

void
gs_print(const gs_program *p, bool types, bs_text *out) {
  printer x;
  start(&x, p, out);
  uint8_t *uses = count_uses(&x);
  name_shared(&x, uses);
  measure(&x);
  x.types = types;
  put_sizes(&x);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    put_tensor(&x, p->inputs.data[k].term);
  for (uint32_t i = 0; i < p->nodes.len; i++)
    if (p->nodes.data[i].op == GS_CONST)
      put_constant(&x, (gs_term){i});
  put_lets(&x, uses);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    bs_putf(out, "(output %s)\n", p->outputs.data[k].name);
  bs_free(p->ctx.heap, uses);
  finish(&x);
}

void
gs_print_term(const gs_program *p, gs_term t, bs_text *out) {
  assert(t.i < p->nodes.len);
  printer x;
  const gs_node *node = gs_at(p, t);
  start(&x, p, out);
  x.budget = TERM_LIMIT;
  x.widths = bs_calloc(p->ctx.heap, p->nodes.len, sizeof *x.widths);
  if (node->op == GS_TENSOR || node->op == GS_CONST)
    bs_put(out, leaf_name(&x, node));
  else
    put_term(&x, t, 0, true);
  finish(&x);
}

void
gs_print_node(const gs_context *ctx, gs_op op, bs_value attr,
              const char *const *kids, uint32_t n, bs_text *out) {
  assert(op < GS_OP_COUNT);
  bs_putf(out, "(%s", print_head(ctx->values, op, attr));
  if (print_attrs_first(op))
    print_attrs(ctx->values, NULL, op, attr, out);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(out, " %s", kids ? kids[k] : "...");
  if (!print_attrs_first(op))
    print_attrs(ctx->values, NULL, op, attr, out);
  bs_putc(out, ')');
}
