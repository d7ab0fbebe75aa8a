// Package command does what the fixed grammar of chats orders: it decides gates, shows
// them, cancels, undoes and lists, and says what became of each.
package command
