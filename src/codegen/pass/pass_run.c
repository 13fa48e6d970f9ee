/* SPDX-License-Identifier: MIT */
/* pass_run.c - the passes in their order, and the checker after each. */
#include "codegen/pass/pass.h"
#include <assert.h>

static const cg_pass passes[] = {{"teams", cg_share_loops, false},
                                 {"ends", cg_end_loops, false},
                                 {"rows", cg_join_rows, false},
                                 {"streams", cg_stream_loops, false},
                                 {"lanes", cg_find_lanes, false},
                                 {"jam", cg_jam_rows, false},
                                 {"sums", cg_split_sums, false},
                                 {"vectors", cg_split_vectors, false},
                                 {"locals", cg_declare_locals, true},
                                 {"once", cg_read_once, true},
                                 {"fences", cg_put_fences, true},
                                 {"parameters", cg_quiet_parameters, true}};

void
cg_run_pass(const cg_pass *pass, cg_pass_state *s) {
  assert(pass && s->body);
  pass->run(s);
  CG_VERIFY(s->e, s->scope, *s->body, pass->name, pass->completes);
}

void
cg_run_passes(cg_emitter *e, const cg_scope *scope, cg_node **body) {
  assert(body && scope);
  cg_pass_state s = {.e = e, .scope = scope, .body = body};
  CG_VERIFY(e, scope, *body, "it was made", false);
  for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
    cg_run_pass(&passes[k], &s);
}
