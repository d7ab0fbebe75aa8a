// Package intent turns a message into intents: which capabilities of which domains it
// asks for, with which parameters. It holds the port Reader, with what a reader is given
// and what it gives back, and the Adapter, which asks the model's reader where there is
// one and the local reader otherwise. It knows manifests only as data, names no domain
// and no capability, and does no I/O.
//
// The two readers are intent/local, which works from the manifests alone, and intent/llm,
// which asks a language model and holds it to the rules of docs/models.md.
package intent
