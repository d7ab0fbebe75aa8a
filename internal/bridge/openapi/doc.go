// Package openapi puts an API behind a bridge by its OpenAPI document, 3.0 or 3.1.
// GET and HEAD only read, by the protocol; every other method is a write.
package openapi
