// Package httpapi is the REST API: it authenticates, decodes strictly, calls
// one use case and writes its result or its error. It decides nothing itself;
// who may do what is asked of the use cases and of access. Everything that is
// served stands in the table of route.go and in openapi.yaml, which a test
// holds together.
package httpapi
