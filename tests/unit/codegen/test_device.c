/* SPDX-License-Identifier: MIT */
/* test_device.c - kernels of a GPU: which pairs of accesses need a barrier, or
 * cannot be in different blocks at all. */
#include "nests.h"
#include "codegen/device/device.h"

TestSuite(device, .init = fixture_start, .fini = fixture_stop);

/* ---- what threads may share ---- */

/* What a statement does with an element of w; `%s` is where. */
typedef struct deed {
  const char *text;
  bool reads, writes, anywhere;
} deed;

static const deed deeds[] = {
    {"w[%s] = x[b, %s]", false, true, false},
    {"w[%s] += x[b, %s]", true, true, false},
    {"y[b, %s] = w[%s] + 1", true, false, false},
    {"y[b, %s] = gather(w[%s], 4, 1, n[b])", true, false, true},
    {"y[b, %s] += 1", false, false, false},
};

/* Four threads of each block, and what they all have one of. */
typedef struct place {
  const char *array, *row;
  uint32_t blocks;
} place;

static const place places[] = {
    {"output w: i32[2, 4]\n", "b, ", 2},
    {"output w: i32[2, 4]\n", "b, ", 1},
    {"output w: i32[4]\n", "", 2},
    {"output w: i32[4]\n", "", 1},
    {"local w: i32[2 fold 1, 4] shared\n", "b, ", 2},
    {"local w: i32[1 fold 1, 4] shared\n", "b, ", 1},
};

static bool
is_shared(const place *p) {
  return !strncmp(p->array, "local", 5);
}

/* The deed of the thread of number `own`, with the element of number `of`. */
static const char *
deed_text(const deed *d, const place *p, const char *own, const char *of) {
  const char *element =
      bs_arena_printf(&arena, "%s%s", p->row, d->anywhere ? "0" : of);
  bool of_w = d->text[0] == 'w';
  return bs_arena_printf(&arena, d->text, of_w ? element : own,
                         of_w ? own : element);
}

/* The second loop's threads count from 4. */
static const char *
two_deeds(const deed *s, const deed *t, const place *p, bool other, bool sync) {
  return bs_arena_printf(
      &arena,
      "input x: i32[2, 4]\ninput n: i32[2]\n%soutput y: i32[2, 4]\n"
      "bind(blockIdx.x) for b in 0..%u {\n"
      "  bind(threadIdx.x) for i in 0..4 {\n    S: %s\n  }\n%s"
      "  bind(threadIdx.x) for j in 4..8 {\n    T: %s\n  }\n}\n",
      p->array, p->blocks, deed_text(s, p, "i", "i"), sync ? "  sync\n" : "",
      deed_text(t, p, "j - 4", other ? "7 - j" : "j - 4"));
}

/* A look-up may be of any element, of other blocks' rows, too.  Threads of one
 * block are ordered by a barrier between them, and blocks by nothing. */
static bool
may_run(const deed *s, const deed *t, const place *p, bool other, bool sync) {
  bool written = s->writes || t->writes;
  bool both = (s->reads || s->writes) && (t->reads || t->writes);
  bool looks_up = s->anywhere || t->anywhere;
  if (p->blocks > 1 && written && (!*p->row || (both && looks_up)))
    return false;
  return !written || !both || sync || (!other && !looks_up);
}

static bool
becomes_cuda(const char *text) {
  bs_text cu;
  bs_text_init(&cu, &heap);
  bs_diags_clear(&diags);
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  bool ok = p && cg_emit_cuda(p, &(cg_options){.name = "f"}, &cu);
  cr_expect_eq(ok, !diags.errors, "%s", text);
  bs_text_done(&cu);
  return ok;
}

Test(device, threads_share_what_a_barrier_orders) {
  enum { N = COUNT(deeds), ALL = N * N * COUNT(places) * 4 };
  uint32_t refused = 0;
  for (uint32_t k = 0; k < ALL; k++) {
    const deed *s = &deeds[k / 4 % N], *t = &deeds[k / 4 / N % N];
    const place *p = &places[k / 4 / N / N];
    bool other = k & 1, sync = k >> 1 & 1, may = may_run(s, t, p, other, sync);
    /* Nothing would be in it yet; or a look-up, which takes no folded array. */
    if (is_shared(p) && (s->reads || !s->writes || t->anywhere))
      continue;
    const char *text = two_deeds(s, t, p, other, sync);
    cr_expect_eq(becomes_cuda(text), may, "%s%s", text,
                 may ? "is refused" : "is not refused");
    refused += !may;
  }
  cr_expect(refused > ALL / 5 && refused < ALL / 2, "%u of %u", refused, ALL);
}
