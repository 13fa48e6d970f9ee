/* What the unit does, in C: enough to run and check programs without it. */
static inline void
mul_relu(long m, long n, long k, float *out, long out0, long out1,
         const float *a, long a0, long a1, const float *b, long b0, long b1) {
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      float sum = 0;
      for (long x = 0; x < k; x++)
        sum += a[i * a0 + x * a1] * b[j * b0 + x * b1];
      out[i * out0 + j * out1] = sum > 0 ? sum : 0;
    }
}
