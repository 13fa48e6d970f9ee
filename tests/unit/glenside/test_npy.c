/* SPDX-License-Identifier: MIT */
/* NPY files: what numpy writes, what it may also write, and hostile bytes. */
#include "fixture.h"
#include "glenside/array/array_testing.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(npy, .init = start_listing, .fini = fixture_stop);

static uint8_t file[4096];
static size_t size;

/* A file of version `major` with this header and `n` bytes of elements. */
static void
make(int major, const char *header, size_t n) {
  size_t len = strlen(header), head = major == 1 ? 10 : 12;
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (uint8_t)major;
  file[7] = 0;
  memset(file + 8, 0, 4);
  file[8] = (uint8_t)len;
  file[9] = (uint8_t)(len >> 8);
  memcpy(file + head, header, len);
  for (size_t k = 0; k < n; k++)
    file[head + len + k] = (uint8_t)k;
  size = head + len + n;
}

static const char *
parse(const gs_type *expect, gs_tensor *out) {
  bool ok = gs_npy_parse(&ctx, "f.npy", file, size, expect, out);
  return ok ? "" : codes();
}

#define D(descr, order, shape)                                                 \
  "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

Test(npy, shapes_and_dtypes) {
  gs_tensor t;
  make(1, D("<f4", "False", "(2, 3)") "   \n", 24);
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.dtype, GS_F32);
  cr_expect_eq(t.rank, 2);
  cr_expect_eq(t.dim[0], 2);
  cr_expect_eq(t.dim[1], 3);
  cr_expect_eq(memcmp(t.data, file + size - 24, 24), 0);
  make(1, D("|i1", "False", "(5,)"), 5);
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(gs_tensor_get(&t, 4), 4);
  make(2, D("<f8", "False", "()"), 8);
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.rank, 0);
  make(3, D("<i4", "True", "(3L,)"), 12);
  cr_expect_str_eq(parse(NULL, &t), "");
  make(1, "{\"shape\":(2,2),\"fortran_order\":False,\"descr\":\"|u1\"}", 4);
  cr_expect_str_eq(parse(NULL, &t), "");
  make(1, D("<V2", "False", "(2,)"), 4);
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.dtype, GS_BF16);
}

Test(npy, expectations) {
  gs_tensor t;
  gs_type f32 = {1, 2, GS_F32, {2, 3}}, bf16 = {0, 1, GS_BF16, {3}};
  make(1, D("<f4", "False", "(2, 3)"), 24);
  cr_expect_str_eq(parse(&f32, &t), "");
  make(1, D("<f4", "False", "(3, 2)"), 24);
  cr_expect_str_eq(parse(&f32, &t), "type-mismatch");
  cr_expect(strstr(last_message(), "f32 (3, 2), expected f32 (2, 3)"));
  make(1, D("<i4", "False", "(2, 3)"), 24);
  cr_expect_str_eq(parse(&f32, &t), "type-mismatch");
  make(1, D("<f4", "False", "(2, 3, 1)"), 24);
  cr_expect_str_eq(parse(&f32, &t), "type-mismatch");
  make(1, D("<u2", "False", "(3,)"), 6);
  cr_expect_str_eq(parse(&bf16, &t), "");
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.dtype, GS_U16);
}

Test(npy, integers_of_64_bits_where_i32_is_expected) {
  gs_tensor t;
  gs_type i32 = {0, 1, GS_I32, {2}}, f32 = {0, 1, GS_F32, {2}};
  int64_t elements[] = {INT32_MIN, INT32_MAX};
  make(1, D("<i8", "False", "(2,)"), 16);
  memcpy(file + size - 16, elements, 16);
  cr_expect_str_eq(parse(&i32, &t), "");
  cr_expect_eq(t.dtype, GS_I32);
  cr_expect_eq(((const int32_t *)t.data)[0], INT32_MIN);
  cr_expect_eq(((const int32_t *)t.data)[1], INT32_MAX);
  elements[1]++;
  memcpy(file + size - 16, elements, 16);
  cr_expect_str_eq(parse(&i32, &t), "npy-range");
  cr_expect(strstr(last_message(), "element 1 is 2147483648"));
  cr_expect_str_eq(parse(&f32, &t), "type-mismatch");
  make(1, D("<i8", "False", "(2,)"), 8);
  cr_expect_str_eq(parse(&i32, &t), "npy-size");
}

Test(npy, integers_of_64_bits_end_at_2_to_the_53) {
  gs_tensor t;
  int64_t elements[] = {(int64_t)1 << 53, -((int64_t)1 << 53)};
  make(1, D("<i8", "False", "(2,)"), 16);
  memcpy(file + size - 16, elements, 16);
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.dtype, GS_I64);
  cr_expect(!memcmp(t.data, elements, sizeof elements));
  elements[1]--;
  memcpy(file + size - 16, elements, 16);
  cr_expect_str_eq(parse(NULL, &t), "npy-range");
}

Test(npy, truth_values_are_0_or_1) {
  gs_tensor t;
  make(1, D("|b1", "False", "(2,)"), 2);
  file[size - 1] = 7;
  cr_expect_str_eq(parse(NULL, &t), "");
  cr_expect_eq(t.dtype, GS_BOOL);
  cr_expect_eq(((const uint8_t *)t.data)[1], 1);
}

Test(npy, what_a_kernel_cannot_use) {
  gs_tensor t;
  make(1, D("<f4", "True", "(2, 3)"), 24);
  cr_expect_str_eq(parse(NULL, &t), "npy-order");
  cr_expect(strstr(faults(), "ascontiguousarray"));
  make(1, D(">f4", "False", "(2, 3)"), 24);
  cr_expect_str_eq(parse(NULL, &t), "npy-dtype");
  make(1, D("<u8", "False", "(2,)"), 16);
  cr_expect_str_eq(parse(NULL, &t), "npy-dtype");
  cr_expect(strstr(faults(), "astype(numpy.int64)"));
  make(1, D("<f4", "False", "(2, 0)"), 0);
  cr_expect_str_eq(parse(NULL, &t), "npy-shape");
  make(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", 4);
  cr_expect_str_eq(parse(NULL, &t), "not-npy");
}

Test(npy, sizes_are_checked_before_memory_is_taken) {
  gs_tensor t;
  size_t before;
  make(1, D("<f4", "False", "(1099511627776,)"), 4);
  before = heap.peak;
  cr_expect_str_eq(parse(NULL, &t), "npy-size");
  cr_expect(heap.peak < before + (1 << 20));
  make(1, D("<f4", "False", "(1099511627776, 2)"), 4);
  cr_expect_str_eq(parse(NULL, &t), "too-large");
  make(1, D("<f4", "False", "(4294967296, 4294967296, 4294967296)"), 4);
  cr_expect_str_eq(parse(NULL, &t), "too-large");
  make(1, D("<f4", "False", "(99999999999999999999999,)"), 4);
  cr_expect_str_eq(parse(NULL, &t), "not-npy");
  make(1, D("<f4", "False", "(2,)"), 7);
  cr_expect_str_eq(parse(NULL, &t), "npy-size");
  make(1, D("<f4", "False", "(2,)"), 9);
  cr_expect_str_eq(parse(NULL, &t), "npy-size");
}

Test(npy, hostile_headers) {
  static const char *const headers[] = {
      "",
      "{",
      "}",
      "{}",
      "{'descr'",
      "{'descr':",
      "{'descr': '<f4'",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
      "{'colour': 'red'}",
      D("<f4", "False", "(-1,)"),
      D("<f4", "False", "(1"),
      D("<f4", "False", "(1, 2, 3"),
      D("<f4", "False", "3"),
      D("<f4", "False", "(1 2)"),
      D("<f4", "False", "(1.5,)"),
      D("<f4", "False", "(1,)") "{}",
      D("<f4", "False",
        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
      "{'descr': '<f4",
      "{'descr': '<f4\"}",
      "{123: 4}",
      "[1, 2]"};
  gs_tensor t;
  for (size_t k = 0; k < sizeof headers / sizeof *headers; k++) {
    make(1, headers[k], 4);
    cr_expect_str_eq(parse(NULL, &t), "not-npy", "%s", headers[k]);
  }
}

Test(npy, truncated_anywhere) {
  gs_tensor t;
  make(2, D("<f4", "False", "(2, 3)"), 24);
  for (size_t whole = size; size-- > 0;) {
    cr_assert_not(gs_npy_parse(&ctx, "f", file, size, NULL, &t));
    (void)whole;
  }
  codes();
  size = 4;
  memcpy(file, "PK\3\4", 4);
  cr_expect_str_eq(parse(NULL, &t), "not-npy");
  make(1, D("<f4", "False", "()"), 4);
  file[6] = 9;
  cr_expect_str_eq(parse(NULL, &t), "not-npy");
}

Test(npy, bytes_flipped_anywhere) {
  gs_tensor t;
  for (size_t at = 0; at < 90; at++)
    for (int bit = 0; bit < 8; bit++) {
      make(1, D("<f4", "False", "(2, 3)"), 24);
      file[at] ^= (uint8_t)(1 << bit);
      if (gs_npy_parse(&ctx, "f", file, size, NULL, &t))
        gs_tensor_done(&heap, &t);
    }
}

Test(npy, files_round_trip) {
  static const gs_dtype dtypes[] = {GS_F32, GS_F64, GS_BF16,
                                    GS_I8,  GS_U8,  GS_I32};
  char path[] = "/tmp/glen-npy-XXXXXX";
  int fd = mkstemp(path);
  cr_assert(fd >= 0);
  close(fd);
  for (uint32_t rank = 0; rank < 4; rank++)
    for (size_t k = 0; k < 6; k++) {
      gs_type type = {0, (uint8_t)rank, dtypes[k], {2, 3, 4}};
      gs_tensor a, b;
      gs_difference d;
      gs_tensor_init(&heap, &a, &type);
      gs_tensor_fill(&a, 1, "a");
      cr_assert(gs_npy_write(&ctx, path, &a), "%s", faults());
      cr_assert(gs_npy_read(&ctx, path, &type, &b), "%s", faults());
      cr_expect(gs_tensor_compare(&a, &b, 0, 0, &d));
    }
  unlink(path);
}

Test(npy, no_such_file) {
  gs_tensor t;
  cr_expect_not(gs_npy_read(&ctx, "/no/such/file.npy", NULL, &t));
  cr_expect_str_eq(codes(), "no-file");
  cr_expect_not(gs_npy_read(&ctx, "/", NULL, &t));
  cr_expect_str_eq(codes(), "no-file");
}
