#!/bin/sh
# Makes configure; ./quickstart does this and the rest.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --force --warnings=all
