/* SPDX-License-Identifier: MIT */
/* dispatch.c - one file with variants of the functions, chosen by CPUID.
 *
 *   what all need: includes, macros, helpers, constants
 *   the functions of the program itself, NAME_base, for any processor
 *   those of each variant, compiled for its features by pragmas
 *   NAME, which calls those of the last variant that the processor has
 *
 * Compilers keep what CPUID said from the start of the process on: asking costs
 * a few loads at each call, and there is nothing to be set up once.  Compilers
 * and processors without such variants have the first alone.  What is packed
 * beforehand is packed by the variant that reads it. */
#include "codegen/file/file.h"
#include "codegen/contract/unit.h"
#include "poly/loops/sizes.h"
#include <string.h>

typedef struct dispatch {
  const cg_options *options;
  const po_program *p;
  const gs_variant *variant; /* the one that is written; NULL: the base */
  bool last;
  bs_text *c, *h;
  bs_text constants, functions;
  BS_VEC(const po_array *) written; /* constants */
  cg_needs needs;                   /* of those before */
} dispatch;

/* ---- what all need ---- */

/* The program is the same in all variants, and so are its constants. */
static bool
is_written(const dispatch *d, const po_array *array) {
  for (uint32_t k = 0; k < d->written.len; k++)
    if (!strcmp(d->written.data[k]->name, array->name))
      return true;
  return false;
}

static void
put_new_constants(dispatch *d, cg_emitter *e) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (array->role != PO_CONSTANT || !e->mentioned[k])
      continue;
    e->mentioned[k] = !is_written(d, array);
    if (e->mentioned[k])
      bs_push(e->heap, &d->written, array);
  }
  cg_put_constants(e, "static", " GLEN_ALIGNED");
}

/* ---- variants ---- */

static void
put_begin(bs_text *out, const gs_variant *v) {
  bs_put(out, "#if defined(GLEN_DISPATCH)\n");
  cg_put_features(v, out);
  bs_putc(out, '\n');
}

static void
put_end(bs_text *out) {
  bs_putc(out, '\n');
  cg_put_features_end(out);
  bs_put(out, "#endif\n\n");
}

static bool
write_variant(cg_emitter *e, void *arg) {
  dispatch *d = arg;
  e->is_variant = true;
  cg_put_functions(e);
  if (d->variant)
    put_begin(&d->functions, d->variant);
  cg_put_vector_macros(e, &d->functions);
  bs_putn(&d->functions, e->body.data, e->body.len);
  if (d->variant)
    put_end(&d->functions);
  else
    bs_putc(&d->functions, '\n');
  bs_text_clear(&e->body);
  put_new_constants(d, e);
  bs_putn(&d->constants, e->body.data, e->body.len);
  cg_need_all(&d->needs, &e->needs);
  if (!d->last)
    return true;
  cg_need_all(&e->needs, &d->needs);
  cg_put_above(e, d->written.len > 0, d->c);
  return true;
}

static const char *
name_of(const dispatch *d, const gs_variant *v) {
  return bs_arena_printf(d->p->ctx.arena, "%s_%s", d->options->name,
                         v ? v->name : "base");
}

static bool
put_variants(dispatch *d) {
  for (uint32_t k = 0; k <= d->options->n_variants; k++) {
    const cg_variant *v = k ? &d->options->variants[k - 1] : NULL;
    d->variant = v ? v->of : NULL;
    d->last = k == d->options->n_variants;
    cg_options options = {.name = name_of(d, d->variant),
                          .header = d->options->header,
                          .openmp = d->options->openmp,
                          .fused = d->options->fused};
    const po_program *p =
        cg_with_own_names(v ? v->program : d->p, d->options->name, NULL);
    p = cg_with_own_names(p, options.name, NULL);
    if (!cg_emit(p, &options, write_variant, d))
      return false;
  }
  return true;
}

/* ---- the choice ---- */

static void
put_condition(bs_text *out, const gs_variant *v) {
  const char *and = "";
  for (const char *at = v->features; *at;) {
    int n = (int)strcspn(at, ",");
    bs_putf(out, "%s__builtin_cpu_supports(\"%.*s\")", and, n, at);
    and = " &&\n      ";
    at += n + (at[n] == ',');
  }
}

static void
put_choice(const dispatch *d) {
  bs_text *out = d->c;
  bs_putf(out,
          "/* Which variant this processor runs: 0 is the base.  GLEN_VARIANT, "
          "where it\n * is defined, is taken instead. */\n"
          "static int\n%s_variant(void) {\n"
          "#if defined(GLEN_VARIANT)\n  return GLEN_VARIANT;\n"
          "#elif defined(GLEN_DISPATCH)\n",
          d->options->name);
  for (uint32_t k = d->options->n_variants; k > 0; k--) {
    bs_put(out, "  if (");
    put_condition(out, d->options->variants[k - 1].of);
    bs_putf(out, ")\n    return %u;\n", k);
  }
  bs_put(out, "  return 0;\n#else\n  return 0;\n#endif\n}\n\n");
}

/* `call`: what is returned, or a statement, for the name of a variant. */
typedef void put_call(const dispatch *, const char *name);

static void
put_switch(const dispatch *d, put_call *call) {
  bs_putf(d->c, " {\n  switch (%s_variant()) {\n#if defined(GLEN_DISPATCH)\n",
          d->options->name);
  for (uint32_t k = d->options->n_variants; k > 0; k--) {
    bs_putf(d->c, "  case %u:\n", k);
    call(d, name_of(d, d->options->variants[k - 1].of));
  }
  bs_put(d->c, "#endif\n  default:\n");
  call(d, name_of(d, NULL));
  bs_put(d->c, "  }\n}\n");
}

static void
put_main_call(const dispatch *d, const char *name) {
  bs_putf(d->c, "    return %s(", name);
  cg_put_size_parameters(d->p, "", "", d->c);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (cg_is_parameter(&d->p->arrays.data[k]))
      bs_putf(d->c, "%s, ", d->p->arrays.data[k].name);
  bs_putf(d->c, "%sworkspace);\n", po_has_prepacked(d->p) ? "prepacked, " : "");
}

/* Each variant has blocks of its own, and so a workspace. */
static void
put_workspace_call(const dispatch *d, const char *name) {
  bs_putf(d->c, "    return %s_workspace_size(", name);
  for (uint32_t k = 0; k < d->p->sizes.len; k++)
    bs_putf(d->c, "%s%s", k ? ", " : "", d->p->sizes.data[k].name);
  bs_put(d->c, ");\n");
}

static void
put_prepack_call(const dispatch *d, const char *name) {
  bs_putf(d->c, "    %s_prepack(", name);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (d->p->arrays.data[k].prepack)
      bs_putf(d->c, "%s, ", d->p->arrays.data[k].name);
  bs_put(d->c, "prepacked);\n    return;\n");
}

static void
put_entries(const dispatch *d) {
  put_choice(d);
  bs_put(d->c, "int\n");
  cg_put_signature(d->p, d->options, true, d->c);
  put_switch(d, put_main_call);
  if (po_has_sizes(d->p)) {
    bs_put(d->c, "\nsize_t\n");
    cg_put_workspace_signature(d->p, d->options->name, d->c);
    put_switch(d, put_workspace_call);
  } else {
    cg_put_workspace_size(d->p, d->options, d->c);
  }
  if (!po_has_prepacked(d->p))
    return;
  bs_put(d->c, "\nvoid\n");
  cg_put_prepack_signature(d->p, d->options, d->c);
  put_switch(d, put_prepack_call);
  cg_put_prepacked_size(d->p, d->options, d->c);
}

bool
cg_emit_dispatch(const po_program *p, const cg_options *options, bs_text *c,
                 bs_text *h) {
  p = cg_with_own_names(p, options->name, NULL);
  dispatch d = {.options = options, .p = p, .c = c, .h = h};
  if (!cg_sizes_are_apart(p, options->name))
    return false;
  bs_text_init(&d.constants, p->ctx.heap);
  bs_text_init(&d.functions, p->ctx.heap);
  bool ok = put_variants(&d);
  if (ok) {
    bs_put(c, "/* Processors that have more than the least. */\n"
              "#if defined(__GNUC__) && defined(__x86_64__)\n"
              "#define GLEN_DISPATCH\n"
              "#endif\n\n");
    bs_putn(c, d.constants.data, d.constants.len);
    bs_putn(c, d.functions.data, d.functions.len);
    put_entries(&d);
    cg_put_life(p, options, c);
    if (h)
      cg_put_header(p, options, h);
  }
  bs_text_done(&d.constants);
  bs_text_done(&d.functions);
  bs_vec_done(p->ctx.heap, &d.written);
  return ok;
}
