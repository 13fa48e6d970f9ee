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
#include <assert.h>
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <stdlib.h>
#include <string.h>

typedef struct finding {
  po_reduction l;
  const po_expr *read[2]; /* the factors */
  po_contraction *out;
  /* of x, y, c, and what else the formula reads */
  po_walk at[3 + PO_MAX_EXTRAS];
  po_dim_role role[PO_MAX_DIMS];
} finding;

int64_t
po_cdims_size(const po_cdims *dims) {
  return po_cdims_product(NULL, dims, 0);
}

gs_number
po_cdims_product(const gs_numbers *over, const po_cdims *dims, uint32_t from) {
  assert(from <= dims->n);
  gs_number size = 1;
  for (uint32_t k = from; k < dims->n; k++)
    size = over ? gs_product(over, size, dims->d[k].extent)
                : size * dims->d[k].extent;
  return size;
}

int64_t
po_parts_of(const po_contraction *c, bool x) {
  assert(c->dims[PO_DIM_O].n <= PO_MAX_DIMS);
  const po_cdims *o = &c->dims[PO_DIM_O];
  int64_t parts = 1;
  for (uint32_t k = 0; k < o->n; k++)
    if (po_moves(&o->d[k], x))
      parts *= o->d[k].extent;
  return parts;
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
    if (factor[k]->kind != PO_READ)
      return false;
  }
  return true;
}

bool
po_is_sum_of_products(const po_stmt *s) {
  const po_expr *factor[2];
  return is_product(s, factor);
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

/* ---- roles ---- */

static bool
find_roles(finding *f) {
  for (uint32_t k = 0; k < f->l.n; k++) {
    bool x = f->at[0].factor[k] != 0, y = f->at[1].factor[k] != 0;
    if (k >= f->l.n_outer)
      f->role[k] = PO_DIM_K;
    else if (f->l.extent[k] > 1 && !f->at[2].factor[k])
      return false;
    else
      f->role[k] = x == y ? PO_DIM_O : x ? PO_DIM_M : PO_DIM_N;
  }
  return true;
}

static po_cdim
dim_of(const finding *f, uint32_t k) {
  assert(k < f->l.n);
  po_cdim d = {.extent = f->l.extent[k],
               .x = f->at[0].factor[k],
               .y = f->at[1].factor[k],
               .c = f->at[2].factor[k]};
  for (uint32_t e = 0; e < f->out->n_extras; e++)
    d.extra[e] = f->at[3 + e].factor[k];
  return d;
}

static bool
is_guarded(const finding *f, uint32_t k) {
  assert(k < f->l.n);
  for (uint32_t g = 0; g < f->l.n_guards; g++)
    if (f->l.guards[g].factor[k])
      return true;
  return false;
}

/* Loops of m and n by falling stride in c, so that the last is the nearest;
 * k and o keep their order. `order` lists the loops of a role. */
static uint32_t
list_role(const finding *f, po_dim_role role, uint32_t *order) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->l.n; k++) {
    if (f->role[k] != role || f->l.extent[k] == 1)
      continue;
    uint32_t at = n++;
    for (; at > 0 && (role == PO_DIM_M || role == PO_DIM_N) &&
           gs_most_of(f->l.sizes, f->at[2].factor[order[at - 1]]) <
               gs_most_of(f->l.sizes, f->at[2].factor[k]);
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
  assert(outer < f->l.n && inner < f->l.n);
  for (uint32_t which = 2; which < 3 + f->out->n_extras; which++)
    if (f->at[which].factor[outer] != gs_product(po_over(f->l.sizes),
                                                 f->at[which].factor[inner],
                                                 f->l.extent[inner]))
      return false;
  return true;
}

/* Loops of a role, one after the other, that are one in c. */
typedef struct run {
  uint32_t from, to;
  int64_t size;
} run;

/* The one that ends before `to`. */
static run
run_before(const finding *f, const uint32_t *order, uint32_t to) {
  assert(to >= 1);
  run out = {to - 1, to, f->l.extent[order[to - 1]]};
  while (out.from > 0 && is_linear(f, order[out.from - 1], order[out.from])) {
    out.from--;
    out.size *= f->l.extent[order[out.from]];
  }
  return out;
}

static int64_t
lanes_of(const finding *f) {
  const gs_target *t = f->l.p->target;
  int64_t bytes = gs_dtype_table[f->out->dtype].bytes;
  return t && t->vector_bytes > bytes ? t->vector_bytes / bytes : 1;
}

/* The loops that are nearest in c stay, or where those fill no vector the most
 * that are one; all others go to o. */
static void
split_linear(finding *f, po_dim_role role) {
  uint32_t order[PO_MAX_DIMS], n = list_role(f, role, order);
  if (!n)
    return;
  run kept = run_before(f, order, n);
  bool few = !f->l.sizes && kept.size < lanes_of(f);
  for (uint32_t to = kept.from; few && to > 0;) {
    run other = run_before(f, order, to);
    kept = other.size > kept.size ? other : kept;
    to = other.from;
  }
  for (uint32_t k = 0; k < n; k++)
    if (k < kept.from || k >= kept.to)
      f->role[order[k]] = PO_DIM_O;
}

/* place[k]: of loop k in its role's list, or UINT32_MAX; inner[k]: how many
 * steps of the merged loop one of its steps is. */
static void
put_dims(finding *f, uint32_t *place) {
  const gs_numbers *over = po_over(f->l.sizes);
  for (uint32_t role = 0; role < 4; role++) {
    po_cdims *dims = &f->out->dims[role];
    uint32_t order[PO_MAX_DIMS];
    uint32_t n = list_role(f, (po_dim_role)role, order);
    dims->n = 0;
    for (uint32_t j = 0; j < n; j++) {
      po_cdim d = dim_of(f, order[j]);
      po_cdim *last = dims->n ? &dims->d[dims->n - 1] : NULL;
      bool merges = last && !is_guarded(f, order[j]) &&
                    !is_guarded(f, order[j - 1]) &&
                    last->x == gs_product(over, d.x, d.extent) &&
                    last->y == gs_product(over, d.y, d.extent) &&
                    is_linear(f, order[j - 1], order[j]);
      if (merges) {
        d.extent = gs_product(over, d.extent, last->extent);
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
  assert(g < f->l.n_guards);
  for (uint32_t k = 0; k < f->l.n; k++)
    if (f->l.guards[g].factor[k] && f->role[k] == role)
      return true;
  return false;
}

/* A guard belongs to y unless it names m, to x unless it names n. */
static bool
put_guards(finding *f, const uint32_t *place) {
  for (uint32_t g = 0; g < f->l.n_guards; g++) {
    bool m = names_role(f, g, PO_DIM_M), n = names_role(f, g, PO_DIM_N);
    if (m && n)
      return false;
    po_coperand *to = m ? &f->out->x : n ? &f->out->y : NULL;
    for (uint32_t k = 0; !to && k < f->l.n; k++)
      if (f->l.guards[g].factor[k])
        to = f->at[1].factor[k] ? &f->out->y : &f->out->x;
    if (!to || to->n_guards == PO_MAX_GUARDS)
      return false;
    po_cguard *guard = &to->guards[to->n_guards++];
    *guard = (po_cguard){.constant = f->l.guards[g].constant};
    for (uint32_t k = 0; k < f->l.n; k++)
      if (f->l.guards[g].factor[k])
        guard->factor[f->role[k]][place[k]] = f->l.guards[g].factor[k];
  }
  return true;
}

/* ---- all of it ---- */

/* NULL: there is none. */
static const po_stmt *
zero_of(const finding *f) {
  uint32_t init = f->out->init;
  return init == PO_NO_STMT ? NULL : &f->l.p->stmts.data[init];
}

static const po_stmt *
last_of(const finding *f) {
  uint32_t store = f->out->store;
  return store == UINT32_MAX ? f->l.update : &f->l.p->stmts.data[store];
}

static bool
adds_products(finding *f) {
  return is_product(f->l.update, f->read);
}

static bool
starts_at_zero(finding *f) {
  const po_stmt *zero = zero_of(f);
  return zero ? is_zero(zero) && zero->array == f->l.update->array
              : f->out->adds;
}

static bool
stores_sums(finding *f) {
  const po_stmt *last = last_of(f);
  return last == f->l.update || is_copy_of(f->l.p, last, f->l.update->array);
}

static bool
has_loops(finding *f) {
  const po_stmt *sum = f->l.update;
  return sum->n_iters <= PO_MAX_DIMS && sum->n_iters > sum->n_outer &&
         (!zero_of(f) || zero_of(f)->n_iters == sum->n_outer) &&
         (last_of(f) == sum || last_of(f)->n_iters == sum->n_outer);
}

static bool
is_seen_outside(finding *f) {
  return f->l.p->arrays.data[last_of(f)->array].role != PO_LOCAL;
}

static bool
has_one_type(finding *f) {
  const po_array *arrays = f->l.p->arrays.data;
  gs_dtype dtype = arrays[f->l.update->array].dtype;
  gs_dtype x = arrays[f->read[0]->array].dtype;
  gs_dtype y = arrays[f->read[1]->array].dtype;
  const po_program *p = f->l.p;
  f->out->dtype = dtype;
  f->out->factor[0] = x;
  f->out->factor[1] = y;
  f->out->keeps_padding = p->strict_fp && dtype != GS_I32;
  return is_vector_type(dtype) &&
         ((x == dtype && y == dtype) ||
          (p->target && (dtype == GS_I32 || !p->strict_fp) &&
           gs_multiplies(p->target, x, y, dtype) > 0));
}

static bool
reads_others(finding *f) {
  const po_program *p = f->l.p;
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
  return po_find_box(&f->l, zero_of(f));
}

static bool
agrees_on_elements(finding *f) {
  const po_stmt *last = last_of(f);
  return po_sums_agree(&f->l, zero_of(f), last == f->l.update ? NULL : last);
}

static bool
has_linear_factors(finding *f) {
  for (uint32_t k = 0; k < 2; k++)
    if (!po_find_address(&f->l, f->read[k]->array, f->read[k]->index, f->l.n,
                         &f->at[k]))
      return false;
  return true;
}

/* c is what the formula writes. */
static bool
has_linear_formula(finding *f) {
  po_contraction *out = f->out;
  const po_stmt *s = &f->l.p->stmts.data[out->formula];
  uint32_t last = last_of(f) == f->l.update ? out->update : out->store;
  return (f->l.p->arrays.data[s->array].dtype == out->dtype ||
          po_is_mixed(out)) &&
         po_find_formula(&f->l, last, out->formula, out->sums, &f->at[2],
                         out->extras, &out->n_extras);
}

static bool
has_linear_sums(finding *f) {
  const po_stmt *last = last_of(f);
  return f->out->formula == UINT32_MAX
             ? po_find_address(&f->l, last->array, last->write, last->n_iters,
                               &f->at[2])
             : has_linear_formula(f);
}

static bool
has_linear_conditions(finding *f) {
  return po_find_guards(&f->l);
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
    {has_one_type,
     "factors and sums are not all f32, all f64 or all i32, and no "
     "instruction of the target multiplies such factors"},
    {reads_others, "a factor is in the array of the sums"},
    {fills_a_box, "its elements are not a whole box"},
    {agrees_on_elements,
     "its start, its sum and its store do not name the same "
     "elements in the same order of loops"},
    {has_linear_factors, "addresses of factors are not linear in its loops"},
    {has_linear_sums, "addresses of sums are not linear in its loops"},
    {has_linear_conditions,
     "conditions on its loops have quotients, or are too many"},
    {divides_loops, "a loop moves none of the operands, or a condition moves "
                    "both factors"},
};

static bool
holds_all(finding *f) {
  for (uint32_t k = 0; k < sizeof CHECKS / sizeof *CHECKS; k++)
    if (!CHECKS[k].holds(f)) {
      f->out->refused = CHECKS[k].otherwise;
      return false;
    }
  return true;
}

bool
po_find_contraction(po_program *p, gs_sizes *sizes, const po_sum_parts *parts,
                    uint32_t formula, po_contraction *out) {
  assert(parts->update < p->stmts.len);
  assert(parts->init == PO_NO_STMT || parts->init < p->stmts.len);
  assert(parts->store == PO_NO_STMT || parts->store < p->stmts.len);
  uint32_t mark = po_pool_mark(&p->pool);
  const po_stmt *sum = &p->stmts.data[parts->update];
  if (!sizes)
    sum = po_with_sum_inside(p, sum);
  *out = (po_contraction){.init = parts->init,
                          .update = parts->update,
                          .store = parts->store,
                          .formula = formula};
  out->adds = !sizes && parts->init == PO_NO_STMT &&
              parts->store == PO_NO_STMT && formula == PO_NO_STMT;
  finding f = {.l = {.p = p,
                     .sizes = sizes,
                     .update = sum,
                     .n = sum->n_iters,
                     .n_outer = sum->n_outer},
               .out = out};
  bool ok = holds_all(&f);
  po_pool_release(&p->pool, mark);
  if (!ok)
    return false;
  out->x.array = f.read[0]->array;
  out->y.array = f.read[1]->array;
  out->x.base = f.at[0].base;
  out->y.base = f.at[1].base;
  out->c.base = f.at[2].base;
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
  gs_dtype factor = c->factor[0];
  c->factor[0] = c->factor[1];
  c->factor[1] = factor;
  exchange(&c->x, &c->y, sizeof c->x);
  exchange(c->images[0], c->images[1], sizeof c->images[0]);
  exchange(&c->known[PO_DIM_M], &c->known[PO_DIM_N], sizeof c->known[0]);
  exchange(&c->sized[PO_DIM_M], &c->sized[PO_DIM_N], sizeof c->sized[0]);
  exchange(&c->ragged[PO_DIM_M], &c->ragged[PO_DIM_N], sizeof c->ragged[0]);
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
