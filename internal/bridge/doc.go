// Package bridge makes a domain of a service that describes itself and was not
// written for Manifold: an MCP server, or an API with an OpenAPI document. What
// such a service says of itself is a claim. Each of its operations is a write that
// a person approves, until an operator says otherwise in an overlay; and an
// operation that no longer is what was looked at is not used.
package bridge
