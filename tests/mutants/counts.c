/* SPDX-License-Identifier: MIT */
/* Notes which blocks of libwhole.so are run, for whole.py: clang calls what is
   here. GLEN_COUNTS names a file of one byte for each block, which all
   processes of a test share, however they end; GLEN_BLOCKS one that is given
   the blocks' addresses. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t *counts;
static uint32_t n_blocks;
static int begun;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end);
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

void
__sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end) {
  if (begin == end || *begin)
    return;
  for (uint32_t *x = begin; x < end; x++)
    *x = ++n_blocks;
}

void
__sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (counts)
    counts[*guard] = 1;
}

/* Called by each source file, after the guards have their numbers and before
   anything of the library runs; the first call does it for all. */
void
__sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end) {
  if (begun++)
    return;
  const char *path = getenv("GLEN_BLOCKS");
  FILE *blocks = path ? fopen(path, "w") : NULL;
  if (blocks) {
    for (const uintptr_t *x = begin; x < end; x += 2)
      fprintf(blocks, "%zx\n", (size_t)(*x - (uintptr_t)__ehdr_start));
    fclose(blocks);
  }
  const char *name = getenv("GLEN_COUNTS");
  int file = name ? open(name, O_RDWR | O_CREAT, 0644) : -1;
  if (file < 0)
    return;
  size_t bytes = n_blocks + 1;
  if (!ftruncate(file, (off_t)bytes)) {
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    counts = map == MAP_FAILED ? NULL : map;
  }
  close(file);
}
