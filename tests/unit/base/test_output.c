/* SPDX-License-Identifier: MIT */
/* test_output.c - outputs as one transaction, whatever step fails. */
#include "base/file.h"
#include "base/output.h"
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bs_heap heap;
static bs_diags diags;
static char folder[] = "/tmp/glen-output-XXXXXX";

static void
setup(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  cr_assert(mkdtemp(folder));
  cr_assert(!chdir(folder));
}

static void
teardown(void) {
  bs_heap_done(&heap);
  static char command[100];
  snprintf(command, sizeof command, "rm -r %s", folder);
  (void)!system(command);
}

TestSuite(output, .init = setup, .fini = teardown);

static void
put(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  cr_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static bool
holds(const char *path, const char *text) {
  char data[64] = "";
  FILE *f = fopen(path, "r");
  if (!f)
    return !text;
  data[fread(data, 1, sizeof data - 1, f)] = '\0';
  fclose(f);
  return text && !strcmp(data, text);
}

static int
count_files(void) {
  int n = 0;
  DIR *d = opendir(".");
  for (const struct dirent *e; (e = readdir(d));)
    n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(d);
  return n;
}

static bool
write_three(void) {
  bs_outputs_begin(&diags);
  return bs_file_write(&diags, "a", "new a", 5) &&
         bs_file_write(&diags, "b", "new b", 5) &&
         bs_file_write(&diags, "c", "new c", 5) && bs_outputs_commit(&diags);
}

Test(output, nothing_is_there_before_the_commit) {
  bs_outputs_begin(&diags);
  cr_assert(bs_file_write(&diags, "a", "new a", 5));
  cr_expect(holds("a", NULL));
  bs_outputs_drop(&diags);
  cr_expect_eq(count_files(), 0);
}

Test(output, all_are_there_after_it) {
  put("a", "old a");
  cr_assert(write_three());
  cr_expect(holds("a", "new a") && holds("b", "new b") && holds("c", "new c"));
  cr_expect_eq(count_files(), 3);
}

typedef struct failing {
  int at, steps;
  const char *step;
} failing;

static int
fail(void *ctx, const char *step) {
  failing *f = ctx;
  if (f->steps++ != f->at)
    return 0;
  f->step = step;
  return EIO;
}

/* a and c are there before, b is not. */
Test(output, every_step_may_fail) {
  bool done = false;
  int n = 0;
  for (; !done && n < 100; n++) {
    failing f = {.at = n};
    put("a", "old a");
    unlink("b");
    put("c", "old c");
    bs_let_files_fail(&diags, fail, &f);
    done = write_three();
    bs_outputs_drop(&diags);
    bs_let_files_fail(&diags, NULL, NULL);
    if (done)
      break;
    cr_expect(holds("a", "old a"), "step %d, %s", n, f.step);
    cr_expect(holds("b", NULL), "step %d, %s", n, f.step);
    cr_expect(holds("c", "old c"), "step %d, %s", n, f.step);
    cr_expect_eq(count_files(), 2, "step %d, %s", n, f.step);
  }
  /* open and write of each, rename of each, link of two */
  cr_expect_eq(n, 11);
  cr_expect(holds("a", "new a") && holds("b", "new b") && holds("c", "new c"));
  cr_expect_eq(count_files(), 3);
}

Test(output, what_did_not_change_keeps_its_time) {
  struct stat before, after;
  put("a", "new a");
  cr_assert(!stat("a", &before));
  cr_assert(write_three());
  cr_assert(!stat("a", &after));
  cr_expect_eq(before.st_ino, after.st_ino);
}

Test(output, one_file_is_written_once) {
  bs_outputs_begin(&diags);
  put("x", "x");
  cr_assert(!link("x", "y"));
  cr_assert(bs_file_write(&diags, "x", "new", 3));
  cr_expect(!bs_file_write(&diags, "./x", "new", 3));
  cr_expect(!bs_file_write(&diags, "y", "new", 3));
  bs_outputs_drop(&diags);
}

Test(output, what_was_read_is_not_written) {
  put("x", "x");
  cr_assert(!symlink("x", "link"));
  cr_assert(bs_source_read(&diags, "x", BS_NOWHERE));
  bs_outputs_begin(&diags);
  cr_expect(!bs_file_write(&diags, "link", "new", 3));
  cr_expect(bs_file_write_now(&diags, "x", "in place", 8));
  cr_expect(holds("x", "in place"));
  bs_outputs_drop(&diags);
}

Test(output, places_are_told_apart) {
  put("x", "x");
  cr_assert(!mkdir("d", 0777) && !symlink("d", "e") && !symlink("new", "z"));
  cr_expect(bs_same_file("x", "./x") && bs_same_file("d/../x", "x"));
  cr_expect(bs_same_file("d/new", "e//./new") && bs_same_file("new", "z"));
  cr_expect(bs_same_file("f/g/new", "./f//g/new"));
  cr_expect(!bs_same_file("f/g", "f/h") && !bs_same_file("f/g", "f/g/h"));
  cr_expect(!bs_same_file("x", "new") && !bs_same_file("d/x", "x"));
  cr_expect(!bs_same_file("-", "-"));
  cr_expect(!bs_same_file("/dev/null", "/dev/null"));
}

/* As many links as the system follows lead to one place, and no more. */
Test(output, links_that_are_followed_lead_to_one_place) {
  char name[16], target[16] = "gone";
  for (int n = 1; n < 45; n++) {
    snprintf(name, sizeof name, "link%d", n);
    cr_assert(!symlink(target, name));
    int file = open(name, O_WRONLY | O_CREAT, 0666);
    bool leads = file >= 0;
    cr_assert(!leads || (!close(file) && !unlink("gone")));
    cr_expect_eq(bs_same_file(name, "gone"), leads, "of %d links", n);
    strcpy(target, name);
  }
}

/* One that is asked to end says so; another one is told to. */
Test(output, a_child_is_asked_to_end) {
  int ends[2];
  char said = 0;
  cr_assert(!pipe(ends));
  pid_t child = fork();
  if (!child) {
    sigset_t asked;
    int number = 0;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    (void)!write(ends[1], "b", 1);
    sigwait(&asked, &number);
    _exit(write(ends[1], "t", 1) != 1);
  }
  cr_assert(read(ends[0], &said, 1) == 1 && said == 'b');
  bs_temporary *t = bs_temporary_new(&diags, BS_TEMPORARY_CHILD, "");
  t->child = child;
  t->live = true;
  close(ends[1]);
  bs_remove_temporaries(&diags);
  cr_expect(read(ends[0], &said, 1) == 1 && said == 't');
  cr_expect(waitpid(child, NULL, WNOHANG) == -1 && errno == ECHILD);
}

Test(output, a_signal_leaves_nothing) {
  bs_outputs_begin(&diags);
  put("a", "old a");
  cr_assert(bs_file_write(&diags, "a", "new a", 5));
  cr_assert(bs_file_write(&diags, "b", "new b", 5));
  cr_expect_eq(count_files(), 3);
  bs_remove_temporaries(&diags);
  cr_expect_eq(count_files(), 1);
  cr_expect(holds("a", "old a"));
}

static time_t
time_of(const char *path) {
  struct stat status;
  cr_assert(!stat(path, &status));
  return status.st_mtime;
}

static void
make_old(const char *path) {
  const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  cr_assert(!utimensat(AT_FDCWD, path, times, 0));
}

Test(output, what_does_not_change_keeps_its_time_unless_it_is_touched) {
  put("a", "new a");
  put("b", "new b");
  make_old("a");
  make_old("b");
  cr_assert(write_three());
  cr_expect(time_of("a") == 1000 && time_of("b") == 1000);
  diags.outputs->touch_one = "./b";
  cr_assert(write_three());
  cr_expect(time_of("a") == 1000 && time_of("b") > 1000);
  make_old("b");
  diags.outputs->touch_all = true;
  cr_assert(write_three());
  cr_expect(time_of("a") > 1000 && time_of("b") == time_of("a"));
}
