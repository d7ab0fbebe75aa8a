// Package scripted is a server that answers like a model and costs nothing: by a
// script, or as real models answered once to recorded requests. It speaks the
// wire formats of OpenAI's chat completions and Anthropic's messages, without
// streams, and breaks in every way that its script asks for. People try the
// product with it, and tests use it as the counterpart of the adapters.
package scripted
