/* SPDX-License-Identifier: MIT */
/* A model of the vector unit of vector.target. */
static float vector_memory[1024];

static inline void
vector_load(int n, const float *a, int stride, int to) {
  for (int i = 0; i < n; i++)
    vector_memory[to / 4 + i] = a[i * stride];
}

static inline void
vector_store(int n, int from, float *r, int stride) {
  for (int i = 0; i < n; i++)
    r[i * stride] = vector_memory[from / 4 + i];
}

static inline void
vector_relu(int n, int a, int r) {
  for (int i = 0; i < n; i++) {
    float x = vector_memory[a / 4 + i];
    vector_memory[r / 4 + i] = x < 0 ? 0 : x;
  }
}

static inline void
vector_scale(int n, int a, float by, int r) {
  for (int i = 0; i < n; i++)
    vector_memory[r / 4 + i] = vector_memory[a / 4 + i] * by;
}

static inline void
vector_add(int n, int a, int b, int r) {
  for (int i = 0; i < n; i++)
    vector_memory[r / 4 + i] =
        vector_memory[a / 4 + i] + vector_memory[b / 4 + i];
}
