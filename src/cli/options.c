/* options.c - the command line: parsed, explained and completed from one table.
 *
 * An option row names the commands it belongs to by a bit mask over the
 * commands' order in cl_commands.  Values are checked for range here, so that
 * commands can trust them. */
#include "cli/options.h"
#include "glen/glen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, TEXT, LIST, COUNT, BYTES, SECONDS } kind;

enum { /* bits of cl_commands, in its order */
       SATURATE = 1 << 0,
       COMPILE = 1 << 1,
       RUN = 1 << 2,
       CHECK = 1 << 3,
       SCHEDULE = 1 << 4,
       LAYOUT = 1 << 5,
       EXPLAIN = 1 << 6,
       MAP = 1 << 7,
       RULES_TEST = 1 << 8,
       RULES_CHECK = 1 << 9,
       RULES_PROVE = 1 << 10,
       RULES_FMT = 1 << 11,
       RULES_ABLATE = 1 << 12,
       TARGET = 1 << 13,
       EXTRACT = 1 << 14,
       LSP = 1 << 15,
       COMPLETIONS = 1 << 16,
       EVERY = -1,
       CHOOSES = SATURATE | COMPILE | RUN | RULES_ABLATE | EXPLAIN | MAP,
       EXPLORES = CHOOSES | RULES_TEST | RULES_CHECK | RULES_PROVE
};

typedef struct row {
  const char *name;
  char letter;
  const char *argument; /* NULL: a flag */
  kind kind;
  size_t offset;
  int commands;
  const char *preset;  /* the default as it would be written, or NULL */
  const char *choices; /* words allowed, separated by spaces, or NULL */
  const char *help;
} row;

#define AT(field) offsetof(cl_options, field)

static const row rows[] = {
    {"rules", 'r', "PATH", LIST, AT(rules), EXPLORES, NULL, NULL,
     "a rule file, or a directory of *.rules; may be given several times"},
    {"target", 't', "FILE", TEXT, AT(target),
     EVERY & ~(RULES_FMT | EXTRACT | COMPLETIONS), NULL, NULL,
     "machine description; \"native\" reads this machine (default: a "
     "modest CPU)"},
    {"param", 'p', "NAME=VALUE", LIST, AT(params), EXPLORES, NULL, NULL,
     "sets a parameter of the rule files"},
    {"disable-rule", 0, "NAME", LIST, AT(disabled), CHOOSES, NULL, NULL,
     "leaves out a rule, or a set of rules; may be given several times"},
    {"strategy", 0, "NAME", TEXT, AT(strategy), CHOOSES, NULL, NULL,
     "the strategy to run (default: the rule files' own)"},
    {"scheduler", 0, "NAME", TEXT, AT(scheduler), CHOOSES, "simple",
     "simple backoff", "backoff rests rules that match too often"},
    {"iter-limit", 0, "N", COUNT, AT(iter_limit), CHOOSES, "1000", NULL,
     "iterations (0: none, likewise below)"},
    {"node-limit", 0, "N", COUNT, AT(node_limit), CHOOSES, "2000000", NULL,
     "e-nodes"},
    {"time-limit", 0, "SECONDS", SECONDS, AT(time_limit), CHOOSES, "0", NULL,
     "time of the saturation; makes the result depend on the machine"},
    {"memory-limit", 0, "BYTES", BYTES, AT(memory_limit), CHOOSES, "8G", NULL,
     "memory of the e-graph; K, M, G and T are powers of 1024"},
    {"match-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, "0", NULL,
     "matches applied of each rule, in the whole run"},
    {"rule-limit", 0, "N", COUNT, AT(match_limit), CHOOSES, NULL, NULL,
     "another name of --match-limit"},
    {"require-saturation", 0, NULL, FLAG, AT(require_saturation), CHOOSES, NULL,
     NULL, "exit with 3 when a limit was hit"},
    {"threads", 'j', "N", COUNT, AT(threads), CHOOSES, "1", NULL,
     "threads of the search; the result does not depend on it"},
    {"extractor", 0, "NAME", TEXT, AT(extractor), CHOOSES | EXTRACT, "dag",
     "tree dag exact ilp",
     "tree counts shared terms each time, dag once (greedy), exact and ilp "
     "are optimal"},
    {"extract-time", 0, "SECONDS", SECONDS, AT(extract_time), CHOOSES | EXTRACT,
     "10", NULL, "time of the exact extractors; then the best so far is taken"},
    {"strict-fp", 0, NULL, FLAG, AT(strict_fp),
     COMPILE | RUN | SCHEDULE | LAYOUT, NULL, NULL,
     "keeps the order of floating-point sums, and NaN in comparisons"},
    {"prepack", 0, "INPUT", LIST, AT(prepack), SATURATE | COMPILE | RUN, NULL,
     NULL,
     "an input that is the same for all calls, as weights are: NAME_prepack "
     "packs it once; may be given several times"},
    {"dispatch", 0, "LIST", TEXT, AT(dispatch), COMPILE | RUN, NULL, NULL,
     "code for any x86-64 processor, or none, and, of avx2,avx512, for those "
     "that have more: chosen when it runs"},
    {"output", 'o', "FILE", TEXT, AT(output),
     SATURATE | COMPILE | RUN | SCHEDULE | LAYOUT, NULL, NULL,
     "where the result goes; - is stdout"},
    {"emit", 0, "LIST", TEXT, AT(emit), COMPILE, "c,h", NULL,
     "what to write, of glen,egraph-json,dot,html,loops,sched,tree,implgraph,"
     "implgraph-json,c,cuda,h,manifest"},
    {"emit", 0, "FORM", TEXT, AT(form), SATURATE, "glen", "glen html",
     "what -o writes: the program, or a report for a browser"},
    {"name", 0, "NAME", TEXT, AT(name), COMPILE | SCHEDULE, NULL, NULL,
     "the C function (default: from the output file)"},
    {"depfile", 0, "FILE", TEXT, AT(depfile), COMPILE, NULL, NULL,
     "lists every file read, for make and ninja"},
    {"dump-phases", 0, "DIR", TEXT, AT(dump_phases), SATURATE | COMPILE | RUN,
     NULL, NULL, "writes every stage: 0.input.glen, 1.egraph.json, ..."},
    {"input", 'i', "NAME=F.npy", LIST, AT(inputs), RUN, NULL, NULL,
     "an input array; those not given are made from the seed"},
    {"seed", 0, "N", COUNT, AT(seed), RUN | CHECK | COMPILE | SCHEDULE, "1",
     NULL, "of inputs that are not given"},
    {"seed", 0, "N", COUNT, AT(seed), RULES_PROVE, "1", NULL,
     "of shapes and inputs; one seed gives one answer"},
    {"shapes", 0, "N", COUNT, AT(shapes), RULES_PROVE, "224", NULL,
     "how many shapes a rule is looked at on"},
    {"jobs", 'j', "N", COUNT, AT(jobs), RULES_PROVE, "0", NULL,
     "rules proved at a time (0: as many as there are cores); the answers do "
     "not depend on it"},
    {"interpret", 0, NULL, FLAG, AT(interpret), RUN, NULL, NULL,
     "uses the reference interpreter: no C compiler, slow"},
    {"check", 0, NULL, FLAG, AT(check), RUN, NULL, NULL,
     "compares with the reference interpreter; exit 4 on a mismatch"},
    {"check", 0, NULL, FLAG, AT(check), RULES_FMT, NULL, NULL,
     "writes nothing; lists the files that would change, exit 1"},
    {"samples", 'n', "N", COUNT, AT(samples), CHECK, "3", NULL,
     "how many seeded inputs both programs are run on"},
    {"tolerance", 0, "X", SECONDS, AT(tolerance),
     RUN | CHECK | COMPILE | SCHEDULE, "1e-4", NULL,
     "relative, for floating point; integers are compared exactly"},
    {"repeat", 0, "N", COUNT, AT(repeats), RUN, "1", NULL,
     "calls that are timed; the fastest is shown"},
    {"print", 0, "N", COUNT, AT(print_limit), RUN, "8", NULL,
     "elements shown of each output"},
    {"cc", 0, "PROGRAM", TEXT, AT(cc), RUN | COMPILE | SCHEDULE, NULL, NULL,
     "the C compiler (default: $CC, else cc)"},
    {"cc-flag", 0, "FLAG", LIST, AT(cc_flags), RUN | COMPILE | SCHEDULE, NULL,
     NULL, "added to the compiler's command"},
    {"omp-threads", 0, "N", COUNT, AT(omp_threads), RUN | COMPILE | SCHEDULE,
     "0", NULL, "OpenMP threads of the kernel (0: as many as there are cores)"},
    {"sanitize", 0, NULL, FLAG, AT(sanitize), RUN, NULL, NULL,
     "runs the kernel under the address and undefined-behaviour sanitizers"},
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
    {"verify", 0, NULL, FLAG, AT(verify), SATURATE | COMPILE, NULL, NULL,
     "proves the result equal to the input; exit 4 when it is refuted, 3 when "
     "nothing can be told"},
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
    {"print", 0, "LIST", TEXT, AT(print), SCHEDULE, NULL, NULL,
     "what to print, of loops,program,tree,axes,deps,script,results,fused"},
    {"layout-cost", 0, "NAME", TEXT, AT(layout_cost), LAYOUT, "doc",
     "doc autokernel lines", "how layouts are priced"},
    {"order", 0, NULL, FLAG, AT(joint), LAYOUT, NULL, NULL,
     "chooses the innermost loop of each nest together with the layouts"},
    {"widths", 0, "LIST", TEXT, AT(widths), LAYOUT, NULL, NULL,
     "lengths to cut dimensions into (default: 8; of lines 4,8,16,32)"},
    {"dry-run", 0, NULL, FLAG, AT(dry_run), SCHEDULE, NULL, NULL,
     "applies and checks the script, writes no file"},
    {"explain", 0, NULL, FLAG, AT(explain), SCHEDULE, NULL, NULL,
     "each command as it was understood, with the instances that it adds"},
    {"list", 0, NULL, FLAG, AT(list), SCHEDULE, NULL, NULL,
     "prints the commands of scripts and applies nothing"},
    {"detect", 0, NULL, FLAG, AT(detect), TARGET, NULL, NULL,
     "describes this machine, read from the system"},
    {"timings", 0, NULL, FLAG, AT(timings), SATURATE | RULES_ABLATE | EXPLAIN,
     NULL, NULL, "adds seconds to the report, which differ from run to run"},
    {"json", 0, NULL, FLAG, AT(json), EVERY & ~(RULES_FMT | COMPLETIONS | LSP),
     NULL, NULL, "prints the report as JSON (\"schema\": 1)"},
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

#define N_ROWS (sizeof rows / sizeof rows[0])

static int
command_bit(const cl_command *command) {
  return command ? 1 << (command - cl_commands) : EVERY;
}

static int
fail_usage(const cl_command *command, const char *what, const char *value) {
  fprintf(stderr, "glen: %s%s%s\n", what, value ? " " : "", value ? value : "");
  if (command)
    fprintf(stderr, "try: glen %s --help\n", command->name);
  else
    fprintf(stderr, "try: glen --help\n");
  return 2;
}

/* ---- values ---- */

static bool
read_count(const char *text, uint64_t *out) {
  if (*text < '0' || *text > '9')
    return false;
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (errno || *end)
    return false;
  *out = n;
  return true;
}

static bool
read_bytes(const char *text, uint64_t *out) {
  size_t len = strlen(text);
  char digits[32];
  static const char units[] = "KMGT";
  const char *unit = len ? strchr(units, text[len - 1]) : NULL;
  if (len >= sizeof digits)
    return false;
  memcpy(digits, text, len + 1);
  unsigned shift = 0;
  if (unit && *unit) {
    digits[len - 1] = '\0';
    shift = 10 * (unsigned)(unit - units + 1);
  }
  if (!read_count(digits, out) || *out > UINT64_MAX >> shift)
    return false;
  *out <<= shift;
  return true;
}

static bool
read_seconds(const char *text, double *out) {
  char *end;
  errno = 0;
  double x = strtod(text, &end);
  if (end == text || *end || !isfinite(x) || x < 0)
    return false;
  *out = x;
  return true;
}

static bool
is_choice(const char *choices, const char *word) {
  size_t n = strlen(word);
  for (const char *at = choices; n && (at = strstr(at, word)); at += n)
    if ((at == choices || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
      return true;
  return false;
}

static bool
set_value(cl_options *options, const row *r, const char *text) {
  void *field = (char *)options + r->offset;
  switch (r->kind) {
  case FLAG:
    *(bool *)field = true;
    return true;
  case TEXT:
    *(const char **)field = text;
    return !r->choices || is_choice(r->choices, text);
  case LIST: {
    cl_list *list = field;
    if (list->n == CL_MAX_LIST)
      return false;
    list->items[list->n++] = text;
    return true;
  }
  case COUNT:
    return read_count(text, field);
  case BYTES:
    return read_bytes(text, field);
  case SECONDS:
    return read_seconds(text, field);
  }
  return false;
}

/* Those of a command go before those of others that have the same field. */
static void
set_presets(cl_options *options, int bit) {
  memset(options, 0, sizeof *options);
  for (int own = 0; own < 2; own++)
    for (size_t i = 0; i < N_ROWS; i++)
      if (rows[i].preset && !!(rows[i].commands & bit) == own)
        set_value(options, &rows[i], rows[i].preset);
}

/* ---- parsing ---- */

static const row *
find_row(const char *name, size_t len, int bit) {
  for (size_t i = 0; i < N_ROWS; i++)
    if ((rows[i].commands & bit) && strlen(rows[i].name) == len &&
        !memcmp(rows[i].name, name, len))
      return &rows[i];
  return NULL;
}

static const row *
find_letter(char letter, int bit) {
  for (size_t i = 0; i < N_ROWS; i++)
    if ((rows[i].commands & bit) && rows[i].letter == letter)
      return &rows[i];
  return NULL;
}

typedef struct cursor {
  int argc, at;
  char **argv;
  const cl_command *command;
  int exit_code;
} cursor;

static bool
refuse(cursor *c, const char *what, const char *value) {
  c->exit_code = fail_usage(c->command, what, value);
  return false;
}

/* A long option, with what stands behind it cut off. */
static const char *
nearest_option(const cl_command *command, const char *text, size_t n) {
  const char *names[N_ROWS];
  size_t count = 0;
  char word[64];
  for (size_t i = 0; i < N_ROWS; i++)
    if (rows[i].commands & command_bit(command))
      names[count++] = rows[i].name;
  snprintf(word, sizeof word, "%.*s", n > 63 ? 63 : (int)n, text);
  return glen_nearest(word, names, count);
}

static bool
unknown_option(cursor *c, const char *text) {
  size_t n = strcspn(text + 2, "=");
  if (text[1] == '-' && find_row(text + 2, n, EVERY))
    return refuse(c, "this command has no option", text);
  const char *near =
      text[1] == '-' ? nearest_option(c->command, text + 2, n) : NULL;
  char what[160];
  snprintf(what, sizeof what, "unknown option %.60s; did you mean --%s?", text,
           near ? near : "");
  return near ? refuse(c, what, NULL) : refuse(c, "unknown option", text);
}

/* A command, or its first word. */
static int
unknown_command(const char *word) {
  const char *names[64];
  char what[160];
  size_t n = 0;
  for (; n < cl_command_count && n < 64; n++)
    names[n] = cl_commands[n].name;
  const char *near = glen_nearest(word, names, n);
  snprintf(what, sizeof what, "unknown command %.60s; did you mean %s?", word,
           near ? near : "");
  return near ? fail_usage(NULL, what, NULL)
              : fail_usage(NULL, "unknown command", word);
}

static bool
refuse_value(cursor *c, const row *r, const char *value) {
  char what[160];
  snprintf(what, sizeof what, "--%s takes %s%s%s%s, not", r->name,
           r->choices ? "one of: " : "", r->choices ? r->choices : r->argument,
           r->kind == BYTES ? " (a number, perhaps with K, M, G or T)" : "",
           r->kind == COUNT ? " (a whole number)" : "");
  return refuse(c, what, value);
}

static bool
take_option(cursor *c, cl_options *options) {
  const char *text = c->argv[c->at++], *value = NULL;
  int bit = command_bit(c->command);
  const row *r;
  if (text[1] == '-') {
    size_t n = strcspn(text + 2, "=");
    r = find_row(text + 2, n, bit);
    if (text[2 + n] == '=')
      value = text + 2 + n + 1;
  } else {
    r = find_letter(text[1], bit);
    if (text[2])
      value = text + 2;
  }
  if (!r)
    return unknown_option(c, text);
  if (r->kind == FLAG && value)
    return refuse(c, "this option takes no value:", text);
  if (r->kind != FLAG && !value) {
    if (c->at == c->argc)
      return refuse(c, "a value is missing after", text);
    value = c->argv[c->at++];
  }
  return set_value(options, r, value) || refuse_value(c, r, value);
}

static bool
take_operand(cursor *c, cl_options *options, const char *text) {
  uint32_t most = c->command ? c->command->max_operands : 0;
  if (options->files.n >= most)
    return refuse(c, "one argument too many:", text);
  options->files.items[options->files.n++] = text;
  return true;
}

/* The command that argv[1] (and argv[2]) name; *used words. */
static const cl_command *
find_command(int argc, char **argv, int *used) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name, *space = strchr(name, ' ');
    size_t n = space ? (size_t)(space - name) : strlen(name);
    if (argc < 2 || strlen(argv[1]) != n || memcmp(argv[1], name, n))
      continue;
    if (space && (argc < 3 || strcmp(argv[2], space + 1)))
      continue;
    *used = space ? 3 : 2;
    return &cl_commands[i];
  }
  return NULL;
}

static bool
parse_words(cursor *c, cl_options *options) {
  bool options_end = false;
  while (c->at < c->argc) {
    const char *text = c->argv[c->at];
    if (!options_end && !strcmp(text, "--")) {
      options_end = true;
      c->at++;
    } else if (!options_end && text[0] == '-' && text[1]) {
      if (!take_option(c, options))
        return false;
    } else {
      c->at++;
      if (!take_operand(c, options, text))
        return false;
    }
  }
  return true;
}

static const char *
group_of(const char *word) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *space = strchr(cl_commands[i].name, ' ');
    if (space && strlen(word) == (size_t)(space - cl_commands[i].name) &&
        !memcmp(word, cl_commands[i].name, strlen(word)))
      return cl_commands[i].name;
  }
  return NULL;
}

const cl_command *
cl_parse(int argc, char **argv, cl_options *options, int *exit_code) {
  cursor c = {argc, 1, argv, NULL, 0};
  c.command = find_command(argc, argv, &c.at);
  set_presets(options, command_bit(c.command));
  if (argc < 2) {
    cl_print_help(stderr, NULL);
    *exit_code = 2;
    return NULL;
  }
  if (!c.command && argv[1][0] != '-') {
    const char *member = group_of(argv[1]);
    if (!strcmp(argv[1], "help")) {
      const cl_command *about = find_command(argc - 1, argv + 1, &c.at);
      cl_print_help(stdout, about);
      *exit_code = 0;
      return NULL;
    }
    if (member)
      *exit_code =
          fail_usage(NULL, "this command has a second word, as in", member);
    else
      *exit_code = unknown_command(argv[1]);
    return NULL;
  }
  if (!parse_words(&c, options)) {
    *exit_code = c.exit_code;
    return NULL;
  }
  if (options->help) {
    cl_print_help(stdout, c.command);
    *exit_code = 0;
    return NULL;
  }
  if (options->version || !c.command)
    return NULL;
  if (options->files.n < c.command->min_operands) {
    *exit_code =
        fail_usage(c.command, "an argument is missing:", c.command->operands);
    return NULL;
  }
  return c.command;
}

/* ---- help ---- */

static void
print_wrapped(FILE *out, const char *text, int column, int at) {
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (at + n > 79) {
      fprintf(out, "\n%*s", column, "");
      at = column;
    }
    fprintf(out, "%.*s", n, text);
    at += n;
    text += n;
    if (*text == ' ') {
      text++;
      if (*text) {
        fputc(' ', out);
        at++;
      }
    }
  }
  fputc('\n', out);
}

static void
print_option(FILE *out, const row *r) {
  enum { COLUMN = 30 };
  char head[80], text[400];
  int n =
      snprintf(head, sizeof head, "  %c%c%s --%s%s%s", r->letter ? '-' : ' ',
               r->letter ? r->letter : ' ', r->letter ? "," : " ", r->name,
               r->argument ? " " : "", r->argument ? r->argument : "");
  snprintf(text, sizeof text, "%s%s%s%s%s%s%s", r->help, r->choices ? " (" : "",
           r->choices ? r->choices : "", r->choices ? ")" : "",
           r->preset ? " [" : "", r->preset ? r->preset : "",
           r->preset ? "]" : "");
  fputs(head, out);
  if (n >= COLUMN)
    fprintf(out, "\n%*s", COLUMN, "");
  else
    fprintf(out, "%*s", COLUMN - n, "");
  print_wrapped(out, text, COLUMN, COLUMN);
}

static void
print_overview(FILE *out) {
  fputs("glen - equality saturation for tensor kernels\n\n"
        "usage: glen COMMAND [OPTION...] FILE...\n\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++)
    fprintf(out, "  %-12s %s\n", cl_commands[i].name, cl_commands[i].summary);
  fputs("\n  glen COMMAND --help        explains a command, with examples\n"
        "  glen --version --verbose   features and libraries\n\n"
        "first steps:\n"
        "  glen saturate examples/conv.glen --rules rules/\n"
        "  glen compile examples/conv.glen -o conv.c\n"
        "  glen run examples/matmul.glen --check\n\n"
        "exit codes: 0 done; 1 the input is wrong; 2 usage; 3 a limit was hit "
        "under\n--require-saturation; 4 mismatch or unsound rule; 70 "
        "internal\n",
        out);
}

void
cl_print_help(FILE *out, const cl_command *command) {
  if (!command) {
    print_overview(out);
    return;
  }
  fprintf(out, "glen %s - %s\n\nusage: glen %s [OPTION...]%s%s\n\n%s\n",
          command->name, command->summary, command->name,
          *command->operands ? " " : "", command->operands, command->teach);
  fputs("options (with [defaults]):\n", out);
  for (size_t i = 0; i < N_ROWS; i++)
    if (rows[i].commands & command_bit(command))
      print_option(out, &rows[i]);
}

/* ---- generated files ---- */

static void
put_names(FILE *out, int bits, const char *prefix) {
  for (size_t i = 0; i < N_ROWS; i++)
    if ((rows[i].commands & bits) &&
        find_row(rows[i].name, strlen(rows[i].name), bits) == &rows[i])
      fprintf(out, "%s--%s", prefix, rows[i].name);
}

/* The first command of those that share the first word of command i. */
static size_t
group_start(size_t i) {
  const char *name = cl_commands[i].name;
  size_t n = strcspn(name, " ");
  for (size_t k = 0; k < i; k++)
    if (strcspn(cl_commands[k].name, " ") == n &&
        !memcmp(cl_commands[k].name, name, n))
      return k;
  return i;
}

static bool
starts_group(size_t i) {
  return group_start(i) == i;
}

/* The second words of a group, then the options of all its commands. */
static void
put_group(FILE *out, size_t first) {
  int bits = 0;
  for (size_t i = first; i < cl_command_count; i++) {
    const char *second = strchr(cl_commands[i].name, ' ');
    if (group_start(i) != first)
      continue;
    if (second)
      fprintf(out, " %s", second + 1);
    bits |= 1 << i;
  }
  put_names(out, bits, " ");
}

static void
print_bash(FILE *out) {
  fputs("_glen() {\n  local words=\n  case \"${COMP_WORDS[1]}\" in\n", out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (!starts_group(i))
      continue;
    fprintf(out, "  %.*s) words=\"", (int)strcspn(name, " "), name);
    put_group(out, i);
    fputs("\" ;;\n", out);
  }
  fputs("  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then words=\"", out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (starts_group(i))
      fprintf(out, " %.*s", (int)strcspn(name, " "), name);
  }
  fputs("\"; fi\n  COMPREPLY=($(compgen -f -W \"$words\" -- "
        "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
        "complete -o filenames -F _glen glen\n",
        out);
}

static void
print_zsh(FILE *out) {
  fputs("#compdef glen\n_glen() {\n  local -a words\n  if (( CURRENT == 2 )); "
        "then\n    words=(",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (starts_group(i))
      fprintf(out, " '%.*s:%s'", (int)strcspn(name, " "), name,
              cl_commands[i].summary);
  }
  fputs(" )\n    _describe command words\n    return\n  fi\n  case "
        "$words[2] in\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (!starts_group(i))
      continue;
    fprintf(out, "  %.*s) compadd --", (int)strcspn(name, " "), name);
    put_group(out, i);
    fputs(" ;;\n", out);
  }
  fputs("  esac\n  _files\n}\n_glen \"$@\"\n", out);
}

static void
print_fish(FILE *out) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    int n = (int)strcspn(name, " ");
    if (starts_group(i))
      fprintf(out,
              "complete -c glen -n __fish_use_subcommand -a %.*s -d '%s'\n", n,
              name, cl_commands[i].summary);
    if (name[n])
      fprintf(out,
              "complete -c glen -n '__fish_seen_subcommand_from %.*s' -a %s "
              "-d '%s'\n",
              n, name, name + n + 1, cl_commands[i].summary);
    for (size_t k = 0; k < N_ROWS; k++)
      if (rows[k].commands & (1 << i))
        fprintf(out,
                "complete -c glen -n '__fish_seen_subcommand_from %.*s' -l %s "
                "%s\n",
                n, name, rows[k].name, rows[k].argument ? "-r" : "");
  }
}

static void
put_roff(FILE *out, const char *text) {
  for (bool start = true; *text; start = *text++ == '\n') {
    if (start && (*text == '.' || *text == '\''))
      fputs("\\&", out);
    if (*text == '\\')
      fputs("\\e", out);
    else if (*text == '-')
      fputs("\\-", out);
    else
      fputc(*text, out);
  }
}

static void
print_man(FILE *out) {
  fputs(".TH GLEN 1\n.SH NAME\nglen \\- equality saturation for tensor "
        "kernels\n.SH SYNOPSIS\n.B glen\nCOMMAND [OPTION...] FILE...\n"
        ".SH COMMANDS\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const cl_command *c = &cl_commands[i];
    fprintf(out, ".SS glen %s %s\n", c->name, c->operands);
    fputs(".nf\n", out);
    put_roff(out, c->teach);
    fputs(".fi\nOptions:", out);
    put_names(out, 1 << i, " ");
    fputs("\n", out);
  }
  fputs(".SH OPTIONS\n", out);
  for (size_t i = 0; i < N_ROWS; i++) {
    fprintf(out, ".TP\n.B \\-\\-%s%s%s\n", rows[i].name,
            rows[i].argument ? " " : "",
            rows[i].argument ? rows[i].argument : "");
    put_roff(out, rows[i].help);
    if (rows[i].preset)
      fprintf(out, " [%s]", rows[i].preset);
    fputc('\n', out);
  }
}

bool
cl_print_generated(FILE *out, const char *what) {
  static const struct {
    const char *name;
    void (*print)(FILE *);
  } forms[] = {{"bash", print_bash},
               {"zsh", print_zsh},
               {"fish", print_fish},
               {"man", print_man}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(what, forms[i].name)) {
      forms[i].print(out);
      return true;
    }
  return false;
}
