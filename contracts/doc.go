// Package contracts defines the types that Manifold exchanges with domains and with its callers,
// together with their error codes, canonical JSON and hashes, strict decoding and the JSON Schema
// of every message. It does no I/O. wrap.go and rest.go define the HTTP forms of results and
// errors. Types that only one package needs are declared in that package.
package contracts
