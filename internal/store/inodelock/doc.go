// Package inodelock keeps two servers from one database file, whatever names they
// have for it.
package inodelock
