#!/bin/sh
# Makes the image of deploy/Containerfile with buildah, without a daemon, a base image and a network. The libraries are those of this
# system. Run it as root, or in `buildah unshare`, after `cargo build --profile dist --workspace --bin tenon-server` and
# `tenon build -r --server`:
#
#   deploy/image.sh <program> <project>/dist/server <image> [libpg-query.wasm]
#
# <image> is a name for the local store, or oci:<folder>:<tag> for an image in a folder. The code runs on processors from TARGET_CPU on:
# x86-64-v2 or armv8-a by default, or a later one of `tenon compile --target-cpu`.
set -eu
[ $# -ge 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 server=$2 image=$3 parser=${4:-}

root=$(mktemp -d)
container=
clean() {
  rm -rf "$root"
  [ -z "$container" ] || buildah rm "$container" > /dev/null
}
trap clean EXIT

install -D -m 755 "$program" "$root/usr/bin/tenon-server"
[ -z "$parser" ] || install -m 644 "$parser" "$root/usr/bin/libpg-query.wasm"
# The chart's probes call `tenon`.
ln -s tenon-server "$root/usr/bin/tenon"
mkdir -p "$root/srv/server" "$root/etc/ssl/certs"
cp -r "$server/." "$root/srv/server/"
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do install -D -m 755 "$library" "$root$library"; done
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
echo 'tenon:x:1000:1000::/:/sbin/nologin' > "$root/etc/passwd"
chmod -R go=rX "$root"
mkdir -m 1777 "$root/tmp"
case $(uname -m) in x86_64) oldest=x86-64-v2 ;; *) oldest=armv8-a ;; esac
"$program" compile --in-place --target-cpu "${TARGET_CPU:-$oldest}" "$root/srv/server/server.json"

container=$(buildah from scratch)
buildah copy -q "$container" "$root" / > /dev/null
buildah config --user 1000:1000 --port 3000 --stop-signal SIGTERM \
  --entrypoint '["/usr/bin/tenon-server"]' --cmd 'run --host 0.0.0.0 --port 3000' "$container"
buildah commit -q "$container" "$image"
