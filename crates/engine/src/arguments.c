// Memory for what the host writes: arguments of exports, results of imports.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { BLOCK = 16 * 1024 };

static _Alignas(16) uint8_t block[BLOCK];
static uint32_t used;
// Arguments that did not fit into the block.
static void **allocated;
static uint32_t count, capacity;

void *grown(void *array, uint32_t needed, uint32_t *capacity, size_t each) {
  if (needed <= *capacity) return array;
  *capacity = needed < 32 ? 32 : 2 * needed;
  array = realloc(array, *capacity * each);
  if (!array) __builtin_trap();
  return array;
}

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t was, size_t alignment, size_t size) {
  if (size == 0) return (void *)alignment;
  uint32_t at = (used + alignment - 1) & ~(alignment - 1);
  void *made;
  if (at <= BLOCK && size <= BLOCK - at) {
    made = block + at;
    used = at + size;
  } else {
    made = malloc(size);
    if (!made) __builtin_trap();
    allocated = grown(allocated, count + 1, &capacity, sizeof *allocated);
    allocated[count++] = made;
  }
  if (old && was) memcpy(made, old, was < size ? was : size);
  return made;
}

Mark arguments_mark(void) { return (Mark){used, count}; }

void arguments_forget(Mark mark) {
  if (is_building) memset(block + mark.used, 0, used - mark.used);
  used = mark.used;
  while (count > mark.allocated) free(allocated[--count]);
}

bool arguments_take_over(const void *argument) {
  for (uint32_t index = count; index-- > 0;) {
    if (allocated[index] != argument) continue;
    allocated[index] = NULL;
    return true;
  }
  return false;
}

// Memory for results of the functions that the bridge and the adapter call (crates/bridge): they own it.
void *host_realloc(void *old, size_t was, size_t alignment, size_t size) {
  if (size == 0) return (void *)alignment;
  void *made = realloc(old, size);
  if (!made) __builtin_trap();
  return made;
}
