/* SPDX-License-Identifier: MIT */
/* onnx_function.c - functions that a model defines, written out where nodes
 * call them.
 *
 * The names of a function are its own: while it is walked, the table of values
 * is another one, which begins with its inputs.  What a call gives to all nodes
 * of a function, however deep they stand in graphs of it, is looked up when
 * such a node is looked at. */
#include "onnx/flow.h"
#include "onnx/onnx_graph.h"

#include <string.h>

/* ---- by name ---- */

static bool
is_standard(const char *domain) {
  return !domain || !*domain || !strcmp(domain, "ai.onnx");
}

static uint32_t
key_of(const on_import *im, const char *domain, const char *name,
       const char *overload) {
  const char *key = bs_arena_printf(im->ctx->arena, "%s\n%s\n%s",
                                    is_standard(domain) ? "" : domain,
                                    name ? name : "", overload ? overload : "");
  return bs_sym(im->ctx->values, key).i;
}

/* Its nodes and names as a graph. */
static void
make_body(on_import *im, on_function *f) {
  bs_arena *arena = im->ctx->arena;
  const Onnx__Function *proto = f->proto;
  Onnx__Graph *g = BS_NEW(arena, Onnx__Graph);
  *g = (Onnx__Graph)ONNX__GRAPH__INIT;
  g->n_node = proto->n_node;
  g->node = proto->node;
  g->n_output = proto->n_output;
  g->output = BS_NEWS(arena, Onnx__ValueInfo *, g->n_output + 1);
  for (size_t k = 0; k < g->n_output; k++) {
    g->output[k] = BS_NEW(arena, Onnx__ValueInfo);
    *g->output[k] = (Onnx__ValueInfo)ONNX__VALUE_INFO__INIT;
    g->output[k]->name = proto->output[k];
  }
  f->body = (on_body){.graph = g};
}

bool
on_take_functions(on_import *im) {
  for (size_t k = 0; k < im->model->n_functions; k++) {
    const Onnx__Function *proto = im->model->functions[k];
    uint32_t key = key_of(im, proto->domain, proto->name, proto->overload);
    if (bs_map_get(&im->function_of, key) != BS_NO_ENTRY)
      return on_wrong(im, "two functions are called %.100s",
                      proto->name ? proto->name : "");
    on_function *f = BS_NEW(im->ctx->arena, on_function);
    f->proto = proto;
    make_body(im, f);
    bs_map_put(im->ctx->heap, &im->function_of, key, im->functions.len);
    bs_push(im->ctx->heap, &im->functions, f);
  }
  return true;
}

on_function *
on_called(const on_import *im) {
  const Onnx__Node *n = im->node;
  if (!im->functions.len)
    return NULL;
  uint32_t at = bs_map_get(&im->function_of,
                           key_of(im, n->domain, n->op_type, n->overload));
  return at == BS_NO_ENTRY ? NULL : im->functions.data[at];
}

/* ---- what a call gives to a node ---- */

static const Onnx__Attribute *
attribute_of(Onnx__Attribute *const *list, size_t n, const char *name) {
  for (size_t k = 0; k < n; k++)
    if (list[k]->name && !strcmp(list[k]->name, name))
      return list[k];
  return NULL;
}

/* NULL: neither the call nor the function says what it is. */
static Onnx__Attribute *
meant(on_import *im, Onnx__Attribute *a) {
  const Onnx__Node *n = im->call->node;
  const Onnx__Function *f = im->call->function->proto;
  if (!a->ref_attr_name)
    return a;
  const Onnx__Attribute *from =
      attribute_of(n->attribute, n->n_attribute, a->ref_attr_name);
  if (!from)
    from = attribute_of(f->attribute_proto, f->n_attribute_proto,
                        a->ref_attr_name);
  if (!from)
    return NULL;
  Onnx__Attribute *own = BS_NEW(im->ctx->arena, Onnx__Attribute);
  *own = *from;
  own->name = a->name;
  return own;
}

static bool
is_absent(on_import *im, const char *name) {
  const on_value *v = *name ? on_find(im, name) : NULL;
  return v && v->absent;
}

static bool
is_as_it_stands(on_import *im, const Onnx__Node *n) {
  bool same = true;
  for (size_t k = 0; k < n->n_attribute; k++)
    same &= !n->attribute[k]->ref_attr_name;
  for (size_t k = 0; k < n->n_input; k++)
    same &= !is_absent(im, n->input[k]);
  return same;
}

const Onnx__Node *
on_own_node(on_import *im, const Onnx__Node *n) {
  static char none[] = "";
  if (!im->call || is_as_it_stands(im, n))
    return n;
  Onnx__Node *own = BS_NEW(im->ctx->arena, Onnx__Node);
  *own = *n;
  own->input = BS_NEWS(im->ctx->arena, char *, n->n_input + 1);
  own->attribute =
      BS_NEWS(im->ctx->arena, Onnx__Attribute *, n->n_attribute + 1);
  for (size_t k = 0; k < n->n_input; k++)
    own->input[k] = is_absent(im, n->input[k]) ? none : n->input[k];
  own->n_attribute = 0;
  for (size_t k = 0; k < n->n_attribute; k++) {
    Onnx__Attribute *a = meant(im, n->attribute[k]);
    if (a)
      own->attribute[own->n_attribute++] = a;
  }
  return own;
}

/* ---- calls ---- */

static bool
has_attribute(const Onnx__Function *f, const char *name) {
  for (size_t k = 0; k < f->n_attribute; k++)
    if (!strcmp(f->attribute[k], name))
      return true;
  return attribute_of(f->attribute_proto, f->n_attribute_proto, name) != NULL;
}

/* A graph would see the names around the call, which the function does not. */
static bool
check_graphs(on_import *im, Onnx__Attribute *const *list, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (list[k]->has_g || list[k]->n_graphs)
      return on_fail(im, "a graph as an attribute of a function is not "
                         "supported");
  return true;
}

static bool
check_attributes(on_import *im, const Onnx__Function *f) {
  const Onnx__Node *n = im->node;
  for (size_t k = 0; k < n->n_attribute; k++) {
    const char *name = n->attribute[k]->name ? n->attribute[k]->name : "";
    if (!has_attribute(f, name))
      return on_fail(im, "the function has no attribute %.60s",
                     *name ? name : "without a name");
    if (attribute_of(n->attribute, k, name))
      return on_fail(im, "the attribute %.60s is given twice", name);
    if (n->attribute[k]->ref_attr_name)
      return on_fail(im,
                     "the attribute %.60s is that of a function, in which the "
                     "node does not stand",
                     name);
  }
  return check_graphs(im, n->attribute, n->n_attribute) &&
         check_graphs(im, f->attribute_proto, f->n_attribute_proto);
}

/* A function that calls itself would never end. */
static bool
check_depth(on_import *im, const on_function *f) {
  for (const on_call *c = im->call; c; c = c->outer)
    if (c->function == f)
      return on_fail(im, "the function %.60s calls itself",
                     f->proto->name ? f->proto->name : "");
  return !im->call || im->call->depth < ON_MOST_CALLS ||
         on_fail(im, "functions call others more than %d deep", ON_MOST_CALLS);
}

/* The version of the standard operators that its nodes are written for. */
static bool
version_of(on_import *im, const Onnx__Function *f, int64_t *out) {
  *out = im->opset;
  for (size_t k = 0; k < f->n_opset_import; k++)
    if (is_standard(f->opset_import[k]->domain))
      *out = f->opset_import[k]->version;
  return (*out >= ON_OLDEST && *out <= ON_NEWEST) ||
         on_fail(im,
                 "the function is written for version %lld of the operators; "
                 "%d to %d are supported",
                 (long long)*out, ON_OLDEST, ON_NEWEST);
}

static bool
check_call(on_import *im, const on_function *f, int64_t *opset) {
  const Onnx__Node *n = im->node;
  const Onnx__Function *proto = f->proto;
  if (is_standard(proto->domain) && proto->name && on_find_row(proto->name))
    return on_fail(im, "the model has a function of this name, and the "
                       "standard an operator");
  if (n->n_input > proto->n_input || n->n_output > proto->n_output)
    return on_fail(im, "the function has %zu %s and %zu %s, not %zu and %zu",
                   BS_COUNTED(proto->n_input, "input"),
                   BS_COUNTED(proto->n_output, "output"), n->n_input,
                   n->n_output);
  return check_attributes(im, proto) && check_depth(im, f) &&
         version_of(im, proto, opset);
}

/* What names of its nodes begin with: the names of the nodes that call it. */
static const char *
path_of(const on_import *im) {
  const Onnx__Node *n = im->node;
  const char *own = n->name && *n->name ? n->name
                    : n->n_output       ? n->output[0]
                                        : "call";
  return im->call ? bs_arena_printf(im->ctx->arena, "%.100s/%.60s",
                                    im->call->path, own)
                  : own;
}

/* The inputs, as names of the function alone. */
static bool
define_inputs(on_import *im, const Onnx__Function *f, on_value *const *in,
              size_t n) {
  const on_value none = {.term = GS_NO_TERM, .absent = true};
  for (size_t k = 0; k < f->n_input; k++)
    if (!on_define_as(im, f->input[k], k < n && in[k] ? in[k] : &none))
      return false;
  return true;
}

static on_call *
begin_call(on_import *im, const on_function *f, int64_t opset) {
  on_call *call = BS_NEW(im->ctx->arena, on_call);
  *call = (on_call){.function = f,
                    .node = im->node,
                    .outer = im->call,
                    .path = path_of(im),
                    .depth = im->call ? im->call->depth + 1 : 1,
                    .values = im->values,
                    .opset = im->opset};
  im->values = (bs_map){0};
  im->opset = opset;
  im->call = call;
  return call;
}

void
on_call_function(on_import *im, on_function *f) {
  const Onnx__Node *node = im->node;
  int64_t opset = im->opset;
  if (!check_call(im, f, &opset))
    return;
  on_value **in = BS_NEWS(im->ctx->arena, on_value *, node->n_input + 1);
  for (uint32_t k = 0; k < node->n_input; k++)
    in[k] = on_in(im, k);
  on_frame *frame = on_enter_graph(im, &f->body, NULL, im->ctx->diags->errors);
  frame->call = begin_call(im, f, opset);
  bool fine = define_inputs(im, f->proto, in, node->n_input);
  if (fine)
    on_mark_needed(im, &f->body);
  im->node = node;
  if (!fine || im->ctx->diags->errors > frame->errors)
    on_leave_graph(im);
}

/* Its values are found before its names end, and given behind. */
void
on_return(on_import *im, const on_frame *f) {
  size_t n = f->node->n_output;
  on_value **out = BS_NEWS(im->ctx->arena, on_value *, n + 1);
  for (size_t k = 0; k < n; k++)
    out[k] = on_wants(im, (uint32_t)k) ? on_given(im, f, k) : NULL;
  on_leave_graph(im);
  for (size_t k = 0; k < n; k++)
    if (out[k])
      on_give_as(im, k, out[k]);
}
