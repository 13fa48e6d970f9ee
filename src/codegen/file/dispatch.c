/* SPDX-License-Identifier: MIT */
/* dispatch.c - one file with variants of the functions, chosen by CPUID, and
 * with codes for parts of the sizes, chosen by these.
 *
 *   what all need: includes, macros, helpers, constants
 *   the functions of the program itself, NAME_base, for any processor
 *   those of each variant, compiled for its features by pragmas
 *   NAME, which calls those of the last variant that the processor has
 *
 * Where a variant has codes for parts, these are NAME_avx2_part0 and so on, the
 * program itself NAME_avx2_all, and NAME_avx2 calls the one that the key says.
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
  cg_keys keys;              /* of it */
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
  if (!d->options->n_variants)
    return d->options->name;
  return bs_arena_printf(d->p->ctx.arena, "%s_%s", d->options->name,
                         v ? v->name : "base");
}

/* The code for part k of the variant that is written, or for all sizes. */
static const char *
name_of_part(const dispatch *d, uint32_t k) {
  const char *name = name_of(d, d->variant);
  if (!d->keys.n)
    return name;
  return k < d->keys.n ? bs_arena_printf(d->p->ctx.arena, "%s_part%u", name, k)
                       : bs_arena_printf(d->p->ctx.arena, "%s_all", name);
}

static bool
put_program(dispatch *d, const po_program *p, const char *name) {
  cg_options options = {.name = name,
                        .header = d->options->header,
                        .openmp = d->options->openmp,
                        .fused = d->options->fused};
  p = cg_with_own_names(p, d->options->name, NULL);
  p = cg_with_own_names(p, options.name, NULL);
  return cg_emit(p, &options, write_variant, d);
}

static void put_key_functions(dispatch *d);

static bool
put_variants(dispatch *d) {
  for (uint32_t k = 0; k <= d->options->n_variants; k++) {
    const cg_variant *v = k ? &d->options->variants[k - 1] : NULL;
    d->variant = v ? v->of : NULL;
    d->keys = v ? v->keys : d->options->keys;
    for (uint32_t j = 0; j <= d->keys.n; j++) {
      const po_program *p = v ? v->program : d->p;
      d->last = k == d->options->n_variants && j == d->keys.n;
      if (!put_program(d, j < d->keys.n ? d->keys.list[j].program : p,
                       name_of_part(d, j)))
        return false;
    }
    put_key_functions(d);
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

/* `call`: what is returned, or a statement, for the name of a variant or of a
 * part, which has the program's sizes but for those of one value. */
typedef void put_call(const dispatch *, const po_program *, const char *name,
                      bs_text *out);

static void
put_main_call(const dispatch *d, const po_program *p, const char *name,
              bs_text *out) {
  bs_putf(out, "    return %s(", name);
  cg_put_size_parameters(p, "", "", out);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (cg_is_parameter(&d->p->arrays.data[k]))
      bs_putf(out, "%s, ", d->p->arrays.data[k].name);
  bs_putf(out, "%sworkspace);\n", po_has_prepacked(d->p) ? "prepacked, " : "");
}

/* NAME_of(n, ...), of all sizes. */
static void
put_call_of(const po_program *p, const char *name, const char *of,
            bs_text *out) {
  bs_putf(out, "%s_%s(", name, of);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    bs_putf(out, "%s%s", k ? ", " : "", p->sizes.data[k].name);
  bs_putc(out, ')');
}

static void
put_return_of(const po_program *p, const char *name, const char *of,
              bs_text *out) {
  bs_put(out, "    return ");
  put_call_of(p, name, of, out);
  bs_put(out, ";\n");
}

/* Each variant and each part has blocks of its own, and so a workspace. */
static void
put_workspace_call(const dispatch *d, const po_program *p, const char *name,
                   bs_text *out) {
  (void)d;
  if (po_has_sizes(p))
    put_return_of(p, name, "workspace_size", out);
  else
    bs_putf(out, "    return %lld;\n", (long long)p->workspace_bytes);
}

static void
put_key_call(const dispatch *d, const po_program *p, const char *name,
             bs_text *out) {
  (void)d;
  put_return_of(p, name, "key", out);
}

static void
put_prepack_call(const dispatch *d, const po_program *p, const char *name,
                 bs_text *out) {
  (void)p;
  bs_putf(out, "    %s_prepack(", name);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (d->p->arrays.data[k].prepack)
      bs_putf(out, "%s, ", d->p->arrays.data[k].name);
  bs_put(out, "prepacked);\n    return;\n");
}

/* ---- parts of the sizes ---- */

static void
put_bounds(const po_program *p, const po_size *part, bs_text *out) {
  const char *and = "";
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    const po_size *all = &p->sizes.data[k], *s = &part[k];
    if (s->least == s->most) {
      bs_putf(out, "%s%s == %lld", and, all->name, (long long)s->least);
    } else {
      bs_putf(out, "%s%s >= %lld && %s <= %lld", and, all->name,
              (long long)s->least, all->name, (long long)s->most);
      if (s->multiple > 1)
        bs_putf(out, " && %s %% %lld == 0", all->name, (long long)s->multiple);
    }
    and = " &&\n      ";
  }
}

/* Sizes that are within no part's bounds are within none: the code for all
 * sizes refuses them. */
static void
put_key(const dispatch *d, const char *name, bs_text *out) {
  bs_put(out, "/* The tiling key: which code takes a call of these sizes. */\n"
              "static int\n");
  cg_put_signature_of_sizes(d->p, name, "key", out);
  bs_put(out, " {\n");
  for (uint32_t k = 0; k < d->p->sizes.len && !d->keys.n; k++)
    bs_putf(out, "  (void)%s;\n", d->p->sizes.data[k].name);
  for (uint32_t k = 0; k < d->keys.n; k++) {
    bs_put(out, "  if (");
    put_bounds(d->p, d->keys.list[k].part, out);
    bs_putf(out, ")\n    return %u;\n", k);
  }
  bs_putf(out, "  return %u;\n}\n\n", d->keys.n);
}

static void
put_key_switch(const dispatch *d, const char *name, put_call *call,
               bs_text *out) {
  bs_put(out, " {\n  switch (");
  put_call_of(d->p, name, "key", out);
  bs_put(out, ") {\n");
  for (uint32_t k = 0; k < d->keys.n; k++) {
    bs_putf(out, "  case %u:\n", k);
    call(d, d->keys.list[k].program, name_of_part(d, k), out);
  }
  bs_put(out, "  default:\n");
  call(d, d->p, name_of_part(d, d->keys.n), out);
  bs_put(out, "  }\n}\n\n");
}

/* NAME and NAME_workspace_size of one variant, which calls those of parts. */
static void
put_calls_by_key(const dispatch *d, const char *name, bs_text *out) {
  const char *before = d->options->n_variants ? "static " : "";
  cg_options options = {.name = name};
  bs_putf(out, "%sint\n", before);
  cg_put_signature(d->p, &options, true, out);
  put_key_switch(d, name, put_main_call, out);
  bs_putf(out, "%ssize_t\n", before);
  cg_put_signature_of_sizes(d->p, name, "workspace_size", out);
  put_key_switch(d, name, put_workspace_call, out);
}

/* A variant without parts has key 0 for all sizes. */
static void
put_key_functions(dispatch *d) {
  const char *name = name_of(d, d->variant);
  bs_text *out = &d->functions;
  if (!d->keys.n && !d->options->keys.n)
    return;
  if (d->variant)
    put_begin(out, d->variant);
  put_key(d, name, out);
  if (d->keys.n)
    put_calls_by_key(d, name, out);
  if (d->variant)
    put_end(out);
}

/* ---- the functions that are called ---- */

static void
put_switch(const dispatch *d, put_call *call) {
  bs_putf(d->c, " {\n  switch (%s_variant()) {\n#if defined(GLEN_DISPATCH)\n",
          d->options->name);
  for (uint32_t k = d->options->n_variants; k > 0; k--) {
    bs_putf(d->c, "  case %u:\n", k);
    call(d, d->p, name_of(d, d->options->variants[k - 1].of), d->c);
  }
  bs_put(d->c, "#endif\n  default:\n");
  call(d, d->p, name_of(d, NULL), d->c);
  bs_put(d->c, "  }\n}\n");
}

static void
put_key_entry(const dispatch *d) {
  bs_put(d->c, "\nint\n");
  cg_put_signature_of_sizes(d->p, d->options->name, "tiling", d->c);
  if (d->options->n_variants) {
    put_switch(d, put_key_call);
    return;
  }
  bs_put(d->c, " {\n  return ");
  put_call_of(d->p, d->options->name, "key", d->c);
  bs_put(d->c, ";\n}\n");
}

static void
put_entries(const dispatch *d) {
  put_choice(d);
  bs_put(d->c, "int\n");
  cg_put_signature(d->p, d->options, true, d->c);
  put_switch(d, put_main_call);
  if (po_has_sizes(d->p)) {
    bs_put(d->c, "\nsize_t\n");
    cg_put_signature_of_sizes(d->p, d->options->name, "workspace_size", d->c);
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
    if (options->n_variants)
      bs_put(c, "/* Processors that have more than the least. */\n"
                "#if defined(__GNUC__) && defined(__x86_64__)\n"
                "#define GLEN_DISPATCH\n"
                "#endif\n\n");
    bs_putn(c, d.constants.data, d.constants.len);
    bs_putn(c, d.functions.data, d.functions.len);
    if (options->n_variants)
      put_entries(&d);
    if (options->keys.n)
      put_key_entry(&d);
    cg_put_life(p, options, c);
    if (h)
      cg_put_header(p, options, h);
  }
  bs_text_done(&d.constants);
  bs_text_done(&d.functions);
  bs_vec_done(p->ctx.heap, &d.written);
  return ok;
}
