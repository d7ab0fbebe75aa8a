// Package conversation processes the input of people. Each message, answer, command or decision,
// from any interface, is a turn that is finished exactly once.
package conversation
