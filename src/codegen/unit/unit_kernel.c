/* SPDX-License-Identifier: MIT */
/* unit_kernel.c - groups that do the same to different arrays share a function.
 *
 * A program mapped onto an accelerator has thousands of small groups that
 * differ in the place of their operands only.  Each group is printed as text
 * that names arrays by order of appearance and leaves the constant part of
 * their addresses to the pointer that is passed; equal texts are one kernel.
 * An index of one value counts as 0, so that the parts which were put side by
 * side along it are alike.  The text holds the loops around as well, with their
 * marks, and the times of the statements, so that equal texts have equal
 * schedules. */
#include "base/hash.h"
#include "codegen/unit/emit.h"
#include "poly/kernel/contraction.h"
#include "poly/kernel/kernel_slide.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

/* One access in memory: its address is `rest` + constant. */
typedef struct access {
  uint32_t slot; /* UINT32_MAX: a local, or no access */
  int64_t constant;
  const char *rest;
} access;

/* A statement's indices of one value: { S[those as 0] -> S[as they are] }, NULL
 * where there are none. */
typedef struct origin {
  bool fixed[PO_MAX_DEPTH];
  isl_multi_aff *at;
} origin;

typedef struct printing {
  cg_emitter *e;
  const po_group *group;
  origin origin; /* of the statement whose accesses are found */
  BS_VEC(cg_slot) slots;
  BS_VEC(uint32_t) locals;
  BS_VEC(access) accesses; /* of each statement: its body's, its target's */
  bs_text text;
} printing;

/* ---- indices of one value ---- */

static origin
origin_of(cg_emitter *e, const po_stmt *stmt) {
  origin o = {.at = NULL};
  isl_size n = isl_set_dim(stmt->domain, isl_dim_set);
  for (int d = 0; d < n && d < PO_MAX_DEPTH; d++) {
    isl_val *val =
        isl_set_plain_get_val_if_fixed(stmt->domain, isl_dim_set, (unsigned)d);
    o.fixed[d] = isl_val_is_int(val) == isl_bool_true;
    if (!o.fixed[d]) {
      isl_val_free(val);
      continue;
    }
    if (!o.at)
      o.at = isl_multi_aff_identity_on_domain_space(
          isl_set_get_space(stmt->domain));
    isl_aff *moved =
        isl_aff_add_constant_val(isl_multi_aff_get_aff(o.at, d), val);
    o.at = isl_multi_aff_set_aff(o.at, d, moved);
  }
  if (o.at) {
    po_pool_reserve(&e->pool, 1);
    o.at = po_keep_multi_aff(&e->pool, o.at);
  }
  return o;
}

/* Without the indices that are 0. */
static __isl_give isl_aff *
without_fixed(const origin *o, __isl_take isl_aff *aff) {
  isl_size n = isl_aff_dim(aff, isl_dim_in);
  for (int d = 0; d < n && d < PO_MAX_DEPTH; d++)
    if (o->fixed[d])
      aff = isl_aff_set_coefficient_si(aff, isl_dim_in, d, 0);
  return aff;
}

/* ---- accesses and slots ---- */

static uint32_t
find_slot(printing *x, uint32_t array) {
  for (uint32_t k = 0; k < x->slots.len; k++)
    if (x->slots.data[k].array == array)
      return k;
  bs_push(x->e->heap, &x->slots, (cg_slot){.array = array, .base = INT64_MAX});
  return x->slots.len - 1;
}

/* The slot of an array, which may be new: then all slots may have moved. */
static cg_slot *
slot_of(printing *x, uint32_t array) {
  uint32_t k = find_slot(x, array);
  return &x->slots.data[k];
}

static uint32_t
find_local(printing *x, uint32_t array) {
  for (uint32_t k = 0; k < x->locals.len; k++)
    if (x->locals.data[k] == array)
      return k;
  bs_push(x->e->heap, &x->locals, array);
  return x->locals.len - 1;
}

static const char *
coefficients(cg_emitter *e, const int64_t *factor, uint32_t n) {
  bs_text text;
  bs_text_init(&text, e->heap);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&text, " %lld", (long long)factor[k]);
  const char *out = bs_arena_strdup(&e->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* The constant of an address that is one function apart from the rest. */
static void
split_address(cg_emitter *e, const origin *o, __isl_keep isl_pw_aff *address,
              access *out) {
  int64_t factor[2 * GS_MAX_RANK];
  isl_aff *aff = isl_pw_aff_n_piece(address) == 1
                     ? isl_pw_aff_as_aff(isl_pw_aff_copy(address))
                     : NULL;
  aff = po_keep_aff(&e->pool, aff && o->at ? without_fixed(o, aff) : aff);
  isl_size n = isl_aff_dim(aff, isl_dim_in);
  if (!aff || n < 0) {
    e->failed = true;
    return;
  }
  if (po_affine_terms(aff, &out->constant, factor)) {
    out->rest = coefficients(e, factor, (uint32_t)n);
    return;
  }
  isl_val *constant = isl_aff_get_constant_val(aff);
  out->constant = isl_val_get_num_si(constant);
  po_pool_reserve(&e->pool, 2);
  aff = isl_aff_add_constant_val(isl_aff_copy(aff), isl_val_neg(constant));
  aff = po_keep_aff(&e->pool, aff);
  const char *text = po_keep_str(&e->pool, isl_aff_to_str(aff));
  out->rest = bs_arena_strdup(&e->arena, text ? text : "");
}

/* No affine function: the indices, and the extents that they are of. */
static void
name_address(printing *x, const po_array *array,
             __isl_keep isl_pw_multi_aff *index, access *out) {
  cg_emitter *e = x->e;
  bs_text text;
  po_pool_reserve(&e->pool, 2);
  isl_pw_multi_aff *at = isl_pw_multi_aff_copy(index);
  if (x->origin.at)
    at = isl_pw_multi_aff_pullback_multi_aff(at,
                                             isl_multi_aff_copy(x->origin.at));
  at = isl_pw_multi_aff_reset_tuple_id(at, isl_dim_in);
  at = po_keep_pw_multi_aff(&e->pool,
                            isl_pw_multi_aff_reset_tuple_id(at, isl_dim_out));
  const char *indices = po_keep_str(&e->pool, isl_pw_multi_aff_to_str(at));
  bs_text_init(&text, e->heap);
  bs_put(&text, indices ? indices : "");
  for (uint32_t d = 0; d < array->rank; d++) {
    bs_putf(&text, " %lld:%lld:%lld ", (long long)array->dim[d],
            (long long)array->fold[d], (long long)array->pad[d]);
    po_put_extent(e->p, array, d, &text);
  }
  out->rest = bs_arena_strdup(&e->arena, bs_text_str(&text));
  bs_text_done(&text);
}

static void
note_slot(printing *x, access *a, uint32_t array, bool written) {
  a->slot = find_slot(x, array);
  cg_slot *slot = &x->slots.data[a->slot];
  slot->written |= written;
  if (a->constant < slot->base)
    slot->base = a->constant;
}

static void
add_access(printing *x, uint32_t array, __isl_keep isl_pw_multi_aff *index,
           bool written) {
  cg_emitter *e = x->e;
  const po_array *to = &e->p->arrays.data[array];
  access a = {.slot = UINT32_MAX, .rest = ""};
  if (index && to->role == PO_LOCAL)
    find_local(x, array);
  if (index && po_lies_by_sizes(to)) {
    name_address(x, to, index, &a);
  } else if (index && cg_is_indexed(e, array)) {
    po_pool_reserve(&e->pool, 1);
    isl_pw_aff *address = po_address(to, index);
    if (x->origin.at)
      address = isl_pw_aff_pullback_multi_aff(address,
                                              isl_multi_aff_copy(x->origin.at));
    address = po_keep_pw_aff(&e->pool,
                             isl_pw_aff_reset_tuple_id(address, isl_dim_in));
    split_address(e, &x->origin, address, &a);
  }
  if (index && cg_is_passed(e, array))
    note_slot(x, &a, array, written);
  bs_push(e->heap, &x->accesses, a);
}

/* A call takes pointers: to the starts of arrays, or to elements that follow
 * from the loops around. */
static void
add_operands(printing *x, const po_stmt *stmt) {
  for (uint32_t k = 0; k < cg_count_operands(stmt); k++) {
    const po_operand *o = &stmt->operands[k];
    bool written = k == stmt->instr->n_operands;
    access a = {.slot = UINT32_MAX, .rest = ""};
    if (o->base) {
      add_access(x, o->array, o->base, written);
      continue;
    }
    if (cg_is_passed(x->e, o->array))
      note_slot(x, &a, o->array, written);
    bs_push(x->e->heap, &x->accesses, a);
  }
}

/* A pointer must stay within its array. */
static void
check_bases(printing *x) {
  for (uint32_t k = 0; k < x->slots.len; k++) {
    cg_slot *slot = &x->slots.data[k];
    const po_array *array = &x->e->p->arrays.data[slot->array];
    if (slot->base < 0 || slot->base >= po_elements(array) ||
        array->role == PO_LOCAL)
      slot->base = 0;
    assert(slot->array < x->e->p->arrays.len);
  }
}

/* Packed operands are slots, too. */
static void
note_packed(printing *x, const po_contraction *c) {
  if (po_is_packed_whole(c->x_mode))
    slot_of(x, c->packed_x)->written = c->x_mode == PO_WHOLE;
  if (po_is_packed_whole(c->y_mode))
    slot_of(x, c->packed_y)->written = c->y_mode == PO_WHOLE;
}

/* What a contraction makes may lie where something lies that it reads. */
static void
note_shared(printing *x, const po_contraction *c) {
  if (!po_lies_over(x->e->p, c))
    return;
  uint32_t over = po_may_lie_over(x->e->p, c);
  slot_of(x, c->c.array)->shared = true;
  slot_of(x, over)->shared = true;
}

static void
find_accesses(printing *x) {
  for (uint32_t k = 0; k < x->group->n; k++) {
    const po_stmt *stmt = cg_stmt(x->e, x->group, k);
    x->origin = origin_of(x->e, stmt);
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      add_access(x, stmt->exprs[j].array, stmt->exprs[j].index, false);
    add_access(x, stmt->array, stmt->write, true);
    add_operands(x, stmt);
  }
  const po_contraction *c = po_contraction_of(x->e->p, &x->e->groups, x->group);
  if (c)
    note_packed(x, c);
  if (c)
    note_shared(x, c);
  check_bases(x);
}

/* ---- text ---- */

static void
put_local(printing *x, uint32_t array) {
  assert(array < x->e->p->arrays.len);
  const po_array *local = &x->e->p->arrays.data[array];
  bs_putf(&x->text, " L%u:%d:%d", find_local(x, array), local->dtype,
          local->scope);
  if (!cg_is_indexed(x->e, array))
    return;
  bs_putf(&x->text, "(%lld)", (long long)po_elements(local));
}

static void
put_array(printing *x, uint32_t array, const access *a) {
  assert(array < x->e->p->arrays.len);
  const po_array *to = &x->e->p->arrays.data[array];
  if (to->role == PO_LOCAL)
    put_local(x, array);
  if (cg_is_small_constant(to) || to->role == PO_MEMORY)
    bs_putf(&x->text, " C%u", array);
  if (a->slot == UINT32_MAX)
    bs_putf(&x->text, "[%s + %lld]", a->rest, (long long)a->constant);
  else
    bs_putf(&x->text, " A%u:%d:%d[%s + %lld]", a->slot, to->dtype,
            x->e->streamed[array] + 2 * x->e->fetched[array], a->rest,
            (long long)(a->constant - x->slots.data[a->slot].base));
}

static void
put_expr(printing *x, const po_expr *e, const access *a) {
  uint64_t bits;
  memcpy(&bits, &e->literal, sizeof bits);
  bs_putf(&x->text, " %d:%d:%llx:%d:%u:%lld:%lld", e->kind, e->dtype,
          (unsigned long long)bits, e->op, e->param.i, (long long)e->stride,
          (long long)e->count);
  if (e->by) {
    char *by = isl_aff_to_str(e->by);
    bs_putf(&x->text, " %s", by ? by : "");
    free(by);
  }
  for (uint32_t k = 0; k < e->n_kids; k++)
    bs_putf(&x->text, " %u", e->kids[k]);
  if (e->index)
    put_array(x, e->array, a);
}

/* When instances run; of one statement alone, a loop of one iteration may begin
 * anywhere. */
static __isl_give isl_multi_aff *
time_of(const printing *x, const po_stmt *stmt, const origin *o) {
  isl_multi_aff *time = isl_multi_aff_copy(stmt->time);
  if (!o->at)
    return time;
  time = isl_multi_aff_pullback_multi_aff(time, isl_multi_aff_copy(o->at));
  isl_size n = isl_multi_aff_dim(time, isl_dim_out);
  for (int d = 0; d < n; d++) {
    isl_aff *aff = without_fixed(o, isl_multi_aff_get_aff(time, d));
    if (x->group->n == 1 && isl_aff_is_cst(aff) == isl_bool_true)
      aff = isl_aff_set_constant_si(aff, 0);
    time = isl_multi_aff_set_aff(time, d, aff);
  }
  return time;
}

/* Instances and their times, whatever the statement's name. */
static void
put_instances(printing *x, const po_stmt *stmt) {
  cg_emitter *e = x->e;
  uint32_t mark = po_pool_mark(&e->pool);
  origin o = origin_of(e, stmt);
  po_pool_reserve(&e->pool, 4);
  isl_set *set = isl_set_copy(stmt->domain);
  if (o.at)
    set = isl_set_preimage_multi_aff(set, isl_multi_aff_copy(o.at));
  set = po_keep_set(&e->pool, isl_set_reset_tuple_id(set));
  const char *text = po_keep_str(&e->pool, isl_set_to_str(set));
  isl_multi_aff *time = po_keep_multi_aff(
      &e->pool, isl_multi_aff_reset_tuple_id(time_of(x, stmt, &o), isl_dim_in));
  const char *when = po_keep_str(&e->pool, isl_multi_aff_to_str(time));
  bs_putf(&x->text, "%s%s", text ? text : "", when ? when : "");
  po_pool_release(&e->pool, mark);
}

/* The parameters and the places of its operands. */
static const access *
put_call(printing *x, const po_stmt *stmt, const access *a) {
  bs_putf(&x->text, " %s", stmt->instr->name);
  for (uint32_t k = 0; k < stmt->instr->scope.vars.len; k++)
    bs_putf(&x->text, " %u", stmt->slots[k]);
  for (uint32_t k = 0; k < cg_count_operands(stmt); k++, a++) {
    const po_operand *o = &stmt->operands[k];
    bool passed = cg_is_passed(x->e, o->array);
    bool own = cg_is_small_constant(&x->e->p->arrays.data[o->array]);
    bs_putf(&x->text, " %c%u+%lld",
            passed ? 'A'
            : own  ? 'C'
                   : 'L',
            passed ? find_slot(x, o->array)
            : own  ? o->array
                   : find_local(x, o->array),
            (long long)o->offset);
    if (o->base)
      put_array(x, o->array, a);
    for (uint32_t d = 0; d < o->rank; d++)
      bs_putf(&x->text, ",%lld:%lld", (long long)o->dim[d],
              (long long)o->stride[d]);
  }
  return a;
}

static const access *
put_stmt(printing *x, const po_stmt *stmt, const access *a) {
  bs_putf(&x->text, "%d %d ", stmt->kind, stmt->op);
  put_instances(x, stmt);
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    put_expr(x, &stmt->exprs[j], a++);
  if (stmt->instr)
    return put_call(x, stmt, a + 1);
  put_array(x, stmt->array, a);
  return a + 1;
}

/* A loop as its level, and what it is run as. */
static void
put_loop(printing *x, uint32_t loop) {
  assert(loop < x->e->p->nest.nodes.len);
  const po_nest_node *n = &x->e->p->nest.nodes.data[loop];
  bs_putf(&x->text, "%d %u:%d:%d:%u:%d", n->kind, po_nest_depth(x->e->p, loop),
          n->mark, n->separate, n->lanes, (int)n->tail);
  if (n->mark == PO_BIND)
    bs_putf(&x->text, ":%d", n->bind);
}

/* How far loads may reach depends on where an operand is in its array. */
static void
put_slide(printing *x, const po_slide *c) {
  const po_array *arrays = x->e->p->arrays.data;
  if (!c)
    return;
  bs_putf(&x->text, "%lld/%lld", (long long)c->x.at.base,
          (long long)po_elements(&arrays[c->x.array]));
  if (c->y.array != PO_NO_LOOP)
    bs_putf(&x->text, " %lld/%lld", (long long)c->y.at.base,
            (long long)po_elements(&arrays[c->y.array]));
}

static void
put_group(printing *x) {
  const po_program *p = x->e->p;
  const po_contraction *c = po_contraction_of(p, &x->e->groups, x->group);
  if (c) {
    po_put_choice(c, &x->text);
    bs_putf(&x->text, " %d %d %d", c->x_mode, c->y_mode, po_lies_over(p, c));
  }
  put_slide(x, po_slide_of(p, &x->e->groups, x->group));
  const po_nest_node *nodes = p->nest.nodes.data;
  const access *a = x->accesses.data;
  uint32_t end = nodes[x->group->last].next;
  for (uint32_t top = x->group->node; top != end; top = nodes[top].next)
    for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top)) {
      bs_putc(&x->text, '\n');
      put_loop(x, k);
      if (nodes[k].kind == PO_LEAF)
        a = put_stmt(x, &p->stmts.data[nodes[k].stmt], a);
    }
}

/* ---- kernels ---- */

typedef struct kernel_table {
  uint32_t *kernel; /* index + 1; 0: free */
  uint32_t mask;
} kernel_table;

static uint32_t
intern(cg_emitter *e, kernel_table *table, const char *print, uint32_t group) {
  uint64_t at = bs_hash(print, strlen(print)) & table->mask;
  while (table->kernel[at]) {
    uint32_t k = table->kernel[at] - 1;
    if (!strcmp(e->kernels.data[k].print, print))
      return k;
    at = (at + 1) & table->mask;
  }
  cg_kernel kernel = {.group = group,
                      .print = bs_arena_strdup(&e->arena, print)};
  bs_push(e->heap, &e->kernels, kernel);
  table->kernel[at] = e->kernels.len;
  return e->kernels.len - 1;
}

static void
find_kernel(cg_emitter *e, kernel_table *table, uint32_t group) {
  printing x = {.e = e, .group = &e->groups.list.data[group]};
  cg_use *use = &e->uses[group];
  uint32_t mark = po_pool_mark(&e->pool);
  bs_text_init(&x.text, e->heap);
  find_accesses(&x);
  put_group(&x);
  use->kernel = intern(e, table, bs_text_str(&x.text), group);
  e->kernels.data[use->kernel].uses++;
  use->n_slots = x.slots.len;
  use->slots = bs_arena_copy(&e->arena, x.slots.data,
                             x.slots.len * sizeof *x.slots.data);
  po_pool_release(&e->pool, mark);
  bs_text_done(&x.text);
  bs_vec_done(e->heap, &x.slots);
  bs_vec_done(e->heap, &x.locals);
  bs_vec_done(e->heap, &x.accesses);
}

/* A call alone at places that are known needs no function around it. */
static bool
is_call(const cg_emitter *e, const po_group *group) {
  const po_stmt *stmt = cg_stmt(e, group, 0);
  bool is = group->n == 1 && stmt->kind == PO_CALL &&
            e->p->nest.nodes.data[group->node].kind == PO_LEAF;
  for (uint32_t k = 0; is && k < cg_count_operands(stmt); k++)
    is = !stmt->operands[k].base;
  return is;
}

void
cg_find_kernels(cg_emitter *e) {
  uint32_t size = 16, n = e->groups.list.len;
  while (size < 2 * n)
    size *= 2;
  kernel_table table = {bs_calloc(e->heap, size, sizeof *table.kernel),
                        size - 1};
  e->uses = bs_calloc(e->heap, n, sizeof *e->uses);
  for (uint32_t k = 0; k < n && !e->failed && !e->pool.failed; k++) {
    cg_limit(e, CG_OPERATIONS);
    e->about = &e->groups.list.data[k];
    if (is_call(e, &e->groups.list.data[k]))
      e->uses[k].kernel = UINT32_MAX;
    else
      find_kernel(e, &table, k);
  }
  bs_free(e->heap, table.kernel);
}
