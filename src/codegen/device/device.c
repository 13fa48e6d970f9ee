/* SPDX-License-Identifier: MIT */
/* device.c - a scheduled loop program as kernels of a device.
 *
 * Every group of the nest is a kernel: its bound loops are the grid and the
 * block, as large as the largest loop bound to each axis.  A group without
 * bound loops runs on one thread, which is right and slow, and is said.  The
 * host's functions launch the kernels in order, so that one sees what those
 * before it wrote.  Calls of instructions have no meaning there and are
 * refused. */
#include "poly/loops/affine.h"
#include "codegen/device/device.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>

enum { MOST_THREADS = 1024 };

static const int64_t most_of[CG_AXES] = {INT32_MAX, 65535, 65535,
                                         1024,      1024,  64};

static const po_nest_node *
at(const cg_emitter *e, uint32_t node) {
  assert(node < e->p->nest.nodes.len);
  return &e->p->nest.nodes.data[node];
}

/* ---- the nest ---- */

static bool
small_int(__isl_take isl_val *val, int64_t *out) {
  return po_int(val, out) && *out > -INT64_MAX / 4 && *out < INT64_MAX / 4;
}

bool
cg_loop_range(const cg_emitter *e, uint32_t loop, int64_t *min,
              int64_t *count) {
  assert(po_node(e->p, loop)->kind == PO_LOOP);
  isl_set *range = po_nest_range(e->p, loop);
  int64_t max = 0;
  bool ok = small_int(isl_set_dim_min_val(isl_set_copy(range), 0), min);
  ok = small_int(isl_set_dim_max_val(range, 0), &max) && ok;
  *count = max - *min + 1;
  return ok;
}

bool
cg_has_sync(const cg_emitter *e, uint32_t top) {
  assert(top < e->p->nest.nodes.len);
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(e->p, k, top))
    if (at(e, k)->kind == PO_SYNC)
      return true;
  return false;
}

bool
cg_has_axis(const cg_emitter *e, uint32_t top, uint32_t axis) {
  assert(axis <= PO_THREAD_Z);
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(e->p, k, top))
    if (at(e, k)->kind == PO_LOOP && at(e, k)->mark == PO_BIND &&
        at(e, k)->bind == axis)
      return true;
  return false;
}

static bool refuse(cg_launch *c, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool
refuse(cg_launch *c, const char *code, const char *format, ...) {
  bs_text text;
  bs_text_init(&text, c->e->heap);
  va_list args;
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  bs_error(c->e->p->ctx.diags, BS_NOWHERE, code, "%s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

static bool
check_around(cg_launch *c, uint32_t loop) {
  const po_nest_node *n = at(c->e, loop);
  for (uint32_t k = n->parent; k != PO_NO_NODE; k = at(c->e, k)->parent) {
    const po_nest_node *outer = at(c->e, k);
    if (outer->kind != PO_LOOP || outer->mark != PO_BIND)
      continue;
    if (outer->bind == n->bind)
      return refuse(c, "axis-taken",
                    "loops %s and %s, one in the other, are both bound to %s",
                    outer->name, n->name, cg_axis_names[n->bind]);
    if (outer->bind >= PO_THREAD_X && n->bind < PO_THREAD_X)
      return refuse(c, "block-in-thread",
                    "loop %s over blocks is in loop %s over threads", n->name,
                    outer->name);
  }
  return true;
}

static bool
size_loop(cg_launch *c, uint32_t loop) {
  const po_nest_node *n = at(c->e, loop);
  int64_t min, count;
  if (!cg_loop_range(c->e, loop, &min, &count))
    return refuse(c, "extent", "loop %s has no constant bounds", n->name);
  if (count > most_of[n->bind])
    return refuse(c, "too-large",
                  "loop %s has %lld iterations, but %s at most %lld", n->name,
                  (long long)count, cg_axis_names[n->bind],
                  (long long)most_of[n->bind]);
  if (count > c->size[n->bind])
    c->size[n->bind] = count;
  return check_around(c, loop);
}

/* The sizes of grid and block; what is in no thread's reach is refused. */
static bool
size_kernel(cg_launch *c) {
  for (uint32_t top = c->group->node;; top = at(c->e, top)->next) {
    for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(c->e->p, k, top))
      if (at(c->e, k)->kind == PO_LOOP && at(c->e, k)->mark == PO_BIND &&
          !size_loop(c, k))
        return false;
    if (top == c->group->last)
      break;
  }
  int64_t threads = 1;
  for (uint32_t a = PO_THREAD_X; a < CG_AXES; a++)
    threads *= c->size[a] ? c->size[a] : 1;
  return threads <= MOST_THREADS ||
         refuse(c, "too-large",
                "a block of %s would have %lld threads, more "
                "than %d",
                c->name, (long long)threads, MOST_THREADS);
}

static bool
is_bound(const cg_launch *c) {
  for (uint32_t a = 0; a < CG_AXES; a++)
    if (c->size[a])
      return true;
  return false;
}

static bool
check_arrays(cg_launch *c) {
  int64_t shared = 0;
  for (uint32_t k = 0; k < c->e->p->arrays.len; k++) {
    const po_array *a = &c->e->p->arrays.data[k];
    if (a->role != PO_LOCAL || !cg_is_in_kernel(c, k))
      continue;
    if (a->scope == PO_SHARED)
      shared += po_bytes(a);
    if (po_is_large(a) &&
        (is_bound(c) || po_is_in_parallel(c->e->p, c->e->local_node[k])))
      return refuse(c, "too-large",
                    "%s, %lld bytes, is too large for a thread's own memory",
                    a->name, (long long)po_bytes(a));
  }
  return shared <= c->device->most_shared ||
         refuse(
             c, "too-large",
             "%s would need %lld bytes of shared memory, but a block has %lld",
             c->name, (long long)shared, (long long)c->device->most_shared);
}

static bool
check_statements(cg_launch *c) {
  for (uint32_t k = 0; k < c->group->n; k++) {
    const po_stmt *s = cg_stmt(c->e, c->group, k);
    if (s->kind == PO_CALL)
      return refuse(c, "call", "the instruction %s of %s is C, not %s",
                    s->instr->name, s->name, c->device->name);
  }
  return true;
}

/* ---- kernels ---- */

static void
find_slots(cg_launch *c, cg_use *use) {
  const po_program *p = c->e->p;
  cg_slot *slots = BS_NEWS(&c->e->arena, cg_slot, p->arrays.len + 1);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (cg_is_passed(c->e, k) && p->arrays.data[k].role != PO_CONSTANT &&
        cg_is_in_kernel(c, k))
      slots[use->n_slots++] = (cg_slot){.array = k};
  for (uint32_t j = 0; j < use->n_slots; j++)
    for (uint32_t k = 0; k < c->group->n; k++)
      slots[j].written |= cg_stmt(c->e, c->group, k)->array == slots[j].array;
  use->slots = slots;
}

const char *
cg_type_of(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  return gs_dtype_table[e->p->arrays.data[array].dtype].c_type;
}

static void
put_origin(const cg_launch *c) {
  bs_text text;
  bs_text_init(&text, c->e->heap);
  const po_stmt *stmt = cg_stmt(c->e, c->group, 0);
  po_put_origin(c->e->p, stmt->term, stmt->span, &text);
  cg_put_comment(&c->e->body, 0, bs_text_str(&text));
  bs_text_done(&text);
}

bool
cg_is_in_workspace(const po_array *a) {
  return (a->role == PO_WORKSPACE || po_is_large(a)) && a->offset >= 0;
}

bool
cg_is_passed_whole(const cg_launch *c, uint32_t slot) {
  assert(slot < c->use->n_slots);
  const po_array *a = &c->e->p->arrays.data[c->use->slots[slot].array];
  return c->device->workspace && cg_is_in_workspace(a);
}

bool
cg_uses_workspace(const cg_launch *c) {
  for (uint32_t k = 0; k < c->use->n_slots; k++)
    if (cg_is_passed_whole(c, k))
      return true;
  return false;
}

const char *
cg_type_of_slot(const cg_launch *c, uint32_t slot) {
  assert(slot < c->use->n_slots);
  const cg_slot *s = &c->use->slots[slot];
  return bs_arena_printf(&c->e->arena, "%s%s%s *", c->device->pointer,
                         s->written ? "" : "const ",
                         cg_type_of(c->e, s->array));
}

static const cg_parameter *
parameters_of(cg_launch *c, uint32_t *n) {
  bs_arena *arena = &c->e->arena;
  cg_parameter *out = BS_NEWS(arena, cg_parameter, c->use->n_slots + 1);
  *n = 0;
  for (uint32_t k = 0; k < c->use->n_slots; k++)
    if (!cg_is_passed_whole(c, k))
      out[(*n)++] = (cg_parameter){
          bs_arena_printf(arena, "%s%s", cg_type_of_slot(c, k),
                          c->device->restricted),
          c->e->p->arrays.data[c->use->slots[k].array].name, false};
  if (cg_uses_workspace(c))
    out[(*n)++] = (cg_parameter){c->device->workspace, "workspace", false};
  return out;
}

static void
put_kernel(cg_launch *c) {
  cg_emitter *e = c->e;
  cg_function f = {.head = c->device->head(c),
                   .name = c->name,
                   .body = cg_make_device_body(c),
                   .closes_anywhere = true};
  f.parameters = parameters_of(c, &f.n_parameters);
  cg_need_for_nodes(&e->needs, f.body);
  put_origin(c);
  e->failed |=
      !cg_print_entry(e->p, &e->arena, c->device->language, &f, &e->body);
  bs_putc(&e->body, '\n');
}

static bool
make_kernel(cg_emitter *e, const cg_device *device, cg_launch *c, uint32_t k) {
  cg_use *use = &e->uses[k];
  *c = (cg_launch){
      .e = e, .device = device, .group = &e->groups.list.data[k], .use = use};
  c->name = bs_arena_printf(&e->arena, "%s_k%u", e->options->name, k);
  e->about = c->group;
  find_slots(c, use);
  if (!check_statements(c) || !size_kernel(c) || !check_arrays(c) ||
      !cg_check_threads(c))
    return false;
  if (!is_bound(c))
    bs_note(e->p->ctx.diags, BS_NOWHERE,
            "%s has no loop bound to blocks or threads: it runs on one thread",
            c->name);
  put_kernel(c);
  return true;
}

int64_t
cg_size_of(const cg_launch *c, uint32_t axis) {
  assert(axis <= PO_THREAD_Z);
  return c->size[axis] ? c->size[axis] : 1;
}

/* ---- the file ---- */

typedef struct files {
  const cg_device *device;
  bs_text *kernels, *host;
} files;

/* The helpers run on the device. */
static void
put_helpers(cg_emitter *e, const cg_device *device, bs_text *out) {
  cg_above above = {.needs = &e->needs,
                    .target = e->p->target,
                    .index = e->index,
                    .storage = device->helpers,
                    .strict = e->p->strict_fp};
  cg_put_helpers(&above, CG_UNROLL, CG_UNROLL, out);
  cg_put_helpers(&above, CG_FIRST_OF_VALUES, CG_LAST_OF_ALL, out);
}

static bool
write_files(cg_emitter *e, void *arg) {
  const files *to = arg;
  uint32_t n = e->groups.list.len;
  e->uses = bs_calloc(e->heap, n, sizeof *e->uses);
  memset(e->elements, 0, e->p->arrays.len * sizeof *e->elements);
  cg_put_constants(e, to->device->constants, "");
  cg_launch *kernels = BS_NEWS(&e->arena, cg_launch, n + 1);
  for (uint32_t k = 0; k < n; k++)
    if (!make_kernel(e, to->device, &kernels[k], k))
      return false;
  bs_put(to->kernels, "/* Generated by glen. */\n");
  to->device->put_top(e, to->kernels);
  put_helpers(e, to->device, to->kernels);
  bs_putn(to->kernels, e->body.data, e->body.len);
  to->device->put_host(e, kernels, to->kernels, to->host);
  return true;
}

bool
cg_emit_device(const po_program *p, const cg_device *device,
               const cg_options *options, bs_text *kernels, bs_text *host) {
  assert(device && options->name && kernels);
  p = cg_with_own_names(p, options->name, device->is_word);
  return cg_emit(p, options, write_files, &(files){device, kernels, host});
}
