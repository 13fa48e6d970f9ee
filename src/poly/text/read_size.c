/* SPDX-License-Identifier: MIT */
/* read_size.c - declarations of sizes.
 *
 *   size NAME : LEAST to MOST [multiple NUMBER]
 *
 * They come before everything else.  A size that a number was given for is a
 * name of that number. */
#include "poly/loops/loops_sizes.h"
#include "poly/text/text_read.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>

static bool
read_name(po_reader *r, const char **name) {
  uint32_t from = r->now.lo, k;
  if (!po_need_name(r, "a size", name))
    return false;
  if (po_find_number(r, *name, strlen(*name), &k))
    return bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                    "a size is named `%s` already", *name);
  return !po_name_is_taken(*name) ||
         bs_error(r->ctx.diags, po_span_from(r, from), "reserved-name",
                  "`%s` is a word of C or of generated code", *name);
}

/* The least and the greatest multiple are the bounds. */
static bool
read_bounds(po_reader *r, po_size *size, uint32_t from) {
  bool multiple;
  size->multiple = 1;
  if (!po_need_symbol(r, ":") ||
      !po_need_int(r, 1, GS_MAX_ELEMENTS, &size->least) ||
      !po_need_word(r, "to") ||
      !po_need_int(r, size->least, GS_MAX_ELEMENTS, &size->most) ||
      !po_take_word(r, "multiple", &multiple) ||
      (multiple && !po_need_int(r, 1, GS_MAX_ELEMENTS, &size->multiple)))
    return false;
  size->most -= size->most % size->multiple;
  int64_t rest = size->least % size->multiple;
  size->least += rest ? size->multiple - rest : 0;
  return size->least <= size->most ||
         bs_error(r->ctx.diags, po_span_from(r, from), "number-range",
                  "there is no multiple of %lld between the bounds of %s",
                  (long long)size->multiple, size->name);
}

static const po_given_size *
given(const po_reader *r, const char *name) {
  for (uint32_t k = 0; k < r->n_given; k++)
    if (!strcmp(r->given[k].name, name))
      return &r->given[k];
  return NULL;
}

static bool
check_given(po_reader *r, const po_size *s, int64_t n, uint32_t from) {
  if (n >= s->least && n <= s->most && n % s->multiple == 0)
    return true;
  bs_error(r->ctx.diags, po_span_from(r, from), "size-range",
           "%s = %lld is not within its bounds", s->name, (long long)n);
  if (s->multiple > 1)
    bs_hint(r->ctx.diags, "a multiple of %lld from %lld to %lld",
            (long long)s->multiple, (long long)s->least, (long long)s->most);
  else
    bs_hint(r->ctx.diags, "a number from %lld to %lld", (long long)s->least,
            (long long)s->most);
  return false;
}

bool
po_read_size(po_reader *r) {
  po_size size = {.least = 1};
  uint32_t from = r->now.lo;
  if (r->p->arrays.len || r->p->stmts.len || r->p->nest.nodes.len > 1)
    return bs_error(r->ctx.diags, po_span_from(r, from), "order",
                    "sizes are declared before everything else");
  if (r->n_numbers == PO_MAX_SIZES)
    return bs_error(r->ctx.diags, po_span_from(r, from), "too-large",
                    "more than %d sizes", PO_MAX_SIZES);
  if (!po_next_token(r) || !read_name(r, &size.name) ||
      !read_bounds(r, &size, from))
    return false;
  po_number *number = &r->numbers[r->n_numbers];
  *number = (po_number){size.name, UINT32_MAX, 0};
  const po_given_size *known = given(r, size.name);
  if (known) {
    number->value = known->value;
    if (!check_given(r, &size, known->value, from))
      return false;
  } else {
    number->size = r->p->sizes.len;
    po_add_size(r->p, &size);
  }
  r->n_numbers++;
  return true;
}

/* ---- names ---- */

bool
po_find_number(const po_reader *r, const char *name, size_t n, uint32_t *out) {
  for (uint32_t k = 0; k < r->n_numbers; k++)
    if (strlen(r->numbers[k].name) == n &&
        !memcmp(r->numbers[k].name, name, n)) {
      *out = k;
      return true;
    }
  return false;
}

isl_aff *
po_number_aff(const po_reader *r, uint32_t k) {
  assert(k < r->n_numbers);
  const po_number *number = &r->numbers[k];
  return number->size == UINT32_MAX
             ? po_index_in(r, r->n_names, r->n_names, number->value)
             : po_size_aff(r->p, number->size, r->n_names);
}

bool
po_is_no_size(po_reader *r, const char *name, uint32_t from) {
  uint32_t k;
  return !po_find_number(r, name, strlen(name), &k) ||
         bs_error(r->ctx.diags, po_span_from(r, from), "duplicate-name",
                  "a size is named `%s` already", name);
}

isl_aff *
po_index_in(const po_reader *r, uint32_t n, uint32_t d, int64_t offset) {
  assert(d <= n);
  return po_aff_with_sizes(r->p, po_index(r->p->isl, n, d, 1, offset));
}

static bool
refuse_name(const po_reader *r, const char *name) {
  const char *names[PO_MAX_SIZES];
  for (uint32_t k = 0; k < r->n_numbers; k++)
    names[k] = r->numbers[k].name;
  bs_error(r->ctx.diags, BS_NOWHERE, "unknown-name",
           "the program has no size named %s", name);
  if (r->n_numbers)
    bs_hint_names(r->ctx.diags, name, names, r->n_numbers);
  else
    bs_hint(r->ctx.diags, "it declares none; size %.40s: 1 to 1024 does", name);
  return false;
}

bool
po_check_given(po_reader *r) {
  uint32_t at;
  for (uint32_t k = 0; k < r->n_given; k++)
    if (!po_find_number(r, r->given[k].name, strlen(r->given[k].name), &at))
      return refuse_name(r, r->given[k].name);
  return true;
}

/* ---- extents ---- */

/* The least or the greatest value of an extent; false where isl gives up. */
static bool
extreme(po_reader *r, __isl_keep isl_aff *extent, bool most, int64_t *out) {
  isl_val *val = most ? isl_set_max_val(r->p->at_sizes, extent)
                      : isl_set_min_val(r->p->at_sizes, extent);
  return po_int(val, out);
}

static bool
refuse_extent(po_reader *r, uint32_t from, __isl_keep isl_aff *extent) {
  isl_aff *one = po_aff_with_sizes(r->p, po_index(r->p->isl, 0, 0, 0, 1));
  isl_set *wrong = isl_aff_lt_set(isl_aff_copy(extent), one);
  bs_text at;
  bs_text_init(&at, r->ctx.heap);
  po_put_sizes_of(r->p, wrong, &at);
  isl_set_free(wrong);
  bs_error(r->ctx.diags, po_span_from(r, from), "number-range",
           "the dimension has no element%s", bs_text_str(&at));
  bs_text_done(&at);
  return false;
}

bool
po_read_extent(po_reader *r, po_array *array, uint32_t d) {
  assert(d < GS_MAX_RANK);
  uint32_t from = r->now.lo;
  isl_aff *extent;
  int64_t least;
  r->n_names = r->nesting = 0;
  if (!po_read_aff(r, &extent))
    return false;
  bool number = isl_aff_is_cst(extent) == isl_bool_true;
  if (number)
    least = array->dim[d] =
        po_int_or(isl_aff_get_constant_val(extent), INT64_MAX);
  else if (!extreme(r, extent, false, &least) ||
           !extreme(r, extent, true, &array->dim[d]))
    return bs_error(r->ctx.diags, po_span_from(r, from), "too-complex",
                    "the dimension is too complex");
  if (least < 1 && !number)
    return refuse_extent(r, from, extent);
  if (least < 1 || array->dim[d] > GS_MAX_ELEMENTS)
    return bs_error(r->ctx.diags, po_span_from(r, from), "number-range",
                    "expected a dimension from 1 to %lld",
                    (long long)GS_MAX_ELEMENTS);
  if (number)
    return true;
  po_pool_reserve(&r->p->pool, 1);
  array->extent[d] = po_keep_aff(&r->p->pool, isl_aff_copy(extent));
  return true;
}
