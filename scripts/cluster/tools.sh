#!/bin/bash
# Gets all that a node needs from packages: Debian's, and Kubernetes and helm from the Go proxy, which takes seven minutes on two cores, once.
set -eu
. "$(dirname "$0")/env.sh"
version=1.33.0 helm=v3.17.3

wanted=(containerd runc etcd-server containernetworking-plugins iptables conntrack buildah docker-registry skopeo openssl)
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] || apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null

mkdir -p "$TOOLS/bin"
export GOSUMDB=off GOFLAGS=-mod=mod CGO_ENABLED=0
[ -x "$TOOLS/bin/helm" ] || GOBIN=$TOOLS/bin nice -n 15 go install -trimpath -ldflags='-s -w' "helm.sh/helm/v3/cmd/helm@$helm"
programs=(kube-apiserver kubelet kube-controller-manager kube-scheduler kubectl kube-proxy)
for program in "${programs[@]}"; do [ -x "$TOOLS/bin/$program" ] || build=yes; done
[ -n "${build:-}" ] || exit 0

go mod download "k8s.io/kubernetes@v$version"
source=$TOOLS/kubernetes
rm -rf "$source"
cp -r "$(go env GOMODCACHE)/k8s.io/kubernetes@v$version" "$source"
chmod -R u+w "$source"
cd "$source"
rm -rf vendor go.work go.work.sum go.sum
# The staging modules are replaced by folders that the module does not have. Each is required at its own version instead. The sample
# modules belong to none of the programs.
python3 - "$version" << 'PYTHON'
import re, sys

version = "v0." + sys.argv[1].split(".", 1)[1]
text = open("go.mod").read()
staging = re.findall(r"^\s+(k8s\.io/[a-z-]+) => \./staging", text, re.M)
text = re.sub(r"replace \(.*?\n\)\n", "", text, flags=re.S)
for name in staging:
    text = re.sub(rf"(\s{re.escape(name)}) v0\.0\.0", rf"\1 {version}", text)
open("go.mod", "w").write("\n".join(line for line in text.split("\n") if "k8s.io/sample-" not in line))
PYTHON
set_version="-X k8s.io/component-base/version.gitVersion=v$version"
set_version+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=33"
nice -n 15 go build -trimpath -ldflags="-s -w $set_version" -o "$TOOLS/bin/" "${programs[@]/#/./cmd/}"
