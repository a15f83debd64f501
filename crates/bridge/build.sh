#!/usr/bin/env bash
# Builds the guests, the bridge and the adapter for calls, and writes bridge.wasm and calls.wasm beside this script.
# `build.sh --check` compares instead.
#
# rustup's wasm targets are not available everywhere, so this uses Debian's packages: rustc-web, cargo-web, rust-web-src
# and lld-19. Exit code 3 means that they are missing.
set -euo pipefail
cd "$(dirname "$0")"

rustc=/usr/bin/rustc cargo=/usr/bin/cargo linker=wasm-ld-19
for tool in "$rustc" "$cargo" "$linker"; do
  command -v "$tool" > /dev/null || { echo "bridge: $tool not found; apt-get install rustc-web cargo-web rust-web-src lld-19" >&2; exit 3; }
done

# Paths of the machine must not be in the artifact, because it is compared byte for byte.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
env -u RUSTUP_TOOLCHAIN RUSTC="$rustc" RUSTC_BOOTSTRAP=1 \
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
  RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=$cargo_home=cargo" \
  "$cargo" build --quiet --locked --release --workspace --target-dir target --target wasm32-unknown-unknown -Zbuild-std=core,alloc

built=$(mktemp)
trap 'rm -f "$built"' EXIT
for guest in bridge calls; do
  npx --no-install jco new "target/wasm32-unknown-unknown/release/tenon_$guest.wasm" -o "$built" > /dev/null
  if [ "${1:-}" = --check ]; then
    cmp "$built" "$guest.wasm" || { echo "bridge: $guest.wasm is not what its source builds; run crates/bridge/build.sh and commit it" >&2; exit 1; }
    echo "bridge: $guest.wasm is what its source builds"
  else
    cp "$built" "$guest.wasm"
    echo "bridge: wrote $guest.wasm, $(wc -c < "$guest.wasm") bytes"
  fi
done
