/* SPDX-License-Identifier: MIT */
/* file_sizes.c - what a file has for sizes: they are checked first, and say
 * where the arrays of the workspace begin.
 *
 * Arrays that live one after the other share a place, which is as large as the
 * largest of them at the sizes of the call. */
#include "codegen/build/build.h"
#include "codegen/file/codegen_file.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>

void
cg_put_size_documentation(const po_program *p, bs_text *out) {
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    const po_size *s = &p->sizes.data[k];
    bs_putf(out, " *   %-10s in  %lld to %lld", s->name, (long long)s->least,
            (long long)s->most);
    if (s->multiple > 1)
      bs_putf(out, ", a multiple of %lld", (long long)s->multiple);
    bs_putc(out, '\n');
  }
}

/* ---- places ---- */

static bool
has_place(const po_array *array) {
  return (array->role == PO_WORKSPACE || po_is_large(array)) &&
         array->offset >= 0;
}

static uint32_t
count_places(const po_program *p) {
  int64_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (has_place(&p->arrays.data[k]) && p->arrays.data[k].offset >= n)
      n = p->arrays.data[k].offset + 1;
  return (uint32_t)n;
}

/* The bytes of an array in the workspace. */
static const cg_expr *
make_bytes(cg_emitter *e, uint32_t k) {
  assert(k < e->p->arrays.len);
  const po_array *array = &e->p->arrays.data[k];
  if (po_lies_by_sizes(array))
    return cg_make_bytes(e, k);
  bool team =
      array->role == PO_LOCAL && po_is_in_parallel(e->p, e->local_node[k]);
  int64_t bytes = (po_bytes(array) + 63) / 64 * 64;
  return cg_number(&e->arena, bytes * (team ? PO_MAX_TEAM : 1));
}

static void
write_place(cg_emitter *e, cg_writer *w, int64_t place) {
  bool first = true;
  cg_write(w, "glen_place[%lld] = glen_end;", (long long)place);
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (!has_place(array) || array->offset != place)
      continue;
    cg_write_store(w, first ? "glen_most" : "glen_bytes", make_bytes(e, k));
    if (!first) {
      cg_write(w, "if (glen_bytes > glen_most)");
      cg_write(w, "glen_most = glen_bytes;");
    }
    first = false;
  }
  cg_write(w, "glen_end += (glen_most + 63) / 64 * 64;");
}

/* Some place is as large as it says: what isl involves in an extent may be
 * one number between the bounds. */
static bool
is_read(cg_emitter *e, uint32_t size) {
  bs_arena *arena = &e->arena;
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (has_place(&e->p->arrays.data[k]) &&
        cg_mentions(cg_make_return(arena, make_bytes(e, k)),
                    e->p->sizes.data[size].name))
      return true;
  return false;
}

static bool
is_shared(const po_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += has_place(&p->arrays.data[k]);
  return n > count_places(p);
}

void
cg_put_places(cg_emitter *e) {
  uint32_t n = count_places(e->p);
  if (!n)
    return;
  cg_writer w;
  cg_start(&w, &e->arena);
  bs_put(&e->body, "/* Where the parts of the workspace begin; gives where the "
                   "last one ends. */\n");
  cg_function f =
      cg_signature_of_sizes(e->p, e->options->name, "places", &e->arena);
  cg_add_parameter(&e->arena, &f,
                   (cg_parameter){"size_t *", "glen_place", false});
  f.head = "static size_t";
  cg_open_function(&w, &f);
  cg_write(&w, "size_t glen_end = 0, glen_most%s;",
           is_shared(e->p) ? ", glen_bytes" : "");
  for (uint32_t k = 0; k < e->p->sizes.len; k++)
    if (!is_read(e, k))
      cg_write(&w, "(void)%s;", e->p->sizes.data[k].name);
  for (uint32_t k = 0; k < n; k++)
    write_place(e, &w, k);
  cg_write(&w, "return glen_end;");
  cg_close_function(e, &w);
}

/* name op number */
static const cg_expr *
compared(bs_arena *arena, const cg_expr *a, cg_op op, int64_t b) {
  return cg_infix(arena, op, a, cg_number(arena, b));
}

cg_node *
cg_make_size_check(cg_emitter *e, int64_t otherwise) {
  assert(po_has_sizes(e->p));
  bs_arena *arena = &e->arena;
  const po_program *p = e->p;
  uint32_t n = 0;
  const cg_expr **any = BS_NEWS(arena, const cg_expr *, 3 * p->sizes.len);
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    const po_size *s = &p->sizes.data[k];
    const cg_expr *name = cg_name(arena, s->name);
    any[n++] = compared(arena, name, CG_OP_LESS, s->least);
    any[n++] = compared(arena, name, CG_OP_GREATER, s->most);
    if (s->multiple > 1)
      any[n++] =
          compared(arena, compared(arena, name, CG_OP_REMAINDER, s->multiple),
                   CG_OP_NOT_EQUAL, 0);
  }
  cg_node *check =
      cg_make_if(arena, cg_infix_of(arena, CG_OP_OR, n, any),
                 cg_make_return(arena, cg_number(arena, otherwise)));
  check->bare = check->wraps = true;
  return check;
}

cg_node *
cg_make_places(cg_emitter *e) {
  cg_node *place = cg_make_let(&e->arena, "size_t", "glen_place", NULL);
  place->let.elements = count_places(e->p);
  return place;
}

const cg_expr *
cg_call_of_places(cg_emitter *e) {
  bs_arena *arena = &e->arena;
  uint32_t n = e->p->sizes.len;
  const cg_expr **args = BS_NEWS(arena, const cg_expr *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    args[k] = cg_name(arena, e->p->sizes.data[k].name);
  args[n] = cg_name(arena, "glen_place");
  return cg_called(arena, bs_arena_printf(arena, "%s_places", e->options->name),
                   n + 1, args);
}

void
cg_put_sized_workspace(cg_emitter *e) {
  assert(po_has_sizes(e->p));
  bs_arena *arena = &e->arena;
  uint32_t n = count_places(e->p);
  cg_list body;
  cg_list_init(&body);
  if (n)
    cg_append(&body, cg_make_places(e));
  cg_append(&body, cg_make_size_check(e, 0));
  cg_append(&body, cg_make_return(arena, n ? cg_call_of_places(e)
                                           : cg_number(arena, 0)));
  cg_function f = cg_signature_of_sizes(e->p, e->options->name,
                                        "workspace_size", &e->arena);
  f.head = e->is_variant ? "\nstatic size_t" : f.head;
  cg_put_function(e, &f, body.first);
}
