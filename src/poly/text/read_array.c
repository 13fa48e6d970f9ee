/* SPDX-License-Identifier: MIT */
/* read_array.c - declarations of arrays.
 *
 *   ROLE NAME : DTYPE [ DIM [fold N] [pad N], ... ] [register | shared]
 *   constant NAME : DTYPE [ ... ] = { NUMBER, ... }
 *   memory MEMORY NAME : DTYPE [ ... ] at ADDRESS */
#include "glenside/array/tensor.h"
#include "poly/loops/names.h"
#include "poly/text/text_read.h"
#include <assert.h>
#include <math.h>
#include <string.h>

#define MAX_ARRAYS    100000
#define MAX_CONSTANTS ((int64_t)1 << 24)

/* Letters that only the generator puts before a number in a function. */
bool
po_name_is_taken(const char *name) {
  size_t digits = strspn(name + 1, "0123456789");
  bool numbered = name[1] && !name[1 + digits];
  if (numbered && (name[0] == 't' || name[0] == 'S' || name[0] == 'k'))
    return false;
  if (!strncmp(name, "acc", 3) &&
      strspn(name + 3, "0123456789") == strlen(name + 3))
    return false;
  return po_name_is_reserved(name);
}

static bool
read_name(po_reader *r, po_array *array) {
  uint32_t from = r->now.lo;
  if (!po_need_name(r, "a name", &array->name))
    return false;
  size_t n = strlen(array->name);
  if (po_find_entry(r, PO_E_ARRAY, array->name, n) != UINT32_MAX)
    return bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                    "an array is named `%s` already", array->name);
  if (!po_is_no_size(r, array->name, from))
    return false;
  return !po_name_is_taken(array->name) ||
         bs_error(r->ctx.diags, po_span_from(r, from), "reserved-name",
                  "`%s` is a word of C or of generated code", array->name);
}

/* fold N, pad N */
static bool
read_storage(po_reader *r, po_array *array, uint32_t d) {
  assert(d < array->rank);
  bool fold, pad;
  int64_t most = array->dim[d];
  if (!po_take_word(r, "fold", &fold) ||
      (fold && !po_need_int(r, 1, most, &array->fold[d])) ||
      !po_take_word(r, "pad", &pad) ||
      (pad && !po_need_int(r, 1, 1 << 20, &array->pad[d])))
    return false;
  bool own = array->role == PO_LOCAL || array->role == PO_WORKSPACE;
  bool placed = array->role == PO_MEMORY && !fold;
  return own || placed || (!fold && !pad) ||
         bs_error(r->ctx.diags, po_span_here(r), "storage",
                  "only workspace and local arrays are folded or padded");
}

static bool
read_dim(po_reader *r, po_array *array, uint32_t d) {
  assert(d < GS_MAX_RANK);
  uint32_t from = r->now.lo;
  if (!r->n_numbers)
    return po_need_int(r, 1, GS_MAX_ELEMENTS, &array->dim[d]) ||
           po_hint_dimension(r);
  if (!po_read_extent(r, array, d))
    return false;
  return !array->extent[d] || array->role != PO_CONSTANT ||
         bs_error(r->ctx.diags, po_span_from(r, from), "storage",
                  "the dimensions of a constant are numbers");
}

static bool
read_dims(po_reader *r, po_array *array) {
  int64_t elements;
  bool more = !po_is_symbol(r, "]");
  while (more) {
    if (array->rank == GS_MAX_RANK)
      return bs_error(r->ctx.diags, po_span_here(r), "rank",
                      "arrays have at most %d dimensions", GS_MAX_RANK);
    uint32_t d = array->rank++;
    if (!read_dim(r, array, d) || !read_storage(r, array, d) ||
        !po_take_symbol(r, ",", &more))
      return false;
  }
  bool fits = gs_checked_prod(array->dim, array->rank, &elements) &&
              elements <= GS_MAX_ELEMENTS;
  return (fits || bs_error(r->ctx.diags, po_span_here(r), "too-large",
                           "the array has more than 2^40 elements")) &&
         po_need_symbol(r, "]");
}

static bool
read_scope(po_reader *r, po_array *array) {
  bool taken;
  if (array->role != PO_LOCAL)
    return true;
  if (!po_take_word(r, "register", &taken))
    return false;
  if (taken)
    array->scope = PO_REGISTER;
  else if (!po_take_word(r, "shared", &taken))
    return false;
  else if (taken)
    array->scope = PO_SHARED;
  return true;
}

static bool
read_element(po_reader *r, gs_tensor *out, int64_t k) {
  assert(k >= 0 && k < out->elements);
  bool minus, word;
  double value;
  if (!po_take_symbol(r, "-", &minus))
    return false;
  if (!po_take_word(r, "inf", &word))
    return false;
  if (word) {
    value = INFINITY;
  } else if (po_is_word(r, "nan")) {
    value = NAN;
    if (!po_next_token(r))
      return false;
  } else if (r->now.kind == PO_T_INT || r->now.kind == PO_T_REAL) {
    value = r->now.real;
    if (!po_next_token(r))
      return false;
  } else {
    return po_syntax(r, "a number");
  }
  gs_tensor_set(out, k, minus ? -value : value);
  return true;
}

static bool
read_elements(po_reader *r, po_array *array) {
  int64_t n = gs_prod(array->dim, array->rank);
  if (n > MAX_CONSTANTS)
    return bs_error(r->ctx.diags, po_span_here(r), "too-large",
                    "constants have at most %lld elements",
                    (long long)MAX_CONSTANTS);
  size_t bytes = (size_t)n * gs_dtype_table[array->dtype].bytes;
  gs_tensor to = {.dtype = array->dtype, .elements = n};
  /* Copies that schedules make have the same numbers. */
  to.data = bs_arena_calloc(r->p->ctx.arena, 1, bytes);
  array->data = to.data;
  if (!po_need_symbol(r, "=") || !po_need_symbol(r, "{"))
    return false;
  for (int64_t k = 0; k < n; k++)
    if ((k && !po_need_symbol(r, ",")) || !read_element(r, &to, k))
      return false;
  return po_need_symbol(r, "}");
}

/* Inputs and outputs are those of a program of the language. */
static bool
declare(po_reader *r, po_array *array, uint32_t from) {
  gs_program *source = r->source;
  gs_type type = {.access = (uint8_t)array->rank,
                  .rank = (uint8_t)array->rank,
                  .dtype = array->dtype};
  memcpy(type.dim, array->dim, sizeof type.dim);
  if (array->role != PO_INPUT && array->role != PO_OUTPUT)
    return true;
  if (array->role == PO_INPUT && source->outputs.len)
    return bs_error(r->ctx.diags, po_span_from(r, from), "order",
                    "inputs are declared before outputs");
  gs_term t = gs_add_tensor(source, array->name, &type, po_span_from(r, from));
  if (!gs_term_ok(t))
    return bs_error(r->ctx.diags, po_span_from(r, from), "type",
                    "no tensor has this type");
  array->term = t;
  array->number = source->inputs.len - 1;
  if (array->role == PO_OUTPUT) {
    (void)bs_pop(&source->inputs);
    array->number = source->outputs.len;
    gs_add_output(source, array->name, t, po_span_from(r, from));
  }
  return true;
}

/* The memory that an array lies in. */
static bool
read_memory(po_reader *r, po_array *array) {
  const char *name;
  uint32_t from = r->now.lo;
  if (array->role != PO_MEMORY)
    return true;
  if (!po_need_name(r, "a memory", &name))
    return false;
  array->memory = r->target ? gs_find_memory(r->target, name) : 0;
  return array->memory ||
         bs_error(r->ctx.diags, po_span_from(r, from), "unknown-name",
                  "the target has no memory `%s`", name);
}

/* at ADDRESS; that it lies within the memory is the simulator's to say. */
static bool
read_address(po_reader *r, po_array *array) {
  return array->role != PO_MEMORY ||
         (po_need_word(r, "at") &&
          po_need_int(r, 0, GS_MAX_ELEMENTS, &array->offset));
}

bool
po_read_array(po_reader *r, po_role role) {
  assert(role <= PO_MEMORY);
  po_array array = {.role = role, .term = GS_NO_TERM, .offset = -1};
  uint32_t from = r->now.lo;
  if (r->p->arrays.len == MAX_ARRAYS)
    return bs_error(r->ctx.diags, po_span_here(r), "too-large",
                    "more than %d arrays", MAX_ARRAYS);
  if (!po_next_token(r) || !read_memory(r, &array) || !read_name(r, &array) ||
      !po_need_symbol(r, ":") || !po_need_dtype(r, &array.dtype) ||
      !po_need_symbol(r, "[") || !read_dims(r, &array) ||
      !read_scope(r, &array) || !read_address(r, &array) ||
      (role == PO_CONSTANT && !read_elements(r, &array)) ||
      !declare(r, &array, from))
    return false;
  bs_push(r->ctx.heap, &r->p->arrays, array);
  po_add_entry(r, PO_E_ARRAY, r->p->arrays.len - 1);
  return true;
}
