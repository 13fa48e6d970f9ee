/* SPDX-License-Identifier: MIT */
/* schedule_contract.c - the kernel that a sum of products runs as, its blocks,
 * and how its operands are packed.
 *
 * The loops stay as they are: what is said here is kept with the statement and
 * read by the plan (kernel/contraction.h), which must be able to follow it. */
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/schedule/change.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { AS, SWAP, X_MODE, Y_MODE, FIRST_SIZE, ROWS = FIRST_SIZE, VECTORS };

static bool
is_word(const char *given, const char *word) {
  return given && !strcmp(given, word);
}

static bool
wrong_option(const po_program *p, const po_step_call *call, uint32_t k,
             const char *expected) {
  return po_refuse(p, call, "option", "%s is %s, not %s",
                   call->primitive->options[k], expected, call->options[k]);
}

static bool
read_mode(const po_program *p, const po_step_call *call, uint32_t k,
          int *mode) {
  const char *given = call->options[k];
  *mode = PO_ANY_MODE;
  for (int m = PO_DIRECT; given && m <= PO_WINDOWS; m++)
    if (m != PO_BEFORE && !strcmp(given, po_cmode_names[m]))
      *mode = m;
  return !given || *mode != PO_ANY_MODE ||
         wrong_option(p, call, k, "direct, block, whole or windows");
}

static bool
read_size(const po_program *p, const po_step_call *call, uint32_t k,
          int64_t *size) {
  const char *given = call->options[k];
  char *end;
  if (!given)
    return true;
  *size = strtoll(given, &end, 10);
  return (!*end && *size > 0 && *size <= INT32_MAX) ||
         wrong_option(p, call, k, "a positive integer");
}

static bool
read_words(const po_program *p, const po_step_call *call,
           po_contract_choice *out) {
  const char *as = call->options[AS], *swap = call->options[SWAP];
  out->as = is_word(as, "loops")   ? PO_AS_LOOPS
            : is_word(as, "tiles") ? PO_AS_TILES
                                   : PO_AS_KERNEL;
  if (as && out->as == PO_AS_KERNEL && !is_word(as, "kernel"))
    return wrong_option(p, call, AS, "kernel, tiles or loops");
  out->order = !swap                   ? PO_ANY_ORDER
               : is_word(swap, "true") ? PO_SWAPPED
                                       : PO_IN_ORDER;
  if (swap && out->order == PO_IN_ORDER && !is_word(swap, "false"))
    return wrong_option(p, call, SWAP, "true or false");
  return read_mode(p, call, X_MODE, &out->x_mode) &&
         read_mode(p, call, Y_MODE, &out->y_mode);
}

/* Loops have no sizes, and tiles only those of their registers. */
static bool
has_meaning(const po_program *p, const po_step_call *call,
            const po_contract_choice *choice) {
  for (uint32_t k = SWAP; k < PO_MAX_OPTIONS && choice->as != PO_AS_KERNEL; k++)
    if (call->options[k] &&
        (choice->as == PO_AS_LOOPS || (k != ROWS && k != VECTORS)))
      return po_refuse(p, call, "option", "as=%s has no %s", call->options[AS],
                       call->primitive->options[k]);
  return true;
}

static bool
read_choice(const po_program *p, const po_step_call *call,
            po_contract_choice *out) {
  int64_t *sizes[] = {&out->mr, &out->nv, &out->kc,
                      &out->mc, &out->nc, &out->mb};
  if (!read_words(p, call, out) || !has_meaning(p, call, out))
    return false;
  for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    if (!read_size(p, call, FIRST_SIZE + k, sizes[k]))
      return false;
  return true;
}

static bool
adds_to(const po_program *p, uint32_t stmt, uint32_t array) {
  return p->stmts.data[stmt].kind == PO_UPDATE &&
         p->stmts.data[stmt].array == array;
}

/* How many statements add to the array. */
static uint32_t
updates_of(const po_program *p, uint32_t array) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    n += adds_to(p, k, array);
  return n;
}

/* The array whose sums the statement adds up, or copies.  One statement adds
 * them up, or several, where the sum is in parts, as at the borders of an
 * image: these have no kernel. */
static bool
find_sum(const po_program *p, const po_step_call *call, bool as_loops,
         uint32_t *array) {
  const po_stmt *named = &p->stmts.data[call->args[0].stmt];
  *array = named->array;
  uint32_t n = updates_of(p, *array);
  if (!n && named->n_exprs == 1 && named->exprs[0].kind == PO_READ) {
    *array = named->exprs[0].array;
    n = updates_of(p, *array);
  }
  if (n == 1 || (n && as_loops))
    return true;
  po_refuse(p, call, "no-kernel",
            n ? "several statements add up %s" : "no statement adds up %s",
            p->arrays.data[named->array].name);
  if (n)
    bs_hint(p->ctx.diags, "a sum in several parts runs as its loops say: "
                          "as=loops");
  return false;
}

static bool
runs_as_chosen(po_program *p, const po_step_call *call, uint32_t update,
               const char *format) {
  bs_text why;
  bs_text_init(&why, p->ctx.heap);
  bool ok = po_runs_as_chosen(p, update, &why);
  if (!ok)
    po_refuse(p, call, "no-kernel", format, p->stmts.data[update].name,
              bs_text_str(&why));
  bs_text_done(&why);
  return ok;
}

bool
po_apply_contract(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_STMT);
  uint32_t array;
  po_contract_choice *choice = BS_NEW(&p->arena, po_contract_choice);
  *choice = (po_contract_choice){0};
  if (!read_choice(p, call, choice) ||
      !find_sum(p, call, choice->as == PO_AS_LOOPS, &array))
    return false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (adds_to(p, k, array))
      p->stmts.data[k].contract = choice;
  po_lay_out(p);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (adds_to(p, k, array) &&
        !runs_as_chosen(p, call, k, "%s cannot run as this kernel: %s"))
      return false;
  return true;
}

bool
po_kernels_hold(po_program *p, const po_step_call *call) {
  bool any = false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    any = any || p->stmts.data[k].contract;
  if (!any || call->primitive->apply == po_apply_contract)
    return true;
  po_lay_out(p);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (!runs_as_chosen(p, call, k,
                        "%s would no longer run as the kernel that contract "
                        "chose: %s")) {
      bs_hint(p->ctx.diags, "contract comes after what changes the loops");
      return false;
    }
  return true;
}

/* ---- as text ---- */

/* A sum of products that may be said to run as loops, with all of its parts;
 * the first of them speaks for it. */
static bool
is_left_alone(const po_program *p, uint32_t k) {
  uint32_t array = p->stmts.data[k].array, first = PO_NO_STMT;
  for (uint32_t j = 0; j < p->stmts.len; j++) {
    const po_stmt *s = &p->stmts.data[j];
    if (!adds_to(p, j, array))
      continue;
    if (!po_is_sum_of_products(s) || !po_is_as_lowered(p, s))
      return false;
    first = first == PO_NO_STMT ? j : first;
  }
  return first == k;
}

void
po_print_contracts(po_program *p, bs_text *out) {
  po_lay_out(p);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_contraction *c = po_contraction_of_update(p, k);
    const po_slide *tiles = po_slide_of_update(p, k);
    const po_stmt *s = &p->stmts.data[k];
    if (s->contract && (!c || c->chosen) && (!tiles || tiles->chosen))
      continue; /* the command that chose it was printed */
    if (!c && !tiles && !is_left_alone(p, k))
      continue;
    bs_putf(out, "contract %s ", s->name);
    if (c)
      po_put_choice(c, out);
    else if (tiles)
      bs_putf(out, "as=tiles rows=%u vectors=%u", tiles->rows, tiles->vectors);
    else
      bs_put(out, "as=loops");
    bs_putc(out, '\n');
  }
}
