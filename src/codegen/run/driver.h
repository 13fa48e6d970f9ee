/* SPDX-License-Identifier: MIT */
/* driver.h - the main function that calls generated code on a data file. */
#ifndef CODEGEN_DRIVER_H
#define CODEGEN_DRIVER_H

#include "codegen/run/run_build.h"

/* The data file: a header of 64 bytes (the job running, as a number), then
 * for each job 64 bytes (its time), its inputs, its outputs; each aligned to
 * 64 bytes. */
typedef struct cg_place {
  int64_t offset, bytes;
} cg_place;

#define CG_DATA_HEADER 64

/* Where array k of a job stands, for arrays in the order of parameters; the
 * whole file's size.  False on overflow. */
bool cg_place_data(const cg_job *, uint32_t n, int64_t *times,
                   cg_place *const *places, int64_t *total);
/* The C text; names: of the functions, `header` of the k-th job is NAME.h.
 * Calls are repeated until all took `seconds`; 0: all repeats are made. */
void cg_put_driver(const cg_job *, uint32_t n, const char *const *names,
                   const int64_t *times, cg_place *const *places,
                   uint32_t repeats, double seconds, bs_text *out);
/* Inputs and outputs of a loop program: its parameters. */
bool cg_is_argument(const po_array *);
uint32_t cg_count_parameters(const po_program *);

#endif
