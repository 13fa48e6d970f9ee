/* What the unit of tree.target does. */
static int8_t tree_buf[64][32];
static int32_t tree_sums[8][8];
static void
tree_fetch(int r, const int8_t *a, long stride, long to) {
  for (int i = 0; i < r; i++)
    for (int k = 0; k < 32; k++)
      tree_buf[to + i][k] = a[i * stride + k];
}
static void
tree_sum(int more, long a, long b, long to) {
  for (int j = 0; j < 8; j++) {
    int32_t s = more ? tree_sums[to][j] : 0;
    for (int k = 0; k < 32; k++)
      s += tree_buf[a][k] * tree_buf[b + j][k];
    tree_sums[to][j] = s;
  }
}
static void
tree_put(long from, int32_t *to) {
  for (int j = 0; j < 8; j++)
    to[j] = tree_sums[from][j];
}
