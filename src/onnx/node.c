/* SPDX-License-Identifier: MIT */
/* node.c - what a node is given: inputs, attributes, lists of either. */
#include "onnx/flow.h"
#include "onnx/sized.h"

#include <assert.h>
#include <string.h>

uint32_t
on_inputs(const on_import *im) {
  return (uint32_t)im->node->n_input;
}

static on_value *
find(on_import *im, const char *name) {
  uint32_t at = bs_map_get(&im->values, bs_sym(im->ctx->values, name).i);
  return at == BS_NO_ENTRY ? NULL : im->list.data[at];
}

void
on_read_stored(on_import *im, on_value *v) {
  if (!v->stored || v->array || v->poison)
    return;
  v->array = on_load(im, v->stored);
  v->poison = !v->array;
  if (v->array)
    v->array->name = v->name;
}

on_value *
on_in(on_import *im, uint32_t k) {
  if (k >= im->node->n_input || !*im->node->input[k])
    return NULL;
  on_value *v = find(im, im->node->input[k]);
  if (v)
    on_read_stored(im, v);
  return v;
}

on_array *
on_array_in(on_import *im, uint32_t k) {
  on_value *v = on_in(im, k);
  if (!v)
    return NULL;
  if (!v->array && !v->poison) {
    on_fail(im, "input %u is not known while importing, as it must be", k);
    on_hint(im, "%.60s has to be an initializer, or computed from known values",
            v->name);
  }
  im->failed |= v->poison;
  return v->array;
}

gs_term
on_term_in(on_import *im, uint32_t k) {
  on_value *v = on_in(im, k);
  if (!v) {
    on_fail(im, "input %u is missing", k);
    return GS_NO_TERM;
  }
  im->failed |= v->poison;
  return v->array ? t_constant(im, v->array) : v->term;
}

int32_t
on_type_in(on_import *im, uint32_t k) {
  on_value *v = on_in(im, k);
  return !v ? ON_FLOAT : v->array ? v->array->type : v->type;
}

bool
on_shape_in(on_import *im, uint32_t k, gs_type *out) {
  on_value *v = on_in(im, k);
  if (!v)
    return on_fail(im, "input %u is missing", k);
  if (!v->array)
    return t_type(im, v->term, out);
  *out = (gs_type){.access = (uint8_t)v->array->rank,
                   .rank = (uint8_t)v->array->rank,
                   .dtype = on_type_of(v->array->type)->dtype};
  memcpy(out->dim, v->array->dim, sizeof out->dim);
  return true;
}

/* ---- results ---- */

bool
on_wants(const on_import *im, uint32_t k) {
  return k < im->node->n_output && *im->node->output[k];
}

/* The result is called as the node, or, without a name, as its output; in a
 * function, behind the name of what calls it. */
static const char *
result_name(const on_import *im, uint32_t k) {
  const Onnx__Node *n = im->node;
  const char *own = n->name && *n->name && k == 0 ? n->name : n->output[k];
  return im->call && n != im->call->node
             ? bs_arena_printf(im->ctx->arena, "%.100s/%.100s", im->call->path,
                               own)
             : own;
}

static void
give(on_import *im, uint32_t k, gs_term t, on_array *a, int32_t type) {
  if (!on_wants(im, k))
    return;
  on_value *v = find(im, im->node->output[k]);
  assert(v && (!a || !gs_term_ok(t)));
  v->term = t;
  v->array = a;
  v->type = type;
  v->poison = im->failed || (!a && !gs_term_ok(t));
}

static bool
has_let(const on_import *im, gs_term t) {
  assert(t.i < im->p->nodes.len);
  const gs_program *p = im->p;
  gs_op op = gs_at(p, t)->op;
  return op == GS_TENSOR || op == GS_CONST ||
         (p->lets.len && bs_last(&p->lets).term.i == t.i);
}

/* Sums of half floats are f32, and rounded once; places are i32.  What reads
 * the result relies on its type. */
static gs_term
typed(on_import *im, gs_term t, int32_t type) {
  gs_type own;
  const on_type *to = on_type_of(type);
  if (!gs_term_ok(t) || !t_type(im, t, &own) || own.dtype == to->dtype)
    return t;
  bool rounds = own.dtype == GS_F32 && to->bytes == 2 && to->real;
  if (rounds || (own.dtype == GS_I32 && to->dtype == GS_I64))
    return t_cast(im, to->dtype, t);
  on_fail(im, "its result would be of type %s, not of %s",
          gs_dtype_table[own.dtype].name, to->name);
  return GS_NO_TERM;
}

void
on_out(on_import *im, uint32_t k, gs_term t, int32_t type) {
  t = typed(im, t_whole(im, t), type);
  give(im, k, t, NULL, type);
  if (im->failed || !gs_term_ok(t) || has_let(im, t) || !on_wants(im, k))
    return;
  const char *name = on_fresh_name(im, result_name(im, k));
  bs_push(im->ctx->heap, &im->p->lets, (gs_named){name, t, BS_NOWHERE});
}

void
on_out_array(on_import *im, uint32_t k, on_array *a) {
  if (a && !a->name) {
    a->name = result_name(im, k);
    a->node = im->node;
  }
  if (a && !im->reads_sizes && on_holds_sizes(im, a))
    on_fail(im, "an integer is too large where dimensions are open");
  give(im, k, GS_NO_TERM, a, a ? a->type : ON_FLOAT);
}

/* ---- names ---- */

/* A slash is how exporters separate parts of a path. */
const char *
on_plain_name(on_import *im, const char *name) {
  bs_text text;
  bs_text_init(&text, im->ctx->heap);
  while (*name == '/' || *name == '.')
    name++;
  bool letter = (*name >= 'a' && *name <= 'z') ||
                (*name >= 'A' && *name <= 'Z') || *name == '_';
  if (!letter)
    bs_putc(&text, 'n');
  for (size_t k = 0; name[k] && k < 180; k++) {
    char c = name[k];
    bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                (c >= '0' && c <= '9') || c == '_' || c == '-';
    bs_putc(&text, fits ? c : c == '/' || c == '.' ? '.' : '_');
  }
  const char *out = bs_arena_strdup(im->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

void
on_take_name(on_import *im, const char *name) {
  bs_map_put(im->ctx->heap, &im->taken, bs_sym(im->ctx->values, name).i, 1);
}

/* A name that is taken is numbered: how often it was is kept with it. */
const char *
on_fresh_name(on_import *im, const char *name) {
  const char *plain = on_plain_name(im, name), *out = plain;
  uint32_t first = bs_sym(im->ctx->values, plain).i;
  uint32_t n = bs_map_get(&im->taken, first);
  while (bs_map_get(&im->taken, bs_sym(im->ctx->values, out).i) != BS_NO_ENTRY)
    out = bs_arena_printf(im->ctx->arena, "%s_%u", plain, ++n);
  on_take_name(im, out);
  if (out != plain)
    bs_map_put(im->ctx->heap, &im->taken, first, n);
  return out;
}

/* ---- attributes ---- */

const Onnx__Attribute *
on_attr(const on_import *im, const char *name) {
  for (size_t k = 0; k < im->node->n_attribute; k++)
    if (im->node->attribute[k]->name &&
        !strcmp(im->node->attribute[k]->name, name))
      return im->node->attribute[k];
  return NULL;
}

/* Its kind was checked; a number that is 0 may be left out of the file. */
int64_t
on_attr_int(const on_import *im, const char *name, int64_t otherwise) {
  const Onnx__Attribute *a = on_attr(im, name);
  return a ? a->i : otherwise;
}

double
on_attr_real(const on_import *im, const char *name, double otherwise) {
  const Onnx__Attribute *a = on_attr(im, name);
  return a ? (double)a->f : otherwise;
}

bool
on_attr_is(const on_import *im, const char *name, const char *word,
           const char *otherwise) {
  const Onnx__Attribute *a = on_attr(im, name);
  size_t n = strlen(word);
  if (!a)
    return !strcmp(word, otherwise);
  return a->s.len == n && !memcmp(a->s.data, word, n);
}

bool
on_attr_ints(on_import *im, const char *name, int64_t otherwise, int64_t *out,
             uint32_t n) {
  const Onnx__Attribute *a = on_attr(im, name);
  for (uint32_t k = 0; k < n; k++)
    out[k] = otherwise;
  if (!a || !a->n_ints)
    return true;
  if (a->n_ints != n)
    return on_fail(im, "%s has %zu %s, where %u %s expected", name,
                   BS_COUNTED(a->n_ints, "item"),
                   BS_COUNTED_AS(n, "is", "are"));
  for (uint32_t k = 0; k < n; k++) {
    out[k] = a->ints[k];
    if (out[k] > INT32_MAX || out[k] < INT32_MIN)
      return on_fail(im, "%s has a size that is out of range", name);
  }
  return true;
}

static bool
list_of_array(on_import *im, const on_array *a, int64_t *out, int *n) {
  if (a->rank > 1 || a->n > GS_MAX_RANK || on_is_real(a))
    return on_fail(im, "a list of at most %d integers is expected",
                   GS_MAX_RANK);
  for (int64_t k = 0; k < a->n; k++)
    out[k] = on_int(a, k);
  *n = (int)a->n;
  return true;
}

bool
on_list(on_import *im, const char *name, uint32_t input, int64_t *out, int *n) {
  const Onnx__Attribute *a = name ? on_attr(im, name) : NULL;
  *n = -1;
  if (a && a->n_ints > GS_MAX_RANK)
    return on_fail(im, "%s has too many items", name);
  if (a) {
    *n = (int)a->n_ints;
    memcpy(out, a->ints, a->n_ints * sizeof *out);
    return true;
  }
  if (input >= 255 || !on_in(im, input))
    return true;
  const on_array *list = on_array_in(im, input);
  return list && list_of_array(im, list, out, n);
}

bool
on_axis(on_import *im, int64_t axis, uint32_t rank, uint32_t *out) {
  *out = 0;
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return on_fail(im, "there is no axis %lld of %u", (long long)axis, rank);
  *out = (uint32_t)(axis < 0 ? axis + rank : axis);
  return true;
}

bool
on_axes(on_import *im, uint32_t input, uint32_t rank, bool *out, bool *given) {
  assert(rank <= GS_MAX_RANK);
  int64_t list[GS_MAX_RANK];
  int n;
  uint32_t axis;
  if (!on_list(im, "axes", input, list, &n))
    return false;
  *given = n > 0;
  for (uint32_t k = 0; k < rank; k++)
    out[k] = !*given;
  for (int k = 0; k < n; k++) {
    if (!on_axis(im, list[k], rank, &axis))
      return false;
    out[axis] = true;
  }
  return true;
}

/* The format says that the result is the input; others apply what is done to
 * each element before the sum, and to the sum. */
bool
on_no_axes(on_import *im, bool given) {
  int which = im->row->which;
  if (given || !on_attr_int(im, "noop_with_empty_axes", 0))
    return false;
  if (which == ON_REDUCE_L1 || which == ON_REDUCE_L2 ||
      which == ON_REDUCE_SUM_SQUARE || which == ON_REDUCE_LOG_SUM)
    on_fail(im, "what it makes of no axes is not agreed on");
  return true;
}
