#!/usr/bin/env bash
# Builds libtenon_platform.a for the engine, in target/wasm32-unknown-unknown/release. `build.sh <cargo's options>` builds a part.
#
# rustup's wasm targets are not available everywhere, so this uses Debian's packages: rustc-web, cargo-web and rust-web-src.
# Exit code 3 means that they are missing.
set -euo pipefail
cd "$(dirname "$0")"

rustc=/usr/bin/rustc cargo=/usr/bin/cargo
for tool in "$rustc" "$cargo"; do
  command -v "$tool" > /dev/null || { echo "engine: $tool not found; apt-get install rustc-web cargo-web rust-web-src" >&2; exit 3; }
done

# Paths of the machine must not be in the artifact, because it is compared byte for byte.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
features=+bulk-memory,+sign-ext,+nontrapping-fptoint
env -u RUSTUP_TOOLCHAIN RUSTC="$rustc" RUSTC_BOOTSTRAP=1 \
  RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=$cargo_home=cargo -Ctarget-feature=$features" \
  "$cargo" build --quiet --release --target-dir target --target wasm32-unknown-unknown -Zbuild-std=core,alloc "$@"
