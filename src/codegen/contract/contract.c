/* SPDX-License-Identifier: MIT */
/* contract.c - the loops around a contraction's kernel.
 *
 *   for every tile of c, in parallel
 *     for every block of k
 *       pack the block of y
 *       for every block of rows
 *         pack the block of x
 *         for every panel of y, for every panel of x: the kernel
 *
 * What is packed whole is packed first.  Packed blocks are on the stack of the
 * thread. */
#include "glenside/target/machine.h"
#include "codegen/contract/contract.h"
#include "base/whole.h"
#include <assert.h>

static const char *
array_name(const cg_contract *x, const cg_scope *scope, uint32_t array) {
  return cg_array_name(x->e, scope, array);
}

/* Address of an operand's origin less what its slot adds to the pointer. */
static const char *
base_of(const cg_contract *x, const cg_use *use, const po_coperand *operand) {
  int64_t less = 0;
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (use->slots[k].array == operand->array)
      less = use->slots[k].base;
  if (!gs_is_sized(operand->base))
    return cg_number_text(x, operand->base - less);
  return bs_arena_printf(&x->e->arena, "%s - %lld",
                         cg_number_text(x, operand->base), (long long)less);
}

static void
put_outer_offset(const cg_contract *x, char which) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++) {
    int64_t f = which == 'x' ? o->d[d].x : which == 'y' ? o->d[d].y : o->d[d].c;
    if (f)
      cg_add(x->w, " + %s * o%u", cg_number_text(x, f), d);
  }
}

/* The pointers of the function under names that no array has. */
static void
put_pointer(const cg_contract *x, const cg_scope *scope, char which,
            const po_coperand *operand) {
  cg_write(x->w, "%s%s *const glen_%c = %s + %s;", which == 'c' ? "" : "const ",
           x->type, which, array_name(x, scope, operand->array),
           base_of(x, scope->use, operand));
}

/* The pointer to an operand, moved to where the outer loops stand. */
static void
put_moved(const cg_contract *x, char which) {
  cg_add(x->w, "%s%s *const %c = glen_%c", which == 'c' ? "" : "const ",
         x->type, which, which);
  put_outer_offset(x, which);
  cg_write(x->w, ";");
}

/* What else the formula reads. */
static void
put_extras(const cg_contract *x, const cg_scope *scope) {
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    const po_cextra *extra = &x->c->extras[k];
    po_coperand operand = {.array = extra->array, .base = extra->base};
    cg_write(x->w, "const %s *const glen_e%u = %s + %s;",
             gs_dtype_table[x->e->p->arrays.data[extra->array].dtype].c_type, k,
             array_name(x, scope, extra->array),
             base_of(x, scope->use, &operand));
  }
}

static void
put_moved_extras(const cg_contract *x) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    uint32_t array = x->c->extras[k].array;
    cg_add(x->w, "const %s *const e%u = glen_e%u",
           gs_dtype_table[x->e->p->arrays.data[array].dtype].c_type, k, k);
    for (uint32_t d = 0; d < o->n; d++)
      if (o->d[d].extra[k])
        cg_add(x->w, " + %s * o%u", cg_number_text(x, o->d[d].extra[k]), d);
    cg_write(x->w, ";");
  }
}

static void
put_outer_arguments(const cg_contract *x, const po_coperand *operand) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    if (cg_names_outer(operand, d))
      cg_add(x->w, ", o%u", d);
}

/* ---- operands packed whole ---- */

static bool
is_whole(const cg_contract *x, bool of_x) {
  return po_is_packed_whole(of_x ? x->c->x_mode : x->c->y_mode);
}

/* Rows of a panel; all of them, with what fills the last panel. */
static int64_t
width_of(const cg_contract *x, bool of_x) {
  return of_x ? x->c->mr : x->columns;
}

/* Elements of a packed part, where sizes are integers. */
static int64_t
part_of(const cg_contract *x, bool of_x) {
  return bs_round_up(of_x ? x->m : x->n, width_of(x, of_x)) * x->k;
}

/* Where the block of k from k_lo on and of kc points has row `row`, in the part
 * where the outer loops stand; sizes that are open have one part. */
static void
put_whole_place(const cg_contract *x, bool of_x, const char *row) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  int64_t part = 1;
  for (uint32_t d = o->n; d-- > 0;)
    if (po_moves(&o->d[d], of_x)) {
      cg_add(x->w, "%lld * o%u + ", (long long)(part * part_of(x, of_x)), d);
      part *= o->d[d].extent;
    }
  cg_add(x->w, "%s * k_lo + kc * %s", cg_panels_step(x, of_x), row);
}

/* Loops over the parts of the operand. */
static void
put_parts(const cg_contract *x, bool of_x) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  const char *index = x->e->index;
  for (uint32_t d = 0; d < o->n; d++)
    if (po_moves(&o->d[d], of_x))
      cg_write(x->w, "for (%s o%u = 0; o%u < %lld; o%u++)", index, d, d,
               (long long)o->d[d].extent, d);
}

static uint32_t
count_loops_over_parts(const cg_contract *x, bool of_x) {
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  uint32_t n = 0;
  for (uint32_t d = 0; d < o->n; d++)
    n += po_moves(&o->d[d], of_x);
  return n;
}

/* Rows or columns of whole panels that a thread packs. */
static const char *
chunk_of(const cg_contract *x, bool of_x) {
  int64_t cores = gs_cores(x->e->p->target);
  int64_t width = width_of(x, of_x), all = width * cores;
  gs_number size = of_x ? x->m : x->n;
  if (!gs_is_sized(size))
    return cg_number_text(x, bs_ceil_div(size, all) * width);
  return bs_arena_printf(&x->e->arena, "(%s + %lld) / %lld * %lld",
                         cg_number_text(x, size), (long long)(all - 1),
                         (long long)all, (long long)width);
}

/* Panels p .. of a block of k. */
static void
put_whole_call(const cg_contract *x, bool of_x) {
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  char letter = of_x ? 'x' : 'y';
  cg_write(x->w, "const %s k_hi = %s(k_lo + %s, %s);", index, min,
           cg_block_text(x, "kc"),
           cg_number_text(x, x->c->dims[PO_DIM_K].d[0].extent));
  cg_write(x->w, "const %s kc = %s * (k_hi - k_lo);", index,
           cg_number_text(x, x->inner));
  cg_add(x->w, "%s_pack_%c(from", x->name, letter);
  put_outer_offset(x, letter);
  cg_add(x->w, ", to + ");
  put_whole_place(x, of_x, "p");
  cg_add(x->w, ", k_lo, k_hi, p, %s(p + %s, %s)", min, chunk_of(x, of_x),
         cg_number_text(x, of_x ? x->m : x->n));
  cg_add(x->w, "%s", cg_side_number_arguments(x, of_x));
  cg_write(x->w, ");");
}

/* NAME_whole_x(from, to): of each part blocks of k, each with all panels, which
 * threads share. */
static void
put_whole_function(const cg_contract *x, bool of_x) {
  const char *index = x->e->index;
  cg_add(x->w,
         "static void\n%s_whole_%c(const %s *restrict from, "
         "%s *restrict to",
         x->name, of_x ? 'x' : 'y', x->type, x->type);
  if (cg_has_sized_blocks(x, PO_DIM_K))
    cg_add(x->w, ", %s glen_kc", index);
  cg_put_side_number_parameters(x, of_x);
  cg_write(x->w, ") {");
  cg_put_side_number_uses(x, of_x);
  cg_put_side_team(x, of_x, 2 + count_loops_over_parts(x, of_x));
  put_parts(x, of_x);
  cg_write(x->w, "for (%s k_lo = 0; k_lo < %s; k_lo += %s)", index,
           cg_number_text(x, x->c->dims[PO_DIM_K].d[0].extent),
           cg_block_text(x, "kc"));
  cg_write(x->w, "for (%s p = 0; p < %s; p += %s) {", index,
           cg_number_text(x, of_x ? x->m : x->n), chunk_of(x, of_x));
  put_whole_call(x, of_x);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

/* The array's pointer under a name of its own; packed here, unless it was
 * before. */
static void
put_whole(const cg_contract *x, const cg_scope *scope, bool of_x) {
  const po_contraction *c = x->c;
  char letter = of_x ? 'x' : 'y';
  bool before = (of_x ? c->x_mode : c->y_mode) == PO_BEFORE;
  cg_write(x->w, "%s%s *const glen_packed_%c = %s;", before ? "const " : "",
           x->type, letter,
           array_name(x, scope, of_x ? c->packed_x : c->packed_y));
  if (of_x ? c->x_may_lie : c->y_may_lie)
    cg_write(x->w, "if (!glen_%c_lies)", letter);
  if (!before)
    cg_write(x->w, "%s_whole_%c(glen_%c, glen_packed_%c%s%s);", x->name, letter,
             letter, letter,
             cg_has_sized_blocks(x, PO_DIM_K) ? ", glen_kc" : "",
             cg_number_arguments(x));
}

/* ---- tiles ---- */

/* Where the operand's panel begins. */
static void
put_lying_x(const cg_contract *x) {
  const po_cdims *m = &x->c->dims[PO_DIM_M], *k = &x->c->dims[PO_DIM_K];
  cg_add(x->w, "x + %s * m + %s * k_lo",
         cg_number_text(x, m->n ? m->d[0].x : 0), cg_number_text(x, k->d[0].x));
}

static void
put_panel_of_x(const cg_contract *x) {
  if (x->c->x_may_lie) {
    cg_add(x->w, "glen_x_lies ? ");
    put_lying_x(x);
    cg_add(x->w, " : ");
  }
  if (x->c->x_mode == PO_DIRECT) {
    put_lying_x(x);
  } else if (x->c->x_mode == PO_BLOCK) {
    cg_add(x->w, "x_block + kc * (m - m_lo)");
  } else if (x->c->x_mode == PO_WINDOWS) {
    cg_add(x->w, "x_image + %s_place(m, row%s)", x->name,
           cg_number_arguments(x));
    if (cg_leaves_out(x))
      cg_put_block_of_taps(x);
  } else {
    cg_add(x->w, "glen_packed_x + ");
    put_whole_place(x, true, "m");
  }
}

static void
put_panel_of_y(const cg_contract *x) {
  const char *step = cg_number_text(x, x->c->dims[PO_DIM_K].d[0].y);
  if (x->c->y_may_lie)
    cg_add(x->w, "glen_y_lies ? y + n + %s * k_lo : ", step);
  if (x->c->y_mode == PO_DIRECT) {
    cg_add(x->w, "y + n + %s * k_lo", step);
  } else if (x->c->y_mode == PO_BLOCK) {
    cg_add(x->w, "y_block + kc * (n - n_lo)");
  } else if (x->c->y_mode == PO_WINDOWS) {
    cg_add(x->w, "panel");
  } else {
    cg_add(x->w, "glen_packed_y + ");
    put_whole_place(x, false, "n");
  }
}

/* Where what the formula reads begins for this panel. */
static void
put_formula_arguments(const cg_contract *x) {
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  if (cg_has_formula(x) && !x->c->waits)
    cg_add(x->w, "k_hi == %s, ",
           cg_number_text(x, x->c->dims[PO_DIM_K].d[0].extent));
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    cg_add(x->w, "e%u + (%s * m + %s * n), ", k,
           cg_number_text(x, m->n ? m->d[m->n - 1].extra[k] : 0),
           cg_number_text(x, n->n ? n->d[n->n - 1].extra[k] : 0));
}

/* The table of offsets, where there is an image, or the taps that a panel has.
 */
static const char *
offsets_name(const cg_contract *x) {
  return cg_leaves_out(x)      ? cg_range_arguments(x)
         : !cg_has_windows(x)  ? ""
         : po_image_of_x(x->c) ? "offsets, "
                               : "at, ";
}

static void
put_panel_call(const cg_contract *x) {
  const po_cdims *m = &x->c->dims[PO_DIM_M], *n = &x->c->dims[PO_DIM_N];
  bool lines = cg_has_lines(x);
  cg_add(x->w, "%s_panel(", x->name);
  put_panel_of_x(x);
  cg_add(x->w, ",\n");
  put_panel_of_y(x);
  cg_add(x->w, ", c + %s * m + %s * n,\n",
         cg_number_text(x, m->n ? m->d[m->n - 1].c : 0),
         cg_number_text(x, n->n ? n->d[n->n - 1].c : 0));
  cg_add(x->w, "%s%s", offsets_name(x), cg_blends(x) ? "part, left, " : "");
  if (x->c->waits)
    cg_add(x->w, "sums + %lld * (m - tile) + %s * (n - n_lo), k_hi == %s, ",
           (long long)x->c->nc,
           lines ? "rows" : bs_arena_printf(&x->e->arena, "%u", x->c->mr),
           cg_number_text(x, x->c->dims[PO_DIM_K].d[0].extent));
  if (x->c->later)
    cg_add(x->w, "kc * (%lld + %s * ((m - m_lo) / %u)), ",
           (long long)cg_bytes_of_panel(x), cg_later_text(x), x->c->mr);
  if (cg_shares_later(x))
    cg_add(x->w, CG_LATER ", ");
  cg_add(x->w, "kc, %s%s, ", x->c->adds ? "0" : "k_lo == 0",
         cg_number_arguments(x));
  if (cg_blends(x))
    cg_add(x->w, "within, ");
  put_formula_arguments(x);
  cg_write(x->w, "%s, n_hi - n);", lines ? "rows" : "m_hi - m");
}

/* The panels of x, for one of y. */
static void
put_panels(const cg_contract *x) {
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *line = cg_number_text(x, x->c->line);
  bool lines = cg_has_lines(x), leaves_out = cg_leaves_out(x);
  bool asks = cg_asks_for_next(x);
  if (lines)
    cg_write(x->w, "for (%s m = m_lo, rows; m < m_hi; m += rows) {", index);
  else
    cg_write(x->w, "for (%s m = m_lo; m < m_hi; m += %u)%s", index, x->c->mr,
             leaves_out || asks ? " {" : "");
  if (asks)
    cg_put_next_part(x);
  if (leaves_out)
    cg_put_ranges(x);
  if (lines)
    cg_write(x->w, "rows = %s(%s, %s - m %% %s);", min,
             po_has_open_lines(x->c)
                 ? CG_ROWS_OF_LINE
                 : bs_arena_printf(&x->e->arena, "%u", x->c->mr),
             line, line);
  put_panel_call(x);
  if (lines || leaves_out || asks)
    cg_write(x->w, "}");
}

static void
put_block_of(const cg_contract *x, bool of_x, int64_t rows) {
  if ((of_x ? x->c->x_mode : x->c->y_mode) == PO_BLOCK)
    cg_write(x->w, "%s %c_block[%lld] __attribute__((aligned(64)));", x->type,
             of_x ? 'x' : 'y',
             (long long)(x->c->kc * gs_most_of(x->sizes, x->inner) * rows));
}

static void
put_pack_call(const cg_contract *x, bool of_x) {
  char letter = of_x ? 'x' : 'y', row = of_x ? 'm' : 'n';
  if ((of_x ? x->c->x_mode : x->c->y_mode) != PO_BLOCK)
    return;
  if (of_x ? x->c->x_may_lie : x->c->y_may_lie)
    cg_write(x->w, "if (!glen_%c_lies)", letter);
  cg_add(x->w, "%s_pack_%c(%c, %c_block, k_lo, k_hi, %c_lo, %c_hi", x->name,
         letter, letter, letter, row, row);
  put_outer_arguments(x, of_x ? &x->c->x : &x->c->y);
  cg_put_number_arguments(x);
  cg_write(x->w, ");");
}

static void
put_tile(const cg_contract *x) {
  const po_contraction *c = x->c;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *extent = cg_number_text(x, c->dims[PO_DIM_K].d[0].extent);
  const char *kc = cg_block_text(x, "kc"), *mc = cg_block_text(x, "mc");
  const char *mb = cg_block_text(x, "mb"), *m = cg_number_text(x, x->m);
  put_block_of(x, false, c->nc);
  put_block_of(x, true, c->mb);
  if (cg_has_windows(x))
    cg_put_window_blocks(x);
  if (c->waits)
    cg_write(x->w, "%s sums[%lld] __attribute__((aligned(64)));", x->type,
             (long long)(c->mc * c->nc));
  if (!is_whole(x, true) || c->x_may_lie)
    put_moved(x, 'x');
  if (!is_whole(x, false) || c->y_may_lie)
    put_moved(x, 'y');
  put_moved(x, 'c');
  put_moved_extras(x);
  cg_write(x->w, "const %s n_hi = %s(n_lo + %s, %s);", index, min,
           cg_block_text(x, "nc"), cg_number_text(x, x->n));
  cg_write(x->w, "for (%s k_lo = 0; k_lo < %s; k_lo += %s) {", index, extent,
           kc);
  cg_write(x->w, "const %s k_hi = %s(k_lo + %s, %s);", index, min, kc, extent);
  cg_write(x->w, "const %s kc = %s * (k_hi - k_lo);", index,
           cg_number_text(x, x->inner));
  put_pack_call(x, false);
  if (cg_asks_for_next(x))
    cg_put_next_block(x);
  if (cg_has_windows(x))
    cg_put_window_calls(x);
  cg_write(x->w, "for (%s m_lo = tile; m_lo < %s(tile + %s, %s); m_lo += %s) {",
           index, min, mc, m, mb);
  cg_write(x->w, "const %s m_hi = %s(m_lo + %s, %s(tile + %s, %s));", index,
           min, mb, min, mc, m);
  put_pack_call(x, true);
  if (cg_has_windows(x))
    cg_put_window_rows(x);
  cg_write(x->w, "for (%s n = n_lo; n < n_hi; n += %lld)%s", index,
           (long long)x->columns, cg_has_windows(x) ? " {" : "");
  if (cg_has_windows(x))
    cg_put_window_panel(x);
  if (cg_blends(x))
    cg_put_vector_places(x);
  put_panels(x);
  if (cg_has_windows(x))
    cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
}

/* A group that runs by the kernel packs the operand: what is packed beforehand
 * may be packed by another one. */
static bool
packs(const cg_contract *x, bool of_x) {
  const cg_emitter *e = x->e;
  po_cmode mode = of_x ? x->c->x_mode : x->c->y_mode;
  if (mode != PO_BEFORE)
    return mode == PO_BLOCK || mode == PO_WHOLE;
  for (uint32_t g = 0; g < e->groups.list.len; g++) {
    uint32_t kernel = e->uses[g].kernel;
    const po_contraction *c =
        po_contraction_of(e->p, &e->groups, &e->groups.list.data[g]);
    if (c && kernel != UINT32_MAX && e->kernels.data[kernel].name == x->name &&
        po_packs_first(e->p, c, of_x))
      return true;
  }
  return false;
}

static cg_contract
measured(cg_emitter *e, const po_contraction *c, const char *name) {
  cg_contract x = {.e = e, .c = c, .name = name};
  x.w = BS_NEW(&e->arena, cg_writer);
  cg_start(x.w, &e->arena);
  x.type = gs_dtype_table[c->dtype].c_type;
  x.sizes = po_numbers_of(e->p, &e->arena);
  x.over = po_over(x.sizes);
  x.m = po_cdims_product(x.over, &c->dims[PO_DIM_M], 0);
  x.n = po_cdims_product(x.over, &c->dims[PO_DIM_N], 0);
  x.k = po_cdims_product(x.over, &c->dims[PO_DIM_K], 0);
  x.inner = po_cdims_product(x.over, &c->dims[PO_DIM_K], 1);
  x.columns = (int64_t)c->nv * c->lanes;
  for (uint32_t k = 0; k < 2; k++)
    x.packs[k] = packs(&x, k);
  cg_find_numbers(&x);
  return x;
}

void
cg_put_vector_type(const cg_contract *x, const char *type, char letter) {
  long long bytes = gs_dtype_table[x->c->dtype].bytes;
  bs_putf(&x->e->body,
          "typedef %s %s_%c __attribute__((vector_size(%lld), aligned(%lld), "
          "may_alias));\n\n",
          type, x->name, letter, bytes * x->c->lanes, bytes);
}

void
cg_put_contract_parts(cg_emitter *e, const po_contraction *c,
                      const char *name) {
  cg_contract x = measured(e, c, name);
  cg_need(&e->needs, CG_CONTRACT);
  if (c->mac.mac) {
    cg_put_mac_parts(&x);
    return;
  }
  cg_put_vector_type(&x, c->dtype == GS_I32 ? "unsigned" : x.type, 'v');
  if (cg_blends(&x))
    cg_put_vector_type(&x, cg_lane_number(&x), 'i');
  if (c->ragged[PO_DIM_N])
    cg_put_ragged_functions(&x);
  cg_put_contract_packs(&x);
  if (cg_asks_for_next(&x))
    cg_put_next_function(&x);
  if (cg_has_windows(&x))
    cg_put_window_functions(&x);
  if (cg_blends(&x))
    cg_put_vector_places_function(&x);
  for (uint32_t k = 0; k < 2; k++)
    if (is_whole(&x, k) && x.packs[k])
      put_whole_function(&x, k);
  cg_put_contract_kernels(&x);
}

/* NAME_whole_x(array + base, (type *)(void *)((unsigned char *)prepacked + ..))
 */
static cg_node *
make_before(const cg_contract *x, bool of_x) {
  bs_arena *arena = &x->e->arena;
  const po_array *arrays = x->e->p->arrays.data;
  const po_coperand *operand = of_x ? &x->c->x : &x->c->y;
  const po_array *packed = &arrays[of_x ? x->c->packed_x : x->c->packed_y];
  const char *type = x->c->mac.mac ? cg_mac_lane(x, of_x) : x->type;
  const char *name =
      bs_arena_printf(arena, "%s_whole_%c", x->name, of_x ? 'x' : 'y');
  const cg_expr *to =
      cg_cast(arena, "unsigned char *", cg_name(arena, "prepacked"));
  to = cg_infix(arena, CG_OP_ADD, to, cg_number(arena, packed->offset));
  to = cg_cast(arena, "void *", cg_paren(arena, to));
  const cg_expr *args[] = {
      cg_infix(arena, CG_OP_ADD, cg_name(arena, arrays[operand->array].name),
               cg_number(arena, operand->base)),
      cg_cast(arena, bs_arena_printf(arena, "%s *", type), to)};
  return cg_make_do(arena, cg_called(arena, name, 2, args));
}

cg_node *
cg_make_contract_before(cg_emitter *e, const po_contraction *c,
                        const char *name) {
  assert(c->update < e->p->stmts.len);
  cg_contract x = measured(e, c, name);
  bool mac = c->mac.mac;
  cg_list list;
  cg_list_init(&list);
  /* Instructions have y first. */
  for (uint32_t k = 0; k < 2; k++) {
    bool of_x = mac ? k : !k;
    if ((of_x ? c->x_mode : c->y_mode) == PO_BEFORE &&
        po_packs_first(e->p, c, of_x))
      cg_append(&list, make_before(&x, of_x));
  }
  return list.first;
}

/* Operands of which only what is packed is read. */
static void
put_unused(const cg_contract *x, const cg_scope *scope) {
  uint32_t a = x->c->x.array, b = x->c->y.array;
  bool uses_a = x->c->x_mode != PO_BEFORE, uses_b = x->c->y_mode != PO_BEFORE;
  if (a == b)
    uses_a = uses_b = uses_a || uses_b;
  if (!uses_a)
    cg_write(x->w, "(void)%s;", array_name(x, scope, a));
  if (!uses_b && a != b)
    cg_write(x->w, "(void)%s;", array_name(x, scope, b));
  if (cg_has_formula(x))
    cg_write(x->w, "(void)%s;", array_name(x, scope, x->c->sums));
}

static void
put_body(const cg_contract *x, const cg_scope *scope) {
  const po_contraction *c = x->c;
  cg_put_numbers(x);
  if (c->x_mode != PO_BEFORE)
    put_pointer(x, scope, 'x', &c->x);
  if (c->y_mode != PO_BEFORE)
    put_pointer(x, scope, 'y', &c->y);
  put_pointer(x, scope, 'c', &c->c);
  put_extras(x, scope);
  put_unused(x, scope);
  for (uint32_t k = 0; k < 2; k++)
    if (is_whole(x, k))
      put_whole(x, scope, k);
  cg_put_tiles(x, "tile", put_tile);
}

cg_node *
cg_make_contract_body(cg_emitter *e, const po_contraction *c, const char *name,
                      const cg_scope *scope) {
  assert(c->update < e->p->stmts.len && scope);
  cg_contract x = measured(e, c, name);
  cg_open_body(x.w);
  if (c->mac.mac)
    cg_put_mac_body(&x, scope);
  else
    put_body(&x, scope);
  return cg_close_body(e, x.w);
}
