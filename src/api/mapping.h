/* SPDX-License-Identifier: MIT */
/* mapping.h - which part of a program was made of which of its input's terms;
 * of this folder. */
#ifndef API_MAPPING_H
#define API_MAPPING_H

#include "api/api.h"
#include "api/fate.h"

/* What became of one term of the input: how often each head occurs. */
typedef struct api_share {
  uint32_t owner; /* term of the input */
  const char *head;
  uint32_t times;
  bool call;
} api_share;

typedef struct api_mapping {
  glen_context *ctx;
  const glen_result *result;
  const char *instr; /* NULL: all */
  const gs_program *from, *to;
  eg_class *from_class, *to_class;
  gs_term *of_class; /* by class: the input's term in it */
  uint32_t n_classes;
  uint32_t *owner;  /* by term of `to`: a term of `from` */
  uint8_t *present; /* by term of `from`: its class is in `to`, too */
  BS_VEC(api_share) shares;
  api_fate fate; /* of the rule that was told last */
  glen_mapped *out;
} api_mapping;

/* Finds all of it; for a mapping whose first fields are set. */
void api_mapping_find(api_mapping *);
void api_mapping_done(api_mapping *);
/* A term of the input: its head with its attributes, as "compute dotProd". */
void api_mapping_put_head(const api_mapping *, gs_term, bs_text *);

#endif
