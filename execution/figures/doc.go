// Package figures tells what runs tell of themselves: how long they took, people's
// time apart, what they called and used, how they came out, and whether a rule was
// broken that must never be. Everything is a pure function of what is stored of runs
// and of a moment, so the figures of a run that has ended never change, and both
// stores give the same.
package figures
