#!/usr/bin/env bash
# Compiles the bindings and QuickJS-ng for 32 bits with AddressSanitizer and UndefinedBehaviorSanitizer, and sends random requests.
# Debian's package gcc-multilib is needed. run.sh [SEEDS] [REQUESTS]
set -euo pipefail
cd "$(dirname "$0")"
[ -d ../target/quickjs ] || { echo "run crates/engine/build.sh first" >&2; exit 1; }
mkdir -p ../target/fuzz
flags=(-m32 -g -O1 -std=gnu2x -D_GNU_SOURCE -DNDEBUG -DQUICKJS_NG_BUILD -DENGINE_FUZZ -fsanitize=address,undefined -fno-sanitize-recover=all
  -fno-sanitize=alignment,shift,float-cast-overflow -fno-omit-frame-pointer -I../target/quickjs -w)
for file in quickjs libregexp libunicode dtoa; do
  object=../target/fuzz/$file.o
  [ "$object" -nt "../target/quickjs/$file.c" ] || gcc "${flags[@]}" -c "../target/quickjs/$file.c" -o "$object" &
done
wait
sources=$(find ../src -name '*.c' ! -name libc.c)
# shellcheck disable=SC2086
gcc "${flags[@]}" fuzz.c $sources ../target/fuzz/*.o -lm -o ../target/fuzz/fuzz
# What is left at the end is the snapshot's.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0
for seed in $(seq 1 "${1:-20}"); do
  ../target/fuzz/fuzz handler.js "$seed" "${2:-2000}" || { echo "fuzz: seed $seed failed" >&2; exit 1; }
done
