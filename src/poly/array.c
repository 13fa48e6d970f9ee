/* array.c - arrays and their names.
 *
 * A name is made from the source's so that it is an identifier in C and in
 * C++, no keyword, no macro of the headers that generated code includes, no
 * word of a target's own C text, and not taken yet. */
#include "poly/lower.h"
#include "poly/names.h"
#include <ctype.h>
#include <string.h>

static bool
is_letter(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* `name` as a word of C text.  called: only as a function or a macro; else
 * anywhere but in a placeholder. */
static bool
is_word_of(const char *text, const char *name, bool called) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at++) {
    char before = at == text ? ' ' : at[-1], after = at[n];
    if (is_letter(before) || is_letter(after))
      continue;
    if (called
            ? after == '(' || (at - text >= 8 && !memcmp(at - 8, "#define ", 8))
            : before != '{' && before != '.')
      return true;
  }
  return false;
}

static bool
taken(const po_lowering *low, const char *name) {
  const po_program *out = low->out;
  if (po_name_is_reserved(name))
    return true;
  for (uint32_t k = 0; k < out->arrays.len; k++)
    if (!strcmp(out->arrays.data[k].name, name))
      return true;
  const gs_target *target = out->target;
  for (uint32_t k = 0; target && k < target->preludes.len; k++)
    if (is_word_of(target->preludes.data[k], name, true))
      return true;
  for (uint32_t k = 0; target && k < target->instrs.len; k++)
    if (target->instrs.data[k]->emit &&
        is_word_of(target->instrs.data[k]->emit, name, false))
      return true;
  return false;
}

const char *
po_fresh_name(po_lowering *low, const char *prefix, const char *name) {
  bs_arena *arena = &low->out->arena;
  const char *base =
      bs_arena_printf(arena, "%s%s", prefix, po_sanitize(arena, name));
  const char *fresh = base;
  for (uint32_t k = 2; taken(low, fresh); k++)
    fresh = bs_arena_printf(arena, "%s_%u", base, k);
  return fresh;
}

uint32_t
po_new_array(po_lowering *low, po_role role, const char *name, gs_dtype dtype,
             const int64_t *dim, uint32_t rank, gs_term term) {
  po_array array = {
      .name = name, .role = role, .dtype = dtype, .rank = rank, .term = term};
  if (rank)
    memcpy(array.dim, dim, rank * sizeof *dim);
  for (uint32_t d = 0; role == PO_LOCAL && d < rank; d++)
    array.fold[d] = 1; /* by the loops around it */
  bs_push(low->heap, &low->out->arrays, array);
  return low->out->arrays.len - 1;
}

uint32_t
po_new_temporary(po_lowering *low, po_role role, gs_dtype dtype,
                 const int64_t *dim, uint32_t rank, gs_term term) {
  const char *letter = role == PO_LOCAL ? "acc" : "t";
  const char *name =
      bs_arena_printf(&low->out->arena, "%s%u", letter, low->n_temporaries++);
  return po_new_array(low, role, name, dtype, dim, rank, term);
}

static void
declare(po_lowering *low, po_role role, const gs_named *named, uint32_t k) {
  gs_type type;
  gs_type_at(low->source, named->term, &type);
  const char *name = po_fresh_name(low, "", named->name);
  uint32_t array = po_new_array(low, role, name, type.dtype, type.dim,
                                type.rank, named->term);
  low->out->arrays.data[array].number = k;
}

void
po_declare_arrays(po_lowering *low) {
  const gs_program *source = low->source;
  for (uint32_t k = 0; k < source->inputs.len; k++)
    declare(low, PO_INPUT, &source->inputs.data[k], k);
  for (uint32_t k = 0; k < source->outputs.len; k++)
    declare(low, PO_OUTPUT, &source->outputs.data[k], k);
}
