// SPDX-License-Identifier: BSD-2-Clause
/// y = 2 x + y in memory of the program, with x = 0, 1, ..., n - 1 and y = 1. The sum of the result
/// is n (n - 1) + n = n^2.
#include <ceedlike.h>

#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

// A handle that releases what it stands for.
template <typename Handle, int (*Destroy)(Handle *)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  ~Owned() { Destroy(&handle_); }

  Handle *operator&() { return &handle_; }
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

static void Check(int code) {
  const char *text;

  if (code == CEED_ERROR_SUCCESS) return;
  CeedGetErrorMessage(nullptr, &text);
  throw std::runtime_error(text);
}

static CeedScalar Sum(std::vector<CeedScalar> &values) {
  Owned<Ceed, CeedDestroy> ceed;
  Owned<CeedVector, CeedVectorDestroy> x, y;
  const CeedSize n = static_cast<CeedSize>(values.size());
  CeedScalar *array, sum;

  Check(CeedInit("/cpu/self", &ceed));
  Check(CeedVectorCreate(ceed, n, &x));
  Check(CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &array));
  std::iota(array, array + n, CeedScalar(0));
  Check(CeedVectorRestoreArray(x, &array));

  Check(CeedVectorCreate(ceed, n, &y));
  Check(CeedVectorSetArray(y, CEED_MEM_HOST, CEED_USE_POINTER, values.data()));
  Check(CeedVectorAXPY(y, 2, x));
  Check(CeedVectorNorm(y, CEED_NORM_1, &sum));
  return sum;
}

int main() try {
  const int n = 1000;
  std::vector<CeedScalar> values(n, 1);
  const CeedScalar sum = Sum(values);
  const bool good = sum == CeedScalar(n) * n && values.back() == 2 * n - 1;

  std::cout << "sum " << static_cast<int>(sum) << ", expected " << n * n << ": "
            << (good ? "good" : "WRONG") << '\n';
  return !good;
} catch (const std::exception &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
