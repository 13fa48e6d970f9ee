/* SPDX-License-Identifier: MIT */
/* codegen_file.h - what the files of this folder share. */
#ifndef CODEGEN_FILE_FILE_H
#define CODEGEN_FILE_FILE_H

#include "codegen/file/c.h"
#include "codegen/unit/emit.h"
#include "codegen/unit/unit_profile.h"

/* constant.c: the constants that code mentions, as arrays, `storage` before and
 * `attribute` behind; their number. */
uint32_t cg_put_constants(cg_emitter *, const char *storage,
                          const char *attribute);
/* c.c: the functions of the program, from kernels to the program's own and
 * those of sizes, in e->body. */
void cg_put_functions(cg_emitter *);
/* What stands above the functions: includes, macros, helpers. */
void cg_put_above(cg_emitter *, bool aligns, bs_text *out);
/* The macros that depend on the vectors: GLEN_HOLD. */
void cg_put_vector_macros(cg_emitter *, bs_text *out);
/* features.c: functions between are compiled for the variant's features. */
void cg_put_features(const gs_variant *, bs_text *out);
void cg_put_features_end(bs_text *out);
/* Around a file whose vectors may be wider than those that the compiler was
 * told to use: all between is compiled for them. */
void cg_put_wide(const gs_target *, bs_text *out);
void cg_put_wide_end(const gs_target *, bs_text *out);
/* dispatch.c: a file with variants. */
bool cg_emit_dispatch(const po_program *, const cg_options *, bs_text *c,
                      bs_text *h);
/* kernels.c: the functions of kernels. */
void cg_put_kernels(cg_emitter *);
/* NAME_k0 and the like; of no array (names.c). */
const char *cg_function_name(cg_emitter *, char letter, uint32_t number);
/* The layer that a group is of, or NULL; what it was lowered from, which what
 * stands in no text has the name of its layer for. */
const char *cg_layer_of(cg_emitter *, const po_group *);
const char *cg_origin_text(cg_emitter *, const po_group *, uint32_t more);
/* file_steps.c: the program's own function, the steps in order as its body. */
void cg_put_steps(cg_emitter *);
/* The steps of NAME_prepack. */
void cg_add_steps_before(cg_emitter *, cg_list *);
/* profile.c: behind a step, in a build that is profiled; of any number, -1
 * before the first one. */
cg_node *cg_make_note_of_step(cg_emitter *, uint32_t group);
cg_node *cg_make_note(cg_emitter *, int64_t step);
/* file_prepack.c: NAME_prepack(const float *w, ..., void *prepacked) and
 * NAME_prepacked_size, after the functions of kernels. */
void cg_put_prepack(cg_emitter *);

/* life.c: whether all that is prepacked stands in files, so that the program
 * has NAME_init and NAME_free; what they need at the top of a file; their code,
 * behind all other; their declarations. */
bool cg_has_life(const po_program *);
void cg_put_life_top(const po_program *, bs_text *out);
bool cg_put_life(const po_program *, const cg_options *, bs_text *out);
void cg_put_life_header(const po_program *, const cg_options *, bs_arena *,
                        bs_text *out);

/* file_sizes.c: where the parts of the workspace begin; its bytes; the check of
 * the sizes; "int64_t n, " for each of them. */
void cg_put_places(cg_emitter *);
void cg_put_sized_workspace(cg_emitter *);
cg_node *cg_make_size_check(cg_emitter *, int64_t otherwise);
/* size_t glen_place[n]; NAME_places(sizes, glen_place) */
cg_node *cg_make_places(cg_emitter *);
const cg_expr *cg_call_of_places(cg_emitter *);
void cg_put_size_documentation(const po_program *, bs_text *out);

/* header.c */
void cg_put_header(const po_program *, const cg_options *, bs_text *out);

/* signature.c: the program's own function; NAME_of(int64_t n), of all sizes;
 * NAME_prepack. */
cg_parameter cg_parameter_of(bs_arena *, const po_array *, bool restricted);
cg_function cg_signature_of(const po_program *, const cg_options *,
                            bool restricted, bs_arena *);
cg_function cg_signature_of_sizes(const po_program *, const char *name,
                                  const char *of, bs_arena *);
cg_function cg_prepack_signature(const po_program *, const cg_options *,
                                 bs_arena *);
/* Puts the declaration of a function. */
void cg_put_prototype(bs_text *out, const char *type, const cg_function *);
/* NAME_workspace_size of a program without sizes, and NAME_prepacked_size. */
bool cg_put_workspace_size(const po_program *, const cg_options *, bs_arena *,
                           bs_text *out);
bool cg_put_prepacked_size(const po_program *, const cg_options *, bs_arena *,
                           bs_text *out);

#endif
