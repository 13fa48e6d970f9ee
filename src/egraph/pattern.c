/* SPDX-License-Identifier: MIT */
/* pattern.c - patterns compiled to atoms.
 *
 * Parts are taken in order, the nodes of a part breadth first from its root, so
 * an atom's class is always known before it, and comparisons come early.
 * Subterms without variables are looked up once a search and then compared as
 * a class id. */
#include "egraph/pattern_code.h"
#include <assert.h>
#include <string.h>

typedef struct eg_compiler {
  bs_heap *heap;
  eg_pattern *p;
  const eg_term *term;
  uint8_t *ground;     /* of each node of the term */
  uint32_t *reg;       /* its register, or EG_NONE */
  uint32_t *ground_at; /* its place among the ground terms */
  BS_VEC(uint32_t) queue;
  BS_VEC(const eg_attr_pattern *) attr_queue;
  BS_VEC(uint32_t) attr_from;
} eg_compiler;

static uint32_t
new_reg(eg_compiler *c) {
  return c->p->n_regs++;
}

/* --- attributes -------------------------------------------------------- */

static bool
attr_is_ground(const eg_attr_pattern *a) {
  return a->kind == EG_ATTR_VALUE;
}

static void
bind_slot(eg_compiler *c, uint32_t slot, bool is_class) {
  c->p->bound[slot] = 1;
  c->p->class_slot[slot] = is_class;
}

static void
attr_step(eg_compiler *c, const eg_attr_pattern *a, uint32_t from) {
  eg_attr_step s = {EG_IS_VALUE, from, 0, a->value, a->n};
  switch (a->kind) {
  case EG_ATTR_ANY:
    return;
  case EG_ATTR_VALUE:
    break;
  case EG_ATTR_SLOT:
    s.op = c->p->bound[a->slot] ? EG_IS_REG : EG_BIND;
    s.to = a->slot;
    bind_slot(c, a->slot, false);
    break;
  case EG_ATTR_LIST:
    s.op = EG_IS_LIST;
    s.to = c->p->n_regs;
    c->p->n_regs += a->n;
    for (uint32_t i = 0; i < a->n; i++) {
      bs_push(c->heap, &c->attr_queue, &a->items[i]);
      bs_push(c->heap, &c->attr_from, s.to + i);
    }
    break;
  }
  bs_push(c->heap, &c->p->attrs, s);
}

static void
compile_attr(eg_compiler *c, const eg_attr_pattern *a, eg_atom *atom) {
  atom->first_attr = c->p->attrs.len;
  atom->attr_reg = EG_NONE;
  if (a->kind != EG_ATTR_ANY) {
    atom->attr_reg = new_reg(c);
    bs_clear(&c->attr_queue);
    bs_clear(&c->attr_from);
    attr_step(c, a, atom->attr_reg);
    for (uint32_t i = 0; i < c->attr_queue.len; i++)
      attr_step(c, c->attr_queue.data[i], c->attr_from.data[i]);
  }
  atom->n_attr = c->p->attrs.len - atom->first_attr;
}

/* --- terms ------------------------------------------------------------- */

static void
find_ground(eg_compiler *c) {
  const eg_term *t = c->term;
  for (uint32_t i = 0; i < t->n; i++) {
    const eg_term_node *n = &t->nodes[i];
    bool ground = !n->is_slot && attr_is_ground(&n->attr);
    for (uint32_t k = 0; k < n->n_kids && ground; k++)
      ground = c->ground[n->kids[k]];
    c->ground[i] = ground;
    c->reg[i] = n->is_slot ? n->slot : EG_NONE;
  }
}

/* Unsets `ground` of what the root does not reach. */
static void
drop_unreached(eg_compiler *c) {
  const eg_term *t = c->term;
  uint8_t *reached = bs_calloc(c->heap, t->n, 1);
  reached[t->n - 1] = 1;
  for (uint32_t i = t->n; i-- > 0;) {
    const eg_term_node *n = &t->nodes[i];
    c->ground[i] = c->ground[i] && reached[i];
    for (uint32_t k = 0; reached[i] && k < n->n_kids; k++)
      reached[n->kids[k]] = 1;
  }
  bs_free(c->heap, reached);
}

/* Children stand before parents, so one pass suffices. */
static void
compile_grounds(eg_compiler *c) {
  const eg_term *t = c->term;
  drop_unreached(c);
  for (uint32_t i = 0; i < t->n; i++) {
    const eg_term_node *n = &t->nodes[i];
    if (!c->ground[i])
      continue;
    c->reg[i] = new_reg(c);
    c->ground_at[i] = c->p->grounds.len;
    eg_ground g = {n->op, c->reg[i], c->p->ground_kids.len, n->n_kids,
                   n->attr.value};
    for (uint32_t k = 0; k < n->n_kids; k++)
      bs_push(c->heap, &c->p->ground_kids, c->ground_at[n->kids[k]]);
    bs_push(c->heap, &c->p->grounds, g);
  }
}

static void
compile_kid(eg_compiler *c, uint32_t kid, eg_atom *atom) {
  const eg_term_node *n = &c->term->nodes[kid];
  eg_kid_step s = {c->reg[kid], true};
  if (n->is_slot) {
    s.check = c->p->bound[n->slot];
    bind_slot(c, n->slot, true);
  } else if (!c->ground[kid]) {
    s.check = c->reg[kid] != EG_NONE;
    if (!s.check) {
      s.reg = c->reg[kid] = new_reg(c);
      bs_push(c->heap, &c->queue, kid);
    }
  }
  if (s.check)
    atom->plain_kids = false;
  bs_push(c->heap, &c->p->kids, s);
}

static void
compile_node(eg_compiler *c, uint32_t node, eg_atom atom) {
  const eg_term_node *n = &c->term->nodes[node];
  atom.op = n->op;
  atom.arity = n->n_kids;
  atom.plain_kids = true;
  atom.first_kid = c->p->kids.len;
  compile_attr(c, &n->attr, &atom);
  for (uint32_t k = 0; k < n->n_kids; k++)
    compile_kid(c, n->kids[k], &atom);
  bs_push(c->heap, &c->p->atoms, atom);
}

/* A part that is a variable: any class, or an alias of its root. */
static void
compile_bare(eg_compiler *c, uint32_t slot, uint32_t root_slot) {
  uint32_t from = root_slot == EG_NONE ? slot : root_slot;
  if (!c->p->bound[from]) {
    bind_slot(c, from, true);
    eg_atom any = {.kind = EG_ATOM_CLASSES, .reg = from, .out = EG_NONE};
    bs_push(c->heap, &c->p->atoms, any);
  }
  if (from == slot)
    return;
  eg_atom same = {.kind = EG_ATOM_SAME, .reg = from, .out = slot};
  same.bind_out = !c->p->bound[slot];
  bind_slot(c, slot, true);
  bs_push(c->heap, &c->p->atoms, same);
}

static uint32_t
compile_root(eg_compiler *c, uint32_t root, uint32_t root_slot) {
  eg_atom a = {.kind = EG_ATOM_SCAN, .reg = EG_NONE, .out = EG_NONE};
  bool rooted = root_slot != EG_NONE && c->p->bound[root_slot];
  if (rooted || (root_slot == EG_NONE && c->ground[root])) {
    a.kind = EG_ATOM_CLASS;
    a.reg = rooted ? root_slot : c->reg[root];
    compile_node(c, root, a);
    return a.reg;
  }
  a.out = root_slot == EG_NONE ? new_reg(c) : root_slot;
  if (root_slot != EG_NONE)
    bind_slot(c, root_slot, true);
  compile_node(c, root, a);
  return a.out;
}

static uint32_t
compile_part(eg_compiler *c, const eg_term *t, uint32_t root_slot) {
  c->term = t;
  c->ground = bs_calloc(c->heap, t->n, 1);
  c->reg = bs_calloc(c->heap, t->n, sizeof *c->reg);
  c->ground_at = bs_calloc(c->heap, t->n, sizeof *c->ground_at);
  find_ground(c);
  compile_grounds(c);
  uint32_t root = t->n - 1, out;
  bs_clear(&c->queue);
  if (t->nodes[root].is_slot) {
    out = t->nodes[root].slot;
    compile_bare(c, out, root_slot);
  } else {
    out = compile_root(c, root, root_slot);
  }
  for (uint32_t i = 0; i < c->queue.len; i++) {
    uint32_t node = c->queue.data[i];
    eg_atom a = {.kind = EG_ATOM_CLASS, .reg = c->reg[node], .out = EG_NONE};
    compile_node(c, node, a);
  }
  bs_free(c->heap, c->ground);
  bs_free(c->heap, c->reg);
  bs_free(c->heap, c->ground_at);
  return out;
}

/* --- one block a pattern ----------------------------------------------- */

typedef struct eg_sealing {
  char *at; /* NULL: only measured */
  size_t size;
} eg_sealing;

static void *
take(eg_sealing *s, const void *from, size_t size) {
  char *to = s->at ? s->at + s->size : NULL;
  if (to && size)
    memcpy(to, from, size);
  s->size += size;
  return to;
}

#define TAKE(s, to, v)                                                         \
  do {                                                                         \
    (to)->data = take((s), (v)->data, (v)->len * sizeof *(v)->data);           \
    (to)->len = (to)->cap = (v)->len;                                          \
  } while (0)

/* All parts of a pattern, those of words first. */
static void
lay_out(eg_sealing *s, eg_pattern *to, const eg_pattern *p) {
  TAKE(s, &to->atoms, &p->atoms);
  TAKE(s, &to->kids, &p->kids);
  TAKE(s, &to->attrs, &p->attrs);
  TAKE(s, &to->grounds, &p->grounds);
  TAKE(s, &to->ground_kids, &p->ground_kids);
  to->class_slot = take(s, p->class_slot, p->n_slots);
  to->bound = take(s, p->bound, p->n_slots);
}

/* Rules are many and patterns small: what a block and the growth of a list cost
 * would be more than what is in them. */
static eg_pattern *
seal(bs_heap *h, eg_pattern *draft) {
  eg_sealing s = {0};
  eg_pattern unused;
  lay_out(&s, &unused, draft);
  eg_pattern *p = bs_alloc(h, sizeof *p + s.size);
  *p = *draft;
  s = (eg_sealing){(char *)(p + 1), 0};
  lay_out(&s, p, draft);
  bs_vec_done(h, &draft->atoms);
  bs_vec_done(h, &draft->kids);
  bs_vec_done(h, &draft->attrs);
  bs_vec_done(h, &draft->grounds);
  bs_vec_done(h, &draft->ground_kids);
  bs_free(h, draft->class_slot);
  bs_free(h, draft->bound);
  return p;
}

eg_pattern *
eg_pattern_new(bs_heap *h, bs_values *values, const eg_term *parts,
               const uint32_t *root_slots, uint32_t n_parts, uint32_t n_slots) {
  assert(n_parts && parts[0].n);
  eg_pattern draft = {.values = values, .n_slots = n_slots, .n_regs = n_slots};
  eg_compiler c = {.heap = h, .p = &draft};
  draft.class_slot = bs_calloc(h, n_slots + 1, 1);
  draft.bound = bs_calloc(h, n_slots + 1, 1);
  for (uint32_t i = 0; i < n_parts; i++) {
    uint32_t slot = i && root_slots ? root_slots[i] : EG_NONE;
    uint32_t out = compile_part(&c, &parts[i], slot);
    if (!i)
      draft.root_reg = out;
  }
  bs_vec_done(h, &c.queue);
  bs_vec_done(h, &c.attr_queue);
  bs_vec_done(h, &c.attr_from);
  return seal(h, &draft);
}

void
eg_pattern_free(bs_heap *h, eg_pattern *p) {
  bs_free(h, p);
}
