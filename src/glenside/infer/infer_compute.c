/* SPDX-License-Identifier: MIT */
/* infer_compute.c - the types of computations: compute operators and calls.
 *
 * The shape follows from the operator's kind, the dtype from gs_compute_dtype;
 * parameters are checked against the dtype, so that a literal always has one
 * exact meaning (an integer dtype takes whole numbers only). */
#include "glenside/infer/infer.h"
#include "glenside/target/target.h"
#include <math.h>
#include <string.h>

/* Parameters -------------------------------------------------------------- */

static bool
number_fits_float(infer *x, gs_dtype dtype, double v) {
  if (isfinite(v) && gs_stays_finite(dtype, v))
    return true;
  return gs_fail(x->fault, "literal-range", -1, 0,
                 "the literal %g is outside the range of %s", v,
                 gs_dtype_table[dtype].name);
}

/* clip bounds are values of the dtype; scale and offset wrap, so any literal
 * of 32 bits has a meaning there. */
static bool
number_fits_integer(infer *x, gs_compute op, gs_dtype dtype, bs_value v) {
  const char *name = gs_compute_table[op].name;
  const char *type = gs_dtype_table[dtype].name;
  gs_dtype of = op == GS_C_CLIP ? dtype : GS_I32;
  int64_t least = gs_dtype_least(of), most = gs_dtype_most(of);
  if (bs_kind_of(x->values, v) != BS_KIND_INT) {
    gs_fail(x->fault, "bad-literal", -1, 0,
            "%s on %s needs an integer literal, found %g", name, type,
            bs_as_real(x->values, v));
    return infer_hint(x, "for a fraction, (compute (cast f32) ...) first");
  }
  if (bs_as_int(x->values, v) >= least && bs_as_int(x->values, v) <= most)
    return true;
  gs_fail(x->fault, "literal-range", -1, 0,
          "the literal %lld of %s on %s is outside its range",
          (long long)bs_as_int(x->values, v), name, type);
  return infer_hint(x, "its range is %lld to %lld", (long long)least,
                    (long long)most);
}

static bool
number_fits(infer *x, gs_compute op, gs_dtype dtype, bs_value v) {
  bs_kind kind = bs_kind_of(x->values, v);
  if (kind != BS_KIND_INT && kind != BS_KIND_REAL)
    return gs_fail(x->fault, "bad-attribute", -1, 0, "%s needs a number",
                   gs_compute_table[op].name);
  return gs_dtype_table[dtype].integer
             ? number_fits_integer(x, op, dtype, v)
             : number_fits_float(x, dtype, bs_as_real(x->values, v));
}

static bool
parameters_fit(infer *x, gs_compute op, bs_value o, gs_dtype dtype) {
  const gs_compute_info *info = &gs_compute_table[op];
  uint32_t want = (uint32_t)strlen(info->params), have = 0;
  if (bs_kind_of(x->values, o) == BS_KIND_LIST)
    have = bs_len(x->values, o) - 1;
  if (have != want)
    return gs_fail(x->fault, "wrong-arity", -1, 0, "%s takes %u %s, found %u",
                   info->name, BS_COUNTED(want, "parameter"), have);
  for (uint32_t k = 0; k < want; k++)
    if (info->params[k] == 'r' &&
        !number_fits(x, op, dtype, gs_compute_param(x->values, o, k)))
      return false;
  if (op != GS_C_CLIP)
    return true;
  double lo = bs_as_real(x->values, gs_compute_param(x->values, o, 0));
  double hi = bs_as_real(x->values, gs_compute_param(x->values, o, 1));
  if (lo <= hi)
    return true;
  return gs_fail(x->fault, "bad-literal", -1, 0,
                 "clip from %g to %g is empty: the lower bound comes first", lo,
                 hi);
}

static bool
cast_dtype(infer *x, bs_value o, gs_dtype *out) {
  bs_value v = gs_compute_param(x->values, o, 0);
  if (bs_kind_of(x->values, v) == BS_KIND_SYM &&
      gs_dtype_find(bs_as_sym(x->values, v), out))
    return true;
  return gs_fail(x->fault, "unknown-dtype", -1, 0, "cast needs a dtype");
}

/* Shapes ------------------------------------------------------------------ */

static bool
needs_compute_side(infer *x, gs_compute op) {
  const gs_type *a = x->kids[0];
  if (a->rank > a->access)
    return true;
  gs_fail(x->fault, "empty-compute", 0, -1, "%s needs a compute side, found %s",
          gs_compute_table[op].name, infer_show_type(x, a).s);
  if (!a->rank)
    return infer_hint(x, "insertAxis and access give a term dimensions");
  if (op == GS_C_SOFTMAX)
    return infer_hint(x,
                      "name the dimension, as in (softmax a %d), or give the "
                      "operand a compute side: (access a %d)",
                      a->rank - 1, a->rank - 1);
  return infer_hint(x, "(access a k) with k below %d gives it one", a->rank);
}

/* C = (size, c...): the operator takes a tuple of that many. */
static bool
needs_tuple(infer *x, gs_compute op, int64_t size, const char *hint) {
  const gs_type *a = x->kids[0];
  if (!needs_compute_side(x, op))
    return false;
  if (infer_equal(x, a->dim[a->access], size))
    return true;
  gs_fail(x->fault, "tuple-size", 0, -1,
          "%s needs a first compute dimension of %lld, found %s",
          gs_compute_table[op].name, (long long)size, infer_show_type(x, a).s);
  return infer_hint(x, "%s", hint);
}

/* The first `drop` compute dimensions go; -1: all of them. */
static bool
drop_items(infer *x, int drop) {
  const gs_type *a = x->kids[0];
  x->made.access = a->access;
  if (!infer_push(x, a->dim, a->access) || drop < 0)
    return drop < 0;
  return infer_push(x, a->dim + a->access + drop,
                    infer_items(a) - (uint32_t)drop);
}

/* C = (n + m): a table and indices into it, of which there is one at least. */
static bool
lookup_shape(infer *x) {
  const gs_type *a = x->kids[0];
  bs_value o = bs_item(x->values, x->attr, 0);
  bs_value v = gs_compute_param(x->values, o, 0);
  if (!needs_compute_side(x, GS_C_LOOKUP) || !drop_items(x, 0))
    return false;
  int64_t table = bs_as_int(x->values, v); /* of another kind: 0 */
  gs_number others = gs_plus(x->over, a->dim[a->access], -table);
  if (infer_items(a) == 1 && table >= 1 && infer_at_least(x, others, 1)) {
    x->made.dim[a->access] = others;
    return true;
  }
  gs_fail(x->fault, "tuple-size", 0, -1,
          "lookup needs one compute dimension, of a table and at least one "
          "index, found %s",
          infer_show_type(x, a).s);
  return infer_hint(x, "(compute (lookup n) (concat table index d)): its "
                       "parameter n is the size of the table");
}

static bool
compute_shape(infer *x, gs_compute op) {
  switch (gs_compute_table[op].kind) {
  case GS_REDUCE:
  case GS_DOT:
    return needs_compute_side(x, op) && drop_items(x, -1);
  case GS_FOLD:
    return needs_compute_side(x, op) && drop_items(x, 1);
  case GS_SOFTMAX:
    return needs_compute_side(x, op) && drop_items(x, 0);
  case GS_SELECT:
    return needs_tuple(x, op, 3,
                       "its items are condition, value if above 0, value if "
                       "not") &&
           drop_items(x, 1);
  case GS_GATHER:
    return needs_tuple(x, op, 2,
                       "its items are table and index: "
                       "(pair table index)") &&
           drop_items(x, 1);
  case GS_LOOKUP:
    return lookup_shape(x);
  case GS_ELEMENTWISE:
  case GS_CAST:
    return drop_items(x, 0);
  }
  return false;
}

bool
infer_compute(infer *x) {
  bs_value o = bs_item(x->values, x->attr, 0);
  gs_dtype dtype = x->kids[0]->dtype;
  gs_compute op;
  if (!gs_compute_of(x->values, o, &op))
    return gs_fail(x->fault, "unknown-compute", -1, 0,
                   "compute needs a compute operator");
  if (dtype == GS_BOOL && !gs_compute_takes_any(op)) {
    gs_fail(x->fault, "needs-number", 0, -1, "%s needs numbers, found bool",
            gs_compute_table[op].name);
    return infer_hint(x, "convert first: (compute (cast i32) ...)");
  }
  if (gs_is_wide(dtype) && !gs_compute_takes_any(op)) {
    gs_fail(x->fault, "needs-number", 0, -1,
            "%s cannot compute with %s, which can only be moved, ordered, "
            "compared, chosen, looked up and cast",
            gs_compute_table[op].name, gs_dtype_table[dtype].name);
    return infer_hint(x, "convert first: f64 holds all of its values, "
                         "(compute (cast f64) ...)");
  }
  if (gs_dtype_table[dtype].integer && !gs_compute_takes_integers(op)) {
    gs_fail(x->fault, "needs-float", 0, -1, "%s needs a float dtype, found %s",
            gs_compute_table[op].name, gs_dtype_table[dtype].name);
    return infer_hint(x, "convert first: (compute (cast f32) ...)");
  }
  if (!parameters_fit(x, op, o, dtype))
    return false;
  x->made.dtype = gs_compute_dtype(op, dtype);
  if (op == GS_C_CAST && !cast_dtype(x, o, &x->made.dtype))
    return false;
  return compute_shape(x, op);
}

/* What a call means is its target's to tell. */
bool
infer_call(infer *x) {
  bs_value name = bs_item(x->values, x->attr, 0);
  if (bs_kind_of(x->values, name) != BS_KIND_SYM)
    return gs_fail(x->fault, "bad-attribute", -1, 0,
                   "call needs the name of an instruction");
  return x->target ? x->target->type_of_call(x)
                   : gs_fail(x->fault, "unknown-instruction", -1, 0,
                             "no target declares the instruction %s",
                             bs_as_sym(x->values, name));
}
