// Boxes: exact arithmetic on bounds, and their text.
// SPDX-License-Identifier: BSD-2-Clause
#include "box.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int CeedBoxNormalize(Ceed ceed, CeedBox *box) {
  CeedCheck(box->dim >= 1 && box->dim <= CEED_MAX_BOX_DIM, ceed, CEED_ERROR_INCOMPATIBLE,
            "A box of %" PRId32 " directions; 1 to %d can be", box->dim, CEED_MAX_BOX_DIM);
  CeedCheck(box->centring >= 0 && box->centring < 1 << box->dim, ceed, CEED_ERROR_INCOMPATIBLE,
            "The centring %" PRId32 " is no set of %" PRId32 " directions", box->centring,
            box->dim);
  for (int d = box->dim; d < CEED_MAX_BOX_DIM; d++) box->lo[d] = box->hi[d] = 0;
  return CEED_ERROR_SUCCESS;
}

int CeedBoxCheckKind(Ceed ceed, const CeedBox *a, const CeedBox *b) {
  CeedCheck(a->dim == b->dim, ceed, CEED_ERROR_INCOMPATIBLE,
            "A box of %" PRId32 " directions and one of %" PRId32, a->dim, b->dim);
  CeedCheck(a->centring == b->centring, ceed, CEED_ERROR_INCOMPATIBLE,
            "A box of centring %" PRId32 " and one of %" PRId32
            ": a bit for each direction, set for nodes",
            a->centring, b->centring);
  return CEED_ERROR_SUCCESS;
}

static int NormalizePair(CeedBox *a, CeedBox *b) {
  CeedCall(CeedBoxNormalize(NULL, a));
  CeedCall(CeedBoxNormalize(NULL, b));
  return CeedBoxCheckKind(NULL, a, b);
}

static int SetBounds(CeedBox *box, int d, int64_t lo, int64_t hi) {
  CeedCheck(lo >= INT32_MIN && hi >= INT32_MIN && lo <= INT32_MAX && hi <= INT32_MAX, NULL,
            CEED_ERROR_DIMENSION, "The bounds %" PRId64 " and %" PRId64 " of %c do not fit CeedInt",
            lo, hi, "xyz"[d]);
  box->lo[d] = (CeedInt)lo;
  box->hi[d] = (CeedInt)hi;
  return CEED_ERROR_SUCCESS;
}

static bool IsNodal(const CeedBox *box, int d) { return box->centring >> d & 1; }

int CeedBoxSet(CeedInt dim, const CeedInt *lo, const CeedInt *hi, CeedInt centring, CeedBox *box) {
  CeedBox new_box = {.dim = dim, .centring = centring};

  CeedCheckOutput(box, NULL);
  CeedCheck(lo && hi, NULL, CEED_ERROR_INCOMPATIBLE, "The bounds are NULL");
  CeedCall(CeedBoxNormalize(NULL, &new_box));
  for (int d = 0; d < dim; d++) CeedCall(SetBounds(&new_box, d, lo[d], hi[d]));
  *box = new_box;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

int CeedBoxGetLengths(CeedBox box, CeedSize lengths[3]) {
  CeedCheckOutput(lengths, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) lengths[d] = BoxLength(&box, d);
  return CEED_ERROR_SUCCESS;
}

int CeedBoxGetSize(CeedBox box, CeedSize *size) {
  CeedSize product = 1;
  char text[CEED_BOX_TEXT];

  CeedCheckOutput(size, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  for (int d = 0; d < box.dim && BoxHasIndices(&box); d++) {
    CeedCheck(!__builtin_mul_overflow(product, BoxLength(&box, d), &product), NULL,
              CEED_ERROR_DIMENSION, "The box %s is too large", BoxText(&box, text));
  }
  *size = BoxHasIndices(&box) ? product : 0;
  return CEED_ERROR_SUCCESS;
}

int CeedBoxIsEmpty(CeedBox box, bool *is_empty) {
  CeedCheckOutput(is_empty, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  *is_empty = !BoxHasIndices(&box);
  return CEED_ERROR_SUCCESS;
}

int CeedBoxIsEqual(CeedBox a, CeedBox b, bool *is_equal) {
  CeedCheckOutput(is_equal, NULL);
  CeedCall(CeedBoxNormalize(NULL, &a));
  CeedCall(CeedBoxNormalize(NULL, &b));
  *is_equal = BoxIsEqual(&a, &b);
  return CEED_ERROR_SUCCESS;
}

int CeedBoxContains(CeedBox box, CeedBox inner, bool *contains) {
  CeedBox both;

  CeedCheckOutput(contains, NULL);
  CeedCall(NormalizePair(&box, &inner));
  both = BoxMeet(&box, &inner);
  *contains = !BoxHasIndices(&inner) || BoxIsEqual(&both, &inner);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// New boxes of old ones
// ------------------------------------------------------------------------------------------------

int CeedBoxGrow(CeedBox box, CeedGhost widths, CeedBox *grown) {
  CeedCheckOutput(grown, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  for (int d = 0; d < box.dim; d++) {
    CeedCall(
        SetBounds(&box, d, (int64_t)box.lo[d] - widths.lo[d], (int64_t)box.hi[d] + widths.hi[d]));
  }
  *grown = box;
  return CEED_ERROR_SUCCESS;
}

int CeedBoxShift(CeedBox box, const CeedInt *by, CeedBox *shifted) {
  CeedCheckOutput(shifted, NULL);
  CeedCheck(by, NULL, CEED_ERROR_INCOMPATIBLE, "The shift is NULL");
  CeedCall(CeedBoxNormalize(NULL, &box));
  for (int d = 0; d < box.dim; d++) {
    CeedCall(SetBounds(&box, d, (int64_t)box.lo[d] + by[d], (int64_t)box.hi[d] + by[d]));
  }
  *shifted = box;
  return CEED_ERROR_SUCCESS;
}

int CeedBoxIntersect(CeedBox a, CeedBox b, CeedBox *both) {
  CeedCheckOutput(both, NULL);
  CeedCall(NormalizePair(&a, &b));
  *both = BoxMeet(&a, &b);
  return CEED_ERROR_SUCCESS;
}

int CeedBoxHull(CeedBox a, CeedBox b, CeedBox *hull) {
  CeedCheckOutput(hull, NULL);
  CeedCall(NormalizePair(&a, &b));
  *hull = BoxHull(&a, &b);
  return CEED_ERROR_SUCCESS;
}

static int CheckRatio(const CeedBox *box, const CeedInt *ratio) {
  CeedCheck(ratio, NULL, CEED_ERROR_INCOMPATIBLE, "The ratio is NULL");
  for (int d = 0; d < box->dim; d++) {
    CeedCheck(ratio[d] >= 1, NULL, CEED_ERROR_DIMENSION,
              "The ratio %" PRId32 " of %c is not positive", ratio[d], "xyz"[d]);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedBoxRefine(CeedBox box, const CeedInt *ratio, CeedBox *fine) {
  CeedCheckOutput(fine, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  CeedCall(CheckRatio(&box, ratio));
  for (int d = 0; d < box.dim; d++) {
    int64_t r = ratio[d], hi = IsNodal(&box, d) ? box.hi[d] * r : (box.hi[d] + INT64_C(1)) * r - 1;
    CeedCall(SetBounds(&box, d, box.lo[d] * r, hi));
  }
  *fine = box;
  return CEED_ERROR_SUCCESS;
}

static int64_t FloorDivide(int64_t number, int64_t by) { return number / by - (number % by < 0); }

int CeedBoxCoarsen(CeedBox box, const CeedInt *ratio, CeedBox *coarse) {
  CeedCheckOutput(coarse, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  CeedCall(CheckRatio(&box, ratio));
  for (int d = 0; d < box.dim; d++) {
    int64_t r = ratio[d], lo = FloorDivide(box.lo[d], r);
    int64_t hi =
        IsNodal(&box, d) ? -FloorDivide(-(int64_t)box.hi[d], r) : FloorDivide(box.hi[d], r);
    if (box.hi[d] < box.lo[d]) hi = lo - 1;
    CeedCall(SetBounds(&box, d, lo, hi));
  }
  *coarse = box;
  return CEED_ERROR_SUCCESS;
}

int CeedBoxConvert(CeedBox box, CeedInt centring, CeedBox *converted) {
  CeedBox other = box;

  CeedCheckOutput(converted, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  other.centring = centring;
  CeedCall(CeedBoxNormalize(NULL, &other));
  for (int d = 0; d < box.dim; d++) {
    int64_t more = (int64_t)IsNodal(&other, d) - IsNodal(&box, d);
    CeedCall(SetBounds(&other, d, box.lo[d], box.hi[d] + more));
  }
  *converted = other;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Text
// ------------------------------------------------------------------------------------------------

static size_t WriteNumbers(char *text, size_t used, int dim, const CeedInt *numbers,
                           const char *end) {
  for (int d = 0; d < dim; d++) {
    used += (size_t)snprintf(text + used, CEED_BOX_TEXT - used, "%c%" PRId32, d ? ',' : '(',
                             numbers[d]);
  }
  return used + (size_t)snprintf(text + used, CEED_BOX_TEXT - used, ")%s", end);
}

const char *BoxText(const CeedBox *box, char text[CEED_BOX_TEXT]) {
  CeedInt types[CEED_MAX_BOX_DIM];
  size_t used = 1;

  text[0] = '(';
  for (int d = 0; d < box->dim; d++) types[d] = IsNodal(box, d);
  used = WriteNumbers(text, used, box->dim, box->lo, " ");
  used = WriteNumbers(text, used, box->dim, box->hi, " ");
  WriteNumbers(text, used, box->dim, types, ")");
  return text;
}

int CeedBoxToText(CeedBox box, char *text, size_t size) {
  char whole[CEED_BOX_TEXT];

  CeedCheckOutput(text, NULL);
  CeedCall(CeedBoxNormalize(NULL, &box));
  BoxText(&box, whole);
  CeedCheck(strlen(whole) < size, NULL, CEED_ERROR_DIMENSION,
            "The box %s takes %zu bytes, there are %zu", whole, strlen(whole) + 1, size);
  strcpy(text, whole);
  return CEED_ERROR_SUCCESS;
}

static bool Skip(const char **text, char wanted) {
  *text += strspn(*text, " \t\r\n");
  if (**text != wanted) return false;
  if (wanted) ++*text;
  return true;
}

static bool ReadNumber(const char **text, CeedInt *number) {
  char *end;
  long long value;

  errno = 0;
  value = strtoll(*text, &end, 10);
  if (end == *text || errno || value < INT32_MIN || value > INT32_MAX) return false;
  *text = end;
  *number = (CeedInt)value;
  return true;
}

/* How many numbers there are between parentheses, 0 for anything else. */
static int ReadNumbers(const char **text, CeedInt numbers[CEED_MAX_BOX_DIM]) {
  int count = 0;

  if (!Skip(text, '(')) return 0;
  do {
    if (count == CEED_MAX_BOX_DIM || !ReadNumber(text, &numbers[count])) return 0;
    count++;
  } while (Skip(text, ','));
  return Skip(text, ')') ? count : 0;
}

static bool ReadBox(const char *text, CeedBox *box) {
  CeedInt types[CEED_MAX_BOX_DIM];

  if (!Skip(&text, '(')) return false;
  box->dim = ReadNumbers(&text, box->lo);
  if (!box->dim || ReadNumbers(&text, box->hi) != box->dim) return false;
  if (ReadNumbers(&text, types) != box->dim) return false;
  for (int d = 0; d < box->dim; d++) {
    if (types[d] != 0 && types[d] != 1) return false;
    box->centring |= types[d] << d;
  }
  return Skip(&text, ')') && Skip(&text, '\0');
}

int CeedBoxFromText(const char *text, CeedBox *box) {
  CeedBox new_box = {.dim = 0};

  CeedCheckOutput(box, NULL);
  CeedCheck(text, NULL, CEED_ERROR_INCOMPATIBLE, "The text is NULL");
  CeedCheck(ReadBox(text, &new_box), NULL, CEED_ERROR_INCOMPATIBLE,
            "\"%.100s\" is no box; one is written ((0,0,0) (7,7,7) (0,0,0))", text);
  *box = new_box;
  return CEED_ERROR_SUCCESS;
}
