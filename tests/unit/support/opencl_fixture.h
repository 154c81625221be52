/* opencl_fixture.h - the opencl adapter through its own table; programs are OpenCL C written for its calling convention. */
#ifndef QUERN_TESTS_OPENCL_FIXTURE_H
#define QUERN_TESTS_OPENCL_FIXTURE_H

#define FIXTURE_ADAPTER "opencl"
#define FIXTURE_VARIABLE "QUERN_OPENCL_LIBRARY"
#define FIXTURE_CODE QN_CODE_OPENCL_C
#include "adapter_fixture.h"

#define ocl table /* the adapter's */

#endif
