/* SPDX-License-Identifier: MIT */
/* above_walk.c - what a file needs above its functions: the names in their
 * trees. */
#include "codegen/above/above.h"
#include "poly/loops/names.h"
#include <assert.h>
#include <string.h>

static bool
begins(const char *name, const char *with) {
  return !strncmp(name, with, strlen(with));
}

/* Helpers of several macros, by how the names of these begin. */
static const struct family {
  const char *begins;
  cg_helper helper;
} families[] = {{"GLEN_TURN2X", CG_TURN_2},
                {"GLEN_TURN4X", CG_TURN_4},
                {"GLEN_TURN8X", CG_TURN_8},
                {"GLEN_TURN16X", CG_TURN_16},
                {"GLEN_GET_float_16", CG_PARTS_F32_16},
                {"GLEN_GET_SOME_float_16", CG_SOME_F32_16},
                {"GLEN_PUT_SOME_float_16", CG_SOME_F32_16},
                {"GLEN_PUT_float_16", CG_PARTS_F32_16},
                {"GLEN_GET_double_8", CG_PARTS_F64_8},
                {"GLEN_GET_SOME_double_8", CG_SOME_F64_8},
                {"GLEN_PUT_SOME_double_8", CG_SOME_F64_8},
                {"GLEN_PUT_double_8", CG_PARTS_F64_8},
                {"GLEN_GET_int32_t_16", CG_PARTS_I32_16},
                {"GLEN_GET_SOME_int32_t_16", CG_SOME_I32_16},
                {"GLEN_PUT_SOME_int32_t_16", CG_SOME_I32_16},
                {"GLEN_PUT_int32_t_16", CG_PARTS_I32_16},
                {"GLEN_GET_float_8", CG_PARTS_F32_8},
                {"GLEN_GET_SOME_float_8", CG_SOME_F32_8},
                {"GLEN_PUT_SOME_float_8", CG_SOME_F32_8},
                {"GLEN_PUT_float_8", CG_PARTS_F32_8},
                {"GLEN_GET_double_4", CG_PARTS_F64_4},
                {"GLEN_GET_SOME_double_4", CG_SOME_F64_4},
                {"GLEN_PUT_SOME_double_4", CG_SOME_F64_4},
                {"GLEN_PUT_double_4", CG_PARTS_F64_4},
                {"GLEN_GET_int32_t_8", CG_PARTS_I32_8},
                {"GLEN_GET_SOME_int32_t_8", CG_SOME_I32_8},
                {"GLEN_PUT_SOME_int32_t_8", CG_SOME_I32_8},
                {"GLEN_PUT_int32_t_8", CG_PARTS_I32_8},
                {"GLEN_PREFETCH", CG_AHEAD},
                {"GLEN_LATER", CG_AHEAD},
                {"GLEN_CONTRACT_BODY", CG_CONTRACT}};

cg_helper
cg_helper_named(const char *name) {
  cg_helper k = CG_HELPER_COUNT;
  while (--k && (!cg_helper_names[k] || strcmp(cg_helper_names[k], name)))
    ;
  for (size_t j = 0; !k && j < sizeof families / sizeof *families; j++)
    if (begins(name, families[j].begins))
      k = families[j].helper;
  assert(k < CG_HELPER_COUNT);
  return k;
}

void
cg_need_for_name(cg_needs *needs, const char *name) {
  cg_need(needs, po_name_is_of_math(name) ? CG_MATH : cg_helper_named(name));
}

static bool
is_of_math(const char *literal) {
  literal += *literal == '-';
  return !strcmp(literal, "NAN") || !strcmp(literal, "INFINITY");
}

static void
note(const cg_expr *x, bool target, void *needs) {
  (void)target;
  if (x->kind == CG_CALLED)
    cg_need_for_name(needs, x->text);
  else if (x->kind == CG_NAME && begins(x->text, "GLEN_"))
    cg_need_for_name(needs, x->text);
  else if (x->kind == CG_LITERAL && is_of_math(x->text))
    cg_need(needs, CG_MATH);
}

/* The words of a line, and the names of helpers among them. */
static void
note_words(cg_needs *needs, const char *line) {
  for (size_t n; *line; line += n + (line[n] != 0)) {
    char word[64];
    n = strcspn(line, " ()!,");
    if (n && n < sizeof word && begins(line, "GLEN_")) {
      memcpy(word, line, n);
      word[n] = 0;
      cg_need_for_name(needs, word);
    }
  }
}

static void
note_nodes(cg_needs *needs, const cg_node *chain) {
  for (const cg_node *n = chain; n; n = n->next) {
    if (n->kind == CG_FOR && n->head.unrolls)
      cg_need(needs, CG_UNROLL);
    if (n->kind == CG_FOR && n->head.unrolled)
      cg_need(needs, CG_UNROLLED);
    if (n->kind == CG_LET && n->let.attribute &&
        !strcmp(n->let.attribute, "GLEN_ALIGNED"))
      cg_need(needs, CG_QUIET);
    note_nodes(needs, n->first);
    if (n->kind == CG_WHEN)
      note_words(needs, n->when.condition);
    note_nodes(needs, cg_other_branch(n));
  }
}

void
cg_need_for_nodes(cg_needs *needs, const cg_node *body) {
  cg_each_expr(body, note, needs);
  note_nodes(needs, body);
}

void
cg_need_for_function(cg_needs *needs, const cg_function *f) {
  note_words(needs, f->head);
  cg_need_for_nodes(needs, f->body);
}
