/* SPDX-License-Identifier: MIT */
/* driver.c - see driver.h.
 *
 * Every array is copied to memory of exactly its size, so that a sanitizer
 * sees the first byte behind it; outputs and workspace hold junk before the
 * call, so that an element never written does not pass for a zero. */
#include "codegen/run/driver.h"
#include "codegen/unit/unit_profile.h"
#include <assert.h>

/* Of the function or of NAME_prepack. */
bool
cg_is_argument(const po_array *array) {
  return array->role == PO_INPUT || array->role == PO_OUTPUT;
}

uint32_t
cg_count_parameters(const po_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += cg_is_argument(&p->arrays.data[k]);
  return n;
}

static bool
advance(int64_t *at, int64_t bytes) {
  int64_t end;
  if (__builtin_add_overflow(*at, bytes, &end) || end > INT64_MAX - 64)
    return false;
  *at = (end + 63) / 64 * 64;
  return true;
}

bool
cg_place_data(const cg_job *jobs, uint32_t n, int64_t *times,
              cg_place *const *places, int64_t *total) {
  assert(n);
  int64_t at = CG_DATA_HEADER;
  for (uint32_t j = 0; j < n; j++) {
    const po_program *p = jobs[j].program;
    uint32_t out = 0;
    times[j] = at;
    if (!advance(&at, 64))
      return false;
    for (uint32_t k = 0; k < p->arrays.len; k++) {
      const po_array *array = &p->arrays.data[k];
      if (!cg_is_argument(array))
        continue;
      int64_t bytes =
          gs_prod(array->dim, array->rank) * gs_dtype_table[array->dtype].bytes;
      places[j][out++] = (cg_place){at, bytes};
      if (!advance(&at, bytes))
        return false;
    }
  }
  *total = at;
  return true;
}

static const char prologue[] = "#include <fcntl.h>\n"
                               "#include <stdint.h>\n"
                               "#include <stdio.h>\n"
                               "#include <stdlib.h>\n"
                               "#include <string.h>\n"
                               "#include <sys/mman.h>\n"
                               "#include <sys/stat.h>\n"
                               "#include <time.h>\n"
                               "#include <unistd.h>\n\n";

static const char functions[] =
    "\n"
    "static unsigned char *data;\n"
    "\n"
    "static double\n"
    "now(void) {\n"
    "  struct timespec t;\n"
    "  clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n"
    "}\n"
    "\n"
    "static void *\n"
    "block(size_t bytes) {\n"
    "  void *memory = NULL;\n"
    "  if (posix_memalign(&memory, 64, bytes ? bytes : 1)) {\n"
    "    fprintf(stderr, \"out of memory\\n\");\n"
    "    exit(3);\n"
    "  }\n"
    "  memset(memory, 0xa5, bytes ? bytes : 1);\n"
    "  return memory;\n"
    "}\n"
    "\n"
    "static void *\n"
    "load(size_t offset, size_t bytes) {\n"
    "  return memcpy(block(bytes), data + offset, bytes);\n"
    "}\n"
    "\n"
    "static void\n"
    "store(size_t offset, void *memory, size_t bytes) {\n"
    "  memcpy(data + offset, memory, bytes);\n"
    "}\n"
    "\n"
    "static int\n"
    "attach(const char *path) {\n"
    "  struct stat status;\n"
    "  int file = open(path, O_RDWR);\n"
    "  if (file < 0 || fstat(file, &status))\n"
    "    return 0;\n"
    "  void *memory = mmap(NULL, (size_t)status.st_size,\n"
    "                      PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);\n"
    "  close(file);\n"
    "  data = memory;\n"
    "  return memory != MAP_FAILED;\n"
    "}\n"
    "\n";

/* The arrays that are prepacked, or those that are not. */
static void
put_arguments(const po_program *p, bool prepack, bs_text *out) {
  uint32_t k = 0;
  for (uint32_t j = 0; j < p->arrays.len; j++) {
    const po_array *array = &p->arrays.data[j];
    if (!cg_is_argument(array))
      continue;
    if (array->prepack == prepack)
      bs_putf(out, "p[%u], ", k);
    k++;
  }
}

static void
put_sizes(const cg_job *job, const char *comma, bs_text *out) {
  for (uint32_t k = 0; job->general && k < job->general->sizes.len; k++)
    bs_putf(out, "%s%lld", k ? ", " : "", (long long)job->sizes[k]);
  if (job->general && job->general->sizes.len)
    bs_put(out, comma);
}

/* What the code was made of: with sizes, not the program at these. */
static const po_program *
code_of(const cg_job *job) {
  return job->general ? job->general : job->program;
}

static void
put_call(const cg_job *job, const char *name, bs_text *out) {
  const po_program *p = code_of(job);
  bs_putf(out, "    failed |= %s(", name);
  put_sizes(job, ", ", out);
  put_arguments(p, false, out);
  bs_put(out,
         po_has_prepacked(p) ? "prepacked, workspace);\n" : "workspace);\n");
}

static void
put_prepack(const po_program *p, const char *name, bs_text *out) {
  bs_putf(out,
          "  void *prepacked = block(%s_prepacked_size());\n"
          "  %s_prepack(",
          name, name);
  put_arguments(p, true, out);
  bs_put(out, "prepacked);\n");
}

/* Between two steps the clock is read once; what is before the first does not
 * count. */
static void
put_profile(const cg_profile *profile, uint32_t job, const char *name,
            bs_text *out) {
  uint32_t n = profile->steps.len + 1;
  bs_putf(out,
          "static double before%u, spent%u[%u], least%u[%u];\n\n"
          "void %s_profile(int step);\n\n"
          "void\n%s_profile(int step) {\n"
          "  double time = now();\n"
          "  if (step >= 0)\n    spent%u[step] += time - before%u;\n"
          "  before%u = time;\n}\n\n",
          job, job, n, job, n, name, name, job, job, job);
}

static void
put_job(const cg_job *of, uint32_t job, const char *name, int64_t time,
        const cg_place *places, uint32_t repeats, double seconds,
        bs_text *out) {
  const po_program *p = of->program;
  uint32_t k = 0;
  if (of->profile)
    put_profile(of->profile, job, name, out);
  bs_putf(out, "static int\nrun%u(void) {\n", job);
  if (cg_count_parameters(p))
    bs_putf(out, "  void *p[%u];\n", cg_count_parameters(p));
  bs_put(out, "  void *workspace;\n");
  bs_put(out, "  double best = 1e300, sum = 0;\n  int failed = 0;\n");
  bs_putf(out, "  workspace = block(%s_workspace_size(", name);
  put_sizes(of, "", out);
  bs_put(out, "));\n");
  for (uint32_t j = 0; j < p->arrays.len; j++) {
    const po_array *array = &p->arrays.data[j];
    if (!cg_is_argument(array))
      continue;
    if (array->role == PO_INPUT)
      bs_putf(out, "  p[%u] = load(%lld, %lld);\n", k,
              (long long)places[k].offset, (long long)places[k].bytes);
    else
      bs_putf(out, "  p[%u] = block(%lld);\n", k, (long long)places[k].bytes);
    k++;
  }
  if (po_has_prepacked(code_of(of)))
    put_prepack(code_of(of), name, out);
  bs_putf(out, "  for (int repeat = 0; repeat < %u && sum <= %g; repeat++) {\n",
          repeats ? repeats : 1, seconds > 0 ? seconds : 1e300);
  bs_put(out, "    double start = now(), time;\n");
  if (of->profile)
    bs_putf(out, "    memset(spent%u, 0, sizeof spent%u);\n", job, job);
  put_call(of, name, out);
  bs_put(out, "    time = now() - start;\n");
  if (of->profile)
    bs_putf(out,
            "    if (time < best)\n"
            "      memcpy(least%u, spent%u, sizeof least%u);\n",
            job, job, job);
  bs_put(out, "    best = time < best ? time : best;\n"
              "    sum += time;\n  }\n");
  k = 0;
  for (uint32_t j = 0; j < p->arrays.len; j++) {
    const po_array *array = &p->arrays.data[j];
    if (!cg_is_argument(array))
      continue;
    if (array->role == PO_OUTPUT)
      bs_putf(out, "  store(%lld, p[%u], %lld);\n", (long long)places[k].offset,
              k, (long long)places[k].bytes);
    bs_putf(out, "  free(p[%u]);\n", k++);
  }
  bs_putf(out,
          "  free(workspace);\n%s"
          "  store(%lld, &best, sizeof best);\n",
          po_has_prepacked(code_of(of)) ? "  free(prepacked);\n" : "",
          (long long)time);
  if (of->profile)
    bs_putf(out, "  store(%lld, least%u, sizeof least%u);\n",
            (long long)of->profile_at, job, job);
  bs_put(out, "  return failed;\n}\n\n");
}

void
cg_put_driver(const cg_job *jobs, uint32_t n, const char *const *names,
              const int64_t *times, cg_place *const *places, uint32_t repeats,
              double seconds, bs_text *out) {
  assert((jobs && names) || !n);
  bs_put(out, "#define _POSIX_C_SOURCE 200809L\n");
  /* Their parameters may have names that are macros of the others. */
  for (uint32_t j = 0; j < n; j++)
    bs_putf(out, "#include \"%s.h\"\n", names[j]);
  bs_put(out, prologue);
  bs_put(out, functions);
  for (uint32_t j = 0; j < n; j++)
    put_job(&jobs[j], j, names[j], times[j], places[j], repeats, seconds, out);
  bs_put(out, "int\nmain(int argc, char **argv) {\n"
              "  uint32_t job = 0;\n"
              "  (void)load;\n"
              "  if (argc != 2 || !attach(argv[1]))\n    return 2;\n");
  for (uint32_t j = 0; j < n; j++)
    bs_putf(out,
            "  job = %u;\n  memcpy(data, &job, sizeof job);\n"
            "  if (run%u())\n    return 4;\n",
            j, j);
  bs_put(out, "  return 0;\n}\n");
}
