// Package account says what each word of a message is to a request: a value, a
// part of the command, courtesy, or something that nobody reads. It looks at how
// the message is built, and at which words the capability is asked for with; it
// knows no capability and decides nothing.
package account
