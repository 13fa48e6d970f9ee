/* SPDX-License-Identifier: MIT */
/* inputs.h - targets, programs and rules, from files and from memory.
 *
 * A part of glen.h. */
#ifndef GLEN_INPUTS_H
#define GLEN_INPUTS_H

#include <glen/context.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/* As glen_program_load, with numbers put in for sizes that the program
 * declares, each as "NAME=NUMBER".  Those that are not given stay open: such a
 * program can be printed and lowered, once for all sizes within their bounds.
 * glen_program_load refuses it, as what else there is needs numbers. */
GLEN_API glen_program *glen_program_load_at(glen_context *, const glen_target *,
                                            const char *path,
                                            const char *const *sizes,
                                            uint32_t n_sizes);
/* As glen_program_load_at, for one of several programs that the numbers are
 * for: where this one has size k, taken[k] becomes true, and where it has not,
 * the number is passed over. */
GLEN_API glen_program *glen_program_load_among(glen_context *,
                                               const glen_target *,
                                               const char *path,
                                               const char *const *sizes,
                                               uint32_t n_sizes, bool *taken);
GLEN_API glen_program *glen_program_parse(glen_context *, const glen_target *,
                                          const char *name, const char *text,
                                          size_t size);
/* As glen_program_load_at, of a text from memory. */
GLEN_API glen_program *
glen_program_parse_at(glen_context *, const glen_target *, const char *name,
                      const char *text, size_t size, const char *const *sizes,
                      uint32_t n_sizes);
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
 * What stands in files becomes an input like any other.  NULL with a diagnostic
 * where a size is open. */
GLEN_API glen_program *glen_program_canonical(glen_context *,
                                              const glen_program *);
/* The layers of a program: lets that reduce, as sums, products of matrices and
 * softmax do, or call an instruction.  Each is a program in that form, in which
 * what it uses of other lets that compute are inputs; NULL with a diagnostic
 * where a size is open. The program must live as long. */
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

#ifdef __cplusplus
}
#endif

#endif
