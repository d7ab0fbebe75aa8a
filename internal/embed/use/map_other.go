//go:build !unix

package use

import "os"

// mapFile reads a file on systems without memory mapping.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
