/* SPDX-License-Identifier: MIT */
/* target_detect.c - this machine as a target, read from Linux' text files.
 *
 * Caches: /sys/devices/system/cpu/cpu0/cache/index*.  Vectors: the flags of
 * /proc/cpuinfo.  Cores: those this process may run on.  Rates follow by rule
 * of thumb from the width that is executed at once, which is half a vector on
 * some processors (two fused multiply-add units when there is FMA); they are a
 * starting point for the cost model, not a measurement.
 * Whatever cannot be read keeps the value of the default target. */
#include "glenside/target/target_parse.h"
#include "instruction-texts.h"
#include <ctype.h>
#include <errno.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#define MAX_TEXT  (1 << 16)
#define MAX_CACHE 16 /* index0 .. index15 */

/* The start of a file, NUL-terminated; "" when it cannot be read. */
static const char *
read_text(const gs_context *ctx, const char *path) {
  char *text = bs_arena_alloc(ctx->arena, MAX_TEXT + 1);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(text, 1, MAX_TEXT, f) : 0;
  if (f)
    fclose(f);
  text[n] = 0;
  return text;
}

/* --- caches --------------------------------------------------------------- */

static const char *
cache_text(const gs_context *ctx, const char *root, int index,
           const char *name) {
  return read_text(
      ctx, bs_arena_printf(ctx->arena,
                           "%s/sys/devices/system/cpu/cpu0/cache/index%d/%s",
                           root, index, name));
}

/* "32K", "4M", "64" */
static int64_t
read_size(const char *text) {
  char *end;
  long long n = strtoll(text, &end, 10);
  int64_t scale = *end == 'K' ? 1024 : *end == 'M' ? 1 << 20 : 1;
  return n > 0 && n < INT64_MAX >> 20 ? n * scale : 0;
}

/* What a core reads a cycle from each level; `wide` bytes are executed at
 * once. */
static double
cache_rate(int level, double wide) {
  return level == 1 ? 2 * wide : level == 2 ? wide : wide / 2;
}

static void
detect_cache(const gs_context *ctx, const char *root, int index, double wide,
             gs_target *t) {
  const char *type = cache_text(ctx, root, index, "type");
  int64_t level = read_size(cache_text(ctx, root, index, "level"));
  gs_cache c = {.level = (int)level};
  c.bytes = read_size(cache_text(ctx, root, index, "size"));
  c.line = read_size(cache_text(ctx, root, index, "coherency_line_size"));
  c.ways = read_size(cache_text(ctx, root, index, "ways_of_associativity"));
  if (level < 1 || level > 8 || !c.bytes || !strncmp(type, "Instruction", 11))
    return;
  c.line = c.line ? c.line : TARGET_MODEST_LINE;
  c.ways = c.ways ? c.ways : 8;
  c.bytes_per_cycle = cache_rate(c.level, wide);
  target_set_cache(ctx, t, c);
}

static void
detect_caches(const gs_context *ctx, const char *root, double wide,
              gs_target *t) {
  gs_target found = *t;
  found.caches.data = NULL;
  found.caches.len = found.caches.cap = 0;
  for (int index = 0; index < MAX_CACHE; index++)
    detect_cache(ctx, root, index, wide, &found);
  if (found.caches.len)
    t->caches = (__typeof__(t->caches)){found.caches.data, found.caches.len,
                                        found.caches.cap};
  for (uint32_t k = 0; k < t->caches.len; k++)
    t->caches.data[k].bytes_per_cycle =
        cache_rate(t->caches.data[k].level, wide);
}

/* --- vectors -------------------------------------------------------------- */

/* The text behind `key` and a colon, up to the end of the line. */
static const char *
field(const gs_context *ctx, const char *info, const char *key) {
  size_t n = strlen(key);
  for (const char *line = info; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, n) || !strchr(" \t:", line[n]))
      continue;
    const char *value = line + n + strspn(line + n, " \t:");
    size_t len = strcspn(value, "\n");
    char *copy = bs_arena_copy(ctx->arena, value, len + 1);
    copy[len] = 0;
    return copy;
  }
  return "";
}

static bool
has_flag(const char *flags, const char *flag) {
  size_t n = strlen(flag);
  while (*flags) {
    size_t len = strcspn(flags, " ");
    if (len == n && !memcmp(flags, flag, n))
      return true;
    flags += len + strspn(flags + len, " ");
  }
  return false;
}

/* The widest first; `flag` alone decides, `fma` doubles the rate. */
static const struct {
  const char *flag, *fma;
  int64_t bytes, registers;
} vector_table[] = {
    {"avx512f", "avx512f", 64, 32}, {"avx2", "fma", 32, 16},
    {"avx", "fma", 32, 16},         {"sse2", "fma", 16, 16},
    {"asimd", "asimd", 16, 32},
};

/* AMD's family 25 (Zen 4) executes vectors of 64 bytes as two halves. */
static bool
halves_vectors(const gs_context *ctx, const char *info, int64_t bytes) {
  return bytes == 64 &&
         !strcmp(field(ctx, info, "vendor_id"), "AuthenticAMD") &&
         atoi(field(ctx, info, "cpu family")) == 25;
}

/* Returns how many bytes are executed at once. */
static double
detect_vectors(const gs_context *ctx, const char *info, gs_target *t) {
  const char *flags = field(ctx, info, "flags");
  if (!*flags)
    flags = field(ctx, info, "Features");
  for (size_t k = 0; k < sizeof vector_table / sizeof *vector_table; k++) {
    if (!has_flag(flags, vector_table[k].flag))
      continue;
    t->vector_bytes = vector_table[k].bytes;
    t->vector_registers = vector_table[k].registers;
    double wide = (double)t->vector_bytes;
    if (halves_vectors(ctx, info, t->vector_bytes))
      wide /= 2;
    t->flops_per_cycle =
        wide / 4 * (has_flag(flags, vector_table[k].fma) ? 4 : 2);
    return wide;
  }
  return (double)t->vector_bytes;
}

/* --- memory ---------------------------------------------------------------
 */

/* Intel's cores keep a line that is stored past the caches in one of the dozen
 * buffers that lines are read through, until memory has taken it: one core
 * stores two thirds of what it reads in a time. */
static void
detect_stores(const gs_context *ctx, const char *info, gs_target *t) {
  if (!strcmp(field(ctx, info, "vendor_id"), "GenuineIntel"))
    t->stored_bytes_per_cycle = t->memory_bytes_per_cycle * 2 / 3;
}

/* --- instructions --------------------------------------------------------- */

static const struct {
  const char *name, *text;
} instruction_texts[] = {
    {"<x86_avx2_dot.target>", x86_avx2_dot},
    {"<x86_vnni_dot.target>", x86_vnni_dot},
    {"<x86_bf16_dot.target>", x86_bf16_dot},
    {"<x86_amx_dot.target>", x86_amx_dot},
    {"<arm_neon_dot.target>", arm_neon_dot},
};

/* All of its features, a comma between. */
static bool
has_features(const char *flags, const char *needs) {
  char flag[64];
  while (needs && *needs) {
    size_t n = strcspn(needs, ",");
    if (n >= sizeof flag)
      return false;
    memcpy(flag, needs, n);
    flag[n] = 0;
    if (!has_flag(flags, flag))
      return false;
    needs += n + (needs[n] == ',');
  }
  return needs != NULL;
}

/* A process is granted the tiles of AMX when it asks; what it compiles will ask
 * as it does.  What is said of another machine is believed. */
static bool
may_use_tiles(const char *root) {
#if defined(__linux__) && defined(__x86_64__)
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return *root ||
         !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
#else
  return *root;
#endif
}

static bool
may_use(const char *flags, const char *root, const gs_mac *mac) {
  return has_features(flags, mac->needs) &&
         (!strstr(mac->needs, "amx_tile") || may_use_tiles(root));
}

/* Instructions that multiply and accumulate, of the files that come with
 * glen. */
static void
detect_macs(const gs_context *ctx, const char *root, const char *info,
            gs_target *t) {
  const char *flags = field(ctx, info, "flags");
  gs_target all = {.name = ""};
  if (!*flags)
    flags = field(ctx, info, "Features");
  for (size_t k = 0; k < sizeof instruction_texts / sizeof *instruction_texts;
       k++)
    target_parse_text(ctx, &all, instruction_texts[k].name,
                      instruction_texts[k].text);
  for (uint32_t k = 0; k < all.macs.len; k++)
    if (may_use(flags, root, all.macs.data[k]))
      bs_push(ctx->heap, &t->macs, all.macs.data[k]);
  bs_vec_done(ctx->heap, &all.macs);
  bs_vec_done(ctx->heap, &all.files);
}

/* --- the machine ---------------------------------------------------------- */

/* The highest clock; cpuinfo's momentary one where the kernel tells no more. */
static void
detect_frequency(const gs_context *ctx, const char *root, const char *info,
                 gs_target *t) {
  double khz = atof(
      read_text(ctx, bs_arena_printf(ctx->arena,
                                     "%s/sys/devices/system/cpu/cpu0/cpufreq/"
                                     "cpuinfo_max_freq",
                                     root)));
  double mhz = atof(field(ctx, info, "cpu MHz"));
  double ghz = khz > 0 ? khz / 1e6 : mhz / 1e3;
  if (ghz > 0.1 && ghz < 20)
    t->frequency_ghz = (double)(int64_t)(ghz * 10 + 0.5) / 10;
}

static void
detect_cores(gs_target *t) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set))
    cores = CPU_COUNT(&set);
#endif
  if (cores > 0)
    t->cores = cores;
}

gs_target *
gs_target_detect_in(const gs_context *ctx, const char *root) {
  gs_target *t = gs_target_default(ctx);
  const char *info =
      read_text(ctx, bs_arena_printf(ctx->arena, "%s/proc/cpuinfo", root));
  t->name = "native";
  t->march = "native";
  detect_cores(t);
  double wide = detect_vectors(ctx, info, t);
  detect_frequency(ctx, root, info, t);
  detect_caches(ctx, root, wide, t);
  detect_stores(ctx, info, t);
  detect_macs(ctx, root, info, t);
  return t;
}

gs_target *
gs_target_detect(const gs_context *ctx) {
  return gs_target_detect_in(ctx, "");
}
