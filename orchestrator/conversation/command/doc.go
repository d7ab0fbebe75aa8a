// Package command does what the fixed grammar of chats orders: it decides gates, shows
// them, cancels, undoes and lists, and says the outcome of each.
package command
