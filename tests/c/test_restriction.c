// Restrictions: offsets and strides, both directions, layouts, and what is refused.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

// Two elements of two nodes on a line of three, the middle one shared; two components, apart.
static const CeedInt line[] = {0, 1, 1, 2};

static CeedElemRestriction Line(CeedCopyMode mode, const CeedInt *offsets) {
  CeedElemRestriction rstr = NULL;

  CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 6, CEED_MEM_HOST, mode, offsets, &rstr);
  return rstr;
}

static int Gives(CeedElemRestriction rstr, CeedTransposeMode mode, CeedVector u, CeedVector v) {
  return CeedElemRestrictionApply(rstr, mode, u, v, CEED_REQUEST_IMMEDIATE);
}

TEST(elements_get_their_entries_component_by_component) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedVector l = VectorOf(6, (CeedScalar[]){10, 11, 12, 20, 21, 22}), e = NULL;

  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e));
  ASSERT_OK(Gives(rstr, CEED_NOTRANSPOSE, l, e));
  ASSERT_VALUES(e, 10, 11, 11, 12, 20, 21, 21, 22);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  return TEST_PASSED;
}

TEST(the_transpose_adds_to_what_is_there) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedVector l = VectorOf(6, (CeedScalar[]){100, 100, 100, 0, 0, 0}), e = Iota(8);

  ASSERT_OK(Gives(rstr, CEED_TRANSPOSE, e, l));
  ASSERT_VALUES(l, 100, 103, 103, 4, 11, 7);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(the_layout_is_where_the_entries_are) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedInt layout[3];

  ASSERT_OK(CeedElemRestrictionGetELayout(rstr, layout));
  ASSERT_EQ(layout[0], 1);
  ASSERT_EQ(layout[1], 4);
  ASSERT_EQ(layout[2], 2);
  ASSERT_FAILS(CeedElemRestrictionGetLLayout(rstr, layout));
  ASSERT_SAYS("offsets");
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(the_multiplicity_counts_the_elements_of_an_entry) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedVector mult = NULL;

  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, &mult, NULL));
  ASSERT_OK(CeedElemRestrictionGetMultiplicity(rstr, mult));
  ASSERT_VALUES(mult, 1, 2, 1, 1, 2, 1);
  CeedVectorDestroy(&mult);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(queries_give_what_it_was_made_with) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedInt value;
  CeedSize size;
  Ceed other = NULL;

#define ASSERT_GET(Name, expected)                         \
  do {                                                     \
    ASSERT_OK(CeedElemRestrictionGet##Name(rstr, &value)); \
    ASSERT_EQ(value, expected);                            \
  } while (0)
  ASSERT_GET(NumElements, 2);
  ASSERT_GET(ElementSize, 2);
  ASSERT_GET(NumComponents, 2);
  ASSERT_GET(CompStride, 3);
  ASSERT_GET(NumBlocks, 2);
  ASSERT_GET(BlockSize, 1);
  ASSERT_OK(CeedElemRestrictionGetLVectorSize(rstr, &size));
  ASSERT_EQ(size, 6);
  ASSERT_OK(CeedElemRestrictionGetEVectorSize(rstr, &size));
  ASSERT_EQ(size, 8);
  ASSERT_OK(CeedElemRestrictionGetCeed(rstr, &other));
  ASSERT_SAME(other, ceed);
  ASSERT_SAME(CeedElemRestrictionReturnCeed(rstr), ceed);
  CeedDestroy(&other);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(borrowed_offsets_are_used_in_place) {
  CeedElemRestriction rstr = Line(CEED_USE_POINTER, line);
  const CeedInt *offsets = NULL;

  ASSERT_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  ASSERT_SAME(offsets, line);
  ASSERT_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  ASSERT(!offsets);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(copied_offsets_are_kept) {
  CeedInt mine[] = {0, 1, 1, 2};
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, mine);
  const CeedInt *offsets = NULL;

  memset(mine, 0xFF, sizeof mine);
  ASSERT_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  ASSERT(!memcmp(offsets, line, sizeof line));
  ASSERT_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(taken_offsets_are_freed_once) {
  CeedInt *mine = malloc(sizeof line);
  CeedElemRestriction rstr;

  memcpy(mine, line, sizeof line);
  rstr = Line(CEED_OWN_POINTER, mine);
  ASSERT(rstr);
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  return TEST_PASSED;
}

TEST(offsets_that_are_refused_are_not_taken) {
  CeedInt *mine = malloc(sizeof line);

  memset(mine, 0xFF, sizeof line);
  ASSERT(!Line(CEED_OWN_POINTER, mine));
  free(mine);
  return TEST_PASSED;
}

TEST(offsets_out_of_the_vector_are_refused_with_their_place) {
  const CeedInt wrong[] = {3, -1, INT32_MAX, INT32_MIN, 2000000000};

  for (int i = 0; i < COUNT_OF(wrong); i++) {
    CeedInt offsets[] = {0, 1, 1, wrong[i]};
    CeedElemRestriction rstr = NULL;
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 6, CEED_MEM_HOST,
                                                                CEED_USE_POINTER, offsets, &rstr));
    ASSERT_SAYS("node 1 of element 1");
    ASSERT(!rstr);
  }
  return TEST_PASSED;
}

TEST(a_component_out_of_the_vector_is_refused) {
  CeedElemRestriction rstr = NULL;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedElemRestrictionCreate(ceed, 2, 2, 3, 3, 6, CEED_MEM_HOST,
                                                              CEED_COPY_VALUES, line, &rstr));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedElemRestrictionCreate(ceed, 2, 2, 2, INT32_MAX, 6, CEED_MEM_HOST,
                                        CEED_COPY_VALUES, line, &rstr));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedElemRestrictionCreate(ceed, 2, 2, 2, -3, 6, CEED_MEM_HOST,
                                                              CEED_COPY_VALUES, line, &rstr));
  return TEST_PASSED;
}

TEST(strides_lead_to_the_entries) {
  CeedElemRestriction rstr = NULL;
  CeedVector l = Iota(12), e = NULL;
  CeedInt layout[3];

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 3, 2, 2, 12, (CeedInt[]){6, 1, 2}, &rstr));
  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e));
  ASSERT_OK(Gives(rstr, CEED_NOTRANSPOSE, l, e));
  ASSERT_VALUES(e, 0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11);
  ASSERT_OK(CeedElemRestrictionGetLLayout(rstr, layout));
  ASSERT_EQ(layout[0], 6);
  ASSERT_EQ(layout[1], 1);
  ASSERT_EQ(layout[2], 2);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(strides_out_of_the_vector_are_refused) {
  CeedElemRestriction rstr = NULL;
  const CeedInt wrong[][3] = {{6, 1, 3}, {-1, 1, 2}, {INT32_MAX, INT32_MAX, INT32_MAX}};

  for (int i = 0; i < COUNT_OF(wrong); i++) {
    ASSERT_CODE(CEED_ERROR_DIMENSION,
                CeedElemRestrictionCreateStrided(ceed, 3, 2, 2, 12, wrong[i], &rstr));
    ASSERT_SAYS("strides");
  }
  return TEST_PASSED;
}

// The layout is the backend's own: what is written comes back, and nothing else changes.
TEST(strides_of_the_backend_keep_every_entry) {
  CeedElemRestriction rstr = NULL;
  CeedVector l = NULL, e = RandomVector(19 * 3 * 2, 7), back = NULL;

  ASSERT_OK(
      CeedElemRestrictionCreateStrided(ceed, 19, 3, 2, 19 * 3 * 2, CEED_STRIDES_BACKEND, &rstr));
  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, &l, &back));
  ASSERT_OK(CeedVectorSetValue(l, 0));
  ASSERT_OK(Gives(rstr, CEED_TRANSPOSE, e, l));
  ASSERT_OK(Gives(rstr, CEED_NOTRANSPOSE, l, back));
  for (CeedSize i = 0; i < 19 * 3 * 2; i++) ASSERT_NUMBER(Entry(back, i), Entry(e, i));
  ASSERT_OK(CeedElemRestrictionGetMultiplicity(rstr, l));
  for (CeedSize i = 0; i < 19 * 3 * 2; i++) ASSERT_NUMBER(Entry(l, i), 1);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedVectorDestroy(&back);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(no_elements_are_no_error) {
  CeedElemRestriction rstr = NULL;
  CeedVector l = NULL, e = NULL;

  ASSERT_OK(
      CeedElemRestrictionCreate(ceed, 0, 2, 1, 1, 3, CEED_MEM_HOST, CEED_USE_POINTER, NULL, &rstr));
  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, &l, &e));
  ASSERT_OK(CeedVectorSetValue(l, 5));
  ASSERT_OK(Gives(rstr, CEED_NOTRANSPOSE, l, e));
  ASSERT_OK(Gives(rstr, CEED_TRANSPOSE, e, l));
  ASSERT_VALUES(l, 5, 5, 5);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(sizes_that_are_none_are_refused) {
  CeedElemRestriction rstr = NULL;

#define REFUSED(elements, nodes, components, length)                                  \
  ASSERT_CODE(CEED_ERROR_DIMENSION,                                                   \
              CeedElemRestrictionCreate(ceed, elements, nodes, components, 1, length, \
                                        CEED_MEM_HOST, CEED_COPY_VALUES, line, &rstr))
  REFUSED(-1, 2, 1, 6);
  REFUSED(2, 0, 1, 6);
  REFUSED(2, 2, 0, 6);
  REFUSED(2, 2, 1, -1);
  REFUSED(INT32_MAX, INT32_MAX, INT32_MAX, 6);
  return TEST_PASSED;
}

TEST(vectors_of_other_lengths_are_refused) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedVector l = Iota(6), e = Iota(8);

  ASSERT_CODE(CEED_ERROR_DIMENSION, Gives(rstr, CEED_NOTRANSPOSE, e, l));
  ASSERT_SAYS("8 entries, not 6");
  ASSERT_CODE(CEED_ERROR_DIMENSION, Gives(rstr, CEED_TRANSPOSE, l, e));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedElemRestrictionGetMultiplicity(rstr, e));
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(a_vector_that_is_out_is_refused_and_nothing_stays_locked) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  CeedVector l = Iota(6), e = Iota(8);
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArray(e, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, Gives(rstr, CEED_NOTRANSPOSE, l, e));
  ASSERT_CODE(CEED_ERROR_ACCESS, Gives(rstr, CEED_TRANSPOSE, e, l));
  ASSERT_OK(CeedVectorRestoreArray(e, &array));
  ASSERT_OK(CeedVectorSetValue(l, 1));
  ASSERT_OK(Gives(rstr, CEED_NOTRANSPOSE, l, e));
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(input_and_output_at_once_is_refused) {
  CeedElemRestriction rstr = NULL;
  CeedVector x = Iota(4);

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, (CeedInt[]){1, 4, 2}, &rstr));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, Gives(rstr, CEED_NOTRANSPOSE, x, x));
  CeedVectorDestroy(&x);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(wrong_arguments_are_refused) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line), other = NULL;
  CeedVector l = Iota(6), e = Iota(8);

  ASSERT_FAILS(CeedElemRestrictionCreate(NULL, 2, 2, 2, 3, 6, CEED_MEM_HOST, CEED_COPY_VALUES, line,
                                         &other));
  ASSERT_FAILS(CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 6, CEED_MEM_HOST, CEED_COPY_VALUES, NULL,
                                         &other));
  ASSERT_FAILS(
      CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 6, CEED_MEM_HOST, CEED_COPY_VALUES, line, NULL));
  ASSERT_FAILS(Line((CeedCopyMode)9, line) ? 0 : 1);
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedElemRestrictionCreate(ceed, 2, 2, 2, 3, 6, CEED_MEM_DEVICE,
                                                            CEED_COPY_VALUES, line, &other));
  ASSERT_FAILS(CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, NULL, &other));
  ASSERT_FAILS(Gives(rstr, (CeedTransposeMode)2, l, e));
  ASSERT_FAILS(Gives(rstr, CEED_NOTRANSPOSE, NULL, e));
  ASSERT_FAILS(Gives(rstr, CEED_NOTRANSPOSE, l, CEED_VECTOR_ACTIVE));
  ASSERT_FAILS(Gives(CEED_ELEMRESTRICTION_NONE, CEED_NOTRANSPOSE, l, e));
  ASSERT_SAYS("sentinel");
  ASSERT_FAILS(Gives((CeedElemRestriction)l, CEED_NOTRANSPOSE, l, e));
  ASSERT_SAYS("CeedVector");
  ASSERT_FAILS(CeedElemRestrictionView(rstr, NULL));
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(offsets_that_are_out_keep_the_restriction) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);
  const CeedInt *offsets = NULL, *wrong = NULL;

  ASSERT_FAILS(CeedElemRestrictionRestoreOffsets(rstr, &wrong));
  ASSERT_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedElemRestrictionDestroy(&rstr));
  ASSERT(rstr);
  ASSERT_FAILS(CeedElemRestrictionRestoreOffsets(rstr, &wrong));
  ASSERT_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  return TEST_PASSED;
}

TEST(references_share_it_and_destroying_twice_is_safe) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line), copy = Line(CEED_COPY_VALUES, line);

  ASSERT_OK(CeedElemRestrictionReferenceCopy(rstr, &copy));
  ASSERT_SAME(copy, rstr);
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedElemRestrictionDestroy(NULL));
  ASSERT_OK(CeedElemRestrictionDestroy(&copy));
  copy = CEED_ELEMRESTRICTION_NONE;
  ASSERT_OK(CeedElemRestrictionDestroy(&copy));
  return TEST_PASSED;
}

TEST(orientations_and_blocks_are_not_supported) {
  CeedElemRestriction rstr = NULL;

  ASSERT_CODE(CEED_ERROR_UNSUPPORTED,
              CeedElemRestrictionCreateOriented(ceed, 2, 2, 2, 3, 6, CEED_MEM_HOST,
                                                CEED_COPY_VALUES, line, NULL, &rstr));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED,
              CeedElemRestrictionCreateBlocked(ceed, 2, 2, 8, 2, 3, 6, CEED_MEM_HOST,
                                               CEED_COPY_VALUES, line, &rstr));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED,
              CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, 8, 2, 3, 6, CEED_MEM_HOST,
                                                       CEED_COPY_VALUES, line, NULL, &rstr));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedElemRestrictionCreateBlockedStrided(
                                          ceed, 2, 2, 8, 1, 4, (CeedInt[]){1, 4, 2}, &rstr));
  rstr = Line(CEED_COPY_VALUES, line);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED,
              CeedElemRestrictionApplyBlock(rstr, 0, CEED_NOTRANSPOSE, NULL, NULL, NULL));
  ASSERT_SAYS("not supported");
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(a_view_has_sizes_and_layout) {
  CeedElemRestriction rstr = Line(CEED_COPY_VALUES, line);

  ASSERT_VIEW(CeedElemRestrictionView, rstr, "6 entries", "2 of 2 nodes", "component stride 3");
  CeedElemRestrictionDestroy(&rstr);
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, (CeedInt[]){1, 4, 2}, &rstr));
  ASSERT_VIEW(CeedElemRestrictionView, rstr, "node 1, component 4, element 2");
  CeedElemRestrictionDestroy(&rstr);
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 2, 1, 4, CEED_STRIDES_BACKEND, &rstr));
  ASSERT_VIEW(CeedElemRestrictionView, rstr, "backend");
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(elements_get_their_entries_component_by_component),
    BEHAVIOUR(the_transpose_adds_to_what_is_there),
    BEHAVIOUR(the_layout_is_where_the_entries_are),
    BEHAVIOUR(the_multiplicity_counts_the_elements_of_an_entry),
    BEHAVIOUR(queries_give_what_it_was_made_with),
    BEHAVIOUR(borrowed_offsets_are_used_in_place),
    BEHAVIOUR(copied_offsets_are_kept),
    BEHAVIOUR(taken_offsets_are_freed_once),
    BEHAVIOUR(offsets_that_are_refused_are_not_taken),
    BEHAVIOUR(offsets_out_of_the_vector_are_refused_with_their_place),
    BEHAVIOUR(a_component_out_of_the_vector_is_refused),
    BEHAVIOUR(strides_lead_to_the_entries),
    BEHAVIOUR(strides_out_of_the_vector_are_refused),
    BEHAVIOUR(strides_of_the_backend_keep_every_entry),
    BEHAVIOUR(no_elements_are_no_error),
    BEHAVIOUR(sizes_that_are_none_are_refused),
    BEHAVIOUR(vectors_of_other_lengths_are_refused),
    BEHAVIOUR(a_vector_that_is_out_is_refused_and_nothing_stays_locked),
    BEHAVIOUR(input_and_output_at_once_is_refused),
    BEHAVIOUR(wrong_arguments_are_refused),
    BEHAVIOUR(offsets_that_are_out_keep_the_restriction),
    BEHAVIOUR(references_share_it_and_destroying_twice_is_safe),
    BEHAVIOUR(orientations_and_blocks_are_not_supported),
    BEHAVIOUR(a_view_has_sizes_and_layout),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
