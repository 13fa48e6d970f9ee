/* SPDX-License-Identifier: MIT */
/* emit_einsum.c - sums of products that are written with a letter for each
 * dimension.
 *
 * Operands are joined two at a time.  A letter that neither a later operand
 * nor the result has is summed over then: where both have it, by the product
 * of their rows, and before that where one has it alone. */
#include "onnx/onnx_import.h"

#include <assert.h>
#include <string.h>

enum { MOST_OPERANDS = 16, DOTS = 128, LABELS = DOTS + GS_MAX_RANK };

/* A letter is its own label; what `...` stands for is counted from its end. */
typedef struct operand {
  gs_term x;
  uint32_t rank;
  uint8_t label[GS_MAX_RANK];
} operand;

typedef struct einsum {
  operand in[MOST_OPERANDS], out;
  uint32_t n;
  int64_t size[LABELS];
} einsum;

static bool
has(const operand *o, uint8_t label) {
  return memchr(o->label, label, o->rank) != NULL;
}

/* ---- the equation ---- */

static bool
add_label(on_import *im, operand *o, uint32_t label) {
  if (o->rank == GS_MAX_RANK)
    return on_fail(im, "a part of its equation has too many letters");
  o->label[o->rank++] = (uint8_t)label;
  return true;
}

static bool
add_dots(on_import *im, operand *o, uint32_t n) {
  for (uint32_t k = n; k-- > 0;)
    if (!add_label(im, o, DOTS + k))
      return false;
  return true;
}

/* Up to a comma, an arrow or the end; `dots` dimensions stand for `...`. */
static bool
read_labels(on_import *im, const char **at, operand *o, uint32_t dots) {
  for (; **at && **at != ',' && **at != '-'; (*at)++) {
    char c = **at;
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '.' && !strncmp(*at, "...", 3)) {
      if (!add_dots(im, o, dots))
        return false;
      *at += 2;
    } else if (letter ? !add_label(im, o, (uint8_t)c) : c != ' ') {
      return letter ? false : on_fail(im, "its equation cannot be read");
    }
  }
  return true;
}

static uint32_t
letters_before_end(const char *at) {
  uint32_t n = 0;
  for (; *at && *at != ',' && *at != '-'; at++)
    n += *at != ' ' && *at != '.';
  return n;
}

static bool
note_sizes(on_import *im, einsum *e, const operand *o, const gs_type *t) {
  if (o->rank != t->rank)
    return on_fail(im, "its equation has %u %s for %u %s",
                   BS_COUNTED(o->rank, "letter"),
                   BS_COUNTED(t->rank, "dimension"));
  for (uint32_t k = 0; k < o->rank; k++) {
    int64_t *size = &e->size[o->label[k]];
    if (*size > 1 && t->dim[k] != 1 && *size != t->dim[k])
      return on_fail(im, "one letter stands for both %lld and %lld",
                     (long long)*size, (long long)t->dim[k]);
    *size = *size > 1 ? *size : t->dim[k];
  }
  return true;
}

static bool
read_operand(on_import *im, einsum *e, const char **at) {
  gs_type t;
  operand *o = &e->in[e->n];
  if (e->n == MOST_OPERANDS || e->n == on_inputs(im))
    return on_fail(im, "its equation has more parts than there are inputs");
  o->x = on_term_in(im, e->n);
  if (!t_type(im, o->x, &t))
    return false;
  uint32_t own = letters_before_end(*at);
  e->n++;
  return read_labels(im, at, o, own < t.rank ? t.rank - own : 0) &&
         note_sizes(im, e, o, &t);
}

/* Without an arrow: what `...` stands for, then what stands there once. */
static bool
imply_result(on_import *im, einsum *e) {
  uint32_t times[LABELS] = {0};
  for (uint32_t k = 0; k < e->n; k++)
    for (uint32_t d = 0; d < e->in[k].rank; d++)
      times[e->in[k].label[d]]++;
  for (uint32_t l = LABELS; l-- > DOTS;)
    if (times[l] && !add_label(im, &e->out, l))
      return false;
  for (uint32_t l = 0; l < DOTS; l++)
    if (times[l] == 1 && !add_label(im, &e->out, l))
      return false;
  return true;
}

static uint32_t
count_dots(const einsum *e) {
  uint32_t n = 0;
  for (uint32_t l = DOTS; l < LABELS; l++)
    n += e->size[l] > 0;
  return n;
}

static bool
check_result(on_import *im, const einsum *e) {
  for (uint32_t k = 0; k < e->out.rank; k++) {
    uint8_t l = e->out.label[k];
    if (!e->size[l] || memchr(e->out.label, l, k))
      return on_fail(im, "its result has a letter twice, or a letter of no "
                         "input");
  }
  return true;
}

static bool
read_equation(on_import *im, einsum *e, const char *at) {
  for (;; at++) {
    if (!read_operand(im, e, &at))
      return false;
    if (*at != ',')
      break;
  }
  if (e->n != on_inputs(im))
    return on_fail(im, "its equation has fewer parts than there are inputs");
  if (!*at)
    return imply_result(im, e);
  if (strncmp(at, "->", 2))
    return on_fail(im, "its equation cannot be read");
  at += 2;
  return read_labels(im, &at, &e->out, count_dots(e)) &&
         (!*at || on_fail(im, "its equation cannot be read")) &&
         check_result(im, e);
}

/* ---- one operand ---- */

static void
drop_label(operand *o, uint32_t d) {
  assert(d < o->rank);
  o->rank--;
  memmove(o->label + d, o->label + d + 1, o->rank - d);
}

/* The elements of dimensions a < b with equal indices, along a: both last, as
 * one dimension, of which each (size + 1)-th is on the diagonal. */
static void
take_diagonal(on_import *im, operand *o, uint32_t a, uint32_t b) {
  assert(a < o->rank && b < o->rank && a != b);
  gs_type t;
  bool axes[GS_MAX_RANK] = {0};
  int64_t order[GS_MAX_RANK], n;
  if (!t_type(im, o->x, &t))
    return;
  axes[a] = axes[b] = true;
  n = t.dim[a];
  o->x = t_whole(im, t_axes_last(im, o->x, axes, order));
  if (!t_type(im, o->x, &t))
    return;
  t.rank--;
  t.dim[t.rank - 1] = n * n;
  o->x = t_reshape(im, o->x, t.dim, t.rank, NULL, 0);
  o->x = t_stride(im, o->x, t.rank - 1, n + 1);
  drop_label(o, b);
  uint8_t label = o->label[a];
  drop_label(o, a);
  o->label[o->rank++] = label;
}

/* Every label once, every dimension of its label's size. */
static void
make_regular(on_import *im, const einsum *e, operand *o) {
  int64_t dim[GS_MAX_RANK];
  for (uint32_t k = 0; k < o->rank; k++)
    dim[k] = e->size[o->label[k]];
  o->x = t_broadcast(im, o->x, dim, o->rank);
  for (uint32_t b = 1; b < o->rank && !im->failed; b++) {
    const uint8_t *a = memchr(o->label, o->label[b], b);
    if (a) {
      take_diagonal(im, o, (uint32_t)(a - o->label), b);
      b = 0;
    }
  }
}

/* Sums over what is not wanted. */
static void
sum_over(on_import *im, operand *o, const bool *wanted) {
  bool axes[GS_MAX_RANK] = {0}, any = false;
  int64_t order[GS_MAX_RANK];
  for (uint32_t k = 0; k < o->rank; k++)
    any |= axes[k] = !wanted[o->label[k]];
  if (!any)
    return;
  o->x = t_compute(im, "reduceSum", t_axes_last(im, o->x, axes, order));
  o->x = t_whole(im, o->x);
  for (uint32_t k = o->rank; k-- > 0;)
    if (axes[k])
      drop_label(o, k);
}

/* As dimensions of `to`, which has all labels; size 1 where o has none. */
static gs_term
spread(on_import *im, const einsum *e, const operand *o, const operand *to) {
  int64_t order[GS_MAX_RANK], dim[GS_MAX_RANK], n = 0;
  for (uint32_t k = 0; k < to->rank; k++)
    if (has(o, to->label[k]))
      order[n++] =
          (const uint8_t *)memchr(o->label, to->label[k], o->rank) - o->label;
  gs_term x = t_transpose(im, o->x, order, (uint32_t)n);
  for (uint32_t k = 0; k < to->rank; k++) {
    dim[k] = e->size[to->label[k]];
    if (!has(o, to->label[k]))
      x = t_insert(im, x, k);
  }
  return t_broadcast(im, x, dim, to->rank);
}

/* ---- two ---- */

typedef struct join {
  operand both, left, right; /* kept labels; those of each factor */
  uint32_t summed;           /* labels, last in each of them */
  bool batch;                /* some kept label is in both factors */
} join;

static bool
add_all(on_import *im, operand *to, const operand *from, const operand *in,
        bool inside, const bool *wanted, bool kept) {
  for (uint32_t k = 0; k < from->rank; k++) {
    uint8_t l = from->label[k];
    if (has(in, l) == inside && wanted[l] == kept && !has(to, l) &&
        !add_label(im, to, l))
      return false;
  }
  return true;
}

/* The order (batch, left, right, summed), and what each factor has of it. */
static bool
plan(on_import *im, const operand *a, const operand *b, const bool *wanted,
     join *j) {
  *j = (join){0};
  if (!add_all(im, &j->both, a, b, true, wanted, true))
    return false;
  j->batch = j->both.rank > 0;
  if (!add_all(im, &j->both, a, b, false, wanted, true) ||
      !add_all(im, &j->both, b, a, false, wanted, true) ||
      !add_all(im, &j->left, a, b, false, wanted, true) ||
      !add_all(im, &j->right, b, a, false, wanted, true))
    return false;
  operand all = j->both;
  if (!add_all(im, &all, a, b, true, wanted, false))
    return false;
  j->summed = all.rank - j->both.rank;
  if (j->batch || !j->summed) {
    j->left = j->right = all;
    return true;
  }
  return add_all(im, &j->left, a, b, true, wanted, false) &&
         add_all(im, &j->right, a, b, true, wanted, false);
}

static gs_term
product(on_import *im, const einsum *e, const operand *a, const operand *b,
        const join *j) {
  gs_term x = spread(im, e, a, &j->left), y = spread(im, e, b, &j->right);
  if (!j->summed)
    return t_fold(im, "mul", x, y);
  x = t_access(im, x, j->left.rank - j->summed);
  y = t_access(im, y, j->right.rank - j->summed);
  return t_whole(im,
                 t_compute(im, "dotProd",
                           j->batch ? t_pair(im, x, y) : t_cartprod(im, x, y)));
}

static bool
multiply(on_import *im, const einsum *e, operand *a, operand *b,
         const bool *wanted) {
  bool in_a[LABELS], in_b[LABELS];
  join j;
  for (uint32_t l = 0; l < LABELS; l++) {
    in_a[l] = wanted[l] || has(b, (uint8_t)l);
    in_b[l] = wanted[l] || has(a, (uint8_t)l);
  }
  sum_over(im, a, in_a);
  sum_over(im, b, in_b);
  if (im->failed || !plan(im, a, b, wanted, &j))
    return false;
  j.both.x = product(im, e, a, b, &j);
  *a = j.both;
  return !im->failed;
}

void
emit_einsum(on_import *im) {
  einsum e = {0};
  const Onnx__Attribute *equation = on_attr(im, "equation");
  if (!equation || !equation->has_s) {
    on_fail(im, "it has no equation");
    return;
  }
  const char *text =
      bs_arena_printf(im->ctx->arena, "%.*s", (int)equation->s.len,
                      (const char *)equation->s.data);
  if (!read_equation(im, &e, text))
    return;
  operand all = {0};
  for (uint32_t k = 0; k < e.n && !im->failed; k++) {
    bool wanted[LABELS] = {0};
    make_regular(im, &e, &e.in[k]);
    for (uint32_t o = 0; o < e.out.rank; o++)
      wanted[e.out.label[o]] = true;
    for (uint32_t o = k + 1; o < e.n; o++)
      for (uint32_t d = 0; d < e.in[o].rank; d++)
        wanted[e.in[o].label[d]] = true;
    if (k == 0)
      all = e.in[0];
    else
      multiply(im, &e, &all, &e.in[k], wanted);
    if (!im->failed)
      sum_over(im, &all, wanted);
  }
  if (im->failed)
    return;
  /* Sums of small integers have a wider dtype. */
  gs_dtype d = on_type_of(on_type_in(im, 0))->dtype;
  on_out(im, 0, t_cast(im, d, spread(im, &e, &all, &e.out)), on_type_in(im, 0));
}
