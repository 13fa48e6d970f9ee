/* SPDX-License-Identifier: MIT */
/* jit.c - a kernel compiled and loaded in this process.
 *
 * The C of the loops gets one more function, which takes all arrays in one
 * list, so that callers need not know the kernel's own type.  What was compiled
 * may be kept in a folder, by a hash of everything that it was made from. */
#include "api/api_kernel.h"
#include "base/file.h"
#include "codegen/file/c.h"
#include "codegen/run/compiler.h"
#include "codegen/run/driver.h"
#include "glen-features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

typedef struct jit_args {
  glen_context *ctx;
  const glen_loops *loops;
  glen_jit_options o;
  bs_text c, h, entry;
  cg_scratch scratch;
} jit_args;

/* ---- sources ---- */

/* Octal: a name holds what no compiler takes amiss. */
static void
put_literal(const char *name, bs_text *out) {
  bs_put(out, "\"");
  for (; *name; name++)
    bs_putf(out, "\\%03o", (unsigned char)*name);
  bs_put(out, "\"");
}

/* As the program calls it: the array has a name of C. */
static const char *
name_of(const po_program *p, const po_array *array) {
  const gs_program *source = p->source;
  return array->role == PO_OUTPUT ? source->outputs.data[array->number].name
                                  : source->inputs.data[array->number].name;
}

/* A scalar has no shape, but C no arrays without elements. */
static void
put_shape(const po_program *p, const po_array *array, uint32_t k,
          bs_text *out) {
  (void)p;
  bs_putf(out, "static const int64_t shape_%u[] = {", k);
  for (uint32_t d = 0; d < array->rank; d++)
    bs_putf(out, "%lld, ", (long long)array->dim[d]);
  bs_put(out, array->rank ? "};\n" : "0};\n");
}

static void
put_argument(const po_program *p, const po_array *array, uint32_t k,
             bs_text *out) {
  glen_array type;
  api_describe_array(array->dtype, array->rank, NULL, &type);
  bs_put(out, "  {");
  put_literal(name_of(p, array), out);
  bs_putf(out, ", shape_%u, %d, %d, %d, %u},\n", k, array->role == PO_OUTPUT,
          array->prepack, (int)type.dtype, (unsigned)array->rank);
}

static void
each_parameter(const po_program *p, bs_text *out,
               void (*put)(const po_program *, const po_array *, uint32_t k,
                           bs_text *out)) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (cg_is_argument(&p->arrays.data[k]))
      put(p, &p->arrays.data[k], n++, out);
}

/* What api_kernel_argument is, in the C of the kernel. */
static void
put_description(const po_program *p, bs_text *out) {
  bs_put(out, "#include <stdint.h>\n\n");
  each_parameter(p, out, put_shape);
  bs_putf(out,
          "\ntypedef struct {\n  const char *name;\n  const int64_t *shape;\n"
          "  int output, prepacked, dtype;\n  unsigned rank;\n} argument;\n"
          "const int glen_entry_format = %d;\n"
          "const unsigned glen_entry_count = %u;\n"
          "const argument glen_entry_arguments[] = {\n",
          API_KERNEL_FORMAT, cg_count_parameters(p));
  each_parameter(p, out, put_argument);
  bs_put(out, "};\n\n");
}

/* The parameters of the function, or of the one that packs. */
static void
put_pointers(const po_program *p, bool prepack, bs_text *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    if (!cg_is_argument(array))
      continue;
    if (array->prepack == prepack)
      bs_putf(out, "p[%u], ", n);
    n++;
  }
}

static void
put_call(const po_program *p, bs_text *out) {
  bs_put(out, "  int failed = kernel(");
  put_pointers(p, false, out);
  bs_put(out,
         po_has_prepacked(p) ? "prepacked, workspace);\n" : "workspace);\n");
}

/* What is the same for all calls; nothing where there is nothing of that. */
static void
put_prepare(const po_program *p, bs_text *out) {
  bool has = po_has_prepacked(p);
  bs_putf(out,
          "size_t glen_entry_prepacked(void);\n"
          "void glen_entry_prepare(void *const *p, void *prepacked);\n\n"
          "size_t\nglen_entry_prepacked(void) {\n  return %s;\n}\n\n"
          "void\nglen_entry_prepare(void *const *p, void *prepacked) {\n",
          has ? "kernel_prepacked_size()" : "0");
  if (has) {
    bs_put(out, "  kernel_prepack(");
    put_pointers(p, true, out);
    bs_put(out, "prepacked);\n}\n\n");
    return;
  }
  bs_put(out, "  (void)p;\n  (void)prepacked;\n}\n\n");
}

static void
put_entry(const po_program *p, bs_text *out) {
  bs_put(out, "#include \"kernel.h\"\n"
              "#ifdef _OPENMP\n#include <omp.h>\n#endif\n\n"
              "int glen_entry(void *const *p, const void *prepacked,\n"
              "    void *workspace, int threads);\n"
              "size_t glen_entry_workspace(void);\n\n"
              "size_t\nglen_entry_workspace(void) {\n"
              "  return kernel_workspace_size();\n}\n\n"
              "int\nglen_entry(void *const *p, const void *prepacked,\n"
              "    void *workspace, int threads) {\n"
              "#ifdef _OPENMP\n"
              "  int before = omp_get_max_threads();\n"
              "  if (threads)\n    omp_set_num_threads(threads);\n"
              "#endif\n");
  put_call(p, out);
  bs_put(out, "  (void)p;\n  (void)prepacked;\n  (void)threads;\n"
              "#ifdef _OPENMP\n"
              "  if (threads)\n    omp_set_num_threads(before);\n"
              "#endif\n"
              "  return failed;\n}\n");
}

static bool
make_sources(jit_args *a) {
  const po_program *p = a->loops->loops;
  cg_options options = {.name = "kernel",
                        .header = "kernel.h",
                        .openmp = true,
                        .variants = a->loops->variants,
                        .n_variants = a->loops->n_variants};
  put_description(p, &a->entry);
  put_entry(p, &a->entry);
  put_prepare(p, &a->entry);
  return cg_emit_c(p, &options, &a->c, &a->h);
}

/* ---- compiling ---- */

static const char *const own_options[] = {"-O2", "-std=c99", "-fPIC",
                                          "-shared"};

/* Without output and files, which the folder of kernels does not ask for. */
static cg_compiler
compiler_of(const jit_args *a) {
  const gs_target *target = a->loops->loops->target;
  return (cg_compiler){.ctx = &a->ctx->gs,
                       .cc = a->o.cc,
                       .options = own_options,
                       .n_options = sizeof own_options / sizeof *own_options,
                       .march = target ? target->march : NULL,
                       .narrow = cg_narrow_flag(target),
                       .flags = a->o.flags,
                       .n_flags = a->o.n_flags};
}

static bool
write_source(jit_args *a, const char *name, bs_text *text) {
  return bs_file_write_now(&a->ctx->diags, cg_scratch_file(&a->scratch, name),
                           bs_text_str(text), text->len);
}

static bool
build(jit_args *a, const char *output) {
  const char *files[] = {cg_scratch_file(&a->scratch, "kernel.c"),
                         cg_scratch_file(&a->scratch, "entry.c")};
  const char *log = cg_scratch_file(&a->scratch, "log");
  cg_compiler c = compiler_of(a);
  cg_watch watch = {
      .time_limit = bs_stage_seconds(bs_governor_of(&a->ctx->heap)),
      .interrupt = &a->ctx->interrupt,
      .listed = bs_temporary_new(&a->ctx->diags, BS_TEMPORARY_CHILD, NULL)};
  c.files = files;
  c.n_files = 2;
  c.output = output;
  if (!write_source(a, "kernel.c", &a->c) ||
      !write_source(a, "kernel.h", &a->h) ||
      !write_source(a, "entry.c", &a->entry))
    return false;
  cg_result result =
      cg_compile(&c, &watch, log, cg_scratch_file(&a->scratch, "log-2"));
  return result.exit == CG_EXIT_OK ||
         cg_report_compiler(&c, &watch, result, log);
}

/* ---- the folder of kernels ---- */

static void
add_text(XXH3_state_t *state, const char *text) {
  XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* Of all that decides what the compiler gives, but for what lies behind its
 * name. */
static const char *
key_of(jit_args *a) {
  XXH3_state_t *state = XXH3_createState();
  cg_words argv = {0};
  cg_compiler c = compiler_of(a);
  if (!state)
    bs_out_of_memory(&a->ctx->heap);
  XXH3_128bits_reset(state);
  cg_put_command(&c, &argv);
  for (uint32_t k = 0; k < argv.len; k++)
    add_text(state, argv.data[k]);
  bs_vec_done(&a->ctx->heap, &argv);
  add_text(state, GLEN_VERSION);
  add_text(state, bs_text_str(&a->c));
  add_text(state, bs_text_str(&a->entry));
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return bs_arena_printf(&a->ctx->arena, "%s/glen-%016llx%016llx.so",
                         a->o.cache, (unsigned long long)hash.high64,
                         (unsigned long long)hash.low64);
}

static bool
make_cache(jit_args *a) {
  if (mkdir(a->o.cache, 0700) && errno != EEXIST)
    return bs_error(&a->ctx->diags, BS_NOWHERE, "cannot-write",
                    "cannot make the folder '%s': %s", a->o.cache,
                    strerror(errno));
  return api_is_own(a->o.cache) ||
         bs_error(&a->ctx->diags, BS_NOWHERE, "open-cache",
                  "the folder of kernels '%s' belongs to another user, or "
                  "others may write to it",
                  a->o.cache);
}

/* Beside its place first, as others may look for it there. */
static bool
build_into(jit_args *a, const char *path) {
  const char *beside = bs_arena_printf(&a->ctx->arena, "%s.%ld-%p", path,
                                       (long)getpid(), (void *)a->ctx);
  bool ok = build(a, beside);
  if (ok && rename(beside, path))
    ok = bs_error(&a->ctx->diags, BS_NOWHERE, "cannot-write",
                  "cannot write '%s': %s", path, strerror(errno));
  if (!ok)
    unlink(beside);
  return ok;
}

static glen_kernel *
open_at(jit_args *a, const char *path, bool cached) {
  return api_kernel_open(a->ctx, path, a->o.threads, cached,
                         a->o.cache != NULL);
}

/* What cannot be loaded is made again: a file that was cut off, or is no kernel
 * of this version, tells nothing that a user could repair. */
static glen_kernel *
find(jit_args *a, const char *path) {
  bs_moment before = bs_moment_of(&a->ctx->diags);
  glen_kernel *found = api_is_own(path) ? open_at(a, path, true) : NULL;
  if (!found)
    bs_go_back(&a->ctx->diags, before);
  return found;
}

static glen_kernel *
find_or_build(jit_args *a) {
  if (!a->o.cache) {
    const char *path = cg_scratch_file(&a->scratch, "kernel.so");
    return build(a, path) ? open_at(a, path, false) : NULL;
  }
  if (!make_cache(a))
    return NULL;
  const char *path = key_of(a);
  glen_kernel *found = find(a, path);
  if (found || !build_into(a, path))
    return found;
  return open_at(a, path, false);
}

/* ---- the whole ---- */

static glen_kernel *
make_kernel(jit_args *a) {
  bs_heap *heap = &a->ctx->heap;
  glen_kernel *kernel = NULL;
  bs_text_init(&a->c, heap);
  bs_text_init(&a->h, heap);
  bs_text_init(&a->entry, heap);
  if (make_sources(a) && cg_scratch_make(&a->scratch, &a->ctx->gs))
    kernel = find_or_build(a);
  if (a->scratch.path[0])
    cg_scratch_remove(&a->scratch);
  bs_text_done(&a->c);
  bs_text_done(&a->h);
  bs_text_done(&a->entry);
  return kernel;
}

glen_kernel *
glen_jit(glen_context *ctx, const glen_loops *loops,
         const glen_jit_options *options) {
  jit_args a = {.ctx = ctx, .loops = loops};
  if (options)
    memcpy(&a.o, options,
           options->size < sizeof a.o ? options->size : sizeof a.o);
  ctx->interrupt = 0;
  API_ENTER_LISTENING(ctx, NULL);
  bs_stage_begin(&ctx->governor, "the C compiler", 1, 1);
  if (ctx->diags.no_children) {
    bs_error(
        &ctx->diags, BS_NOWHERE, "no-native",
        "a kernel cannot be loaded where compiled code must not be executed");
    return NULL;
  }
  return api_knows_sizes(ctx, loops->loops, "a kernel in process")
             ? make_kernel(&a)
             : NULL;
}
