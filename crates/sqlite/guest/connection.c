/* SQLite as one connection of a host. The instance is its wall: memory, time and files are the host's to bound. */

#include "sqlite3.c"

#define DATABASE "/db"

#include "files.c"
#include "programs.c"

/* Returns whether the statement has to end. */
HOST("is_over") int host_is_over(void);
/* Returns SQLITE_OK or SQLITE_DENY. */
HOST("authorize") int host_authorize(int action, const char *first, const char *second, const char *schema, const char *from);

/* Steps of a statement between two looks at the clock: some 20 µs. */
#define STEPS 1000

static int is_over(void *unused) { return host_is_over(); }

static int authorize(void *unused, int action, const char *first, const char *second, const char *schema, const char *from) {
  return host_authorize(action, first, second, schema, from);
}

/* Opens the one database, or one in memory. Returns 0 when there is no memory. */
__attribute__((export_name("open"))) sqlite3 *open_database(int in_memory, int wait_ms) {
  sqlite3 *db = 0;
  sqlite3_open_v2(in_memory ? ":memory:" : DATABASE, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, 0);
  if (!db) return 0;
  sqlite3_busy_timeout(db, wait_ms);
  /* An unknown name must not count as a text, and a statement must not corrupt the file, nor the schema call unsafe functions. */
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  sqlite3_set_authorizer(db, authorize, 0);
  sqlite3_progress_handler(db, STEPS, is_over, 0);
  return db;
}

/* A value of a row: its type, its number of bytes, and its number or the place of its bytes. */
typedef struct Cell {
  int type;
  int bytes;
  union {
    sqlite3_int64 integer;
    double real;
    const void *at;
  };
} Cell;

/* Compiles a statement; `*rest` is the number of bytes after it. Returns 0 for blanks, or when the code is not SQLITE_OK. */
__attribute__((export_name("prepare"))) sqlite3_stmt *prepare(sqlite3 *db, const char *sql, int bytes, int *rest) {
  sqlite3_stmt *statement = 0;
  const char *tail = sql;
  sqlite3_prepare_v3(db, sql, bytes, SQLITE_PREPARE_PERSISTENT, &statement, &tail);
  *rest = bytes - (int)(tail - sql);
  return statement;
}

/* Makes a step. On a row, the cells have its values, which are valid until the next step. */
__attribute__((export_name("step"))) int step(sqlite3_stmt *statement, Cell *cells, int count) {
  int rc = sqlite3_step(statement), at;
  if (rc != SQLITE_ROW) return rc;
  if (count > sqlite3_column_count(statement)) count = sqlite3_column_count(statement);
  for (at = 0; at < count; at++) {
    Cell *cell = &cells[at];
    cell->type = sqlite3_column_type(statement, at);
    cell->bytes = 0;
    switch (cell->type) {
      case SQLITE_INTEGER: cell->integer = sqlite3_column_int64(statement, at); break;
      case SQLITE_FLOAT: cell->real = sqlite3_column_double(statement, at); break;
      case SQLITE_TEXT:
        cell->at = sqlite3_column_text(statement, at);
        cell->bytes = sqlite3_column_bytes(statement, at);
        break;
      case SQLITE_BLOB:
        cell->at = sqlite3_column_blob(statement, at);
        cell->bytes = sqlite3_column_bytes(statement, at);
        break;
    }
    if (cell->bytes && !cell->at) return SQLITE_NOMEM;
  }
  return SQLITE_ROW;
}

/* Binds a text or a blob, whose memory SQLite frees. */
__attribute__((export_name("bind_bytes"))) int bind_bytes(sqlite3_stmt *statement, int at, void *bytes, int count, int is_text) {
  return is_text ? sqlite3_bind_text64(statement, at, bytes, count, free, SQLITE_UTF8)
                 : sqlite3_bind_blob64(statement, at, bytes, count, free);
}

/* Recompiles the statement if that is due, so that the program that `opened` reports is the one that runs. */
__attribute__((export_name("renew"))) int renew(sqlite3_stmt *statement) {
  Vdbe *program = (Vdbe *)statement;
  return program->expired ? sqlite3Reprepare(program) : SQLITE_OK;
}

/* Reports whether a table keeps the data of a virtual table, and where the name of that one ends; 0 when it does not. */
__attribute__((export_name("shadows"))) int shadows(sqlite3 *db, const char *name) {
  const char *end = strrchr(name, '_');
  return end && sqlite3ShadowTableName(db, name) ? (int)(end - name) : 0;
}
