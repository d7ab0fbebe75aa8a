// Package openapi makes an API the source of a bridge, by its OpenAPI document of version 3.0 or 3.1.
// GET and HEAD are reads, as HTTP defines; every other method is a write.
package openapi
