/* SPDX-License-Identifier: MIT */
/* stranded.c - calls that are only of use beside others.
 *
 * Lowering hands a value on in a memory where one instruction that works
 * element by element is all that reads it, as it lies or through views that
 * keep its rows (poly/memory/take.c).  So for each class it is noted who reads
 * it, of those that are no views, and in which memory its value lies before it
 * is moved. */
#include "extract/stranded.h"
#include "extract/internal.h"
#include <assert.h>

#define NOBODY 0u
#define MANY   UINT32_MAX /* or what is no node of the graph: an output */

typedef struct finder {
  const gs_target *target;
  const bs_values *values;
  const ex_choice *x;
  uint32_t *reader;       /* by class id: NOBODY, MANY, or a class's id + 1 */
  uint32_t *turner;       /* the same, where rows are turned on the way, too */
  uint32_t *memory;       /* by class id: where it lies; 0: elsewhere */
  BS_VEC(uint32_t) order; /* classes, children first */
} finder;

static const gs_instr *
instr_of(const gs_target *t, const bs_values *values, const eg_graph *g,
         eg_node n) {
  if (!t || (gs_op)eg_op(g, n) != GS_CALL)
    return NULL;
  return gs_find_instr(t, bs_as_sym(values, bs_item(values, eg_attr(g, n), 0)));
}

static bool
leaves_as_it_is(const gs_target *t, const gs_operand *o) {
  return !o->memory || gs_hops(t, o->dtype, o->memory, 0);
}

static bool
comes_as_it_is(const gs_target *t, const gs_operand *o) {
  return !o->memory || gs_hops(t, o->dtype, 0, o->memory);
}

static eg_node
node_at(const finder *f, uint32_t class) {
  assert(class < f->x->n_ids && f->x->node[class].i != EG_NO_NODE.i);
  return f->x->node[class];
}

static const eg_class *
kids_at(const finder *f, uint32_t class, uint32_t *n) {
  return eg_kids(f->x->graph, node_at(f, class), n);
}

static uint32_t
kid_id(const finder *f, eg_class kid) {
  return eg_find(f->x->graph, kid).i;
}

static bool
is_view(const finder *f, uint32_t class) {
  return gs_op_table[eg_op(f->x->graph, node_at(f, class))].view;
}

/* ---- what was chosen, children first ---- */

typedef struct visit {
  uint32_t class, next;
} visit;

static void
walk(finder *f, bs_heap *heap, uint32_t root, uint8_t *seen) {
  BS_VEC(visit) stack = {0};
  if (seen[root])
    return;
  seen[root] = 1;
  bs_push(heap, &stack, (visit){root, 0});
  while (stack.len) {
    visit *v = &stack.data[stack.len - 1];
    uint32_t n;
    const eg_class *kids = kids_at(f, v->class, &n);
    if (v->next == n) {
      bs_push(heap, &f->order, v->class);
      (void)bs_pop(&stack);
      continue;
    }
    uint32_t kid = kid_id(f, kids[v->next++]);
    if (!seen[kid])
      bs_push(heap, &stack, (visit){kid, 0});
    seen[kid] = 1;
  }
  bs_vec_done(heap, &stack);
}

/* ---- who reads it ---- */

static void
add_reader(uint32_t *at, uint32_t reader) {
  *at = *at == NOBODY || *at == reader ? reader : MANY;
}

/* Tiles lie in rows along the last dimension, which some transpositions turn.
 */
static bool
turns_rows(const finder *f, eg_node n) {
  bs_value order = bs_item(f->values, eg_attr(f->x->graph, n), 0);
  uint32_t rank = bs_len(f->values, order);
  return rank && bs_as_int(f->values, bs_item(f->values, order, rank - 1)) !=
                     (int64_t)rank - 1;
}

/* Who reads a view takes what lies below it: all elements, each of them once,
 * row by row.  Of no other view does a call find its tiles in a memory. */
static bool
is_handed_on(const finder *f, eg_node n) {
  gs_op op = (gs_op)eg_op(f->x->graph, n);
  return gs_op_table[op].view && op != GS_SLICE && !gs_op_is(op, GS_REREADS) &&
         (op != GS_TRANSPOSE || !turns_rows(f, n));
}

static uint32_t
reader_below(const finder *f, uint32_t class) {
  if (is_handed_on(f, node_at(f, class)))
    return f->reader[class];
  return is_view(f, class) ? MANY : class + 1;
}

static uint32_t
turner_below(const finder *f, uint32_t class) {
  if ((gs_op)eg_op(f->x->graph, node_at(f, class)) == GS_TRANSPOSE ||
      is_handed_on(f, node_at(f, class)))
    return f->turner[class];
  return is_view(f, class) ? MANY : class + 1;
}

static void
find_readers(finder *f) {
  for (uint32_t k = 0; k < f->x->n_roots; k++)
    f->reader[kid_id(f, f->x->roots[k])] =
        f->turner[kid_id(f, f->x->roots[k])] = MANY;
  for (uint32_t k = f->order.len; k-- > 0;) {
    uint32_t class = f->order.data[k], n;
    const eg_class *kids = kids_at(f, class, &n);
    uint32_t reader = reader_below(f, class), turner = turner_below(f, class);
    for (uint32_t j = 0; j < n; j++) {
      add_reader(&f->reader[kid_id(f, kids[j])], reader);
      add_reader(&f->turner[kid_id(f, kids[j])], turner);
    }
  }
}

/* ---- where, and whether there is a way ---- */

/* The one reader takes it in the memory where it lies. */
static bool
takes_there(const finder *f, uint32_t reader, uint32_t memory) {
  if (reader == NOBODY || reader == MANY)
    return false;
  const gs_instr *i =
      instr_of(f->target, f->values, f->x->graph, node_at(f, reader - 1));
  return i && i->pointwise && i->operands[0].memory == memory;
}

static bool
is_taken_there(const finder *f, uint32_t class, uint32_t memory) {
  return takes_there(f, f->reader[class], memory);
}

static uint32_t
memory_of(const finder *f, uint32_t class) {
  uint32_t n;
  const eg_class *kids = kids_at(f, class, &n);
  const gs_instr *i =
      instr_of(f->target, f->values, f->x->graph, node_at(f, class));
  if (i)
    return is_taken_there(f, class, i->result.memory) ? i->result.memory : 0;
  uint32_t memory = n && is_view(f, class) ? f->memory[kid_id(f, kids[0])] : 0;
  for (uint32_t k = 1; k < n; k++)
    memory = f->memory[kid_id(f, kids[k])] == memory ? memory : 0;
  return memory;
}

/* What cannot leave and is turned by its one reader, which other calls do not
 * have to. */
static bool
is_turned(const finder *f, uint32_t class, const gs_instr *i) {
  return !leaves_as_it_is(f->target, &i->result) &&
         !is_taken_there(f, class, i->result.memory) &&
         takes_there(f, f->turner[class], i->result.memory);
}

static uint8_t
stranding_of(const finder *f, uint32_t class, const gs_instr *i) {
  uint32_t n;
  const eg_class *kids = kids_at(f, class, &n);
  uint8_t found = 0;
  if (!leaves_as_it_is(f->target, &i->result) &&
      !is_taken_there(f, class, i->result.memory) && !is_turned(f, class, i))
    found |= EX_STAYS;
  for (uint32_t k = 0; k < n && k < i->n_operands; k++) {
    uint32_t kid = kid_id(f, kids[k]), memory = i->operands[k].memory;
    if (!comes_as_it_is(f->target, &i->operands[k]) && f->memory[kid] != memory)
      found |= EX_LACKING;
  }
  return found;
}

static bool
add_why(uint8_t *stranded, uint8_t why) {
  bool any = why & ~*stranded;
  *stranded |= why;
  return any;
}

/* The class of what the call works on. */
static uint32_t
taken_by(const finder *f, uint32_t class) {
  uint32_t n;
  const eg_class *kids = kids_at(f, class, &n);
  assert(n);
  return kid_id(f, kids[0]);
}

static bool
note_stranded(const finder *f, uint8_t *stranded) {
  bool any = false;
  for (uint32_t k = 0; k < f->order.len; k++) {
    uint32_t class = f->order.data[k];
    const gs_instr *i =
        instr_of(f->target, f->values, f->x->graph, node_at(f, class));
    if (!i)
      continue;
    any |= add_why(&stranded[class], stranding_of(f, class, i));
    if (is_turned(f, class, i))
      any |= add_why(&stranded[taken_by(f, f->turner[class] - 1)], EX_TURNS);
  }
  return any;
}

bool
ex_find_stranded(bs_heap *heap, const gs_target *t, const bs_values *values,
                 const ex_choice *x, uint8_t *stranded) {
  finder f = {.target = t, .values = values, .x = x};
  if (!t || !t->memories.len)
    return false;
  uint8_t *seen = EX_ZERO(heap, uint8_t, x->n_ids);
  f.reader = EX_ZERO(heap, uint32_t, x->n_ids);
  f.turner = EX_ZERO(heap, uint32_t, x->n_ids);
  f.memory = EX_ZERO(heap, uint32_t, x->n_ids);
  for (uint32_t k = 0; k < x->n_roots; k++)
    walk(&f, heap, kid_id(&f, x->roots[k]), seen);
  find_readers(&f);
  for (uint32_t k = 0; k < f.order.len; k++)
    f.memory[f.order.data[k]] = memory_of(&f, f.order.data[k]);
  bool any = note_stranded(&f, stranded);
  bs_vec_done(heap, &f.order);
  bs_free(heap, f.memory);
  bs_free(heap, f.turner);
  bs_free(heap, f.reader);
  bs_free(heap, seen);
  return any;
}

/* What it is that has no way, where the class is one of those. */
static const gs_operand *
without_way(const gs_target *t, const gs_instr *i, uint8_t why) {
  if (why & EX_STAYS && !leaves_as_it_is(t, &i->result))
    return &i->result;
  for (uint32_t k = 0; why & EX_LACKING && k < i->n_operands; k++)
    if (!comes_as_it_is(t, &i->operands[k]))
      return &i->operands[k];
  return NULL;
}

bool
ex_is_stranded(const gs_target *t, const bs_values *values, const eg_graph *g,
               eg_node node, const uint8_t *stranded) {
  uint32_t n;
  const gs_instr *i = stranded ? instr_of(t, values, g, node) : NULL;
  if (!i)
    return false;
  return without_way(t, i, stranded[eg_class_of(g, node).i]) ||
         (i->pointwise &&
          stranded[eg_find(g, eg_kids(g, node, &n)[0]).i] & EX_TURNS);
}

const gs_operand *
ex_stranded_operand(const gs_target *t, const bs_values *values,
                    const eg_graph *g, const uint8_t *stranded,
                    const gs_instr *instr) {
  const gs_operand *found = NULL;
  for (eg_class c = eg_first_class(g); stranded && c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c)) {
    uint32_t n;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t k = 0; stranded[c.i] && k < n && !found; k++)
      if (instr_of(t, values, g, nodes[k]) == instr)
        found = without_way(t, instr, stranded[c.i]);
  }
  return found;
}
