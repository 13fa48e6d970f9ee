/* SPDX-License-Identifier: MIT */
/* pass_once.c - elements that a loop of lanes would read again and again.
 *
 * Where threads share the loop around, its body is a function of its own, whose
 * pointers are not `restrict` any more.  If neighbouring iterations compute the
 * same products, gcc then hands them on from one to the next, and makes no
 * vectors.  It does not where what is the same for all iterations is in
 * variables before the loop.
 *
 *   for i { s = 0; s += x[i] * f[r]; s += x[i + 1] * f[r]; y[i] = s }
 *
 *   { const float f_once = f[r];
 *     for i { s = 0; s += x[i] * f_once; s += x[i + 1] * f_once; y[i] = s } }
 */
#include "codegen/pass/pass.h"
#include <assert.h>
#include <string.h>

/* Elements of one loop that are read before it. */
enum { MOST_ONCE = 8 };

typedef struct once {
  cg_emitter *e;
  const cg_node *loop;
  uint32_t n;
  struct {
    const cg_expr *element;
    const char *name;
  } list[MOST_ONCE];
  cg_list before; /* their declarations */
} once;

/* ---- what is the same for all iterations ---- */

/* The loop counts, declares, or assigns to what is called so, or to an element
 * of it. */
static bool
changes(const cg_node *loop, const char *name) {
  if (!strcmp(loop->head.iterator, name))
    return true;
  for (const cg_node *n = loop->first; n; n = n->next) {
    if (n->kind == CG_LET && !strcmp(n->let.name, name))
      return true;
    const cg_expr *to = n->kind == CG_STORE ? cg_bare(n->store.target) : NULL;
    if (to && cg_is_name(to->kind == CG_ELEMENT ? to->args[0] : to, name))
      return true;
  }
  return false;
}

static bool
is_same(const cg_node *loop, const cg_expr *x) {
  if (x->kind == CG_NAME && changes(loop, x->text))
    return false;
  for (uint32_t k = 0; k < x->n; k++)
    if (!is_same(loop, x->args[k]))
      return false;
  return true;
}

/* ---- what is read once ---- */

static const char *
find_name(const once *o, const cg_expr *element) {
  for (uint32_t k = 0; k < o->n; k++)
    if (cg_equal(o->list[k].element, element))
      return o->list[k].name;
  return NULL;
}

/* The variable for an element of an array of this type; NULL: no other one has
 * room. */
static const char *
read_once(once *o, const char *type, const cg_expr *element) {
  bs_arena *arena = &o->e->arena;
  const char *known = find_name(o, element);
  if (known || o->n == MOST_ONCE || element->args[0]->kind != CG_NAME)
    return known;
  const char *name =
      bs_arena_printf(arena, "%s_once%u", element->args[0]->text, o->n);
  if (cg_is_array_name(o->e, name))
    return NULL;
  o->list[o->n].element = element;
  o->list[o->n++].name = name;
  cg_append(&o->before,
            cg_make_let(arena, bs_arena_printf(arena, "const %s", type), name,
                        element));
  return name;
}

/* An expression with variables in the place of elements of one type. */
static const cg_expr *
with_names(once *o, const char *type, const cg_expr *x) {
  bs_arena *arena = &o->e->arena;
  if (x->kind == CG_ELEMENT) {
    const char *name = is_same(o->loop, x) ? read_once(o, type, x) : NULL;
    return name ? cg_name(arena, name) : x;
  }
  /* What is read under a condition may be no element without it. */
  bool conditional =
      x->kind == CG_CHOICE || x->op == CG_OP_AND || x->op == CG_OP_OR;
  if (!x->n || conditional)
    return x;
  const cg_expr **args = BS_NEWS(arena, const cg_expr *, x->n);
  for (uint32_t k = 0; k < x->n; k++)
    args[k] = with_names(o, type, x->args[k]);
  cg_expr *out = BS_NEW(arena, cg_expr);
  *out = *x;
  out->args = args;
  return out;
}

/* The type of all elements that a statement reads and writes; NULL: there are
 * several, or one that is not computed in. */
static const char *
type_of(const cg_emitter *e, const cg_node *store) {
  const po_stmt *s = &e->p->stmts.data[store->origin->stmt];
  gs_dtype dtype = e->p->arrays.data[s->array].dtype;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (s->exprs[k].kind == PO_GATHER ||
        (s->exprs[k].kind == PO_READ &&
         e->p->arrays.data[s->exprs[k].array].dtype != dtype))
      return NULL;
  return gs_is_half(dtype) ? NULL : gs_dtype_table[dtype].c_type;
}

/* ---- loops ---- */

/* An element that follows the loop, and whether it reads another one of the
 * same array. */
typedef struct followed {
  const cg_node *loop;
  const cg_expr *element;
  bool others;
} followed;

static void
see_other(const cg_expr *x, bool target, void *user) {
  followed *f = user;
  f->others |= !target && x->kind == CG_ELEMENT &&
               cg_equal(x->args[0], f->element->args[0]) &&
               !cg_equal(x, f->element) && !is_same(f->loop, x);
}

static void
see_element(const cg_expr *x, bool target, void *user) {
  followed *f = user;
  if (target || f->others || x->kind != CG_ELEMENT || is_same(f->loop, x))
    return;
  f->element = x;
  cg_each_expr(f->loop->first, see_other, f);
}

/* An iteration reads several elements of one array, so that the next one may
 * compute some of its products again. */
static bool
reads_neighbours(const cg_node *loop) {
  followed f = {.loop = loop};
  cg_each_expr(loop->first, see_element, &f);
  return f.others;
}

/* A loop that does run: where it does not, an element need not be there. */
static bool
is_looked_at(const cg_node *loop) {
  int64_t first, trips = loop->head.trips;
  if (loop->head.lanes != CG_LANES_SEEN || loop->head.n_reductions ||
      (!trips && !cg_fixed_range(&loop->head, &first, &trips)) || trips < 1)
    return false;
  for (const cg_node *n = loop->first; n; n = n->next)
    if ((n->kind != CG_STORE || !n->origin) && n->kind != CG_LET &&
        n->kind != CG_COMMENT)
      return false;
  return reads_neighbours(loop);
}

/* The declarations that stand before the loop then; NULL: none do. */
static cg_node *
read_before(cg_emitter *e, const cg_node *loop) {
  once o = {.e = e, .loop = loop};
  cg_list_init(&o.before);
  for (cg_node *n = loop->first; n; n = n->next) {
    const char *type = n->kind == CG_STORE ? type_of(e, n) : NULL;
    if (type)
      n->store.value = with_names(&o, type, n->store.value);
  }
  return o.before.first;
}

/* A body of one loop gets the braces; elsewhere a block keeps names apart. */
static void
put_before(cg_emitter *e, cg_node *around, cg_node **at, cg_node *made) {
  cg_node *loop = *at, *next = loop->next;
  cg_list all = {.first = made};
  for (all.end = &all.first; *all.end;)
    all.end = &(*all.end)->next;
  loop->next = NULL;
  cg_append(&all, loop);
  if (around && around->bare && around->kind == CG_FOR) {
    around->bare = false;
    *at = all.first;
    return;
  }
  *at = cg_make_block(&e->arena, all.first);
  (*at)->next = next;
}

static void
visit(cg_emitter *e, cg_node *around, cg_node **body) {
  for (cg_node **at = body; *at; at = &(*at)->next) {
    cg_node *n = *at;
    visit(e, n, &n->first);
    if (n->kind == CG_IF)
      visit(e, n, &n->test.otherwise);
    cg_node *made =
        n->kind == CG_FOR && is_looked_at(n) ? read_before(e, n) : NULL;
    if (!made)
      continue;
    put_before(e, around, at, made);
    if (*at == made) /* the whole body */
      return;
  }
}

void
cg_read_once(cg_pass_state *s) {
  visit(s->e, NULL, s->body);
}
