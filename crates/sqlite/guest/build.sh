#!/usr/bin/env bash
# Builds sqlite.wasm, which stands beside this script: SQLite from the source that the crate libsqlite3-sys carries, and the C
# files here. `build.sh --check` compares instead.
#
# It uses Debian's packages clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32. Exit code 3 means that they are missing.
set -euo pipefail
cd "$(dirname "$0")"

clang=clang-19
for file in "/usr/bin/$clang" /usr/bin/wasm-ld-19 /usr/lib/wasm32-wasi/libc.a /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a; do
  [ -e "$file" ] || { echo "sqlite: $file not found; apt-get install $clang lld-19 wasi-libc libclang-rt-19-dev-wasm32" >&2; exit 3; }
done

manifest=$(cargo metadata --locked --filter-platform x86_64-unknown-linux-gnu --format-version 1 | node -e '
  const { packages } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log(packages.find((each) => each.name === "libsqlite3-sys").manifest_path)')
source=$(dirname "$manifest")/sqlite3

built=$(mktemp)
trap 'rm -f "$built"' EXIT

options=(
  # The interface to the host.
  -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=1 -DSQLITE_MAX_MMAP_SIZE=0
  -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DSQLITE_DQS=0
  # Features of statements.
  -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_STAT4 -DSQLITE_SOUNDEX
  # Features that statements lack.
  -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_DESERIALIZE -DSQLITE_OMIT_TRACE
  -DSQLITE_OMIT_LOCALTIME
)
exports=(
  malloc free sqlite3_finalize sqlite3_reset sqlite3_clear_bindings sqlite3_limit sqlite3_errmsg
  sqlite3_extended_errcode sqlite3_get_autocommit sqlite3_changes64 sqlite3_total_changes64
  sqlite3_stmt_readonly sqlite3_stmt_status sqlite3_bind_null sqlite3_bind_int64 sqlite3_bind_double
  sqlite3_bind_parameter_count sqlite3_bind_parameter_name sqlite3_column_count sqlite3_column_name sqlite3_column_decltype
  sqlite3_complete
)
"$clang" --target=wasm32-wasi --sysroot=/usr -isystem /usr/include/wasm32-wasi -L/usr/lib/wasm32-wasi -B/usr/lib/wasm32-wasi \
  -mexec-model=reactor -std=c11 -Os -DNDEBUG -w -I"$source" -mbulk-memory -msign-ext -mnontrapping-fptoint \
  "${options[@]}" connection.c -lm \
  -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--strip-all "${exports[@]/#/-Wl,--export=}" -o "$built"

if [ "${1:-}" = --check ]; then
  cmp "$built" sqlite.wasm || { echo "sqlite: sqlite.wasm is not what its source builds; run crates/sqlite/guest/build.sh and commit it" >&2; exit 1; }
  echo "sqlite: sqlite.wasm is what its source builds"
else
  cp "$built" sqlite.wasm
  chmod 644 sqlite.wasm
  echo "sqlite: wrote sqlite.wasm, $(wc -c < sqlite.wasm) bytes"
fi
