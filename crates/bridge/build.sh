#!/usr/bin/env bash
# Builds the guests: the bridge, and what replaces the streams of a handler that has none, as components beside this script; and the
# service of WASI 0.3 that only tests run (crates/fixtures/service). `build.sh --check` compares instead.
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
fixtures=$(cd ../fixtures && pwd)
compile() { # folder, cargo's command and options
  local folder=$1 command=$2
  shift 2
  env -u RUSTUP_TOOLCHAIN RUSTC="$rustc" RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
    RUSTFLAGS="--remap-path-prefix=$folder=. --remap-path-prefix=$cargo_home=cargo" \
    "$cargo" "$command" --quiet --locked --release --manifest-path "$folder/Cargo.toml" --target-dir target \
    --target wasm32-unknown-unknown -Zbuild-std=core,alloc "$@"
}
compile "$PWD" build --workspace
# It is a library for the engine, too, so its manifest does not say that it is a module.
compile "$PWD" rustc --package tenon-bridge --crate-type cdylib
compile "$fixtures/service" build --workspace

compiled=target/wasm32-unknown-unknown/release
component=$(mktemp)
trap 'rm -f "$component"' EXIT

# Keeps a built file, or compares it with the one that is committed.
keep() {
  local built=$1 committed=$2
  if [ "$mode" = --check ]; then
    cmp "$built" "$committed" || { echo "bridge: $committed is not what its source builds; run crates/bridge/build.sh and commit it" >&2; exit 1; }
    echo "bridge: $committed is what its source builds"
  else
    cp "$built" "$committed"
    chmod 644 "$committed"
    echo "bridge: wrote $committed, $(wc -c < "$committed") bytes"
  fi
}

mode=${1:-}
component() { # core module, committed component
  npx --no-install jco new "$compiled/tenon_$1.wasm" -o "$component" > /dev/null
  keep "$component" "$2"
}
component bridge bridge.wasm
node no-streams.mjs "$component"
keep "$component" no-streams.wasm
component test_service ../fixtures/service.wasm
