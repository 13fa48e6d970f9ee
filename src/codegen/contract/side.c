/* SPDX-License-Identifier: MIT */
/* side.c - loops and addresses of the functions that pack an operand.
 *
 * A guard is linear, so that along a loop it holds on an interval, whose ends
 * are computed before the loop: inner loops have no conditions. */
#include "codegen/contract/side.h"
#include <assert.h>

bool
cg_names_outer(const po_coperand *operand, uint32_t dim) {
  assert(dim < PO_MAX_DIMS);
  for (uint32_t g = 0; g < operand->n_guards; g++)
    if (operand->guards[g].factor[PO_DIM_O][dim])
      return true;
  return false;
}

static const char letters[] = "omnk";

cg_side
cg_side_of(const cg_contract *x, bool of_x) {
  return of_x ? (cg_side){x, true, PO_DIM_M, &x->c->x, x->c->mr}
              : (cg_side){x, false, PO_DIM_N, &x->c->y, x->columns};
}

const po_cdims *
cg_side_dims(const cg_side *s) {
  return &s->x->c->dims[s->role];
}

gs_number
cg_side_stride(const cg_side *s, const po_cdim *d) {
  return s->of_x ? d->x : d->y;
}

/* ---- indices and addresses ---- */

/* Index variables are called o0, m0, n0, k0, k1, ... */
void
cg_put_linear(const cg_contract *x, const po_cguard *g, uint32_t but_role,
              uint32_t but) {
  cg_add(x->w, "%s", cg_number_text(x, g->constant));
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (g->factor[role][k] && !(role == but_role && k == but))
        cg_add(x->w, " + %lld * %c%u", (long long)g->factor[role][k],
               letters[role], k);
}

/* Narrows lo .. hi, values of index `dim` of `role` from begin on, by the
 * guards. */
void
cg_put_interval(const cg_side *s, uint32_t role, uint32_t dim) {
  assert(role < 4 && dim < PO_MAX_DIMS);
  const cg_contract *x = s->x;
  for (uint32_t g = 0; g < s->operand->n_guards; g++) {
    const po_cguard *guard = &s->operand->guards[g];
    int64_t f = guard->factor[role][dim];
    if (!f) {
      cg_add(x->w, "hi = ");
      cg_put_linear(x, guard, role, dim);
      cg_write(x->w, " >= 0 ? hi : begin;");
    } else if (f > 0) {
      cg_add(x->w, "lo = %s(lo, ", cg_helper_names[CG_MAX_INDEX]);
      cg_add(x->w, "-%s(", cg_helper_names[CG_FLOOR_DIV]);
      cg_put_linear(x, guard, role, dim);
      cg_write(x->w, ", %lld));", (long long)f);
    } else {
      cg_add(x->w, "hi = %s(hi, ", cg_helper_names[CG_MIN_INDEX]);
      cg_add(x->w, "%s(", cg_helper_names[CG_FLOOR_DIV]);
      cg_put_linear(x, guard, role, dim);
      cg_write(x->w, ", %lld) + 1);", (long long)-f);
    }
  }
  if (s->operand->n_guards) {
    cg_write(x->w, "lo = %s(lo, end);", cg_helper_names[CG_MIN_INDEX]);
    cg_write(x->w, "hi = %s(hi, lo);", cg_helper_names[CG_MAX_INDEX]);
  }
}

/* Parts of the address by the loops of a role that `which` has a bit of; 0
 * where there are none. */
void
cg_put_address(const cg_side *s, po_dim_role role, uint32_t which) {
  assert(role < 4 && s->x->c->dims[role].n <= PO_MAX_DIMS);
  const po_cdims *dims = &s->x->c->dims[role];
  const char *plus = "";
  for (uint32_t k = 0; k < dims->n; k++) {
    gs_number f = cg_side_stride(s, &dims->d[k]);
    if (!f || !(which >> k & 1))
      continue;
    cg_add(s->x->w, "%s%s * %c%u", plus, cg_number_text(s->x, f), letters[role],
           k);
    plus = " + ";
  }
  if (!*plus)
    cg_add(s->x->w, "0");
}

uint32_t
cg_all_but_last(const po_cdims *dims) {
  assert(dims->n && dims->n <= PO_MAX_DIMS);
  return (1u << (dims->n - 1)) - 1;
}

uint32_t
cg_all_of(const po_cdims *dims) {
  assert(dims->n <= PO_MAX_DIMS);
  return (1u << dims->n) - 1;
}

/* Indices of the operand's own loops from the flat one in `from`; the last,
 * too, where asked. */
void
cg_put_split(const cg_side *s, const char *from, bool last) {
  const po_cdims *dims = cg_side_dims(s);
  for (uint32_t k = dims->n; k-- > 0;) {
    gs_number inner = po_cdims_product(s->x->over, dims, k + 1);
    if (k + 1 < dims->n || last) {
      cg_add(s->x->w, "const %s %c%u = ", s->x->e->index, letters[s->role], k);
      cg_add(s->x->w, inner > 1 ? "%s / %s" : "%s", from,
             cg_number_text(s->x, inner));
      if (k)
        cg_add(s->x->w, " %% %s", cg_number_text(s->x, dims->d[k].extent));
      cg_write(s->x->w, ";");
      cg_write(s->x->w, "(void)%c%u;", letters[s->role], k);
    }
  }
}

/* Loops over those k that `which` has a bit of; the outermost from k_lo to
 * k_hi. */
void
cg_put_k_loops(const cg_side *s, uint32_t which) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K];
  const char *index = s->x->e->index;
  for (uint32_t d = 0; d < k->n; d++) {
    if (!(which >> d & 1))
      continue;
    if (d)
      cg_write(s->x->w, "for (%s k%u = 0; k%u < %s; k%u++)", index, d, d,
               cg_number_text(s->x, k->d[d].extent), d);
    else
      cg_write(s->x->w, "for (%s k0 = k_lo; k0 < k_hi; k0++)", index);
  }
}

/* How many points of k in the block come before this one. */
void
cg_put_flat_k(const cg_side *s, uint32_t which) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K];
  const char *plus = "";
  for (uint32_t d = 0; d < k->n; d++) {
    gs_number inner = po_cdims_product(s->x->over, k, d + 1);
    if (!(which >> d & 1))
      continue;
    cg_add(s->x->w, d ? "%s%s * k%u" : "%s%s * (k%u - k_lo)", plus,
           cg_number_text(s->x, inner), d);
    plus = " + ";
  }
  if (!*plus)
    cg_add(s->x->w, "0");
}

/* The loops of k that guards name. */
uint32_t
cg_guarded_k(const cg_side *s) {
  uint32_t which = 0;
  for (uint32_t g = 0; g < s->operand->n_guards; g++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (s->operand->guards[g].factor[PO_DIM_K][k])
        which |= 1u << k;
  return which;
}

gs_number
cg_side_last_stride(const cg_side *s) {
  const po_cdims *dims = cg_side_dims(s);
  assert(dims->n);
  return cg_side_stride(s, &dims->d[dims->n - 1]);
}

/* ---- the function ---- */

static void
put_outer_parameters(const cg_side *s) {
  const po_cdims *o = &s->x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    if (cg_names_outer(s->operand, d))
      cg_add(s->x->w, ", %s o%u", s->x->e->index, d);
}

/* lo, hi: rows of x or columns of y. */
void
cg_put_pack_head(const cg_side *s) {
  assert(s->width > 0);
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  cg_add(x->w,
         "static void\n%s_pack_%c(const %s *restrict from, %s *restrict to,\n"
         "    %s k_lo, %s k_hi, %s first, %s last",
         x->name, s->of_x ? 'x' : 'y', x->type, x->type, index, index, index,
         index);
  put_outer_parameters(s);
  cg_put_side_number_parameters(x, s->of_x);
  cg_write(x->w, ") {");
  cg_put_side_number_uses(x, s->of_x);
  cg_write(x->w, "const %s kc = %s * (k_hi - k_lo);", index,
           cg_number_text(x, x->inner));
}

void
cg_put_panel_loop(const cg_side *s) {
  assert(s->width > 0);
  const cg_contract *x = s->x;
  cg_write(x->w, "for (%s p = first; p < last; p += %lld) {", x->e->index,
           (long long)s->width);
  cg_write(x->w, "%s *const panel = to + kc * (p - first);", x->type);
}

void
cg_put_row_pointer(const cg_side *s, const char *name, uint32_t k) {
  assert(s->width > 0);
  cg_add(s->x->w, "%s *const %s = panel + %lld * (", s->x->type, name,
         (long long)s->width);
  cg_put_flat_k(s, k);
  cg_write(s->x->w, ");");
}

/* `text`: count * t behind it, or nothing. */
void
cg_put_declared_address(const cg_side *s, const char *name, po_dim_role role,
                        uint32_t which) {
  cg_add(s->x->w, "const %s %s = ", s->x->e->index, name);
  cg_put_address(s, role, which);
  cg_write(s->x->w, ";");
}
