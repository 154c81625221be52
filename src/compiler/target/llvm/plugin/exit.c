/* exit.c - LLVM's static objects are not destroyed when the process ends (L1, L6).
 *
 * A thread may still be compiling then, for far longer than exit waits, and would find them destroyed. LLVM's constructors
 * register their destructors with this function; it stands in the same library and is hidden, so that no other code finds
 * it. What is left is the process's memory, which ends with it.
 */
int __cxa_atexit(void (*destroy)(void *), void *object, void *library);

__attribute__((visibility("hidden"))) int __cxa_atexit(void (*destroy)(void *), void *object, void *library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}
