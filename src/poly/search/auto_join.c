/* SPDX-License-Identifier: MIT */
/* auto_join.c - producers that join the nest of their one consumer. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/search/chooser.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef po_chooser chooser;

static po_program *
now(const chooser *c) {
  return po_now(c);
}

/* The nest that an array's values go to: the only one that reads it, where
 * that may change; PO_NO_NODE where there are several, or none. */
static uint32_t
only_reader(const po_program *p, uint32_t array, uint32_t own) {
  assert(array < p->arrays.len);
  uint32_t host = PO_NO_NODE;
  if (p->arrays.data[array].role != PO_WORKSPACE)
    return PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    bool reads = po_stmt_reads(s, array);
    for (uint32_t j = 0; s->instr && j < s->instr->n_operands; j++)
      reads |= s->operands[j].array == array;
    uint32_t root = reads ? po_root_of(p, k) : own;
    if (root == own)
      continue;
    if (host != PO_NO_NODE && root != host)
      return PO_NO_NODE;
    host = root;
  }
  return host != PO_NO_NODE && po_may_change(p, host) ? host : PO_NO_NODE;
}

static bool
may_join(const chooser *c, uint32_t own) {
  return c->options->fuse != PO_FUSE_POST_TILE ||
         po_keeps_width(c, own, c->width);
}

bool
po_is_joined(const chooser *c, uint32_t root) {
  const po_program *p = now(c);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    po_arg writers = po_writers_arg(p, k);
    if (p->stmts.data[writers.stmt].array != k)
      continue;
    uint32_t own = po_root_of(p, writers.stmt);
    if (own != root && po_may_change(p, own) &&
        only_reader(p, k, own) == root && may_join(c, own))
      return true;
  }
  return false;
}

/* ---- joining ---- */

void
po_make_serial(chooser *c, uint32_t root) {
  uint32_t next;
  for (uint32_t k = root; k != PO_NO_NODE; k = next) {
    next = po_nest_next(now(c), k, root);
    if (po_node(now(c), k)->kind != PO_LOOP ||
        po_node(now(c), k)->mark == PO_SERIAL)
      continue;
    po_step_call call = po_step("serial");
    call.args[0] = po_loop_arg(k);
    po_attempt(c, &call, NULL);
  }
}

/* How often an array's statements may run for each instance that is needed. */
static double
allowance(const chooser *c) {
  switch (c->options->fuse) {
  case PO_FUSE_SMART:
    return 1;
  case PO_FUSE_MAX:
    return GS_RECOMPUTE_MAX;
  case PO_FUSE_MIN:
  case PO_FUSE_POST_TILE:
  default:
    return c->max_recompute;
  }
}

static uint32_t
find_dropped(const po_dropped_list *list, const char *array) {
  uint32_t k = 0;
  while (k < list->len && strcmp(list->data[k].array, array) != 0)
    k++;
  return k;
}

/* The last attempt at an array counts: it may join at another place. */
static void
tell(const chooser *c, uint32_t array, bool joined, double times) {
  po_dropped_list *list = c->options->dropped;
  po_dropped one = {.times = times};
  if (!list)
    return;
  snprintf(one.array, sizeof one.array, "%s", now(c)->arrays.data[array].name);
  uint32_t k = find_dropped(list, one.array);
  if (k == list->len && !joined)
    bs_push(now(c)->ctx.heap, list, one);
  else if (joined && k < list->len)
    list->data[k] = list->data[--list->len];
  else if (!joined)
    list->data[k] = one;
}

/* Elements that the innermost loop around a statement leaves out between two of
 * its own, and one more. */
static int64_t
step_of(const po_program *p, const po_stmt *s) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
  isl_set *times =
      isl_set_apply(isl_set_copy(s->domain),
                    isl_map_from_multi_aff(isl_multi_aff_copy(s->time)));
  isl_val *step = n ? isl_set_get_stride(times, (int)n - 1) : NULL;
  isl_set_free(times);
  return po_int_or(step, 1);
}

/* Every other element, or fewer, are no vectors: what made all of them did so
 * faster, though it made more. */
static bool
leaves_out(const po_program *p, const po_program *old, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len && k < old->stmts.len; k++)
    if (p->stmts.data[k].array == array &&
        step_of(p, &p->stmts.data[k]) > step_of(old, &old->stmts.data[k]))
      return true;
  return false;
}

bool
po_join_array(chooser *c, const char *how, uint32_t array, uint32_t loop) {
  assert(array < now(c)->arrays.len);
  int64_t before = po_instances_of(now(c), array);
  po_program *old = NULL;
  po_step_call call = po_step(how);
  call.args[0] = po_writers_arg(now(c), array);
  call.args[1] = po_loop_arg(loop);
  if (before < 1 || !po_attempt(c, &call, &old))
    return false;
  int64_t after = po_instances_of(now(c), array);
  int64_t needed = po_distinct_of(now(c), old, array);
  bool joined = after > 0 && (double)after <= allowance(c) * (double)needed &&
                !leaves_out(now(c), old, array);
  c->repeats |= joined && after > needed;
  if (joined)
    po_free(old);
  else
    po_restore(c, old);
  if (after > 0 && needed > 0)
    tell(c, array, joined, (double)after / (double)needed);
  return joined;
}

bool
po_fuse_into(chooser *c, uint32_t root, uint32_t place, po_joining *join) {
  uint32_t n = now(c)->arrays.len;
  bool all = true;
  bool *refused = bs_calloc(now(c)->ctx.heap, n, sizeof *refused);
  for (uint32_t k = now(c)->arrays.len; k-- > 0 && !c->stopped;) {
    po_arg writers = po_writers_arg(now(c), k);
    uint32_t own = now(c)->stmts.len && writers.stmt < now(c)->stmts.len &&
                           now(c)->stmts.data[writers.stmt].array == k
                       ? po_root_of(now(c), writers.stmt)
                       : PO_NO_NODE;
    if (k >= n || refused[k] || own == PO_NO_NODE || own == root ||
        !po_may_change(now(c), own) || only_reader(now(c), k, own) != root ||
        (c->options->fuse == PO_FUSE_SMART && po_is_in_parts(now(c), k)))
      continue;
    if (!may_join(c, own)) {
      refused[k] = true;
      all = false;
      continue;
    }
    po_make_serial(c, own);
    refused[k] = !join(c, k, place);
    all = all && !refused[k];
    if (!refused[k]) {
      po_lay_out_now(c);
      k = now(c)->arrays.len; /* what it needed may follow it now */
    }
  }
  bs_free(now(c)->ctx.heap, refused);
  return all && !c->stopped;
}
