/* SPDX-License-Identifier: MIT */
/* local.c - declarations of locals.
 *
 * A local is declared in the body of the innermost loop that holds all of its
 * uses: a scalar with a value, since compilers cannot see that it is set
 * before it is read; an array on the stack without one; a large array as a
 * pointer into the workspace, where each thread has its part.  An array in
 * registers whose indices are all constants is a scalar for each element. */
#include "codegen/emit.h"
#include <ctype.h>
#include <string.h>

static bool
is_mentioned(const po_stmt *stmt, uint32_t array) {
  bool is = stmt->array == array;
  for (uint32_t j = 0; j < stmt->n_exprs && !is; j++)
    is = (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER) &&
         stmt->exprs[j].array == array;
  for (uint32_t j = 0; stmt->instr && j < stmt->instr->n_operands && !is; j++)
    is = stmt->operands[j].array == array;
  return is;
}

/* The root has the locals of all groups. */
static bool
belongs(const cg_emitter *e, const po_group *group, uint32_t loop,
        uint32_t array) {
  if (e->p->arrays.data[array].role != PO_LOCAL || e->local_node[array] != loop)
    return false;
  if (loop)
    return true;
  for (uint32_t k = 0; k < group->n; k++)
    if (is_mentioned(cg_stmt(e, group, k), array))
      return true;
  return false;
}

bool
cg_has_locals(const cg_emitter *e, const po_group *group, uint32_t loop) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (belongs(e, group, loop, k))
      return true;
  return false;
}

static void
put_part_of_team(cg_emitter *e, const po_array *local, const char *slot) {
  e->uses_team = true;
  bs_putf(&e->body, " *%s = %s + (size_t)GLEN_THREAD * %lld;\n", local->name,
          slot,
          (long long)((po_bytes(local) + 63) / 64 * 64 /
                      gs_dtype_table[local->dtype].bytes));
}

/* ---- elements with names ---- */

/* Another array is named NAME_3. */
static bool
is_prefix_of_another(const po_program *p, uint32_t array) {
  const char *name = p->arrays.data[array].name;
  size_t n = strlen(name);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const char *other = p->arrays.data[k].name;
    if (!strncmp(other, name, n) && other[n] == '_')
      return true;
  }
  return false;
}

/* Calls and look-ups need an address. */
static void
exclude_addressed(cg_emitter *e, const po_stmt *stmt) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_GATHER)
      e->elements[stmt->exprs[j].array].by_name = false;
  for (uint32_t j = 0; stmt->instr && j <= stmt->instr->n_operands; j++)
    e->elements[stmt->operands[j].array].by_name = false;
}

void
cg_find_elements(cg_emitter *e) {
  const po_program *p = e->p;
  e->elements = bs_calloc(e->heap, p->arrays.len, sizeof *e->elements);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    int64_t n = po_elements(a);
    e->elements[k].by_name = a->role == PO_LOCAL && a->scope == PO_REGISTER &&
                             n > 1 && n <= 64 && !is_prefix_of_another(p, k);
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    exclude_addressed(e, &p->stmts.data[k]);
}

static void
declare_elements(cg_emitter *e, uint32_t array) {
  uint64_t rest = e->elements[array].read;
  const char *comma = " ";
  for (uint32_t k = 0; rest; k++, rest >>= 1)
    if (rest & 1) {
      bs_putf(&e->body, "%s%s_%u = 0", comma, e->p->arrays.data[array].name, k);
      comma = ", ";
    }
  bs_put(&e->body, ";\n");
}

/* ---- declarations ---- */

static const char *
slot_name(const cg_scope *scope, uint32_t array) {
  uint32_t k = 0;
  while (scope->use->slots[k].array != array)
    k++;
  return scope->slot_names[k];
}

/* A large array that all threads share is declared with the workspace. */
static bool
is_declared(const cg_emitter *e, uint32_t array) {
  if (po_is_large(&e->p->arrays.data[array]))
    return po_is_in_parallel(e->p, e->local_node[array]);
  return !cg_is_by_name(e, array) || e->elements[array].read;
}

static void
declare(cg_emitter *e, const cg_scope *scope, uint32_t array, uint32_t indent) {
  const po_array *local = &e->p->arrays.data[array];
  bool large = po_is_large(local);
  if (!is_declared(e, array))
    return;
  cg_indent(&e->body, indent);
  bs_put(&e->body, gs_dtype_table[local->dtype].c_type);
  if (large) {
    put_part_of_team(e, local, slot_name(scope, array));
  } else if (cg_is_by_name(e, array)) {
    declare_elements(e, array);
  } else if (cg_is_indexed(e, array)) {
    e->uses_alignment = true;
    bs_putf(&e->body, " %s[%lld] GLEN_ALIGNED;\n", local->name,
            (long long)po_elements(local));
  } else {
    bs_putf(&e->body, " %s = 0;\n", local->name);
  }
}

static uint32_t
times_declared(const cg_emitter *e, const po_group *group, uint32_t loop) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (belongs(e, group, loop, k))
      n += e->elements[k].declared;
  return n;
}

cg_declared
cg_declare_locals(cg_emitter *e, const cg_scope *scope, uint32_t loop,
                  uint32_t but, uint32_t indent) {
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    if (!belongs(e, scope->group, loop, k))
      continue;
    e->elements[k].declared++;
    if (k != but)
      declare(e, scope, k, indent);
  }
  return (cg_declared){e->body.len, times_declared(e, scope->group, loop)};
}

/* ---- what a part of the code does not need ---- */

static bool
is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* What follows a name, and its index, is an assignment. */
static bool
is_assigned(const char *after) {
  int open = 0;
  for (; *after == '[' || open; after++) {
    if (!*after)
      return false;
    open += (*after == '[') - (*after == ']');
  }
  return !strncmp(after, " = ", 3);
}

/* Compilers warn of a variable that is only assigned to, not of a pointer that
 * is only stored through. */
static bool
is_used(const char *text, const char *name, bool pointer) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[n]) &&
        (pointer || !is_assigned(at + n)))
      return true;
  return false;
}

void
cg_put_unused(cg_emitter *e, size_t from, const char *name, bool pointer,
              uint32_t indent) {
  if (is_used(bs_text_str(&e->body) + from, name, pointer))
    return;
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "(void)%s;\n", name);
}

void
cg_put_unused_locals(cg_emitter *e, const cg_scope *scope, uint32_t loop,
                     cg_declared declared, uint32_t indent) {
  bool again = times_declared(e, scope->group, loop) > declared.times;
  size_t from = again ? e->body.len : declared.end;
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const char *name = e->p->arrays.data[k].name;
    if (!belongs(e, scope->group, loop, k) || !is_declared(e, k))
      continue;
    if (!cg_is_by_name(e, k))
      cg_put_unused(e, from, name, po_is_large(&e->p->arrays.data[k]), indent);
    else
      for (uint32_t j = 0; j < 64; j++)
        if (e->elements[k].read >> j & 1)
          cg_put_unused(e, from, bs_arena_printf(&e->arena, "%s_%u", name, j),
                        false, indent);
  }
}
