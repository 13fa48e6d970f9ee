/* SPDX-License-Identifier: MIT */
/* options_table.c - all options of all commands.
 *
 * A row names the commands it belongs to by a bit mask over the commands' order
 * in cl_commands. */
#include "cli/options_table.h"

#include <string.h>

#define AT(field) offsetof(cl_options, field)

const cl_row cl_rows[] = {
    {"rules", 'r', "PATH", LIST, AT(rules), EXPLORES, NULL, NULL,
     "a rule file, a directory of *.rules, or the name of one that comes with "
     "glen; none: no rules; may be given several times"},
    {"target", 't', "FILE", TEXT, AT(target),
     EVERY & ~(RULES_FMT | TARGET_TEST | EXTRACT | COMPLETIONS), NULL, NULL,
     "machine description, or the name of one that comes with glen; "
     "\"native\" reads this machine (default: a modest CPU)"},
    {"param", 'p', "NAME=VALUE", LIST, AT(params), EXPLORES, NULL, NULL,
     "sets a parameter of the rule files"},
    {"disable-rule", 0, "NAME", LIST, AT(disabled), CHOOSES, NULL, NULL,
     "leaves out a rule, or a set of rules; may be given several times"},
    {"strategy", 0, "NAME", TEXT, AT(strategy), CHOOSES, NULL, NULL,
     "the strategy to run (default: the rule files' own)"},
    {"scheduler", 0, "NAME", TEXT, AT(scheduler), CHOOSES, "simple",
     "simple backoff", "backoff rests rules that match too often"},
    {"regions", 0, "WAY", TEXT, AT(regions), CHOOSES, "auto",
     "auto whole layers",
     "layers saturates each layer of a network by itself, equal ones once; "
     "whole everything in one e-graph; auto by layers where there are many"},
    {"iter-limit", 0, "N", COUNT, AT(iter_limit), CHOOSES, "1000", NULL,
     "iterations (0: none, likewise below)"},
    {"node-limit", 0, "N", COUNT, AT(node_limit), CHOOSES, "2000000", NULL,
     "e-nodes"},
    {"time-limit", 0, "SECONDS", SECONDS, AT(time_limit), WORKS, "0", NULL,
     "of the whole command; what is cut short then depends on the machine"},
    {"memory-limit", 0, "BYTES", BYTES, AT(memory_limit), WORKS, "auto", NULL,
     "size of the whole process; K, M, G and T are powers of 1024; auto: three "
     "quarters of what the machine or the container has"},
    {"work-limit", 0, "N", COUNT, AT(work_limit), CHOOSES, "536870912", NULL,
     "steps of one rule's search in an iteration, a match being four for each "
     "of its words; a 262,144th of it more for each e-node"},
    {"match-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, "0", NULL,
     "matches applied of each rule, in the whole run"},
    {"rule-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, NULL, NULL,
     "another name of --match-limit"},
    {"require-saturation", 0, NULL, FLAG, AT(require_saturation), CHOOSES, NULL,
     NULL, "exit with 3 when a limit was hit"},
    {"extractor", 0, "NAME", TEXT, AT(extractor), CHOOSES | EXTRACT, "dag",
     "tree dag exact ilp",
     "tree counts shared terms each time, dag once (greedy), exact and ilp "
     "are optimal"},
    {"extract-time", 0, "SECONDS", SECONDS, AT(extract_time), CHOOSES | EXTRACT,
     "10", NULL, "time of the exact extractors; then the best so far is taken"},
    {"strict-fp", 0, NULL, FLAG, AT(strict_fp),
     COMPILE | RUN | SCHEDULE | LAYOUT | SIMULATE, NULL, NULL,
     "keeps the order of floating-point sums, and NaN in comparisons"},
    {"prepack", 0, "INPUT", LIST, AT(prepack), SATURATE | COMPILE | RUN, NULL,
     NULL,
     "an input that is the same for all calls, as weights are: NAME_prepack "
     "packs it once; may be given several times"},
    {"weights", 0, "WAY", TEXT, AT(weights), COMPILE | RUN, "init",
     "init inputs",
     "inputs whose elements stand in files: NAME_init makes of them once what "
     "all calls need; or they are inputs like others.  With --prepack and in "
     "CUDA they are inputs"},
    {"dispatch", 0, "LIST", WORDS, AT(dispatch), COMPILE | RUN, NULL,
     "none avx2 avx512",
     "code for any processor and, with commas between them, for those of "
     "x86-64 that have more: chosen when it runs; none: for the target alone "
     "(default of glen compile: avx2,avx512, where there is no --target and no "
     "schedule is asked for)"},
    {"output", 'o', "FILE", TEXT, AT(output),
     SATURATE | COMPILE | RUN | SCHEDULE | LAYOUT | MAP, NULL, NULL,
     "where the result goes; - is stdout"},
    {"output", 'o', "FILE.glen", TEXT, AT(output), IMPORT, NULL, NULL,
     "the program; its weights go beside it"},
    {"dim", 0, "NAME=SIZE", LIST, AT(dims),
     IMPORT | CHOOSES | CHECK | SCHEDULE | LAYOUT, NULL, NULL,
     "the size of a dimension that a model (.onnx) leaves open"},
    {"size", 0, "NAME=NUMBER", LIST, AT(sizes), COMPILE | RUN | SCHEDULE, NULL,
     NULL,
     "a number for a size that loops (.loops) leave open: `glen run` calls the "
     "code for all sizes with it, the others put it in; may be given several "
     "times"},
    {"list-operators", 0, NULL, FLAG, AT(list_operators), IMPORT, NULL, NULL,
     "prints the operators that are supported and reads nothing"},
    {"emit", 0, "LIST", WORDS, AT(emit), COMPILE, "c,h",
     "glen egraph-json dot html loops sched tree implgraph implgraph-json c "
     "cuda h manifest",
     "what to write, with commas between"},
    {"emit", 0, "FORM", TEXT, AT(form), SATURATE, "glen", "glen html proof",
     "what -o writes: the program, a report for a browser, or a proof that the "
     "program follows from the input"},
    {"name", 0, "NAME", TEXT, AT(name), COMPILE | SCHEDULE, NULL, NULL,
     "the C function (default: from the output file)"},
    {"depfile", 0, "FILE", TEXT, AT(depfile), BUILDS, NULL, NULL,
     "lists every file read, and every folder of rules, for build systems"},
    {"depfile-format", 0, "FORMAT", TEXT, AT(depfile_format), BUILDS, "make",
     "make ninja", "how names with special characters are written in it"},
    {"stamp", 0, "FILE", TEXT, AT(stamp), BUILDS, NULL, NULL,
     "an empty file that is written anew whenever the command has succeeded; "
     "what --depfile lists are then its dependencies"},
    {"touch", 0, NULL, FLAG, AT(touch), WRITES, NULL, NULL,
     "gives the outputs the present time even where they do not change, which "
     "make needs (ninja does not)"},
    {"dump-phases", 0, "DIR", TEXT, AT(dump_phases), SATURATE | COMPILE | RUN,
     NULL, NULL, "writes every stage: 0.input.glen, 1.egraph.json, ..."},
    {"input", 'i', "NAME=F.npy", LIST, AT(inputs), RUN | SIMULATE, NULL, NULL,
     "an input array; those not given are made from the seed"},
    {"seed", 0, "N", COUNT, AT(seed),
     RUN | CHECK | COMPILE | SCHEDULE | SIMULATE, "1", NULL,
     "of inputs that are not given"},
    {"seed", 0, "N", COUNT, AT(seed), RULES_PROVE, "1", NULL,
     "of shapes and inputs; one seed gives one answer"},
    {"seed", 0, "N", COUNT, AT(seed), TARGET_TEST, "1", NULL,
     "of sizes and values; one seed gives one answer"},
    {"shapes", 0, "N", COUNT, AT(shapes), RULES_PROVE, "224", NULL,
     "how many shapes a rule is looked at on"},
    {"jobs", 'j', "N", COUNT, AT(jobs), RULES_PROVE, "0", NULL,
     "rules proved at a time (0: as many as there are cores); the answers do "
     "not depend on it"},
    {"interpret", 0, NULL, FLAG, AT(interpret), RUN, NULL, NULL,
     "uses the reference interpreter: no C compiler, slow"},
    {"check", 0, NULL, FLAG, AT(check), RUN, NULL, NULL,
     "compares with the reference interpreter; exit 4 on a mismatch"},
    {"trace", 0, NULL, FLAG, AT(trace), SIMULATE, NULL, NULL,
     "a line for each call: from and to which cycle, in which queue, where its "
     "operands lie"},
    {"check", 0, NULL, FLAG, AT(check), RULES_FMT | FMT, NULL, NULL,
     "writes nothing; lists the files that would change, exit 1"},
    {"expand", 0, NULL, FLAG, AT(expand), FMT, NULL, NULL,
     "prints what a program stands for: its definitions replaced by terms of "
     "the language"},
    {"samples", 'n', "N", COUNT, AT(samples), CHECK, "3", NULL,
     "how many seeded inputs both programs are run on"},
    {"tolerance", 0, "X", SECONDS, AT(tolerance),
     RUN | CHECK | COMPILE | SCHEDULE | SIMULATE, "1e-4", NULL,
     "relative, for floating point; integers are compared exactly"},
    {"repeat", 0, "N", COUNT, AT(repeats), RUN, "1", NULL,
     "calls that are timed; the fastest is shown"},
    {"profile", 0, NULL, FLAG, AT(profile), RUN, NULL, NULL,
     "a table of the steps: time, rate, bytes, part of the roofline, kernel, "
     "layer"},
    {"flame", 0, "FILE.svg", TEXT, AT(flame), RUN, NULL, NULL,
     "with --profile: the same as a chart, layers by the parts of their names"},
    {"print", 0, "N", COUNT, AT(print_limit), RUN, "8", NULL,
     "elements shown of each output"},
    {"cc", 0, "PROGRAM", TEXT, AT(cc), RUN | COMPILE | SCHEDULE | TARGET_TEST,
     NULL, NULL, "the C compiler (default: $CC, else cc)"},
    {"cc-flag", 0, "FLAG", LIST, AT(cc_flags),
     RUN | COMPILE | SCHEDULE | TARGET_TEST, NULL, NULL,
     "added to the compiler's command"},
    {"omp-threads", 0, "N", COUNT, AT(omp_threads), RUN | COMPILE | SCHEDULE,
     "0", NULL, "OpenMP threads of the kernel (0: as many as there are cores)"},
    {"sanitize", 0, NULL, FLAG, AT(sanitize), RUN, NULL, NULL,
     "runs the kernel under the address and undefined-behaviour sanitizers"},
    {"no-native", 0, NULL, FLAG, AT(no_native), EVERY & ~COMPLETIONS, NULL,
     NULL,
     "calls no C compiler and executes nothing that was compiled; so does "
     "GLEN_NO_NATIVE=1"},
    {"keep", 0, NULL, FLAG, AT(keep), RUN, NULL, NULL,
     "keeps the directory of the build and says where it is"},
    {"random", 0, "N", COUNT, AT(random), RULES_TEST, "0", NULL,
     "runs no tests but each rule on N random programs, against the reference "
     "interpreter"},
    {"seed", 0, "N", COUNT, AT(seed), RULES_TEST, "1", NULL,
     "of the random programs"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_TEST, NULL, NULL,
     "only tests whose name contains TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_ABLATE, NULL, NULL,
     "only rules whose name contains TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_PROVE, NULL, NULL,
     "only rules whose name contains TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), TARGET_TEST, NULL, NULL,
     "only instructions whose name contains TEXT"},
    {"verify", 0, "LEVEL", MAYBE, AT(verify), SATURATE | COMPILE, NULL,
     "proved tested",
     "proves the result equal to the input; exit 4 when it is refuted, 3 when "
     "it is not proved; with tested, runs that agree suffice"},
    {"strict", 0, NULL, FLAG, AT(strict), RULES_PROVE, NULL, NULL,
     "rules of which nothing is known give exit code 1, too"},
    {"strict", 0, NULL, FLAG, AT(strict), RULES_CHECK, NULL, NULL,
     "warnings give exit code 1, too"},
    {"list", 0, NULL, FLAG, AT(list), RULES_CHECK, NULL, NULL,
     "prints the functions of expressions and checks nothing"},
    {"stats", 0, NULL, FLAG, AT(stats), SATURATE, NULL, NULL,
     "adds what each rule and each iteration did to the report"},
    {"why-not", 0, "NAME", TEXT, AT(why_not), EXPLAIN | MAP, NULL, NULL,
     "why this instruction, or rule, was not used"},
    {"require", 0, "LAYER", LIST, AT(required), MAP, NULL, NULL,
     "fails, with exit code 3 and the reason, unless the layers of this name "
     "are mapped, as 'conv*'; may be given several times"},
    {"all", 0, NULL, FLAG, AT(all), MAP, NULL, NULL,
     "all calls that each part may become, with their prices"},
    {"max-steps", 0, "N", COUNT, AT(max_steps), EXPLAIN, "50000", NULL,
     "longest chain of an output"},
    {"sched", 's', "FILE", TEXT, AT(script), SCHEDULE, NULL, NULL,
     "the script of schedule commands"},
    {"schedule", 0, "FILE", TEXT, AT(script), COMPILE | RUN, NULL, NULL,
     "a script of schedule commands for the loops"},
    {"fuse", 0, "MODE", TEXT, AT(fuse), COMPILE | RUN, "auto",
     "auto none min smart max post-tile",
     "a schedule chosen for the target: producers go into their consumers' "
     "loops where nothing is recomputed (smart), always (max), or tile by "
     "tile (post-tile); auto: post-tile where a run is long enough for the "
     "time that it takes to compile, unless --schedule, --layout, --tune or "
     "--choose say how loops run"},
    {"fuse", 0, "MODE", TEXT, AT(fuse), SCHEDULE, "none",
     "none auto min smart max post-tile",
     "a schedule chosen before the script is applied; see `glen compile`"},
    {"layout", 0, "COST", TEXT, AT(layout), COMPILE | RUN | SCHEDULE, "none",
     "none doc autokernel lines",
     "gives arrays the layouts that `glen layout` finds by this cost, after "
     "--fuse and a script"},
    {"tile", 0, "SIZES", TEXT, AT(tile), COMPILE | RUN | SCHEDULE, NULL, NULL,
     "of --fuse post-tile: sizes of the innermost loops' tiles, as 32,256"},
    {"recompute", 0, "X", SECONDS, AT(recompute), COMPILE | RUN | SCHEDULE,
     "1.5", NULL,
     "of --fuse post-tile: how often what tiles share may be computed, on the "
     "average, for each time that it is needed"},
    {"choose", 0, "N", COUNT, AT(choose), COMPILE | RUN | SCHEDULE, "0", NULL,
     "takes the cheapest of N whole schedules by the cost model"},
    {"tune", 0, "N", COUNT, AT(tune), COMPILE | RUN | SCHEDULE, "0", NULL,
     "builds and runs up to N whole schedules and takes the fastest; the C "
     "compiler, its flags, --omp-threads, --seed and --tolerance are used"},
    {"tune-file", 0, "FILE", TEXT, AT(tune_file), COMPILE | RUN | SCHEDULE,
     NULL, NULL,
     "where times are kept, so that a search goes on where it was (default: "
     "beside the output, .tune.json)"},
    {"tune-rounds", 0, "N", COUNT, AT(tune_rounds), COMPILE | RUN | SCHEDULE,
     "3", NULL, "runs of each schedule, by turns"},
    {"tune-time", 0, "SECONDS", SECONDS, AT(tune_time),
     COMPILE | RUN | SCHEDULE, "30", NULL,
     "limit of one compilation and of one run"},
    {"print", 0, "LIST", WORDS, AT(print), SCHEDULE, NULL,
     "loops program tree axes deps script results fused",
     "what to print, with commas between"},
    {"layout-cost", 0, "NAME", TEXT, AT(layout_cost), LAYOUT, "doc",
     "doc autokernel lines", "how layouts are priced"},
    {"keep-order", 0, NULL, FLAG, AT(keep_order), LAYOUT, NULL, NULL,
     "layouts alone: otherwise the innermost loop of each nest is chosen "
     "together with them"},
    {"widths", 0, "LIST", TEXT, AT(widths), LAYOUT, NULL, NULL,
     "lengths to cut dimensions into (default: 8; of lines 4,8,16,32)"},
    {"dry-run", 0, NULL, FLAG, AT(dry_run), SCHEDULE, NULL, NULL,
     "applies and checks the script, writes no file"},
    {"explain", 0, NULL, FLAG, AT(explain), SCHEDULE, NULL, NULL,
     "each command as it was understood, with the instances that it adds; of "
     "--fuse what --recompute left out"},
    {"list", 0, NULL, FLAG, AT(list), SCHEDULE, NULL, NULL,
     "prints the commands of scripts and applies nothing"},
    {"detect", 0, NULL, FLAG, AT(detect), TARGET, NULL, NULL,
     "describes this machine, read from the system"},
    {"timings", 0, NULL, FLAG, AT(timings), SATURATE | RULES_ABLATE | EXPLAIN,
     NULL, NULL, "adds seconds to the report, which differ from run to run"},
    {"json", 0, NULL, FLAG, AT(json), EVERY & ~(COMPLETIONS | LSP), NULL, NULL,
     "prints the report as JSON (\"schema\": 1)"},
    {"error-format", 0, "FORMAT", TEXT, AT(error_format), EVERY, "text",
     "text json", "of diagnostics"},
    {"color", 0, "WHEN", TEXT, AT(color), EVERY, "auto", "auto always never",
     "auto obeys NO_COLOR and CLICOLOR_FORCE"},
    {"quiet", 'q', NULL, FLAG, AT(quiet), EVERY, NULL, NULL,
     "no progress, no notes"},
    {"verbose", 'v', NULL, FLAG, AT(verbose), EVERY, NULL, NULL, "says more"},
    {"help", 'h', NULL, FLAG, AT(help), EVERY, NULL, NULL, "this text"},
    {"version", 0, NULL, FLAG, AT(version), EVERY, NULL, NULL,
     "the version; with --verbose features and libraries"},
};

const size_t cl_row_count = sizeof cl_rows / sizeof cl_rows[0];

int
cl_command_bit(const cl_command *command) {
  return command ? 1 << (command - cl_commands) : EVERY;
}

const cl_row *
cl_find_row(const char *name, size_t len, int bit) {
  for (size_t i = 0; i < cl_row_count; i++)
    if ((cl_rows[i].commands & bit) && strlen(cl_rows[i].name) == len &&
        !memcmp(cl_rows[i].name, name, len))
      return &cl_rows[i];
  return NULL;
}
