// Package host has the bridges within a server, and opens the services behind all
// bridges.
package host
