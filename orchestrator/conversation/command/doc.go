// Package command executes the commands of the chat grammar: it decides and displays gates,
// cancels, undoes and lists, and writes the reply to each.
package command
