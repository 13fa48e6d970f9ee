/* SPDX-License-Identifier: MIT */
/* parse_data.c - where the elements of an input stand, behind its dtype:
 *
 *   :data "FILE" OFFSET   :data "FILE.npy"   :data "FILE.safetensors" "KEY"
 *
 * The file is not looked into: it need not be there while a program is read.
 * Where it is, it counts as one that was read, as code is made for it. */
#include "base/file.h"
#include "glenside/text/parse.h"
#include <string.h>

static bool
ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && !strcmp(text + n - m, end);
}

/* A symbol may hold a zero byte, which no name of a file or an array does. */
static const char *
read_name(gs_parser *x, uint32_t node) {
  bs_value value = parse_at(x, node)->value;
  const char *text = bs_as_sym(x->ctx->values, value);
  if (strlen(text) == bs_sym_len(x->ctx->values, value))
    return text;
  bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-data",
           "the name has a zero byte");
  return NULL;
}

static bool
read_file(gs_parser *x, uint32_t node, gs_data *data) {
  data->file = read_name(x, node);
  if (!data->file)
    return false;
  data->span = parse_at(x, node)->span;
  data->beside = x->ctx->diags->sources.data[data->span.file - 1].path;
  const char *why = bs_why_not_within(data->file);
  if (why)
    return bs_error(x->ctx->diags, data->span, "bad-data", "%s", why);
  bs_note_file(x->ctx->diags, data->beside, data->file);
  return true;
}

static bool
read_offset(gs_parser *x, uint32_t node, gs_data *data) {
  data->offset = bs_as_int(x->ctx->values, parse_at(x, node)->value);
  return data->offset >= 0 ||
         bs_error(x->ctx->diags, parse_at(x, node)->span, "bad-data",
                  "the elements cannot begin before the file does");
}

static bool
read_key(gs_parser *x, uint32_t node, gs_data *data) {
  data->form = GS_DATA_SAFETENSORS;
  data->key = read_name(x, node);
  return data->key != NULL;
}

/* Only such a file says by itself where the one array stands. */
static bool
read_alone(gs_parser *x, gs_data *data) {
  data->form = GS_DATA_NPY;
  if (ends_with(data->file, ".npy"))
    return true;
  bs_error(x->ctx->diags, data->span, "bad-data",
           "%s does not say where the elements are", data->file);
  bs_hint(x->ctx->diags, ends_with(data->file, ".safetensors")
                             ? "write the array's key after it, in quotes"
                             : "write the number of the first byte after it");
  return false;
}

static bool
read_place(gs_parser *x, uint32_t node, gs_data *data) {
  if (!node)
    return read_alone(x, data);
  if (parse_at(x, node)->kind == BS_SX_STRING)
    return read_key(x, node, data);
  return read_offset(x, node, data);
}

static bool
has_form(gs_parser *x, uint32_t word, uint32_t file, uint32_t place) {
  const char *text = parse_symbol(x, word);
  bs_sx_kind kind = place ? parse_at(x, place)->kind : BS_SX_INT;
  return text && !strcmp(text, ":data") && file &&
         parse_at(x, file)->kind == BS_SX_STRING &&
         (kind == BS_SX_INT || kind == BS_SX_STRING);
}

bool
parse_data(gs_parser *x, const char *name, uint32_t word) {
  uint32_t file = parse_at(x, word)->next;
  uint32_t place = file ? parse_at(x, file)->next : 0;
  gs_data data = {.name = name};
  if (!has_form(x, word, file, place))
    return bs_error(x->ctx->diags, parse_at(x, word)->span, "bad-data",
                    "expected :data \"FILE\" and, after it, an offset or a "
                    "key in quotes");
  if (!read_file(x, file, &data) || !read_place(x, place, &data))
    return false;
  gs_add_data(x->p, &data);
  return true;
}
