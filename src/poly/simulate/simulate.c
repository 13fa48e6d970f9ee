/* SPDX-License-Identifier: MIT */
/* simulate.c - see simulate.h: one instance after the other. */
#include "glenside/target/machine.h"
#include "poly/simulate/simulate_machine.h"
#include "glenside/interpret/interpret.h"
#include "poly/loops/execute.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct simulating {
  po_machine_state m;
  const gs_tensor *inputs;
  gs_tensor *outputs;
  bool ok;
} simulating;

/* ---- faults ---- */

bool
po_sim_fault(const po_machine_state *m, const char *code, const char *format,
             ...) {
  bs_text text;
  va_list args;
  bs_text_init(&text, m->p->ctx.heap);
  bs_putf(&text, "%s[", m->stmt->name);
  for (uint32_t k = 0; k < m->stmt->n_iters; k++)
    bs_putf(&text, "%s%lld", k ? ", " : "", (long long)m->index[k]);
  bs_putf(&text, "]: %s ", m->stmt->instr->name);
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  bs_error(m->p->ctx.diags, m->stmt->span, code, "%s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

/* ---- preparation ---- */

static bool
make_start(po_machine_state *m, const po_operand *o, po_quasi *out) {
  const po_array *a = &m->p->arrays.data[o->array];
  if (!o->base)
    return true;
  po_pool_reserve(&m->pool, 2);
  isl_pw_aff *at = po_keep_pw_aff(&m->pool, po_address(a, o->base));
  if (!at || isl_pw_aff_n_piece(at) != 1)
    return false;
  isl_aff *aff = po_keep_aff(&m->pool, isl_pw_aff_as_aff(isl_pw_aff_copy(at)));
  return aff && po_quasi_make(&m->arena, aff, out);
}

static bool
make_starts(po_machine_state *m, const po_stmt *s, po_prepared *x) {
  uint32_t n = s->instr->n_operands + 1;
  x->start = BS_NEWS(&m->arena, po_quasi, n);
  for (uint32_t k = 0; k < n; k++)
    if (!make_start(m, &s->operands[k], &x->start[k]))
      return bs_error(m->p->ctx.diags, s->span, "too-complex",
                      "an operand of %s has no quasi-affine address", s->name);
  return true;
}

static void
type_of(const po_machine_state *m, const gs_operand *declared,
        const po_operand *o, gs_type *out) {
  *out = (gs_type){.access = declared->access,
                   .rank = (uint8_t)o->rank,
                   .dtype = m->p->arrays.data[o->array].dtype};
  memcpy(out->dim, o->dim, sizeof out->dim);
}

static gs_term
declare_operand(gs_program *q, const gs_operand *o, const gs_type *type) {
  gs_type whole = *type;
  gs_fault fault;
  bs_value split = bs_int(q->ctx.values, type->access);
  whole.access = whole.rank;
  gs_term t = gs_add_tensor(q, o->name, &whole, BS_NOWHERE);
  return gs_add(q, GS_ACCESS, bs_list(q->ctx.values, &split, 1), &t, 1,
                BS_NOWHERE, &fault);
}

static bs_value
attr_of(const po_machine_state *m, const po_stmt *s) {
  assert(s->instr->n_params <= GS_MAX_INSTR_VARS);
  bs_values *values = m->p->ctx.values;
  bs_value items[GS_MAX_INSTR_VARS + 1] = {bs_sym(values, s->instr->name)};
  for (uint32_t k = 0; k < s->instr->n_params; k++)
    items[1 + k] = (bs_value){s->slots[k]};
  return bs_list(values, items, s->instr->n_params + 1);
}

/* The semantics of the call as a program of its own. */
static bool
make_meaning(po_machine_state *m, const po_stmt *s, po_prepared *x) {
  uint32_t n = s->instr->n_operands;
  assert(n < GS_MAX_INSTR_VARS);
  gs_term operands[GS_MAX_INSTR_VARS];
  gs_fault fault = {0};
  gs_type type;
  x->meaning = gs_program_new(&m->p->ctx, NULL);
  x->operands = BS_NEWS(&m->arena, gs_tensor, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    type_of(m, &s->instr->operands[k], &s->operands[k], &type);
    operands[k] = declare_operand(x->meaning, &s->instr->operands[k], &type);
    gs_tensor_init(m->p->ctx.heap, &x->operands[k], &type);
  }
  gs_term root =
      gs_instr_expand(s->instr, x->meaning, attr_of(m, s), operands, &fault);
  if (!gs_term_ok(root))
    return bs_error(m->p->ctx.diags, s->span, fault.code, "%s", fault.message);
  gs_add_output(x->meaning, "result", root, BS_NOWHERE);
  return true;
}

static uint32_t
find_instr(po_machine_state *m, const gs_instr *i) {
  po_simulation *s = m->out;
  for (uint32_t k = 0; k < s->instrs.len; k++)
    if (!strcmp(s->instrs.data[k].name, i->name))
      return k;
  bs_push(
      m->p->ctx.heap, &s->instrs,
      (po_instr_time){.name = i->name, .queue = i->queue ? i->queue : "main"});
  return s->instrs.len - 1;
}

/* What a call hands on, of what it repeats once. */
static double
bytes_of(const po_machine_state *m, const po_stmt *s) {
  const gs_instr *i = s->instr;
  const po_operand *o = &s->operands[i->repeats ? 0 : i->n_operands];
  double bytes = gs_dtype_table[m->p->arrays.data[o->array].dtype].bytes;
  for (uint32_t d = 0; d < o->rank; d++)
    bytes *= (double)o->dim[d];
  return bytes;
}

static bool
prepare(po_machine_state *m, const po_stmt *s, po_prepared *x) {
  for (uint32_t k = 0; k < s->instr->n_operands; k++)
    if (s->instr->operands[k].layout)
      return bs_error(m->p->ctx.diags, s->span, "no-layout",
                      "an operand of %s has a layout, which is not simulated",
                      s->instr->name);
  if (!make_starts(m, s, x) || !make_meaning(m, s, x))
    return false;
  x->bytes = bytes_of(m, s);
  x->cycles =
      gs_instr_cost(s->instr, m->p->ctx.values, s->slots, "cycles",
                    x->bytes / gs_bytes_a_cycle(m->p->target, INFINITY));
  x->queue = po_find_queue(m, s->instr->queue ? s->instr->queue : "main");
  x->instr = find_instr(m, s->instr);
  x->ready = true;
  return true;
}

/* ---- one instance ---- */

static void
find_patches(po_machine_state *m, const po_prepared *x, po_patch *out) {
  assert(m->stmt->kind == PO_CALL && x->ready);
  for (uint32_t k = 0; k <= m->stmt->instr->n_operands; k++) {
    const po_operand *o = &m->stmt->operands[k];
    out[k] = (po_patch){
        .operand = o,
        .array = &m->p->arrays.data[o->array],
        .number = o->array,
        .first =
            o->base ? po_quasi_at(&x->start[k], m->index, m->room) : o->offset};
  }
}

/* Whether a call finds its operand, or leaves its result, where the instruction
 * is declared to. */
static bool
is_where_declared(const po_machine_state *m, const po_patch *a,
                  const gs_operand *declared) {
  bool placed = a->array->role == PO_MEMORY;
  uint32_t memory = placed ? a->array->memory : 0;
  return memory == declared->memory ||
         bs_error(m->p->ctx.diags, m->stmt->span, "wrong-memory",
                  "%s has '%s' in %s, and is given an array in %s",
                  m->stmt->instr->name, declared->name,
                  gs_memory_name(m->p->target, declared->memory),
                  gs_memory_name(m->p->target, memory));
}

static bool
are_placed(po_machine_state *m, const po_patch *patches) {
  const gs_instr *i = m->stmt->instr;
  uint32_t n = i->n_operands;
  for (uint32_t k = 0; k <= n; k++)
    if (!is_where_declared(m, &patches[k],
                           k < n ? &i->operands[k] : &i->result) ||
        !po_patch_is_placed(m, &patches[k]))
      return false;
  return po_banks_differ(m, patches, n);
}

/* On an arena of its own, so that what a call leaves there goes with it. */
static bool
compute(po_machine_state *m, po_prepared *x, const po_patch *to) {
  gs_context kept = x->meaning->ctx;
  gs_tensor result;
  x->meaning->ctx.arena = &m->scratch;
  bool ok = gs_interpret(x->meaning, x->operands, &result);
  x->meaning->ctx = kept;
  bs_arena_reset(&m->scratch);
  if (!ok)
    return false;
  po_write_patch(m, to, &result);
  gs_tensor_done(m->p->ctx.heap, &result);
  return true;
}

static void
note_call(po_machine_state *m, const po_prepared *x, const po_patch *patches) {
  assert(x->instr < m->out->instrs.len);
  po_instr_time *t = &m->out->instrs.data[x->instr];
  uint32_t n = m->stmt->instr->n_operands;
  t->calls++;
  t->cycles += x->cycles;
  t->bytes += m->stmt->instr->moves || m->stmt->instr->converts ? x->bytes : 0;
  po_take_time(m, x->queue, x->cycles, patches, n + 1);
  for (uint32_t k = 0; m->trace && k <= n; k++) {
    const po_patch *a = &patches[k];
    int64_t size = gs_dtype_table[a->array->dtype].bytes;
    bool placed = a->array->role == PO_MEMORY;
    bs_putf(
        m->trace, "%s %s%s%lld", k == n ? " ->" : "",
        placed ? gs_memory_name(m->p->target, a->array->memory)
               : a->array->name,
        placed ? "@" : "+",
        (long long)(placed ? a->array->offset + a->first * size : a->first));
  }
  if (m->trace)
    bs_putc(m->trace, '\n');
}

static bool
call(po_machine_state *m) {
  uint32_t n = m->stmt->instr->n_operands;
  assert(n <= GS_MAX_INSTR_VARS);
  po_prepared *x = &m->stmts[m->stmt - m->p->stmts.data];
  po_patch patches[GS_MAX_INSTR_VARS + 1];
  if (!x->ready && !prepare(m, m->stmt, x))
    return false;
  find_patches(m, x, patches);
  if (!are_placed(m, patches))
    return false;
  for (uint32_t k = 0; k < n; k++)
    if (!po_read_patch(m, &patches[k], &x->operands[k]))
      return false;
  note_call(m, x, patches);
  return compute(m, x, &patches[n]);
}

/* What runs on the host: an operation for each node of its expression. */
static void
prepare_on_host(po_machine_state *m, const po_stmt *s, po_prepared *x) {
  assert(s->kind != PO_CALL && !x->n_patches);
  static const po_operand none = {0};
  const po_array *arrays = m->p->arrays.data;
  for (uint32_t k = 0; k < s->n_exprs && x->n_patches < PO_HOST_PATCHES - 1;
       k++)
    if (s->exprs[k].index)
      x->patches[x->n_patches++] =
          (po_patch){&none, &arrays[s->exprs[k].array], s->exprs[k].array, 0};
  x->patches[x->n_patches++] =
      (po_patch){&none, &arrays[s->array], s->array, 0};
  x->queue = po_find_queue(m, "host");
  x->cycles =
      s->n_exprs / gs_operations_a_cycle(m->p->target, GS_RATE_SCALAR, GS_F32);
  x->ready = true;
}

static void
run_on_host(po_machine_state *m) {
  po_prepared *x = &m->stmts[m->stmt - m->p->stmts.data];
  if (!x->ready)
    prepare_on_host(m, m->stmt, x);
  po_take_time(m, x->queue, x->cycles, x->patches, x->n_patches);
}

static bool
step(void *self, const po_stmt *stmt, const int64_t *index, gs_tensor *memory) {
  po_machine_state *m = self;
  assert(stmt >= m->p->stmts.data && stmt < m->p->stmts.data + m->p->stmts.len);
  m->stmt = stmt;
  m->index = index;
  m->arrays = memory;
  if (stmt->kind == PO_CALL)
    return call(m);
  run_on_host(m);
  return true;
}

/* ---- the machine ---- */

static void
make_banks(po_machine_state *m) {
  const gs_target *t = m->p->target;
  m->banks = BS_NEWS(&m->arena, po_bank, t->memories.len + 1);
  for (uint32_t k = 0; k < t->memories.len; k++) {
    const gs_memory *memory = &t->memories.data[k];
    po_bank *b = &m->banks[k];
    b->memory = memory;
    b->bytes = bs_arena_calloc(&m->arena, (size_t)memory->bytes, 1);
    b->owner =
        bs_arena_calloc(&m->arena, (size_t)memory->bytes, sizeof *b->owner);
    b->unit = memory->row > 1 ? memory->row : PO_UNIT;
    b->n_units = memory->bytes / b->unit + 1;
    b->read = bs_arena_calloc(&m->arena, (size_t)b->n_units, sizeof *b->read);
    b->written =
        bs_arena_calloc(&m->arena, (size_t)b->n_units, sizeof *b->written);
  }
}

static void
run(void *arg) {
  simulating *s = arg;
  po_machine_state *m = &s->m;
  const po_program *p = m->p;
  make_banks(m);
  m->stmts = BS_NEWS(&m->arena, po_prepared, p->stmts.len + 1);
  m->read = BS_NEWS(&m->arena, double, p->arrays.len + 1);
  m->written = BS_NEWS(&m->arena, double, p->arrays.len + 1);
  m->room = BS_NEWS(&m->arena, int64_t, 4096);
  s->ok = po_execute_on(p, &(po_machine){m, step}, s->inputs, s->outputs);
  for (uint32_t k = 0; k < p->stmts.len; k++)
    for (uint32_t j = 0;
         m->stmts[k].operands && j < p->stmts.data[k].instr->n_operands; j++)
      gs_tensor_done(p->ctx.heap, &m->stmts[k].operands[j]);
}

bool
po_simulate(const po_program *p, const gs_tensor *inputs, gs_tensor *outputs,
            po_simulation *out, bs_text *trace) {
  simulating s = {.m = {.p = p, .out = out, .trace = trace},
                  .inputs = inputs,
                  .outputs = outputs};
  *out = (po_simulation){0};
  bs_arena_init(&s.m.arena, p->ctx.heap);
  bs_arena_init(&s.m.scratch, p->ctx.heap);
  po_pool_init(&s.m.pool, p->ctx.heap);
  bool memory = bs_protect(p->ctx.heap, run, &s);
  po_pool_done(&s.m.pool);
  if (!memory)
    bs_out_of_memory(p->ctx.heap);
  bs_arena_done(&s.m.scratch);
  bs_arena_done(&s.m.arena);
  return s.ok;
}

void
po_simulation_done(const po_program *p, po_simulation *s) {
  bs_vec_done(p->ctx.heap, &s->instrs);
}
