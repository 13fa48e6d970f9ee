/* SPDX-License-Identifier: MIT */
/* Files: whole or not at all, links, devices, directories, reading. */
#include "counting.h"
#include "base/file.h"
#include "base/sexp.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bs_heap heap;
static bs_diags diags;
static char folder[64];

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  strcpy(folder, "glen-test-file-XXXXXX");
  cr_assert(mkdtemp(folder));
}

static const char *
in_folder(const char *name) {
  return bs_arena_printf(&diags.arena, "%s/%s", folder, name);
}

/* All names in the folder, hidden ones too. */
static uint32_t
entries(void) {
  char command[200];
  snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
  FILE *pipe = popen(command, "r");
  unsigned count = 0;
  cr_assert_eq(fscanf(pipe, "%u", &count), 1);
  pclose(pipe);
  return count;
}

static void
stop(void) {
  char command[200];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  cr_assert_eq(system(command), 0);
  bs_heap_done(&heap);
}

TestSuite(file, .init = start, .fini = stop);

static bool
write_text(const char *path, const char *s) {
  return bs_file_write(&diags, path, s, strlen(s));
}

static const char *
content(const char *path) {
  uint32_t source = bs_source_read(&diags, path, BS_NOWHERE);
  return source ? diags.sources.data[source - 1].text : NULL;
}

static mode_t
mode_of(const char *path) {
  struct stat status;
  cr_assert_eq(stat(path, &status), 0);
  return status.st_mode & 07777;
}

Test(file, written_and_read_back) {
  umask(027);
  const char *path = in_folder("a.glen");
  cr_assert(write_text(path, "one"));
  cr_assert_str_eq(content(path), "one");
  cr_assert_eq(mode_of(path), 0640);
  cr_assert(write_text(path, "another"));
  cr_assert_str_eq(content(path), "another");
  cr_assert(write_text(path, ""));
  cr_assert_str_eq(content(path), "");
  cr_assert_eq(entries(), 1);
}

Test(file, the_mode_of_a_replaced_file_stays) {
  const char *path = in_folder("a");
  cr_assert(write_text(path, "one"));
  chmod(path, 0751);
  cr_assert(write_text(path, "two"));
  cr_assert_eq(mode_of(path), 0751);
}

Test(file, the_same_bytes_leave_it_untouched) {
  const char *path = in_folder("a");
  size_t n = 100000;
  char *data = memset(bs_alloc(&heap, n), 'x', n);
  cr_assert(bs_file_write(&diags, path, data, n));
  struct stat before, after;
  stat(path, &before);
  cr_assert(bs_file_write(&diags, path, data, n));
  stat(path, &after);
  cr_assert_eq(before.st_ino, after.st_ino);
  data[n - 1] = 'y';
  cr_assert(bs_file_write(&diags, path, data, n));
  stat(path, &after);
  cr_assert_neq(before.st_ino, after.st_ino);
}

Test(file, a_link_stays_a_link) {
  const char *link = in_folder("link"), *target = in_folder("target");
  cr_assert_eq(symlink("target", link), 0);
  cr_assert(write_text(link, "through a dangling link"));
  cr_assert_str_eq(content(target), "through a dangling link");
  cr_assert(write_text(link, "again"));
  cr_assert_str_eq(content(target), "again");
  struct stat status;
  cr_assert_eq(lstat(link, &status), 0);
  cr_assert(S_ISLNK(status.st_mode));
  cr_assert_eq(entries(), 2);
}

Test(file, failures_leave_nothing_behind) {
  const char *loop = in_folder("loop");
  cr_assert_eq(symlink("loop", loop), 0);
  const char *const paths[] = {
      in_folder("no/such/folder"), folder,     loop, "",
      in_folder("loop/x"),         "/dev/full"};
  for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    cr_assert_not(write_text(paths[i], "some bytes"), "%s", paths[i]);
    cr_assert_eq(diags.errors, i + 1);
    cr_assert_str_eq(bs_last(&diags.list).code, "cannot-write");
    cr_assert(strstr(bs_last(&diags.list).message, paths[i]));
  }
  cr_assert_eq(entries(), 1);
  cr_assert(write_text("/dev/null", "some bytes"));
}

Test(file, no_space_leaves_the_old_file) {
  const char *path = in_folder("a");
  cr_assert(write_text(path, "old"));
  pid_t child = fork();
  if (!child) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    char *data = memset(bs_alloc(&heap, 5000), 'x', 5000);
    _exit(bs_file_write(&diags, path, data, 5000));
  }
  int status;
  waitpid(child, &status, 0);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  cr_assert_str_eq(content(path), "old");
  cr_assert_eq(entries(), 1);
}

Test(file, a_pipe_is_written_directly) {
  const char *path = in_folder("pipe");
  cr_assert_eq(mkfifo(path, 0600), 0);
  pid_t child = fork();
  if (!child)
    _exit(!write_text(path, "through the pipe"));
  char data[40];
  int pipe = open(path, O_RDONLY);
  ssize_t n = read(pipe, data, sizeof data);
  close(pipe);
  cr_assert(n == 16 && !memcmp(data, "through the pipe", 16));
  int status;
  waitpid(child, &status, 0);
  cr_assert_eq(status, 0);
  cr_assert_eq(entries(), 1);
}

Test(file, standard_output) {
  const char *path = in_folder("out");
  pid_t child = fork();
  if (!child) {
    cr_assert(freopen(path, "w", stdout));
    printf("before ");
    bool ok = write_text("-", "data ") && write_text("/dev/stdout", "more ") &&
              write_text("/dev/fd/1", "and ");
    printf("after");
    fflush(stdout);
    cr_assert(freopen("/dev/full", "w", stdout));
    ok = ok && !write_text("-", "data") && !write_text("/dev/stdout", "data");
    _exit(!ok);
  }
  int status;
  waitpid(child, &status, 0);
  cr_assert_eq(status, 0);
  cr_assert_str_eq(content(path), "before data more and after");
}

Test(file, directories_in_order) {
  static const char *const names[] = {"b.rules",  "a.rules",  "Z.rules",
                                      "c.txt",    ".h.rules", "\xc3\xa9.rules",
                                      "a-b.rules"};
  for (int i = 0; i < 7; i++)
    cr_assert(write_text(in_folder(names[i]), ""));
  const char *const *list;
  uint32_t n;
  cr_assert(bs_dir_list(&diags, folder, ".rules", &list, &n));
  static const char *const order[] = {"Z.rules", "a-b.rules", "a.rules",
                                      "b.rules", "\xc3\xa9.rules"};
  cr_assert_eq(n, 5);
  for (uint32_t i = 0; i < n; i++)
    cr_assert_str_eq(list[i], in_folder(order[i]));
  const char *slashed = in_folder("");
  cr_assert(bs_dir_list(&diags, slashed, ".txt", &list, &n));
  cr_assert_eq(n, 1);
  cr_assert_str_eq(list[0], in_folder("c.txt"));
  cr_assert(bs_dir_list(&diags, folder, ".none", &list, &n));
  cr_assert_eq(n, 0);
  cr_assert_not(bs_dir_list(&diags, in_folder("none"), "", &list, &n));
  cr_assert_str_eq(bs_last(&diags.list).code, "no-directory");
  cr_assert(bs_is_dir(folder));
  cr_assert_not(bs_is_dir(list ? in_folder("c.txt") : ""));
  cr_assert_not(bs_is_dir(in_folder("none")));
}

Test(file, reading_failures) {
  cr_assert_null(content(in_folder("none")));
  cr_assert_str_eq(bs_last(&diags.list).code, "no-file");
  cr_assert_null(content(folder));
  cr_assert_str_eq(bs_last(&diags.list).code, "no-file");
  const char *path = in_folder("binary");
  cr_assert(bs_file_write(&diags, path, "ab\nc\0d", 6));
  cr_assert_null(content(path));
  cr_assert_str_eq(bs_last(&diags.list).code, "not-text");
  uint32_t line, column;
  bs_position(&diags, bs_last(&diags.list).span, &line, &column);
  cr_assert(line == 2 && column == 2);
  cr_assert(bs_file_write(&diags, path, "\xff\xfe(\0", 4));
  cr_assert_null(content(path));
  cr_assert_str_eq(bs_last(&diags.list).code, "not-text");
  cr_assert_eq(truncate(path, (off_t)1 << 31), 0);
  cr_assert_null(content(path));
  cr_assert_str_eq(bs_last(&diags.list).code, "too-large");
  cr_assert_eq(heap.peak < 1 << 20, true);
}

Test(file, a_file_that_does_not_tell_its_size) {
  const char *status = content("/proc/self/status");
  cr_assert(status && strstr(status, "Pid:"));
}

Test(file, paths_beside) {
  bs_arena *a = &diags.arena;
  cr_assert_str_eq(bs_path_beside(a, "rules/all.rules", "x.rules"),
                   "rules/x.rules");
  cr_assert_str_eq(bs_path_beside(a, "all.rules", "x.rules"), "x.rules");
  cr_assert_str_eq(bs_path_beside(a, "a/b/c", "../x"), "a/b/../x");
  cr_assert_str_eq(bs_path_beside(a, "a/b", "/x"), "/x");
  cr_assert_str_eq(bs_path_beside(a, "/b", "x"), "/x");
  cr_assert_str_eq(bs_path_beside(a, "-", "x"), "x");
}

Test(file, the_clock_does_not_go_back) {
  double before = bs_now();
  cr_assert_geq(bs_now(), before);
}

static int
open_descriptors(void) {
  int count = 0;
  for (int i = 0; i < 200; i++)
    count += fcntl(i, F_GETFD) >= 0;
  return count;
}

static void
use_files(bs_heap *h, void *argument) {
  (void)argument;
  bs_diags own;
  bs_diags_init(&own, h);
  const char *path = bs_arena_printf(&own.arena, "%s/x", folder);
  bs_file_write(&own, path, "(a b c)", 7);
  bs_source_read(&own, path, BS_NOWHERE);
  bs_source_read(&own, "/proc/self/status", BS_NOWHERE);
  const char *const *list;
  uint32_t n;
  bs_dir_list(&own, folder, "", &list, &n);
  bs_file_write(&own, path, "", 0);
}

Test(file, every_refusal_is_survived_without_a_leak) {
  int before = open_descriptors();
  cr_assert_gt(sweep(use_files, NULL), 5);
  cr_assert_eq(open_descriptors(), before);
  cr_assert_eq(entries(), 1);
}
