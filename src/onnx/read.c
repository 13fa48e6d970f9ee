/* SPDX-License-Identifier: MIT */
/* read.c - the bytes of a model as messages.
 *
 * Messages are made by protobuf-c on the context's heap; where that refuses,
 * reading fails as a value.  How deep messages nest is bounded by onnx.proto;
 * graphs inside nodes are read one level at a time (flow.c).
 * A message takes at least two bytes of the file, so that memory is bounded by
 * the size of the file, too. */
#include "base/file.h"
#include "base/foreign_bytes.h"
#include "onnx/onnx_import.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_MODEL ((int64_t)1 << 31) /* what the format allows */

static void *
take(void *heap, size_t n) {
  return bs_try_realloc(heap, NULL, n ? n : 1);
}

static void
give(void *heap, void *block) {
  bs_free(heap, block);
}

static const char *
size_of(int file, int64_t *out) {
  struct stat status;
  if (fstat(file, &status))
    return strerror(errno);
  *out = status.st_size;
  return !S_ISREG(status.st_mode)     ? "it is not a regular file"
         : status.st_size > MAX_MODEL ? "it is larger than 2 GiB"
                                      : NULL;
}

static bool
read_all(int file, uint8_t *out, int64_t n) {
  while (n > 0) {
    ssize_t got = read(file, out, (size_t)n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    out += got;
    n -= got;
  }
  return true;
}

const uint8_t *
on_bytes_of(const gs_context *ctx, const char *path, size_t *n) {
  const char *why;
  int64_t size = 0;
  uint8_t *bytes = NULL;
  int file = bs_open_input(path, &why);
  bs_note_file(ctx->diags, "", path);
  if (file >= 0)
    why = size_of(file, &size);
  if (!why)
    bytes = bs_try_realloc(ctx->heap, NULL, (size_t)size + 1);
  if (!why && !bytes)
    why = "there is not enough memory";
  if (!why && !read_all(file, bytes, size))
    why = "it changed while it was read";
  if (file > STDIN_FILENO)
    close(file);
  *n = (size_t)size;
  if (!why)
    return bytes;
  bs_error(ctx->diags, BS_NOWHERE, "no-file", "cannot read %s: %s", path, why);
  bs_hint_address(ctx->diags, path);
  return NULL;
}

ProtobufCAllocator
on_allocator(const gs_context *ctx) {
  return (ProtobufCAllocator){take, give, ctx->heap};
}

const Onnx__Model *
on_read(const gs_context *ctx, const char *name, const uint8_t *bytes,
        size_t n) {
  ProtobufCAllocator allocator = on_allocator(ctx);
  Onnx__Model *model = onnx__model__unpack(&allocator, n, bytes);
  if (!model || !model->graph) {
    bs_error(ctx->diags, BS_NOWHERE, "onnx-model",
             "%s: this is not an ONNX model, or only a part of one", name);
    if (!n)
      bs_hint(ctx->diags, "there is nothing in the file");
    else if (!bs_hint_bytes(ctx->diags, (const char *)bytes, n))
      bs_hint(ctx->diags, ON_CHECKER);
    return NULL;
  }
  return model;
}
