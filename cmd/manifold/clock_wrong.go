//go:build wrongclock

package main

import (
	"encoding/binary"
	"os"
	"time"
)

// wallClock is off by the number of seconds in the file that CHAOS_CLOCK names.
var wallClock = func() time.Time {
	by := make([]byte, 8)
	if f, err := os.Open(os.Getenv("CHAOS_CLOCK")); err == nil {
		_, _ = f.Read(by)
		_ = f.Close()
	}
	return time.Now().Add(time.Duration(int64(binary.LittleEndian.Uint64(by))) * time.Second)
}
