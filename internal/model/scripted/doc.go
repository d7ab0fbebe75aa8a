// Package scripted is a server that answers like a model, from a script or from recorded answers of
// real models. It speaks OpenAI's chat completions and Anthropic's messages, without streams, and
// can simulate every kind of failure. Users try the product with it, and tests use it as the
// server of the adapters.
package scripted
