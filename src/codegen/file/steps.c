/* SPDX-License-Identifier: MIT */
/* steps.c - kernels as functions, and the program as calls of them.
 *
 * Every group becomes a function over restrict pointers, so that the C
 * compiler sees which arrays are distinct, whatever the workspace does; equal
 * groups share one.  A long program is cut into parts, since compilers take
 * more than linear time over one long function. */
#include "codegen/file/file.h"
#include "codegen/contract/unit.h"
#include "codegen/build/build.h"
#include "codegen/pass/pass.h"
#include "codegen/slide/unit.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/slide.h"
#include "poly/loops/names.h"
#include "poly/loops/sizes.h"
#include <string.h>

/* Steps in one function. */
#define PART_LENGTH 64

/* ---- names ---- */

/* NAME_k0 and the like; of no array (names.c). */
static const char *
function_name(cg_emitter *e, char letter, uint32_t number) {
  return bs_arena_printf(&e->arena, "%s_%c%u", e->options->name, letter,
                         number);
}

const char *
cg_layer_of(cg_emitter *e, const po_group *group) {
  gs_term term = cg_stmt(e, group, 0)->term;
  const gs_program *p = e->p->source;
  if (!e->layers)
    e->layers = gs_layers(p, &e->arena);
  uint32_t let = gs_term_ok(term) ? e->layers[term.i] : 0;
  return let ? p->lets.data[let - 1].name : NULL;
}

/* What stands in no text has the name of its layer. */
static void
put_origin(cg_emitter *e, const po_group *group, uint32_t indent,
           uint32_t more) {
  bs_text text;
  bs_text_init(&text, e->heap);
  const po_stmt *stmt = cg_stmt(e, group, 0);
  const char *layer = stmt->span.file ? NULL : cg_layer_of(e, group);
  if (layer)
    bs_putf(&text, "%s: ", layer);
  po_put_origin(e->p, stmt->term, stmt->span, &text);
  if (more)
    bs_putf(&text, ", and %u more like it", more);
  cg_put_comment(&e->body, indent, bs_text_str(&text));
  bs_text_done(&text);
}

/* ---- kernels ---- */

static const char *
element_type(const cg_emitter *e, uint32_t array) {
  return gs_dtype_table[e->p->arrays.data[array].dtype].c_type;
}

/* A kernel used once calls its arrays by their names. */
static const char *const *
slot_names(cg_emitter *e, const cg_kernel *kernel, const cg_use *use) {
  const char **names = BS_NEWS(&e->arena, const char *, use->n_slots);
  for (uint32_t k = 0; k < use->n_slots; k++)
    names[k] = kernel->uses > 1 || use->slots[k].base ||
                       e->p->arrays.data[use->slots[k].array].role == PO_LOCAL
                   ? bs_arena_printf(&e->arena, "p%u", k)
                   : e->p->arrays.data[use->slots[k].array].name;
  return names;
}

static void
put_parameters(cg_emitter *e, const cg_use *use, const char *const *names) {
  const char *type = bs_arena_printf(&e->arena, "%s ", e->index);
  cg_put_size_parameters(e->p, type, "", &e->body);
  for (uint32_t k = 0; k < use->n_slots; k++)
    cg_put_item(&e->body, "%s%s *restrict %s%s",
                use->slots[k].written ? "" : "const ",
                element_type(e, use->slots[k].array), names[k],
                k + 1 < use->n_slots ? ", " : "");
}

static void
put_head(cg_emitter *e, const cg_kernel *kernel, const char *const *names) {
  put_origin(e, &e->groups.list.data[kernel->group], 0, kernel->uses - 1);
  if (kernel->uses > 1)
    cg_need(&e->needs, CG_NOINLINE);
  bs_putf(&e->body, "static %svoid\n%s(",
          kernel->uses > 1 ? "GLEN_NOINLINE " : "", kernel->name);
  put_parameters(e, &e->uses[kernel->group], names);
  bs_put(&e->body, ") {\n");
}

/* A kernel of loops: the tree is whole before its text begins. */
static void
put_loops(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope) {
  cg_node *body = NULL;
  if (!cg_build_tree(e, scope, kernel->group, &body)) {
    e->failed = true;
    return;
  }
  cg_run_passes(e, scope, &body);
  cg_need_for_nodes(&e->needs, body);
  put_head(e, kernel, scope->slot_names);
  cg_print_nodes(&e->body, &cg_c, body, 1);
}

static void
put_contraction(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope,
                const po_contraction *c) {
  cg_put_contract_parts(e, c, kernel->name);
  put_head(e, kernel, scope->slot_names);
  cg_put_contract_body(e, c, kernel->name, scope);
}

static void
put_slide(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope,
          const po_slide *c) {
  cg_put_slide_parts(e, c, kernel->name);
  put_head(e, kernel, scope->slot_names);
  cg_put_slide_body(e, c, kernel->name, scope);
}

static void
put_kernel(cg_emitter *e, cg_kernel *kernel) {
  const po_group *group = &e->groups.list.data[kernel->group];
  const cg_use *use = &e->uses[kernel->group];
  uint32_t mark = po_pool_mark(&e->pool);
  e->about = group;
  const po_contraction *c = po_contraction_of(e->p, &e->groups, group);
  cg_scope scope = {group, use, slot_names(e, kernel, use)};
  const po_slide *slide = po_slide_of(e->p, &e->groups, group);
  if (c)
    put_contraction(e, kernel, &scope, c);
  else if (slide)
    put_slide(e, kernel, &scope, slide);
  else
    put_loops(e, kernel, &scope);
  bs_put(&e->body, "}\n\n");
  po_pool_release(&e->pool, mark);
}

void
cg_put_kernels(cg_emitter *e) {
  for (uint32_t k = 0; k < e->kernels.len && !e->failed && !e->pool.failed;
       k++) {
    e->kernels.data[k].name = function_name(e, 'k', k);
    put_kernel(e, &e->kernels.data[k]);
  }
}

/* ---- steps ---- */

/* Their comments would say the same. */
static bool
same_origin(cg_emitter *e, const po_group *a, const po_group *b) {
  const po_stmt *s = cg_stmt(e, a, 0), *t = cg_stmt(e, b, 0);
  if (!s->span.file && cg_layer_of(e, a) != cg_layer_of(e, b))
    return false;
  if (s->span.file != t->span.file || s->span.lo != t->span.lo)
    return false;
  if (!gs_term_ok(s->term) || !gs_term_ok(t->term))
    return s->term.i == t->term.i;
  const gs_node *x = gs_at(e->p->source, s->term);
  const gs_node *y = gs_at(e->p->source, t->term);
  return x->op == y->op && bs_same(x->attr, y->attr) &&
         bs_same(x->type, y->type);
}

/* before: the group of the step above, or NULL. */
static void
put_step(cg_emitter *e, uint32_t k, const po_group *before) {
  const po_group *group = &e->groups.list.data[k];
  const cg_use *use = &e->uses[k];
  if (!before || !same_origin(e, group, before))
    put_origin(e, group, 1, 0);
  if (use->kernel == UINT32_MAX) {
    cg_print_nodes(&e->body, &cg_c,
                   cg_make_template(e, NULL, NULL, cg_stmt(e, group, 0)), 1);
    return;
  }
  bs_putf(&e->body, "  %s(", e->kernels.data[use->kernel].name);
  cg_put_size_parameters(e->p, "", strcmp(e->index, "int") ? "" : "(int)",
                         &e->body);
  for (uint32_t j = 0; j < use->n_slots; j++) {
    const char *name = e->p->arrays.data[use->slots[j].array].name;
    cg_mention(e, use->slots[j].array);
    const char *comma = j + 1 < use->n_slots ? ", " : "";
    const po_array *array = &e->p->arrays.data[use->slots[j].array];
    if (array->prepack && array->offset < 0 &&
        !po_is_before(e->p, &e->groups, group))
      cg_put_item(&e->body, "NULL%s", comma);
    else if (use->slots[j].base)
      cg_put_item(&e->body, "%s + %lld%s", name, (long long)use->slots[j].base,
                  comma);
    else
      cg_put_item(&e->body, "%s%s", name, comma);
  }
  bs_put(&e->body, ");\n");
}

static void
collect(const cg_emitter *e, uint32_t group, uint8_t *has) {
  const cg_use *use = &e->uses[group];
  const po_stmt *call = cg_stmt(e, &e->groups.list.data[group], 0);
  for (uint32_t k = 0; k < use->n_slots; k++)
    has[use->slots[k].array] = 1;
  for (uint32_t k = 0; call->instr && k <= call->instr->n_operands; k++)
    has[call->operands[k].array] = 1;
}

static bool
is_in_workspace(const po_array *array) {
  return (array->role == PO_WORKSPACE && !array->before) || po_is_large(array);
}

/* What NAME_prepack has made. */
static bool
is_prepacked(const po_array *array) {
  return array->role == PO_PREPACKED || array->before ||
         (array->prepack && array->offset >= 0);
}

static void
put_prepacked_pointers(cg_emitter *e, const uint8_t *has) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (!has[k] || !is_prepacked(array))
      continue;
    const char *type = gs_dtype_table[array->dtype].c_type;
    bs_putf(&e->body,
            "  const %s *%s = (const %s *)(const void *)\n"
            "      ((const unsigned char *)prepacked + %lld);\n",
            type, array->name, type, (long long)array->offset);
  }
}

/* What lies in `block` and may be written. */
static void
put_pointers(cg_emitter *e, const uint8_t *has,
             bool (*lies_there)(const po_array *), const char *block) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (!has[k] || !lies_there(array))
      continue;
    const char *type = gs_dtype_table[array->dtype].c_type;
    bs_putf(&e->body,
            po_has_sizes(e->p)
                ? "  %s *%s = (%s *)(void *)((unsigned char *)%s + "
                  "glen_place[%lld]);\n"
                : "  %s *%s = (%s *)(void *)((unsigned char *)%s + %lld);\n",
            type, array->name, type, block, (long long)array->offset);
  }
}

/* The groups of a list, one after the other. */
static void
put_steps(cg_emitter *e, const uint32_t *list, uint32_t n, bool timed) {
  for (uint32_t k = 0; k < n; k++) {
    put_step(e, list[k], k ? &e->groups.list.data[list[k - 1]] : NULL);
    if (timed)
      cg_note_step(e, list[k]);
  }
}

static bool
needs_workspace(const cg_emitter *e, const uint8_t *has) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (has[k] && is_in_workspace(&e->p->arrays.data[k]))
      return true;
  return false;
}

/* Where the parts of the workspace begin, at the sizes of the call. */
static void
put_places(cg_emitter *e, const uint8_t *has) {
  if (!po_has_sizes(e->p) || !needs_workspace(e, has))
    return;
  bs_putf(&e->body, "  size_t glen_place[%u];\n  %s_places(",
          cg_count_places(e->p), e->options->name);
  cg_put_size_parameters(e->p, "", "", &e->body);
  bs_put(&e->body, "glen_place);\n");
}

static void
put_range(cg_emitter *e, const uint32_t *list, uint32_t n, const uint8_t *has) {
  put_places(e, has);
  put_prepacked_pointers(e, has);
  put_pointers(e, has, is_in_workspace, "workspace");
  put_steps(e, list, n, true);
}

static bool
needs_prepacked(const cg_emitter *e, const uint8_t *has) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (has[k] && is_prepacked(&e->p->arrays.data[k]))
      return true;
  return false;
}

/* The arrays that a part is passed: declared, or by name. */
static void
put_part_arguments(cg_emitter *e, const uint8_t *has, bool declare) {
  const char *comma = "";
  for (uint32_t k = 0; k < e->p->sizes.len; k++) {
    bs_putf(&e->body, "%s%s%s", comma, declare ? "int64_t " : "",
            e->p->sizes.data[k].name);
    comma = ", ";
  }
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (!has[k] || !cg_is_parameter(array))
      continue;
    if (declare)
      bs_putf(&e->body, "%s%s%s *restrict %s", comma,
              array->role == PO_INPUT ? "const " : "", element_type(e, k),
              array->name);
    else
      bs_putf(&e->body, "%s%s", comma, array->name);
    comma = ", ";
  }
  if (needs_prepacked(e, has)) {
    bs_putf(&e->body, "%s%sprepacked", comma, declare ? "const void *" : "");
    comma = ", ";
  }
  if (needs_workspace(e, has))
    bs_putf(&e->body, "%s%sworkspace", comma, declare ? "void *" : "");
  else if (declare && !*comma)
    bs_put(&e->body, "void");
}

static void
put_main(cg_emitter *e, const uint8_t *has) {
  bs_put(&e->body, e->is_variant ? "static int\n" : "int\n");
  cg_put_signature(e->p, e->options, true, &e->body);
  bs_put(&e->body, " {\n");
  if (po_has_sizes(e->p))
    cg_put_size_check(e->p, "1", &e->body);
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (!has[k] && cg_is_parameter(&e->p->arrays.data[k]))
      bs_putf(&e->body, "  (void)%s;\n", e->p->arrays.data[k].name);
  if (po_has_prepacked(e->p) && !needs_prepacked(e, has))
    bs_put(&e->body, "  (void)prepacked;\n");
  if (!needs_workspace(e, has))
    bs_put(&e->body, "  (void)workspace;\n");
  if (e->options->profile)
    bs_putf(&e->body, "  %s_profile(-1);\n", e->options->name);
}

static void
put_parts(cg_emitter *e, const uint32_t *list, uint32_t n) {
  uint32_t arrays = e->p->arrays.len;
  uint32_t parts = (n + PART_LENGTH - 1) / PART_LENGTH;
  uint8_t *all = bs_calloc(e->heap, arrays, 1);
  uint8_t *has = bs_calloc(e->heap, (size_t)parts * arrays, 1);
  const char **names = BS_NEWS(&e->arena, const char *, parts);
  for (uint32_t k = 0; k < n; k++) {
    collect(e, list[k], has + (size_t)(k / PART_LENGTH) * arrays);
    collect(e, list[k], all);
  }
  for (uint32_t k = 0; k < parts; k++) {
    uint32_t from = k * PART_LENGTH, rest = n - from;
    names[k] = function_name(e, 'p', k);
    bs_putf(&e->body, "static void\n%s(", names[k]);
    put_part_arguments(e, has + (size_t)k * arrays, true);
    bs_put(&e->body, ") {\n");
    put_range(e, list + from, rest < PART_LENGTH ? rest : PART_LENGTH,
              has + (size_t)k * arrays);
    bs_put(&e->body, "}\n\n");
  }
  put_main(e, all);
  for (uint32_t k = 0; k < parts; k++) {
    bs_putf(&e->body, "  %s(", names[k]);
    put_part_arguments(e, has + (size_t)k * arrays, false);
    bs_put(&e->body, ");\n");
  }
  bs_free(e->heap, all);
  bs_free(e->heap, has);
}

/* The groups that NAME_prepack runs, or those that calls do. */
static uint32_t
list_groups(const cg_emitter *e, bool before, uint32_t *list) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    if (po_is_before(e->p, &e->groups, &e->groups.list.data[k]) == before)
      list[n++] = k;
  return n;
}

void
cg_put_steps(cg_emitter *e) {
  if (e->options->profile)
    bs_clear(&e->options->profile->steps);
  uint32_t *list = BS_NEWS(&e->arena, uint32_t, e->groups.list.len + 1);
  uint32_t n = list_groups(e, false, list);
  if (n > PART_LENGTH) {
    put_parts(e, list, n);
  } else {
    uint8_t *has = bs_calloc(e->heap, e->p->arrays.len + 1, 1);
    for (uint32_t k = 0; k < n; k++)
      collect(e, list[k], has);
    put_main(e, has);
    put_range(e, list, n, has);
    bs_free(e->heap, has);
  }
  bs_put(&e->body, "  return 0;\n}\n");
}

static bool
is_made_before(const po_array *array) {
  return array->before;
}

void
cg_put_steps_before(cg_emitter *e) {
  uint32_t *list = BS_NEWS(&e->arena, uint32_t, e->groups.list.len + 1);
  uint32_t n = list_groups(e, true, list);
  uint8_t *has = bs_calloc(e->heap, e->p->arrays.len + 1, 1);
  for (uint32_t k = 0; k < n; k++)
    collect(e, list[k], has);
  put_pointers(e, has, is_made_before, "prepacked");
  put_steps(e, list, n, false);
  bs_free(e->heap, has);
}
