/* SPDX-License-Identifier: MIT */
/* contract_mac.c - the loops around an instruction's kernel.
 *
 *   for every tile of c, in parallel
 *     pack the columns of y and the rows of x
 *     for every panel of y, for every panel of x
 *       the sums of a panel, then c from them
 *
 * What is packed whole is packed first, or was packed before. */
#include "glenside/target/machine.h"
#include "codegen/contract/contract_mac.h"
#include "base/whole.h"
#include <assert.h>
#include <string.h>

cg_mac_side
cg_mac_side_of(const cg_contract *x, bool of_x) {
  const po_contraction *c = x->c;
  const gs_mac *mac = c->mac.mac;
  assert(mac);
  const po_cdims *k = &c->dims[PO_DIM_K];
  int64_t last = k->d[k->n - 1].extent;
  cg_mac_side s = {.side = cg_side_of(x, of_x),
                   .mac = mac,
                   .operand = of_x ? &mac->x : &mac->y,
                   .dtype = c->factor[!of_x],
                   .rows = of_x ? mac->m : mac->n,
                   .offset = c->mac.offset[!of_x],
                   .depth = c->mac.depth,
                   .way = po_mac_way_of(c, of_x)};
  s.side.width = po_panel_width(c, of_x);
  s.lane = gs_lane_table[s.operand->lane].c_type;
  s.panel = c->mac.panel[!of_x] / gs_lane_table[s.operand->lane].bytes;
  s.inner = bs_round_up(last, mac->k);
  s.row = of_x ? c->mac.row : 0;
  s.sums = po_mac_panel(c, of_x);
  return s;
}

const char *
cg_mac_type(const cg_mac_side *s) {
  return gs_dtype_table[s->dtype].c_type;
}

int64_t
cg_mac_fragments(const cg_mac_side *s, int64_t rows) {
  assert(rows >= 0);
  assert(s->rows > 0);
  return bs_ceil_div(rows, s->rows);
}

/* An instruction is one of its target's. */
static void
note_use(const cg_contract *x) {
  const gs_target *t = x->e->p->target;
  cg_needs *needs = &x->e->needs;
  cg_need(needs, CG_MACS);
  for (uint32_t k = 0; k < t->macs.len; k++)
    if (t->macs.data[k] == x->c->mac.mac)
      needs->macs |= UINT64_C(1) << k;
}

/* ---- operands packed whole ---- */

static po_cmode
mode_of(const cg_contract *x, bool of_x) {
  return of_x ? x->c->x_mode : x->c->y_mode;
}

static char
letter_of(const cg_mac_side *s) {
  return s->side.of_x ? 'x' : 'y';
}

/* NAME_whole_x(from, to): all panels, which threads share. */
static void
put_whole_function(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  int64_t width = s->side.width, size = s->side.of_x ? x->m : x->n;
  int64_t cores = gs_cores(x->e->p->target);
  long long chunk = bs_ceil_div(bs_ceil_div(size, width), cores) * width;
  cg_write(x->w,
           "static void\n%s_whole_%c(const %s *restrict from, "
           "%s *restrict to) {",
           x->name, letter_of(s), cg_mac_type(s), s->lane);
  cg_put_team(x, 1);
  cg_write(x->w, "for (%s p = 0; p < %lld; p += %lld)", index, (long long)size,
           chunk);
  cg_write(x->w,
           "%s_pack_%c(from, to + p / %lld * %lld, p, %s(p + %lld, %lld));",
           x->name, letter_of(s), (long long)width, (long long)s->panel, min,
           chunk, (long long)size);
  cg_close_function(x->e, x->w);
}

/* ---- the function's own names ---- */

static int64_t
base_of(const cg_use *use, const po_coperand *operand) {
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (use->slots[k].array == operand->array)
      return operand->base - use->slots[k].base;
  return operand->base;
}

static void
put_pointer(const cg_contract *x, const cg_scope *scope, const char *name,
            const po_coperand *operand, bool writes) {
  cg_write(x->w, "%s%s *const glen_%s = %s + %lld;", writes ? "" : "const ",
           gs_dtype_table[x->e->p->arrays.data[operand->array].dtype].c_type,
           name, cg_array_name(x->e, scope, operand->array),
           (long long)base_of(scope->use, operand));
}

/* The array of all panels, filled here unless it was before. */
static void
put_packed(const cg_mac_side *s, const cg_scope *scope) {
  const cg_contract *x = s->side.x;
  bool before = mode_of(x, s->side.of_x) == PO_BEFORE;
  uint32_t array = s->side.of_x ? x->c->packed_x : x->c->packed_y;
  char letter = letter_of(s);
  cg_write(x->w, "%s%s *const glen_packed_%c = (%s%s *)(%svoid *)%s;",
           before ? "const " : "", s->lane, letter, before ? "const " : "",
           s->lane, before ? "const " : "", cg_array_name(x->e, scope, array));
  if (!before)
    cg_write(x->w, "%s_whole_%c(glen_%c, glen_packed_%c);", x->name, letter,
             letter, letter);
}

static void
put_operand(const cg_mac_side *s, const cg_scope *scope) {
  const cg_contract *x = s->side.x;
  const char *name = s->side.of_x ? "x" : "y";
  po_cmode mode = mode_of(x, s->side.of_x);
  if (mode == PO_BEFORE)
    cg_write(x->w, "(void)%s;",
             cg_array_name(x->e, scope, s->side.operand->array));
  else
    put_pointer(x, scope, name, s->side.operand, false);
  if (po_is_packed_whole(mode))
    put_packed(s, scope);
}

static void
put_extras(const cg_contract *x, const cg_scope *scope) {
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    po_coperand operand = {.array = x->c->extras[k].array,
                           .base = x->c->extras[k].base};
    put_pointer(x, scope, bs_arena_printf(&x->e->arena, "e%u", k), &operand,
                false);
  }
  if (cg_has_formula(x))
    cg_write(x->w, "(void)%s;", cg_array_name(x->e, scope, x->c->sums));
}

/* ---- tiles ---- */

/* + 5 * o0 + .. for the strides of an array in the outer loops. */
static void
put_outer(const cg_contract *x, int64_t (*stride)(const po_cdim *, uint32_t),
          uint32_t which) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    if (stride(&o->d[d], which))
      cg_add(x->w, " + %lld * o%u", (long long)stride(&o->d[d], which), d);
}

static int64_t
operand_stride(const po_cdim *d, uint32_t of_x) {
  return of_x ? d->x : d->y;
}

static int64_t
result_stride(const po_cdim *d, uint32_t extra) {
  assert(extra <= PO_MAX_EXTRAS);
  return extra ? d->extra[extra - 1] : d->c;
}

/* The operand's rows of the tile, packed into a block. */
static void
put_block(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  char letter = letter_of(s), row = s->side.of_x ? 'm' : 'n';
  int64_t rows = s->side.of_x ? x->c->mc : x->c->nc;
  if (mode_of(x, s->side.of_x) != PO_BLOCK)
    return;
  cg_write(x->w, "%s %c_block[%lld] __attribute__((aligned(64)));", s->lane,
           letter, (long long)(rows / s->side.width * s->panel));
  cg_add(x->w, "%s_pack_%c(glen_%c", x->name, letter, letter);
  put_outer(x, operand_stride, s->side.of_x);
  cg_add(x->w, ", %c_block, %c_lo, %c_hi", letter, row, row);
  for (uint32_t d = 0; d < o->n; d++)
    if (cg_names_outer(s->side.operand, d))
      cg_add(x->w, ", o%u", d);
  cg_write(x->w, ");");
}

/* Where the panel of row `m` or `n` begins. */
static void
put_panel_pointer(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  char letter = letter_of(s), row = s->side.of_x ? 'm' : 'n';
  po_cmode mode = mode_of(x, s->side.of_x);
  cg_add(x->w, "const %s *const %c = ", s->lane, letter);
  if (mode == PO_DIRECT) {
    cg_add(x->w, "glen_%c", letter);
    put_outer(x, operand_stride, s->side.of_x);
    cg_write(x->w, " + %lld * %c;", (long long)s->row, row);
  } else if (mode == PO_BLOCK)
    cg_write(x->w, "%c_block + (%c - %c_lo) / %lld * %lld;", letter, row, row,
             (long long)s->side.width, (long long)s->panel);
  else
    cg_write(x->w, "glen_packed_%c + %c / %lld * %lld;", letter, row,
             (long long)s->side.width, (long long)s->panel);
}

static int64_t
last_stride(const po_cdims *dims, uint32_t extra) {
  return dims->n ? result_stride(&dims->d[dims->n - 1], extra) : 0;
}

/* Its place for the panel: of c, or of what else the formula reads. */
static void
put_place(const cg_contract *x, uint32_t extra) {
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  cg_add(x->w, " + (%lld * m + %lld * n)", (long long)last_stride(m, extra),
         (long long)last_stride(n, extra));
  put_outer(x, result_stride, extra);
}

/* The kernel puts the sums where they stay. */
static void
put_panel_in_place(const cg_contract *x) {
  cg_add(x->w, "%s_panel(x, y, glen_c", x->name);
  put_place(x, 0);
  cg_write(x->w, ", %lld, m_hi - m, n_hi - n);",
           (long long)last_stride(&x->c->dims[PO_DIM_M], 0));
}

static void
put_panel_apart(const cg_contract *x) {
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  cg_write(x->w, "%s sums[%lld] __attribute__((aligned(64)));", x->type,
           (long long)(sx.side.width * sy.side.width));
  cg_write(x->w, "%s_panel(x, y, sums, %lld, m_hi - m, n_hi - n);", x->name,
           (long long)sy.side.width);
  cg_add(x->w, "%s_store(sums, x, y, glen_c", x->name);
  put_place(x, 0);
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    cg_add(x->w, ", glen_e%u", k);
    put_place(x, k + 1);
  }
  cg_add(x->w, ",\n");
  cg_write(x->w, "%s(m_hi - m, %lld), %s(n_hi - n, %lld));",
           cg_helper_names[CG_MIN_INDEX], (long long)sx.side.width,
           cg_helper_names[CG_MIN_INDEX], (long long)sy.side.width);
}

static void
put_panel(const cg_contract *x) {
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  bool in_place = cg_mac_stores_sums(x);
  const cg_expr *whole = cg_mac_is_whole(x);
  put_panel_pointer(&sx);
  put_panel_pointer(&sy);
  if (in_place && !whole) {
    put_panel_in_place(x);
    return;
  }
  if (in_place) {
    cg_write_if(x->w, whole);
    put_panel_in_place(x);
    cg_write(x->w, "continue; }");
  }
  put_panel_apart(x);
}

static void
put_tile(const cg_contract *x) {
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  cg_write(x->w, "const %s m_hi = %s(m_lo + %lld, %lld);", index, min,
           (long long)x->c->mc, (long long)x->m);
  cg_write(x->w, "const %s n_hi = %s(n_lo + %lld, %lld);", index, min,
           (long long)x->c->nc, (long long)x->n);
  put_block(&sy);
  put_block(&sx);
  cg_put_mac_around(x, GS_MAC_ENTER);
  cg_write(x->w, "for (%s n = n_lo; n < n_hi; n += %lld)", index,
           (long long)sy.side.width);
  cg_write(x->w, "for (%s m = m_lo; m < m_hi; m += %lld) {", index,
           (long long)sx.side.width);
  put_panel(x);
  cg_write(x->w, "}");
  cg_put_mac_around(x, GS_MAC_LEAVE);
}

/* ---- the parts of the file ---- */

void
cg_put_mac_parts(const cg_contract *x) {
  assert(x->c->mac.mac);
  note_use(x);
  for (uint32_t k = 0; k < 2; k++) {
    cg_mac_side s = cg_mac_side_of(x, k);
    if (mode_of(x, k) != PO_DIRECT)
      cg_put_mac_pack(&s);
    if (po_is_packed_whole(mode_of(x, k)))
      put_whole_function(&s);
  }
  cg_put_mac_kernels(x);
  cg_put_mac_store(x);
}

void
cg_put_mac_body(const cg_contract *x, const cg_scope *scope) {
  assert(x->c->mac.mac);
  cg_mac_side sx = cg_mac_side_of(x, true), sy = cg_mac_side_of(x, false);
  put_operand(&sx, scope);
  put_operand(&sy, scope);
  put_pointer(x, scope, "c", &x->c->c, true);
  put_extras(x, scope);
  cg_put_tiles(x, "m_lo", put_tile);
}

const char *
cg_mac_lane(const cg_contract *x, bool of_x) {
  return cg_mac_side_of(x, of_x).lane;
}
