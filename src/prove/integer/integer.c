/* SPDX-License-Identifier: MIT */
/* integer.c - pairs of terms of integers, element by element.
 *
 * What an element of both sides is, as a circuit (circuit.h), is decided by
 * trying all values of its leaves, or by Z3.  Most elements of a term have one
 * circuit but for the names of the leaves, so a circuit is decided once.  Large
 * terms are decided as one lane, if at all (lane.c).
 *
 * Values that tell both sides apart become the first input that is run: the
 * interpreter has the last word. */
#include "base/hash.h"
#include "prove/integer/decide.h"
#include <string.h>

#define KNOWN      4096 /* circuits that are remembered; a power of two */
#define MOST_TEXT  ((size_t)1 << 25) /* bytes of their texts */
#define MOST_ASKED 24                /* new circuits of a question */

typedef struct known {
  uint64_t hash;       /* of the text */
  const uint8_t *text; /* of the circuit; NULL: free */
  uint32_t length;
  pv_outcome outcome;
} known;

struct pv_memo {
  bs_heap *heap;
  pv_bits *bits;
  uint32_t n;
  size_t bytes; /* of all texts */
  known known[KNOWN];
};

pv_memo *
pv_memo_new(bs_heap *heap) {
  pv_memo *m = bs_calloc(heap, 1, sizeof *m);
  m->heap = heap;
  m->bits = pv_bits_new(heap);
  return m;
}

/* --- one circuit ---------------------------------------------------------- */

/* Few values are tried sooner than Z3 is asked. */
#define FEW_BITS 16

static pv_outcome
decide(pv_memo *m, const pv_circuit *c, const bs_values *values, double *out) {
  pv_outcome found = PV_OPEN;
  if (c->bits <= FEW_BITS)
    return pv_exhaust(c, values, out);
  found = pv_bits_decide(m->bits, c, values, out);
  return found == PV_OPEN ? pv_exhaust(c, values, out) : found;
}

/* Equal hashes say nothing: the circuit itself is compared. */
static known *
find(pv_memo *m, const pv_circuit *c, uint64_t hash) {
  uint32_t at = (uint32_t)hash & (KNOWN - 1);
  for (known *k;; at = (at + 1) & (KNOWN - 1)) {
    k = &m->known[at];
    if (!k->text || (k->hash == hash && k->length == c->text.len &&
                     !memcmp(k->text, c->text.data, k->length)))
      return k;
  }
}

static void
remember(pv_memo *m, known *k, const pv_circuit *c, uint64_t hash,
         pv_outcome outcome) {
  if (m->n == KNOWN / 2 || m->bytes + c->text.len > MOST_TEXT)
    return;
  uint8_t *text = bs_alloc(m->heap, c->text.len);
  memcpy(text, c->text.data, c->text.len);
  *k = (known){hash, text, c->text.len, outcome};
  m->bytes += c->text.len;
  m->n++;
}

/* Values that tell apart are wanted, and found again each time.  A question
 * has some circuits of its own, so that it ends in seconds. */
static pv_outcome
outcome_of(pv_memo *m, pv_circuit *c, const bs_values *values, uint32_t *asked,
           double *out) {
  pv_circuit_write(c);
  uint64_t hash = bs_hash(c->text.data, c->text.len);
  known *k = find(m, c, hash);
  if (k->text && k->outcome != PV_DIFFERENT)
    return k->outcome;
  if (++*asked > MOST_ASKED)
    return PV_OPEN;
  bs_stage_check(c->heap);
  pv_outcome found = decide(m, c, values, out);
  if (!k->text)
    remember(m, k, c, hash, found);
  return found;
}

/* --- a pair --------------------------------------------------------------- */

typedef struct decider {
  pv_session *s;
  pv_memo *memo;
  pv_bare bare;
  pv_circuit circuit;
  double values[PV_MOST_LEAVES];
  uint32_t asked;
  bool by_bits;
} decider;

/* The first input to be run. */
static void
note_candidate(decider *d) {
  pv_session *s = d->s;
  const pv_circuit *c = &d->circuit;
  uint32_t n = c->wires.len;
  bool lanes = n && c->wires.data[0].element == PV_EVERYWHERE;
  s->hint = (pv_hint){
      .n = n,
      .certain = c->integers && !lanes,
      .wires =
          bs_arena_copy(s->ctx.arena, c->wires.data, n * sizeof *c->wires.data),
      .values = bs_arena_copy(s->ctx.arena, d->values, n * sizeof *d->values)};
}

static bool
element_is_same(decider *d, pv_value left, pv_value right) {
  if (left == right)
    return true;
  if (!pv_circuit_take(&d->bare, left, right, &d->circuit))
    return false;
  pv_counts *counts = d->s->options->counts;
  pv_count(counts, PV_W_CIRCUITS, 1);
  pv_count(counts, PV_W_GATES, d->circuit.gates.len);
  pv_outcome found =
      outcome_of(d->memo, &d->circuit, d->s->ctx.values, &d->asked, d->values);
  d->by_bits |= found == PV_SAME_BY_BITS;
  if (found == PV_DIFFERENT)
    note_candidate(d);
  return found == PV_SAME_BY_BITS || found == PV_SAME_BY_VALUES;
}

/* `n`: the elements there are, 1 of a lane. */
static bool
pair_is_same(decider *d, const pv_pair *pair, int64_t n) {
  const pv_value *left = d->bare.elements.of[pair->left.i];
  const pv_value *right = d->bare.elements.of[pair->right.i];
  for (int64_t k = 0; k < n; k++)
    if (!element_is_same(d, left[k], right[k]))
      return false;
  return true;
}

static void
decide_pairs(decider *d, bool lanes) {
  pv_session *s = d->s;
  for (uint32_t k = 0; k < s->n_pairs; k++) {
    gs_type type;
    gs_type_at(s->plain, s->pairs[k].left, &type);
    if (!s->proved[k] &&
        pair_is_same(d, &s->pairs[k], lanes ? 1 : gs_elements(&type)))
      s->proved[k] = 1;
  }
}

/* --- all ------------------------------------------------------------------ */

static bool
has_integers(const gs_program *p, const uint8_t *live) {
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    gs_type type;
    if (!live[k] || p->nodes.data[k].op != GS_TENSOR)
      continue;
    gs_type_at(p, (gs_term){k}, &type);
    if (gs_dtype_table[type.dtype].integer)
      return true;
  }
  return false;
}

static void
mark_open(pv_session *s, uint8_t *live) {
  for (uint32_t k = 0; k < s->n_pairs; k++)
    if (!s->proved[k])
      pv_mark(s->plain, &s->pairs[k], 1, live);
}

static void
look(decider *d, const uint8_t *live) {
  pv_session *s = d->s;
  int64_t most = s->options->max_elements;
  bool lanes = pv_count_elements(s->plain, live, most) < 0;
  pv_bare_init(&d->bare, s->ctx.heap, s->plain, s->options);
  pv_circuit_init(&d->circuit, s->ctx.heap);
  if (lanes ? pv_bare_lanes(&d->bare, live) : pv_bare_elements(&d->bare, live))
    decide_pairs(d, lanes);
  pv_count(s->options->counts, PV_W_VALUES, d->bare.values.work);
  pv_circuit_done(&d->circuit);
  pv_bare_done(&d->bare);
}

void
pv_decide_integers(pv_session *s) {
  uint8_t *live = bs_calloc(s->ctx.heap, s->plain->nodes.len + (size_t)1, 1);
  decider *d = bs_calloc(s->ctx.heap, 1, sizeof *d);
  mark_open(s, live);
  d->s = s;
  if (pv_is_plain(s->plain, live) && has_integers(s->plain, live)) {
    d->memo = s->options->memo ? s->options->memo : pv_memo_new(s->ctx.heap);
    look(d, live);
  }
  s->answer->method = d->by_bits ? PV_BY_BITS : PV_BY_VALUES;
  s->answer->reason =
      d->by_bits ? "equal as bit-vectors" : "equal for all values, all tried";
  bs_free(s->ctx.heap, d);
  bs_free(s->ctx.heap, live);
}
