/* What the unit of pads.target does, on memories of its own. */
static int8_t pads_spad[4096];
static int32_t pads_acc[1024];
static void
pads_load(int r, int c, const int8_t *a, long stride, long to) {
  for (int i = 0; i < r; i++)
    for (int j = 0; j < c; j++)
      pads_spad[to + 16 * i + j] = a[i * stride + j];
}
static void
pads_mm(int more, long a, long b, long to) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      int32_t s = more ? pads_acc[to / 4 + 16 * i + j] : 0;
      for (int k = 0; k < 16; k++)
        s += pads_spad[a + 16 * i + k] * pads_spad[b + 16 * j + k];
      pads_acc[to / 4 + 16 * i + j] = s;
    }
}
static void
pads_store(int r, int c, long from, int32_t *to, long stride) {
  for (int i = 0; i < r; i++)
    for (int j = 0; j < c; j++)
      to[i * stride + j] = pads_acc[from / 4 + 16 * i + j];
}
