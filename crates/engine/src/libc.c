// Functions for which wasi-libc would ask WASI preview 1, by the host's own interfaces. Nothing else of a system exists here.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <wasi/api.h>

#include "engine.h"

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock == CLOCK_REALTIME) {
    Moment moment;
    host_wall(&moment);
    *time = (struct timespec){moment.seconds, moment.nanoseconds};
  } else {
    uint64_t now = host_monotonic();
    *time = (struct timespec){now / 1000000000, now % 1000000000};
  }
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  Moment moment;
  host_wall(&moment);
  *time = (struct timeval){moment.seconds, moment.nanoseconds / 1000};
  return 0;
}

time_t time(time_t *into) {
  Moment moment;
  host_wall(&moment);
  if (into) *into = moment.seconds;
  return moment.seconds;
}

_Noreturn void abort(void) { __builtin_trap(); }

_Noreturn void exit(int status) {
  __builtin_trap();
}

// Files: only the log, for what QuickJS prints of itself.

__wasi_errno_t __wasi_fd_write(__wasi_fd_t file, const __wasi_ciovec_t *parts, size_t count, __wasi_size_t *written) {
  *written = 0;
  for (size_t part = 0; part < count; part++) {
    host_write(file == 1 ? OUT : ERR, parts[part].buf, parts[part].buf_len);
    *written += parts[part].buf_len;
  }
  return 0;
}

__wasi_errno_t __wasi_fd_close(__wasi_fd_t file) {
  return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t file, __wasi_filedelta_t offset, __wasi_whence_t whence, __wasi_filesize_t *position) {
  return __WASI_ERRNO_SPIPE;
}

__wasi_errno_t __wasi_fd_fdstat_get(__wasi_fd_t file, __wasi_fdstat_t *status) {
  *status = (__wasi_fdstat_t){.fs_filetype = __WASI_FILETYPE_CHARACTER_DEVICE};
  return 0;
}
