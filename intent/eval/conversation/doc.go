// Package conversation is a test set of conversations with expectations: its
// file format, and the grader, which judges what a server made of a conversation
// by plans, parameters and gates. It talks to no server and knows no capability
// by name.
package conversation
