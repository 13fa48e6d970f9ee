/* SPDX-License-Identifier: MIT */
/* main.c - glen-check-proof: is a proof of glen one? (docs/PROOFS.md) */
#include "check/check.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED = 0, BAD_INPUT = 1, USAGE = 2, REJECTED = 4, MOST = 256 };

typedef struct options {
  const char *files[3];
  const char *rules[MOST], *params[MOST];
  const char *target;
  uint32_t n_files, n_rules, n_params;
  bool quiet;
} options;

typedef struct job {
  const options *o;
  bs_heap *heap;
  int code;
} job;

static const char usage[] =
    "usage: glen-check-proof PROGRAM PROOF [RESULT] [-r RULES]... [-t TARGET]\n"
    "                        [-p NAME=VALUE]... [-q]\n\n"
    "Checks that the outputs of PROOF, and of RESULT, are equal to those of\n"
    "PROGRAM when the rules and the instructions of the target are right, "
    "with\n"
    "nothing of glen but the reader of its languages and the types of terms.\n"
    "Prints which rules the proof rests on.\n\n"
    "exit codes: 0 accepted; 1 an input is wrong; 2 usage; 4 rejected; 70 "
    "internal\n";

/* ---- what is said ---- */

/* How often each rule that is used is, and where it stands. */
static void
put_rules(const gs_context *ctx, const ck_rules *r) {
  bs_text out;
  bs_text_init(&out, ctx->heap);
  for (uint32_t k = 0; k < r->list.len; k++) {
    const ck_rule *rule = r->list.data[k];
    if (!rule->used)
      continue;
    bs_putf(&out, "%8u %s%s  ", rule->used, rule->name,
            rule->instr ? " (instruction)" : "");
    bs_put_place(ctx->diags, rule->span, &out);
    bs_put(&out, "\n");
  }
  fputs(bs_text_str(&out), stdout);
}

static int
say(const gs_context *ctx, const ck_proof *x, bool quiet) {
  if (x->why) {
    if (x->at)
      printf("rejected: lemma %u: %s\n", x->at, x->why);
    else
      printf("rejected: %s\n", x->why);
    return REJECTED;
  }
  printf("accepted: %u output%s, %u lemmas, %u rule applications\n",
         x->n_claims, x->n_claims == 1 ? "" : "s", x->lemmas.len, x->n_applied);
  if (!quiet) {
    printf("it rests on:\n");
    put_rules(ctx, x->rules);
  }
  return ACCEPTED;
}

/* ---- the job ---- */

static bool
load(const gs_context *ctx, const options *o, ck_rules *rules) {
  gs_target *t =
      o->target ? gs_target_parse_file(ctx, o->target) : gs_target_default(ctx);
  bool ok = t != NULL;
  ck_rules_init(rules, ctx, t);
  for (uint32_t k = 0; ok && k < o->n_params; k++)
    ok = ck_give_param(rules, o->params[k]);
  for (uint32_t k = 0; ok && k < o->n_rules; k++)
    ok = gs_forms_load(&rules->forms, o->rules[k]);
  ck_add_instrs(rules);
  return ok;
}

static int
check(const gs_context *ctx, const options *o) {
  ck_rules rules;
  if (!load(ctx, o, &rules))
    return BAD_INPUT;
  gs_program *program = gs_parse_file(ctx, rules.target, o->files[0]);
  gs_program *result =
      o->n_files == 3 ? gs_parse_file(ctx, rules.target, o->files[2]) : NULL;
  ck_proof x = {.ctx = ctx, .rules = &rules};
  if (!program || (o->n_files == 3 && !result) ||
      !ck_read_proof(&x, o->files[1]))
    return BAD_INPUT;
  ck_check_proof(&x, program, result);
  return say(ctx, &x, o->quiet);
}

static void
run(void *arg) {
  job *j = arg;
  bs_arena arena;
  bs_diags diags;
  bs_text text;
  bs_arena_init(&arena, j->heap);
  bs_diags_init(&diags, j->heap);
  gs_context ctx = {.heap = j->heap,
                    .arena = &arena,
                    .values = bs_values_new(j->heap),
                    .diags = &diags};
  j->code = check(&ctx, j->o);
  bs_text_init(&text, j->heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &text);
  fputs(bs_text_str(&text), stderr);
}

/* ---- the command line ---- */

static bool
take(const char **list, uint32_t *n) {
  if (*n == MOST)
    return false;
  list[(*n)++] = optarg;
  return true;
}

static bool
parse(int argc, char **argv, options *o) {
  static const struct option names[] = {{"rules", required_argument, 0, 'r'},
                                        {"param", required_argument, 0, 'p'},
                                        {"target", required_argument, 0, 't'},
                                        {"quiet", no_argument, 0, 'q'},
                                        {0}};
  bool ok = true;
  opterr = 0;
  for (int c; ok && (c = getopt_long(argc, argv, "r:p:t:q", names, 0)) != -1;) {
    ok = c == 'r'   ? take(o->rules, &o->n_rules)
         : c == 'p' ? take(o->params, &o->n_params)
                    : c == 't' || c == 'q';
    o->target = c == 't' ? optarg : o->target;
    o->quiet |= c == 'q';
  }
  for (; optind < argc && o->n_files < 3; optind++)
    o->files[o->n_files++] = argv[optind];
  return ok && optind == argc && o->n_files >= 2;
}

int
main(int argc, char **argv) {
  options o = {0};
  bs_heap heap;
  job j = {.o = &o, .heap = &heap, .code = 70};
  if (argc == 2 && !strcmp(argv[1], "--help")) {
    fputs(usage, stdout);
    return ACCEPTED;
  }
  if (!parse(argc, argv, &o)) {
    fputs(usage, stderr);
    return USAGE;
  }
  bs_heap_init(&heap, NULL, 0);
  if (!bs_protect(&heap, run, &j))
    fputs("glen-check-proof: out of memory\n", stderr);
  bs_heap_done(&heap);
  if (fflush(stdout)) {
    perror("glen-check-proof: stdout");
    return BAD_INPUT;
  }
  return j.code;
}
