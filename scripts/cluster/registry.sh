#!/bin/bash
# Starts the registry, or stops it with the argument `stop`.
set -eu
. "$(dirname "$0")/env.sh"
if [ "${1:-}" = stop ]; then
  kill "$(cat "$RUN/registry.pid")"
  rm "$RUN/registry.pid"
else
  start registry docker-registry serve "$STATE/registry.yml"
  until_true 20 curl -sf "http://$REGISTRY/v2/"
fi
