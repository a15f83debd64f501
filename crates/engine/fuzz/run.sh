#!/usr/bin/env bash
# Compiles the bindings and QuickJS-ng for 32 bits with AddressSanitizer and UndefinedBehaviorSanitizer, and sends random requests.
# Besides what build.sh needs, Debian's package gcc-multilib is needed; exit code 3 means that it is missing. run.sh [SEEDS] [REQUESTS]
set -euo pipefail
cd "$(dirname "$0")"
[ -d ../target/quickjs ] || { echo "run crates/engine/build.sh first" >&2; exit 1; }
[ -e /usr/include/x86_64-linux-gnu/gnu/stubs-32.h ] || [ -e /usr/include/gnu/stubs-32.h ] || { echo "engine: apt-get install gcc-multilib" >&2; exit 3; }
mkdir -p ../target/fuzz
platform=i686-unknown-linux-gnu
env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo build --quiet --release --manifest-path ../platform/Cargo.toml \
  --target-dir ../target/fuzz-platform --target "$platform" -Zbuild-std=core,alloc \
  --no-default-features --features digests,crypto,url,encoding,compression
flags=(-m32 -g -O1 -std=gnu2x -D_GNU_SOURCE -DNDEBUG -DQUICKJS_NG_BUILD -DENGINE_FUZZ -fsanitize=address,undefined -fno-sanitize-recover=all
  -fno-sanitize=alignment,shift,float-cast-overflow -fno-omit-frame-pointer -I../target/quickjs -I../platform -DTENON_FULL -w)
for file in quickjs libregexp libunicode dtoa; do
  object=../target/fuzz/$file.o
  [ "$object" -nt "../target/quickjs/$file.c" ] || gcc "${flags[@]}" -c "../target/quickjs/$file.c" -o "$object" &
done
wait
sources=$(find ../src -name '*.c' ! -name libc.c)
# shellcheck disable=SC2086
gcc "${flags[@]}" fuzz.c $sources ../target/fuzz/*.o "../target/fuzz-platform/$platform/release/libtenon_platform.a" -lm -o ../target/fuzz/fuzz
# Memory that is left at the end belongs to the snapshot, so leaks are not looked for.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
for seed in $(seq 1 "${1:-20}"); do
  ../target/fuzz/fuzz handler.js "$seed" "${2:-2000}" || { echo "fuzz: seed $seed failed" >&2; exit 1; }
done
