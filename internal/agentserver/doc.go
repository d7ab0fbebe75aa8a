// Package agentserver offers Manifold to other agents: over the Model Context
// Protocol, with reads as tools, and over the Agent2Agent protocol, with sessions as
// tasks. It is a client of the REST API, in the process or from afar, so what a
// caller may see and do is what the API lets them. Neither protocol decides a gate.
package agentserver
