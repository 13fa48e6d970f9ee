/* SPDX-License-Identifier: MIT */
/* main.c - glen-check-proof: is a proof of glen one? (docs/PROOFS.md) */
#include "base/places.h"
#include "check/check.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED = 0, BAD_INPUT = 1, USAGE = 2, REJECTED = 4 };
enum { FILES, RULES, PARAMS, TARGET, QUIET, LISTS };

/* What is said of each, in order. */
typedef BS_VEC(const char *) list;

typedef struct job {
  int argc;
  char **argv;
  bs_heap heap;
  list said[LISTS];
  int code;
} job;

static const char usage[] =
    "usage: glen-check-proof PROGRAM PROOF [RESULT] [-r RULES]... [-t TARGET]\n"
    "                        [-p NAME=VALUE]... [-q]\n\n"
    "Checks that the outputs of PROOF, and of RESULT, are equal to those of\n"
    "PROGRAM when the rules and the instructions of the target are right.\n"
    "Nothing of glen is used but the reader of its languages and the types of\n"
    "terms.  Prints which rules the proof rests on.\n\n"
    "exit codes: 0 accepted; 1 an input is wrong; 2 usage; 4 rejected;\n"
    "70 internal\n";

/* ---- what is said ---- */

/* Of what is accepted, how often each rule is used, and where it stands. */
static int
say(const gs_context *ctx, const ck_proof *x, bool quiet) {
  bs_text out;
  bs_text_init(&out, ctx->heap);
  if (x->why) {
    printf(x->at ? "rejected: lemma %u: " : "rejected: ", x->at);
    puts(x->why);
    return REJECTED;
  }
  bs_putf(&out, "accepted: %u %s, %u %s, %u %s\n%s",
          BS_COUNTED(x->claims.n, "output"), BS_COUNTED(x->lemmas.len, "lemma"),
          BS_COUNTED(x->n_applied, "rule application"),
          quiet ? "" : "it rests on:\n");
  for (uint32_t k = 0; k < x->rules->list.len && !quiet; k++) {
    const ck_rule *rule = x->rules->list.data[k];
    if (!rule->used)
      continue;
    bs_putf(&out, "%8u %s%s  ", rule->used, rule->name,
            rule->instr ? " (instruction)" : "");
    bs_put_place(ctx->diags, rule->span, &out);
    bs_put(&out, "\n");
  }
  fputs(bs_text_str(&out), stdout);
  return ACCEPTED;
}

/* ---- the job ---- */

static int
load(const gs_context *ctx, const job *j, ck_rules *rules) {
  const list *target = &j->said[TARGET];
  const list *params = &j->said[PARAMS], *files = &j->said[RULES];
  const char *file = target->len ? bs_last(target) : NULL;
  gs_target *t =
      file ? gs_target_parse_file(
                 ctx, bs_path_found(ctx->arena, &bs_targets_place, file))
           : gs_target_default(ctx);
  bool ok = t != NULL;
  ck_rules_init(rules, ctx, t);
  for (uint32_t k = 0; k < params->len; k++)
    if (!ck_give_param(rules, params->data[k]))
      return USAGE;
  for (uint32_t k = 0; ok && k < files->len; k++)
    ok = gs_forms_load(&rules->forms, bs_path_found(ctx->arena, &bs_rules_place,
                                                    files->data[k]));
  ck_add_instrs(rules);
  return ok && ck_know_params(rules) ? ACCEPTED : BAD_INPUT;
}

static int
check(const gs_context *ctx, const job *j) {
  const list *files = &j->said[FILES];
  ck_rules rules;
  gs_program *p[2] = {NULL, NULL}; /* the program, the result */
  ck_proof x = {.ctx = ctx, .rules = &rules};
  int code = load(ctx, j, &rules);
  bool ok = code == ACCEPTED;
  for (uint32_t k = 0; ok && k < files->len; k += 2) {
    p[k / 2] = gs_parse_file(ctx, rules.target, files->data[k]);
    ok = p[k / 2] != NULL;
  }
  if (!ok || !ck_read_proof(&x, files->data[1]))
    return code ? code : BAD_INPUT;
  ck_check_proof(&x, p[0], p[1]);
  return say(ctx, &x, j->said[QUIET].len > 0);
}

/* ---- the command line ---- */

static bool
parse(job *j) {
  static const struct option names[] = {{"rules", required_argument, 0, 'r'},
                                        {"param", required_argument, 0, 'p'},
                                        {"target", required_argument, 0, 't'},
                                        {"quiet", no_argument, 0, 'q'},
                                        {0}};
  static const char letters[] = " rptq"; /* by list */
  opterr = 0;
  for (int c; (c = getopt_long(j->argc, j->argv, "r:p:t:q", names, 0)) != -1;) {
    if (c == '?')
      return false;
    bs_push(&j->heap, &j->said[strchr(letters, c) - letters], optarg);
  }
  for (int k = optind; k < j->argc; k++)
    bs_push(&j->heap, &j->said[FILES], j->argv[k]);
  return j->said[FILES].len == 2 || j->said[FILES].len == 3;
}

static void
run(void *arg) {
  job *j = arg;
  bs_arena arena;
  bs_diags diags;
  bs_text text;
  bs_arena_init(&arena, &j->heap);
  bs_diags_init(&diags, &j->heap);
  bs_text_init(&text, &j->heap);
  gs_context ctx = {&j->heap, &arena, bs_values_new(&j->heap), &diags};
  bool ok = parse(j);
  j->code = ok ? check(&ctx, j) : USAGE;
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &text);
  fputs(ok ? bs_text_str(&text) : usage, stderr);
}

int
main(int argc, char **argv) {
  job j = {.argc = argc, .argv = argv, .code = 70};
  if (argc == 2 && !strcmp(argv[1], "--help")) {
    fputs(usage, stdout);
    return ACCEPTED;
  }
  bs_heap_init(&j.heap, NULL, 0);
  if (!bs_protect(&j.heap, run, &j))
    fputs("glen-check-proof: out of memory\n", stderr);
  bs_heap_done(&j.heap);
  if (fflush(stdout)) {
    perror("glen-check-proof: stdout");
    return BAD_INPUT;
  }
  return j.code;
}
