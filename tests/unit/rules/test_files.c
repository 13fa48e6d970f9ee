/* SPDX-License-Identifier: MIT */
/* The tests that stand in rule files: those of rules/ and of tests/rules/. */
#include "base/file.h"
#include "lawful.h"

TestSuite(files, .init = fixture_start, .fini = fixture_stop);

static void
all_pass_in(const char *directory) {
  const char *const *names;
  uint32_t n;
  cr_assert(bs_dir_list(&diags, directory, ".rules", &names, &n), "%s",
            faults());
  for (uint32_t k = 0; k < n; k++) {
    rl_rules *rules = rl_new(&ctx, NULL);
    bool ok = rl_load(rules, names[k]);
    cr_assert(rl_finish(rules) && ok, "%s", faults());
    if (rl_count_tests(rules))
      all_pass(rules);
  }
}

Test(files, shipped) {
  all_pass_in(GLEN_SOURCE_DIR "/rules");
}

Test(files, acceptance) {
  all_pass_in(GLEN_SOURCE_DIR "/tests/rules");
}

/* The folder as a whole: no name twice, every set and strategy resolved. */
Test(files, together) {
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok = rl_load(rules, GLEN_SOURCE_DIR "/rules");
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  for (uint32_t k = 0; k < rl_count(rules); k++) {
    const rl_rule *r = rl_at(rules, k);
    cr_expect(r->intent && *r->intent && !strchr(r->intent, '\n'), "%s: %s",
              r->name, "the intent is one line");
  }
}
