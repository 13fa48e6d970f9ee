/* SPDX-License-Identifier: MIT */
/* symbolic_space.c - changes of the variables of a reduction, one to one.
 *
 * Two that are only read as r * n + s are one of n times as many; one that is
 * read in digits is its digits; one that is read with a shift is read without.
 * Names and order follow from where the variables are read, so that equal
 * reductions have equal bytes. */
#include "prove/symbolic/space.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

enum { MAX_STEPS = 16 };

/* Keys of variables that changes make. */
enum { FIRST_NEW_KEY = 100 };

/* What is known of a variable of the box: low <= v < high. */
void
fm_space_know(fm_form *f, uint8_t var, fm_number low, fm_number high) {
  assert(var < f->n_vars);
  fm_number v = fm_of_variable(f, var);
  fm_number in[2] = {fm_combine(f, 1, v, -1, low, 0),
                     fm_combine(f, 1, high, -1, v, -1)};
  if (f->n_rows + 2 > FM_ROWS) {
    fm_fail(f, "too many conditions");
    return;
  }
  for (uint32_t i = 0; i < 2; i++)
    fm_know(f, in[i]);
}

/* A new one.  Boxes of one frame may have the same: what is known of it is
 * forgotten with the box.  One that may be negative is never one that may not:
 * `natural` stays with the variable. */
static uint8_t
new_variable(fm_space *b, fm_number low, fm_number high) {
  fm_form *f = b->f;
  int64_t c;
  bool natural = fm_is_constant(f, low, &c) && c >= 0;
  uint16_t key = (uint16_t)(FIRST_NEW_KEY + 2 * b->fresh++ + natural);
  uint8_t v = fm_variable(f, (fm_var){.kind = FM_V_BOUND,
                                      .frame = (uint8_t)f->frames,
                                      .natural = natural,
                                      .key = key});
  fm_space_know(f, v, low, high);
  return v;
}

static uint8_t
new_counter(fm_space *b, fm_number high) {
  return new_variable(b, fm_constant(b->f, 0), high);
}

static void
rename_box(fm_space *b, const fm_renaming *r) {
  b->r.body = fm_rename_value(b->f, r, b->r.body);
  for (uint32_t k = 0; k < b->r.n_guards; k++)
    b->r.guard[k] = fm_normal(b->f, fm_rename(b->f, r, b->r.guard[k]));
}

void
fm_space_drop(fm_space *b, uint32_t k) {
  assert(k < b->r.n);
  fm_reduction *r = &b->r;
  for (b->r.n--; k < r->n; k++) {
    r->var[k] = r->var[k + 1];
    r->low[k] = r->low[k + 1];
    r->high[k] = r->high[k + 1];
  }
}

bool
fm_space_reads(fm_space *b, uint8_t var) {
  assert(var < b->f->n_vars);
  for (uint32_t k = 0; k < b->r.n_guards; k++)
    if (fm_depends(b->f, b->r.guard[k], var))
      return true;
  return fm_value_depends(b->f, b->r.body, var);
}

bool
fm_space_binds(const fm_space *b, fm_number x) {
  for (uint32_t k = 0; k < b->r.n; k++)
    if (fm_depends(b->f, x, b->r.var[k]))
      return true;
  return false;
}

/* --- entries -------------------------------------------------------------- */

/* Calls `see` with every index that the body reads, inner reductions' too. */
typedef struct reader {
  fm_space *b;
  void (*see)(struct reader *, uint32_t slot, uint32_t place, fm_number);
  uint8_t var;
  fm_number by; /* found */
  uint64_t hash, best;
  bool found;
} reader;

static void read_value(reader *, pv_value);

static void
read_leaf(reader *x, const uint32_t *w) {
  fm_form *f = x->b->f;
  if (w[0] == FM_LEAF_NUMBER)
    return;
  if (w[0] == FM_LEAF_REDUCTION) {
    const fm_reduction *r = &f->reduction[w[1]];
    for (uint32_t k = 0; k < r->n; k++) {
      x->see(x, FM_LEAF_REDUCTION, 2 * k, r->low[k]);
      x->see(x, FM_LEAF_REDUCTION, 2 * k + 1, r->high[k]);
    }
    read_value(x, r->body);
    return;
  }
  const fm_tuple *t = &f->tuple[w[1]];
  for (uint32_t k = 0; k < t->n; k++)
    x->see(x, t->slot, k, t->at[k]);
}

static void
read_value(reader *x, pv_value value) {
  const pv_values *v = &x->b->f->elements;
  const pv_node *node = pv_at(v, value);
  uint32_t n = node->kind == PV_SUM ? pv_n_parts(v, value) : node->n;
  if (node->kind == PV_NUMBER || node->kind == PV_LOWEST)
    return;
  if (node->kind == PV_LEAF) {
    uint32_t w[2] = {pv_words(v, value)[0], pv_words(v, value)[1]};
    if (node->n == 3)
      read_leaf(x, w);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    if (node->kind == PV_PRODUCT && k % 2)
      continue;
    read_value(x, node->kind == PV_SUM ? pv_part_at(v, value, k).product
                                       : pv_words(v, value)[k]);
    node = pv_at(v, value);
  }
}

/* --- changes of variables ------------------------------------------------- */

static bool
is_whole(const fm_space *b, uint32_t k) {
  assert(k < b->r.n);
  int64_t c;
  return fm_is_constant(b->f, b->r.low[k], &c) && c == 0;
}

/* i and j as one: j := l - i * high j */
static bool
merge(fm_space *b, uint32_t i, uint32_t j) {
  assert(i < b->r.n && j < b->r.n && i != j);
  fm_form *f = b->f;
  fm_space old = *b;
  uint32_t rows = f->n_rows;
  fm_number high = fm_normal(f, fm_product(f, b->r.high[i], b->r.high[j]));
  uint8_t l = new_counter(b, high);
  fm_number step = fm_product(f, fm_of_variable(f, b->r.var[i]), b->r.high[j]);
  fm_renaming r = {
      1, {b->r.var[j]}, {fm_combine(f, 1, fm_of_variable(f, l), -1, step, 0)}};
  rename_box(b, &r);
  if (!f->why && !fm_space_reads(b, old.r.var[i])) {
    b->r.var[j] = l;
    b->r.high[j] = high;
    fm_space_drop(b, i);
    return true;
  }
  *b = old;
  fm_forget(f, rows);
  return false;
}

static bool
merge_some(fm_space *b) {
  for (uint32_t i = 0; i < b->r.n; i++)
    for (uint32_t j = 0; j < b->r.n && !b->f->why; j++)
      if (i != j && is_whole(b, i) && is_whole(b, j) &&
          (!b->ordered || j == i + 1) && fm_space_reads(b, b->r.var[i]) &&
          fm_space_reads(b, b->r.var[j]) && merge(b, i, j))
        return true;
  return false;
}

/* A divisor by which the variable is read. */
static void
see_divisor(reader *x, uint32_t slot, uint32_t place, fm_number entry) {
  fm_form *f = x->b->f;
  fm_poly p = f->number[entry];
  fm_number a, rest;
  (void)slot;
  (void)place;
  for (uint32_t k = 0; k < p.n; k++) {
    fm_mono m = f->mono[f->term[p.at + k].mono];
    for (uint32_t i = 0; i < m.n; i++) {
      fm_var q = f->var[m.var[i]];
      if (q.kind != FM_V_QUOTIENT || fm_space_binds(x->b, q.by) ||
          !fm_linear_in(f, q.of, x->var, &a, &rest) || f->number[rest].n ||
          f->number[a].n != 1 || f->term[f->number[a].at].mono ||
          f->term[f->number[a].at].times != 1)
        continue;
      if (!x->found || f->number[q.by].n < f->number[x->by].n ||
          (f->number[q.by].n == f->number[x->by].n &&
           f->mono[f->term[f->number[q.by].at].mono].n <
               f->mono[f->term[f->number[x->by].at].mono].n))
        x->by = q.by;
      x->found = true;
    }
  }
}

/* l := u * by + v */
static bool
split(fm_space *b, uint32_t k) {
  assert(k < b->r.n);
  fm_form *f = b->f;
  fm_number count, rest;
  reader x = {.b = b, .see = see_divisor, .var = b->r.var[k]};
  if (!is_whole(b, k) || b->r.n == GS_MAX_RANK)
    return false;
  read_value(&x, b->r.body);
  for (uint32_t g = 0; g < b->r.n_guards; g++)
    see_divisor(&x, 0, 0, b->r.guard[g]);
  if (!x.found || !fm_divide(f, b->r.high[k], x.by, &count, &rest) ||
      f->number[fm_normal(f, rest)].n)
    return false;
  uint8_t u = new_counter(b, count), v = new_counter(b, x.by);
  fm_number nu = fm_of_variable(f, u), nv = fm_of_variable(f, v);
  fm_renaming r = {
      1, {b->r.var[k]}, {fm_combine(f, 1, fm_product(f, nu, x.by), 1, nv, 0)}};
  rename_box(b, &r);
  for (uint32_t i = b->r.n++; i > k; i--) {
    b->r.var[i] = b->r.var[i - 1];
    b->r.low[i] = b->r.low[i - 1];
    b->r.high[i] = b->r.high[i - 1];
  }
  b->r.var[k] = u;
  b->r.var[k + 1] = v;
  b->r.low[k + 1] = b->r.low[k];
  b->r.high[k] = fm_normal(f, count);
  b->r.high[k + 1] = x.by;
  return true;
}

static bool
split_some(fm_space *b) {
  for (uint32_t k = 0; k < b->r.n && !b->f->why; k++)
    if (split(b, k))
      return true;
  return false;
}

/* The shift with which the variable is read, in the first place that reads
 * it as it is. */
static void
see_shift(reader *x, uint32_t slot, uint32_t place, fm_number entry) {
  fm_form *f = x->b->f;
  fm_number a, rest;
  int64_t c;
  uint64_t rank = (uint64_t)slot << 32 | place;
  if (slot == FM_LEAF_REDUCTION || !fm_depends(f, entry, x->var) ||
      !fm_linear_in(f, entry, x->var, &a, &rest) || !fm_is_constant(f, a, &c) ||
      c != 1 || f->number[rest].frame || (x->found && rank >= x->best))
    return;
  x->found = true;
  x->best = rank;
  x->by = rest;
}

void
fm_space_shift(fm_space *b, uint32_t k) {
  assert(k < b->r.n);
  fm_form *f = b->f;
  reader x = {.b = b, .see = see_shift, .var = b->r.var[k]};
  read_value(&x, b->r.body);
  if (!x.found || !f->number[x.by].n)
    return;
  fm_number low = fm_combine(f, 1, b->r.low[k], 1, x.by, 0);
  fm_number high = fm_combine(f, 1, b->r.high[k], 1, x.by, 0);
  /* another variable: of this one it is known where it was */
  uint8_t shifted = new_variable(b, low, high);
  fm_number v = fm_of_variable(f, shifted);
  fm_renaming r = {1, {b->r.var[k]}, {fm_combine(f, 1, v, -1, x.by, 0)}};
  rename_box(b, &r);
  b->r.var[k] = shifted;
  b->r.low[k] = fm_normal(f, low);
  b->r.high[k] = fm_normal(f, high);
}

/* --- order and names ------------------------------------------------------ */

static void
see_place(reader *x, uint32_t slot, uint32_t place, fm_number entry) {
  fm_form *f = x->b->f;
  fm_number a, rest;
  if (!fm_depends(f, entry, x->var))
    return;
  bool linear =
      fm_linear_in(f, entry, x->var, &a, &rest) && !fm_space_binds(x->b, a);
  uint64_t item[3] = {slot, place, linear ? a + 1u : 0};
  x->hash += bs_hash(item, sizeof item);
}

static uint64_t
signature(fm_space *b, uint32_t k) {
  assert(k < b->r.n);
  reader x = {.b = b, .see = see_place, .var = b->r.var[k]};
  read_value(&x, b->r.body);
  uint64_t item[3] = {x.hash, b->r.low[k], b->r.high[k]};
  if (b->r.kind == GS_C_REDUCE_SUM)
    return x.hash; /* sums over other ranges have the same order */
  return bs_hash(item, sizeof item);
}

static void
swap_variables(fm_space *b, uint32_t i) {
  assert(i >= 1 && i < b->r.n);
  fm_reduction old = b->r;
  b->r.var[i] = old.var[i - 1];
  b->r.low[i] = old.low[i - 1];
  b->r.high[i] = old.high[i - 1];
  b->r.var[i - 1] = old.var[i];
  b->r.low[i - 1] = old.low[i];
  b->r.high[i - 1] = old.high[i];
}

void
fm_space_order(fm_space *b) {
  for (uint32_t k = 1; k < b->r.n && !b->ordered; k++)
    for (uint32_t i = k; i > 0 && signature(b, i) < signature(b, i - 1); i--)
      swap_variables(b, i);
}

void
fm_space_name(fm_space *b) {
  fm_form *f = b->f;
  fm_renaming r = {.n = b->r.n};
  b->r.height = (uint16_t)(fm_height(f, b->r.body) + 1);
  for (uint32_t k = 0; k < b->r.n; k++) {
    uint8_t v = fm_variable(
        f, (fm_var){.kind = FM_V_NAME,
                    .frame = FM_NO_FRAME,
                    .key = (uint16_t)(b->r.height * GS_MAX_RANK + k)});
    r.var[k] = b->r.var[k];
    r.by[k] = fm_of_variable(f, v);
    b->r.var[k] = v;
  }
  rename_box(b, &r);
  /* guards are a set */
  for (uint32_t k = 1; k < b->r.n_guards; k++)
    for (uint32_t i = k; i > 0 && b->r.guard[i] < b->r.guard[i - 1]; i--) {
      fm_number g = b->r.guard[i];
      b->r.guard[i] = b->r.guard[i - 1];
      b->r.guard[i - 1] = g;
    }
}

/* What is not used is 0, so that equal reductions have equal bytes. */
pv_value
fm_space_leaf(fm_space *b) {
  fm_reduction r;
  memset(&r, 0, sizeof r);
  r.kind = b->r.kind;
  r.n = b->r.n;
  r.n_guards = b->r.n_guards;
  r.height = b->r.height;
  r.body = b->r.body;
  for (uint32_t k = 0; k < r.n; k++) {
    r.low[k] = fm_normal(b->f, b->r.low[k]);
    r.high[k] = fm_normal(b->f, b->r.high[k]);
    r.var[k] = b->r.var[k];
  }
  for (uint32_t k = 0; k < r.n_guards; k++)
    r.guard[k] = b->r.guard[k];
  return fm_leaf_of_reduction(b->f, b->d, &r);
}

void
fm_space_change(fm_space *b) {
  for (uint32_t k = 0; k < MAX_STEPS && !b->f->why; k++)
    if (!merge_some(b) && !split_some(b))
      return;
  fm_fail(b->f, "items read in many ways");
}

/* --- boxes ---------------------------------------------------------------- */

/* A variable that has one value is that value. */
void
fm_space_drop_single(fm_space *b) {
  fm_form *f = b->f;
  int64_t c;
  for (uint32_t k = b->r.n; k-- > 0 && !f->why;) {
    fm_number n = fm_combine(f, 1, b->r.high[k], -1, b->r.low[k], 0);
    if (!fm_is_constant(f, n, &c) || c != 1)
      continue;
    fm_renaming r = {1, {b->r.var[k]}, {b->r.low[k]}};
    rename_box(b, &r);
    fm_space_drop(b, k);
  }
}

/* The reduction of the same kind that a value is, over a box that does not
 * change with the items outside; or NULL. */
static const fm_reduction *
inner_of(const fm_space *b, pv_value value) {
  fm_form *f = b->f;
  const pv_node *node = pv_at(&f->elements, value);
  if (node->kind != PV_LEAF || node->n != 3 || node->dtype != b->d ||
      pv_words(&f->elements, value)[0] != FM_LEAF_REDUCTION)
    return NULL;
  const fm_reduction *r = &f->reduction[pv_words(&f->elements, value)[1]];
  bool rounds = gs_is_half(b->d) && r->kind != GS_C_REDUCE_MAX &&
                r->kind != GS_C_REDUCE_MIN;
  if (r->kind != b->r.kind || b->ordered || rounds ||
      r->n + b->r.n > GS_MAX_RANK || r->n_guards + b->r.n_guards > FM_CHOICES)
    return NULL;
  for (uint32_t k = 0; k < r->n; k++)
    if (fm_space_binds(b, r->low[k]) || fm_space_binds(b, r->high[k]) ||
        !fm_implied(f,
                    fm_combine(f, 1, r->high[k], -1, r->low[k],
                               r->kind == GS_C_REDUCE_SUM ? 0 : -1),
                    false))
      return NULL;
  return r;
}

/* A reduction of reductions is one over both boxes; `others`: a factor. */
static bool
take_inner(fm_space *b, const fm_reduction *r, pv_value others) {
  fm_form *f = b->f;
  fm_reduction in = *r;
  fm_renaming names = {.n = in.n};
  for (uint32_t k = 0; k < in.n; k++) {
    uint8_t v = new_variable(b, in.low[k], in.high[k]);
    names.var[k] = in.var[k];
    names.by[k] = fm_of_variable(f, v);
    b->r.var[b->r.n] = v;
    b->r.low[b->r.n] = in.low[k];
    b->r.high[b->r.n++] = in.high[k];
  }
  for (uint32_t k = 0; k < in.n_guards; k++)
    b->r.guard[b->r.n_guards++] = fm_rename(f, &names, in.guard[k]);
  b->r.body = fm_rename_value(f, &names, in.body);
  if (others && b->r.body)
    b->r.body = pv_multiply(&f->elements, b->d, others,
                            pv_embed(&f->elements, b->d, b->r.body));
  return !f->why && b->r.body;
}

/* Of a product: the one factor that is a sum, and the others. */
static bool
flatten_sum(fm_space *b) {
  fm_form *f = b->f;
  pv_values *v = &f->elements;
  pv_part part;
  const fm_reduction *r = inner_of(b, b->r.body);
  if (r)
    return take_inner(b, r, 0);
  if (!pv_is_monomial(v, b->r.body, &part))
    return false;
  for (uint32_t i = 0; i < pv_at(v, part.product)->n; i += 2) {
    uint32_t factor = pv_words(v, part.product)[i];
    uint32_t power = pv_words(v, part.product)[i + 1];
    r = power == 1 ? inner_of(b, factor) : NULL;
    if (!r)
      continue;
    uint32_t dropped = v->dropped.len;
    pv_value others =
        pv_multiply(v, b->d, b->r.body, pv_power(v, b->d, factor, -1));
    v->dropped.len = dropped; /* it is put back by its items */
    return others && take_inner(b, r, others);
  }
  return false;
}

void
fm_space_flatten(fm_space *b) {
  bool sums = b->r.kind == GS_C_REDUCE_SUM;
  for (uint32_t k = 0; k < 4 && !b->f->why; k++) {
    const fm_reduction *r = sums ? NULL : inner_of(b, b->r.body);
    if (!(sums ? flatten_sum(b) : r && take_inner(b, r, 0)))
      return;
  }
}
