/* SQLite's files (sqlite3_vfs): each operation is an import. The host knows which file a handle is, so that no path crosses. */

#define HOST(name) __attribute__((import_module("host"), import_name(name)))

/* Returns a handle, or -1 - SQLITE_*. `kind` is a SQLITE_OPEN_* flag that names one of the files of the database. */
HOST("open") int host_open(int kind, int flags);
HOST("close") void host_close(int file);
/* Returns the number of bytes that were read, or -1. */
HOST("read") int host_read(int file, void *into, int bytes, sqlite3_int64 offset);
/* These return SQLITE_*. */
HOST("write") int host_write(int file, const void *from, int bytes, sqlite3_int64 offset);
HOST("truncate") int host_truncate(int file, sqlite3_int64 bytes);
HOST("sync") int host_sync(int file);
/* Returns the size in bytes, or -1. */
HOST("size") sqlite3_int64 host_size(int file);
HOST("lock") int host_lock(int file, int level);
HOST("unlock") int host_unlock(int file, int level);
/* Returns 0 or 1, or -1. */
HOST("is_reserved") int host_is_reserved(int file);
HOST("remove") int host_remove(int kind);
HOST("exists") int host_exists(int kind);
/* Maps the bytes from `chunk` times 64 KiB of the shared memory over the page at `at`. */
HOST("shared_map") int host_shared_map(int file, int chunk, void *at, int extend);
HOST("shared_lock") int host_shared_lock(int file, int first, int count, int flags);
HOST("shared_barrier") void host_shared_barrier(int file);
/* Puts memory of the instance back over the mapped pages. */
HOST("shared_unmap") int host_shared_unmap(int file, int remove);
HOST("random") void host_random(void *into, int bytes);
/* Returns milliseconds since 1970. */
HOST("now") sqlite3_int64 host_now(void);
HOST("sleep") void host_sleep(int microseconds);

#define CHUNK 65536
#define REGION 32768

typedef struct File {
  sqlite3_file base;
  int handle;
  int chunks;
  void **shared;
} File;

#define HANDLE(f) (((File *)(f))->handle)

static int file_close(sqlite3_file *f) {
  host_close(HANDLE(f));
  return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *into, int bytes, sqlite3_int64 offset) {
  int got = host_read(HANDLE(f), into, bytes, offset);
  if (got == bytes) return SQLITE_OK;
  if (got < 0) return SQLITE_IOERR_READ;
  memset((char *)into + got, 0, bytes - got);
  return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *from, int bytes, sqlite3_int64 offset) {
  return host_write(HANDLE(f), from, bytes, offset);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 bytes) { return host_truncate(HANDLE(f), bytes); }

static int file_sync(sqlite3_file *f, int flags) { return host_sync(HANDLE(f)); }

static int file_size(sqlite3_file *f, sqlite3_int64 *bytes) {
  *bytes = host_size(HANDLE(f));
  return *bytes < 0 ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level) { return host_lock(HANDLE(f), level); }

static int file_unlock(sqlite3_file *f, int level) { return host_unlock(HANDLE(f), level); }

static int file_is_reserved(sqlite3_file *f, int *reserved) {
  *reserved = host_is_reserved(HANDLE(f));
  return *reserved < 0 ? SQLITE_IOERR_CHECKRESERVEDLOCK : SQLITE_OK;
}

static int file_control(sqlite3_file *f, int operation, void *argument) { return SQLITE_NOTFOUND; }

static int file_sector(sqlite3_file *f) { return 4096; }

static int file_characteristics(sqlite3_file *f) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

/* A chunk has two of SQLite's regions, because pages of up to 64 KiB can be mapped only whole. */
static int file_shared_map(sqlite3_file *f, int region, int size, int extend, void volatile **at) {
  File *file = (File *)f;
  int chunk = region / (CHUNK / REGION), rc = SQLITE_OK;
  *at = 0;
  if (size != REGION) return SQLITE_IOERR_SHMMAP;
  while (file->chunks <= chunk && rc == SQLITE_OK) {
    void **grown = sqlite3_realloc(file->shared, (file->chunks + 1) * sizeof(void *));
    void *page = grown ? aligned_alloc(CHUNK, CHUNK) : 0;
    if (grown) file->shared = grown;
    if (!page) return SQLITE_NOMEM;
    rc = host_shared_map(file->handle, file->chunks, page, extend);
    if (rc == SQLITE_OK) {
      file->shared[file->chunks++] = page;
    } else {
      free(page);
      /* Without `extend`, shared memory that is too short is no error. */
      if (rc == SQLITE_EMPTY) return SQLITE_OK;
    }
  }
  if (rc == SQLITE_OK) *at = (char *)file->shared[chunk] + (region % (CHUNK / REGION)) * REGION;
  return rc;
}

static int file_shared_lock(sqlite3_file *f, int first, int count, int flags) {
  return host_shared_lock(HANDLE(f), first, count, flags);
}

static void file_shared_barrier(sqlite3_file *f) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  host_shared_barrier(HANDLE(f));
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static int file_shared_unmap(sqlite3_file *f, int remove) {
  File *file = (File *)f;
  int rc = host_shared_unmap(file->handle, remove);
  while (file->chunks > 0) free(file->shared[--file->chunks]);
  sqlite3_free(file->shared);
  file->shared = 0;
  return rc;
}

static const sqlite3_io_methods file_methods = {
    2,           file_close,       file_read,  file_write,           file_truncate,    file_sync,        file_size,
    file_lock,   file_unlock,      file_is_reserved, file_control,   file_sector,      file_characteristics,
    file_shared_map, file_shared_lock, file_shared_barrier, file_shared_unmap,
};

/* The file of a database that a name stands for; 0 for every other name. */
static int kind_of(const char *name) {
  if (!name) return 0;
  if (!strcmp(name, DATABASE)) return SQLITE_OPEN_MAIN_DB;
  if (!strcmp(name, DATABASE "-journal")) return SQLITE_OPEN_MAIN_JOURNAL;
  if (!strcmp(name, DATABASE "-wal")) return SQLITE_OPEN_WAL;
  return 0;
}

#define TEMPORARY                                                                                              \
  (SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL)

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
  File *file = (File *)f;
  int kind = name ? kind_of(name) : SQLITE_OPEN_TEMP_DB;
  memset(file, 0, sizeof *file);
  if (!kind) return SQLITE_CANTOPEN;
  file->handle = host_open(kind, flags);
  if (file->handle < 0) return -1 - file->handle;
  file->base.pMethods = &file_methods;
  if (out) *out = flags;
  return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  int kind = kind_of(name);
  return kind ? host_remove(kind) : SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  int kind = kind_of(name);
  *result = kind ? host_exists(kind) : 0;
  return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int bytes, char *out) {
  sqlite3_snprintf(bytes, out, "%s", name);
  return SQLITE_OK;
}

static int vfs_random(sqlite3_vfs *vfs, int bytes, char *out) {
  host_random(out, bytes);
  return bytes;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  host_sleep(microseconds);
  return microseconds;
}

static int vfs_now(sqlite3_vfs *vfs, sqlite3_int64 *now) {
  *now = 210866760000000LL + host_now(); /* the Julian day of 1970 */
  return SQLITE_OK;
}

static int vfs_now_in_days(sqlite3_vfs *vfs, double *now) {
  sqlite3_int64 milliseconds;
  vfs_now(vfs, &milliseconds);
  *now = milliseconds / 86400000.0;
  return SQLITE_OK;
}

static int vfs_error(sqlite3_vfs *vfs, int bytes, char *out) { return 0; }

static sqlite3_vfs host_vfs = {
    2,          sizeof(File), 64,        0,         "host",          0,       vfs_open, vfs_delete, vfs_access, vfs_full_path,
    0,          0,            0,         0,         vfs_random,      vfs_sleep, vfs_now_in_days, vfs_error, vfs_now,
};

int sqlite3_os_init(void) { return sqlite3_vfs_register(&host_vfs, 1); }

int sqlite3_os_end(void) { return SQLITE_OK; }
