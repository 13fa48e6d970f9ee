/* SPDX-License-Identifier: MIT */
/* The JSON writer, in lines and on one line. */
#include "base/json.h"
#include <criterion/criterion.h>
#include <math.h>

static void
write_sample(bs_text *out, int indent) {
  bs_json j;
  bs_json_init(&j, out, indent);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_array(&j, "list");
  bs_json_bool(&j, NULL, true);
  bs_json_real(&j, NULL, 0.5);
  bs_json_real(&j, NULL, NAN);
  bs_json_real(&j, NULL, -INFINITY);
  bs_json_object(&j, NULL);
  bs_json_end(&j);
  bs_json_array(&j, NULL);
  bs_json_end(&j);
  bs_json_end(&j);
  bs_json_string(&j, "a\nkey", "\"quoted\"");
  bs_json_null(&j, "nothing");
  bs_json_end(&j);
}

static const char in_lines[] = "{\n"
                               "  \"schema\": 1,\n"
                               "  \"list\": [\n"
                               "    true,\n"
                               "    0.5,\n"
                               "    null,\n"
                               "    null,\n"
                               "    {},\n"
                               "    []\n"
                               "  ],\n"
                               "  \"a\\nkey\": \"\\\"quoted\\\"\",\n"
                               "  \"nothing\": null\n"
                               "}";

static const char on_a_line[] =
    "{\"schema\": 1, \"list\": [true, 0.5, null, null, {}, []], "
    "\"a\\nkey\": \"\\\"quoted\\\"\", \"nothing\": null}";

Test(json, both_forms) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  bs_text out;
  bs_text_init(&out, &heap);
  write_sample(&out, 2);
  cr_assert_str_eq(out.data, in_lines);
  bs_text_clear(&out);
  write_sample(&out, 0);
  cr_assert_str_eq(out.data, on_a_line);
  bs_heap_done(&heap);
}

Test(json, nests_to_its_bound) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  bs_text out;
  bs_text_init(&out, &heap);
  bs_json j;
  bs_json_init(&j, &out, 0);
  for (int i = 0; i < 63; i++)
    if (i % 2 == 0)
      bs_json_object(&j, NULL);
    else
      bs_json_array(&j, "k");
  for (int i = 0; i < 63; i++)
    bs_json_end(&j);
  cr_assert_eq(j.depth, 0);
  cr_assert_eq(out.len, 63 * 2 + 31 * 5);
  bs_heap_done(&heap);
}

Test(json, a_lone_value) {
  bs_heap heap;
  bs_heap_init(&heap, NULL, 0);
  bs_text out;
  bs_text_init(&out, &heap);
  bs_json j;
  bs_json_init(&j, &out, 2);
  bs_json_int(&j, NULL, INT64_MIN);
  cr_assert_str_eq(out.data, "-9223372036854775808");
  bs_heap_done(&heap);
}
