// A field of an operator in the fast backend, for a group of elements at a time, whose numbers are the
// fastest axis.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_GROUP_H
#define CEEDLIKE_GROUP_H

#include "contract.h"

CEED_CODES_BEGIN

/* Memory: one block, counted first and then handed out. */
typedef struct {
  CeedScalar *next; /* NULL while counting */
  CeedSize used;
} CeedArena;

/* Sizes beyond this one are all the same: there is no such memory. */
static const CeedSize CeedArenaLimit = PTRDIFF_MAX / 64;

/* One axis of a tensor product, or all nodes of another basis, with values B and derivatives G. */
typedef struct {
  CeedInt dim, num_axes; /* directions of the gradient; axes that are contracted */
  CeedInt m, n;          /* from n to m entries an axis */
  CeedInt P_1d, Q_1d;
  const CeedScalar *B, *G;
  CeedContract contract;
} CeedAxes;

/* Elements from the first on; only the last group is narrower than CEED_LANES. */
typedef struct {
  CeedInt first, width;
} CeedGroup;

/* A field of a group: its entries in the vector, at the nodes, at the points. */
typedef struct {
  CeedElemRestriction rstr;
  CeedEvalMode eval_mode;
  CeedInt num_comp, size, P, Q;
  CeedAxes axes;
  const CeedScalar *from;
  CeedScalar *to;
  CeedScalar *e, *q;
  CeedScalar *work[4];
} CeedGroupField;

/* Set a field up, for elements of Q points. */
void CeedGroupFieldPlan(CeedQFunctionField qf_field, CeedOperatorField field, CeedInt Q,
                        bool is_output, CeedArena *arena, CeedGroupField *f);

/* The values at the points that an input has, lent until the next group. */
const CeedScalar *CeedGroupLoad(const CeedGroupField *f, CeedGroup group);

/* Add what its values at the points give to the vector of an output. */
void CeedGroupStore(const CeedGroupField *f, CeedGroup group);

/* From rows of `width` entries to rows of CEED_LANES, in place: the last entry fills the lanes that
   are over, so that they hold sound values; and back. */
void CeedLanesSpread(CeedScalar *q, CeedSize rows, CeedInt width);
void CeedLanesSqueeze(CeedScalar *q, CeedSize rows, CeedInt width);

/* From [row][point][lane] to [element][point] of rows that are `stride` apart, and back. */
void CeedLanesToElements(CeedInt rows, CeedInt Q, CeedInt width, const CeedScalar *q,
                         CeedSize stride, CeedScalar *all);
void CeedLanesFromElements(CeedInt rows, CeedInt Q, CeedInt width, const CeedScalar *all,
                           CeedSize stride, CeedScalar *q);

CEED_CODES_END

#endif
