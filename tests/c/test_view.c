// What a vector prints, in which formats, and what no format string can do.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

static char *printed;
static size_t printed_size;

static FILE *Paper(void) {
  free(printed);
  printed = NULL;
  return open_memstream(&printed, &printed_size);
}

static int View(CeedVector vec, const char *format) {
  FILE *stream = Paper();
  int code = CeedVectorView(vec, format, stream);

  fclose(stream);
  return code;
}

static int ViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step,
                     const char *format) {
  FILE *stream = Paper();
  int code = CeedVectorViewRange(vec, start, stop, step, format, stream);

  fclose(stream);
  return code;
}

static int Begin(void) { return CreateContext(); }

static int End(void) {
  free(printed);
  printed = NULL;
  return DestroyContext();
}

static int view_prints_the_length_and_an_entry_a_line(void) {
  CeedVector vec = VectorOf(3, (CeedScalar[]){0, 1.5, -2});

  ASSERT_OK(View(vec, NULL));
  ASSERT_TEXT(printed, "CeedVector length 3\n0\n1.5\n-2\n");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int view_prints_in_the_given_format(void) {
  CeedVector vec = VectorOf(2, (CeedScalar[]){0.5, -0.25});

  ASSERT_OK(View(vec, "%12.8f"));
  ASSERT_TEXT(printed, "CeedVector length 2\n  0.50000000\n -0.25000000\n");
  ASSERT_OK(View(vec, "<%+.1e>"));
  ASSERT_TEXT(printed, "CeedVector length 2\n<+5.0e-01>\n<-2.5e-01>\n");
  ASSERT_OK(View(vec, "%a"));
  ASSERT_TEXT(printed, "CeedVector length 2\n0x1p-1\n-0x1p-2\n");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_format_may_hold_percent_signs_of_its_own(void) {
  CeedVector vec = VectorOf(1, (CeedScalar[]){12});

  ASSERT_OK(View(vec, "%g%%"));
  ASSERT_TEXT(printed, "CeedVector length 1\n12%\n");
  ASSERT_OK(View(vec, "%%%g"));
  ASSERT_TEXT(printed, "CeedVector length 1\n%12\n");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int view_prints_the_length_alone_of_an_empty_vector(void) {
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 0, &vec));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(View(vec, NULL));
  ASSERT_TEXT(printed, "CeedVector length 0\n");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int view_range_prints_its_entries_only(void) {
  CeedVector vec = Iota(10);

  ASSERT_OK(ViewRange(vec, 1, 8, 3, NULL));
  ASSERT_TEXT(printed, "CeedVector length 10\n1\n4\n7\n");
  ASSERT_OK(ViewRange(vec, 8, -1, 1, "%.1f"));
  ASSERT_TEXT(printed, "CeedVector length 10\n8.0\n9.0\n");
  ASSERT_OK(ViewRange(vec, 4, 4, 1, NULL));
  ASSERT_TEXT(printed, "CeedVector length 10\n");
  ASSERT_OK(ViewRange(vec, 2, 10, INT32_MAX, NULL));
  ASSERT_TEXT(printed, "CeedVector length 10\n2\n");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int ranges_that_do_not_fit_print_nothing(void) {
  static const CeedSize ranges[][2] = {{-1, 2}, {0, 4}, {2, 1}, {4, -1}, {0, -2}, {0, PTRDIFF_MAX}};
  CeedVector vec = Iota(3);

  for (int i = 0; i < COUNT_OF(ranges); i++) {
    ASSERT_CODE(CEED_ERROR_DIMENSION, ViewRange(vec, ranges[i][0], ranges[i][1], 1, NULL));
    ASSERT_TEXT(printed, "");
  }
  ASSERT_CODE(CEED_ERROR_DIMENSION, ViewRange(vec, 0, 3, 0, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION, ViewRange(vec, 0, 3, -1, NULL));
  ASSERT_TEXT(printed, "");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int formats_without_one_floating_point_conversion_are_refused(void) {
  static const char *const formats[] = {
      "%s",  "%n",   "%d",   "%p",     "%x",   "%c",   "%u",      "%g %g",     "%g%s", "%g%n",
      "%",   "%g%",  "%*g",  "%.*g",   "%Lg",  "%Lf",  "",        "no number", "%%",   "%hn",
      "%5",  "%.3",  "%lld", "%5$s%g", "%g%d", "%zu",  "%Q",      "%2$g",      "%-",   "% s",
      "%#n", "%hhn", "%ls",  "%C",     "%S",   "%m%s", "%g %.2f", "%s %g",     "%n%g",
  };
  CeedVector vec = Iota(3);

  for (int i = 0; i < COUNT_OF(formats); i++) {
    CeedResetErrorMessage(NULL, NULL);
    int code = View(vec, formats[i]);
    if (code != CEED_ERROR_INCOMPATIBLE) FAIL("\"%s\" gave code %d", formats[i], code);
    ASSERT_HAS(TestText(), "format");
    ASSERT_TEXT(printed, "");
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, ViewRange(vec, 0, 1, 1, formats[i]));
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int view_without_values_is_an_error_and_prints_nothing(void) {
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, View(vec, NULL));
  ASSERT_TEXT(printed, "");
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int view_reads_so_a_writer_keeps_it_out(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, View(vec, NULL));
  ASSERT_TEXT(printed, "");
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int printed_numbers_read_back_exactly(void) {
  CeedVector vec = RandomVector(50, 4);
  const CeedScalar *array = NULL;
  const char *line;

  ASSERT_OK(View(vec, "%.17g"));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  line = strchr(printed, '\n') + 1;
  for (int i = 0; i < 50; i++) {
    ASSERT_NUMBER((CeedScalar)strtod(line, (char **)&line), array[i]);
    ASSERT_EQ(*line++, '\n');
  }
  ASSERT_EQ(*line, '\0');
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(view_prints_the_length_and_an_entry_a_line),
    BEHAVIOUR(view_prints_in_the_given_format),
    BEHAVIOUR(a_format_may_hold_percent_signs_of_its_own),
    BEHAVIOUR(view_prints_the_length_alone_of_an_empty_vector),
    BEHAVIOUR(view_range_prints_its_entries_only),
    BEHAVIOUR(ranges_that_do_not_fit_print_nothing),
    BEHAVIOUR(formats_without_one_floating_point_conversion_are_refused),
    BEHAVIOUR(view_without_values_is_an_error_and_prints_nothing),
    BEHAVIOUR(view_reads_so_a_writer_keeps_it_out),
    BEHAVIOUR(printed_numbers_read_back_exactly),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
