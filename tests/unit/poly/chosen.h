/* SPDX-License-Identifier: MIT */
/* chosen.h - programs under the schedule that is chosen for them, and whether
 * they compute what they did. */
#include "fixture.h"
#include "poly/loops/execute.h"
#include "poly/search/auto.h"
#include "poly/schedule/primitive.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/seeded.h"

static po_program *
chosen_for(const gs_target *target, const char *text) {
  po_auto_options options = {.fuse = PO_FUSE_POST_TILE};
  po_program *p = lower_with(target, text, (po_options){0});
  po_auto_result done = po_schedule_automatically(&p, &options);
  cr_assert_eq(done.fuse, PO_FUSE_POST_TILE);
  cr_assert(done.finished);
  return p;
}

static po_program *
chosen(const char *text) {
  return chosen_for(gs_target_default(&ctx), text);
}

/* name: with a space behind */
static uint32_t
count_commands(const po_program *p, const char *name) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->script.len; k++) {
    const char *text = p->script.data[k], *right = strstr(text, " = ");
    n += !strncmp(right ? right + 3 : text, name, strlen(name));
  }
  return n;
}

static uint64_t
outputs_of(const po_program *p) {
  gs_tensor in[4], out[4];
  uint64_t hash = 1469598103934665603u;
  seed_tensors(p, 7, in, out);
  cr_assert(po_execute(p, in, out), "%s", faults());
  for (uint32_t j = 0; j < p->source->outputs.len; j++) {
    const unsigned char *bytes = out[j].data;
    for (int64_t k = 0;
         k < out[j].elements * gs_dtype_table[out[j].dtype].bytes; k++)
      hash = (hash ^ bytes[k]) * 1099511628211u;
  }
  return hash;
}

/* As it was lowered, and by its own script, the program gives the same.  Run
 * one instance at a time, which other suites do under the sanitizers, it is
 * most of the time: without them only. */
static void
expect_right_for(const gs_target *target, po_program *p, const char *text) {
  po_program *plain = lower_with(target, text, (po_options){0});
  cr_assert(SANITIZED || outputs_of(plain) == outputs_of(p));
  bs_text script, out;
  bs_text_init(&script, &heap);
  bs_text_init(&out, &heap);
  po_print_script(p, &script);
  uint32_t source = bs_source_add(&diags, "s.sched", bs_text_str(&script),
                                  strlen(bs_text_str(&script)));
  cr_assert(po_run_script(&plain, source, &out), "%s", faults());
  cr_assert_str_eq(loops_text(plain), loops_text(p));
  po_free(plain);
}

static void
expect_right(po_program *p, const char *text) {
  expect_right_for(gs_target_default(&ctx), p, text);
}
