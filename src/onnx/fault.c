/* SPDX-License-Identifier: MIT */
/* fault.c - what is wrong with a model: its file, and the node with its
 * attributes. */
#include "onnx/flow.h"

#include <assert.h>
#include <string.h>

enum { MOST_ITEMS = 12, MOST_TEXT = 60 };

static void
put_items(bs_text *text, const Onnx__Attribute *a) {
  size_t n = a->n_ints ? a->n_ints : a->n_floats;
  for (size_t k = 0; k < n && k < MOST_ITEMS; k++)
    if (a->n_ints)
      bs_putf(text, "%s%lld", k ? " " : "", (long long)a->ints[k]);
    else
      bs_putf(text, "%s%g", k ? " " : "", (double)a->floats[k]);
  if (n > MOST_ITEMS)
    bs_put(text, " ...");
}

/* What came from the model is printed without control characters. */
void
on_put_plain(bs_text *text, const char *s, size_t n) {
  for (size_t k = 0; k < n && k < MOST_TEXT; k++)
    bs_putc(text, s[k] >= ' ' && s[k] < 127 ? s[k] : '?');
  if (n > MOST_TEXT)
    bs_put(text, "...");
}

static void
put_attribute(bs_text *text, const Onnx__Attribute *a) {
  on_put_plain(text, a->name ? a->name : "", a->name ? strlen(a->name) : 0);
  bs_put(text, " = ");
  if (a->n_ints || a->n_floats)
    put_items(text, a);
  else if (a->has_i)
    bs_putf(text, "%lld", (long long)a->i);
  else if (a->has_f)
    bs_putf(text, "%g", (double)a->f);
  else if (a->has_s)
    on_put_plain(text, (const char *)a->s.data, a->s.len);
  else
    bs_put(text, "...");
}

/* The nodes that call the function in which it stands. */
static void
put_path(bs_text *text, const on_import *im) {
  if (!im->call || im->node == im->call->node)
    return;
  on_put_plain(text, im->call->path, strlen(im->call->path));
  bs_putc(text, '/');
}

/* node /layer1/Conv (Conv; group = 2, strides = 2 2) */
static void
put_node(bs_text *text, const on_import *im) {
  const Onnx__Node *n = im->node;
  const char *name = n->name && *n->name ? n->name
                     : n->n_output       ? n->output[0]
                                         : "without a name";
  bs_put(text, "node ");
  put_path(text, im);
  on_put_plain(text, name, strlen(name));
  bs_put(text, " (");
  on_put_plain(text, n->op_type ? n->op_type : "",
               n->op_type ? strlen(n->op_type) : 0);
  for (size_t k = 0; k < n->n_attribute && k < MOST_ITEMS; k++) {
    bs_put(text, k ? ", " : "; ");
    put_attribute(text, n->attribute[k]);
  }
  bs_put(text, "): ");
}

void
on_hint(on_import *im, const char *format, ...) {
  if (!im->told)
    return;
  va_list args;
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  bs_hint(im->ctx->diags, "%s", bs_text_str(&text));
  bs_text_done(&text);
  im->unadvised = false;
}

static void
tell(on_import *im, const char *format, va_list args) {
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  bs_putf(&text, "%s: ", im->options->path);
  if (im->node)
    put_node(&text, im);
  bs_putv(&text, format, args);
  bs_error(im->ctx->diags, BS_NOWHERE, im->node ? "onnx-node" : "onnx-model",
           "%s", bs_text_str(&text));
  bs_text_done(&text);
  im->told = im->unadvised = true;
  if (!im->node)
    on_hint(im, ON_CHECKER);
}

bool
on_fail(on_import *im, const char *format, ...) {
  assert(format && *format);
  va_list args;
  im->told = false;
  if (im->failed)
    return false;
  im->failed = true;
  va_start(args, format);
  tell(im, format, args);
  va_end(args);
  return false;
}

bool
on_wrong(on_import *im, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(im, format, args);
  va_end(args);
  return false;
}
