/* SPDX-License-Identifier: MIT */
/* file_steps.c - the program as calls of its kernels, one step after the other.
 *
 * A long program is cut into parts, since compilers take more than linear time
 * over one long function. */
#include "codegen/build/build.h"
#include "codegen/file/codegen_file.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>

/* Steps in one function. */
#define PART_LENGTH 64

/* Steps of which a function is made, and the arrays that they mention. */
typedef struct steps {
  cg_emitter *e;
  const uint32_t *list; /* of groups */
  uint32_t n;
  uint8_t *has; /* by array */
} steps;

/* ---- one step ---- */

/* Their comments would say the same. */
static bool
same_origin(cg_emitter *e, const po_group *a, const po_group *b) {
  const po_stmt *s = cg_stmt(e, a, 0), *t = cg_stmt(e, b, 0);
  if (!s->span.file && cg_layer_of(e, a) != cg_layer_of(e, b))
    return false;
  if (s->span.file != t->span.file || s->span.lo != t->span.lo)
    return false;
  if (!gs_term_ok(s->term) || !gs_term_ok(t->term))
    return s->term.i == t->term.i;
  const gs_node *x = gs_at(e->p->source, s->term);
  const gs_node *y = gs_at(e->p->source, t->term);
  return x->op == y->op && bs_same(x->attr, y->attr) &&
         bs_same(x->type, y->type);
}

/* The array that a kernel works on, as an argument. */
static const cg_expr *
argument(cg_emitter *e, const po_group *group, const cg_slot *slot) {
  const po_array *array = &e->p->arrays.data[slot->array];
  cg_mention(e, slot->array);
  if (array->prepack && array->offset < 0 &&
      !po_is_before(e->p, &e->groups, group))
    return cg_literal(&e->arena, "NULL");
  const cg_expr *name = cg_name(&e->arena, array->name);
  return slot->base ? cg_infix(&e->arena, CG_OP_ADD, name,
                               cg_number(&e->arena, slot->base))
                    : name;
}

static cg_node *
make_call(cg_emitter *e, uint32_t k) {
  const cg_use *use = &e->uses[k];
  bool narrow = !strcmp(e->index, "int");
  uint32_t n = e->p->sizes.len;
  const cg_expr **args =
      BS_NEWS(&e->arena, const cg_expr *, n + use->n_slots + 1);
  for (uint32_t j = 0; j < n; j++) {
    const cg_expr *size = cg_name(&e->arena, e->p->sizes.data[j].name);
    args[j] = narrow ? cg_cast(&e->arena, "int", size) : size;
  }
  for (uint32_t j = 0; j < use->n_slots; j++)
    args[n + j] = argument(e, &e->groups.list.data[k], &use->slots[j]);
  const char *name = e->kernels.data[use->kernel].name;
  cg_node *call =
      cg_make_do(&e->arena, cg_called(&e->arena, name, n + use->n_slots, args));
  call->wraps = true;
  return call;
}

/* before: the group of the step above, or NULL. */
static void
add_step(cg_emitter *e, cg_list *to, uint32_t k, const po_group *before) {
  assert(k < e->groups.list.len);
  const po_group *group = &e->groups.list.data[k];
  if (!before || !same_origin(e, group, before))
    cg_append(to, cg_make_comment(&e->arena, cg_origin_text(e, group, 0)));
  cg_append(to, e->uses[k].kernel == UINT32_MAX
                    ? cg_make_template(e, NULL, NULL, cg_stmt(e, group, 0))
                    : make_call(e, k));
}

/* The groups of a list, one after the other. */
static void
add_steps(const steps *s, cg_list *to, bool timed) {
  const po_group *groups = s->e->groups.list.data;
  for (uint32_t k = 0; k < s->n; k++) {
    add_step(s->e, to, s->list[k], k ? &groups[s->list[k - 1]] : NULL);
    if (timed && s->e->options->profile)
      cg_append(to, cg_make_note_of_step(s->e, s->list[k]));
  }
}

/* ---- where arrays lie ---- */

static void
collect(const cg_emitter *e, uint32_t group, uint8_t *has) {
  assert(group < e->groups.list.len);
  const cg_use *use = &e->uses[group];
  const po_stmt *call = cg_stmt(e, &e->groups.list.data[group], 0);
  for (uint32_t k = 0; k < use->n_slots; k++)
    has[use->slots[k].array] = 1;
  for (uint32_t k = 0; call->instr && k <= call->instr->n_operands; k++)
    has[call->operands[k].array] = 1;
}

static steps
steps_of(cg_emitter *e, const uint32_t *list, uint32_t n) {
  uint32_t arrays = e->p->arrays.len;
  steps s = {e, list, n, BS_NEWS(&e->arena, uint8_t, arrays + 1)};
  memset(s.has, 0, arrays);
  for (uint32_t k = 0; k < n; k++)
    collect(e, list[k], s.has);
  return s;
}

static bool
is_in_workspace(const po_array *array) {
  return (array->role == PO_WORKSPACE && !array->before) || po_is_large(array);
}

/* What NAME_prepack has made. */
static bool
is_prepacked(const po_array *array) {
  return array->role == PO_PREPACKED || array->before ||
         (array->prepack && array->offset >= 0);
}

static bool
is_made_before(const po_array *array) {
  return array->before;
}

typedef bool lies_there(const po_array *);

static bool
needs(const steps *s, lies_there *lies) {
  for (uint32_t k = 0; k < s->e->p->arrays.len; k++)
    if (s->has[k] && lies(&s->e->p->arrays.data[k]))
      return true;
  return false;
}

/* (type)(void *)((unsigned char *)block + offset) */
static const cg_expr *
place_in(cg_emitter *e, const char *type, const char *constant,
         const char *block, const cg_expr *offset) {
  bs_arena *arena = &e->arena;
  const char *bytes = bs_arena_printf(arena, "%sunsigned char *", constant);
  const char *any = bs_arena_printf(arena, "%svoid *", constant);
  const cg_expr *start = cg_cast(arena, bytes, cg_name(arena, block));
  return cg_cast(
      arena, type,
      cg_cast(arena, any,
              cg_paren(arena, cg_infix(arena, CG_OP_ADD, start, offset))));
}

/* A pointer to what lies in a block; `constant`: "const ", or "" where it may
 * be written. */
static cg_node *
make_pointer(cg_emitter *e, const po_array *array, const char *constant,
             const char *block, const cg_expr *offset) {
  const char *type = bs_arena_printf(&e->arena, "%s%s *", constant,
                                     gs_dtype_table[array->dtype].c_type);
  cg_node *let = cg_make_let(&e->arena, type, array->name,
                             place_in(e, type, constant, block, offset));
  let->wraps = *constant;
  return let;
}

static void
add_pointers(const steps *s, cg_list *to, lies_there *lies,
             const char *constant, const char *block) {
  cg_emitter *e = s->e;
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (!s->has[k] || !lies(array))
      continue;
    const cg_expr *offset = cg_number(&e->arena, array->offset);
    if (po_has_sizes(e->p) && !*constant)
      offset = cg_element(&e->arena, cg_name(&e->arena, "glen_place"), offset);
    cg_append(to, make_pointer(e, array, constant, block, offset));
  }
}

/* Where the parts of the workspace begin, at the sizes of the call. */
static void
add_places(const steps *s, cg_list *to) {
  cg_emitter *e = s->e;
  if (!po_has_sizes(e->p) || !needs(s, is_in_workspace))
    return;
  cg_append(to, cg_make_places(e));
  cg_append(to, cg_make_do(&e->arena, cg_call_of_places(e)));
}

static void
add_range(const steps *s, cg_list *to) {
  add_places(s, to);
  add_pointers(s, to, is_prepacked, "const ", "prepacked");
  add_pointers(s, to, is_in_workspace, "", "workspace");
  add_steps(s, to, true);
}

/* ---- functions ---- */

/* What is passed to a part. */
static const cg_parameter *
parameters_of_part(const steps *s, uint32_t *n) {
  cg_emitter *e = s->e;
  const po_program *p = e->p;
  cg_parameter *out =
      BS_NEWS(&e->arena, cg_parameter, p->sizes.len + p->arrays.len + 2);
  *n = 0;
  for (uint32_t k = 0; k < p->sizes.len; k++)
    out[(*n)++] = (cg_parameter){"int64_t", p->sizes.data[k].name, false};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (s->has[k] && cg_is_parameter(&p->arrays.data[k]))
      out[(*n)++] = cg_parameter_of(&e->arena, &p->arrays.data[k], true);
  if (needs(s, is_prepacked))
    out[(*n)++] = (cg_parameter){"const void *", "prepacked", false};
  if (needs(s, is_in_workspace))
    out[(*n)++] = (cg_parameter){"void *", "workspace", false};
  return out;
}

static cg_function
function_of_part(const steps *s, uint32_t number) {
  cg_function f = {.head = "static void",
                   .name = cg_function_name(s->e, 'p', number)};
  f.parameters = parameters_of_part(s, &f.n_parameters);
  return f;
}

/* The call of a function by the names of its parameters. */
static cg_node *
call_by_name(cg_emitter *e, const cg_function *f) {
  const cg_expr **args =
      BS_NEWS(&e->arena, const cg_expr *, f->n_parameters + 1);
  for (uint32_t k = 0; k < f->n_parameters; k++)
    args[k] = cg_name(&e->arena, f->parameters[k].name);
  return cg_make_do(&e->arena,
                    cg_called(&e->arena, f->name, f->n_parameters, args));
}

/* What the function does before its steps: of `all` of them. */
static void
add_start(const steps *all, cg_list *to) {
  cg_emitter *e = all->e;
  if (po_has_sizes(e->p))
    cg_append(to, cg_make_size_check(e, 1));
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (!all->has[k] && cg_is_parameter(&e->p->arrays.data[k]))
      cg_append(to, cg_make_void(&e->arena, e->p->arrays.data[k].name));
  if (po_has_prepacked(e->p) && !needs(all, is_prepacked))
    cg_append(to, cg_make_void(&e->arena, "prepacked"));
  if (!needs(all, is_in_workspace))
    cg_append(to, cg_make_void(&e->arena, "workspace"));
  if (e->options->profile)
    cg_append(to, cg_make_note(e, -1));
}

static void
put_main(const steps *all, const cg_list *body) {
  cg_emitter *e = all->e;
  cg_list list;
  cg_list_init(&list);
  add_start(all, &list);
  cg_append(&list, body->first);
  cg_append(&list, cg_make_return(&e->arena, cg_number(&e->arena, 0)));
  cg_function f = cg_signature_of(e->p, e->options, true, &e->arena);
  f.head = e->is_variant ? "static int" : "int";
  cg_put_function(e, &f, list.first);
}

/* The parts, each a function before the one that calls them. */
static void
put_parts(const steps *all, cg_list *calls) {
  cg_emitter *e = all->e;
  for (uint32_t from = 0; from < all->n; from += PART_LENGTH) {
    uint32_t rest = all->n - from;
    steps part =
        steps_of(e, all->list + from, rest < PART_LENGTH ? rest : PART_LENGTH);
    cg_function f = function_of_part(&part, from / PART_LENGTH);
    cg_list body;
    cg_list_init(&body);
    add_range(&part, &body);
    cg_put_function(e, &f, body.first);
    bs_putc(&e->body, '\n');
    cg_append(calls, call_by_name(e, &f));
  }
}

/* The groups that NAME_prepack runs, or those that calls do. */
static steps
list_groups(cg_emitter *e, bool before) {
  uint32_t n = 0;
  uint32_t *list = BS_NEWS(&e->arena, uint32_t, e->groups.list.len + 1);
  for (uint32_t k = 0; k < e->groups.list.len; k++)
    if (po_is_before(e->p, &e->groups, &e->groups.list.data[k]) == before)
      list[n++] = k;
  return steps_of(e, list, n);
}

void
cg_put_steps(cg_emitter *e) {
  if (e->options->profile)
    bs_clear(&e->options->profile->steps);
  steps all = list_groups(e, false);
  cg_list body;
  cg_list_init(&body);
  if (all.n > PART_LENGTH)
    put_parts(&all, &body);
  else
    add_range(&all, &body);
  put_main(&all, &body);
}

void
cg_add_steps_before(cg_emitter *e, cg_list *to) {
  steps before = list_groups(e, true);
  add_pointers(&before, to, is_made_before, "", "prepacked");
  add_steps(&before, to, false);
}
