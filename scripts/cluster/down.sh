#!/bin/bash
# Stops what up.sh started, by its process ids, takes back what it changed in the system, and looks whether anything is left.
. "$(dirname "$0")/env.sh"
kubectl delete deployment,statefulset,pod --all --timeout=60s --wait > /dev/null 2>&1
stop() {
  local id
  id=$(cat "$RUN/$1.pid" 2> /dev/null) || return 0
  kill "$id" 2> /dev/null
  for _ in $(seq 100); do kill -0 "$id" 2> /dev/null || break; sleep 0.1; done
  kill -9 "$id" 2> /dev/null
  rm -f "$RUN/$1.pid"
}
stop kubelet
stop proxy
control() { ctr -a "$CONTAINERD" -n k8s.io "$@" > /dev/null 2>&1; }
for task in $(ctr -a "$CONTAINERD" -n k8s.io tasks ls -q 2> /dev/null); do
  control tasks kill -s SIGKILL "$task"
  sleep 0.2
  control tasks rm -f "$task"
  control containers rm "$task"
done
for daemon in scheduler controllers apiserver etcd containerd registry; do stop "$daemon"; done

[ -e "$STATE/proxy.yaml" ] && kube-proxy --cleanup --config="$STATE/proxy.yaml" > /dev/null 2>&1
for command in iptables ip6tables; do
  for table in nat mangle filter; do
    rules() { "$command" -t "$table" -S 2> /dev/null; }
    chains=$(rules | awk '$1 == "-N" && $2 ~ /^(KUBE-|CNI-)/ { print $2 }')
    for chain in $chains; do "$command" -t "$table" -F "$chain"; done
    rules | awk '$1 == "-A" && / -j (KUBE-|CNI-)/' | sed 's/^-A/-D/' | while read -r rule; do eval "$command -t $table $rule"; done
    for chain in $chains; do "$command" -t "$table" -X "$chain"; done
  done
done
ip link del tenon0 2> /dev/null
for namespace in $(ip netns list 2> /dev/null | awk '/^cni-/ { print $1 }'); do ip netns del "$namespace"; done
awk -v state="$STATE/" -v short="$SHORT/" 'index($2, state) == 1 || index($2, short) == 1 { print $2 }' /proc/mounts | sort -r |
  while read -r mount; do umount "$mount"; done
find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2> /dev/null
[ -e "$RUN/sysctl" ] && sysctl -q -p "$RUN/sysctl"
rm -rf "$STATE" "$SHORT" /var/lib/cni
rmdir /etc/cni /var/log/containers 2> /dev/null

left=()
grep -qE "$STATE|$SHORT" /proc/mounts && left+=(mounts)
iptables-save 2> /dev/null | grep -qE 'KUBE-|CNI-' && left+=(iptables)
ip link show tenon0 > /dev/null 2>&1 && left+=(tenon0)
[ -n "$(find /sys/fs/cgroup -type d -path '*/kubepods*' -print -quit)" ] && left+=(cgroups)
for entry in /proc/[0-9]*/cmdline; do
  tr '\0' ' ' 2> /dev/null < "$entry" | grep -qE "^[^ ]*(kube-|kubelet|containerd|etcd)[^ ]* .*($STATE|$SHORT|k8s)" && left+=("${entry#/proc/}")
done
[ -e "$STATE" ] && left+=("$STATE")
[ ${#left[@]} -eq 0 ] || { echo "this is left of the node: ${left[*]}" >&2; exit 1; }
