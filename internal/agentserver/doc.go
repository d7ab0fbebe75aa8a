// Package agentserver exposes Manifold to other agents: over the Model Context Protocol, with
// reads as tools, and over the Agent2Agent protocol, with sessions as tasks. It is a client of
// the REST API, in process or remote, so the API's access checks apply to every caller. Neither
// protocol can decide a gate.
package agentserver
