#!/usr/bin/env bash
# Builds engine.wasm, which stands beside this script: QuickJS-ng from the source that the crate rquickjs-sys carries, the patches
# and the C files here. `build.sh --check` compares instead.
#
# It uses Debian's packages clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32. Exit code 3 means that they are missing.
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

linked=$(mktemp) built=$(mktemp)
trap 'rm -f "$linked" "$built"' EXIT
"$clang" "${flags[@]}" -Wall -Wextra -Werror -nostartfiles -L/usr/lib/wasm32-wasi -B/usr/lib/wasm32-wasi src/*.c "$folder"/*.o -lm \
  -Wl,--no-entry,-z,stack-size=1048576,--stack-first,--gc-sections,--strip-all,--export-table -o "$linked"
node embed.mjs "$linked" "$built"

if [ "${1:-}" = --check ]; then
  cmp "$built" engine.wasm || { echo "engine: engine.wasm is not what its source builds; run crates/engine/build.sh and commit it" >&2; exit 1; }
  echo "engine: engine.wasm is what its source builds"
else
  cp "$built" engine.wasm
  chmod 644 engine.wasm
  echo "engine: wrote engine.wasm, $(wc -c < engine.wasm) bytes"
fi
