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

/* ---- their order ---- */

static void
share_loops(cg_pass_state *s) {
  cg_share_loops(s->e, s->scope, *s->body);
}

static void
end_loops(cg_pass_state *s) {
  cg_end_loops(s->e, s->scope, s->body);
}

static void
stream_loops(cg_pass_state *s) {
  cg_stream_loops(s->e, s->scope, s->body, &s->fenced);
}

static void
find_lanes(cg_pass_state *s) {
  cg_find_lanes(s->e, *s->body);
}

static void
split_vectors(cg_pass_state *s) {
  cg_split_vectors(s->e, s->body);
}

static void
declare_locals(cg_pass_state *s) {
  cg_declare_locals(s->e, s->scope, s->body);
}

static void
put_fences(cg_pass_state *s) {
  cg_put_fences(s->e, *s->body);
  if (s->fenced)
    end_by_fence(s->e, s->body);
}

static void
quiet_parameters(cg_pass_state *s) {
  cg_quiet_parameters(s->e, s->scope, s->body);
}

static const cg_pass passes[] = {
    {"teams", share_loops, false},     {"ends", end_loops, false},
    {"streams", stream_loops, false},  {"lanes", find_lanes, false},
    {"vectors", split_vectors, false}, {"locals", declare_locals, true},
    {"fences", put_fences, true},      {"parameters", quiet_parameters, true}};

void
cg_run_pass(const cg_pass *pass, cg_pass_state *s) {
  pass->run(s);
  CG_VERIFY(s->e, s->scope, *s->body, pass->name, pass->completes);
}

void
cg_run_passes(cg_emitter *e, const cg_scope *scope, cg_node **body) {
  cg_pass_state s = {.e = e, .scope = scope, .body = body};
  CG_VERIFY(e, scope, *body, "it was made", false);
  for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
    cg_run_pass(&passes[k], &s);
}
