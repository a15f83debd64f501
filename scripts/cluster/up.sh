#!/bin/bash
# Brings up the node: etcd, the control plane, containerd, kubelet, kube-proxy, and a registry. Everything listens on loopback addresses,
# but kubelet, which listens on the node's.
set -eu
here=$(dirname "$0")
. "$here/env.sh"
[ ! -e "$RUN" ] || { echo "a node is up already, or one was left: run $here/down.sh" >&2; exit 1; }
mkdir -p "$PKI" "$LOG" "$RUN" "$STATE"/{cni,pause,kubelet,registry} "$SHORT" /etc/cni
"$here/certificates.sh"

# kubelet and kube-proxy change these; down.sh puts them back.
sysctl vm.overcommit_memory kernel.panic kernel.panic_on_oops net.ipv4.conf.all.route_localnet net.ipv4.ip_forward \
  net.netfilter.nf_conntrack_tcp_timeout_established net.netfilter.nf_conntrack_tcp_timeout_close_wait > "$RUN/sysctl" 2> /dev/null || true
sysctl -qw net.ipv4.ip_forward=1

start etcd etcd --name one --data-dir "$STATE/etcd" --unsafe-no-fsync --logger zap \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster one=http://127.0.0.1:2380
until_true 20 curl -sf http://127.0.0.1:2379/health
start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address=127.0.0.1 --secure-port=6443 \
  --advertise-address="$NODE_IP" --service-cluster-ip-range="$SERVICE_CIDR" --endpoint-reconciler-type=none --profiling=false \
  --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" --client-ca-file="$PKI/ca.crt" \
  --service-account-key-file="$PKI/sa.pub" --service-account-signing-key-file="$PKI/sa.key" \
  --service-account-issuer=https://kubernetes.default.svc --authorization-mode=Node,RBAC \
  --kubelet-client-certificate="$PKI/admin.crt" --kubelet-client-key="$PKI/admin.key" \
  --kubelet-certificate-authority="$PKI/ca.crt" --kubelet-preferred-address-types=InternalIP
until_true 60 kubectl get --raw /readyz
start controllers kube-controller-manager --kubeconfig="$KUBECONFIG" --bind-address=127.0.0.1 --leader-elect=false \
  --service-account-private-key-file="$PKI/sa.key" --root-ca-file="$PKI/ca.crt" --use-service-account-credentials=false
start scheduler kube-scheduler --kubeconfig="$KUBECONFIG" --bind-address=127.0.0.1 --leader-elect=false

cat > "$STATE/registry.yml" << YAML
version: 0.1
log: { level: warn }
storage: { filesystem: { rootdirectory: $STATE/registry } }
http: { addr: "$REGISTRY" }
YAML
"$here/registry.sh"

cat > "$CONTAINERS_STORAGE_CONF" << TOML
[storage]
driver = "vfs"
graphroot = "$STATE/images"
runroot = "$SHORT/images"
TOML
cat > "$STATE/cni/10-bridge.conflist" << JSON
{ "cniVersion": "0.4.0", "name": "bridge", "plugins": [
  { "type": "bridge", "bridge": "tenon0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "$STATE/cni/state", "ranges": [[{ "subnet": "$POD_CIDR" }]], "routes": [{ "dst": "0.0.0.0/0" }] } }
] }
JSON
# `restrict_oom_score_adj`: a machine without CAP_SYS_RESOURCE cannot give sandboxes a lower score than its own.
cat > "$STATE/containerd.toml" << TOML
version = 2
root = "$STATE/containerd"
state = "$SHORT/state"
[grpc]
  address = "$CONTAINERD"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$STATE/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".registry.mirrors."$REGISTRY"]
    endpoint = ["http://$REGISTRY"]
TOML
start containerd containerd -c "$STATE/containerd.toml"
until_true 20 ctr -a "$CONTAINERD" version

# The image of sandboxes: one program that waits for a signal.
cat > "$STATE/pause/main.go" << 'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
}
GO
(cd "$STATE/pause" && CGO_ENABLED=0 GO111MODULE=off go build -ldflags '-s -w' -o pause main.go)
container=$(buildah from scratch)
buildah copy -q "$container" "$STATE/pause/pause" /pause > /dev/null
buildah config --entrypoint '["/pause"]' "$container"
buildah commit -q "$container" "docker-archive:$STATE/pause/pause.tar:localhost/pause:1" > /dev/null
buildah rm "$container" > /dev/null
ctr -a "$CONTAINERD" -n k8s.io images import "$STATE/pause/pause.tar" > /dev/null

cat > "$STATE/kubelet.yaml" << YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
healthzBindAddress: 127.0.0.1
authentication: { anonymous: { enabled: false }, webhook: { enabled: false }, x509: { clientCAFile: $PKI/ca.crt } }
authorization: { mode: AlwaysAllow }
tlsCertFile: $PKI/kubelet.crt
tlsPrivateKeyFile: $PKI/kubelet.key
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://$CONTAINERD
podLogsDir: $STATE/pods
resolvConf: ""
clusterDNS: [10.96.0.10]
localStorageCapacityIsolation: false
volumePluginDir: $STATE/kubelet/plugins-exec
evictionHard: { memory.available: 300Mi }
YAML
start kubelet kubelet --config="$STATE/kubelet.yaml" --kubeconfig="$STATE/kubelet.conf" --hostname-override="$NODE_NAME" \
  --node-ip="$NODE_IP" --root-dir="$STATE/kubelet"
cat > "$STATE/proxy.yaml" << YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
bindAddress: 127.0.0.1
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection: { kubeconfig: $KUBECONFIG }
clusterCIDR: $POD_CIDR
hostnameOverride: $NODE_NAME
mode: iptables
conntrack: { maxPerCore: 0 }
nodePortAddresses: [127.0.0.0/8]
YAML
start proxy kube-proxy --config="$STATE/proxy.yaml"
is_ready() { kubectl get node "$NODE_NAME" | grep -qw Ready; }
until_true 60 is_ready
kubectl get nodes
