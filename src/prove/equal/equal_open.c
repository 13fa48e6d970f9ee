/* SPDX-License-Identifier: MIT */
/* equal_open.c - two programs with open sizes, as terms over them and at some.
 *
 * What a proof at sizes says holds there alone: the verdict is `proved` where
 * these are all sizes, or no proof at sizes was needed.  Sizes that are looked
 * at are those where programs tend to differ: the least, their neighbours,
 * those around powers of two, as blocks and tails end there, and the most. */
#include "prove/equal/equal_open.h"
#include "base/random.h"
#include "prove/session/session.h"
#include "prove/symbolic/symbolic.h"
#include <string.h>

enum {
  SMALL = 33,              /* from the least on, all of a size are looked at */
  MOST_ELEMENTS = 1 << 16, /* of all terms, at sizes that are looked at */
  FEW_ELEMENTS = 1 << 12,  /* where a proof for all sizes is compared */
  MOST_BYTES = 1 << 28     /* of a proof for all sizes */
};

typedef struct looking {
  const gs_context *ctx;
  const gs_program *a, *b;
  const gs_sizes *sizes;
  const pv_options *options;
  pv_open_answer *out;
  int64_t at[PV_MOST_LOOKED][GS_MOST_SIZES];
  uint32_t n;
  int64_t most_elements;
  bool any_order; /* as in the answers at sizes */
} looking;

/* ---- for all sizes at once ---- */

/* The terms of both in one program over the sizes: equal ones are one. */
static bool
add_program(gs_program *to, const gs_program *from, gs_term *made) {
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    const gs_node *node = &from->nodes.data[k];
    const gs_constant *c =
        node->op == GS_CONST ? gs_constant_of(from, node->attr) : NULL;
    if (node->op == GS_SCAN || (node->op == GS_CONST && !c))
      return false; /* a name that may stand for other elements */
    made[k] =
        c ? pv_import_constant(c, to, node->span) : gs_add_like(to, node, made);
    if (!gs_term_ok(made[k]))
      return false;
  }
  return true;
}

typedef struct proof {
  const looking *l;
  bs_heap heap;
  const gs_program *p;
  gs_term a, b;
  bool holds, any_order;
} proof;

static void
prove_output(void *arg) {
  proof *x = arg;
  const char *why;
  x->holds = pv_prove_open(x->p, x->a, x->b, x->l->options, &x->heap,
                           &x->any_order, &why);
}

/* On a heap of its own, which may run out. */
static bool
holds_for_all(const looking *l, const gs_program *p, gs_term a, gs_term b) {
  proof x = {.l = l, .p = p, .a = a, .b = b};
  bs_heap_init_child(&x.heap, l->ctx->heap, MOST_BYTES);
  bool ok = bs_protect(&x.heap, prove_output, &x) && x.holds;
  bs_heap_done(&x.heap);
  l->out->answer.any_order |= x.any_order;
  return ok;
}

/* NULL: not shown for all sizes at once. */
static const char *
prove_terms(const looking *l) {
  gs_program *to = gs_program_new(l->ctx, l->a->target);
  gs_term *x = BS_NEWS(l->ctx->arena, gs_term, l->a->nodes.len + (size_t)1);
  gs_term *y = BS_NEWS(l->ctx->arena, gs_term, l->b->nodes.len + (size_t)1);
  bool same = true;
  for (uint32_t k = 0; k < l->sizes->n; k++)
    gs_open_size(to, &l->sizes->list[k]);
  if (!add_program(to, l->a, x) || !add_program(to, l->b, y))
    return NULL;
  for (uint32_t k = 0; k < l->a->outputs.len; k++) {
    gs_term s = x[l->a->outputs.data[k].term.i];
    gs_term t = y[l->b->outputs.data[k].term.i];
    if (s.i != t.i && !holds_for_all(l, to, s, t))
      return NULL;
    same = same && s.i == t.i;
  }
  if (same)
    return "the same term for all sizes";
  bs_text text;
  bs_text_init(&text, l->ctx->heap);
  bs_put(&text, "equal element by element for all sizes, ");
  gs_put_bounds(&text, l->sizes->list, l->sizes->n);
  bs_put(&text, l->out->answer.any_order ? PV_ANY_ORDER : "");
  const char *out = bs_arena_strdup(l->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* ---- sizes ---- */

static int64_t
count_of(const gs_size *s) {
  return (s->most - s->least) / s->multiple + 1;
}

/* All that there are; 0: more than are looked at. */
static uint32_t
count_all(const gs_sizes *s) {
  int64_t n = 1;
  for (uint32_t k = 0; k < s->n && n <= PV_MOST_LOOKED; k++)
    n = count_of(&s->list[k]) > PV_MOST_LOOKED ? PV_MOST_LOOKED + 1
                                               : n * count_of(&s->list[k]);
  return n > PV_MOST_LOOKED ? 0 : (uint32_t)n;
}

static int64_t
elements_at(const gs_program *p, const gs_sizes *s, const int64_t *at) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    gs_type type;
    gs_type_at(p, (gs_term){k}, &type);
    int64_t n = 1;
    for (uint32_t d = 0; d < type.rank; d++)
      n = gs_saturated((bs_int128)n * gs_number_at(s, type.dim[d], at));
    sum = gs_saturated((bs_int128)sum + n);
  }
  return sum;
}

/* Sizes that stay are looked at in the order in which they are added. */
static void
add_sizes(looking *l, const int64_t *at) {
  if (l->n == PV_MOST_LOOKED)
    return;
  for (uint32_t k = 0; k < l->n; k++)
    if (!memcmp(l->at[k], at, l->sizes->n * sizeof *at))
      return;
  if (elements_at(l->a, l->sizes, at) > l->most_elements ||
      elements_at(l->b, l->sizes, at) > l->most_elements)
    return;
  memcpy(l->at[l->n++], at, l->sizes->n * sizeof *at);
}

static void
add_all(looking *l, uint32_t n) {
  int64_t at[GS_MOST_SIZES];
  for (uint32_t k = 0; k < n; k++) {
    uint32_t rest = k;
    for (uint32_t j = l->sizes->n; j-- > 0;) {
      const gs_size *s = &l->sizes->list[j];
      uint32_t of = (uint32_t)count_of(s);
      at[j] = s->least + rest % of * s->multiple;
      rest /= of;
    }
    add_sizes(l, at);
  }
}

/* All sizes near x, each as its bounds allow. */
static void
add_alike(looking *l, int64_t x) {
  int64_t at[GS_MOST_SIZES];
  for (uint32_t k = 0; k < l->sizes->n; k++)
    at[k] = gs_size_fit(&l->sizes->list[k], x);
  add_sizes(l, at);
}

/* Each size by itself: at its least, its most, or some small one. */
static void
add_corners(looking *l, uint32_t n) {
  int64_t at[GS_MOST_SIZES];
  uint64_t state = 1;
  for (uint32_t r = 0; r < n; r++) {
    for (uint32_t k = 0; k < l->sizes->n; k++) {
      const gs_size *s = &l->sizes->list[k];
      uint64_t kind = bs_random_next(&state) % 4;
      int64_t small = (int64_t)(bs_random_next(&state) % 20) * s->multiple;
      at[k] = kind == 0   ? s->least
              : kind == 1 ? s->most
                          : gs_size_fit(s, s->least + small);
    }
    add_sizes(l, at);
  }
}

static void
choose_sizes(looking *l) {
  int64_t most = 1, small = l->sizes->n > 1 ? 9 : SMALL;
  uint32_t all = count_all(l->sizes);
  if (all) {
    add_all(l, all);
    l->out->all = l->n == all;
    return;
  }
  for (uint32_t k = 0; k < l->sizes->n; k++) {
    const gs_size *s = &l->sizes->list[k];
    most = s->most > most ? s->most : most;
  }
  for (int64_t x = 0; x < small; x++) {
    int64_t at[GS_MOST_SIZES];
    for (uint32_t k = 0; k < l->sizes->n; k++) {
      const gs_size *s = &l->sizes->list[k];
      at[k] = gs_size_fit(s, s->least + x * s->multiple);
    }
    add_sizes(l, at);
  }
  if (l->sizes->n > 1)
    add_corners(l, PV_MOST_LOOKED / 2);
  add_alike(l, most);
  for (int64_t x = 2; x / 2 < most; x *= 2)
    for (int64_t by = -1; by <= 1; by++)
      add_alike(l, x + by);
  add_alike(l, most - 1);
}

/* ---- at sizes ---- */

static const gs_program *
program_at(const gs_program *p, const int64_t *at) {
  return gs_program_at(
      p, at, BS_NEWS(p->ctx.arena, gs_term, p->nodes.len + (size_t)1));
}

static bool
is_worse(pv_verdict v, pv_verdict than) {
  return v == PV_REFUTED || (v == PV_TESTED && than == PV_PROVED);
}

/* False where nothing is known of these sizes. */
static bool
look(looking *l, const int64_t *at) {
  pv_answer answer = {.verdict = PV_UNKNOWN};
  const gs_program *a = program_at(l->a, at), *b = program_at(l->b, at);
  if (a && b)
    pv_equal_programs(l->ctx, a, b, l->options, &answer);
  if (answer.verdict == PV_UNKNOWN)
    return false;
  l->any_order |= answer.any_order;
  if (!l->out->looked++ || is_worse(answer.verdict, l->out->answer.verdict)) {
    l->out->answer = answer;
    memcpy(l->out->at, at, l->sizes->n * sizeof *at);
  }
  return true;
}

/* Sizes of which nothing is known are no more among those looked at. */
static void
look_at_all(looking *l) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    if (!look(l, l->at[k])) {
      l->out->all = false;
      continue;
    }
    memmove(l->at[n++], l->at[k], sizeof l->at[k]);
    if (l->out->answer.verdict == PV_REFUTED)
      break;
  }
  l->n = n;
}

/* ---- what is said ---- */

/* "n = 1 to 33, 63, 64": sizes of one name in a row; else each in brackets. */
static void
put_one(const looking *l, bs_text *out) {
  const char *name = l->sizes->list[0].name;
  int64_t step = l->sizes->list[0].multiple;
  bs_putf(out, "%s =", name);
  for (uint32_t k = 0; k < l->n;) {
    uint32_t end = k + 1;
    while (end < l->n && l->at[end][0] == l->at[end - 1][0] + step)
      end++;
    bs_putf(out, "%s %lld", k ? "," : "", (long long)l->at[k][0]);
    if (end - k > 1)
      bs_putf(out, "%s%lld", end - k > 2 ? " to " : ", ",
              (long long)l->at[end - 1][0]);
    k = end;
  }
}

static void
put_looked(const looking *l, bs_text *out) {
  if (l->sizes->n == 1) {
    put_one(l, out);
    return;
  }
  for (uint32_t k = 0; k < l->n; k++) {
    bs_put(out, k ? "; " : "");
    gs_put_sizes_at(out, l->sizes, l->at[k]);
  }
}

static const char *
reason_of(const looking *l) {
  const pv_open_answer *o = l->out;
  const char *why = o->answer.reason ? o->answer.reason : "";
  bs_text text;
  bs_text_init(&text, l->ctx->heap);
  if (o->verdict == PV_PROVED) {
    bs_put(&text, "equal at each of all sizes, ");
    put_looked(l, &text);
  } else if (o->verdict == PV_CHECKED) {
    bs_putf(&text,
            "proved at %u %s, not for all: ", BS_COUNTED(o->looked, "size"));
    put_looked(l, &text);
  } else if (!l->n) {
    bs_put(&text, "nothing is known at any of the sizes looked at");
  } else {
    bs_put(&text, "at ");
    gs_put_sizes_at(&text, l->sizes, o->at);
    bs_putf(&text, ", %s", why);
  }
  if (l->any_order && o->answer.verdict == PV_PROVED)
    bs_put(&text, PV_ANY_ORDER);
  const char *out = bs_arena_strdup(l->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

static int
by_size(const looking *l, const int64_t *x, const int64_t *y) {
  for (uint32_t k = 0; k < l->sizes->n; k++)
    if (x[k] != y[k])
      return x[k] < y[k] ? -1 : 1;
  return 0;
}

/* The least sizes first, so that a difference is told there. */
static void
sort_sizes(looking *l) {
  for (uint32_t k = 1; k < l->n; k++)
    for (uint32_t j = k; j > 0 && by_size(l, l->at[j], l->at[j - 1]) < 0; j--) {
      int64_t kept[GS_MOST_SIZES];
      memcpy(kept, l->at[j], sizeof kept);
      memcpy(l->at[j], l->at[j - 1], sizeof kept);
      memcpy(l->at[j - 1], kept, sizeof kept);
    }
}

static pv_verdict
verdict_of(const looking *l) {
  pv_verdict worst = l->out->looked ? l->out->answer.verdict : PV_UNKNOWN;
  if (worst == PV_PROVED && !l->out->all)
    return PV_CHECKED;
  return worst;
}

/* ---- all ---- */

/* A proof for all sizes is compared with what holds at a few small ones, so
 * that a fault of the argument does not become a wrong verdict. */
static bool
is_contradicted(looking *l) {
  pv_open_answer said = *l->out;
  *l->out = (pv_open_answer){.verdict = PV_UNKNOWN};
  l->most_elements = FEW_ELEMENTS;
  add_alike(l, 1);
  add_alike(l, 3);
  look_at_all(l);
  if (l->out->answer.verdict == PV_REFUTED)
    return true;
  *l->out = said;
  return false;
}

static void
look_at_sizes(looking *l) {
  *l->out = (pv_open_answer){.verdict = PV_UNKNOWN};
  l->most_elements = MOST_ELEMENTS;
  choose_sizes(l);
  sort_sizes(l);
  look_at_all(l);
}

void
pv_equal_open(const gs_context *ctx, const gs_program *a, const gs_program *b,
              const pv_options *options, pv_open_answer *out) {
  looking *l = bs_calloc(ctx->heap, 1, sizeof *l);
  *l = (looking){.ctx = ctx,
                 .a = a,
                 .b = b,
                 .sizes = a->sizes,
                 .options = options,
                 .out = out};
  *out = (pv_open_answer){.verdict = PV_PROVED};
  out->reason = prove_terms(l);
  bool shown = out->reason;
  if (!shown)
    look_at_sizes(l);
  if (!shown || is_contradicted(l)) {
    out->verdict = verdict_of(l);
    out->decided = out->looked && out->answer.verdict != PV_PROVED;
    out->reason = reason_of(l);
  }
  bs_free(ctx->heap, l);
}
