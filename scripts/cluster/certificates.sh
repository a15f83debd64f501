#!/bin/bash
# A certificate authority of the cluster's own, the certificates of its programs, and their kubeconfigs.
set -eu
. "$(dirname "$0")/env.sh"
cd "$PKI"
openssl ecparam -name prime256v1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -subj /CN=tenon-test -days 30 -out ca.crt
# leaf NAME SUBJECT NAMES
leaf() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}" > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile "$1.ext" -out "$1.crt" 2> /dev/null
}
leaf apiserver /CN=kube-apiserver "DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:$NODE_IP,IP:10.96.0.1"
leaf admin /O=system:masters/CN=admin ""
leaf kubelet "/O=system:nodes/CN=system:node:$NODE_NAME" "DNS:$NODE_NAME,IP:127.0.0.1,IP:$NODE_IP"
openssl genrsa -out sa.key 2048 2> /dev/null
openssl rsa -in sa.key -pubout -out sa.pub 2> /dev/null
for user in admin kubelet; do
  cat > "$STATE/$user.conf" << YAML
apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:6443", certificate-authority: $PKI/ca.crt } }]
users: [{ name: u, user: { client-certificate: $PKI/$user.crt, client-key: $PKI/$user.key } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
YAML
done
