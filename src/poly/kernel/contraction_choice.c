/* SPDX-License-Identifier: MIT */
/* contraction_choice.c - what a schedule fixes of a contraction, and whether it
 * can be. */
#include "glenside/target/tuned.h"
#include "glenside/target/machine.h"
#include "poly/kernel/contraction_plan.h"
#include <assert.h>

const char *const po_cmode_names[] = {"direct", "block", "whole", "before",
                                      "windows"};

static bool
fault(bs_text *why, const char *format, ...) {
  if (!why)
    return false;
  va_list args;
  va_start(args, format);
  bs_text_clear(why);
  bs_putv(why, format, args);
  va_end(args);
  return false;
}

/* ---- the kernel and the operands ---- */

static bool
kernel_is_possible(const gs_target *t, const po_contract_choice *fixed,
                   const po_contraction *c, bs_text *why) {
  int64_t rows = max64(fixed->mr, 1), vectors = max64(fixed->nv, 1);
  int64_t registers = max64(gs_vector_registers(t), 4);
  int64_t m = size_of(c, PO_DIM_M), n = size_of(c, PO_DIM_N);
  if (rows > GS_KERNEL_ROWS || vectors > GS_KERNEL_VECTORS)
    return fault(why, "a kernel has at most %d rows and %d vectors",
                 GS_KERNEL_ROWS, GS_KERNEL_VECTORS);
  if (rows * vectors + vectors + 1 > registers)
    return fault(why,
                 "a kernel of %lld rows of %lld vectors needs %lld registers, "
                 "but the target has %lld",
                 (long long)rows, (long long)vectors,
                 (long long)(rows * vectors + vectors + 1),
                 (long long)registers);
  if (rows > m)
    return fault(why, "there are %lld rows", (long long)m);
  if (vectors > bs_ceil_div(n, c->lanes))
    return fault(why, "%lld columns are %lld vectors", (long long)n,
                 (long long)bs_ceil_div(n, c->lanes));
  return true;
}

/* All of it is packed once: there are no outer loops, and it is not too large.
 */
static bool
can_be_whole(const po_contraction *c, po_dim_role role) {
  return !c->dims[PO_DIM_O].n && size_of(c, role) <= (int64_t)GS_KERNEL_WHOLE /
                                                         bytes_of(c) /
                                                         size_of(c, PO_DIM_K);
}

static bool
operand_is_possible(const po_contraction *c, bool x, int mode, bs_text *why) {
  char letter = x ? 'x' : 'y';
  if (mode == PO_DIRECT && !(x ? po_x_can_be_direct(c) : po_y_can_be_direct(c)))
    return fault(why, "%c cannot be read where it lies", letter);
  if (mode == PO_WHOLE && !can_be_whole(c, x ? PO_DIM_M : PO_DIM_N))
    return fault(why, "%c cannot be packed whole", letter);
  return true;
}

bool
po_choice_admits(const gs_target *t, const po_contract_choice *fixed,
                 const po_contraction *c, bs_text *why) {
  if (fixed->x_mode == PO_WINDOWS && fixed->y_mode == PO_WINDOWS)
    return fault(why, "only windows of one operand can be read");
  return kernel_is_possible(t, fixed, c, why) &&
         operand_is_possible(c, true, fixed->x_mode, why) &&
         operand_is_possible(c, false, fixed->y_mode, why);
}

/* ---- the tile and the blocks ---- */

/* What was fixed is within `most` bytes, or is the least there is. */
static bool
is_small(int64_t elements, int64_t least, int64_t bytes, int64_t most,
         const char *what, bs_text *why) {
  assert(bytes > 0);
  return elements <= max64(most / bytes, least) ||
         fault(why,
               "%s takes %lld bytes of the stack, but at most %lld may be used",
               what, (long long)(elements * bytes), (long long)most);
}

/* As in contraction_blocks.c, where the plan keeps these bounds by itself. */
bool
po_choice_fits(const po_contract_choice *fixed, const po_contraction *c,
               bs_text *why) {
  int64_t bytes = bytes_of(c), k = c->kc * inner_of(c);
  int64_t panel = (int64_t)c->nv * c->lanes, unit = po_unit_of(c);
  int64_t most = c->dims[PO_DIM_K].d[0].extent;
  if (fixed->kc > most)
    return fault(why, "the outermost loop of a sum has %lld iterations",
                 (long long)most);
  if (c->y_mode == PO_BLOCK && !is_small(k * c->nc, k * panel, bytes,
                                         GS_KERNEL_BLOCK, "a block of y", why))
    return false;
  if (c->x_mode == PO_BLOCK &&
      !is_small(k * c->mb, k * c->mr, bytes, GS_KERNEL_BLOCK_X, "a block of x",
                why))
    return false;
  if (c->waits && !is_small(c->mc * c->nc, unit * panel, bytes, GS_KERNEL_SUMS,
                            "sums of a tile", why))
    return false;
  return (c->x_mode != PO_WINDOWS && c->y_mode != PO_WINDOWS) ||
         po_image_fits(c, GS_KERNEL_BLOCK) ||
         fault(why, "the image for a tile takes more than %d bytes",
               GS_KERNEL_BLOCK);
}

/* ---- as text ---- */

static void
put_mode(char letter, po_cmode mode, bs_text *out) {
  if (mode != PO_BEFORE) /* it follows from what is the same for all calls */
    bs_putf(out, " %c=%s", letter, po_cmode_names[mode]);
}

void
po_put_choice(const po_contraction *c, bs_text *out) {
  if (c->mac.mac) { /* all else follows from these */
    bs_putf(out, "rows=%u vectors=%u swap=%s", c->mr, c->nv,
            c->swapped ? "true" : "false");
    return;
  }
  bs_putf(out, "rows=%u vectors=%u depth=%lld tile_rows=%lld tile_columns=%lld",
          c->mr, c->nv, (long long)c->kc, (long long)c->mc, (long long)c->nc);
  if (c->mb != c->mc)
    bs_putf(out, " block_rows=%lld", (long long)c->mb);
  put_mode('x', c->x_mode, out);
  put_mode('y', c->y_mode, out);
  bs_putf(out, " swap=%s", c->swapped ? "true" : "false");
}
