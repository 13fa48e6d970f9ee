/* SPDX-License-Identifier: MIT */
/* contraction.c - recognises sums of products with linear addresses.
 *
 * The role of a loop follows from which operands it moves: c and x only is m,
 * c and y only is n, c alone or with both is o, no c is k.  Conditions of the
 * domain that its box does not imply become guards of the operand whose loops
 * they name.  Neighbouring loops whose strides compose in all operands and
 * that no guard names become one.  What of m or n does not compose in c
 * stands outside, among o. */
#include "poly/kernel/contraction.h"
#include "poly/loops/affine.h"
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <stdlib.h>
#include <string.h>

typedef struct guard {
  int64_t constant, factor[PO_MAX_DIMS];
} guard;

typedef struct finding {
  po_program *p;
  const po_stmt *update;
  const po_expr *read[2]; /* the factors */
  po_contraction *out;
  uint32_t n, n_outer; /* loops of the update */
  int64_t lo[PO_MAX_DIMS], extent[PO_MAX_DIMS];
  /* of x, y, c, and what else the formula reads */
  int64_t factor[3 + PO_MAX_EXTRAS][PO_MAX_DIMS], base[3 + PO_MAX_EXTRAS];
  po_dim_role role[PO_MAX_DIMS];
  uint32_t n_guards;
  guard guards[PO_MAX_GUARDS];
} finding;

int64_t
po_cdims_size(const po_cdims *dims) {
  int64_t size = 1;
  for (uint32_t k = 0; k < dims->n; k++)
    size *= dims->d[k].extent;
  return size;
}

/* ---- statements ---- */

static bool
is_zero(const po_stmt *s) {
  return s->kind == PO_ASSIGN && s->n_exprs == 1 &&
         s->exprs[0].kind == PO_LITERAL && s->exprs[0].literal == 0;
}

/* The factors of a product of two elements. */
static bool
is_product(const po_stmt *s, const po_expr *factor[2]) {
  const po_expr *root = s->n_exprs ? &s->exprs[s->n_exprs - 1] : NULL;
  if (s->kind != PO_UPDATE || s->op != GS_C_ADD || !root ||
      root->kind != PO_BINARY || root->op != GS_C_MUL || root->n_kids != 2)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    factor[k] = &s->exprs[root->kids[k]];
    if (factor[k]->kind != PO_READ || factor[k]->dtype != root->dtype)
      return false;
  }
  return true;
}

static bool
is_copy_of(const po_program *p, const po_stmt *s, uint32_t array) {
  return s->kind == PO_ASSIGN && s->n_exprs == 1 &&
         s->exprs[0].kind == PO_READ && s->exprs[0].array == array &&
         p->arrays.data[array].dtype == p->arrays.data[s->array].dtype;
}

static bool
is_vector_type(gs_dtype dtype) {
  return dtype == GS_F32 || dtype == GS_F64 || dtype == GS_I32;
}

/* ---- the box and the addresses ---- */

static bool
small_int(__isl_take isl_val *val, int64_t *out) {
  bool ok = po_int(val, out) && *out <= INT32_MAX && *out >= -INT32_MAX;
  *out = ok ? *out : 0;
  return ok;
}

/* Reduced loops have the box of the update; the others that of the init, all
 * of whose elements are set. */
static bool
find_box(finding *f, const po_stmt *init) {
  for (uint32_t k = 0; k < f->n; k++) {
    const po_stmt *s = k < f->n_outer ? init : f->update;
    int64_t hi;
    if (!small_int(isl_set_dim_min_val(isl_set_copy(s->domain), (int)k),
                   &f->lo[k]) ||
        !small_int(isl_set_dim_max_val(isl_set_copy(s->domain), (int)k), &hi))
      return false;
    f->extent[k] = hi - f->lo[k] + 1;
    if (f->extent[k] < 1)
      return false;
  }
  isl_set *box = po_box(f->p->isl, f->extent, f->n_outer);
  for (uint32_t k = 0; k < f->n_outer; k++)
    if (f->lo[k]) { /* shifted boxes do not come from lowering */
      isl_set_free(box);
      return false;
    }
  isl_set *domain = isl_set_reset_tuple_id(isl_set_copy(init->domain));
  bool full = isl_set_is_equal(domain, box) == isl_bool_true;
  isl_set_free(domain);
  isl_set_free(box);
  return full;
}

/* The linear address of an access, over n loops, moved to the box's origin. */
static bool
find_address(finding *f, uint32_t which, uint32_t array,
             __isl_keep isl_pw_multi_aff *index, uint32_t n) {
  const po_array *a = &f->p->arrays.data[array];
  isl_pw_aff *address = po_linear_pw(index, a->dim);
  isl_aff *aff = NULL;
  if (isl_pw_aff_isa_aff(address) == isl_bool_true)
    aff = isl_pw_aff_as_aff(isl_pw_aff_copy(address));
  isl_pw_aff_free(address);
  int64_t *factor = f->factor[which];
  bool ok = aff && isl_aff_dim(aff, isl_dim_in) == (isl_size)n &&
            po_affine_terms(aff, &f->base[which], factor);
  isl_aff_free(aff);
  for (uint32_t k = n; k < f->n; k++)
    factor[k] = 0;
  for (uint32_t k = 0; ok && k < f->n; k++)
    if (f->extent[k] == 1) {
      f->base[which] += factor[k] * f->lo[k];
      factor[k] = 0;
    } else {
      f->base[which] += factor[k] * f->lo[k];
    }
  return ok;
}

/* ---- the formula ---- */

/* The address of an access of the formula, over the loops of the sums. */
static bool
find_formula_address(finding *f, uint32_t which, uint32_t array,
                     __isl_keep isl_pw_multi_aff *index,
                     __isl_keep isl_pw_multi_aff *instances) {
  isl_pw_multi_aff *pulled = isl_pw_multi_aff_pullback_pw_multi_aff(
      isl_pw_multi_aff_copy(index), isl_pw_multi_aff_copy(instances));
  bool ok = pulled && find_address(f, which, array, pulled, f->n_outer);
  isl_pw_multi_aff_free(pulled);
  return ok;
}

static bool
find_extras(finding *f, const po_stmt *s,
            __isl_keep isl_pw_multi_aff *instances) {
  po_contraction *out = f->out;
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind != PO_READ || e->array == out->sums)
      continue;
    uint32_t n = out->n_extras;
    if (n == PO_MAX_EXTRAS || e->array == s->array ||
        f->p->arrays.data[e->array].role == PO_LOCAL ||
        !find_formula_address(f, 3 + n, e->array, e->index, instances))
      return false;
    out->extras[out->n_extras++] = (po_cextra){.expr = k, .array = e->array};
  }
  return true;
}

/* c is what the formula writes. */
static bool
find_formula(finding *f, uint32_t last) {
  const po_stmt *s = &f->p->stmts.data[f->out->formula];
  if (f->p->arrays.data[s->array].dtype != f->out->dtype)
    return false;
  isl_pw_multi_aff *instances =
      po_formula_instances(f->p, last, f->out->formula);
  bool ok = instances &&
            find_formula_address(f, 2, s->array, s->write, instances) &&
            find_extras(f, s, instances);
  isl_pw_multi_aff_free(instances);
  return ok;
}

/* ---- guards ---- */

/* constant + sum of factor * index >= 0 over the box, unless the box says so.
 */
static bool
add_inequality(finding *f, int64_t constant, const int64_t *factor) {
  int64_t least = constant;
  for (uint32_t k = 0; k < f->n; k++)
    least += factor[k] < 0 ? factor[k] * (f->extent[k] - 1) : 0;
  if (least >= 0)
    return true;
  if (f->n_guards == PO_MAX_GUARDS)
    return false;
  f->guards[f->n_guards].constant = constant;
  memcpy(f->guards[f->n_guards].factor, factor, PO_MAX_DIMS * sizeof *factor);
  f->n_guards++;
  return true;
}

/* An equality is two inequalities. */
static isl_stat
add_guard(__isl_take isl_constraint *c, void *user) {
  finding *f = user;
  int64_t constant, factor[PO_MAX_DIMS] = {0}, minus[PO_MAX_DIMS] = {0};
  bool ok = small_int(isl_constraint_get_constant_val(c), &constant);
  bool equality = isl_constraint_is_equality(c) == isl_bool_true;
  for (uint32_t k = 0; k < f->n; k++) {
    ok = ok &&
         small_int(isl_constraint_get_coefficient_val(c, isl_dim_set, (int)k),
                   &factor[k]);
    if (!ok)
      break;
    constant += factor[k] * f->lo[k];
    factor[k] = f->extent[k] > 1 ? factor[k] : 0;
    minus[k] = -factor[k];
  }
  isl_constraint_free(c);
  ok = ok && add_inequality(f, constant, factor);
  ok = ok && (!equality || add_inequality(f, -constant, minus));
  return ok ? isl_stat_ok : isl_stat_error;
}

static int
compare_guards(const void *a, const void *b) {
  const guard *x = a, *y = b;
  for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
    if (x->factor[k] != y->factor[k])
      return x->factor[k] < y->factor[k] ? -1 : 1;
  return x->constant < y->constant ? -1 : x->constant > y->constant;
}

/* In an order of their own: that of isl depends on what it was asked before. */
static bool
find_guards(finding *f) {
  isl_set *set = isl_set_coalesce(isl_set_copy(f->update->domain));
  isl_basic_set_list *list = isl_set_get_basic_set_list(set);
  isl_set_free(set);
  bool one = isl_basic_set_list_n_basic_set(list) == 1;
  isl_basic_set *basic = one ? isl_basic_set_list_get_at(list, 0) : NULL;
  isl_basic_set_list_free(list);
  bool ok =
      basic && isl_basic_set_dim(basic, isl_dim_div) == 0 &&
      isl_basic_set_foreach_constraint(basic, add_guard, f) == isl_stat_ok;
  isl_basic_set_free(basic);
  qsort(f->guards, f->n_guards, sizeof *f->guards, compare_guards);
  return ok;
}

/* ---- roles ---- */

static bool
find_roles(finding *f) {
  for (uint32_t k = 0; k < f->n; k++) {
    bool x = f->factor[0][k] != 0, y = f->factor[1][k] != 0;
    if (k >= f->n_outer)
      f->role[k] = PO_DIM_K;
    else if (f->extent[k] > 1 && !f->factor[2][k])
      return false;
    else
      f->role[k] = x == y ? PO_DIM_O : x ? PO_DIM_M : PO_DIM_N;
  }
  return true;
}

static po_cdim
dim_of(const finding *f, uint32_t k) {
  po_cdim d = {.extent = f->extent[k],
               .x = f->factor[0][k],
               .y = f->factor[1][k],
               .c = f->factor[2][k]};
  for (uint32_t e = 0; e < f->out->n_extras; e++)
    d.extra[e] = f->factor[3 + e][k];
  return d;
}

static bool
is_guarded(const finding *f, uint32_t k) {
  for (uint32_t g = 0; g < f->n_guards; g++)
    if (f->guards[g].factor[k])
      return true;
  return false;
}

/* Loops of m and n by falling stride in c, so that the last is the nearest;
 * k and o keep their order. `order` lists the loops of a role. */
static uint32_t
list_role(const finding *f, po_dim_role role, uint32_t *order) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->n; k++) {
    if (f->role[k] != role || f->extent[k] == 1)
      continue;
    uint32_t at = n++;
    for (; at > 0 && (role == PO_DIM_M || role == PO_DIM_N) &&
           f->factor[2][order[at - 1]] < f->factor[2][k];
         at--)
      order[at] = order[at - 1];
    order[at] = k;
  }
  return n;
}

/* A step of loop `outer` is all steps of loop `inner`, in c and in what the
 * formula reads. */
static bool
is_linear(const finding *f, uint32_t outer, uint32_t inner) {
  for (uint32_t which = 2; which < 3 + f->out->n_extras; which++)
    if (f->factor[which][outer] != f->factor[which][inner] * f->extent[inner])
      return false;
  return true;
}

/* What stands before the longest suffix that is linear in c goes to o. */
static void
split_linear(finding *f, po_dim_role role) {
  uint32_t order[PO_MAX_DIMS], n = list_role(f, role, order);
  uint32_t from = n;
  while (from > 0 && (from == n || is_linear(f, order[from - 1], order[from])))
    from--;
  for (uint32_t k = 0; k < from; k++)
    f->role[order[k]] = PO_DIM_O;
}

/* place[k]: of loop k in its role's list, or UINT32_MAX; inner[k]: how many
 * steps of the merged loop one of its steps is. */
static void
put_dims(finding *f, uint32_t *place) {
  for (uint32_t role = 0; role < 4; role++) {
    po_cdims *dims = &f->out->dims[role];
    uint32_t order[PO_MAX_DIMS];
    uint32_t n = list_role(f, (po_dim_role)role, order);
    dims->n = 0;
    for (uint32_t j = 0; j < n; j++) {
      po_cdim d = dim_of(f, order[j]);
      po_cdim *last = dims->n ? &dims->d[dims->n - 1] : NULL;
      bool merges = last && !is_guarded(f, order[j]) &&
                    !is_guarded(f, order[j - 1]) && last->x == d.x * d.extent &&
                    last->y == d.y * d.extent &&
                    is_linear(f, order[j - 1], order[j]);
      if (merges) {
        d.extent *= last->extent;
        *last = d;
      } else {
        dims->d[dims->n++] = d;
      }
      place[order[j]] = dims->n - 1;
    }
  }
}

static bool
names_role(const finding *f, uint32_t g, po_dim_role role) {
  for (uint32_t k = 0; k < f->n; k++)
    if (f->guards[g].factor[k] && f->role[k] == role)
      return true;
  return false;
}

/* A guard belongs to y unless it names m, to x unless it names n. */
static bool
put_guards(finding *f, const uint32_t *place) {
  for (uint32_t g = 0; g < f->n_guards; g++) {
    bool m = names_role(f, g, PO_DIM_M), n = names_role(f, g, PO_DIM_N);
    if (m && n)
      return false;
    po_coperand *to = m ? &f->out->x : n ? &f->out->y : NULL;
    for (uint32_t k = 0; !to && k < f->n; k++)
      if (f->guards[g].factor[k])
        to = f->factor[1][k] ? &f->out->y : &f->out->x;
    if (!to || to->n_guards == PO_MAX_GUARDS)
      return false;
    po_cguard *guard = &to->guards[to->n_guards++];
    *guard = (po_cguard){.constant = f->guards[g].constant};
    for (uint32_t k = 0; k < f->n; k++)
      if (f->guards[g].factor[k])
        guard->factor[f->role[k]][place[k]] = f->guards[g].factor[k];
  }
  return true;
}

/* ---- all of it ---- */

static const po_stmt *
zero_of(const finding *f) {
  return &f->p->stmts.data[f->out->init];
}

static const po_stmt *
last_of(const finding *f) {
  uint32_t store = f->out->store;
  return store == UINT32_MAX ? f->update : &f->p->stmts.data[store];
}

static bool
adds_products(finding *f) {
  return is_product(f->update, f->read);
}

static bool
starts_at_zero(finding *f) {
  const po_stmt *zero = zero_of(f);
  return is_zero(zero) && zero->array == f->update->array;
}

static bool
stores_sums(finding *f) {
  const po_stmt *last = last_of(f);
  return last == f->update || is_copy_of(f->p, last, f->update->array);
}

static bool
has_loops(finding *f) {
  const po_stmt *sum = f->update;
  return sum->n_iters <= PO_MAX_DIMS && sum->n_iters > sum->n_outer &&
         zero_of(f)->n_iters == sum->n_outer &&
         (last_of(f) == sum || last_of(f)->n_iters == sum->n_outer);
}

static bool
is_seen_outside(finding *f) {
  return f->p->arrays.data[last_of(f)->array].role != PO_LOCAL;
}

static bool
has_one_type(finding *f) {
  const po_array *arrays = f->p->arrays.data;
  gs_dtype dtype = arrays[f->update->array].dtype;
  f->out->dtype = dtype;
  return is_vector_type(dtype) && arrays[f->read[0]->array].dtype == dtype &&
         arrays[f->read[1]->array].dtype == dtype;
}

static bool
reads_others(finding *f) {
  const po_program *p = f->p;
  po_contraction *out = f->out;
  out->sums = last_of(f)->array;
  out->c.array = out->formula == UINT32_MAX ? out->sums
                                            : p->stmts.data[out->formula].array;
  for (uint32_t k = 0; k < 2; k++)
    if (f->read[k]->array == out->sums || f->read[k]->array == out->c.array)
      return false;
  return true;
}

static bool
fills_a_box(finding *f) {
  return find_box(f, zero_of(f));
}

static bool
has_linear_factors(finding *f) {
  for (uint32_t k = 0; k < 2; k++)
    if (!find_address(f, k, f->read[k]->array, f->read[k]->index, f->n))
      return false;
  return true;
}

static bool
has_linear_sums(finding *f) {
  const po_stmt *last = last_of(f);
  return f->out->formula == UINT32_MAX
             ? find_address(f, 2, last->array, last->write, last->n_iters)
             : find_formula(f,
                            last == f->update ? f->out->update : f->out->store);
}

static bool
divides_loops(finding *f) {
  uint32_t place[PO_MAX_DIMS];
  if (!find_roles(f))
    return false;
  split_linear(f, PO_DIM_M);
  split_linear(f, PO_DIM_N);
  put_dims(f, place);
  return put_guards(f, place) && f->out->dims[PO_DIM_K].n;
}

/* In this order: each may ask for what those before it found. */
static const struct {
  bool (*holds)(finding *);
  const char *otherwise;
} CHECKS[] = {
    {adds_products, "it adds up no products of two elements"},
    {starts_at_zero, "its sums do not start at zero"},
    {stores_sums, "its sums are stored by another statement than a copy"},
    {has_loops, "it has no loops of a sum for each element"},
    {is_seen_outside, "its sums are in a local array"},
    {has_one_type, "factors and sums are not all f32, all f64 or all i32"},
    {reads_others, "a factor is in the array of the sums"},
    {fills_a_box, "its elements are no whole box"},
    {has_linear_factors, "addresses of factors are not linear in its loops"},
    {has_linear_sums, "addresses of sums are not linear in its loops"},
    {find_guards, "conditions on its loops have quotients, or are too many"},
    {divides_loops, "a loop moves none of the operands, or a condition moves "
                    "both factors"},
};

bool
po_find_contraction(po_program *p, uint32_t init, uint32_t update,
                    uint32_t store, uint32_t formula, po_contraction *out) {
  const po_stmt *sum = &p->stmts.data[update];
  *out = (po_contraction){
      .init = init, .update = update, .store = store, .formula = formula};
  finding f = {.p = p,
               .update = sum,
               .out = out,
               .n = sum->n_iters,
               .n_outer = sum->n_outer};
  for (uint32_t k = 0; k < sizeof CHECKS / sizeof *CHECKS; k++)
    if (!CHECKS[k].holds(&f)) {
      out->refused = CHECKS[k].otherwise;
      return false;
    }
  out->x.array = f.read[0]->array;
  out->y.array = f.read[1]->array;
  out->x.base = f.base[0];
  out->y.base = f.base[1];
  out->c.base = f.base[2];
  for (uint32_t k = 0; k < out->n_extras; k++)
    out->extras[k].base = f.base[3 + k];
  return true;
}

/* A piece at a time: they are too large for a stack. */
static void
exchange(void *a, void *b, size_t n) {
  unsigned char piece[256], *x = a, *y = b;
  for (size_t at = 0, size; at < n; at += size) {
    size = n - at < sizeof piece ? n - at : sizeof piece;
    memcpy(piece, x + at, size);
    memcpy(x + at, y + at, size);
    memcpy(y + at, piece, size);
  }
}

void
po_swap_factors(po_contraction *c) {
  exchange(&c->x, &c->y, sizeof c->x);
  exchange(&c->dims[PO_DIM_M], &c->dims[PO_DIM_N], sizeof c->dims[PO_DIM_M]);
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; k < c->dims[role].n; k++) {
      po_cdim *d = &c->dims[role].d[k];
      int64_t swap = d->x;
      d->x = d->y;
      d->y = swap;
    }
  po_coperand *operands[] = {&c->x, &c->y};
  for (uint32_t o = 0; o < 2; o++)
    for (uint32_t g = 0; g < operands[o]->n_guards; g++)
      for (uint32_t k = 0; k < PO_MAX_DIMS; k++) {
        int64_t swap = operands[o]->guards[g].factor[PO_DIM_M][k];
        operands[o]->guards[g].factor[PO_DIM_M][k] =
            operands[o]->guards[g].factor[PO_DIM_N][k];
        operands[o]->guards[g].factor[PO_DIM_N][k] = swap;
      }
}
