# The places of a cluster of one node. Sourced by the other scripts of this folder, which scripts/cluster/run.mjs starts.
export TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/tenon-cluster
export STATE=$TOOLS/state
export PKI=$STATE/pki LOG=$STATE/log RUN=$STATE/run
# Short, because the path of a Unix socket has 107 characters at most.
export SHORT=/run/tenon-cluster
export CONTAINERD=$SHORT/containerd.sock
export REGISTRY=127.0.0.1:5601
export NODE_NAME=tenon-test POD_CIDR=10.244.0.0/24 SERVICE_CIDR=10.96.0.0/16
NODE_IP=$(ip -4 -o route get 192.0.2.1 | sed -n 's/.* src \([0-9.]*\).*/\1/p')
export NODE_IP
export KUBECONFIG=$STATE/admin.conf CONTAINERS_STORAGE_CONF=$STATE/storage.conf
export PATH=$TOOLS/bin:/usr/local/sbin:/usr/sbin:/sbin:$PATH

# start NAME COMMAND…: runs a daemon in a session of its own.
start() {
  local name=$1
  shift
  setsid "$@" > "$LOG/$name.log" 2>&1 < /dev/null &
  echo $! > "$RUN/$name.pid"
}

# until_true SECONDS COMMAND…: waits until a command succeeds.
until_true() {
  local ends=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$ends" ] || { echo "this never came true: $*" >&2; return 1; }
    sleep 0.2
  done
}
