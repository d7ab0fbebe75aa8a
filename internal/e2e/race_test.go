//go:build race

package e2e_test

// raceFlag builds the program as this binary was built.
const raceFlag = "-race"
