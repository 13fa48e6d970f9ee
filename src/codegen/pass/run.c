/* SPDX-License-Identifier: MIT */
/* run.c - the passes in their order, and the checker after each. */
#include "codegen/pass/pass.h"

/* The fence of the function. */
static void
end_by_fence(cg_emitter *e, cg_node **body) {
  cg_list list;
  cg_list_init(&list);
  cg_append(&list, *body);
  cg_append(&list, cg_make_fence(e));
  *body = list.first;
}

void
cg_run_passes(cg_emitter *e, const cg_scope *scope, cg_node **body) {
  bool fenced = false;
  CG_VERIFY(e, scope, *body, "it was made", false);
  cg_share_loops(e, scope, *body);
  CG_VERIFY(e, scope, *body, "teams", false);
  cg_stream_loops(e, scope, body, &fenced);
  CG_VERIFY(e, scope, *body, "streams", false);
  cg_find_lanes(e, *body);
  CG_VERIFY(e, scope, *body, "lanes", false);
  cg_split_vectors(e, body);
  CG_VERIFY(e, scope, *body, "vectors", false);
  cg_declare_locals(e, scope, body);
  CG_VERIFY(e, scope, *body, "locals", true);
  cg_put_fences(e, *body);
  if (fenced)
    end_by_fence(e, body);
  CG_VERIFY(e, scope, *body, "fences", true);
  cg_quiet_parameters(e, scope, body);
  CG_VERIFY(e, scope, *body, "parameters", true);
}
