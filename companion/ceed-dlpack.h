/// @file
/// CeedVectors as DLPack tensors, for an installed libCEED (0.12 or newer).
///
/// Two files to add to one's own program: this header and ceed-dlpack.c, one object file over
/// libCEED's public functions. They need <ceed.h> and the structs of DLPack in dlpack_abi.h, no
/// other part of this project; a caller that fills or reads tensors includes any dlpack.h.
///
/// Errors go through libCEED's own handler of `ceed` and come back as its codes: DIMENSION (the
/// length differs), INCOMPATIBLE (precision, device, layout), ACCESS (read-only memory),
/// UNSUPPORTED (a copy mode that cannot be had). On any error nothing has changed: a tensor still
/// belongs to the caller, and a vector holds what it held.
///
/// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEED_DLPACK_H
#define CEED_DLPACK_H

#include <ceed.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/// Exports the memory of a vector, one dimension of its length, without copying.
///
/// The tensor holds a reference on the vector and write access to it (CeedVectorGetArray) until
/// its deleter has run; meanwhile libCEED refuses every other access. The deleter restores the
/// array and lets go of the vector, so the vector may be destroyed first. libCEED counts without
/// atomics: run the deleter in a thread that uses the vector's context at no other time.
///
/// @param[in]  ceed     The context for errors, and whose resource names the device
/// @param[in]  vec      The vector; it must hold values
/// @param[in]  mem_type Which memory; libCEED moves the values there first. CeedGetPreferredMemType
///                      says where they are used best
/// @param[out] dl       The tensor; the caller, or whoever takes it, calls its deleter once
CEED_EXTERN int CeedVectorToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                   struct DLManagedTensor **dl);

/// As CeedVectorToDLPack, in the struct of DLPack 1.0 and newer.
CEED_EXTERN int CeedVectorToDLPackVersioned(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                            struct DLManagedTensorVersioned **dl);

/// As CeedVectorToDLPackVersioned, with read access only (CeedVectorGetArrayRead): the tensor is
/// flagged read-only, and any number of such exports and of libCEED's own readers live together.
CEED_EXTERN int CeedVectorReadToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                       struct DLManagedTensorVersioned **dl);

/// Gives a vector the values, or the memory, of a tensor.
///
/// The tensor holds CeedScalars in C order, as many as the vector is long, in any number of
/// dimensions, on the host or on the device of the context.
///
/// | copy_mode        | the vector                     | the tensor on success                |
/// |------------------|--------------------------------|--------------------------------------|
/// | CEED_COPY_VALUES | copies the values              | is taken: its deleter has been called|
/// | CEED_USE_POINTER | works in the tensor's memory   | stays the caller's, who calls its    |
/// |                  |                                | deleter after CeedVectorTakeArray or |
/// |                  |                                | the end of the vector                |
/// | CEED_OWN_POINTER | cannot: UNSUPPORTED. libCEED calls free() on what it owns, and memory  |
/// |                  | of a tensor ends with its deleter                                     |
///
/// A read-only tensor can be copied only (else ACCESS).
CEED_EXTERN int CeedVectorTakeFromDLPack(Ceed ceed, CeedVector vec, struct DLManagedTensor *dl,
                                         CeedCopyMode copy_mode);

/// As CeedVectorTakeFromDLPack, for the struct of DLPack 1.0 and newer.
CEED_EXTERN int CeedVectorTakeFromDLPackVersioned(Ceed ceed, CeedVector vec,
                                                  struct DLManagedTensorVersioned *dl,
                                                  CeedCopyMode copy_mode);

#endif
