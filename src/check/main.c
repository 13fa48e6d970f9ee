/* SPDX-License-Identifier: MIT */
/* main.c - glen-check-proof: is a proof of glen one? (docs/PROOFS.md) */
#include "base/places.h"
#include "check/check.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED = 0, BAD_INPUT = 1, USAGE = 2, REJECTED = 4, MOST = 256 };
enum { FILES, RULES, PARAMS, TARGET, QUIET, LISTS };

/* What is said of each, in order. */
typedef struct list {
  const char *said[MOST];
  uint32_t n;
} list;

typedef struct job {
  list lists[LISTS];
  bs_heap *heap;
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
    printf(x->at ? "rejected: lemma %u: " : "rejected: ", x->at);
    puts(x->why);
    return REJECTED;
  }
  printf("accepted: %u %s, %u %s, %u %s\n%s",
         BS_COUNTED(x->claims.len, "output"),
         BS_COUNTED(x->lemmas.len, "lemma"),
         BS_COUNTED(x->n_applied, "rule application"),
         quiet ? "" : "it rests on:\n");
  if (!quiet)
    put_rules(ctx, x->rules);
  return ACCEPTED;
}

/* ---- the job ---- */

static int
load(const gs_context *ctx, const job *j, ck_rules *rules) {
  const list *given = j->lists;
  uint32_t n = given[TARGET].n;
  const char *last = n ? given[TARGET].said[n - 1] : NULL;
  const bs_place *at = &bs_targets_place;
  gs_target *t =
      n ? gs_target_parse_file(ctx, bs_path_found(ctx->arena, at, last))
        : gs_target_default(ctx);
  bool ok = t != NULL;
  ck_rules_init(rules, ctx, t);
  for (uint32_t k = 0; k < given[PARAMS].n; k++)
    if (!ck_give_param(rules, given[PARAMS].said[k]))
      return USAGE;
  for (uint32_t k = 0; ok && k < given[RULES].n; k++)
    ok = gs_forms_load(&rules->forms, bs_path_found(ctx->arena, &bs_rules_place,
                                                    given[RULES].said[k]));
  ck_add_instrs(rules);
  return ok && ck_know_params(rules) ? ACCEPTED : BAD_INPUT;
}

static int
check(const gs_context *ctx, const job *j) {
  const list *files = &j->lists[FILES];
  ck_rules rules;
  gs_program *p[2] = {NULL, NULL}; /* the program, the result */
  ck_proof x = {.ctx = ctx, .rules = &rules};
  int code = load(ctx, j, &rules);
  bool ok = code == ACCEPTED;
  for (uint32_t k = 0; ok && k < files->n; k += 2) {
    p[k / 2] = gs_parse_file(ctx, rules.target, files->said[k]);
    ok = p[k / 2] != NULL;
  }
  if (!ok || !ck_read_proof(&x, files->said[1]))
    return code ? code : BAD_INPUT;
  ck_check_proof(&x, p[0], p[1]);
  return say(ctx, &x, j->lists[QUIET].n);
}

static void
run(void *arg) {
  job *j = arg;
  bs_arena arena;
  bs_diags diags;
  bs_text text;
  bs_arena_init(&arena, j->heap);
  bs_diags_init(&diags, j->heap);
  gs_context ctx = {j->heap, &arena, bs_values_new(j->heap), &diags};
  j->code = check(&ctx, j);
  bs_text_init(&text, j->heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &text);
  fputs(bs_text_str(&text), stderr);
}

/* ---- the command line ---- */

static bool
take(job *j, int which, const char *word) {
  list *to = &j->lists[which];
  if (to->n == MOST)
    return false;
  to->said[to->n++] = word;
  return true;
}

static bool
parse(int argc, char **argv, job *j) {
  static const struct option names[] = {{"rules", required_argument, 0, 'r'},
                                        {"param", required_argument, 0, 'p'},
                                        {"target", required_argument, 0, 't'},
                                        {"quiet", no_argument, 0, 'q'},
                                        {0}};
  static const char letters[] = " rptq"; /* by list */
  bool ok = true;
  opterr = 0;
  for (int c; ok && (c = getopt_long(argc, argv, "r:p:t:q", names, 0)) != -1;)
    ok = c != '?' && take(j, (int)(strchr(letters, c) - letters), optarg);
  for (; ok && optind < argc; optind++)
    ok = take(j, FILES, argv[optind]);
  return ok && (j->lists[FILES].n == 2 || j->lists[FILES].n == 3);
}

int
main(int argc, char **argv) {
  bs_heap heap;
  job j = {.heap = &heap, .code = 70};
  if (argc == 2 && !strcmp(argv[1], "--help")) {
    fputs(usage, stdout);
    return ACCEPTED;
  }
  if (!parse(argc, argv, &j)) {
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
