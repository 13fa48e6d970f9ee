/* SPDX-License-Identifier: MIT */
/* data.c - inputs whose elements stand in a file: weights by reference.
 *
 * Files are mapped, not read, so that what stands in them costs memory only
 * where and as long as it is looked at. */
#include "base/file.h"
#include "glenside/program/program.h"
#include "glenside/array/tensor.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are read as they lie in the file");

/* FNV-1a, which generated code computes, too. */
static uint64_t
data_hash(const void *bytes, size_t n) {
  const uint8_t *b = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t k = 0; k < n; k++)
    hash = (hash ^ b[k]) * 0x100000001b3u;
  return hash;
}

static bool
fail(const gs_context *ctx, const gs_data *data, const char *why) {
  return bs_error(ctx->diags, data->span, "bad-data",
                  "cannot read the elements of %s from %s: %s", data->name,
                  data->file, why);
}

static int64_t
bytes_of(const gs_type *type) {
  return gs_elements(type) * gs_dtype_table[type->dtype].bytes;
}

/* ---- the file ---- */

/* A descriptor of the regular file and its size, or -1 and why. */
static int
open_file(const gs_data *data, int64_t *size, const char **why) {
  struct stat status;
  int file = bs_open_within(data->beside, data->file, why);
  if (file < 0)
    return -1;
  *why = "it is not a regular file";
  bool known = !fstat(file, &status);
  if (known && S_ISREG(status.st_mode)) {
    *size = status.st_size;
    return file;
  }
  if (!known)
    *why = strerror(errno);
  close(file);
  return -1;
}

/* Bytes of the file from one on, whose page is where the mapping begins; NULL
 * and why. Writing to them does not change the file. */
static char *
map_bytes(int file, int64_t offset, int64_t bytes, void **map, size_t *size,
          const char **why) {
  int64_t before = offset % sysconf(_SC_PAGESIZE);
  *size = (size_t)(bytes + before);
  *map = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
              offset - before);
  *why = strerror(errno);
  return *map == MAP_FAILED ? NULL : (char *)*map + before;
}

static bool
ends_before(int64_t offset, int64_t bytes, int64_t size) {
  int64_t end;
  return offset < 0 || __builtin_add_overflow(offset, bytes, &end) ||
         end > size;
}

/* ---- where the elements stand ---- */

typedef struct look {
  const gs_context *ctx;
  const gs_data *data;
  const gs_type *type;
  const char *bytes; /* of the whole file */
  size_t n;
  gs_data_site *out;
  bool ok;
} look;

/* All before the elements of an .npy file is what that says of itself. */
static void
look_job(void *arg) {
  look *l = arg;
  const gs_data *d = l->data;
  gs_data_site *out = l->out;
  if (d->form == GS_DATA_NPY) {
    l->ok = gs_npy_locate(l->ctx, d->span, d->file, l->bytes, l->n, l->type,
                          &out->offset);
    out->header = out->offset;
  } else {
    l->ok = gs_safetensors_locate(l->ctx, d, l->bytes, l->n, l->type, out);
  }
  if (l->ok)
    out->hash = data_hash(l->bytes, (size_t)out->header);
}

/* A mapping is no memory of the heap, which may run out meanwhile. */
static bool
look_into(look *l, int file, int64_t size) {
  const char *why = "it is empty";
  void *map = NULL;
  size_t mapped = 0;
  l->bytes = size ? map_bytes(file, 0, size, &map, &mapped, &why) : NULL;
  l->n = (size_t)size;
  close(file);
  if (!l->bytes)
    return fail(l->ctx, l->data, why);
  bool enough = bs_protect(l->ctx->heap, look_job, l);
  munmap(map, mapped);
  if (!enough)
    bs_out_of_memory(l->ctx->heap);
  return l->ok;
}

/* Of raw elements, whose file may be made later, or was never written. */
static bool
locate_raw(const gs_context *ctx, const gs_data *data, gs_data_site *out) {
  const char *why;
  int64_t size = (int64_t)data->held_size;
  out->offset = data->offset;
  errno = 0;
  int file = data->held ? -1 : open_file(data, &size, &why);
  if (!data->held && file < 0)
    return errno == ENOENT || fail(ctx, data, why);
  if (file >= 0)
    close(file);
  return !ends_before(out->offset, out->bytes, size) ||
         fail(ctx, data, "the file ends before they do");
}

bool
gs_data_locate(const gs_context *ctx, const gs_data *data, const gs_type *type,
               gs_data_site *out) {
  assert(gs_is_type(type));
  const char *why;
  int64_t size;
  look l = {.ctx = ctx, .data = data, .type = type, .out = out};
  *out = (gs_data_site){.bytes = bytes_of(type)};
  if (data->form == GS_DATA_RAW)
    return locate_raw(ctx, data, out);
  int file = open_file(data, &size, &why);
  return file < 0 ? fail(ctx, data, why) : look_into(&l, file, size);
}

/* ---- the elements ---- */

/* What is not as it should be is given back. */
static bool
hold_all(const gs_context *ctx, const gs_data *data, gs_tensor *out) {
  int64_t at = gs_tensor_normalise(out);
  if (at < 0)
    return true;
  gs_tensor_done(ctx->heap, out);
  return fail(ctx, data,
              bs_arena_printf(ctx->arena, "element %lld " GS_BEYOND_I64,
                              (long long)at));
}

static void
copy_elements(const gs_context *ctx, const gs_type *type, const char *from,
              gs_tensor *out) {
  gs_tensor_init(ctx->heap, out, type);
  memcpy(out->data, from, (size_t)bytes_of(type));
}

/* Elements are read where they are mapped, unless they are not aligned, as
 * generated code wants them. */
static bool
map_elements(const gs_context *ctx, const gs_data *data, const gs_type *type,
             const gs_data_site *site, gs_tensor *out) {
  const char *why;
  int64_t size;
  size_t mapped;
  void *map;
  int file = open_file(data, &size, &why);
  if (file < 0)
    return fail(ctx, data, why);
  why = "the file ends before they do";
  char *bytes =
      ends_before(site->offset, site->bytes, size)
          ? NULL
          : map_bytes(file, site->offset, site->bytes, &map, &mapped, &why);
  close(file);
  if (!bytes)
    return fail(ctx, data, why);
  *out = (gs_tensor){.dtype = type->dtype,
                     .rank = type->rank,
                     .elements = gs_elements(type),
                     .data = bytes,
                     .map = map,
                     .map_bytes = mapped};
  memcpy(out->dim, type->dim, type->rank * sizeof *out->dim);
  return true;
}

static bool
is_aligned(const gs_tensor *t) {
  return (uintptr_t)t->data % (uintptr_t)gs_dtype_table[t->dtype].bytes == 0;
}

bool
gs_data_read(const gs_context *ctx, const gs_data *data, const gs_type *type,
             gs_tensor *out) {
  assert(gs_is_type(type));
  gs_data_site site;
  gs_tensor mapped;
  if (!gs_data_locate(ctx, data, type, &site))
    return false;
  if (data->held) {
    copy_elements(ctx, type, data->held + site.offset, out);
    return hold_all(ctx, data, out);
  }
  if (!map_elements(ctx, data, type, &site, &mapped))
    return false;
  *out = mapped;
  if (!is_aligned(&mapped)) {
    copy_elements(ctx, type, mapped.data, out);
    gs_tensor_done(ctx->heap, &mapped);
  }
  return hold_all(ctx, data, out);
}
