/* SPDX-License-Identifier: MIT */
/* edit_uses.c - every place of a source that names something, and what kind of
 * thing it names there.
 *
 * One word may be an operator in one place and a tensor in another, so that a
 * place is judged by the lists around it.  Names of one role and scope that are
 * spelled alike mean the same. */
#include "base/text.h"
#include "edit/edit.h"
#include <assert.h>
#include <string.h>

/* A list around the node that is looked at. */
typedef struct frame {
  uint32_t node;
  uint32_t item;     /* the index of the next item */
  uint32_t at;       /* its own index in the list around it */
  const char *head;  /* "": none */
  const char *after; /* the keyword before it, as ":rules"; or "" */
  const char *last;  /* the keyword that was the last item; or "" */
  unsigned within;   /* kinds of lists that it is, or stands in */
  uint32_t scope;    /* the innermost of kind RULE or CLAUSE, + 1; or 0 */
} frame;

/* Kinds of lists, by their heads. */
enum { RULE = 1, CLAUSE = 2, PROGRAM = 4, EMIT = 8 };

typedef struct walk {
  const ed_document *document;
  const ed_language *language;
  const bs_source *text;
  bs_sexps tree;
  BS_VEC(frame) frames;
  void (*each)(void *, const ed_use *);
  void *arg;
} walk;

static const bs_sx *
node_of(const walk *w, uint32_t node) {
  assert(node < w->tree.nodes.len);
  return &w->tree.nodes.data[node];
}

static const char *
symbol_of(const walk *w, uint32_t node) {
  const bs_sx *sx = node_of(w, node);
  return sx->kind == BS_SX_SYM ? bs_as_sym(w->document->ctx->values, sx->value)
                               : "";
}

/* The list `up` lists out; NULL: there is none. */
static const frame *
around(const walk *w, uint32_t up) {
  return up < w->frames.len ? &w->frames.data[w->frames.len - 1 - up] : NULL;
}

static unsigned
kind_of(const char *head) {
  return !strcmp(head, "rule")                               ? RULE
         : bs_has_word(" finds never equal distinct ", head) ? CLAUSE
         : !strcmp(head, "program")                          ? PROGRAM
         : !strcmp(head, "emit")                             ? EMIT
                                                             : 0;
}

static bool
within(const walk *w, unsigned kind) {
  return (around(w, 0)->within & kind) != 0;
}

static bs_span
span_of(const walk *w, const frame *f) {
  return node_of(w, f->node)->span;
}

/* ---- roles of a word ---- */

static ed_role
role_in_term(const walk *w) {
  const frame *f = around(w, 0), *g = around(w, 1);
  bool computes = !strcmp(f->head, "compute") && f->item == 1;
  bool operator_of = g && !strcmp(g->head, "compute") && f->at == 1;
  if (f->item == 0)
    return ED_INSTR;
  if (computes || operator_of ||
      bs_has_word(" shape stride dilation list ", f->head) ||
      (!strcmp(f->head, "pad") && f->item == 2))
    return ED_NO_NAME;
  return ED_TERM;
}

/* A body sees its own parameters and lets alone. */
static ed_role
role_in_definition(const walk *w, ed_use *use) {
  const frame *f = around(w, 0), *g = around(w, 1), *root = &w->frames.data[0];
  bool header = g == root && f->at == 1;
  bool named = w->frames.len > 2 && w->frames.data[1].at == 1;
  if (f->item == 0 && !named) {
    use->definition = header;
    return header                    ? ED_DEFINITION
           : strcmp(f->head, "case") ? ED_INSTR
                                     : ED_NO_NAME;
  }
  use->scope = span_of(w, root);
  bool by_name = named && w->frames.len == 3 && f->item == 0;
  use->definition =
      header || by_name || (!strcmp(f->head, "let") && f->item == 1);
  return (named && !by_name) || f == root ? ED_NO_NAME : ED_TERM;
}

/* `:scale 2` gives a value to the parameter that the definition calls so. */
static ed_role
role_of_keyword(const walk *w, ed_use *use) {
  const gs_definition *x =
      gs_find_definition(&w->document->definitions, around(w, 0)->head);
  if (!x || x->built_in)
    return ED_NO_NAME;
  use->scope = x->form;
  return ED_TERM;
}

/* The head of a list: what the program defines has a role of its own. */
static ed_role
role_of_head(const walk *w, const char *word, ed_role role) {
  const gs_definition *x =
      role == ED_INSTR ? gs_find_definition(&w->document->definitions, word)
                       : NULL;
  return x && !x->built_in ? ED_DEFINITION : role;
}

/* The step of a scan that the word stands in, or NULL: it sees its own
 * parameters and lets alone. */
static const frame *
step_around(const walk *w) {
  const frame *f = around(w, 0);
  for (uint32_t k = 0; f; f = around(w, ++k)) {
    const frame *up = around(w, k + 1);
    if (!strcmp(f->head, "step") && up && !strcmp(up->head, "scan"))
      return f;
  }
  return NULL;
}

static ed_role
role_in_step(const walk *w, const frame *step, ed_use *use) {
  const frame *f = around(w, 0);
  bool below = around(w, 1) == step;
  bool lists = below && bs_has_word(" each with ", f->head);
  bool lets = below && !strcmp(f->head, "let");
  use->scope = span_of(w, step);
  use->definition = f->item && (lists || (f->item == 1 && (lets || f == step)));
  return !f->item && (lists || lets || f == step) ? ED_NO_NAME
                                                  : role_in_term(w);
}

static ed_role
role_in_program(const walk *w, ed_use *use) {
  const frame *f = around(w, 0), *step = step_around(w);
  if (step)
    return role_in_step(w, step, use);
  if (!strcmp(w->frames.data[0].head, "define"))
    return role_in_definition(w, use);
  if (bs_has_word(" tensor const let output ", f->head) && f->item <= 1) {
    use->definition = strcmp(f->head, "output") != 0;
    return f->item ? ED_TERM : ED_NO_NAME;
  }
  return bs_has_word(" tensor const ", f->head) ? ED_NO_NAME : role_in_term(w);
}

static ed_role
role_of_variable(const walk *w, const char *word, ed_use *use) {
  uint32_t scope = around(w, 0)->scope;
  if (word[0] == '?')
    use->scope = span_of(w, &w->frames.data[scope ? scope - 1 : 0]);
  return word[0] == '$'       ? ED_PARAMETER
         : strcmp(word, "?_") ? ED_VARIABLE
                              : ED_NO_NAME;
}

/* (rule NAME ..) and what else gives its second item a meaning. */
static bool
defines(const walk *w, ed_use *use, ed_role *role) {
  const frame *f = around(w, 0), *g = around(w, 1);
  bool placed = !g || (!strcmp(f->head, "rule") && !strcmp(g->head, "ruleset"));
  if (f->item != 1 || !placed ||
      !bs_has_word(" rule ruleset strategy param test ", f->head))
    return false;
  *role = !strcmp(f->head, "param")  ? ED_PARAMETER
          : !strcmp(f->head, "test") ? ED_NO_NAME
                                     : ED_RULE;
  use->definition = true;
  return true;
}

static ed_role
role_in_test(const walk *w) {
  const frame *f = around(w, 0), *g = around(w, 1);
  if (!strcmp(f->last, ":strategy") || !strcmp(f->after, ":rules"))
    return ED_RULE;
  if (g && !strcmp(g->after, ":params") && f->item == 0)
    return ED_PARAMETER;
  if (!within(w, CLAUSE))
    return ED_NO_NAME;
  if (bs_has_word(" finds never equal distinct ", f->head) && f->item == 0)
    return ED_NO_NAME;
  return role_in_term(w);
}

static ed_role
role_in_rules(const walk *w, const char *word, ed_use *use) {
  const frame *f = around(w, 0), *root = &w->frames.data[0];
  ed_role role;
  if (word[0] == '?' || word[0] == '$')
    return role_of_variable(w, word, use);
  if (defines(w, use, &role))
    return role;
  if (!strcmp(root->head, "test")) {
    use->scope = span_of(w, root);
    return within(w, PROGRAM) ? role_in_program(w, use) : role_in_test(w);
  }
  if (within(w, RULE))
    return f->item == 0 && strcmp(f->head, "rule") ? ED_INSTR : ED_NO_NAME;
  if (f->item &&
      bs_has_word(" ruleset strategy run seq repeat saturate ", f->head))
    return ED_RULE;
  return ED_NO_NAME;
}

/* In a declaration bare names are its own, but for heads that are operators,
 * functions or names of costs. */
static ed_role
role_in_instr(const walk *w, const char *word) {
  if (w->frames.len < 2 || gs_is_reserved(word) || !strcmp(word, "result"))
    return ED_NO_NAME;
  bool declares = w->frames.len > 2 &&
                  bs_has_word(" operands result ", w->frames.data[1].head);
  return declares || around(w, 0)->item ? ED_LOCAL : ED_NO_NAME;
}

static ed_role
role_in_target(const walk *w, const char *word, ed_use *use) {
  const frame *f = around(w, 0), *root = &w->frames.data[0];
  bool instr = !strcmp(root->head, "instr");
  if (word[0] == '$')
    return ED_PARAMETER;
  use->definition = f->item == 1 && (bs_has_word(" set default ", f->head) ||
                                     (instr && w->frames.len == 1));
  if (use->definition)
    return instr ? ED_INSTR : ED_PARAMETER;
  if (!instr)
    return ED_NO_NAME;
  use->scope = span_of(w, root);
  return role_in_instr(w, word);
}

/* ---- the walk ---- */

/* `transpose-twice~rev` is of the rule `transpose-twice`. */
static uint32_t
tail_of(const char *name, uint32_t n) {
  static const char *const tails[] = {"~fwd", "~rev"};
  for (int k = 0; k < 2; k++)
    if (n > 4 && !memcmp(name + n - 4, tails[k], 4))
      return 4;
  return 0;
}

/* `n:int` of a definition or an instruction is the name `n`. */
static uint32_t
sort_of(const char *name, uint32_t n) {
  const char *colon = memchr(name, ':', n);
  return colon ? n - (uint32_t)(colon - name) : 0;
}

static void
tell(walk *w, ed_use *use, ed_role role) {
  const char *text = w->text->text + use->span.lo;
  uint32_t n = use->span.hi - use->span.lo;
  uint32_t mark = n > 1 && strchr("?$:", text[0]);
  bool sorted = role == ED_LOCAL || (role == ED_TERM && use->definition);
  uint32_t tail = role == ED_RULE ? tail_of(text, n)
                  : sorted        ? sort_of(text, n)
                                  : 0;
  if (role == ED_NO_NAME)
    return;
  /* Only these have scopes; tensors of a program are the file's. */
  if (role == ED_INSTR || role == ED_RULE || role == ED_PARAMETER)
    use->scope = BS_NOWHERE;
  use->role = role;
  use->name =
      (bs_span){use->span.file, use->span.lo + mark, use->span.hi - tail};
  w->each(w->arg, use);
}

static void
tell_symbol(walk *w, uint32_t node) {
  const char *word = symbol_of(w, node);
  ed_use use = {.span = node_of(w, node)->span};
  const char *suffix = w->language->suffix;
  bool program = !strcmp(suffix, ".glen"), keyword = word[0] == ':';
  if (!w->frames.len || !*word || (keyword && !program))
    return;
  if (program)
    use.scope = (bs_span){use.span.file, 0, w->text->size};
  tell(w, &use,
       keyword   ? role_of_keyword(w, &use)
       : program ? role_of_head(w, word, role_in_program(w, &use))
       : !strcmp(suffix, ".rules") ? role_in_rules(w, word, &use)
                                   : role_in_target(w, word, &use));
}

/* The placeholders of a template: {NAME} and {NAME.stride.0}. */
static void
tell_template(walk *w, uint32_t node) {
  const frame *root = w->frames.len ? &w->frames.data[0] : NULL;
  if (!root || strcmp(root->head, "instr") || !within(w, EMIT))
    return;
  bs_span span = node_of(w, node)->span;
  const char *text = w->text->text;
  for (uint32_t at = span.lo; at < span.hi; at++) {
    uint32_t n = (uint32_t)strcspn(text + at + 1, "{}.\"\\");
    if (text[at] != '{' || !n || at + 1 + n >= span.hi)
      continue;
    ed_use use = {.span = {span.file, at + 1, at + 1 + n},
                  .scope = span_of(w, root)};
    bool result = n == 6 && !memcmp(text + at + 1, "result", 6);
    bool closes = text[at + 1 + n] == '}' || text[at + 1 + n] == '.';
    tell(w, &use, closes && !result ? ED_LOCAL : ED_NO_NAME);
  }
}

/* Lists that end before this node are left. */
static void
leave_lists(walk *w, uint32_t node) {
  while (w->frames.len &&
         node_of(w, node)->span.lo >= span_of(w, around(w, 0)).hi)
    w->frames.len--;
}

static void
enter(walk *w, uint32_t node) {
  const frame *f = around(w, 0);
  const char *head = bs_sx_head(&w->tree, w->document->ctx->values, node);
  unsigned kind = kind_of(head ? head : "");
  bool scope = (kind & (RULE | CLAUSE)) != 0;
  frame inner = {.node = node,
                 .at = f ? f->item : 0,
                 .head = head ? head : "",
                 .after = f ? f->last : "",
                 .last = "",
                 .within = kind | (f ? f->within : 0),
                 .scope = scope ? w->frames.len + 1
                          : f   ? f->scope
                                : 0};
  bs_push(w->document->ctx->heap, &w->frames, inner);
}

static void
visit(walk *w, uint32_t node) {
  uint32_t depth = w->frames.len;
  const char *word = symbol_of(w, node);
  if (node_of(w, node)->kind == BS_SX_LIST)
    enter(w, node);
  else if (node_of(w, node)->kind == BS_SX_STRING)
    tell_template(w, node);
  else
    tell_symbol(w, node);
  if (depth) {
    frame *f = &w->frames.data[depth - 1];
    f->item++;
    f->last = word[0] == ':' ? word : "";
  }
}

void
ed_uses(const ed_document *d, uint32_t source,
        void (*each)(void *, const ed_use *), void *arg) {
  assert(source && source <= d->ctx->diags->sources.len && each);
  const gs_context *ctx = d->ctx;
  walk w = {.document = d,
            .text = &ctx->diags->sources.data[source - 1],
            .each = each,
            .arg = arg};
  bs_moment before = bs_moment_of(ctx->diags);
  w.language = ed_language_of(w.text->path);
  if (!w.language || w.language->questions)
    return;
  if (bs_sexp_read(ctx->heap, ctx->values, ctx->diags, source, &w.tree))
    for (uint32_t k = 1; k < w.tree.nodes.len; k++) {
      leave_lists(&w, k);
      visit(&w, k);
    }
  bs_sexps_done(ctx->heap, &w.tree);
  bs_vec_done(ctx->heap, &w.frames);
  bs_go_back(ctx->diags, before);
}
