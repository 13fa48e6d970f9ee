/* SPDX-License-Identifier: MIT */
/* openblas.c - matrix products by OpenBLAS: one for gemm, two or three for 2mm
 * and 3mm, matrix-vector products for gemver, a symmetric product for
 * covariance. */
#include "worker.h"

#include <cblas.h>
#include <string.h>

void openblas_set_num_threads(int);

static float *spare[3];

static void
multiply(const float *a, const float *b, float *c, long m, long n, long k,
         float alpha, float beta) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k,
              alpha, a, (int)k, b, (int)n, beta, c, (int)n);
}

/* sizes M N K */
static void
run_gemm(problem *p) {
  multiply(p->in[0], p->in[1], p->out[0], p->size[0], p->size[1], p->size[2], 1,
           0);
}

/* sizes I J K L; out = 1.5 a b c + 1.2 d */
static void
run_2mm(problem *p) {
  const long *n = p->size;
  memcpy(p->out[0], p->in[3], p->out_elements[0] * sizeof(float));
  multiply(p->in[0], p->in[1], spare[0], n[0], n[1], n[2], 1.5f, 0);
  multiply(spare[0], p->in[2], p->out[0], n[0], n[3], n[1], 1, 1.2f);
}

/* sizes I J K L M; out = (a b) (c d) */
static void
run_3mm(problem *p) {
  const long *n = p->size;
  multiply(p->in[0], p->in[1], spare[0], n[0], n[1], n[2], 1, 0);
  multiply(p->in[2], p->in[3], spare[1], n[1], n[3], n[4], 1, 0);
  multiply(spare[0], spare[1], p->out[0], n[0], n[3], n[1], 1, 0);
}

/* in a u1 v1 u2 v2 y z; out b x w */
static void
run_gemver(problem *p) {
  int n = (int)p->size[0];
  float *b = p->out[0], *x = p->out[1], *w = p->out[2];
  memcpy(b, p->in[0], p->in_elements[0] * sizeof(float));
  cblas_sger(CblasRowMajor, n, n, 1, p->in[1], 1, p->in[2], 1, b, n);
  cblas_sger(CblasRowMajor, n, n, 1, p->in[3], 1, p->in[4], 1, b, n);
  memcpy(x, p->in[6], p->in_elements[6] * sizeof(float));
  cblas_sgemv(CblasRowMajor, CblasTrans, n, n, 1.2f, b, n, p->in[5], 1, 1, x,
              1);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, n, n, 1.5f, b, n, x, 1, 0, w, 1);
}

/* sizes N M */
static void
run_covariance(problem *p) {
  long n = p->size[0], m = p->size[1];
  float *mean = spare[0], *centred = spare[1], *out = p->out[0];
  memset(mean, 0, (size_t)m * sizeof(float));
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      mean[j] += p->in[0][i * m + j];
  for (long j = 0; j < m; j++)
    mean[j] /= (float)n;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      centred[i * m + j] = p->in[0][i * m + j] - mean[j];
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)m, (int)n,
              1.0f / (float)(n - 1), centred, (int)m, 0, out, (int)m);
  for (long i = 1; i < m; i++)
    for (long j = 0; j < i; j++)
      out[i * m + j] = out[j * m + i];
}

/* sizes R Q P */
static void
run_doitgen(problem *p) {
  multiply(p->in[0], p->in[1], p->out[0], p->size[0] * p->size[1], p->size[2],
           p->size[2], 1, 0);
}

static const struct {
  const char *kind;
  void (*run)(problem *);
  int spare[3][2]; /* places in `size` of the sizes of a temporary; -1: 1 */
} table[] = {
    {"gemm", run_gemm, {{0}}},
    {"2mm", run_2mm, {{0, 1}}},
    {"3mm", run_3mm, {{0, 1}, {1, 3}}},
    {"gemver", run_gemver, {{0}}},
    {"covariance", run_covariance, {{1, -1}, {0, 1}}},
    {"doitgen", run_doitgen, {{0}}},
};

static void (*run)(problem *);

const char *
peer_prepare(problem *p) {
  openblas_set_num_threads(p->threads);
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (!strcmp(table[k].kind, p->kind)) {
      run = table[k].run;
      for (int s = 0; s < 3 && table[k].spare[s][1]; s++) {
        const int *place = table[k].spare[s];
        size_t columns = place[1] < 0 ? 1 : (size_t)p->size[place[1]];
        spare[s] = worker_block((size_t)p->size[place[0]] * columns * 4);
      }
    }
  return run ? NULL : "no BLAS routine";
}

void
peer_run(problem *p) {
  run(p);
}

void
peer_finish(problem *p) {
  (void)p;
}
