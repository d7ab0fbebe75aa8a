// Package bridge turns a self-describing service that was not written for Manifold into a domain: an
// MCP server, or an API with an OpenAPI document. Descriptions from such a service are unverified
// claims. Each operation is a write with approval, unless its HTTP method only reads, or an operator
// classifies it in an overlay. An operation that has changed since it was reviewed is not used.
package bridge
