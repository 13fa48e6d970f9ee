/* SPDX-License-Identifier: MIT */
/* The reader of messages: framing, faults, what is too large. */
#include "lsp/message.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void
feed(lsp_reader *r, const char *s) {
  cr_assert(lsp_reader_feed(r, s, strlen(s)));
}

static void
expect(lsp_reader *r, lsp_found wanted, const char *text) {
  const char *body;
  size_t size;
  cr_assert_eq(lsp_reader_next(r, &body, &size), wanted);
  if (wanted != LSP_BODY)
    return;
  cr_assert_eq(size, strlen(text));
  cr_assert(!memcmp(body, text, size));
}

Test(message, bodies_come_out_whole) {
  lsp_reader r = {0};
  expect(&r, LSP_MORE, "");
  feed(&r, "Content-Length: 3\r\n\r");
  expect(&r, LSP_MORE, "");
  feed(&r, "\nab");
  expect(&r, LSP_MORE, "");
  feed(&r, "cContent-Type: x\r\ncontent-length:2\r\n\r\n{}");
  expect(&r, LSP_BODY, "abc");
  expect(&r, LSP_BODY, "{}");
  feed(&r, "Content-Length: 0\n\n");
  expect(&r, LSP_BODY, "");
  expect(&r, LSP_MORE, "");
  lsp_reader_done(&r);
}

Test(message, a_bad_header_is_passed_over) {
  static const char *const bad[] = {
      "X: 1\r\n\r\n", "Content-Length: \r\n\r\n", "Content-Length: 1x\r\n\r\n",
      "Content-Length: -1\r\n\r\n",
      "Content-Length: 99999999999999999999\r\n\r\n"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    lsp_reader r = {0};
    feed(&r, bad[k]);
    expect(&r, LSP_BAD_HEADER, "");
    feed(&r, "{}Content-Length: 1\r\n\r\n7");
    expect(&r, LSP_BODY, "7");
    lsp_reader_done(&r);
  }
}

Test(message, a_header_without_end_is_passed_over) {
  lsp_reader r = {0};
  for (int k = 0; k < LSP_MAX_HEADER; k++)
    feed(&r, "y");
  expect(&r, LSP_BAD_HEADER, "");
  expect(&r, LSP_MORE, "");
  lsp_reader_done(&r);
}

Test(message, what_is_too_large_is_dropped_as_it_comes) {
  static char block[1 << 20];
  lsp_reader r = {0};
  memset(block, 'z', sizeof block);
  feed(&r, "Content-Length: 100000000\r\n\r\nzz");
  expect(&r, LSP_TOO_LARGE, "");
  for (size_t left = 100000000 - 2; left;) {
    size_t n = left < sizeof block ? left : sizeof block;
    cr_assert(lsp_reader_feed(&r, block, n));
    expect(&r, LSP_MORE, "");
    left -= n;
  }
  cr_assert_lt(r.cap, 1 << 16);
  feed(&r, "Content-Length: 2\r\n\r\nok");
  expect(&r, LSP_BODY, "ok");
  lsp_reader_done(&r);
}

Test(message, limits_are_met_and_not_passed) {
  char head[100], fill[LSP_MAX_HEADER + 2];
  for (int more = -1; more <= 1; more++) {
    lsp_reader r = {0};
    snprintf(head, sizeof head, "Content-Length: %d\r\n\r\n",
             LSP_MAX_BODY + more);
    feed(&r, head);
    expect(&r, more > 0 ? LSP_TOO_LARGE : LSP_MORE, "");
    lsp_reader_done(&r);
  }
  /* A header as long as it may be, and one byte longer. */
  static const char last[] = "\r\nContent-Length: 1\r\n\r\n";
  for (int more = 0; more <= 1; more++) {
    lsp_reader r = {0};
    size_t n = LSP_MAX_HEADER - (sizeof last - 1) + (size_t)more;
    memset(fill, 'y', n);
    strcpy(fill + n, last);
    feed(&r, fill);
    expect(&r, more ? LSP_BAD_HEADER : LSP_MORE, "");
    if (!more) {
      feed(&r, "7");
      expect(&r, LSP_BODY, "7");
    }
    lsp_reader_done(&r);
  }
}

/* Whatever pieces the bytes come in. */
Test(message, bodies_do_not_depend_on_where_the_bytes_are_cut) {
  static const char all[] = "Content-Length: 3\r\n\r\nabc"
                            "A: b\r\nContent-Length: 2\n\nde"
                            "A: b\nContent-Length: 2\r\n\r\nfg";
  for (size_t cut = 0; cut < sizeof all; cut++) {
    lsp_reader r = {0};
    const char *body;
    size_t size, n = 0;
    char said[16] = "";
    for (int part = 0; part < 2; part++) {
      cr_assert(lsp_reader_feed(&r, part ? all + cut : all,
                                part ? sizeof all - 1 - cut : cut));
      while (lsp_reader_next(&r, &body, &size) == LSP_BODY) {
        memcpy(said + n, body, size);
        n += size;
      }
    }
    cr_assert_str_eq(said, "abcdefg", "cut at %zu", cut);
    lsp_reader_done(&r);
  }
}
