/* sources: src/adapters/cpu/stack.c src/adapters/cpu/os.c */
/* Kernels' own stacks: what a kernel does to its stack and registers stays there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/cpu/stack.h"

/* The arguments' addresses carry numbers here. */
static const qn_cpu_launch *launch_of(uintptr_t n) { return (const qn_cpu_launch *)n; }
static const qn_cpu_group *group_of(const void *p) { return p; }

static _Thread_local uintptr_t seen[3];

static void look(const qn_cpu_launch *launch, const qn_cpu_group *group) {
  seen[0] = (uintptr_t)launch;
  seen[1] = (uintptr_t)group;
  seen[2] = (uintptr_t)__builtin_frame_address(0);
}

static void test_a_kernel_gets_its_arguments_at_the_stack_s_top(void **state) {
  (void)state;
  cpu_stack stack;
  int group;
  assert_true(cpu_stack_take(&stack));
  cpu_stack_call(&stack, look, launch_of(7), group_of(&group));
  assert_int_equal(seen[0], 7);
  assert_ptr_equal(seen[1], &group);
  assert_in_range(seen[2], (uintptr_t)stack.pages + 4096, (uintptr_t)stack.pages + (UINT64_C(8) << 20));
  uintptr_t first = seen[2];
  cpu_stack_call(&stack, look, launch_of(8), group_of(&group));
  assert_int_equal(seen[2], first);
  cpu_stack_give(&stack);
  assert_null(stack.pages);
}

/* An entry that breaks every promise to its caller but to come back. */
void spoil(const qn_cpu_launch *launch, const qn_cpu_group *group);
/* Writes behind its return address. */
void overrun(const qn_cpu_launch *launch, const qn_cpu_group *group);
#if defined(__x86_64__)
__asm__(
    ".text\n"
    "spoil:\n"
    "mov $-1, %rax\n"
    "mov %rax, %rbx\n"
    "mov %rax, %rbp\n"
    "mov %rax, %r12\n"
    "mov %rax, %r13\n"
    "mov %rax, %r14\n"
    "mov %rax, %r15\n"
    "ret\n"
    "overrun:\n"
    "movl $1, 8(%rsp)\n"
    "ret\n");
#else
__asm__(
    ".text\n"
    "spoil:\n"
    "mov x9, #-1\n"
    "mov x19, x9\n"
    "mov x20, x9\n"
    "mov x21, x9\n"
    "mov x22, x9\n"
    "mov x23, x9\n"
    "mov x24, x9\n"
    "mov x25, x9\n"
    "mov x26, x9\n"
    "mov x27, x9\n"
    "mov x28, x9\n"
    "mov x29, x9\n"
    "fmov d8, x9\n"
    "fmov d15, x9\n"
    "ret\n"
    "overrun:\n"
    "str w9, [sp]\n"
    "ret\n");
#endif

/* Values that the compiler keeps in registers over the call, as far as it has any. */
static void test_a_kernel_s_registers_are_not_believed(void **state) {
  (void)state;
  cpu_stack stack;
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, group = 0;
  assert_true(cpu_stack_take(&stack));
  for (int i = 0; i < 100; i++) {
    cpu_stack_call(&stack, spoil, launch_of(i), group_of(&group));
    a += b, b += c, c += d, d += e, e += f, f++;
  }
  uint64_t right[6] = {1, 2, 3, 4, 5, 6};
  for (int i = 0; i < 100; i++)
    for (int k = 0; k < 6; k++) right[k] += k < 5 ? right[k + 1] : 1;
  assert_int_equal(a, right[0]);
  assert_int_equal(b, right[1]);
  assert_int_equal(c, right[2]);
  assert_int_equal(d, right[3]);
  assert_int_equal(e, right[4]);
  assert_int_equal(f, right[5]);
  cpu_stack_give(&stack);
}

static cpu_stack doomed;
enum { AT_THE_END = 7, ELSEWHERE };

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  _exit((uint8_t *)info->si_addr == doomed.pages + (UINT64_C(8) << 20) ? AT_THE_END : ELSEWHERE);
}

static void test_the_first_element_behind_a_kernel_s_frames_is_a_fault(void **state) {
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    if (cpu_stack_take(&doomed)) cpu_stack_call(&doomed, overrun, launch_of(0), group_of(NULL));
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), AT_THE_END);
}

static void *call_often(void *argument) {
  cpu_stack stack;
  (void)argument;
  if (!cpu_stack_take(&stack)) return NULL;
  uintptr_t sum = 0;
  for (uintptr_t i = 0; i < 10000; i++) {
    cpu_stack_call(&stack, look, launch_of(i), group_of(NULL));
    sum += seen[0];
  }
  cpu_stack_give(&stack);
  return (void *)sum;
}

static void test_each_thread_comes_back_to_its_own_place(void **state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
  for (int i = 0; i < 4; i++) {
    void *sum;
    pthread_join(threads[i], &sum);
    assert_int_equal((uintptr_t)sum, UINT64_C(10000) * 9999 / 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_kernel_gets_its_arguments_at_the_stack_s_top),
      cmocka_unit_test(test_a_kernel_s_registers_are_not_believed),
      cmocka_unit_test(test_the_first_element_behind_a_kernel_s_frames_is_a_fault),
      cmocka_unit_test(test_each_thread_comes_back_to_its_own_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
