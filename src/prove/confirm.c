/* confirm.c - is a difference of floats one of meaning, or of rounding?
 *
 * Floats are taken as real numbers, so a difference that the interpreter found
 * counts only when it is still there at a higher precision: both terms are
 * evaluated with every float as f64, and with every float as f32.  A cast to a
 * narrower float still rounds, since that is what it means.
 *
 * What shrinks with the precision is rounding.  Where an operator jumps (floor,
 * a cast to integers, select, gather) rounding before it may make any
 * difference.  There the difference counts when every term is the same in f32
 * and f64, for then nothing was rounded; or when it stays for inputs that are
 * moved a little, since rounding matters at a jump alone. */
#include "prove/session.h"
#include "glenside/interpret.h"
#include <math.h>
#include <string.h>

#define MOVES  4 /* moved inputs, */
#define MOVED  3 /* of which so many must differ, too */
#define SHRINK 64

typedef struct precise {
  gs_program *p; /* outputs: left, right, then every compute term */
  gs_tensor *inputs, *outputs;
  bool ran;
} precise;

typedef struct pv_confirm {
  pv_session *s;
  uint32_t pair;
  bool jumps, may_overflow, has_float_input;
  bool fresh; /* the outputs are those of the inputs */
  precise f64, f32;
} pv_confirm;

static bool
is_float(gs_dtype d) {
  return !gs_dtype_table[d].integer;
}

/* --- both terms with other floats ----------------------------------------- */

typedef struct copier {
  const gs_program *from;
  gs_program *to;
  gs_dtype wide;
  gs_term *made;
} copier;

static const char *
own_name(const gs_program *p, const gs_node *n) {
  return bs_as_sym(p->ctx.values, bs_item(p->ctx.values, n->attr, 0));
}

static gs_term
copy_constant(copier *c, const gs_node *n, const gs_type *type,
              const gs_constant *from) {
  gs_constant was = *from;
  gs_tensor made;
  gs_tensor source = {.dtype = was.type.dtype,
                      .rank = was.type.rank,
                      .elements = gs_elements(&was.type),
                      .data = (void *)was.data};
  gs_tensor_init(c->to->ctx.heap, &made, type);
  for (int64_t k = 0; k < made.elements; k++)
    gs_tensor_set(&made, k, gs_tensor_get(&source, k));
  return gs_add_constant(c->to, was.name, type, made.data, n->span);
}

static gs_term
add_cast(copier *c, gs_dtype to, gs_term kid) {
  bs_values *values = c->to->ctx.values;
  bs_value items[2] = {bs_sym(values, gs_compute_table[GS_C_CAST].name),
                       bs_sym(values, gs_dtype_table[to].name)};
  bs_value o = bs_list(values, items, 2);
  gs_fault fault = {0};
  return gs_add(c->to, GS_COMPUTE, bs_list(values, &o, 1), &kid, 1, BS_NOWHERE,
                &fault);
}

/* Rounds first, when the dtype is one that rounds. */
static gs_term
copy_cast(copier *c, gs_dtype to, gs_dtype from, gs_term kid) {
  bool rounds = is_float(to) && to != GS_F64 && to != from;
  if (!is_float(to) || rounds)
    kid = add_cast(c, to, kid);
  return is_float(to) && gs_term_ok(kid) ? add_cast(c, c->wide, kid) : kid;
}

static gs_term
copy_node(copier *c, gs_term t) {
  const gs_node *n = gs_at(c->from, t);
  const bs_values *values = c->from->ctx.values;
  const gs_constant *constant =
      n->op == GS_CONST ? gs_find_constant(c->from, own_name(c->from, n))
                        : NULL;
  gs_type type;
  gs_compute op = GS_C_ADD;
  gs_fault fault = {0};
  gs_type_at(c->from, t, &type);
  gs_dtype own = type.dtype;
  if (is_float(type.dtype))
    type.dtype = c->wide;
  if (constant)
    return copy_constant(c, n, &type, constant);
  if (n->op == GS_TENSOR || n->op == GS_CONST)
    return gs_add_tensor(c->to, own_name(c->from, n), &type, n->span);
  gs_term kids[2] = {GS_NO_TERM, GS_NO_TERM};
  for (uint32_t k = 0; k < n->n_kids && k < 2; k++)
    kids[k] = c->made[n->kids[k].i];
  if (n->op == GS_COMPUTE)
    gs_compute_of(values, bs_item(values, n->attr, 0), &op);
  if (n->op == GS_COMPUTE && op == GS_C_CAST) {
    gs_type kid;
    gs_type_at(c->from, n->kids[0], &kid);
    return copy_cast(c, own, kid.dtype, kids[0]);
  }
  return gs_add(c->to, n->op, n->attr, kids, n->n_kids, n->span, &fault);
}

/* False when some term has no type at that precision. */
static bool
build(pv_confirm *x, gs_dtype wide, precise *out) {
  pv_session *s = x->s;
  const gs_program *from = s->plain;
  const pv_pair *pair = &s->pairs[x->pair];
  uint32_t n = from->nodes.len;
  copier c = {.from = from, .wide = wide};
  uint8_t *live = bs_calloc(s->ctx.heap, n + (size_t)1, 1);
  c.to = out->p = gs_program_new(&s->ctx, NULL);
  c.made = BS_NEWS(s->ctx.arena, gs_term, n + (size_t)1);
  pv_mark(from, pair, 1, live);
  bool ok = true;
  for (uint32_t k = 0; k < n && ok; k++) {
    c.made[k] = live[k] ? copy_node(&c, (gs_term){k}) : GS_NO_TERM;
    ok = !live[k] || gs_term_ok(c.made[k]);
  }
  if (ok) {
    gs_add_output(c.to, "left", c.made[pair->left.i], BS_NOWHERE);
    gs_add_output(c.to, "right", c.made[pair->right.i], BS_NOWHERE);
  }
  for (uint32_t k = 0; k < n && ok && x->jumps; k++)
    if (live[k] && gs_at(from, (gs_term){k})->op == GS_COMPUTE)
      gs_add_output(c.to, pv_say(s, "%u", k), c.made[k], BS_NOWHERE);
  bs_free(s->ctx.heap, live);
  return ok;
}

/* --- evaluation ----------------------------------------------------------- */

static void
release(precise *x) {
  for (uint32_t k = 0; x->ran && k < x->p->outputs.len; k++)
    gs_tensor_done(x->p->ctx.heap, &x->outputs[k]);
  x->ran = false;
}

static void
set_up(precise *x) {
  bs_arena *arena = x->p->ctx.arena;
  x->inputs = BS_NEWS(arena, gs_tensor, x->p->inputs.len + (size_t)1);
  x->outputs = BS_NEWS(arena, gs_tensor, x->p->outputs.len + (size_t)1);
  for (uint32_t k = 0; k < x->p->inputs.len; k++) {
    gs_type type;
    gs_type_at(x->p, x->p->inputs.data[k].term, &type);
    gs_tensor_init(x->p->ctx.heap, &x->inputs[k], &type);
  }
}

static uint64_t
mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* Up to 1 part in 128, and 1/128 where there is nothing. */
static double
moved(double x, uint64_t random) {
  double by = ((double)(random >> 11) / (double)(1ull << 53) - 0.5) / 64;
  return x + by * fmax(1, fabs(x));
}

static bool
same_name(const gs_program *a, uint32_t i, const gs_program *b, uint32_t k) {
  return !strcmp(a->inputs.data[i].name, b->inputs.data[k].name);
}

static void
load(precise *x, const gs_program *given, const gs_tensor *inputs,
     uint64_t move) {
  for (uint32_t k = 0; k < x->p->inputs.len; k++)
    for (uint32_t i = 0; i < given->inputs.len; i++) {
      gs_tensor *to = &x->inputs[k];
      if (!same_name(x->p, k, given, i))
        continue;
      for (int64_t e = 0; e < to->elements; e++) {
        double v = gs_tensor_get(&inputs[i], e);
        if (move && is_float(inputs[i].dtype) && isfinite(v))
          v = moved(v, mix(move * 0x9e3779b97f4a7c15 + (uint64_t)e * 31 + k));
        gs_tensor_set(to, e, v);
      }
    }
}

static bool
run(precise *x) {
  release(x);
  x->ran = gs_interpret(x->p, x->inputs, x->outputs);
  return x->ran;
}

/* --- judging -------------------------------------------------------------- */

static bool
same_everywhere(const precise *a, const precise *b) {
  for (uint32_t k = 0; k < a->p->outputs.len; k++) {
    const gs_tensor *x = &a->outputs[k], *y = &b->outputs[k];
    for (int64_t e = 0; e < x->elements; e++) {
      double v = gs_tensor_get(x, e), w = gs_tensor_get(y, e);
      if (v != w && !(isnan(v) && isnan(w)))
        return false;
    }
  }
  return true;
}

static double
gap_of(const precise *x, int64_t e) {
  return fabs(gs_tensor_get(&x->outputs[0], e) -
              gs_tensor_get(&x->outputs[1], e));
}

/* Whether element e differs at high precision, by more than what is lost there;
 * `low`, when it was run, tells how much rounding does. */
static bool
differs_at(const pv_confirm *x, const precise *high, const precise *low,
           int64_t e, double rel) {
  double a = gs_tensor_get(&high->outputs[0], e);
  double b = gs_tensor_get(&high->outputs[1], e);
  double gap = fabs(a - b);
  if (isnan(a) || isnan(b) || a == b)
    return false;
  if (!isfinite(a) || !isfinite(b))
    return !x->may_overflow;
  if (!is_float(high->outputs[0].dtype))
    return true;
  if (low) {
    double rough = gap_of(low, e);
    if (isfinite(rough) && rough > SHRINK * gap)
      return false;
  }
  return gap > rel * fmax(fabs(a), fabs(b));
}

static bool
differs_anywhere(const pv_confirm *x, double rel) {
  for (int64_t e = 0; e < x->f64.outputs[0].elements; e++)
    if (differs_at(x, &x->f64, NULL, e, rel))
      return true;
  return false;
}

static bool
differs_when_moved(pv_confirm *x, const gs_program *given,
                   const gs_tensor *inputs, double rel) {
  uint32_t n = 0;
  for (uint64_t k = 1; k <= MOVES; k++) {
    load(&x->f64, given, inputs, k);
    n += run(&x->f64) && differs_anywhere(x, rel);
  }
  return n >= MOVED;
}

/* --- setting up ----------------------------------------------------------- */

static void
look_at_node(pv_confirm *x, const gs_program *p, const gs_node *n) {
  const bs_values *values = p->ctx.values;
  gs_compute op;
  gs_type from;
  if (n->op == GS_TENSOR) {
    gs_type_read(values, n->type, &from);
    x->has_float_input |= is_float(from.dtype);
  }
  if (n->op != GS_COMPUTE ||
      !gs_compute_of(values, bs_item(values, n->attr, 0), &op))
    return;
  gs_type_at(p, n->kids[0], &from);
  bool real = is_float(from.dtype);
  x->jumps |= real && (op == GS_C_FLOOR || op == GS_C_CAST ||
                       op == GS_C_SELECT || op == GS_C_GATHER);
  x->may_overflow |=
      real && (op == GS_C_DIV || op == GS_C_RECIP || op == GS_C_RSQRT ||
               op == GS_C_EXP || op == GS_C_LOG);
}

static pv_confirm *
confirm_of(pv_session *s, uint32_t pair) {
  pv_confirm *x = s->confirm;
  if (x && x->pair == pair)
    return x;
  x = BS_NEW(s->ctx.arena, pv_confirm);
  *x = (pv_confirm){.s = s, .pair = pair};
  s->confirm = x;
  uint8_t *live = bs_calloc(s->ctx.heap, s->plain->nodes.len + (size_t)1, 1);
  pv_mark(s->plain, &s->pairs[pair], 1, live);
  for (uint32_t k = 0; k < s->plain->nodes.len; k++)
    if (live[k])
      look_at_node(x, s->plain, &s->plain->nodes.data[k]);
  bs_free(s->ctx.heap, live);
  if (!build(x, GS_F64, &x->f64) || !build(x, GS_F32, &x->f32)) {
    x->f64.p = NULL;
    return x;
  }
  set_up(&x->f64);
  set_up(&x->f32);
  return x;
}

static bool
evaluate(pv_confirm *x, const gs_program *given, const gs_tensor *inputs) {
  load(&x->f64, given, inputs, 0);
  load(&x->f32, given, inputs, 0);
  x->fresh = run(&x->f64) && run(&x->f32);
  return x->fresh;
}

bool
pv_is_meant(pv_session *s, const pv_doubt *d, bool again) {
  pv_confirm *x = confirm_of(s, d->pair);
  if (!x->f64.p || !((again && x->fresh) || evaluate(x, d->p, d->inputs)) ||
      !differs_at(x, &x->f64, &x->f32, d->element, d->rel))
    return false;
  if (!x->jumps || same_everywhere(&x->f64, &x->f32))
    return true;
  x->fresh = false;
  return x->has_float_input && differs_when_moved(x, d->p, d->inputs, d->rel);
}
