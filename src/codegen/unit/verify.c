/* SPDX-License-Identifier: MIT */
/* verify.c - the checker of the code tree, told which names a file has. */
#include "codegen/unit/emit.h"
#include "codegen/tree/tree_check.h"
#include <ctype.h>
#include <string.h>

/* The parameters are those of a kernel or of another function. */
typedef struct known {
  const po_program *p;
  const cg_scope *scope;
  const cg_function *function;
} known;

static bool
is_parameter(const known *k, const char *name) {
  for (uint32_t j = 0; k->scope && j < k->scope->use->n_slots; j++)
    if (!strcmp(k->scope->slot_names[j], name))
      return true;
  for (uint32_t j = 0; k->function && j < k->function->n_parameters; j++)
    if (!strcmp(k->function->parameters[j].name, name))
      return true;
  return false;
}

static bool
is_handed(const known *k, const char *name) {
  for (uint32_t j = 0; k->function && j < 2; j++)
    if (k->function->handed[j] && !strcmp(k->function->handed[j], name))
      return true;
  return false;
}

/* A macro of the file or of a header, which has no small letters. */
static bool
is_macro(const char *name) {
  for (; *name; name++)
    if (islower((unsigned char)*name))
      return false;
  return true;
}

/* Parameters, constants of the file, and what the language has. */
static bool
is_known(const char *name, void *arg) {
  const known *k = arg;
  if (is_parameter(k, name) || is_handed(k, name) || is_macro(name) ||
      cg_helper_named(name) != CG_NO_HELPER || !strcmp(name, "workspace"))
    return true;
  for (uint32_t j = 0; j < k->p->arrays.len; j++)
    if (k->p->arrays.data[j].role == PO_CONSTANT &&
        !strcmp(k->p->arrays.data[j].name, name))
      return true;
  for (uint32_t j = 0; j < k->p->sizes.len; j++)
    if (!strcmp(k->p->sizes.data[j].name, name))
      return true;
  return false;
}

static bool
verify(bs_arena *arena, known k, const cg_node *body, const char *after,
       bool complete) {
  cg_asked asked = {arena, complete, is_known, &k};
  const char *why = cg_check_tree(&asked, body);
  if (why)
    bs_error(k.p->ctx.diags, BS_NOWHERE, "code-tree",
             "internal error: after %s the code tree is broken: %s", after,
             why);
  return !why;
}

bool
cg_verify(cg_emitter *e, const cg_scope *scope, const cg_node *body,
          const char *after, bool complete) {
  known k = {.p = e->p, .scope = scope};
  bool ok = verify(&e->arena, k, body, after, complete);
  e->failed |= !ok;
  return ok;
}

bool
cg_verify_function(const po_program *p, bs_arena *arena, const cg_function *f) {
  known k = {.p = p, .function = f};
  return verify(arena, k, f->body, f->name, true);
}
