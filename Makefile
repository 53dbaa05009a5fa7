# Checkstack. `make run` starts it, `make test` proves it; the rest is for
# development. Everything a fresh Debian machine lacks is installed by the
# targets that need it (as root; otherwise they say in one line what is missing).

SHELL := /bin/bash
export CGO_ENABLED ?= 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOBIN := $(CURDIR)/bin/tools
GOLANGCI := v2.15.0
WEB_SOURCES := $(shell find web/src web/public web/index.html web/package.json web/package-lock.json web/vite.config.ts -type f 2>/dev/null)

.PHONY: run build test check bench generate clean

run: build
	./bin/checkstack serve

build: web/dist/index.html
	go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/checkstack ./cmd/checkstack

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

web/dist/index.html: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && npm run build

# Unit, store, service and protocol tests on both databases with the race
# detector, the web interface's own tests, and the newcomer's path in a browser.
test: build
	.ci/setup
	cd web && npm run test
	CGO_ENABLED=1 .ci/with-postgres go test -race -timeout 20m ./...
	.ci/with-postgres .ci/e2e

check: build
	.ci/setup lint
	@test -z "$$(gofmt -l cmd internal web/*.go)" || { echo "gofmt: these files are not formatted:"; gofmt -l cmd internal web/*.go; exit 1; }
	go vet ./...
	$(GOBIN)/golangci-lint run ./...
	cd web && npm run check
	$(MAKE) generate
	git diff --exit-code -- web/openapi.json web/src/api/schema.d.ts

# What is made from the operations: the API description and the web client.
generate: web/node_modules/.package-lock.json
	go run -tags noweb ./cmd/checkstack openapi > web/openapi.json.new && mv web/openapi.json.new web/openapi.json
	cd web && npm run generate

# Figures for docs/performance.md. One benchmark: make bench RUN=BenchmarkRun
bench: build
	.ci/setup
	.ci/with-postgres go test -run '^$$' -bench '$(or $(RUN),.)' -benchtime '$(or $(TIME),1s)' -timeout 60m ./...

clean:
	rm -rf bin web/dist/* web/node_modules
