#!/bin/sh
# Makes the package coprocess from coprocess.proto, and builds the server. Usage: build.sh [PROTOC] [DIRECTORY]
# PROTOC is `protoc` or `"python3 -m grpc_tools.protoc"`; everything that is made goes to DIRECTORY, which is this one by default.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
protoc=${1:-protoc} directory=${2:-$here}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
[ "$directory" = "$here" ] || cp "$here/main.go" "$here/go.mod" "$here/go.sum" "$directory"
cd "$directory"
GOBIN=$directory/bin go install tool
PATH=$directory/bin:$PATH $protoc -I "$here/../python-grpc" \
    --go_out=. --go_opt=module=hello,Mcoprocess.proto=hello/coprocess \
    --go-grpc_out=. --go-grpc_opt=module=hello,Mcoprocess.proto=hello/coprocess coprocess.proto
go build -o hello .
