/* SPDX-License-Identifier: MIT */
/* contraction_sized.c - contractions whose extents are made of sizes.
 *
 * Which operand fills vectors, the kernel, and how large blocks may be follow
 * from the machine and from the most of all sizes: all of it is planned over
 * integers, and the plan is taken over.  How many blocks there are is computed
 * when the function is called. */
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction_plan.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>

/* ---- at given sizes ---- */

static void
dims_at(const gs_sizes *s, const int64_t *at, po_cdims *dims) {
  for (uint32_t k = 0; k < dims->n; k++) {
    po_cdim *d = &dims->d[k];
    d->extent = gs_number_at(s, d->extent, at);
    d->x = gs_number_at(s, d->x, at);
    d->y = gs_number_at(s, d->y, at);
    d->c = gs_number_at(s, d->c, at);
    for (uint32_t e = 0; e < PO_MAX_EXTRAS; e++)
      d->extra[e] = gs_number_at(s, d->extra[e], at);
  }
}

static void
operand_at(const gs_sizes *s, const int64_t *at, po_coperand *operand) {
  operand->base = gs_number_at(s, operand->base, at);
  for (uint32_t g = 0; g < operand->n_guards; g++)
    operand->guards[g].constant =
        gs_number_at(s, operand->guards[g].constant, at);
}

/* The ends that guards say may lie beyond the image. */
static void
axis_at(const gs_sizes *s, const int64_t *at, po_caxis *axis) {
  axis->unit = gs_number_at(s, axis->unit, at);
  axis->lo = max64(gs_number_at(s, axis->lo, at), 0);
  axis->hi = max64(gs_number_at(s, axis->hi, at), 0);
}

void
po_contraction_at(const gs_sizes *s, const int64_t *at, const po_contraction *c,
                  po_contraction *out) {
  *out = *c;
  for (uint32_t role = 0; role < 4; role++)
    dims_at(s, at, &out->dims[role]);
  operand_at(s, at, &out->x);
  operand_at(s, at, &out->y);
  operand_at(s, at, &out->c);
  for (uint32_t k = 0; k < c->n_extras; k++)
    out->extras[k].base = gs_number_at(s, c->extras[k].base, at);
  out->line = gs_number_at(s, c->line, at);
  uint32_t axes = po_image_of_x(c)          ? c->dims[PO_DIM_M].n
                  : c->y_mode == PO_WINDOWS ? c->dims[PO_DIM_N].n
                                            : 0;
  for (uint32_t k = 0; k < axes; k++)
    axis_at(s, at, &out->axes[k]);
}

/* ---- the plan ---- */

/* The loop is whole vectors at all sizes. */
static bool
is_whole_vectors(gs_sizes *s, const po_cdims *dims, int64_t lanes) {
  assert(lanes >= 1);
  gs_number n = po_cdims_product(&s->over, dims, 0);
  return n ==
         gs_combine(&s->over, lanes, gs_quotient(&s->over, n, lanes), 0, 0, 0);
}

/* Of the innermost loops. */
static uint32_t
count_known(const po_cdims *dims) {
  uint32_t n = 0;
  while (n < dims->n && !gs_is_sized(dims->d[dims->n - 1 - n].extent))
    n++;
  return n;
}

static void
note_sized(const gs_target *t, gs_sizes *s, po_contraction *c) {
  int64_t lanes = max64(t->vector_bytes / bytes_of(c), 1);
  for (uint32_t role = 0; role < 4; role++) {
    const po_cdims *dims = &c->dims[role];
    c->sized[role] = gs_is_sized(po_cdims_product(&s->over, dims, 0));
    c->ragged[role] = c->sized[role] && !is_whole_vectors(s, dims, lanes);
    c->known[role] = count_known(dims);
  }
}

/* The dimensions of one, with all else of the other. */
static void
put_dimensions(const po_contraction *from, po_contraction *to) {
  to->x = from->x;
  to->y = from->y;
  to->c = from->c;
  for (uint32_t role = 0; role < 4; role++)
    to->dims[role] = from->dims[role];
  for (uint32_t k = 0; k < from->n_extras; k++)
    to->extras[k] = from->extras[k];
}

/* Elements are of several windows. */
static bool
has_overlap(const po_contraction *c, uint32_t axes) {
  bool found = false;
  for (uint32_t i = 0; i < axes; i++)
    found |= c->axes[i].k != UINT32_MAX;
  return found;
}

/* Windows of either factor, each of which may come to be x or y.  Rows that
 * are no windows are packed or read where they lie, as the call finds. */
static void
note_images(gs_sizes *s, const po_contraction *at, po_contraction *c,
            po_contraction room[2]) {
  for (uint32_t way = 0; way < 4; way++) {
    uint32_t factor = way >> 1, as_y = way & 1;
    room[0] = *at;
    room[1] = *c;
    if (factor != as_y) {
      po_swap_factors(&room[0]);
      po_swap_factors(&room[1]);
    }
    c->images[factor][as_y] =
        po_find_windows(&room[0], !as_y) &&
        has_overlap(&room[0], room[0].dims[as_y ? PO_DIM_N : PO_DIM_M].n) &&
        po_find_sized_windows(s, &room[0], !as_y, &room[1]);
  }
}

/* The innermost loops of m that have so many rows where the plan was made. */
static gs_number
line_of(const gs_sizes *s, const po_contraction *plan,
        const po_contraction *c) {
  uint32_t first = plan->dims[PO_DIM_M].n;
  for (int64_t rows = 1; first && rows < plan->line;)
    rows *= plan->dims[PO_DIM_M].d[--first].extent;
  return po_cdims_product(&s->over, &c->dims[PO_DIM_M], first);
}

/* What was chosen for integers, all of it, so that nothing is left out. */
static void
take_plan(const gs_sizes *s, const po_contraction *plan, po_contraction *c,
          po_contraction *room) {
  *room = *c;
  if (plan->swapped)
    po_swap_factors(room);
  *c = *plan;
  put_dimensions(room, c);
  c->line = line_of(s, plan, c);
}

/* As many units as so many bytes have room for, one at least. */
static int64_t
no_more(int64_t rows, int64_t unit, int64_t depth, int64_t bytes) {
  assert(unit > 0 && depth > 0);
  return min64(rows, max64(bytes / depth / unit, 1) * unit);
}

/* Panels of an operand go on the stack, a block at a time, where the whole of
 * it has no array. */
static void
fix_mode(po_program *p, gs_sizes *s, const po_contraction *at, bool x,
         po_contraction *c) {
  po_cmode *mode = x ? &c->x_mode : &c->y_mode;
  int64_t depth = c->kc * inner_of(at) * bytes_of(at);
  po_array packed;
  if (*mode != PO_WHOLE || po_describe_packed(p, s, c, x, &packed))
    return;
  *mode = PO_BLOCK;
  if (x)
    c->mb = no_more(c->mb, c->mr, depth, GS_KERNEL_BLOCK_X);
  else
    c->nc = no_more(c->nc, (int64_t)c->nv * c->lanes, depth, GS_KERNEL_BLOCK);
}

/* An image for which there is no room is packed as windows. */
static void
fix_image(gs_sizes *s, const po_contraction *at, po_contraction *c) {
  bool x = po_image_of_x(c);
  if ((!x && c->y_mode != PO_WINDOWS) ||
      (po_find_sized_windows(s, at, x, c) && po_fit_sized_image(s, at, c)))
    return;
  int64_t depth = c->kc * inner_of(at) * bytes_of(at);
  c->plane = 0;
  if (!x) {
    c->y_mode = PO_BLOCK;
    c->nc = no_more(c->nc, (int64_t)c->nv * c->lanes, depth, GS_KERNEL_BLOCK);
    return;
  }
  c->x_mode = PO_BLOCK;
  c->line = po_cdims_product(&s->over, &c->dims[PO_DIM_M], 0);
  c->mc = bs_round_up(c->mc, c->mr);
  c->mb = no_more(bs_round_up(c->mb, c->mr), c->mr, depth, GS_KERNEL_BLOCK_X);
}

/* Rows are one walk along k, from which each begins at the same distance, or
 * along n. */
static void
note_lying(po_contraction *c) {
  const po_cdims *k = &c->dims[PO_DIM_K], *n = &c->dims[PO_DIM_N];
  bool y_runs = k->n == 1 && n->n == 1 && n->d[0].y == 1;
  c->x_may_lie =
      po_x_can_be_direct(c) && c->x_mode != PO_DIRECT && c->x_mode != PO_BEFORE;
  c->y_may_lie = !c->y.n_guards && y_runs && c->y_mode != PO_DIRECT &&
                 c->y_mode != PO_WINDOWS && c->y_mode != PO_BEFORE;
}

/* Extents and distances of the loops that walk the operand are integers. */
static bool
walks_by_numbers(const po_cdims *dims, bool x, bool outer) {
  bool sized = false;
  for (uint32_t k = 0; k < dims->n; k++)
    if (!outer || po_moves(&dims->d[k], x))
      sized |= gs_is_sized(dims->d[k].extent) ||
               gs_is_sized(x ? dims->d[k].x : dims->d[k].y);
  return !sized;
}

/* Which elements the operand has, and where they lie, is the same at all sizes:
 * NAME_prepack, which is not told sizes, can pack it. */
static bool
is_of_numbers(const po_contraction *c, bool x) {
  const po_coperand *operand = x ? &c->x : &c->y;
  bool sized = gs_is_sized(operand->base);
  for (uint32_t g = 0; g < operand->n_guards; g++)
    sized |= gs_is_sized(operand->guards[g].constant);
  return !sized &&
         walks_by_numbers(&c->dims[x ? PO_DIM_M : PO_DIM_N], x, false) &&
         walks_by_numbers(&c->dims[PO_DIM_K], x, false) &&
         walks_by_numbers(&c->dims[PO_DIM_O], x, true);
}

bool
po_plan_sized(po_program *p, gs_sizes *s, const bool constant[2],
              const po_contract_choice *fixed, po_contraction *c,
              po_contraction room[3], bs_text *why) {
  int64_t most[GS_MOST_SIZES];
  po_contraction *at = &room[2];
  for (uint32_t k = 0; k < s->n; k++)
    most[k] = s->list[k].most;
  note_sized(p->target, s, c);
  const bool before[2] = {constant[0] && is_of_numbers(c, true),
                          constant[1] && is_of_numbers(c, false)};
  po_contraction_at(s, most, c, at);
  note_images(s, at, c, room);
  memcpy(at->images, c->images, sizeof at->images);
  if (!po_plan_contraction(p->target, before, fixed, at, room, why))
    return false;
  take_plan(s, at, c, room);
  fix_mode(p, s, at, true, c);
  fix_mode(p, s, at, false, c);
  fix_image(s, at, c);
  note_lying(c);
  return true;
}

/* ---- arrays for panels ---- */

gs_number
po_rounded_rows(const gs_numbers *over, const po_contraction *c, bool x,
                int64_t width) {
  assert(width >= 1);
  const po_cdims *dims = &c->dims[x ? PO_DIM_M : PO_DIM_N];
  gs_number rows = po_cdims_product(over, dims, 0);
  return gs_combine(over, width,
                    gs_quotient(over, gs_plus(over, rows, width - 1), width), 0,
                    0, 0);
}

static bool
set_extent(po_program *p, const gs_sizes *s, gs_number n, po_array *array) {
  uint32_t d = array->rank++;
  array->dim[d] = gs_most_of(s, n);
  if (!gs_is_sized(n))
    return true;
  if (!gs_is_affine(s, n))
    return false;
  po_pool_reserve(&p->pool, 1);
  array->extent[d] = po_keep_aff(&p->pool, po_aff_of_number(p, s, 0, n));
  return array->extent[d];
}

bool
po_describe_packed(po_program *p, gs_sizes *s, const po_contraction *c, bool x,
                   po_array *out) {
  const po_cdims *k = &c->dims[PO_DIM_K];
  gs_number rows = po_rounded_rows(&s->over, c, x, po_panel_width(c, x));
  *out = (po_array){0};
  if (k->n >= GS_MAX_RANK || !set_extent(p, s, rows, out))
    return false;
  for (uint32_t d = 0; d < k->n; d++)
    if (!set_extent(p, s, k->d[d].extent, out))
      return false;
  return true;
}
