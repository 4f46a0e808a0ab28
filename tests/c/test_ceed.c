// Contexts: resources, references, error handlers and texts, quadrature, what the library tells.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

// ------------------------------------------------------------------------------------------------
// Resources
// ------------------------------------------------------------------------------------------------

static int ResourceIs(const char *asked, const char *given) {
  Ceed other = NULL;
  const char *name = NULL;

  ASSERT_OK(CeedInit(asked, &other));
  ASSERT_OK(CeedGetResource(other, &name));
  ASSERT_TEXT(name, given);
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

static int resources_are_found_by_their_whole_name(void) {
  PASSES(ResourceIs("/cpu/self/ref/serial", "/cpu/self/ref/serial"));
  PASSES(ResourceIs("/cpu/self/opt/blocked", "/cpu/self/opt/blocked"));
  return TEST_PASSED;
}

static int a_leading_part_of_a_name_finds_the_fastest(void) {
  PASSES(ResourceIs("/cpu/self", "/cpu/self/opt/blocked"));
  PASSES(ResourceIs("/cpu/self/ref", "/cpu/self/ref/serial"));
  return TEST_PASSED;
}

static int what_follows_a_colon_is_ignored_on_the_host(void) {
  PASSES(ResourceIs("/cpu/self:device_id=3", "/cpu/self/opt/blocked"));
  PASSES(ResourceIs("/cpu/self/ref/serial:", "/cpu/self/ref/serial"));
  return TEST_PASSED;
}

static int an_unknown_resource_is_an_error_that_lists_those_there_are(void) {
  Ceed other = NULL;

  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/gpu/none", &other));
  ASSERT_SAYS("/gpu/none");
  ASSERT_SAYS("/cpu/self/ref/serial");
  ASSERT_SAYS("/cpu/self/opt/blocked");
  ASSERT(!other);
  return TEST_PASSED;
}

static int a_name_longer_than_a_resource_is_unknown(void) {
  Ceed other = NULL;

  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/cpu/self/ref/serial/more", &other));
  return TEST_PASSED;
}

static int a_very_long_unknown_name_is_an_error_like_any_other(void) {
  size_t length = 100000;
  char *name = malloc(length + 1);
  Ceed other = NULL;

  memset(name, 'x', length);
  name[length] = '\0';
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit(name, &other));
  free(name);
  return TEST_PASSED;
}

static int a_host_context_prefers_host_memory(void) {
  CeedMemType type = CEED_MEM_DEVICE;

  ASSERT_OK(CeedGetPreferredMemType(ceed, &type));
  ASSERT_EQ(type, CEED_MEM_HOST);
  return TEST_PASSED;
}

static int a_host_context_has_host_memory_only(void) {
  bool host = false, device = true;

  ASSERT_OK(CeedMemTypeIsAvailable(ceed, CEED_MEM_HOST, &host));
  ASSERT_OK(CeedMemTypeIsAvailable(ceed, CEED_MEM_DEVICE, &device));
  ASSERT(host && !device);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMemTypeIsAvailable(ceed, (CeedMemType)2, &host));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMemTypeIsAvailable(ceed, (CeedMemType)-1, &host));
  return TEST_PASSED;
}

static int host_contexts_are_deterministic(void) {
  bool is_deterministic = false;

  ASSERT_OK(CeedIsDeterministic(ceed, &is_deterministic));
  ASSERT(is_deterministic);
  return TEST_PASSED;
}

static int a_host_context_has_no_streams(void) {
  int stream = 0;

  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedSetStream(ceed, &stream));
  ASSERT_SAYS("stream");
  return TEST_PASSED;
}

static int view_prints_resource_precision_and_memory(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  ASSERT_OK(CeedView(ceed, stream));
  fclose(stream);
  ASSERT_HAS(text, "/cpu/self/opt/blocked");
  ASSERT_HAS(text, SCALAR_NAME);
  ASSERT_HAS(text, "host");
  free(text);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// References
// ------------------------------------------------------------------------------------------------

static int destroy_sets_null_and_is_safe_twice(void) {
  Ceed other = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  ASSERT_OK(CeedDestroy(&other));
  ASSERT(!other);
  ASSERT_OK(CeedDestroy(&other));
  ASSERT_OK(CeedDestroy(NULL));
  return TEST_PASSED;
}

static int a_reference_copy_is_the_same_object_and_outlives_the_first(void) {
  Ceed first = NULL, second = NULL;
  const char *name = NULL;

  ASSERT_OK(CeedInit("/cpu/self/ref/serial", &first));
  ASSERT_OK(CeedReferenceCopy(first, &second));
  ASSERT_SAME(second, first);
  ASSERT_OK(CeedDestroy(&first));
  ASSERT_OK(CeedGetResource(second, &name));
  ASSERT_TEXT(name, "/cpu/self/ref/serial");
  ASSERT_OK(CeedDestroy(&second));
  return TEST_PASSED;
}

static int a_reference_copy_releases_what_the_target_held(void) {
  Ceed first = NULL, second = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &first));
  ASSERT_OK(CeedInit("/cpu/self", &second));
  ASSERT_OK(CeedReferenceCopy(first, &second));
  ASSERT_SAME(second, first);
  ASSERT_OK(CeedDestroy(&first));
  ASSERT_OK(CeedDestroy(&second));
  return TEST_PASSED;
}

static int a_reference_copy_onto_itself_changes_nothing(void) {
  Ceed other = NULL;
  const char *name = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  ASSERT_OK(CeedReferenceCopy(other, &other));
  ASSERT_OK(CeedGetResource(other, &name));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

static int a_context_lives_as_long_as_its_vectors(void) {
  Ceed other = NULL;
  CeedVector vec = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  ASSERT_OK(CeedVectorCreate(other, 3, &vec));
  ASSERT_OK(CeedDestroy(&other));
  ASSERT_OK(CeedVectorSetValue(vec, 2));
  ASSERT_VALUES(vec, 2, 2, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Bad handles and outputs
// ------------------------------------------------------------------------------------------------

static int HandlerOfNothing(Ceed context, const char *filename, int line_no, const char *func,
                            int err_code, const char *format, va_list *args) {
  return (void)context, (void)filename, (void)line_no, (void)func, (void)format, (void)args,
         err_code;
}

static int GivenResource(Ceed x) { return CeedGetResource(x, &(const char *){NULL}); }
static int GivenDeterministic(Ceed x) { return CeedIsDeterministic(x, &(bool){false}); }
static int GivenPreferred(Ceed x) { return CeedGetPreferredMemType(x, &(CeedMemType){0}); }
static int GivenAvailable(Ceed x) { return CeedMemTypeIsAvailable(x, CEED_MEM_HOST, &(bool){0}); }
static int GivenView(Ceed x) { return CeedView(x, stderr); }
static int GivenStream(Ceed x) { return CeedSetStream(x, NULL); }
static int GivenCopy(Ceed x) { return CeedReferenceCopy(x, &(Ceed){NULL}); }
static int GivenHandler(Ceed x) { return CeedSetErrorHandler(x, HandlerOfNothing); }
static int GivenCreate(Ceed x) { return CeedVectorCreate(x, 1, &(CeedVector){NULL}); }

static int (*const given_calls[])(Ceed) = {
    GivenResource, GivenDeterministic, GivenPreferred, GivenAvailable, GivenView,
    GivenStream,   GivenCopy,          GivenHandler,   GivenCreate,
};

static int RefusedByAll(Ceed handle, const char *words) {
  for (int i = 0; i < COUNT_OF(given_calls); i++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, given_calls[i](handle));
    ASSERT_SAYS(words);
  }
  return TEST_PASSED;
}

static int null_contexts_are_errors(void) { return RefusedByAll(NULL, "NULL"); }

static int a_stranger_given_as_a_context_is_an_error(void) {
  uint64_t stranger[64];

  memset(stranger, 0x5a, sizeof stranger);
  PASSES(RefusedByAll((Ceed)(void *)stranger, "no object of this library"));
  memset(stranger, 0, sizeof stranger);
  PASSES(RefusedByAll((Ceed)(void *)stranger, "no object of this library"));
  return TEST_PASSED;
}

static int a_stranger_that_is_not_aligned_is_an_error(void) {
  uint64_t stranger[64] = {0};
  char *middle = (char *)stranger + 1;

  return RefusedByAll((Ceed)(void *)middle, "no object of this library");
}

static int a_stranger_is_not_destroyed(void) {
  uint64_t stranger[64] = {0};
  Ceed handle = (Ceed)(void *)stranger;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDestroy(&handle));
  ASSERT_SAME(handle, stranger);
  return TEST_PASSED;
}

static int a_vector_given_as_a_context_is_an_error_that_says_so(void) {
  CeedVector vec = Iota(3);

  PASSES(RefusedByAll((Ceed)(void *)vec, "is a CeedVector of the " SCALAR_NAME " library"));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int null_outputs_are_errors(void) {
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedInit("/cpu/self", NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedInit(NULL, &(Ceed){NULL}));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedReferenceCopy(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetResource(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedIsDeterministic(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetPreferredMemType(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMemTypeIsAvailable(ceed, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedView(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetGitVersion(NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetBuildConfiguration(NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetScalarType(NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGetErrorMessage(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedGaussQuadrature(2, NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedLobattoQuadrature(2, NULL, NULL));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Error texts
// ------------------------------------------------------------------------------------------------

static int without_an_error_there_is_no_message(void) {
  const char *text = NULL;

  ASSERT_OK(CeedResetErrorMessage(ceed, NULL));
  ASSERT_OK(CeedGetErrorMessage(ceed, &text));
  ASSERT_TEXT(text, "No error message stored");
  ASSERT_OK(CeedGetErrorMessage(NULL, &text));
  ASSERT_TEXT(text, "No error message stored");
  return TEST_PASSED;
}

static int reset_forgets_the_message_and_sets_null(void) {
  const char *text = "something";

  ASSERT_FAILS(CeedInit("/none", &(Ceed){NULL}));
  ASSERT_OK(CeedResetErrorMessage(ceed, &text));
  ASSERT(!text);
  ASSERT_OK(CeedGetErrorMessage(ceed, &text));
  ASSERT_TEXT(text, "No error message stored");
  return TEST_PASSED;
}

static int a_success_keeps_the_last_message(void) {
  ASSERT_FAILS(CeedInit("/none", &(Ceed){NULL}));
  ASSERT_OK(CeedGetPreferredMemType(ceed, &(CeedMemType){0}));
  ASSERT_SAYS("/none");
  return TEST_PASSED;
}

static int programs_report_errors_of_their_own(void) {
  ASSERT_CODE(CEED_ERROR_MINOR, CeedError(ceed, CEED_ERROR_MINOR, "%s of %d", "the part", 7));
  ASSERT_SAYS("the part of 7");
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedError(NULL, CEED_ERROR_ACCESS, "without a context"));
  ASSERT_SAYS("without a context");
  return TEST_PASSED;
}

static int a_text_that_is_ready_is_reported_as_it_is(void) {
  ASSERT_CODE(CEED_ERROR_MINOR, CeedReportError(ceed, CEED_ERROR_MINOR, "100% of %s"));
  ASSERT_TEXT(TestText(), "100% of %s");
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedReportError(NULL, CEED_ERROR_ACCESS, "without a context"));
  ASSERT_EQ(CeedReportError(ceed, CEED_ERROR_MINOR, NULL), CEED_ERROR_MINOR);
  return TEST_PASSED;
}

static int a_message_may_tell_the_one_before(void) {
  ASSERT_CODE(CEED_ERROR_MINOR, CeedError(ceed, CEED_ERROR_MINOR, "the cause"));
  (void)CeedError(ceed, CEED_ERROR_MINOR, "the outcome, after: %s", TestText());
  ASSERT_TEXT(TestText(), "the outcome, after: the cause");
  return TEST_PASSED;
}

static int an_error_reported_to_a_stranger_is_kept(void) {
  uint64_t stranger[64] = {0};
  Ceed handle = (Ceed)(void *)stranger;

  ASSERT_CODE(CEED_ERROR_MINOR, CeedError(handle, CEED_ERROR_MINOR, "told to a stranger"));
  return TEST_PASSED;
}

static int a_long_message_is_cut_not_overrun(void) {
  char words[5001];

  memset(words, 'w', 5000);
  words[5000] = '\0';
  ASSERT_CODE(CEED_ERROR_MINOR, CeedError(ceed, CEED_ERROR_MINOR, "%s", words));
  ASSERT(strlen(TestText()) >= 80);
  ASSERT(!strncmp(TestText(), words, strlen(TestText()) - 3));
  return TEST_PASSED;
}

static void *FailElsewhere(void *text) {
  CeedInit("/from/another/thread", &(Ceed){NULL});
  snprintf(text, 1000, "%s", TestText());
  return NULL;
}

static int every_thread_has_a_message_of_its_own(void) {
  pthread_t thread;
  char text[1000] = "";

  ASSERT_CODE(CEED_ERROR_MINOR, CeedError(ceed, CEED_ERROR_MINOR, "of this thread"));
  ASSERT(!pthread_create(&thread, NULL, FailElsewhere, text));
  pthread_join(thread, NULL);
  ASSERT_HAS(text, "/from/another/thread");
  ASSERT_TEXT(TestText(), "of this thread");
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Error handlers
// ------------------------------------------------------------------------------------------------

static struct {
  int calls, line, code;
  Ceed ceed;
  char file[256], func[64], text[256];
} seen;

static int Remember(Ceed context, const char *filename, int line_no, const char *func, int err_code,
                    const char *format, va_list *args) {
  seen.calls++;
  seen.ceed = context;
  seen.line = line_no;
  seen.code = err_code;
  snprintf(seen.file, sizeof seen.file, "%s", filename);
  snprintf(seen.func, sizeof seen.func, "%s", func);
  vsnprintf(seen.text, sizeof seen.text, format, *args);
  return 42;
}

static int a_handler_of_the_program_receives_every_error_of_a_context(void) {
  memset(&seen, 0, sizeof seen);
  ASSERT_OK(CeedSetErrorHandler(ceed, Remember));
  CeedSetStream(ceed, NULL);
  ASSERT_EQ(seen.calls, 1);
  ASSERT_SAME(seen.ceed, ceed);
  ASSERT_EQ(seen.code, CEED_ERROR_UNSUPPORTED);
  ASSERT(seen.line > 0 && seen.file[0] && seen.text[0]);
  ASSERT_HAS(seen.func, "SetStream");
  return TEST_PASSED;
}

static int a_function_returns_the_code_whatever_its_handler_returns(void) {
  ASSERT_OK(CeedSetErrorHandler(ceed, Remember));
  ASSERT_EQ(CeedSetStream(ceed, NULL), CEED_ERROR_UNSUPPORTED);
  ASSERT_EQ(CeedErrorImpl(ceed, "file", 1, "func", CEED_ERROR_MINOR, "text"), 42);
  return TEST_PASSED;
}

static int errors_of_a_vector_reach_the_handler_of_its_context(void) {
  CeedVector vec = Iota(2);
  CeedScalar *array = NULL;

  memset(&seen, 0, sizeof seen);
  ASSERT_OK(CeedSetErrorHandler(ceed, Remember));
  CeedVectorRestoreArray(vec, &array);
  ASSERT_EQ(seen.calls, 1);
  ASSERT_EQ(seen.code, CEED_ERROR_ACCESS);
  ASSERT_SAME(seen.ceed, ceed);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_null_handler_is_store(void) {
  ASSERT_OK(CeedSetErrorHandler(ceed, Remember));
  ASSERT_OK(CeedSetErrorHandler(ceed, NULL));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedSetStream(ceed, NULL));
  return TEST_PASSED;
}

static int the_handler_return_gives_the_code_and_the_text_is_kept(void) {
  ASSERT_OK(CeedSetErrorHandler(ceed, CeedErrorReturn));
  ASSERT_OK(CeedResetErrorMessage(ceed, NULL));
  ASSERT_EQ(CeedSetStream(ceed, NULL), CEED_ERROR_UNSUPPORTED);
  ASSERT_SAYS("no streams");
  return TEST_PASSED;
}

static void FailQuietly(void) { CeedSetStream(ceed, NULL); }

static void FailUnderExit(void) {
  CeedSetErrorHandler(ceed, CeedErrorExit);
  (void)CeedError(ceed, 5, "words of an exit");
}

static void FailUnderAbort(void) {
  CeedSetErrorHandler(ceed, CeedErrorAbort);
  (void)CeedError(ceed, 5, "words of an abort");
}

static int by_default_nothing_is_printed_and_nothing_ends(void) {
  char text[1000];
  int status = TestChild(FailQuietly, text, sizeof text);

  ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
  ASSERT_TEXT(text, "");
  return TEST_PASSED;
}

static int the_handler_exit_prints_the_place_and_exits_with_the_code(void) {
  char text[1000];
  int status = TestChild(FailUnderExit, text, sizeof text);

  ASSERT(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 5);
  ASSERT_HAS(text, "test_ceed.c:");
  ASSERT_HAS(text, " in FailUnderExit(): words of an exit\n");
  return TEST_PASSED;
}

static int the_handler_abort_prints_the_place_and_aborts(void) {
  char text[1000];
  int status = TestChild(FailUnderAbort, text, sizeof text);

  ASSERT(WIFSIGNALED(status));
  ASSERT_EQ(WTERMSIG(status), SIGABRT);
  ASSERT_HAS(text, "test_ceed.c:");
  ASSERT_HAS(text, " in FailUnderAbort(): words of an abort\n");
  return TEST_PASSED;
}

static void FailInNewContext(void) {
  Ceed other = NULL;

  if (!CeedInit("/cpu/self", &other)) _exit(CeedSetStream(other, NULL) & 255);
}

static int ChildUnder(const char *handler, char *text, size_t size) {
  int status;

  setenv("CEED_ERROR_HANDLER", handler, 1);
  status = TestChild(FailInNewContext, text, size);
  unsetenv("CEED_ERROR_HANDLER");
  return status;
}

static int the_environment_chooses_the_handler(void) {
  char text[1000];
  int status = ChildUnder("abort", text, sizeof text);

  ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  ASSERT_HAS(text, "SetStream");
  ASSERT_HAS(text, "(): ");
  status = ChildUnder("exit", text, sizeof text);
  ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == (CEED_ERROR_UNSUPPORTED & 255));
  ASSERT_HAS(text, "(): ");
  for (int i = 0; i < 2; i++) {
    status = ChildUnder(i ? "return" : "store", text, sizeof text);
    ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == (CEED_ERROR_UNSUPPORTED & 255));
    ASSERT_TEXT(text, "");
  }
  return TEST_PASSED;
}

static int a_handler_that_there_is_not_is_an_error_with_the_list(void) {
  Ceed other = NULL;

  setenv("CEED_ERROR_HANDLER", "Abort", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/cpu/self", &other));
  ASSERT_SAYS("CEED_ERROR_HANDLER=Abort is none of store, return, exit, abort");
  ASSERT(!other);
  setenv("CEED_ERROR_HANDLER", "", 1);
  ASSERT_EQ(CeedInit("/cpu/self", &other), CEED_ERROR_SUCCESS);
  unsetenv("CEED_ERROR_HANDLER");
  ASSERT_EQ(CeedDestroy(&other), CEED_ERROR_SUCCESS);
  return TEST_PASSED;
}

static int errors_without_a_context_are_stored_whatever_the_environment_says(void) {
  setenv("CEED_ERROR_HANDLER", "abort", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/no/such", &(Ceed){NULL}));
  unsetenv("CEED_ERROR_HANDLER");
  ASSERT_SAYS("/no/such");
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What the library tells of itself
// ------------------------------------------------------------------------------------------------

static int the_loaded_version_is_the_version_of_the_header(void) {
  int major = -1, minor = -1, patch = -1;
  bool release = true;

  ASSERT_OK(CeedGetVersion(&major, &minor, &patch, &release));
  ASSERT_EQ(major, CEED_VERSION_MAJOR);
  ASSERT_EQ(minor, CEED_VERSION_MINOR);
  ASSERT_EQ(patch, CEED_VERSION_PATCH);
  ASSERT_EQ(release, CEED_VERSION_RELEASE);
  return TEST_PASSED;
}

static int versions_compare_part_by_part(void) {
  ASSERT(CEED_VERSION_GE(CEED_VERSION_MAJOR, CEED_VERSION_MINOR, CEED_VERSION_PATCH));
  ASSERT(CEED_VERSION_GE(0, 12, 999));
  ASSERT(!CEED_VERSION_GE(CEED_VERSION_MAJOR + 1, 0, 0));
  ASSERT(!CEED_VERSION_GE(CEED_VERSION_MAJOR, CEED_VERSION_MINOR + 1, 0));
  ASSERT(!CEED_VERSION_GE(CEED_VERSION_MAJOR, CEED_VERSION_MINOR, CEED_VERSION_PATCH + 1));
  return TEST_PASSED;
}

static int the_library_tells_how_it_was_built(void) {
  const char *revision = NULL, *config = NULL;

  ASSERT_OK(CeedGetGitVersion(&revision));
  ASSERT(revision && revision[0]);
  ASSERT_OK(CeedGetBuildConfiguration(&config));
  ASSERT(config && config[0]);
  return TEST_PASSED;
}

static int the_library_has_the_precision_of_the_header(void) {
  CeedScalarType type = (CeedScalarType)-1;

  ASSERT_OK(CeedGetScalarType(&type));
  ASSERT_EQ(type, CEED_SCALAR_TYPE);
  ASSERT_EQ(sizeof(CeedScalar), type == CEED_SCALAR_FP64 ? 8 : 4);
  return TEST_PASSED;
}

static int enum_values_are_those_that_programs_know(void) {
  ASSERT(CEED_SCALAR_FP32 == 0 && CEED_SCALAR_FP64 == 1);
  ASSERT(CEED_ERROR_SUCCESS == 0 && CEED_ERROR_MINOR == 1 && CEED_ERROR_DIMENSION == 2);
  ASSERT(CEED_ERROR_INCOMPLETE == 3 && CEED_ERROR_INCOMPATIBLE == 4 && CEED_ERROR_ACCESS == 5);
  ASSERT(CEED_ERROR_MAJOR == -1 && CEED_ERROR_BACKEND == -2 && CEED_ERROR_UNSUPPORTED == -3);
  ASSERT(CEED_MEM_HOST == 0 && CEED_MEM_DEVICE == 1);
  ASSERT(CEED_COPY_VALUES == 0 && CEED_USE_POINTER == 1 && CEED_OWN_POINTER == 2);
  ASSERT(CEED_NORM_1 == 0 && CEED_NORM_2 == 1 && CEED_NORM_MAX == 2);
  ASSERT(CEED_CONTEXT_FIELD_DOUBLE == 1 && CEED_CONTEXT_FIELD_INT32 == 2);
  ASSERT(CEED_CONTEXT_FIELD_BOOL == 3);
  return TEST_PASSED;
}

static int enum_values_have_names(void) {
  for (int i = CEED_ERROR_UNSUPPORTED; i <= CEED_ERROR_ACCESS; i++) {
    ASSERT(CeedErrorTypes[i] && CeedErrorTypes[i][0]);
    for (int j = CEED_ERROR_UNSUPPORTED; j < i; j++) {
      ASSERT(strcmp(CeedErrorTypes[i], CeedErrorTypes[j]));
    }
  }
  ASSERT_TEXT(CeedMemTypes[CEED_MEM_HOST], "host");
  ASSERT_TEXT(CeedMemTypes[CEED_MEM_DEVICE], "device");
  ASSERT_TEXT(CeedCopyModes[CEED_COPY_VALUES], "copy values");
  ASSERT_TEXT(CeedCopyModes[CEED_USE_POINTER], "use pointer");
  ASSERT_TEXT(CeedCopyModes[CEED_OWN_POINTER], "own pointer");
  ASSERT_TEXT(CeedContextFieldTypes[CEED_CONTEXT_FIELD_DOUBLE], "double");
  ASSERT_TEXT(CeedContextFieldTypes[CEED_CONTEXT_FIELD_INT32], "int32");
  ASSERT_TEXT(CeedContextFieldTypes[CEED_CONTEXT_FIELD_BOOL], "bool");
  return TEST_PASSED;
}

static int sentinels_differ_from_each_other(void) {
  ASSERT(CEED_VECTOR_ACTIVE && CEED_VECTOR_NONE && CEED_VECTOR_ACTIVE != CEED_VECTOR_NONE);
  ASSERT(CEED_REQUEST_IMMEDIATE != CEED_REQUEST_ORDERED);
  return TEST_PASSED;
}

static int waiting_for_done_work_returns_at_once(void) {
  CeedRequest request = NULL;

  ASSERT_OK(CeedRequestWait(&request));
  ASSERT_OK(CeedRequestWait(CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedRequestWait(CEED_REQUEST_ORDERED));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedRequestWait(NULL));
  return TEST_PASSED;
}

static int bad_labels_are_errors(void) {
  uint64_t stranger[16] = {0};
  CeedContextFieldLabel label = (CeedContextFieldLabel)(void *)stranger;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedContextFieldLabelGetDescription(NULL, NULL, NULL, NULL, NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedContextFieldLabelGetDescription(label, NULL, NULL, NULL, NULL, NULL));
  return TEST_PASSED;
}

static int integer_helpers_follow_arithmetic(void) {
  ASSERT_EQ(CeedIntPow(2, 10), 1024);
  ASSERT_EQ(CeedIntPow(7, 0), 1);
  ASSERT_EQ(CeedIntPow(-3, 3), -27);
  ASSERT_EQ(CeedIntPow(2, 30), 1073741824);
  ASSERT_EQ(CeedIntMin(-2, 5), -2);
  ASSERT_EQ(CeedIntMax(-2, 5), 5);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Quadrature
// ------------------------------------------------------------------------------------------------

enum { MOST_POINTS = 64 };

typedef int (*Rule)(CeedInt, CeedScalar *, CeedScalar *);

static long double Quadrature(CeedInt q, const CeedScalar *points, const CeedScalar *weights,
                              int power) {
  long double sum = 0;

  for (CeedInt i = 0; i < q; i++) sum += weights[i] * powl(points[i], power);
  return sum;
}

// The integral of x^k over [-1, 1] is 2 / (k + 1) for even k and 0 for odd k.
static int RuleIsExact(Rule rule, CeedInt q, int degree) {
  CeedScalar points[MOST_POINTS], weights[MOST_POINTS];

  ASSERT_OK(rule(q, points, weights));
  for (int k = 0; k <= degree; k++) {
    long double integral = k % 2 ? 0 : 2.0L / (k + 1);
    ASSERT_CLOSE(Quadrature(q, points, weights, k), integral, 32 * (k + 1) * UNIT_ROUNDOFF);
  }
  return TEST_PASSED;
}

static int RuleIsAscendingAndSymmetric(Rule rule, CeedInt q) {
  CeedScalar points[MOST_POINTS], weights[MOST_POINTS];

  ASSERT_OK(rule(q, points, weights));
  for (CeedInt i = 0; i < q; i++) {
    ASSERT(i == 0 || points[i] > points[i - 1]);
    ASSERT(points[i] >= -1 && points[i] <= 1 && weights[i] > 0);
    ASSERT_NUMBER(points[i], -points[q - 1 - i]);
    ASSERT_NUMBER(weights[i], weights[q - 1 - i]);
  }
  return TEST_PASSED;
}

static int gauss_rules_integrate_polynomials_exactly(void) {
  for (CeedInt q = 1; q <= MOST_POINTS; q++) PASSES(RuleIsExact(CeedGaussQuadrature, q, 2 * q - 1));
  return TEST_PASSED;
}

static int lobatto_rules_integrate_polynomials_exactly(void) {
  for (CeedInt q = 2; q <= MOST_POINTS; q++) {
    PASSES(RuleIsExact(CeedLobattoQuadrature, q, 2 * q - 3));
  }
  return TEST_PASSED;
}

static int quadrature_points_are_ascending_and_symmetric(void) {
  PASSES(RuleIsAscendingAndSymmetric(CeedGaussQuadrature, 1));
  for (CeedInt q = 2; q <= MOST_POINTS; q++) {
    PASSES(RuleIsAscendingAndSymmetric(CeedGaussQuadrature, q));
    PASSES(RuleIsAscendingAndSymmetric(CeedLobattoQuadrature, q));
  }
  return TEST_PASSED;
}

static int gauss_rules_have_their_known_values(void) {
  CeedScalar points[3], weights[3];

  ASSERT_OK(CeedGaussQuadrature(1, points, weights));
  ASSERT_NUMBER(points[0], 0);
  ASSERT_CLOSE(weights[0], 2, 4 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedGaussQuadrature(2, points, weights));
  ASSERT_CLOSE(points[1], 1 / sqrtl(3), 2 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[1], 1, 4 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedGaussQuadrature(3, points, weights));
  ASSERT_NUMBER(points[1], 0);
  ASSERT_CLOSE(points[2], sqrtl(3.0L / 5), 2 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[1], 8.0L / 9, 4 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[2], 5.0L / 9, 4 * UNIT_ROUNDOFF);
  return TEST_PASSED;
}

static int lobatto_rules_have_their_known_values(void) {
  CeedScalar points[5], weights[5];

  ASSERT_OK(CeedLobattoQuadrature(2, points, weights));
  ASSERT_NUMBER(points[0], -1);
  ASSERT_CLOSE(weights[0], 1, 4 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedLobattoQuadrature(3, points, weights));
  ASSERT_NUMBER(points[1], 0);
  ASSERT_CLOSE(weights[0], 1.0L / 3, 4 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[1], 4.0L / 3, 4 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedLobattoQuadrature(4, points, weights));
  ASSERT_CLOSE(points[2], 1 / sqrtl(5), 2 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[2], 5.0L / 6, 4 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedLobattoQuadrature(5, points, weights));
  ASSERT_NUMBER(points[4], 1);
  ASSERT_CLOSE(points[3], sqrtl(3.0L / 7), 2 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[3], 49.0L / 90, 4 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(weights[2], 32.0L / 45, 4 * UNIT_ROUNDOFF);
  return TEST_PASSED;
}

static int large_rules_still_sum_to_the_length_of_the_interval(void) {
  enum { COUNT = 1000 };
  CeedScalar *points = malloc(2 * COUNT * sizeof *points), *weights = points + COUNT;

  ASSERT_OK(CeedGaussQuadrature(COUNT, points, weights));
  ASSERT_CLOSE(Quadrature(COUNT, points, weights, 0), 2, 1000 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(Quadrature(COUNT, points, weights, 2), 2.0L / 3, 1000 * UNIT_ROUNDOFF);
  ASSERT_OK(CeedLobattoQuadrature(COUNT, points, weights));
  ASSERT_CLOSE(Quadrature(COUNT, points, weights, 0), 2, 1000 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(Quadrature(COUNT, points, weights, 2), 2.0L / 3, 1000 * UNIT_ROUNDOFF);
  free(points);
  return TEST_PASSED;
}

static int weights_may_be_left_out(void) {
  CeedScalar points[4] = {0}, with[4], weights[4];

  ASSERT_OK(CeedGaussQuadrature(4, points, NULL));
  ASSERT_OK(CeedGaussQuadrature(4, with, weights));
  ASSERT(!memcmp(points, with, sizeof points));
  ASSERT_OK(CeedLobattoQuadrature(4, points, NULL));
  ASSERT_OK(CeedLobattoQuadrature(4, with, weights));
  ASSERT(!memcmp(points, with, sizeof points));
  return TEST_PASSED;
}

static int too_few_points_are_an_error(void) {
  CeedScalar points[2] = {7, 7}, weights[2];

  ASSERT_FAILS(CeedGaussQuadrature(0, points, weights));
  ASSERT_FAILS(CeedGaussQuadrature(-1, points, weights));
  ASSERT_FAILS(CeedGaussQuadrature(INT32_MIN, points, weights));
  ASSERT_FAILS(CeedLobattoQuadrature(1, points, weights));
  ASSERT_FAILS(CeedLobattoQuadrature(-5, points, weights));
  ASSERT_NUMBER(points[0], 7);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(resources_are_found_by_their_whole_name),
    BEHAVIOUR(a_leading_part_of_a_name_finds_the_fastest),
    BEHAVIOUR(what_follows_a_colon_is_ignored_on_the_host),
    BEHAVIOUR(an_unknown_resource_is_an_error_that_lists_those_there_are),
    BEHAVIOUR(a_name_longer_than_a_resource_is_unknown),
    BEHAVIOUR(a_very_long_unknown_name_is_an_error_like_any_other),
    BEHAVIOUR(a_host_context_prefers_host_memory),
    BEHAVIOUR(a_host_context_has_host_memory_only),
    BEHAVIOUR(host_contexts_are_deterministic),
    BEHAVIOUR(a_host_context_has_no_streams),
    BEHAVIOUR(view_prints_resource_precision_and_memory),
    BEHAVIOUR(destroy_sets_null_and_is_safe_twice),
    BEHAVIOUR(a_reference_copy_is_the_same_object_and_outlives_the_first),
    BEHAVIOUR(a_reference_copy_releases_what_the_target_held),
    BEHAVIOUR(a_reference_copy_onto_itself_changes_nothing),
    BEHAVIOUR(a_context_lives_as_long_as_its_vectors),
    BEHAVIOUR(null_contexts_are_errors),
    BEHAVIOUR(a_stranger_given_as_a_context_is_an_error),
    BEHAVIOUR(a_stranger_that_is_not_aligned_is_an_error),
    BEHAVIOUR(a_stranger_is_not_destroyed),
    BEHAVIOUR(a_vector_given_as_a_context_is_an_error_that_says_so),
    BEHAVIOUR(null_outputs_are_errors),
    BEHAVIOUR(without_an_error_there_is_no_message),
    BEHAVIOUR(reset_forgets_the_message_and_sets_null),
    BEHAVIOUR(a_success_keeps_the_last_message),
    BEHAVIOUR(programs_report_errors_of_their_own),
    BEHAVIOUR(a_text_that_is_ready_is_reported_as_it_is),
    BEHAVIOUR(a_message_may_tell_the_one_before),
    BEHAVIOUR(a_long_message_is_cut_not_overrun),
    BEHAVIOUR(every_thread_has_a_message_of_its_own),
    BEHAVIOUR(a_handler_of_the_program_receives_every_error_of_a_context),
    BEHAVIOUR(a_function_returns_the_code_whatever_its_handler_returns),
    BEHAVIOUR(errors_of_a_vector_reach_the_handler_of_its_context),
    BEHAVIOUR(a_null_handler_is_store),
    BEHAVIOUR(the_handler_return_gives_the_code_and_the_text_is_kept),
    BEHAVIOUR(by_default_nothing_is_printed_and_nothing_ends),
    BEHAVIOUR(the_handler_exit_prints_the_place_and_exits_with_the_code),
    BEHAVIOUR(the_handler_abort_prints_the_place_and_aborts),
    BEHAVIOUR(the_environment_chooses_the_handler),
    BEHAVIOUR(a_handler_that_there_is_not_is_an_error_with_the_list),
    BEHAVIOUR(errors_without_a_context_are_stored_whatever_the_environment_says),
    BEHAVIOUR(the_loaded_version_is_the_version_of_the_header),
    BEHAVIOUR(versions_compare_part_by_part),
    BEHAVIOUR(the_library_tells_how_it_was_built),
    BEHAVIOUR(the_library_has_the_precision_of_the_header),
    BEHAVIOUR(enum_values_are_those_that_programs_know),
    BEHAVIOUR(enum_values_have_names),
    BEHAVIOUR(sentinels_differ_from_each_other),
    BEHAVIOUR(waiting_for_done_work_returns_at_once),
    BEHAVIOUR(bad_labels_are_errors),
    BEHAVIOUR(integer_helpers_follow_arithmetic),
    BEHAVIOUR(gauss_rules_integrate_polynomials_exactly),
    BEHAVIOUR(lobatto_rules_integrate_polynomials_exactly),
    BEHAVIOUR(quadrature_points_are_ascending_and_symmetric),
    BEHAVIOUR(gauss_rules_have_their_known_values),
    BEHAVIOUR(lobatto_rules_have_their_known_values),
    BEHAVIOUR(large_rules_still_sum_to_the_length_of_the_interval),
    BEHAVIOUR(weights_may_be_left_out),
    BEHAVIOUR(too_few_points_are_an_error),
    BEHAVIOUR(an_error_reported_to_a_stranger_is_kept),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
