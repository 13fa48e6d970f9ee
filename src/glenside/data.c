/* SPDX-License-Identifier: MIT */
/* data.c - inputs whose elements stand in a file: weights by reference. */
#include "base/file.h"
#include "glenside/program.h"
#include "glenside/tensor.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are read as they lie in the file");

void
gs_add_data(gs_program *p, const gs_data *data) {
  bs_arena *arena = p->ctx.arena;
  bs_push(p->ctx.heap, &p->data,
          (gs_data){bs_arena_strdup(arena, data->name),
                    bs_arena_strdup(arena, data->file),
                    bs_arena_strdup(arena, data->beside), data->offset,
                    data->held, data->held_size});
}

const gs_data *
gs_find_data(const gs_program *p, const char *name) {
  for (uint32_t k = 0; k < p->data.len; k++)
    if (!strcmp(p->data.data[k].name, name))
      return &p->data.data[k];
  return NULL;
}

void
gs_copy_data(const gs_program *from, gs_program *to) {
  for (uint32_t k = 0; k < from->data.len; k++)
    gs_add_data(to, &from->data.data[k]);
}

static bool
read_fully(int file, char *out, size_t n, int64_t offset) {
  while (n) {
    ssize_t got = pread(file, out, n, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    out += got;
    n -= (size_t)got;
    offset += got;
  }
  return true;
}

static bool
fail(const gs_context *ctx, const gs_data *data, const char *why) {
  return bs_error(ctx->diags, BS_NOWHERE, "bad-data",
                  "cannot read the elements of %s from %s: %s", data->name,
                  data->file, why);
}

/* The file holds the elements from the offset on. */
static const char *
why_too_short(int file, int64_t offset, size_t bytes) {
  struct stat status;
  int64_t end;
  if (fstat(file, &status))
    return strerror(errno);
  if (!S_ISREG(status.st_mode))
    return "it is no regular file";
  if (__builtin_add_overflow(offset, (int64_t)bytes, &end) ||
      end > status.st_size)
    return "the file ends before they do";
  return NULL;
}

/* Of what was never written to a file. */
static bool
take_held(const gs_context *ctx, const gs_data *data, const gs_type *type,
          size_t bytes, gs_tensor *out) {
  size_t offset = (size_t)data->offset;
  if (data->offset < 0 || offset > data->held_size ||
      bytes > data->held_size - offset)
    return fail(ctx, data, "it ends before they do");
  gs_tensor_init(ctx->heap, out, type);
  memcpy(out->data, data->held + offset, bytes);
  return true;
}

bool
gs_data_read(const gs_context *ctx, const gs_data *data, const gs_type *type,
             gs_tensor *out) {
  const char *why;
  size_t bytes = (size_t)gs_elements(type) * gs_dtype_table[type->dtype].bytes;
  if (data->held)
    return take_held(ctx, data, type, bytes, out);
  int file = bs_open_within(data->beside, data->file, &why);
  if (file < 0)
    return fail(ctx, data, why);
  why = why_too_short(file, data->offset, bytes);
  close(file); /* memory may run out below, which would leave it open */
  if (why)
    return fail(ctx, data, why);
  gs_tensor_init(ctx->heap, out, type);
  file = bs_open_within(data->beside, data->file, &why);
  bool fine = file >= 0 && read_fully(file, out->data, bytes, data->offset);
  if (file >= 0)
    close(file);
  return fine || fail(ctx, data, "the file changed while it was read");
}
