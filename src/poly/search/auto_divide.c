/* SPDX-License-Identifier: MIT */
/* auto_divide.c - arrays of several live-out nests.
 *
 * The third algorithm of the paper: what two nests read of an array is computed
 * once where it meets; where it does not, each of them gets its own part
 * (`divide`), which can then join its tiles.  What nobody reads is left out of
 * what stays in nests of its own (`trim`): in tiles it is not computed
 * anyway. */
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"

/* Nests that read an array and do not make it, two at most. */
static uint32_t
readers_of(const po_program *p, uint32_t array, bool *fixed) {
  uint32_t first = PO_NO_NODE, n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (!po_stmt_reads(&p->stmts.data[k], array) ||
        p->stmts.data[k].array == array)
      continue;
    uint32_t root = po_root_of(p, k);
    *fixed |= !po_may_change(p, root);
    if (n < 2 && root != first)
      n++;
    first = n == 1 ? root : first;
  }
  return n;
}

/* The statements that make it may be changed. */
static bool
is_free(const po_program *p, uint32_t array) {
  bool any = false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array) {
      any = true;
      if (!po_may_change(p, po_root_of(p, k)))
        return false;
    }
  return any && p->arrays.data[array].role == PO_WORKSPACE;
}

static void
attempt(po_chooser *c, const char *how, uint32_t array) {
  po_step_call call = po_step(how);
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  if (po_attempt(c, &call, NULL))
    po_lay_out_now(c);
}

void
po_divide_arrays(po_chooser *c) {
  for (uint32_t k = po_now(c)->arrays.len; k-- > 0 && !c->stopped;) {
    bool fixed = false;
    if (is_free(po_now(c), k) && readers_of(po_now(c), k, &fixed) > 1 && !fixed)
      attempt(c, "divide", k);
  }
}

/* ---- trim ---- */

/* One piece, whose bounds say it all. */
static bool
is_plain_set(__isl_keep isl_set *set) {
  isl_basic_set_list *pieces = isl_set_get_basic_set_list(set);
  isl_basic_set *one = isl_basic_set_list_n_basic_set(pieces) == 1
                           ? isl_basic_set_list_get_basic_set(pieces, 0)
                           : NULL;
  bool plain = one && isl_basic_set_dim(one, isl_dim_div) == 0;
  isl_basic_set_free(one);
  isl_basic_set_list_free(pieces);
  return plain;
}

static bool
has_plain_domains(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array &&
        !is_plain_set(p->stmts.data[k].domain))
      return false;
  return true;
}

/* A rim that nobody reads is not worth a test in a loop: it takes the vectors
 * from all the others. */
static void
trim_array(po_chooser *c, uint32_t array) {
  po_step_call call = po_step("trim");
  int64_t before = po_instances_of(po_now(c), array);
  bool plain = has_plain_domains(po_now(c), array);
  po_program *old = NULL;
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  if (!po_attempt(c, &call, &old))
    return;
  if (plain && !has_plain_domains(po_now(c), array) &&
      (double)po_instances_of(po_now(c), array) >
          GS_TRIM_GAIN * (double)before) {
    po_restore(c, old);
    return;
  }
  po_free(old);
  po_lay_out_now(c);
}

void
po_trim_arrays(po_chooser *c) {
  for (uint32_t k = po_now(c)->arrays.len; k-- > 0 && !c->stopped;)
    if (is_free(po_now(c), k))
      trim_array(c, k);
}
