//go:build !unix

package use

import "os"

// mapFile reads a file where it cannot be mapped.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
