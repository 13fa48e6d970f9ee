/* SPDX-License-Identifier: MIT */
/* governor.c - see governor.h.
 *
 * The clock is read at every question; the resident size, which takes a system
 * call, only when some milliseconds have passed.  Memory that was freed but is
 * still the process's is given back before a limit is called reached. */
#include "base/governor.h"
#include "base/file.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Allocations between two looks, and what is large enough for one at once. */
enum { EVERY = 256, LARGE = 1 << 22 };

/* Seconds between two readings of the resident size. */
static const double READING = 0.004;

/* How far beyond the limits the heap refuses: time to write down what there
 * is. */
static const double LATE_PART = 1.08, LATE_SECONDS = 0.25, LARGE_PART = 1.08;

const char *
bs_reason_name(bs_reason r) {
  assert(r >= BS_GOES_ON && r <= BS_OUT_OF_MEMORY);
  static const char *const names[] = {"no limit", "time limit", "memory limit"};
  return names[r];
}

const char *
bs_reason_code(bs_reason r) {
  assert(r >= BS_GOES_ON && r <= BS_OUT_OF_MEMORY);
  static const char *const codes[] = {"no-limit", "time-limit", "memory-limit"};
  return codes[r];
}

void
bs_governor_init(bs_governor *g) {
  *g = (bs_governor){.end = INFINITY, .bytes = SIZE_MAX, .status = -1};
  g->stage = (bs_stage){"reading", INFINITY, SIZE_MAX, BS_GOES_ON};
}

void
bs_governor_done(bs_governor *g) {
  if (g->status >= 0)
    close(g->status);
  g->status = -1;
}

void
bs_govern(bs_governor *g, double seconds, size_t bytes) {
  g->begun = bs_now();
  g->end = seconds > 0 ? g->begun + seconds : INFINITY;
  g->bytes = bytes ? bytes : SIZE_MAX;
  g->governs = seconds > 0 || bytes;
  g->stage.end = g->end;
  g->stage.bytes = g->bytes;
  if (bytes && g->status < 0)
    g->status = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  g->resident_before = 0;
  g->resident_before = bs_resident(g);
}

/* --- memory ------------------------------------------------------------ */

/* The second number of the line: pages. */
static size_t
read_pages(int status) {
  char text[128];
  ssize_t n = status < 0 ? -1 : pread(status, text, sizeof text - 1, 0);
  if (n <= 0)
    return 0;
  text[n] = '\0';
  const char *second = strchr(text, ' ');
  return second ? strtoul(second, NULL, 10) : 0;
}

size_t
bs_resident(const bs_governor *g) {
  size_t now = read_pages(g->status) * (size_t)sysconf(_SC_PAGESIZE);
  return now > g->resident_before ? now - g->resident_before : 0;
}

static void
read_resident(bs_governor *g, double now) {
  if (now - g->looked < READING)
    return;
  g->looked = now;
  g->resident = bs_resident(g);
}

/* Is the process larger than that, even without what was freed? */
static bool
is_larger(bs_governor *g, size_t bytes, double now) {
  if (g->status < 0 || bytes == SIZE_MAX)
    return false;
  read_resident(g, now);
  if (g->resident <= bytes)
    return false;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  g->resident = bs_resident(g);
  return g->resident > bytes;
}

/* --- stages ------------------------------------------------------------ */

bs_stage
bs_stage_begin(bs_governor *g, const char *name, double of_time,
               double of_memory) {
  assert(name && of_time >= 0 && of_time <= 1 && of_memory >= 0 &&
         of_memory <= 1);
  if (!g)
    return (bs_stage){0};
  bs_stage before = g->stage;
  double left = before.end - bs_now();
  g->stage.name = name;
  g->stage.over = BS_GOES_ON;
  if (isfinite(before.end) && left > 0)
    g->stage.end = before.end - left * (1 - of_time);
  if (before.bytes != SIZE_MAX)
    g->stage.bytes = (size_t)((double)before.bytes * of_memory);
  return before;
}

bs_reason
bs_stage_end(bs_governor *g, bs_stage before) {
  if (!g)
    return BS_GOES_ON;
  bs_reason over = g->stage.over;
  assert(before.name);
  g->stage = before;
  return over;
}

bool
bs_stage_late(const bs_governor *g) {
  return g && isfinite(g->stage.end) && bs_now() > g->stage.end;
}

bool
bs_stage_over(bs_governor *g) {
  if (!g || !g->governs)
    return false;
  if (g->stage.over)
    return true;
  double now = bs_now();
  if (now > g->stage.end)
    g->stage.over = BS_OUT_OF_TIME;
  else if (is_larger(g, g->stage.bytes, now))
    g->stage.over = BS_OUT_OF_MEMORY;
  return g->stage.over != BS_GOES_ON;
}

double
bs_stage_seconds(const bs_governor *g) {
  if (!g || !isfinite(g->stage.end))
    return INFINITY;
  return fmax(g->stage.end - bs_now(), 0);
}

size_t
bs_stage_room(bs_governor *g, size_t used) {
  if (!g || g->stage.bytes == SIZE_MAX)
    return SIZE_MAX;
  size_t resident = bs_resident(g), taken = used > resident ? used : resident;
  return taken < g->stage.bytes ? g->stage.bytes - taken : 0;
}

/* --- the heap's questions ---------------------------------------------- */

static size_t
far_beyond(size_t bytes) {
  return bytes == SIZE_MAX ? SIZE_MAX : (size_t)((double)bytes * LARGE_PART);
}

static double
late_end(const bs_governor *g) {
  return g->begun + (g->end - g->begun) * LATE_PART + LATE_SECONDS;
}

static bool
refuse(bs_governor *g, bs_reason why) {
  assert(why != BS_GOES_ON);
  g->refused = g->stage.over = why;
  g->refused_in = g->stage.name;
  return false;
}

static bool
look(bs_governor *g) {
  double now = bs_now();
  g->countdown = EVERY;
  if (now > late_end(g))
    return refuse(g, BS_OUT_OF_TIME);
  if (is_larger(g, far_beyond(g->bytes), now))
    return refuse(g, BS_OUT_OF_MEMORY);
  return true;
}

bool
bs_governor_grants(bs_governor *g, size_t n, size_t used) {
  if (!g->governs)
    return true;
  if (g->refused == BS_OUT_OF_TIME)
    return false;
  size_t most = far_beyond(g->bytes);
  if (n > most || used > most - n)
    return refuse(g, BS_OUT_OF_MEMORY);
  return (n < LARGE && g->countdown--) || look(g);
}

bool
bs_governor_lets(bs_governor *g) {
  return !g || !g->governs || (g->refused != BS_OUT_OF_TIME && look(g));
}

/* --- the memory there is ----------------------------------------------- */

/* A number that a file begins with; 0 where there is none. */
static size_t
number_in(const char *path) {
  unsigned long long n = 0;
  FILE *f = fopen(path, "re");
  if (!f)
    return 0;
  if (fscanf(f, "%llu", &n) != 1)
    n = 0;
  fclose(f);
  return n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

static size_t
smaller(size_t a, size_t b) {
  return !a ? b : !b || a < b ? a : b;
}

/* The limits of a group and of those around it. */
static size_t
limit_of_group(const char *root, char *group, const char *file) {
  char path[4200];
  size_t least = 0;
  for (;;) {
    snprintf(path, sizeof path, "%s%s/%s", root, group, file);
    least = smaller(least, number_in(path));
    char *slash = strrchr(group, '/');
    if (!slash)
      return least;
    *slash = '\0';
  }
}

/* A line of /proc/self/cgroup: "0::/path", or "7:memory:/path" of version 1. */
static size_t
limit_by_line(char *line) {
  char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : 0;
  if (!group)
    return 0;
  *group++ = '\0';
  group[strcspn(group, "\n")] = '\0';
  if (!names[1])
    return limit_of_group("/sys/fs/cgroup", group, "memory.max");
  if (!strstr(names + 1, "memory"))
    return 0;
  return limit_of_group("/sys/fs/cgroup/memory", group,
                        "memory.limit_in_bytes");
}

static size_t
limit_by_groups(void) {
  char line[4096];
  size_t least = 0;
  FILE *f = fopen("/proc/self/cgroup", "re");
  while (f && fgets(line, sizeof line, f))
    least = smaller(least, limit_by_line(line));
  if (f)
    fclose(f);
  return least;
}

size_t
bs_memory_there_is(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  size_t machine = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
  return smaller(machine, limit_by_groups());
}
