#include "stack.h"

#include <stddef.h>
#include <sys/mman.h>

#include "os.h"

/* The compiler allows 1 MiB of private arrays; what a region needs beside them, and their second copy, fit several times. */
#define STACK_BYTES (UINT64_C(8) << 20)

bool cpu_stack_take(cpu_stack *out) {
  out->pages = cpu_pages_take(STACK_BYTES);
  if (out->pages == NULL) return false;
  (void)madvise(out->pages, STACK_BYTES, MADV_NOHUGEPAGE); /* most kernels need one page: a hint */
  return true;
}

void cpu_stack_give(cpu_stack *stack) {
  cpu_pages_give(stack->pages, STACK_BYTES);
  stack->pages = NULL;
}

/* Where this thread goes on when the kernel returns. Not in a register nor on the kernel's stack, which it may have damaged; in
 * the thread's static block, where assembly finds it without a call. */
__attribute__((visibility("hidden"), tls_model("initial-exec"))) extern _Thread_local uintptr_t cpu_stack_back;
_Thread_local uintptr_t cpu_stack_back;

/* Saves what a function must keep for its caller, on the caller's stack; calls `entry(launch, group)` with `top` as its stack;
 * comes back by cpu_stack_back. Debuggers find the way through the frame pointer. */
__attribute__((visibility("hidden"))) void cpu_stack_switch(const qn_cpu_launch *launch, const qn_cpu_group *group,
                                                            qn_cpu_entry_fn entry, void *top);

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cpu_stack_switch\n"
    ".globl cpu_stack_switch\n"
    ".type cpu_stack_switch, @function\n"
    "cpu_stack_switch:\n"
    ".cfi_startproc\n"
    "push %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "push %rbx\n"
    "push %r12\n"
    "push %r13\n"
    "push %r14\n"
    "push %r15\n"
    ".cfi_offset %rbx, -24\n"
    ".cfi_offset %r12, -32\n"
    ".cfi_offset %r13, -40\n"
    ".cfi_offset %r14, -48\n"
    ".cfi_offset %r15, -56\n"
    "mov cpu_stack_back@GOTTPOFF(%rip), %rax\n"
    "mov %rbp, %fs:(%rax)\n"
    "mov %rcx, %rsp\n"
    "call *%rdx\n"
    "mov cpu_stack_back@GOTTPOFF(%rip), %rax\n"
    "mov %fs:(%rax), %rbp\n"
    "lea -40(%rbp), %rsp\n"
    "pop %r15\n"
    "pop %r14\n"
    "pop %r13\n"
    "pop %r12\n"
    "pop %rbx\n"
    "pop %rbp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size cpu_stack_switch, . - cpu_stack_switch\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cpu_stack_switch\n"
    ".globl cpu_stack_switch\n"
    ".type cpu_stack_switch, @function\n"
    "cpu_stack_switch:\n"
    ".cfi_startproc\n"
    "stp x29, x30, [sp, #-160]!\n"
    ".cfi_def_cfa_offset 160\n"
    ".cfi_offset x29, -160\n"
    ".cfi_offset x30, -152\n"
    "mov x29, sp\n"
    ".cfi_def_cfa x29, 160\n"
    "stp x19, x20, [sp, #16]\n"
    "stp x21, x22, [sp, #32]\n"
    "stp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\n"
    "stp x27, x28, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n"
    "mrs x9, tpidr_el0\n"
    "adrp x10, :gottprel:cpu_stack_back\n"
    "ldr x10, [x10, #:gottprel_lo12:cpu_stack_back]\n"
    "str x29, [x9, x10]\n"
    "mov sp, x3\n"
    "blr x2\n"
    "mrs x9, tpidr_el0\n"
    "adrp x10, :gottprel:cpu_stack_back\n"
    "ldr x10, [x10, #:gottprel_lo12:cpu_stack_back]\n"
    "ldr x29, [x9, x10]\n"
    "mov sp, x29\n"
    "ldp x19, x20, [sp, #16]\n"
    "ldp x21, x22, [sp, #32]\n"
    "ldp x23, x24, [sp, #48]\n"
    "ldp x25, x26, [sp, #64]\n"
    "ldp x27, x28, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\n"
    "ldp d14, d15, [sp, #144]\n"
    "ldp x29, x30, [sp], #160\n"
    ".cfi_def_cfa sp, 0\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size cpu_stack_switch, . - cpu_stack_switch\n");
#else
#error "the cpu adapter is for x86-64 and aarch64"
#endif

void cpu_stack_call(const cpu_stack *stack, qn_cpu_entry_fn entry, const qn_cpu_launch *launch,
                    const qn_cpu_group *group) {
  cpu_stack_switch(launch, group, entry, stack->pages + STACK_BYTES);
}
