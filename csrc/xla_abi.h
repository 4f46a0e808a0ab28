// Our own declaration of what XLA hands to a function that its programs call: of its FFI, the
// structs that are read here. So no foreign header is needed to build. Handlers are of version 0.1;
// XLA keeps states of a program, as they are used here, from version 0.3 on.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_XLA_ABI_H
#define CEEDLIKE_XLA_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 1, XLA_MINOR_OF_STATES = 3 };

enum { XLA_METADATA = 1, XLA_SCALAR = 3 };

enum { XLA_INSTANTIATE = 0, XLA_EXECUTE = 3 };

enum { XLA_BOOL = 1, XLA_INT32 = 4, XLA_INT64 = 5, XLA_FLOAT32 = 11, XLA_FLOAT64 = 12 };

enum {
  XLA_INVALID_ARGUMENT = 3,
  XLA_RESOURCE_EXHAUSTED = 8,
  XLA_FAILED_PRECONDITION = 9,
  XLA_UNIMPLEMENTED = 12,
  XLA_INTERNAL = 13
};

typedef struct XLA_FFI_Error XLA_FFI_Error;

typedef struct {
  const char *ptr;
  size_t len;
} XLA_FFI_ByteSpan;

typedef struct XLA_FFI_Extension_Base {
  size_t struct_size;
  int type;
  struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int major_version, minor_version;
} XLA_FFI_Api_Version;

typedef struct {
  int64_t type_id; /* 0: none */
} XLA_FFI_TypeId;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  void (*deleter)(void *object);
} XLA_FFI_TypeInfo;

typedef struct {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  uint32_t traits;
  XLA_FFI_TypeId state_type_id;
} XLA_FFI_Metadata;

typedef struct {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  const char *message;
  int errc;
} XLA_FFI_Error_Create_Args;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_ByteSpan name;
  XLA_FFI_TypeId *type_id; /* in and out */
  const XLA_FFI_TypeInfo *type_info;
} XLA_FFI_Type_Register_Args;

/* For setting a state, and for getting it. */
typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  void *ctx;
  int stage; /* that the state was set in */
  XLA_FFI_TypeId *type_id;
  void *state;
} XLA_FFI_State_Args;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_Api_Version api_version;
  const void *internal_api;
  XLA_FFI_Error *(*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args *args);
  void (*others[4])(void);
  XLA_FFI_Error *(*XLA_FFI_Type_Register)(XLA_FFI_Type_Register_Args *args);
  void (*another)(void);
  XLA_FFI_Error *(*XLA_FFI_State_Set)(XLA_FFI_State_Args *args);
  XLA_FFI_Error *(*XLA_FFI_State_Get)(XLA_FFI_State_Args *args);
} XLA_FFI_Api; /* its beginning */

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} XLA_FFI_Buffer;

typedef struct {
  int dtype;
  void *value;
} XLA_FFI_Scalar;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  int *types;
  void **args;
} XLA_FFI_Args;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  int *types;
  void **rets;
} XLA_FFI_Rets;

typedef struct {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  int *types;
  XLA_FFI_ByteSpan **names;
  void **attrs;
} XLA_FFI_Attrs;

typedef struct XLA_FFI_CallFrame {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  const XLA_FFI_Api *api;
  void *ctx;
  int stage;
  XLA_FFI_Args args;
  XLA_FFI_Rets rets;
  XLA_FFI_Attrs attrs;
} XLA_FFI_CallFrame; /* its beginning */

// A negative array length is C99's static assertion.
#define XLA_AT(type, member, offset) (offsetof(type, member) == (offset))
typedef char
    XlaAbiHolds[sizeof(XLA_FFI_Extension_Base) == 24 && sizeof(XLA_FFI_Api_Version) == 24 &&
                        XLA_AT(XLA_FFI_Metadata_Extension, metadata, 24) &&
                        sizeof(XLA_FFI_Error_Create_Args) == 32 &&
                        XLA_AT(XLA_FFI_Api, XLA_FFI_Error_Create, 48) &&
                        XLA_AT(XLA_FFI_Api, XLA_FFI_State_Get, 112) &&
                        XLA_AT(XLA_FFI_Metadata, state_type_id, 40) &&
                        sizeof(XLA_FFI_Type_Register_Args) == 48 &&
                        sizeof(XLA_FFI_State_Args) == 48 && XLA_AT(XLA_FFI_Buffer, dims, 40) &&
                        sizeof(XLA_FFI_Scalar) == 16 && sizeof(XLA_FFI_Args) == 40 &&
                        sizeof(XLA_FFI_Rets) == 40 && sizeof(XLA_FFI_Attrs) == 48 &&
                        XLA_AT(XLA_FFI_CallFrame, stage, 32) &&
                        XLA_AT(XLA_FFI_CallFrame, args, 40) && XLA_AT(XLA_FFI_CallFrame, attrs, 120)
                    ? 1
                    : -1];

#endif
