// Package httpapi is the REST API: it authenticates, decodes strictly, calls one use case and writes
// its result or its error. It makes no decisions; the use cases and package access check
// permissions. The table in route.go and openapi.yaml list all routes; a test keeps them equal.
package httpapi
