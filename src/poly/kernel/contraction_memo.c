/* SPDX-License-Identifier: MIT */
/* contraction_memo.c - plans of sums, from copy to copy of a program.
 *
 * A schedule is many steps, after each of which kernels are planned anew so
 * that nothing else is done with them, and a step leaves most sums alone.  What
 * is planned depends on the statements of a sum and on their arrays.
 * Statements that are as lowering made them are told by its number for them and
 * by their isl objects, arrays by what storage they have.  Copies for another
 * target have plans of their own. */
#include "poly/kernel/contraction_alike.h"
#include "poly/loops/memo.h"
#include <assert.h>

/* Its number, and whatever steps change of it. */
static void
ask_of_array(const po_program *p, uint32_t array, po_memo_key *key) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  po_memo_word(key, (uint64_t)array << 32 | a->memory);
  po_memo_word(key, (uint64_t)a->role << 48 | (uint64_t)a->dtype << 32 |
                        (uint64_t)a->scope << 16 | (uint64_t)a->rank << 4 |
                        a->prepack | a->before << 1 | a->packed << 2);
  for (uint32_t d = 0; d < a->rank; d++) {
    po_memo_word(key, (uint64_t)a->dim[d]);
    po_memo_word(key, (uint64_t)a->fold[d]);
    po_memo_word(key, (uint64_t)a->pad[d]);
  }
}

static bool
ask_of(const po_program *p, uint32_t stmt, po_memo_key *key) {
  if (stmt == PO_NO_STMT) {
    po_memo_of(key, NULL, NULL, NULL, 0);
    return true;
  }
  const po_stmt *s = &p->stmts.data[stmt];
  if (!po_is_as_made(s) || s->contract || s->instr)
    return false;
  po_memo_of(key, s->domain, NULL, s->write, s->like);
  ask_of_array(p, s->array, key);
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    if (!s->exprs[k].index)
      continue;
    po_memo_of(key, NULL, NULL, s->exprs[k].index, 0);
    ask_of_array(p, s->exprs[k].array, key);
  }
  return true;
}

bool
po_plan_key(const po_program *p, const po_sum *sum, po_memo_key *key) {
  po_memo_ask(key, PO_MEMO_PLAN, p->strict_fp);
  po_memo_of(key, NULL, NULL, NULL, (uintptr_t)p->target);
  return ask_of(p, sum->parts.init, key) && ask_of(p, sum->parts.update, key) &&
         ask_of(p, sum->parts.store, key) && ask_of(p, sum->formula, key) &&
         !key->too_long;
}

bool
po_known_plan(const po_program *p, const po_sum *sum, const po_memo_key *key,
              bool *planned, po_contraction *out) {
  const po_memo_answer *known = po_memo_find(p->memo, key);
  if (!known)
    return false;
  *planned = known->yes;
  if (!known->yes)
    return true;
  assert(known->n_bytes == sizeof *out);
  *out = *(const po_contraction *)known->bytes;
  po_plan_is_of(out, sum);
  return true;
}

void
po_keep_plan(const po_program *p, const po_memo_key *key,
             const po_contraction *plan) {
  po_memo_put(p->memo, key,
              (po_memo_answer){.yes = plan != NULL,
                               .bytes = plan,
                               .n_bytes = plan ? sizeof *plan : 0});
}
