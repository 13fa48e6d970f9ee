/* SPDX-License-Identifier: MIT */
/* check.c - programs in memory, and diagnostics as values. */
#include <glen/glen.h>
#include <stdio.h>
#include <string.h>

static const char right[] = "(tensor A (shape 8 4) f32)\n"
                            "(let T (transpose A (list 1 0)))\n"
                            "(output T)\n";
static const char wrong[] = "(tensor A (shape 8 4) f32)\n"
                            "(let T (transpos A (list 1 0)))\n"
                            "(output T)\n";

static void
show(const glen_context *glen) {
  glen_diagnostic d;
  for (unsigned k = 0; glen_diagnostic_at(glen, k, &d); k++)
    printf("%s %u:%u-%u:%u %s\n", d.code, d.line, d.column, d.end_line,
           d.end_column, d.hint);
}

int
main(int argc, char **argv) {
  glen_context *glen = glen_context_new(NULL, 0);
  int rounds = argc > 1 && !strcmp(argv[1], "--many") ? 20000 : 1;
  if (!glen)
    return 1;
  if (glen_program_parse(glen, NULL, "<wrong>", wrong, strlen(wrong)))
    return 1;
  show(glen);
  glen_clear_diagnostics(glen);
  for (int k = 0; k < rounds; k++) {
    glen_program *p =
        glen_program_parse(glen, NULL, "<right>", right, strlen(right));
    if (!p || glen_program_inputs(p) != 1 || glen_diagnostics(glen))
      return 1;
    glen_program_free(p);
  }
  glen_context_free(glen);
  return 0;
}
