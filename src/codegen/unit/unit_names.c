/* SPDX-License-Identifier: MIT */
/* unit_names.c - arrays that are named like what is made from the function's
 * name.
 *
 * NAME_workspace_size stands beside NAME, and NAME_ALIGNMENT is a macro of its
 * header: a parameter of such a name would hide the one or be replaced by the
 * other.  Which name the function has is known only here, so arrays are named
 * anew in a copy of the program that shares everything else. */
#include "codegen/unit/emit.h"
#include "poly/loops/names.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

/* What follows the function's name and an underscore. */
static const char *const functions[] = {
    "workspace_size", "prepack", "prepacked_size", "on_stream",
    "variant",        "base",    "avx2",           "avx512",
    "places",         "source",  "names",          "kernel_count",
    "build",          "create",  "release",        "enqueue",
    "on_queue",       "key",     "tiling",         "all"};

/* What follows the function's name in capitals and an underscore: macros. */
static const char *const macros[] = {"WORKSPACE_BYTES", "PREPACKED_BYTES",
                                     "ALIGNMENT", "H"};

#define N(table) (sizeof table / sizeof *table)

static bool
is_among(const char *word, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (!strcmp(word, words[k]))
      return true;
  return false;
}

/* k0 and p12, for kernels and parts of nests, part3, for parts of the sizes,
 * and what they are made of: k0_panel. */
static bool
is_of_kernel(const char *rest) {
  size_t word = !strncmp(rest, "part", 4) ? 4 : *rest == 'k' || *rest == 'p';
  size_t digits = word ? strspn(rest + word, "0123456789") : 0;
  return digits && (!rest[word + digits] || rest[word + digits] == '_');
}

/* What stands behind `prefix` and an underscore, in capitals if so asked; NULL:
 * the name does not begin so. */
static const char *
behind(const char *name, const char *prefix, bool upper) {
  for (; *prefix; prefix++, name++)
    if (*name != (upper ? (char)toupper((unsigned char)*prefix) : *prefix))
      return NULL;
  return *name == '_' ? name + 1 : NULL;
}

static bool
is_made_of(const char *name, const char *function) {
  const char *rest = behind(name, function, false);
  if (rest && (is_among(rest, functions, N(functions)) || is_of_kernel(rest)))
    return true;
  rest = behind(name, function, true);
  return rest &&
         (is_among(rest, macros, N(macros)) || !strncmp(rest, "ELEMENTS_", 9));
}

static bool
clashes(const po_array *a, const char *function) {
  return is_made_of(a->name, function) ||
         (a->role == PO_CONSTANT &&
          (!strcmp(a->name, function) || po_name_is_of_library(a->name)));
}

/* A size is a parameter of all functions, and the name of isl's. */
bool
cg_sizes_are_apart(const po_program *p, const char *function) {
  for (uint32_t k = 0; k < p->sizes.len; k++)
    if (is_made_of(p->sizes.data[k].name, function))
      return bs_error(p->ctx.diags, BS_NOWHERE, "reserved-name",
                      "size %s is named like a function of %s",
                      p->sizes.data[k].name, function);
  return true;
}

static bool
is_taken(const po_program *p, const char *name) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (!strcmp(p->arrays.data[k].name, name))
      return true;
  return false;
}

static const char *
other_name(po_program *p, uint32_t k) {
  assert(k < p->arrays.len);
  const char *name = p->arrays.data[k].name;
  do
    name = bs_arena_printf(p->ctx.arena, "v_%s", name);
  while (is_taken(p, name) || po_name_is_of_target(p->target, name));
  return name;
}

static po_program *
with_own_arrays(const po_program *p) {
  po_program *out = bs_arena_copy(p->ctx.arena, p, sizeof *p);
  out->arrays.data = bs_arena_copy(p->ctx.arena, p->arrays.data,
                                   p->arrays.len * sizeof *p->arrays.data);
  return out;
}

const po_program *
cg_with_own_names(const po_program *p, const char *function,
                  bool (*is_word)(const po_array *)) {
  po_program *out = NULL;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (!clashes(a, function) && !(is_word && is_word(a)))
      continue;
    out = out ? out : with_own_arrays(p);
    out->arrays.data[k].name = other_name(out, k);
  }
  return out ? out : p;
}

const po_program *
cg_with_new_names(const po_program *p,
                  bool (*clashes_with)(const void *arg, const po_array *),
                  const void *arg) {
  po_program *out = NULL;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    while (clashes_with(arg, &(out ? out : p)->arrays.data[k])) {
      out = out ? out : with_own_arrays(p);
      out->arrays.data[k].name = other_name(out, k);
    }
  return out ? out : p;
}

/* ---- in kernels ---- */

bool
cg_has_own_name(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  const po_array *a = &e->p->arrays.data[array];
  return a->role == PO_LOCAL &&
         (!po_is_large(a) || po_is_in_parallel(e->p, e->local_node[array]));
}

bool
cg_is_array_name(const cg_emitter *e, const char *name) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (!strcmp(e->p->arrays.data[k].name, name))
      return true;
  return false;
}

const char *
cg_array_name(const cg_emitter *e, const cg_scope *scope, uint32_t array) {
  assert(array < e->p->arrays.len);
  cg_mention(e, array);
  if (!cg_has_own_name(e, array))
    for (uint32_t k = 0; k < scope->use->n_slots; k++)
      if (scope->use->slots[k].array == array)
        return scope->slot_names[k];
  return e->p->arrays.data[array].name;
}
