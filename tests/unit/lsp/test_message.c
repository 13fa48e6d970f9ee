/* SPDX-License-Identifier: MIT */
/* The reader of messages: framing, faults, what is too large. */
#include "lsp/message.h"
#include <criterion/criterion.h>
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
