/* SPDX-License-Identifier: MIT */
/* print_nodes.c - statements of the code tree as text.
 *
 * Nodes nest no deeper than the nest may and what passes put around its loops:
 * the walk is recursive. */
#include "codegen/print/print.h"
#include <assert.h>
#include <string.h>

const cg_language cg_c = {.pragmas = true};
const cg_language cg_cuda_language = {
    .barrier = "__syncthreads();", .unroll = "GLEN_UNROLL", .launches = true};
const cg_language cg_opencl_language = {
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .unroll = "GLEN_UNROLL"};

typedef struct printer {
  bs_text *out;
  const cg_language *language;
} printer;

void
cg_indent(bs_text *out, uint32_t indent) {
  for (uint32_t k = 0; k < indent; k++)
    bs_put(out, "  ");
}

static void print_chain(const printer *, const cg_node *, uint32_t indent);
static void print_node(const printer *, const cg_node *, uint32_t indent);

/* Whether a team shares the loop is known when it is reached. */
static bool
may_have_team(const printer *p, const cg_node *n) {
  return p->language->pragmas && n->kind == CG_FOR && n->head.collapse &&
         n->head.pays && !n->head.once;
}

/* ` {`, the body, `}`; or the body on a line of its own, unless an `else` of
 * that could be taken for one of the node. */
static void
print_body(const printer *p, const cg_node *n, uint32_t indent) {
  bool bare =
      n->bare && !(n->kind == CG_IF && n->first && may_have_team(p, n->first));
  if (n->brace_below) {
    bs_putc(p->out, '\n');
    cg_indent(p->out, indent);
    bs_put(p->out, "{\n");
  } else {
    bs_put(p->out, bare ? "\n" : " {\n");
  }
  print_chain(p, n->first, indent + 1);
  if (bare)
    return;
  cg_indent(p->out, indent);
  bs_put(p->out, "}\n");
}

/* ---- loops ---- */

/* ` reduction(+ : a, b) reduction(* : c)` */
static void
print_reductions(bs_text *out, const cg_for *loop) {
  static const char *const signs[] = {[CG_JOINED_BY_SUM] = "+",
                                      [CG_JOINED_BY_PRODUCT] = "*",
                                      [CG_JOINED_BY_MAX] = "max",
                                      [CG_JOINED_BY_MIN] = "min"};
  for (uint32_t k = 0; k < loop->n_reductions; k++) {
    const cg_reduction *r = &loop->reductions[k];
    bool begins = !k || r->by != r[-1].by;
    if (begins)
      bs_putf(out, "%s reduction(%s : %s", k ? ")" : "", signs[r->by], r->name);
    else
      bs_putf(out, ", %s", r->name);
  }
  bs_put(out, loop->n_reductions ? ")" : "");
}

/* clang has no lanes for the largest or smallest of floating-point numbers, and
 * warns where it is asked for them. */
static bool
is_beyond_clang(const cg_for *loop) {
  for (uint32_t k = 0; k < loop->n_reductions; k++) {
    cg_joined_by by = loop->reductions[k].by;
    if (by == CG_JOINED_BY_MAX || by == CG_JOINED_BY_MIN)
      return true;
  }
  return false;
}

/* Before a pragma that asks for lanes alone.  A compiler that reads these but
 * has no OpenMP (clang without its library, by -fopenmp-simd) does not define
 * _OPENMP; who compiles says it by GLEN_SIMD.  Of sums whose last vector is not
 * full, gcc has the lanes in memory if it is both told and free to reorder them
 * itself, and takes five times as long. */
static void
print_if_lanes(bs_text *out, const cg_for *loop) {
  bool clang = !is_beyond_clang(loop), more = loop->is_ragged || !clang;
  bs_putf(out, "#if %sdefined(_OPENMP) || defined(GLEN_SIMD)%s",
          more ? "(" : "", more ? ")" : "");
  bs_put(out, loop->is_ragged ? " && !defined(__FAST_MATH__)" : "");
  if (!clang)
    bs_putf(out, " &&%s!defined(__clang__)",
            loop->is_ragged ? " \\\n    " : " ");
  bs_putc(out, '\n');
}

static void
print_sharing(bs_text *out, const cg_for *loop, uint32_t indent) {
  bs_put(out, loop->pays ? "" : "#ifdef _OPENMP\n");
  cg_indent(out, indent);
  bs_put(out, "#pragma omp parallel for");
  if (loop->collapse > 1)
    bs_putf(out, " collapse(%u)", loop->collapse);
  bs_put(out, loop->is_bounded ? " num_threads(GLEN_TEAM)" : "");
  bs_put(out, loop->pays ? "\n" : "\n#endif\n");
}

static void
print_pragmas(const printer *p, const cg_for *loop, bool shared,
              uint32_t indent) {
  bs_text *out = p->out;
  if (loop->collapse && shared)
    print_sharing(out, loop, indent);
  if (loop->lanes != CG_LANES_NONE) {
    print_if_lanes(out, loop);
    cg_indent(out, loop->lanes == CG_LANES_SEEN ? indent : 0);
    bs_put(out, "#pragma omp simd");
    print_reductions(out, loop);
    bs_put(out, "\n#endif\n");
  }
}

static void
print_step(bs_text *out, const cg_for *loop) {
  if (!loop->step && !loop->by)
    return;
  bs_putc(out, ' ');
  if (loop->step == 1)
    bs_putf(out, "%s++", loop->iterator);
  else
    bs_putf(out, "%s += ", loop->iterator);
  if (loop->step > 1)
    bs_putf(out, "%lld", (long long)loop->step);
  if (loop->by)
    cg_print_expr(out, loop->by);
  if (loop->also)
    bs_putf(out, ", %s++", loop->also);
}

/* One value of the iterator, which a condition may still name. */
static void
print_once(const printer *p, const cg_node *n, uint32_t indent) {
  const cg_for *loop = &n->head;
  cg_indent(p->out, indent);
  bs_put(p->out, "{\n");
  cg_indent(p->out, indent + 1);
  bs_putf(p->out, "const %s %s = ", loop->type, loop->iterator);
  cg_print_expr(p->out, loop->first);
  bs_put(p->out, ";\n");
  cg_indent(p->out, indent + 1);
  bs_putf(p->out, "(void)%s;\n", loop->iterator);
  print_chain(p, n->first, indent + 1);
  cg_indent(p->out, indent);
  bs_put(p->out, "}\n");
}

static void
print_head(bs_text *out, const cg_for *loop) {
  bs_put(out, "for (");
  if (loop->type)
    bs_putf(out, "%s ", loop->type);
  if (loop->first) {
    bs_putf(out, "%s = ", loop->iterator);
    cg_print_expr(out, loop->first);
  }
  if (loop->beside)
    bs_putf(out, ", %s", loop->beside);
  bs_put(out, "; ");
  cg_print_expr(out, loop->condition);
  bs_putc(out, ';');
  print_step(out, loop);
  bs_putc(out, ')');
}

/* The loop as a team shares it, or as one thread alone runs it. */
static void
print_loop(const printer *p, const cg_node *n, bool shared, uint32_t indent) {
  const cg_for *loop = &n->head;
  bs_text *out = p->out;
  if (p->language->pragmas)
    print_pragmas(p, loop, shared, indent);
  if (loop->unrolls && p->language->unroll) {
    cg_indent(out, indent);
    bs_putf(out, "%s\n", p->language->unroll);
  }
  if (loop->unrolled && p->language->pragmas) {
    cg_indent(out, indent);
    bs_putf(out, "GLEN_UNROLLED(%u)\n", loop->unrolled);
  }
  cg_indent(out, indent);
  print_head(out, loop);
  print_body(p, n, indent);
}

/* A team of one takes as long to begin as a small product: where no team pays,
 * none is made, as one with the clause `if` would be. */
static void
print_either(const printer *p, const cg_node *n, uint32_t indent) {
  bs_text *out = p->out;
  bs_put(out, "#ifdef _OPENMP\n");
  cg_indent(out, indent);
  bs_put(out, "if (");
  cg_print_expr(out, n->head.pays);
  bs_put(out, ") {\n");
  print_loop(p, n, true, indent + 1);
  cg_indent(out, indent);
  bs_put(out, "} else\n#endif\n");
  cg_indent(out, indent);
  bs_put(out, "{\n");
  print_loop(p, n, false, indent + 1);
  cg_indent(out, indent);
  bs_put(out, "}\n");
}

static void
print_for(const printer *p, const cg_node *n, uint32_t indent) {
  if (n->head.once)
    print_once(p, n, indent);
  else if (may_have_team(p, n))
    print_either(p, n, indent);
  else
    print_loop(p, n, true, indent);
}

/* ---- others ---- */

/* Operands or arguments, each an item of a list that is broken into lines;
 * before, sign: what stands between two of them, and a space. */
static void
print_items(bs_text *out, const cg_expr *x, const char *before,
            const char *sign) {
  for (uint32_t k = 0; k < x->n; k++) {
    size_t start = out->len;
    cg_print_expr(out, x->args[k]);
    if (k + 1 < x->n)
      bs_putf(out, "%s%s ", before, sign);
    cg_end_item(out, start);
  }
}

static void
print_wrapped(bs_text *out, const cg_expr *x) {
  if (x->kind == CG_CALLED) {
    bs_putf(out, "%s(", x->text);
    print_items(out, x, "", ",");
    bs_putc(out, ')');
  } else if (x->kind == CG_INFIX) {
    print_items(out, x, " ", cg_sign(x->op));
  } else {
    cg_print_expr(out, x);
  }
}

static void
print_value(bs_text *out, const cg_expr *x, bool wraps, uint32_t indent) {
  if (wraps)
    print_wrapped(out, x);
  else
    cg_print_expr_at(out, x, indent);
}

static void
print_if(const printer *p, const cg_node *n, uint32_t indent) {
  cg_indent(p->out, indent);
  bs_put(p->out, "if (");
  print_value(p->out, n->test.condition, n->wraps, indent);
  bs_putc(p->out, ')');
  if (!n->test.otherwise) {
    print_body(p, n, indent);
    return;
  }
  bs_put(p->out, " {\n");
  print_chain(p, n->first, indent + 1);
  cg_indent(p->out, indent);
  bs_put(p->out, "} else {\n");
  print_chain(p, n->test.otherwise, indent + 1);
  cg_indent(p->out, indent);
  bs_put(p->out, "}\n");
}

/* (T)(U) and, on the next line, what is cast. */
static void
print_long_cast(bs_text *out, const cg_expr *x, uint32_t indent) {
  for (; x->kind == CG_CAST; x = x->args[0])
    bs_putf(out, "(%s)", x->text);
  bs_putc(out, '\n');
  cg_indent(out, indent + 2);
  cg_print_expr(out, x);
}

static void
print_declared(bs_text *out, const cg_node *n, uint32_t indent) {
  const cg_let *let = &n->let;
  bs_put(out, let->name);
  if (let->elements)
    bs_putf(out, "[%lld]", (long long)let->elements);
  if (let->attribute)
    bs_putf(out, " %s", let->attribute);
  if (!let->value)
    return;
  if (n->wraps) {
    bs_put(out, " = ");
    print_long_cast(out, let->value, indent);
  } else {
    cg_print_value(out, " =", let->value, indent);
  }
}

/* With those that join it. */
static void
print_let(const printer *p, const cg_node *n, uint32_t indent) {
  const cg_let *let = &n->let;
  size_t length = strlen(let->type);
  if (let->joins)
    return;
  cg_indent(p->out, indent);
  bs_putf(p->out, "%s%s%s%s", let->qualifier ? let->qualifier : "",
          let->qualifier ? " " : "", let->type,
          length && let->type[length - 1] == '*' ? "" : " ");
  print_declared(p->out, n, indent);
  for (n = n->next; n && n->kind == CG_LET && n->let.joins; n = n->next) {
    bs_put(p->out, ", ");
    print_declared(p->out, n, indent);
  }
  bs_put(p->out, ";\n");
}

static void
print_store(bs_text *out, const cg_store *store, uint32_t indent) {
  cg_indent(out, indent);
  cg_print_expr_at(out, store->target, indent);
  bs_putf(out, " %s=", store->op == CG_OP_SET ? "" : cg_sign(store->op));
  cg_print_value(out, "", store->value, indent);
  bs_put(out, ";\n");
}

static void
print_template(bs_text *out, const cg_template *text, uint32_t indent) {
  cg_indent(out, indent);
  if (text->braces) {
    bs_put(out, "{\n");
    cg_indent(out, ++indent);
  }
  for (uint32_t k = 0; k < text->n; k++) {
    const cg_expr *part = text->parts[k];
    if (part->kind != CG_LITERAL) {
      cg_print_expr(out, part);
      continue;
    }
    for (const char *at = part->text; *at; at++) {
      bs_putc(out, *at);
      if (*at == '\n')
        cg_indent(out, indent);
    }
  }
  bs_putc(out, '\n');
  if (text->braces) {
    cg_indent(out, --indent);
    bs_put(out, "}\n");
  }
}

/* Ends of lines become spaces. */
static void
print_one_line(const printer *p, const cg_node *n, uint32_t indent) {
  cg_indent(p->out, indent);
  bs_put(p->out, "{ ");
  for (size_t at = p->out->len; n; n = n->next) {
    print_node(p, n, 0);
    for (; at < p->out->len; at++)
      if (p->out->data[at] == '\n')
        p->out->data[at] = ' ';
  }
  bs_put(p->out, "}\n");
}

static void
print_block(const printer *p, const cg_node *n, uint32_t indent) {
  if (n->one_line) {
    print_one_line(p, n->first, indent);
    return;
  }
  cg_indent(p->out, indent);
  bs_put(p->out, "{\n");
  print_chain(p, n->first, indent + 1);
  cg_indent(p->out, indent);
  bs_put(p->out, "}\n");
}

static void
print_do(bs_text *out, const cg_node *n, uint32_t indent) {
  cg_indent(out, indent);
  print_value(out, n->effect, n->wraps, indent);
  bs_put(out, ";\n");
}

static void
print_return(bs_text *out, const cg_node *n, uint32_t indent) {
  cg_indent(out, indent);
  bs_put(out, n->result ? "return " : "return");
  if (n->result)
    print_value(out, n->result, n->wraps, indent);
  bs_put(out, ";\n");
}

static void
print_barrier(const printer *p, uint32_t indent) {
  assert(p->language->barrier);
  cg_indent(p->out, indent);
  bs_putf(p->out, "%s\n", p->language->barrier);
}

/* Where the language has launches, which is CUDA. */
static void
print_launch(const printer *p, const cg_launched *launched, uint32_t indent) {
  bs_text *out = p->out;
  assert(p->language->launches);
  cg_indent(out, indent);
  bs_putf(out, "%s<<<", launched->call->text);
  cg_print_expr(out, launched->blocks);
  bs_put(out, ", ");
  cg_print_expr(out, launched->threads);
  bs_put(out, ", 0, stream>>>(\n");
  cg_indent(out, indent + 2);
  print_items(out, launched->call, "", ",");
  bs_put(out, ");\n");
}

static void
print_case(const printer *p, const cg_node *n, uint32_t indent) {
  cg_indent(p->out, indent);
  if (n->is_default)
    bs_put(p->out, "default:\n");
  else
    bs_putf(p->out, "case %lld:\n", (long long)n->label);
  print_chain(p, n->first, indent + 1);
}

static void
print_switch(const printer *p, const cg_node *n, uint32_t indent) {
  cg_indent(p->out, indent);
  bs_put(p->out, "switch (");
  cg_print_expr_at(p->out, n->effect, indent);
  bs_put(p->out, ") {\n");
  print_chain(p, n->first, indent);
  cg_indent(p->out, indent);
  bs_put(p->out, "}\n");
}

/* Lines of the preprocessor stand at the margin, and what is between them where
 * it stood without. */
static void
print_when(const printer *p, const cg_node *n, uint32_t indent) {
  const cg_node *other = n->when.otherwise;
  bs_putf(p->out, "#%s\n", n->when.condition);
  print_chain(p, n->first, indent);
  for (; other && other->kind == CG_WHEN && other->when.joins;
       other = other->when.otherwise) {
    bs_putf(p->out, "#%s\n", other->when.condition);
    print_chain(p, other->first, indent);
  }
  if (other)
    bs_put(p->out, "#else\n");
  print_chain(p, other, indent);
  bs_put(p->out, "#endif\n");
}

static void
print_node(const printer *p, const cg_node *n, uint32_t indent) {
  switch (n->kind) {
  case CG_FOR:
    print_for(p, n, indent);
    break;
  case CG_IF:
    print_if(p, n, indent);
    break;
  case CG_BLOCK:
    print_block(p, n, indent);
    break;
  case CG_SWITCH:
    print_switch(p, n, indent);
    break;
  case CG_CASE:
    print_case(p, n, indent);
    break;
  case CG_WHEN:
    print_when(p, n, indent);
    break;
  case CG_CONTINUE:
    cg_indent(p->out, indent);
    bs_put(p->out, "continue;\n");
    break;
  case CG_ERROR:
    bs_putf(p->out, "#error %s\n", n->comment);
    break;
  case CG_LET:
    print_let(p, n, indent);
    break;
  case CG_STORE:
    print_store(p->out, &n->store, indent);
    break;
  case CG_DO:
    print_do(p->out, n, indent);
    break;
  case CG_TEMPLATE:
    print_template(p->out, &n->text, indent);
    break;
  case CG_BARRIER:
    print_barrier(p, indent);
    break;
  case CG_LAUNCH:
    print_launch(p, &n->launched, indent);
    break;
  case CG_RETURN:
    print_return(p->out, n, indent);
    break;
  case CG_COMMENT:
    cg_put_comment(p->out, indent, n->comment);
    break;
  case CG_MARK:
    print_chain(p, n->first, indent);
    break;
  case CG_NOTHING:
    break;
  }
}

static void
print_chain(const printer *p, const cg_node *chain, uint32_t indent) {
  for (const cg_node *n = chain; n; n = n->next)
    print_node(p, n, indent);
}

static void
print_by_hand(bs_text *out, const cg_function *f) {
  bs_put(out, f->n_parameters ? "" : "void");
  for (uint32_t k = 0; k < f->n_parameters; k++) {
    const cg_parameter *p = &f->parameters[k];
    size_t n = strlen(p->type);
    bs_putf(out, "%s%s%s%s%s", k ? "," : "",
            p->breaks ? "\n    "
            : k       ? " "
                      : "",
            p->type, n && p->type[n - 1] == '*' ? "" : " ", p->name);
  }
  bs_putc(out, ')');
}

void
cg_print_signature(bs_text *out, const cg_function *f) {
  assert(f->name && *f->name);
  bs_putf(out, "%s(", f->name);
  if (f->by_hand) {
    print_by_hand(out, f);
    return;
  }
  const char *end = f->closes_anywhere ? "" : ")";
  for (uint32_t k = 0; k < f->n_parameters; k++) {
    const cg_parameter *p = &f->parameters[k];
    size_t n = strlen(p->type);
    cg_put_item(out, "%s%s%s%s", p->type, n && p->type[n - 1] == '*' ? "" : " ",
                p->name, k + 1 < f->n_parameters ? ", " : end);
  }
  if (!f->n_parameters)
    bs_put(out, "void)");
  else if (f->closes_anywhere)
    bs_putc(out, ')');
}

void
cg_print_function(bs_text *out, const cg_language *language,
                  const cg_function *f) {
  assert(f->head);
  bs_putf(out, "%s\n", f->head);
  cg_print_signature(out, f);
  bs_put(out, " {\n");
  cg_print_nodes(out, language, f->body, 1);
  bs_put(out, "}\n");
}

void
cg_print_nodes(bs_text *out, const cg_language *language, const cg_node *chain,
               uint32_t indent) {
  print_chain(&(printer){out, language}, chain, indent);
}
