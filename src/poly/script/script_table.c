/* SPDX-License-Identifier: MIT */
/* script_table.c - the primitives. */
#include "poly/schedule/change.h"
#include <string.h>

/* clang-format off */
#define A(...) {__VA_ARGS__}
const po_primitive po_primitives[] = {
    {"split", A(PO_ARG_LOOP, PO_ARG_INTS), 2, {0},
     "a, b, ... = split LOOP [FACTOR, ...]",
     "Splits a loop into nested loops of these lengths; -1 stands for what "
     "follows from the others.", po_apply_split, true, false, true},
    {"fuse", A(PO_ARG_LOOPS), 1, {0},
     "f = fuse [LOOP, LOOP, ...]",
     "Makes one loop of loops that are directly inside each other.",
     po_apply_fuse, true, false, true},
    {"tile", A(PO_ARG_LOOPS, PO_ARG_INTS), 2, {0},
     "i0, j0, i1, j1 = tile [LOOP, LOOP] [SIZE, SIZE]",
     "Splits loops, and moves the loops over tiles outside.", po_apply_tile, false, false, true},
    {"reorder", A(PO_ARG_LOOPS), 1, {0},
     "reorder [LOOP, LOOP, ...]",
     "Puts loops into this order, in the places that they had.",
     po_apply_reorder, false, false, true},
    {"fission", A(PO_ARG_LOOP, PO_ARG_NODE), 2, {0},
     "before, loop, after = fission LOOP NODE",
     "Gives what comes before NODE in LOOP, and what comes after it, loops "
     "of their own.",
     po_apply_fission, false, false, true},
    {"merge", A(PO_ARG_LOOP, PO_ARG_LOOP), 2, {0},
     "l = merge LOOP LOOP",
     "Makes one loop of two neighbours, which run over the same values "
     "wherever both of them run.", po_apply_merge, false, false, true},
    {"compute_with", A(PO_ARG_LOOP, PO_ARG_LOOP, PO_ARG_INT), 2, {0},
     "a, b, ... = compute_with LOOP LOOP [LEVELS]",
     "Runs a nest in the loops of another nest of the same loop, even if "
     "they run over different values.", po_apply_compute_with, false, false, true},
    {"put_after", A(PO_ARG_NODE, PO_ARG_NODE), 2, {0},
     "put_after NODE NODE",
     "Runs a loop or statement right after another one of the same loop.",
     po_apply_put_after, false, false, true},
    {"interleave", A(PO_ARG_LOOPS, PO_ARG_INT, PO_ARG_INTS), 2, {0},
     "c = interleave [LOOP, LOOP, ...] N [SKEW, ...]",
     "Runs consecutive loops by turns, N iterations at a time, each of them "
     "SKEW iterations later.", po_apply_interleave, false, false, false},
    {"simple_compute_at", A(PO_ARG_STMT, PO_ARG_LOOP), 2, {0},
     "simple_compute_at STMT LOOP",
     "Moves a statement into a loop; that loop and those around it replace "
     "its own.", po_apply_simple_compute_at, false, false, true},
    {"shift", A(PO_ARG_STMT, PO_ARG_LOOP, PO_ARG_INT), 3, {0},
     "shift STMT LOOP N",
     "Delays a statement by N iterations of a loop around it.",
     po_apply_shift, false, false, true},
    {"skew", A(PO_ARG_LOOP, PO_ARG_LOOP, PO_ARG_INT), 3, {0},
     "l = skew LOOP OUTER N",
     "Adds N times the value of an outer loop to the values of a loop; its "
     "order stays.", po_apply_skew, true, false, true},
    {"enclose", A(PO_ARG_NODE, PO_ARG_TEXT), 2, {0},
     "a, b = enclose NODE \"S[t, i] -> [floor(t / 8), floor((t + i) / 64)]; ...\"",
     "Puts loops around a loop or statement; the text says, for each "
     "statement inside, in which of their iterations an instance runs.",
     po_apply_enclose, false, false, false},
    {"serial", A(PO_ARG_LOOP), 1, {0},
     "serial LOOP", "Removes the mark of a loop.", po_apply_serial, true, false, true},
    {"unroll", A(PO_ARG_LOOP), 1, {0},
     "unroll LOOP", "Writes out all iterations.", po_apply_unroll, true, false, true},
    {"parallel", A(PO_ARG_LOOP), 1, {0},
     "parallel LOOP", "Distributes iterations over threads.",
     po_apply_parallel, true, false, true},
    {"vectorize", A(PO_ARG_LOOP, PO_ARG_INT), 2, {"tail"},
     "vectorize LOOP LANES [tail=peel|mask]",
     "Runs LANES iterations at once.", po_apply_vectorize, true, false, true},
    {"bind", A(PO_ARG_LOOP, PO_ARG_WORD), 2, {0},
     "bind LOOP AXIS",
     "Turns iterations into blocks or threads of a GPU: blockIdx.x, "
     "threadIdx.y, ...", po_apply_bind, true, false, false},
    {"sync_threads", A(PO_ARG_NODE), 1, {"after"},
     "sync_threads NODE [after=true|false]",
     "Puts a barrier for the threads of a block after, or before, a loop or "
     "statement.",
     po_apply_sync_threads, true, false, false},
    {"separate", A(PO_ARG_LOOP), 1, {0},
     "separate LOOP",
     "Writes separate code for full tiles inside a loop, or for iterations "
     "in which only some of its statements run.",
     po_apply_separate, true, false, true},
    {"peel", A(PO_ARG_LOOP, PO_ARG_INT), 2, {0},
     "a, b = peel LOOP N",
     "Splits off the first N iterations of a loop or, if N is negative, the "
     "last -N.",
     po_apply_peel, false, false, false},
    {"partition", A(PO_ARG_LOOP, PO_ARG_INTS), 2, {0},
     "a, b, ... = partition LOOP [VALUE, ...]",
     "Splits a loop before each of these values.", po_apply_partition, false, false, false},
    {"specialise", A(PO_ARG_NODE, PO_ARG_TEXT), 2, {0},
     "a, b = specialise NODE \"i >= 8 and j mod 2 = 0\"",
     "Writes separate code for the iterations in which a condition on the "
     "loops around it holds.", po_apply_specialise, false, false, true},
    {"divide", A(PO_ARG_ARRAY), 1, {0},
     "divide ARRAY",
     "If nests read disjoint parts of an array, gives each of them an array "
     "of its own with its part.", po_apply_divide, false, true, false},
    {"trim", A(PO_ARG_ARRAY), 1, {0},
     "trim ARRAY",
     "Removes instances whose results nothing reads.", po_apply_trim,
     false, true, false},
    {"compute_inline", A(PO_ARG_STMT), 1, {0},
     "compute_inline STMT",
     "Puts the body of a statement wherever its value is read; a statement "
     "that computes an output stays as well.",
     po_apply_compute_inline, false, true, true},
    {"reverse_compute_inline", A(PO_ARG_STMT), 1, {0},
     "reverse_compute_inline STMT",
     "Puts the body of a statement into the statement that computes what it "
     "reads.",
     po_apply_reverse_compute_inline, false, true, true},
    {"compute_at", A(PO_ARG_STMT, PO_ARG_LOOP), 2, {0},
     "compute_at STMT LOOP",
     "Computes, in each iteration of a consumer's loop, exactly what that "
     "iteration needs.",
     po_apply_compute_at, false, true, true},
    {"roll", A(PO_ARG_STMT, PO_ARG_LOOP), 2, {"fill"},
     "roll STMT LOOP [fill=before|first]",
     "Computes, in each iteration of a consumer's loop, what that iteration "
     "needs and no earlier one computed.", po_apply_roll, false, true, true},
    {"reverse_compute_at", A(PO_ARG_STMT, PO_ARG_LOOP), 2, {0},
     "reverse_compute_at STMT LOOP",
     "Moves a consumer into a loop of the statement that computes what it "
     "reads.",
     po_apply_reverse_compute_at, false, false, false},
    {"cache_read", A(PO_ARG_STMT, PO_ARG_ARRAY, PO_ARG_WORD, PO_ARG_AT), 3,
     {0}, "cache_read STMT ARRAY global|local|shared|register [at LOOP]",
     "Makes a statement read a copy of the part of an array that it needs.",
     po_apply_cache_read, false, false, false},
    {"cache_write", A(PO_ARG_STMT, PO_ARG_WORD, PO_ARG_AT), 2, {0},
     "cache_write STMT global|local|shared|register [at LOOP]",
     "Computes into a copy, which is written back afterwards.",
     po_apply_cache_write, false, false, false},
    {"pack", A(PO_ARG_STMT, PO_ARG_ARRAY, PO_ARG_TEXT, PO_ARG_WORD,
               PO_ARG_AT), 4, {0},
     "pack STMT ARRAY \"[i, j] -> [...]\" global|local|shared [at LOOP]",
     "Like cache_read, but the copy has this layout.", po_apply_pack, false, false, false},
    {"set_buffer", A(PO_ARG_ARRAY, PO_ARG_WORD), 2, {0},
     "set_buffer ARRAY global|local|shared|register",
     "Says where an array is kept.", po_apply_set_buffer, false, false, true},
    {"rfactor", A(PO_ARG_LOOP, PO_ARG_INT), 1, {0},
     "rf, k = rfactor LOOP [AXIS]",
     "First computes partial results of a reduction, one for each iteration "
     "of a loop.", po_apply_rfactor, false, false, false},
    {"privatise", A(PO_ARG_LOOP, PO_ARG_INT), 2, {0},
     "rf, k = privatise LOOP N",
     "Distributes a loop that is reduced over among threads, in N parts that "
     "each have a copy of the result, and adds up the copies.",
     po_apply_privatise, false, false, false},
    {"decompose_reduction", A(PO_ARG_STMT, PO_ARG_LOOP), 2, {0},
     "decompose_reduction STMT LOOP",
     "Initializes a reduction before a loop instead of inside it.",
     po_apply_decompose_reduction, false, false, false},
    {"transform_layout", A(PO_ARG_ARRAY, PO_ARG_TEXT), 2, {0},
     "transform_layout ARRAY \"[i, j] -> [floor(j / 16), i, j mod 16]\"",
     "Permutes, splits and pads the dimensions of an array.",
     po_apply_transform_layout, false, false, false},
    {"storage_align", A(PO_ARG_ARRAY, PO_ARG_INT, PO_ARG_INT, PO_ARG_INT), 3,
     {0}, "storage_align ARRAY DIM FACTOR [OFFSET]",
     "Pads an array so that the stride of a dimension is OFFSET modulo "
     "FACTOR.",
     po_apply_storage_align, true, false, false},
    {"fold_storage", A(PO_ARG_ARRAY, PO_ARG_INT, PO_ARG_INT), 2, {0},
     "fold_storage ARRAY DIM [N]",
     "Keeps a dimension in N places, by its index modulo N; without N, in as "
     "few as will do.", po_apply_fold_storage, false, true, true},
    {"double_buffer", A(PO_ARG_ARRAY, PO_ARG_LOOP, PO_ARG_INT), 2, {0},
     "double_buffer ARRAY LOOP [N]",
     "Keeps what a loop computes in N places, by turns, instead of in one.",
     po_apply_double_buffer, false, false, false},
    {"pipeline", A(PO_ARG_STMT, PO_ARG_LOOP, PO_ARG_INT), 2, {0},
     "pipeline STMT LOOP [N]",
     "Computes what an iteration needs N iterations ahead, in N + 1 places.",
     po_apply_pipeline, false, false, false},
    {"pad_einsum", A(PO_ARG_STMT, PO_ARG_INTS), 2, {0},
     "pad_einsum STMT [FACTOR, ...]",
     "Rounds up the extents of a reduction, with values that do not change "
     "the result.",
     po_apply_pad_einsum, false, true, false},
    {"tensorize", A(PO_ARG_LOOP, PO_ARG_WORD, PO_ARG_INTS), 2, {0},
     "tensorize LOOP INSTRUCTION [[PARAMETER, ...]]",
     "Replaces a loop and everything in it by a call of an instruction of "
     "the target.",
     po_apply_tensorize, false, true, false},
    {"contract", A(PO_ARG_STMT), 1,
     A("as", "swap", "x", "y", "rows", "vectors", "depth", "tile_rows",
       "tile_columns", "block_rows"),
     "contract STMT [as=kernel|tiles|loops] [rows=N] [vectors=N] [depth=N] "
     "[tile_rows=N] [tile_columns=N] [block_rows=N] "
     "[x|y=direct|block|whole|windows] [swap=true|false]",
     "Chooses the kernel that a sum of products runs as, its blocks, and how "
     "its operands reach it, or the rows and vectors of tiles of windows.", po_apply_contract, true, false, false},
};
/* clang-format on */

const uint32_t po_n_primitives = sizeof po_primitives / sizeof *po_primitives;

const po_primitive *
po_primitive_find(const char *name) {
  for (uint32_t k = 0; k < po_n_primitives; k++)
    if (!strcmp(po_primitives[k].name, name))
      return &po_primitives[k];
  return NULL;
}
