/* SPDX-License-Identifier: MIT */
/* glen.h - the public interface of libglen.
 *
 * One context owns everything made with it; objects live until the context is
 * freed (or until their own *_free).  A context is used by one thread at a
 * time; several contexts are independent.  The library never prints, exits or
 * aborts on user input: a function that fails returns false or NULL and leaves
 * diagnostics in the context.  When memory runs out it fails with the
 * diagnostic "out-of-memory" and the context may only be freed.  The locale of
 * the calling thread changes nothing, and is there again afterwards.  A stack
 * of 256 KiB is enough for any function.
 *
 * Strings returned are owned by the context and NUL-terminated; those that are
 * printed for the caller, as the text of a program, live until
 * glen_free_strings. */
#ifndef GLEN_GLEN_H
#define GLEN_GLEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glen/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GLEN_API __attribute__((visibility("default")))
#else
#define GLEN_API
#endif

typedef struct glen_context glen_context;
typedef struct glen_target glen_target;
typedef struct glen_program glen_program;
typedef struct glen_rules glen_rules;
typedef struct glen_result glen_result; /* of a saturation */
typedef struct glen_loops glen_loops;   /* a lowered program */
typedef struct glen_tensors glen_tensors;
typedef struct glen_kernel glen_kernel; /* loaded into this process */

/* Exit codes of the command line, and the kind of a failure. */
typedef enum glen_status {
  GLEN_OK = 0,
  GLEN_BAD_INPUT = 1,
  GLEN_USAGE = 2,
  GLEN_LIMIT = 3,   /* a limit was hit where saturation was required */
  GLEN_REFUTED = 4, /* a mismatch, or an unsound rule */
  GLEN_INTERNAL = 70
} glen_status;

/* ---- context ---- */

typedef struct glen_allocator {
  /* size 0 frees; may return NULL */
  void *(*realloc)(void *ctx, void *block, size_t size);
  void *ctx;
} glen_allocator;

/* NULL allocator: libc.  memory_limit in bytes, 0 for none.  NULL when even
 * the context does not fit. */
GLEN_API glen_context *glen_context_new(const glen_allocator *,
                                        size_t memory_limit);
GLEN_API void glen_context_free(glen_context *);
/* Frees the texts that functions have returned so far: those of programs,
 * targets, results, loops, code and reports, and diagnostics that were taken.
 * Names stay.  A program that keeps one context for thousands of requests calls
 * it, and glen_clear_diagnostics, after each. */
GLEN_API void glen_free_strings(glen_context *);
/* What is done with the context from now on takes so many seconds and makes the
 * process no larger than so many bytes; 0: no limit.  What can be cut short is,
 * with a warning "time-limit" or "memory-limit" that says what was done
 * instead; else the function fails with a diagnostic of that code and
 * GLEN_LIMIT, and the context may only be freed. */
GLEN_API void glen_limit(glen_context *, double seconds, size_t bytes);
/* Three quarters of the memory there is for this process, by the machine and by
 * the limits of its control groups. */
GLEN_API size_t glen_default_memory_limit(void);
/* Asks what is running to stop and give what it has: a saturation, an
 * extraction, a search, tests; or to end: a compiler, generated code.  Asked
 * again, these are killed.  False when nothing of that kind is running.  Safe
 * in a signal handler. */
GLEN_API bool glen_interrupt(glen_context *);
/* Ends child processes and removes files that would stay behind: for the
 * handler of a signal that is about to end the program. */
GLEN_API void glen_abandon(const glen_context *);
/* From now on no C compiler is called and no generated code runs: what would
 * fails with "no-native" (GLEN_USAGE).  To be called before anything else. */
GLEN_API void glen_forbid_native(glen_context *);
/* Of the library that runs; what it was compiled with: GLEN_VERSION and
 * GLEN_VERSION_NUMBER. */
GLEN_API const char *glen_version(void);
GLEN_API int glen_version_number(void);
/* The name that was perhaps meant by a word; NULL when none is near. */
GLEN_API const char *glen_nearest(const char *word, const char *const *names,
                                  size_t n);
/* Features and libraries, a line each. */
GLEN_API const char *glen_version_details(glen_context *);

typedef enum glen_diag_format {
  GLEN_DIAG_TEXT,
  GLEN_DIAG_COLOR,
  GLEN_DIAG_JSON
} glen_diag_format;

/* The diagnostics since the last call, rendered; "" when there are none. */
GLEN_API const char *glen_take_diagnostics(glen_context *, glen_diag_format);
GLEN_API uint32_t glen_error_count(const glen_context *);

typedef enum glen_severity {
  GLEN_ERROR,
  GLEN_WARNING,
  GLEN_NOTE
} glen_severity;

typedef struct glen_diagnostic {
  size_t size; /* of this struct, as the library has it */
  glen_severity severity;
  const char *code;              /* stable, as "type-mismatch"; "" of notes */
  const char *message, *hint;    /* hint "": there is none */
  const char *file;              /* "": it has no place */
  uint32_t line, column;         /* from 1, in characters; 0: no place */
  uint32_t end_line, end_column; /* behind its last character */
  uint32_t begin, end;           /* the same in bytes from 0 */
} glen_diagnostic;

/* Diagnostics as values: how many there are since they were cleared, whether
 * taken or not; and one of them, valid until they are cleared.  False where
 * there is none. */
GLEN_API uint32_t glen_diagnostics(const glen_context *);
GLEN_API bool glen_diagnostic_at(const glen_context *, uint32_t k,
                                 glen_diagnostic *out);
/* Forgets them, and frees them and the texts of objects that are gone. */
GLEN_API void glen_clear_diagnostics(glen_context *);
/* GLEN_BAD_INPUT, or what the last failure was. */
GLEN_API glen_status glen_failure(const glen_context *);

/* ---- inputs ---- */

/* Rules and targets have names: `systolic16` is the file systolic16.target that
 * is installed with glen.  A name is looked for as a path, as it is given; then
 * in each folder of the environment variable GLEN_PATH, which colons divide;
 * then in the folder of data.  In a folder F it is F/NAME, F/NAME.target,
 * F/targets/NAME or F/targets/NAME.target, and with `rules` in place of
 * `target` and `targets` for rules.  Functions that take the path of a target
 * or of rules look it up so. */
typedef enum glen_data { GLEN_DATA_RULES, GLEN_DATA_TARGET } glen_data;

/* The path that a name leads to; NULL: the folder of the rules that come with
 * glen.  False where there is none: then the path is the name as it was given.
 */
GLEN_API bool glen_find(glen_data, const char *name, char *path, size_t size);
/* The folder of data: share/glen beside the library or the program; else where
 * the build was configured to have it.  False where there is none. */
GLEN_API bool glen_data_folder(char *path, size_t size);

/* Objects of these three kinds are freed one by one, after all that was made of
 * them (results, loops, arrays); what is not freed goes with the context. */
GLEN_API void glen_target_free(glen_target *);
GLEN_API void glen_program_free(glen_program *);
GLEN_API void glen_rules_free(glen_rules *);

/* A target as text in memory; files that it names are looked for beside `name`.
 */
GLEN_API glen_target *glen_target_parse(glen_context *, const char *name,
                                        const char *text, size_t size);
/* path NULL: the built-in description of a modest machine. */
GLEN_API glen_target *glen_target_load(glen_context *, const char *path);
GLEN_API glen_target *glen_target_detect(glen_context *);
/* One of the two: "native" is this machine, anything else a path or NULL. */
GLEN_API glen_target *glen_target_named(glen_context *, const char *name);
/* The target with the vectors of a kind of processor: "base" (any x86-64, or
 * none), "avx2", "avx512"; NULL with diagnostics for another name. */
GLEN_API glen_target *glen_target_variant(glen_context *, const glen_target *,
                                          const char *name);
GLEN_API const char *glen_target_text(glen_context *, const glen_target *);

/* An instruction's C template, held against its semantics on generated calls
 * (docs/TARGETS.md): "tested", "refuted" or "untested". */
typedef struct glen_instr_test {
  const char *instr, *place; /* file:line:column */
  const char *verdict, *reason;
  const char *detail; /* refuted: lines of the call that differs; else "" */
  const char *json;   /* an object */
} glen_instr_test;

typedef struct glen_instr_options {
  uint64_t seed;
  const char *cc;           /* NULL: $CC, else cc */
  const char *const *flags; /* added to the compiler's command */
  uint32_t n_flags;
} glen_instr_options;

GLEN_API uint32_t glen_target_instrs(const glen_target *);
/* Are some of them such that programs are rewritten to call them?  Those that
 * only multiply and accumulate are used by kernels as they are. */
GLEN_API bool glen_target_is_mapped_to(const glen_target *);
GLEN_API const char *glen_target_instr(const glen_target *, uint32_t k);
/* False when nothing can be tested: no compiler, an interrupt, no memory. */
GLEN_API bool glen_target_test(glen_context *, const glen_target *, uint32_t k,
                               const glen_instr_options *, glen_instr_test *);

GLEN_API glen_program *glen_program_load(glen_context *, const glen_target *,
                                         const char *path);
GLEN_API glen_program *glen_program_parse(glen_context *, const glen_target *,
                                          const char *name, const char *text,
                                          size_t size);
GLEN_API const char *glen_program_text(glen_context *, const glen_program *,
                                       bool types);
GLEN_API uint32_t glen_program_inputs(const glen_program *);
GLEN_API uint32_t glen_program_outputs(const glen_program *);
GLEN_API const char *glen_input_name(const glen_program *, uint32_t k);
/* What a program that was read from a model has of such a file, which was not
 * written: its bytes, as long as the context lives, and its name; NULL where
 * there is none. */
GLEN_API const void *glen_weights_held(const glen_program *, const char **file,
                                       size_t *bytes);
GLEN_API const char *glen_output_name(const glen_program *, uint32_t k);

/* Do the elements of the input stand in a file, as weights do?  glen_inputs_new
 * reads them. */
GLEN_API bool glen_input_is_stored(const glen_program *, uint32_t k);

/* The program without its names, and with its inputs in the order in which its
 * outputs use them: programs that differ in these alone give the same text.
 * What stands in files becomes an input like any other. */
GLEN_API glen_program *glen_program_canonical(glen_context *,
                                              const glen_program *);
/* The layers of a program: lets that reduce, as sums, products of matrices and
 * softmax do, or call an instruction.  Each is a program in that form, in which
 * what it uses of other lets that compute are inputs. The program must live as
 * long. */
typedef struct glen_layers glen_layers;
GLEN_API glen_layers *glen_layers_new(glen_context *, const glen_program *);
GLEN_API void glen_layers_free(glen_layers *);
GLEN_API uint32_t glen_layers_count(const glen_layers *);
GLEN_API const char *glen_layer_name(const glen_layers *, uint32_t k);
GLEN_API glen_program *glen_layer_program(glen_context *, const glen_layers *,
                                          uint32_t k);

/* Rule files, directories of them (by name, as of glen_find), and the rules
 * derived from the target's instructions.  params: n_params strings
 * "NAME=VALUE". */
GLEN_API glen_rules *glen_rules_load(glen_context *, const glen_target *,
                                     const char *const *paths, uint32_t n_paths,
                                     const char *const *params,
                                     uint32_t n_params);
GLEN_API uint32_t glen_rules_count(const glen_rules *);
/* Rules as text in memory, beside those of the paths, if any. */
GLEN_API glen_rules *glen_rules_parse(glen_context *, const glen_target *,
                                      const char *const *paths,
                                      uint32_t n_paths, const char *name,
                                      const char *text, size_t size);

/* Every file read so far, in order (for dependency files). */
GLEN_API uint32_t glen_files_read(const glen_context *);
GLEN_API const char *glen_file_read(const glen_context *, uint32_t k);
/* Every file of weights that what was read names, as far as it exists. */
GLEN_API uint32_t glen_files_named(const glen_context *);
GLEN_API const char *glen_file_named(const glen_context *, uint32_t k);
/* Every folder whose rule files were read: another file in it would have been
 * read, too. */
GLEN_API uint32_t glen_folders_read(const glen_context *);
GLEN_API const char *glen_folder_read(const glen_context *, uint32_t k);

/* ---- the main job: saturate and extract ---- */

typedef struct glen_progress {
  uint32_t iteration; /* 1-based */
  uint32_t nodes, classes;
  double seconds;
  double best_cost; /* NaN when it was not computed */
} glen_progress;

/* How a program is saturated. */
typedef enum glen_regions {
  GLEN_REGIONS_AUTO,  /* by layers, where there are many */
  GLEN_REGIONS_WHOLE, /* in one e-graph */
  GLEN_REGIONS_LAYERS /* each layer in one of its own, equal ones once */
} glen_regions;
/* "auto", "whole", "layers". */
GLEN_API bool glen_regions_find(const char *word, glen_regions *out);

typedef struct glen_saturate_options {
  size_t size;                /* of this struct, as the caller has it */
  uint32_t iterations, nodes; /* 0: no limit, likewise below */
  size_t bytes;
  double seconds;
  uint64_t matches_a_rule; /* applied in the whole run */
  uint64_t work; /* steps of one rule's search in an iteration, a match being
                    some for each variable; more in a large graph */
  bool backoff;  /* else the simple scheduler */
  const char *strategy; /* NULL: the rule files' own, or every rule */
  const char *const *disabled;
  uint32_t n_disabled;
  const char *extractor; /* "tree", "dag", "exact", "ilp" */
  /* Inputs that are the same for all calls: what is made of them alone is
   * paid once (glen_prepack). */
  const char *const *prepack;
  uint32_t n_prepack;
  double extract_seconds;
  void (*progress)(void *ctx, const glen_progress *);
  void *progress_ctx;
  bool progress_cost; /* compute best_cost for the callback */
  bool explain;       /* for glen_result_explain; costs some time and memory */
  bool contribution;  /* of each rule to the result, by its explanation */
  bool growth;        /* for glen_result_html: what each rule did, and when */
  glen_regions regions;
} glen_saturate_options;

/* Options say their size, so that a program goes on with a library that has
 * more of them: those that it does not know are as by default.  The functions
 * of defaults set it, each through a macro of its name that passes the size. */
GLEN_API void glen_saturate_defaults(glen_saturate_options *);
GLEN_API void glen_saturate_defaults_of(glen_saturate_options *, size_t size);
#define glen_saturate_defaults(out)                                            \
  glen_saturate_defaults_of((out), sizeof *(out))

/* NULL with diagnostics when a rule proved unsound (GLEN_REFUTED) or nothing
 * could be extracted.  Hitting a limit is no failure. */
GLEN_API glen_result *glen_saturate(glen_context *, const glen_program *,
                                    const glen_rules *, const glen_target *,
                                    const glen_saturate_options *);
GLEN_API void glen_result_free(glen_result *);
GLEN_API const glen_program *glen_result_program(const glen_result *);
/* True when no limit was hit: saturated, or the strategy came to its end. */
GLEN_API bool glen_result_saturated(const glen_result *);

typedef struct glen_summary {
  /* "saturated": no rule adds anything; "strategy ended", "node limit", ... */
  const char *stop;
  uint32_t iterations, nodes, classes;
  size_t bytes;
  double seconds, search_s, apply_s, rebuild_s, extract_s;
  double cost_before, cost_after, bound;
  bool optimal;
} glen_summary;

GLEN_API void glen_result_summary(const glen_result *, glen_summary *);
/* The report people read: program with types, costs, rules, stop reason.
 * `seconds`: with timings, which differ from run to run. */
GLEN_API const char *glen_result_text(glen_context *, const glen_result *,
                                      bool seconds);
GLEN_API const char *glen_result_json(glen_context *, const glen_result *,
                                      bool seconds);
/* Is the extracted program equal to the input, for every input?  "proved",
 * "tested", "refuted" (with a diagnostic, GLEN_REFUTED) or "unknown"; reports
 * made after this say so.  NULL when memory ran out. */
GLEN_API const char *glen_result_verify(glen_context *, glen_result *);
/* The proof that it is, as text that glen-check-proof reads (docs/PROOFS.md).
 * The options of the saturation must have had `explain` and
 * GLEN_REGIONS_WHOLE.  NULL with a
 * diagnostic when there is none. */
GLEN_API const char *glen_result_proof(glen_context *, const glen_result *);
/* That part of the report alone. */
GLEN_API const char *glen_result_verified_text(glen_context *,
                                               const glen_result *, bool json);

typedef struct glen_report {
  bool json;
  bool seconds;
  bool stats; /* what each rule and each iteration did */
} glen_report;

GLEN_API const char *glen_result_report(glen_context *, const glen_result *,
                                        const glen_report *);
GLEN_API const char *glen_result_egraph_json(glen_context *,
                                             const glen_result *);
GLEN_API const char *glen_result_dot(glen_context *, const glen_result *,
                                     uint32_t max_classes);

typedef struct glen_html {
  const char *title;     /* what was saturated */
  const char *explained; /* the JSON of glen_result_explain, or NULL */
  const char *loops;     /* glen_loops_text, or NULL */
} glen_html;

/* One page for a browser that loads nothing: programs, costs, the e-graph near
 * the chosen program, growth, rules.  NULL when memory ran out. */
GLEN_API const char *glen_result_html(glen_context *, const glen_result *,
                                      const glen_html *);

/* ---- explanations ---- */

typedef struct glen_explained {
  bool equal;       /* a chain was found for every output */
  bool checked;     /* each step was replayed by its rule alone */
  uint32_t steps;   /* over all outputs */
  double seconds;   /* to find the chains */
  const char *text; /* the chains, or how far the run came */
  const char *json;
} glen_explained;

typedef struct glen_explain_options {
  uint32_t max_steps; /* of one output */
  bool all_steps;     /* the text shows all, else at most `shown` */
  uint32_t shown;
  uint32_t json_steps; /* 0: the JSON has all, and the whole term of each; else
                          the first of each chain only, without whole terms */
} glen_explain_options;

GLEN_API void glen_explain_defaults(glen_explain_options *);
/* Saturates both programs in one e-graph until their outputs meet and writes
 * the chains of rule applications down.  False with diagnostics when a rule
 * proved unsound or the programs cannot be put together. */
GLEN_API bool glen_explain(glen_context *, const glen_program *a,
                           const glen_program *b, const glen_rules *,
                           const glen_target *, const glen_saturate_options *,
                           const glen_explain_options *, glen_explained *out);
/* From the input of a saturation to what was extracted. */
GLEN_API bool glen_result_explain(glen_context *, const glen_result *,
                                  const glen_explain_options *,
                                  glen_explained *out);

/* ---- mapping ---- */

typedef struct glen_mapped {
  bool known;       /* the instruction that was asked for is there */
  uint32_t unused;  /* instructions */
  const char *text; /* a picture, then each instruction with what kept it */
  const char *json;
} glen_mapped;

/* Which part of the input went to which instruction.  For those not used: the
 * nearest misses of their rules.  instr: only that instruction (or rule); NULL:
 * all of the target's. */
GLEN_API bool glen_map(glen_context *, const glen_result *, const char *instr,
                       glen_mapped *out);
/* All calls that each computation of the input may become, with their prices:
 * every way to assign its dimensions to those of an instruction. */
GLEN_API bool glen_map_all(glen_context *, const glen_result *,
                           glen_mapped *out);

/* Are the layers mapped whose names fit one of the patterns, in which `*` is
 * any text?  A layer is a term that the input gives a name, down to other
 * names. False with a diagnostic for each operator that an instruction could
 * compute and the host does, and, of a layer in which no instruction could
 * compute any, for all of them: "not-mapped" (GLEN_LIMIT), with what was
 * missing.
 */
GLEN_API bool glen_map_require(glen_context *, const glen_result *,
                               const char *const *patterns, uint32_t n);

/* ---- loops and code ---- */

GLEN_API glen_loops *glen_lower(glen_context *, const glen_program *,
                                const glen_target *, bool strict_fp);
GLEN_API void glen_loops_free(glen_loops *);
/* NULL when memory ran out. */
GLEN_API glen_loops *glen_loops_copy(glen_context *, const glen_loops *);
/* The input is the same for all calls of the function: it is a parameter of
 * NAME_prepack instead, which packs it once.  Where all such inputs stand in
 * files, there are NAME_init and NAME_free, too.  False, with diagnostics,
 * where there is no such input, or its file is not as the program says.  To be
 * called before a schedule is applied. */
GLEN_API bool glen_prepack(glen_context *, glen_loops *, const char *input);
GLEN_API const char *glen_loops_text(glen_context *, const glen_loops *);
GLEN_API const char *glen_loops_tree(glen_context *, const glen_loops *);
/* The loops as axes, the ways to tile them with their costs, and the one
 * chosen (docs/IMPLGRAPH.md). */
GLEN_API const char *glen_loops_implgraph(glen_context *, glen_loops *,
                                          bool json);
/* The C of `loops` is that for any processor, and has beside it that of
 * `variant`, the same program lowered for the variant of that name; which one
 * runs is chosen on the machine.  To be called in the order of what processors
 * have, when nothing is scheduled any more; `variant` then belongs to `loops`.
 * False, with diagnostics, for what cannot be a variant. */
#define GLEN_MAX_VARIANTS 8
GLEN_API bool glen_dispatch(glen_context *, glen_loops *loops, const char *name,
                            glen_loops *variant);
/* The C file and its header; name is made a C identifier. */
GLEN_API bool glen_emit_c(glen_context *, const glen_loops *, const char *name,
                          const char *header_file, const char **c,
                          const char **h);
/* CUDA instead of C: kernels by the loops that are bound to blocks and threads;
 * NULL with diagnostics. */
GLEN_API const char *glen_emit_cuda(glen_context *, const glen_loops *,
                                    const char *name);
GLEN_API const char *glen_manifest(glen_context *, const glen_loops *,
                                   const char *name);

/* ---- schedules ---- */

/* A loop program in its text form (docs/LOOPS.md).  strict_fp: sums of floating
 * point keep their order, as if the text said `strict`. */
GLEN_API glen_loops *glen_loops_load(glen_context *, const glen_target *,
                                     const char *path, bool strict_fp);
/* As glen_loops_load, with numbers put in for sizes that the text leaves open,
 * each as "NAME=NUMBER"; those that are not given stay open. */
GLEN_API glen_loops *glen_loops_load_at(glen_context *, const glen_target *,
                                        const char *path, bool strict_fp,
                                        const char *const *sizes,
                                        uint32_t n_sizes);
/* The inputs and outputs of loops: a program without terms where they were
 * read from text. NULL when memory ran out. */
GLEN_API const glen_program *glen_loops_program(glen_context *,
                                                const glen_loops *);
/* Applies a .sched script (docs/SCHEDULES.md); what it printed.  explain: with
 * a line for each command and what it did to the number of instances.  False
 * with diagnostics; the loops are then as after the last command that was
 * accepted. */
GLEN_API bool glen_schedule(glen_context *, glen_loops *, const char *path,
                            bool explain, const char **printed);
/* Chooses a schedule: fuse is "min", "smart", "max", "post-tile", or "auto":
 * the last one where the program is worth it (docs/SCHEDULES.md); tiles: sizes
 * of the innermost loops' tiles, or none.
 * Loops become one schedule step after the other, each checked; where a limit
 * is reached the schedule stays as far as it got, with a warning. */
GLEN_API bool glen_schedule_auto(glen_context *, glen_loops *, const char *fuse,
                                 const int64_t *tiles, uint32_t n_tiles);
/* "loops", "program", "tree", "axes", "deps" or "script" (the commands applied
 * so far, which give the same loops again); NULL for another word. */
GLEN_API const char *glen_schedule_print(glen_context *, glen_loops *,
                                         const char *what);
/* Usage and effect of every command. */
GLEN_API const char *glen_schedule_help(glen_context *);
/* Layouts for the arrays of loops, found by their cost ("doc", "autokernel",
 * "lines": docs/LAYOUT.md) among those that cut dimensions into `widths`, and
 * the loop of each nest that should be innermost with them, unless orders are
 * to be kept: the search, as comments of a schedule script that gives these
 * orders and layouts.  NULL with diagnostics. */
GLEN_API const char *glen_layout(glen_context *, const glen_loops *,
                                 const char *cost, const int64_t *widths,
                                 uint32_t n_widths, bool keep_order);

/* Searches like glen_layout, without other orders, and gives the loops the
 * layouts that were found, but for arrays that contractions pack themselves. */
GLEN_API bool glen_give_layouts(glen_context *, glen_loops *, const char *cost,
                                const int64_t *widths, uint32_t n_widths);

/* Binds loops to the blocks and threads of a GPU, where none is yet. */
GLEN_API bool glen_bind(glen_context *, glen_loops *);
/* Whole schedules of the loops, the loops as they are first, with what the cost
 * model says of them: one line each, the cheapest marked by `*`. */
GLEN_API const char *glen_strategies(glen_context *, const glen_loops *,
                                     uint32_t most);
/* Applies the cheapest of them; *name: which. */
GLEN_API bool glen_choose(glen_context *, glen_loops *, uint32_t most,
                          const char **name);

/* How producers go into their consumers' loops (docs/SCHEDULES.md). */
typedef enum glen_fusion {
  GLEN_FUSE_AUTO, /* tile by tile where a run is long enough for it to pay */
  GLEN_FUSE_NONE,
  GLEN_FUSE_MIN,
  GLEN_FUSE_SMART, /* where nothing is computed again */
  GLEN_FUSE_MAX,
  GLEN_FUSE_POST_TILE
} glen_fusion;

/* By which cost arrays are given other layouts (docs/LAYOUT.md). */
typedef enum glen_layout_cost {
  GLEN_LAYOUT_NONE, /* arrays stay as they are */
  GLEN_LAYOUT_DOC,
  GLEN_LAYOUT_AUTOKERNEL,
  GLEN_LAYOUT_LINES
} glen_layout_cost;

/* The mode of that name, as the command line spells it; false when there is
 * none. */
GLEN_API bool glen_fusion_find(const char *word, glen_fusion *out);
GLEN_API bool glen_layout_cost_find(const char *word, glen_layout_cost *out);

/* How a program becomes loops.  All zeros but the size, as glen_code_defaults
 * gives them: for the target alone, fused where that pays. */
typedef struct glen_code_options {
  size_t size; /* of this struct, as the caller has it */
  bool strict_fp;
  bool keep_lowered;          /* the loops' text before they are scheduled */
  const char *const *prepack; /* inputs; see glen_prepack */
  uint32_t n_prepack;
  /* Kinds of processors beside any one, in the order of what they have; see
   * glen_dispatch.  None: the code is for the target. */
  const char *const *variants;
  uint32_t n_variants;
  /* The cheapest of so many whole schedules; what follows is not looked at
   * then. 0: not chosen so. */
  uint32_t choose;
  glen_fusion fusion;
  const int64_t *tiles; /* sizes for GLEN_FUSE_POST_TILE, which they imply */
  uint32_t n_tiles;
  const char *script;      /* the path of one that is applied next, or NULL */
  bool explain;            /* with a line for each of its commands */
  glen_layout_cost layout; /* given last */
  /* How often fusion may run the statements of an array for each instance that
   * is needed, at least 1; 0: 1.5.  With `explain`, what that left out is
   * printed. */
  double recompute;
} glen_code_options;

GLEN_API void glen_code_defaults_of(glen_code_options *, size_t size);
#define glen_code_defaults(out) glen_code_defaults_of((out), sizeof *(out))

/* Strings of the context. */
typedef struct glen_scheduled {
  const char *printed; /* by the script; "" without one */
  const char *chosen;  /* the name of the schedule chosen, or NULL */
  const char *lowered; /* when it was to be kept, or NULL */
  /* With `explain`: lines on what the bound `recompute` left out; else "". */
  const char *left_out;
} glen_scheduled;

/* Packed inputs, then a schedule that is chosen, or fusion, script and layouts.
 * False with diagnostics; `out` then says what the script printed so far. */
GLEN_API bool glen_schedule_loops(glen_context *, glen_loops *,
                                  const glen_code_options *,
                                  glen_scheduled *out);
/* Lowers and schedules a program, for each of the variants; `out` is that of
 * the first.  NULL with diagnostics. */
GLEN_API glen_loops *glen_lower_scheduled(glen_context *, const glen_program *,
                                          const glen_target *,
                                          const glen_code_options *,
                                          glen_scheduled *out);

/* ---- the whole way ---- */

typedef struct glen_compile_options {
  const char *target;       /* as of glen_target_named */
  const char *const *rules; /* paths; none: it is compiled as it is written */
  uint32_t n_rules;
  const char *const *params; /* of the rules, "NAME=VALUE" */
  uint32_t n_params;
  glen_saturate_options saturate;
  bool verify; /* a result that is refuted is not compiled */
  glen_code_options code;
  const char *name;   /* of the C function; made a C identifier */
  const char *header; /* the file that the C includes as its own, or NULL */
} glen_compile_options;

GLEN_API void glen_compile_defaults(glen_compile_options *);

/* What the stages made; strings are the context's. */
typedef struct glen_compiled {
  glen_target *target;
  glen_program *input;
  glen_result *result;         /* NULL without rules */
  const char *verdict;         /* of glen_result_verify; NULL: not asked */
  const glen_program *program; /* extracted, or the input */
  glen_loops *loops;
  glen_scheduled scheduled;
  const char *c, *h;
} glen_compiled;

/* Parses the program, saturates, extracts, proves where it is asked to, lowers,
 * schedules and generates C.  False with diagnostics: then there is nothing to
 * be freed, and what can be told of a script is in `scheduled`. */
GLEN_API bool glen_compile(glen_context *, const char *path,
                           const glen_compile_options *, glen_compiled *out);
/* The loops and the result; the rest goes with the context. */
GLEN_API void glen_compiled_free(glen_compiled *);

/* ---- running ---- */

/* One array an input of the program; filled from a seed until loaded. */
GLEN_API glen_tensors *glen_inputs_new(glen_context *, const glen_program *,
                                       uint64_t seed);
GLEN_API void glen_tensors_free(glen_tensors *);
/* name may be NULL when the program has one input. */
GLEN_API bool glen_input_load(glen_context *, glen_tensors *, const char *name,
                              const char *npy_path);
typedef enum glen_dtype {
  GLEN_F32,
  GLEN_F64,
  GLEN_BF16, /* as 16 bits */
  GLEN_I8,
  GLEN_U8,
  GLEN_I32,
  GLEN_F16, /* as 16 bits */
  GLEN_I16,
  GLEN_U16,
  GLEN_BOOL /* as bytes, each 0 or 1 */
} glen_dtype;

/* An array of the caller. */
typedef struct glen_array {
  size_t size; /* of this struct, as the caller has it */
  void *data;
  glen_dtype dtype;
  uint32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in bytes; NULL: C order without gaps */
} glen_array;

/* "f32"; "" for no dtype. */
GLEN_API const char *glen_dtype_name(glen_dtype);
GLEN_API size_t glen_dtype_bytes(glen_dtype);
/* Takes the elements over; name may be NULL when the program has one input.
 * False with a diagnostic ("wrong-array", "unknown-input"). */
GLEN_API bool glen_input_set(glen_context *, glen_tensors *, const char *name,
                             const glen_array *);
/* An array where it lies, until the tensors are freed. */
GLEN_API void glen_tensor_array(const glen_tensors *, uint32_t k,
                                glen_array *out);

typedef struct glen_jit_options {
  size_t size;    /* of this struct, as the caller has it */
  const char *cc; /* NULL: $CC, else cc */
  const char *const *flags;
  uint32_t n_flags;
  uint32_t threads;  /* of OpenMP; 0: as many as there would be */
  const char *cache; /* a folder of this user's, made where it is not there, in
                        which what was compiled is kept; NULL: nowhere */
} glen_jit_options;

typedef struct glen_argument {
  size_t size;
  const char *name;
  bool output;
  glen_array type; /* without data */
  /* Its elements are alike in all calls (glen_prepack): given to
   * glen_kernel_prepare once, and not looked at in calls. */
  bool prepacked;
} glen_argument;

/* A call's answer when there was no memory for a workspace, and when inputs
 * that are the same in all calls were not given yet. */
#define GLEN_KERNEL_NO_MEMORY    (-1)
#define GLEN_KERNEL_NOT_PREPARED (-2)

/* Compiles the loops' C and loads it; options may be NULL.  The generated code
 * is executed in this process.  NULL with diagnostics. */
GLEN_API glen_kernel *glen_jit(glen_context *, const glen_loops *,
                               const glen_jit_options *);
GLEN_API void glen_kernel_free(glen_kernel *); /* before its context */
/* Inputs, then outputs, in the order of a call. */
GLEN_API uint32_t glen_kernel_arguments(const glen_kernel *);
GLEN_API const glen_argument *glen_kernel_argument(const glen_kernel *,
                                                   uint32_t k);
/* The bytes of its workspace, 64-byte aligned. */
GLEN_API size_t glen_kernel_workspace(const glen_kernel *);
/* Was it found in the cache? */
GLEN_API bool glen_kernel_cached(const glen_kernel *);
/* The file in the cache, or NULL.  It says of itself what it is called with, so
 * that glen_kernel_load needs nothing else: neither the program nor a compiler.
 */
GLEN_API const char *glen_kernel_file(const glen_kernel *);
/* threads as of glen_jit_options.  NULL with diagnostics, where the file is not
 * this user's, too. */
GLEN_API glen_kernel *glen_kernel_load(glen_context *, const char *path,
                                       uint32_t threads);
/* Packs the inputs that are the same in all calls, once before the first of
 * them, and never beside one; the arrays, in the order of a call, of which no
 * others are looked at, are not needed any more afterwards.  0, or
 * GLEN_KERNEL_NO_MEMORY. */
GLEN_API int glen_kernel_prepare(glen_kernel *, void *const *arrays);
/* Pointers to arrays in C order, which nothing checks; workspace NULL: the
 * kernel's own.  Several threads may call one kernel at a time, each with
 * outputs of its own.  0 unless it failed. */
GLEN_API int glen_kernel_call(glen_kernel *, void *const *arrays,
                              void *workspace);
/* As glen_kernel_call, of arrays whose type and order are checked; one call at
 * a time in a context.  False with a diagnostic. */
GLEN_API bool glen_kernel_call_arrays(glen_kernel *, const glen_array *arrays,
                                      uint32_t n);

/* What the reference interpreter gives. */
GLEN_API glen_tensors *glen_interpret(glen_context *, const glen_program *,
                                      const glen_tensors *inputs);

/* The instances of the loops run one by one, in their order; outputs start as
 * zeros. */
GLEN_API glen_tensors *glen_loops_interpret(glen_context *, const glen_loops *,
                                            const glen_tensors *inputs);

/* A step of a program that was run: a kernel on the arrays of one layer. */
typedef struct glen_profile_step {
  const char *layer;  /* the name in the program that it is of, or "" */
  const char *kernel; /* the C function, or the instruction */
  const char *kind;   /* "contraction", "loops" or "call" */
  double seconds;     /* in the fastest call */
  double operations;  /* arithmetic ones; -1: not known, as of instructions */
  double bytes;       /* of the arrays that it reads or writes, each once */
  double least;       /* seconds that one core of the target needs for these
                         operations or these bytes; 0: not known */
} glen_profile_step;

/* In the order in which they ran; valid as long as the context. */
typedef struct glen_profile {
  const glen_profile_step *steps;
  uint32_t n;
} glen_profile;

typedef struct glen_simulation {
  double cycles;
  const char *text;  /* cycles by queue and by instruction */
  const char *json;  /* the same */
  const char *trace; /* a line a call: from, until, queue, places; or "" */
  glen_tensors *outputs;
} glen_simulation;

/* The loops on the machine that their target describes: calls compute what
 * their semantics say, on memories of which no place is read that was not
 * written for what is read.  False with a diagnostic; the trace up to there is
 * given then, too. */
GLEN_API bool glen_simulate(glen_context *, const glen_loops *,
                            const glen_tensors *inputs, bool trace,
                            glen_simulation *);

typedef struct glen_build_options {
  const char *cc; /* NULL: $CC, else cc */
  const char *const *flags;
  uint32_t n_flags;
  bool sanitize, keep;
  uint32_t threads;      /* 0: the OpenMP default */
  uint32_t repeats;      /* calls timed; the fastest counts */
  glen_profile *profile; /* filled with the times of steps, or NULL */
} glen_build_options;

/* What the generated C gives, compiled and run in a child process.  seconds
 * may be NULL. */
GLEN_API glen_tensors *glen_build_and_run(glen_context *, const glen_loops *,
                                          const glen_tensors *inputs,
                                          const glen_build_options *,
                                          double *seconds);
/* As glen_build_and_run, of the code of `general`, whose sizes are open, called
 * with the sizes at which `loops` were loaded from the same text; NULL: of the
 * code of `loops`. */
GLEN_API glen_tensors *
glen_build_and_run_at(glen_context *, const glen_loops *general,
                      const glen_loops *loops, const glen_tensors *inputs,
                      const glen_build_options *, double *seconds);
GLEN_API uint32_t glen_tensors_count(const glen_tensors *);
GLEN_API const char *glen_tensor_name(const glen_tensors *, uint32_t k);
/* "f32 1x64x56x56" and at most `max` leading elements. */
GLEN_API const char *glen_tensor_text(glen_context *, const glen_tensors *,
                                      uint32_t k, uint32_t max);
GLEN_API uint64_t glen_tensor_hash(const glen_tensors *, uint32_t k);
GLEN_API bool glen_tensor_save(glen_context *, const glen_tensors *, uint32_t k,
                               const char *npy_path);

typedef struct glen_tune_progress {
  uint32_t round, rounds, candidate, candidates; /* candidate from 0 */
  const char *name, *doing;                      /* "build" or "run" */
  double best;                                   /* seconds; 0: none yet */
} glen_tune_progress;

typedef struct glen_tune_options {
  size_t size;              /* of this struct, as the caller has it */
  glen_build_options build; /* sanitize and repeats are not looked at */
  uint32_t candidates, rounds;
  double seconds;      /* limit of one compilation, and of one run */
  double tolerance;    /* of outputs, relative */
  const char *file;    /* where results are kept; NULL: nowhere */
  const char *program; /* its name in that file */
  uint64_t seed;       /* of the inputs */
  void (*progress)(void *ctx, const glen_tune_progress *);
  void *progress_ctx;
} glen_tune_options;

typedef struct glen_tuned {
  bool stopped; /* by glen_interrupt: the best so far was taken */
  bool wrong;   /* some candidate gave another result (a diagnostic) */
  uint32_t candidates, resumed;
  const char *chosen, *script;
  const char *text, *json; /* all candidates with their times */
} glen_tuned;

GLEN_API void glen_tune_defaults(glen_tune_options *);
GLEN_API void glen_tune_defaults_of(glen_tune_options *, size_t size);
#define glen_tune_defaults(out) glen_tune_defaults_of((out), sizeof *(out))
/* Measures strategies on the inputs and applies the fastest to the loops.
 * What was measured before, by the file, is not measured again.  False with
 * diagnostics. */
GLEN_API bool glen_tune(glen_context *, glen_loops *,
                        const glen_tensors *inputs, const glen_tune_options *,
                        glen_tuned *out);

typedef struct glen_comparison {
  int64_t differing; /* elements beyond the tolerance, over all outputs */
  uint32_t output;   /* the first one that differs */
  int64_t index;     /* of its first element that differs, in C order */
  double a, b;       /* the two values there */
  double max_abs, max_rel;
  int64_t rounding; /* elements beyond it that rounding explains */
} glen_comparison;

/* Exact for integers; |a - b| <= tolerance * max(1, |a|, |b|) for floats. */
GLEN_API bool glen_tensors_compare(const glen_tensors *a, const glen_tensors *b,
                                   double tolerance, glen_comparison *out);
/* Compares as glen_tensors_compare does, but elements beyond the tolerance may
 * still differ by the sum of their bounds (of glen_rounding_bounds; NULL:
 * none). */
GLEN_API bool
glen_tensors_compare_within(const glen_tensors *a, const glen_tensors *b,
                            double tolerance, const glen_tensors *bound_a,
                            const glen_tensors *bound_b, glen_comparison *out);
/* How far rounding can move each element of the program's outputs: a running
 * error analysis beside the reference interpreter, in f64.  For elements that
 * are ill-conditioned, as quotients by what is nearly 0.  NULL on failure, with
 * diagnostics. */
GLEN_API glen_tensors *glen_rounding_bounds(glen_context *,
                                            const glen_program *,
                                            const glen_tensors *inputs);
/* Where `expected` is NaN anything is right: comparisons with NaN are not
 * specified unless floating point is strict.  Takes those elements over. */
GLEN_API void glen_overlook_nans(glen_tensors *expected,
                                 const glen_tensors *actual);
/* Same inputs (name, shape, dtype) and as many outputs of the same types?
 * A diagnostic tells what differs. */
GLEN_API bool glen_programs_agree(glen_context *, const glen_program *a,
                                  const glen_program *b);

typedef struct glen_equality {
  bool proved, refuted; /* neither: nothing complete can be told */
  const char *text;     /* the verdict, its reason, a refuting input */
  const char *json;
} glen_equality;

/* Are two programs that agree equal for every input (docs/PROVER.md)?  False
 * when memory ran out. */
GLEN_API bool glen_programs_prove(glen_context *, const glen_program *a,
                                  const glen_program *b, glen_equality *out);

/* ---- rule tests ---- */

typedef struct glen_test_counts {
  uint32_t passed, failed;
} glen_test_counts;

/* Runs every (test ...) of the loaded files whose name contains `filter` (NULL:
 * all); `report` gets one line a test. */
GLEN_API bool
glen_rules_test(glen_context *, const glen_rules *, const char *filter,
                void (*report)(void *ctx, const char *name, bool passed,
                               const char *detail, double seconds),
                void *report_ctx, glen_test_counts *out);

/* Runs each rule whose name contains `filter` on up to `programs` random
 * programs and compares what may be extracted with the input by the reference
 * interpreter; `report` gets one line a rule. */
GLEN_API bool
glen_rules_test_random(glen_context *, const glen_rules *, uint32_t programs,
                       uint64_t seed, const char *filter,
                       void (*report)(void *ctx, const char *name, bool passed,
                                      const char *detail, double seconds),
                       void *report_ctx, glen_test_counts *out);

/* ---- rule files, for their authors ---- */

typedef struct glen_check_options {
  const char *const *paths; /* rule files and directories */
  uint32_t n_paths;
  const char *const *params; /* "NAME=VALUE" */
  uint32_t n_params;
  bool remarks; /* notes, too, on what is perhaps meant so */
} glen_check_options;

typedef struct glen_check_counts {
  uint32_t files, rules; /* of the files: both directions of <=> count */
  uint32_t tried;        /* rules that applied to some generated shapes */
  uint32_t errors, warnings, remarks;
} glen_check_counts;

/* Looks for what is wrong in rule files; findings are diagnostics of the
 * context.  True when there is no error. */
GLEN_API bool glen_rules_check(glen_context *, const glen_target *,
                               const glen_check_options *,
                               glen_check_counts *out);
/* The functions of expressions: a table in Markdown, or JSON. */
GLEN_API const char *glen_rules_functions(glen_context *, bool json);

/* One file in its one form. */
typedef struct glen_formatted {
  const char *path;
  const char *text; /* until the callback returns */
  size_t size;
  bool differs; /* from what the file holds */
} glen_formatted;

/* Formats a .rules, .glen or .target file, "-" for stdin, or all of a
 * directory; writes nothing.  False when some cannot be read. */
GLEN_API bool glen_format(glen_context *, const char *path,
                          void (*each)(void *ctx, const glen_formatted *),
                          void *each_ctx);

/* What leaving out one rule does. */
typedef struct glen_ablation {
  const char *rule; /* NULL: nothing is left out */
  bool led;         /* to the program that all rules give */
  const char *stop;
  uint32_t iterations, nodes, classes;
  double cost, seconds; /* cost NaN: nothing could be extracted */
} glen_ablation;

/* Saturates with all rules, then without each of those that fired and whose
 * name contains `filter` (NULL: all); both directions of a rule go together.
 * `progress` is called before each of the latter.  NULL with diagnostics. */
GLEN_API const glen_ablation *glen_rules_ablate(
    glen_context *, const glen_program *, const glen_rules *,
    const glen_target *, const glen_saturate_options *, const char *filter,
    void (*progress)(void *ctx, uint32_t done, uint32_t of, const char *rule),
    void *progress_ctx, uint32_t *n);

/* ---- proofs ---- */

typedef struct glen_prove_options {
  size_t size;     /* of this struct, as the caller has it */
  uint64_t seed;   /* of the shapes and inputs */
  uint32_t shapes; /* to look at, of a rule */
} glen_prove_options;

/* "proved", "checked" (a rule, on the shapes looked at), "tested", "refuted" or
 * "unknown", and why. */
typedef struct glen_proof {
  const char *rule;  /* NULL: of two programs */
  const char *place; /* "path:line" of the rule, or "" */
  const char *verdict;
  const char *reason; /* one line */
  bool all_sizes;     /* of a rule: it is proved, for all sizes */
  uint32_t shapes;    /* that a rule was looked at on */
  const char *detail; /* what decided, as lines; "" when there is nothing */
  const char *json;   /* all of this as one object on one line */
} glen_proof;

GLEN_API void glen_prove_defaults(glen_prove_options *);
GLEN_API void glen_prove_defaults_of(glen_prove_options *, size_t size);
#define glen_prove_defaults(out) glen_prove_defaults_of((out), sizeof *(out))
/* The name of rule k < glen_rules_count. */
GLEN_API const char *glen_rule_name(const glen_rules *, uint32_t k);
/* Is rule k sound?  False when memory ran out. */
GLEN_API bool glen_rule_prove(glen_context *, const glen_rules *, uint32_t k,
                              const glen_prove_options *, glen_proof *out);

/* ---- models ---- */

typedef struct glen_import_options {
  const char *path;        /* of a model in the ONNX format */
  const char *const *dims; /* "NAME=SIZE": what the model leaves open */
  uint32_t n_dims;
  const char *output; /* of the program; its weights go beside it */
} glen_import_options;

typedef struct glen_import_summary {
  uint32_t nodes;  /* of the model */
  uint32_t dead;   /* that no output needs */
  uint32_t folded; /* that were computed at once */
  uint32_t weights;
  uint64_t bytes; /* of the weights */
  const char *weights_file;
} glen_import_summary;

/* Writes a model as a program, with its weights beside it; false with
 * diagnostics, of all that is not supported. */
GLEN_API bool glen_import(glen_context *, const glen_import_options *,
                          glen_import_summary *out);
/* Sizes, "NAME=SIZE", that models leave open which glen_program_load reads from
 * here on: a file NAME.onnx is a model.  They are not copied. */
GLEN_API void glen_model_dims(glen_context *, const char *const *dims,
                              uint32_t n);
/* The operators that are supported, one a line; "" in a build without them. */
GLEN_API const char *glen_import_operators(glen_context *);

/* ---- foreign e-graphs ---- */

/* Reads egraph-serialize JSON and extracts; the chosen nodes as text or JSON.
 */
GLEN_API const char *glen_extract_foreign(glen_context *, const char *path,
                                          const char *extractor, double seconds,
                                          bool json);

/* ---- files ---- */

/* Written whole or not at all; unchanged content leaves the file untouched;
 * "-" is stdout. */
GLEN_API bool glen_write_file(glen_context *, const char *path,
                              const void *data, size_t size);
/* Between these two files are written together: all are there in the end, or,
 * false with diagnostics, all as they were.  None may be one that was read, or
 * another of them (GLEN_USAGE).  Without the second none is written. */
GLEN_API bool glen_outputs_begin(glen_context *);
GLEN_API bool glen_outputs_commit(glen_context *);
/* Makes the commit give a file, or all where path is NULL, the time of the
 * commit, though it may hold already what is written: for tools that compare
 * times. */
GLEN_API bool glen_outputs_touch(glen_context *, const char *path);
/* At once, and over what was read: for programs that edit files. */
GLEN_API bool glen_replace_file(glen_context *, const char *path,
                                const void *data, size_t size);
/* Do both paths name one file, or the same place for one?  Links are
 * followed; devices, pipes and "-" are no files. */
GLEN_API bool glen_same_file(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

#endif
