#include <stdio.h>

#include "cuda.h"

/* ---- Codes -------------------------------------------------------------------------------------- */

#define GONE QN_ERROR_DEVICE_LOST
#define KERNEL_FAULT                                                                                                 \
  "a kernel did it: its context is gone with all its memory, and the driver gives this process no other one; start " \
  "the program anew"

/* X(number, name, status, what to do): what a function of the table may return. The names are the driver's. */
#define CODES(X)                                                                                                     \
  X(1, INVALID_VALUE, QN_ERROR_INTERNAL, "")                                                                         \
  X(2, OUT_OF_MEMORY, QN_ERROR_OUT_OF_MEMORY, "release buffers or take smaller ones")                                \
  X(3, NOT_INITIALIZED, QN_ERROR_INTERNAL, "")                                                                       \
  X(4, DEINITIALIZED, QN_ERROR_CLOSED, "the process is exiting")                                                     \
  X(34, STUB_LIBRARY, QN_ERROR_NOT_FOUND,                                                                            \
    "the library is the toolkit's stub and no driver; take its directory out of LD_LIBRARY_PATH")                    \
  X(46, DEVICE_UNAVAILABLE, QN_ERROR_DEVICE,                                                                         \
    "another process has the GPU for itself, or nobody may use it (compute mode: nvidia-smi -q -d COMPUTE)")         \
  X(100, NO_DEVICE, QN_ERROR_NOT_FOUND,                                                                              \
    "the driver sees no GPU; in a container it must be passed in, and CUDA_VISIBLE_DEVICES may hide it")             \
  X(101, INVALID_DEVICE, QN_ERROR_NOT_FOUND, "CUDA_VISIBLE_DEVICES may name one that isn't there")                   \
  X(102, DEVICE_NOT_LICENSED, QN_ERROR_DEVICE, "the virtual GPU has no licence")                                     \
  X(200, INVALID_IMAGE, QN_ERROR_DATA, "it is no device code, or it is damaged; build from source")                  \
  X(201, INVALID_CONTEXT, GONE, "the context is gone")                                                               \
  X(209, NO_BINARY_FOR_GPU, QN_ERROR_UNSUPPORTED, "it was made for another GPU; build for this one's target")        \
  X(214, ECC_UNCORRECTABLE, GONE, "the GPU's memory has an error; nvidia-smi -q -d ECC")                             \
  X(217, PEER_ACCESS_UNSUPPORTED, QN_ERROR_UNSUPPORTED, "")                                                          \
  X(218, INVALID_PTX, QN_ERROR_COMPILE, "")                                                                          \
  X(220, NVLINK_UNCORRECTABLE, GONE, "the link between GPUs has an error")                                           \
  X(221, JIT_COMPILER_NOT_FOUND, QN_ERROR_UNSUPPORTED,                                                               \
    "the driver's compiler, libnvidia-ptxjitcompiler.so.1, isn't there; install all of the driver's libraries")      \
  X(222, UNSUPPORTED_PTX_VERSION, QN_ERROR_UNSUPPORTED, "the driver is older than the code; update it")              \
  X(223, JIT_COMPILATION_DISABLED, QN_ERROR_UNSUPPORTED, "CUDA_DISABLE_PTX_JIT is set; unset it")                    \
  X(226, CONTAINED, GONE, "the GPU's memory had an error, which ended the context")                                  \
  X(300, INVALID_SOURCE, QN_ERROR_DATA, "it is no device code")                                                      \
  X(302, SHARED_OBJECT_SYMBOL_NOT_FOUND, QN_ERROR_NOT_FOUND, "the driver is installed in part")                      \
  X(303, SHARED_OBJECT_INIT_FAILED, QN_ERROR_NOT_FOUND, "the driver is installed in part")                           \
  X(304, OPERATING_SYSTEM, QN_ERROR_DEVICE,                                                                          \
    "the driver's kernel module isn't loaded, or /dev/nvidia* can't be opened")                                      \
  X(400, INVALID_HANDLE, QN_ERROR_INTERNAL, "")                                                                      \
  X(401, ILLEGAL_STATE, QN_ERROR_INTERNAL, "")                                                                       \
  X(500, NOT_FOUND, QN_ERROR_NOT_FOUND, "")                                                                          \
  X(700, ILLEGAL_ADDRESS, GONE, "memory was read or written that isn't the kernel's own; " KERNEL_FAULT)             \
  X(701, LAUNCH_OUT_OF_RESOURCES, QN_ERROR_INVALID_ARGUMENT,                                                         \
    "the group needs more registers or local memory than there are; give a smaller local size")                      \
  X(702, LAUNCH_TIMEOUT, GONE, "a kernel ran longer than the system allows a GPU with a display")                    \
  X(704, PEER_ACCESS_ALREADY_ENABLED, QN_OK, "")                                                                     \
  X(709, CONTEXT_IS_DESTROYED, GONE, "somebody has reset the device")                                                \
  X(710, ASSERT, GONE, "an assertion failed; " KERNEL_FAULT)                                                         \
  X(711, TOO_MANY_PEERS, QN_ERROR_LIMIT, "")                                                                         \
  X(712, HOST_MEMORY_ALREADY_REGISTERED, QN_ERROR_UNSUPPORTED, "another part of the program has pinned the memory")  \
  X(713, HOST_MEMORY_NOT_REGISTERED, QN_ERROR_INTERNAL, "")                                                          \
  X(714, HARDWARE_STACK_ERROR, GONE, "the call stack is damaged; " KERNEL_FAULT)                                     \
  X(715, ILLEGAL_INSTRUCTION, GONE, "an instruction is none; " KERNEL_FAULT)                                         \
  X(716, MISALIGNED_ADDRESS, GONE, "an access isn't aligned to its size; " KERNEL_FAULT)                             \
  X(717, INVALID_ADDRESS_SPACE, GONE, "an address is of another space; " KERNEL_FAULT)                               \
  X(718, INVALID_PC, GONE, "the program counter is astray; " KERNEL_FAULT)                                           \
  X(719, LAUNCH_FAILED, GONE, "local or private memory was overrun, or the like; " KERNEL_FAULT)                     \
  X(800, NOT_PERMITTED, QN_ERROR_UNSUPPORTED, "")                                                                    \
  X(801, NOT_SUPPORTED, QN_ERROR_UNSUPPORTED, "the system or the GPU can't do it")                                   \
  X(802, SYSTEM_NOT_READY, QN_ERROR_DEVICE,                                                                          \
    "the system is still starting; where GPUs are connected by NVSwitch, nvidia-fabricmanager must run")             \
  X(803, SYSTEM_DRIVER_MISMATCH, QN_ERROR_DEVICE,                                                                    \
    "the library and the kernel module are of different drivers; restart, or give the container this host's driver") \
  X(804, COMPAT_NOT_SUPPORTED_ON_DEVICE, QN_ERROR_DEVICE,                                                            \
    "the library is of the compatibility package, which this GPU can't use; take it out of LD_LIBRARY_PATH")         \
  X(805, MPS_CONNECTION_FAILED, QN_ERROR_DEVICE, "the process doesn't reach the MPS control daemon")                 \
  X(806, MPS_RPC_FAILURE, GONE, "the MPS server is gone")                                                            \
  X(807, MPS_SERVER_NOT_READY, QN_ERROR_DEVICE, "the MPS server is still starting")                                  \
  X(808, MPS_MAX_CLIENTS_REACHED, QN_ERROR_DEVICE, "the MPS server has as many clients as it takes")                 \
  X(810, MPS_CLIENT_TERMINATED, GONE, "the MPS server has ended this process' context")                              \
  X(900, STREAM_CAPTURE_UNSUPPORTED, QN_ERROR_UNSUPPORTED, "the stream is being captured; end the capture first")    \
  X(901, STREAM_CAPTURE_INVALIDATED, QN_ERROR_UNSUPPORTED, "the stream is being captured; end the capture first")    \
  X(906, STREAM_CAPTURE_IMPLICIT, QN_ERROR_UNSUPPORTED, "another stream of the process is being captured")           \
  X(999, UNKNOWN, GONE, "the driver doesn't know why; look into the system's log (dmesg) for lines with Xid")

typedef struct code_entry {
  cu_result code;
  qn_status status;
  const char *name, *advice;
} code_entry;

static const code_entry codes[] = {
#define X(number, name, status, advice) {number, status, "CUDA_ERROR_" #name, advice},
    CODES(X)
#undef X
};

static const code_entry *find_code(cu_result code) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) return &codes[i];
  return NULL;
}

qn_status cu_status_of(cu_result code) {
  const code_entry *entry = find_code(code);
  if (code == CU_SUCCESS) return QN_OK;
  return entry ? entry->status : QN_ERROR_DEVICE;
}

bool cu_code_is_loss(cu_result code) { return cu_status_of(code) == QN_ERROR_DEVICE_LOST; }

void cu_print_code(cu_result code, char *out, size_t capacity) {
  const code_entry *entry = find_code(code);
  const char *advice = entry ? entry->advice : "a code that is newer than this adapter";
  snprintf(out, capacity, "%s (%d)%s%s", entry ? entry->name : "error", code, *advice ? ", " : "", advice);
}

/* ---- Texts -------------------------------------------------------------------------------------- */

enum { TEXT = 1024 };

qn_status cu_error(const qn_adapter_host *host, qn_status status, const char *format, ...) {
  char text[TEXT] = "cuda: ";
  size_t at = sizeof "cuda: " - 1;
  va_list args;
  va_start(args, format);
  vsnprintf(text + at, sizeof text - at, format, args);
  va_end(args);
  return host->set_error(status, 0, text);
}

static qn_status refuse(const qn_adapter_host *host, qn_status status, cu_result code, const char *format,
                        va_list args) {
  char what[TEXT / 2], why[TEXT / 4], text[TEXT];
  vsnprintf(what, sizeof what, format, args);
  cu_print_code(code, why, sizeof why);
  snprintf(text, sizeof text, "cuda: %s: %s", what, why);
  return host->set_error(status, code, text);
}

qn_status cu_refused(const qn_adapter_host *host, cu_result code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  qn_status status = refuse(host, cu_status_of(code), code, format, args);
  va_end(args);
  return status;
}

qn_status cu_refused_as(const qn_adapter_host *host, qn_status status, cu_result code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  status = refuse(host, status, code, format, args);
  va_end(args);
  return status;
}

qn_status cu_fail(cu_failure *failure, qn_status status, cu_result code, const char *format, ...) {
  char why[TEXT / 4];
  int at = snprintf(failure->text, sizeof failure->text, "cuda: ");
  va_list args;
  va_start(args, format);
  at += vsnprintf(failure->text + at, sizeof failure->text - (size_t)at, format, args);
  va_end(args);
  if (code != CU_SUCCESS && at > 0 && (size_t)at < sizeof failure->text) {
    cu_print_code(code, why, sizeof why);
    snprintf(failure->text + at, sizeof failure->text - (size_t)at, ": %s", why);
  }
  failure->code = code;
  failure->status = status;
  return status;
}

qn_status cu_tell(const qn_adapter_host *host, const cu_failure *failure) {
  return host->set_error(failure->status, failure->code, failure->text);
}

void cu_log(const qn_adapter_host *host, const char *format, ...) {
  char text[TEXT] = "cuda: ";
  size_t at = sizeof "cuda: " - 1;
  va_list args;
  va_start(args, format);
  vsnprintf(text + at, sizeof text - at, format, args);
  va_end(args);
  host->log(text);
}
