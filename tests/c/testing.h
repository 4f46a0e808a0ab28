// The test frame: a table of named behaviours, TAP on stdout, the exit code for everybody else.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTING_H
#define TESTING_H

// This header stands before all others in a test, so that it can ask for what POSIX has.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../csrc/dlpack_abi.h"
#include "ceedlike.h"

#ifdef CEEDLIKE_SINGLE
#define UNIT_ROUNDOFF (FLT_EPSILON / 2)
#define SCALAR_MAX FLT_MAX
#define SCALAR_MIN FLT_MIN
#define SCALAR_NAME "float32"
#define OTHER_NAME "float64"
#else
#define UNIT_ROUNDOFF (DBL_EPSILON / 2)
#define SCALAR_MAX DBL_MAX
#define SCALAR_MIN DBL_MIN
#define SCALAR_NAME "float64"
#define OTHER_NAME "float32"
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

// Lengths near 2^63 are asked for on purpose; the sanitizers' allocators would stop the program.
#ifdef UNDER_SANITIZER
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
#endif

enum { TEST_PASSED = 0, TEST_FAILED = 1, TEST_SKIPPED = 77 };

typedef struct {
  const char *name;
  int (*run)(void);
} Behaviour;

#define BEHAVIOUR(function) \
  { #function, function }
#define COUNT_OF(table) ((int)(sizeof(table) / sizeof((table)[0])))

static const char *test_skip_reason = "";

static inline int TestFailed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline int TestFailed(const char *file, int line, const char *format, ...) {
  va_list args;

  fflush(stdout);
  fprintf(stderr, "# %s:%d: ", file, line);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return TEST_FAILED;
}

static inline int TestSkip(const char *reason) {
  test_skip_reason = reason;
  return TEST_SKIPPED;
}

static inline const char *TestText(void) {
  const char *text = NULL;

  CeedGetErrorMessage(NULL, &text);
  return text ? text : "";
}

static inline int TestCode(const char *file, int line, const char *what, int code, bool wanted) {
  const char *text = TestText();

  if (!wanted) return TestFailed(file, line, "%s gave code %d: %s", what, code, text);
  if (!text[0] || !strcmp(text, "No error message stored")) {
    return TestFailed(file, line, "%s gave code %d without a text", what, code);
  }
  return TEST_PASSED;
}

#define FAIL(...) return TestFailed(__FILE__, __LINE__, __VA_ARGS__)

#define PASSES(call)                 \
  do {                               \
    int result_ = (call);            \
    if (result_) return TEST_FAILED; \
  } while (0)

#define ASSERT(condition)                            \
  do {                                               \
    if (!(condition)) FAIL("false: %s", #condition); \
  } while (0)

#define ASSERT_OK(call)                                               \
  do {                                                                \
    int code_ = (call);                                               \
    if (code_) FAIL("%s gave code %d: %s", #call, code_, TestText()); \
  } while (0)

// The call fails with this code, and says why.
#define ASSERT_CODE(expected, call)                                          \
  do {                                                                       \
    int code_;                                                               \
    CeedResetErrorMessage(NULL, NULL);                                       \
    code_ = (call);                                                          \
    PASSES(TestCode(__FILE__, __LINE__, #call, code_, code_ == (expected))); \
  } while (0)

// The call fails, and says why.
#define ASSERT_FAILS(call)                                          \
  do {                                                              \
    int code_;                                                      \
    CeedResetErrorMessage(NULL, NULL);                              \
    code_ = (call);                                                 \
    PASSES(TestCode(__FILE__, __LINE__, #call, code_, code_ != 0)); \
  } while (0)

// The last error's text holds these words.
#define ASSERT_SAYS(words)                                                              \
  do {                                                                                  \
    if (!strstr(TestText(), (words))) FAIL("no \"%s\" in \"%s\"", (words), TestText()); \
  } while (0)

#define ASSERT_EQ(actual, expected)                                                    \
  do {                                                                                 \
    intmax_t actual_ = (intmax_t)(actual), expected_ = (intmax_t)(expected);           \
    if (actual_ != expected_) FAIL("%s is %jd, not %jd", #actual, actual_, expected_); \
  } while (0)

#define ASSERT_NUMBER(actual, expected)                                                       \
  do {                                                                                        \
    double actual_ = (double)(actual), expected_ = (double)(expected);                        \
    if (!(actual_ == expected_)) FAIL("%s is %.17g, not %.17g", #actual, actual_, expected_); \
  } while (0)

#define ASSERT_CLOSE(actual, expected, tolerance)                    \
  do {                                                               \
    long double actual_ = (actual), expected_ = (expected);          \
    if (!(fabsl(actual_ - expected_) <= (long double)(tolerance))) { \
      FAIL("%s is %.20Lg, not %.20Lg", #actual, actual_, expected_); \
    }                                                                \
  } while (0)

#define ASSERT_SAME(actual, expected)                                                    \
  do {                                                                                   \
    const void *actual_ = (const void *)(actual), *expected_ = (const void *)(expected); \
    if (actual_ != expected_) FAIL("%s is %p, not %p", #actual, actual_, expected_);     \
  } while (0)

#define ASSERT_TEXT(actual, expected)                                                     \
  do {                                                                                    \
    const char *actual_ = (actual), *expected_ = (expected);                              \
    if (!actual_ || strcmp(actual_, expected_)) {                                         \
      FAIL("%s is \"%s\", not \"%s\"", #actual, actual_ ? actual_ : "(NULL)", expected_); \
    }                                                                                     \
  } while (0)

#define ASSERT_HAS(text, words)                                             \
  do {                                                                      \
    const char *text_ = (text), *words_ = (words);                          \
    if (!strstr(text_, words_)) FAIL("no \"%s\" in \"%s\"", words_, text_); \
  } while (0)

static inline void TestReport(int number, const char *name, int result) {
  printf("%s %d - ", result == TEST_FAILED ? "not ok" : "ok", number);
  for (; *name; name++) putchar(*name == '_' ? ' ' : *name);
  if (result == TEST_SKIPPED) printf(" # SKIP %s", test_skip_reason);
  putchar('\n');
  fflush(stdout);
}

static inline int TestOne(const Behaviour *test, int (*before)(void), int (*after)(void)) {
  int result = before ? before() : TEST_PASSED;

  if (result) return result;
  result = test->run();
  if (after && after() && result == TEST_PASSED) result = TEST_FAILED;
  return result;
}

// Run all behaviours of a table, or the one that is named; `before` and `after` stand around each.
static inline int TestMain(int argc, char **argv, const Behaviour *table, int count,
                           int (*before)(void), int (*after)(void)) {
  int number = 0, failures = 0, selected = 0;

  for (int i = 0; i < count; i++) selected += argc < 2 || !strcmp(argv[1], table[i].name);
  printf("1..%d\n", selected);
  for (int i = 0; i < count; i++) {
    if (argc > 1 && strcmp(argv[1], table[i].name)) continue;
    int result = TestOne(&table[i], before, after);
    TestReport(++number, table[i].name, result);
    failures += result == TEST_FAILED;
  }
  if (!selected) fprintf(stderr, "# no behaviour is named %s\n", argv[1]);
  return failures || !selected ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Run `body` in a child process; its wait status is returned, what it writes to stderr is kept.
static inline int TestChild(void (*body)(void), char *text, size_t size) {
  int ends[2], status = -1;
  size_t used = 0;
  ssize_t got;
  pid_t child;

  fflush(stdout);
  fflush(stderr);
  if (pipe(ends)) return -1;
  child = fork();
  if (!child) {
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(EXIT_SUCCESS);
  }
  close(ends[1]);
  while (used + 1 < size && (got = read(ends[0], text + used, size - used - 1)) > 0) {
    used += (size_t)got;
  }
  text[used] = '\0';
  close(ends[0]);
  return waitpid(child, &status, 0) == child ? status : -1;
}

#endif
