/* SPDX-License-Identifier: MIT */
/* jit.c - a kernel compiled and loaded in this process.
 *
 * The C of the loops gets one more function, which takes all arrays in one
 * list, so that callers need not know the kernel's own type.  What was compiled
 * may be kept in a folder, by a hash of everything that it was made from. */
#include "api/api.h"
#include "base/file.h"
#include "codegen/file/c.h"
#include "codegen/run/process.h"
#include "glen-features.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { LOG_LINES = 12, MOST_FLAGS = 64 };

typedef int entry_point(void *const *arrays, void *workspace, int threads);

struct glen_kernel {
  glen_context *ctx;
  void *library;
  entry_point *entry;
  size_t workspace_bytes;
  int threads;
  uint32_t n;
  glen_argument *arguments;
  bool cached;
  /* Of the last call that is over; a call that finds none makes its own. */
  _Atomic(void *) spare;
};

typedef struct jit_args {
  glen_context *ctx;
  const glen_loops *loops;
  glen_jit_options o;
  bs_text c, h, entry;
  cg_scratch scratch;
  const char *path; /* of the shared object */
  glen_kernel *kernel;
  bool cached;
} jit_args;

/* ---- sources ---- */

static bool
is_parameter(const po_array *array) {
  return array->role == PO_INPUT || array->role == PO_OUTPUT;
}

static uint32_t
count_parameters(const po_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += is_parameter(&p->arrays.data[k]);
  return n;
}

static void
put_entry(const po_program *p, bs_text *out) {
  uint32_t n = count_parameters(p);
  bs_put(out,
         "#include \"kernel.h\"\n"
         "#ifdef _OPENMP\n#include <omp.h>\n#endif\n\n"
         "int glen_entry(void *const *p, void *workspace, int threads);\n"
         "size_t glen_entry_workspace(void);\n\n"
         "size_t\nglen_entry_workspace(void) {\n"
         "  return kernel_workspace_size();\n}\n\n"
         "int\nglen_entry(void *const *p, void *workspace, int threads) {\n"
         "#ifdef _OPENMP\n"
         "  int before = omp_get_max_threads();\n"
         "  if (threads)\n    omp_set_num_threads(threads);\n"
         "#endif\n"
         "  int failed = kernel(");
  for (uint32_t k = 0; k < n; k++)
    bs_putf(out, "p[%u], ", k);
  bs_put(out, "workspace);\n"
              "  (void)p;\n  (void)threads;\n"
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
  if (po_has_prepacked(p))
    return bs_error(&a->ctx->diags, BS_NOWHERE, "jit-prepacked",
                    "a kernel with inputs that are packed once cannot be "
                    "loaded so; compile it to C");
  put_entry(p, &a->entry);
  return cg_emit_c(p, &options, &a->c, &a->h);
}

/* ---- compiling ---- */

typedef BS_VEC(const char *) words;

static void
push(jit_args *a, words *argv, const char *word) {
  bs_push(&a->ctx->heap, argv, word);
}

/* $CC may be a command with options: "ccache gcc". */
static void
push_compiler(jit_args *a, words *argv) {
  const char *cc = a->o.cc ? a->o.cc : getenv("CC");
  const char *at = cc && *cc ? cc : "cc";
  for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    push(a, argv, bs_arena_printf(&a->ctx->arena, "%.*s", (int)n, at));
    at += n;
  }
}

/* plain: without what a compiler may lack. */
static void
push_command(jit_args *a, words *argv, bool plain) {
  const gs_target *target = a->loops->loops->target;
  push_compiler(a, argv);
  push(a, argv, "-O2");
  push(a, argv, "-std=c99");
  push(a, argv, "-fPIC");
  push(a, argv, "-shared");
  if (!plain)
    push(a, argv, "-fopenmp");
  if (!plain && target && target->march)
    push(a, argv, bs_arena_printf(&a->ctx->arena, "-march=%s", target->march));
  for (uint32_t k = 0; k < a->o.n_flags; k++)
    push(a, argv, a->o.flags[k]);
}

static cg_result
compile(jit_args *a, const char *output, bool plain, const char *log) {
  words argv = {0};
  cg_watch watch = {bs_stage_seconds(bs_governor_of(&a->ctx->heap)),
                    &a->ctx->interrupt,
                    bs_temporary_new(&a->ctx->diags, BS_TEMPORARY_CHILD, NULL)};
  push_command(a, &argv, plain);
  push(a, &argv, "-o");
  push(a, &argv, output);
  push(a, &argv, cg_scratch_file(&a->scratch, "kernel.c"));
  push(a, &argv, cg_scratch_file(&a->scratch, "entry.c"));
  push(a, &argv, "-lm");
  push(a, &argv, NULL);
  cg_result result =
      cg_run_process(&a->ctx->heap, argv.data, log, NULL, 0, &watch);
  bs_vec_done(&a->ctx->heap, &argv);
  return result;
}

static bool
report(jit_args *a, cg_result result, const char *log) {
  bs_diags *diags = &a->ctx->diags;
  if (result.exit == CG_EXIT_NO_START) {
    bs_error(diags, BS_NOWHERE, "no-compiler", "cannot run the C compiler: %s",
             strerror(result.code));
    bs_hint(diags, "install a C compiler, or name one by CC");
    return false;
  }
  if (result.exit == CG_EXIT_STOPPED)
    return bs_error(diags, BS_NOWHERE, "interrupted", "stopped");
  bs_error(diags, BS_NOWHERE, "compile-failed", "the C compiler failed");
  cg_note_log(&a->ctx->gs, log, LOG_LINES);
  return false;
}

static bool
write_source(jit_args *a, const char *name, bs_text *text) {
  return bs_file_write_now(&a->ctx->diags, cg_scratch_file(&a->scratch, name),
                           bs_text_str(text), text->len);
}

static bool
build(jit_args *a, const char *output) {
  const char *log = cg_scratch_file(&a->scratch, "log");
  if (!write_source(a, "kernel.c", &a->c) ||
      !write_source(a, "kernel.h", &a->h) ||
      !write_source(a, "entry.c", &a->entry))
    return false;
  cg_result result = compile(a, output, false, log);
  if (result.exit == CG_EXIT_STATUS &&
      compile(a, output, true, cg_scratch_file(&a->scratch, "log-2")).exit ==
          CG_EXIT_OK)
    return true;
  return result.exit == CG_EXIT_OK || report(a, result, log);
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
  words argv = {0};
  if (!state)
    bs_out_of_memory(&a->ctx->heap);
  XXH3_128bits_reset(state);
  push_command(a, &argv, false);
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

/* What another user may write is not executed. */
static bool
is_own(const char *path) {
  struct stat s;
  return !stat(path, &s) && s.st_uid == geteuid() &&
         !(s.st_mode & (S_IWGRP | S_IWOTH));
}

static bool
make_cache(jit_args *a) {
  if (mkdir(a->o.cache, 0700) && errno != EEXIST)
    return bs_error(&a->ctx->diags, BS_NOWHERE, "cannot-write",
                    "cannot make the folder '%s': %s", a->o.cache,
                    strerror(errno));
  return is_own(a->o.cache) ||
         bs_error(&a->ctx->diags, BS_NOWHERE, "open-cache",
                  "the folder of kernels '%s' is another user's, or others may "
                  "write to it",
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
  a->path = path;
  return ok;
}

static bool
build_or_find(jit_args *a) {
  if (!a->o.cache) {
    a->path = cg_scratch_file(&a->scratch, "kernel.so");
    return build(a, a->path);
  }
  if (!make_cache(a))
    return false;
  const char *path = key_of(a);
  a->cached = is_own(path);
  a->path = path;
  return a->cached || build_into(a, path);
}

/* ---- loading ---- */

static void
describe(const po_program *p, glen_kernel *k, bs_heap *heap) {
  k->n = 0;
  k->arguments = bs_calloc(heap, count_parameters(p) + 1, sizeof *k->arguments);
  for (uint32_t j = 0; j < p->arrays.len; j++) {
    const po_array *array = &p->arrays.data[j];
    if (!is_parameter(array))
      continue;
    glen_argument *to = &k->arguments[k->n++];
    int64_t *shape = bs_calloc(heap, array->rank + 1u, sizeof *shape);
    memcpy(shape, array->dim, array->rank * sizeof *shape);
    *to =
        (glen_argument){.size = sizeof *to, .output = array->role == PO_OUTPUT};
    api_describe_array(array->dtype, array->rank, shape, &to->type);
    char *name = bs_calloc(heap, strlen(array->name) + 1, 1);
    to->name = strcpy(name, array->name);
  }
}

/* POSIX lets a function be had from a pointer to an object. */
static bool
find_function(void *library, const char *name, void *out) {
  void *found = dlsym(library, name);
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

static bool
load(jit_args *a) {
  size_t (*workspace)(void) = NULL;
  entry_point *entry = NULL;
  void *library = dlopen(a->path, RTLD_NOW | RTLD_LOCAL);
  if (!library || !find_function(library, "glen_entry", &entry) ||
      !find_function(library, "glen_entry_workspace", &workspace)) {
    const char *why = dlerror();
    bs_error(&a->ctx->diags, BS_NOWHERE, "cannot-load",
             "cannot load the kernel: %s", why ? why : "it is incomplete");
    if (library)
      dlclose(library);
    return false;
  }
  a->kernel->library = library;
  a->kernel->entry = entry;
  a->kernel->workspace_bytes = workspace();
  return true;
}

static void
jit_body(void *arg) {
  jit_args *a = arg;
  bs_heap *heap = &a->ctx->heap;
  bs_stage_begin(&a->ctx->governor, "the C compiler", 1, 1);
  if (a->ctx->diags.no_children) {
    bs_error(&a->ctx->diags, BS_NOWHERE, "no-native",
             "a kernel is not loaded, as nothing may be executed");
    return;
  }
  bs_text_init(&a->c, heap);
  bs_text_init(&a->h, heap);
  bs_text_init(&a->entry, heap);
  glen_kernel *k = a->kernel = bs_calloc(heap, 1, sizeof *k);
  *k = (glen_kernel){.ctx = a->ctx, .threads = (int)a->o.threads};
  bool ok = make_sources(a) && cg_scratch_make(&a->scratch, &a->ctx->gs);
  ok = ok && build_or_find(a) && load(a);
  if (a->scratch.path[0])
    cg_scratch_remove(&a->scratch);
  if (ok)
    describe(a->loops->loops, k, heap);
  else
    a->kernel = NULL;
  k->cached = a->cached;
  if (!ok)
    bs_free(heap, k);
  bs_text_done(&a->c);
  bs_text_done(&a->h);
  bs_text_done(&a->entry);
}

glen_kernel *
glen_jit(glen_context *ctx, const glen_loops *loops,
         const glen_jit_options *options) {
  jit_args a = {.ctx = ctx, .loops = loops};
  if (options)
    memcpy(&a.o, options,
           options->size < sizeof a.o ? options->size : sizeof a.o);
  if (a.o.threads > 1024)
    a.o.threads = 1024;
  ctx->interrupt = 0;
  return api_enter_listening(ctx, jit_body, &a) ? a.kernel : NULL;
}

/* ---- calls ---- */

/* The workspace that is to spare goes from call to call; the calls of several
 * threads have each their own. */
static int
call_with_spare(glen_kernel *k, void *const *arrays) {
  void *work = atomic_exchange(&k->spare, NULL);
  if (!work && posix_memalign(&work, 64, k->workspace_bytes))
    return GLEN_KERNEL_NO_MEMORY;
  int failed = k->entry(arrays, work, k->threads);
  free(atomic_exchange(&k->spare, work));
  return failed;
}

int
glen_kernel_call(glen_kernel *k, void *const *arrays, void *workspace) {
  return workspace || !k->workspace_bytes
             ? k->entry(arrays, workspace, k->threads)
             : call_with_spare(k, arrays);
}

typedef struct call_args {
  glen_kernel *kernel;
  const glen_array *arrays;
  void **pointers;
  bool ok;
} call_args;

static bool
fits(glen_kernel *k, uint32_t j, const glen_array *array) {
  const glen_argument *to = &k->arguments[j];
  if (!api_array_fits(k->ctx, to->name, &to->type, array))
    return false;
  return api_is_dense(array) ||
         bs_error(&k->ctx->diags, BS_NOWHERE, "wrong-array",
                  "the array for %s is not in C order, without gaps", to->name);
}

static void
check_body(void *arg) {
  call_args *a = arg;
  glen_kernel *k = a->kernel;
  a->pointers = bs_calloc(&k->ctx->heap, k->n + 1u, sizeof *a->pointers);
  a->ok = true;
  for (uint32_t j = 0; j < k->n; j++) {
    a->ok = fits(k, j, &a->arrays[j]) && a->ok;
    a->pointers[j] = a->arrays[j].data;
  }
}

bool
glen_kernel_call_arrays(glen_kernel *k, const glen_array *arrays, uint32_t n) {
  call_args a = {.kernel = k, .arrays = arrays};
  if (n != k->n || !api_enter(k->ctx, check_body, &a))
    return false;
  bool ok = a.ok && !glen_kernel_call(k, a.pointers, NULL);
  bs_free(&k->ctx->heap, a.pointers);
  return ok;
}

uint32_t
glen_kernel_arguments(const glen_kernel *k) {
  return k->n;
}

const glen_argument *
glen_kernel_argument(const glen_kernel *k, uint32_t j) {
  return j < k->n ? &k->arguments[j] : NULL;
}

size_t
glen_kernel_workspace(const glen_kernel *k) {
  return k->workspace_bytes;
}

bool
glen_kernel_cached(const glen_kernel *k) {
  return k->cached;
}

void
glen_kernel_free(glen_kernel *k) {
  if (!k)
    return;
  bs_heap *heap = &k->ctx->heap;
  dlclose(k->library);
  free(atomic_load(&k->spare));
  for (uint32_t j = 0; j < k->n; j++) {
    bs_free(heap, (void *)k->arguments[j].name);
    bs_free(heap, (void *)k->arguments[j].type.shape);
  }
  bs_free(heap, k->arguments);
  bs_free(heap, k);
}
