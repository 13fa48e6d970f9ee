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
#include "codegen/file/codegen_file.h"
#include "codegen/contract/contract_unit.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>

typedef struct dispatch {
  bs_arena *arena; /* what lives until the files are written */
  const cg_options *options;
  const po_program *p;
  const gs_variant *variant; /* the one that is written; NULL: the base */
  cg_keys keys;              /* of it */
  bool last;
  bs_text *c, *h;
  bs_text constants, functions;
  BS_VEC(const po_array *) written; /* constants */
  cg_needs needs;                   /* of those before */
  bool failed;
} dispatch;

/* ---- what all need ---- */

static const po_array *
find_written(const dispatch *d, const char *name) {
  for (uint32_t k = 0; k < d->written.len; k++)
    if (!strcmp(d->written.data[k]->name, name))
      return d->written.data[k];
  return NULL;
}

static bool
are_same_elements(const po_array *a, const po_array *b) {
  int64_t n = gs_prod(a->dim, a->rank);
  return a->dtype == b->dtype && n == gs_prod(b->dim, b->rank) &&
         (a->data == b->data ||
          !memcmp(a->data, b->data,
                  (size_t)n * gs_dtype_table[a->dtype].bytes));
}

/* A program names its constants in the order in which it meets them, which for
 * a part of the sizes may be another: what was c_x_2 is c_x there. */
static bool
is_another(const void *arg, const po_array *array) {
  if (array->role != PO_CONSTANT)
    return false;
  const po_array *written = find_written(arg, array->name);
  return written && !are_same_elements(written, array);
}

static void
put_new_constants(dispatch *d, cg_emitter *e) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (array->role != PO_CONSTANT || !e->mentioned[k])
      continue;
    e->mentioned[k] = !find_written(d, array->name);
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
  return bs_arena_printf(d->arena, "%s_%s", d->options->name,
                         v ? v->name : "base");
}

/* The code for part k of the variant that is written, or for all sizes. */
static const char *
name_of_part(const dispatch *d, uint32_t k) {
  const char *name = name_of(d, d->variant);
  if (!d->keys.n)
    return name;
  return k < d->keys.n ? bs_arena_printf(d->arena, "%s_part%u", name, k)
                       : bs_arena_printf(d->arena, "%s_all", name);
}

static bool
put_program(dispatch *d, const po_program *p, const char *name) {
  cg_options options = {.name = name,
                        .header = d->options->header,
                        .openmp = d->options->openmp,
                        .fused = d->options->fused};
  p = cg_with_own_names(p, d->options->name, NULL);
  p = cg_with_own_names(p, options.name, NULL);
  p = cg_with_new_names(p, is_another, d);
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

/* ---- functions that choose ---- */

/* Puts a function that was quoted; `comment` and what else stands before. */
static void
put_function(dispatch *d, cg_writer *w, const char *comment, bs_text *out) {
  bs_put(out, comment);
  d->failed |= !cg_close_entry(d->p, w, out);
}

static cg_function
signature(const dispatch *d, const char *head, const char *name) {
  cg_options options = {.name = name};
  cg_function f = cg_signature_of(d->p, &options, true, d->arena);
  f.head = head;
  return f;
}

static cg_function
signature_of_sizes(const dispatch *d, const char *head, const char *name,
                   const char *of) {
  cg_function f = cg_signature_of_sizes(d->p, name, of, d->arena);
  f.head = head;
  return f;
}

static void
open_function(const dispatch *d, cg_writer *w, cg_function f) {
  cg_start(w, d->arena);
  cg_open_function(w, &f);
}

static void
add_condition(cg_writer *w, const gs_variant *v) {
  const char *and = "";
  for (const char *at = v->features; *at;) {
    int n = (int)strcspn(at, ",");
    cg_add(w, "%s__builtin_cpu_supports(\"%.*s\")", and, n, at);
    and = " &&\n";
    at += n + (at[n] == ',');
  }
}

static void
put_choice(dispatch *d) {
  cg_writer w;
  cg_start(&w, d->arena);
  cg_write(&w, "static int\n%s_variant(void) {", d->options->name);
  cg_write(&w, "#if defined(GLEN_VARIANT)");
  cg_write(&w, "return GLEN_VARIANT;");
  cg_write(&w, "#elif defined(GLEN_DISPATCH)");
  for (uint32_t k = d->options->n_variants; k > 0; k--) {
    cg_add(&w, "if (");
    add_condition(&w, d->options->variants[k - 1].of);
    cg_write(&w, ")");
    cg_write(&w, "return %u;", k);
  }
  cg_write(&w, "return 0;");
  cg_write(&w, "#else");
  cg_write(&w, "return 0;");
  cg_write(&w, "#endif");
  put_function(d, &w,
               "/* Which variant this processor runs: 0 is the base.  "
               "GLEN_VARIANT, where it\n * is defined, is taken instead. */\n",
               d->c);
  bs_putc(d->c, '\n');
}

/* What is returned, or a statement, for the name of a variant or of a part,
 * which has the program's sizes but for those of one value. */
typedef void write_call(const dispatch *, const po_program *, const char *name,
                        cg_writer *);

static void
write_main_call(const dispatch *d, const po_program *p, const char *name,
                cg_writer *w) {
  cg_add(w, "return %s(", name);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    cg_add(w, "%s, ", p->sizes.data[k].name);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (cg_is_parameter(&d->p->arrays.data[k]))
      cg_add(w, "%s, ", d->p->arrays.data[k].name);
  cg_write(w, "%sworkspace);", po_has_prepacked(d->p) ? "prepacked, " : "");
}

/* NAME_of(n, ...), of all sizes. */
static void
add_call_of(const po_program *p, const char *name, const char *of,
            cg_writer *w) {
  cg_add(w, "%s_%s(", name, of);
  for (uint32_t k = 0; k < p->sizes.len; k++)
    cg_add(w, "%s%s", k ? ", " : "", p->sizes.data[k].name);
  cg_add(w, ")");
}

static void
write_return_of(const po_program *p, const char *name, const char *of,
                cg_writer *w) {
  cg_add(w, "return ");
  add_call_of(p, name, of, w);
  cg_write(w, ";");
}

/* Each variant and each part has blocks of its own, and so a workspace. */
static void
write_workspace_call(const dispatch *d, const po_program *p, const char *name,
                     cg_writer *w) {
  (void)d;
  if (po_has_sizes(p))
    write_return_of(p, name, "workspace_size", w);
  else
    cg_write(w, "return %lld;", (long long)p->workspace_bytes);
}

static void
write_key_call(const dispatch *d, const po_program *p, const char *name,
               cg_writer *w) {
  (void)d;
  write_return_of(p, name, "key", w);
}

static void
write_prepack_call(const dispatch *d, const po_program *p, const char *name,
                   cg_writer *w) {
  (void)p;
  cg_add(w, "%s_prepack(", name);
  for (uint32_t k = 0; k < d->p->arrays.len; k++)
    if (d->p->arrays.data[k].prepack)
      cg_add(w, "%s, ", d->p->arrays.data[k].name);
  cg_write(w, "prepacked);");
  cg_write(w, "return;");
}

/* ---- parts of the sizes ---- */

static void
add_bounds(const po_program *p, const po_size *part, cg_writer *w) {
  const char *and = "";
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    const po_size *all = &p->sizes.data[k], *s = &part[k];
    if (s->least == s->most) {
      cg_add(w, "%s%s == %lld", and, all->name, (long long)s->least);
    } else {
      cg_add(w, "%s%s >= %lld && %s <= %lld", and, all->name,
             (long long)s->least, all->name, (long long)s->most);
      if (s->multiple > 1)
        cg_add(w, " && %s %% %lld == 0", all->name, (long long)s->multiple);
    }
    and = " &&\n";
  }
}

/* Sizes that are within no part's bounds are within none: the code for all
 * sizes refuses them. */
static void
put_key(dispatch *d, const char *name, bs_text *out) {
  cg_writer w;
  open_function(d, &w, signature_of_sizes(d, "static int", name, "key"));
  for (uint32_t k = 0; k < d->p->sizes.len && !d->keys.n; k++)
    cg_write(&w, "(void)%s;", d->p->sizes.data[k].name);
  for (uint32_t k = 0; k < d->keys.n; k++) {
    cg_add(&w, "if (");
    add_bounds(d->p, d->keys.list[k].part, &w);
    cg_write(&w, ")");
    cg_write(&w, "return %u;", k);
  }
  cg_write(&w, "return %u;", d->keys.n);
  put_function(
      d, &w, "/* The tiling key: which code takes a call of these sizes. */\n",
      out);
  bs_putc(out, '\n');
}

static void
put_key_switch(dispatch *d, const char *name, cg_function f, write_call *call,
               bs_text *out) {
  cg_writer w;
  open_function(d, &w, f);
  cg_add(&w, "switch (");
  add_call_of(d->p, name, "key", &w);
  cg_write(&w, ") {");
  for (uint32_t k = 0; k < d->keys.n; k++) {
    cg_write(&w, "case %u:", k);
    call(d, d->keys.list[k].program, name_of_part(d, k), &w);
  }
  cg_write(&w, "default:");
  call(d, d->p, name_of_part(d, d->keys.n), &w);
  cg_write(&w, "}");
  put_function(d, &w, "", out);
  bs_putc(out, '\n');
}

/* NAME and NAME_workspace_size of one variant, which calls those of parts. */
static void
put_calls_by_key(dispatch *d, const char *name, bs_text *out) {
  bool own = d->options->n_variants;
  put_key_switch(d, name, signature(d, own ? "static int" : "int", name),
                 write_main_call, out);
  put_key_switch(d, name,
                 signature_of_sizes(d, own ? "static size_t" : "size_t", name,
                                    "workspace_size"),
                 write_workspace_call, out);
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
put_switch(dispatch *d, cg_function f, write_call *call) {
  cg_writer w;
  open_function(d, &w, f);
  cg_write(&w, "switch (%s_variant()) {", d->options->name);
  cg_write(&w, "#if defined(GLEN_DISPATCH)");
  for (uint32_t k = d->options->n_variants; k > 0; k--) {
    cg_write(&w, "case %u:", k);
    call(d, d->p, name_of(d, d->options->variants[k - 1].of), &w);
  }
  cg_write(&w, "#endif");
  cg_write(&w, "default:");
  call(d, d->p, name_of(d, NULL), &w);
  cg_write(&w, "}");
  put_function(d, &w, "", d->c);
}

static void
put_key_entry(dispatch *d) {
  cg_function f = signature_of_sizes(d, "\nint", d->options->name, "tiling");
  if (d->options->n_variants) {
    put_switch(d, f, write_key_call);
    return;
  }
  cg_writer w;
  open_function(d, &w, f);
  write_key_call(d, d->p, d->options->name, &w);
  put_function(d, &w, "", d->c);
}

static void
put_entries(dispatch *d) {
  const char *name = d->options->name;
  put_choice(d);
  put_switch(d, signature(d, "int", name), write_main_call);
  if (po_has_sizes(d->p))
    put_switch(d, signature_of_sizes(d, "\nsize_t", name, "workspace_size"),
               write_workspace_call);
  else
    d->failed |= !cg_put_workspace_size(d->p, d->options, d->arena, d->c);
  if (!po_has_prepacked(d->p))
    return;
  cg_function f = cg_prepack_signature(d->p, d->options, d->arena);
  f.head = "\nvoid";
  put_switch(d, f, write_prepack_call);
  d->failed |= !cg_put_prepacked_size(d->p, d->options, d->arena, d->c);
}

static bool
take_names(dispatch *d, const char *function) {
  d->p = cg_with_own_names(d->p, function, NULL);
  return cg_sizes_are_apart(d->p, function);
}

/* No parameter hides a function that is called where it is one. */
static bool
take_all_names(dispatch *d) {
  if (!take_names(d, d->options->name) || !take_names(d, name_of(d, NULL)))
    return false;
  for (uint32_t k = 0; k < d->options->n_variants; k++)
    if (!take_names(d, name_of(d, d->options->variants[k].of)))
      return false;
  return true;
}

static bool
emit(dispatch *d) {
  if (!take_all_names(d) || !put_variants(d))
    return false;
  if (d->options->n_variants)
    bs_put(d->c, "/* Processors that have more than the least. */\n"
                 "#if defined(__GNUC__) && defined(__x86_64__)\n"
                 "#define GLEN_DISPATCH\n"
                 "#endif\n\n");
  bs_putn(d->c, d->constants.data, d->constants.len);
  bs_putn(d->c, d->functions.data, d->functions.len);
  if (d->options->n_variants)
    put_entries(d);
  if (d->options->keys.n)
    put_key_entry(d);
  bool ok = cg_put_life(d->p, d->options, d->c) && !d->failed;
  if (d->h)
    cg_put_header(d->p, d->options, d->h);
  return ok;
}

bool
cg_emit_dispatch(const po_program *p, const cg_options *options, bs_text *c,
                 bs_text *h) {
  assert(options->n_variants || options->keys.n);
  bs_heap *heap = p->ctx.heap;
  bs_arena arena;
  dispatch d = {.options = options, .p = p, .arena = &arena, .c = c, .h = h};
  bs_arena_init(&arena, heap);
  bs_text_init(&d.constants, heap);
  bs_text_init(&d.functions, heap);
  bool ok = emit(&d);
  bs_text_done(&d.constants);
  bs_text_done(&d.functions);
  bs_vec_done(heap, &d.written);
  bs_arena_done(&arena);
  return ok;
}
