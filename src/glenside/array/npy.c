/* SPDX-License-Identifier: MIT */
/* npy.c - NPY files, format versions 1, 2 and 3.
 *
 * A file is the magic, a version, the length of a header, the header (a Python
 * dictionary of three literals), and the elements.  The header is parsed by
 * hand and nothing in it is believed: the shape is checked against the limits
 * of the language, the expected type and the bytes that are there before any
 * memory is asked for.  Only what a kernel can use is accepted: little-endian,
 * C order, the dtypes of the language; everything else gets a hint how to
 * convert it.  bf16 is '<V2', as ml_dtypes writes it.  Integers of 64 bits,
 * which numpy makes by default and models in the ONNX format ask for, are read
 * where i32 is expected, if each fits. */
#include "glenside/array/array_testing.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER  65536
#define MAX_UNSIZED ((int64_t)1 << 31) /* bytes taken from a pipe */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are read as they lie in the file");

/* --- where the bytes come from -------------------------------------------- */

typedef struct input {
  const gs_context *ctx;
  const char *name;
  bs_span span;         /* where the file is named, or BS_NOWHERE */
  FILE *file;           /* or, when NULL, */
  const uint8_t *bytes; /* memory */
  int64_t left;         /* bytes not read yet; -1: unknown (a pipe) */
  bool narrows; /* integers of 64 bits are taken where i32 is expected */
  bool wide;    /* that is what the file has */
} input;

__attribute__((format(printf, 3, 4))) static bool
fail(const input *in, const char *code, const char *format, ...) {
  bs_text text;
  va_list args;
  va_start(args, format);
  bs_text_init(&text, in->ctx->heap);
  bs_putv(&text, format, args);
  va_end(args);
  bs_error(in->ctx->diags, in->span, code, "%s: %s", in->name,
           bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

static bool
take(input *in, void *out, size_t n) {
  if (in->left >= 0 && (uint64_t)in->left < n)
    return false;
  if (in->file && fread(out, 1, n, in->file) != n)
    return false;
  if (!in->file && n) {
    memcpy(out, in->bytes, n);
    in->bytes += n;
  }
  if (in->left >= 0)
    in->left -= (int64_t)n;
  return true;
}

/* --- the header ----------------------------------------------------------- */

typedef struct header {
  char descr[16];
  bool fortran, have_descr, have_order, have_shape;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
} header;

typedef struct cursor {
  const char *at, *end;
  const char *why; /* what is wrong, set once */
} cursor;

static bool
wrong(cursor *c, const char *why) {
  if (!c->why)
    c->why = why;
  return false;
}

static void
skip_space(cursor *c) {
  while (c->at < c->end && isspace((unsigned char)*c->at))
    c->at++;
}

/* Does the character come next?  Then it is read. */
static bool
next_is(cursor *c, char ch) {
  skip_space(c);
  if (c->at == c->end || *c->at != ch)
    return false;
  c->at++;
  return true;
}

static bool
read_string(cursor *c, char *out, size_t size) {
  char quote = next_is(c, '\'') ? '\'' : next_is(c, '"') ? '"' : 0;
  size_t n = 0;
  if (!quote)
    return wrong(c, "a string is expected in the header");
  while (c->at < c->end && *c->at != quote) {
    if (n + 1 < size)
      out[n++] = *c->at;
    c->at++;
  }
  out[n] = 0;
  return next_is(c, quote) || wrong(c, "a string in the header does not end");
}

static bool
read_word(cursor *c, const char *word) {
  size_t n = strlen(word);
  skip_space(c);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
    return false;
  c->at += n;
  return true;
}

static bool
read_size(cursor *c, int64_t *out) {
  int64_t v = 0;
  skip_space(c);
  if (c->at == c->end || !isdigit((unsigned char)*c->at))
    return wrong(c, "the shape holds something other than sizes");
  for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
    if (__builtin_mul_overflow(v, 10, &v) ||
        __builtin_add_overflow(v, *c->at - '0', &v))
      return wrong(c, "a size in the shape is too large");
  *out = v;
  next_is(c, 'L');
  return true;
}

static bool
read_shape(cursor *c, header *h) {
  if (!next_is(c, '('))
    return wrong(c, "the shape is not a tuple");
  while (!next_is(c, ')')) {
    if (h->rank == GS_MAX_RANK)
      return wrong(c, "the shape has too many dimensions");
    if (!read_size(c, &h->dim[h->rank++]))
      return false;
    if (!next_is(c, ',')) {
      if (!next_is(c, ')'))
        return wrong(c, "the shape does not end");
      break;
    }
  }
  return true;
}

static bool
read_entry(cursor *c, header *h) {
  char key[16];
  if (!read_string(c, key, sizeof key))
    return false;
  if (!next_is(c, ':'))
    return wrong(c, "a ':' is expected in the header");
  if (!strcmp(key, "descr") && !h->have_descr) {
    h->have_descr = true;
    return read_string(c, h->descr, sizeof h->descr);
  }
  if (!strcmp(key, "fortran_order") && !h->have_order) {
    h->have_order = true;
    h->fortran = read_word(c, "True");
    return h->fortran || read_word(c, "False") ||
           wrong(c, "fortran_order is neither True nor False");
  }
  if (!strcmp(key, "shape") && !h->have_shape) {
    h->have_shape = true;
    return read_shape(c, h);
  }
  return wrong(c, "the header has an unknown or repeated key");
}

static bool
read_dictionary(cursor *c, header *h) {
  if (!next_is(c, '{'))
    return wrong(c, "the header is not a dictionary");
  while (!next_is(c, '}')) {
    if (!read_entry(c, h))
      return false;
    if (!next_is(c, ',') && !next_is(c, '}'))
      return wrong(c, "the header does not end");
    if (c->at[-1] == '}')
      break;
  }
  skip_space(c);
  if (c->at != c->end)
    return wrong(c, "there is something after the header");
  return (h->have_descr && h->have_order && h->have_shape) ||
         wrong(c, "the header lacks descr, fortran_order or shape");
}

/* The version and the length that follow the magic. */
static bool
read_length(input *in, uint32_t *length) {
  uint8_t b[8];
  if (!take(in, b, 8) || memcmp(b, "\x93NUMPY", 6))
    return fail(in, "not-npy", "this is not a .npy file");
  uint8_t major = b[6], n = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    return fail(in, "not-npy", "version %u of the format is unknown", major);
  memset(b, 0, sizeof b);
  if (!take(in, b, n))
    return fail(in, "not-npy", "the file ends in its header");
  *length =
      b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
  return *length <= MAX_HEADER ||
         fail(in, "not-npy", "the header is longer than %d bytes", MAX_HEADER);
}

static bool
read_header(input *in, header *h) {
  uint32_t length = 0;
  if (!read_length(in, &length)) {
    bs_hint(in->ctx->diags, "numpy.save writes such a file");
    return false;
  }
  char *text = bs_alloc(in->ctx->heap, length);
  cursor c = {.at = text, .end = text + length};
  bool ok = take(in, text, length);
  if (!ok)
    fail(in, "not-npy", "the file ends in its header");
  else if (!read_dictionary(&c, h))
    ok = fail(in, "not-npy", "%s", c.why);
  bs_free(in->ctx->heap, text);
  return ok;
}

/* --- types ---------------------------------------------------------------- */

/* Does a file with this word have elements of the dtype?  Those of one byte,
 * and those that numpy does not know, have no order of bytes. */
static bool
is_named(const char *descr, gs_dtype dtype) {
  const gs_dtype_info *info = &gs_dtype_table[dtype];
  bool orderless = info->bytes == 1 || !info->numpy;
  return (descr[0] == '<' || (orderless && descr[0] == '|')) &&
         !strcmp(descr + 1, info->npy);
}

/* "f32 f64 ... are read, and bf16 as '<V2'" */
static void
hint_readable(const input *in) {
  bs_text text;
  bs_text_init(&text, in->ctx->heap);
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    if (gs_dtype_table[k].numpy)
      bs_putf(&text, "%s ", gs_dtype_table[k].name);
  bs_put(&text, "are read");
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    if (!gs_dtype_table[k].numpy)
      bs_putf(&text, ", and %s as '<%s'", gs_dtype_table[k].name,
              gs_dtype_table[k].npy);
  bs_hint(in->ctx->diags, "%s", bs_text_str(&text));
  bs_text_done(&text);
}

static void
hint_conversion(const input *in, const char *descr) {
  if (descr[0] == '>')
    bs_hint(in->ctx->diags,
            "bytes are swapped: a.astype(a.dtype.newbyteorder('<'))");
  else if (!strcmp(descr, "<u8"))
    bs_hint(in->ctx->diags, "a.astype(numpy.int64)");
  else
    hint_readable(in);
}

static bool
find_dtype(input *in, const header *h, const gs_type *expect, gs_dtype *out) {
  bool bf16 = expect && expect->dtype == GS_BF16;
  in->wide = in->narrows && expect && expect->dtype == GS_I32 &&
             !strcmp(h->descr, "<i8");
  if (in->wide) {
    *out = GS_I32;
    return true;
  }
  if (bf16 && !strcmp(h->descr, "<u2")) {
    *out = GS_BF16;
    return true;
  }
  for (int k = 0; k < GS_DTYPE_COUNT; k++)
    if (is_named(h->descr, (gs_dtype)k)) {
      *out = (gs_dtype)k;
      return true;
    }
  fail(in, "npy-dtype", "elements of type '%s' are not supported", h->descr);
  hint_conversion(in, h->descr);
  return false;
}

static bool
find_type(input *in, const header *h, const gs_type *expect, gs_type *out) {
  int64_t elements;
  if (h->fortran && h->rank > 1) {
    fail(in, "npy-order", "the array is in Fortran order");
    bs_hint(in->ctx->diags, "numpy.ascontiguousarray(a)");
    return false;
  }
  *out = (gs_type){.access = (uint8_t)h->rank, .rank = (uint8_t)h->rank};
  memcpy(out->dim, h->dim, h->rank * sizeof *h->dim);
  for (uint32_t d = 0; d < h->rank; d++)
    if (!h->dim[d])
      return fail(in, "npy-shape", "dimension %u is of size 0", d);
  if (!gs_checked_prod(h->dim, h->rank, &elements) ||
      elements > GS_MAX_ELEMENTS)
    return fail(in, "too-large", "the array has more than 2^40 elements");
  return find_dtype(in, h, expect, &out->dtype);
}

static void
put_array(bs_text *out, const gs_type *t) {
  bs_putf(out, "%s (", gs_dtype_table[t->dtype].name);
  for (uint32_t d = 0; d < t->rank; d++)
    bs_putf(out, "%s%lld", d ? ", " : "", (long long)t->dim[d]);
  bs_putc(out, ')');
}

/* What makes the array that is expected of the one that was found. */
static void
hint_expected(const input *in, const gs_type *found, const gs_type *expect) {
  if (found->dtype == expect->dtype)
    return;
  const char *numpy = gs_dtype_table[expect->dtype].numpy;
  if (numpy)
    bs_hint(in->ctx->diags, "save a.astype(numpy.%s)", numpy);
}

static bool
check_expected(const input *in, const gs_type *found, const gs_type *expect) {
  bool same =
      found->dtype == expect->dtype && found->rank == expect->rank &&
      !memcmp(found->dim, expect->dim, found->rank * sizeof *found->dim);
  bs_text a, b;
  if (same)
    return true;
  bs_text_init(&a, in->ctx->heap);
  bs_text_init(&b, in->ctx->heap);
  put_array(&a, found);
  put_array(&b, expect);
  fail(in, "type-mismatch", "the file holds %s, expected %s", bs_text_str(&a),
       bs_text_str(&b));
  hint_expected(in, found, expect);
  bs_text_done(&a);
  bs_text_done(&b);
  return false;
}

/* Are the elements there, no fewer and no more? */
static bool
check_size(const input *in, const gs_type *t) {
  int64_t bytes =
      gs_elements(t) * (in->wide ? 8 : gs_dtype_table[t->dtype].bytes);
  if (in->left < 0)
    return bytes <= MAX_UNSIZED ||
           fail(in, "too-large", "more than 2^31 bytes from a pipe");
  return in->left == bytes ||
         fail(in, "npy-size",
              "the shape needs %lld bytes of elements, the file has %lld",
              (long long)bytes, (long long)in->left);
}

static bool
fits(input *in, int64_t index, int64_t v) {
  return (v >= INT32_MIN && v <= INT32_MAX) ||
         fail(in, "npy-range",
              "element %lld is %lld, which does not fit in an i32",
              (long long)index, (long long)v);
}

/* Integers of 64 bits, as numpy makes them, where i32 is expected. */
static bool
take_narrowed(input *in, gs_tensor *out) {
  int64_t part[512];
  int32_t *to = out->data;
  for (int64_t first = 0; first < out->elements;) {
    int64_t rest = out->elements - first, n = rest < 512 ? rest : 512;
    if (!take(in, part, (size_t)n * sizeof *part))
      return fail(in, "npy-size", "the file ends in its elements");
    for (int64_t k = 0; k < n; k++, first++) {
      if (!fits(in, first, part[k]))
        return false;
      to[first] = (int32_t)part[k];
    }
  }
  return true;
}

static bool
take_elements(input *in, gs_tensor *out) {
  size_t bytes = (size_t)out->elements * gs_dtype_table[out->dtype].bytes;
  if (in->wide)
    return take_narrowed(in, out);
  return take(in, out->data, bytes) ||
         fail(in, "npy-size", "the file ends in its elements");
}

static bool
hold_all(const input *in, gs_tensor *out) {
  int64_t at = gs_tensor_normalise(out);
  return at < 0 ||
         fail(in, "npy-range", "element %lld " GS_BEYOND_I64, (long long)at);
}

static bool
read_array(input *in, const gs_type *expect, gs_tensor *out) {
  header h = {0};
  gs_type type;
  in->narrows = true;
  if (!read_header(in, &h) || !find_type(in, &h, expect, &type) ||
      (expect && !check_expected(in, &type, expect)) || !check_size(in, &type))
    return false;
  gs_tensor_init(in->ctx->heap, out, &type);
  if (take_elements(in, out) && hold_all(in, out))
    return true;
  gs_tensor_done(in->ctx->heap, out);
  return false;
}

/* --- files ---------------------------------------------------------------- */

bool
gs_npy_parse(const gs_context *ctx, const char *name, const void *bytes,
             size_t n, const gs_type *expect, gs_tensor *out) {
  assert(bytes || !n);
  assert(!expect || gs_is_type(expect));
  input in = {.ctx = ctx, .name = name, .bytes = bytes, .left = (int64_t)n};
  return read_array(&in, expect, out);
}

bool
gs_npy_locate(const gs_context *ctx, bs_span span, const char *name,
              const void *bytes, size_t n, const gs_type *expect,
              int64_t *offset) {
  assert(bytes || !n);
  assert(!expect || gs_is_type(expect));
  input in = {.ctx = ctx,
              .name = name,
              .span = span,
              .bytes = bytes,
              .left = (int64_t)n};
  header h = {0};
  gs_type type;
  bool ok = read_header(&in, &h) && find_type(&in, &h, expect, &type) &&
            check_expected(&in, &type, expect) && check_size(&in, &type);
  *offset = (int64_t)n - in.left;
  return ok;
}

typedef struct job {
  input in;
  const gs_type *expect;
  gs_tensor *out;
  bool ok;
} job;

static void
read_job(void *arg) {
  job *j = arg;
  j->ok = read_array(&j->in, j->expect, j->out);
}

static FILE *
open_array(const char *path, const char **why) {
  int descriptor = bs_open_input(path, why);
  if (!strcmp(path, "-") && descriptor >= 0)
    descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    *why = *why ? *why : strerror(errno);
    return NULL;
  }
  FILE *file = fdopen(descriptor, "rb");
  if (!file) {
    *why = strerror(errno);
    close(descriptor);
  }
  return file;
}

bool
gs_npy_read(const gs_context *ctx, const char *path, const gs_type *expect,
            gs_tensor *out) {
  struct stat st;
  job j = {.in = {.ctx = ctx, .name = path, .left = -1},
           .expect = expect,
           .out = out};
  const char *why = NULL;
  j.in.file = open_array(path, &why);
  if (!j.in.file)
    return fail(&j.in, "no-file", "%s", why);
  if (!fstat(fileno(j.in.file), &st) && S_ISREG(st.st_mode))
    j.in.left = st.st_size;
  bool enough = bs_protect(ctx->heap, read_job, &j);
  fclose(j.in.file);
  if (!enough)
    bs_out_of_memory(ctx->heap);
  return j.ok;
}

/* Version 1; padded so that the elements start at a multiple of 64. */
static void
put_header(bs_text *out, const gs_tensor *t) {
  bs_text dictionary;
  bs_text_init(&dictionary, out->heap);
  bs_putf(&dictionary, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
          gs_dtype_table[t->dtype].bytes == 1 ? '|' : '<',
          gs_dtype_table[t->dtype].npy);
  for (uint32_t d = 0; d < t->rank; d++)
    bs_putf(&dictionary, "%s%lld", d ? ", " : "", (long long)t->dim[d]);
  bs_put(&dictionary, t->rank == 1 ? ",), }" : "), }");
  while ((10 + dictionary.len + 1) % 64)
    bs_putc(&dictionary, ' ');
  bs_putc(&dictionary, '\n');
  bs_putn(out, "\x93NUMPY\x01\x00", 8);
  bs_putc(out, (char)(dictionary.len & 0xff));
  bs_putc(out, (char)(dictionary.len >> 8));
  bs_putn(out, dictionary.data, dictionary.len);
  bs_text_done(&dictionary);
}

bool
gs_npy_write(const gs_context *ctx, const char *path, const gs_tensor *t) {
  assert(t->data || !t->elements);
  bs_text out;
  bs_text_init(&out, ctx->heap);
  put_header(&out, t);
  bs_putn(&out, t->data, (size_t)t->elements * gs_dtype_table[t->dtype].bytes);
  bool ok = bs_file_write(ctx->diags, path, out.data, out.len);
  bs_text_done(&out);
  return ok;
}
