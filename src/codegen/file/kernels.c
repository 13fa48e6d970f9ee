/* SPDX-License-Identifier: MIT */
/* kernels.c - kernels as functions.
 *
 * Every group becomes a function over restrict pointers, so that the C
 * compiler sees which arrays are distinct, whatever the workspace does; equal
 * groups share one. */
#include "codegen/file/codegen_file.h"
#include "codegen/build/build.h"
#include "codegen/contract/contract_unit.h"
#include "codegen/pass/pass.h"
#include "codegen/slide/slide_unit.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/names.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>

/* ---- names ---- */

const char *
cg_function_name(cg_emitter *e, char letter, uint32_t number) {
  return bs_arena_printf(&e->arena, "%s_%c%u", e->options->name, letter,
                         number);
}

const char *
cg_layer_of(cg_emitter *e, const po_group *group) {
  assert(e->p->source);
  gs_term term = cg_stmt(e, group, 0)->term;
  const gs_program *p = e->p->source;
  if (!e->layers)
    e->layers = gs_layers(p, &e->arena);
  uint32_t let = gs_term_ok(term) ? e->layers[term.i] : 0;
  return let ? p->lets.data[let - 1].name : NULL;
}

const char *
cg_origin_text(cg_emitter *e, const po_group *group, uint32_t more) {
  bs_text text;
  bs_text_init(&text, e->heap);
  const po_stmt *stmt = cg_stmt(e, group, 0);
  const char *layer = stmt->span.file ? NULL : cg_layer_of(e, group);
  if (layer)
    bs_putf(&text, "%s: ", layer);
  po_put_origin(e->p, stmt->term, stmt->span, &text);
  if (more)
    bs_putf(&text, ", and %u more like it", more);
  const char *out = bs_arena_strdup(&e->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* ---- kernels ---- */

static const char *
element_type(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
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

static const cg_parameter *
parameters_of(cg_emitter *e, const cg_use *use, const char *const *names) {
  uint32_t n = 0;
  cg_parameter *out =
      BS_NEWS(&e->arena, cg_parameter, e->p->sizes.len + use->n_slots + 1);
  for (uint32_t k = 0; k < e->p->sizes.len; k++)
    out[n++] = (cg_parameter){e->index, e->p->sizes.data[k].name, false};
  for (uint32_t k = 0; k < use->n_slots; k++)
    out[n++] =
        (cg_parameter){bs_arena_printf(&e->arena, "%s%s *%s",
                                       use->slots[k].written ? "" : "const ",
                                       element_type(e, use->slots[k].array),
                                       use->slots[k].shared ? "" : "restrict"),
                       names[k], false};
  return out;
}

/* A kernel is whole before its text begins. */
static void
put_function(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope,
             cg_node *body) {
  const po_group *group = &e->groups.list.data[kernel->group];
  const cg_use *use = &e->uses[kernel->group];
  cg_put_comment(&e->body, 0, cg_origin_text(e, group, kernel->uses - 1));
  cg_function f = {.head = kernel->uses > 1 ? "static GLEN_NOINLINE void"
                                            : "static void",
                   .name = kernel->name,
                   .n_parameters = e->p->sizes.len + use->n_slots,
                   .parameters = parameters_of(e, use, scope->slot_names),
                   .closes_anywhere = true};
  cg_put_function(e, &f, body);
  bs_putc(&e->body, '\n');
}

static void
put_loops(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope) {
  cg_node *body = NULL;
  if (!cg_build_tree(e, scope, kernel->group, &body)) {
    e->failed = true;
    return;
  }
  cg_run_passes(e, scope, &body);
  put_function(e, kernel, scope, body);
}

static void
put_contraction(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope,
                const po_contraction *c) {
  cg_put_contract_parts(e, c, kernel->name);
  cg_node *body = cg_make_contract_body(e, c, kernel->name, scope);
  CG_VERIFY(e, scope, body, "a contraction", true);
  put_function(e, kernel, scope, body);
}

static void
put_slide(cg_emitter *e, const cg_kernel *kernel, const cg_scope *scope,
          const po_slide *c) {
  cg_put_slide_parts(e, c, kernel->name);
  cg_node *body = cg_make_slide_body(e, c, kernel->name, scope);
  CG_VERIFY(e, scope, body, "a kernel of windows", true);
  put_function(e, kernel, scope, body);
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
  po_pool_release(&e->pool, mark);
}

void
cg_put_kernels(cg_emitter *e) {
  for (uint32_t k = 0; k < e->kernels.len && !e->failed && !e->pool.failed;
       k++) {
    e->kernels.data[k].name = cg_function_name(e, 'k', k);
    put_kernel(e, &e->kernels.data[k]);
  }
}
