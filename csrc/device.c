// The table of resources; a device adds its row here and its operations in a file of its own.
// SPDX-License-Identifier: BSD-2-Clause
#include "device.h"

const CeedResource CeedResources[] = {
    {"/cpu/self/opt/blocked", 40, NULL, true}, {"/cpu/self/ref/serial", 50, NULL, false},
    {"/gpu/cuda", 60, &CeedDeviceCUDA, true},  {"/gpu/hip", 61, &CeedDeviceHIP, true},
    {"/gpu/sycl", 62, &CeedDeviceSYCL, true},  {NULL, 0, NULL, false},
};
