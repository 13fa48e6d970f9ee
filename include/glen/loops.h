/* SPDX-License-Identifier: MIT */
/* loops.h - loops, schedules and generated code.
 *
 * A part of glen.h. */
#ifndef GLEN_LOOPS_H
#define GLEN_LOOPS_H

#include <glen/saturate.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/* OpenCL instead, by the same loops: the kernels in OpenCL C, and a C file for
 * the host that has them as text.  False with diagnostics. */
GLEN_API bool glen_emit_opencl(glen_context *, const glen_loops *,
                               const char *name, const char **kernels,
                               const char **host);
GLEN_API const char *glen_manifest(glen_context *, const glen_loops *,
                                   const char *name);
/* What the function is called in that code: `name`, or, where that is no
 * identifier or a word of C, of its library or of generated code, one that is
 * made of it.  The text belongs to the loops. */
GLEN_API const char *glen_function_name(glen_context *, const glen_loops *,
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
/* How producers go into their consumers' loops (docs/SCHEDULES.md). */
typedef enum glen_fusion {
  GLEN_FUSE_AUTO, /* tile by tile where a run is long enough for it to pay */
  GLEN_FUSE_NONE,
  GLEN_FUSE_MIN,
  GLEN_FUSE_SMART, /* where nothing is computed again */
  GLEN_FUSE_MAX,
  GLEN_FUSE_POST_TILE
} glen_fusion;

/* What of loops is printed. */
typedef enum glen_printed {
  GLEN_PRINT_LOOPS,   /* the nest, for people */
  GLEN_PRINT_PROGRAM, /* the text that glen_loops_load reads */
  GLEN_PRINT_TREE,    /* isl's schedule tree */
  GLEN_PRINT_AXES,
  GLEN_PRINT_DEPS,
  GLEN_PRINT_SCRIPT, /* the commands applied so far, which give the same loops
                        again */
  GLEN_PRINT_FUSED   /* which loops came into which */
} glen_printed;

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
GLEN_API bool glen_printed_find(const char *word, glen_printed *out);
GLEN_API bool glen_layout_cost_find(const char *word, glen_layout_cost *out);

/* Chooses a schedule that fuses so; tiles: sizes of the innermost loops' tiles,
 * or none.
 * Loops become one schedule step after the other, each checked; where a limit
 * is reached the schedule stays as far as it got, with a warning. */
GLEN_API bool glen_schedule_auto(glen_context *, glen_loops *, glen_fusion,
                                 const int64_t *tiles, uint32_t n_tiles);
/* NULL with diagnostics. */
GLEN_API const char *glen_schedule_print(glen_context *, glen_loops *,
                                         glen_printed);
/* Usage and effect of every command. */
GLEN_API const char *glen_schedule_help(glen_context *);
/* Layouts for the arrays of loops, found by such a cost, among those that cut
 * dimensions into `widths`, and the loop of each nest that should be innermost
 * with them, unless orders are to be kept: the search, as comments of a
 * schedule script that gives these orders and layouts.  NULL with diagnostics.
 */
GLEN_API const char *glen_layout(glen_context *, const glen_loops *,
                                 glen_layout_cost, const int64_t *widths,
                                 uint32_t n_widths, bool keep_order);

/* Searches like glen_layout, without other orders, and gives the loops the
 * layouts that were found, but for arrays that contractions pack themselves. */
GLEN_API bool glen_give_layouts(glen_context *, glen_loops *, glen_layout_cost,
                                const int64_t *widths, uint32_t n_widths);

/* Binds loops to the blocks and threads of a GPU, where none is yet. */
GLEN_API bool glen_bind(glen_context *, glen_loops *);
/* Whole schedules of the loops, the loops as they are first, with what the cost
 * model says of them: one line each, the cheapest marked by `*`. */
GLEN_API const char *glen_strategies(glen_context *, const glen_loops *,
                                     uint32_t most);
/* Whole schedules, those of glen_strategies, as a JSON array, each with its
 * commands and its groups: the nests in the order in which they run, what each
 * reads and makes, in bytes and by the number of the group that it comes from
 * or goes to, and how it is done (docs/IMPLGRAPH.md). */
GLEN_API const char *glen_results(glen_context *, const glen_loops *,
                                  uint32_t most);
/* Applies the cheapest of them; *name: which. */
GLEN_API bool glen_choose(glen_context *, glen_loops *, uint32_t most,
                          const char **name);

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
  /* Codes for parts of the sizes of a program that leaves them open, at most so
   * many beside the one for all sizes: 16 at most.  None where a schedule
   * is given.  0: none. */
  uint32_t keys;
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

/* Which code takes a call of these sizes, NAME=NUMBER for each that the program
 * leaves open, of those that `keys` of the options allows: its kernels, blocks
 * and workspace, and what each code is predicted to cost there.  A text or
 * JSON; NULL with diagnostics. */
GLEN_API const char *glen_tiling(glen_context *, const glen_program *,
                                 const glen_target *, const glen_code_options *,
                                 const char *const *sizes, uint32_t n_sizes,
                                 bool json);

#ifdef __cplusplus
}
#endif

#endif
