/* SPDX-License-Identifier: MIT */
/* verify.c - the checker of the code tree, told which names a file has. */
#include "codegen/unit/emit.h"
#include "codegen/tree/check.h"
#include <string.h>

/* The parameters are those of a kernel or of another function. */
typedef struct known {
  const cg_emitter *e;
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

/* Parameters, constants of the file, and what the language has. */
static bool
is_known(const char *name, void *arg) {
  const known *k = arg;
  if (is_parameter(k, name))
    return true;
  for (uint32_t j = 0; j < k->e->p->arrays.len; j++)
    if (k->e->p->arrays.data[j].role == PO_CONSTANT &&
        !strcmp(k->e->p->arrays.data[j].name, name))
      return true;
  for (uint32_t j = 0; j < k->e->p->sizes.len; j++)
    if (!strcmp(k->e->p->sizes.data[j].name, name))
      return true;
  return cg_helper_named(name) != CG_NO_HELPER || !strcmp(name, "workspace");
}

static bool
verify(cg_emitter *e, known k, const cg_node *body, const char *after,
       bool complete) {
  cg_asked asked = {&e->arena, complete, is_known, &k};
  const char *why = cg_check_tree(&asked, body);
  if (why)
    bs_error(e->p->ctx.diags, BS_NOWHERE, "code-tree",
             "after %s the code tree is broken: %s", after, why);
  e->failed |= why != NULL;
  return !why;
}

bool
cg_verify(cg_emitter *e, const cg_scope *scope, const cg_node *body,
          const char *after, bool complete) {
  return verify(e, (known){.e = e, .scope = scope}, body, after, complete);
}

bool
cg_verify_function(cg_emitter *e, const cg_function *f) {
  return verify(e, (known){.e = e, .function = f}, f->body, f->name, true);
}
