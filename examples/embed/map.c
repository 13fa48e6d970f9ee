/* SPDX-License-Identifier: MIT */
/* map.c - a program rewritten for an accelerator, with a rule of one's own. */
#include <glen/glen.h>
#include <stdio.h>
#include <string.h>

static const char program[] =
    "(tensor A (shape 16 16) f32)\n"
    "(tensor B (shape 16 16) f32)\n"
    "(let C (compute dotProd\n"
    "  (cartProd (access A 1) (transpose (access B 1) (list 1 0)))))\n"
    "(output C)\n";

static const char rule[] =
    "(rule twice-transposed \"Two transpositions undo each other.\"\n"
    "  (transpose (transpose ?a (list 1 0)) (list 1 0))\n"
    "  => ?a)\n";

int
main(void) {
  glen_context *glen = glen_context_new(NULL, 0);
  const char *shipped[] = {"rules"};
  glen_saturate_options options;
  glen_summary summary;
  glen_target *target = glen_target_load(glen, "systolic16");
  glen_rules *rules = target ? glen_rules_parse(glen, target, shipped, 1,
                                                "<mine>", rule, strlen(rule))
                             : NULL;
  glen_program *p = rules ? glen_program_parse(glen, target, "<program>",
                                               program, strlen(program))
                          : NULL;
  glen_saturate_defaults(&options);
  glen_result *result =
      p ? glen_saturate(glen, p, rules, target, &options) : NULL;
  if (!result) {
    fputs(glen_take_diagnostics(glen, GLEN_DIAG_TEXT), stderr);
    return 1;
  }
  glen_result_summary(result, &summary);
  printf("%g cycles, was %g\n", summary.cost_after, summary.cost_before);
  fputs(glen_program_text(glen, glen_result_program(result), false), stdout);
  glen_result_free(result);
  glen_program_free(p);
  glen_rules_free(rules);
  glen_target_free(target);
  glen_context_free(glen);
  return 0;
}
