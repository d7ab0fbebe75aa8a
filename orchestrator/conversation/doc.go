// Package conversation has the life of what people say: each message, answer,
// command or decision, from any interface, is a turn that is taken to its outcome
// once.
package conversation
