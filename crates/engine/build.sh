#!/usr/bin/env bash
# Builds the engine, which stands beside this script: QuickJS-ng from the source that the crate rquickjs-sys carries, the patches,
# the C files and the platform library here. engine.wasm has digests and URLs of that library; engine-full.wasm has all of it. `build.sh
# --check` compares instead.
#
# It uses Debian's packages clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32, rustc-web, cargo-web and rust-web-src. Exit code
# 3 means that they are missing.
set -euo pipefail
cd "$(dirname "$0")"

clang=clang-19
for file in "/usr/bin/$clang" /usr/bin/wasm-ld-19 /usr/lib/wasm32-wasi/libc.a /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a; do
  [ -e "$file" ] || { echo "engine: $file not found; apt-get install $clang lld-19 wasi-libc libclang-rt-19-dev-wasm32" >&2; exit 3; }
done

manifest=$(cargo metadata --locked --filter-platform x86_64-unknown-linux-gnu --format-version 1 | node -e '
  const { packages } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  console.log(packages.find((each) => each.name === "rquickjs-sys").manifest_path)')
folder=target/quickjs
rm -rf "$folder"
mkdir -p "$folder"
cp "$(dirname "$manifest")"/quickjs/*.[ch] "$folder"
for patch in patches/*.patch; do
  [ -e "$patch" ] || continue
  patch --quiet --strip=1 --directory="$folder" < "$patch"
done

flags=(--target=wasm32-wasi --sysroot=/usr -isystem /usr/include/wasm32-wasi -std=gnu2x -O2 -DNDEBUG -D_GNU_SOURCE
  -DQUICKJS_NG_BUILD -mbulk-memory -msign-ext -mnontrapping-fptoint -I"$folder")
compiling=()
for file in quickjs libregexp libunicode dtoa; do
  "$clang" "${flags[@]}" -w -c "$folder/$file.c" -o "$folder/$file.o" &
  compiling+=($!)
done
for each in "${compiling[@]}"; do wait "$each"; done

platform/build.sh
library=platform/target/wasm32-unknown-unknown/release/libtenon_platform.a

linked=$(mktemp) built=$(mktemp)
trap 'rm -f "$linked" "$built"' EXIT
# Place 1 of the table is for the dispatcher of imported modules (src/linked.c), those from 2 on for the host's functions (places.txt).
exports=(bridge_handle calls_start calls_wait calls_take calls_ready calls_read calls_write calls_cancel log_write host_realloc)
link() { # artifact, options...
  local artifact=$1
  shift
  "$clang" "${flags[@]}" -Wall -Wextra -Wno-unused-parameter -Werror -Iplatform -nostartfiles -L/usr/lib/wasm32-wasi -B/usr/lib/wasm32-wasi "$@" "$folder"/*.o \
    "$library" -lm -Wl,--no-entry,-z,stack-size=1048576,--stack-first,--gc-sections,--strip-debug,--export-table,--table-base=128 \
    "${exports[@]/#/-Wl,--export=}" -o "$linked"
  node seal.mjs "$linked" "$built"
  keep "$built" "$artifact"
}

# Keeps a built file, or compares it with the one that is committed.
keep() {
  local built=$1 artifact=$2
  if [ "$mode" = --check ]; then
    cmp "$built" "$artifact" || { echo "engine: $artifact is not what its source builds; run crates/engine/build.sh and commit it" >&2; exit 1; }
    echo "engine: $artifact is what its source builds"
  else
    cp "$built" "$artifact"
    chmod 644 "$artifact"
    echo "engine: wrote $artifact, $(wc -c < "$artifact") bytes"
  fi
}

mode=${1:-}
# The large sources, and those that few programs use.
full=(src/{compress,crypto,encoding}.c)
lean=()
for file in src/*.c; do
  [[ " ${full[*]} " == *" $file "* ]] || lean+=("$file")
done
link engine.wasm "${lean[@]}"
link engine-full.wasm -DTENON_FULL "${lean[@]}" "${full[@]}"
wrappers=$(mktemp -d)
trap 'rm -rf "$linked" "$built" "$wrappers"' EXIT
node wrappers.mjs "$linked" "$wrappers"
for kind in bare handler composed; do keep "$wrappers/$kind.wasm" "wrappers/$kind.wasm"; done
