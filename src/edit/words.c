/* SPDX-License-Identifier: MIT */
/* words.c - what the words of the languages mean, from their tables. */
#include "edit/edit.h"
#include <assert.h>
#include <string.h>

static const char *const compute_docs[] = {
    [GS_REDUCE] = "reduces all of C: ((S),())",
    [GS_DOT] = "C = (t, c...): the sum of products of the t items: ((S),())",
    [GS_FOLD] = "C = (t, c...): folds the t items: ((S),(c...))",
    [GS_ELEMENTWISE] = "of every element",
    [GS_CAST] = "of every element; changes the dtype",
    [GS_SOFTMAX] = "softmax over all of C",
    [GS_SELECT] = "C = (3, c...): first > 0 ? second : third",
    [GS_GATHER] = "C = (2, c...): a table and indices into it",
    [GS_LOOKUP] = "C = (n + m): a table of n, and m indices into it",
};

/* How a compute operator acts, in one line. */
static const char *
compute_doc(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return compute_docs[gs_compute_table[op].kind];
}

static const char *
finish(const ed_document *d, bs_text *text) {
  const char *s = bs_arena_strdup(d->ctx->arena, bs_text_str(text));
  bs_text_done(text);
  return s;
}

/* --- types ---------------------------------------------------------------- */

static void
put_bytes(bs_text *out, int64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double n = (double)bytes;
  int k = 0;
  for (; n >= 1024 && k < 4; k++)
    n /= 1024;
  bs_putf(out, k && n < 100 ? "%.1f %s" : "%.0f %s", n, units[k]);
}

const char *
ed_type_text(const ed_document *d, const gs_type *type, bool size) {
  assert(gs_is_type(type));
  bs_text out;
  bs_text_init(&out, d->ctx->heap);
  gs_put_type(&out, type);
  if (size) {
    int64_t n = gs_elements(type);
    bs_putf(&out, " - %lld %s, ", BS_COUNTED((long long)n, "element"));
    put_bytes(&out, n * gs_dtype_table[type->dtype].bytes);
  }
  return finish(d, &out);
}

/* --- how words are written ------------------------------------------------ */

static const char *
instr_usage(const ed_document *d, const gs_instr *i) {
  bs_text out;
  bs_text_init(&out, d->ctx->heap);
  bs_putf(&out, "(%s", i->name);
  for (uint32_t k = 0; k < i->n_params; k++)
    bs_putf(&out, " %s", i->scope.vars.data[k].name);
  for (uint32_t k = 0; k < i->n_operands; k++)
    bs_putf(&out, " %s", i->operands[k].name);
  bs_putc(&out, ')');
  return finish(d, &out);
}

/* a, b, c stand for the arguments, as in the table's sentences. */
const char *
ed_function_usage(const ed_document *d, const gs_function_info *f) {
  bs_text out;
  uint32_t k = 0;
  bs_text_init(&out, d->ctx->heap);
  bs_putf(&out, "(%s", f->name);
  for (const char *at = f->args; *at; at++)
    if (*at != '|')
      bs_putf(&out, " %c:%s", 'a' + (char)(k++ % 26), gs_letter_word(*at));
  if (f->max_args == GS_MAX_ARGUMENTS)
    bs_put(&out, " ...");
  bs_putf(&out, ") -> %s", gs_letter_word(f->result));
  return finish(d, &out);
}

static const char *
compute_usage(const ed_document *d, gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  bs_text out;
  const gs_compute_info *info = &gs_compute_table[op];
  bs_text_init(&out, d->ctx->heap);
  bs_putf(&out, "(compute %s%s", info->params[0] ? "(" : "", info->name);
  for (const char *p = info->params; *p; p++)
    bs_put(&out, *p == 't' ? " DTYPE" : " x");
  bs_put(&out, info->params[0] ? ") a)" : " a)");
  return finish(d, &out);
}

/* --- one function a kind of word ------------------------------------------ */

static bool
find_operator(const ed_document *d, const char *word, ed_word_info *out) {
  gs_op op;
  (void)d;
  if (!gs_op_find(word, &op))
    return false;
  *out = (ed_word_info){"operator", gs_op_usage(op), ""};
  return true;
}

static bool
find_compute(const ed_document *d, const char *word, ed_word_info *out) {
  gs_compute op;
  if (!gs_compute_find(word, &op))
    return false;
  *out = (ed_word_info){"operator", compute_usage(d, op), compute_doc(op)};
  return true;
}

static bool
find_definition(const ed_document *d, const char *word, ed_word_info *out) {
  const gs_definition *x = gs_find_definition(&d->definitions, word);
  if (!x)
    return false;
  *out = (ed_word_info){"function", x->usage, x->what};
  return true;
}

static bool
find_instruction(const ed_document *d, const char *word, ed_word_info *out) {
  const gs_instr *i = d->described ? gs_find_instr(d->described, word) : NULL;
  if (!i && d->target)
    i = gs_find_instr(d->target, word);
  if (!i)
    return false;
  *out = (ed_word_info){"instruction", instr_usage(d, i),
                        i->intent ? i->intent : ""};
  return true;
}

static bool
find_function(const ed_document *d, const char *word, ed_word_info *out) {
  int k = gs_function_find(word);
  if (k < 0 || d->program)
    return false;
  const gs_function_info *f = gs_function_at((uint16_t)k);
  *out = (ed_word_info){"function", ed_function_usage(d, f), f->doc};
  return true;
}

static bool
find_dtype(const ed_document *d, const char *word, ed_word_info *out) {
  gs_dtype dtype;
  if (!gs_dtype_find(word, &dtype))
    return false;
  const gs_dtype_info *info = &gs_dtype_table[dtype];
  *out = (ed_word_info){"constant", info->name,
                        bs_arena_printf(d->ctx->arena, "%u %s, %s in C",
                                        BS_COUNTED(info->bytes, "byte"),
                                        info->c_type)};
  return true;
}

bool
ed_word_find(const ed_document *d, const char *word, const char *around,
             ed_word_info *out) {
  bool (*const compute_first[])(const ed_document *, const char *,
                                ed_word_info *) = {
      find_compute,    find_operator, find_instruction,
      find_definition, find_function, find_dtype};
  bool (*const function_first[])(const ed_document *, const char *,
                                 ed_word_info *) = {
      find_operator, find_instruction, find_definition,
      find_function, find_compute,     find_dtype};
  bool compute = !strcmp(around, "compute");
  for (int k = 0; k < 6; k++)
    if ((compute ? compute_first : function_first)[k](d, word, out))
      return true;
  return false;
}
