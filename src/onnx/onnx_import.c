/* SPDX-License-Identifier: MIT */
/* onnx_import.c - from a model to a program and the file of its weights. */
#include "base/file.h"
#include "onnx/flow.h"
#include "onnx/onnx_graph.h"
#include "onnx/onnx_range.h"
#include "onnx/ordered.h"
#include "onnx/sized.h"
#include "onnx/weights.h"

#include <string.h>

enum { MOST_FAULTS = 1000 };

/* ---- before the nodes ---- */

static bool
check_versions(on_import *im) {
  for (size_t k = 0; k < im->model->n_opset_import; k++) {
    const Onnx__OperatorSet *set = im->model->opset_import[k];
    if (set->domain && *set->domain && strcmp(set->domain, "ai.onnx") != 0)
      continue;
    if (im->opset && im->opset != set->version)
      return on_wrong(im,
                      "the model is written for versions %lld and %lld of the "
                      "operators",
                      (long long)im->opset, (long long)set->version);
    im->opset = set->version;
  }
  if (im->opset < ON_OLDEST || im->opset > ON_NEWEST) {
    on_wrong(im,
             "the model is written for version %lld of the operators; %d to %d "
             "are supported",
             (long long)im->opset, ON_OLDEST, ON_NEWEST);
    on_hint(im,
            "the onnx package for Python converts it: "
            "onnx.version_converter.convert_version(model, %d)",
            ON_NEWEST);
    return false;
  }
  if (!im->graph->n_sparse_initializer)
    return true;
  on_wrong(im, "sparse initializers are not supported");
  on_hint(im, "write them as dense ones");
  return false;
}

/* The size that --dim gives a symbol; 0: none. */
static gs_number
dim_of(on_import *im, const char *symbol) {
  const on_options *o = im->options;
  size_t n = strlen(symbol);
  gs_size size;
  for (uint32_t k = 0; k < o->n_dims; k++)
    if (!strncmp(o->dims[k], symbol, n) && o->dims[k][n] == '=' &&
        on_read_dim(o->dims[k], &size))
      return size.least == size.most ? size.least
                                     : on_open_size(im, symbol, size);
  return 0;
}

#define NAME_IT "export the model with a size there, or with a name for it"

/* Some exporters write such a size where one is open. */
static bool
bad_size(on_import *im, const char *name, uint32_t k, int64_t size) {
  if (size)
    on_wrong(im, "input %.100s: dimension %u has a size below 0, %lld", name, k,
             (long long)size);
  else
    on_wrong(im,
             "input %.100s: dimension %u has size 0, and arrays without "
             "elements are not supported",
             name, k);
  on_hint(im, NAME_IT);
  return false;
}

static bool
input_size(on_import *im, const char *name, uint32_t k,
           const Onnx__Dimension *d, int64_t *out) {
  *out = d->has_dim_value ? d->dim_value : 0;
  if (!d->has_dim_value && d->dim_param)
    *out = dim_of(im, d->dim_param);
  if (*out > 0)
    return true;
  const char *symbol = d->dim_param && *d->dim_param ? d->dim_param : NULL;
  if (d->has_dim_value)
    return bad_size(im, name, k, d->dim_value);
  on_wrong(im, "input %.100s: the size of dimension %u%s%.60s is not known",
           name, k, symbol ? ", " : "", symbol ? symbol : "");
  if (symbol)
    on_hint(im,
            "give it: --dim %.60s=1, or --dim %.60s=1..512 for code that takes "
            "any of these; in Python, glen.load(model, {\"%.60s\": 1})",
            symbol, symbol, symbol);
  else
    on_hint(im, NAME_IT);
  return false;
}

static bool
input_type(on_import *im, const Onnx__ValueInfo *info, int32_t *type,
           gs_type *out) {
  const Onnx__TensorType *t = info->type ? info->type->tensor_type : NULL;
  if (!t || !t->shape)
    return on_wrong(im, "input %.100s: it is not a tensor with a shape",
                    info->name);
  *type = t->elem_type;
  if (!on_type_of(*type)->known) {
    on_wrong(im, "input %.100s: elements of type %s are not supported",
             info->name, on_type_of(*type)->name);
    on_hint(im, "export the model with an input of another type, and convert "
                "it to what the nodes take by a Cast");
    return false;
  }
  if (t->shape->n_dim > GS_MAX_RANK)
    return on_wrong(im, "input %.100s has too many dimensions", info->name);
  out->access = out->rank = (uint8_t)t->shape->n_dim;
  out->dtype = on_type_of(*type)->dtype;
  bool fine = true;
  for (uint32_t k = 0; k < out->rank; k++)
    fine &= input_size(im, info->name, k, t->shape->dim[k], &out->dim[k]);
  return fine;
}

/* NULL: there is nothing more to declare.  An initializer that has the name of
 * an input is its default, and is what is imported. */
static on_value *
named_input(on_import *im, const Onnx__ValueInfo *info) {
  on_value *v = on_define(im, info->name), *stored = on_find(im, info->name);
  if (!v && stored->is_input)
    on_wrong(im, "two inputs are called %.100s", info->name);
  else if (!v)
    on_check_declared(im, "input", info, stored);
  stored->is_input = true;
  return v;
}

static void
declare_input(on_import *im, const Onnx__ValueInfo *info) {
  gs_type type = {0};
  int32_t element = 0;
  if (!info->name || !*info->name) {
    on_wrong(im, "an input has no name");
    return;
  }
  on_value *v = named_input(im, info);
  if (!v)
    return;
  v->poison = !input_type(im, info, &element, &type);
  if (v->poison)
    return;
  v->type = element;
  v->term =
      gs_add_tensor(im->p, on_fresh_name(im, info->name), &type, BS_NOWHERE);
  v->poison = !gs_term_ok(v->term);
  if (v->poison)
    on_wrong(im, "input %.100s is too large", info->name);
}

static void
declare_all(on_import *im) {
  const Onnx__Graph *g = im->graph;
  for (size_t k = 0; k < g->n_output; k++)
    if (g->output[k]->name)
      on_take_name(im, on_plain_name(im, g->output[k]->name));
  for (size_t k = 0; k < g->n_initializer; k++) {
    const char *name = g->initializer[k]->name;
    on_value *v = name && *name ? on_define(im, name) : NULL;
    if (v)
      v->stored = g->initializer[k];
    else
      on_wrong(im, "an initializer has no name, or that of another one");
  }
  for (size_t k = 0; k < g->n_input; k++)
    declare_input(im, g->input[k]);
}

/* ---- behind them ---- */

static void
give_output(on_import *im, const Onnx__ValueInfo *info) {
  const char *name = info->name ? info->name : "";
  on_value *v = on_find(im, name);
  if (!v) {
    on_wrong(im, "no node gives the output %.100s", name);
    return;
  }
  gs_term t = on_term_of(im, v);
  if (!gs_term_ok(t) || im->failed || !on_check_declared(im, "output", info, v))
    return;
  const char *plain = on_plain_name(im, name);
  uint32_t symbol = bs_sym(im->ctx->values, plain).i;
  if (bs_map_get(&im->outputs, symbol) != BS_NO_ENTRY) {
    on_wrong(im, "two outputs are called %.100s", plain);
    return;
  }
  bs_map_put(im->ctx->heap, &im->outputs, symbol, 1);
  gs_add_output(im->p, plain, t, BS_NOWHERE);
}

static const char *
weights_name(const on_import *im) {
  const char *out = im->options->output, *slash = strrchr(out, '/');
  const char *base = slash ? slash + 1 : out, *dot = strrchr(base, '.');
  size_t n = dot ? (size_t)(dot - base) : strlen(base);
  return bs_arena_printf(im->ctx->arena, "%.*s.weights", (int)n, base);
}

/* Each fault of a weight is told, as one of the node that gave it. */
static void
place_weights(on_import *im, const char *file, bs_text *out) {
  for (uint32_t k = 0; k < im->weights.len; k++) {
    const on_weight *w = &im->weights.data[k];
    im->node = w->node;
    im->row = NULL;
    im->failed = im->told = false;
    on_place_weight(im, w, file, out);
    on_advise(im);
  }
}

/* The program without what is dead, and the bytes of its weights. */
static bool
finish(on_import *im, bs_text *weights) {
  const char *name = weights_name(im), *why = bs_why_not_within(name);
  if (why) {
    on_wrong(im, "the weights cannot go to the file %s: %s", name, why);
    on_hint(im, "that file is named after the program, which -o names");
    return false;
  }
  on_put_in_order(im);
  uint32_t before = im->ctx->diags->errors;
  place_weights(im, name, weights);
  im->summary->weights_file = name;
  return im->ctx->diags->errors == before;
}

static bool
is_new_dim(on_import *im, uint32_t k) {
  const char *const *dims = im->options->dims;
  size_t n = strcspn(dims[k], "=") + 1;
  for (uint32_t j = 0; j < k; j++)
    if (!strncmp(dims[j], dims[k], n)) {
      on_wrong(im, "dimension %.*s is given twice", (int)n - 1, dims[k]);
      on_hint(im, "give each dimension one size, or one pair of bounds");
      return false;
    }
  return true;
}

static bool
check_dims(on_import *im) {
  for (uint32_t k = 0; k < im->options->n_dims; k++) {
    gs_size size;
    if (!on_read_dim(im->options->dims[k], &size)) {
      on_wrong(im, "%.100s is not a dimension with its size",
               im->options->dims[k]);
      on_hint(im, "write NAME=SIZE, NAME=LEAST..MOST or "
                  "NAME=LEAST..MOST:MULTIPLE, with sizes from 1");
      return false;
    }
    if (!is_new_dim(im, k))
      return false;
  }
  on_warn_of_dims(im);
  return true;
}

static void
give_outputs(on_import *im) {
  for (size_t k = 0; k < im->graph->n_output; k++) {
    im->node = NULL;
    im->row = NULL;
    im->failed = false;
    give_output(im, im->graph->output[k]);
    on_advise(im);
  }
  im->node = NULL;
  if (!im->graph->n_output)
    on_wrong(im, "the model has no output");
  im->failed = false;
}

gs_program *
on_program_of(const gs_context *ctx, const on_options *options,
              const uint8_t *bytes, size_t size, on_summary *out,
              bs_text *weights) {
  uint32_t before = ctx->diags->errors;
  *out = (on_summary){0};
  if (ctx->diags->limit < MOST_FAULTS)
    ctx->diags->limit = MOST_FAULTS;
  const Onnx__Model *model = on_read(ctx, options->path, bytes, size);
  if (!model)
    return NULL;
  on_import im = {.ctx = ctx,
                  .options = options,
                  .model = model,
                  .graph = model->graph,
                  .p = gs_program_new(ctx, NULL),
                  .summary = out};
  if (!check_versions(&im) || !check_dims(&im))
    return NULL;
  if (!on_take_functions(&im))
    return NULL;
  declare_all(&im);
  on_walk(&im);
  give_outputs(&im);
  on_check_between(&im);
  on_tell_of_ranges(&im);
  return ctx->diags->errors == before && finish(&im, weights) ? im.p : NULL;
}

static bool
write_files(const gs_context *ctx, const gs_program *p, const char *path,
            const on_summary *s, const bs_text *weights) {
  bs_text text;
  bs_text_init(&text, ctx->heap);
  gs_print(p, false, &text);
  const char *beside = bs_path_beside(ctx->arena, path, s->weights_file);
  return (!s->weights ||
          bs_file_write(ctx->diags, beside, weights->data, weights->len)) &&
         bs_file_write(ctx->diags, path, text.data, text.len);
}

bool
on_import_file(const gs_context *ctx, const on_options *options,
               on_summary *out) {
  bs_text weights;
  size_t size;
  *out = (on_summary){0};
  bs_text_init(&weights, ctx->heap);
  const uint8_t *bytes = on_bytes_of(ctx, options->path, &size);
  const gs_program *p =
      bytes ? on_program_of(ctx, options, bytes, size, out, &weights) : NULL;
  return p && write_files(ctx, p, options->output, out, &weights);
}

gs_program *
on_load_file(const gs_context *ctx, const on_options *options) {
  bs_text weights;
  size_t size;
  on_summary summary;
  bs_text_init(&weights, ctx->heap);
  const uint8_t *bytes = on_bytes_of(ctx, options->path, &size);
  gs_program *p =
      bytes ? on_program_of(ctx, options, bytes, size, &summary, &weights)
            : NULL;
  for (uint32_t k = 0; p && k < p->data.len; k++) {
    p->data.data[k].held = weights.data;
    p->data.data[k].held_size = weights.len;
  }
  return p;
}
