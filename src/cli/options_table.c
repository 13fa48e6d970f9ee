/* SPDX-License-Identifier: MIT */
/* options_table.c - all options of all commands.
 *
 * A row names the commands it belongs to by a bit mask over the commands' order
 * in cl_commands. */
#include "cli/options_table.h"
#include "cli/cli_emit.h"

#include <string.h>

#define AT(field) offsetof(cl_options, field)
/* The words of CL_FORMS; each has a blank before it, and the first needs none.
 */
#define WORD(id, word, ...) " " word
#define FORMS               &(CL_FORMS(WORD))[1]

const cl_row cl_rows[] = {
    {"rules", 'r', "PATH", LIST, AT(rules), EXPLORES, NULL, NULL,
     "a rule file, a directory of *.rules, or the name of a rule file that "
     "comes "
     "with glen; none means no rules; may be given several times"},
    {"target", 't', "FILE", TEXT, AT(target),
     EVERY & ~(RULES_FMT | TARGET_TEST | EXTRACT | COMPLETIONS), NULL, NULL,
     "a target file, or the name of one that comes with glen; native describes "
     "this machine (default: a modest CPU)"},
    {"param", 'p', "NAME=VALUE", LIST, AT(params), EXPLORES, NULL, NULL,
     "sets a parameter of the rule files"},
    {"disable-rule", 0, "NAME", LIST, AT(disabled), CHOOSES, NULL, NULL,
     "leaves out a rule or a set of rules; may be given several times"},
    {"strategy", 0, "NAME", TEXT, AT(strategy), CHOOSES, NULL, NULL,
     "the strategy to run (default: that of the rule files)"},
    {"scheduler", 0, "NAME", TEXT, AT(scheduler), CHOOSES, "simple",
     "simple backoff",
     "simple runs every rule; backoff pauses rules that match too often"},
    {"regions", 0, "WAY", TEXT, AT(regions), CHOOSES, "auto",
     "auto whole layers",
     "layers: saturate each layer of a network by itself, and equal layers "
     "once; whole: everything in one e-graph; auto: by layers if there are "
     "many"},
    {"iter-limit", 0, "N", COUNT, AT(iter_limit), CHOOSES, "1000", NULL,
     "the largest number of iterations (0: no limit, here and below)"},
    {"node-limit", 0, "N", COUNT, AT(node_limit), CHOOSES, "2000000", NULL,
     "the largest number of e-nodes"},
    {"time-limit", 0, "SECONDS", SECONDS, AT(time_limit), WORKS, "0", NULL,
     "the most time for the whole command (0: no limit); what is left undone "
     "depends on the speed of the machine"},
    {"memory-limit", 0, "BYTES", BYTES, AT(memory_limit), WORKS, "auto", NULL,
     "the most memory for the whole process, with K, M, G and T as powers of "
     "1024; auto: three quarters of what the machine or the container has"},
    {"work-limit", 0, "N", COUNT, AT(work_limit), CHOOSES, "536870912", NULL,
     "the largest number of steps that the search of one rule may take in an "
     "iteration; every 262,144 e-nodes allow as many again"},
    {"match-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, "0", NULL,
     "the largest number of matches of each rule that may be applied in the "
     "whole run"},
    {"rule-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, NULL, NULL,
     "another name for --match-limit"},
    {"require-saturation", 0, NULL, FLAG, AT(require_saturation), CHOOSES, NULL,
     NULL, "exits with 3 if a limit was hit"},
    {"extractor", 0, "NAME", TEXT, AT(extractor), CHOOSES | EXTRACT, "dag",
     "tree dag exact ilp",
     "tree counts a shared term each time it is used, dag once (greedily); "
     "exact "
     "and ilp are optimal"},
    {"extract-time", 0, "SECONDS", SECONDS, AT(extract_time), CHOOSES | EXTRACT,
     "10", NULL,
     "the most time for the exact extractors, which then return the best "
     "result so far"},
    {"strict-fp", 0, NULL, FLAG, AT(strict_fp),
     SATURATE | MAP | COMPILE | RUN | SIMULATE, NULL, NULL,
     "keeps the order of floating-point sums, and NaN in comparisons; in "
     "programs with floats, applies only rules that glen can show to leave all "
     "floats unchanged"},
    {"strict-fp", 0, NULL, FLAG, AT(strict_fp), SCHEDULE | LAYOUT | TILING,
     NULL, NULL,
     "keeps the order of floating-point sums, and NaN in comparisons"},
    {"prepack", 0, "INPUT", LIST, AT(prepack),
     SATURATE | COMPILE | RUN | TILING, NULL, NULL,
     "an input that is the same for all calls, such as weights: NAME_prepack "
     "packs it once; may be given several times"},
    {"weights", 0, "WAY", TEXT, AT(weights), COMPILE | RUN | TILING, "init",
     "init inputs",
     "how the code gets inputs whose elements are in files: init: NAME_init "
     "prepares them once for all calls; inputs: they are parameters, like "
     "other inputs (always so with --prepack and on devices)"},
    {"dispatch", 0, "LIST", WORDS, AT(dispatch), COMPILE | RUN, NULL,
     "none avx2 avx512",
     "adds code for x86-64 processors with these features, separated by "
     "commas, "
     "to that for any processor, and chooses at run time; none: code for the "
     "target alone (default of glen compile: avx2,avx512, unless there is a "
     "--target or a schedule)"},
    {"output", 'o', "FILE", TEXT, AT(output),
     SATURATE | COMPILE | RUN | SCHEDULE | LAYOUT | MAP, NULL, NULL,
     "the file for the result; - is stdout"},
    {"output", 'o', "FILE.glen", TEXT, AT(output), IMPORT, NULL, NULL,
     "the file for the program; its weights go beside it"},
    {"dim", 0, "NAME=SIZE", LIST, AT(dims),
     IMPORT | CHOOSES | CHECK | SCHEDULE | LAYOUT | TILING, NULL, NULL,
     "the size of a dimension that a model (.onnx) leaves open; as "
     "LEAST..MOST[:MULTIPLE], it becomes a size of the program"},
    {"size", 0, "NAME=NUMBER", LIST, AT(sizes),
     COMPILE | SCHEDULE | CHECK | SATURATE | MAP | EXPLAIN | SIMULATE | LAYOUT,
     NULL, NULL,
     "replaces a size that a program or a .loops file leaves open by a number; "
     "may be given several times"},
    {"size", 0, "NAME=NUMBER", LIST, AT(sizes), RUN, NULL, NULL,
     "the value of a size that a program or a .loops file leaves open, which "
     "is passed to the code for all sizes; may be given several times"},
    {"size", 0, "NAME=NUMBER", LIST, AT(sizes), TILING, NULL, NULL,
     "the value of a size that the program leaves open; NAME=NUMBER,NUMBER,... "
     "asks about several calls, one for each number; may be given several "
     "times"},
    {"list-operators", 0, NULL, FLAG, AT(list_operators), IMPORT, NULL, NULL,
     "prints the operators that are supported and reads nothing"},
    {"emit", 0, "LIST", WORDS, AT(emit), COMPILE, "c,h", FORMS,
     "what to write, separated by commas"},
    {"emit", 0, "FORM", TEXT, AT(form), SATURATE, "glen", "glen html proof",
     "what to write: the program, a report for a browser, or a proof that the "
     "program follows from the input"},
    {"name", 0, "NAME", TEXT, AT(name), COMPILE | SCHEDULE, NULL, NULL,
     "the name of the C function (default: that of the output file)"},
    {"depfile", 0, "FILE", TEXT, AT(depfile), BUILDS &EXPLORES, NULL, NULL,
     "lists every file that was read, and every folder of rules"},
    {"depfile", 0, "FILE", TEXT, AT(depfile), BUILDS & ~EXPLORES, NULL, NULL,
     "lists every file that was read"},
    {"depfile-format", 0, "FORMAT", TEXT, AT(depfile_format), BUILDS, "make",
     "make ninja", "the tool for which --depfile escapes special characters"},
    {"stamp", 0, "FILE", TEXT, AT(stamp), BUILDS, NULL, NULL,
     "an empty file that is written whenever the command succeeds; --depfile "
     "then lists its dependencies"},
    {"touch", 0, NULL, FLAG, AT(touch), WRITES, NULL, NULL,
     "updates the times of the outputs even if their content does not change; "
     "make needs this, ninja does not"},
    {"dump-phases", 0, "DIR", TEXT, AT(dump_phases), SATURATE | COMPILE | RUN,
     NULL, NULL, "writes every stage: 0.input.glen, 1.egraph.json, ..."},
    {"input", 'i', "NAME=F.npy", LIST, AT(inputs), RUN | SIMULATE, NULL, NULL,
     "the array for an input; the other inputs are made from the seed"},
    {"seed", 0, "N", COUNT, AT(seed),
     RUN | CHECK | COMPILE | SCHEDULE | SIMULATE, "1", NULL,
     "determines the values of inputs that are not given"},
    {"seed", 0, "N", COUNT, AT(seed), RULES_PROVE, "1", NULL,
     "determines shapes and inputs; the same seed gives the same answer"},
    {"seed", 0, "N", COUNT, AT(seed), TARGET_TEST, "1", NULL,
     "determines sizes and values; the same seed gives the same answer"},
    {"shapes", 0, "N", COUNT, AT(shapes), RULES_PROVE, "224", NULL,
     "the number of shapes that each rule is tried on"},
    {"jobs", 'j', "N", COUNT, AT(jobs), RULES_PROVE, "0", NULL,
     "the number of rules that are proved at the same time (0: one per core); "
     "the answers do not depend on it"},
    {"interpret", 0, NULL, FLAG, AT(interpret), RUN, NULL, NULL,
     "uses the reference interpreter, which is slow but needs no C compiler"},
    {"check", 0, NULL, FLAG, AT(check), RUN, NULL, NULL,
     "compares with the reference interpreter; exits with 4 on a mismatch"},
    {"trace", 0, NULL, FLAG, AT(trace), SIMULATE, NULL, NULL,
     "prints a line for each call: its first and last cycle, its queue, and "
     "where its operands are"},
    {"check", 0, NULL, FLAG, AT(check), RULES_FMT | FMT, NULL, NULL,
     "writes nothing; lists the files that would change and exits with 1"},
    {"expand", 0, NULL, FLAG, AT(expand), FMT, NULL, NULL,
     "prints the program with its definitions replaced by terms"},
    {"samples", 'n', "N", FROM_1, AT(samples), CHECK, "3", NULL,
     "the number of seeded inputs to run both programs on"},
    {"tolerance", 0, "X", SECONDS, AT(tolerance),
     RUN | CHECK | COMPILE | SCHEDULE | SIMULATE, "1e-4", NULL,
     "relative tolerance for floating point; integers are compared exactly"},
    {"repeat", 0, "N", FROM_1, AT(repeats), RUN, "1", NULL,
     "the number of calls to time; the time of the fastest is shown"},
    {"profile", 0, NULL, FLAG, AT(profile), RUN, NULL, NULL,
     "prints a table of the steps: time, rate, bytes, share of the roofline, "
     "kernel and layer"},
    {"flame", 0, "FILE.svg", TEXT, AT(flame), RUN, NULL, NULL,
     "with --profile, also draws the table as a flame graph"},
    {"print", 0, "N", COUNT, AT(print_limit), RUN, "8", NULL,
     "the number of elements of each output to show"},
    {"cc", 0, "PROGRAM", TEXT, AT(cc), RUN | COMPILE | SCHEDULE | TARGET_TEST,
     NULL, NULL, "the C compiler (default: $CC, else cc)"},
    {"cc-flag", 0, "FLAG", LIST, AT(cc_flags),
     RUN | COMPILE | SCHEDULE | TARGET_TEST, NULL, NULL,
     "a flag for the C compiler; may be given several times"},
    {"omp-threads", 0, "N", COUNT, AT(omp_threads), RUN | COMPILE | SCHEDULE,
     "0", NULL, "the number of OpenMP threads of the kernel (0: one per core)"},
    {"sanitize", 0, NULL, FLAG, AT(sanitize), RUN, NULL, NULL,
     "runs the kernel under the address and undefined-behaviour sanitizers"},
    {"no-native", 0, NULL, FLAG, AT(no_native), EVERY & ~COMPLETIONS, NULL,
     NULL,
     "never calls a C compiler or executes compiled code; GLEN_NO_NATIVE=1 "
     "does "
     "the same"},
    {"keep", 0, NULL, FLAG, AT(keep), RUN, NULL, NULL,
     "keeps the build directory and prints its path"},
    {"random", 0, "N", COUNT, AT(random), RULES_TEST, "0", NULL,
     "instead of tests, runs each rule on N random programs and compares with "
     "the reference interpreter"},
    {"seed", 0, "N", COUNT, AT(seed), RULES_TEST, "1", NULL,
     "determines the random programs"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_TEST, NULL, NULL,
     "only tests whose names contain TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_ABLATE, NULL, NULL,
     "only rules whose name contains TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), RULES_PROVE, NULL, NULL,
     "only rules whose name contains TEXT"},
    {"filter", 0, "TEXT", TEXT, AT(filter), TARGET_TEST, NULL, NULL,
     "only instructions whose names contain TEXT"},
    {"verify", 0, "LEVEL", MAYBE, AT(verify), SATURATE | COMPILE, NULL,
     "proved tested",
     "proves that the result equals the input; exits with 4 if that is "
     "refuted, and with 3 if it is not proved; with tested, test runs that "
     "agree are enough"},
    {"strict", 0, NULL, FLAG, AT(strict), RULES_PROVE, NULL, NULL,
     "exits with 1 if nothing is known about a rule"},
    {"strict", 0, NULL, FLAG, AT(strict), RULES_CHECK, NULL, NULL,
     "exits with 1 for warnings, too"},
    {"list", 0, NULL, FLAG, AT(list), RULES_CHECK, NULL, NULL,
     "prints the functions of expressions and checks nothing"},
    {"stats", 0, NULL, FLAG, AT(stats), SATURATE, NULL, NULL,
     "adds to the report what each rule and each iteration did"},
    {"why-not", 0, "NAME", TEXT, AT(why_not), EXPLAIN | MAP, NULL, NULL,
     "explains why this instruction or rule was not used"},
    {"require", 0, "LAYER", LIST, AT(required), MAP, NULL, NULL,
     "exits with 3 and the reason unless the layers of this name, such as "
     "'conv*', are mapped; may be given several times"},
    {"all", 0, NULL, FLAG, AT(all), MAP, NULL, NULL,
     "lists all calls that each part may become, with their costs"},
    {"max-steps", 0, "N", COUNT, AT(max_steps), EXPLAIN, "50000", NULL,
     "the largest number of steps in the chain of an output"},
    {"sched", 's', "FILE", TEXT, AT(script), SCHEDULE, NULL, NULL,
     "the script of schedule commands to apply"},
    {"schedule", 0, "FILE", TEXT, AT(script), COMPILE | RUN, NULL, NULL,
     "the script of schedule commands to apply to the loops"},
    {"fuse", 0, "MODE", TEXT, AT(fuse), COMPILE | RUN, "auto",
     "auto none min smart max post-tile",
     "a schedule for the target: producers move into the loops of their "
     "consumers if nothing is recomputed (smart), always (max), or tile by "
     "tile (post-tile); auto: post-tile if a run is long enough to be worth "
     "the "
     "compile time, unless --schedule, --layout, --tune or --choose is given"},
    {"fuse", 0, "MODE", TEXT, AT(fuse), SCHEDULE, "none",
     "none auto min smart max post-tile",
     "a schedule that is chosen before the script is applied; see glen "
     "compile"},
    {"layout", 0, "COST", TEXT, AT(layout), COMPILE | RUN | SCHEDULE, "none",
     "none doc autokernel lines",
     "gives arrays the layouts that glen layout finds by this cost, after "
     "--fuse "
     "and the script"},
    {"tile", 0, "SIZES", TEXT, AT(tile), COMPILE | RUN | SCHEDULE, NULL, NULL,
     "for --fuse post-tile: tile sizes of the innermost loops, such as 32,256"},
    {"recompute", 0, "X", SECONDS, AT(recompute), COMPILE | RUN | SCHEDULE,
     "1.5", NULL,
     "for --fuse post-tile: how often a value that tiles share may be "
     "computed, "
     "on average"},
    {"choose", 0, "N", COUNT, AT(choose), COMPILE | RUN | SCHEDULE, "0", NULL,
     "takes the cheapest of N whole schedules, by the cost model"},
    {"keys", 0, "N", UP_TO, AT(keys), COMPILE | RUN | TILING, "16", NULL,
     "the largest number of versions of the code, each for a range of the "
     "sizes that a program leaves open, in addition to the one for all sizes; "
     "at most 16"},
    {"tune", 0, "N", COUNT, AT(tune), COMPILE | RUN | SCHEDULE, "0", NULL,
     "builds and runs up to N whole schedules and takes the fastest, using "
     "--cc, --cc-flag, --omp-threads, --seed and --tolerance"},
    {"tune-file", 0, "FILE", TEXT, AT(tune_file), COMPILE | RUN | SCHEDULE,
     NULL, NULL,
     "the file that keeps the times, so that a later search continues this one "
     "(default: "
     "beside the output, .tune.json)"},
    {"tune-rounds", 0, "N", FROM_1, AT(tune_rounds), COMPILE | RUN | SCHEDULE,
     "3", NULL,
     "the number of times that each schedule is run, in turn with the others"},
    {"tune-time", 0, "SECONDS", SECONDS, AT(tune_time),
     COMPILE | RUN | SCHEDULE, "30", NULL,
     "the most time for one compilation, and for one run"},
    {"print", 0, "LIST", WORDS, AT(print), SCHEDULE, NULL,
     "loops program tree axes deps script results fused",
     "what to print, separated by commas"},
    {"layout-cost", 0, "NAME", TEXT, AT(layout_cost), LAYOUT, "doc",
     "doc autokernel lines", "the cost by which layouts are compared"},
    {"keep-order", 0, NULL, FLAG, AT(keep_order), LAYOUT, NULL, NULL,
     "chooses only layouts; otherwise, the innermost loop of each nest is "
     "chosen with them"},
    {"widths", 0, "LIST", TEXT, AT(widths), LAYOUT, NULL, NULL,
     "lengths to cut dimensions into (default: 8; for lines 4,8,16,32)"},
    {"dry-run", 0, NULL, FLAG, AT(dry_run), SCHEDULE, NULL, NULL,
     "applies and checks the script but writes no file"},
    {"explain", 0, NULL, FLAG, AT(explain), SCHEDULE, NULL, NULL,
     "shows each command as glen understood it, with the number of instances "
     "that it adds, and the arrays that were not fused because of --recompute"},
    {"list", 0, NULL, FLAG, AT(list), SCHEDULE, NULL, NULL,
     "prints the commands of scripts and applies nothing"},
    {"detect", 0, NULL, FLAG, AT(detect), TARGET, NULL, NULL,
     "describes this machine as the system reports it"},
    {"timings", 0, NULL, FLAG, AT(timings), SATURATE | RULES_ABLATE | EXPLAIN,
     NULL, NULL, "adds times to the report, which differ from run to run"},
    {"json", 0, NULL, FLAG, AT(json), EVERY & ~(COMPLETIONS | LSP), NULL, NULL,
     "prints the report as JSON (\"schema\": 1)"},
    {"error-format", 0, "FORMAT", TEXT, AT(error_format), EVERY, "text",
     "text json", "the format of diagnostics"},
    {"color", 0, "WHEN", TEXT, AT(color), EVERY, "auto", "auto always never",
     "auto obeys NO_COLOR and CLICOLOR_FORCE"},
    {"quiet", 'q', NULL, FLAG, AT(quiet), EVERY, NULL, NULL,
     "shows no progress and no notes"},
    {"verbose", 'v', NULL, FLAG, AT(verbose), EVERY, NULL, NULL,
     "prints more details"},
    {"help", 'h', NULL, FLAG, AT(help), EVERY, NULL, NULL, "prints this text"},
    {"version", 0, NULL, FLAG, AT(version), EVERY, NULL, NULL,
     "prints the version; with --verbose, features and libraries, too"},
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
