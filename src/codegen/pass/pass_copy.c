/* SPDX-License-Identifier: MIT */
/* pass_copy.c - what passes share that do several sums side by side: sums.c of
 * parts of one loop, pass_jam.c of several rows. */
#include "codegen/build/build.h"
#include "codegen/pass/pass.h"
#include <assert.h>
#include <string.h>

const char *
cg_copy_name(cg_emitter *e, const char *name, const char *kind, int64_t k) {
  assert(k >= 0 && *name);
  return k ? bs_arena_printf(&e->arena, "%s_%s%lld", name, kind, (long long)k)
           : name;
}

static bool
is_size_name(const cg_emitter *e, const char *name) {
  for (uint32_t k = 0; k < e->p->sizes.len; k++)
    if (!strcmp(e->p->sizes.data[k].name, name))
      return true;
  return false;
}

bool
cg_can_copy_name(cg_emitter *e, const char *name, const char *kind, int64_t n) {
  assert(n >= 1);
  for (int64_t k = 1; k < n; k++) {
    const char *copy = cg_copy_name(e, name, kind, k);
    if (cg_is_array_name(e, copy) || is_size_name(e, copy))
      return false;
  }
  return true;
}

void
cg_copy_reductions(cg_emitter *e, const cg_for *from, const char *kind,
                   int64_t n, cg_for *to) {
  assert(n >= 1);
  uint32_t made = 0;
  assert(from->reductions || !from->n_reductions);
  cg_reduction *out =
      BS_NEWS(&e->arena, cg_reduction, (size_t)(from->n_reductions * n));
  for (uint32_t k = 0; k < from->n_reductions; k++)
    for (int64_t copy = 0; copy < n; copy++)
      out[made++] =
          (cg_reduction){from->reductions[k].by,
                         cg_copy_name(e, from->reductions[k].name, kind, copy)};
  to->n_reductions = made;
  to->reductions = out;
}

void
cg_replace_nodes(cg_emitter *e, cg_node **body,
                 cg_node *(*make)(cg_emitter *, cg_node *)) {
  for (; *body; body = &(*body)->next) {
    cg_node *n = *body, *next = n->next, *made = make(e, n);
    if (made) {
      for (*body = made; (*body)->next;)
        body = &(*body)->next;
      (*body)->next = next;
      continue;
    }
    cg_replace_nodes(e, &n->first, make);
    if (n->kind == CG_IF)
      cg_replace_nodes(e, &n->test.otherwise, make);
  }
}
