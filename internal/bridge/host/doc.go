// Package host runs bridges inside the server and opens the services behind all bridges. It does not
// classify operations; package bridge does.
package host
