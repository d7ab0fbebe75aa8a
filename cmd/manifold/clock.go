//go:build !wrongclock

package main

import "time"

// wallClock replaces the server's clock if not nil; bench/chaos builds servers with a settable clock.
var wallClock func() time.Time
