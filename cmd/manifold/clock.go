//go:build !wrongclock

package main

import "time"

// wallClock is the machine's; the harness of bench/chaos builds servers whose clock it
// can set.
var wallClock func() time.Time
