/* SPDX-License-Identifier: MIT */
/* The rows of x times those of the weights, and the sum of each row of that. */
#include "dense.h"
#include "sum.h"
#include <stdio.h>

/* One byte more, as some kernels need none. */
static _Alignas(64) unsigned char workspace[DENSE_WORKSPACE_BYTES +
                                            SUM_WORKSPACE_BYTES + 1];

int
main(void) {
  float x[DENSE_ELEMENTS_x], weights[DENSE_ELEMENTS_weights];
  float y[DENSE_ELEMENTS_y], total[SUM_ELEMENTS_total];
  for (int k = 0; k < DENSE_ELEMENTS_x; k++)
    x[k] = (float)(k / 8);
  for (int k = 0; k < DENSE_ELEMENTS_weights; k++)
    weights[k] = (float)(k % 2) / 4;
  int failed = dense(x, weights, y, workspace) || sum(y, total, workspace);
  for (int k = 0; k < SUM_ELEMENTS_total; k++)
    printf("%g\n", total[k]);
  return failed;
}
