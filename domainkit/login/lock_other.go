//go:build !unix

package login

import "context"

// Lock does nothing: on this system only one process may use the file.
func (f *File) Lock(context.Context) (unlock func() error, err error) {
	return func() error { return nil }, nil
}
