/* SPDX-License-Identifier: MIT */
/* api_kernel.c - kernels that are loaded into this process: what they are
 * called with, and their calls with pointers. */
#include "api/api_kernel.h"
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };

/* ---- loading ---- */

bool
api_is_own(const char *path) {
  struct stat s;
  return !stat(path, &s) && s.st_uid == geteuid() &&
         !(s.st_mode & (S_IWGRP | S_IWOTH));
}

/* POSIX lets a function be had from a pointer to an object. */
static bool
find(void *library, const char *name, void *out) {
  void *found = dlsym(library, name);
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

static bool
is_of_this_format(void *library) {
  const int *format = NULL;
  return find(library, "glen_entry_format", &format) &&
         *format == API_KERNEL_FORMAT;
}

/* Names and shapes stay where they are, in the library. */
static void
describe(glen_kernel *k, const api_kernel_argument *said, uint32_t n) {
  k->n = n;
  k->arguments = bs_calloc(&k->ctx->heap, n + 1u, sizeof *k->arguments);
  for (uint32_t j = 0; j < n; j++)
    k->unprepared |= said[j].prepacked != 0;
  for (uint32_t j = 0; j < n; j++)
    k->arguments[j] =
        (glen_argument){.size = sizeof *k->arguments,
                        .name = said[j].name,
                        .output = said[j].output != 0,
                        .prepacked = said[j].prepacked != 0,
                        .type = {.size = sizeof(glen_array),
                                 .dtype = (glen_dtype)said[j].dtype,
                                 .rank = said[j].rank,
                                 .shape = said[j].shape}};
}

static bool
resolve(glen_kernel *k) {
  size_t (*workspace)(void) = NULL, (*prepacked)(void) = NULL;
  const api_kernel_argument *said = NULL;
  const unsigned *n = NULL;
  if (!is_of_this_format(k->library) ||
      !find(k->library, "glen_entry", &k->entry) ||
      !find(k->library, "glen_entry_workspace", &workspace) ||
      !find(k->library, "glen_entry_prepacked", &prepacked) ||
      !find(k->library, "glen_entry_prepare", &k->prepare) ||
      !find(k->library, "glen_entry_count", &n) ||
      !find(k->library, "glen_entry_arguments", &said))
    return false;
  k->workspace_bytes = workspace();
  k->prepacked_bytes = prepacked();
  describe(k, said, *n);
  return true;
}

static char *
copy_of(bs_heap *heap, const char *text) {
  return strcpy(bs_calloc(heap, strlen(text) + 1, 1), text);
}

glen_kernel *
api_kernel_open(glen_context *ctx, const char *path, uint32_t threads,
                bool cached, bool kept) {
  bs_heap *heap = &ctx->heap;
  glen_kernel *k = bs_calloc(heap, 1, sizeof *k);
  *k = (glen_kernel){.ctx = ctx,
                     .threads =
                         (int)(threads < MOST_THREADS ? threads : MOST_THREADS),
                     .cached = cached,
                     .path = kept ? copy_of(heap, path) : NULL};
  k->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (k->library && resolve(k)) {
    /* The last kernel would take OpenMP's library with it, in whose code the
     * threads of its teams wait for more. */
    bs_library_keep(k->library, "omp_get_max_threads");
    return k;
  }
  const char *why = dlerror();
  bs_error(&ctx->diags, BS_NOWHERE, "cannot-load", "cannot load the kernel: %s",
           why ? why : "it is incomplete, or another version of glen made it");
  glen_kernel_free(k);
  return NULL;
}

glen_kernel *
glen_kernel_load(glen_context *ctx, const char *path, uint32_t threads) {
  API_ENTER(ctx, NULL);
  bs_diags *diags = &ctx->diags;
  if (diags->no_children)
    bs_error(
        diags, BS_NOWHERE, "no-native",
        "a kernel cannot be loaded where compiled code must not be executed");
  else if (access(path, R_OK))
    bs_error(diags, BS_NOWHERE, "no-file", "cannot read '%s': %s", path,
             strerror(errno));
  else if (!api_is_own(path))
    bs_error(diags, BS_NOWHERE, "open-cache",
             "the kernel '%s' belongs to another user, or others may write "
             "to it",
             path);
  else
    return api_kernel_open(ctx, path, threads, true, true);
  return NULL;
}

void
glen_kernel_free(glen_kernel *k) {
  if (!k)
    return;
  bs_heap *heap = &k->ctx->heap;
  if (k->library)
    dlclose(k->library);
  free(atomic_load(&k->spare));
  free(k->prepacked);
  bs_free(heap, k->arguments);
  bs_free(heap, k->path);
  bs_free(heap, k);
}

/* ---- what it is ---- */

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

const char *
glen_kernel_file(const glen_kernel *k) {
  return k->path;
}

/* ---- calls ---- */

int
glen_kernel_prepare(glen_kernel *k, void *const *arrays) {
  void *block = NULL;
  if (posix_memalign(&block, 64, k->prepacked_bytes ? k->prepacked_bytes : 64))
    return GLEN_KERNEL_NO_MEMORY;
  k->prepare(arrays, block);
  free(k->prepacked);
  k->prepacked = block;
  k->unprepared = false;
  return 0;
}

/* The workspace that is to spare goes from call to call; the calls of several
 * threads have each their own. */
static int
call_with_spare(glen_kernel *k, void *const *arrays) {
  void *work = atomic_exchange(&k->spare, NULL);
  if (!work && posix_memalign(&work, 64, k->workspace_bytes))
    return GLEN_KERNEL_NO_MEMORY;
  int failed = k->entry(arrays, k->prepacked, work, k->threads);
  free(atomic_exchange(&k->spare, work));
  return failed;
}

int
glen_kernel_call(glen_kernel *k, void *const *arrays, void *workspace) {
  if (k->unprepared)
    return GLEN_KERNEL_NOT_PREPARED;
  return workspace || !k->workspace_bytes
             ? k->entry(arrays, k->prepacked, workspace, k->threads)
             : call_with_spare(k, arrays);
}
