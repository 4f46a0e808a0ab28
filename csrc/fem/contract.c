// Contractions for groups of elements: compiled for the baseline and for AVX2, chosen at run time.
// SPDX-License-Identifier: BSD-2-Clause
#include "contract.h"

/* The numbers of one node or point in all elements of a group; borrowed memory is aligned for
   numbers only. */
typedef CeedScalar Lanes __attribute__((vector_size(CEED_LANES * sizeof(CeedScalar)),
                                        aligned(sizeof(CeedScalar)), may_alias));

/* P nodes to P, P+1 and P+2 points, and back. */
// clang-format off
#define PAIR(P, Q) SIZE(P, Q) SIZE(Q, P)
#define SIZES                           \
  SIZE(2, 2) PAIR(2, 3) PAIR(2, 4)      \
  SIZE(3, 3) PAIR(3, 4) PAIR(3, 5)      \
  SIZE(4, 4) PAIR(4, 5) PAIR(4, 6)      \
  SIZE(5, 5) PAIR(5, 6) PAIR(5, 7)      \
  SIZE(6, 6) PAIR(6, 7) PAIR(6, 8)      \
  SIZE(7, 7) PAIR(7, 8) PAIR(7, 9)      \
  SIZE(8, 8) PAIR(8, 9) PAIR(8, 10)     \
  SIZE(9, 9) PAIR(9, 10) PAIR(9, 11)
// clang-format on

#define NAME(name) name##Baseline
#define TARGET
#include "contract_sizes.h"
#undef NAME
#undef TARGET

#ifdef __x86_64__
#define NAME(name) name##Avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "contract_sizes.h"
#undef NAME
#undef TARGET
#endif

CeedContract CeedContractGet(CeedInt m, CeedInt n) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return GetAvx2(m, n);
#endif
  return GetBaseline(m, n);
}
